"""Selection strategies: section 6 of the language, chapter 4 of the CEPL thesis."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from cer_gpu.language.tree import Strategy


class Match(NamedTuple):
    """A complex event: two positions, and the pairs (variable, position) of its marks.

    While a query is evaluated that aggregates expressions over several variables, `repetitions` has what each
    repetition of an iteration has marked: the identity of the iteration, the variables, their marks.
    """

    start: int
    end: int
    marks: frozenset[tuple[str, int]]
    repetitions: frozenset[tuple[int, frozenset[str], frozenset[tuple[str, int]]]] = frozenset()

    def positions(self) -> frozenset[int]:
        """The positions that some variable marks."""
        return frozenset(position for _, position in self.marks)

    def marked_by(self, variable: str) -> frozenset[int]:
        """The positions that one variable marks."""
        return frozenset(position for name, position in self.marks if name == variable)

    def sort_key(self) -> tuple[object, ...]:
        """The order in which answers are given: end, start, positions, then the variables at each."""
        at: dict[int, list[str]] = {}
        for name, position in sorted(self.marks):
            at.setdefault(position, []).append(name)
        positions = tuple(sorted(at))
        return self.end, self.start, positions, tuple(tuple(at[position]) for position in positions)


def select(strategy: Strategy, matches: Iterable[Match]) -> frozenset[Match]:
    """The matches that a strategy keeps, chosen among those with the same end.

    ANY keeps all here. It returns the first in the order of the answers, which is known only after the SELECT
    list has dropped marks.
    """
    by_end: dict[int, list[Match]] = {}
    for match in matches:
        by_end.setdefault(match.end, []).append(match)
    return frozenset(kept for group in by_end.values() for kept in _select_group(strategy, group))


def _select_group(strategy: Strategy, group: list[Match]) -> list[Match]:
    if strategy in (Strategy.ALL, Strategy.ANY):
        return group
    if strategy is Strategy.STRICT:
        return [match for match in group if is_interval(match.positions())]
    candidates = {match.positions() for match in group}
    if strategy is Strategy.MAX:
        best = {one for one in candidates if not any(one < other for other in candidates)}
    else:
        best = {max(candidates, key=next_key if strategy is Strategy.NEXT else last_key)}
    return [match for match in group if match.positions() in best]


def is_interval(positions: frozenset[int]) -> bool:
    """Whether the positions have no gap; the empty set has none."""
    return not positions or max(positions) - min(positions) + 1 == len(positions)


def next_key(positions: frozenset[int]) -> tuple[int, ...]:
    """A key for the order M1 < M2 iff min(M1 symmetric-difference M2) is in M2.

    Of two ascending sequences that first differ in one place, the one with the smaller position there is
    the greater set; so is one that goes on where the other stops.
    """
    return tuple(-position for position in sorted(positions))


def last_key(positions: frozenset[int]) -> tuple[int, ...]:
    """A key for the order M1 < M2 iff max(M1 symmetric-difference M2) is in M2."""
    return tuple(sorted(positions, reverse=True))
