"""Building the persistent structure: tECS of CORE (Bucchi, Grez, Quintana, Riveros, Vansummeren, VLDB 2022).

A node stands for a set of open complex events, and is never changed once written:

- a **bottom** for the one that starts at its event,
- an **output** for those of its child, with one more mark (event, label),
- a **union** for those of its left and its right child, which are disjoint.

`latest` is the greatest start in the set. Children precede their parents in the arrays. Unions are
**time-ordered** (`latest[left] >= latest[right]`) and their **output depth** (the number of left steps to a
node that is no union) is at most 3, so that enumeration meets an output after a bounded number of steps.

Each state of the automaton has a **union-list** n_0, n_1, ..., n_k with `latest[n_0] >= latest[n_1] >
latest[n_2] > ...`, n_0 no union. The union of a whole list is made only when a transition needs it. States
are followed in decreasing order of `latest[n_0]`, so whatever joins an existing list fits behind its n_0.
A list has at most n_live + 2 elements: behind n_0 there are only starts that were the latest of some state
when n_0's start was new. So an event costs a number of steps that depends on the query alone.
"""

from typing import NamedTuple

import numba
import numpy as np

from .tables import RunTables  # noqa: F401  (the type that the contract names)

UNION = -1
BOTTOM = -2

DONE = 0
ARENA_FULL = 1
ROOTS_FULL = 2

SEGMENT, EVENT, HIT, NODES, ROOTS, ACTIVE, OPEN, BOUND, FREE, ITEMS = range(10)
"""Meaning of the words of `progress`: what is carried from call to call of `build`."""


class Arena(NamedTuple):
    """The nodes of a structure, by number.

    ==========  ===============  ===============================================================
    `label`     int32 [nodes]    label of an output (>= 1), or `UNION`, or `BOTTOM`
    `event`     int64 [nodes]    event of an output or a bottom; unused in a union
    `left`      int32 [nodes]    left child of a union, child of an output; -1 in a bottom
    `right`     int32 [nodes]    right child of a union; -1 elsewhere
    `latest`    int64 [nodes]    greatest start among the complex events of the node
    ==========  ===============  ===============================================================
    """

    label: np.ndarray
    event: np.ndarray
    left: np.ndarray
    right: np.ndarray
    latest: np.ndarray


class Roots(NamedTuple):
    """What ends at each hit: with mark (event of the hit, label), the complex events of a node.

    `first` int64 [hits + 1]; `label` int32 [roots], 0 for no mark; `node` int32 [roots].
    """

    first: np.ndarray
    label: np.ndarray
    node: np.ndarray


class Lists(NamedTuple):
    """The union-lists of lanes between two calls.

    ==========  =================================  ==============================================
    `active`    int32 [lanes]                      number of states with a list
    `state`     int32 [lanes, n_live]              these states, by decreasing latest start
    `length`    int32 [lanes, n_live]              length of the list of each of them
    `node`      int32 [lanes, n_live, n_live + 2]  its nodes
    ==========  =================================  ==============================================
    """

    active: np.ndarray
    state: np.ndarray
    length: np.ndarray
    node: np.ndarray


class Slots(NamedTuple):
    """Working union-lists: every list lies in a slot, and states refer to slots.

    ============  =====================================  ===============================================
    `length`      int32 [2 n_live + 2]                   length of the list in a slot
    `node`        int32 [2 n_live + 2, n_live + 2]       its nodes
    `merged`      int32 [2 n_live + 2]                   the union of the whole list, or -1
    `free`        int32 [2 n_live + 2]                   stack of unused slots
    `order`       int32 [2, n_live]                      states with a list, now and after the event
    `of`          int32 [2, n_live]                      their slots, or -1
    ============  =====================================  ===============================================
    """

    length: np.ndarray
    node: np.ndarray
    merged: np.ndarray
    free: np.ndarray
    order: np.ndarray
    of: np.ndarray


_jit = numba.njit(nogil=True, cache=True)


@_jit
def _union(arena, progress, left, right):
    node = progress[NODES]
    progress[NODES] = node + 1
    arena.label[node] = UNION
    arena.event[node] = -1
    arena.left[node] = left
    arena.right[node] = right
    arena.latest[node] = arena.latest[left]
    return node


