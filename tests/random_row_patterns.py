"""Seeded random clauses of MATCH_RECOGNIZE with small tables for them; every construct occurs.

Most conditions are such that people write, so that something matches; others are any expression at all.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Any

import pyarrow as pa
from random_scalars import ScalarDraft

from cer_gpu.patterns.tree import (
    Alternation,
    Anchor,
    Concatenation,
    Definition,
    Exclusion,
    Field,
    MatchedVariable,
    MatchNumber,
    Navigation,
    Operation,
    Permutation,
    Quantified,
    RowAggregate,
    RowMeasure,
    RowPattern,
    RowPatternClause,
    RowsPerMatch,
    Scalar,
    ScalarConstant,
    Skip,
    SkipMode,
    SortKey,
    Variable,
)

NAMES = ("A", "B", "C", "D")
SCHEMA = pa.schema(
    {
        "k": pa.string(),
        "t": pa.timestamp("us"),
        "i": pa.int64(),
        "x": pa.int64(),
        "y": pa.float64(),
        "s": pa.string(),
    }
)
COLLECTED = (
    "array",
    "array",
    "text",
    "any",
    "variance",
    "sample variance",
    "deviation",
    "sample deviation",
    "min by",
    "max by",
)
COLUMNS = {"int": "x", "float": "y", "text": "s", "timestamp": "t"}
START = datetime(2024, 1, 31, 23, 59, 50)


def random_rows(rng: Random, most: int = 12) -> list[dict[str, Any]]:
    """A small table: few values, nulls, and times that tie; `i` numbers the rows."""
    keys = rng.choice((("u",), ("u", "v"), ("u", "v", None)))
    rows, seconds = [], 0
    nulls = rng.choice((0.0, 0.15))
    for number in range(max(rng.randrange(most + 1), rng.randrange(most + 1))):
        seconds += rng.choice((0, 1, 1, 2, 5))

        def value(given: Any, share: float = nulls) -> Any:
            return None if rng.random() < share else given

        rows.append(
            {
                "k": rng.choice(keys),
                "t": START + timedelta(seconds=seconds),
                "i": number,
                "x": value(rng.randrange(-1, 5)),
                "y": value(rng.randrange(-2, 7) / 2),
                "s": value(rng.choice(("a", "b", "ab", "é"))),
            }
        )
    return rows


def random_table(rng: Random, rows: list[dict[str, Any]]) -> pa.Table:
    """The rows as a table: of other types, in chunks, with dictionaries."""
    table = pa.Table.from_pylist(rows, SCHEMA)
    types = {
        "x": rng.choice((pa.int64(), pa.int8(), pa.int32())),
        "y": rng.choice((pa.float64(), pa.float32())),
        "t": rng.choice((pa.timestamp("us"), pa.timestamp("s"), pa.timestamp("ns"))),
        "s": rng.choice((pa.string(), pa.large_string())),
    }
    table = table.cast(pa.schema([pa.field(one.name, types.get(one.name, one.type)) for one in table.schema]))
    if rng.random() < 0.3:
        place = table.schema.get_field_index("s")
        table = table.set_column(place, "s", table["s"].cast(pa.string()).dictionary_encode())
    if rng.random() < 0.3 and len(rows) > 2:
        cut = rng.randrange(len(rows))
        table = pa.concat_tables([table.slice(0, cut), table.slice(cut)])
    return table


class ClauseDraft:
    """Draws a clause.

    Parameters
    ----------
    rng : Random
    """

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.names = NAMES[: rng.choice((1, 2, 2, 3, 3, 4))]
        self.current: str | None = None
        self.within: timedelta | None = None
        self.exclusions = False
        self.subsets: dict[str, frozenset[str]] = {}

    def clause(self) -> RowPatternClause:
        """The clause."""
        rng = self.rng
        rows = rng.choice((RowsPerMatch.ONE, *RowsPerMatch))
        self.exclusions = rows in (RowsPerMatch.ALL_OMIT_EMPTY, RowsPerMatch.ALL_SHOW_EMPTY)
        pattern = self.adversarial() if rng.random() < 0.1 else self.pattern(3)
        self.names = tuple(sorted(set(primaries(pattern)))) or ("A",)
        if not set(primaries(pattern)):
            pattern = Concatenation((pattern, Quantified(Variable("A"), 0, 1)))
        if len(self.names) > 1 and rng.random() < 0.4:
            for name in ("U", "V")[: rng.choice((1, 1, 2))]:
                some = frozenset(rng.sample(self.names, rng.randrange(2, len(self.names) + 1)))
                if some not in self.subsets.values():
                    self.subsets[name] = some
        self.within = timedelta(seconds=rng.choice((1, 3, 6, 20))) if rng.random() < 0.15 else None
        definitions = tuple(
            Definition(name, self.condition(name)) for name in self.names if rng.random() < 0.8
        )
        self.current = None
        measures = tuple(
            RowMeasure(f"m{number}", self.measure()) for number in range(rng.choice((0, 1, 2, 3, 4)))
        )
        if rows is RowsPerMatch.ONE and not measures:
            measures = (RowMeasure("m0", MatchNumber()),)
        return RowPatternClause(
            "events",
            "table",
            rng.choice(((), ("k",), ("k",))),
            self.sort_keys(),
            measures,
            rows,
            self.skip(rows),
            pattern,
            self.subsets,
            definitions,
            self.within,
        )

    def sort_keys(self) -> tuple[SortKey, ...]:
        """ORDER BY; with WITHIN its first column is that of times."""
        rng = self.rng
        names = rng.choice((("t",), ("t",), ("t", "i"), ("i",), ("x", "t"), ("y", "x"), ("s",), ("t", "x")))
        if self.within is not None:
            names = rng.choice((("t",), ("t", "x")))
        return tuple(SortKey(name, rng.random() < 0.25, rng.random() < 0.3) for name in names)

    def skip(self, rows: RowsPerMatch) -> Skip:
        """AFTER MATCH SKIP."""
        rng = self.rng
        modes = [SkipMode.PAST_LAST_ROW, SkipMode.TO_NEXT_ROW, SkipMode.TO_FIRST, SkipMode.TO_LAST]
        if rows is RowsPerMatch.ALL_WITH_UNMATCHED:
            modes = modes[:1]
        mode = rng.choice(modes)
        if mode in (SkipMode.PAST_LAST_ROW, SkipMode.TO_NEXT_ROW):
            return Skip(mode)
        groups = {name: frozenset({name}) for name in self.names} | self.subsets
        name = rng.choice(tuple(groups))
        return Skip(mode, groups[name], name)

    # Patterns

    def pattern(self, depth: int) -> RowPattern:
        """Any row pattern."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.2:
            return Variable(rng.choice(self.names))
        match rng.randrange(12):
            case 0 | 1 | 2 | 3:
                return Concatenation(tuple(self.pattern(depth - 1) for _ in range(rng.choice((2, 2, 3)))))
            case 4 | 5 | 6 | 7:
                return Quantified(self.pattern(depth - 2), *self.bounds(), rng.random() < 0.35)
            case 8 | 9:
                return Alternation(tuple(self.pattern(depth - 1) for _ in range(rng.choice((2, 2, 3)))))
            case 10:
                if self.exclusions and rng.random() < 0.6:
                    return Exclusion(self.pattern(depth - 1))
                return Permutation(tuple(self.pattern(depth - 2) for _ in range(rng.choice((2, 2, 3)))))
        inner = self.pattern(depth - 1)
        match rng.randrange(4):
            case 0:
                return Concatenation((Anchor("^"), inner))
            case 1:
                return Concatenation((inner, Anchor("$")))
            case 2:
                return Concatenation(())
        return Alternation((inner, Concatenation(())))

    def bounds(self) -> tuple[int, int | None]:
        """The least and the most of a quantifier."""
        return self.rng.choice(
            (
                (0, None),
                (0, None),
                (1, None),
                (1, None),
                (0, 1),
                (2, 2),
                (2, None),
                (0, 2),
                (1, 3),
                (0, 0),
                (3, 3),
            )
        )

    def adversarial(self) -> RowPattern:
        """A pattern that a matcher which backtracks takes long for."""
        rng = self.rng
        a, b, c = (Variable(rng.choice(self.names)) for _ in range(3))
        star = (0, None)
        return rng.choice(
            (
                Concatenation((Quantified(Quantified(a, *star), *star), b)),
                Concatenation((Quantified(Alternation((a, Concatenation((a, b)))), *star), c)),
                Concatenation((Quantified(Quantified(a, 0, 1), 4, 4), Quantified(a, 4, 4))),
                Concatenation((Quantified(Alternation((a, b)), 1, None), c)),
                Quantified(Quantified(Alternation((a, Concatenation(()))), *star, True), 1, None),
                Quantified(Quantified(a, 0, 1, True), *star),
            )
        )

    # Expressions

    def rows_of(self) -> frozenset[str] | None:
        """Variables whose rows something is about."""
        rng = self.rng
        if rng.random() < 0.35:
            return None
        if self.subsets and rng.random() < 0.3:
            return rng.choice(tuple(self.subsets.values()))
        return frozenset({rng.choice(self.names)})

    def here(self, expression: Scalar, offset: int = 0) -> Navigation:
        """The value at the row that is tried, or beside it."""
        rng = self.rng
        own = frozenset({self.current}) if self.current is not None and rng.random() < 0.3 else None
        return Navigation(expression, own, offset=offset)

    def navigation(self, expression: Scalar) -> Navigation:
        """The value at any row that can be reached."""
        rng = self.rng
        offset = rng.choice((0, 0, 0, -1, 1, -2, 2))
        return Navigation(
            expression,
            self.rows_of(),
            rng.choice(("first", "last", "last")),
            rng.choice((0, 0, 1, 2)),
            offset,
            self.current is None and rng.random() < 0.4,
        )

    def aggregate(self, kind: str) -> Scalar:
        """An aggregate of a kind, or a constant in its place."""
        rng = self.rng
        columns: dict[str, tuple[tuple[str, str | None], ...]] = {
            "int": (
                ("count", None),
                ("count", "x"),
                ("count", "s"),
                ("sum", "x"),
                ("min", "x"),
                ("max", "x"),
            ),
            "float": (("avg", "x"), ("sum", "y"), ("avg", "y"), ("min", "y"), ("max", "y")),
            "text": (("min", "s"), ("max", "s")),
            "timestamp": (("min", "t"), ("max", "t")),
        }
        function, column = rng.choice(columns[kind])
        final = self.current is None and rng.random() < 0.4
        if column is None:
            return RowAggregate("count", None, self.rows_of(), False, final)
        inner: Scalar = Field(column)
        if column == "x" and rng.random() < 0.2:
            inner = Operation("+", (inner, ScalarConstant(rng.choice((1, 2)))))
        distinct = rng.random() < 0.3
        return RowAggregate(function, inner, self.rows_of(), distinct, final)  # type: ignore[arg-type]

    def collected(self) -> RowAggregate:
        """An aggregate that is a measure by itself: a list, a text, a deviation, the value of a row."""
        rng = self.rng
        function = rng.choice(COLLECTED)
        text, number = rng.choice(("s", "s", "k")), rng.choice(("x", "y"))
        column = {"array": rng.choice("xyst"), "any": rng.choice("xyst"), "text": text}.get(function, number)
        inner: Scalar = Field(column)
        distinct = function in ("array", "text") and rng.random() < 0.3
        if function == "text":
            inner = Operation("pair", (inner, ScalarConstant(rng.choice(("", ",", " - ")))))
        elif function in ("min by", "max by"):
            inner = Operation("pair", (Field(rng.choice("xys")), inner))
        return RowAggregate(function, inner, self.rows_of(), distinct, rng.random() < 0.4)

    def leaf(self, kind: str) -> Scalar | None:
        """Something of a kind that the clause can say."""
        rng = self.rng
        if kind not in COLUMNS:
            return None
        if kind == "text" and rng.random() < 0.25:
            classifier = MatchedVariable()
            return Navigation(classifier) if rng.random() < 0.5 else self.navigation(classifier)
        if kind == "int" and rng.random() < 0.1:
            return MatchNumber()
        inner: Scalar = Field(COLUMNS[kind])
        if kind == "int" and rng.random() < 0.15:
            inner = Operation("*", (inner, Field("x")))
        match rng.randrange(6):
            case 0 | 1:
                return self.here(inner)
            case 2:
                return self.here(inner, rng.choice((-1, -1, 1, -2, 2)))
            case 3 | 4:
                return self.navigation(inner)
        return self.aggregate(kind)

    def fixed_leaf(self, kind: str) -> Scalar | None:
        """Something of the row that is tried, or of one at a fixed distance."""
        if kind not in COLUMNS:
            return None
        return self.here(Field(COLUMNS[kind]), self.rng.choice((0, 0, -1, 1, -2)))

    def condition(self, name: str) -> Scalar:
        """The condition of a variable."""
        rng = self.rng
        self.current = name
        if rng.random() < 0.2:
            leaf = self.leaf if rng.random() < 0.5 else self.fixed_leaf
            return ScalarDraft(rng, leaf).draw("bool", 2)
        parts = tuple(self.usual() for _ in range(rng.choice((1, 1, 1, 2))))
        if len(parts) == 1:
            return parts[0]
        return Operation(rng.choice(("and", "and", "or")), parts)

    def usual(self) -> Scalar:
        """A condition such as people write."""
        rng = self.rng
        x, compare = self.here(Field("x")), rng.choice(("<", "<=", ">", ">=", "=", "<>"))
        number = ScalarConstant(rng.choice((0, 1, 2, 3, 4)))
        match rng.randrange(12):
            case 0 | 1:
                return Operation(compare, (x, self.here(Field("x"), rng.choice((-1, -1, 1)))))
            case 2 | 3:
                return Operation(compare, (x, number))
            case 4:
                return Operation("is null", (self.here(Field(rng.choice("xys")), rng.choice((0, -1, 1))),))
            case 5:
                return Operation(rng.choice(("=", "<>")), (self.here(Field("s")), ScalarConstant("a")))
            case 6:
                return Operation(compare, (x, self.navigation(Field("x"))))
            case 7:
                return Operation(
                    rng.choice(("<=", "<")), (self.aggregate("int"), ScalarConstant(rng.choice((2, 4, 7))))
                )
            case 8:
                return Operation(compare, (self.here(Field("y")), self.aggregate("float")))
            case 9:
                passed = Operation("-", (self.here(Field("t")), Navigation(Field("t"), None, "first")))
                return Operation(
                    rng.choice(("<", ">=")), (passed, ScalarConstant(timedelta(seconds=rng.choice((2, 4)))))
                )
            case 10:
                classifier = Navigation(MatchedVariable(), offset=-1)
                return Operation("distinct from", (classifier, ScalarConstant(rng.choice(self.names))))
        return Operation("not", (self.usual(),))

    def measure(self) -> Scalar:
        """A measure."""
        if self.rng.random() < 0.12:
            return self.collected()
        rng = self.rng
        if rng.random() < 0.3:
            return ScalarDraft(rng, self.leaf).draw(
                rng.choice(("int", "float", "text", "bool", "timestamp")), 2
            )
        kind = rng.choice(tuple(COLUMNS))
        match rng.randrange(5):
            case 0:
                return MatchNumber()
            case 1:
                return self.navigation(MatchedVariable())
            case 2 | 3:
                return self.aggregate(kind)
        return self.navigation(Field(COLUMNS[kind]))


def primaries(pattern: RowPattern) -> list[str]:
    """The variables of a pattern."""
    match pattern:
        case Variable(name):
            return [name]
        case Concatenation(parts) | Alternation(parts) | Permutation(parts):
            return [name for part in parts for name in primaries(part)]
        case Quantified(body=body) | Exclusion(body):
            return primaries(body)
    return []
