"""Where the runs of an automaton with one clock end, and how many end there: one thread for each unit.

The bodies of the CPU follow the runs of a unit. A unit first writes its ends as if every event that it
reports were an end; then the ends of all units are moved together. So a unit runs only once.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.geometry import LANE, STREAM
from ..device.jit import kernel
from ..device.words import copied
from ..forest.contract import Roots
from ..forest.cpu_nodes import EVENT, HIT, NODES, ROOTS
from ..forest.cpu_stream import LANE as LANE_WORD
from ..forest.cpu_stream import PackedLists
from ..steps.cuda_hits import moved
from ..streams.contract import NOTHING, LaneBounds, StreamEnds, StreamWindow
from . import cpu_counts, cpu_stream
from .contract import BOTTOM, COLUMNS, LABEL, LATEST, LEFT, NO_CHECK, RANK, RIGHT, STAMP, ClockedLanes
from .cpu_stream import DONE, EXACT, ClockedEnds, ClockedScratch
from .cuda_units import NODES_OF_EVENT, ClockUnits, count_exactly, follow, nodes_of, rooms_of

MOST_NODES = 1 << 8
"""Where this many nodes for each event and transition are too few, the CPU follows the runs."""


class ClockedUnitEnds(NamedTuple):
    """What ends in units: int64, shape (reported,); unit u writes from `first[u]` of `ClockUnits` on.

    ==========  ==================================================================================
    `event`     the end
    `lowest`    the least admissible start
    `value`     the latest start, or how many complex events end there
    `root`      [reported + units]: scratch, where the roots of an end begin
    ==========  ==================================================================================
    """

    event: Any
    lowest: Any
    value: Any
    root: Any


@kernel
def clock_ends_kernel(tables, events, clocked, window, units, flags, rooms, found, number):
    """Follow the runs of each unit, and write where complex events end.

    ============  ======================  ================================================================
    `tables`      ClockTables             in
    `events`      StreamEvents            in: without lanes; a unit's are neighbours
    `clocked`     ClockedEvents           in: `times` and `constants`
    `window`      StreamWindow            in: consumes nothing
    `units`       ClockUnits              in
    `flags`       uint8 [2]               in: 1 where a node's latest start is that of a run that passes its
                                          checks; 1 where complex events are counted
    `rooms`       ClockRooms              scratch
    `found`       ClockedUnitEnds            out
    `number`      int64 [units]           out: how many ends each has; or minus `cpu_stream.ARENA_FULL` or
                                          another word, for what was too small
    ============  ======================  ================================================================
    """
    thread = cuda.grid(1)
    for unit in range(thread, units.begin.shape[0], rooms.progress.shape[0]):
        arena = rooms.arena[units.base[unit] : units.base[unit + 1]]
        bounds = rooms.bounds[thread]
        packed = rooms.lists[thread]
        given = rooms.ends[thread]
        progress = rooms.progress[thread]
        table = rooms.table[thread]
        for word in range(progress.shape[0]):
            progress[word] = 0
        progress[LANE_WORD] = -1
        progress[EVENT] = units.begin[unit]
        progress[NODES] = 1
        progress[EXACT] = flags[0]
        arena[0, LABEL] = BOTTOM
        arena[0, LEFT] = -1
        arena[0, RIGHT] = -1
        arena[0, LATEST] = -1
        arena[0, STAMP] = NO_CHECK - 1
        arena[0, RANK] = 1
        for row in range(2):
            bounds[row, 0] = -1
        bounds[2, 0] = units.begin[unit]
        bounds[3, 0] = 0
        packed[0, 0] = -1
        for c in range(rooms.near.shape[2]):
            rooms.near[thread, 0, c] = -1
        if flags[1] != 0:
            for row in range(table.shape[0]):
                table[row, cpu_counts.END] = -1
        lanes = ClockedLanes(rooms.near[thread], given[0])
        scratch = ClockedScratch(
            rooms.slots[thread], rooms.states[thread], rooms.least[thread], rooms.pieces[thread],
            rooms.stack[thread],
        )  # fmt: skip
        low = units.first[unit]
        high = units.first[unit + 1]
        ends = StreamEnds(given[0], given[1], given[2])
        here = Roots(found.root[low + unit : high + unit + 1], rooms.labels[thread], rooms.nodes[thread])
        out = ClockedEnds(Roots(rooms.root[thread], rooms.labels[thread], rooms.nodes[thread]), ends)
        n = 0
        for event in range(units.begin[unit], units.stop[unit]):
            progress[HIT] = 0
            progress[ROOTS] = 0
            out.roots.first[0] = 0
            status = follow(
                tables, events, clocked, event + 1, window,
                LaneBounds(bounds[0], bounds[1], bounds[2], bounds[3], ()), lanes,
                PackedLists(packed[0], packed[1]), arena, out, scratch, progress,
            )  # fmt: skip
            if status != DONE:
                n = -status
                break
            if progress[HIT] == 0 or event < units.report[unit]:
                continue
            found.event[low + n] = event
            found.lowest[low + n] = ends.lowest[0]
            found.value[low + n] = ends.latest[0]
            n += 1
            if flags[1] != 0:
                here.first[n - 1] = 0
                here.first[n] = progress[ROOTS]
                rooms.counted[thread, 0] = n - 1
                status = count_exactly(
                    arena, here, found.lowest[low : low + n], found.value[low : low + n], table,
                    rooms.frames[thread], rooms.counted[thread], rooms.never,
                )  # fmt: skip
                if status != DONE:
                    n = -cpu_stream.STACK_FULL
                    break
        number[unit] = n


def bytes_of_units(tables, events, reported, nodes=NODES_OF_EVENT):
    """Bytes of device memory that each unit takes at most: shape (units,), int64.

    Parameters
    ----------
    tables : ClockTables
    events, reported : ndarray, shape (units,), int64
        How many events each unit has, and how many it reports.
    nodes : int, optional
        The number of nodes that there is room for, for each event and transition.
    """
    return 8 * COLUMNS * nodes_of(tables, events, nodes) + 72 * reported + 16


def clocked_ends(clock, units, size, counted, nodes=NODES_OF_EVENT, geometry=LANE, stream=STREAM):
    """Where complex events end in some units, and their latest starts or numbers.

    Parameters
    ----------
    clock : DeviceClock
    units : Segments
        Of arrays on the host, at least one unit; the events of each are neighbours.
    size : int or float
        The longest difference that the window keeps; read where there is a window.
    counted : bool
        Whether complex events are counted; else the latest start of each end is found.
    nodes : int, optional
        The number of nodes that there is room for, for each event and transition.
    geometry, stream : Geometry

    Returns
    -------
    status : int
        `DONE`, `ARENA_FULL`, or another word of `cpu_stream`; what follows is there with `DONE`.
    event, value : device array, shape (ends,), int64
        The ends in the order of the units, and their latest starts or numbers.
    """
    length, reported = units.stop - units.begin, units.stop - units.report
    count, wide = len(length), int(reported.sum())
    base = np.append(0, np.cumsum(nodes_of(clock.host, length, nodes))).astype(np.int64)
    first = np.append(0, np.cumsum(reported)).astype(np.int64)
    there = ClockUnits(*map(copied, (units.begin, units.report, units.stop, base, first)))
    rooms, blocks = rooms_of(clock, int(base[-1]), count, geometry)
    found = ClockedUnitEnds(
        *(device_array(wide, np.int64) for _ in range(3)), device_array(wide + count, np.int64)
    )
    number = device_array(count, np.int64)
    windowed = len(clock.events.measured) > 0
    flags = copied(np.array([clock.host.exact or (counted and not windowed), counted], np.uint8))
    measured = clock.events.measured
    window = StreamWindow(measured.dtype.type(size), NOTHING)
    clock_ends_kernel[blocks, geometry.threads](
        clock.tables, clock.events, clock.clocked, window, there, flags, rooms, found, number
    )
    least = int(number.copy_to_host().min())
    if least < 0:
        return -least, None, None
    _, event, value = moved([found.event, found.value], there.first, number, geometry, stream)
    return DONE, event, value
