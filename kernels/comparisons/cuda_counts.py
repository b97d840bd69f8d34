"""`cpu_counts` on the device: the same bodies, one thread for each segment."""

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.bodies import on_device
from ..device.geometry import LANE, STREAM
from ..device.jit import kernel
from ..device.words import copied
from ..loop.contract import FoundEnds
from ..loop.cuda import moved, no_window
from ..windows.contract import MeasuredWindow, comparable
from . import cpu_counts
from .contract import ArrangedEntries, ComparedSegments, shallow
from .cuda_units import rooms_of, run_of
from .index import CountRoom

counts_of = on_device(cpu_counts.count_ends)
shallow_of = on_device(cpu_counts.shallow_body)


@kernel
def compared_counts_kernel(tables, events, window, segments, arranged, runs, rooms, out_first, out, number):
    """Count the complex events of each segment without a window; segment g writes from `out_first[g]` on.

    ============  ======================  ====================================================
    `tables`      ComparedTables          in
    `events`      PairedEvents            in
    `window`      MeasuredWindow          in: none
    `segments`    ComparedSegments        in
    `arranged`    Arranged                in
    `runs`        PairRuns                in: the segments
    `rooms`       PairRooms               scratch: `best` int64 [orders, 2 rows]
    `out_first`   int64 [segments + 1]    in: sums of `stop - report`
    `out`         FoundEnds               out: ends and numbers, -1 where one may not fit
    `number`      int64 [segments]        out: how many ends each has
    ============  ======================  ====================================================
    """
    thread = cuda.grid(1)
    for g in range(thread, segments.begin.shape[0], rooms.last.shape[0]):
        for order in range(rooms.best.shape[0]):
            for row in range(2 * segments.base[g], 2 * segments.base[g + 1]):
                rooms.best[order, row] = 0
                rooms.near[order, row] = 0.0
        low = out_first[g]
        high = out_first[g + 1]
        room = CountRoom(arranged, segments, rooms.here[thread], rooms.best, rooms.near, rooms.last[thread])
        number[g] = counts_of(
            tables, events, window, run_of(runs, g), room, rooms.entered[thread],
            FoundEnds(out.event[low:high], out.start[low:high]), rooms.progress[g], tables.accepting[:0],
        )  # fmt: skip


@kernel
def compared_short_kernel(tables, events, window, segments, arranged, rooms, out_first, out, number):
    """Count the complex events of one or two events in the window, of each segment; as the kernel above.

    ============  ======================  ====================================================
    `tables`      ComparedTables          in: `shallow`
    `events`      PairedEvents            in
    `window`      MeasuredWindow          in
    `segments`    ComparedSegments        in
    `arranged`    Arranged                in
    `rooms`       PairRooms               scratch: `best` int32 [orders, rows]
    `out_first`   int64 [segments + 1]    in: sums of `stop - report`
    `out`         FoundEnds               out: ends and numbers
    `number`      int64 [segments]        out: how many ends each has
    ============  ======================  ====================================================
    """
    thread = cuda.grid(1)
    for g in range(thread, segments.begin.shape[0], rooms.last.shape[0]):
        own = ComparedSegments(
            segments.begin[g : g + 1], segments.report[g : g + 1], segments.stop[g : g + 1],
            segments.base[g : g + 2],
        )  # fmt: skip
        orders = ArrangedEntries(arranged.size[:, g : g + 1], arranged.slot, arranged.word, arranged.rank)
        low = out_first[g]
        high = out_first[g + 1]
        number[g] = shallow_of(
            tables, events, window, own, orders, out_first[:0], out_first[:0], rooms.best,
            rooms.last[thread, :, 0], FoundEnds(out.event[low:high], out.start[low:high]),
            tables.accepting[:0],
        )  # fmt: skip


def counted_ends(pairs, keys, size, geometry=LANE, stream=STREAM):
    """Where complex events end in many segments, and how many: `cpu_counts.counted_ends` on the device.

    Parameters
    ----------
    pairs : DevicePairs
    keys : ndarray, shape (events,) or (0,), int64 or float64
        What the window measures; empty without a window, as it must be unless the automaton is `shallow`.
    size : int or float
    geometry, stream : Geometry

    Returns
    -------
    event : device array, shape (ends,), int64
    number : device array, shape (ends,), int64
        -1 where it may not fit.
    """
    capacity, count = pairs.capacity, len(pairs.bounds.begin)
    wide = [device_array(int(capacity[-1]), np.int64) for _ in range(2)]
    before, number = copied(capacity), device_array(count, np.int64)
    given = pairs.tables, pairs.events
    if shallow(pairs.host):
        window = comparable(keys, size)
        rooms, blocks = rooms_of(pairs, 1, np.int32, False, geometry)
        compared_short_kernel[blocks, geometry.threads](
            *given, MeasuredWindow(copied(window.keys), window.size), pairs.segments, pairs.arranged, rooms,
            before, FoundEnds(*wide), number,
        )  # fmt: skip
    else:
        rooms, blocks = rooms_of(pairs, 2, np.int64, True, geometry)
        compared_counts_kernel[blocks, geometry.threads](
            *given, no_window(), pairs.segments, pairs.arranged, pairs.runs,
            rooms, before, FoundEnds(*wide), number,
        )  # fmt: skip
    _, event, found = moved(wide, before, number, geometry, stream)
    return event, found
