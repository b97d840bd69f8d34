"""MAX of chains of events of which each is greater than the one before it: rising runs with gaps.

A chain is not maximal where an event can be put between two of its events or before the first. So each
event of a maximal chain comes right after one of its **covers**: an event that it is greater than, with none
between the two in time and in value. The covers of an event are a staircase, found from the newest on: each
is the newest of the ranks that the covers after it leave. A chain ends at an event without a cover in the
window. Chains of fewer than `n` events are no answers: an event of which the longest chain is too short is no
step.

A window leaves out covers and adds none, as what lies between two events is in the window with them. So the
numbers of maximal chains are sums over covers, of all events at once; where a chain of a hit begins before
the window, they are summed again over the covers in it.
"""

from typing import NamedTuple

import numpy as np

from ..jit import OFTEN, go_on, jit
from ..joins.contract import AnswerRows
from ..joins.cpu_enumerate import sort_rows
from .contract import AT_MOST, LARGEST, LESS
from .cpu_nodes import latest_in
from .cpu_order import shown

DONE, PATH_FULL, ROWS_FULL, MARKS_FULL = range(4)

EVENT, ROOT, LOW, HIGH, ANY = range(5)
"""Columns of a path: an event, the version and the ranks in which further covers are, whether it has some."""

DOUBTFUL = float(LARGEST // 2)
"""From so many on a number is counted by Python's integers."""


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
    """Room to find answers and to sort them.

    =======  ==================  ==================================
    `order`  int32 [rows]        the rows of each hit, sorted
    `spare`  int32 [rows]        scratch
    `path`   int64 [depth, 5]    scratch
    =======  ==================  ==================================
    """

    order: np.ndarray
    spare: np.ndarray
    path: np.ndarray


class ClimbRoom(NamedTuple):
    """Numbers of maximal chains.

    ==========  =====================  ===========================================================
    `sums`      int64 [rows, n]        chains of k + 1 events and more that end at each event
    `near`      float64 [rows, n]      about as many
    `earliest`  int64 [rows]           the earliest start of one
    `ways`      int64 [longest, n]     scratch: zeros, for the events of a window
    `about`     float64 [longest, n]   scratch: zeros
    ==========  =====================  ===========================================================
    """

    sums: np.ndarray
    near: np.ndarray
    earliest: np.ndarray
    ways: np.ndarray
    about: np.ndarray


@jit
def begin_covers(tables, events, segments, arranged, traced, climb, g, event, path, depth):
    """Begin with the covers of an event: write row `depth` of `path`."""
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
    """The next cover of the event of row `depth` from `lowest` on, or -1; the row then goes on after it."""
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
    """Whether some chain to an event that starts at `lowest` or later has `length` events or more."""
    if length <= 1:
        return event >= lowest
    symbol = events.symbols[event]
    group = climb.group[symbol, length - 1]
    return traced.value[segments.base[g] + event - segments.begin[g], group] >= lowest


@jit
def walk(tables, events, segments, arranged, traced, climb, g, end, lowest, path, rows, progress):
    """Append the maximal chains of a hit: the status.

    ==========  ==================  ===============================================
    `tables`    ComparedTables      in
    `events`    PairedEvents        in
    `segments`  ComparedSegments    in
    `arranged`  Arranged            in
    `traced`    Traced              in
    `climb`     Climb               in
    `g`         int                 in: the segment
    `end`       int                 in
    `lowest`    int                 in: the least admissible start
    `path`      int64 [depth, 5]    scratch
    `rows`      AnswerRows          out
    `progress`  int64 [3]           in/out: its last two are rows and marks written
    ==========  ==================  ===============================================
    """
    n = progress[1]
    m = progress[2]
    least = climb.group.shape[1]
    begin_covers(tables, events, segments, arranged, traced, climb, g, end, path, 0)
    depth = 0
    while depth >= 0:
        found = next_cover(tables, events, segments, arranged, traced, climb, g, lowest, path, depth)
        if found >= 0:
            if is_long(tables, events, segments, traced, climb, g, found, least - depth - 1, lowest):
                depth += 1
                if depth == path.shape[0]:
                    return PATH_FULL
                begin_covers(tables, events, segments, arranged, traced, climb, g, found, path, depth)
            continue
        if path[depth, ANY] == 0 and depth + 1 >= least:
            if n + 2 > rows.first.shape[0]:
                return ROWS_FULL
            if m + depth + 1 > rows.event.shape[0]:
                return MARKS_FULL
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
    progress[1] = n
    progress[2] = m
    return DONE


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
        h = progress[0]
        n = progress[1]
        status = walk(
            tables, events, segments, arranged, traced, climb, hits.segment[h], hits.event[h],
            max(hits.lowest[h], segments.begin[hits.segment[h]]), sorting.path, rows, progress,
        )  # fmt: skip
        if status != DONE:
            return status
        sort_rows(rows, n, progress[1], sorting.order, sorting.spare)
        progress[0] += 1
        begin[progress[0]] = progress[1]
    return DONE


@jit
def _sums(tables, events, segments, arranged, traced, climb, sums, near, earliest, path, halt):
    """Write of all events how many maximal chains end there, whatever window they fall in.

    ==========  ======================  =================================================================
    `tables`    ComparedTables          in
    `events`    PairedEvents            in
    `segments`  ComparedSegments        in
    `arranged`  Arranged                in
    `traced`    Traced                  in
    `climb`     Climb                   in
    `sums`      int64 [rows, n]         out: of k + 1 events and more
    `near`      float64 [rows, n]       out: about as many
    `earliest`  int64 [rows]            out: the earliest start of one
    `path`      int64 [1, 5]            scratch
    `halt`      uint8 [1]               in: see `jit`
    ==========  ======================  =================================================================
    """
    least = climb.group.shape[1]
    for g in range(segments.begin.shape[0]):
        begin = segments.begin[g]
        base = segments.base[g]
        for i in range(begin, segments.stop[g]):
            if i % OFTEN == 0 and halt[0]:
                return 0
            at = base + i - begin
            for k in range(least):
                sums[at, k] = 0
                near[at, k] = 0
            earliest[at] = i
            if climb.group[events.symbols[i], 0] < 0:
                continue
            begin_covers(tables, events, segments, arranged, traced, climb, g, i, path, 0)
            found = next_cover(tables, events, segments, arranged, traced, climb, g, begin, path, 0)
            if found < 0:
                sums[at, 0] = 1
                near[at, 0] = 1
            while found >= 0:
                other = base + found - begin
                for k in range(least):
                    sums[at, k] += sums[other, max(k - 1, 0)]
                    near[at, k] += near[other, max(k - 1, 0)]
                earliest[at] = min(earliest[at], earliest[other])
                found = next_cover(tables, events, segments, arranged, traced, climb, g, begin, path, 0)
    return 1


@jit
def _count(tables, events, segments, arranged, traced, climb, hits, room, path, out, halt):
    """Write how many maximal chains end at each hit, -1 where the number may not fit.

    ==========  ==================  ==============================================================
    `tables`    ComparedTables      in
    `events`    PairedEvents        in
    `segments`  ComparedSegments    in
    `arranged`  Arranged            in
    `traced`    Traced              in
    `climb`     Climb               in
    `hits`      ClimbedHits         in
    `room`      ClimbRoom           in: sums over all events; scratch
    `path`      int64 [1, 5]        scratch
    `out`       int64 [hits]        out
    `halt`      uint8 [1]           in: see `jit`
    ==========  ==================  ==============================================================
    """
    least = climb.group.shape[1]
    ways = room.ways
    about = room.about
    for h in range(hits.event.shape[0]):
        if h % OFTEN == 0 and halt[0]:
            return 0
        g = hits.segment[h]
        begin = segments.begin[g]
        base = segments.base[g]
        end = hits.event[h]
        lowest = max(hits.lowest[h], begin)
        at = base + end - begin
        if room.earliest[at] >= lowest:
            fits = room.near[at, least - 1] < DOUBTFUL
            out[h] = room.sums[at, least - 1] if fits else -1
            continue
        # From the end back: in how many ways chains of so many events so far lead to each event.
        for k in range(least):
            ways[end - lowest, k] = 0
            about[end - lowest, k] = 0
        ways[end - lowest, 0] = 1
        about[end - lowest, 0] = 1
        number = 0
        guess = 0.0
        for i in range(end, lowest - 1, -1):
            there = 0.0
            for k in range(least):
                there += about[i - lowest, k]
            if there == 0.0:
                continue
            begin_covers(tables, events, segments, arranged, traced, climb, g, i, path, 0)
            found = next_cover(tables, events, segments, arranged, traced, climb, g, lowest, path, 0)
            if found < 0:
                number += ways[i - lowest, least - 1]
                guess += about[i - lowest, least - 1]
            while found >= 0:
                for k in range(least):
                    onward = min(k + 1, least - 1)
                    ways[found - lowest, onward] += ways[i - lowest, k]
                    about[found - lowest, onward] += about[i - lowest, k]
                found = next_cover(tables, events, segments, arranged, traced, climb, g, lowest, path, 0)
            for k in range(least):
                ways[i - lowest, k] = 0
                about[i - lowest, k] = 0
        out[h] = number if guess < DOUBTFUL else -1
    return 1


def climbed(tables, events, segments, arranged, traced, climb, hits, room):
    """The maximal chains of some hits, each hit's in canonical order; None where there are more than `room`.

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


def climbs_counted(tables, events, segments, arranged, traced, climb, hits):
    """How many maximal chains end at each hit: int64, or Python integers where some do not fit.

    Parameters
    ----------
    tables : ComparedTables
    events : PairedEvents
    segments : ComparedSegments
    arranged : Arranged
    traced : Traced
    climb : Climb
    hits : ClimbedHits
    """
    rows, least = int(segments.base[-1]), climb.group.shape[1]
    longest = int((hits.event - hits.lowest).max(initial=0)) + 1
    room = ClimbRoom(
        np.empty((rows, least), np.int64),
        np.empty((rows, least)),
        np.empty(rows, np.int64),
        np.zeros((longest, least), np.int64),
        np.zeros((longest, least)),
    )
    path = np.empty((1, 5), np.int64)
    number = np.empty(len(hits.event), np.int64)
    parts = tables, events, segments, arranged, traced, climb
    _sums(*parts, room.sums, room.near, room.earliest, path)
    _count(*parts, hits, room, path, number)
    doubtful = np.flatnonzero(number < 0)
    if not len(doubtful):
        return number
    exact = number.astype(object)
    for h in doubtful.tolist():
        exact[h] = _exactly(*parts, int(hits.segment[h]), int(hits.event[h]), int(hits.lowest[h]))
    return exact


def _exactly(tables, events, segments, arranged, traced, climb, g, end, lowest):
    """How many maximal chains end at an event and start at `lowest` or later, as a Python integer."""
    least, lowest = climb.group.shape[1], max(lowest, int(segments.begin[g]))
    path = np.empty((1, 5), np.int64)
    ways = {end: [1] + [0] * (least - 1)}
    number = 0
    for i in range(end, lowest - 1, -1):
        here = ways.pop(i, None)
        if here is None:
            continue
        go_on()
        begin_covers(tables, events, segments, arranged, traced, climb, g, i, path, 0)
        found = next_cover(tables, events, segments, arranged, traced, climb, g, lowest, path, 0)
        if found < 0:
            number += here[-1]
        while found >= 0:
            there = ways.setdefault(int(found), [0] * least)
            for k, way in enumerate(here):
                there[min(k + 1, least - 1)] += way
            found = next_cover(tables, events, segments, arranged, traced, climb, g, lowest, path, 0)
    return number
