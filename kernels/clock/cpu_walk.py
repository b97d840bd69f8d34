"""Walks through the nodes of an automaton with one clock: timed CEL paper, Algorithm 2.

A walk carries the least stamp that the checks above admit; at a reset it drops that stamp. It turns back at
once where all runs of a node start before the window, or have too small stamps.
"""

from ..arena.blocks import list_hits
from ..arena.contract import DONE, HIT_TOO_LARGE, MISMATCH
from ..forest.cpu_enumerate import LISTED, MAX_SPAN, canonical, path_fits, record
from ..jit import composed, inline, jit
from .contract import BOTTOM, CHECK, LABEL, LATEST, LEFT, NO_CHECK, RESET, RIGHT, STAMP, UNION


@inline
def admits(arena, node, lowest, least):
    return arena[node, LATEST] >= lowest and arena[node, STAMP] >= least


@inline
def checked(arena, node, least):
    """The least stamp that is admitted below a node."""
    label = arena[node, LABEL]
    result = least
    if label == RESET:
        result = NO_CHECK
    elif label == CHECK:
        result = max(least, arena[node, RIGHT])
    return result


@jit
def latest_start(arena, root, lowest, best, stack):
    """The latest start of a run of a node, where that is `lowest` or later, and later than `best`.

    Gives `best` where there is none, and -2 where `stack`, int64 [2, nodes], is too small. Later starts are
    searched first: where the resets of the nodes ascend with their starts, only one path is walked.
    """
    if not admits(arena, root, lowest, NO_CHECK):
        return best
    stack[0, 0] = root
    stack[1, 0] = NO_CHECK
    n = 1
    while n > 0:
        n -= 1
        node = stack[0, n]
        least = stack[1, n]
        while arena[node, LATEST] > best:
            label = arena[node, LABEL]
            if label == BOTTOM:
                best = arena[node, RIGHT]
                break
            least = checked(arena, node, least)
            child = arena[node, LEFT]
            if label == UNION:
                right = arena[node, RIGHT]
                if admits(arena, right, lowest, least):
                    if not admits(arena, child, lowest, least):
                        child = right
                    else:
                        if arena[right, LATEST] > arena[child, LATEST]:
                            child, right = right, child
                        if n == stack.shape[1]:
                            return -2
                        stack[0, n] = right
                        stack[1, n] = least
                        n += 1
            if not admits(arena, child, lowest, least):
                break
            node = child
    return best


@jit
def latest_starts(arena, roots, lowest, latest, stack):
    """The latest start of the runs that end at each of some ends.

    `latest` int64 [ends] out: -1 where no run starts at `lowest` int64 [ends] or later, -2 where `stack` is
    too small; the other arguments as in `count_up_to`.
    """
    for end in range(lowest.shape[0]):
        best = -1
        for root in range(roots.first[end], roots.first[end + 1]):
            if best > -2:
                best = latest_start(arena, roots.node[root], lowest[end], best, stack)
        latest[end] = best


@jit
def _walk(arena, roots, hit, end, lowest, room, found, stack):
    """Find all runs of a hit, as items 0, 1, ..; their number, or minus what is wrong."""
    base = end - MAX_SPAN
    pending = stack.pending
    path = stack.path
    n = 0
    n_marks = 0
    for r in range(roots.first[hit], roots.first[hit + 1]):
        if not admits(arena, roots.node[r], lowest, NO_CHECK):
            continue
        depth = 0
        if roots.label[r] != 0:
            path[0, 0] = MAX_SPAN
            path[1, 0] = roots.label[r]
            depth = 1
        pending[0, 0] = roots.node[r]
        pending[1, 0] = depth
        pending[2, 0] = NO_CHECK
        n_pending = 1
        while n_pending > 0:
            n_pending -= 1
            node = pending[0, n_pending]
            depth = pending[1, n_pending]
            least = pending[2, n_pending]
            while node >= 0:
                label = arena[node, LABEL]
                if label == BOTTOM:
                    start = arena[node, RIGHT] - base
                    if start < 0 or n == room or not path_fits(n_marks + depth, found):
                        return -HIT_TOO_LARGE
                    record(n, start, n_marks, depth, found, path)
                    n += 1
                    n_marks += depth
                    break
                least = checked(arena, node, least)
                child = arena[node, LEFT]
                if label == UNION:
                    right = arena[node, RIGHT]
                    if admits(arena, right, lowest, least):
                        if n_pending == pending.shape[1]:
                            return -HIT_TOO_LARGE
                        pending[0, n_pending] = right
                        pending[1, n_pending] = depth
                        pending[2, n_pending] = least
                        n_pending += 1
                elif label > 0:
                    if depth == path.shape[1]:
                        return -HIT_TOO_LARGE
                    path[0, depth] = arena[node, RIGHT] - base
                    path[1, depth] = label
                    depth += 1
                if not admits(arena, child, lowest, least):
                    break
                node = child
    return n


@jit
def count_up_to(arena, roots, lowest, most, counts, stack, halt):
    """Count the runs that end at each of some ends, up to `most`: `most` + 1 stands for more.

    ==========  =========================  =========================================================
    `arena`     int64 [nodes, COLUMNS]     in
    `roots`     Roots                      in
    `lowest`    int64 [ends]               in: the least admissible start
    `most`      int64                      in
    `counts`    int64 [ends]               out; -1 where the stack is too small
    `stack`     int64 [2, nodes]           scratch
    `halt`      uint8 [1]                  in: see `jit`
    ==========  =========================  =========================================================
    """
    for end in range(lowest.shape[0]):
        if halt[0]:
            return
        bound = lowest[end]
        found = 0
        for root in range(roots.first[end], roots.first[end + 1]):
            n = 0
            if admits(arena, roots.node[root], bound, NO_CHECK):
                stack[0, 0] = roots.node[root]
                stack[1, 0] = NO_CHECK
                n = 1
            while n > 0 and 0 <= found <= most:
                n -= 1
                node = stack[0, n]
                least = stack[1, n]
                while True:
                    label = arena[node, LABEL]
                    if label == BOTTOM:
                        found += 1
                        break
                    least = checked(arena, node, least)
                    if label == UNION and admits(arena, arena[node, RIGHT], bound, least):
                        if n == stack.shape[1]:
                            found = -1
                            break
                        stack[0, n] = arena[node, RIGHT]
                        stack[1, n] = least
                        n += 1
                    node = arena[node, LEFT]
                    if not admits(arena, node, bound, least):
                        break
            if found < 0:
                break
        counts[end] = found


@inline
def _found_all(forest, hits, hit, bulk):
    """Find all complex events of a hit, and sort them: `DONE` or a status."""
    arena, roots = forest
    found, stack, sorting = bulk
    count = hits.counts[hit]
    walked = _walk(arena, roots, hit, hits.event[hit], hits.lowest[hit], count, found, stack)
    status = DONE
    if walked < 0:
        status = -walked
    elif walked != count:
        status = MISMATCH
    else:
        canonical(count, found, sorting)
    return status


fill = composed(list_hits, "fill", find=_found_all, **LISTED)
"""`list_hits` over `ForestNodes` with gadgets; `stack.pending` has a third row, for the least stamps."""
