"""Compared steps on a stream: runs are followed event by event, and kept from one call to the next.

An event reads the newest versions of the orders that its views show, and adds its own entries. That takes
O(log n) steps, where n is the number of open entries.
"""

import numpy as np

from ..jit import inline, jit
from ..joins.cpu_slots import slot_of
from ..joins.cpu_stream import NODE, PLACE, SLOT, record_at
from ..streams.cpu import least_start, note_end
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
)
from .contract import EVENT as OF_EVENT
from .cpu_trie import latest_among, put_in

DONE, VERSIONS_FULL, ROOTS_FULL, TABLE_FULL = range(4)

NEXT, ENTRIES, LINKS, NODES, ROOTS, HIT, RECORDS, WORDS = range(8)
"""Words of `progress`: the next event, and how many entries, links, nodes, roots, ends and records there are.
`WORDS` is how many words there are."""

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


@jit
def follow(tables, events, positions, rows, stop, window, bounds, newest, versions, ends, room, progress):
    """Follow all runs of a stream over its next events: `DONE`, or what is full.

    ============  ==============  =================================================================
    `tables`      ComparedTables  in
    `events`      StreamEvents    in; `following` in/out; the rows of values behind those of slots
    `positions`   int64 [events]  in: of the events in the stream
    `rows`        int             in: how many rows of slots come before those of values
    `stop`        int             in: one past the last event
    `window`      StreamWindow    in
    `bounds`      LaneBounds      in/out
    `newest`      NewestVersions  in/out
    `versions`    Versions        in/out: as many rows as `progress` says
    `ends`        StreamEnds      out: ends 0 .. progress[HIT] - 1
    `room`        VersionRoom     scratch
    `progress`    int64 [WORDS]   in/out
    ============  ==============  =================================================================

    When something is full, the host enlarges it and calls again with everything else as it is. Roots and ends
    are those since progress[ROOTS] and progress[HIT] were set to 0.
    """
    entry = versions.entry
    link = versions.link
    table = newest.table
    entered = room.entered
    span = room.span
    laned = events.lanes.shape[0] > 0
    near = newest.last.shape[0] > 0
    orders = tables.order_slot.shape[0]
    while progress[NEXT] < stop:
        event = progress[NEXT]
        if (
            progress[ENTRIES] + room.most[0] > entry.shape[0]
            or progress[LINKS] + room.most[1] > link.shape[0]
            or progress[NODES] + room.most[2] > versions.tree.shape[0]
        ):
            return VERSIONS_FULL
        if progress[ROOTS] + entered.shape[0] > versions.root_entry.shape[0]:
            return ROOTS_FULL
        if 2 * (progress[RECORDS] + room.most[2]) > table.shape[0]:
            return TABLE_FULL
        lane = 0
        if laned:
            lane = events.lanes[event]
        bound = least_start(events, event, lane, window.size, bounds)
        symbol = events.symbols[event]
        begin = tables.first[symbol]
        links = progress[LINKS]
        before = links
        for group in range(begin, tables.first[symbol + 1]):
            value = -1
            if tables.group_starts[group]:
                value = event
                link[links, ROOT] = NO_TREE
                link[links, ONE] = -1
                links += 1
            for read in range(tables.read_first[group], tables.read_first[group + 1]):
                view = tables.read_view[read]
                order = tables.view_order[view]
                if not spanned(tables, events.slots, rows, view, event, span):
                    continue
                if tables.view_near[view] == NEIGHBOUR:
                    source = newest.last[lane, tables.order_state[order]]
                    if (
                        source >= 0
                        and entry[source, VALUE] >= bound
                        and _neighbour(tables, events, rows, view, entry[source, OF_EVENT], event, span)
                    ):
                        value = max(value, entry[source, VALUE])
                        link[links, ROOT] = ONE_ENTRY
                        link[links, ONE] = source
                        links += 1
                    continue
                slot = slot_of(events.slots, tables.view_slot[view], event)
                if slot < 0:
                    continue
                at = record_at(table, lane * orders + order, slot)
                if table[at, PLACE] < 0:
                    continue
                root = table[at, NODE]
                for part in range(2):
                    best = latest_among(versions, root, span[2 * part], span[2 * part + 1], room.stack)
                    if best >= bound and best >= 0:
                        value = max(value, best)
                        link[links, ROOT] = root
                        link[links, ONE] = -1
                        versions.range[links, 0] = span[2 * part]
                        versions.range[links, 1] = span[2 * part + 1]
                        links += 1
            entered[group - begin, 0] = value
            entered[group - begin, 1] = links
        first_root = progress[ROOTS]
        best = -1
        for group in range(begin, tables.first[symbol + 1]):
            state = tables.group_state[group]
            value = entered[group - begin, 0]
            if value >= 0 and value >= bound:
                new = progress[ENTRIES]
                progress[ENTRIES] = new + 1
                entry[new, OF_EVENT] = event
                entry[new, LABEL] = tables.state_label[state]
                entry[new, VALUE] = value
                entry[new, LINK_FIRST] = before
                entry[new, LINK_LAST] = entered[group - begin, 1]
                entry[new, NODES_BEFORE] = progress[NODES]
                if near:
                    newest.last[lane, state] = new
                for order in range(tables.order_first[state], tables.order_first[state + 1]):
                    slot = slot_of(events.slots, tables.order_slot[order], event)
                    word = np.uint64(0)
                    valued = True
                    if tables.order_value[order] >= 0:
                        row = rows + VALUE_ROWS * tables.order_value[order]
                        valued = events.slots[row, event] != NO_VALUE
                        word = _word(events.slots, row, event)
                    if slot < 0 or not valued:
                        continue
                    at = record_at(table, lane * orders + order, slot)
                    root = -1
                    if table[at, PLACE] < 0:
                        table[at, PLACE] = lane * orders + order
                        table[at, SLOT] = slot
                        progress[RECORDS] += 1
                    else:
                        root = table[at, NODE]
                    place = np.uint64(positions[event])
                    progress[NODES] = put_in(versions, progress[NODES], root, word, place, new, value)
                    table[at, NODE] = progress[NODES] - 1
                if tables.accepting[state]:
                    versions.root_entry[progress[ROOTS]] = new
                    progress[ROOTS] += 1
                    best = max(best, value)
            before = entered[group - begin, 1]
        progress[LINKS] = links
        progress[NEXT] = event + 1
        if progress[ROOTS] > first_root:
            end = progress[HIT]
            versions.root_first[end + 1] = progress[ROOTS]
            progress[HIT] = end + 1
            note_end(ends, end, event, lane, bound, best, bounds, window.consumes)
    return DONE
