"""The loop of kernels over the next events of a stream."""

from __future__ import annotations

from typing import Any

import numpy as np

from cer_gpu.compiling.kernel import Kernel
from cer_gpu.kernels.loop.contract import LoopSegments
from cer_gpu.kernels.loop.follow import FULL, NEXT, WORDS
from cer_gpu.kernels.loop.nodes import CONSUMES, HIT, LACKS, ROOTS
from cer_gpu.kernels.loop.run import scratch


class StreamLoop:
    """Runs a kernel that is composed from `loop.follow` over the events of a push.

    Parameters
    ----------
    kernel : Kernel
    tables : NamedTuple of ndarray
        The automaton, as the kernel reads it.
    words : ndarray, int64
        The words of the room.
    """

    def __init__(self, kernel: Kernel, tables: Any, words: np.ndarray) -> None:
        self._kernel, self._tables, self._words = kernel, tables, words
        self._entered = scratch(tables)
        self._segment = LoopSegments(*np.zeros((3, 1), np.int64))
        self._progress = np.zeros(WORDS, np.int64)

    def begin(self, event: int, consumes: int) -> None:
        """Begin at an event, without ends so far; `consumes`: as in `StreamWindow`."""
        self._segment.begin[0] = self._segment.report[0] = event
        self._words[HIT] = self._words[ROOTS] = 0
        self._words[CONSUMES] = consumes

    @property
    def event(self) -> int:
        """The event for which the room is full."""
        return int(self._progress[NEXT]) - 1

    @property
    def ends(self) -> int:
        """How many ends there are."""
        return int(self._words[HIT])

    def run(self, stop: int, events: Any, window: Any, room: Any, out: Any) -> int:
        """Run the events before `stop`: 0, or the word that counts what the room has no room for."""
        self._segment.stop[0] = stop
        self._kernel(self._tables, events, window, self._segment, room, self._entered, out, self._progress)
        if self._progress[FULL]:
            return int(self._words[LACKS])
        self._segment.begin[0] = stop
        self._progress[:] = 0
        return 0
