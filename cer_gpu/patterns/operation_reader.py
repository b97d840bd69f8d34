"""Operators of SQL, as sqlglot parses them, as operations of the tree. Columns are read by a subclass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

from cer_gpu.errors import Span
from cer_gpu.patterns.sql_error import NO_EXPRESSION, SqlError
from cer_gpu.patterns.sql_functions import REGEXP_IS_WHOLE, anchored, regexp, round_down
from cer_gpu.patterns.sql_literals import SqlInterval, interval_of, moment_of, number_of, type_of, unit_of
from cer_gpu.patterns.sql_tokens import SqlTokens
from cer_gpu.patterns.tree import Operation, Scalar, ScalarConstant

_BINARY: Mapping[str, str] = {
    "EQ": "=",
    "NEQ": "<>",
    "LT": "<",
    "LTE": "<=",
    "GT": ">",
    "GTE": ">=",
    "NullSafeNEQ": "distinct from",
    "Mul": "*",
    "IntDiv": "//",
    "Mod": "%",
    "Pow": "power",
    "DPipe": "||",
}

_SPECIAL_CALLS = (
    "CAST",
    "TRY_CAST",
    "SAFE_CAST",
    "EXTRACT",
    "TRIM",
    "SUBSTRING",
    "POSITION",
    "CEIL",
    "FLOOR",
)

_ARGUMENTS: Mapping[str, frozenset[str]] = {
    "Literal": frozenset({"is_string"}),
    "Div": frozenset({"typed", "safe"}),
    "DPipe": frozenset({"safe"}),
    "Between": frozenset({"low", "high"}),
    "In": frozenset({"expressions", "query"}),
    "RegexpLike": frozenset({"full_match"}),
    "Case": frozenset({"ifs", "default"}),
    "If": frozenset({"true", "false"}),
    "Cast": frozenset({"to", "safe"}),
    "TryCast": frozenset({"to", "safe", "requires_string", "null_on_text_overflow", "probe_date_format"}),
    "StrToTime": frozenset({"format", "target_type"}),
    "Interval": frozenset({"unit", "fraction_in_string"}),
    "Floor": frozenset({"to"}),
    "Trim": frozenset({"position"}),
    "Substring": frozenset({"start", "length", "zero_start"}),
    "StrPosition": frozenset({"substr", "clamp_position"}),
    "Column": frozenset({"table"}),
    "Anonymous": frozenset({"expressions"}),
}
"""Parts of the nodes of sqlglot that are read here, beside `this` and `expression`. A node that has others is
refused: a later version may give them a meaning."""

_WHOLE_QUOTIENTS = frozenset({"flink", "calcite"})
"""Dialects whose quotient of integers is an integer, which the dialect that sqlglot reads them as lacks."""

_DAYS_OF_DATES = frozenset({"duckdb", "postgres", "redshift", "snowflake"})
"""Dialects where a date minus a date is a number of days, as in Oracle."""

BEFORE = "compute it before: FROM (SELECT *, ... AS x FROM ...) MATCH_RECOGNIZE (...)"
"""What to do about an expression that a clause cannot compute."""

_REFUSED: Mapping[str, tuple[str, str]] = {
    "Window": ("a window function", "PREV and NEXT reach other rows, FIRST and LAST other rows of the match"),
    "Filter": (
        "FILTER",
        "aggregate a CASE: SUM(CASE WHEN ... THEN x END), or the rows of a variable: SUM(a.x)",
    ),
    "Select": ("a subquery", "join what it finds before: FROM (SELECT ... FROM t JOIN ...) MATCH_RECOGNIZE"),
    "Star": ("`*`", "name a column; `*` is only for COUNT(*)"),
    "Tuple": ("a list of values", "compare the values one by one, with AND"),
    "Placeholder": ("`?`", "name the parameter, as in `$limit`"),
    "Distinct": ("DISTINCT", "write it inside an aggregate: COUNT(DISTINCT x)"),
    "Dot": ("a field of a field", BEFORE),
    "AtTimeZone": ("AT TIME ZONE", BEFORE),
}
for _name in ("Subquery", "Exists", "Union", "Any", "All"):
    _REFUSED = {**_REFUSED, _name: _REFUSED["Select"]}


class OperationReader:
    """Reads expressions of one clause.

    Parameters
    ----------
    tokens : SqlTokens
    language : str
        The name of the dialect.
    """

    def __init__(self, tokens: SqlTokens, language: str) -> None:
        self.tokens = tokens
        self.language = language
        self.offset = 0
        self._readers: Mapping[str, Callable[[Any, Span | None], Scalar]] = {
            "Literal": self._literal,
            "Boolean": lambda node, span: ScalarConstant(bool(node.this), span),
            "Null": lambda node, span: ScalarConstant(None, span),
            "Neg": self._negation,
            "Not": lambda node, span: self.operation("not", [node.this], span),
            "And": self._connected,
            "Or": self._connected,
            "NullSafeEQ": lambda node, _: self._not(self._operands("distinct from", node)),
            "Add": self._sum,
            "Sub": self._sum,
            "Div": self._quotient,
            "Is": self._is,
            "Between": self._between,
            "In": self._in,
            "Like": self._like,
            "ILike": self._like,
            "Escape": self._like,
            "RegexpLike": self._regexp,
            "RegexpFullMatch": self._regexp,
            "Case": self._case,
            "If": lambda node, span: self._choice([node], node.args.get("false"), span),
            "Cast": self._cast,
            "TryCast": self._cast,
            "DateStrToDate": lambda node, span: ScalarConstant(moment_of(node.name, "date", span), span),
            "StrToTime": lambda node, span: ScalarConstant(moment_of(node.name, "timestamp", span), span),
            "Interval": self._interval,
            "Extract": self._extract,
            "Floor": self._rounded,
            "Ceil": self._rounded,
            "Trim": self._trim,
            "Substring": self._substring,
            "StrPosition": lambda node, span: self.operation(
                "position", [node.args["substr"], node.this], span
            ),
        }

    def read(self, node: Any) -> Scalar:
        """The scalar of a node of sqlglot.

        Raises
        ------
        SqlError
            When a clause cannot compute it.
        """
        name = type(node).__name__
        while name == "Paren":
            node = node.this
            name = type(node).__name__
        known = _ARGUMENTS.get(name, frozenset()) | {"this", "expression", "negate"}
        if any(value and part not in known for part, value in node.args.items()):
            raise self.refused(node, "Dot" if name == "Column" else name)
        if name in _BINARY:
            found = self._operands(_BINARY[name], node)
        elif name in self._readers:
            found = self._readers[name](node, self.place(node))
        else:
            found = self.leaf(node, name)
        # `x NOT LIKE y` is, from some version of sqlglot on, a part of LIKE.
        inner = node.this if name == "Escape" else node
        return self._not(found) if inner.args.get("negate") else found

    def leaf(self, node: Any, name: str) -> Scalar:
        """What is no operator: columns and calls are read by the subclass."""
        raise self.refused(node, name)

    def refused(self, node: Any, name: str) -> SqlError:
        """The error of what a clause cannot compute."""
        span = self.extent(node)
        if name in _REFUSED:
            what, hint = _REFUSED[name]
            return SqlError(NO_EXPRESSION, f"a row pattern cannot have {what} here", span, hint)
        return SqlError(NO_EXPRESSION, "a row pattern cannot compute this", span, BEFORE)

    # Places

    def place(self, node: Any) -> Span | None:
        """Where the token stands that a node is made of; a call up to its parenthesis."""
        start, end = node.meta.get("start"), node.meta.get("end")
        if start is None or end is None:
            return None
        span = Span(start + self.offset, end + self.offset + 1)
        number = self.tokens.number_at.get(span.start)
        if number is not None and self.tokens.tokens[number].is_name and self.tokens.key(number + 1) == "(":
            return Span(span.start, self.tokens.tokens[self.tokens.partner[number + 1]].end)
        return span

    def extent(self, node: Any) -> Span | None:
        """Where a node and all below it stand."""
        return self.around(self.place(one) for one in node.walk())

    def around(self, places: Iterable[Span | None]) -> Span | None:
        """From the first place to the last, with the call of CAST and the like whose arguments they are."""
        known = [place for place in places if place is not None]
        if not known:
            return None
        span = Span(min(place.start for place in known), max(place.end for place in known))
        number = self.tokens.number_at.get(span.start)
        opening = -1 if number is None else self.tokens.group[number]
        if opening > 0 and self.tokens.key(opening - 1) in _SPECIAL_CALLS:
            close = self.tokens.tokens[self.tokens.partner[opening]].end
            if close > span.end:
                return Span(self.tokens.tokens[opening - 1].start, close)
        return span

    # Operations

    def operation(
        self, name: str, nodes: Iterable[Any], span: Span | None = None, detail: Any = None
    ) -> Operation:
        """An operation of nodes."""
        return self.made(name, tuple(map(self.read, nodes)), span, detail)

    def made(
        self, name: str, operands: tuple[Scalar, ...], span: Span | None = None, detail: Any = None
    ) -> Operation:
        """An operation of scalars; it stands where they do."""
        return Operation(name, operands, detail, self.around([span, *(one.at for one in operands)]))

    def _operands(self, name: str, node: Any) -> Scalar:
        left, right = self.read(node.this), self.read(node.expression)
        if name == "*":
            for number, length in ((left, right), (right, left)):
                if _is_number(number) and _is_length(length):
                    micro = length.value // timedelta(microseconds=1)  # type: ignore[union-attr]
                    exact = round(Decimal(number.value) * micro)  # type: ignore[union-attr]
                    return ScalarConstant(timedelta(microseconds=exact), self.around([left.at, right.at]))
        return self.made(name, (left, right))

    def _not(self, scalar: Scalar) -> Operation:
        return self.made("not", (scalar,))

    def _literal(self, node: Any, span: Span | None) -> Scalar:
        return ScalarConstant(node.this if node.is_string else number_of(node.this), span)

    def _negation(self, node: Any, span: Span | None) -> Scalar:
        operand = self.read(node.this)
        if _is_number(operand) or _is_length(operand):
            return ScalarConstant(-operand.value, operand.at)  # type: ignore[union-attr]
        return self.made("neg", (operand,), span)

    def _connected(self, node: Any, span: Span | None) -> Scalar:
        # A chain leans to the left: it is read without recursion, however long it is.
        kind, found = type(node), []
        while type(node) is kind:
            found.append(node.expression)
            node = node.this
        found.append(node)
        return self.operation(kind.__name__.lower(), reversed(found), span)

    def _sum(self, node: Any, span: Span | None) -> Scalar:
        name = "+" if type(node).__name__ == "Add" else "-"
        left, right = node.this, node.expression
        if name == "+" and type(left).__name__ == "Interval":
            left, right = right, left
        if type(right).__name__ == "Interval" and (length := self.interval(right)).months:
            return self.moved(self.read(left), length, -1 if name == "-" else 1, self.place(right))
        operands = self.read(node.this), self.read(node.expression)
        detail = None
        if self.language == "oracle" and not any(map(_is_length, operands)):
            detail = "numbers of days"
        elif self.language in _DAYS_OF_DATES and name == "-":
            detail = "days"
        return self.made(name, operands, span, detail)

    def moved(self, moment: Scalar, length: SqlInterval, sign: int, span: Span | None) -> Scalar:
        """A time and a length of time later, or earlier with the sign -1."""
        if length.months:
            months = ScalarConstant(sign * length.months, span)
            moment = self.made("add_months", (moment, months), span)
        if length.rest or not length.months:
            moment = self.made("+", (moment, ScalarConstant(sign * length.rest, span)), span)
        return moment

    def _quotient(self, node: Any, span: Span | None) -> Scalar:
        whole = bool(node.args.get("typed")) or self.language in _WHOLE_QUOTIENTS
        return self._operands("//" if whole else "/", node)

    def _is(self, node: Any, span: Span | None) -> Scalar:
        kind = type(node.expression).__name__
        if kind == "Null":
            return self.operation("is null", [node.this], span)
        if kind == "Boolean" and node.expression.this:
            return self.operation("is true", [node.this], span)
        if kind == "Boolean":
            return self.made("is true", (self.operation("not", [node.this]),), span)
        if kind == "Not":
            return self._not(self.operation("is null", [node.this], span))
        raise self.refused(node, "Is")

    def _between(self, node: Any, span: Span | None) -> Scalar:
        operand = self.read(node.this)
        low = self.made(">=", (operand, self.read(node.args["low"])))
        return self.made("and", (low, self.made("<=", (operand, self.read(node.args["high"])))), span)

    def _in(self, node: Any, span: Span | None) -> Scalar:
        if node.args.get("query") is not None:
            raise self.refused(node.args["query"], "Select")
        return self.operation("in", [node.this, *node.expressions], span)

    def _like(self, node: Any, span: Span | None) -> Scalar:
        escape = None
        if type(node).__name__ == "Escape":
            escape, node = node.expression.name, node.this
        name = {"Like": "like", "ILike": "ilike"}.get(type(node).__name__)
        if name is None or type(node.expression).__name__ in ("Any", "All", "Tuple"):
            raise self.refused(node, type(node).__name__)
        return self.operation(name, [node.this, node.expression], span, escape)

    def _regexp(self, node: Any, span: Span | None) -> Scalar:
        kind = type(node).__name__
        text, pattern = self.read(node.this), self.read(node.expression)
        whole = kind == "RegexpFullMatch" or node.args.get("full_match")
        if whole or self.language in REGEXP_IS_WHOLE:
            pattern = anchored(pattern)
        return regexp(text, pattern, self.around([span, text.at, pattern.at]))

    def _case(self, node: Any, span: Span | None) -> Scalar:
        return self._choice(node.args.get("ifs") or [], node.args.get("default"), span, node.this)

    def _choice(self, cases: Iterable[Any], default: Any, span: Span | None, subject: Any = None) -> Scalar:
        operands: list[Scalar] = []
        compared = None if subject is None else self.read(subject)
        for case in cases:
            condition = self.read(case.this)
            operands.append(condition if compared is None else self.made("=", (compared, condition)))
            operands.append(self.read(case.args["true"]))
        operands.append(ScalarConstant(None) if default is None else self.read(default))
        return self.made("case", tuple(operands), span)

    def _cast(self, node: Any, span: Span | None) -> Scalar:
        inner, to = node.this, node.args["to"]
        if type(to).__name__ == "DataType" and type(inner).__name__ == "Literal" and inner.is_string:
            kind = str(getattr(to.this, "name", "")).upper()
            place = self.extent(inner)
            if kind == "DATE":
                return ScalarConstant(moment_of(inner.this, "date", place), place)
            if kind in ("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPLTZ", "TIMESTAMPNTZ", "DATETIME"):
                return ScalarConstant(moment_of(inner.this, "timestamp", place), place)
        operand = self.read(inner)
        type_, longest = type_of(to, self.language, self.around([operand.at]))
        # Hive gives null for what cannot be cast; others ask for TRY_CAST, which sqlglot calls safe.
        lenient = bool(node.args.get("safe")) or self.language == "hive"
        found = self.made("try cast" if lenient else "cast", (operand,), span, type_)
        if longest is None or self.language == "duckdb":
            return found
        cut = (found, ScalarConstant(1), ScalarConstant(longest))
        return self.made("substring", cut, span)

    def interval(self, node: Any) -> SqlInterval:
        """The length of time that INTERVAL writes."""
        quantity, unit = node.this, node.args.get("unit")
        sign = 1
        while type(quantity).__name__ in ("Neg", "Paren"):
            sign = -sign if type(quantity).__name__ == "Neg" else sign
            quantity = quantity.this
        span = self.extent(node)
        value = self.read(quantity) if quantity is not None else None
        if not isinstance(value, ScalarConstant) or isinstance(value.value, bool | timedelta | None):
            hint = "multiply a length: x * INTERVAL '1' MINUTE"
            raise SqlError(NO_EXPRESSION, "the length of INTERVAL is a constant", span, hint)
        found = interval_of(str(value.value), None if unit is None else unit.sql(), span)
        return found if sign > 0 else SqlInterval(-found.months, -found.rest)

    def _interval(self, node: Any, span: Span | None) -> Scalar:
        length = self.interval(node)
        if length.months:
            hint = "add it to a time, or write days"
            message = "an interval of months has no length of its own"
            raise SqlError(NO_EXPRESSION, message, self.extent(node), hint)
        return ScalarConstant(length.rest, self.extent(node))

    def _extract(self, node: Any, span: Span | None) -> Scalar:
        unit = unit_of(node.name)
        if unit is None or unit == "microsecond":
            raise self.refused(node, "Extract")
        return self.operation("extract", [node.expression], span, unit)

    def _rounded(self, node: Any, span: Span | None) -> Scalar:
        unit = node.args.get("to")
        name = type(node).__name__.lower()
        if unit is None:
            return self.operation(name, [node.this], span)
        return round_down(unit.name, self.read(node.this), span)

    def _trim(self, node: Any, span: Span | None) -> Scalar:
        if node.expression is not None:
            raise self.refused(node, "Trim")
        side = (node.args.get("position") or "").upper()
        return self.operation({"LEADING": "ltrim", "TRAILING": "rtrim"}.get(side, "trim"), [node.this], span)

    def _substring(self, node: Any, span: Span | None) -> Scalar:
        parts = [node.this, node.args.get("start"), node.args.get("length")]
        return self.operation("substring", [part for part in parts if part is not None], span)


def _is_number(scalar: Scalar) -> bool:
    return (
        isinstance(scalar, ScalarConstant)
        and isinstance(scalar.value, int | float | Decimal)
        and not isinstance(scalar.value, bool)
    )


def _is_length(scalar: Scalar) -> bool:
    return isinstance(scalar, ScalarConstant) and isinstance(scalar.value, timedelta)