@_jit
def _output(arena, progress, event, label, child):
    node = progress[NODES]
    progress[NODES] = node + 1
    arena.label[node] = label
    arena.event[node] = event
    arena.left[node] = child
    arena.right[node] = -1
    arena.latest[node] = event if label == BOTTOM else arena.latest[child]
    return node


@_jit
def _joined(arena, progress, one, other):
    """The union of two nodes with the same latest start, whose left children (if any) are no unions.

    The gadget of CORE's Figure 4: the result has a non-union on its left again, and its output depth does
    not grow with the number of joins.
    """
    if arena.label[one] != UNION:
        return _union(arena, progress, one, other)
    if arena.label[other] != UNION:
        return _union(arena, progress, other, one)
    first = arena.right[one]
    second = arena.right[other]
    if arena.latest[first] >= arena.latest[second]:
        rest = _union(arena, progress, first, second)
    else:
        rest = _union(arena, progress, second, first)
    return _union(arena, progress, arena.left[one], _union(arena, progress, arena.left[other], rest))


@_jit
def _merge(arena, slots, progress, slot):
    """The union of a whole list, made once as long as the list does not change."""
    if slots.merged[slot] < 0:
        k = slots.length[slot] - 1
        node = np.int64(slots.node[slot, k])
        while k > 0:
            k -= 1
            node = _union(arena, progress, slots.node[slot, k], node)
        slots.merged[slot] = node
    return np.int64(slots.merged[slot])


@_jit
def _new_list(slots, progress, node):
    progress[FREE] -= 1
    slot = slots.free[progress[FREE]]
    slots.length[slot] = 1
    slots.node[slot, 0] = node
    slots.merged[slot] = -1
    return slot


@_jit
def _release(slots, progress, slot):
    slots.free[progress[FREE]] = slot
    progress[FREE] += 1


@_jit
def _insert(arena, slots, progress, slot, node):
    """Put a node, not later than the first one, into a list."""
    latest = arena.latest[node]
    length = slots.length[slot]
    k = 1
    while k < length and arena.latest[slots.node[slot, k]] > latest:
        k += 1
    if k < length and arena.latest[slots.node[slot, k]] == latest:
        slots.node[slot, k] = _joined(arena, progress, np.int64(slots.node[slot, k]), node)
    else:
        for m in range(length, k, -1):
            slots.node[slot, m] = slots.node[slot, m - 1]
        slots.node[slot, k] = node
        slots.length[slot] = length + 1
    slots.merged[slot] = -1


@_jit
def _expire(arena, slots, slot, bound):
    """Drop the elements of a list whose starts are all below the bound; whether anything is left."""
    length = slots.length[slot]
    while length > 0 and arena.latest[slots.node[slot, length - 1]] < bound:
        length -= 1
    if length < slots.length[slot]:
        slots.length[slot] = length
        slots.merged[slot] = -1
    return length > 0


@_jit
def _forget(slots, progress, side):
    """Empty all lists."""
    for k in range(progress[ACTIVE]):
        state = slots.order[side, k]
        _release(slots, progress, slots.of[side, state])
        slots.of[side, state] = -1
    progress[ACTIVE] = 0


@_jit
def _load(lists, slots, progress, row):
    n = slots.of.shape[1]
    for slot in range(slots.free.shape[0]):
        slots.free[slot] = slot
    progress[FREE] = slots.free.shape[0]
    progress[ACTIVE] = 0
    slots.of[:] = -1
    progress[ITEMS] = 0
    if row < 0:
        return
    for k in range(min(lists.active[row], n)):
        state = lists.state[row, k]
        slot = _new_list(slots, progress, lists.node[row, k, 0])
        length = lists.length[row, k]
        for m in range(length):
            slots.node[slot, m] = lists.node[row, k, m]
        slots.length[slot] = length
        slots.order[0, k] = state
        slots.of[0, state] = slot
        progress[ACTIVE] += 1
        progress[ITEMS] += length


