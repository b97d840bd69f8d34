"""Rows are extended by candidates, row after row."""

from ..jit import OFTEN, inline, jit
from .contract import (
    AT,
    ATLEAST,
    ATMOST,
    DONE,
    EQUAL,
    FULL,
    LESS,
    LOOKED,
    MADE,
    MORE,
    MOST_LOOKED,
    ROW,
    UNEQUAL,
)


@inline
def _holds(op, left, right):
    if op == EQUAL:
        found = left == right
    elif op == UNEQUAL:
        found = left != right
    elif op == LESS:
        found = left < right
    elif op == ATMOST:
        found = left <= right
    elif op == MORE:
        found = left > right
    else:
        found = left >= right
    return found


@inline
def _first_event(event, low, high, wanted):
    """The first of the places low .. high - 1 whose event is at least `wanted`."""
    while low < high:
        middle = (low + high) // 2
        if event[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@inline
def _first_rank(ranked, rank, low, high, wanted):
    """The first of the places low .. high - 1 whose event has a rank of at least `wanted`."""
    while low < high:
        middle = (low + high) // 2
        if rank[0, ranked[middle]] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def ranked_range(candidates, op, begin, end, bound):
    """The places of `candidates.ranked` between `begin` and `end` that satisfy the first condition.

    For `!=` these are the places that do not satisfy it.
    """
    low, high = begin, end
    if op in (EQUAL, UNEQUAL, ATLEAST):
        low = _first_rank(candidates.ranked, candidates.rank, begin, end, bound)
    if op == MORE:
        low = _first_rank(candidates.ranked, candidates.rank, begin, end, bound + 1)
    if op in (EQUAL, UNEQUAL, ATMOST):
        high = _first_rank(candidates.ranked, candidates.rank, low, end, bound + 1)
    if op == LESS:
        high = _first_rank(candidates.ranked, candidates.rank, begin, end, bound)
    return low, high


@jit
def chosen(candidates, rows, row):
    """Where to search for what extends a row: whether in `ranked`, the first place, and one past the last.

    Of the events that the row admits and the ranks that its first condition admits, it takes the smaller
    range.
    """
    begin, end = rows.begin[row], rows.end[row]
    low = _first_event(candidates.event, begin, end, rows.low[row])
    high = _first_event(candidates.event, low, end, rows.high[row] + 1)
    by_rank = False
    if candidates.op.shape[0] > 0 and candidates.op[0] != UNEQUAL:
        first, last = ranked_range(candidates, candidates.op[0], begin, end, rows.rank[0, row])
        if last - first < high - low:
            by_rank = True
            low, high = first, last
    return by_rank, low, high


@jit
def fits(candidates, rows, row, event):
    """Whether a candidate of the row's key extends it."""
    found = rows.low[row] <= event <= rows.high[row]
    for number in range(candidates.op.shape[0]):
        if not found:
            break
        found = _holds(candidates.op[number], candidates.rank[number, event], rows.rank[number, row])
    return found


@jit
def extend(candidates, rows, pairs, progress, halt):
    """Write the pairs of `contract.pairs_reference`, those of a row in any order: DONE or FULL.

    ============  =====================  ==============================================================
    `candidates`  Candidates             in
    `rows`        RowBounds              in
    `pairs`       Pairs                  out
    `progress`    int64 [WORDS]          in/out: MADE and LOOKED are counted from 0 in each call
    `halt`        uint8 [1]              in: see `jit`
    ============  =====================  ==============================================================

    Returns
    -------
    int
        DONE or FULL.
    """
    room = pairs.row.shape[0]
    made, looked = 0, 0
    at = progress[AT]
    status = DONE
    for row in range(progress[ROW], rows.begin.shape[0]):
        if row % OFTEN == 0 and halt[0]:
            break
        by_rank, low, high = chosen(candidates, rows, row)
        for place in range(low + at, high):
            if made == room or looked >= MOST_LOOKED:
                progress[ROW], progress[AT] = row, place - low
                status = FULL
                break
            event = candidates.ranked[place] if by_rank else candidates.event[place]
            looked += 1
            if fits(candidates, rows, row, event):
                pairs.row[made] = row
                pairs.event[made] = event
                made += 1
        if status == FULL:
            break
        at = 0
    progress[MADE], progress[LOOKED] = made, looked
    return status


@jit
def summed(candidates, rows, count, latest, progress, halt):
    """`contract.summed_reference`, row by row: DONE or FULL.

    ============  =====================  ==============================================================
    `candidates`  Candidates             in
    `rows`        RowBounds              in
    `count`       int64 [rows]           out
    `latest`      int64 [rows]           out
    `progress`    int64 [WORDS]          in/out: as for `extend`; AT is not used
    `halt`        uint8 [1]              in: see `jit`
    ============  =====================  ==============================================================

    Returns
    -------
    int
        DONE or FULL: call it again.
    """
    plain = candidates.op.shape[0] == 0
    looked = 0
    status = DONE
    for row in range(progress[ROW], rows.begin.shape[0]):
        if row % OFTEN == 0 and halt[0]:
            break
        if looked >= MOST_LOOKED:
            progress[ROW] = row
            status = FULL
            break
        by_rank, low, high = chosen(candidates, rows, row)
        n, last = 0, -1
        if plain:
            n = max(high - low, 0)
            if n > 0:
                last = candidates.event[high - 1]
        else:
            for place in range(low, high):
                event = candidates.ranked[place] if by_rank else candidates.event[place]
                if fits(candidates, rows, row, event):
                    n += 1
                    last = max(last, event)
            looked += high - low
        count[row] = n
        latest[row] = last
    progress[LOOKED] = looked
    return status
