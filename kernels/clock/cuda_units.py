"""Automata with one clock on the device: the bodies of the CPU, the scratch of threads, the arenas of units.

A **unit** is a segment of events of one lane, whose runs one thread follows from its first event on: the
lists of the CPU are then those of a single lane. Its events are neighbours in memory, so the next event in
memory is the next event of the lane, and an event's own number is its serial number.

A unit writes its nodes into its own part of one arena, which has room for a given number of nodes for each
event. Where that is not enough, the host makes the arena larger and runs the units again.
"""

from typing import Any, NamedTuple

import numpy as np

from ..device.arrays import device_array
from ..device.bodies import on_device
from ..device.geometry import scratch_blocks
from ..device.jit import device
from ..device.words import copied
from ..forest import cpu_nodes as lists
from ..streams.contract import StreamEvents
from . import cpu_counts, cpu_stream
from .contract import COLUMNS, ClockedEvents, ClockTables

SPINE = 64
"""No heap of a unit has a right spine of half this length: a unit has less than 2^31 events."""

STACK = 512
"""Room for the nodes that a walk still has to visit; where it needs more, the CPU counts."""

TABLE = 1 << 10
"""Rows of the table of unions that are counted for one end: at most half of them are used."""

NODES_OF_EVENT = 8
"""Nodes for each event and transition of a unit that there is room for at first."""


@device
def _aged(clocked, lanes, event, lane, sense, least):
    """As `cpu_stream._aged`, where the next event of the lane is the next one."""
    now = clocked.times[event]
    for c in range(clocked.constants.shape[0]):
        near = lanes.near[lane, c]
        if near < 0:
            near = event
        if sense > 0:
            while near != event and not now - clocked.times[near] <= clocked.constants[c]:
                near += 1
            least[c] = near
        else:
            while near != event and now - clocked.times[near] >= clocked.constants[c]:
                near += 1
            least[c] = 1 - near
        lanes.near[lane, c] = near


@device
def _nothing(bounds, event, lane, consumes):
    """As `streams.cpu.consume`, where a query consumes nothing."""


follow = on_device(cpu_stream.follow, SPINE=SPINE, _aged=_aged, consume=_nothing)
count_exactly = on_device(cpu_counts.count_exactly)


class ClockUnits(NamedTuple):
    """Segments that run on their own, each in events that are neighbours: int64, shape (units,).

    ==========  ===================================================================
    `begin`     the first event
    `report`    the first event whose end is reported
    `stop`      one past the last event
    `base`      [units + 1]: the nodes of unit u are base[u] .. base[u + 1] - 1
    `first`     [units + 1]: sums of `stop - report`, where a unit writes what ends
    ==========  ===================================================================
    """

    begin: Any
    report: Any
    stop: Any
    base: Any
    first: Any


class ClockRooms(NamedTuple):
    """Scratch of units and of threads: int64, but for `label`, `near`, `never`.

    ===========  ==========================================  =================================================
    `arena`      [nodes, COLUMNS]                            the nodes of all units
    `slots`      [threads, 2 n_live + 3, ITEM + n_live + 2]  as in `ClockedScratch`, as the next four
    `states`     [threads, cpu_nodes.ROWS, 2 n_live + 3]
    `least`      [threads, constants]
    `pieces`     [threads, 2, SPINE]
    `stack`      [threads, 2, STACK]
    `near`       [threads, 1, constants]                     as in `ClockedLanes`
    `bounds`     [threads, 4, 1]                             `LaneBounds` of the unit's lane
    `lists`      [threads, 2, 4]                             `PackedLists`, which hold nothing
    `progress`   [threads, WORDS]
    `nodes`      [threads, transitions]                      the roots of an end
    `labels`     int32 [threads, transitions]
    `root`       [threads, 2]                                where the roots of an end begin, and how many
    `ends`       [threads, 3, 1]                             `StreamEnds` of an event
    `counted`    [threads, 1]                                which end is counted
    `table`      [threads, TABLE, FIELDS]                    as in `count_exactly`, as the next one
    `frames`     [threads, STACK, FRAME]
    `never`      uint8 [1]                                   no run on a device is interrupted
    ===========  ==========================================  =================================================
    """

    arena: Any
    slots: Any
    states: Any
    least: Any
    pieces: Any
    stack: Any
    near: Any
    bounds: Any
    lists: Any
    progress: Any
    nodes: Any
    labels: Any
    root: Any
    ends: Any
    counted: Any
    table: Any
    frames: Any
    never: Any


