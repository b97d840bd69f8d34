"""The tree of a MATCH_RECOGNIZE clause: row patterns, scalar expressions, the clause and its statement.

Names follow SQL: one that is not in quotes is the same in any case. Pattern variables are stored as SQL
prints them, in upper case unless they are in quotes; columns are stored as the text has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import timedelta
from enum import Enum
from typing import Any, Literal, TypeAlias

from cer_gpu.errors import Span
from cer_gpu.frozen_dataclass import dataclass

# Row patterns


@dataclass(frozen=True, slots=True)
class Variable:
    """One row for which the condition of a primary variable holds; a variable without one takes any row."""

    name: str
    at: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Concatenation:
    """The parts one after the other; without parts the empty pattern `()`."""

    parts: tuple[RowPattern, ...]


@dataclass(frozen=True, slots=True)
class Alternation:
    """One of the options; an earlier one is preferred."""

    options: tuple[RowPattern, ...]


@dataclass(frozen=True, slots=True)
class Permutation:
    """`PERMUTE(a, b, c)`: the parts in any order; orders are preferred as the list of the text is sorted."""

    parts: tuple[RowPattern, ...]


@dataclass(frozen=True, slots=True)
class Quantified:
    """The body `least` to `most` times; None is without end. More are preferred, with `reluctant` fewer.

    A repetition beyond the least number takes at least one row.
    """

    body: RowPattern
    least: int
    most: int | None
    reluctant: bool = False


@dataclass(frozen=True, slots=True)
class Exclusion:
    """`{- body -}`: its rows match, and are left out of ALL ROWS PER MATCH."""

    body: RowPattern


@dataclass(frozen=True, slots=True)
class Anchor:
    """`^` before the first row of a partition, `$` behind the last one; it takes no row."""

    place: Literal["^", "$"]


RowPattern: TypeAlias = (
    "Variable | Concatenation | Alternation | Permutation | Quantified | Exclusion | Anchor"
)


def parts_of(pattern: RowPattern) -> Iterator[RowPattern]:
    """A pattern and all that it is made of, in the order of the text."""
    waiting = [pattern]
    while waiting:
        part = waiting.pop()
        yield part
        match part:
            case Concatenation(parts) | Alternation(parts) | Permutation(parts):
                waiting += reversed(parts)
            case Quantified(body=body) | Exclusion(body):
                waiting.append(body)


# Scalar expressions


@dataclass(frozen=True, slots=True)
class ScalarConstant:
    """A value of the text; equal to one of the same type that is written with the same digits.

    Attributes
    ----------
    value : int, float, Decimal, str, bool, date, datetime, timedelta or None
        Numbers without a point are int, with a point Decimal, with an exponent float. INTERVAL is a timedelta
        of days and less; of months and years see the operations `add_months` of `OPERATIONS`.
    """

    value: Any
    at: Span | None = field(default=None, compare=False)

    def __eq__(self, other: object) -> bool:
        # For Python 1, 1.0, TRUE and the decimal 1 are equal: as keys of a dict they would share a value.
        return isinstance(other, ScalarConstant) and self._told() == other._told()

    def __hash__(self) -> int:
        return hash(self._told())

    def _told(self) -> tuple[type, str]:
        return type(self.value), repr(self.value)


@dataclass(frozen=True, slots=True)
class Field:
    """A column of the row that the navigation or the aggregate around it is about."""

    name: str
    at: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class MatchedVariable:
    """`CLASSIFIER()`: the primary variable of the row that the navigation around it is about."""

    at: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class MatchNumber:
    """`MATCH_NUMBER()`: 1 for the first match of a partition."""

    at: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator or a function of scalar values, by SQL's three-valued logic.

    Attributes
    ----------
    name : str
        One of `OPERATIONS`.
    operands : tuple of Scalar
    detail : object
        What is no operand: the type of a cast, the unit of `extract`.
    """

    name: str
    operands: tuple[Scalar, ...]
    detail: Any = None
    at: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Navigation:
    """The value of an expression at one row of the match, or at a row that lies beside it.

    From the rows that are mapped to `variables` take the first or the last one, go `skip` of them on (back,
    with "last"), then `offset` rows of the partition on (back, below zero). Null where there is no such row.
    `PREV(LAST(a.price, 1), 2)` is "last", skip 1, offset -2; `a.price` is "last", 0, 0.

    Attributes
    ----------
    expression : Scalar
        Of `Field`, `MatchedVariable`, constants and operations.
    variables : frozenset of str or None
        Primary variables; None stands for all rows of the match.
    which : {"first", "last"}
    skip, offset : int
    final : bool
        Over the whole match, not over its rows up to the current one. Only measures have it.
    """

    expression: Scalar
    variables: frozenset[str] | None = None
    which: Literal["first", "last"] = "last"
    skip: int = 0
    offset: int = 0
    final: bool = False
    at: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RowAggregate:
    """An aggregate of an expression over the rows that are mapped to `variables`.

    Attributes
    ----------
    function : str
        One of `AGGREGATES`. Those from "array" on are in measures only.
    expression : Scalar or None
        As in `Navigation`; None is `COUNT(*)` or `COUNT(a.*)`, which counts rows. Of a function of two
        expressions an operation `pair`.
    variables : frozenset of str or None
    distinct, final : bool
    """

    function: str
    expression: Scalar | None
    variables: frozenset[str] | None = None
    distinct: bool = False
    final: bool = False
    at: Span | None = field(default=None, compare=False)


