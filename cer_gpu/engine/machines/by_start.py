"""Complex events in windows that are no interval of starts: each end is looked at on its own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.machine import Sharing
from cer_gpu.enumeration.ordered import AttributeWindow, ordered_hits
from cer_gpu.kernels.forest.contract import Block
from cer_gpu.kernels.runs.contract import TransitionTables

BLOCK = 1 << 16
"""Complex events of a block at most, where nothing else is asked for."""


class OrderedAnswers:
    """The complex events of ends under a window over an attribute that is null or falls.

    Parameters
    ----------
    tables : TransitionTables
    chunk : Chunk
    ends : Ends
    count : ndarray, shape (ends,), int64 or object
        How many complex events each end has.
    size : int or float
        Of the window.
    """

    sharing: Sharing = "ends"

    def __init__(
        self, tables: TransitionTables, chunk: Chunk, ends: Ends, count: np.ndarray, size: int | float
    ) -> None:
        self._tables = tables
        self._symbols = chunk.events.symbols
        self._ends = ends
        self._window = AttributeWindow(chunk.events.keys, chunk.events.all_keyed, size)
        self.count = count

    def blocks(self, order: np.ndarray, limit: int | None = None, size: int | None = None) -> Iterator[Block]:
        """The complex events of some ends; as `Answers.blocks`."""
        ends = self._ends.event, self._ends.lowest
        most = BLOCK if size is None else size
        yield from ordered_hits(
            self._tables, self._symbols, *ends, self._window, order=order.tolist(), limit=limit, size=most
        )
