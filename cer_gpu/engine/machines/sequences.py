"""Complex events that are rows of single events: the entries of a chunk, found by several threads."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from cer_gpu.engine.machines.chunk import SEGMENT
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.runs.contract import SequenceSteps
from cer_gpu.kernels.runs.sequences import SequenceEntries, sequence_entries, step_entries

MOST_EVENTS = 1 << 29
"""Of longer chunks the numbers of entries may not fit 32 bits."""

FEW_ENDS = 128
"""Where fewer than one of so many events is an end, the structure of these takes less time and memory."""


def pays(events: int, ends: int) -> bool:
    """Whether the entries of all events are worth their memory for some ends."""
    return events <= MOST_EVENTS and ends * FEW_ENDS >= events


def entries_of(symbols: np.ndarray, steps: SequenceSteps, workers: Workers) -> SequenceEntries:
    """The entries of all steps but the last.

    Parameters
    ----------
    symbols : ndarray, shape (events,), uint8 or uint16
        Those of a lane are neighbours.
    steps : SequenceSteps
    workers : Workers
    """
    cuts = [*range(0, len(symbols), SEGMENT), len(symbols)]
    stretches = [(may, low, high) for may in steps.may[:-1] for low, high in pairwise(cuts)]

    def found(stretch: tuple[np.ndarray, int, int]) -> np.ndarray:
        may, low, high = stretch
        return step_entries(symbols, may, low, high)

    parts = workers.map("finding matches", found, stretches, len(symbols))
    length = np.array([len(part) for part in parts], np.int64).reshape(len(steps.labels) - 1, -1)
    first = np.append(0, np.cumsum(length.sum(axis=1)))
    return sequence_entries(np.concatenate(parts), first)
