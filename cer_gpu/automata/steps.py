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

from cer_gpu.automata.cea import Predicate
from cer_gpu.automata.explore import Effort
from cer_gpu.automata.marked_automaton import (
    ANY_PLACE,
    APART,
    BUDGET,
    NEIGHBOUR,
    MarkedAutomaton,
    StepMove,
    event_symbols,
    marked_states,
)
from cer_gpu.automata.position_walk import PositionStep
from cer_gpu.automata.step_positions import PlaceAutomaton
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.tree import Interval

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
class StepAutomaton(MarkedAutomaton[View]):
    """A deterministic automaton of steps with gaps."""

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
    symbols, symbol_of = event_symbols([place.predicate for place in found.places], outcomes, tests)
    labels = tuple(sorted({frozenset[str](), *(place.label for place in found.places)}, key=sorted))
    number = {label: i for i, label in enumerate(labels)}
    label_of = [number[place.label] for place in found.places]
    leaving: list[list[tuple[int, int, int]]] = [[] for _ in found.places]
    for source, target, apart, near in _regions(found.steps, gaps):
        leaving[source].append((target, apart, near))
    effort = Effort(BUDGET)
    possible: dict[frozenset[int], dict[int, tuple[int, ...]]] = {}

    def regions_of(state: frozenset[int]) -> dict[int, tuple[int, ...]]:
        """For each position that follows, the regions in which it may: between any events, and neighbours."""
        if state not in possible:
            reached: dict[int, list[tuple[int, int]]] = {}
            for place in state:
                for target, apart, near in leaving[place]:
                    reached.setdefault(target, []).append((apart, near))
            possible[state] = {
                target: tuple(_united(bits) for bits in zip(*pairs))
                for target, pairs in sorted(reached.items())
            }
        return possible[state]

    def follow(state: frozenset[int], symbol: int) -> Iterator[tuple[tuple[int, int], Sequence[int]]]:
        masks = regions_of(state)
        here = [target for target in masks if target in symbols[symbol]]
        if not here:
            return
        known: set[tuple[int, ...]] = set()
        for region in range(gaps.count):
            for near in (0, 1):
                some = tuple(target for target in here if masks[target][near] >> region & 1)
                if some not in known:
                    effort.spend(len(here))
                    known.add(some)
                yield (near, region), some

    made = marked_states(
        symbols,
        found.first,
        found.last,
        label_of,
        follow,
        f"determinisation over {len(symbols):,} classes of events and {gaps.count:,} regions of gaps",
        effort,
    )
    used = sorted({0, *made.state_label})
    renumbered = {label: i for i, label in enumerate(used)}
    return StepAutomaton(
        len(symbols),
        symbol_of,
        tuple(labels[label] for label in used),
        tuple(renumbered[label] for label in made.state_label),
        made.final,
        made.starts,
        tuple(
            StepMove(view, symbol, target)
            for (source, symbol, target), shown in made.readings.items()
            for view in _views(source, shown, gaps)
        ),
    )


def _united(bits: Iterable[int]) -> int:
    found = 0
    for one in bits:
        found |= one
    return found


def _regions(steps: Iterable[PositionStep], gaps: Gaps) -> Iterator[tuple[int, int, int, int]]:
    """For each step, its ends and the regions in which it is possible: between any events, and neighbours."""
    known: dict[frozenset[Interval], int] = {}
    for step in steps:
        if step.gaps not in known:
            known[step.gaps] = gaps.of(step.gaps)
        near = known[step.gaps]
        if near:
            yield step.source, step.target, 0 if step.contiguous else near, near


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
