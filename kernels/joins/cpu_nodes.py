"""Building the persistent structure of joins: DS_w of the PCEA paper (section 5), by its Algorithm 1.

**Union** puts a fresh node into a heap by path copying. A node that is not earlier than the root becomes the
root, with the old one at its left: one node, and the usual case. Any other node goes down to the lighter
child, where possible an empty or expired one: each step halves the weight, so the path has at most
log2(weight) + 1 nodes whatever the shape of the heap. The paper follows a direction bit, which gives a path
as short only while the tree is balanced; but roots put on top of each other make it a list, and after runs
that alternate between latest and earliest the bits of a path of any length may all point down it.
"""

from ..jit import OFTEN, inline, jit
from .contract import CHILD, CHILDREN, COLUMNS, EVENT, LABEL, LATEST, LEFT, RIGHT, WEIGHT
from .cpu_slots import slot_of

DONE = 0
ARENA_FULL = 1
CHILDREN_FULL = 2
ROOTS_FULL = 3

PATH = 64
"""The most nodes that one union copies: log2 of more nodes than there can be."""

SEGMENT, AT, HIT, NODES, LINKS, ROOTS, OPEN, BASE, BOUND, NEEDED, WORDS = range(11)
"""Words of `progress`, from which `build` continues after an array was full; `WORDS` is their number."""


@inline
def copied_node(arena, progress, node):
    new = progress[NODES]
    progress[NODES] = new + 1
    for k in range(COLUMNS):
        arena[new, k] = arena[node, k]
    return new


@inline
def on_top(arena, progress, fresh, old):
    """Make a fresh node the root of a heap that has no later node."""
    root = copied_node(arena, progress, fresh)
    arena[root, LEFT] = old
    arena[root, WEIGHT] = arena[old, WEIGHT] + 1
    return root


@inline
def live(arena, node, side, bound):
    """One child of a node, -1 where there is none or it has expired."""
    child = arena[node, side]
    if child >= 0 and arena[child, LATEST] < bound:
        child = -1
    return child


@inline
def weight_of(arena, node):
    weight = 0
    if node >= 0:
        weight = arena[node, WEIGHT]
    return weight


@jit
def union(arena, progress, path, old, fresh, bound):
    """Unite a heap with a node that has nothing below it; gives the new root.

    ============  =====================  ==============================================================
    `arena`       int32 [capacity, 8]    in/out: room for `PATH` more nodes
    `progress`    int64 [WORDS]          in/out
    `path`        int64 [PATH, 2]        scratch: the nodes that are copied, and the sides taken
    `old`         int64                  in: the root of a heap
    `fresh`       int64                  in: LEFT and RIGHT are -1
    `bound`       int64                  in: runs that began before it have left every window to come
    ============  =====================  ==============================================================
    """
    if arena[old, LATEST] < bound:
        return fresh
    latest = arena[fresh, LATEST]
    length = 0
    node = old
    while node >= 0 and latest < arena[node, LATEST]:
        left = live(arena, node, LEFT, bound)
        right = live(arena, node, RIGHT, bound)
        side = LEFT
        if weight_of(arena, right) < weight_of(arena, left):
            side = RIGHT
        path[length, 0] = node
        path[length, 1] = side
        length += 1
        node = left if side == LEFT else right
    below = fresh if node < 0 else on_top(arena, progress, fresh, node)
    # from below upwards, so that what a node refers to precedes it
    for k in range(length - 1, -1, -1):
        side = path[k, 1]
        other = LEFT + RIGHT - side
        node = copied_node(arena, progress, path[k, 0])
        arena[node, other] = live(arena, node, other, bound)
        arena[node, side] = below
        arena[node, WEIGHT] = 1 + arena[below, WEIGHT] + weight_of(arena, arena[node, other])
        below = node
    return below


@inline
def new_node(arena, progress, label, event, latest, links):
    """Make a node whose children stand from progress[LINKS] to `links`; gives its number."""
    node = progress[NODES]
    progress[NODES] = node + 1
    arena[node, LABEL] = label
    arena[node, EVENT] = event
    arena[node, CHILD] = progress[LINKS]
    arena[node, CHILDREN] = links - progress[LINKS]
    arena[node, LEFT] = -1
    arena[node, RIGHT] = -1
    arena[node, LATEST] = latest
    arena[node, WEIGHT] = 1
    progress[LINKS] = links
    return node


@inline
def _held(table, offset, entry, slot):
    """What the look-up table holds in an entry, under a slot: a node, or -1."""
    return table[offset[entry] + slot]


@inline
def _hold(table, offset, entry, slot, node):
    table[offset[entry] + slot] = node


