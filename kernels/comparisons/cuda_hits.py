"""`cpu_hits` on the device: the same body, one thread for each segment.

A segment first writes its hits as if every event that it reports were a hit; then the hits of all segments
are moved together. So a segment runs only once.
"""

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.bodies import on_device
from ..device.geometry import LANE, STREAM
from ..device.jit import kernel
from ..device.words import copied
from ..loop.contract import FoundEnds
from ..loop.cuda import moved
from ..windows.contract import MeasuredWindow, comparable
from . import cpu_hits
from .cuda_units import rooms_of, run_of
from .index import StartRoom

latest_of = on_device(cpu_hits.latest_ends)


@kernel
def compared_hits_kernel(tables, events, window, segments, arranged, runs, rooms, out_first, out, number):
    """Find the hits of each segment; segment g writes from `out_first[g]` on.

    ============  ======================  =============================================
    `tables`      ComparedTables          in
    `events`      PairedEvents            in
    `window`      MeasuredWindow          in
    `segments`    ComparedSegments        in
    `arranged`    Arranged                in
    `runs`        PairRuns                in: the segments
    `rooms`       PairRooms               scratch: `best` int64 [orders, 2 rows]
    `out_first`   int64 [segments + 1]    in: sums of `stop - report`
    `out`         FoundEnds               out: of all events that are reported
    `number`      int64 [segments]        out: how many hits each has
    ============  ======================  =============================================
    """
    thread = cuda.grid(1)
    for g in range(thread, segments.begin.shape[0], rooms.last.shape[0]):
        low = out_first[g]
        high = out_first[g + 1]
        room = StartRoom(arranged, segments, rooms.here[thread], rooms.best, rooms.last[thread])
        number[g] = latest_of(
            tables, events, window, run_of(runs, g), room, rooms.entered[thread],
            FoundEnds(out.event[low:high], out.start[low:high]), rooms.progress[g], tables.accepting[:0],
        )  # fmt: skip


def hits(pairs, keys, size, geometry=LANE, stream=STREAM):
    """The hits of many segments, in their order: `cpu_hits.hits` on the device.

    Parameters
    ----------
    pairs : DevicePairs
    keys : ndarray, shape (events,) or (0,), int64 or float64
        What the window measures; empty without a window.
    size : int or float
    geometry, stream : Geometry

    Returns
    -------
    event, start : device array, shape (hits,), int64
    """
    capacity = pairs.capacity
    window = comparable(keys, size)
    rooms, blocks = rooms_of(pairs, 2, np.int64, False, geometry)
    wide = [device_array(int(capacity[-1]), np.int64) for _ in range(2)]
    before, number = copied(capacity), device_array(len(pairs.bounds.begin), np.int64)
    compared_hits_kernel[blocks, geometry.threads](
        pairs.tables, pairs.events, MeasuredWindow(copied(window.keys), window.size), pairs.segments,
        pairs.arranged, pairs.runs, rooms, before, FoundEnds(*wide), number,
    )  # fmt: skip
    _, event, start = moved(wide, before, number, geometry, stream)
    return event, start
