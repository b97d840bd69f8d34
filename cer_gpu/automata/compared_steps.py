"""The deterministic automaton of compared steps: the tests that hold decide which state an event enters.

A state is a set of states of the pair automaton with the same marks. For each symbol all outcomes of the
tests are looked at; outcomes that lead to one state are joined again, to the tests that they share.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import TypeAlias

from cer_gpu.automata.cea import Identities, Label, Predicate
from cer_gpu.automata.chains import UNMARKED
from cer_gpu.automata.comparisons import BUDGET, PairAutomaton, PairStep, PairTest, beyond
from cer_gpu.automata.explore import Effort, Exploration, coreachable, explore
from cer_gpu.errors import QueryError
from cer_gpu.frozen_dataclass import dataclass

TESTS = 8
"""Tests of one pair of events at most: their outcomes are read one by one."""

ANY_PLACE, NEIGHBOUR = range(2)
"""How far an event may be from the last marked one: anywhere after it, or right after it."""


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
class ComparedAutomaton:
    """A deterministic automaton of compared steps.

    Attributes
    ----------
    n_symbols : int
        Symbol 0 is read by no transition.
    symbol_of : tuple of int
        For each class of events its symbol.
    types : tuple of frozenset of str
        For each symbol the event types that it may have.
    labels : tuple of Label
        The first is empty.
    state_label : tuple of int
    final : frozenset of int
    starts : tuple of (int, int)
        The symbols on which a run starts, and the states that it enters.
    moves : tuple of (PairView, int, int)
        The view that a transition reads, its symbol, and the state that it enters.
    """

    n_symbols: int
    symbol_of: tuple[int, ...]
    types: tuple[frozenset[str], ...]
    labels: tuple[Label, ...]
    state_label: tuple[int, ...]
    final: frozenset[int]
    starts: tuple[tuple[int, int], ...]
    moves: tuple[tuple[PairView, int, int], ...]

    @property
    def views(self) -> tuple[PairView, ...]:
        """The views of all transitions, each once."""
        return tuple(dict.fromkeys(view for view, _, _ in self.moves))


_START = frozenset({-1})

_Read: TypeAlias = tuple[int, int, frozenset[PairTest], frozenset[PairTest]]
"""What leads to a state: a symbol, whether the event is a neighbour, the tests asked, those that hold."""


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
    symbols, symbol_of = _symbols(found, outcomes, tests)
    labels = (frozenset[str](), *sorted({*found.labels} - {UNMARKED}, key=sorted))
    number = {label: place for place, label in enumerate(labels)} | {UNMARKED: 0}
    label_of = [number[label] for label in found.labels]
    leaving: list[list[PairStep]] = [[] for _ in found.labels]
    for step in found.steps:
        leaving[step.source].append(step)
    effort = Effort(BUDGET)

    def follow(state: frozenset[int]) -> Iterator[tuple[_Read, frozenset[int]]]:
        none: frozenset[PairTest] = frozenset()
        for symbol, places in enumerate(symbols):
            if state == _START:
                for targets in _by_label([p for p in found.first if p in places], label_of):
                    yield (symbol, -1, none, none), targets
                continue
            steps = [step for place in state for step in leaving[place] if step.target in places]
            if not steps:
                continue
            asked = sorted({test for step in steps for test in step.tests}, key=str)
            if len(asked) > TESTS:
                raise _too_many(asked)
            for outcome in product((False, True), repeat=len(asked)):
                holding = frozenset(test for test, holds in zip(asked, outcome) if holds)
                for near in (0, 1):
                    effort.spend(len(steps))
                    reached = sorted(
                        {one.target for one in steps if one.tests <= holding and near >= one.contiguous}
                    )
                    for targets in _by_label(reached, label_of):
                        yield (symbol, near, frozenset(asked), holding), targets

    last = found.last
    explored = explore(
        _START,
        follow,
        lambda state: not last.isdisjoint(state),
        BUDGET,
        f"determinisation over {len(symbols):,} classes of events",
        effort,
    )
    types = [frozenset(found.types[place] for place in places) for places in symbols]
    return _assembled(explored, label_of, labels, symbol_of, tuple(types))


def _by_label(places: Sequence[int], label_of: Sequence[int]) -> Iterator[frozenset[int]]:
    """States that mark alike, together."""
    found: dict[int, list[int]] = {}
    for place in places:
        found.setdefault(label_of[place], []).append(place)
    for label in sorted(found):
        yield frozenset(found[label])


def _symbols(
    found: PairAutomaton, outcomes: Sequence[frozenset[int]], tests: Sequence[Predicate]
) -> tuple[list[frozenset[int]], tuple[int, ...]]:
    """The states that an event with each symbol may enter, and the symbol of each class of events."""
    known = Identities()
    index = {known.of(test): number for number, test in enumerate(tests)}
    asked = [index[known.of(predicate)] for predicate in found.predicates]
    number: dict[frozenset[int], int] = {frozenset(): 0}
    symbol_of = []
    for holding in outcomes:
        places = frozenset(place for place, test in enumerate(asked) if test in holding)
        symbol_of.append(number.setdefault(places, len(number)))
    return list(number), tuple(symbol_of)


def _assembled(
    explored: Exploration[frozenset[int], _Read],
    label_of: Sequence[int],
    labels: tuple[Label, ...],
    symbol_of: tuple[int, ...],
    types: tuple[frozenset[str], ...],
) -> ComparedAutomaton:
    """The automaton of the states from which a match is reached."""
    arcs = ((source, target) for source, _, target in explored.edges)
    useful = coreachable(len(explored.states), arcs, explored.final)
    block = _minimal(explored, label_of, useful)
    number: dict[int, int] = {}
    state_label, final = [], set()
    for place in range(1, len(explored.states)):
        own = block[place]
        if place in useful and own not in number:
            number[own] = len(number)
            state_label.append(label_of[min(explored.states[place])])
            if place in explored.final:
                final.add(number[own])
    starts: dict[tuple[int, int], None] = {}
    read: dict[tuple[int, int, int, frozenset[PairTest]], set[tuple[int, frozenset[PairTest]]]] = {}
    first_of: dict[int, int] = {}
    for source, (symbol, near, asked, holding), target in explored.edges:
        if target not in useful:
            continue
        if near < 0:
            starts[symbol, number[block[target]]] = None
            continue
        # States of one class leave alike: the edges of one of them are enough.
        if first_of.setdefault(block[source], source) != source:
            continue
        key = number[block[source]], symbol, number[block[target]], asked
        read.setdefault(key, set()).add((near, holding))
    moves = [
        (view, symbol, target)
        for (source, symbol, target, asked), some in read.items()
        for view in _views(source, asked, some)
    ]
    return ComparedAutomaton(
        len(types),
        symbol_of,
        types,
        labels,
        tuple(state_label),
        frozenset(final),
        tuple(starts),
        tuple(moves),
    )


def _minimal(
    explored: Exploration[frozenset[int], _Read], label_of: Sequence[int], useful: frozenset[int]
) -> list[int]:
    """For each state its class among those that go on alike and mark alike."""
    leaving: list[list[tuple[_Read, int]]] = [[] for _ in explored.states]
    for source, edge, target in explored.edges:
        if target in useful:
            leaving[source].append((edge, target))
    keys: list[object] = [
        (place in explored.final, place in useful, label_of[min(state)] if place else -1)
        for place, state in enumerate(explored.states)
    ]
    block = _numbered(keys)
    while True:
        finer = _numbered(
            [
                (block[place], frozenset((edge, block[target]) for edge, target in leaving[place]))
                for place in range(len(explored.states))
            ]
        )
        if max(finer) == max(block):
            return block
        block = finer


def _numbered(keys: Sequence[object]) -> list[int]:
    number: dict[object, int] = {}
    return [number.setdefault(key, len(number)) for key in keys]


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