Scalar: TypeAlias = (
    "ScalarConstant | Field | MatchedVariable | MatchNumber | Operation | Navigation | RowAggregate"
)
"""In a clause a `Field` or a `MatchedVariable` always stands in a `Navigation` or a `RowAggregate`."""

AGGREGATES: Mapping[str, str] = {
    "count": "how many values",
    "sum": "",
    "min": "NaN is greater than all numbers",
    "max": "",
    "avg": "",
    "whole avg": "of integers an integer, cut towards zero; of others as `avg`",
    "array": "a list of the values, nulls among them",
    "values": "a list of the values that are not null",
    "text": "of a pair, the values as one text, with the second, a constant, between them",
    "any": "the first value",
    "variance": "of the rows as all that there are",
    "sample variance": "null of one value",
    "deviation": "the square root of the variance",
    "sample deviation": "",
    "min by": "of a pair, the first where the second is least; nulls of the second do not count",
    "max by": "",
}
"""The aggregates with what they mean. Nulls do not count, unless it says otherwise; over no values the answer
is null, and of `count` 0."""

OPERATIONS: Mapping[str, str] = {
    "+": "sum; of a time and an interval a time. The detail `numbers of days`: so is a number with a time",
    "-": "difference; of two times an interval. The detail `days`, or that of `+`: of two dates a number",
    "*": "product",
    "/": "quotient of decimals and floats; of two integers as the dialect says, see `//`",
    "//": "quotient of integers, cut towards zero",
    "%": "remainder, with the sign of the dividend",
    "neg": "minus",
    "=": "equal",
    "<>": "not equal",
    "<": "less",
    "<=": "less or equal",
    ">": "greater",
    ">=": "greater or equal",
    "distinct from": "not equal, where null equals null: never null",
    "and": "of any number of operands",
    "or": "of any number of operands",
    "not": "negation",
    "is null": "never null",
    "is true": "never null",
    "like": "text, pattern with % and _; detail is the escape character or None",
    "ilike": "like, in any case",
    "regexp": "text, regular expression that is found anywhere in it",
    "in": "the first operand is equal to one of the others",
    "case": "condition, value, condition, value, ..., value otherwise (an odd number of operands)",
    "coalesce": "the first that is not null",
    "nullif": "null where both are equal",
    "greatest": "null where one is null",
    "least": "null where one is null",
    "cast": "detail is a pyarrow.DataType; what cannot be cast is an error",
    "try cast": "detail is a pyarrow.DataType; what cannot be cast is null",
    "||": "texts one after the other",
    "abs": "",
    "sign": "",
    "ceil": "",
    "floor": "",
    "round": "value, places (a constant)",
    "sqrt": "",
    "exp": "",
    "ln": "",
    "log10": "",
    "power": "value, exponent",
    "mod": "as %",
    "upper": "",
    "lower": "",
    "length": "characters of a text",
    "trim": "without spaces at both ends",
    "ltrim": "",
    "rtrim": "",
    "substring": "text, start (from 1), length (or without)",
    "replace": "text, what, with what",
    "starts_with": "text, prefix",
    "ends_with": "text, suffix",
    "contains": "text, part",
    "position": "part, text: from 1, 0 where it is not there",
    "extract": "detail is a unit of `date_trunc`, dow, doy, millisecond or epoch",
    "date_trunc": "detail is year, quarter, month, week, day, hour, minute, second",
    "date_diff": "first, second; whole units that lie between, detail is the unit; as TIMESTAMPDIFF",
    "add_months": "time, number of months",
}
"""The operations with what they mean. A null operand makes the value null, unless they say otherwise."""

