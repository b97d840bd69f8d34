"""What NEXT or LAST leaves at hits that admit the starts of the greatest ranks, wherever they lie in time.

Where the attribute of WITHIN falls, the starts that a hit admits are no interval, and its window cannot grow
and shrink at its ends as in `cer_gpu.kernels.selection.cpu`. But in the order of falling `least` each hit
admits the starts that the one before it admits, and some more (`cer_gpu.kernels.attribute_windows.contract`).
So a lane is a binary tree over time. Its leaves have `LEAF` events each. A node has the best path between any
two states over its events, as ranks: a total preorder of the pairs of states; paths start only at events that
are admitted so far. A node joins the paths of its two children in each middle state. NEXT compares the left
child's part first, LAST the right child's. When a further start is admitted, its leaf is run again and the
nodes above it are joined again; a hit joins the nodes before it, log(events) many.

An event costs `2 * LEAF` steps of `n_live ** 2` and log(events) joins of `n_live ** 3`; an answer costs as
many steps as it has marks, times `LEAF` at most. Nodes keep no lists of marks: to find those of an answer,
the kernel goes down the tree and runs the leaves that have some of them again.

7 to 11 times as fast as running the window of each hit again for 10,000 events without keys, 13 to 51 times
for 50,000: NEXT and LAST of `A ; B ; C` over prices that go up and down (CPU time of the whole query). With
keys, lanes are short and their windows are run again.
"""

from typing import NamedTuple

import numpy as np

from ..jit import jit
from ..runs.barriers import NO_START
from .contract import ARENA_FULL, DONE, EVENT, LABEL, NEXT, NO_ANSWER, USED, WIDTH, WORDS, PathMatrices, Paths
from .cpu import advance, identity

LEAF = 16
"""Events of a leaf."""

DEPTH = 64
"""Levels of a tree at most."""

LANE, OPEN, TURN, PLACE, MARKS, PROGRESS = range(6)
"""Words of `progress` and their number: where to continue when the arena was full. `OPEN`: whether the tree
of the lane has been built; `MARKS`: how many nodes of the arena are in use."""


class RankedHits(NamedTuple):
    """Lanes and their hits, int64 all.

    =========  ==========  ============================================================================
    `begin`    [lanes]     first event of each lane
    `stop`     [lanes]     one past its last event
    `first`    [lanes+1]   the hits of lane g are first[g] .. first[g + 1] - 1
    `event`    [hits]      ascending in each lane
    `turn`     [hits]      the hits of each lane in the order of falling `least`
    =========  ==========  ============================================================================
    """

    begin: np.ndarray
    stop: np.ndarray
    first: np.ndarray
    event: np.ndarray
    turn: np.ndarray


class PathTree(NamedTuple):
    """The best paths over the events of each node; node 1 is the root, 2k and 2k + 1 are under k: scratch.

    ==========  ========================  ===============================================================
    `rank`      int32 [nodes, n, n]       -1: no path
    `middle`    int32 [nodes, n, n]       the state in which the parts of the path meet
    `marked`    uint8 [nodes, n, n]       whether it has marks
    `levels`    int64 [nodes]             number of ranks; 0: there are no events
    ==========  ========================  ===============================================================
    """

    rank: np.ndarray
    middle: np.ndarray
    marked: np.ndarray
    levels: np.ndarray


class RankedScratch(NamedTuple):
    """Scratch of the search.

    ==========  ========================  ===============================================================
    `matrices`  PathMatrices              of a leaf
    `paths`     Paths                     `arena`: the lists of marks of a leaf
    `used`      int64 [WORDS]             how many nodes of its `arena` are in use
    `admitted`  uint8 [events]            1: runs may start at the event so far
    `key`       int64 [n * n]             the number that ranks each path
    `sorted`    int64 [n * n]             the same, sorted
    `front`     int64 [2, n]              the ranks of the best paths to each state before a hit
    `back`      int64 [DEPTH, n]          for each node before the hit the state in which its part begins
    `nodes`     int64 [DEPTH]             those nodes
    `stack`     int64 [2 * DEPTH, 3]      nodes to go down into, with the states of their parts
    ==========  ========================  ===============================================================
    """

    matrices: PathMatrices
    paths: Paths
    used: np.ndarray
    admitted: np.ndarray
    key: np.ndarray
    sorted: np.ndarray
    front: np.ndarray
    back: np.ndarray
    nodes: np.ndarray
    stack: np.ndarray


@jit
def _sift(values, root, count):
    while 2 * root + 1 < count:
        child = 2 * root + 1
        if child + 1 < count and values[child] < values[child + 1]:
            child += 1
        if values[root] >= values[child]:
            break
        values[root], values[child] = values[child], values[root]
        root = child


