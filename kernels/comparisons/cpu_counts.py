"""Counts of compared steps: how many complex events end at each hit, by sums over ranges of ranks.

Each entry counts its runs; what a view shows is the sum of one or two ranges of ranks. Sums of integers wrap
modulo 2^64, and a sum that fits is exact; sums in float64 beside them tell which may not fit.

With a window: where complex events have one or two events (`shallow`), entries that have left the window are
taken out of the sums, so that an event costs O(log n). For longer ones: where no run that ends at a hit
begins before the window, the number is that of all runs. Where some do, the events of the window are run
again for this hit, which takes O(w log w) steps for w events. The reason: when an event leaves the window,
the sums of all entries with a run from it change. Of three steps `a ; b ; c` each entry of b loses at most 1,
for the a that has left: what c sees is a sum over the a's that are left, of the b's between a and c in time
and in both values, and such numbers could be found for all ends together, in O(n log^2 n) steps. Of four
steps an entry loses as many runs as lead from the start to it, another number for each entry, and no order of
the entries makes these one update.
"""

import numpy as np

from ..jit import OFTEN, SELDOM, composed, go_on, jit
from ..loop.contract import FoundEnds, room_for_ends
from ..loop.follow import follow
from ..loop.products import COUNT
from ..loop.run import found_ends
from ..windows.contract import NO_WINDOW, comparable
from .contract import NEIGHBOUR, PairRuns, shallow, whole
from .cpu_hits import hits
from .cpu_order import shown, together
from .index import COUNT_IN_ORDERS, HERE, CountRoom
from .tree import before_rank, put

count_ends = composed(follow, "count_ends", **COUNT, **COUNT_IN_ORDERS)


@jit
def shallow_body(tables, events, window, segments, arranged, first, lowest, trees, last, out, halt):
    """Write the number of complex events of one or two events in the window of each hit; gives how many hits.

    ==========  ============================  ===============================================================
    `tables`    ComparedTables                in
    `events`    PairedEvents                  in
    `window`    MeasuredWindow                in: read where the kernel finds the hits
    `segments`  ComparedSegments              in
    `arranged`  Arranged                      in
    `first`     int64 [segments + 1] or [0]   in: the hits of segment g are first[g] .. first[g + 1] - 1;
                                              empty: the kernel finds them
    `lowest`    int64 [hits] or [0]           in: the least admissible start, which does not fall in a segment
    `trees`     int32 [orders, rows]          scratch: numbers of entries by rank, as Fenwick's trees
    `last`      int64 [states]                scratch: the last event that has entered
    `out`       FoundEnds                     out: where each ends (in, with `first`), and the numbers
    `halt`      uint8 [1]                     in: see `jit`
    ==========  ============================  ===============================================================
    """
    given = first.shape[0] > 0
    keys = window.keys
    windowed = keys.shape[0] > 0
    h = 0
    for g in range(segments.begin.shape[0]):
        base = segments.base[g]
        for order in range(trees.shape[0]):
            for row in range(base, segments.base[g + 1]):
                trees[order, row] = 0
        for state in range(last.shape[0]):
            last[state] = -1
        if given:
            h = first[g]
        gone = segments.begin[g]
        least = gone
        for i in range(segments.begin[g], segments.stop[g]):
            if (given and h == first[g + 1]) or (i % SELDOM == 0 and halt.shape[0] > 0 and halt[0]):
                break
            symbol = events.symbols[i]
            asked = out.event[h] == i if given else i >= segments.report[g]
            if asked:
                if given:
                    least = lowest[h]
                elif windowed:
                    while keys[i] - keys[least] > window.size:
                        least += 1
                while gone < least:
                    left = events.symbols[gone]
                    for group in range(tables.first[left], tables.first[left + 1]):
                        if tables.group_starts[group]:
                            state = tables.group_state[group]
                            for order in range(tables.order_first[state], tables.order_first[state + 1]):
                                rank = arranged.rank[order, base + gone - segments.begin[g]]
                                if rank >= 0:
                                    put(trees, order, base, arranged.size[order, g], rank, -1)
                    gone += 1
                number = 0
                for group in range(tables.first[symbol], tables.first[symbol + 1]):
                    if not tables.accepting[tables.group_state[group]]:
                        continue
                    number += tables.group_starts[group]
                    for read in range(tables.read_first[group], tables.read_first[group + 1]):
                        view = tables.read_view[read]
                        order = tables.view_order[view]
                        if tables.view_near[view] == NEIGHBOUR:
                            before = last[tables.order_state[order]]
                            if before >= least and together(tables, events, view, before, i):
                                number += 1
                        else:
                            size = arranged.size[order, g]
                            a, b, c, d = shown(tables, events, arranged, base, size, view, i)
                            if a < b:
                                number += before_rank(trees, order, base, b)
                                number -= before_rank(trees, order, base, a)
                            if c < d:
                                number += before_rank(trees, order, base, d)
                                number -= before_rank(trees, order, base, c)
                if given or number > 0:
                    out.event[h] = i
                    out.start[h] = number
                    h += 1
            for group in range(tables.first[symbol], tables.first[symbol + 1]):
                if tables.group_starts[group]:
                    state = tables.group_state[group]
                    last[state] = i
                    for order in range(tables.order_first[state], tables.order_first[state + 1]):
                        rank = arranged.rank[order, base + i - segments.begin[g]]
                        if rank >= 0:
                            put(trees, order, base, arranged.size[order, g], rank, 1)
    return h


