"""Bulk enumeration: all complex events of many hits, each hit's in canonical order.

The canonical order of the complex events of one end is ascending (start, marked events, labels), the last two
compared as tuples. The kernel walks through the structure from the roots of the hit, left before right, and
leaves out expired nodes (`LATEST` below the hit's lowest start). So every node that it visits leads to a
complex event, and the time is linear in the output. The walk finds late starts first, so it fills the place
of the hit from the back. What is still out of order is then sorted: by start with a stable radix sort, then
by marks inside the few groups of one start that need it.
"""

from ..arena.blocks import list_hits
from ..arena.contract import DONE, HIT_TOO_LARGE, MISMATCH
from ..arena.order import sort_found, sort_runs
from ..jit import composed, inline, jit
from .contract import BOTTOM, LABEL, LATEST, LEFT, RIGHT, UNION

MAX_SPAN = 2**31 - 1
"""How many events before its end a hit may reach back: they are numbered in 32 bits."""


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
def walk_pending(arena, lowest, base, free, n_marks, found, stack):
    """Find the complex events below the pending node, as items free - 1, free - 2, ... down to 0.

    Only starts (or ranks of starts) from `lowest` on count; events are numbered from `base` on. Gives the
    last item, the number of marks or minus a status, and how many nodes are still pending.
    """
    pending = stack.pending
    path = stack.path
    n_pending = 1
    while n_pending > 0 and free > 0:
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


@inline
def path_precedes(found, one, other):
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


sort_slice = composed(sort_runs, "sort_slice", precedes=path_precedes)
_sort_found = composed(sort_found, "_sort_found", precedes=path_precedes, sort_slice=sort_slice)


@jit
def canonical(count, found, sorting):
    """Set sorting.order[:count] to the canonical order of the complex events 0 .. count - 1 of `found`.

    `found` Unsorted in; `sorting` SortScratch out.
    """
    for k in range(count):
        sorting.order[k] = k
    _sort_found(count, found, sorting)


@inline
def _found_all(forest, hits, hit, bulk):
    """Find all complex events of a hit, the last one first, and sort them: `DONE` or a status."""
    arena, roots = forest
    found, stack, sorting = bulk
    lowest = hits.lowest[hit]
    base = hits.event[hit] - MAX_SPAN
    free = hits.counts[hit]
    n_marks = 0
    status = DONE
    for r in range(roots.first[hit], roots.first[hit + 1]):
        node = roots.node[r]
        if status == DONE and arena[node, LATEST] >= lowest:
            begin_root(node, roots.label[r], hits.event[hit], base, stack)
            free, n_marks, n_pending = walk_pending(arena, lowest, base, free, n_marks, found, stack)
            if n_marks < 0:
                status = -n_marks
            elif n_pending > 0:
                status = MISMATCH
    if status == DONE and free > 0:
        status = MISMATCH
    if status == DONE:
        canonical(hits.counts[hit], found, sorting)
    return status


@inline
def _too_many(bulk, count):
    return count > bulk.found.start.shape[0]


@inline
def _length(bulk, item):
    return bulk.found.length[item]


@inline
def _write(forest, hits, hit, bulk, item, block, n, m):
    found = bulk.found
    base = hits.event[hit] - MAX_SPAN
    block.start[n] = base + found.start[item]
    low = found.first[item]
    for k in range(low, low + found.length[item]):
        block.event[m] = base + found.event[k]
        block.label[m] = found.label[k]
        m += 1
    return m


LISTED = {"too_many": _too_many, "length": _length, "write": _write}
"""How complex events are read from `BulkScratch`."""

fill = composed(list_hits, "fill", find=_found_all, **LISTED)
"""`list_hits` over `ForestNodes`; a hit is too large where `BulkScratch` has no room for it."""
