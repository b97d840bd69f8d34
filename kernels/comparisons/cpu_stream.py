"""Compared steps on a stream: runs are followed event by event, and kept from one call to the next.

An event reads the newest versions of the orders that its views show, and adds its own entries. That takes
O(log n) steps, where n is the number of open entries.
"""

from typing import NamedTuple

import numpy as np

from ..jit import composed, inline, jit
from ..joins.cpu_slots import slot_of
from ..joins.cpu_stream import NODE, PLACE, SLOT, record_at
from ..loop.follow import follow
from ..loop.nodes import LACKS, LANE, LINKS, NODE_WORDS, ROOTS, close_links, end_open, lowest_open
from ..loop.products import LATEST as LATEST_STARTS
from ..loop.products import STREAM
from ..streams.contract import LaneBounds
from .contract import (
    ABOVE,
    AT,
    AT_LEAST,
    AT_MOST,
    BELOW,
    EQUAL,
    GREATER,
    LABEL,
    LESS,
    LINK_FIRST,
    LINK_LAST,
    NEIGHBOUR,
    NO_TREE,
    NO_VALUE,
    NODES_BEFORE,
    ONE,
    ONE_ENTRY,
    ROOT,
    VALUE,
    NewestVersions,
    Versions,
)
from .contract import EVENT as OF_EVENT
from .cpu_trie import latest_among, put_in

ENTRIES, NODES, RECORDS, WORDS = range(NODE_WORDS, NODE_WORDS + 4)
"""Further words: how many entries, nodes and records there are. Where entries or links lack room, `LACKS` is
`NODES`. `WORDS` is the number of all words."""

MOST = np.uint64(2**64 - 1)
"""The greatest word."""

VALUE_ROWS = 3
"""Rows of slots that a value takes: its side, and the upper and the lower half of its word."""


@inline
def _word(slots, row, event):
    """The word of an event, 2^63 added, from the rows of its value."""
    upper = np.uint64(np.int64(slots[row + 1, event]) & np.int64(0xFFFFFFFF)) ^ np.uint64(0x80000000)
    lower = np.uint64(np.int64(slots[row + 2, event]) & np.int64(0xFFFFFFFF))
    return (upper << np.uint64(32)) | lower


@jit
def spanned(tables, slots, rows, view, event, span):
    """The words of the entries that a view shows at an event: span[0] .. span[1] and span[2] .. span[3].

    ========  ====================  =================================================================
    `tables`  ComparedTables        in
    `slots`   int32 [rows, events]  in
    `rows`    int                   in: how many rows of slots come before those of values
    `view`    int                   in
    `event`   int                   in
    `span`    uint64 [4]            out: where nothing is shown, the first is greater than the second
    ========  ====================  =================================================================

    Gives whether the view shows any word.
    """
    one = np.uint64(1)
    none = np.uint64(0)
    low = none
    high = MOST
    hole = none
    split = False
    shows = True
    for test in range(tables.test_first[view], tables.test_first[view + 1]):
        row = rows + VALUE_ROWS * tables.test_value[test]
        side = slots[row, event]
        word = _word(slots, row, event)
        op = tables.test_op[test]
        if side == NO_VALUE:
            shows = False
        elif op in (LESS, AT_MOST):
            if side == ABOVE or (op == AT_MOST and side == AT):
                high = min(high, word)
            elif word == none:
                shows = False
            else:
                high = min(high, word - one)
        elif op in (GREATER, AT_LEAST):
            if side == BELOW or (op == AT_LEAST and side == AT):
                low = max(low, word)
            elif word == MOST:
                shows = False
            else:
                low = max(low, word + one)
        elif op == EQUAL:
            if side == AT:
                low = max(low, word)
                high = min(high, word)
            else:
                shows = False
        elif side == AT:
            split = True
            hole = word
    span[0] = low
    span[1] = high
    span[2] = one
    span[3] = none
    if split and low <= hole and hole <= high:
        span[2] = hole + one
        span[3] = high
        if hole == MOST:
            span[2] = one
            span[3] = none
        span[1] = hole - one
        if hole == none:
            span[0] = one
            span[1] = none
    return shows and (span[0] <= span[1] or span[2] <= span[3])


@inline
def _neighbour(tables, events, rows, view, entered, event, span):
    """Whether the entry of an event is among the words that a view shows, beside it and under its slot."""
    order = tables.view_order[view]
    holds = events.places[event] == events.places[entered] + 1
    row = tables.view_slot[view]
    if row >= 0:
        slot = events.slots[tables.order_slot[order], entered]
        holds = holds and slot >= 0 and slot == events.slots[row, event]
    if tables.order_value[order] >= 0:
        own = rows + VALUE_ROWS * tables.order_value[order]
        word = _word(events.slots, own, entered)
        within = (span[0] <= word and word <= span[1]) or (span[2] <= word and word <= span[3])
        holds = holds and events.slots[own, entered] != NO_VALUE and within
    return holds