def counted_ends(tables, events, keys, size, segments, arranged):
    """Where complex events end, and how many end there, of the events that the segments report.

    Parameters
    ----------
    tables : ComparedTables
    events : PairedEvents
    keys : ndarray, shape (events,) or (0,), int64 or float64
        What the window measures; empty without a window, as it must be unless the automaton is `shallow`.
    size : int or float
    segments : ComparedSegments
    arranged : Arranged

    Returns
    -------
    event : ndarray, shape (hits,), int64
    number : ndarray, shape (hits,), int64, or object past 2^61
    """
    out = room_for_ends(segments)
    none = np.empty(0, np.int64)
    if shallow(tables):
        n = _run_shallow(tables, events, comparable(keys, size), segments, arranged, none, none, out)
        return out.event[:n], out.start[:n]
    return exact_ends(
        tables, events, segments, arranged, *_run(tables, events, segments, arranged, whole(segments))
    )


def exact_ends(tables, events, segments, arranged, event, number):
    """Count again the ends whose number is -1, because it may not fit.

    Parameters
    ----------
    tables : ComparedTables
    events : PairedEvents
    segments : ComparedSegments
    arranged : Arranged
    event, number : ndarray, shape (ends,), int64

    Returns
    -------
    event : ndarray, shape (ends,), int64
    number : ndarray, shape (ends,), int64, or object past 2^61
    """
    owner = np.searchsorted(segments.report, event, side="right") - 1
    return event, _exact(tables, events, segments, arranged, number, owner, segments.begin[owner], event)


def _run_shallow(tables, events, window, segments, arranged, first, lowest, out):
    trees = np.empty((len(tables.order_slot), int(segments.base[-1])), np.int32)
    last = np.empty(len(tables.accepting), np.int64)
    return shallow_body(tables, events, window, segments, arranged, first, lowest, trees, last, out)


def counts(tables, events, segments, arranged, first, event, lowest):
    """How many complex events end at each hit of many segments.

    Parameters
    ----------
    tables : ComparedTables
    events : PairedEvents
    segments : ComparedSegments
    arranged : Arranged
    first : ndarray, shape (segments + 1,), int64
    event, lowest : ndarray, shape (hits,), int64
        Where each ends, among the events that its segment reports, and the least event at which it may start.

    Returns
    -------
    ndarray, shape (hits,), int64, or object past 2^61
    """
    owner = np.repeat(np.arange(len(segments.begin)), np.diff(first))
    # Under a window over an attribute that falls, a later end may admit an earlier start.
    rises = ((np.diff(lowest) >= 0) | (np.diff(owner) > 0)).all()
    if shallow(tables) and rises:
        found = FoundEnds(event, np.empty(len(event), np.int64))
        _run_shallow(tables, events, NO_WINDOW, segments, arranged, first, lowest, found)
        return found.start
    ends, number = _run(tables, events, segments, arranged, whole(segments))
    number = number[np.searchsorted(ends, event)]
    begin = segments.begin[owner]
    later = np.flatnonzero(lowest > begin)
    if len(later):
        ends, earliest = hits(tables, events, np.empty(0, np.int64), 0, segments, arranged, early=True)
        place = np.searchsorted(ends, event[later])
        again = later[earliest[place] < lowest[later]]
        if len(again):
            alone = PairRuns(lowest[again], event[again], event[again] + 1, owner[again])
            number[again] = _run(tables, events, segments, arranged, alone)[1]
    return _exact(tables, events, segments, arranged, number, owner, np.maximum(lowest, begin), event)


