"""The persistent structure on a CUDA device, and its bulk enumeration there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from threading import Lock
from typing import Any, Literal

import numpy as np

from cer_gpu.engine.cuda.memory import SHARE, free_bytes
from cer_gpu.engine.devices import on, say_no_memory, with_memory
from cer_gpu.enumeration.structure import Structure, bulk_count
from cer_gpu.kernels.counts.cuda import DeviceTables
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry
from cer_gpu.kernels.device.words import copied
from cer_gpu.kernels.forest import cuda_enumerate as paths
from cer_gpu.kernels.forest import cuda_nodes as nodes
from cer_gpu.kernels.forest.contract import Block, CountedHits
from cer_gpu.kernels.forest.cpu_enumerate import MAX_SPAN, MISMATCH
from cer_gpu.kernels.forest.cuda_enumerate import Forest, SegmentContents
from cer_gpu.kernels.forest.cuda_walks import LAST
from cer_gpu.kernels.runs.contract import SegmentHits, TransitionTables

ANSWERS = 1 << 22
"""The most complex events that are found in one go. That is some milliseconds of work, of which launches take
less than a tenth, and some hundred megabytes that come back."""

MOST_MARKS = 1 << 25
"""The most marks that are written in one go; each takes some twenty bytes."""

MARKS = MOST_MARKS // ANSWERS
"""The most marks for each complex event, if fewer complex events are found in one go."""

LISTED = 1 << 17
"""How many complex events a block has if the host finds them one by one."""

BYTES_OF_ANSWER = 256
"""Bytes that a complex event of a few marks takes on the device, with its unit."""


class DeviceStructure(Structure):
    """The nodes of segments on the device, and the roots of their hits.

    The complex events come back in blocks. A hit with very many complex events, or with one that has more
    marks than a thread has room for, is enumerated on the host, one by one in order, without a structure.

    Parameters
    ----------
    tables : TransitionTables
    machine : DeviceTables
        The same tables on the device.
    device : int
        The number of the device.
    lane, stream : Geometry
        How kernels are launched with one thread for each segment, or for each complex event.
    """

    def __init__(
        self,
        tables: TransitionTables,
        machine: DeviceTables,
        device: int,
        lane: Geometry = LANE,
        stream: Geometry = STREAM,
    ) -> None:
        super().__init__(tables)
        self._machine, self._device, self._lane, self._stream = machine, device, lane, stream
        # Threads that enumerate take turns, since one launch has work for the whole device.
        self._turn = Lock()
        self._most = ANSWERS

    @property
    def sharing(self) -> Literal["ends", "ahead"]:
        return "ahead"

    def build_there(
        self, symbols: np.ndarray, there: Any, begin: np.ndarray, stop: np.ndarray, hits: CountedHits
    ) -> None:
        """Build the nodes of segments and the roots of their hits; as `build`.

        Parameters
        ----------
        symbols, begin, stop, hits
            As for `build`.
        there : device array, shape (padded events,)
            The symbols on the device.
        """
        ends = SegmentHits(copied(hits.first), copied(hits.event), copied(hits.lowest))
        segments = copied(begin), copied(stop)
        arena, roots, node_first = nodes.build(self._machine, there, *segments, ends, self._lane)
        self._forest = Forest(arena, roots, ends.event, ends.lowest)
        self._lists = SegmentContents(
            ends.first, node_first, copied(np.minimum(hits.counts, 1 << 62).astype(np.int64))
        )
        self._scratch = paths.scratch_of(len(hits.event), self._lane)
        self.n_nodes = int(node_first[len(begin)])
        self._most = max(1, min(ANSWERS, free_bytes() // (SHARE * BYTES_OF_ANSWER)))
        self.hits, self.symbols = hits, symbols

    def blocks(
        self, order: np.ndarray | None = None, limit: int | None = None, size: int | None = None
    ) -> Iterator[Block]:
        """The complex events of hits: as `Structure.blocks`; as many at once as the device has room for.

        About `size` are found in one go at most, before `limit` drops some of each hit, with `MARKS` marks
        for each at most; the host enumerates hits with more.
        """
        hits = self.hits
        size = self._most if size is None else max(1, min(size, self._most))
        order = np.arange(len(hits.event)) if order is None else order
        count = np.minimum(hits.counts[order], 1 << 62).astype(np.int64)
        alone = count > min(bulk_count(limit), size)
        alone |= hits.event[order] - hits.lowest[order] > MAX_SPAN
        for low, high in groups_of(np.where(alone, size, count), size):
            if alone[low]:
                yield from self.ordered(int(order[low]), limit, min(size, LISTED))
            else:
                yield from self._enumerated(order[low:high], limit, size)

    def _enumerated(self, hits: np.ndarray, limit: int | None, size: int) -> Iterator[Block]:
        def there() -> Block | np.ndarray | None:
            found = self.found_there(hits, limit, min(MOST_MARKS, MARKS * size))
            return Block(*(part.copy_to_host() for part in found)) if isinstance(found, Block) else found

        with self._turn, on(self._device):
            found = with_memory(lambda: (there(),))
        if found is not None and isinstance(found[0], Block):
            yield found[0]
            return
        if found is not None and isinstance(found[0], np.ndarray):
            wrong = found[0] == -MISMATCH
            if wrong.any():
                raise self.mismatch(int(hits[np.argmax(wrong)]))
        if len(hits) == 1:
            if found is None:
                say_no_memory(self._device, "the complex events that end at one event")
            yield from self.ordered(int(hits[0]), limit, min(size, LISTED))
        else:
            middle = len(hits) // 2
            for half in hits[:middle], hits[middle:]:
                yield from self._enumerated(half, limit, size)

    def found_there(
        self, hits: np.ndarray, limit: int | None, marks: int = MOST_MARKS
    ) -> Block | np.ndarray | None:
        """The complex events of some hits, on the device.

        Parameters
        ----------
        hits : ndarray, shape (m,), int64
            The numbers of the hits, at least one.
        limit : int or None
            The most complex events of each hit.
        marks : int
            The most marks in all.

        Returns
        -------
        Block, ndarray or None
            A block of device arrays. Where something is wrong, for each hit how many marks it has, or minus
            its status of `cer_gpu.kernels.forest.cpu_enumerate`. None where there are too many marks.
        """
        units = paths.units_of(self._lists, hits, limit, paths.RANGE, self._stream)
        walked = paths.measure(self._forest, units, self._scratch)
        if walked.worst < 0:
            first = np.flatnonzero(units.table.copy_to_host()[:, LAST])
            return np.minimum.reduceat(walked.marks.copy_to_host(), first)
        return paths.fill(self._forest, walked, marks, self._stream)


def groups_of(weight: np.ndarray, size: int) -> Iterator[tuple[int, int]]:
    """Ranges of items that weigh about `size` together; a heavier item is alone."""
    edges = {0, len(weight)}
    heavy = np.flatnonzero(weight >= size)
    edges.update(heavy.tolist(), (heavy + 1).tolist())
    edges.update(np.flatnonzero(np.diff(np.cumsum(weight) // size)).tolist())
    return pairwise(sorted(edges))