@_jit
def _store(lists, slots, progress, row, side):
    lists.active[row] = progress[ACTIVE]
    for k in range(progress[ACTIVE]):
        state = slots.order[side, k]
        slot = slots.of[side, state]
        lists.state[row, k] = state
        lists.length[row, k] = slots.length[slot]
        for m in range(slots.length[slot]):
            lists.node[row, k, m] = slots.node[slot, m]


@_jit
def _transitions_of(tables, state, low, high):
    """The first transition of a state in a symbol's block."""
    while low < high:
        middle = (low + high) >> 1
        if tables.source[middle] < state:
            low = middle + 1
        else:
            high = middle
    return low


@_jit
def _step(tables, arena, roots, slots, progress, symbol, event, ends, bound, side):
    """Follow all runs over one event; the states with a list afterwards lie on the other side."""
    begin = tables.first[symbol]
    stop = tables.first[symbol + 1]
    other = 1 - side
    n_next = 0
    items = 0
    for k in range(-1, progress[ACTIVE]):
        if k < 0:
            state = np.int64(0)
            slot = np.int64(-1)
        else:
            state = np.int64(slots.order[side, k])
            slot = np.int64(slots.of[side, state])
            slots.of[side, state] = -1
            if not _expire(arena, slots, slot, bound):
                _release(slots, progress, slot)
                continue
        t = _transitions_of(tables, state, begin, stop)
        node = np.int64(-1)
        moved = False
        while t < stop and tables.source[t] == state:
            label = tables.label[t]
            target = tables.target[t]
            taken = -1 if target < 0 else slots.of[other, target]
            if label == 0 and target >= 0 and taken < 0 and k >= 0 and not moved:
                # the list itself goes on: nothing is built
                slots.of[other, target] = slot
                slots.order[other, n_next] = target
                n_next += 1
                moved = True
                target = -1
            if node < 0 and (target >= 0 or (ends and tables.accepting[t])):
                if k < 0:
                    node = _output(arena, progress, event, BOTTOM, -1)
                else:
                    node = _merge(arena, slots, progress, slot)
            if ends and tables.accepting[t]:
                roots.label[progress[ROOTS]] = label
                roots.node[progress[ROOTS]] = node
                progress[ROOTS] += 1
            if target >= 0:
                reached = node if label == 0 else _output(arena, progress, event, label, node)
                if taken < 0:
                    slots.of[other, target] = _new_list(slots, progress, reached)
                    slots.order[other, n_next] = target
                    n_next += 1
                else:
                    _insert(arena, slots, progress, taken, reached)
            t += 1
        if k >= 0 and not moved:
            _release(slots, progress, slot)
    for k in range(n_next):
        items += slots.length[slots.of[other, slots.order[other, k]]]
    progress[ACTIVE] = n_next
    progress[ITEMS] = items


