"""MAX of chains of events of which each is greater than the one before it: rising runs with gaps.

A chain is not maximal where an event can be put between two of its events or before the first. So each event
of a maximal chain comes right after one of its **covers**: an event that it is greater than, with no event
between the two in both time and value. The covers of an event form a staircase, and are found from the newest
on: each cover narrows the ranks among which the next one is the newest. A chain begins at an event without a
cover in the window. Chains of fewer than `n` events are no answers: an event of which the longest chain is
too short is no step.
"""

from typing import NamedTuple

import numpy as np

from ..jit import jit
from ..joins.contract import AnswerRows
from ..joins.cpu_enumerate import full, note_rows
from .contract import AT_MOST, LESS
from .cpu_order import shown
from .cpu_walk import DONE, PATH_FULL, ROWS_FULL
from .tree import latest_in

EVENT, ROOT, LOW, HIGH, ANY = range(5)
"""Columns of a path: an event, the version and the ranks that hold further covers, whether it has one."""


class ClimbedHits(NamedTuple):
    """Hits, ascending.

    =========  ==============  ==============================
    `segment`  int64 [hits]
    `event`    int64 [hits]
    `lowest`   int64 [hits]    the least admissible start
    =========  ==============  ==============================
    """

    segment: np.ndarray
    event: np.ndarray
    lowest: np.ndarray


class ChainOrder(NamedTuple):
    """Room to write answers and to sort them.

    =======  ==================  ==================================
    `order`  int32 [rows]        the rows of each hit, sorted
    `spare`  int32 [rows]        scratch
    `path`   int64 [depth, 5]    scratch
    =======  ==================  ==================================
    """

    order: np.ndarray
    spare: np.ndarray
    path: np.ndarray


@jit
def begin_covers(tables, events, segments, arranged, traced, climb, g, event, path, depth):
    """Begin the search for the covers of an event: write row `depth` of `path`."""
    order = tables.view_order[climb.shows]
    base = segments.base[g]
    size = arranged.size[order, g]
    a, b, _, _ = shown(tables, events, arranged, base, size, climb.shows, event)
    path[depth, EVENT] = event
    path[depth, ROOT] = traced.trees.before[order, base + event - segments.begin[g]]
    path[depth, LOW] = a
    path[depth, HIGH] = b
    path[depth, ANY] = 0
    return a < b


@jit
def next_cover(tables, events, segments, arranged, traced, climb, g, lowest, path, depth):
    """The next cover, `lowest` or later, of the event in row `depth`, or -1; each call gives another."""
    order = tables.view_order[climb.shows]
    size = arranged.size[order, g]
    low = path[depth, LOW]
    high = path[depth, HIGH]
    root = path[depth, ROOT]
    if root < 0 or low >= high:
        return -1
    found = latest_in(traced.trees, root, size, low, high)
    if found < lowest:
        path[depth, HIGH] = low
        return -1
    base = segments.base[g]
    # What is less than this cover is no cover: of the rest, what is before it.
    a, b, _, _ = shown(tables, events, arranged, base, size, climb.shows, found)
    if climb.rises == LESS or climb.rises == AT_MOST:
        path[depth, LOW] = max(low, b)
    elif climb.rises >= 0:
        path[depth, HIGH] = min(high, a)
    else:
        path[depth, HIGH] = low
    path[depth, ROOT] = traced.trees.before[order, base + found - segments.begin[g]]
    path[depth, ANY] = 1
    return found


@jit
def is_long(tables, events, segments, traced, climb, g, event, length, lowest):
    """Whether a chain of `length` events or more that starts at `lowest` or later leads to an event."""
    if length <= 1:
        return event >= lowest
    symbol = events.symbols[event]
    group = climb.group[symbol, length - 1]
    return traced.value[segments.base[g] + event - segments.begin[g], group] >= lowest


