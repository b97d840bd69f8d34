"""Where complex events end, and how many: what is asked of a run that does not list them."""

from __future__ import annotations

from typing import Literal

import numpy as np

from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.machine import MachineRunner

Asked = Literal["hits", "counts", "count"]
"""Ends with their latest start, ends with their number, or the numbers alone."""

Reported = tuple[np.ndarray, np.ndarray]
"""Positions, ascending, and the latest start or the number at each; no positions where `count` is asked."""


def reported(runner: MachineRunner, chunk: Chunk, asked: Asked, limit: int | None) -> Reported:
    """The ends of a chunk, as a machine finds them.

    Parameters
    ----------
    runner : MachineRunner
    chunk : Chunk
    asked : {"hits", "counts", "count"}
    limit : int or None
        At most so many complex events of each end are counted.

    Returns
    -------
    position, value : ndarray, shape (ends,), int64
        `value` of objects where a number is past 2^62.
    """
    if asked == "hits":
        found = runner.ends(chunk, bounded=False)
        event, value = found.event, found.latest
    else:
        event, value = runner.counts(chunk)
        if limit is not None:
            value = np.minimum(value, limit)
    if asked == "count":
        return np.empty(0, np.int64), value
    position = chunk.events.positions[event]
    order = np.argsort(position, kind="stable")
    return position[order], value[order]


def sum_exactly(number: np.ndarray) -> int:
    """The sum of counts as a Python integer, whatever their size."""
    if number.dtype != object and (len(number) == 0 or int(number.max()) < (1 << 62) // len(number)):
        return int(number.sum())
    return sum(number.tolist())
