"""Debts of a partial match: conditions on variables from outside a filter, until these are known.

`(T AS y FILTER y.id = x.id)` ends before all events of x are known. It owes `y.id = x.id` with the register
of y in it, and the scope that binds x asks for it: at its end, or once x can mark no more. Runs that UNLESS
forbids, or that a selector prefers, have debts too, so a debt is a formula: TRUE or FALSE, or a tuple of

- `LEAF`, the number of a comparison, the registers of its choices and of its aggregates, None if not known;
- `NOT` and a formula; `AND` or `OR` and a set of formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from cer_gpu.automata.configurations.registers import (
    ComparedEvents,
    EventFacts,
    Owner,
    Register,
    joined,
    truth,
)
from cer_gpu.language import tree

LEAF, NOT, AND, OR = "leaf", "not", "and", "or"

Formula: TypeAlias = Any

Owed: TypeAlias = frozenset[Formula]
"""Formulas that all have to hold."""

NOTHING_OWED: Owed = frozenset()

Fill: TypeAlias = Callable[[int, bool, int], Register]
"""`fill(comparison, choice, place)`: the register of a choice or of an aggregate, None if not known."""


def negated(one: Formula) -> Formula:
    """NOT of a formula."""
    if isinstance(one, bool):
        return not one
    return one[1] if one[0] == NOT else (NOT, one)


def all_of(some: Iterable[Formula]) -> Formula:
    """AND of formulas."""
    return _combined(AND, some, False)


def any_of(some: Iterable[Formula]) -> Formula:
    """OR of formulas."""
    return _combined(OR, some, True)


def _combined(kind: str, some: Iterable[Formula], decides: bool) -> Formula:
    found: set[Formula] = set()
    for one in some:
        if isinstance(one, bool):
            if one == decides:
                return decides
        elif one[0] == kind:
            found |= one[1]
        else:
            found.add(one)
    if not found:
        return not decides
    return found.pop() if len(found) == 1 else (kind, frozenset(found))


def evaluated(condition: tree.Condition, value_of: Callable[[tree.Condition], Formula]) -> Formula:
    """A condition whose leaves are formulas."""
    match condition:
        case tree.Truth(value=value):
            return value
        case tree.Not(operand=operand):
            return negated(evaluated(operand, value_of))
        case tree.Both(left=left, right=right):
            return all_of((evaluated(left, value_of), evaluated(right, value_of)))
        case tree.Either(left=left, right=right):
            return any_of((evaluated(left, value_of), evaluated(right, value_of)))
    return value_of(condition)


class Debts:
    """Evaluates debts.

    Parameters
    ----------
    comparisons : sequence of ComparedEvents
        By number.
    """

    def __init__(self, comparisons: Sequence[ComparedEvents]) -> None:
        self._comparisons = comparisons

    def owners(self, number: int, choice: bool, place: int) -> tuple[Owner, ...]:
        """The variable of a choice of a comparison, or those of an aggregate in it."""
        comparison = self._comparisons[number]
        return (comparison.choices[place],) if choice else comparison.folds[place].owners

    def waits_for(self, one: Formula) -> Iterator[Owner]:
        """The variables whose events are not known yet."""
        if isinstance(one, bool):
            return
        kind, *parts = one
        if kind == NOT:
            yield from self.waits_for(parts[0])
        elif kind == LEAF:
            number, registers, folds = parts
            comparison = self._comparisons[number]
            for owner, register in zip(comparison.choices, registers, strict=True):
                if register is None:
                    yield owner
            for fold, register in zip(comparison.folds, folds, strict=True):
                if register is None:
                    yield fold.owner
        else:
            for part in parts[0]:
                yield from self.waits_for(part)

    def filled(self, one: Formula, fill: Fill, event: EventFacts) -> Formula:
        """A formula with more registers."""
        if isinstance(one, bool):
            return one
        kind, *parts = one
        if kind == NOT:
            return negated(self.filled(parts[0], fill, event))
        if kind != LEAF:
            combine = all_of if kind == AND else any_of
            return combine(self.filled(part, fill, event) for part in parts[0])
        number, registers, folds = parts
        registers = tuple(
            [fill(number, True, place) if one is None else one for place, one in enumerate(registers)]
        )
        folds = tuple([fill(number, False, place) if one is None else one for place, one in enumerate(folds)])
        if None in registers or None in folds:
            return LEAF, number, registers, folds
        return truth(self._comparisons[number], number, registers, folds, event)

    def broken(self, one: Formula, fill: Fill, event: EventFacts) -> bool:
        """Whether a formula cannot hold any more: a comparison that is false for some events already."""
        if isinstance(one, bool):
            return not one
        return one[0] == LEAF and not one[3] and self.filled(one, fill, event) is False

    def together(self, owed: Iterable[Formula], event: EventFacts) -> Owed:
        """Formulas that all have to hold; those of one comparison are merged if only one owner is known."""
        found: set[Formula] = set()
        single: dict[tuple[int, int], Formula] = {}
        for one in owed:
            known = [] if one[0] != LEAF else [p for p, own in enumerate(one[2]) if own is not None]
            if one[0] != LEAF or one[3] or len(known) != 1:
                found.add(one)
                continue
            _, number, registers, _ = one
            key, (place,) = (number, known[0]), known
            if key in single:
                own = single[key][2][place]
                if own == registers[place]:
                    continue
                both = joined(self._comparisons[number], place, own, registers[place], event)
                registers = (*registers[:place], both, *registers[place + 1 :])
            single[key] = (LEAF, number, registers, ())
        return frozenset((*found, *single.values()))
