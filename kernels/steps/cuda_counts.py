"""`cpu_counts` and `cpu_short` on the device: the same bodies, one thread for each unit."""

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.bodies import form_of
from ..device.geometry import LANE, STREAM
from ..device.jit import inlined, kernel
from ..device.words import copied
from ..joins.contract import FoundEnds
from . import cpu_counts as step_counts
from . import cpu_short as step_short
from . import cpu_sums as step_sums
from .contract import ShortTables, StepSegments
from .cpu_short import ShortSums
from .cuda_hits import moved
from .cuda_units import BYTES_OF_ENTRY, VIEWS, counted_room, entered_of, room_of, rooms_of

_of_views = {name: VIEWS[name] for name in ("begin_segment", "all_shown", "neighbour")}
_of_sums = form_of([step_sums.at_most, step_sums.runs_between, step_sums.add_runs])
_used = {name: _of_sums[name] for name in ("runs_between", "add_runs")}
counts_of = form_of([step_counts.counts_body], **_of_views, **_used)["counts_body"]
short_of = form_of(
    [step_short.short_body], begin_segment=VIEWS["begin_segment"], all_shown=VIEWS["all_shown"]
)["short_body"]


@inlined
def _sums_of(array, rooms, unit):
    """The part of an array with a place for each entry, and one more for each state, that a unit has."""
    states = rooms.kept.shape[0]
    low = rooms.entry_first[unit * states] + unit * states
    high = rooms.entry_first[unit * states + states] + (unit + 1) * states
    return array[low:high]


@kernel
def step_counts_kernel(tables, events, units, first, rooms, sums, carries, out_first, out, number):
    """Write the number of complex events at each hit of each unit, -1 from `MOST_RUNS` on.

    ============  ================================  =======================================================
    `tables`      StepTables                        in
    `events`      StepEvents                        in: `symbols` are padded
    `units`       StepSegments                      in
    `first`       int64 [units + 1] or [0]          in: as in `cpu_counts`
    `rooms`       UnitRooms                         scratch
    `sums`        int64 [entries + units * states]  scratch
    `carries`     int32, likewise                   scratch
    `out_first`   int64 [units + 1]                 in: sums of `stop - report`, where hits are to be found
    `out`         FoundEnds                         out: as in `cpu_counts`; of a unit from `out_first` on
    `number`      int64 [units]                     out: how many hits each has
    ============  ================================  =======================================================
    """
    thread = cuda.grid(1)
    given = first.shape[0] > 0
    for unit in range(thread, units.begin.shape[0], rooms.scratch.shape[1]):
        low = np.int64(0) if given else out_first[unit]
        high = np.int64(out.event.shape[0]) if given else out_first[unit + 1]
        own = StepSegments(
            units.begin[unit : unit + 1], units.report[unit : unit + 1], units.stop[unit : unit + 1]
        )
        number[unit] = counts_of(
            tables, events, own, first[unit : unit + 2], room_of(tables, rooms, unit, thread),
            _sums_of(sums, rooms, unit), _sums_of(carries, rooms, unit), entered_of(tables, rooms, thread),
            FoundEnds(out.event[low:high], out.start[low:high]), tables.accepting[:0],
        )  # fmt: skip


@kernel
def step_short_kernel(tables, short, events, units, first, event, lowest, rooms, sums, starts, out):
    """Write the number of complex events in the window of each hit: at most three events each.

    ============  ==================================  ====================================================
    `tables`      StepTables                          in
    `short`       ShortTables                         in
    `events`      StepEvents                          in: `symbols` are padded
    `units`       StepSegments                        in
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
        own = StepSegments(
            units.begin[unit : unit + 1], units.report[unit : unit + 1], units.stop[unit : unit + 1]
        )
        places = entered_of(tables, rooms, thread)
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


def counts(steps, events, units, first=None, event=None, geometry=LANE, stream=STREAM):
    """How many complex events end at each hit of many units, without a window.

    Parameters
    ----------
    steps : DeviceSteps
    events : StepEvents
        Of device arrays; `symbols` are padded uint16.
    units : StepSegments
        Of arrays on the host, at least one unit.
    first : ndarray, shape (units + 1,), int64, optional
        The hits of unit g are first[g] .. first[g + 1] - 1; if not given, they are found.
    event : ndarray, shape (hits,), int64, optional
        Their events.
    geometry, stream : Geometry

    Returns
    -------
    offsets : device array, shape (units + 1,), int64
        The hits of unit g are offsets[g] .. offsets[g + 1] - 1.
    event, number : device array, shape (hits,), int64
        A number is -1 from `MOST_RUNS` on.
    """
    count = len(units.begin)
    there = StepSegments(*map(copied, units))
    none = np.zeros(len(steps.host.view_state), np.uint8)
    counted = counted_room(steps, events.symbols, there, none, False, geometry, stream)
    rooms, blocks = rooms_of(steps, counted, count, False, 1, geometry)
    places = counted.entries + count * len(steps.host.accepting)
    sums, carries = device_array(places, np.int64), device_array(places, np.int32)
    number = device_array(count, np.int64)
    if first is None:
        out_first = np.append(0, np.cumsum(units.stop - units.report)).astype(np.int64)
        given, before = copied(np.empty(0, np.int64)), copied(out_first)
        wide = [device_array(int(out_first[-1]), np.int64) for _ in range(2)]
    else:
        given = before = copied(first)
        wide = [copied(event), device_array(len(event), np.int64)]
    step_counts_kernel[blocks, geometry.threads](
        steps.tables, events, there, given, rooms, sums, carries, before, FoundEnds(*wide), number
    )
    if first is None:
        return moved(wide, before, number, geometry, stream)
    return given, *wide


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
    there = StepSegments(*map(copied, units))
    states, pairs = len(steps.host.accepting), max(len(short.pair_view), 1)
    none = np.zeros(len(steps.host.view_state), np.uint8)
    counted = counted_room(steps, events.symbols, there, none, False, geometry, stream)
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
