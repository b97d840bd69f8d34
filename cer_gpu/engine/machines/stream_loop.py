"""The loop of kernels over the next events of a stream."""

from __future__ import annotations

from typing import Any

import numpy as np

from cer_gpu.compiling.kernel import Kernel
from cer_gpu.kernels.loop.contract import LoopSegments
from cer_gpu.kernels.loop.follow import FULL, NEXT, WORDS


class StreamLoop:
    """Runs a kernel that is composed from `loop.follow` over the events of a push.

    Parameters
    ----------
    kernel : Kernel
    tables : NamedTuple of ndarray
        The automaton, as the kernel reads it.
    """

    def __init__(self, kernel: Kernel, tables: Any) -> None:
        self._kernel, self._tables = kernel, tables
        self._entered = np.empty(int(np.diff(tables.first).max(initial=0)), np.int64)
        self._segment = LoopSegments(*np.zeros((3, 1), np.int64))
        self._progress = np.zeros(WORDS, np.int64)

    def begin(self, event: int) -> None:
        """Begin at an event."""
        self._segment.begin[0] = self._segment.report[0] = event

    @property
    def event(self) -> int:
        """The event for which the room is full."""
        return int(self._progress[NEXT]) - 1

    def run(self, stop: int, events: Any, window: Any, room: Any, out: Any) -> bool:
        """Run the events before `stop`; whether all were run: if not, the room is full."""
        self._segment.stop[0] = stop
        self._kernel(self._tables, events, window, self._segment, room, self._entered, out, self._progress)
        if self._progress[FULL]:
            return False
        self._segment.begin[0] = stop
        self._progress[:] = 0
        return True
