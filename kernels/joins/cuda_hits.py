"""`cpu_hits` on the device: the same body, one thread for each unit.

A unit first writes its hits as if every event were one; then the hits of all units are moved together. So the
join runs only once: running it twice, first to count, would cost more than this memory.
"""

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.bodies import on_device
from ..device.geometry import LANE, STREAM, scratch_blocks
from ..device.jit import device, kernel
from ..device.words import copied
from ..loop.contract import FoundEnds, LoopSegments
from ..loop.cuda import moved, progress_for, segment_of
from ..loop.follow import WORDS
from ..windows.contract import MeasuredWindow, comparable
from . import cpu_hits as join_hits
from .contract import KeyedEvents
from .cuda_cells import BYTES, KEY, VALUE, claimed, clear, first_of, found, room_for
from .index import StartTable


@device
def _found(room, events, entry, slot):
    return found(room.owner, entry, slot)


@device
def _claimed(room, events, entry, slot):
    return claimed(room.owner, entry, slot)


latest_of = on_device(join_hits.latest_ends, found_start=_found, claimed_start=_claimed)


@kernel
def join_hits_kernel(tables, events, window, segments, cells, out_first, entered, progress, out, number):
    """Find the hits of each unit; unit u writes from `out_first[u]` on.

    ============  =================================  =====================================================
    `tables`      HashTables                         in
    `events`      KeyedEvents                        in: `symbols` are padded, and `offset` int64 [units + 1]
                                                     is where the cells of each unit begin
    `window`      MeasuredWindow                     in
    `segments`    LoopSegments                       in: the units
    `cells`       int64 [cells, words]               scratch
    `out_first`   int64 [units + 1]                  in: sums of `stop - report`
    `entered`     int64 [threads, transitions]       scratch
    `progress`    int64 [units, WORDS + 1]           scratch: zeros at first
    `out`         FoundEnds                          out: of all events that are reported
    `number`      int64 [units]                      out: how many hits each has
    ============  =================================  =====================================================
    """
    thread = cuda.grid(1)
    last = cells.shape[1] - 1
    for unit in range(thread, number.shape[0], entered.shape[0]):
        own = cells[events.offset[unit] : events.offset[unit + 1]]
        clear(own)
        held = StartTable(own[:, VALUE], own[:, KEY], own[:, last], progress[unit, WORDS:])
        low = out_first[unit]
        high = out_first[unit + 1]
        number[unit] = latest_of(
            tables, events, window, segment_of(segments, unit), held, entered[thread],
            FoundEnds(out.event[low:high], out.start[low:high]), progress[unit], tables.accepting[:0],
        )  # fmt: skip


def bytes_of_hits(join, cells, reported):
    """Bytes of device memory that each unit takes: shape (units,), int64.

    Parameters
    ----------
    join : DeviceJoin
    cells : ndarray, shape (units,), int64
        From `cells_of`.
    reported : ndarray, shape (units,), int64
        How many events each unit reports.
    """
    return BYTES * (join.words * cells + 4 * reported)


def hits(join, symbols, slots, places, keys, size, begin, report, stop, cells, geometry=LANE, stream=STREAM):
    """The hits of many units, in their order: `cpu_hits.hits` on the device.

    Parameters
    ----------
    join : DeviceJoin
    symbols : device array, shape (padded events,), uint8 or uint16
    slots : device array, shape (columns, events), int32
    places : device array, shape (events,) or (0,), int64
    keys : device array, shape (events,) or (0,), uint64 or float64
        Made `comparable`.
    size : int or float
    begin, report, stop : ndarray, shape (units,), int64
        At least one unit.
    cells : ndarray, shape (units,), int64
        From `cells_of`.
    geometry, stream : Geometry

    Returns
    -------
    offsets : device array, shape (units + 1,), int64
        The hits of unit g are offsets[g] .. offsets[g + 1] - 1.
    event, latest_start : device array, shape (hits,), int64
    """
    units = len(begin)
    cell_first, out_first = first_of(cells), first_of(stop - report)
    blocks = scratch_blocks(units, max(join.n_fired, 1), geometry)
    entered = device_array((blocks * geometry.threads, max(join.n_fired, 1)), np.int64)
    progress = progress_for(units, 1)
    _, size = comparable(np.empty(0, keys.dtype), size)
    segments = LoopSegments(*(copied(part) for part in (begin, report, stop)))
    events = KeyedEvents(symbols, slots, places, copied(cell_first))
    before, number = copied(out_first), device_array(units, np.int64)
    wide = [device_array(int(out_first[-1]), np.int64) for _ in range(2)]
    join_hits_kernel[blocks, geometry.threads](
        join.tables, events, MeasuredWindow(keys, size), segments,
        room_for(int(cell_first[-1]), join.words), before, entered, progress, FoundEnds(*wide), number,
    )  # fmt: skip
    return moved(wide, before, number, geometry, stream)
