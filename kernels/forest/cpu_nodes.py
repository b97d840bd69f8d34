"""Building the persistent structure: tECS of CORE (Bucchi, Grez, Quintana, Riveros, Vansummeren, VLDB 2022).

`contract` says what a node is.

Each state of the automaton has a **union-list** n_0, n_1, ..., n_k with `latest(n_0) >= latest(n_1) >
latest(n_2) > ...`, n_0 no union. The union of a whole list is made only when a transition needs it. States
are followed in decreasing order of `latest(n_0)`, so whatever joins an existing list fits behind its n_0. A
list has at most n_live + 2 elements: behind n_0 there are only starts that were the latest of some state when
n_0's start was new. So an event costs a number of steps that depends on the query alone.
"""

from ..jit import OFTEN, inline, jit
from .contract import BOTTOM, LABEL, LATEST, LEFT, RIGHT, UNION

DONE = 0
ARENA_FULL = 1
ROOTS_FULL = 2

SEGMENT, EVENT, HIT, NODES, ROOTS, ACTIVE, SIDE, OPEN, BOUND, FREE, ITEMS, WORDS = range(12)
"""Words of `progress`, from which `build` continues after an array was full; `WORDS` is their number."""

LENGTH, MERGED, ITEM = range(3)
"""Columns of `slots`: length of the list, union of the whole list or -1, and from `ITEM` on its nodes."""

ORDER, SLOT_OF, UNUSED, ROWS = 0, 2, 4, 5
"""Rows of `states`: on each of two sides (before and after an event) the states with a list, by decreasing
latest start, and each state's slot or -1; then a stack of unused slots."""


@inline
def made_node(arena, progress, label, left, right, latest):
    node = progress[NODES]
    progress[NODES] = node + 1
    arena[node, LABEL] = label
    arena[node, LEFT] = left
    arena[node, RIGHT] = right
    arena[node, LATEST] = latest
    return node


@inline
def made_root(roots, progress, label, node):
    root = progress[ROOTS]
    progress[ROOTS] = root + 1
    roots.label[root] = label
    roots.node[root] = node


@inline
def room_left(arena, roots, progress, block):
    """Whether an event with `block` transitions finds room; `DONE`, or which array is full."""
    status = DONE
    if progress[NODES] + progress[ITEMS] + 4 * block + 1 > arena.shape[0]:
        status = ARENA_FULL
    elif progress[ROOTS] + block > roots.node.shape[0]:
        status = ROOTS_FULL
    return status


@inline
def union_of(arena, progress, left, right):
    return made_node(arena, progress, UNION, left, right, arena[left, LATEST])


@inline
def joined(arena, progress, one, other):
    """The union of two nodes with the same latest start, whose left children (if any) are no unions.

    The gadget of CORE's Figure 4: the result has a non-union on its left again, and its output depth does
    not grow with the number of joins.
    """
    if arena[one, LABEL] != UNION:
        result = union_of(arena, progress, one, other)
    elif arena[other, LABEL] != UNION:
        result = union_of(arena, progress, other, one)
    else:
        first = arena[one, RIGHT]
        second = arena[other, RIGHT]
        if arena[first, LATEST] < arena[second, LATEST]:
            first, second = second, first
        rest = union_of(arena, progress, first, second)
        inner = union_of(arena, progress, arena[other, LEFT], rest)
        result = union_of(arena, progress, arena[one, LEFT], inner)
    return result


@inline
def merge(arena, slots, progress, slot):
    """The union of all nodes of a list, made once as long as the list does not change."""
    if slots[slot, MERGED] < 0:
        k = ITEM + slots[slot, LENGTH] - 1
        node = slots[slot, k]
        while k > ITEM:
            k -= 1
            node = union_of(arena, progress, slots[slot, k], node)
        slots[slot, MERGED] = node
    return slots[slot, MERGED]


@inline
def new_list(slots, states, progress, node):
    progress[FREE] -= 1
    slot = states[UNUSED, progress[FREE]]
    slots[slot, LENGTH] = 1
    slots[slot, MERGED] = -1
    slots[slot, ITEM] = node
    return slot


@inline
def release(states, progress, slot):
    states[UNUSED, progress[FREE]] = slot
    progress[FREE] += 1


@inline
def insert(arena, slots, progress, slot, node):
    """Put a node, not later than the first one, into a list."""
    latest = arena[node, LATEST]
    stop = ITEM + slots[slot, LENGTH]
    k = ITEM + 1
    while k < stop and arena[slots[slot, k], LATEST] > latest:
        k += 1
    if k < stop and arena[slots[slot, k], LATEST] == latest:
        slots[slot, k] = joined(arena, progress, slots[slot, k], node)
    else:
        for m in range(stop, k, -1):
            slots[slot, m] = slots[slot, m - 1]
        slots[slot, k] = node
        slots[slot, LENGTH] += 1
    slots[slot, MERGED] = -1


@inline
def expire(arena, slots, slot, bound):
    """Drop the elements of a list whose starts are all below the bound; gives its length."""
    length = slots[slot, LENGTH]
    while length > 0 and arena[slots[slot, ITEM + length - 1], LATEST] < bound:
        length -= 1
        slots[slot, LENGTH] = length
        slots[slot, MERGED] = -1
    return length


@inline
def append(states, progress, side, state, slot):
    """Give a state its list on a side, behind the lists of other states."""
    states[ORDER + side, progress[ACTIVE]] = state
    states[SLOT_OF + side, state] = slot
    progress[ACTIVE] += 1


