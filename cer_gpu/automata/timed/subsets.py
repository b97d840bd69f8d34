"""Determinisation of timed CEA with synchronous resets (timed CEL paper, Theorem 5.3)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from cer_gpu.automata.cea import AutomatonError, Label, NotDeterministicError
from cer_gpu.automata.explore import Effort, explore
from cer_gpu.automata.timed.clocks import (
    ClockCondition,
    ClockRange,
    clocks_of,
    conjunction,
    constants_of,
    disjunction,
    elementary,
    satisfiable,
    satisfied,
)
from cer_gpu.automata.timed.synchrony import asked_later, asynchronous
from cer_gpu.automata.timed.timed_cea import EventClasses, TimedCEA, TimedTransition
from cer_gpu.errors import LimitError
from cer_gpu.frozen_dataclass import dataclass

SUBSET_BUDGET = 5_000
"""States and transitions that the determinisation of a timed CEA may build."""


class NotSynchronousError(AutomatonError):
    """A timed CEA to be determinised has no synchronous resets."""


class TimedStep(NamedTuple):
    """One transition of a deterministic timed CEA; `label` is an index into its labels."""

    source: int
    symbol: int
    condition: ClockCondition
    label: int
    resets: frozenset[int]
    target: int


@dataclass(frozen=True, slots=True)
class DeterministicTimedCEA:
    """A deterministic timed CEA over symbols (section 5): every complex event has one run.

    Attributes
    ----------
    n_states : int
        States are `0 .. n_states - 1`; state 0 is initial.
    n_symbols : int
    n_clocks : int
    labels : tuple of frozenset of str
        `labels[0]` is the empty one; the others follow in the order of their sorted variables.
    steps : tuple of TimedStep
        Sorted by (source, symbol, label), then as their conditions were found.
    final : frozenset of int

    Raises
    ------
    NotDeterministicError
        If two transitions of one source, symbol and label may fire at one moment.
    """

    n_states: int
    n_symbols: int
    n_clocks: int
    labels: tuple[Label, ...]
    steps: tuple[TimedStep, ...]
    final: frozenset[int]

    def __post_init__(self) -> None:
        together: dict[tuple[int, int, int], list[TimedStep]] = {}
        for step in self.steps:
            beside = together.setdefault((step.source, step.symbol, step.label), [])
            for other in beside:
                if satisfiable(conjunction(step.condition, other.condition)):
                    raise NotDeterministicError(
                        f"transitions from state {step.source} on symbol {step.symbol} with label "
                        f"{step.label} to states {other.target} and {step.target} may fire at one moment"
                    )
            beside.append(step)

    @property
    def size(self) -> int:
        """States and transitions together."""
        return self.n_states + len(self.steps)


class Subset(NamedTuple):
    """A state of the deterministic automaton: the states that runs with the same marks may be in."""

    members: frozenset[int]
    is_set: frozenset[int]
    """The clocks that are set and asked later: of the others a condition cannot hold."""


class _SubsetStep(NamedTuple):
    symbol: int
    condition: ClockCondition
    label: int
    resets: frozenset[int]


Cell = tuple[ClockRange, ...]
"""A range of each clock that some condition asks, in order: the conditions are the same everywhere in it."""


def determinise_timed(
    timed: TimedCEA, classes: EventClasses, *, checked: bool = False, budget: int = SUBSET_BUDGET
) -> DeterministicTimedCEA:
    """The deterministic timed CEA with the complex events of one that has synchronous resets (Theorem 5.3).

    The subset construction, apart for every class of events, every label, and every cell of clock values that
    the conditions of the subset tell apart; neighbouring cells with one target are joined. The paper negates
    conditions, which unset clocks neither satisfy nor violate; so a state also says which clocks are set.

    Resets need to agree only on clocks that runs ask later (`asynchronous` with `asked_later`).

    Parameters
    ----------
    timed : TimedCEA
    classes : EventClasses
    checked : bool
        Whether the caller knows that the resets are synchronous.
    budget : int
        How many states and transitions may be built.

    Raises
    ------
    NotSynchronousError
        If they are not.
    LimitError
        When the result, or the decision whether resets are synchronous, exceeds the budget.
    """
    asked = asked_later(timed)
    if not checked and asynchronous(timed, classes, asked) is not None:
        raise NotSynchronousError("two runs with the same marks reset different clocks at one event")
    labels = tuple(sorted({frozenset[str](), *(move.label for move in timed.transitions)}, key=sorted))
    construction = _Subsets(timed, classes, labels, asked, Effort(budget))
    found = explore(
        Subset(frozenset({timed.initial}), frozenset()),
        construction.follow,
        lambda state: not state.members.isdisjoint(timed.final),
        budget,
        f"timed determinisation over {len(classes.symbols):,} classes of events",
        construction.effort,
    )
    steps = tuple(TimedStep(source, *edge, target) for source, edge, target in found.edges)
    ordered = tuple(sorted(steps, key=lambda step: (step.source, step.symbol, step.label)))
    return DeterministicTimedCEA(
        len(found.states), len(classes.symbols), timed.n_clocks, labels, ordered, found.final
    )


class _Subsets:
    def __init__(
        self,
        timed: TimedCEA,
        classes: EventClasses,
        labels: Sequence[Label],
        asked: Sequence[frozenset[int]],
        effort: Effort,
    ) -> None:
        self.n_symbols = len(classes.symbols)
        self.asked = asked
        self.effort = effort
        number = {label: place for place, label in enumerate(labels)}
        self.leaving: list[list[tuple[int, int, TimedTransition]]] = [[] for _ in range(timed.n_states)]
        for move, holding in zip(timed.transitions, classes.of(timed.transitions), strict=True):
            self.leaving[move.source].append((holding, number[move.label], move))

    def follow(self, state: Subset) -> Iterator[tuple[_SubsetStep, Subset]]:
        leaving = [
            one
            for member in sorted(state.members)
            for one in self.leaving[member]
            if clocks_of(one[2].condition) <= state.is_set
        ]
        known: dict[tuple[int, ...], list[tuple[_SubsetStep, Subset]]] = {}
        for symbol in range(self.n_symbols):
            firing = tuple(place for place, (holding, _, _) in enumerate(leaving) if holding >> symbol & 1)
            if firing not in known:
                by_label: dict[int, list[TimedTransition]] = {}
                for place in firing:
                    by_label.setdefault(leaving[place][1], []).append(leaving[place][2])
                known[firing] = [
                    one for label in sorted(by_label) for one in self.reached(state, label, by_label[label])
                ]
            for edge, target in known[firing]:
                yield edge._replace(symbol=symbol), target

    def reached(
        self, state: Subset, label: int, moves: Sequence[TimedTransition]
    ) -> Iterator[tuple[_SubsetStep, Subset]]:
        """Where transitions on one class of events with one label lead, by the values of the clocks."""
        clocks = sorted(frozenset[int]().union(*(clocks_of(move.condition) for move in moves)))
        cuts = [
            elementary(
                constant for move in moves for clock, constant in constants_of(move.condition) if clock == own
            )
            for own in clocks
        ]
        steps = math.prod(map(len, cuts)) * len(moves)
        if steps > self.effort.left:
            raise LimitError(
                f"the deterministic timed automaton takes too long to construct: one of its states measures "
                f"{len(clocks)} times at once, with {math.prod(map(len, cuts)):,} cases: use fewer intervals"
            )
        self.effort.spend(steps)
        found: dict[tuple[frozenset[int], Subset], list[Cell]] = {}
        for cell in product(*cuts):
            values = {clock: one.sample() for clock, one in zip(clocks, cell)}
            fired = [move for move in moves if satisfied(move.condition, values)]
            if fired and (after := self.after(state, fired)) is not None:
                found.setdefault(after, []).append(cell)
        for (resets, target), cells in found.items():
            yield _SubsetStep(0, in_cells(clocks, cells), label, resets), target

    def after(self, state: Subset, fired: Sequence[TimedTransition]) -> tuple[frozenset[int], Subset] | None:
        """The clocks to reset and the state after it; None where transitions disagree in what they reset.

        A stream that reached such a cell would have two runs that show that the resets are not synchronous.
        """
        matter = frozenset[int]().union(*(self.asked[move.target] for move in fired))
        resets = frozenset[int]().union(*(move.resets & self.asked[move.target] for move in fired))
        for move in fired:
            if resets & self.asked[move.target] != move.resets & self.asked[move.target]:
                return None
        members = frozenset(move.target for move in fired)
        return resets, Subset(members, (state.is_set | resets) & matter)


def in_cells(clocks: Sequence[int], cells: Sequence[Cell]) -> ClockCondition:
    """The condition that the values of some clocks lie in one of some cells, neighbours joined.

    Parameters
    ----------
    clocks : sequence of int
    cells : sequence of tuple of ClockRange
        An `elementary` range of each clock.
    """
    boxes = list(dict.fromkeys(cells))
    for place in range(len(clocks)):
        beside: dict[tuple[ClockRange, ...], list[ClockRange]] = {}
        for box in boxes:
            beside.setdefault((*box[:place], *box[place + 1 :]), []).append(box[place])
        boxes = [
            (*rest[:place], joined, *rest[place:])
            for rest, one in beside.items()
            for joined in joined_ranges(one)
        ]
    return disjunction(
        *(conjunction(*(one.condition(clock) for clock, one in zip(clocks, box))) for box in boxes)
    )


def joined_ranges(found: Sequence[ClockRange]) -> list[ClockRange]:
    """Disjoint ranges with those that touch joined, ascending."""
    joined: list[ClockRange] = []
    for one in sorted(found, key=lambda one: (one.low, one.low_open)):
        last = joined[-1] if joined else None
        if last is not None and last.high == one.low and last.high_open != one.low_open:
            joined[-1] = ClockRange(last.low, last.low_open, one.high, one.high_open)
        else:
            joined.append(one)
    return joined
