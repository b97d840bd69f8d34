"""The deterministic automaton of compared steps: the tests that hold decide which state an event enters.

A state is a set of states of the pair automaton with the same marks. For each symbol all outcomes of the
tests are looked at; outcomes that lead to one state are joined again, to the tests that they share.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import TypeAlias

from cer_gpu.automata.cea import Predicate
from cer_gpu.automata.chains import UNMARKED
from cer_gpu.automata.comparisons import PairAutomaton, PairStep, PairTest, beyond
from cer_gpu.automata.explore import Effort
from cer_gpu.automata.marked_automaton import (
    ANY_PLACE,
    BUDGET,
    NEIGHBOUR,
    MarkedAutomaton,
    StepMove,
    event_symbols,
    marked_states,
)
from cer_gpu.errors import QueryError
from cer_gpu.frozen_dataclass import dataclass

TESTS = 8
"""Tests of one pair of events at most: their outcomes are read one by one."""


@dataclass(frozen=True, slots=True)
class PairView:
    """The entries of a state that a transition reads: those that satisfy all tests.

    Attributes
    ----------
    source : int
    tests : frozenset of PairTest
    near : int
        `ANY_PLACE` or `NEIGHBOUR`.
    """

    source: int
    tests: frozenset[PairTest]
    near: int


@dataclass(frozen=True, slots=True)
class ComparedAutomaton(MarkedAutomaton[PairView]):
    """A deterministic automaton of compared steps.

    Attributes
    ----------
    types : tuple of frozenset of str
        For each symbol the event types that it may have.
    """

    types: tuple[frozenset[str], ...]


_Read: TypeAlias = tuple[int, frozenset[PairTest], frozenset[PairTest]]
"""What leads to a state: whether the event is a neighbour, the tests asked, those that hold."""


def determinise_compared(
    found: PairAutomaton, outcomes: Sequence[frozenset[int]], tests: Sequence[Predicate]
) -> ComparedAutomaton:
    """The deterministic automaton of a formula.

    Parameters
    ----------
    found : PairAutomaton
    outcomes : sequence of frozenset of int
        For each class of events the indices of the predicates that hold.
    tests : sequence of Predicate
        The distinct predicates of the states.

    Raises
    ------
    QueryError
        CER091, when the condition of a transition on the state before it is not a conjunction of tests.
    LimitError
        When it would exceed the budget.
    """
    symbols, symbol_of = event_symbols(found.predicates, outcomes, tests)
    labels = (frozenset[str](), *sorted({*found.labels} - {UNMARKED}, key=sorted))
    number = {label: place for place, label in enumerate(labels)} | {UNMARKED: 0}
    label_of = [number[label] for label in found.labels]
    leaving: list[list[PairStep]] = [[] for _ in found.labels]
    for step in found.steps:
        leaving[step.source].append(step)
    effort = Effort(BUDGET)

    def follow(state: frozenset[int], symbol: int) -> Iterator[tuple[_Read, Sequence[int]]]:
        steps = [step for place in state for step in leaving[place] if step.target in symbols[symbol]]
        if not steps:
            return
        asked = sorted({test for step in steps for test in step.tests}, key=str)
        if len(asked) > TESTS:
            raise _too_many(asked)
        for outcome in product((False, True), repeat=len(asked)):
            holding = frozenset(test for test, holds in zip(asked, outcome) if holds)
            for near in (0, 1):
                effort.spend(len(steps))
                reached = {one.target for one in steps if one.tests <= holding and near >= one.contiguous}
                yield (near, frozenset(asked), holding), sorted(reached)

    made = marked_states(
        symbols,
        found.first,
        found.last,
        label_of,
        follow,
        f"determinisation over {len(symbols):,} classes of events",
        effort,
    )
    moves = [
        StepMove(view, symbol, target)
        for (source, symbol, target), readings in made.readings.items()
        for asked in dict.fromkeys(asked for _, asked, _ in readings)
        for view in _views(source, asked, {(near, held) for near, own, held in readings if own == asked})
    ]
    return ComparedAutomaton(
        len(symbols),
        symbol_of,
        labels,
        made.state_label,
        made.final,
        made.starts,
        tuple(moves),
        tuple(frozenset(found.types[place] for place in places) for places in symbols),
    )


def _views(
    source: int, asked: frozenset[PairTest], some: Iterable[tuple[int, frozenset[PairTest]]]
) -> Iterator[PairView]:
    """The views of which some outcomes of tests lead to one state.

    Raises
    ------
    QueryError
        CER091 where the outcomes are not those of a conjunction.
    """
    near = {holding for is_near, holding in some if is_near}
    apart = {holding for is_near, holding in some if not is_near}
    if not apart <= near:
        raise _entangled(asked)
    for outcomes, where in ((apart, ANY_PLACE), (near - apart, NEIGHBOUR)):
        if not outcomes:
            continue
        shared = frozenset.intersection(*outcomes)
        if len(outcomes) != 1 << (len(asked) - len(shared)):
            raise _entangled(asked)
        yield PairView(source, shared, where)


def _too_many(asked: Sequence[PairTest]) -> QueryError:
    return beyond(f"one event is compared with the one before it in {len(asked)} ways")


def _entangled(asked: Iterable[PairTest]) -> QueryError:
    return beyond("several ways to match one event compare it differently with the one before it")