@jit
def _ranked(key, count, scratch):
    """Put the rank of each key in its place; -1 stays. The number of ranks."""
    values = scratch.sorted
    n_values = 0
    for k in range(count):
        if key[k] >= 0:
            values[n_values] = key[k]
            n_values += 1
    for root in range(n_values // 2 - 1, -1, -1):
        _sift(values, root, n_values)
    for last in range(n_values - 1, 0, -1):
        values[0], values[last] = values[last], values[0]
        _sift(values, 0, last)
    levels = 0
    for k in range(n_values):
        if k == 0 or values[k] != values[levels - 1]:
            values[levels] = values[k]
            levels += 1
    for k in range(count):
        if key[k] < 0:
            continue
        low, high = 0, levels - 1
        while low < high:
            middle = (low + high) // 2
            if values[middle] < key[k]:
                low = middle + 1
            else:
                high = middle
        key[k] = low
    return levels


@jit
def _join(tree, node, latest, scratch):
    """The paths of a node from those of the two under it."""
    left, right = 2 * node, 2 * node + 1
    n = tree.rank.shape[1]
    if tree.levels[right] == 0:
        tree.levels[node] = tree.levels[left]
        for x in range(n):
            for c in range(n):
                tree.rank[node, x, c] = tree.rank[left, x, c]
                tree.middle[node, x, c] = c
                tree.marked[node, x, c] = tree.marked[left, x, c]
        return
    key = scratch.key
    for x in range(n):
        for c in range(n):
            best, middle = -1, 0
            for q in range(n):
                one, other = tree.rank[left, x, q], tree.rank[right, q, c]
                if one < 0 or other < 0:
                    continue
                value = one * tree.levels[right] + other
                if latest:
                    value = other * tree.levels[left] + one
                if value > best:
                    best, middle = value, q
            key[x * n + c] = best
            tree.middle[node, x, c] = middle
            tree.marked[node, x, c] = tree.marked[left, x, middle] | tree.marked[right, middle, c]
    tree.levels[node] = _ranked(key, n * n, scratch)
    for x in range(n):
        for c in range(n):
            tree.rank[node, x, c] = key[x * n + c]


@jit
def _run(tables, symbols, low, high, latest, scratch):
    """The best paths over the events `low .. high - 1`: which matrix has them, and their ranks."""
    n_symbols = (tables.first.shape[0] - 1) // 4
    steps = tables.source, tables.target, tables.label
    scratch.used[USED] = 0
    side = 0
    levels = identity(side, scratch.matrices)
    for event in range(low, high):
        symbol = np.int64(symbols[event])
        if scratch.admitted[event] == 0 and (symbol // n_symbols) & NO_START == 0:
            symbol += NO_START * n_symbols
        levels = advance(
            steps, True, tables.first[symbol], tables.first[symbol + 1], event, latest, side, levels,
            scratch.matrices, scratch.paths.arena, scratch.used,
        )  # fmt: skip
        side = 1 - side
    return side, levels


@jit
def _leaf(tables, symbols, low, high, latest, tree, node, scratch):
    """The paths of a leaf."""
    side, levels = _run(tables, symbols, low, high, latest, scratch)
    tree.levels[node] = levels
    for x in range(tree.rank.shape[1]):
        for c in range(tree.rank.shape[1]):
            tree.rank[node, x, c] = scratch.matrices.rank[side, x, c]
            tree.marked[node, x, c] = 1 if scratch.matrices.node[side, x, c] >= 0 else 0


@jit
def _pass(rank, levels, depth, front_levels, latest, scratch):
    """Lengthen the best paths to each state by those of `rank`; the number of ranks."""
    n = rank.shape[0]
    front, back = scratch.front, scratch.back
    for c in range(n):
        best = -1
        for q in range(n):
            if front[0, q] < 0 or rank[q, c] < 0:
                continue
            value = front[0, q] * levels + rank[q, c]
            if latest:
                value = rank[q, c] * front_levels + front[0, q]
            if value > best:
                best = value
                back[depth, c] = q
        front[1, c] = best
    found = _ranked(front[1], n, scratch)
    for c in range(n):
        front[0, c] = front[1, c]
    return found


@jit
def _write(side, x, c, paths, used, scratch):
    """Append the marks of a path of the leaf that was run, the last first; gives their number so far."""
    list_of = scratch.paths.arena
    node = scratch.matrices.node[side, x, c]
    while node >= 0:
        paths.arena[used, EVENT] = list_of[node, EVENT]
        paths.arena[used, LABEL] = list_of[node, LABEL]
        used += 1
        node = list_of[node, NEXT]
    return used


@jit
def _descend(tables, symbols, begin, stop, size, latest, tree, scratch, paths, h, used):
    """Append the marks of the path on top of the stack, the last first; gives their number so far."""
    stack = scratch.stack
    high = 1
    while high > 0:
        high -= 1
        node, x, c = stack[high, 0], stack[high, 1], stack[high, 2]
        starts = x == 0 and c != 0
        if tree.levels[node] == 0 or not (starts or tree.marked[node, x, c]):
            continue
        if node >= size:
            low = begin + (node - size) * LEAF
            side, _ = _run(tables, symbols, low, min(low + LEAF, stop), latest, scratch)
            used = _write(side, x, c, paths, used, scratch)
            if starts:
                paths.start[h] = scratch.matrices.start[side, x, c]
            continue
        middle = tree.middle[node, x, c]
        stack[high, 0], stack[high, 1], stack[high, 2] = 2 * node, x, middle
        stack[high + 1, 0], stack[high + 1, 1], stack[high + 1, 2] = 2 * node + 1, middle, c
        high += 2
    return used


@jit
def _answer(tables, symbols, begin, stop, size, h, event, latest, tree, scratch, paths, used):
    """The answer of a hit: how many nodes of the arena are in use then, or -1 if there is none."""
    n = tree.rank.shape[1]
    front, back, nodes = scratch.front, scratch.back, scratch.nodes
    for c in range(n):
        front[0, c] = 0 if c == 0 else -1
    levels, depth = 1, 0
    ahead = (event - begin) // LEAF
    node, half = 1, size // 2
    while half > 0:
        node *= 2
        if ahead >= half:
            levels = _pass(tree.rank[node], tree.levels[node], depth, levels, latest, scratch)
            nodes[depth] = node
            depth += 1
            ahead -= half
            node += 1
        half //= 2
    side, own = _run(tables, symbols, begin + (event - begin) // LEAF * LEAF, event, latest, scratch)
    levels = _pass(scratch.matrices.rank[side], own, depth, levels, latest, scratch)
    n_symbols = (tables.first.shape[0] - 1) // 4
    symbol = np.int64(symbols[event])
    if scratch.admitted[event] == 0 and (symbol // n_symbols) & NO_START == 0:
        symbol += NO_START * n_symbols
    best, state = -1, 0
    for t in range(tables.first[symbol], tables.first[symbol + 1]):
        rank = front[0, tables.source[t]]
        if not tables.accepting[t] or rank < 0:
            continue
        mark = 1 if tables.label[t] != 0 else 0
        value = mark * levels + rank if latest else 2 * rank + mark
        if value > best:
            best, state = value, tables.source[t]
            paths.label[h] = tables.label[t]
    if best < 0:
        return -1
    low = used
    paths.start[h] = event
    before = back[depth, state]
    used = _write(side, before, state, paths, used, scratch)
    if before == 0 and state != 0:
        paths.start[h] = scratch.matrices.start[side, before, state]
    for k in range(depth - 1, -1, -1):
        state = before
        before = back[k, state]
        scratch.stack[0, 0], scratch.stack[0, 1], scratch.stack[0, 2] = nodes[k], before, state
        used = _descend(tables, symbols, begin, stop, size, latest, tree, scratch, paths, h, used)
    arena = paths.arena
    for k in range((used - low) // 2):
        one, other = low + k, used - 1 - k
        for column in (EVENT, LABEL):
            arena[one, column], arena[other, column] = arena[other, column], arena[one, column]
    for k in range(low, used):
        arena[k, NEXT] = k - 1 if k > low else -1
    paths.early[h] = -1
    paths.late[h] = used - 1 if used > low else -1
    return used


@jit
def _choose(tables, symbols, ranks, hits, latest, tree, scratch, paths, progress, halt):
    """The answers of hits: `DONE`, or `ARENA_FULL`, with which it is called again, or `NO_ANSWER`.

    `tables` TransitionTables, barred, `symbols` unsigned [events], `ranks` Ranks, `hits` RankedHits, `latest`
    bool: in; `tree` PathTree, `scratch` RankedScratch: scratch; `paths` Paths: out; `progress` int64
    [PROGRESS]: in/out, zeros at first; `halt`: see `jit`.
    """
    while progress[LANE] < hits.begin.shape[0]:
        g = progress[LANE]
        begin, stop = hits.begin[g], hits.stop[g]
        size = 1
        while size * LEAF < stop - begin:
            size *= 2
        if progress[OPEN] == 0:
            progress[OPEN] = 1
            progress[PLACE] = stop
            progress[TURN] = hits.first[g]
            for node in range(2 * size - 1, 0, -1):
                if halt[0]:
                    return DONE
                low = begin + (node - size) * LEAF
                if node < size:
                    _join(tree, node, latest, scratch)
                elif low < stop:
                    _leaf(tables, symbols, low, min(low + LEAF, stop), latest, tree, node, scratch)
                else:
                    tree.levels[node] = 0
        while progress[TURN] < hits.first[g + 1]:
            h = hits.turn[progress[TURN]]
            event = hits.event[h]
            if progress[MARKS] + event - begin > paths.arena.shape[0]:
                return ARENA_FULL
            while progress[PLACE] > begin and progress[PLACE] > ranks.least[event]:
                if halt[0]:
                    return DONE
                progress[PLACE] -= 1
                start = ranks.order[progress[PLACE]]
                scratch.admitted[start] = 1
                node = size + (start - begin) // LEAF
                low = begin + (start - begin) // LEAF * LEAF
                _leaf(tables, symbols, low, min(low + LEAF, stop), latest, tree, node, scratch)
                node //= 2
                while node > 0:
                    _join(tree, node, latest, scratch)
                    node //= 2
            if halt[0]:
                return DONE
            used = _answer(
                tables, symbols, begin, stop, size, h, event, latest, tree, scratch, paths, progress[MARKS]
            )
            if used < 0:
                return NO_ANSWER
            progress[MARKS] = used
            progress[TURN] += 1
        progress[OPEN] = 0
        progress[LANE] = g + 1
    return DONE


def best_ranked(tables, symbols, ranks, begin, stop, first, event, latest):
    """The complex event that NEXT or LAST leaves at each hit of some lanes in which an attribute falls.

    Parameters
    ----------
    tables : TransitionTables
        With barred symbols. No two complex events with one end have the same marked events, on any stream.
    symbols : ndarray, shape (events,), uint8, uint16 or uint32
    ranks : Ranks
    begin, stop : ndarray, shape (lanes,), int64
    first : ndarray, shape (lanes + 1,), int64
        The hits of lane g are first[g] .. first[g + 1] - 1.
    event : ndarray, shape (hits,), int64
    latest : bool
        LAST in place of NEXT.

    Returns
    -------
    Paths

    Raises
    ------
    RuntimeError
        If no complex event ends at a hit.
    """
    n, count = tables.n_live, event.size
    lane = np.repeat(np.arange(begin.size), np.diff(first))
    hits = RankedHits(begin, stop, first, event, np.lexsort((-ranks.least[event], lane)))
    longest = int((stop - begin).max(initial=1))
    nodes = 2 << max((-(-longest // LEAF) - 1).bit_length(), 0)
    tree = PathTree(
        *(np.empty((nodes, n, n), dtype) for dtype in (np.int32, np.int32, np.uint8)),
        np.zeros(nodes, np.int64),
    )
    matrices = PathMatrices(
        np.empty((2, n, n), np.int32),
        *(np.empty((2, n, n), np.int64) for _ in range(2)),
        *(np.empty((n, n), np.int64) for _ in range(2)),
        np.empty(2 * n * n, np.int32),
    )
    none, no_label = np.empty(0, np.int64), np.empty(0, np.int32)
    lists = np.empty((LEAF * n * n, WIDTH), np.int64)
    scratch = RankedScratch(
        matrices,
        Paths(lists, none, none, none, no_label),
        np.zeros(WORDS, np.int64),
        np.zeros(len(symbols), np.uint8),
        *(np.empty(n * n, np.int64) for _ in range(2)),
        np.empty((2, n), np.int64),
        np.empty((DEPTH, n), np.int64),
        np.empty(DEPTH, np.int64),
        np.empty((2 * DEPTH, 3), np.int64),
    )
    out = (*(np.empty(count, np.int64) for _ in range(3)), np.empty(count, np.int32))
    arena = np.empty((2 * longest, WIDTH), np.int64)
    progress = np.zeros(PROGRESS, np.int64)
    status = ARENA_FULL
    while status == ARENA_FULL:
        status = _choose(tables, symbols, ranks, hits, latest, tree, scratch, Paths(arena, *out), progress)
        if status == ARENA_FULL:
            arena = np.concatenate([arena, np.empty_like(arena)])
    if status == NO_ANSWER:
        raise RuntimeError("no complex event ends at a hit")
    return Paths(arena[: progress[MARKS]].copy(), *out)


def steps(events, n_live):
    """About how many steps the hits of each lane take, in events that are run: float64, shape (lanes,).

    Parameters
    ----------
    events : ndarray, shape (lanes,), int64
    n_live : int
    """
    return events * (2 * LEAF + n_live * np.log2(np.maximum(events / LEAF, 1)))
