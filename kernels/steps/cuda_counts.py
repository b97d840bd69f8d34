"""`cpu_counts` and `cpu_short_chains` on the device: the same bodies, one thread for each unit."""

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.bodies import on_device
from ..device.geometry import LANE, STREAM
from ..device.jit import inlined, kernel
from ..device.words import copied
from ..loop.contract import FoundEnds, LoopSegments
from ..loop.cuda import moved, no_window, progress_for, segment_of
from ..loop.gaps import SumRoom
from . import cpu_counts as step_counts
from . import cpu_short_chains as step_short
from .contract import ShortTables
from .cpu_short_chains import ShortSums
from .cuda_units import (
    BYTES_OF_ENTRY,
    counted_room,
    room_of,
    rooms_of,
)

counts_of, short_of = on_device(step_counts.count_ends), on_device(step_short.short_body)


@inlined
def _sums_of(array, rooms, unit):
    """The part of an array with a place for each entry, and one more for each state, that a unit has."""
    states = rooms.kept.shape[0]
    low = rooms.entry_first[unit * states] + unit * states
    high = rooms.entry_first[unit * states + states] + (unit + 1) * states
    return array[low:high]


@kernel
def step_counts_kernel(tables, events, window, units, rooms, sums, carries, out_first, out, progress, number):
    """Write the number of complex events at each end of each unit, -1 from `MOST_RUNS` on.

    ============  ================================  =======================================================
    `tables`      StepTables                        in
    `events`      StepEvents                        in: `symbols` are padded
    `window`      MeasuredWindow                    in: none
    `units`       LoopSegments                      in
    `rooms`       UnitRooms                         scratch
    `sums`        int64 [entries + units * states]  scratch
    `carries`     int32, likewise                   scratch
    `out_first`   int64 [units + 1]                 in: sums of `stop - report`
    `out`         FoundEnds                         out: unit u writes from `out_first[u]` on
    `progress`    int64 [units, WORDS]              in/out: zeros at first
    `number`      int64 [units]                     out: how many ends each has
    ============  ================================  =======================================================
    """
    thread = cuda.grid(1)
    for unit in range(thread, units.begin.shape[0], rooms.scratch.shape[1]):
        low = out_first[unit]
        high = out_first[unit + 1]
        room = SumRoom(
            room_of(tables, rooms, unit, thread), _sums_of(sums, rooms, unit), _sums_of(carries, rooms, unit)
        )
        number[unit] = counts_of(
            tables, events, window, segment_of(units, unit), room, rooms.entered[:, thread],
            FoundEnds(out.event[low:high], out.start[low:high]), progress[unit], tables.accepting[:0],
        )  # fmt: skip


@kernel
def step_short_kernel(tables, short, events, units, first, event, lowest, rooms, sums, starts, out):
    """Write the number of complex events in the window of each hit: at most three events each.

    ============  ==================================  ====================================================
    `tables`      StepTables                          in
    `short`       ShortTables                         in
    `events`      StepEvents                          in: `symbols` are padded
    `units`       LoopSegments                        in
    `first`       int64 [units + 1]                   in: the hits of unit g are first[g] .. first[g + 1] - 1
    `event`       int64 [hits]                        in
    `lowest`      int64 [hits]                        in
    `rooms`       UnitRooms                           scratch
    `sums`        int64 [4 pairs, places]             scratch: `low`, `high`, `highs`, `all` of `ShortSums`
    `starts`      int64 [places]                      scratch
    `out`         int64 [hits]                        out
    ============  ==================================  ====================================================

    There is a place for each entry, and one more for each state of each unit.
    """
    thread = cuda.grid(1)
    states = rooms.kept.shape[0]
    pairs = short.pair_view.shape[0]
    for unit in range(thread, units.begin.shape[0], rooms.scratch.shape[1]):
        low = rooms.entry_first[unit * states] + unit * states
        high = rooms.entry_first[unit * states + states] + (unit + 1) * states
        own = segment_of(units, unit)
        places = rooms.entered[:, thread]
        mine = ShortSums(
            sums[:pairs, low:high], sums[pairs : 2 * pairs, low:high], sums[2 * pairs : 3 * pairs, low:high],
            sums[3 * pairs :, low:high], starts[low:high], places[:pairs], places[pairs : 2 * pairs],
            places[2 * pairs : 2 * pairs + states],
        )  # fmt: skip
        short_of(
            tables, short, events, own, first[unit : unit + 2], event, lowest,
            room_of(tables, rooms, unit, thread), mine, out, tables.accepting[:0],
        )  # fmt: skip


