"""Seeded random scalar expressions of row patterns, of a kind that is asked for; every operation occurs.

With `safe` no value makes them an error of the data: nothing is cast.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from random import Random

import pyarrow as pa

from cer_gpu.patterns.tree import Operation, Scalar, ScalarConstant

KINDS = ("int", "float", "decimal", "text", "timestamp", "date", "duration", "bool")
TEXTS = ("", "a", "ab", "b a", "é", "x%y", " b ", "abab")
PATTERNS = ("%", "a%", "%b", "%a%", "_", "a_", "%é%", "x!%_", "")
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
CASTS = {
    "int": ("int", "float", "decimal", "text", "bool"),
    "float": ("int", "float", "decimal", "text"),
    "decimal": ("int", "decimal", "text", "float"),
    "text": ("int", "text", "bool", "date", "timestamp"),
    "timestamp": ("date", "timestamp", "text"),
    "date": ("date", "timestamp", "text"),
    "bool": ("int", "bool", "text"),
}
TYPES = {
    "int": (pa.int64(), pa.int32(), pa.int8()),
    "float": (pa.float64(),),
    "decimal": (pa.decimal128(12, 2), pa.decimal128(4, 1)),
    "text": (pa.string(),),
    "timestamp": (pa.timestamp("us"),),
    "date": (pa.date32(),),
    "bool": (pa.bool_(),),
}


def constant(rng: Random, kind: str, nulls: bool = True) -> ScalarConstant:
    """A literal of a kind; rarely NULL."""
    if nulls and rng.random() < 0.06:
        return ScalarConstant(None)
    values: dict[str, Callable[[], object]] = {
        "int": lambda: rng.choice((0, 1, 2, 3, -1, 5)),
        "float": lambda: rng.choice((0.0, 0.5, 1.5, -2.0, 1e3)),
        "decimal": lambda: Decimal(rng.choice(("0.5", "1.50", "2.0", "0.25", "10.125"))),
        "text": lambda: rng.choice(TEXTS),
        "timestamp": lambda: datetime(2024, rng.choice((1, 2, 12)), rng.choice((1, 28)), rng.choice((0, 13))),
        "date": lambda: date(2024, rng.choice((1, 2, 12)), rng.choice((1, 28))),
        "duration": lambda: timedelta(seconds=rng.choice((0, 1, 90, 86_400, 100_000))),
        "bool": lambda: rng.random() < 0.5,
    }
    return ScalarConstant(values[kind]())


class ScalarDraft:
    """Draws expressions.

    Parameters
    ----------
    rng : Random
    leaf : callable
        A new leaf of a kind; None where there is none.
    safe : bool
        Whether no value may make an expression fail.
    """

    def __init__(self, rng: Random, leaf: Callable[[str], Scalar | None], safe: bool = True) -> None:
        self.rng = rng
        self.leaf = leaf
        self.safe = safe
        self._nulls = True

    def draw(self, kind: str, depth: int = 2) -> Scalar:
        """An expression of a kind."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.25:
            leaf = self.leaf(kind) if rng.random() < 0.8 else None
            return leaf if leaf is not None else constant(rng, kind, self._nulls)
        if rng.random() < 0.15:
            return self._any(kind, depth - 1)
        nulls = self._nulls
        if kind in ("timestamp", "date", "duration"):
            self._nulls = False  # it has no type: a time minus NULL may as well be a time
        drawn = getattr(self, f"_{kind}")(depth - 1)
        self._nulls = nulls
        return drawn

    def _of(self, name: str, *operands: Scalar, detail: object = None) -> Operation:
        return Operation(name, operands, detail)

    def _any(self, kind: str, depth: int) -> Scalar:
        """An operation that there is for every kind."""
        one, two = self.draw(kind, depth), self.draw(kind, depth)
        match self.rng.choice(("case", "coalesce", "nullif", "extreme", "cast")):
            case "case":
                more = (self.draw("bool", depth), two) if self.rng.random() < 0.4 else ()
                return self._of("case", self.draw("bool", depth), one, *more, self.draw(kind, depth))
            case "coalesce":
                return self._of("coalesce", one, two)
            case "nullif":
                return self._of("nullif", one, two)
            case "cast" if not self.safe and kind in CASTS:
                name = "try cast" if self.rng.random() < 0.5 else "cast"
                inner = self.draw(self.rng.choice(CASTS[kind]), depth)
                return self._of(name, inner, detail=self.rng.choice(TYPES[kind]))
        return self._of(self.rng.choice(("greatest", "least")), one, two)

    def _divisor(self, kind: str, depth: int) -> Scalar:
        if self.rng.random() < 0.5:
            return self.draw(kind, depth)
        return ScalarConstant({"int": 3, "float": 0.5, "decimal": Decimal("0.5")}[kind])

    def _int(self, depth: int) -> Scalar:
        rng = self.rng
        match rng.randrange(11):
            case 0 | 1 | 2:
                return self._of(rng.choice("+-*"), self.draw("int", depth), self.draw("int", depth))
            case 3:
                name = rng.choice(("//", "%", "mod"))
                return self._of(name, self.draw("int", depth), self._divisor("int", depth))
            case 4:
                return self._of(rng.choice(("neg", "abs", "sign", "ceil")), self.draw("int", depth))
            case 5:
                return self._of("length", self.draw("text", depth))
            case 6:
                return self._of("position", self.draw("text", 0), self.draw("text", depth))
            case 7:
                unit = rng.choice((*UNITS, "dow", "doy", "millisecond"))
                kind = rng.choice(("timestamp", "date"))
                return self._of("extract", self.draw(kind, depth), detail=unit)
            case 8:
                times = [self.draw(rng.choice(("timestamp", "date")), depth) for _ in range(2)]
                return self._of("date_diff", *times, detail=rng.choice(UNITS))
            case 9:
                unit = rng.choice(("day", "hour", "minute", "second"))
                return self._of("extract", self.draw("duration", depth), detail=unit)
        return self._of("round", self.draw("int", depth), ScalarConstant(rng.choice((0, 1, -1))))

    def _float(self, depth: int) -> Scalar:
        rng = self.rng
        match rng.randrange(6):
            case 0 | 1:
                other = self.draw(rng.choice(("int", "float", "decimal")), depth)
                pair = [self.draw("float", depth), other]
                rng.shuffle(pair)
                return self._of(rng.choice("+-*"), *pair)
            case 2:
                kinds = [rng.choice(("int", "float", "decimal")) for _ in range(2)]
                return self._of("/", self.draw(kinds[0], depth), self._divisor(kinds[1], depth))
            case 3:
                return self._of(
                    rng.choice(("neg", "abs", "sign", "ceil", "floor")), self.draw("float", depth)
                )
            case 4:
                inner = self.draw(rng.choice(("int", "float", "decimal")), depth)
                return self._of("sqrt", inner)
        places = ScalarConstant(rng.choice((0, 0, 1)))
        return self._of("round", self.draw("float", 0), places)

    def _decimal(self, depth: int) -> Scalar:
        rng = self.rng
        depth = min(depth, 1)  # digits add up
        match rng.randrange(5):
            case 0 | 1:
                pair = [self.draw("decimal", depth), self.draw(rng.choice(("int", "decimal")), 0)]
                rng.shuffle(pair)
                return self._of(rng.choice("+-*"), *pair)
            case 2:
                return self._of("%", self.draw("decimal", 0), self._divisor("decimal", 0))
            case 3:
                return self._of(rng.choice(("neg", "abs", "ceil", "floor")), self.draw("decimal", depth))
        return self._of("round", self.draw("decimal", depth), ScalarConstant(rng.choice((0, 1, 2))))

    def _text(self, depth: int) -> Scalar:
        rng, text = self.rng, self.draw("text", depth)
        match rng.randrange(5):
            case 0:
                return self._of("||", text, self.draw(rng.choice(("text", "text", "int")), depth))
            case 1:
                return self._of(rng.choice(("upper", "lower", "trim", "ltrim", "rtrim")), text)
            case 2:
                numbers = [self.draw("int", 0) for _ in range(rng.choice((1, 2)))]
                return self._of("substring", text, *numbers)
            case 3:
                return self._of("replace", text, self.draw("text", 0), self.draw("text", 0))
        return self._of("coalesce", text, self.draw("text", 0))

    def _timestamp(self, depth: int) -> Scalar:
        rng = self.rng
        match rng.randrange(3):
            case 0:
                pair = self.draw(rng.choice(("timestamp", "date")), depth), self.draw("duration", 0)
                return self._of(rng.choice("+-"), *pair)
            case 1:
                return self._of("date_trunc", self.draw("timestamp", depth), detail=rng.choice(UNITS))
        return self._of("add_months", self.draw("timestamp", depth), ScalarConstant(rng.choice((1, -1, 13))))

    def _date(self, depth: int) -> Scalar:
        rng = self.rng
        match rng.randrange(3):
            case 0:
                return self._of(
                    rng.choice("+-"), self.draw("date", depth), ScalarConstant(rng.choice((1, 30)))
                )
            case 1:
                return self._of("date_trunc", self.draw("date", depth), detail=rng.choice(UNITS[:5]))
        return self._of("add_months", self.draw("date", depth), self.draw("int", 0))

    def _duration(self, depth: int) -> Scalar:
        rng = self.rng
        match rng.randrange(4):
            case 0:
                return self._of("-", self.draw("timestamp", depth), self.draw("timestamp", depth))
            case 1:
                return self._of(rng.choice("+-"), self.draw("duration", depth), self.draw("duration", depth))
            case 2:
                return self._of("*", self.draw("duration", 0), self.draw("int", 0))
        return self._of("neg", self.draw("duration", depth))

    def _bool(self, depth: int) -> Scalar:
        rng = self.rng
        match rng.randrange(12):
            case 0 | 1 | 2 | 3:
                return self._comparison(depth)
            case 4 | 5:
                count = rng.choice((2, 2, 3))
                parts = [self.draw("bool", depth) for _ in range(count)]
                return self._of(rng.choice(("and", "or")), *parts)
            case 6:
                return self._of("not", self.draw("bool", depth))
            case 7:
                return self._of("is null", self.draw(rng.choice(KINDS), depth))
            case 8:
                return self._of("is true", self.draw("bool", depth))
            case 9:
                kind = rng.choice(("int", "text", "date", "decimal"))
                others = [
                    constant(rng, kind) if rng.random() < 0.7 else self.draw(kind, 0)
                    for _ in range(rng.choice((1, 2, 3)))
                ]
                return self._of("in", self.draw(kind, depth), *others)
            case 10:
                return self._pattern(depth)
        name = rng.choice(("starts_with", "ends_with", "contains"))
        return self._of(name, self.draw("text", depth), self.draw("text", 0))

    def _comparison(self, depth: int) -> Scalar:
        rng = self.rng
        name = rng.choice((*COMPARISONS, "distinct from"))
        groups = ("int", "float", "decimal"), ("timestamp", "date"), ("text",), ("duration",), ("int",)
        kinds = rng.choice(groups)
        left = self.draw(rng.choice(kinds), depth)
        if kinds[0] == "timestamp" and rng.random() < 0.3:
            right: Scalar = ScalarConstant(rng.choice(("2024-01-01", "2024-02-28 13:00:00")))
        else:
            right = self.draw(rng.choice(kinds), depth)
        return self._of(name, left, right)

    def _pattern(self, depth: int) -> Scalar:
        rng = self.rng
        if rng.random() < 0.25:
            return self._of(
                "regexp", self.draw("text", depth), ScalarConstant(rng.choice(("a", "^b", "a$", "[ab]+")))
            )
        pattern = ScalarConstant(rng.choice(PATTERNS))
        return self._of(rng.choice(("like", "like", "ilike")), self.draw("text", depth), pattern, detail="!")
