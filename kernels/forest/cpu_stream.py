"""The persistent structure of a stream: built event by event, and kept from one call to the next.

The nodes are those of `contract` and are made as in `cpu_nodes`, but it is not known where complex events end
before the nodes are built, so every accepting transition records a root. The union-lists of the lane that is
being followed lie in `slots` and `states`, those of all other lanes **packed** in a pool.

Node 0 is dead: no window admits its start. It takes the place of nodes that are dropped.
"""

from typing import NamedTuple

import numpy as np

from ..jit import inline, jit
from ..streams.cpu import least_start, note_end
from .contract import BOTTOM, LABEL, LATEST, LEFT, RIGHT, UNION
from .cpu_nodes import (
    ACTIVE,
    EVENT,
    FREE,
    HIT,
    ITEM,
    ITEMS,
    LENGTH,
    MERGED,
    ORDER,
    ROOTS,
    SIDE,
    SLOT_OF,
    UNUSED,
    WORDS,
    begin_lists,
    follow_event,
    room_left,
)

DONE = 0
ARENA_FULL = 1
ROOTS_FULL = 2
POOL_FULL = 3

LANE, POOL, STREAM_WORDS = range(WORDS, WORDS + 3)
"""Further words of `progress`: the lane whose lists are not packed, -1 for none; words of the pool in use.
`STREAM_WORDS` is the number of all words."""

CAPACITY, STATES, BLOCK = range(3)
"""Words of a packed lane: its capacity; how many states have a list; then for each of these the state, the
length of its list, the union of the whole list or -1, and the nodes of the list."""


class PackedLists(NamedTuple):
    """The union-lists of lanes.

    ========  ================  =======================================================
    `where`   int64 [lanes]     the place of a lane's lists in the pool; -1: no run is open
    `pool`    int64 [capacity]
    ========  ================  =======================================================
    """

    where: np.ndarray
    pool: np.ndarray


@inline
def words_needed(progress):
    return BLOCK + 3 * progress[ACTIVE] + progress[ITEMS]


@jit
def pack(lists, slots, states, progress):
    """Put the lists of the lane in `slots` and `states` into the pool: `DONE` or `POOL_FULL`.

    The parameters are those of `follow`.
    """
    lane = progress[LANE]
    if lane < 0:
        return DONE
    if progress[ACTIVE] == 0:
        lists.where[lane] = -1
        progress[LANE] = -1
        return DONE
    needed = words_needed(progress)
    at = lists.where[lane]
    if at < 0 or lists.pool[at + CAPACITY] < needed:
        # Room for some more, so that a list that grows is not moved at every event.
        capacity = needed + (needed >> 2) + 4
        if progress[POOL] + capacity > lists.pool.shape[0]:
            return POOL_FULL
        at = progress[POOL]
        progress[POOL] = at + capacity
        lists.pool[at + CAPACITY] = capacity
        lists.where[lane] = at
    lists.pool[at + STATES] = progress[ACTIVE]
    side = progress[SIDE]
    to = at + BLOCK
    for k in range(progress[ACTIVE]):
        state = states[ORDER + side, k]
        slot = states[SLOT_OF + side, state]
        length = slots[slot, LENGTH]
        lists.pool[to] = state
        lists.pool[to + 1] = length
        lists.pool[to + 2] = slots[slot, MERGED]
        to += 3
        for m in range(length):
            lists.pool[to + m] = slots[slot, ITEM + m]
        to += length
    progress[LANE] = -1
    return DONE


@jit
def unpack(lane, lists, slots, states, progress):
    """Take the lists of a lane out of the pool."""
    begin_lists(slots, states, progress)
    progress[LANE] = lane
    at = lists.where[lane]
    if at < 0:
        return
    active = lists.pool[at + STATES]
    at += BLOCK
    items = 0
    for k in range(active):
        state = lists.pool[at]
        length = lists.pool[at + 1]
        progress[FREE] -= 1
        slot = states[UNUSED, progress[FREE]]
        states[ORDER, k] = state
        states[SLOT_OF, state] = slot
        slots[slot, LENGTH] = length
        slots[slot, MERGED] = lists.pool[at + 2]
        at += 3
        for m in range(length):
            slots[slot, ITEM + m] = lists.pool[at + m]
        at += length
        items += length
    progress[ACTIVE] = active
    progress[ITEMS] = items


