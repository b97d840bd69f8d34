"""The index of equal values: a view shows the runs that an entry of the look-up table holds under a slot.

The pieces of `loop.follow` for PCEA. A group is a transition that an event takes: it gathers one run of each
view, starts where the earliest of them does, and is taken only where all views show one.
"""

from typing import NamedTuple

import numpy as np

from ..jit import composed, inline
from ..loop.nodes import HIT, KNOWN_HITS, LACKS, LAST_HIT, LINKS, LOW, ROOTS, at_hit, begin_hits
from ..loop.products import BATCH
from ..runs.contract import SegmentHits
from .contract import EVENT, LATEST, ProductNodes
from .cpu_nodes import BASE, NODES, PATH, new_node, union
from .cpu_slots import slot_of


class HashTables(NamedTuple):
    """A PCEA as `loop.follow` reads it: `JoinTables` with a group for each symbol and transition.

    ================  ====================  ================================================================
    `first`           int32 [symbols + 1]   symbol s has the groups first[s] .. first[s + 1] - 1
    `group_state`     int32 [groups]        the transition
    `group_starts`    uint8 [groups]        1: its own event bounds the starts of what it gathers
    `read_first`      int32 [groups + 1]    group g has the reads read_first[g] ..
    `read_view`       int32 [reads]         the view of each
    `accepting`       uint8 [transitions]   and so on: as in `JoinTables`
    `label`           int32 [transitions]
    `view_entry`      int32 [views]         the entry that is looked up
    `view_column`     int32 [views]         at the slot of this column
    `store_first`     int32 [transitions]   and so on: as in `JoinTables`
    `store_entry`     int32 [stores]
    `store_column`    int32 [stores]
    `entry_next`      uint8 [entries]
    ================  ====================  ================================================================
    """

    first: np.ndarray
    group_state: np.ndarray
    group_starts: np.ndarray
    read_first: np.ndarray
    read_view: np.ndarray
    accepting: np.ndarray
    label: np.ndarray
    view_entry: np.ndarray
    view_column: np.ndarray
    store_first: np.ndarray
    store_entry: np.ndarray
    store_column: np.ndarray
    entry_next: np.ndarray


def hash_tables(tables):
    """`HashTables` of `JoinTables`."""
    low, count = tables.read_first[tables.transition], np.diff(tables.read_first)[tables.transition]
    first = np.append(0, np.cumsum(count)).astype(np.int32)
    view = np.arange(first[-1]) - np.repeat(first[:-1] - low, count)
    return HashTables(
        tables.first,
        tables.transition,
        np.ones(len(tables.transition), np.uint8),
        first,
        view.astype(np.int32),
        tables.accepting,
        tables.label,
        tables.read_entry,
        tables.read_column,
        tables.store_first,
        tables.store_entry,
        tables.store_column,
        tables.entry_next,
    )


class StartTable(NamedTuple):
    """The look-up table: what is known of the runs of a segment in each entry, under each slot.

    =========  ============================  ===========================================================
    `start`    int64 [offset[-1]]            the value of a product: a latest start, a number of runs
    `owner`    int32 [offset[-1]]            the segment that has stored there, -1 at first
    `place`    int64 [offset[-1]] or [0]     the place of the last event of the runs there
    `segment`  int64 [1]                     the segment that is run
    =========  ============================  ===========================================================
    """

    start: np.ndarray
    owner: np.ndarray
    place: np.ndarray
    segment: np.ndarray


@inline
def found_start(room, events, entry, slot):
    """Where the table holds runs of the segment in an entry, under a slot; -1: there are none."""
    where = events.offset[entry] + slot
    if room.owner[where] != room.segment[0]:
        where = -1
    return where


@inline
def claimed_start(room, events, entry, slot):
    """Where runs of the segment are held from now on, and whether none were before."""
    where = events.offset[entry] + slot
    fresh = room.owner[where] != room.segment[0]
    room.owner[where] = room.segment[0]
    return where, fresh


@inline
def begin_table(tables, segments, room, g):
    room.segment[0] = g


def _gather(tables, events, room, view, event, low, own):
    entry = tables.view_entry[view]
    slot = slot_of(events.slots, tables.view_column[view], event)
    found = none()  # noqa: F821
    if own != none() and slot >= 0:  # noqa: F821
        where = found_start(room, events, entry, slot)
        if where >= 0 and (not tables.entry_next[entry] or room.place[where] + 1 == events.places[event]):
            found = room.start[where]
    return times(own, found)  # noqa: F821


def _store(tables, events, room, group, place, event, own):
    transition = tables.group_state[group]
    for s in range(tables.store_first[transition], tables.store_first[transition + 1]):
        entry = tables.store_entry[s]
        slot = slot_of(events.slots, tables.store_column[s], event)
        if slot >= 0:
            where, fresh = claimed_start(room, events, entry, slot)
            if tables.entry_next[entry]:
                fresh = fresh or room.place[where] != events.places[event]
                room.place[where] = events.places[event]
            room.start[where] = own if fresh else plus(room.start[where], own)  # noqa: F821


