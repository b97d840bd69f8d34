"""Following the runs of an automaton with one clock, event by event: timed CEL paper, Algorithm 3.

At each event the transitions that reset the clock are taken first, then the others, states in decreasing
order of their greatest stamps. So whatever joins an existing union-list fits behind its first node, and no
list is longer than |Q| + 2 (Lemma C.6). A transition without a mark, check or reset passes the list on
unchanged.

The lists of the lane at hand lie in `slots` and `states`, those of all others packed in a pool, as
`cer_gpu.kernels.forest.cpu_stream` packs them.
"""

from typing import NamedTuple

import numpy as np

from ..forest.contract import Roots
from ..forest.cpu_nodes import (
    ACTIVE,
    BOUND,
    EVENT,
    FREE,
    HIT,
    ITEM,
    ITEMS,
    LENGTH,
    MERGED,
    NODES,
    ORDER,
    ROOTS,
    SIDE,
    SLOT_OF,
    UNUSED,
    first_of,
    release,
)
from ..forest.cpu_stream import LANE, STREAM_WORDS, pack, unpack
from ..jit import inline, jit
from ..streams.contract import StreamEnds
from ..streams.cpu import consume, least_start
from .contract import LATEST, NO_CHECK, STAMP
from .cpu_nodes import SPINE, bottom, composed, joined, made, melded, union
from .cpu_walk import latest_start

DONE = 0
ARENA_FULL = 1
ROOTS_FULL = 2
POOL_FULL = 3
STACK_FULL = 4

FOLLOWED, EXACT, OVERLONG, WORDS = range(STREAM_WORDS, STREAM_WORDS + 4)
"""Further words of `progress`: whether the runs have been followed over the next event and only its end is
still to be reported; whether a node whose latest start is in the window always has a run that is, so that no
search is needed; how often a list was longer than it may be. `WORDS` is the number of all words."""


class ClockedEnds(NamedTuple):
    """What the kernel finds.

    =======  ==========  ==================================================================
    `roots`  Roots       the runs that end at each end, with one more mark
    `ends`   StreamEnds
    =======  ==========  ==================================================================
    """

    roots: Roots
    ends: StreamEnds


class ClockedScratch(NamedTuple):
    """What the kernels write on; `slots` and `states` hold the lists of the lane at hand.

    ========  =======================================  ===========================================
    `slots`   int64 [2 n_live + 3, ITEM + n_live + 2]
    `states`  int64 [cpu_nodes.ROWS, 2 n_live + 3]
    `least`   int64 [constants]                        the least stamp that passes each check
    `pieces`  int64 [2, cpu_nodes.SPINE]
    `stack`   int64 [2, nodes]
    ========  =======================================  ===========================================
    """

    slots: np.ndarray
    states: np.ndarray
    least: np.ndarray
    pieces: np.ndarray
    stack: np.ndarray


@jit
def merge(arena, slots, progress, slot):
    """The union of all nodes of a list, made once as long as the list does not change."""
    if slots[slot, MERGED] < 0:
        k = ITEM + slots[slot, LENGTH] - 1
        node = slots[slot, k]
        while k > ITEM:
            k -= 1
            node = union(arena, progress, slots[slot, k], node)
        slots[slot, MERGED] = node
    return slots[slot, MERGED]


@jit
def insert(arena, slots, progress, slot, node, sense, pieces):
    """Put a node into a list, whose first node has no smaller stamp; for checks `>=`, into the heap."""
    slots[slot, MERGED] = -1
    if sense < 0:
        slots[slot, ITEM] = melded(arena, progress, slots[slot, ITEM], node, pieces)
        return
    stamp = arena[node, STAMP]
    stop = ITEM + slots[slot, LENGTH]
    k = ITEM + 1
    while k < stop and arena[slots[slot, k], STAMP] > stamp:
        k += 1
    if k < stop and arena[slots[slot, k], STAMP] == stamp:
        slots[slot, k] = joined(arena, progress, slots[slot, k], node)
        return
    if stop == slots.shape[1]:
        # Lemma C.6 says that this does not happen; the validator looks at the word.
        progress[OVERLONG] += 1
        stop -= 1
        k = min(k, stop)
        slots[slot, stop - 1] = union(arena, progress, slots[slot, stop - 1], slots[slot, stop])
    for m in range(stop, k, -1):
        slots[slot, m] = slots[slot, m - 1]
    slots[slot, k] = node
    slots[slot, LENGTH] = stop + 1 - ITEM


