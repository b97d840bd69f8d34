"""The index of orders: a view shows the entries of one or two ranges of ranks, in an order of the state.

The pieces of `loop.follow` for compared steps. The room of a segment has a tree over the ranks of each order:
of greatest latest starts, of sums of runs, or of versions whose nodes enumeration walks.
"""

from typing import NamedTuple

import numpy as np

from ..jit import composed, inline
from ..loop.contract import MOST_RUNS
from ..loop.nodes import HIT, KNOWN_HITS, LACKS, LINKS, NODE_WORDS, ROOTS, at_hit, begin_hits
from ..loop.products import BATCH, both, later
from ..runs.contract import SegmentHits
from .contract import (
    NEIGHBOUR,
    NO_TREE,
    ONE_ENTRY,
    ArrangedEntries,
    ComparedNodes,
    ComparedSegments,
    NewestTrees,
)
from .cpu_order import shown, together
from .tree import added, cleared, greatest, inserted, latest_in, raised, total

BASE, PARENT, ORIGIN, HERE = range(4)
"""Words of `here`: the first row of the segment that is run, its number among `within`, its first event."""


@inline
def locate(segments, room, g):
    """Note where segment g lies in the orders."""
    own = segments.of[g]
    room.here[BASE] = room.within.base[own]
    room.here[PARENT] = own
    room.here[ORIGIN] = room.within.begin[own]


@inline
def forget_last(room):
    """No event has entered a state."""
    for state in range(room.last.shape[0]):
        room.last[state, 0] = -1


@inline
def rank_of(room, order, event):
    return room.arranged.rank[order, room.here[BASE] + event - room.here[ORIGIN]]


@inline
def size_of(room, order):
    return room.arranged.size[order, room.here[PARENT]]


@inline
def ranks_shown(tables, events, room, view, event):
    size = size_of(room, tables.view_order[view])
    return shown(tables, events, room.arranged, room.here[BASE], size, view, event)


@inline
def neighbour_shown(tables, events, room, view, event):
    """The state of a view of neighbours, if it shows the event that entered last; else -1."""
    source = tables.order_state[tables.view_order[view]]
    before = room.last[source, 0]
    if before < 0 or not together(tables, events, view, before, event):
        source = -1
    return source


class StartRoom(NamedTuple):
    """Entries with their latest starts, or earliest ones.

    ==========  =======================  ==================================================================
    `arranged`  Arranged                 in
    `within`    ComparedSegments         in: the segments that are arranged
    `here`      int64 [HERE]             scratch
    `best`      int64 [orders, 2 rows]   scratch: a tree of maxima for each order
    `last`      int64 [states, 2]        scratch: the last event that has entered, and its value
    ==========  =======================  ==================================================================
    """

    arranged: ArrangedEntries
    within: ComparedSegments
    here: np.ndarray
    best: np.ndarray
    last: np.ndarray


@inline
def begin_starts(tables, segments, room, g):
    locate(segments, room, g)
    base = room.here[BASE]
    for order in range(room.best.shape[0]):
        for row in range(2 * base, 2 * room.within.base[room.here[PARENT] + 1]):
            room.best[order, row] = -1
    forget_last(room)


@inline
def greatest_start(room, order, low, high):
    return greatest(room.best, order, 2 * room.here[BASE], size_of(room, order), low, high)


def _read_ranges(tables, events, room, view, event, low, own):
    # A product gives `plus`, and `over`: what it knows of the runs of a range of ranks.
    if tables.view_near[view] == NEIGHBOUR:
        source = neighbour_shown(tables, events, room, view, event)
        if source >= 0:
            own = plus(own, room.last[source, 1])  # noqa: F821
    else:
        order = tables.view_order[view]
        a, b, c, d = ranks_shown(tables, events, room, view, event)
        if a < b:
            own = plus(own, over(room, order, a, b))  # noqa: F821
        if c < d:
            own = plus(own, over(room, order, c, d))  # noqa: F821
    return own


read_starts = composed(_read_ranges, "read_starts", True, plus=later, over=greatest_start)


@inline
def keep_start(tables, events, room, group, place, event, own):
    state = tables.group_state[group]
    room.last[state, 0] = event
    room.last[state, 1] = own
    for order in range(tables.order_first[state], tables.order_first[state + 1]):
        rank = rank_of(room, order, event)
        if rank >= 0:
            raised(room.best, order, 2 * room.here[BASE], size_of(room, order), rank, own)


LATEST_IN_ORDERS = BATCH | {
    "begin": begin_starts,
    "read": read_starts,
    "keep": keep_start,
}
"""Entries that have left the window stay in the tree: their starts are before the least one admitted."""


