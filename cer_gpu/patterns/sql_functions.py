"""Functions of SQL, by the names that its dialects give them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any, Protocol

import pyarrow as pa

from cer_gpu.errors import Span
from cer_gpu.patterns.sql_error import NOT_TAKEN, SqlError, unknown_function
from cer_gpu.patterns.sql_literals import LENGTHS, MONTHS, SqlInterval, interval_of, unit_of
from cer_gpu.patterns.tree import Operation, Scalar, ScalarConstant

REGEXP_IS_WHOLE = frozenset({"snowflake"})
"""Dialects whose regular expressions have to match the whole text."""

_NULLS_LEFT_OUT = frozenset(
    {"duckdb", "postgres", "redshift", "spark", "databricks", "hive", "tsql", "sqlite"}
)
"""Dialects whose GREATEST and LEAST leave out nulls."""

_CONCAT_OF_NULLS = frozenset({"duckdb", "postgres", "redshift", "tsql", "oracle", "db2"})
"""Dialects whose CONCAT takes null for an empty text."""

_WHOLE_UNITS = frozenset(
    {"trino", "presto", "athena", "spark", "databricks", "mysql", "flink", "calcite", "db2"}
)
"""Dialects that count whole units with any function of differences. Others count with DATEDIFF the limits of
units that lie between, as DuckDB and Snowflake do: one year from 2023-12-31 to 2024-01-01."""

_TENS = frozenset({"duckdb", "postgres", "redshift", "sqlite", "clickhouse"})
"""Dialects whose LOG has the base 10."""

_NATURAL = frozenset({"spark", "databricks", "hive", "mysql", "bigquery", "tsql", "flink", "calcite"})
"""Dialects whose LOG is natural."""


class ScalarBuilder(Protocol):
    """What functions ask of the reader of the expressions around them."""

    language: str

    def read(self, node: Any) -> Scalar:
        """The scalar of a node."""

    def made(
        self, name: str, operands: tuple[Scalar, ...], span: Span | None = None, detail: Any = None
    ) -> Operation:
        """An operation of scalars."""

    def extent(self, node: Any) -> Span | None:
        """Where a node stands."""

    def interval(self, node: Any) -> SqlInterval:
        """The length of time that INTERVAL writes."""

    def moved(self, moment: Scalar, length: SqlInterval, sign: int, span: Span | None) -> Scalar:
        """A time and a length of time later."""


_Call = Callable[[ScalarBuilder, Sequence[Any], Span | None], Scalar]

_SIMPLE: Mapping[str, tuple[str, int, int]] = {
    "ABS": ("abs", 1, 1),
    "SIGN": ("sign", 1, 1),
    "CEILING": ("ceil", 1, 1),
    "ROUND": ("round", 1, 2),
    "SQRT": ("sqrt", 1, 1),
    "EXP": ("exp", 1, 1),
    "LN": ("ln", 1, 1),
    "LOG10": ("log10", 1, 1),
    "POWER": ("power", 2, 2),
    "POW": ("power", 2, 2),
    "MOD": ("mod", 2, 2),
    "UPPER": ("upper", 1, 1),
    "UCASE": ("upper", 1, 1),
    "LOWER": ("lower", 1, 1),
    "LCASE": ("lower", 1, 1),
    "LENGTH": ("length", 1, 1),
    "LEN": ("length", 1, 1),
    "CHAR_LENGTH": ("length", 1, 1),
    "CHARACTER_LENGTH": ("length", 1, 1),
    "LTRIM": ("ltrim", 1, 1),
    "RTRIM": ("rtrim", 1, 1),
    "SUBSTR": ("substring", 2, 3),
    "REPLACE": ("replace", 3, 3),
    "STARTS_WITH": ("starts_with", 2, 2),
    "STARTSWITH": ("starts_with", 2, 2),
    "ENDS_WITH": ("ends_with", 2, 2),
    "ENDSWITH": ("ends_with", 2, 2),
    "CONTAINS": ("contains", 2, 2),
    "COALESCE": ("coalesce", 1, 999),
    "IFNULL": ("coalesce", 2, 2),
    "NVL": ("coalesce", 2, 2),
    "NULLIF": ("nullif", 2, 2),
    "ADD_MONTHS": ("add_months", 2, 2),
}

_PARTS = (
    "YEAR",
    "QUARTER",
    "MONTH",
    "WEEK",
    "DAY",
    "DAYOFMONTH",
    "HOUR",
    "MINUTE",
    "SECOND",
    "EPOCH",
    "DAYOFYEAR",
)

_CASTS: Mapping[str, pa.DataType] = {
    "TO_DATE": pa.date32(),
    "DATE": pa.date32(),
    "TO_TIMESTAMP": pa.timestamp("us"),
    "TO_TIMESTAMP_NTZ": pa.timestamp("us"),
    "TIMESTAMP": pa.timestamp("us"),
    "TO_CHAR": pa.string(),
    "TO_VARCHAR": pa.string(),
    "TO_DOUBLE": pa.float64(),
    "TO_BOOLEAN": pa.bool_(),
}


def called(name: str, builder: ScalarBuilder, nodes: Sequence[Any], span: Span | None) -> Scalar:
    """The scalar of a call of a function that is no navigation and no aggregate.

    Parameters
    ----------
    name : str
        In upper case.
    builder : ScalarBuilder
    nodes : sequence of sqlglot.Expression
        The arguments.
    span : Span or None

    Raises
    ------
    SqlError
        When there is no such function, or when it does not take these arguments.
    """
    if name in _SIMPLE:
        operation, least, most = _SIMPLE[name]
        _check_number(name, nodes, least, most, span)
        return builder.made(operation, tuple(map(builder.read, nodes)), span)
    if name in _PARTS:
        _check_number(name, nodes, 1, 1, span)
        return builder.made("extract", (builder.read(nodes[0]),), span, unit_of(name))
    if name in _CASTS:
        if len(nodes) == 2:
            hint = "CAST reads ISO 8601; other forms of times are to be read before, in a subquery"
            raise SqlError(NOT_TAKEN, f"{name} takes no format here", span, hint)
        _check_number(name, nodes, 1, 1, span)
        return builder.made("cast", (builder.read(nodes[0]),), span, _CASTS[name])
    if name in _CALLS:
        least, most, call = _CALLS[name]
        _check_number(name, nodes, least, most, span)
        return call(builder, nodes, span)
    raise unknown_function(name, span, [*_SIMPLE, *_PARTS, *_CASTS, *_CALLS, "CAST", "TRIM", "FLOOR", "CEIL"])


def _check_number(name: str, nodes: Sequence[Any], least: int, most: int, span: Span | None) -> None:
    if not least <= len(nodes) <= most:
        wanted = str(least) if least == most else f"{least} or more" if most > 9 else f"{least} to {most}"
        value = "value" if wanted == "1" else "values"
        raise SqlError(NOT_TAKEN, f"{name} takes {wanted} {value}, not {len(nodes)}", span)


def anchored(pattern: Scalar) -> Scalar:
    """A regular expression that has to match the whole text."""
    if isinstance(pattern, ScalarConstant) and isinstance(pattern.value, str):
        return ScalarConstant(f"^(?:{pattern.value})$", pattern.at)
    return Operation("||", (ScalarConstant("^(?:"), pattern, ScalarConstant(")$")), at=pattern.at)


def regexp(text: Scalar, pattern: Scalar, span: Span | None) -> Operation:
    """Whether a regular expression is found in a text."""
    return Operation("regexp", (text, pattern), at=span)


def round_down(unit: str, moment: Scalar, span: Span | None) -> Operation:
    """The beginning of the unit of time that a moment lies in."""
    return Operation("date_trunc", (moment,), _unit(unit, span, ("millisecond", "microsecond")), span)


def _unit(word: str | None, span: Span | None, refused: Iterable[str] = ()) -> str:
    unit = None if word is None else unit_of(word)
    if unit is None or unit in ("dow", "doy", "epoch", *refused):
        hint = "units are YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE and SECOND"
        raise SqlError(NOT_TAKEN, f"{word or 'this'} is not a unit of time", span, hint)
    return unit


def _word(node: Any) -> str | None:
    # The unit that an argument may be: a name or a text.
    kind = type(node).__name__
    if kind == "Column" and node.args.get("table") is None:
        return str(node.name)
    return str(node.name) if kind in ("Var", "Literal", "Identifier") else None


def _is_unit(node: Any) -> bool:
    word = _word(node)
    return word is not None and unit_of(word) is not None


def _case(builder: ScalarBuilder, nodes: Sequence[Any], span: Span | None) -> Scalar:
    read = [builder.read(node) for node in nodes]
    otherwise = read[2] if len(read) == 3 else ScalarConstant(None)
    return builder.made("case", (read[0], read[1], otherwise), span)


def _case_of_null(builder: ScalarBuilder, nodes: Sequence[Any], span: Span | None) -> Scalar:
    value, there, null = (builder.read(node) for node in nodes)
    return builder.made("case", (builder.made("is null", (value,)), null, there), span)


def _decode(builder: ScalarBuilder, nodes: Sequence[Any], span: Span | None) -> Scalar:
    value, *rest = (builder.read(node) for node in nodes)
    operands: list[Scalar] = []
    for sought, found in zip(rest[::2], rest[1::2], strict=False):
        operands += (builder.made("not", (builder.made("distinct from", (value, sought)),)), found)
    operands.append(rest[-1] if len(rest) % 2 else ScalarConstant(None))
    return builder.made("case", tuple(operands), span)


def _extreme(name: str) -> _Call:
    def call(builder: ScalarBuilder, nodes: Sequence[Any], span: Span | None) -> Scalar:
        read = [builder.read(node) for node in nodes]
        if builder.language in _NULLS_LEFT_OUT and len(read) > 1:
            # In place of a null the next value that is none: null only where all are.
            read = [builder.made("coalesce", (*read[start:], *read[:start])) for start in range(len(read))]
        return builder.made(name, tuple(read), span)

    return call


def _concatenated(builder: ScalarBuilder, nodes: Sequence[Any], span: Span | None) -> Scalar:
    read = [builder.read(node) for node in nodes]
    if builder.language in _CONCAT_OF_NULLS:
        read = [builder.made("coalesce", (one, ScalarConstant(""))) for one in read]
    return builder.made("||", tuple(read), span)


def _position(text_first: bool) -> _Call:
    def call(builder: ScalarBuilder, nodes: Sequence[Any], span: Span | None) -> Scalar:
        first, second = (builder.read(node) for node in nodes)
        return builder.made("position", (second, first) if text_first else (first, second), span)

    return call


def _left(builder: ScalarBuilder, nodes: Sequence[Any], span: Span | None) -> Scalar:
    text, count = (builder.read(node) for node in nodes)
    return builder.made("substring", (text, ScalarConstant(1), count), span)


def _right(builder: ScalarBuilder, nodes: Sequence[Any], span: Span | None) -> Scalar:
    text, count = (builder.read(node) for node in nodes)
    before = builder.made("-", (builder.made("length", (text,)), count))
    start = builder.made("+", (builder.made("greatest", (before, ScalarConstant(0))), ScalarConstant(1)))
    return builder.made("substring", (text, start), span)


def _logarithm(builder: ScalarBuilder, nodes: Sequence[Any], span: Span | None) -> Scalar:
    if builder.language in _TENS or builder.language in _NATURAL:
        name = "log10" if builder.language in _TENS else "ln"
        return builder.made(name, (builder.read(nodes[0]),), span)
    raise unknown_function("LOG", span, ())


def _regexp(builder: ScalarBuilder, nodes: Sequence[Any], span: Span | None) -> Scalar:
    text, pattern = (builder.read(node) for node in nodes)
    return regexp(text, anchored(pattern) if builder.language in REGEXP_IS_WHOLE else pattern, span)


def _regexp_whole(builder: ScalarBuilder, nodes: Sequence[Any], span: Span | None) -> Scalar:
    text, pattern = (builder.read(node) for node in nodes)
    return regexp(text, anchored(pattern), span)


def _truncated(builder: ScalarBuilder, nodes: Sequence[Any], span: Span | None) -> Scalar:
    text_first = type(nodes[0]).__name__ == "Literal"
    unit, moment = nodes if text_first or _is_unit(nodes[0]) else reversed(nodes)
    if not _is_unit(unit):
        raise SqlError(
            NOT_TAKEN, "this is not a unit of time", builder.extent(unit) or span, "TRUNC(ts, 'HH24')"
        )
    return round_down(_word(unit) or "", builder.read(moment), span)


def _part(builder: ScalarBuilder, nodes: Sequence[Any], span: Span | None) -> Scalar:
    word = _word(nodes[0])
    unit = None if word is None else unit_of(word)
    if unit is None or unit == "microsecond":
        raise SqlError(NOT_TAKEN, "this is not a part of a time", builder.extent(nodes[0]) or span)
    return builder.made("extract", (builder.read(nodes[1]),), span, unit)


def _difference(limits: bool) -> _Call:
    # `limits`: the function counts limits of units unless the dialect counts whole units with all of them.
    def call(builder: ScalarBuilder, nodes: Sequence[Any], span: Span | None) -> Scalar:
        if len(nodes) == 2:  # days from the second to the first, as Spark, MySQL and Hive have it
            unit, first, second, by_limits = "day", builder.read(nodes[1]), builder.read(nodes[0]), True
        else:
            by_limits = limits and builder.language not in _WHOLE_UNITS
            if _is_unit(nodes[0]):
                word, first, second = _word(nodes[0]), builder.read(nodes[1]), builder.read(nodes[2])
            else:  # as in BigQuery
                word, first, second = _word(nodes[2]), builder.read(nodes[1]), builder.read(nodes[0])
            unit = _unit(word, span)
        if by_limits and unit in ("millisecond", "microsecond"):
            by_limits = False
        if by_limits:
            first, second = (Operation("date_trunc", (one,), unit, one.at) for one in (first, second))
        return builder.made("date_diff", (first, second), span, unit)

    return call


def _later(sign: int) -> _Call:
    def call(builder: ScalarBuilder, nodes: Sequence[Any], span: Span | None) -> Scalar:
        if len(nodes) == 2:  # a time and an interval, or days
            moment = builder.read(nodes[0])
            if type(nodes[1]).__name__ == "Interval":
                return builder.moved(moment, builder.interval(nodes[1]), sign, span)
            unit, count = "day", builder.read(nodes[1])
        else:
            at_start = _is_unit(nodes[0])
            unit = _unit(_word(nodes[0 if at_start else 2]), span)
            count = builder.read(nodes[1])
            moment = builder.read(nodes[2 if at_start else 0])
        return _moved(builder, moment, unit, count, sign, span)

    return call


def _moved(
    builder: ScalarBuilder, moment: Scalar, unit: str, count: Scalar, sign: int, span: Span | None
) -> Scalar:
    if isinstance(count, ScalarConstant) and isinstance(count.value, int | Decimal):
        return builder.moved(moment, interval_of(str(count.value), unit, span), sign, span)
    if unit in MONTHS:
        months = builder.made("*", (count, ScalarConstant(sign * MONTHS[unit])))
        return builder.made("add_months", (moment, months), span)
    length = builder.made("*", (count, ScalarConstant(sign * LENGTHS[unit])))
    return builder.made("+", (moment, length), span)


def _length(builder: ScalarBuilder, nodes: Sequence[Any], span: Span | None) -> Scalar:
    count, unit = builder.read(nodes[0]), _unit(_word(nodes[1]), span, MONTHS)
    if isinstance(count, ScalarConstant) and isinstance(count.value, int | Decimal):
        return ScalarConstant(interval_of(str(count.value), unit, span).rest, span)
    return builder.made("*", (count, ScalarConstant(timedelta(0) + LENGTHS[unit])), span)


_CALLS: Mapping[str, tuple[int, int, _Call]] = {
    "IF": (2, 3, _case),
    "IFF": (2, 3, _case),
    "IIF": (2, 3, _case),
    "NVL2": (3, 3, _case_of_null),
    "DECODE": (3, 999, _decode),
    "GREATEST": (1, 999, _extreme("greatest")),
    "LEAST": (1, 999, _extreme("least")),
    "CONCAT": (1, 999, _concatenated),
    "INSTR": (2, 2, _position(True)),
    "STRPOS": (2, 2, _position(True)),
    "CHARINDEX": (2, 2, _position(False)),
    "LOCATE": (2, 2, _position(False)),
    "LEFT": (2, 2, _left),
    "RIGHT": (2, 2, _right),
    "LOG": (1, 1, _logarithm),
    "REGEXP_LIKE": (2, 2, _regexp),
    "REGEXP_MATCHES": (2, 2, _regexp),
    "REGEXP_CONTAINS": (2, 2, _regexp),
    "RLIKE": (2, 2, _regexp),
    "REGEXP_FULL_MATCH": (2, 2, _regexp_whole),
    "DATE_TRUNC": (2, 2, _truncated),
    "TIMESTAMP_TRUNC": (2, 2, _truncated),
    "TRUNC": (2, 2, _truncated),
    "DATE_PART": (2, 2, _part),
    "DATEPART": (2, 2, _part),
    "DATEDIFF": (2, 3, _difference(True)),
    "DATE_DIFF": (2, 3, _difference(True)),
    "TIMEDIFF": (3, 3, _difference(True)),
    "TIMESTAMPDIFF": (3, 3, _difference(False)),
    "TIMESTAMP_DIFF": (3, 3, _difference(False)),
    "DATEADD": (2, 3, _later(1)),
    "DATE_ADD": (2, 3, _later(1)),
    "TIMEADD": (3, 3, _later(1)),
    "TIMESTAMPADD": (3, 3, _later(1)),
    "TIMESTAMP_ADD": (2, 3, _later(1)),
    "DATE_SUB": (2, 3, _later(-1)),
    "TIMESTAMP_SUB": (2, 3, _later(-1)),
    "NUMTODSINTERVAL": (2, 2, _length),
}
