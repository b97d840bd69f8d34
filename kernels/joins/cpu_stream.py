"""The persistent structure of joins on a stream: built event by event, and kept from one call to the next.

The nodes are those of `contract`, and a union is that of `cpu_nodes`. The look-up table H is a table of
records with open addressing, since neither the slots nor the lanes are all known beforehand: a record holds
the runs of an entry under a slot in a lane.
"""

from ..jit import inline, jit
from ..streams.cpu import least_start, note_end
from .contract import CHILD, CHILDREN, EVENT, LATEST, LEFT, RIGHT, WEIGHT
from .cpu_nodes import AT, HIT, LINKS, NODES, PATH, ROOTS, WORDS, new_node, union
from .cpu_slots import slot_of

DONE = 0
ARENA_FULL = 1
CHILDREN_FULL = 2
ROOTS_FULL = 3
TABLE_FULL = 4
STACK_FULL = 5

RECORDS, STREAM_WORDS = range(WORDS, WORDS + 2)
"""A further word of `progress`: records in use. `STREAM_WORDS` is the number of all words."""

PLACE, SLOT, NODE, FIELDS = range(4)
"""Columns of a record: lane * entries + entry, -1 where there is none; the slot; the root of a heap.
`FIELDS` is their number."""

BASE, REST, CELLS, CHOICE = range(4)
"""Columns of `choice` in `count_up_to`, as in `cpu_enumerate`."""


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


@jit
def follow(tables, events, stop, window, bounds, table, made, ends, fired, path, room, progress):
    """Follow all runs of a stream over its next events: `DONE`, or which array is full.

    ============  =======================  ==============================================================
    `tables`      JoinTables               in
    `events`      StreamEvents             in; `following` in/out
    `stop`        int64                    in: one past the last event
    `window`      StreamWindow             in
    `bounds`      LaneBounds               in/out
    `table`       int64 [records, FIELDS]  in/out: the look-up table H; `PLACE` is -1 at first
    `made`        ProductNodes             in/out: progress[NODES] nodes and progress[LINKS] children; out:
                                           progress[ROOTS] roots, those of ends in place of hits
    `ends`        StreamEnds               out: ends 0 .. progress[HIT] - 1
    `fired`       int64 [transitions, 2]   scratch: the transitions that one event takes
    `path`        int64 [PATH, 2]          scratch of `union`
    `room`        int64 [3]                in: the most transitions, look-ups and stores of an event
    `progress`    int64 [STREAM_WORDS]     in/out: the next event in progress[AT], and so on
    ============  =======================  ==============================================================

    When an array is full, the host enlarges it and calls again with everything else as it is. Roots and ends
    are those since progress[ROOTS] and progress[HIT] were set to 0.
    """
    arena = made.arena
    children = made.children
    root_first = made.root_first
    root_node = made.root_node
    laned = events.lanes.shape[0] > 0
    entries = tables.entry_next.shape[0]
    while progress[AT] < stop:
        event = progress[AT]
        if progress[NODES] + room[0] + room[2] * PATH > arena.shape[0]:
            return ARENA_FULL
        if progress[LINKS] + room[1] > children.shape[0]:
            return CHILDREN_FULL
        if progress[ROOTS] + room[0] > root_node.shape[0]:
            return ROOTS_FULL
        if 2 * (progress[RECORDS] + room[2]) > table.shape[0]:
            return TABLE_FULL
        lane = 0
        if laned:
            lane = events.lanes[event]
        bound = least_start(events, event, lane, window.size, bounds)
        symbol = events.symbols[event]
        first_root = progress[ROOTS]
        best = -1
        n_fired = 0
        for k in range(tables.first[symbol], tables.first[symbol + 1]):
            t = tables.transition[k]
            latest = event
            links = progress[LINKS]
            for r in range(tables.read_first[t], tables.read_first[t + 1]):
                entry = tables.read_entry[r]
                slot = slot_of(events.slots, tables.read_column[r], event)
                node = -1
                if slot >= 0:
                    at = record_at(table, lane * entries + entry, slot)
                    if table[at, PLACE] >= 0:
                        node = table[at, NODE]
                if node >= 0 and arena[node, LATEST] < bound:
                    node = -1
                if (
                    node >= 0
                    and tables.entry_next[entry]
                    and events.places[arena[node, EVENT]] + 1 != events.places[event]
                ):
                    node = -1
                if node < 0:
                    latest = -1
                    break
                children[links] = node
                links += 1
                latest = min(latest, arena[node, LATEST])
            stored = tables.store_first[t] < tables.store_first[t + 1]
            # CONSUME BY may have dropped the start since it was stored; and a run that is neither stored nor
            # accepted leads nowhere.
            if latest < bound or not (stored or tables.accepting[t]):
                continue
            node = new_node(arena, progress, tables.label[t], event, latest, progress[LINKS], links)
            progress[LINKS] = links
            if tables.accepting[t]:
                root_node[progress[ROOTS]] = node
                progress[ROOTS] += 1
                best = max(best, latest)
            if stored:
                fired[n_fired, 0] = t
                fired[n_fired, 1] = node
                n_fired += 1
        for k in range(n_fired):
            t = fired[k, 0]
            node = fired[k, 1]
            for s in range(tables.store_first[t], tables.store_first[t + 1]):
                entry = tables.store_entry[s]
                slot = slot_of(events.slots, tables.store_column[s], event)
                if slot < 0:
                    continue
                at = record_at(table, lane * entries + entry, slot)
                root = node
                if table[at, PLACE] < 0:
                    table[at, PLACE] = lane * entries + entry
                    table[at, SLOT] = slot
                    progress[RECORDS] += 1
                else:
                    old = table[at, NODE]
                    if not tables.entry_next[entry] or arena[old, EVENT] == event:
                        root = union(arena, progress, path, old, node, bound)
                table[at, NODE] = root
        progress[AT] = event + 1
        if progress[ROOTS] > first_root:
            end = progress[HIT]
            root_first[end + 1] = progress[ROOTS]
            progress[HIT] = end + 1
            note_end(ends, end, event, lane, bound, best, bounds, window.consumes)
    return DONE


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
    `arena` ...   of `follow`            in: also `children`, `root_first` and `root_node`
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
            pending[0] = root_node[r]
            top = 1
            depth = 0
            choice[0, BASE] = 0
            choice[0, REST] = -1
            choice[0, CELLS] = 0
            while depth >= 0 and found <= most:
                if top == choice[depth, BASE]:
                    depth -= 1
                    continue
                top -= 1
                node = pending[top]
                cells = choice[depth, CELLS]
                last = cells + arena[node, CHILDREN]
                if top + 3 > pending.shape[0] or depth + 2 > choice.shape[0] or last > agenda.shape[0]:
                    return STACK_FULL
                for side in (RIGHT, LEFT):
                    below = arena[node, side]
                    if below >= 0 and arena[below, LATEST] >= lowest[end]:
                        pending[top] = below
                        top += 1
                todo = choice[depth, REST]
                for k in range(arena[node, CHILD], arena[node, CHILD] + arena[node, CHILDREN]):
                    agenda[cells, 0] = children[k]
                    agenda[cells, 1] = todo
                    todo = cells
                    cells += 1
                if todo >= 0:
                    depth += 1
                    choice[depth, BASE] = top
                    choice[depth, REST] = agenda[todo, 1]
                    choice[depth, CELLS] = cells
                    pending[top] = agenda[todo, 0]
                    top += 1
                    continue
                found += 1
        counts[end] = found
        progress[0] = end + 1
    return DONE