@_jit
def build(
    tables, symbols, begin, stop, hit_first, hit_event, hit_lowest, lane, arena, roots, lists, slots, progress
):
    """Build the nodes of segments and record the roots of their hits; `DONE`, or which array is full.

    ============  ========================  =============================================================
    `tables`      RunTables                 in
    `symbols`     uint8 or uint16 [events]  in
    `begin`       int64 [segments]          in: first event of each segment
    `stop`        int64 [segments]          in: one past the last event
    `hit_first`   int64 [segments + 1]      in: the hits of a segment are hit_first[g] .. hit_first[g + 1] - 1
    `hit_event`   int64 [hits]              in: ascending inside a segment
    `hit_lowest`  int64 [hits]              in: least admissible start; non-decreasing inside a segment
    `lane`        int64 [segments]          in: row of `lists` to go on from and to leave behind; -1: neither
    `arena`       Arena                     out, from node progress[NODES] on
    `roots`       Roots                     out: `first` [hits + 1], `label` and `node` [capacity]
    `lists`       Lists                     in/out
    `slots`       Slots                     scratch, kept between the calls of one building
    `progress`    int64 [10]                in/out: zeros but for NODES at first, then kept
    ============  ========================  =============================================================

    When an array is full, the host enlarges it and calls again with everything else as it is. A run whose
    start no hit to come admits is not followed, and events that no hit needs are skipped.
    """
    while progress[SEGMENT] < begin.shape[0]:
        g = progress[SEGMENT]
        if progress[OPEN] == 0:
            _load(lists, slots, progress, lane[g])
            progress[OPEN] = 1
            progress[EVENT] = begin[g]
            progress[HIT] = hit_first[g]
            progress[BOUND] = 0
        side = 0 if progress[OPEN] == 1 else 1
        event = progress[EVENT]
        h = progress[HIT]
        h1 = hit_first[g + 1]
        end = stop[g]
        bound = progress[BOUND]
        while event < end and (h < h1 or lane[g] >= 0):
            if h < h1 and hit_lowest[h] > bound:
                bound = hit_lowest[h]
                if bound > event:
                    _forget(slots, progress, side)
                    progress[ITEMS] = 0
                    event = bound
            symbol = symbols[event]
            block = tables.first[symbol + 1] - tables.first[symbol]
            status = DONE
            if progress[NODES] + progress[ITEMS] + 4 * block + 1 > arena.label.shape[0]:
                status = ARENA_FULL
            elif progress[ROOTS] + block > roots.label.shape[0]:
                status = ROOTS_FULL
            if status != DONE:
                progress[EVENT] = event
                progress[HIT] = h
                progress[BOUND] = bound
                progress[OPEN] = 1 + side
                return status
            ends = h < h1 and hit_event[h] == event
            if ends:
                roots.first[h] = progress[ROOTS]
            _step(tables, arena, roots, slots, progress, symbol, event, ends, bound, side)
            side = 1 - side
            if ends:
                h += 1
                roots.first[h] = progress[ROOTS]
            event += 1
        if lane[g] >= 0:
            _store(lists, slots, progress, lane[g], side)
        progress[OPEN] = 0
        progress[SEGMENT] = g + 1
    return DONE


@_jit
def compact(arena, n_nodes, lists, lowest, shift, number):
    """Drop the nodes that no list needs, in place; the new number of nodes.

    ============  =================  ====================================================================
    `arena`       Arena              in/out
    `n_nodes`     int64              in: nodes in the arena
    `lists`       Lists              in/out: the only way in afterwards; roots become invalid
    `lowest`      int64              in: starts below it are admitted no more in any lane
    `shift`       int64              in: subtracted from every event number
    `number`      int32 [n_nodes]    scratch: the new number of each node
    ============  =================  ====================================================================

    A union with nothing admissible on its right is replaced by its left child.
    """
    for node in range(n_nodes):
        number[node] = -1
    for row in range(lists.active.shape[0]):
        kept = 0
        for k in range(lists.active[row]):
            length = lists.length[row, k]
            while length > 0 and arena.latest[lists.node[row, k, length - 1]] < lowest:
                length -= 1
            if length > 0:
                lists.state[row, kept] = lists.state[row, k]
                lists.length[row, kept] = length
                for m in range(length):
                    lists.node[row, kept, m] = lists.node[row, k, m]
                    number[lists.node[row, k, m]] = 0
                kept += 1
        lists.active[row] = kept
    for node in range(n_nodes - 1, -1, -1):
        if number[node] == 0 and arena.label[node] != BOTTOM:
            number[arena.left[node]] = 0
            if arena.label[node] == UNION and arena.latest[arena.right[node]] >= lowest:
                number[arena.right[node]] = 0
    n = 0
    for node in range(n_nodes):
        if number[node] < 0:
            continue
        label = arena.label[node]
        left = arena.left[node]
        right = arena.right[node]
        if label == UNION and arena.latest[node] >= lowest and number[right] < 0:
            number[node] = number[left]
            continue
        # a node moves to a lower number, so what is overwritten has been moved already
        number[node] = n
        arena.latest[n] = arena.latest[node] - shift
        arena.event[n] = -1 if label == UNION else arena.event[node] - shift
        arena.left[n] = number[left] if label != BOTTOM else -1
        arena.right[n] = number[right] if label == UNION else -1
        arena.label[n] = label
        n += 1
    for row in range(lists.active.shape[0]):
        for k in range(lists.active[row]):
            for m in range(lists.length[row, k]):
                lists.node[row, k, m] = number[lists.node[row, k, m]]
    return n
