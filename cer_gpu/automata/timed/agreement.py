"""Merges clocks that agree, and drops clocks that no later condition asks.

Proposition 4.3 gives every operator a clock of its own. Most of them agree: in `(A ;[<= 1 s] B) WITHIN [<= 5
s]` both were reset last at the A. Two more clocks are added, reset by the first transition and by every
marking one (those of Theorem 5.5); then every check asks a clock that agrees with its own at that place, so
that as few clocks as possible remain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from cer_gpu.automata.timed.clocks import clocks_of, renamed
from cer_gpu.automata.timed.synchrony import asked_later
from cer_gpu.automata.timed.timed_cea import TimedCEA, TimedTransition, merged_states, with_clocks_in_use
from cer_gpu.frozen_dataclass import dataclass

MANY_CLOCKS = 12
"""With so many clocks a smallest choice is no longer looked for among all."""


@dataclass(frozen=True, slots=True)
class MergedClocks:
    """An automaton of few clocks.

    Attributes
    ----------
    timed : TimedCEA
        Its transitions reset only what is asked later.
    origins : tuple of int
        For each of its clocks the clock of the automaton before, ascending; those from `n_before` on are the
        two added ones.
    n_before : int
        How many clocks there were before.
    """

    timed: TimedCEA
    origins: tuple[int, ...]
    n_before: int

    @property
    def since_start(self) -> int | None:
        """The clock that the first transition resets and no other; None if there is none."""
        return self._added(self.n_before)

    @property
    def since_mark(self) -> int | None:
        """The clock of the last marking transition; None if there is none."""
        return self._added(self.n_before + 1)

    @property
    def follows_marks(self) -> bool:
        """Whether every clock is one of the two: then the marks alone say when a clock was reset."""
        return all(origin >= self.n_before for origin in self.origins)

    def _added(self, origin: int) -> int | None:
        return self.origins.index(origin) if origin in self.origins else None


class _Site(NamedTuple):
    """A clock asked by a transition, and the clocks that agree with it there."""

    transition: int
    clock: int
    same: frozenset[int]


def merged_clocks(timed: TimedCEA) -> MergedClocks:
    """The automaton with clocks merged where they agree, and dropped where no later condition asks them.

    Parameters
    ----------
    timed : TimedCEA
        Nothing enters its initial state, as `timed_cea` makes it.

    Raises
    ------
    ValueError
        If something does.
    """
    if any(move.target == timed.initial for move in timed.transitions):
        raise ValueError("a transition enters the initial state")
    start, mark = timed.n_clocks, timed.n_clocks + 1
    moves = [
        replace(
            move,
            resets=move.resets
            | frozenset({start} if move.source == timed.initial else ())
            | frozenset({mark} if move.label else ()),
        )
        for move in timed.transitions
    ]
    more = replace(timed, n_clocks=timed.n_clocks + 2, transitions=tuple(moves))
    same = agreeing(more)
    sites = [
        _Site(
            number,
            clock,
            frozenset(
                other
                for other in range(more.n_clocks)
                if same[move.source][other] == same[move.source][clock]
            ),
        )
        for number, move in enumerate(moves)
        for clock in sorted(clocks_of(move.condition))
    ]
    kept = _cover(sites, (start, mark))
    chosen = {
        (site.transition, site.clock): min(site.same & kept, key=lambda one: (one not in (start, mark), one))
        for site in sites
    }
    asked = tuple(
        replace(
            move,
            condition=renamed(
                move.condition, {clock: chosen[number, clock] for clock in clocks_of(move.condition)}
            ),
        )
        for number, move in enumerate(moves)
    )
    needed = without_unasked_resets(replace(more, transitions=asked))
    used = sorted(frozenset[int]().union(*(clocks_of(move.condition) for move in asked)))
    return MergedClocks(merged_states(with_clocks_in_use(needed)), tuple(used), timed.n_clocks)


def agreeing(timed: TimedCEA) -> list[tuple[int, ...]]:
    """For each state a class of each clock: in a run that reaches the state, clocks of one class agree.

    They are both unset, or have been reset last by the same transition of the run. A state that is not
    reached has all clocks in one class.
    """
    found: list[tuple[int, ...] | None] = [None] * timed.n_states
    found[timed.initial] = (0,) * timed.n_clocks
    leaving = timed.leaving()
    todo = [timed.initial]
    while todo:
        state = todo.pop()
        here = found[state]
        assert here is not None
        for move in leaving[state]:
            there = _numbered([-1 if clock in move.resets else one for clock, one in enumerate(here)])
            known = found[move.target]
            if known is not None:
                there = _numbered(list(zip(known, there)))
            if there != known:
                found[move.target] = there
                todo.append(move.target)
    return [(0,) * timed.n_clocks if one is None else one for one in found]


def _numbered(keys: Sequence[object]) -> tuple[int, ...]:
    numbers: dict[object, int] = {}
    return tuple(numbers.setdefault(key, len(numbers)) for key in keys)


def _cover(sites: Sequence[_Site], first: tuple[int, ...]) -> frozenset[int]:
    """As few clocks as every site has one of, of those named first alone if these do."""
    wanted = {site.same for site in sites}
    others = sorted(frozenset[int]().union(*wanted) - set(first))
    for clocks in (first, (*first, *others)):
        for size in range(len(clocks) + 1 if len(clocks) <= MANY_CLOCKS else 0):
            for chosen in combinations(clocks, size):
                if all(not same.isdisjoint(chosen) for same in wanted):
                    return frozenset(chosen)
    kept: set[int] = set()
    while wanted:
        best = max((*first, *others), key=lambda clock: sum(clock in same for same in wanted))
        kept.add(best)
        wanted = {same for same in wanted if best not in same}
    return frozenset(kept)


def without_unasked_resets(timed: TimedCEA) -> TimedCEA:
    """The automaton in which a transition resets only clocks that some run asks later."""
    asked = asked_later(timed)
    moves: dict[TimedTransition, None] = {
        replace(move, resets=move.resets & asked[move.target]): None for move in timed.transitions
    }
    return replace(timed, transitions=tuple(moves))
