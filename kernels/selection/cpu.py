"""The one complex event that NEXT or LAST leaves at each hit, where no two have the same marked positions.

A run that has not started yet is in state 0, which keeps itself besides its transitions. Of all paths
between two states the best one is enough: what follows or precedes adds the same marks to both. Paths are
compared by **ranks**, a total preorder as in the thesis, Theorem 7.3, here of pairs of states: equal sets of
marked events have equal ranks. A mark decides over what comes later (NEXT) or over what came before (LAST).

As for counts, the events of a window are cut in two at a middle event: a **back part**, made once, backwards,
with the best paths from each event to the middle, and a **front part** from the middle on, which grows with
the end. When the lowest start passes the middle, a new back part is made up to the end (two stacks). So an
event costs at most twice `n_live` steps for each of its transitions and `n_live ** 2` for the ranks, whatever
the window. Paths are persistent lists with a node for each mark, so that an answer costs as many steps as it
has marks.
"""

import numpy as np

from ..jit import jit
from ..runs.contract import SegmentHits
from .contract import (
    ARENA_FULL,
    DONE,
    EVENT,
    HIT,
    LABEL,
    NEXT,
    NO_ANSWER,
    NODES,
    SEGMENT,
    USED,
    WIDTH,
    WORDS,
    BackRows,
    PathMatrices,
    Paths,
)


@jit
def advance(steps, forward, t0, t1, event, marks_first, side, levels, matrices, arena, progress):
    """Lengthen the best paths by one event; gives the number of ranks after it.

    ==============  ================================  =================================================
    `steps`         3 x int32 [transitions]           in: `source`, `target` and `label` of the tables
    `forward`       bool                              in: whether paths get longer at their ends
    `t0`, `t1`      int64                             in: the transitions of the event
    `marks_first`   bool                              in: whether the event's mark decides before the rank
    `side`          int64                             in: the matrix that is read; the other is written
    `levels`        int64                             in: number of ranks
    `matrices`      PathMatrices                      in/out
    `arena`         int64 [capacity, 3]               out
    ==============  ================================  =================================================
    """
    rank = matrices.rank
    node = matrices.node
    start = matrices.start
    key = matrices.key
    taken = matrices.taken
    place_of = matrices.place_of
    source, target, label = steps
    n = key.shape[0]
    other = 1 - side
    for x in range(n):
        for c in range(n):
            key[x, c] = -1
        waiting = rank[side, x, 0]
        if waiting >= 0:
            key[x, 0] = waiting if marks_first else 2 * waiting
            taken[x, 0] = -1
    for t in range(t0, t1):
        if target[t] < 0:
            continue
        if forward:
            old, new = source[t], target[t]
        else:
            old, new = target[t], source[t]
        mark = 1 if label[t] != 0 else 0
        for x in range(n):
            r = rank[side, x, old]
            if r < 0:
                continue
            value = mark * levels + r if marks_first else 2 * r + mark
            if value > key[x, new]:
                key[x, new] = value
                taken[x, new] = t
    for value in range(2 * levels):
        place_of[value] = 0
    for x in range(n):
        for c in range(n):
            if key[x, c] >= 0:
                place_of[key[x, c]] = 1
    ranks = 0
    for value in range(2 * levels):
        if place_of[value] != 0:
            place_of[value] = ranks
            ranks += 1
    for x in range(n):
        for c in range(n):
            if key[x, c] < 0:
                rank[other, x, c] = -1
                continue
            rank[other, x, c] = place_of[key[x, c]]
            t = taken[x, c]
            old = 0
            if t >= 0:
                old = source[t] if forward else target[t]
            rest = node[side, x, old]
            if t >= 0 and label[t] != 0:
                made = progress[USED]
                progress[USED] = made + 1
                arena[made, EVENT] = event
                arena[made, LABEL] = label[t]
                arena[made, NEXT] = rest
                rest = made
            node[other, x, c] = rest
            start[other, x, c] = event if t >= 0 and source[t] == 0 else start[side, x, old]
    return ranks


@jit
def identity(side, matrices):
    """Begin with the empty paths, one for each state; gives the number of ranks."""
    rank = matrices.rank
    node = matrices.node
    start = matrices.start
    n = rank.shape[1]
    for x in range(n):
        for c in range(n):
            rank[side, x, c] = 0 if x == c else -1
            node[side, x, c] = -1
            start[side, x, c] = -1
    return 1


