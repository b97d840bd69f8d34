"""The walks of `cpu_enumerate` on the device: the same bodies, one thread for each unit.

A **unit** is a hit, or a range of the complex events of a hit that has many of them, in the order in which
the walk finds them. To find where a range begins, the kernel descends from the roots past the complex events
that come before it; for this the hits that are cut get a table of how many complex events each node holds
(`ways`), which takes a step for each node instead of one for each complex event.

Units are walked twice: first to count their marks, then, when it is known where these go, to write and to
sort them.
"""

from numba import cuda

from ..arena.contract import HIT_TOO_LARGE, MISMATCH
from ..device.bodies import on_device
from ..device.jit import device, kernel
from . import cpu_enumerate as paths
from .contract import BOTTOM, LABEL, LATEST, LEFT, RIGHT, UNION, SortScratch, UnsortedAnswers, WalkStack

HIT, SKIP, LAST, WAYS, NODE, FIRST, STOP, UNIT_COLUMNS = range(8)
"""Columns of a unit: its hit, how many complex events of the hit are found before its own, whether it has the
last ones; where the hit's table begins, and the node of the first entry there; the hit's first unit, and one
past its last unit."""

MOST_WAYS = 1 << 32
"""Ways are counted up to here; a node with more is below no root of a hit that is cut."""


@device
def _always_fits(n_marks, found):
    return True


@device
def _not_recorded(item, start, n_marks, depth, found, path):
    pass


begin_root, canonical, precedes = map(on_device, (paths.begin_root, paths.canonical, paths.path_precedes))
_walk_counted = on_device(paths.walk_pending, path_fits=_always_fits, record=_not_recorded)
_walk_recorded = on_device(paths.walk_pending)


@device
def _descend(arena, ways, base, lowest, skip, stack):
    """Replace the pending root by what is pending when `skip` complex events are found; how many nodes.

    There are more than `skip` of them under the root; 0 if the nodes find no room.
    """
    pending, path = stack
    node = pending[0, 0]
    depth = pending[1, 0]
    n_pending = 0
    while skip > 0:
        left = arena[node, LEFT]
        right = arena[node, RIGHT]
        if arena[node, LABEL] != UNION:
            if depth == path.shape[1]:
                return 0
            path[0, depth] = right - lowest
            path[1, depth] = arena[node, LABEL]
            depth += 1
            node = left
        elif skip >= ways[left - base]:
            skip -= ways[left - base]
            node = right
        else:
            if arena[right, LATEST] >= lowest:
                if n_pending + 1 == pending.shape[1]:
                    return 0
                pending[0, n_pending] = right
                pending[1, n_pending] = depth
                n_pending += 1
            node = left
    pending[0, n_pending] = node
    pending[1, n_pending] = depth
    return n_pending + 1


@device
def walk_unit(forest, unit, ways, least, free, n_marks, found, stack, records):
    """Find the complex events of a unit, as items free - 1 .. least, and write them if `records`.

    Gives the number of marks, or minus a status of `cpu_enumerate`.
    """
    arena = forest.arena
    roots = forest.roots
    hit = unit[HIT]
    skip = unit[SKIP]
    lowest = forest.lowest[hit]
    for r in range(roots.first[hit], roots.first[hit + 1]):
        node = roots.node[r]
        if (free == least and unit[LAST] == 0) or arena[node, LATEST] < lowest:
            continue
        if skip > 0 and skip >= ways[unit[WAYS] + node - unit[NODE]]:
            skip -= ways[unit[WAYS] + node - unit[NODE]]
            continue
        begin_root(node, roots.label[r], forest.event[hit], lowest, stack)
        n_pending = _descend(arena, ways, unit[NODE] - unit[WAYS], lowest, skip, stack)
        skip = 0
        if n_pending == 0:
            return -HIT_TOO_LARGE
        if records:
            free, n_marks, n_pending = _walk_recorded(
                arena, lowest, lowest, n_pending, least, free, n_marks, found, stack
            )
        else:
            free, n_marks, n_pending = _walk_counted(
                arena, lowest, lowest, n_pending, least, free, n_marks, found, stack
            )
        if n_marks < 0:
            return n_marks
        if n_pending > 0 and unit[LAST] != 0:
            return -MISMATCH
    return n_marks if free == least else -MISMATCH


