"""`WITHIN n [attribute]` checked for each answer: for joins, where starts cannot be ordered by rank."""

from __future__ import annotations

import numpy as np

from cer_gpu.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class AttributeWindow:
    """`WITHIN size [attribute]` over an attribute that may be null or go down.

    Attributes
    ----------
    keys : ndarray, shape (events,), int64 or float64
    valid : ndarray, shape (events,), uint8
        0 where the attribute is null.
    size : int or float
    """

    keys: np.ndarray
    valid: np.ndarray
    size: int | float

    def keeps(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Whether answers from `start` to `end` are in the window, shape (n,), bool.

        Parameters
        ----------
        start, end : ndarray, shape (n,), int64
            The first and the last event of each answer.
        """
        keys, last = self.keys[start], self.keys[end]
        with np.errstate(over="ignore", invalid="ignore"):
            if keys.dtype.kind == "i":
                # The difference is read only where it is positive, and is exact as an unsigned number.
                most = np.uint64(2**64 - 1 if self.size >= 2**64 else int(self.size))
                near = (last <= keys) | ((last - keys).astype(np.int64).view(np.uint64) <= most)
            else:  # infinite values have no difference
                near = last - keys <= self.size
        valid = self.valid[start] & self.valid[end]
        return np.asarray(near & (valid != 0))
