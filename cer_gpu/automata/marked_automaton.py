"""Deterministic automata of marked steps: a state is a set of positions that runs with the same marks are at.

An event reads **views**: entries of a state, those inside a gap or those that satisfy tests. What a
construction says of the pair of the last marked event and the next one is a **reading**; the readings that
lead from one state to another become the views that a transition reads.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from cer_gpu.automata.bisimulation import coarsest
from cer_gpu.automata.cea import Identities, Label, Predicate
from cer_gpu.automata.explore import Effort, coreachable, explore
from cer_gpu.frozen_dataclass import dataclass

BUDGET = 30_000
"""States and edges that a construction may build."""

ANY_PLACE, NEIGHBOUR, APART = range(3)
"""How far an event may be from the last marked one: anywhere after it, right after it, or not right after."""

START = frozenset({-1})

Reading = TypeVar("Reading", bound=Hashable)


class StateView(Protocol):
    """Entries that a transition reads."""

    @property
    def source(self) -> int:
        """The state of which they are."""

    def __hash__(self) -> int: ...


V = TypeVar("V", bound=StateView)


class StepMove(NamedTuple, Generic[V]):
    """From the entries that a view shows to a state, on an event with a symbol."""

    view: V
    symbol: int
    target: int


@dataclass(frozen=True, slots=True)
class MarkedAutomaton(Generic[V]):
    """A deterministic automaton of steps, trimmed and minimal.

    Attributes
    ----------
    n_symbols : int
        Symbol 0 is read by no transition.
    symbol_of : tuple of int
        For each class of events its symbol.
    labels : tuple of Label
        The first is empty.
    state_label : tuple of int
        The label of the event that enters each state.
    final : frozenset of int
    starts : tuple of (int, int)
        The symbols on which a run starts, and the states that it enters.
    moves : tuple of StepMove
    """

    n_symbols: int
    symbol_of: tuple[int, ...]
    labels: tuple[Label, ...]
    state_label: tuple[int, ...]
    final: frozenset[int]
    starts: tuple[tuple[int, int], ...]
    moves: tuple[StepMove[V], ...]

    @property
    def views(self) -> tuple[V, ...]:
        """The views of all transitions, each once."""
        return tuple(dict.fromkeys(move.view for move in self.moves))


def event_symbols(
    asked: Iterable[Predicate], outcomes: Sequence[frozenset[int]], tests: Sequence[Predicate]
) -> tuple[list[frozenset[int]], tuple[int, ...]]:
    """The positions that an event with each symbol may take, and the symbol of each class of events.

    Parameters
    ----------
    asked : iterable of Predicate
        The predicate of each position.
    outcomes : sequence of frozenset of int
        For each class of events the indices of the predicates that hold.
    tests : sequence of Predicate
        The distinct predicates of the positions.
    """
    known = Identities()
    index = {known.of(test): number for number, test in enumerate(tests)}
    of_place = [index[known.of(predicate)] for predicate in asked]
    number: dict[frozenset[int], int] = {frozenset(): 0}
    symbol_of = []
    for holding in outcomes:
        places = frozenset(place for place, test in enumerate(of_place) if test in holding)
        symbol_of.append(number.setdefault(places, len(number)))
    return list(number), tuple(symbol_of)


class MarkedStates(NamedTuple, Generic[Reading]):
    """The states of an automaton of steps, and the readings that lead from one to another.

    Attributes
    ----------
    state_label : tuple of int
    final : frozenset of int
    starts : tuple of (int, int)
        As in `MarkedAutomaton`.
    readings : dict
        From the source, the symbol and the target to the readings, each once.
    """

    state_label: tuple[int, ...]
    final: frozenset[int]
    starts: tuple[tuple[int, int], ...]
    readings: dict[tuple[int, int, int], dict[Reading, None]]


def marked_states(
    symbols: Sequence[frozenset[int]],
    first: Iterable[int],
    last: frozenset[int],
    label_of: Sequence[int],
    follow: Callable[[frozenset[int], int], Iterable[tuple[Reading, Sequence[int]]]],
    what: str,
    effort: Effort,
) -> MarkedStates[Reading]:
    """The subset construction over positions, without states that reach no match, and minimal.

    Parameters
    ----------
    symbols : sequence of frozenset of int
        The positions that an event with each symbol may take.
    first : iterable of int
        Where a match begins.
    last : frozenset of int
        Where it ends.
    label_of : sequence of int
        The label of each position.
    follow : callable
        `follow(state, symbol)`: the readings, and the positions that the event may take under each.
    what : str
        As for `explore`.
    effort : Effort
        Counts the steps of `follow`.

    Raises
    ------
    LimitError
        When the automaton exceeds the budget.
    """
    beginning = list(first)

    def following(state: frozenset[int]) -> Iterator[tuple[tuple[int, Reading | None], frozenset[int]]]:
        for symbol, places in enumerate(symbols):
            if state == START:
                for targets in by_label([place for place in beginning if place in places]):
                    yield (symbol, None), targets
                continue
            for reading, reached in follow(state, symbol):
                for targets in by_label(reached):
                    yield (symbol, reading), targets

    def by_label(places: Sequence[int]) -> list[frozenset[int]]:
        """Positions that mark alike, together."""
        found: dict[int, list[int]] = {}
        for place in places:
            found.setdefault(label_of[place], []).append(place)
        return [frozenset(found[label]) for label in sorted(found)]

    explored = explore(START, following, lambda state: not last.isdisjoint(state), BUDGET, what, effort)
    label = [label_of[min(state)] if state != START else -1 for state in explored.states]
    block = _minimal(explored.edges, explored.final, label)
    number: dict[int, int] = {}
    state_label, final = [], set()
    for state, own in enumerate(block):
        if own >= 0 and state and own not in number:
            number[own] = len(number)
            state_label.append(label[state])
            if state in explored.final:
                final.add(number[own])
    starts: dict[tuple[int, int], None] = {}
    readings: dict[tuple[int, int, int], dict[Reading, None]] = {}
    for source, (symbol, reading), target in explored.edges:
        if block[target] < 0:
            continue
        if reading is None:
            starts[symbol, number[block[target]]] = None
        else:
            key = number[block[source]], symbol, number[block[target]]
            readings.setdefault(key, {})[reading] = None
    return MarkedStates(tuple(state_label), frozenset(final), tuple(starts), readings)


def _minimal(
    edges: Sequence[tuple[int, Hashable, int]], final: frozenset[int], label: Sequence[int]
) -> list[int]:
    """For each state its class among those that go on alike, -1 where no match is reached; marks count."""
    states = range(len(label))
    useful = coreachable(len(label), ((source, target) for source, _, target in edges), final)
    leaving: list[list[tuple[Hashable, int]]] = [[] for _ in states]
    for source, edge, target in edges:
        if target in useful:
            leaving[source].append((edge, target))
    block = coarsest([(state in final, label[state], state in useful) for state in states], leaving)
    return [one if state in useful else -1 for state, one in enumerate(block)]
