"""Bulk enumeration: all complex events of many hits, each hit's in canonical order.

The canonical order of the complex events of one end is ascending (start, marked events, labels), the
last two compared as tuples. The structure is walked from the hit's roots, left before right, with the
expired parts cut off (`latest` below the hit's lowest start). So every node that is visited leads to a
complex event, and the time is linear in the output. The walk finds late starts first, so it fills the
hit's slice from the back, and what remains out of order is sorted: by start with a stable radix sort, then
by marks inside the few groups of one start that need it. On a device the same bodies also only count
(`cuda_walks`).
"""

from typing import NamedTuple

import numpy as np

from ..jit import inline, jit
from .contract import BOTTOM, LABEL, LATEST, LEFT, RIGHT, UNION

DONE = 0
BLOCK_FULL = 1
HIT_TOO_LARGE = 2
MISMATCH = 3

MAX_SPAN = 2**31 - 1
"""Events of a hit are numbered from its lowest start on, in 32 bits."""

SMALL = 24
"""Slices up to this length are sorted by insertion."""


class Found(NamedTuple):
    """Scratch for the complex events of one hit, in the order in which they are found.

    ==========  ===================  ==============================================================
    `start`     int32 [events]       their starts, from the hit's lowest one on
    `first`     int32 [events]       where the marks of each begin
    `length`    int32 [events]       number of marks of each
    `order`     int32 [events]       the complex events in canonical order
    `spare`     int32 [events]       scratch of the sort
    `event`     int32 [marks]        the events of the marks, from the hit's lowest start on
    `label`     int32 [marks]        their labels
    `pending`   int64 [2, stack]     nodes still to visit, and the number of marks that lead to them
    `path`      int64 [2, stack]     events and labels of the marks from the root to the node visited
    ==========  ===================  ==============================================================
    """

    start: np.ndarray
    first: np.ndarray
    length: np.ndarray
    order: np.ndarray
    spare: np.ndarray
    event: np.ndarray
    label: np.ndarray
    pending: np.ndarray
    path: np.ndarray


@inline
def _fits(n_marks, events):
    return n_marks <= events.shape[0]


@inline
def _record(item, start, n_marks, depth, starts, firsts, lengths, events, labels, path):
    """Write a complex event whose marks are on the path, the last one first."""
    starts[item] = start
    firsts[item] = n_marks
    lengths[item] = depth
    for k in range(depth):
        events[n_marks + k] = path[0, depth - 1 - k]
        labels[n_marks + k] = path[1, depth - 1 - k]


@jit
def _walk_pending(
    arena,
    lowest,
    n_pending,
    least,
    free,
    n_marks,
    starts,
    firsts,
    lengths,
    events,
    labels,
    pending,
    path,
):
    """Find the complex events of pending nodes, as items free - 1, free - 2, ... down to `least`.

    Returns the last item, the number of marks or minus what is wrong, and how many nodes are still pending.
    """
    while n_pending > 0 and free > least:
        n_pending -= 1
        node = pending[0, n_pending]
        depth = pending[1, n_pending]
        label = arena[node, LABEL]
        while label != BOTTOM:
            if label == UNION:
                right = arena[node, RIGHT]
                if arena[right, LATEST] >= lowest:
                    if n_pending == pending.shape[1]:
                        return free, -HIT_TOO_LARGE, n_pending
                    pending[0, n_pending] = right
                    pending[1, n_pending] = depth
                    n_pending += 1
            else:
                if depth == path.shape[1]:
                    return free, -HIT_TOO_LARGE, n_pending
                path[0, depth] = arena[node, RIGHT] - lowest
                path[1, depth] = label
                depth += 1
            node = arena[node, LEFT]
            label = arena[node, LABEL]
        if not _fits(n_marks + depth, events):
            return free, -HIT_TOO_LARGE, n_pending
        free -= 1
        start = arena[node, LATEST] - lowest
        _record(free, start, n_marks, depth, starts, firsts, lengths, events, labels, path)
        n_marks += depth
    return free, n_marks, n_pending


