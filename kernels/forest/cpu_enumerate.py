"""Bulk enumeration: all complex events of many hits, each hit's in canonical order.

The canonical order of the complex events of one end is ascending (start, marked events, labels), the last two
compared as tuples. The kernel walks through the structure from the roots of the hit, left before right, and
leaves out expired nodes (`LATEST` below the hit's lowest start). So every node that it visits leads to a
complex event, and the time is linear in the output. The walk finds late starts first, so it fills the place
of the hit from the back. What is still out of order is then sorted: by start with a stable radix sort, then
by marks inside the few groups of one start that need it. On a device the same bodies are also used only to
count (`cuda_walks`).
"""

from ..jit import inline, jit
from .contract import BOTTOM, LABEL, LATEST, LEFT, RIGHT, UNION

DONE = 0
BLOCK_FULL = 1
HIT_TOO_LARGE = 2
MISMATCH = 3

MAX_SPAN = 2**31 - 1
"""How many events before its end a hit may reach back: they are numbered in 32 bits."""

SMALL = 24
"""Slices up to this length are sorted by insertion."""


@inline
def path_fits(n_marks, found):
    return n_marks <= found.event.shape[0]


@inline
def record(item, start, n_marks, depth, found, path):
    """Write a complex event whose marks are on the path, the last one first."""
    found.start[item] = start
    found.first[item] = n_marks
    found.length[item] = depth
    for k in range(depth):
        found.event[n_marks + k] = path[0, depth - 1 - k]
        found.label[n_marks + k] = path[1, depth - 1 - k]


@jit
def walk_pending(arena, lowest, base, n_pending, least, free, n_marks, found, stack):
    """Find the complex events below pending nodes, as items free - 1, free - 2, ... down to `least`.

    Only starts (or ranks of starts) from `lowest` on count; events are numbered from `base` on. Gives the
    last item, the number of marks or minus a status, and how many nodes are still pending.
    """
    pending = stack.pending
    path = stack.path
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
                path[0, depth] = arena[node, RIGHT] - base
                path[1, depth] = label
                depth += 1
            node = arena[node, LEFT]
            label = arena[node, LABEL]
        start = arena[node, RIGHT] - base
        if start < 0 or not path_fits(n_marks + depth, found):
            return free, -HIT_TOO_LARGE, n_pending
        free -= 1
        record(free, start, n_marks, depth, found, path)
        n_marks += depth
    return free, n_marks, n_pending


@inline
def begin_root(node, label, end, base, stack):
    """Put a root, and the mark at the end if it has one, where a walk begins."""
    depth = 0
    if label != 0:
        stack.path[0, 0] = end - base
        stack.path[1, 0] = label
        depth = 1
    stack.pending[0, 0] = node
    stack.pending[1, 0] = depth


@jit
def _walk(arena, roots, hit, end, lowest, count, found, stack):
    """Find all complex events of a hit, the last one first: `DONE` or a status."""
    free = count
    n_marks = 0
    for r in range(roots.first[hit], roots.first[hit + 1]):
        node = roots.node[r]
        if arena[node, LATEST] < lowest:
            continue
        begin_root(node, roots.label[r], end, end - MAX_SPAN, stack)
        free, n_marks, n_pending = walk_pending(
            arena, lowest, end - MAX_SPAN, 1, 0, free, n_marks, found, stack
        )
        if n_marks < 0:
            return -n_marks
        if n_pending > 0:
            return MISMATCH
    return DONE if free == 0 else MISMATCH


@inline
def path_precedes(one, other, found):
    """Whether a complex event comes strictly before another in canonical order."""
    result = found.start[one] < found.start[other]
    if found.start[one] == found.start[other]:
        p = found.first[one]
        q = found.first[other]
        n = min(found.length[one], found.length[other])
        k = 0
        while k < n and found.event[p + k] == found.event[q + k]:
            k += 1
        if k < n:
            result = found.event[p + k] < found.event[q + k]
        elif found.length[one] != found.length[other]:
            result = found.length[one] < found.length[other]
        else:
            k = 0
            while k < n and found.label[p + k] == found.label[q + k]:
                k += 1
            result = k < n and found.label[p + k] < found.label[q + k]
    return result


