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

from ..arena.contract import DONE, STACK_FULL
from ..arena.rows import full, list_rows
from ..jit import composed, jit
from .contract import (
    AT_MOST,
    LESS,
    ArrangedEntries,
    Climb,
    ComparedSegments,
    ComparedTables,
    PairedEvents,
    RunTrace,
)
from .cpu_order import shown
from .tree import latest_in

EVENT, ROOT, LOW, HIGH, ANY, COLUMNS = range(6)
"""Columns of a path: an event, the version and the ranks that hold further covers, whether it has one.
`COLUMNS` is their number."""


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


class ClimbedSteps(NamedTuple):
    """Chains of events, and the hits that they lead to: what a walk through them reads."""

    tables: ComparedTables
    events: PairedEvents
    segments: ComparedSegments
    arranged: ArrangedEntries
    traced: RunTrace
    climb: Climb
    hits: ClimbedHits


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
def _walk(steps, hit, lowest, path, rows, n, m):
    """Append the maximal chains of a hit; gives the status, and the rows and marks written then.

    ========  ==================  =========================================
    `steps`   ClimbedSteps        in
    `hit`     int                 in
    `lowest`  int                 in: the least admissible start
    `path`    int64 [depth, 5]    scratch
    `rows`    AnswerRows          out
    `n`, `m`  int                 in: rows and marks written so far
    ========  ==================  =========================================
    """
    tables, events, segments, arranged, traced, climb, hits = steps
    g = hits.segment[hit]
    lowest = max(lowest, segments.begin[g])
    least = climb.group.shape[1]
    begin_covers(tables, events, segments, arranged, traced, climb, g, hits.event[hit], path, 0)
    depth = 0
    while depth >= 0:
        found = next_cover(tables, events, segments, arranged, traced, climb, g, lowest, path, depth)
        if found >= 0:
            if is_long(tables, events, segments, traced, climb, g, found, least - depth - 1, lowest):
                depth += 1
                if depth == path.shape[0]:
                    return STACK_FULL, n, m
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


fill = composed(list_rows, "fill", walk=_walk)
"""`list_rows` over `ClimbedSteps`."""
