"""Counts of steps: how many complex events end at each hit, by sums over neighbouring entries.

Each entry counts its runs; the runs that a view shows are the difference of two prefix sums (`loop.sums`).

With a window beside the gaps: complex events of at most three events are counted in constant time for an
event (`cpu_short_chains`). For longer ones, where no run that ends at a hit begins before the window, the
number is that of all runs. Where some do, there are two ways, and the cheaper one is taken:

- Chains of k steps, each entered in one way from the step before: amortised O(2^k) for an event and O(4^k)
  for a hit, whatever the window (`cpu_chain`).
- The complex events of this hit are counted one by one; or, where the window has fewer events than that, the
  events are run again for this hit alone, which costs as much as the window has events. Iterations, which
  have no k, are counted in this way.
"""

import numpy as np

from ..jit import OFTEN, composed, go_on
from ..loop.contract import LARGEST, NEIGHBOUR, LoopSegments, room_for_ends
from ..loop.follow import follow
from ..loop.gaps import COUNT_IN_GAPS, SumRoom
from ..loop.products import COUNT
from ..loop.run import found_ends
from ..loop.views import all_shown, begin_segment, neighbour
from ..runs.contract import SegmentHits
from ..windows.contract import NO_WINDOW
from .contract import StepEvents, chain_tables, room_for, short_tables
from .cpu_chain import chain_counts, exact_chain_counts
from .cpu_hits import early_hits
from .cpu_nodes import build
from .cpu_short_chains import MOST_EVENTS, short_counts
from .cpu_walk import walked_counts

AGAIN = 16
"""Sums of the pass over a chain that cost as much as an event that is run again, or as one complex event."""


count_ends = composed(follow, "count_ends", **COUNT, **COUNT_IN_GAPS)


def counted_ends(tables, events, segments, out=None):
    """Where complex events end without a window, and how many, of the events that the segments report.

    Parameters
    ----------
    tables : StepTables
    events : StepEvents
    segments : LoopSegments
    out : FoundEnds, optional
        Room for as many ends as events are reported; the results are then views of its first part.

    Returns
    -------
    event : ndarray, shape (hits,), int64
    number : ndarray, shape (hits,), int64, or object past 2^61
    """
    if out is None:
        out = room_for_ends(segments)
    event, number = _run(tables, events, segments, out)
    if not (number < 0).any():
        return event, number
    begin = segments.begin[np.searchsorted(segments.report, event, side="right") - 1]
    return event, exact_numbers(tables, events, number, begin, event)


def counts(tables, events, segments, hits, nodes=None, few=None):
    """How many complex events end at each hit of many segments.

    Parameters
    ----------
    tables : StepTables
    events : StepEvents
    segments : LoopSegments
    hits : SegmentHits
        Among the events that each segment reports.
    nodes : StepNodes, optional
        Of these hits.
    few : ShortTables, optional
        The result of `short_tables`, where it is known already.

    Returns
    -------
    ndarray, shape (hits,), int64, or object past 2^61
    """
    first, event, lowest = hits
    short = short_tables(tables) if few is None else few
    longest = int((segments.stop - segments.begin).max(initial=0))
    if short is not None and longest <= MOST_EVENTS:
        return short_counts(tables, short, events, segments, first, event, lowest)
    number = _numbers_at(event, *_run(tables, events, segments, room_for_ends(segments)))
    begin = np.repeat(segments.begin, np.diff(first))
    if (lowest > begin).any():
        ends, earliest = early_hits(tables, events, segments)
        again = np.flatnonzero((lowest > begin) & (earliest[np.searchsorted(ends, event)] < lowest))
        some = _some(hits, again)
        number[again] = _cut_counts(tables, events, segments, some, number[again], nodes, again)
    if (number < 0).any() and (chain := chain_tables(tables)) is not None:
        # Of each window alone they are counted anew: chains are not.
        cut = np.flatnonzero((number < 0) & (lowest > begin))
        if len(cut):
            number = number.astype(object)
            number[cut] = exact_chain_counts(tables, chain, events, segments, *_some(hits, cut))
    return exact_numbers(tables, events, number, np.maximum(lowest, begin), event)


def _some(hits, which):
    """Some of the hits, by their numbers."""
    return SegmentHits(np.searchsorted(which, hits.first), hits.event[which], hits.lowest[which])