@inline
def forget(states, progress):
    """Drop all lists on the present side."""
    side = progress[SIDE]
    for k in range(progress[ACTIVE]):
        state = states[ORDER + side, k]
        release(states, progress, states[SLOT_OF + side, state])
        states[SLOT_OF + side, state] = -1
    progress[ACTIVE] = 0
    progress[ITEMS] = 0


@jit
def begin_lists(slots, states, progress):
    """Begin a segment: no state has a list, and all slots are unused."""
    progress[FREE] = slots.shape[0]
    for slot in range(slots.shape[0]):
        states[UNUSED, slot] = slot
        states[SLOT_OF, slot] = -1
        states[SLOT_OF + 1, slot] = -1
    progress[SIDE] = 0
    progress[ACTIVE] = 0
    progress[ITEMS] = 0


@inline
def first_of(source, state, low, high):
    """The first transition of a state in a symbol's block."""
    while low < high:
        middle = (low + high) >> 1
        if source[middle] < state:
            low = middle + 1
        else:
            high = middle
    return low


@inline
def follow_event(tables, arena, roots, slots, states, progress, symbol, event, ends, bound):
    """Follow all runs over one event, from the present side to the other."""
    side = progress[SIDE]
    other = 1 - side
    n_active = progress[ACTIVE]
    progress[ACTIVE] = 0
    progress[SIDE] = other
    stop = tables.first[symbol + 1]
    for k in range(-1, n_active):
        state = 0
        slot = -1
        if k >= 0:
            state = states[ORDER + side, k]
            slot = states[SLOT_OF + side, state]
            states[SLOT_OF + side, state] = -1
            if expire(arena, slots, slot, bound) == 0:
                release(states, progress, slot)
                continue
        node = -1
        moved = False
        t = first_of(tables.source, state, tables.first[symbol], stop)
        while t < stop and tables.source[t] == state:
            goal = tables.target[t]
            taken = -1
            if goal >= 0:
                taken = states[SLOT_OF + other, goal]
            if tables.label[t] == 0 and goal >= 0 and taken < 0 and k >= 0:
                # the list itself goes on: nothing is built
                append(states, progress, other, goal, slot)
                moved = True
                goal = -1
            if node < 0 and (goal >= 0 or (ends and tables.accepting[t])):
                if k < 0:
                    node = made_node(arena, progress, BOTTOM, -1, event, event)
                else:
                    node = merge(arena, slots, progress, slot)
            if ends and tables.accepting[t]:
                made_root(roots, progress, tables.label[t], node)
            if goal >= 0:
                reached = node
                if tables.label[t] != 0:
                    reached = made_node(arena, progress, tables.label[t], node, event, arena[node, LATEST])
                if taken < 0:
                    append(states, progress, other, goal, new_list(slots, states, progress, reached))
                else:
                    insert(arena, slots, progress, taken, reached)
            t += 1
        if k >= 0 and not moved:
            release(states, progress, slot)
    items = 0
    for k in range(progress[ACTIVE]):
        items += slots[states[SLOT_OF + other, states[ORDER + other, k]], LENGTH]
    progress[ITEMS] = items


@jit
def build(tables, symbols, begin, stop, hits, arena, roots, slots, states, progress, halt):
    """Build the nodes of segments and record the roots of their hits: `DONE`, or which array is full.

    ============  =======================================  ==============================================
    `tables`      TransitionTables                         in
    `symbols`     uint8 or uint16 [events]                 in
    `begin`       int64 [segments]                         in: first event of each segment
    `stop`        int64 [segments]                         in: one past the last event
    `hits`        SegmentHits                              in
    `arena`       int64 [capacity, 4]                      out: nodes 0 .. progress[NODES] - 1
    `roots`       Roots                                    out: roots 0 .. progress[ROOTS] - 1
    `slots`       int64 [2 n_live + 2, ITEM + n_live + 2]  scratch, kept until all segments are built
    `states`      int64 [ROWS, 2 n_live + 2]               scratch, kept like `slots`
    `progress`    int64 [WORDS]                            in/out: zeros at first, then kept
    `halt`        uint8 [1]                                in: see `jit`
    ============  =======================================  ==============================================

    When an array is full, the host enlarges it and calls again with everything else as it is. Runs whose
    start is admitted by no later hit are not followed, and events that no hit needs are skipped.
    """
    while progress[SEGMENT] < begin.shape[0]:
        g = progress[SEGMENT]
        if progress[OPEN] == 0:
            begin_lists(slots, states, progress)
            progress[OPEN] = 1
            progress[EVENT] = begin[g]
            progress[HIT] = hits.first[g]
            progress[BOUND] = 0
        event = progress[EVENT]
        h = progress[HIT]
        h1 = hits.first[g + 1]
        bound = progress[BOUND]
        while event < stop[g] and h < h1:
            if event % OFTEN == 0 and halt[0]:
                return DONE
            if hits.lowest[h] > bound:
                bound = hits.lowest[h]
                if bound > event:
                    forget(states, progress)
                    event = bound
            symbol = symbols[event]
            block = tables.first[symbol + 1] - tables.first[symbol]
            status = room_left(arena, roots, progress, block)
            if status != DONE:
                progress[EVENT] = event
                progress[HIT] = h
                progress[BOUND] = bound
                return status
            ends = hits.event[h] == event
            if ends:
                roots.first[h] = progress[ROOTS]
            follow_event(tables, arena, roots, slots, states, progress, symbol, event, ends, bound)
            if ends:
                h += 1
                roots.first[h] = progress[ROOTS]
            event += 1
        progress[OPEN] = 0
        progress[SEGMENT] = g + 1
    return DONE