def bytes_of_counts(steps, events, reported):
    """Bytes that each unit takes on the device while it is counted: shape (units,), int64.

    Parameters
    ----------
    steps : DeviceSteps
    events, reported : ndarray, shape (units,), int64
        How many events each unit has, and how many it reports.
    """
    return 16 * (steps.widest_kept * events + len(steps.host.accepting)) + 32 * reported


def bytes_of_short(steps, short, events, reported):
    """The same for `short_counts`."""
    place = BYTES_OF_ENTRY + 8 + 32 * max(len(short.pair_view), 1)
    return place * (steps.widest_kept * events + len(steps.host.accepting)) + 32 * reported


def counts(steps, events, units, geometry=LANE, stream=STREAM):
    """How many complex events end at each end of many units, without a window.

    Parameters
    ----------
    steps : DeviceSteps
    events : StepEvents
        Of device arrays; `symbols` are padded uint16.
    units : LoopSegments
        Of arrays on the host, at least one unit.
    geometry, stream : Geometry

    Returns
    -------
    offsets : device array, shape (units + 1,), int64
        The ends of unit g are offsets[g] .. offsets[g + 1] - 1.
    event, number : device array, shape (ends,), int64
        A number is -1 from `MOST_RUNS` on.
    """
    count = len(units.begin)
    there = LoopSegments(*map(copied, units))
    none = np.zeros(len(steps.host.view_state), np.uint8)
    counted = counted_room(steps, events.symbols, there, none, geometry, stream)
    rooms, blocks = rooms_of(steps, counted, count, False, 1, geometry)
    places = counted.entries + count * len(steps.host.accepting)
    sums, carries = device_array(places, np.int64), device_array(places, np.int32)
    number = device_array(count, np.int64)
    before = copied(np.append(0, np.cumsum(units.stop - units.report)).astype(np.int64))
    wide = [device_array(int((units.stop - units.report).sum()), np.int64) for _ in range(2)]
    window = no_window(steps.host.view_low.dtype)
    step_counts_kernel[blocks, geometry.threads](
        steps.tables, events, window, there, rooms, sums, carries, before, FoundEnds(*wide),
        progress_for(count), number,
    )  # fmt: skip
    return moved(wide, before, number, geometry, stream)


def short_counts(steps, short, events, units, first, event, lowest, geometry=LANE, stream=STREAM):
    """How many complex events in their window end at each hit: a device array, shape (hits,), int64.

    Parameters
    ----------
    steps, events, units, first, event
        As for `counts`; all are given.
    short : ShortTables
        From `short_tables`.
    lowest : ndarray, shape (hits,), int64
        The least event at which a complex event may start; it does not fall in a unit.
    """
    count = len(units.begin)
    there = LoopSegments(*map(copied, units))
    states, pairs = len(steps.host.accepting), max(len(short.pair_view), 1)
    none = np.zeros(len(steps.host.view_state), np.uint8)
    counted = counted_room(steps, events.symbols, there, none, geometry, stream)
    rooms, blocks = rooms_of(steps, counted, count, False, 2 * pairs + states, geometry)
    places = counted.entries + count * states
    sums, starts = device_array((4 * pairs, places), np.int64), device_array(places, np.int64)
    own = ShortTables(*(copied(part if part.size else np.zeros(1, part.dtype)) for part in short))
    out = device_array(len(event), np.int64)
    ends = copied(first), copied(event), copied(lowest)
    step_short_kernel[blocks, geometry.threads](
        steps.tables, own, events, there, *ends, rooms, sums, starts, out
    )
    return out
