"""`cpu_hits` on the device: the same body, one thread for each unit.

A unit first writes its hits as if every event were one; then the hits of all units are moved together. So a
unit runs only once.
"""

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.bodies import on_device
from ..device.geometry import LANE, STREAM
from ..device.jit import kernel
from ..device.words import copied
from ..loop.contract import FoundEnds, LoopSegments
from ..loop.cuda import moved, progress_for, segment_of
from ..windows.contract import MeasuredWindow, comparable
from . import cpu_hits as step_hits
from .cuda_units import (
    BYTES_OF_ENTRY,
    counted_room,
    queued_views,
    room_of,
    rooms_of,
)

latest_of, earliest_of = on_device(step_hits.latest_ends), on_device(step_hits.earliest_ends)


@kernel
def step_hits_kernel(tables, events, window, units, early, rooms, out_first, out, progress, number):
    """Find the hits of each unit; unit u writes from `out_first[u]` on.

    ============  ===================  ======================================================
    `tables`      StepTables           in
    `events`      StepEvents           in: `symbols` are padded
    `window`      MeasuredWindow       in
    `units`       LoopSegments         in
    `early`       bool                 in: whether the earliest start of each is asked for
    `rooms`       UnitRooms            scratch
    `out_first`   int64 [units + 1]    in: sums of `stop - report`
    `out`         FoundEnds            out: of all events that are reported
    `progress`    int64 [units, WORDS] in/out: zeros at first
    `number`      int64 [units]        out: how many hits each has
    ============  ===================  ======================================================
    """
    thread = cuda.grid(1)
    for unit in range(thread, units.begin.shape[0], rooms.scratch.shape[1]):
        low = out_first[unit]
        high = out_first[unit + 1]
        own = segment_of(units, unit)
        room = room_of(tables, rooms, unit, thread)
        entered = rooms.entered[:, thread]
        found = FoundEnds(out.event[low:high], out.start[low:high])
        none = tables.accepting[:0]
        if early:
            number[unit] = earliest_of(
                tables, events, window, own, room, entered, found, progress[unit], none
            )
        else:
            number[unit] = latest_of(tables, events, window, own, room, entered, found, progress[unit], none)


def bytes_of_hits(steps, events, reported):
    """Bytes that each unit takes on the device, at most: shape (units,), int64.

    Parameters
    ----------
    steps : DeviceSteps
    events, reported : ndarray, shape (units,), int64
        How many events each unit has, and how many it reports.
    """
    queue = 4 * len(steps.host.view_state)
    return (BYTES_OF_ENTRY * steps.widest_kept + queue) * events + 32 * reported


def hits(steps, events, keys, size, units, early=False, geometry=LANE, stream=STREAM):
    """The hits of many units, in their order: `cpu_hits.hits` on the device.

    Parameters
    ----------
    steps : DeviceSteps
    events : StepEvents
        Of device arrays; `symbols` are padded uint16.
    keys : device array, shape (events,) or (0,), uint64 or float64
        Made `comparable`; empty without a window.
    size : int or float
    units : LoopSegments
        Of arrays on the host, at least one unit.
    early : bool, optional
        As for `cpu_hits.hits`.
    geometry, stream : Geometry

    Returns
    -------
    offsets : device array, shape (units + 1,), int64
        The hits of unit g are offsets[g] .. offsets[g + 1] - 1.
    event, start : device array, shape (hits,), int64
    """
    count = len(units.begin)
    out_first = np.append(0, np.cumsum(units.stop - units.report)).astype(np.int64)
    there = LoopSegments(*map(copied, units))
    queued = queued_views(steps.host, early)
    counted = counted_room(steps, events.symbols, there, queued, geometry, stream)
    rooms, blocks = rooms_of(steps, counted, count, True, 1, geometry)
    tables = steps.tables
    if early:
        tables = tables._replace(view_rises=copied(np.zeros_like(steps.host.view_rises)))
    _, size = comparable(np.empty(0, keys.dtype), size)
    before, number = copied(out_first), device_array(count, np.int64)
    wide = [device_array(int(out_first[-1]), np.int64) for _ in range(2)]
    step_hits_kernel[blocks, geometry.threads](
        tables,
        events,
        MeasuredWindow(keys, size),
        there,
        early,
        rooms,
        before,
        FoundEnds(*wide),
        progress_for(count),
        number,
    )
    return moved(wide, before, number, geometry, stream)