class OpenVersions(NamedTuple):
    """The open runs of a stream.

    ===========  ==================  ====================================================================
    `newest`     NewestVersions      in/out
    `versions`   Versions            in/out; the roots are those of the ends since words[HIT] was 0
    `positions`  int64 [events]      in: of the events in the stream
    `rows`       int                 in: how many rows of slots come before those of values
    `most`       int64 [3]           in: entries, links and nodes that an event makes at most
    `bounds`     LaneBounds          in/out
    `words`      int64 [WORDS]       in/out
    `ends`       int64 [groups + 1]  scratch: where the links of each group of the event begin
    `stack`      int64 [128]         scratch
    `span`       uint64 [4]          scratch
    ===========  ==================  ====================================================================
    """

    newest: NewestVersions
    versions: Versions
    positions: np.ndarray
    rows: int
    most: np.ndarray
    bounds: LaneBounds
    words: np.ndarray
    ends: np.ndarray
    stack: np.ndarray
    span: np.ndarray


@inline
def room_for_versions(tables, room, event, symbol):
    words = room.words
    versions = room.versions
    words[LACKS] = -1
    if (
        words[ENTRIES] + room.most[0] > versions.entry.shape[0]
        or words[LINKS] + room.most[1] > versions.link.shape[0]
        or words[NODES] + room.most[2] > versions.tree.shape[0]
    ):
        words[LACKS] = NODES
    elif words[ROOTS] + room.ends.shape[0] > versions.root_entry.shape[0]:
        words[LACKS] = ROOTS
    elif 2 * (words[RECORDS] + room.most[2]) > room.newest.table.shape[0]:
        words[LACKS] = RECORDS
    room.ends[0] = words[LINKS]
    return words[LACKS] < 0


@inline
def add_link(link, words, root, one):
    link[words[LINKS], ROOT] = root
    link[words[LINKS], ONE] = one
    words[LINKS] += 1


@inline
def start_version(tables, room, event, stop):
    add_link(room.versions.link, room.words, NO_TREE, -1)
    return event


@jit
def read_versions(tables, events, room, view, event, low, own):
    order = tables.view_order[view]
    versions = room.versions
    words = room.words
    span = room.span
    lane = words[LANE]
    if not spanned(tables, events.slots, room.rows, view, event, span):
        return own
    if tables.view_near[view] == NEIGHBOUR:
        source = room.newest.last[lane, tables.order_state[order]]
        if (
            source >= 0
            and versions.entry[source, VALUE] >= low
            and _neighbour(tables, events, room.rows, view, versions.entry[source, OF_EVENT], event, span)
        ):
            own = max(own, np.int64(versions.entry[source, VALUE]))
            add_link(versions.link, words, ONE_ENTRY, source)
        return own
    slot = slot_of(events.slots, tables.view_slot[view], event)
    if slot < 0:
        return own
    table = room.newest.table
    at = record_at(table, lane * tables.order_slot.shape[0] + order, slot)
    if table[at, PLACE] < 0:
        return own
    root = table[at, NODE]
    for part in range(2):
        best = latest_among(versions, root, span[2 * part], span[2 * part + 1], room.stack)
        if best >= low and best >= 0:
            own = max(own, np.int64(best))
            versions.range[words[LINKS], 0] = span[2 * part]
            versions.range[words[LINKS], 1] = span[2 * part + 1]
            add_link(versions.link, words, root, -1)
    return own


@inline
def keep_version(tables, events, room, group, place, event, own):
    versions = room.versions
    words = room.words
    entry = versions.entry
    table = room.newest.table
    lane = words[LANE]
    state = tables.group_state[group]
    new = words[ENTRIES]
    words[ENTRIES] = new + 1
    entry[new, OF_EVENT] = event
    entry[new, LABEL] = tables.state_label[state]
    entry[new, VALUE] = own
    entry[new, LINK_FIRST] = room.ends[place]
    entry[new, LINK_LAST] = room.ends[place + 1]
    entry[new, NODES_BEFORE] = words[NODES]
    if room.newest.last.shape[0] > 0:
        room.newest.last[lane, state] = new
    for order in range(tables.order_first[state], tables.order_first[state + 1]):
        slot = slot_of(events.slots, tables.order_slot[order], event)
        word = np.uint64(0)
        valued = True
        if tables.order_value[order] >= 0:
            row = room.rows + VALUE_ROWS * tables.order_value[order]
            valued = events.slots[row, event] != NO_VALUE
            word = _word(events.slots, row, event)
        if slot >= 0 and valued:
            number = lane * tables.order_slot.shape[0] + order
            at = record_at(table, number, slot)
            root = -1
            if table[at, PLACE] < 0:
                table[at, PLACE] = number
                table[at, SLOT] = slot
                words[RECORDS] += 1
            else:
                root = table[at, NODE]
            place_of = np.uint64(room.positions[event])
            words[NODES] = put_in(versions, words[NODES], root, word, place_of, new, own)
            table[at, NODE] = words[NODES] - 1
    if tables.accepting[state]:
        versions.root_entry[words[ROOTS]] = new
        words[ROOTS] += 1


@inline
def note_open(room, out, found, event, stop, own):
    end_open(room.versions.root_first, room, out, event, own)
    return found + 1


follow_open = composed(
    follow,
    "follow_open",
    **LATEST_STARTS
    | STREAM
    | {
        "lowest": lowest_open,
        "ready": room_for_versions,
        "start": start_version,
        "read": read_versions,
        "close": close_links,
        "keep": keep_version,
        "note": note_open,
    },
)
"""The loop of segments over versions of orders that are kept, and read by slot and lane."""
