"""The persistent structure on a CUDA device, and its bulk enumeration there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np

from cer_gpu.engine.devices import on, say_no_memory, with_memory
from cer_gpu.enumeration.structure import Hits, Structure, bulk_count
from cer_gpu.kernels.cuda import nodes, paths
from cer_gpu.kernels.cuda.counts import DeviceTables
from cer_gpu.kernels.cuda.geometry import LANE, STREAM, Geometry
from cer_gpu.kernels.cuda.paths import Forest
from cer_gpu.kernels.cuda.words import copied
from cer_gpu.kernels.paths import MAX_SPAN, MISMATCH, Block
from cer_gpu.kernels.tables import RunTables

MOST_MARKS = 1 << 28
"""Marks that are written in one go at most: some twenty bytes of memory for each."""


class DeviceStructure(Structure):
    """The nodes of segments on the device, and the roots of their hits.

    What is enumerated comes back in blocks. A hit with very many complex events, or with more marks in one
    than a thread has room for, is enumerated on the host, one by one in order, which needs no structure.

    Parameters
    ----------
    tables : RunTables
    machine : DeviceTables
        The same on the device.
    device : int
        The number of the device.
    lane, stream : Geometry
        How the kernels are launched that have a segment, or a complex event, for each thread.
    """

    def __init__(
        self,
        tables: RunTables,
        machine: DeviceTables,
        device: int,
        lane: Geometry = LANE,
        stream: Geometry = STREAM,
    ) -> None:
        super().__init__(tables)
        self._machine, self._device, self._lane, self._stream = machine, device, lane, stream
        # Threads that enumerate take turns: one launch has work for the whole device.
        self._turn = Lock()

    def build_there(
        self, symbols: np.ndarray, there: Any, begin: np.ndarray, stop: np.ndarray, hits: Hits
    ) -> None:
        """Build the nodes of segments and the roots of their hits; as `build`.

        Parameters
        ----------
        symbols, begin, stop, hits
            As there.
        there : device array, shape (padded events,)
            The symbols on the device.
        """
        event, lowest = copied(hits.event), copied(hits.lowest)
        arrays = copied(begin), copied(stop), copied(hits.first), event, lowest
        *forest, node_first = nodes.build(self._machine, there, *arrays, self._lane)
        self._forest = Forest(*forest, event, lowest)
        self._scratch = paths.scratch_of(len(hits.event), self._lane)
        self._node_first = node_first.copy_to_host()
        self.n_nodes = int(self._node_first[-1])
        self.hits, self.symbols = hits, symbols

    def blocks(
        self, order: np.ndarray | None = None, limit: int | None = None, size: int = 1 << 17
    ) -> Iterator[Block]:
        """The complex events of hits: as `Structure.blocks`."""
        hits = self.hits
        order = np.arange(len(hits.event)) if order is None else order
        count = np.minimum(hits.count[order], 1 << 62).astype(np.int64)
        alone = (count > bulk_count(limit)) | (hits.event[order] - hits.lowest[order] > MAX_SPAN)
        for low, high in _groups(np.where(alone, size, count), size):
            if alone[low]:
                yield from self.ordered(int(order[low]), limit, size)
            else:
                yield from self._enumerated(order[low:high], limit, size)

    def _enumerated(self, hits: np.ndarray, limit: int | None, size: int) -> Iterator[Block]:
        units = self._units(hits)
        with self._turn, on(self._device):
            found = with_memory(lambda: self._found_there(units, hits, limit))
        if found is not None and found[1] is not None:
            yield found[1]
            return
        if found is not None and (found[0] == -MISMATCH).any():
            raise self.mismatch(int(hits[np.argmax(found[0] == -MISMATCH)]))
        if len(hits) == 1:
            if found is None:
                say_no_memory(self._device, "the complex events of one end")
            yield from self.ordered(int(hits[0]), limit, size)
        else:
            middle = len(hits) // 2
            for half in hits[:middle], hits[middle:]:
                yield from self._enumerated(half, limit, size)

    def _found_there(
        self, units: paths.Units, hits: np.ndarray, limit: int | None
    ) -> tuple[np.ndarray, Block | None]:
        """The fewest marks at each hit, or what is wrong there; the complex events, if there is room."""
        walked = paths.measure(self._forest, units, self._scratch)
        least = np.minimum.reduceat(walked.marks, units.of_hit[:-1])
        if least.min() < 0 or walked.marks.sum() > MOST_MARKS:
            return least, None
        there = paths.fill(self._forest, walked, hits, limit, self._stream)
        return least, Block(*(part.copy_to_host() for part in there))

    def _units(self, hits: np.ndarray) -> paths.Units:
        segment = np.searchsorted(self.hits.first, hits, side="right") - 1
        base = self._node_first[segment]
        count = self.hits.count[hits].astype(np.int64)
        return paths.units_of(hits, count, base, self._node_first[segment + 1] - base, paths.RANGE)


def _groups(weight: np.ndarray, size: int) -> Iterator[tuple[int, int]]:
    """Ranges of items of about `size` in all; one that weighs as much by itself is alone."""
    edges = {0, len(weight)}
    heavy = np.flatnonzero(weight >= size)
    edges.update(heavy.tolist(), (heavy + 1).tolist())
    edges.update(np.flatnonzero(np.diff(np.cumsum(weight) // size)).tolist())
    return pairwise(sorted(edges))
