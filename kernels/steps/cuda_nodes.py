"""`cpu_nodes` on the device: the same body, one thread for each unit with its own entries."""

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.bodies import on_device
from ..device.geometry import LANE, STREAM
from ..device.jit import inlined, kernel
from ..device.words import copied
from ..loop.contract import FoundEnds, LoopSegments, StepNodes
from ..loop.cuda import no_window, progress_for, segment_of
from ..loop.gaps import NodeRoom
from ..loop.nodes import LINKS, NODE_WORDS, ROOTS
from ..runs.contract import SegmentHits
from . import cpu_nodes as step_nodes
from .cuda_units import (
    counted_room,
    entered_of,
    queued_views,
    room_of,
    rooms_of,
)

build_of = on_device(step_nodes.make_nodes)


class UnitNodes(NamedTuple):
    """The runs of units on the device.

    =============  ===========================  ============================================================
    `nodes`        StepNodes                    of all units, one after another; the root numbers of hit h of
                                                unit g are root_first[h + g] .. root_first[h + g + 1] - 1
    `entry_first`  int64 [units * states + 1]   as in `UnitRooms`
    `link_start`   int64 [units + 1]            where the links of each unit begin
    `hit_first`    int64 [units + 1]            where the hits of each unit begin
    `states`       int
    `widest`       int                          how many roots a hit has at most
    =============  ===========================  ============================================================
    """

    nodes: StepNodes
    entry_first: Any
    link_start: Any
    hit_first: Any
    states: int
    widest: int


@inlined
def nodes_of(made, unit):
    """The nodes of one unit of `UnitNodes`: `StepNodes`."""
    low = made.entry_first[unit * made.states]
    high = made.entry_first[(unit + 1) * made.states]
    first = made.link_start[unit]
    last = made.link_start[unit + 1]
    h0 = made.hit_first[unit]
    h1 = made.hit_first[unit + 1]
    every = made.nodes
    return StepNodes(
        every.event[low:high], every.label[low:high], every.latest[low:high], every.link_first[low:high],
        every.link_last[low:high], every.link_low[first:last], every.link_high[first:last],
        every.root_first[h0 + unit : h1 + unit + 1], every.root_entry[h0 * made.widest : h1 * made.widest],
        every.before,
    )  # fmt: skip


@kernel
def step_nodes_kernel(tables, events, window, units, hits, rooms, words, made, progress):
    """Make the entries of each unit, and the roots of its hits.

    =========  ===========================  ===================================================
    `tables`   StepTables                   in
    `events`   StepEvents                   in: `symbols` are padded
    `window`   MeasuredWindow               in
    `units`    LoopSegments                 in
    `hits`     SegmentHits                  in: of units in place of segments
    `rooms`    UnitRooms                    in/out: `event` and `value` are those of `made`
    `words`    int64 [threads, n]           scratch: `words` and `ends` of a `NodeRoom`
    `made`     UnitNodes                    out
    `progress` int64 [units, WORDS]         in/out: zeros at first
    =========  ===========================  ===================================================
    """
    thread = cuda.grid(1)
    for unit in range(thread, units.begin.shape[0], rooms.scratch.shape[1]):
        own = segment_of(units, unit)
        h0 = hits.first[unit]
        h1 = hits.first[unit + 1]
        bounds = entered_of(tables, rooms, thread)
        bounds[0] = 0
        bounds[1] = h1 - h0
        mine = words[thread]
        mine[LINKS] = 0
        mine[ROOTS] = 0
        nodes = nodes_of(made, unit)
        room = NodeRoom(
            room_of(tables, rooms, unit, thread), nodes,
            SegmentHits(bounds, hits.event[h0:h1], hits.lowest[h0:h1]), mine[:NODE_WORDS], mine[NODE_WORDS:],
        )  # fmt: skip
        build_of(
            tables, events, window, own, room, bounds[2:], FoundEnds(nodes.root_first, nodes.root_first),
            progress[unit], tables.accepting[:0],
        )  # fmt: skip


def bytes_of_nodes(steps, events, hits):
    """Bytes that the runs of each unit take on the device, at most: shape (units,), int64.

    Parameters
    ----------
    steps : DeviceSteps
    events, hits : ndarray, shape (units,), int64
        How many events and hits each unit has.
    """
    of_event = 24 * steps.widest + 8 * steps.links + 4 * len(steps.host.view_state)
    return of_event * events + (24 + 4 * steps.widest) * (hits + 1)


def build(steps, events, units, hits, geometry=LANE, stream=STREAM):
    """The entries of many units with the roots of their hits: `UnitNodes`.

    Entries from which no run inside a window is left are made too: walks pass over them.

    Parameters
    ----------
    steps : DeviceSteps
    events : StepEvents
        Of device arrays; `symbols` are padded uint16.
    units : LoopSegments
        Of arrays on the host, at least one unit.
    hits : SegmentHits
        Of device arrays; of units in place of segments.
    geometry, stream : Geometry
    """
    count = len(units.begin)
    there = LoopSegments(*map(copied, units))
    queued = queued_views(steps.host, False)
    counted = counted_room(steps, events.symbols, there, queued, True, geometry, stream)
    rooms, blocks = rooms_of(steps, counted, count, True, 1, geometry, 2)
    entries, links = max(counted.entries, 1), max(counted.links, 1)
    total = hits.event.shape[0]
    nodes = StepNodes(
        rooms.event,
        device_array(entries, np.int32),
        rooms.value,
        *(device_array(each, np.int32) for each in (entries, entries, links, links)),
        device_array(total + count, np.int64),
        device_array(max(total * steps.widest, 1), np.int32),
        copied(np.empty(0, np.int32)),
    )
    states = len(steps.host.accepting)
    made = UnitNodes(nodes, counted.entry_first, counted.link_first, hits.first, states, steps.widest)
    words = device_array((blocks * geometry.threads, NODE_WORDS + steps.widest + 1), np.int64)
    step_nodes_kernel[blocks, geometry.threads](
        steps.tables,
        events,
        no_window(steps.host.view_low.dtype),
        there,
        hits,
        rooms,
        words,
        made,
        progress_for(count),
    )
    return made