@jit
def follow(tables, events, stop, window, bounds, lists, arena, roots, ends, slots, states, progress):
    """Follow all runs of a stream over its next events: `DONE`, or which array is full.

    ============  =======================================  ==============================================
    `tables`      TransitionTables                         in
    `events`      StreamEvents                             in; `following` in/out
    `stop`        int64                                    in: one past the last event
    `window`      StreamWindow                             in
    `bounds`      LaneBounds                               in/out
    `lists`       PackedLists                              in/out
    `arena`       int64 [capacity, 4]                      in/out: nodes 0 .. progress[NODES] - 1
    `roots`       Roots                                    out: roots 0 .. progress[ROOTS] - 1
    `ends`        StreamEnds                               out: ends 0 .. progress[HIT] - 1
    `slots`       int64 [2 n_live + 2, ITEM + n_live + 2]  in/out: the lists of the lane at hand
    `states`      int64 [cpu_nodes.ROWS, 2 n_live + 2]     in/out: of that lane
    `progress`    int64 [STREAM_WORDS]                     in/out: the next event, and so on
    ============  =======================================  ==============================================

    When an array is full, the host enlarges it and calls again with everything else as it is. `roots` and
    `ends` hold what ends since progress[ROOTS] and progress[HIT] were set to 0.
    """
    laned = events.lanes.shape[0] > 0
    while progress[EVENT] < stop:
        event = progress[EVENT]
        lane = 0
        if laned:
            lane = events.lanes[event]
        if lane != progress[LANE]:
            if pack(lists, slots, states, progress) != DONE:
                return POOL_FULL
            unpack(lane, lists, slots, states, progress)
        symbol = events.symbols[event]
        block = tables.first[symbol + 1] - tables.first[symbol]
        status = room_left(arena, roots, progress, block)
        if status != DONE:
            return status
        bound = least_start(events, event, lane, window.size, bounds)
        first_root = progress[ROOTS]
        follow_event(tables, arena, roots, slots, states, progress, symbol, event, True, bound)
        progress[EVENT] = event + 1
        if progress[ROOTS] > first_root:
            end = progress[HIT]
            latest = -1
            for root in range(first_root, progress[ROOTS]):
                latest = max(latest, arena[roots.node[root], LATEST])
            roots.first[end + 1] = progress[ROOTS]
            progress[HIT] = end + 1
            note_end(ends, end, event, lane, bound, latest, bounds, window.consumes)
    return DONE


@jit
def kept_lists(where, pool, place_of, kept):
    """Copy the packed lists of lanes without the nodes that were dropped; gives how many words they take.

    `where` of PackedLists in/out; `pool` likewise in; `place_of` int64 [nodes] in: the new number of each
    node, 0 for one that is dropped; `kept` int64 [words of the pool] out.
    """
    used = 0
    for lane in range(where.shape[0]):
        at = where[lane]
        if at < 0:
            continue
        states = 0
        start = at + BLOCK
        to = used + BLOCK
        for _ in range(pool[at + STATES]):
            length = pool[start + 1]
            left = 0
            # Later starts come first, so dropped nodes are at the end.
            while left < length and place_of[pool[start + 3 + left]] != 0:
                kept[to + 3 + left] = place_of[pool[start + 3 + left]]
                left += 1
            if left > 0:
                kept[to] = pool[start]
                kept[to + 1] = left
                kept[to + 2] = -1
                if left == length and pool[start + 2] >= 0:
                    kept[to + 2] = place_of[pool[start + 2]]
                to += 3 + left
                states += 1
            start += 3 + length
        where[lane] = -1
        if states > 0:
            where[lane] = used
            kept[used + CAPACITY] = to - used
            kept[used + STATES] = states
            used = to
    return used


@jit
def count_up_to(arena, roots, lowest, most, counts, stack, halt):
    """Count the complex events of each of some ends, up to `most`: `most` + 1 stands for more.

    ==========  ====================  ==============================================================
    `arena`     int64 [nodes, 4]      in
    `roots`     Roots                 in
    `lowest`    int64 [ends]          in: the least admissible start
    `most`      int64                 in
    `counts`    int64 [ends]          out; -1 where the stack is too small
    `stack`     int64 [nodes]         scratch
    `halt`      uint8 [1]             in: see `jit`
    ==========  ====================  ==============================================================
    """
    for end in range(lowest.shape[0]):
        if halt[0]:
            return
        bound = lowest[end]
        found = 0
        for root in range(roots.first[end], roots.first[end + 1]):
            stack[0] = roots.node[root]
            n = 1
            if arena[stack[0], LATEST] < bound:
                n = 0
            while n > 0 and found >= 0 and found <= most:
                n -= 1
                node = stack[n]
                label = arena[node, LABEL]
                while label != BOTTOM:
                    if label == UNION:
                        right = arena[node, RIGHT]
                        if arena[right, LATEST] >= bound:
                            if n == stack.shape[0]:
                                found = -2
                                break
                            stack[n] = right
                            n += 1
                    node = arena[node, LEFT]
                    label = arena[node, LABEL]
                found += 1
        counts[end] = found