class CountRoom(NamedTuple):
    """Entries with the numbers of their runs.

    ==========  =========================  ==============================================================
    `arranged`  Arranged                   in
    `within`    ComparedSegments           in: the segments that are arranged
    `here`      int64 [HERE]               scratch
    `sums`      int64 [orders, 2 rows]     in/out: a tree of sums for each order, modulo 2**64; zeros
    `near`      float64 [orders, 2 rows]   in/out: the same, rounded: tells where a sum may not fit
    `last`      int64 [states, 2]          scratch: the last event that has entered, and its runs
    ==========  =========================  ==============================================================
    """

    arranged: ArrangedEntries
    within: ComparedSegments
    here: np.ndarray
    sums: np.ndarray
    near: np.ndarray
    last: np.ndarray


@inline
def begin_counts(tables, segments, room, g):
    locate(segments, room, g)
    forget_last(room)


@inline
def runs_of(room, order, low, high):
    """The runs of some ranks, at most `MOST_RUNS`."""
    size = size_of(room, order)
    base = 2 * room.here[BASE]
    runs = total(room.sums, order, base, size, low, high)
    if total(room.near, order, base, size, low, high) >= MOST_RUNS:
        runs = MOST_RUNS
    return runs


read_counts = composed(_read_ranges, "read_counts", True, plus=both, over=runs_of)


@inline
def keep_count(tables, events, room, group, place, event, own):
    state = tables.group_state[group]
    room.last[state, 0] = event
    room.last[state, 1] = own
    for order in range(tables.order_first[state], tables.order_first[state + 1]):
        rank = rank_of(room, order, event)
        if rank >= 0:
            base = 2 * room.here[BASE]
            size = size_of(room, order)
            added(room.sums, order, base, size, rank, own)
            added(room.near, order, base, size, rank, np.float64(own))


@inline
def clear_counts(tables, events, segments, room, g):
    """Take out what the events of a segment have added: a run may be short, and its trees large."""
    for i in range(segments.begin[g], segments.stop[g]):
        symbol = events.symbols[i]
        for group in range(tables.first[symbol], tables.first[symbol + 1]):
            state = tables.group_state[group]
            for order in range(tables.order_first[state], tables.order_first[state + 1]):
                rank = rank_of(room, order, i)
                if rank >= 0:
                    base = 2 * room.here[BASE]
                    size = size_of(room, order)
                    cleared(room.sums, order, base, size, rank)
                    cleared(room.near, order, base, size, rank)


COUNT_IN_ORDERS = BATCH | {
    "begin": begin_counts,
    "read": read_counts,
    "keep": keep_count,
    "finish": clear_counts,
}


class NodesRoom(NamedTuple):
    """Entries that are nodes of the structure, in versions of a tree for each order.

    ==========  =====================  ===============================================================
    `arranged`  Arranged               in
    `within`    ComparedSegments       in: the segments that are arranged
    `here`      int64 [HERE]           scratch
    `nodes`     ComparedNodes          out
    `hits`      SegmentHits            in: of each segment, ascending
    `last`      int64 [states, 3]      scratch: the last event that has entered, its value and its entry
    `root`      int64 [orders]         scratch: the present version of each order, -1: none
    `words`     int64 [WORDS]          in/out: zeros at first
    `ends`      int64 [groups + 1]     scratch: where the links of each group of the event begin
    ==========  =====================  ===============================================================
    """

    arranged: ArrangedEntries
    within: ComparedSegments
    here: np.ndarray
    nodes: ComparedNodes
    hits: SegmentHits
    last: np.ndarray
    root: np.ndarray
    words: np.ndarray
    ends: np.ndarray


ENTRIES, NODES, WORDS = range(NODE_WORDS, NODE_WORDS + 3)
"""Further words: how many entries and nodes there are. `WORDS` is the number of all words."""

PATH = 64
"""The most nodes of a path from a root to a leaf."""


@inline
def begin_versions(tables, segments, room, g):
    locate(segments, room, g)
    forget_last(room)
    for order in range(room.root.shape[0]):
        room.root[order] = -1
    begin_hits(room, g)


@inline
def room_for_versions(tables, room, event, symbol):
    first = tables.first[symbol]
    last = tables.first[symbol + 1]
    reads = tables.read_first[last] - tables.read_first[first]
    copies = 0
    for group in range(first, last):
        state = tables.group_state[group]
        copies += tables.order_first[state + 1] - tables.order_first[state]
    words = room.words
    nodes = room.nodes
    room.ends[0] = words[LINKS]
    words[LACKS] = -1
    if words[LINKS] + 2 * reads + last - first > nodes.link_root.shape[0]:
        words[LACKS] = LINKS
    elif words[ENTRIES] + last - first > nodes.event.shape[0]:
        words[LACKS] = ENTRIES
    elif words[NODES] + PATH * copies > nodes.left.shape[0]:
        words[LACKS] = NODES
    return words[LACKS] < 0


@inline
def add_link(nodes, words, root, size, low, high):
    at = words[LINKS]
    nodes.link_root[at] = root
    nodes.link_size[at] = size
    nodes.link_low[at] = low
    nodes.link_high[at] = high
    words[LINKS] = at + 1


