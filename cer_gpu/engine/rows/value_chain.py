"""Values of matches, in the chains that aggregates follow: `ValueChain`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


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
