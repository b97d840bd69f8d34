"""The comparisons of a formula, numbered, with the columns that they read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from cer_gpu.automata.configurations.conditions import Comparisons, leaves_in
from cer_gpu.automata.configurations.registers import (
    ALL,
    COUNTED,
    TRUE_OF,
    ComparedEvents,
    Fold,
    FoldPart,
    Owner,
    extremes_of,
    keeps_of,
    owners_of_sides,
    sides_of,
)
from cer_gpu.language import tree
from cer_gpu.language.leaves import aggregates, attributes
from cer_gpu.language.repetition_edges import is_joint
from cer_gpu.language.walk import condition_variables, descendants, own_children, parts, with_attributes
from cer_gpu.logic.formulas import compares_events


class JointValue(NamedTuple):
    """An expression over several variables, and these."""

    expression: tree.Expression
    parts: tuple[FoldPart, ...]


class FormulaComparisons(NamedTuple):
    """The comparisons of a formula.

    Attributes
    ----------
    comparisons : Comparisons
    columns : tuple of Expression
        The values of an event that comparisons read, by the number of the column; attributes have no
        variable.
    joint : tuple of JointValue
        The expressions over several variables that are aggregated; number n stands in the place of the
        column `COUNTED - 1 - n`.
    """

    comparisons: Comparisons
    columns: tuple[tree.Expression, ...]
    joint: tuple[JointValue, ...]


def is_correlated(node: object) -> bool:
    """Whether a node has a condition that no single event decides: a filter, or `NOT (T FILTER c)`."""
    if isinstance(node, tree.OtherEvent) and node.condition is not None:
        spoken = condition_variables(node.condition) - frozenset(node.type.variables)
        return bool(spoken) or compares_events(node.condition)
    return isinstance(node, tree.Filter) and compares_events(node.condition)


def read_of(formula: Any) -> FormulaComparisons:
    """The comparisons of a formula in LP-normal form."""
    reading = _ComparisonReader()
    for condition in conditions_in(formula):
        for leaf in leaves_in(condition):
            reading.add(leaf)
    for node in subpatterns(formula):
        if hasattr(node, "attribute"):  # a window over an attribute reads it
            reading.columns.setdefault(node.attribute, len(reading.columns))
    number = {leaf: place for place, leaf in enumerate(reading.found)}
    return FormulaComparisons(
        Comparisons(tuple(reading.found.values()), number), tuple(reading.columns), tuple(reading.joint)
    )


def compared_events(leaf: tree.Comparison) -> ComparedEvents:
    """The events that a comparison is about, and what is kept of them; it has columns of its own."""
    reading = _ComparisonReader()
    reading.add(leaf)
    return reading.found[leaf]


def conditions_in(formula: Any) -> Iterator[tree.Condition]:
    """The conditions in a formula that no single event decides."""
    for node in subpatterns(formula):
        if is_correlated(node):
            yield node.condition


def subpatterns(formula: Any) -> Iterator[Any]:
    """A formula and all patterns inside it, without the right sides of FOLLOWED BY and PRECEDED BY."""
    return descendants(formula, patterns_in)


def patterns_in(node: Any) -> tuple[Any, ...]:
    """The operands of a node, without the right side of FOLLOWED BY and PRECEDED BY."""
    return (node.pattern,) if hasattr(node, "attribute") else own_children(node)


def has_inside(pattern: Any, node: Any) -> bool:
    """Whether a node is a pattern, or inside it."""
    return any(part is node for part in subpatterns(pattern))


def iterations_around(formula: Any, node: Any) -> list[tree.Iteration]:
    """The iterations of a formula that a node is inside of, the outer before the inner."""
    return [one for one in subpatterns(formula) if isinstance(one, tree.Iteration) and has_inside(one, node)]


class _ComparisonReader:
    def __init__(self) -> None:
        self.found: dict[tree.Condition, ComparedEvents] = {}
        self.columns: dict[tree.Expression, int] = {}
        self.joint: dict[JointValue, int] = {}

    def add(self, leaf: tree.Condition) -> None:
        """Take a comparison in, unless it is known."""
        if leaf in self.found:
            return
        if isinstance(leaf, tree.Every):
            owner = Owner(leaf.variable, leaf.prior)
            self.found[leaf] = ComparedEvents(leaf, (owner,), ((),), (TRUE_OF,), ())
            return
        if not isinstance(leaf, tree.Comparison):
            raise TypeError(f"no register is kept for {type(leaf).__name__}")
        sides = owners_of_sides(leaf)
        if sides is not None:
            own = tuple((self._column(side),) for side in (leaf.left, leaf.right))
            self.found[leaf] = ComparedEvents(leaf, sides, own, keeps_of(leaf), ())
            return
        read: dict[Owner, dict[int, None]] = {}
        ends = extremes_of(leaf)
        for side in sides_of(parts(leaf), [end.side for end in ends.values()]):
            read.setdefault(owner_of(side), {})[self._column(side)] = None
        folds = tuple(self._fold(leaf, one) for one in dict.fromkeys(aggregates(leaf)))
        for owner in (owner for fold in folds for owner in fold.owners):
            if owner.prior == "BEFORE":  # kept without values: a comparison with nothing before holds
                read.setdefault(owner, {})
        choices = tuple(read)
        columns = tuple(tuple(each) for each in read.values())
        keeps = tuple(ends[one].keeps if one in ends else ALL for one in choices)
        self.found[leaf] = ComparedEvents(leaf, choices, columns, keeps, folds)

    def _fold(self, leaf: tree.Comparison, one: tree.Aggregate) -> Fold:
        if one.argument is None or not is_joint(one):
            column = COUNTED if one.argument is None else self._column(one.argument)
            owner = Owner(one.variable or "", one.prior)
            return Fold(owner, one.function, column, one.distinct, _most_counted(leaf, one))
        read: dict[Owner, dict[int, None]] = {}
        for side in sides_of([one.argument]):
            read.setdefault(owner_of(side), {})[self._column(side)] = None
        parts = tuple(FoldPart(owner, tuple(columns)) for owner, columns in read.items())
        value = JointValue(one.argument, parts)
        column = COUNTED - 1 - self.joint.setdefault(value, len(self.joint))
        return Fold(parts[0].owner, one.function, column, False, 0, parts, one.edge, one)

    def _column(self, side: tree.Expression) -> int:
        return self.columns.setdefault(column_of(side), len(self.columns))


MOST = 64
"""Counts up to that are told apart one by one where a comparison asks for a number alone."""


def _most_counted(leaf: tree.Comparison, one: tree.Aggregate) -> int:
    """The count of which a comparison with a number cannot tell larger ones, 0 if there is none."""
    sides = leaf.left, leaf.right
    other = next((side for side in sides if isinstance(side, tree.Number)), None)
    if one.function != "COUNT" or one not in sides or other is None or not 0 <= other.value < MOST:
        return 0
    return int(other.value) + 1


def owner_of(side: tree.Expression) -> Owner:
    """The variable of an expression over one."""
    one = next(attributes(side))
    return Owner(one.variable or "", one.prior)


def column_of(side: tree.Expression) -> tree.Expression:
    """An expression over one variable as an expression over a single event."""
    found: tree.Expression = with_attributes(side, lambda one: replace(one, variable=None, prior=""))
    return found