@inline
def start_version(tables, room, event, stop):
    add_link(room.nodes, room.words, NO_TREE, 0, -1, -1)
    return event


@inline
def read_range(room, order, tree, first, stop, low, own):
    """`own` with the runs of a range of ranks, which becomes a link."""
    if first < stop:
        size = size_of(room, order)
        best = latest_in(room.nodes, tree, size, first, stop)
        if best >= low:
            own = max(own, best)
            add_link(room.nodes, room.words, tree, size, first, stop)
    return own


@inline
def read_versions(tables, events, room, view, event, low, own):
    order = tables.view_order[view]
    if tables.view_near[view] == NEIGHBOUR:
        source = neighbour_shown(tables, events, room, view, event)
        if source >= 0 and room.last[source, 1] >= low:
            own = max(own, room.last[source, 1])
            entry = room.last[source, 2]
            add_link(room.nodes, room.words, ONE_ENTRY, 0, entry, entry + 1)
    elif room.root[order] >= 0:
        a, b, c, d = ranks_shown(tables, events, room, view, event)
        own = read_range(room, order, room.root[order], a, b, low, own)
        own = read_range(room, order, room.root[order], c, d, low, own)
    return own


@inline
def keep_version(tables, events, room, group, place, event, own):
    nodes = room.nodes
    words = room.words
    state = tables.group_state[group]
    at = words[ENTRIES]
    words[ENTRIES] = at + 1
    nodes.event[at] = event
    nodes.label[at] = tables.state_label[state]
    nodes.value[at] = own
    nodes.link_first[at] = room.ends[place]
    nodes.link_last[at] = room.ends[place + 1]
    room.last[state, 0] = event
    room.last[state, 1] = own
    room.last[state, 2] = at
    for order in range(tables.order_first[state], tables.order_first[state + 1]):
        rank = rank_of(room, order, event)
        if rank >= 0:
            new = words[NODES]
            words[NODES] = inserted(nodes, new, room.root[order], size_of(room, order), rank, at, own)
            room.root[order] = new
    if tables.accepting[state] and at_hit(room, event) and own >= room.hits.lowest[words[HIT]]:
        nodes.root_entry[words[ROOTS]] = at
        words[ROOTS] += 1


NODES_IN_ORDERS = (
    BATCH
    | KNOWN_HITS
    | {
        "begin": begin_versions,
        "ready": room_for_versions,
        "start": start_version,
        "read": read_versions,
        "keep": keep_version,
    }
)


class TraceRoom(NamedTuple):
    """Entries with their latest starts, and versions of orders that know the newest event of a range.

    ==========  =====================  ===============================================================
    `starts`    StartRoom              in/out
    `kept`      uint8 [orders]         in: 1: the order has versions
    `value`     int32 [rows, groups]   out: as in `RunTrace`
    `trees`     NewestTrees            out
    `nodes`     int64 [1]              in/out: how many nodes there are
    ==========  =====================  ===============================================================
    """

    starts: StartRoom
    kept: np.ndarray
    value: np.ndarray
    trees: NewestTrees
    nodes: np.ndarray


@inline
def begin_trace(tables, segments, room, g):
    begin_starts(tables, segments, room.starts, g)
    for order in range(room.trees.present.shape[0]):
        room.trees.present[order] = -1


@inline
def note_versions(tables, room, event, symbol):
    trees = room.trees
    here = room.starts.here
    for order in range(trees.present.shape[0]):
        trees.before[order, here[BASE] + event - here[ORIGIN]] = trees.present[order]
    copies = trees.present.shape[0] * (tables.first[symbol + 1] - tables.first[symbol])
    return room.nodes[0] + PATH * copies <= trees.left.shape[0]


@inline
def read_trace(tables, events, room, view, event, low, own):
    return read_starts(tables, events, room.starts, view, event, low, own)


@inline
def keep_trace(tables, events, room, group, place, event, own):
    starts = room.starts
    trees = room.trees
    keep_start(tables, events, starts, group, place, event, own)
    at = starts.here[BASE] + event - starts.here[ORIGIN]
    room.value[at, place] = own
    state = tables.group_state[group]
    for order in range(tables.order_first[state], tables.order_first[state + 1]):
        rank = starts.arranged.rank[order, at]
        if rank >= 0 and room.kept[order]:
            new = room.nodes[0]
            size = size_of(starts, order)
            room.nodes[0] = inserted(trees, new, trees.before[order, at], size, rank, event, event)
            trees.present[order] = new


@inline
def note_nothing(room, out, found, event, stop, own):
    return found


TRACE_IN_ORDERS = LATEST_IN_ORDERS | {
    "begin": begin_trace,
    "ready": note_versions,
    "read": read_trace,
    "keep": keep_trace,
    "note": note_nothing,
}