@jit
def expire(arena, slots, slot, bound, least):
    """Drop the elements of a list whose starts are all below a bound, or whose stamps are too small.

    The first one stays as long as any element does: it holds the place of a node that is no union.
    """
    length = slots[slot, LENGTH]
    kept = 0
    for k in range(ITEM, ITEM + length):
        node = slots[slot, k]
        alive = arena[node, LATEST] >= bound and arena[node, STAMP] >= least
        if alive or k == ITEM:
            slots[slot, ITEM + kept] = node
            kept += 1
    if kept == 1 and (arena[slots[slot, ITEM], LATEST] < bound or arena[slots[slot, ITEM], STAMP] < least):
        kept = 0
    if kept < length:
        slots[slot, LENGTH] = kept
        slots[slot, MERGED] = -1
    return kept


@jit
def new_list(slots, states, progress):
    progress[FREE] -= 1
    slot = states[UNUSED, progress[FREE]]
    slots[slot, LENGTH] = 0
    slots[slot, MERGED] = -1
    return slot


@jit
def moved_list(arena, progress, scratch, slot, resets, stamp, least):
    """Put a gadget on a list, `ul-clock-check` and `ul-reset` of the paper; gives the new list, -1 if empty.

    After a reset all nodes have one stamp: the first stays, the others become one node behind it.
    """
    slots = scratch.slots
    fresh = new_list(slots, scratch.states, progress)
    n = 0
    for k in range(slots[slot, LENGTH]):
        node = composed(arena, progress, resets, stamp, least, slots[slot, ITEM + k])
        if node < 0:
            continue
        if resets and n == 2:
            slots[fresh, ITEM + 1] = joined(arena, progress, slots[fresh, ITEM + 1], node)
        else:
            slots[fresh, ITEM + n] = node
            n += 1
    slots[fresh, LENGTH] = n
    if n == 0:
        release(scratch.states, progress, fresh)
        return -1
    return fresh


@inline
def append(states, progress, side, state, slot):
    states[ORDER + side, progress[ACTIVE]] = state
    states[SLOT_OF + side, state] = slot
    progress[ACTIVE] += 1


@jit
def follow_event(tables, arena, roots, scratch, progress, symbol, event, stamp, bound):
    """Follow all runs over one event, from the present side of `scratch` to the other."""
    slots = scratch.slots
    states = scratch.states
    side = progress[SIDE]
    other = 1 - side
    n_active = progress[ACTIVE]
    for k in range(n_active):
        state = states[ORDER + side, k]
        slot = states[SLOT_OF + side, state]
        least = NO_CHECK
        if tables.useful[state] >= 0:
            least = scratch.least[tables.useful[state]]
        if expire(arena, slots, slot, bound, least) == 0:
            release(states, progress, slot)
            states[SLOT_OF + side, state] = -1
    progress[ACTIVE] = 0
    progress[SIDE] = other
    start = -1
    low = tables.first[symbol]
    stop = tables.first[symbol + 1]
    for turn in range(2):
        for k in range(-1, n_active):
            state = 0
            slot = -1
            if k >= 0:
                state = states[ORDER + side, k]
                slot = states[SLOT_OF + side, state]
                if slot < 0:
                    continue
            node = -1
            moved = False
            t = first_of(tables.source, state, low, stop)
            while t < stop and tables.source[t] == state:
                resets = tables.resets[t] != 0
                if resets != (turn == 0):
                    t += 1
                    continue
                goal = tables.target[t]
                ends = tables.accepting[t] != 0
                label = tables.label[t]
                least = NO_CHECK
                if tables.check[t] >= 0:
                    least = scratch.least[tables.check[t]]
                taken = -1
                if goal >= 0:
                    taken = states[SLOT_OF + other, goal]
                if label == 0 and goal >= 0 and taken < 0 and k >= 0:
                    if resets or least != NO_CHECK:
                        fresh = moved_list(arena, progress, scratch, slot, resets, stamp, least)
                        if fresh >= 0:
                            append(states, progress, other, goal, fresh)
                    else:
                        # the list itself goes on: nothing is built
                        append(states, progress, other, goal, slot)
                        moved = True
                    goal = -1
                if node < 0 and (goal >= 0 or ends):
                    if k >= 0:
                        node = merge(arena, slots, progress, slot)
                    else:
                        if start < 0:
                            start = bottom(arena, progress, event, stamp)
                        node = start
                if ends:
                    root = composed(arena, progress, False, stamp, least, node)
                    if root >= 0:
                        roots.label[progress[ROOTS]] = label
                        roots.node[progress[ROOTS]] = root
                        progress[ROOTS] += 1
                if goal >= 0:
                    reached = node
                    if label != 0 and arena[node, STAMP] >= least:
                        reached = made(arena, progress, label, node, event)
                    reached = composed(arena, progress, resets, stamp, least, reached)
                    if reached >= 0 and taken >= 0:
                        insert(arena, slots, progress, taken, reached, tables.sense, scratch.pieces)
                    elif reached >= 0:
                        fresh = new_list(slots, states, progress)
                        slots[fresh, ITEM] = reached
                        slots[fresh, LENGTH] = 1
                        append(states, progress, other, goal, fresh)
                t += 1
            if turn == 1 and k >= 0:
                states[SLOT_OF + side, state] = -1
                if not moved:
                    release(states, progress, slot)
    items = 0
    for k in range(progress[ACTIVE]):
        items += slots[states[SLOT_OF + other, states[ORDER + other, k]], LENGTH]
    progress[ITEMS] = items


