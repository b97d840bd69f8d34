"""Bulk enumeration: all complex events of many hits, each hit's in canonical order.

The canonical order of the complex events of one end is ascending (start, marked events, labels), the
last two compared as tuples. The structure is walked from the hit's roots, left before right, with the
expired parts cut off (`latest` below the hit's lowest start). So every node that is visited leads to a
complex event, and the time is linear in the output. The walk finds late starts first, so it fills the
hit's slice from the back, and what remains out of order is sorted: by start with a stable radix sort, then
by marks inside the few groups of one start that need it.
"""

from typing import NamedTuple

import numba
import numpy as np

from .nodes import BOTTOM, UNION

DONE = 0
BLOCK_FULL = 1
HIT_TOO_LARGE = 2
MISMATCH = 3

SMALL = 24
"""Slices up to this length are sorted by insertion."""


class Found(NamedTuple):
    """Scratch for the complex events of one hit, in the order in which they are found.

    ==========  ===================  ==============================================================
    `start`     int64 [events]       their starts
    `first`     int64 [events]       where the marks of each begin
    `length`    int64 [events]       number of marks of each
    `order`     int64 [2, events]    the complex events in canonical order, and scratch of the sort
    `event`     int64 [marks]        the events of the marks
    `label`     int32 [marks]        their labels
    `pending`   int64 [2, stack]     nodes still to visit, and the number of marks that lead to them
    `path`      int64 [2, stack]     events and labels of the marks from the root to the node visited
    ==========  ===================  ==============================================================
    """

    start: np.ndarray
    first: np.ndarray
    length: np.ndarray
    order: np.ndarray
    event: np.ndarray
    label: np.ndarray
    pending: np.ndarray
    path: np.ndarray


class Block(NamedTuple):
    """Complex events, one after another.

    ============  =============================  ====================================================
    `hit`         int64 [complex events]         the number of the hit at which each ends
    `start`       int64 [complex events]         the event at which it starts
    `first`       int64 [complex events + 1]     where its marks begin
    `event`       int64 [marks]                  the marked events, ascending in each complex event
    `label`       int32 [marks]                  their labels, >= 1
    ============  =============================  ====================================================
    """

    hit: np.ndarray
    start: np.ndarray
    first: np.ndarray
    event: np.ndarray
    label: np.ndarray


_jit = numba.njit(nogil=True, cache=True)


@_jit
def _walk(arena, root_label, root_node, r0, r1, end, lowest, count, found):
    """Find all complex events of a hit, the last found first; `DONE` or what went wrong."""
    free = count
    n_marks = 0
    for r in range(r0, r1):
        depth = 0
        if root_label[r] != 0:
            found.path[0, 0] = end
            found.path[1, 0] = root_label[r]
            depth = 1
        if arena.latest[root_node[r]] < lowest:
            continue
        found.pending[0, 0] = root_node[r]
        found.pending[1, 0] = depth
        n_pending = 1
        while n_pending > 0:
            n_pending -= 1
            node = found.pending[0, n_pending]
            depth = found.pending[1, n_pending]
            label = arena.label[node]
            while label != BOTTOM:
                if label == UNION:
                    right = arena.right[node]
                    if arena.latest[right] >= lowest:
                        if n_pending == found.pending.shape[1]:
                            return HIT_TOO_LARGE
                        found.pending[0, n_pending] = right
                        found.pending[1, n_pending] = depth
                        n_pending += 1
                else:
                    if depth == found.path.shape[1]:
                        return HIT_TOO_LARGE
                    found.path[0, depth] = arena.event[node]
                    found.path[1, depth] = label
                    depth += 1
                node = np.int64(arena.left[node])
                label = arena.label[node]
            if free == 0:
                return MISMATCH
            if n_marks + depth > found.event.shape[0]:
                return HIT_TOO_LARGE
            free -= 1
            found.start[free] = arena.event[node]
            found.first[free] = n_marks
            found.length[free] = depth
            for k in range(depth):
                found.event[n_marks + k] = found.path[0, depth - 1 - k]
                found.label[n_marks + k] = found.path[1, depth - 1 - k]
            n_marks += depth
    return DONE if free == 0 else MISMATCH


@_jit
def _precedes(found, one, other):
    """Whether a complex event comes strictly before another in canonical order."""
    if found.start[one] != found.start[other]:
        return found.start[one] < found.start[other]
    p = found.first[one]
    q = found.first[other]
    n = min(found.length[one], found.length[other])
    for k in range(n):
        if found.event[p + k] != found.event[q + k]:
            return found.event[p + k] < found.event[q + k]
    if found.length[one] != found.length[other]:
        return found.length[one] < found.length[other]
    for k in range(n):
        if found.label[p + k] != found.label[q + k]:
            return found.label[p + k] < found.label[q + k]
    return False


