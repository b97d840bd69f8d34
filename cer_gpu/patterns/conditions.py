"""What conditions of DEFINE speak of: the row alone and rows at fixed places beside it, or the match so far.

A condition is parted at its ANDs. What speaks of fixed places only can be computed for all rows before any
match is looked for (class 1); the rest is computed while a match is tried (class 2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.patterns.tree import (
    Definition,
    Field,
    MatchedVariable,
    MatchNumber,
    Navigation,
    Operation,
    RowAggregate,
    RowPatternClause,
    Scalar,
    ScalarConstant,
)

OF_NULLS = frozenset(["and", "or", "is null", "is true", "distinct from", "case", "coalesce", "nullif"])
"""Operations that may have a value though an operand is null."""


@dataclass(frozen=True, slots=True)
class ParsedCondition:
    """The condition of a variable in two parts, which both have to be true.

    Attributes
    ----------
    variable : str
    fixed : tuple of Scalar
        Conditions on rows at fixed places; their navigations are of the current row: "last", skip 0, of all
        variables.
    open : tuple of Scalar
        Conditions on the match so far. Parts of them that speak of fixed places have such navigations too.
    """

    variable: str
    fixed: tuple[Scalar, ...]
    open: tuple[Scalar, ...]


def parted(definition: Definition) -> ParsedCondition:
    """The parts of a condition."""
    fixed: list[Scalar] = []
    open_: list[Scalar] = []
    for part in _conjuncts(definition.condition):
        settled = gathered(current_row(part, definition.variable))
        (fixed if is_fixed(settled) else open_).append(settled)
    return ParsedCondition(definition.variable, tuple(fixed), tuple(open_))


def parted_conditions(clause: RowPatternClause) -> Mapping[str, ParsedCondition]:
    """The parts of the conditions of a clause, by their variables."""
    return {each.variable: parted(each) for each in clause.definitions}


def _conjuncts(condition: Scalar) -> Iterator[Scalar]:
    if isinstance(condition, Operation) and condition.name == "and":
        for operand in condition.operands:
            yield from _conjuncts(operand)
    else:
        yield condition


def current_row(expression: Scalar, variable: str) -> Scalar:
    """An expression in the condition of a variable: all navigations to the row that is tried look alike.

    The row is tried as one of the variable, so it is the last row of every set that has the variable.
    """
    if isinstance(expression, Operation):
        return replace(
            expression, operands=tuple(current_row(each, variable) for each in expression.operands)
        )
    if isinstance(expression, Navigation) and _is_current(expression, variable):
        settled = replace(expression, variables=None)
        if expression.offset == 0:
            settled = replace(settled, expression=_named(settled.expression, variable))
        return settled
    return expression


def gathered(expression: Scalar) -> Scalar:
    """An expression in which what is computed of one row of the match is one navigation.

    `CAST(a.ts AS DATE)` becomes `LAST(CAST(a.ts AS DATE))`, which is computed for all rows beforehand. Both
    are null where there is no row, since only operations are taken that are null where an operand is.
    """
    if not isinstance(expression, Operation):
        return expression
    expression = replace(expression, operands=tuple(map(gathered, expression.operands)))
    rows = {_row_of(each) for each in expression.operands if not isinstance(each, ScalarConstant)}
    if expression.name in OF_NULLS or len(rows) != 1 or None in rows:
        return expression
    inner = tuple(each.expression if isinstance(each, Navigation) else each for each in expression.operands)
    navigation = next(each for each in expression.operands if isinstance(each, Navigation))
    return replace(navigation, expression=replace(expression, operands=inner), at=expression.at)


def _row_of(expression: Scalar) -> tuple[Any, ...] | None:
    """What tells the row of a navigation; None of other expressions."""
    if not isinstance(expression, Navigation):
        return None
    if any(isinstance(leaf, MatchedVariable) for leaf in leaves(expression.expression)):
        return None
    return expression.variables, expression.which, expression.skip, expression.offset, expression.final


def _is_current(navigation: Navigation, variable: str) -> bool:
    concerned = navigation.variables is None or variable in navigation.variables
    return concerned and navigation.which == "last" and navigation.skip == 0


def _named(expression: Scalar, variable: str) -> Scalar:
    """An expression of the row that is tried: CLASSIFIER() is the variable."""
    if isinstance(expression, MatchedVariable):
        return ScalarConstant(variable, expression.at)
    if isinstance(expression, Operation):
        return replace(expression, operands=tuple(_named(each, variable) for each in expression.operands))
    return expression


def is_fixed(expression: Scalar) -> bool:
    """Whether an expression from `current_row` speaks of rows at fixed places alone."""
    if isinstance(expression, Operation):
        return all(map(is_fixed, expression.operands))
    if isinstance(expression, Navigation):
        current = expression.variables is None and expression.which == "last" and expression.skip == 0
        return current and not any(
            isinstance(leaf, MatchedVariable) for leaf in leaves(expression.expression)
        )
    return isinstance(expression, ScalarConstant)


def is_of_one_row(expression: Scalar) -> bool:
    """Whether an expression that speaks of fixed places speaks of the current row alone."""
    return not any(isinstance(leaf, Navigation) and leaf.offset for leaf in leaves(expression))


def leaves(expression: Scalar) -> Iterator[Scalar]:
    """What an expression is made of by operations, in the order of the text."""
    if isinstance(expression, Operation):
        for operand in expression.operands:
            yield from leaves(operand)
    else:
        yield expression


def constant_number(expression: Scalar) -> Fraction | None:
    """The value of an expression of constants, such as `15 / 1440`; None of others."""
    if isinstance(expression, ScalarConstant):
        value = expression.value
        number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
        return Fraction(value) if number else None
    if not isinstance(expression, Operation):
        return None
    numbers = [constant_number(one) for one in expression.operands]
    match expression.name, numbers:
        case "neg", [Fraction() as one]:
            return -one
        case "+", [Fraction() as one, Fraction() as other]:
            return one + other
        case "-", [Fraction() as one, Fraction() as other]:
            return one - other
        case "*", [Fraction() as one, Fraction() as other]:
            return one * other
        case "/", [Fraction() as one, Fraction() as other] if other:
            return one / other
    return None


def columns_in(expression: Scalar) -> Iterator[str]:
    """The columns that an expression reads."""
    for leaf in leaves(expression):
        if isinstance(leaf, Field):
            yield leaf.name
        elif isinstance(leaf, Navigation) or (isinstance(leaf, RowAggregate) and leaf.expression):
            assert leaf.expression is not None
            yield from columns_in(leaf.expression)


def columns_of(clause: RowPatternClause) -> tuple[str, ...]:
    """The columns that a clause names, without those that ALL ROWS PER MATCH adds."""
    named = [*clause.partition_by, *(key.column for key in clause.order_by)]
    for definition in clause.definitions:
        named += columns_in(definition.condition)
    for measure in clause.measures:
        named += columns_in(measure.expression)
    return tuple(dict.fromkeys(named))


def reach(clause: RowPatternClause) -> tuple[int, int]:
    """How many rows before and behind the rows of a match PREV and NEXT look at."""
    expressions = [one.condition for one in clause.definitions]
    expressions += [one.expression for one in clause.measures]
    offsets = [leaf.offset for one in expressions for leaf in leaves(one) if isinstance(leaf, Navigation)]
    return -min([*offsets, 0]), max([*offsets, 0])


def numbers_conditions(clause: RowPatternClause) -> bool:
    """Whether a condition speaks of the number of the match."""
    conditions = [one.condition for one in clause.definitions]
    return any(isinstance(leaf, MatchNumber) for one in conditions for leaf in leaves(one))