class DeviceClock(NamedTuple):
    """An automaton and its events on the device.

    ============  =================  ===============================================
    `tables`      ClockTables        of device arrays, as the next two
    `events`      StreamEvents       without lanes; `symbols` are uint16
    `clocked`     ClockedEvents      `serial` numbers the events; `following` is empty
    `host`        ClockTables        of arrays on the host
    ============  =================  ===============================================
    """

    tables: Any
    events: Any
    clocked: Any
    host: ClockTables


def device_clock(tables, constants, symbols, times, measured):
    """Copy an automaton and its events to the device: `DeviceClock`.

    Parameters
    ----------
    tables : ClockTables
    constants : ndarray, shape (constants,), uint64 or float64
    symbols : ndarray, shape (events,), uint8 or uint16
    times : ndarray, shape (events,), of the dtype of `constants`
    measured : ndarray, shape (events,) or (0,), of the dtype of `constants`
        What the window measures, made `comparable`; empty without a window.
    """
    none = device_array(0, np.int64)
    # A device has no empty arrays of two dimensions.
    slots = device_array((1, 1), np.int32)
    return DeviceClock(
        ClockTables(*(each if isinstance(each, int) else copied(each) for each in tables)),
        StreamEvents(
            copied(symbols.astype(np.uint16)), device_array(0, np.int32), copied(measured), none, slots, none
        ),
        ClockedEvents(copied(np.arange(len(times))), copied(times), none, copied(constants)),
        tables,
    )


def nodes_of(tables, events, nodes):
    """Rows of the arena that units need, for `nodes` nodes for each event and transition.

    Parameters
    ----------
    tables : ClockTables
    events : ndarray, shape (units,), int64
    nodes : int

    Returns
    -------
    ndarray, shape (units,), int64
    """
    longest = tables.n_live + 2
    widest = max(int(np.diff(tables.first).max(initial=0)), 1)
    each = 13 * longest + 24 if tables.sense > 0 else 10 * SPINE
    return nodes * widest * events + widest * each + 2 * tables.n_live * longest + 3


def rooms_of(clock, rows, units, geometry):
    """Scratch for units whose nodes take `rows` rows: `ClockRooms`, and the number of blocks to launch."""
    tables = clock.host
    n_slots, longest = 2 * tables.n_live + 3, lists.ITEM + tables.n_live + 2
    widest = max(int(np.diff(tables.first).max(initial=0)), 1)
    constants = max(len(clock.clocked.constants), 1)
    shapes = {
        "slots": (n_slots, longest),
        "states": (lists.ROWS, n_slots),
        "least": (constants,),
        "pieces": (2, SPINE),
        "stack": (2, STACK),
        "near": (1, constants),
        "bounds": (4, 1),
        "lists": (2, 4),
        "progress": (cpu_stream.WORDS,),
        "nodes": (widest,),
        "labels": (widest,),
        "root": (2,),
        "ends": (3, 1),
        "counted": (1,),
        "table": (TABLE, cpu_counts.FIELDS),
        "frames": (STACK, cpu_counts.FRAME),
    }
    numbers = sum(int(np.prod(shape)) for shape in shapes.values())
    blocks = scratch_blocks(units, numbers, geometry)
    threads = blocks * geometry.threads
    made = {
        name: device_array((threads, *shape), np.int32 if name == "labels" else np.int64)
        for name, shape in shapes.items()
    }
    never = copied(np.zeros(1, np.uint8))
    return ClockRooms(arena=device_array((rows, COLUMNS), np.int64), never=never, **made), blocks