@jit
def compact(paths, place, h0, h1, progress):
    """Drop the nodes from `progress[NODES]` on that no answer of the hits h0 .. h1 - 1 uses."""
    arena = paths.arena
    early = paths.early
    late = paths.late
    low, high = progress[NODES], progress[USED]
    for node in range(low, high):
        place[node] = -1
    for h in range(h0, h1):
        if early[h] >= 0:
            place[early[h]] = 0
        if late[h] >= 0:
            place[late[h]] = 0
    for node in range(high - 1, low - 1, -1):
        if place[node] >= 0 and arena[node, NEXT] >= 0:
            place[arena[node, NEXT]] = 0
    free = low
    for node in range(low, high):
        if place[node] < 0:
            continue
        rest = arena[node, NEXT]
        arena[free, EVENT] = arena[node, EVENT]
        arena[free, LABEL] = arena[node, LABEL]
        arena[free, NEXT] = place[rest] if rest >= 0 else -1
        place[node] = free
        free += 1
    for h in range(h0, h1):
        if early[h] >= 0:
            early[h] = place[early[h]]
        if late[h] >= 0:
            late[h] = place[late[h]]
    progress[NODES] = free
    progress[USED] = free


@jit
def best_segment(tables, symbols, hits, h0, h1, latest, matrices, rows, paths, place, progress, halt):
    """Find the answers of the hits h0 .. h1 - 1 of one segment: `DONE`, `ARENA_FULL` or `NO_ANSWER`.

    ===========================  ===========================  ================================================
    `tables`                     TransitionTables             in
    `symbols`                    uint8 or uint16 [events]     in
    `hits`                       SegmentHits                  in
    `latest`                     bool                         in: LAST in place of NEXT
    `matrices`                   PathMatrices                 scratch
    `rows`                       BackRows                     scratch: of at least h1 - h0 hits
    `paths`                      Paths                        out
    `place`                      int64 [capacity of `arena`]  scratch
    `progress`                   int64 [WORDS]                in/out
    `halt`                       uint8 [1]                    in: see `jit`
    ===========================  ===========================  ================================================
    """
    event = hits.event
    lowest = hits.lowest
    first = tables.first
    source = tables.source
    target = tables.target
    label = tables.label
    steps = source, target, label
    arena = paths.arena
    rank = matrices.rank
    node = matrices.node
    start = matrices.start
    n = rank.shape[1]
    room = n * n
    middle, at, side, levels = -1, -1, 0, 1
    known = turned = h0
    for h in range(h0, h1):
        j, low = event[h], lowest[h]
        if low > middle:
            compact(paths, place, turned, h, progress)
            turned = progress[HIT] = h
            while known < h1 and lowest[known] < j:
                known += 1
            g = known - 1
            levels = identity(side, matrices)
            for i in range(j - 1, low - 1, -1):
                if halt[0]:
                    return DONE
                if progress[USED] + room > paths.arena.shape[0]:
                    return ARENA_FULL
                t0, t1 = first[symbols[i]], first[symbols[i] + 1]
                levels = advance(steps, False, t0, t1, i, not latest, side, levels, matrices, arena, progress)
                side = 1 - side
                while g >= h and lowest[g] == i:
                    for x in range(n):
                        rows.rank[g - turned, x] = rank[side, x, 0]
                        rows.node[g - turned, x] = node[side, x, 0]
                        rows.start[g - turned, x] = start[side, x, 0]
                    g -= 1
            levels = identity(side, matrices)
            middle = at = j
        for i in range(at, j):
            if halt[0]:
                return DONE
            if progress[USED] + room > paths.arena.shape[0]:
                return ARENA_FULL
            t0, t1 = first[symbols[i]], first[symbols[i] + 1]
            levels = advance(steps, True, t0, t1, i, latest, side, levels, matrices, arena, progress)
            side = 1 - side
        at = j
        best = -1
        for t in range(tables.first[symbols[j]], tables.first[symbols[j] + 1]):
            if not tables.accepting[t]:
                continue
            p = source[t]
            mark = 1 if label[t] != 0 else 0
            for x in range(n):
                front = rank[side, x, p]
                back = rows.rank[h - turned, x] if low < middle else -x
                if front < 0 or back < 0:
                    continue
                if latest:
                    value = (mark * levels + front) * room + back
                else:
                    value = (back * levels + front) * 2 + mark
                if value <= best:
                    continue
                best = value
                paths.label[h] = label[t]
                paths.late[h] = node[side, x, p]
                paths.early[h] = rows.node[h - turned, x] if low < middle else -1
                if x != 0:
                    paths.start[h] = rows.start[h - turned, x]
                else:
                    paths.start[h] = j if p == 0 else start[side, x, p]
        if best < 0:
            return NO_ANSWER
    compact(paths, place, turned, h1, progress)
    return DONE


@jit
def _best(tables, symbols, hits, latest, matrices, rows, paths, place, progress, halt):
    for g in range(progress[SEGMENT], hits.first.shape[0] - 1):
        progress[SEGMENT] = g
        progress[USED] = progress[NODES]
        status = best_segment(
            tables, symbols, hits, max(hits.first[g], progress[HIT]), hits.first[g + 1], latest, matrices,
            rows, paths, place, progress, halt,
        )  # fmt: skip
        if status != DONE:
            return status
    return DONE


def matrices_of(n):
    """Scratch `PathMatrices` for automata with `n` live states."""
    return PathMatrices(
        np.empty((2, n, n), np.int32),
        *(np.empty((2, n, n), np.int64) for _ in range(2)),
        *(np.empty((n, n), np.int64) for _ in range(2)),
        np.empty(2 * n * n, np.int32),
    )


