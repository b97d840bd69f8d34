"""Matches of a row pattern, the rows that are in none, and the values of matches that aggregates follow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cer_gpu.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class RowMatches:
    """Matches in the order of their partitions and starts.

    Attributes
    ----------
    starts, lengths : ndarray, shape (matches,), int64
        The first place and the number of rows; 0 for an empty match.
    slots : ndarray, shape (rows of all matches,), int32
        The slot of the automaton that took each row.
    """

    starts: np.ndarray
    lengths: np.ndarray
    slots: np.ndarray


class FreeRows:
    """Tells the rows that are in no match and begin no empty one, as matches come, by their places.

    Parameters
    ----------
    first, stop : int
        The first of the rows, and the one behind the last.
    """

    def __init__(self, first: int, stop: int) -> None:
        self._stop = stop
        self._first = first
        """The first row that is not decided."""
        self._covered = 0
        """Rows before this one are in a match, or were decided."""

    def before(self, matches: RowMatches) -> np.ndarray:
        """The free rows up to the last of some matches, from those behind the matches before: int64."""
        if not len(matches.starts):
            return np.zeros(0, np.int64)
        stop = int(matches.starts[-1]) + 1
        ends = matches.starts + matches.lengths
        size = stop - self._first
        begun = np.bincount(matches.starts - self._first, minlength=size + 1)
        ended = np.bincount(np.minimum(ends, stop) - self._first, minlength=size + 1)
        free = np.cumsum(begun - ended)[:-1] == 0
        free[matches.starts - self._first] = False
        free[: max(self._covered - self._first, 0)] = False
        found = np.flatnonzero(free) + self._first
        self._first, self._covered = stop, max(self._covered, int(ends.max()))
        return found

    def rest(self) -> np.ndarray:
        """The free rows behind all matches."""
        return np.arange(max(self._first, self._covered), self._stop)


class ValueChain(NamedTuple):
    """The values of some variables, in chains that matches are.

    Attributes
    ----------
    before : ndarray, int64
        The value before each in its chain, an earlier one; -1: none.
    longest : int
        The values of a chain, at most.
    last : ndarray of int64
        For each row of the answer the last value that it looks at; 0 where there is none.
    counts : ndarray of int64
        For each row of the answer how many values it looks at.
    """

    before: np.ndarray
    longest: int
    last: np.ndarray
    counts: np.ndarray

    @property
    def none(self) -> np.ndarray:
        """Where a row of the answer looks at no value."""
        return self.counts == 0

    @property
    def first(self) -> np.ndarray:
        """For each row of the answer the first value that it looks at; values of a chain are neighbours."""
        return np.where(self.counts > 0, self.last - self.counts + 1, 0)

    @property
    def bounds(self) -> np.ndarray:
        """Where chains begin, and the number of values; values of a chain are neighbours."""
        return np.append(np.flatnonzero(self.before < 0), len(self.before))
