"""Matches of a row pattern: `RowMatches`."""

from __future__ import annotations

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