@jit
def sort_slice(order, spare, low, high, found):
    """Sort order[low:high] canonically: insertion into short runs, then merging."""
    for begin in range(low, high, SMALL):
        for k in range(begin + 1, min(begin + SMALL, high)):
            item = order[k]
            m = k
            while m > begin and path_precedes(item, order[m - 1], found):
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
                if q < stop and path_precedes(order[q], spare[p], found):
                    order[k] = order[q]
                    q += 1
                else:
                    order[k] = spare[p]
                    p += 1
                k += 1
        width *= 2


@jit
def sort_by_start(order, spare, count, starts, tally):
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
        digits = min((most - least) >> shift, 255) + 1
        for digit in range(digits):
            tally[digit] = 0
        for k in range(count):
            tally[((starts[k] - least) >> shift) & 255] += 1
        total = 0
        for digit in range(digits):
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
def canonical(count, found, sorting):
    """Set sorting.order[:count] to the canonical order of the complex events 0 .. count - 1 of `found`.

    `found` Unsorted in; `sorting` SortScratch out.
    """
    order = sorting.order
    spare = sorting.spare
    starts = found.start
    for k in range(count):
        order[k] = k
    if count <= SMALL:
        sort_slice(order, spare, 0, count, found)
        return
    sort_by_start(order, spare, count, starts, sorting.tally)
    low = 0
    while low < count:
        high = low + 1
        start = starts[order[low]]
        ordered = True
        while high < count and starts[order[high]] == start:
            if ordered and path_precedes(order[high], order[high - 1], found):
                ordered = False
            high += 1
        if not ordered:
            sort_slice(order, spare, low, high, found)
        low = high


@jit
def fill(arena, roots, hits, hit_order, limit, found, stack, sorting, block, progress, halt):
    """Write the complex events of hits into a block: `DONE`, or why hit_order[progress[0]] is not in it.

    ============  ===================  =================================================================
    `arena`       int64 [nodes, 4]     in
    `roots`       Roots                in
    `hits`        CountedHits          in
    `hit_order`   int64 [m]            in: the hits to enumerate, in this order
    `limit`       int64                in: the most complex events of a hit, the first in canonical order
    `found`       Unsorted             scratch
    `stack`       WalkStack            scratch
    `sorting`     SortScratch          scratch
    `block`       Block                out; must have room for the largest hit that fits `found`
    `progress`    int64 [3]            in/out: next index into `hit_order`; out: complex events and marks
    `halt`        uint8 [1]            in: see `jit`
    ============  ===================  =================================================================

    `BLOCK_FULL`: the hit fits an empty block. `HIT_TOO_LARGE`: it does not fit `found`. `MISMATCH`: the
    walk does not find as many complex events as were counted.
    """
    order = sorting.order
    starts = found.start
    firsts = found.first
    lengths = found.length
    events = found.event
    labels = found.label
    out_hit = block.hit
    out_start = block.start
    out_first = block.first
    out_event = block.event
    out_label = block.label
    n = 0
    n_marks = 0
    out_first[0] = 0
    while progress[0] < hit_order.shape[0] and not halt[0]:
        h = hit_order[progress[0]]
        count = hits.counts[h]
        wanted = min(count, limit)
        status = DONE
        base = hits.event[h] - MAX_SPAN
        if count > starts.shape[0]:
            status = HIT_TOO_LARGE
        elif n + wanted > out_start.shape[0]:
            status = BLOCK_FULL
        else:
            status = _walk(arena, roots, h, hits.event[h], hits.lowest[h], count, found, stack)
        if status == DONE:
            canonical(count, found, sorting)
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
            out_start[n] = base + starts[item]
            low = firsts[item]
            for m in range(low, low + lengths[item]):
                out_event[n_marks] = base + events[m]
                out_label[n_marks] = labels[m]
                n_marks += 1
            n += 1
            out_first[n] = n_marks
        progress[0] += 1
    progress[1] = n
    progress[2] = n_marks
    return DONE
