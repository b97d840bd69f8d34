"""The deterministic automaton of steps: a partial match is known by its last marked event alone.

Every interval and every `:` of the formula is between two consecutive marked events. So runs with the same
marks agree on everything that decides about the next event: its symbol, the time since the last marked event
(the **gap**), and whether it is the event right after that one. The subset construction over positions that
reads these three makes the automaton deterministic: a partial match is a state and the event that entered it,
and each complex event has one run.

The bounds of all intervals cut gaps into **regions**: a region decides every interval. Regions with the same
target are joined to intervals again. `A ;[<= 5 s] B ;[<= 3 s] C` has three states and two views: a B reads
the entries of A at most 5 s ago, a C those of B at most 3 s ago.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from cer_gpu.automata.cea import Identities, Label, Predicate
from cer_gpu.automata.explore import Effort, Exploration, coreachable, explore
from cer_gpu.automata.step_positions import PlaceAutomaton, PlaceStep
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.tree import Interval

BUDGET = 30_000
"""States and edges that the subset construction may build."""

ANY_PLACE, NEIGHBOUR, APART = range(3)
"""How far an event may be from the last marked one: anywhere after it, right after it, or not right after."""

_START = frozenset({-1})

Number = int | float


@dataclass(frozen=True, slots=True)
class Gaps:
    """The intervals of a query in the unit of the data, and the regions into which they cut gaps.

    Attributes
    ----------
    ranges : mapping of Interval to (number, number or None)
        The least and the greatest gap of each, both ends in; None: no greatest one.
    floating : bool
        Whether gaps are float64 numbers. Then the last region is that of infinite times, whose difference is
        no number and lies in no interval.
    lows : tuple of number
        The least gap of each region, ascending; that of the first is 0.
    highs : tuple of (number or None)
        The greatest gap of each region; None for the last one.
    """

    ranges: Mapping[Interval, tuple[Number, Number | None]]
    floating: bool
    lows: tuple[Number, ...]
    highs: tuple[Number | None, ...]

    @property
    def count(self) -> int:
        """How many regions there are."""
        return len(self.lows) + self.floating

    def of(self, gaps: Iterable[Interval]) -> int:
        """The regions that lie in all of some intervals, as bits."""
        found = (1 << self.count) - 1
        for gap in gaps:
            low, high = self.ranges[gap]
            found &= sum(
                1 << number
                for number, (least, most) in enumerate(zip(self.lows, self.highs))
                if least >= low and (high is None or (most is not None and most <= high))
            )
        return found


def gaps_of(
    ranges: Mapping[Interval, tuple[Number, Number | None]],
    floating: bool,
    after: Callable[[Number], Number],
    before: Callable[[Number], Number],
) -> Gaps:
    """The regions into which some intervals cut gaps.

    Parameters
    ----------
    ranges, floating
        As in `Gaps`.
    after, before : callable
        Give the next greater and the next smaller number.
    """
    cuts = {low for low, _ in ranges.values()} | {
        after(high) for _, high in ranges.values() if high is not None
    }
    lows = (0, *sorted(cut for cut in cuts if cut > 0))
    return Gaps(ranges, floating, lows, (*(before(high) for _, high in pairwise(lows)), None))


@dataclass(frozen=True, slots=True)
class View:
    """Which entries of a state a transition reads: those whose gap to the event lies in an interval.

    Attributes
    ----------
    source : int
        The state.
    low : number
    high : number or None
        Both ends in.
    near : int
        `ANY_PLACE`, `NEIGHBOUR` or `APART`.
    loose : bool
        Whether a gap that is no number counts too.
    """

    source: int
    low: Number
    high: Number | None
    near: int
    loose: bool

    @property
    def timed(self) -> bool:
        """Whether it asks for the gap at all."""
        return self.low > 0 or self.high is not None or not self.loose


@dataclass(frozen=True, slots=True)
class StepMove:
    """From the entries that a view shows to a state, on an event with a symbol."""

    view: View
    symbol: int
    target: int


@dataclass(frozen=True, slots=True)
class StepAutomaton:
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
    moves: tuple[StepMove, ...]

    @property
    def views(self) -> tuple[View, ...]:
        """The views of all transitions, each once."""
        return tuple(dict.fromkeys(move.view for move in self.moves))

    @property
    def span(self) -> Number | None:
        """The longest time from start to end that the upper bounds of gaps allow; None: any."""
        longest: dict[int, Number] = {}
        leaving: dict[int, list[tuple[int, Number | None]]] = {}
        for move in self.moves:
            leaving.setdefault(move.view.source, []).append((move.target, move.view.high))
        waiting = dict.fromkeys(range(len(self.state_label)), 0)
        for move in self.moves:
            waiting[move.target] += 1
        ready = [state for state, count in waiting.items() if not count]
        done = 0
        while ready:
            state = ready.pop()
            done += 1
            for target, high in leaving.get(state, ()):
                if high is None:
                    return None
                longest[target] = max(longest.get(target, 0), longest.get(state, 0) + max(high, 0))
                waiting[target] -= 1
                if not waiting[target]:
                    ready.append(target)
        return max(longest.values(), default=0) if done == len(waiting) else None

    @property
    def reach(self) -> Number | None:
        """The longest gap that some transition allows; None: any."""
        highs = [move.view.high for move in self.moves]
        return None if None in highs else max((high for high in highs if high is not None), default=0)


def determinise_steps(
    found: PlaceAutomaton, outcomes: Sequence[frozenset[int]], tests: Sequence[Predicate], gaps: Gaps
) -> StepAutomaton:
    """The deterministic automaton of a formula.

    Parameters
    ----------
    found : PlaceAutomaton
    outcomes : sequence of frozenset of int
        For each class of events the indices of the predicates that hold.
    tests : sequence of Predicate
        The distinct predicates of the positions.
    gaps : Gaps

    Raises
    ------
    LimitError
        When it would exceed the budget.
    """
    symbols, symbol_of = _symbols(found, outcomes, tests)
    labels = tuple(sorted({frozenset[str](), *(place.label for place in found.places)}, key=sorted))
    number = {label: i for i, label in enumerate(labels)}
    label_of = [number[place.label] for place in found.places]
    leaving: list[list[tuple[int, int, int]]] = [[] for _ in found.places]
    for source, target, apart, near in _regions(found.steps, gaps):
        leaving[source].append((target, apart, near))
    effort = Effort(BUDGET)
    regions = range(gaps.count)

    def follow(state: frozenset[int]) -> Iterator[tuple[tuple[int, int, int], frozenset[int]]]:
        if state == _START:
            for symbol, places in enumerate(symbols):
                for targets in _by_label([p for p in found.first if p in places], label_of):
                    yield (symbol, -1, 0), targets
            return
        reached: dict[int, list[tuple[int, int]]] = {}
        for place in state:
            for target, apart, near in leaving[place]:
                reached.setdefault(target, []).append((apart, near))
        masks = {
            target: tuple(_united(bits) for bits in zip(*pairs)) for target, pairs in sorted(reached.items())
        }
        for symbol, places in enumerate(symbols):
            here = [target for target in masks if target in places]
            if not here:
                continue
            known: dict[tuple[int, ...], list[frozenset[int]]] = {}
            for region in regions:
                for near in (0, 1):
                    some = tuple(target for target in here if masks[target][near] >> region & 1)
                    if some not in known:
                        effort.spend(len(here))
                        known[some] = list(_by_label(some, label_of))
                    for targets in known[some]:
                        yield (symbol, region, near), targets

    last = found.last
    explored = explore(
        _START,
        follow,
        lambda state: not last.isdisjoint(state),
        BUDGET,
        f"determinisation over {len(symbols):,} classes of events and {gaps.count:,} regions of gaps",
        effort,
    )
    block = _minimal(explored, [label_of[min(state)] if state != _START else -1 for state in explored.states])
    return _assembled(explored, block, label_of, labels, gaps, symbol_of, len(symbols))


def _united(bits: Iterable[int]) -> int:
    found = 0
    for one in bits:
        found |= one
    return found


def _by_label(places: Sequence[int], label_of: Sequence[int]) -> Iterator[frozenset[int]]:
    """Positions that mark alike, together."""
    found: dict[int, list[int]] = {}
    for place in places:
        found.setdefault(label_of[place], []).append(place)
    for label in sorted(found):
        yield frozenset(found[label])


def _regions(steps: Iterable[PlaceStep], gaps: Gaps) -> Iterator[tuple[int, int, int, int]]:
    """For each step, its ends and the regions in which it is possible: between any events, and neighbours."""
    known: dict[frozenset[Interval], int] = {}
    for step in steps:
        if step.gaps not in known:
            known[step.gaps] = gaps.of(step.gaps)
        near = known[step.gaps]
        if near:
            yield step.source, step.target, 0 if step.contiguous else near, near


def _symbols(
    found: PlaceAutomaton, outcomes: Sequence[frozenset[int]], tests: Sequence[Predicate]
) -> tuple[list[frozenset[int]], tuple[int, ...]]:
    """The positions that an event with each symbol may take, and the symbol of each class of events."""
    known = Identities()
    index = {known.of(test): number for number, test in enumerate(tests)}
    asked = [index[known.of(place.predicate)] for place in found.places]
    number: dict[frozenset[int], int] = {frozenset(): 0}
    symbol_of = []
    for holding in outcomes:
        places = frozenset(place for place, test in enumerate(asked) if test in holding)
        symbol_of.append(number.setdefault(places, len(number)))
    return list(number), tuple(symbol_of)


Explored = Exploration[frozenset[int], tuple[int, int, int]]


def _minimal(explored: Explored, label: Sequence[int]) -> list[int]:
    """For each state its class among those that go on alike, -1 where no match is reached; marks count."""
    arcs = ((source, target) for source, _, target in explored.edges)
    useful = coreachable(len(explored.states), arcs, explored.final)
    leaving: list[list[tuple[tuple[int, int, int], int]]] = [[] for _ in explored.states]
    for source, edge, target in explored.edges:
        if target in useful:
            leaving[source].append((edge, target))
    keys: list[object] = [
        (state in explored.final, label[state]) if state in useful else -1
        for state in range(len(explored.states))
    ]
    block = _numbered(keys)
    while True:
        finer = _numbered(
            [
                (block[state], frozenset((edge, block[target]) for edge, target in leaving[state]))
                if state in useful
                else -1
                for state in range(len(explored.states))
            ]
        )
        if max(finer) == max(block):
            return [one if state in useful else -1 for state, one in enumerate(block)]
        block = finer


def _numbered(keys: Sequence[object]) -> list[int]:
    number: dict[object, int] = {}
    return [number.setdefault(key, len(number)) for key in keys]


def _assembled(
    explored: Explored,
    block: Sequence[int],
    label_of: Sequence[int],
    labels: tuple[Label, ...],
    gaps: Gaps,
    symbol_of: tuple[int, ...],
    n_symbols: int,
) -> StepAutomaton:
    """The automaton of classes of states, with regions joined to intervals."""
    number: dict[int, int] = {}
    state_label, final = [], set()
    for state, own in enumerate(block):
        if own >= 0 and state and own not in number:
            number[own] = len(number)
            state_label.append(label_of[min(explored.states[state])])
            if state in explored.final:
                final.add(number[own])
    starts: dict[tuple[int, int], None] = {}
    shown: dict[tuple[int, int, int], dict[tuple[int, int], None]] = {}
    for source, (symbol, region, near), target in explored.edges:
        if block[target] < 0:
            continue
        if region < 0:
            starts[symbol, number[block[target]]] = None
        else:
            key = number[block[source]], symbol, number[block[target]]
            shown.setdefault(key, {})[near, region] = None
    moves = [
        StepMove(view, symbol, target)
        for (source, symbol, target), found in shown.items()
        for view in _views(source, found, gaps)
    ]
    used = sorted({0, *state_label})
    renumbered = {label: i for i, label in enumerate(used)}
    return StepAutomaton(
        n_symbols,
        symbol_of,
        tuple(labels[label] for label in used),
        tuple(renumbered[label] for label in state_label),
        frozenset(final),
        tuple(starts),
        tuple(moves),
    )


def _views(source: int, found: Iterable[tuple[int, int]], gaps: Gaps) -> Iterator[View]:
    """The views of regions in which an event may be near or apart."""
    near = {region for is_near, region in found if is_near}
    apart = {region for is_near, region in found if not is_near}
    for regions, where in ((near & apart, ANY_PLACE), (near - apart, NEIGHBOUR), (apart - near, APART)):
        strange = len(gaps.lows) in regions
        runs: list[list[int]] = []
        for region in sorted(regions - {len(gaps.lows)}):
            if runs and runs[-1][1] == region - 1:
                runs[-1][1] = region
            else:
                runs.append([region, region])
        whole = not gaps.floating and runs == [[0, len(gaps.lows) - 1]]
        for place, (first, last) in enumerate(runs):
            # What is no number is shown once.
            loose = whole or (strange and place == len(runs) - 1)
            yield View(source, gaps.lows[first], gaps.highs[last], where, loose)
        if strange and not runs:
            yield View(source, math.inf, -1.0, where, True)