@inline
def _begin_root(node, label, end, lowest, pending, path):
    """Put a root, and the mark at the end if it has one, where a walk begins."""
    depth = 0
    if label != 0:
        path[0, 0] = end - lowest
        path[1, 0] = label
        depth = 1
    pending[0, 0] = node
    pending[1, 0] = depth


@jit
def _walk(
    arena,
    root_label,
    root_node,
    r0,
    r1,
    end,
    lowest,
    count,
    starts,
    firsts,
    lengths,
    events,
    labels,
    pending,
    path,
):
    """Find all complex events of a hit, the last found first; `DONE` or what went wrong."""
    free = count
    n_marks = 0
    for r in range(r0, r1):
        if arena[root_node[r], LATEST] < lowest:
            continue
        _begin_root(root_node[r], root_label[r], end, lowest, pending, path)
        free, n_marks, n_pending = _walk_pending(
            arena, lowest, 1, 0, free, n_marks, starts, firsts, lengths, events, labels, pending, path
        )
        if n_marks < 0:
            return -n_marks
        if n_pending > 0:
            return MISMATCH
    return DONE if free == 0 else MISMATCH


@inline
def _precedes(one, other, starts, firsts, lengths, events, labels):
    """Whether a complex event comes strictly before another in canonical order."""
    result = starts[one] < starts[other]
    if starts[one] == starts[other]:
        p = firsts[one]
        q = firsts[other]
        n = min(lengths[one], lengths[other])
        k = 0
        while k < n and events[p + k] == events[q + k]:
            k += 1
        if k < n:
            result = events[p + k] < events[q + k]
        elif lengths[one] != lengths[other]:
            result = lengths[one] < lengths[other]
        else:
            k = 0
            while k < n and labels[p + k] == labels[q + k]:
                k += 1
            result = k < n and labels[p + k] < labels[q + k]
    return result


@jit
def _sort_slice(order, spare, low, high, starts, firsts, lengths, events, labels):
    """Sort order[low:high] canonically: insertion into short runs, then merging."""
    for begin in range(low, high, SMALL):
        for k in range(begin + 1, min(begin + SMALL, high)):
            item = order[k]
            m = k
            while m > begin and _precedes(item, order[m - 1], starts, firsts, lengths, events, labels):
                order[m] = order[m - 1]
                m -= 1
            order[m] = item
    width = SMALL
    while width < high - low:
        for begin in range(low, high, 2 * width):
            middle = min(begin + width, high)
            stop = min(begin + 2 * width, high)
            if middle == stop:
                continue
            for k in range(begin, middle):
                spare[k] = order[k]
            p, q, k = begin, middle, begin
            while p < middle:
                if q < stop and _precedes(order[q], spare[p], starts, firsts, lengths, events, labels):
                    order[k] = order[q]
                    q += 1
                else:
                    order[k] = spare[p]
                    p += 1
                k += 1
        width *= 2


@jit
def _sort_by_start(order, spare, count, starts, tally):
    """Stable radix sort of order[:count] by start, eight bits at a time."""
    least = starts[0]
    most = starts[0]
    ascending = True
    for k in range(1, count):
        ascending = ascending and starts[k - 1] <= starts[k]
        least = min(least, starts[k])
        most = max(most, starts[k])
    shift = 0
    while not ascending and (most - least) >> shift > 0:
        tally[:] = 0
        for k in range(count):
            tally[((starts[k] - least) >> shift) & 255] += 1
        total = 0
        for digit in range(256):
            number = tally[digit]
            tally[digit] = total
            total += number
        for k in range(count):
            item = order[k]
            digit = ((starts[item] - least) >> shift) & 255
            spare[tally[digit]] = item
            tally[digit] += 1
        for k in range(count):
            order[k] = spare[k]
        shift += 8


