"""The persistent structure of joins on a stream: built event by event, and kept from one call to the next.

The nodes are those of `contract`, and a union is that of `cpu_nodes`. The look-up table H is a table of
records with open addressing, since neither the slots nor the lanes are all known beforehand: a record holds
the runs of an entry under a slot in a lane.
"""

from typing import NamedTuple

import numpy as np

from ..jit import composed, inline, jit
from ..loop import products
from ..loop.follow import follow
from ..loop.nodes import LACKS, LANE, end_open, lowest_open
from ..streams.contract import LaneBounds
from .contract import LATEST, LEFT, RIGHT, WEIGHT, ProductNodes
from .cpu_enumerate import CELLS, NO_ROOM, NONE_LEFT, begin_choice, chosen
from .cpu_nodes import WORDS
from .index import close_children, gather_node, leads_on, room_for_heaps, store_node

DONE, STACK_FULL = range(2)

RECORDS, STREAM_WORDS = range(WORDS, WORDS + 2)
"""A further word: records in use. `STREAM_WORDS` is the number of all words."""

PLACE, SLOT, NODE, FIELDS = range(4)
"""Columns of a record: lane * entries + entry, -1 where there is none; the slot; the root of a heap.
`FIELDS` is their number."""

CHOICE = CELLS + 1
"""The columns of `choice` that `count_up_to` needs: the first of those in `cpu_enumerate`."""


@inline
def record_at(table, place, slot):
    """The record of a place and a slot, or the free one where it belongs; the number of rows is 2 ** k."""
    last = table.shape[0] - 1
    mixed = (place + 1) * 0x9E3779B97F4A7C1 + slot * 0x2545F4914F6CDD1D
    mixed ^= mixed >> 29
    at = (mixed * 0x2127599BF4325C37 >> 17) & last
    while table[at, PLACE] >= 0 and (table[at, PLACE] != place or table[at, SLOT] != slot):
        at = (at + 1) & last
    return at


class OpenTable(NamedTuple):
    """The open runs of a stream.

    =========  =======================  ================================================================
    `table`    int64 [records, FIELDS]  in/out: the look-up table H; `PLACE` is -1 at first
    `nodes`    ProductNodes             in/out; the roots are those of the ends since words[HIT] was 0
    `most`     int64 [3]                in: the most transitions, look-ups and stores of an event
    `words`    int64 [STREAM_WORDS]     in/out
    `ends`     int64 [groups + 1]       scratch, and so is `path`: as in `NodeTable`
    `path`     int64 [PATH, 2]
    `bounds`   LaneBounds               in/out
    =========  =======================  ================================================================
    """

    table: np.ndarray
    nodes: ProductNodes
    most: np.ndarray
    words: np.ndarray
    ends: np.ndarray
    path: np.ndarray
    bounds: LaneBounds


@inline
def open_seat_of(tables, room, events, entry, slot):
    place = room.words[LANE] * tables.entry_next.shape[0] + entry
    return record_at(room.table, place, slot)


@inline
def open_node_in(room, seat):
    return room.table[seat, NODE] if room.table[seat, PLACE] >= 0 else -1


@inline
def put_open_node(tables, room, entry, slot, seat, node):
    if room.table[seat, PLACE] < 0:
        room.table[seat, PLACE] = room.words[LANE] * tables.entry_next.shape[0] + entry
        room.table[seat, SLOT] = slot
        room.words[RECORDS] += 1
    room.table[seat, NODE] = node


@inline
def room_for_records(tables, room, event, symbol):
    fits = room_for_heaps(tables, room, event, symbol)
    if 2 * (room.words[RECORDS] + room.most[2]) > room.table.shape[0]:
        room.words[LACKS] = RECORDS
        fits = False
    return fits


@inline
def every_end(room, event):
    return True


@inline
def note_open(room, out, found, event, stop, own):
    end_open(room.nodes.root_first, room, out, event, own)
    return found + 1