def at_slots(product):
    """The pieces for a product whose values are int64: what meets in the table is added up by its `plus`.

    The room is a `StartTable`.
    """
    return BATCH | {
        "begin": begin_table,
        "read": composed(_gather, "gather", True, none=product["none"], times=product["times"]),
        "keep": composed(_store, "store", True, plus=product["plus"]),
    }


class NodeTable(NamedTuple):
    """The look-up table for the structure: the root of a heap of runs in each entry, under each slot.

    =========  ====================  ===================================================================
    `table`    int32 [offset[-1]]    in/out: -1 at first
    `nodes`    ProductNodes          out
    `hits`     SegmentHits           in: of each segment, ascending
    `most`     int64 [3]             in: the most transitions, look-ups and stores of an event
    `words`    int64 [WORDS]         in/out: zeros at first
    `ends`     int64 [groups + 1]    scratch: where the children of each group of the event begin
    `path`     int64 [PATH, 2]       scratch of `union`
    =========  ====================  ===================================================================
    """

    table: np.ndarray
    nodes: ProductNodes
    hits: SegmentHits
    most: np.ndarray
    words: np.ndarray
    ends: np.ndarray
    path: np.ndarray


@inline
def seat_of(tables, room, events, entry, slot):
    """Where the table holds what it has in an entry, under a slot."""
    return events.offset[entry] + slot


@inline
def node_in(room, seat):
    """The root of the heap at a seat of the table; -1: none of the segment."""
    node = room.table[seat]
    # What an earlier segment has left lies before the first node of this one.
    return node if node >= room.words[BASE] else -1


@inline
def put_node(tables, room, entry, slot, seat, node):
    room.table[seat] = node


@inline
def begin_heaps(tables, segments, room, g):
    room.words[BASE] = room.words[NODES]
    begin_hits(room, g)


@inline
def lowest_of_hit(events, window, room, event, low):
    """Runs whose start is admitted by no later hit are over."""
    hit = room.words[HIT]
    if hit < room.words[LAST_HIT]:
        low = max(low, room.hits.lowest[hit])
    room.words[LOW] = low
    return low


@inline
def room_for_heaps(tables, room, event, symbol):
    words = room.words
    nodes = room.nodes
    words[LACKS] = -1
    if words[NODES] + room.most[0] + room.most[2] * PATH > nodes.arena.shape[0]:
        words[LACKS] = NODES
    elif words[LINKS] + room.most[1] > nodes.children.shape[0]:
        words[LACKS] = LINKS
    elif words[ROOTS] + room.most[0] > nodes.root_node.shape[0]:
        words[LACKS] = ROOTS
    room.ends[0] = words[LINKS]
    return words[LACKS] < 0


@inline
def gather_node(tables, events, room, view, event, low, own):
    entry = tables.view_entry[view]
    slot = slot_of(events.slots, tables.view_column[view], event)
    arena = room.nodes.arena
    latest = np.int64(-1)
    if own >= 0 and slot >= 0:
        node = node_in(room, seat_of(tables, room, events, entry, slot))
        if node >= 0 and (
            not tables.entry_next[entry] or events.places[arena[node, EVENT]] + 1 == events.places[event]
        ):
            latest = np.int64(arena[node, LATEST])
            room.nodes.children[room.words[LINKS]] = node
            room.words[LINKS] += 1
    return min(own, latest)


@inline
def leads_on(tables, room, group, event):
    """Whether the runs of a group are stored, or end at a hit: the others lead nowhere."""
    transition = tables.group_state[group]
    stored = tables.store_first[transition] < tables.store_first[transition + 1]
    return stored or (tables.accepting[transition] != 0 and at_hit(room, event))


@inline
def close_children(tables, room, group, place, event, own):
    if own < 0 or not leads_on(tables, room, group, event):
        room.words[LINKS] = room.ends[place]
    room.ends[place + 1] = room.words[LINKS]


@inline
def store_node(tables, events, room, group, place, event, own):
    if leads_on(tables, room, group, event):
        arena = room.nodes.arena
        words = room.words
        transition = tables.group_state[group]
        first = room.ends[place]
        node = new_node(arena, words, tables.label[transition], event, own, first, room.ends[place + 1])
        if tables.accepting[transition] and at_hit(room, event):
            room.nodes.root_node[words[ROOTS]] = node
            words[ROOTS] += 1
        for s in range(tables.store_first[transition], tables.store_first[transition + 1]):
            entry = tables.store_entry[s]
            slot = slot_of(events.slots, tables.store_column[s], event)
            if slot >= 0:
                seat = seat_of(tables, room, events, entry, slot)
                old = node_in(room, seat)
                root = node
                if old >= 0 and (not tables.entry_next[entry] or arena[old, EVENT] == event):
                    root = union(arena, words, room.path, old, node, words[LOW])
                put_node(tables, room, entry, slot, seat, root)


NODES_AT_SLOTS = (
    BATCH
    | KNOWN_HITS
    | {
        "begin": begin_heaps,
        "lowest": lowest_of_hit,
        "ready": room_for_heaps,
        "read": gather_node,
        "close": close_children,
        "keep": store_node,
    }
)
"""Where several runs meet in the table, a heap holds them all; the room is a `NodeTable`."""