@jit
def canonical(order, spare, count, starts, firsts, lengths, events, labels, tally):
    """Set order[:count] to the canonical order of the complex events 0 .. count - 1 that were found.

    `order` and `spare` int32 [>= count] out and scratch; `tally` int64 [256] scratch; the others as in
    `Found`.
    """
    for k in range(count):
        order[k] = k
    if count <= SMALL:
        _sort_slice(order, spare, 0, count, starts, firsts, lengths, events, labels)
        return
    _sort_by_start(order, spare, count, starts, tally)
    low = 0
    while low < count:
        high = low + 1
        start = starts[order[low]]
        ordered = True
        while high < count and starts[order[high]] == start:
            if ordered and _precedes(order[high], order[high - 1], starts, firsts, lengths, events, labels):
                ordered = False
            high += 1
        if not ordered:
            _sort_slice(order, spare, low, high, starts, firsts, lengths, events, labels)
        low = high


@jit
def fill(
    arena, root_first, root_label, root_node, hit_event, hit_lowest, hit_count, hit_order, limit, found,
    tally, block, progress,
):  # fmt: skip
    """Write the complex events of hits into a block; `DONE`, or why hit_order[progress[0]] is not in it.

    ============  ===================  =================================================================
    `arena`       int64 [nodes, 4]     in
    `root_...`                         in: as in `cpu_nodes.build`
    `hit_event`   int64 [hits]         in
    `hit_lowest`  int64 [hits]         in: least admissible start
    `hit_count`   int64 [hits]         in: number of complex events
    `hit_order`   int64 [m]            in: the hits to enumerate, in this order
    `limit`       int64                in: at most so many of each hit, the first in canonical order
    `found`       Found                scratch
    `tally`       int64 [256]          scratch
    `block`       Block                out; must have room for the largest hit that fits `found`
    `progress`    int64 [3]            in/out: next index into `hit_order`; out: complex events and marks
    ============  ===================  =================================================================

    `BLOCK_FULL`: the hit fits an empty block. `HIT_TOO_LARGE`: it does not fit `found`. `MISMATCH`: the
    walk does not find `hit_count` complex events.
    """
    # an array is taken out of its tuple once: each time costs two atomic operations
    starts, firsts, lengths, order, spare = found.start, found.first, found.length, found.order, found.spare
    events, labels, pending, path = found.event, found.label, found.pending, found.path
    out_hit, out_start, out_first, out_event, out_label = block
    n = 0
    n_marks = 0
    out_first[0] = 0
    while progress[0] < hit_order.shape[0]:
        h = hit_order[progress[0]]
        count = hit_count[h]
        wanted = min(count, limit)
        status = DONE
        lowest = hit_lowest[h]
        if count > starts.shape[0] or hit_event[h] - lowest > MAX_SPAN:
            status = HIT_TOO_LARGE
        elif n + wanted > out_start.shape[0]:
            status = BLOCK_FULL
        else:
            status = _walk(
                arena, root_label, root_node, root_first[h], root_first[h + 1], hit_event[h], lowest,
                count, starts, firsts, lengths, events, labels, pending, path,
            )  # fmt: skip
        if status == DONE:
            canonical(order, spare, count, starts, firsts, lengths, events, labels, tally)
            total = 0
            for k in range(wanted):
                total += lengths[order[k]]
            if n_marks + total > out_event.shape[0]:
                status = BLOCK_FULL
        if status != DONE:
            progress[1] = n
            progress[2] = n_marks
            return status
        for k in range(wanted):
            item = order[k]
            out_hit[n] = h
            out_start[n] = lowest + starts[item]
            low = firsts[item]
            for m in range(low, low + lengths[item]):
                out_event[n_marks] = lowest + events[m]
                out_label[n_marks] = labels[m]
                n_marks += 1
            n += 1
            out_first[n] = n_marks
        progress[0] += 1
    progress[1] = n
    progress[2] = n_marks
    return DONE
