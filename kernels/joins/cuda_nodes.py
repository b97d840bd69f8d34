"""`cpu_build` on the device: the same bodies, one thread for each list of hits.

How many nodes a union copies depends on the heap, so the number of nodes of a list is not known before they
are built. Each list has room for its nodes if few unions copy more than one, and a status that says where
this was too little.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.bodies import on_device
from ..device.geometry import LANE, scratch_blocks
from ..device.jit import device, kernel
from ..device.words import copied
from ..loop.contract import FoundEnds, LoopSegments
from ..loop.cuda import no_window, progress_for, segment_of
from ..loop.follow import FULL
from ..runs.contract import SegmentHits
from .contract import COLUMNS, KeyedEvents, ProductNodes
from .cpu_build import make_nodes
from .cpu_nodes import NODES, PATH, WORDS
from .cuda_cells import BYTES, EMPTY, KEY, VALUE, clear, first_of, room_for, sought
from .index import NodeTable


@device
def _seat_of(tables, room, events, entry, slot):
    return sought(room.table[:, KEY], entry, slot)


@device
def _node_in(room, seat):
    return room.table[seat, VALUE] if room.table[seat, KEY] != EMPTY else np.int64(-1)


@device
def _put_node(tables, room, entry, slot, seat, node):
    room.table[seat, KEY] = np.int64(entry) << 32 | np.int64(slot)
    room.table[seat, VALUE] = node


nodes_of = on_device(make_nodes, seat_of=_seat_of, node_in=_node_in, put_node=_put_node)


class ListNodes(NamedTuple):
    """The nodes of lists of hits on the device.

    ============  ====================  ================================================================
    `node_first`  int64 [lists + 1]     where the nodes of each begin, numbered from 0 on in each
    `arena`       int32 [nodes, 8]
    `link_first`  int64 [lists + 1]     where the children of each begin
    `children`    int32 [links]
    `root_start`  int64 [lists + 1]     where the roots of each begin
    `root_first`  int64 [hits + lists]  the roots of hit h of list g are, of those of the list,
                                        root_first[h + g] .. root_first[h + g + 1] - 1
    `root_node`   int32 [roots]
    `number`      int64 [lists]         how many nodes each has
    `status`      uint8 [lists]         not 0 where a list had too little room
    ============  ====================  ================================================================
    """

    node_first: Any
    arena: Any
    link_first: Any
    children: Any
    root_start: Any
    root_first: Any
    root_node: Any
    number: Any
    status: Any


@kernel
def join_nodes_kernel(tables, events, window, segments, hits, cells, made, most, scratch, path, progress):
    """Build the nodes of each list of hits, and record the roots.

    ==============  ===============================  =====================================================
    `tables`        HashTables                       in
    `events`        KeyedEvents                      in: `symbols` are padded, and `offset` int64 [lists + 1]
                                                     is where the cells of each list begin
    `window`        MeasuredWindow                   in: none
    `segments`      LoopSegments                     in: the events of each list
    `hits`          SegmentHits                      in: of lists in place of segments
    `cells`         int64 [cells, words]             scratch
    `made`          ListNodes                        out; `node_first`, `link_first` and `root_start` in
    `most`          int64 [3]                        in: transitions, look-ups and stores of an event
    `scratch`       int64 [threads, n]               scratch: words, and two numbers for each transition
    `path`          int64 [PATH, 2, threads]         scratch
    `progress`      int64 [lists, PROGRESS]          scratch: zeros at first
    ==============  ===============================  =====================================================
    """
    thread = cuda.grid(1)
    groups = most[0] + 1
    for g in range(thread, segments.begin.shape[0], scratch.shape[0]):
        own = scratch[thread]
        for word in range(WORDS):
            own[word] = 0
        nodes = ProductNodes(
            made.arena[made.node_first[g] : made.node_first[g + 1]],
            made.children[made.link_first[g] : made.link_first[g + 1]],
            made.root_first[g:],
            made.root_node[made.root_start[g] : made.root_start[g + 1]],
        )
        held = cells[events.offset[g] : events.offset[g + 1]]
        clear(held)
        room = NodeTable(
            held,
            nodes,
            SegmentHits(hits.first[g : g + 2], hits.event, hits.lowest),
            most,
            own[:WORDS],
            own[WORDS : WORDS + groups],
            path[:, :, thread],
        )
        nodes_of(
            tables,
            events,
            window,
            segment_of(segments, g),
            room,
            own[WORDS + groups :],
            FoundEnds(hits.lowest, hits.lowest),
            progress[g],
            tables.accepting[:0],
        )
        made.status[g] = progress[g, FULL]
        made.number[g] = own[NODES]


class Rooms(NamedTuple):
    """How many cells, nodes, links and roots each list of hits has room for: shape (lists,), int64.

    Attributes
    ----------
    cells, nodes, links, roots : ndarray
    """

    cells: np.ndarray
    nodes: np.ndarray
    links: np.ndarray
    roots: np.ndarray

    def part(self, low, high):
        """Those of the lists `low .. high - 1`."""
        return Rooms(*(numbers[low:high] for numbers in self))


def rooms_of(join, cells, events, hits, copies):
    """How much room lists of hits need on the device.

    Parameters
    ----------
    join : DeviceJoin
    cells : ndarray, shape (lists,), int64
        From `cells_of`.
    events, hits : ndarray, shape (lists,), int64
        How many events and hits each list has.
    copies : int
        The average number of nodes that a union makes, at most.
    """
    fired, stores = join.n_fired, join.n_stores
    nodes = events * (fired + copies * stores) + fired + PATH * stores
    return Rooms(cells, nodes, (events + 1) * join.n_reads, (hits + 1) * fired)


def nodes(join, symbols, slots, places, begin, stop, hits, rooms, geometry=LANE):
    """The nodes of lists of hits: what `cpu_build.build` makes, list by list.

    Parameters
    ----------
    join : DeviceJoin
    symbols : device array, shape (padded events,), uint8 or uint16
    slots : device array, shape (columns, events), int32
    places : device array, shape (events,) or (0,), int64
    begin, stop : device array, shape (lists,), int64
        At least one list.
    hits : SegmentHits
        Of device arrays.
    rooms : Rooms
    geometry : Geometry

    Returns
    -------
    ListNodes
    """
    lists, most = begin.shape[0], max(join.n_fired, 1)
    blocks = scratch_blocks(lists, 2 * most + 1 + 2 * PATH + WORDS, geometry)
    threads = blocks * geometry.threads
    cell_first, node_first, link_first, root_start = (first_of(numbers) for numbers in rooms)
    arena = device_array((max(int(node_first[-1]), 1), COLUMNS), np.int32)
    children, root_node = (
        device_array(max(int(bounds[-1]), 1), np.int32) for bounds in (link_first, root_start)
    )
    there = [copied(bounds) for bounds in (cell_first, node_first, link_first, root_start)]
    root_first = copied(np.zeros(hits.event.shape[0] + lists, np.int64))
    number, status = device_array(lists, np.int64), device_array(lists, np.uint8)
    scratch = device_array((threads, WORDS + 2 * most + 1), np.int64)
    path = device_array((PATH, 2, threads), np.int64)
    made = ListNodes(there[1], arena, there[2], children, there[3], root_first, root_node, number, status)
    events = KeyedEvents(symbols, slots, places, there[0])
    cells = room_for(int(cell_first[-1]), join.words)
    room = copied(np.array([most, join.n_reads, join.n_stores]))
    join_nodes_kernel[blocks, geometry.threads](
        join.tables, events, no_window(), LoopSegments(begin, begin, stop),
        hits, cells, made, room, scratch, path, progress_for(lists),
    )  # fmt: skip
    return made


def bytes_of_nodes(join, rooms):
    """Bytes of device memory that the nodes of each list take while they are built: shape (lists,), int64."""
    return BYTES * join.words * rooms.cells + 4 * (COLUMNS * rooms.nodes + rooms.links + rooms.roots)