@jit
def _aged(clocked, lanes, event, lane, sense, least):
    """Move on, for each constant, to the first event of the lane that is not too old, and note the stamps."""
    if lanes.last[lane] >= 0:
        clocked.following[lanes.last[lane]] = event
    clocked.following[event] = -1
    lanes.last[lane] = event
    now = clocked.times[event]
    for c in range(clocked.constants.shape[0]):
        near = lanes.near[lane, c]
        if near < 0:
            near = event
        # An infinite time less itself is no number, and passes no check.
        if sense > 0:
            while near != event and not now - clocked.times[near] <= clocked.constants[c]:
                near = clocked.following[near]
            least[c] = clocked.serial[near]
        else:
            while near != event and now - clocked.times[near] >= clocked.constants[c]:
                near = clocked.following[near]
            least[c] = 1 - clocked.serial[near]
        lanes.near[lane, c] = near


@jit
def report_event(arena, out, scratch, progress, event, bound):
    """Write the end at an event, if one of its runs is in the window: `DONE` or `STACK_FULL`."""
    hit = progress[HIT]
    first = out.roots.first[hit]
    latest = -1
    for root in range(first, progress[ROOTS]):
        node = out.roots.node[root]
        if progress[EXACT] != 0:
            latest = max(latest, arena[node, LATEST])
        else:
            latest = latest_start(arena, node, bound, latest, scratch.stack)
            if latest < -1:
                return STACK_FULL
    if latest < bound:
        progress[ROOTS] = first
        return DONE
    out.ends.event[hit] = event
    out.ends.lowest[hit] = bound
    out.ends.latest[hit] = latest
    out.roots.first[hit + 1] = progress[ROOTS]
    progress[HIT] = hit + 1
    return DONE


@jit
def follow(tables, events, clocked, stop, window, bounds, lanes, lists, arena, out, scratch, progress):
    """Follow all runs of a stream over its next events: `DONE`, or which array is full.

    ============  =========================  ===================================================
    `tables`      ClockTables                in
    `events`      StreamEvents               in; `following` in/out
    `clocked`     ClockedEvents              in; `following` out
    `stop`        int64                      in: one past the last event
    `window`      StreamWindow               in
    `bounds`      LaneBounds                 in/out
    `lanes`       ClockedLanes               in/out
    `lists`       PackedLists                in/out
    `arena`       int64 [capacity, COLUMNS]  in/out: nodes 0 .. progress[NODES] - 1
    `out`         ClockedEnds                out: roots 0 .. progress[ROOTS] - 1, and the ends
    `scratch`     ClockedScratch             in/out
    `progress`    int64 [WORDS]              in/out: the next event, and so on
    ============  =========================  ===================================================

    When an array is full, the host enlarges it and calls again with everything else as it is.
    """
    laned = events.lanes.shape[0] > 0
    longest = scratch.slots.shape[1] - ITEM
    each = 13 * longest + 24 if tables.sense > 0 else 10 * SPINE
    while progress[EVENT] < stop:
        event = progress[EVENT]
        lane = 0
        if laned:
            lane = events.lanes[event]
        symbol = events.symbols[event]
        if progress[FOLLOWED] == 0:
            if lane != progress[LANE]:
                if pack(lists, scratch.slots, scratch.states, progress) != DONE:
                    return POOL_FULL
                unpack(lane, lists, scratch.slots, scratch.states, progress)
            block = tables.first[symbol + 1] - tables.first[symbol]
            if progress[NODES] + block * each + 2 * progress[ITEMS] + 2 > arena.shape[0]:
                return ARENA_FULL
            if progress[ROOTS] + block > out.roots.node.shape[0]:
                return ROOTS_FULL
            _aged(clocked, lanes, event, lane, tables.sense, scratch.least)
            bound = least_start(events, event, lane, window.size, bounds)
            stamp = tables.sense * clocked.serial[event]
            follow_event(tables, arena, out.roots, scratch, progress, symbol, event, stamp, bound)
            progress[BOUND] = bound
            progress[FOLLOWED] = 1
        if progress[ROOTS] > out.roots.first[progress[HIT]]:
            before = progress[HIT]
            if report_event(arena, out, scratch, progress, event, progress[BOUND]) != DONE:
                return STACK_FULL
            if progress[HIT] > before:
                consume(bounds, event, lane, window.consumes)
        progress[FOLLOWED] = 0
        progress[EVENT] = event + 1
    return DONE
