"""Decides whether resets are synchronous, by exploring pairs of runs (timed CEL paper, Theorem 5.4).

Runs are explored by zones: sets of clock valuations given by bounds on clocks and on differences of two. A
zone is a union of clock regions, many of which are explored at a time, so that the size of the constants does
not matter. Bounds above the greatest constant of a clock are dropped (Extra_M): no condition notices, and
finitely many zones are left. A bound is an int, `2 * c + 1` for `<= c` and `2 * c` for `< c`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from cer_gpu.automata.timed.clocks import Check, clocks_of, constants_of, disjuncts, scale
from cer_gpu.automata.timed.timed_cea import EventClasses, TimedCEA, TimedTransition
from cer_gpu.errors import LimitError
from cer_gpu.frozen_dataclass import dataclass

PAIR_BUDGET = 20_000
"""Pairs of transitions that the decision may look at: so many take about a second."""


@dataclass(frozen=True, slots=True)
class TimedWitness:
    """Two runs with the same marks on one stream whose last transitions reset different clocks.

    Attributes
    ----------
    times : tuple of Fraction
        The time of each event; the first is 0.
    symbols : tuple of int
        The class of each event.
    one, other : tuple of TimedTransition
        The transitions of the two runs, one for each event.
    clock : int
        A clock that `one` resets at the last event and `other` does not.
    """

    times: tuple[Fraction, ...]
    symbols: tuple[int, ...]
    one: tuple[TimedTransition, ...]
    other: tuple[TimedTransition, ...]
    clock: int


class _Way(NamedTuple):
    """A transition with one conjunction of its condition (Lemma A.1)."""

    move: TimedTransition
    classes: int
    asks: frozenset[int]
    bounds: tuple[tuple[int, int, int], ...]


class _RunPair(NamedTuple):
    """A pair of states that two runs with the same marks reach, and how."""

    states: tuple[int, int]
    clocks: tuple[int, ...]  # those that are set and matter, which the zone is of
    zone: Zone
    before: int
    taken: tuple[_Way, _Way] | None
    swapped: bool


def asked_later(timed: TimedCEA) -> tuple[frozenset[int], ...]:
    """For each state the clocks whose value some run from there asks before it resets them."""
    found = [frozenset[int]()] * timed.n_states
    changed = True
    while changed:
        changed = False
        for move in timed.transitions:
            more = found[move.source] | clocks_of(move.condition) | (found[move.target] - move.resets)
            if more != found[move.source]:
                found[move.source], changed = more, True
    return tuple(found)


def asynchronous(
    timed: TimedCEA,
    classes: EventClasses,
    asked: Sequence[frozenset[int]] | None = None,
    budget: int = PAIR_BUDGET,
) -> TimedWitness | None:
    """Two runs that show that an automaton has no synchronous resets, as short as there are; None if it has.

    An automaton has synchronous resets if two runs on one stream, from one position, with the same marks,
    accepting or not, reset the same clocks at every event. So they have the same valuation as long as they
    do, and a pair of states with a set of valuations is all that is explored (Theorem 5.4). Times may tie.

    Parameters
    ----------
    timed : TimedCEA
    classes : EventClasses
        Which predicates an event may satisfy at once.
    asked : sequence of frozenset of int, optional
        For each state the clocks that matter there, as `asked_later` gives them: runs may then differ in a
        clock that is not asked later in both of them. Without it all clocks matter everywhere, as in the
        paper's definition.
    budget : int
        How many pairs of transitions may be looked at.

    Raises
    ------
    LimitError
        When there are more.
    UnknownPredicateError
        If a transition's predicate is not among those of the classes.
    """
    search = _Search(timed, classes, asked or [frozenset(range(timed.n_clocks))] * timed.n_states)
    return search.run(budget)


class _Search:
    def __init__(self, timed: TimedCEA, classes: EventClasses, asked: Sequence[frozenset[int]]) -> None:
        self.timed = timed
        self.asked = asked
        constants = [one for move in timed.transitions for one in constants_of(move.condition)]
        self.scale = scale(constant for _, constant in constants)
        self.step = math.gcd(*(int(constant * self.scale) for _, constant in constants)) or 1
        self.greatest = [0] * timed.n_clocks
        for clock, constant in constants:
            self.greatest[clock] = max(self.greatest[clock], int(constant * self.scale))
        self.ways: list[list[_Way]] = [[] for _ in range(timed.n_states)]
        for move, holding in zip(timed.transitions, classes.of(timed.transitions), strict=True):
            for checks in disjuncts(move.condition) if holding else ():
                bounds = tuple(bound for check in checks for bound in bounds_of(check, self.scale))
                asks = frozenset(check.clock for check in checks)
                self.ways[move.source].append(_Way(move, holding, asks, bounds))

    def run(self, budget: int) -> TimedWitness | None:
        start = self.timed.initial
        reached = [_RunPair((start, start), (), NO_CLOCKS, -1, None, False)]
        seen: dict[tuple[tuple[int, int], tuple[int, ...]], list[Zone]] = {}
        looked_at = 0
        for at, pair in enumerate(reached):  # grows while it is read
            for one, other, zone in self.steps(pair):
                looked_at += 1
                if differ := self.difference(one.move, other.move):
                    return self.witness(reached, at, (one, other), min(differ))
                after = self.after(pair, at, (one, other), zone)
                zones = seen.setdefault((after.states, after.clocks), [])
                if not any(includes(known, after.zone) for known in zones):
                    zones.append(after.zone)
                    reached.append(after)
            if looked_at > budget:
                raise LimitError(
                    "whether the resets are synchronous is not decided: it takes more than "
                    f"{budget:,} pairs of transitions"
                )
        return None

    def steps(self, pair: _RunPair) -> Iterator[tuple[_Way, _Way, Zone]]:
        """The pairs of transitions with one label that two runs may take at one event."""
        left, right = pair.states
        waited = later(pair.zone)
        place = {0: 0} | {clock + 1: at for at, clock in enumerate(pair.clocks, 1)}
        for number, one in enumerate(self.ways[left]):
            # Of two runs in one state each pair of transitions is looked at once.
            for other in self.ways[right][number:] if left == right else self.ways[right]:
                if not (one.classes & other.classes) or one.move.label != other.move.label:
                    continue
                if not (one.asks | other.asks).issubset(pair.clocks):
                    continue
                bounds = ((place[i], place[j], bound) for i, j, bound in (*one.bounds, *other.bounds))
                zone = constrained(waited, bounds)
                if zone is not None:
                    yield one, other, zone

    def difference(self, one: TimedTransition, other: TimedTransition) -> frozenset[int]:
        return (one.resets ^ other.resets) & self.asked[one.target] & self.asked[other.target]

    def after(self, pair: _RunPair, at: int, taken: tuple[_Way, _Way], zone: Zone) -> _RunPair:
        moves = taken[0].move, taken[1].move
        matter = self.asked[moves[0].target] | self.asked[moves[1].target]
        resets = frozenset[int]().union(*(move.resets & self.asked[move.target] for move in moves))
        clocks = tuple(sorted((resets | set(pair.clocks)) & matter))
        sources = [0 if clock in resets else pair.clocks.index(clock) + 1 for clock in clocks]
        zone = extrapolated(reshaped(zone, sources), [self.greatest[clock] for clock in clocks])
        swapped = moves[0].target > moves[1].target
        states = (moves[0].target, moves[1].target)
        return _RunPair(states[::-1] if swapped else states, clocks, zone, at, taken, swapped)

    def witness(
        self, reached: Sequence[_RunPair], at: int, last: tuple[_Way, _Way], clock: int
    ) -> TimedWitness:
        path: list[_RunPair] = []
        while at > 0:
            path.append(reached[at])
            at = reached[at].before
        runs: tuple[list[_Way], list[_Way]] = ([], [])
        first = 0  # which of the two runs is in the first state of the pair
        for pair in reversed(path):
            assert pair.taken is not None
            runs[first].append(pair.taken[0])
            runs[1 - first].append(pair.taken[1])
            first ^= pair.swapped
        runs[first].append(last[0])
        runs[1 - first].append(last[1])
        one, other = runs if clock in runs[0][-1].move.resets else runs[::-1]
        bounds = [bound for run in runs for bound in _on_times(run)]
        try:  # events at different times are read more easily
            times = moments(len(one), bounds, step=self.step, tie=False)
        except ValueError:
            times = moments(len(one), bounds, step=self.step)
        return TimedWitness(
            tuple(time / self.scale for time in times),
            tuple(_lowest(mine.classes & yours.classes) for mine, yours in zip(one, other)),
            tuple(way.move for way in one),
            tuple(way.move for way in other),
            clock,
        )


def _on_times(run: Sequence[_Way]) -> Iterator[tuple[int, int, int]]:
    """What the conditions of a run say of the times of its events: bounds on time i - time j."""
    last: dict[int, int] = {}
    for number, way in enumerate(run):
        for i, j, bound in way.bounds:
            yield (number, last[i - 1], bound) if i else (last[j - 1], number, bound)
        last.update(dict.fromkeys(way.move.resets, number))


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


Zone: TypeAlias = tuple[tuple[int, ...], ...]
"""`zone[i][j]` bounds clock i - 1 less clock j - 1, where "clock -1" is always 0. Closed: no bound can be
tightened by others."""

NO_BOUND = 1 << 200
AT_MOST_ZERO = 1


def at_most(constant: int, strict: bool = False) -> int:
    """The bound `<= constant`, or `< constant`."""
    return 2 * constant + (not strict)


def added(one: int, other: int) -> int:
    """The bound of a sum."""
    if one >= NO_BOUND or other >= NO_BOUND:
        return NO_BOUND
    return one + other - ((one | other) & 1)


NO_CLOCKS: Zone = ((AT_MOST_ZERO,),)
"""The zone without clocks."""


def bounds_of(check: Check, scale: int) -> list[tuple[int, int, int]]:
    """A check as bounds (i, j, bound) of a zone whose constants are `scale` times as large."""
    clock, constant = check.clock + 1, int(check.constant * scale)
    found = []
    if check.op in ("<", "<=", "="):
        found.append((clock, 0, at_most(constant, check.op == "<")))
    if check.op in (">", ">=", "="):
        found.append((0, clock, at_most(-constant, check.op == ">")))
    return found


def later(zone: Zone) -> Zone:
    """The valuations after any time, also none."""
    return tuple((row[0] if i == 0 else NO_BOUND, *row[1:]) for i, row in enumerate(zone))


def constrained(zone: Zone, bounds: Iterable[tuple[int, int, int]]) -> Zone | None:
    """The valuations that satisfy bounds (i, j, bound); None if there are none."""
    rows = [list(row) for row in zone]
    for i, j, bound in bounds:
        if bound >= rows[i][j]:
            continue
        if added(bound, rows[j][i]) < AT_MOST_ZERO:
            return None
        rows[i][j] = bound
        for one in range(len(rows)):
            for other in range(len(rows)):
                rows[one][other] = min(rows[one][other], added(added(rows[one][i], bound), rows[j][other]))
    return tuple(map(tuple, rows))


def reshaped(zone: Zone, sources: Sequence[int]) -> Zone:
    """The valuations of other clocks, each the copy of one, or of the constant 0.

    Parameters
    ----------
    zone : Zone
    sources : sequence of int
        For each clock of the result the row that it copies: 0 for a clock that is reset. Clocks that nothing
        copies are left out.
    """
    rows = (0, *sources)
    return tuple(
        tuple(AT_MOST_ZERO if i == j else zone[one][other] for j, other in enumerate(rows))
        for i, one in enumerate(rows)
    )


def extrapolated(zone: Zone, greatest: Sequence[int]) -> Zone:
    """The zone without the bounds that no condition can notice: Extra_M.

    Parameters
    ----------
    zone : Zone
    greatest : sequence of int
        For each clock the greatest constant that it is compared with.
    """
    top = [0, *greatest]
    rows = [list(row) for row in zone]
    changed = False
    for i, row in enumerate(rows):
        for j, bound in enumerate(row):
            if i != j and i and at_most(top[i]) < bound < NO_BOUND:
                row[j] = NO_BOUND
                changed = True
            elif i != j and bound < at_most(-top[j], True):
                row[j] = at_most(-top[j], True)
                changed = True
    return closed(rows) if changed else zone


def closed(rows: list[list[int]]) -> Zone:
    """Bounds, each tightened by all others."""
    for k in range(len(rows)):
        for i in range(len(rows)):
            for j in range(len(rows)):
                rows[i][j] = min(rows[i][j], added(rows[i][k], rows[k][j]))
    return tuple(map(tuple, rows))


def includes(large: Zone, small: Zone) -> bool:
    """Whether every valuation of one zone is one of another."""
    return all(one >= other for row, others in zip(large, small) for one, other in zip(row, others))


def moments(
    n: int, bounds: Iterable[tuple[int, int, int]], *, step: int = 1, tie: bool = True
) -> list[Fraction]:
    """Times of n events, the first at 0, that do not fall and keep bounds (i, j, bound) on time i - time j.

    Each time is the earliest possible; if it has to be later than another one, it is `step` after that.

    Parameters
    ----------
    n : int
    bounds : iterable of (int, int, int)
    step : int
    tie : bool
        Whether two events may have one time.

    Raises
    ------
    ValueError
        If there are no such times.
    """
    before = at_most(0, strict=not tie)
    rows = [[AT_MOST_ZERO if i == j else before if i < j else NO_BOUND for j in range(n)] for i in range(n)]
    for i, j, bound in bounds:
        rows[i][j] = min(rows[i][j], bound)
    zone = closed(rows)
    if any(zone[i][i] < AT_MOST_ZERO for i in range(n)):
        raise ValueError("no times keep the bounds")
    times: list[Fraction] = []
    for k in range(n):
        low, high = Fraction(0), None
        low_open = high_open = False
        for j, time in enumerate(times):
            low, low_open = max((low, low_open), (time - (zone[j][k] >> 1), not zone[j][k] & 1))
            if zone[k][j] < NO_BOUND:
                end = time + (zone[k][j] >> 1), bool(zone[k][j] & 1)
                if high is None or end < (high, not high_open):
                    high, high_open = end[0], not end[1]
        if low_open:
            low = low + step if high is None or low + step < high else (low + high) / 2
        times.append(low)
    return times