@_jit
def _sort_slice(found, low, high):
    """Sort order[0, low:high] canonically: insertion into short runs, then merging."""
    order = found.order[0]
    spare = found.order[1]
    for begin in range(low, high, SMALL):
        for k in range(begin + 1, min(begin + SMALL, high)):
            item = order[k]
            m = k
            while m > begin and _precedes(found, item, order[m - 1]):
                order[m] = order[m - 1]
                m -= 1
            order[m] = item
    width = SMALL
    while width < high - low:
        for begin in range(low, high, 2 * width):
            middle = min(begin + width, high)
            stop = min(begin + 2 * width, high)
            if middle == stop or not _precedes(found, order[middle], order[middle - 1]):
                continue
            for k in range(begin, middle):
                spare[k] = order[k]
            p, q, k = begin, middle, begin
            while p < middle:
                if q < stop and _precedes(found, order[q], spare[p]):
                    order[k] = order[q]
                    q += 1
                else:
                    order[k] = spare[p]
                    p += 1
                k += 1
        width *= 2


@_jit
def _sort_by_start(found, count, tally):
    """Stable radix sort of order[0, :count] by start, eight bits at a time."""
    least = found.start[0]
    most = found.start[0]
    ascending = True
    for k in range(1, count):
        start = found.start[k]
        ascending = ascending and found.start[k - 1] <= start
        least = min(least, start)
        most = max(most, start)
    if ascending:
        return
    shift = 0
    source, target = found.order[0], found.order[1]
    while (most - least) >> shift > 0:
        tally[:] = 0
        for k in range(count):
            tally[((found.start[k] - least) >> shift) & 255] += 1
        total = 0
        for digit in range(256):
            tally[digit], total = total, total + tally[digit]
        for k in range(count):
            item = source[k]
            digit = ((found.start[item] - least) >> shift) & 255
            target[tally[digit]] = item
            tally[digit] += 1
        source, target = target, source
        shift += 8
    if (shift >> 3) & 1:
        found.order[0, :count] = found.order[1, :count]


@_jit
def canonical(found, count, tally):
    """Set order[0, :count] to the canonical order of the complex events 0 .. count - 1 of `found`."""
    order = found.order[0]
    for k in range(count):
        order[k] = k
    if count <= SMALL:
        _sort_slice(found, 0, count)
        return
    _sort_by_start(found, count, tally)
    low = 0
    while low < count:
        high = low + 1
        ordered = True
        while high < count and found.start[order[high]] == found.start[order[low]]:
            ordered = ordered and not _precedes(found, order[high], order[high - 1])
            high += 1
        if not ordered:
            _sort_slice(found, low, high)
        low = high


@_jit
def fill(arena, roots, hit_event, hit_lowest, hit_count, order, limit, found, tally, block, progress):
    """Write the complex events of hits into a block; `DONE`, or why the hit order[progress[0]] is not in it.

    ============  =================  ===================================================================
    `arena`       Arena              in
    `roots`       Roots              in
    `hit_event`   int64 [hits]       in
    `hit_lowest`  int64 [hits]       in: least admissible start
    `hit_count`   int64 [hits]       in: number of complex events
    `order`       int64 [m]          in: the hits to enumerate, in this order
    `limit`       int64              in: at most so many of each hit, the first in canonical order
    `found`       Found              scratch
    `tally`       int64 [256]        scratch
    `block`       Block              out; must have room for the largest hit that fits `found`
    `progress`    int64 [3]          in/out: next index into `order`; out: complex events and marks written
    ============  =================  ===================================================================

    `BLOCK_FULL`: the hit fits an empty block. `HIT_TOO_LARGE`: it does not fit `found`. `MISMATCH`: the
    walk does not find `hit_count` complex events.
    """
    n = 0
    n_marks = 0
    block.first[0] = 0
    status = DONE
    while progress[0] < order.shape[0]:
        h = order[progress[0]]
        count = hit_count[h]
        kept = min(count, limit)
        if count > found.start.shape[0]:
            status = HIT_TOO_LARGE
        elif n + kept > block.start.shape[0]:
            status = BLOCK_FULL
        if status == DONE and count > 0:
            status = _walk(
                arena,
                roots.label,
                roots.node,
                roots.first[h],
                roots.first[h + 1],
                hit_event[h],
                hit_lowest[h],
                count,
                found,
            )
        if status == DONE:
            canonical(found, count, tally)
            total = 0
            for k in range(kept):
                total += found.length[found.order[0, k]]
            if n_marks + total > block.event.shape[0]:
                status = BLOCK_FULL
        if status != DONE:
            break
        for k in range(kept):
            item = found.order[0, k]
            block.hit[n] = h
            block.start[n] = found.start[item]
            low = found.first[item]
            for m in range(low, low + found.length[item]):
                block.event[n_marks] = found.event[m]
                block.label[n_marks] = found.label[m]
                n_marks += 1
            n += 1
            block.first[n] = n_marks
        progress[0] += 1
    progress[1] = n
    progress[2] = n_marks
    return status