def _cut_counts(tables, events, segments, hits, number, nodes, which):
    """How many complex events in its window end at each hit, -1 where the number may not fit.

    The parameters are those of `counts`; `number` is that of all complex events of each hit, and `which` says
    which of the roots of `nodes` are those of the hits.
    """
    first, event, lowest = hits
    chain = chain_tables(tables)
    if chain is not None:
        passed = (segments.stop - segments.begin)[np.diff(first) > 0].sum()
        again = np.minimum(event - lowest, np.where(number < 0, LARGEST, number)).sum()
        if passed * chain.of_event + len(event) * chain.of_hit < AGAIN * again:
            return chain_counts(tables, chain, events, segments, first, event, lowest)
    if nodes is None:
        nodes, which = build(tables, events, np.empty(0, np.int64), 0, segments, hits), np.arange(len(event))
    number, many = walked_counts(nodes, which, event, lowest)
    if len(many):
        alone = LoopSegments(lowest[many], event[many], event[many] + 1)
        number[many] = _numbers_at(event[many], *_run(tables, events, alone, room_for_ends(alone)))
    return number


def _run(tables, events, segments, out):
    """Where complex events end without a window, and how many: views of `out`, -1 from `MOST_RUNS` on."""
    room = room_for(tables, events.symbols, False)
    size = len(room.event) + len(room.used)
    sums = SumRoom(room, np.empty(size, np.int64), np.empty(size, np.int32))
    return found_ends(count_ends, tables, events, NO_WINDOW, segments, sums, out)


def _numbers_at(hits, event, number):
    """The numbers of some hits, all of which are among the events that are given."""
    return number[np.searchsorted(event, hits)]


def exact_numbers(tables, events, number, begin, event):
    """Count again the numbers that are -1, with Python's integers.

    Parameters
    ----------
    tables : StepTables
    events : StepEvents
    number : ndarray, shape (hits,), int64
        -1 where a number may not fit.
    begin : ndarray, shape (hits,), int64
        The least event at which the complex events of each hit may start.
    event : ndarray, shape (hits,), int64
    """
    doubtful = np.flatnonzero(number < 0)
    if not len(doubtful):
        return number
    exact = number.astype(object)
    # Ends that count from the same event on are counted together.
    for low in np.unique(begin[doubtful]).tolist():
        here = doubtful[begin[doubtful] == low]
        for h, found in zip(here.tolist(), count_exactly(tables, events, low, event[here])):
            exact[h] = found
    return exact


def count_exactly(tables, events, begin, ends):
    """How many complex events start at `begin` or later and end at each of some events: Python integers.

    Parameters
    ----------
    tables : StepTables
    events : StepEvents
    begin : int
    ends : ndarray, shape (n,), int64
        Ascending.
    """
    stop = int(ends[-1]) + 1
    part = StepEvents(events.symbols[begin:stop], events.times[begin:stop], events.places[begin:stop])
    room = room_for(tables, part.symbols, False)
    sums = [0] * (len(room.event) + len(room.used))
    asked = set((ends - begin).tolist())
    begin_segment(tables, room, True)
    found = []
    for i, symbol in enumerate(part.symbols.tolist()):
        if i % OFTEN == 0:
            go_on()
        number = 0
        entered = []
        for group in range(tables.first[symbol], tables.first[symbol + 1]):
            runs = int(tables.group_starts[group])
            for view in tables.read_view[tables.read_first[group] : tables.read_first[group + 1]].tolist():
                state = int(tables.view_state[view])
                if tables.view_near[view] == NEIGHBOUR:
                    low = int(neighbour(tables, part, room, view, int(room.gone[view]), i))
                    high = low + 1 if low >= 0 else low
                else:
                    low, high = map(int, all_shown(tables, part, room, view, i))
                if low < high:
                    runs += sums[high + state] - sums[low + state]
            state = int(tables.group_state[group])
            entered.append((state, runs))
            number += runs if tables.accepting[state] else 0
        for state, runs in entered:
            if runs and room.kept[state]:
                at = int(room.used[state])
                room.event[at] = i
                room.used[state] = at + 1
                sums[at + 1 + state] = sums[at + state] + runs
        if i in asked:
            found.append(number)
    return found