@inline
def looked_up(tables, events, table, arena, read, event, base, bound):
    """The runs that a look-up of an event finds in its entry, -1 where there are none."""
    entry = tables.read_entry[read]
    slot = slot_of(events.slots, tables.read_column[read], event)
    node = -1
    if slot >= 0:
        node = _held(table, events.offset, entry, slot)
    # what an earlier segment has left lies before the first node of this one
    if (
        node < base
        or arena[node, LATEST] < bound
        or (tables.entry_next[entry] and events.places[arena[node, EVENT]] + 1 != events.places[event])
    ):
        node = -1
    return node


@jit
def build(tables, events, begin, stop, hits, table, nodes, fired, path, room, progress, halt):
    """Build the nodes of segments and record the roots of their hits: `DONE`, or which array is full.

    ============  ===========================  ==========================================================
    `tables`      JoinTables                   in
    `events`      KeyedEvents                  in
    `begin`       int64 [segments]             in: first event of each segment
    `stop`        int64 [segments]             in: one past the last event
    `hits`        SegmentHits                  in
    `table`       int32 [offset[-1]]           in/out: the look-up table H, -1 at first; kept
    `nodes`       ProductNodes                 out: progress[NODES] nodes, progress[LINKS] children and
                                               progress[ROOTS] roots
    `fired`       int64 [transitions, 2]       scratch: the transitions that one event takes
    `path`        int64 [PATH, 2]              scratch of `union`
    `room`        int64 [3]                    in: the most transitions, look-ups and stores of an event
    `progress`    int64 [WORDS]                in/out: zeros at first, then kept
    `halt`        uint8 [1] or [0]             in: see `jit`
    ============  ===========================  ==========================================================

    When an array is full, the host enlarges it and calls again with everything else as it is. Runs whose
    start is admitted by no later hit are not followed, and events that no hit needs are skipped.
    """
    arena = nodes.arena
    children = nodes.children
    root_first = nodes.root_first
    root_node = nodes.root_node
    slots = events.slots
    progress[NEEDED] = room[0] + room[2] * PATH
    while progress[SEGMENT] < begin.shape[0]:
        g = progress[SEGMENT]
        if progress[OPEN] == 0:
            progress[OPEN] = 1
            progress[AT] = begin[g]
            progress[HIT] = hits.first[g]
            progress[BASE] = progress[NODES]
            progress[BOUND] = begin[g]
        event = progress[AT]
        h = progress[HIT]
        h1 = hits.first[g + 1]
        bound = progress[BOUND]
        base = progress[BASE]
        while event < stop[g] and h < h1:
            if event % OFTEN == 0 and halt.shape[0] > 0 and halt[0]:
                return DONE
            if hits.lowest[h] > bound:
                bound = hits.lowest[h]
                event = max(event, bound)
            status = DONE
            if progress[NODES] + progress[NEEDED] > arena.shape[0]:
                status = ARENA_FULL
            elif progress[LINKS] + room[1] > children.shape[0]:
                status = CHILDREN_FULL
            elif progress[ROOTS] + room[0] > root_node.shape[0]:
                status = ROOTS_FULL
            if status != DONE:
                progress[AT] = event
                progress[HIT] = h
                progress[BOUND] = bound
                return status
            symbol = events.symbols[event]
            ends = hits.event[h] == event
            if ends:
                root_first[h] = progress[ROOTS]
            n_fired = 0
            for k in range(tables.first[symbol], tables.first[symbol + 1]):
                t = tables.transition[k]
                latest = event
                links = progress[LINKS]
                for r in range(tables.read_first[t], tables.read_first[t + 1]):
                    node = looked_up(tables, events, table, arena, r, event, base, bound)
                    if node < 0:
                        latest = -1
                        break
                    children[links] = node
                    links += 1
                    latest = min(latest, arena[node, LATEST])
                stored = tables.store_first[t] < tables.store_first[t + 1]
                if latest < 0 or not (stored or (ends and tables.accepting[t])):
                    continue
                node = new_node(arena, progress, tables.label[t], event, latest, links)
                if ends and tables.accepting[t]:
                    root_node[progress[ROOTS]] = node
                    progress[ROOTS] += 1
                if stored:
                    fired[n_fired, 0] = t
                    fired[n_fired, 1] = node
                    n_fired += 1
            for k in range(n_fired):
                t = fired[k, 0]
                node = fired[k, 1]
                for s in range(tables.store_first[t], tables.store_first[t + 1]):
                    entry = tables.store_entry[s]
                    slot = slot_of(slots, tables.store_column[s], event)
                    if slot < 0:
                        continue
                    old = _held(table, events.offset, entry, slot)
                    root = node
                    if old >= base and (not tables.entry_next[entry] or arena[old, EVENT] == event):
                        root = union(arena, progress, path, old, node, bound)
                    _hold(table, events.offset, entry, slot, root)
            if ends:
                h += 1
                root_first[h] = progress[ROOTS]
            event += 1
        progress[OPEN] = 0
        progress[SEGMENT] = g + 1
    return DONE
