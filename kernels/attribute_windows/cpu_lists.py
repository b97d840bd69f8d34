"""Starts and ends of ranges of events in the order of their ranks, for both kernels of divide and conquer."""

import numpy as np

from ..jit import inline, jit
from .contract import RangeLists

RANGE = 1 << 14
"""Events of the ranges that threads begin with; longer ranges are joined from two neighbours."""


def empty_lists(count):
    """`RangeLists` for `count` events."""
    return RangeLists(*(np.empty(count, np.int64) for _ in range(5)))


@jit
def begin_lists(tables, symbols, low, high, report, lists):
    """The starts and ends of ranges of one event.

    `tables` TransitionTables, `symbols`, `low`, `high`, and the first end that is asked for, `report`: in;
    `lists`: out.
    """
    for event in range(low, high):
        symbol = symbols[event]
        lists.n_starts[event] = 0
        lists.n_ends[event] = 0
        ends = False
        for t in range(tables.first[symbol], tables.first[symbol + 1]):
            if tables.source[t] == 0:
                if tables.target[t] >= 0:
                    lists.starts[event] = event
                    lists.n_starts[event] = 1
            elif tables.accepting[t]:
                ends = True
        if ends and event >= report:
            lists.ends[event] = event
            lists.n_ends[event] = 1


@jit
def meeting(rank, least, low, middle, lists):
    """Find the starts of the left range and the ends of the right range that may meet.

    Gives how many starts there are, which are the first of their list, and how many ends, which are the last
    of theirs; then the first of these starts and the last of these ends in time.
    """
    starts, n_starts = lists.starts, lists.n_starts[low]
    ends, n_ends = lists.ends, lists.n_ends[middle]
    first, last = middle, middle - 1
    if n_starts == 0 or n_ends == 0:
        return 0, 0, first, last
    bound = least[ends[middle + n_ends - 1]]
    some = 0
    while some < n_starts and rank[starts[low + some]] >= bound:
        first = min(first, starts[low + some])
        some += 1
    if some == 0:
        return 0, 0, first, last
    most = rank[starts[low]]
    others = 0
    while others < n_ends and least[ends[middle + n_ends - 1 - others]] <= most:
        last = max(last, ends[middle + n_ends - 1 - others])
        others += 1
    return some, others, first, last


@inline
def _merge(numbers, value, count, spare, low, middle):
    """The numbers of two neighbouring ranges, each by descending value, as those of one."""
    n_left, n_right = count[low], count[middle]
    for k in range(n_left):
        spare[low + k] = numbers[low + k]
    p, q = low, middle
    for k in range(low, low + n_left + n_right):
        if p < low + n_left and (q == middle + n_right or value[spare[p]] >= value[numbers[q]]):
            numbers[k] = spare[p]
            p += 1
        else:
            numbers[k] = numbers[q]
            q += 1
    count[low] = n_left + n_right


@jit
def merge_lists(rank, least, low, middle, lists):
    """Merge the starts and the ends of two neighbouring ranges into those of one."""
    _merge(lists.starts, rank, lists.n_starts, lists.spare, low, middle)
    _merge(lists.ends, least, lists.n_ends, lists.spare, low, middle)


def halve(begin, report, stop, inside, across, share, phase):
    """Find the runs inside ranges by `inside`, then join ranges by `across` until each segment is one range.

    Parameters
    ----------
    begin, report, stop : ndarray, shape (segments,), int64
    inside : callable
        Called with ranges inside segments: arrays of their first events, of one past their last, and of the
        first events that are reported.
    across : callable
        Called with the first events of two neighbouring ranges, which become one.
    share : callable
        `share(phase, function, items, events)` calls a function for each item, in several threads.
    phase : str
        The name of the phase, as the progress bar shows it.
    """
    ranges = np.maximum(-(-(stop - begin) // RANGE), 1)
    segment = np.repeat(np.arange(begin.size), ranges)
    low = begin[segment] + RANGE * (np.arange(segment.size) - np.repeat(np.cumsum(ranges) - ranges, ranges))
    high = np.minimum(low + RANGE, stop[segment])
    done = np.cumsum(high - low)
    total = int(done[-1]) if done.size else 0
    cuts = np.unique(np.searchsorted(done, np.arange(RANGE, total, RANGE)) + 1)
    parts = np.split(np.arange(segment.size), cuts[cuts < segment.size])
    share(phase, inside, [(low[part], high[part], report[segment[part]]) for part in parts], total)
    width = RANGE
    while width < int((stop - begin).max(initial=0)):
        pairs = [
            (left, left + width)
            for first, last in zip(begin.tolist(), stop.tolist())
            for left in range(first, last - width, 2 * width)
        ]
        share(phase, across, pairs, total)
        width *= 2
