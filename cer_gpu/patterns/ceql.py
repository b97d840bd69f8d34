"""The CEQL query that gives all matches of a row pattern, where there is one: `ceql_of`."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import permutations
from typing import Any

from cer_gpu.patterns.conditions import current_row, is_fixed
from cer_gpu.patterns.tree import (
    Alternation,
    Anchor,
    Concatenation,
    Exclusion,
    Field,
    Navigation,
    Operation,
    Permutation,
    Quantified,
    RowPattern,
    RowPatternClause,
    Scalar,
    ScalarConstant,
    Variable,
)

INFIX = {
    "=": "=",
    "<>": "!=",
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
    "+": "+",
    "-": "-",
    "*": "*",
    "and": "AND",
    "or": "OR",
}
"""Operations that both languages write between their operands."""

UNITS = {"h": 3_600 * 10**6, "min": 60 * 10**6, "s": 10**6, "ms": 10**3, "us": 1}
"""Units of time in microseconds."""

COMPARISONS = frozenset(["=", "<>", "<", "<=", ">", ">="])


class NoCeqlError(Exception):
    """The pattern cannot be said in CEQL; the text says what of it."""


def ceql_of(clause: RowPatternClause) -> str:
    """The query whose matches are all of the row pattern: every way to match it, from every row.

    It holds where no column of a condition is null. AFTER MATCH SKIP, the rows per match and the measures are
    left out.

    Raises
    ------
    NoCeqlError
        When a part of the pattern or of a condition has no counterpart.
    """
    name = clause.source if clause.kind == "table" and clause.source.isidentifier() else "Row"
    writer = _CeqlWriter(name, {each.variable: each.condition for each in clause.definitions})
    if len(clause.order_by) != 1 or clause.order_by[0].descending:
        raise NoCeqlError("its events are in the order of one column of time, which ascends")
    if _may_be_empty(clause.pattern):
        raise NoCeqlError("it may match no row, and a match of CEQL has at least one")
    pattern = writer.pattern(clause.pattern)
    if clause.within is not None:
        pattern = f"({pattern}) WITHIN [< {_constant(clause.within)}]"
    text = f"SELECT * FROM {name} WHERE {pattern}"
    if clause.partition_by:
        text += f" PARTITION BY {', '.join(map(_named, clause.partition_by))}"
    return text


def _may_be_empty(pattern: RowPattern) -> bool:
    match pattern:
        case Variable():
            return False
        case Concatenation() | Permutation():
            return all(map(_may_be_empty, pattern.parts))
        case Alternation():
            return any(map(_may_be_empty, pattern.options))
        case Exclusion():
            return _may_be_empty(pattern.body)
        case Quantified():
            return pattern.least == 0 or _may_be_empty(pattern.body)
    return True


def _named(name: str) -> str:
    return name if name.isidentifier() else f"`{name}`"


class _CeqlWriter:
    """Writes a pattern, whose events are all of one type."""

    def __init__(self, kind: str, conditions: dict[str, Scalar]) -> None:
        self._kind = kind
        self._conditions = conditions

    def pattern(self, pattern: RowPattern) -> str:
        match pattern:
            case Variable():
                return self._variable(pattern.name)
            case Concatenation():
                if not pattern.parts:
                    raise NoCeqlError("`()` has no counterpart")
                return " : ".join(map(self._grouped, pattern.parts))
            case Alternation():
                return " OR ".join(map(self._grouped, pattern.options))
            case Permutation():
                orders = [Concatenation(parts) for parts in permutations(pattern.parts)]
                return self.pattern(Alternation(tuple(orders)))
            case Exclusion():
                return self.pattern(pattern.body)
            case Quantified():
                return self._repeated(pattern)
            case Anchor():
                raise NoCeqlError(f"`{pattern.place}` has no counterpart")
        raise AssertionError(pattern)

    def _grouped(self, pattern: RowPattern) -> str:
        """A pattern as a part of another one."""
        text = self.pattern(pattern)
        while isinstance(pattern, Exclusion) or (
            isinstance(pattern, Concatenation) and len(pattern.parts) == 1
        ):
            pattern = pattern.body if isinstance(pattern, Exclusion) else pattern.parts[0]
        return text if isinstance(pattern, (Variable, Quantified)) else f"({text})"

    def _variable(self, name: str) -> str:
        lower = name.lower()
        event = f"{self._kind} AS {_named(lower)}"
        condition = self._conditions.get(name)
        if condition is None:
            return f"({event})"
        settled = current_row(condition, name)
        if not is_fixed(settled):
            raise NoCeqlError(f"the condition of {name} speaks of the match so far")
        return f"({event} FILTER {_named(lower)}[{_condition(settled)}])"

    def _repeated(self, pattern: Quantified) -> str:
        if _may_be_empty(pattern.body):
            raise NoCeqlError("a repetition of what may match no row has no counterpart")
        body = self._grouped(pattern.body)
        least, most = max(pattern.least, 1), pattern.most
        if most == 0:
            raise NoCeqlError("`{0}` has no counterpart")
        if isinstance(pattern.body, Quantified):
            body = f"({body})"
        if most != 1:
            several = "+" if (least, most) == (1, None) else f"{{{least},{most or ''}}}"
            body = f"{body} :{several if least != most else f'{{{least}}}'}"
        if pattern.least:
            return body
        return f"{body} ?" if most == 1 else f"({body}) ?"


def _condition(condition: Scalar) -> str:
    match condition:
        case Operation() if condition.name in ("and", "or"):
            joined = f" {INFIX[condition.name]} ".join(map(_condition, condition.operands))
            return f"({joined})"
        case Operation() if condition.name in COMPARISONS:
            left, right = map(_value, condition.operands)
            return f"{left} {INFIX[condition.name]} {right}"
        case Operation():
            raise NoCeqlError(f"`{condition.name}` in a condition has no counterpart, or is not translated")
    raise NoCeqlError("a condition that is no comparison is not translated")


def _value(value: Scalar) -> str:
    match value:
        case ScalarConstant():
            return _constant(value.value)
        case Navigation():
            if not isinstance(value.expression, Field):
                raise NoCeqlError("PREV and NEXT of an expression are not translated")
            if value.offset > 0:
                raise NoCeqlError("NEXT has no counterpart")
            column = _named(value.expression.name)
            if not value.offset:
                return column
            return f"PREV({column})" if value.offset == -1 else f"PREV({column}, {-value.offset})"
        case Operation() if value.name in ("+", "-", "*"):
            return f"({f' {INFIX[value.name]} '.join(map(_value, value.operands))})"
    raise NoCeqlError("a value of a condition has no counterpart, or is not translated")


def _constant(value: Any) -> str:
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float() | Decimal():
            return str(value)
        case str():
            return "'" + value.replace("'", "''") + "'"
        case datetime() | date():
            return f"'{value.isoformat()}'"
        case timedelta():
            return _span(value)
    raise NoCeqlError("a null in a condition has no counterpart")


def _span(span: timedelta) -> str:
    """A length of time in the largest unit that it is a multiple of."""
    micros = span // timedelta(microseconds=1)
    for unit, size in UNITS.items():
        if micros % size == 0:
            return f"{micros // size} {unit}"
    raise AssertionError(span)
