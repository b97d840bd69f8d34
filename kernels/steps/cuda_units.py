"""Steps on the device: the room in which each thread keeps the entries of its unit.

A unit is a segment, or a part of one that begins one window early. The entries of all units lie one after
another, those of a unit by state, as on the CPU; so the bodies of the CPU run over a unit unchanged. Before a
unit runs, its symbols are counted, which tells how much room its entries need.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.geometry import LANE, STREAM, scratch_blocks
from ..device.jit import inlined, kernel
from ..device.scan import offsets_of
from ..device.words import copied
from ..loop.contract import NEIGHBOUR, EntryRoom
from .contract import StepTables

BYTES_OF_ENTRY = 8
"""Bytes of an entry: its event and its value."""


class DeviceSteps(NamedTuple):
    """An automaton of steps on the device.

    Attributes
    ----------
    tables : StepTables
        Of device arrays.
    host : StepTables
        The same on the host.
    widest, widest_kept : int
        How many states an event may enter at most; and of those that a view shows.
    """

    tables: StepTables
    host: StepTables
    widest: int
    widest_kept: int


class UnitRooms(NamedTuple):
    """Room for the entries of units.

    =============  ===========================  ==============================================================
    `entry_first`  int64 [units * states + 1]   where the entries of each state of each unit begin
    `queue_first`  int64 [units * views + 1]    where the queue of each view of each unit begins
    `kept`         uint8 [states]               as in `EntryRoom`
    `event`        int32 [entries]
    `value`        int32 [entries] or [1]       events of the chunk
    `queue`        int32 [all queues]
    `scratch`      int32 [rows, threads]        what each thread knows of its entries and views
    `entered`      int64 [rows, threads]        what an event enters
    =============  ===========================  ==============================================================
    """

    entry_first: Any
    queue_first: Any
    kept: Any
    event: Any
    value: Any
    queue: Any
    scratch: Any
    entered: Any


@kernel
def step_entries_kernel(tables, symbols, begin, stop, kept, queued, entries, queues):
    """Count the entries that the events of each unit make at most.

    =========  =======================  ==============================================
    `tables`   StepTables               in
    `symbols`  uint16 [padded]          in
    `begin`    int64 [units]            in
    `stop`     int64 [units]            in
    `kept`     uint8 [states]           in: of which states entries are kept
    `queued`   uint8 [views]            in: which views have a queue
    `entries`  int64 [units * states]   out
    `queues`   int64 [units * views]    out: entries that a queue may hold
    =========  =======================  ==============================================
    """
    states = kept.shape[0]
    shown = queued.shape[0]
    for unit in range(cuda.grid(1), begin.shape[0], cuda.gridsize(1)):
        for state in range(states):
            entries[unit * states + state] = 0
        for i in range(begin[unit], stop[unit]):
            symbol = symbols[i]
            for group in range(tables.first[symbol], tables.first[symbol + 1]):
                state = tables.group_state[group]
                entries[unit * states + state] += kept[state]
        for view in range(shown):
            size = entries[unit * states + tables.view_state[view]]
            queues[unit * shown + view] = size if queued[view] else 0


@inlined
def room_of(tables, rooms, unit, thread):
    """The room of a unit, whose entries are numbered from 0 on: `EntryRoom`."""
    states = rooms.kept.shape[0]
    shown = tables.view_state.shape[0]
    own = rooms.scratch[:, thread]
    first = own[: states + 1]
    at = states + 1
    used = own[at : at + states]
    at += states
    queue_first = own[at : at + shown + 1]
    at += shown + 1
    low = rooms.entry_first[unit * states]
    high = rooms.entry_first[unit * states + states]
    for state in range(states + 1):
        first[state] = rooms.entry_first[unit * states + state] - low
    for state in range(states):
        used[state] = first[state]
    queue_low = rooms.queue_first[unit * shown]
    queue_high = rooms.queue_first[unit * shown + shown]
    for view in range(shown + 1):
        queue_first[view] = rooms.queue_first[unit * shown + view] - queue_low
    queue = rooms.queue[queue_low:queue_high]
    return EntryRoom(
        first, rooms.kept, used, rooms.event[low:high], rooms.value[low:high],
        own[at : at + shown], own[at + shown : at + 2 * shown], queue_first, queue,
        own[at + 2 * shown : at + 3 * shown], own[at + 3 * shown : at + 4 * shown],
    )  # fmt: skip


def device_steps(tables):
    """Copy an automaton of steps to the device.

    Parameters
    ----------
    tables : StepTables

    Returns
    -------
    DeviceSteps
    """
    # An array without memory cannot be passed to a kernel: it gets one element.
    host = StepTables(*(part if part.size else np.zeros(1, part.dtype) for part in tables))
    kept = _kept(host)
    groups = np.append(0, np.cumsum(kept[host.group_state]))
    first = tables.first
    return DeviceSteps(
        StepTables(*map(copied, host)),
        host,
        max(int(np.diff(first).max(initial=0)), 1),
        max(int((groups[first[1:]] - groups[first[:-1]]).max(initial=0)), 1),
    )


def _kept(host):
    kept = np.zeros(len(host.accepting), np.uint8)
    kept[host.view_state] = 1
    return kept


def queued_views(host, early):
    """Which views have a queue when their greatest value is wanted: shape (views,), uint8."""
    rises = np.zeros_like(host.view_rises) if early else host.view_rises
    return ((rises == 0) & (host.view_near != NEIGHBOUR)).astype(np.uint8)


class NeededRoom(NamedTuple):
    """The room that units need: device arrays, and the lengths of the arrays that hold it.

    ==============  ===========================  ================================
    `entry_first`   int64 [units * states + 1]   as in `UnitRooms`
    `queue_first`   int64 [units * views + 1]
    `kept`          uint8 [states]
    `entries`       int
    `queues`        int
    ==============  ===========================  ================================
    """

    entry_first: Any
    queue_first: Any
    kept: Any
    entries: int
    queues: int


def counted_room(steps, symbols, units, queued, geometry=LANE, stream=STREAM):
    """Count the entries and the places of queues that units need: `NeededRoom`.

    Parameters
    ----------
    steps : DeviceSteps
    symbols : device array, shape (padded events,), uint16
    units : LoopSegments
        Of device arrays.
    queued : ndarray, shape (views,), uint8
        Which views have a queue.
    geometry, stream : Geometry
    """
    count = units.begin.shape[0]
    kept = copied(_kept(steps.host))
    states, shown = kept.shape[0], len(queued)
    entries, queues = (device_array(count * each, np.int64) for each in (states, shown))
    step_entries_kernel[geometry.blocks(count), geometry.threads](
        steps.tables, symbols, units.begin, units.stop, kept, copied(queued), entries, queues
    )
    firsts = [offsets_of(numbers, stream) for numbers in (entries, queues)]
    lengths = [int(first[first.shape[0] - 1]) for first in firsts]
    return NeededRoom(*firsts, kept, *lengths)


def rooms_of(steps, counted, units, valued, columns=1, geometry=LANE):
    """Room for the entries of units, and how many blocks to launch.

    Parameters
    ----------
    steps : DeviceSteps
    counted : NeededRoom
    units : int
    valued : bool
        Whether entries have values.
    columns : int
        Numbers for each state that an event enters.
    geometry : Geometry

    Returns
    -------
    rooms : UnitRooms
    blocks : int
    """
    states, shown = len(steps.host.accepting), len(steps.host.view_state)
    rows, entered = 2 * states + 5 * shown + 2, columns * steps.widest
    blocks = scratch_blocks(units, rows + entered, geometry)
    threads = blocks * geometry.threads
    rooms = UnitRooms(
        counted.entry_first,
        counted.queue_first,
        counted.kept,
        device_array(max(counted.entries, 1), np.int32),
        device_array(max(counted.entries, 1) if valued else 1, np.int32),
        device_array(max(counted.queues, 1), np.int32),
        device_array((rows, threads), np.int32),
        device_array((entered, threads), np.int64),
    )
    return rooms, blocks