def _run(tables, events, segments, arranged, runs):
    """Where complex events end in some runs, and how many: -1 from `MOST_RUNS` on."""
    shape = len(tables.order_slot), 2 * int(segments.base[-1])
    last = np.empty((len(tables.accepting), 2), np.int64)
    room = CountRoom(
        arranged, segments, np.empty(HERE, np.int64), np.zeros(shape, np.int64), np.zeros(shape), last
    )
    return found_ends(count_ends, tables, events, NO_WINDOW, runs, room, room_for_ends(runs))


def _exact(tables, events, segments, arranged, number, owner, begin, event):
    """The numbers, with Python's integers in the place of those that may not fit."""
    doubtful = np.flatnonzero(number < 0)
    if not len(doubtful):
        return number
    exact = number.astype(object)
    # Ends that count from the same event on are counted together.
    keys = np.stack([owner[doubtful], begin[doubtful]], axis=1)
    for g, low in np.unique(keys, axis=0).tolist():
        here = doubtful[(keys[:, 0] == g) & (keys[:, 1] == low)]
        found = count_exactly(tables, events, segments, arranged, g, low, event[here])
        for h, count in zip(here.tolist(), found):
            exact[h] = count
    return exact


def count_exactly(tables, events, segments, arranged, g, begin, ends):
    """How many complex events start at `begin` or later and end at each of some events: Python integers.

    Parameters
    ----------
    tables : ComparedTables
    events : PairedEvents
    segments : ComparedSegments
    arranged : Arranged
    g : int
        The segment.
    begin : int
    ends : ndarray, shape (n,), int64
        Ascending.
    """
    base, origin = int(segments.base[g]), int(segments.begin[g])
    sizes = arranged.size[:, g].tolist()
    sums = [[0] * (2 * size + 1) for size in sizes]
    last = {}
    asked = set(ends.tolist())
    found = []
    for i in range(begin, int(ends[-1]) + 1):
        if i % OFTEN == 0:
            go_on()
        symbol = int(events.symbols[i])
        number, entered = 0, []
        for group in range(tables.first[symbol], tables.first[symbol + 1]):
            runs = int(tables.group_starts[group])
            for view in tables.read_view[tables.read_first[group] : tables.read_first[group + 1]].tolist():
                order = int(tables.view_order[view])
                if tables.view_near[view] == NEIGHBOUR:
                    before, its = last.get(int(tables.order_state[order]), (-1, 0))
                    runs += its if before >= 0 and together(tables, events, view, before, i) else 0
                    continue
                ranks = shown(tables, events, arranged, base, sizes[order], view, i)
                a, b, c, d = (int(rank) for rank in ranks)
                runs += _sum(sums[order], sizes[order], a, b) + _sum(sums[order], sizes[order], c, d)
            state = int(tables.group_state[group])
            entered.append((state, runs))
            number += runs if tables.accepting[state] else 0
        for state, runs in entered:
            if not runs:
                continue
            last[state] = i, runs
            for order in range(tables.order_first[state], tables.order_first[state + 1]):
                at = int(arranged.rank[order, base + i - origin])
                if at >= 0:
                    at += sizes[order]
                    while at >= 1:
                        sums[order][at] += runs
                        at >>= 1
        if i in asked:
            found.append(number)
    return found


def _sum(sums, size, low, high):
    """As `total`."""
    found = 0
    if low >= high:
        return found
    low += size
    high += size
    while low < high:
        if low & 1:
            found += sums[low]
            low += 1
        if high & 1:
            high -= 1
            found += sums[high]
        low >>= 1
        high >>= 1
    return found
