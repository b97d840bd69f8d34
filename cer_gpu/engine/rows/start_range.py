"""Rows at which matches may start, where others look at the rows around them: `StartRange`, `StartRows`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class StartRange(NamedTuple):
    """Rows in which matches may start, among those of one partition.

    Attributes
    ----------
    first, stop : int
        The first place at which a match may start, and the one behind the last.
    before : int
        How many matches the partition has before them.
    """

    first: int
    stop: int
    before: int = 0

    def rows(self, count: int) -> StartRows:
        """The same of all rows, of which there are `count`."""
        starts = np.zeros(count, np.uint8)
        starts[self.first : self.stop] = 1
        return StartRows(starts, np.array([self.before], np.int64))


class StartRows(NamedTuple):
    """Rows of several partitions at which matches may start.

    Attributes
    ----------
    starts : ndarray, shape (rows,), uint8
        1 where a match may start; without rows it may start anywhere.
    before : ndarray, shape (partitions,), int64
        How many matches each partition has before them; without partitions none.
    """

    starts: np.ndarray
    before: np.ndarray


EVERYWHERE = StartRows(np.zeros(0, np.uint8), np.zeros(0, np.int64))
