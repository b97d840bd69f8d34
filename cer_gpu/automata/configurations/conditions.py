"""Filters that compare events as automata that are stepped lazily: `ConditionFilter`, `NegatedEvent`.

A filter keeps registers of the events that its own pattern marks; at its end, conditions on variables from
outside are owed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cer_gpu.automata.cea import Label
from cer_gpu.automata.configurations.debts import (
    LEAF,
    NOTHING_OWED,
    Formula,
    evaluated,
    negated,
)
from cer_gpu.automata.configurations.member import END, START, Member, OneEvent, PatternWrapper, Step
from cer_gpu.automata.configurations.registers import (
    EMPTY,
    ComparedEvents,
    EventFacts,
    Owner,
    awaited,
    begun,
    folded,
    marked,
    truth,
)
from cer_gpu.automata.configurations.slots import State
from cer_gpu.automata.match import BEFORE, UNMARKED
from cer_gpu.language import tree
from cer_gpu.language.walk import leaves_of


class Comparisons(NamedTuple):
    """The comparisons of a pattern.

    Attributes
    ----------
    all : tuple of ComparedEvents
        By number.
    number : mapping
        From a comparison as it stands in a condition to its number.
    """

    all: tuple[ComparedEvents, ...]
    number: Mapping[tree.Condition, int]


def names_in(labels: Iterable[Label]) -> frozenset[str]:
    """The variables of some labels."""
    return frozenset[str]().union(*labels)


class _Local:
    """The registers of one comparison for the variables that a filtered pattern marks."""

    def __init__(self, number: int, comparison: ComparedEvents, local: frozenset[str]) -> None:
        self.number = number
        self.comparison = comparison
        self.own = [self._is_local(owner, local) for owner in comparison.choices]
        self.own_folds = [self._is_local(fold.owner, local) for fold in comparison.folds]
        self.whole = all(self.own) and all(self.own_folds)
        """Whether it speaks of nothing from outside."""
        condition = comparison.condition
        self.is_equality = (
            comparison.is_of_two and isinstance(condition, tree.Comparison) and condition.op == "="
        )
        self.names = frozenset(
            owner.variable for owner in comparison.owners if self._is_local(owner, local)
        ).union(*(fold.names for fold, own in zip(comparison.folds, self.own_folds, strict=True) if own))

    @staticmethod
    def _is_local(owner: Owner, local: frozenset[str]) -> bool:
        return not owner.prior and owner.variable in local

    def begin(self) -> State:
        """The registers before any event; None for those of variables from outside."""
        choices = tuple([EMPTY if own else None for own in self.own])
        folds = zip(self.comparison.folds, self.own_folds, strict=True)
        return choices, tuple([begun(fold) if own else None for fold, own in folds])

    def marked(self, registers: State, label: Label, event: EventFacts) -> State:
        """The registers after an event with a label."""
        if self.names.isdisjoint(label):
            return registers
        comparison, number = self.comparison, self.number
        choices, folds = registers
        return (
            tuple(
                [
                    marked(comparison, place, one, event, number)
                    if one is not None and comparison.choices[place].variable in label
                    else one
                    for place, one in enumerate(choices)
                ]
            ),
            tuple(
                [
                    one if one is None or fold.names.isdisjoint(label) else folded(fold, one, label, event)
                    for fold, one in zip(comparison.folds, folds, strict=True)
                ]
            ),
        )

    def formula(self, registers: State, event: EventFacts) -> Formula:
        """Its formula once its own variables mark no more events."""
        choices, folds = registers
        if self.whole:
            return truth(self.comparison, self.number, choices, folds, event)
        return LEAF, self.number, choices, folds

    def settled(self, registers: State, label: Label, ahead: frozenset[str], event: EventFacts) -> State:
        """TRUE or FALSE once it is decided; until then the registers that are still needed."""
        if not self.whole:
            return registers
        comparison = self.comparison
        choices, folds = registers
        if folds:
            if not self.names & ahead:
                return self.formula(registers, event)
            pairs = zip(comparison.folds, folds, strict=True)
            return choices, tuple([awaited(fold, one, ahead) for fold, one in pairs])
        if not self.names.isdisjoint(label) and not self.formula(registers, event):
            return False
        waiting = [owner.variable in ahead for owner in comparison.choices]
        if len(choices) == 1:
            return registers if waiting[0] else True
        kept = tuple(
            [
                one if any(waiting[:place] + waiting[place + 1 :]) else EMPTY
                for place, one in enumerate(choices)
            ]
        )
        return (kept, folds) if any(waiting) else True


class ConditionFilter(PatternWrapper):
    """`p FILTER c`.

    A state is (state of p, for each comparison of c its registers, or TRUE or FALSE; None once c holds).

    Parameters
    ----------
    operand : Member
    condition : Condition
    local : frozenset of str
        The variables that p defines.
    comparisons : Comparisons
    """

    def __init__(
        self, operand: Member, condition: tree.Condition, local: frozenset[str], comparisons: Comparisons
    ) -> None:
        self._operand = operand
        self._condition = condition
        leaves = dict.fromkeys(comparisons.number[leaf] for leaf in leaves_in(condition))
        self._locals = [_Local(number, comparisons.all[number], local) for number in leaves]
        self._place = {leaf: list(leaves).index(comparisons.number[leaf]) for leaf in leaves_in(condition)}
        self._first = tuple([one.begin() for one in self._locals])
        # Equalities are asked first: by them partial matches are looked up.
        self._order = sorted(range(len(self._locals)), key=lambda at: not self._locals[at].is_equality)

    def begin(self) -> list[State]:
        return [(state, self._first) for state in self._operand.begin()]

    def follow(self, state: State, event: EventFacts) -> Iterator[Step]:
        inner, known = state
        for label, target, owed in self._operand.follow(inner, event):
            if label == BEFORE:
                yield BEFORE, (target, self._first), owed
                continue
            if known is None:
                yield label, target if target == END else (target, None), owed
                continue
            now = tuple(
                [
                    one if isinstance(one, bool) else own.marked(one, label, event)
                    for own, one in zip(self._locals, known, strict=True)
                ]
            )
            if target == END:
                said = [one if isinstance(one, bool) else (LEAF, at) for at, one in enumerate(now)]
                if self._holds(now, said, label, None, event):
                    found = self._said(said)
                    yield label, END, owed if found is True else owed | {found}
                continue
            ahead = names_in(self._operand.ahead(target))
            after = list(now)
            if self._holds(now, after, label, ahead, event):
                yield label, (target, None if self._so_far(after) is True else tuple(after)), owed

    def _holds(
        self,
        known: tuple[Any, ...],
        found: list[Any],
        label: Label,
        ahead: frozenset[str] | None,
        event: EventFacts,
    ) -> bool:
        """Ask the comparisons one after another, up to where the condition cannot hold any more.

        Of each one `found` gets what it says: at the end of the pattern, where `ahead` is None, or by now.
        """
        for place in self._order:
            if isinstance(known[place], bool):
                continue
            own, one = self._locals[place], known[place]
            found[place] = own.formula(one, event) if ahead is None else own.settled(one, label, ahead, event)
            if found[place] is False and self._so_far(found) is False:
                return False
        return self._so_far(found) is not False

    def _so_far(self, known: Sequence[Any]) -> Formula:
        """TRUE or FALSE once the condition is decided."""

        def of(leaf: tree.Condition) -> Formula:
            place = self._place[leaf]
            one = known[place]
            return one if isinstance(one, bool) else (LEAF, place)

        return evaluated(self._condition, of)

    def _said(self, known: Sequence[Formula]) -> Formula:
        """The condition with what its comparisons say."""
        return evaluated(self._condition, lambda leaf: known[self._place[leaf]])


def leaves_in(condition: tree.Condition) -> Iterator[tree.Condition]:
    """The comparisons and predicates of variables in a condition."""
    return (leaf for leaf in leaves_of(condition) if not isinstance(leaf, tree.Truth))


class NegatedEvent(Member):
    """`NOT (T FILTER c)` with c about variables from outside: one event that is no T for which c holds.

    Parameters
    ----------
    symbols : sequence of bool
        Which symbols are of events of T.
    condition : Condition
    local : frozenset of str
        The variables that mark the event inside.
    comparisons : Comparisons
    """

    def __init__(
        self,
        symbols: Sequence[bool],
        condition: tree.Condition,
        local: frozenset[str],
        comparisons: Comparisons,
    ) -> None:
        self._symbols = symbols
        self._condition = condition
        self._local = local
        self._locals = {
            leaf: _Local(number, comparisons.all[number], local)
            for leaf in leaves_in(condition)
            for number in (comparisons.number[leaf],)
        }

    def begin(self) -> list[State]:
        return [START]

    def follow(self, state: State, event: EventFacts) -> Iterator[Step]:
        yield BEFORE, START, NOTHING_OWED
        if not self._symbols[event.symbol]:
            yield UNMARKED, END, NOTHING_OWED
            return

        def of(leaf: tree.Condition) -> Formula:
            own = self._locals[leaf]
            return own.formula(own.marked(own.begin(), self._local, event), event)

        found = negated(evaluated(self._condition, of))
        if found is not False:
            yield UNMARKED, END, NOTHING_OWED if found is True else frozenset([found])

    def labels(self) -> frozenset[Label]:
        return frozenset([UNMARKED])

    def relaxed(self) -> Member:
        return OneEvent([True] * len(self._symbols), UNMARKED)
