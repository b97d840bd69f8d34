"""CONSUME BY: a reported complex event drops the partial matches before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.lanes import HeldLanes, LaneState, grown, moved
from cer_gpu.kernels.consume import cpu as consume
from cer_gpu.kernels.sorting.order import ascending
from cer_gpu.plan.compiled_query import CompiledQuery

if TYPE_CHECKING:
    from cer_gpu.engine.machines.suppress import Suppression


class Consumption(HeldLanes):
    """The positions up to which a run has consumed.

    Parameters
    ----------
    query : CompiledQuery

    Attributes
    ----------
    floor : int
        The last position that was reported, for CONSUME BY ANY.
    floors : ndarray, shape (lanes,), int64
        The last position that was reported in each lane, for CONSUME BY PARTITION.
    suppression : Suppression or None
        Which ends are suppressed, and so consume nothing.
    """

    def __init__(self, query: CompiledQuery) -> None:
        self._query = query
        self.floor = -1
        self.floors = np.empty(0, np.int64)
        self.suppression: Suppression | None = None
        if query.suppress is not None and query.consume != "NONE":
            from cer_gpu.engine.machines.suppress import Suppression  # few queries need it

            self.suppression = Suppression(query.suppress)

    def held(self) -> np.ndarray:
        """If a lane has no events, those that a report dropped are gone; but it may suppress others."""
        return np.empty(0, np.int64) if self.suppression is None else self.suppression.held()

    def keep(self, used: np.ndarray, numbers: np.ndarray, count: int) -> None:
        """Forget all lanes but those in `used`; these have the given numbers from now on."""
        if len(self.floors):
            self.floors = moved(self.floors, used, numbers, count, -1)
        if self.suppression is not None:
            self.suppression.keep(used, numbers, count)

    def rows(self, lanes: np.ndarray) -> dict[str, np.ndarray]:
        """What some lanes suppress."""
        return {} if self.suppression is None else self.suppression.rows(lanes)

    def put(self, lanes: np.ndarray, rows: dict[str, np.ndarray], count: int) -> None:
        """Restore what `rows` returned."""
        if self.suppression is not None:
            self.suppression.put(lanes, rows, count)

    def left(self, chunk: Chunk, found: Ends) -> Ends:
        """The hits that are left when every report drops the partial matches before it."""
        if self._query.consume == "NONE":
            return found
        if self.suppression is not None and not len(found):
            return found
        positions = chunk.events.positions[found.event]
        if self.suppression is not None:
            keep, floors = self._suppressed(self.suppression, chunk, found, positions)
        elif self._query.consume == "PARTITION" and len(chunk.events.lanes):
            lanes = chunk.events.lanes[found.event].astype(np.int64)
            self.floors = grown(self.floors, chunk.lanes.count, -1)
            keep, floors = self._by_lane(positions, found.latest, lanes)
        else:
            keep, floors = self._in_stream(positions, found.latest)
        lowest = np.maximum(found.lowest, after(chunk, found.event, floors))
        kept = keep != 0
        return Ends(found.event[kept], found.latest[kept], lowest[kept])

    def _suppressed(
        self, suppression: Suppression, chunk: Chunk, found: Ends, positions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same where ends are suppressed, which then drop nothing."""
        from cer_gpu.kernels.suppress.cpu import suppress_consuming  # few queries need it

        by_lane = self._query.consume == "PARTITION" and len(chunk.events.lanes) > 0
        floors = np.array([self.floor])
        if by_lane:
            floors = self.floors = grown(self.floors, chunk.lanes.count, -1)
        keep, before = np.empty(len(positions), np.uint8), np.empty(len(positions), np.int64)
        judged = suppression.judged(chunk.events, found.event, self._query.in_stream_order)
        suppress_consuming(*judged, positions, found.latest, by_lane, floors, keep, before)
        if not by_lane:
            self.floor = int(floors[0])
        return keep, before

    def _by_lane(
        self, positions: np.ndarray, latest: np.ndarray, lanes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Which hits are kept, and the floor for each; the hits ascend lane by lane."""
        keep, floors = np.empty(len(lanes), np.uint8), np.empty(len(lanes), np.int64)
        consume.consume_partition(positions, latest, lanes, self.floors, keep, floors)
        return keep, floors

    def _in_stream(self, positions: np.ndarray, latest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same for the whole stream: the hits are first put in its order."""
        order = ascending(positions)
        keep, floors = np.empty(len(order), np.uint8), np.empty(len(order), np.int64)
        self.floor = consume.consume_any(positions[order], latest[order], self.floor, keep, floors)
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return keep[back], floors[back]


class ConsumeRunner:
    """Part of a `MachineRunner`: keeps for each lane what is consumed, and nothing else.

    Attributes
    ----------
    consumption : Consumption
    """

    consumption: Consumption
    ungrouped = False

    @property
    def states(self) -> tuple[LaneState, ...]:
        """The state that the runner keeps for each lane."""
        return (self.consumption,)

    def read(self, events: EventArrays) -> EventArrays:
        """New events, unchanged."""
        return events


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