# The clause


@dataclass(frozen=True, slots=True)
class SortKey:
    """A column of ORDER BY."""

    column: str
    descending: bool = False
    nulls_first: bool = False
    at: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RowMeasure:
    """A column of the answer.

    Attributes
    ----------
    name : str
    expression : Scalar
    at : Span
        Of the expression.
    """

    name: str
    expression: Scalar
    at: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Definition:
    """The condition of a primary variable.

    Attributes
    ----------
    variable : str
    condition : Scalar
        A row is taken where it is true, neither false nor null. Rows and aggregates are those of the match so
        far, the row that is tried included, as if it were mapped to the variable.
    """

    variable: str
    condition: Scalar
    at: Span | None = field(default=None, compare=False)


class RowsPerMatch(Enum):
    """Which rows an answer has."""

    ONE = "ONE ROW PER MATCH"
    ALL_SHOW_EMPTY = "ALL ROWS PER MATCH SHOW EMPTY MATCHES"
    ALL_OMIT_EMPTY = "ALL ROWS PER MATCH OMIT EMPTY MATCHES"
    ALL_WITH_UNMATCHED = "ALL ROWS PER MATCH WITH UNMATCHED ROWS"


class SkipMode(Enum):
    """Where the search goes on behind a match. Behind an empty match it is always the next row."""

    PAST_LAST_ROW = "SKIP PAST LAST ROW"
    TO_NEXT_ROW = "SKIP TO NEXT ROW"
    TO_FIRST = "SKIP TO FIRST"
    TO_LAST = "SKIP TO LAST"


@dataclass(frozen=True, slots=True)
class Skip:
    """AFTER MATCH SKIP.

    Attributes
    ----------
    mode : SkipMode
    variables : frozenset of str
        The primary variables of TO FIRST and TO LAST. An error of the data where none of their rows is in the
        match, or where it is the first row of the match.
    name : str
        The variable as the text has it.
    """

    mode: SkipMode
    variables: frozenset[str] = frozenset()
    name: str = ""
    at: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RowPatternClause:
    """One MATCH_RECOGNIZE.

    Attributes
    ----------
    source : str
        What it reads: the name of a table, or with `query` the text of a subquery; with `file` a path.
    kind : {"table", "file", "query"}
    partition_by : tuple of str
        Columns.
    order_by : tuple of SortKey
    measures : tuple of RowMeasure
    rows : RowsPerMatch
    skip : Skip
    pattern : RowPattern
    subsets : mapping of str to frozenset of str
        Union variables with their primary variables.
    definitions : tuple of Definition
        Of primary variables of the pattern.
    within : datetime.timedelta or None
        The last row of a match lies less than this behind its first, by the first sort key (as in Flink).
    alias : str or None
    span : Span
        From the name of the source to the alias.
    """

    source: str
    kind: Literal["table", "file", "query"]
    partition_by: tuple[str, ...]
    order_by: tuple[SortKey, ...]
    measures: tuple[RowMeasure, ...]
    rows: RowsPerMatch
    skip: Skip
    pattern: RowPattern
    subsets: Mapping[str, frozenset[str]]
    definitions: tuple[Definition, ...]
    within: timedelta | None = None
    alias: str | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RowPatternStatement:
    """A SELECT over one or more MATCH_RECOGNIZE.

    Attributes
    ----------
    text : str
    clauses : tuple of RowPatternClause
        In the order of the text.
    outer : str
        The text with each clause and its source replaced by a name of `tables`.
    tables : tuple of str
        A name for the answer of each clause.
    """

    text: str
    clauses: tuple[RowPatternClause, ...]
    outer: str
    tables: tuple[str, ...]