@kernel
def weigh_kernel(forest, hits, first, base, ways):
    """Count the complex events of a hit that each node holds, for the hits that are cut.

    ========  =================  =========================================================================
    `forest`  Forest             in
    `hits`    int64 [cut]        in
    `first`   int64 [cut + 1]    in: where the table of each begins
    `base`    int64 [cut]        in: the node of its first entry; the next entries are of the next nodes
    `ways`    int64 [nodes]      out
    ========  =================  =========================================================================
    """
    arena = forest.arena
    for at in range(cuda.grid(1), hits.shape[0], cuda.gridsize(1)):
        lowest = forest.lowest[hits[at]]
        shift = first[at] - base[at]
        for entry in range(first[at], first[at + 1]):
            node = entry - shift
            label = arena[node, LABEL]
            number = 0
            if arena[node, LATEST] >= lowest:
                number = 1
                if label != BOTTOM:
                    number = ways[arena[node, LEFT] + shift]
                if label == UNION:
                    number = min(number + ways[arena[node, RIGHT] + shift], MOST_WAYS)
            ways[entry] = number


@kernel
def measure_kernel(forest, units, unit_first, ways, stacks, marks, worst):
    """Count the marks of the complex events of each unit; minus a status where the walk fails.

    ============  ==========================  ============================================================
    `forest`      Forest                      in
    `units`       int64 [units, columns]      in
    `unit_first`  int64 [units + 1]           in: where the complex events of each go
    `ways`        int64 [nodes]               in
    `stacks`      WalkStack                   scratch: one for each thread, [2, stack, threads]
    `marks`       int64 [units]               out
    `worst`       int64 [1]                   in/out: the least number in `marks`, if it is less
    ============  ==========================  ============================================================
    """
    thread = cuda.grid(1)
    # nothing is recorded, so any arrays do
    label = forest.roots.label
    found = UnsortedAnswers(label, label, label, label, label)
    stack = WalkStack(stacks.pending[:, :, thread], stacks.path[:, :, thread])
    for u in range(thread, units.shape[0], stacks.pending.shape[2]):
        marks[u] = walk_unit(forest, units[u], ways, unit_first[u], unit_first[u + 1], 0, found, stack, False)
        if marks[u] < 0:
            cuda.atomic.min(worst, 0, marks[u])


@kernel
def walk_kernel(forest, units, unit_first, ways, stacks, mark_first, found, sorting):
    """Write the complex events of each unit, and their canonical order.

    ============  =======================  ===============================================================
    `mark_first`  int64 [units + 1]        in: where the marks of each unit begin
    `found`       Unsorted                 out
    `sorting`     SortScratch              out: in `order` the complex events of each unit in canonical
                                           order; `tally` has a column for each thread
    ============  =======================  ===============================================================

    The other arguments are those of `measure_kernel`.
    """
    thread = cuda.grid(1)
    stack = WalkStack(stacks.pending[:, :, thread], stacks.path[:, :, thread])
    for u in range(thread, units.shape[0], stacks.pending.shape[2]):
        low = unit_first[u]
        high = unit_first[u + 1]
        walk_unit(forest, units[u], ways, low, high, mark_first[u], found, stack, True)
        own = UnsortedAnswers(
            found.start[low:high], found.first[low:high], found.length[low:high], found.event, found.label
        )
        order = sorting.order[low:high]
        canonical(high - low, own, SortScratch(order, sorting.spare[low:high], sorting.tally[:, thread]))
        for k in range(low, high):
            sorting.order[k] += low
