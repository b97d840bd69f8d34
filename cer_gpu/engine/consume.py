"""CONSUME BY: what is reported drops the partial matches before it."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.chunk import Chunk
from cer_gpu.engine.hits import Hits
from cer_gpu.engine.lanes import grown
from cer_gpu.kernels import consume
from cer_gpu.plan.compiled import CompiledQuery


class Consumption:
    """What a run has consumed so far.

    Parameters
    ----------
    query : CompiledQuery

    Attributes
    ----------
    floor : int
        The last position that was reported, for CONSUME BY ANY.
    floors : ndarray, shape (lanes,), int64
        The last position that was reported in each lane, for CONSUME BY PARTITION.
    """

    def __init__(self, query: CompiledQuery) -> None:
        self._query = query
        self.floor = -1
        self.floors = np.empty(0, np.int64)

    def left(self, chunk: Chunk, found: Hits) -> Hits:
        """The hits that are left when every report drops the partial matches before it."""
        if self._query.consume == "NONE":
            return found
        positions = chunk.events.positions[found.event]
        order = np.argsort(positions, kind="stable")
        keep = np.empty(len(found), np.uint8)
        floors = np.empty(len(found), np.int64)
        by_partition = self._query.consume == "PARTITION" and len(chunk.events.lanes) > 0
        if by_partition:
            lanes = chunk.events.lanes[found.event].astype(np.int64)
            self.floors = grown(self.floors, chunk.lanes.count, -1)
            consume.consume_partition(
                positions[order], found.latest[order], lanes[order], self.floors, keep, floors
            )
        else:
            self.floor = consume.consume_any(positions[order], found.latest[order], self.floor, keep, floors)
        before = np.empty_like(floors)
        before[order] = floors
        kept = np.empty(len(found), bool)
        kept[order] = keep != 0
        lowest = np.maximum(found.lowest, after(chunk, found.event, before))
        return Hits(found.event[kept], found.latest[kept], lowest[kept])


def after(chunk: Chunk, event: np.ndarray, floors: np.ndarray) -> np.ndarray:
    """For each hit the first event of its lane that comes after a stream position."""
    positions, lanes = chunk.events.positions, chunk.events.lanes
    if not len(event):
        return event
    if not len(lanes):
        return np.searchsorted(positions, floors, side="right")
    # Events ascend by (lane, position): one search over both, packed into one number.
    least = int(positions.min()) - 1
    width = int(positions.max()) - least + 1
    packed = lanes.astype(np.int64) * width + (positions - least)
    wanted = lanes[event].astype(np.int64) * width + np.maximum(floors - least, 0)
    return np.searchsorted(packed, wanted, side="right")