@jit
def walk(tables, events, segments, arranged, traced, climb, hits, h, path, rows, n, m):
    """Append the maximal chains of a hit; gives the status, and the rows and marks written then.

    ==========  ==================  ===============================================
    `tables`    ComparedTables      in
    `events`    PairedEvents        in
    `segments`  ComparedSegments    in
    `arranged`  Arranged            in
    `traced`    Traced              in
    `climb`     Climb               in
    `hits`      ClimbedHits         in
    `h`         int                 in: the hit
    `path`      int64 [depth, 5]    scratch
    `rows`      AnswerRows          out
    `n`, `m`    int                 in: rows and marks written so far
    ==========  ==================  ===============================================
    """
    g = hits.segment[h]
    lowest = max(hits.lowest[h], segments.begin[g])
    least = climb.group.shape[1]
    begin_covers(tables, events, segments, arranged, traced, climb, g, hits.event[h], path, 0)
    depth = 0
    while depth >= 0:
        found = next_cover(tables, events, segments, arranged, traced, climb, g, lowest, path, depth)
        if found >= 0:
            if is_long(tables, events, segments, traced, climb, g, found, least - depth - 1, lowest):
                depth += 1
                if depth == path.shape[0]:
                    return PATH_FULL, n, m
                begin_covers(tables, events, segments, arranged, traced, climb, g, found, path, depth)
            continue
        if path[depth, ANY] == 0 and depth + 1 >= least:
            status = full(rows, n, m, depth + 1)
            if status != DONE:
                return status, n, m
            for d in range(depth, -1, -1):
                event = path[d, EVENT]
                symbol = events.symbols[event]
                state = tables.group_state[tables.first[symbol] + climb.group[symbol, 0]]
                rows.event[m] = event
                rows.label[m] = tables.state_label[state]
                m += 1
            rows.start[n] = path[depth, EVENT]
            n += 1
            rows.first[n] = m
        depth -= 1
    return DONE, n, m


@jit
def _fill(tables, events, segments, arranged, traced, climb, hits, begin, rows, sorting, progress, halt):
    """The maximal chains of the hits from `progress[0]` on, until an array is full: the status.

    ==========  ==================  ====================================================================
    `tables`    ComparedTables      in
    `events`    PairedEvents        in
    `segments`  ComparedSegments    in
    `arranged`  Arranged            in
    `traced`    Traced              in
    `climb`     Climb               in
    `hits`      ClimbedHits         in
    `begin`     int64 [hits + 1]    out: the first row of each, and all rows
    `rows`      AnswerRows          out
    `sorting`   ChainOrder          out: the rows of each hit in canonical order; scratch
    `progress`  int64 [3]           in/out: hits, rows and marks that are done; zeros at first
    `halt`      uint8 [1]           in: see `jit`
    ==========  ==================  ====================================================================
    """
    begin[0] = 0
    rows.first[progress[1]] = progress[2]
    while progress[0] < hits.event.shape[0] and not halt[0]:
        status, n, m = walk(
            tables, events, segments, arranged, traced, climb, hits, progress[0], sorting.path, rows,
            progress[1], progress[2],
        )  # fmt: skip
        if status != DONE:
            return status
        note_rows(rows, n, m, begin, sorting.order, sorting.spare, progress)
    return DONE


def climbed(tables, events, segments, arranged, traced, climb, hits, room):
    """The maximal chains of some hits, each hit's in canonical order; None if they are more than `room`.

    Parameters
    ----------
    tables : ComparedTables
    events : PairedEvents
    segments : ComparedSegments
    arranged : Arranged
    traced : Traced
    climb : Climb
    hits : ClimbedHits
    room : int

    Returns
    -------
    rows : AnswerRows
    order : ndarray, shape (room,), int32
        The rows of each hit in canonical order.
    begin : ndarray, shape (hits + 1,), int64
        Hit h has the rows begin[h] .. begin[h + 1] - 1.
    """
    marks, depth = 4 * room + 64, 64
    progress = np.zeros(3, np.int64)
    begin, first = np.zeros(len(hits.event) + 1, np.int64), np.empty(room + 1, np.int64)
    event, label = np.empty(marks, np.int32), np.empty(marks, np.int32)
    start, order, spare = (np.empty(room, np.int32) for _ in range(3))
    while True:
        rows = AnswerRows(first, event, label, start)
        sorting = ChainOrder(order, spare, np.empty((depth, 5), np.int64))
        status = _fill(
            tables, events, segments, arranged, traced, climb, hits, begin, rows, sorting, progress
        )
        if status == DONE:
            return rows, order, begin
        if status == ROWS_FULL:
            return None
        if status == PATH_FULL:
            depth *= 2
        else:
            event, label = (np.append(old, np.empty_like(old)) for old in (event, label))