def best(tables, symbols, hit_first, hit_event, hit_lowest, latest):
    """The complex event that NEXT or LAST leaves at each hit.

    Parameters
    ----------
    tables : TransitionTables
        No two complex events with one end have the same marked events, on any stream.
    symbols : ndarray, shape (events,), uint8 or uint16
    hit_first : ndarray, shape (segments + 1,), int64
        The hits of segment g are hit_first[g] .. hit_first[g + 1] - 1.
    hit_event, hit_lowest : ndarray, shape (hits,), int64
        As for `cer_gpu.kernels.counts.cpu.counts`.
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
    n = tables.n_live
    longest = int(np.diff(hit_first).max(initial=0))
    matrices = matrices_of(n)
    rows = BackRows(*(np.empty((longest, n), np.int64) for _ in range(3)))
    hits = SegmentHits(hit_first, hit_event, hit_lowest)
    count = hit_event.size
    out = (*(np.empty(count, np.int64) for _ in range(3)), np.empty(count, np.int32))
    arena = np.empty((max(4 * n * n, 1024), WIDTH), np.int64)
    progress = np.zeros(WORDS, np.int64)
    status = ARENA_FULL
    while status == ARENA_FULL:
        place, paths = np.empty(len(arena), np.int64), Paths(arena, *out)
        status = _best(tables, symbols, hits, latest, matrices, rows, paths, place, progress)
        if status == ARENA_FULL:
            arena = np.concatenate([arena, np.empty_like(arena)])
    if status == NO_ANSWER:
        raise RuntimeError("no complex event ends at a hit")
    return Paths(arena[: progress[NODES]].copy(), *out)


def joined(parts):
    """Concatenate several `Paths`, at least one, into one."""
    if len(parts) == 1:
        return parts[0]
    base = np.cumsum([0, *(len(part.arena) for part in parts)])

    def moved(lists_of):
        lists = [lists_of(part) for part in parts]
        return np.concatenate([np.where(one >= 0, one + low, -1) for one, low in zip(lists, base)])

    arena = np.concatenate([part.arena for part in parts])
    arena[:, NEXT] = moved(lambda part: part.arena[:, NEXT])
    start, label = (np.concatenate([getattr(part, name) for part in parts]) for name in ("start", "label"))
    return Paths(arena, start, moved(lambda part: part.early), moved(lambda part: part.late), label)


@jit
def _lengths(arena, early, late, label, order, shown, out):
    for k in range(order.shape[0]):
        h = order[k]
        length = 1 if shown[label[h]] != 0 else 0
        for node in (early[h], late[h]):
            while node >= 0:
                if shown[arena[node, LABEL]] != 0:
                    length += 1
                node = arena[node, NEXT]
        out[k] = length


@jit
def _fill(arena, early, late, label, end, order, shown, first, event_out, label_out):
    for k in range(order.shape[0]):
        h = order[k]
        m = first[k]
        node = early[h]
        while node >= 0:
            shows = shown[arena[node, LABEL]]
            if shows != 0:
                event_out[m] = arena[node, EVENT]
                label_out[m] = shows
                m += 1
            node = arena[node, NEXT]
        m = first[k + 1] - 1
        shows = shown[label[h]]
        if shows != 0:
            event_out[m] = end[h]
            label_out[m] = shows
            m -= 1
        node = late[h]
        while node >= 0:
            shows = shown[arena[node, LABEL]]
            if shows != 0:
                event_out[m] = arena[node, EVENT]
                label_out[m] = shows
                m -= 1
            node = arena[node, NEXT]


def lengths(found, order, shown):
    """How many marks the answer of each of some hits shows.

    Parameters
    ----------
    found : Paths
    order : ndarray, shape (m,), int64
        The hits.
    shown : ndarray, shape (labels,), int32
        The label that is shown in place of each label; 0 for no mark.

    Returns
    -------
    ndarray, shape (m,), int64
    """
    out = np.empty(order.size, np.int64)
    _lengths(found.arena, found.early, found.late, found.label, order, shown, out)
    return out


def marks(found, end, order, shown, length):
    """The marks that the answers of some hits show, ascending in each.

    Parameters
    ----------
    found, order, shown
        As for `lengths`.
    end : ndarray, shape (hits,), int64
        The event at which each answer ends.
    length : ndarray, shape (m,), int64
        What `lengths` gives.

    Returns
    -------
    first : ndarray, shape (m + 1,), int64
        The marks of answer k are first[k] .. first[k + 1] - 1.
    event : ndarray, shape (marks,), int64
    label : ndarray, shape (marks,), int32
    """
    first = np.zeros(order.size + 1, np.int64)
    np.cumsum(length, out=first[1:])
    event, label = np.empty(first[-1], np.int64), np.empty(first[-1], np.int32)
    _fill(found.arena, found.early, found.late, found.label, end, order, shown, first, event, label)
    return first, event, label