_SEATS = {"seat_of": open_seat_of, "node_in": open_node_in}
_leads_on = composed(leads_on.py_func, "leads_on", True, at_hit=every_end)

follow_open = composed(
    follow,
    "follow_open",
    **products.LATEST
    | products.STREAM
    | {
        "lowest": lowest_open,
        "ready": room_for_records,
        "read": composed(gather_node.py_func, "gather_node", True, **_SEATS),
        "close": composed(close_children.py_func, "close_children", True, leads_on=_leads_on),
        "keep": composed(
            store_node.py_func, "store_node", True, put_node=put_open_node, leads_on=_leads_on,
            at_hit=every_end, **_SEATS,
        ),
        "note": note_open,
    },
)  # fmt: skip
"""The same loop as that of segments, over a table that lanes share and that keeps what it has."""


@jit
def weigh(arena):
    """Write how many nodes are below each node, itself included; `arena` int32 [nodes, 8] in/out."""
    for node in range(arena.shape[0]):
        weight = 1
        for side in (LEFT, RIGHT):
            if arena[node, side] >= 0:
                weight += arena[arena[node, side], WEIGHT]
        arena[node, WEIGHT] = weight


@jit
def kept_records(table, entries, place_of, lane_of, slot_first, slot_of, kept):
    """Copy the records of nodes that are kept; gives how many there are.

    ============  =======================  ==================================================================
    `table`       int64 [records, FIELDS]  in
    `entries`     int64                    in
    `place_of`    int64 [nodes]            in: the new number of each node, -1: dropped
    `lane_of`     int64 [lanes]            in: the new number of each lane
    `slot_first`  int64 [entries]          in: entry e numbers its slots by slot_of[slot_first[e]:]; -1: their
                                           numbers stay
    `slot_of`     int64 [slots]            in: the new number of each slot
    `kept`        int64 [more, FIELDS]     out: `PLACE` is -1 at first
    ============  =======================  ==================================================================
    """
    count = 0
    for row in range(table.shape[0]):
        place = table[row, PLACE]
        if place < 0 or place_of[table[row, NODE]] < 0:
            continue
        entry = place % entries
        place = lane_of[place // entries] * entries + entry
        slot = table[row, SLOT]
        if slot_first[entry] >= 0:
            slot = slot_of[slot_first[entry] + slot]
        at = record_at(kept, place, slot)
        kept[at, PLACE] = place
        kept[at, SLOT] = slot
        kept[at, NODE] = place_of[table[row, NODE]]
        count += 1
    return count


@jit
def count_up_to(
    arena, children, root_first, root_node, lowest, most, counts, pending, choice, agenda, progress, halt
):
    """Count the answers of each of some ends; `most` + 1 stands for more than `most`: `DONE` or `STACK_FULL`.

    ============  =====================  ===============================================================
    `arena` ...   of `ProductNodes`      in: also `children`, `root_first` and `root_node`
    `lowest`      int64 [ends]           in: the least admissible start
    `most`        int64                  in
    `counts`      int64 [ends]           out
    `pending`     int32 [stack]          scratch
    `choice`      int32 [depth, CHOICE]  scratch
    `agenda`      int32 [cells, 2]       scratch
    `progress`    int64 [1]              in/out: the next end; 0 at first
    `halt`        uint8 [1]              in: see `jit`
    ============  =====================  ===============================================================
    """
    while progress[0] < lowest.shape[0] and not halt[0]:
        end = progress[0]
        found = 0
        for r in range(root_first[end], root_first[end + 1]):
            if arena[root_node[r], LATEST] < lowest[end]:
                continue
            begin_choice(pending, choice, root_node[r])
            top = 1
            depth = 0
            while depth >= 0 and found <= most:
                at = depth
                node, top, depth = chosen(arena, children, lowest[end], pending, choice, agenda, top, depth)
                if node == NO_ROOM:
                    return STACK_FULL
                found += node != NONE_LEFT and depth == at
        counts[end] = found
        progress[0] = end + 1
    return DONE
