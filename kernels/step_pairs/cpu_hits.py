"""Hits of chains of which two steps are compared: the ends, with the latest start of the matches of each.

An old event is ready once later events have filled the steps between it and the new step; the ready ones are
always those up to some event. They are put into a tree of maxima over ranks, each with its latest start. A
new event takes the greatest start of the ranks that it matches. Events that have left the window stay in the
tree: their starts are below the least one that is admitted.
"""

import numpy as np

from ..comparisons.cpu_order import arrange, shown
from ..comparisons.tree import greatest, raised
from ..jit import SELDOM, jit
from ..loop.contract import room_for_ends
from ..windows.contract import comparable
from . import cpu_nested_loop


@jit
def _hits(tables, apart, events, window, segments, arranged, best, start, reached, out, halt):
    """Write the hits of all segments; gives how many there are.

    ==========  =================  =====================================================================
    `tables`    ComparedTables     in: view 0 shows the old events that a new one agrees with
    `apart`     StepPairTables        in
    `events`    PairedEvents       in
    `window`    MeasuredWindow     in
    `segments`  ComparedSegments   in
    `arranged`  Arranged           in
    `best`      int64 [1, 2 rows]  scratch: a tree of maxima
    `start`     int64 [rows]       scratch: of each old event the latest start of a way to it
    `reached`   int64 [steps]      scratch: after each step the latest start, and after those between the
                                   compared ones the latest old event; -1: none
    `out`       FoundEnds          out
    `halt`      uint8 [1]          in: see `jit`
    ==========  =================  =====================================================================
    """
    keys = window.keys
    windowed = keys.shape[0] > 0
    old = apart.old
    new = apart.new
    last = apart.last
    n = 0
    for g in range(segments.begin.shape[0]):
        base = segments.base[g]
        begin = segments.begin[g]
        size = arranged.size[0, g]
        for row in range(2 * base, 2 * (base + size)):
            best[0, row] = -1
        for step in range(reached.shape[0]):
            reached[step] = -1
        put = begin
        low = begin
        for i in range(begin, segments.stop[g]):
            if i % SELDOM == 0 and halt[0]:
                return n
            mask = apart.steps[events.symbols[i]]
            if windowed:
                while keys[i] - keys[low] > window.size:
                    low += 1
            top = -1
            # From the last step to the first, so that each sees what earlier events have done.
            for step in range(last, -1, -1):
                if not mask >> step & 1:
                    continue
                value = i
                if step == new:
                    while put <= reached[new - 1]:
                        rank = arranged.rank[0, base + put - begin]
                        if rank >= 0 and start[base + put - begin] >= 0:
                            raised(best, 0, 2 * base, size, rank, start[base + put - begin])
                        put += 1
                    value = -1
                    a, b, c, d = shown(tables, events, arranged, base, size, 0, i)
                    if a < b:
                        value = greatest(best, 0, 2 * base, size, a, b)
                    if c < d:
                        value = max(value, greatest(best, 0, 2 * base, size, c, d))
                    if value < low:
                        value = -1
                elif step == old:
                    start[base + i - begin] = i if step == 0 else reached[step - 1]
                elif step > 0:
                    value = reached[step - 1]
                if step == last:
                    top = value
                else:
                    reached[step] = max(reached[step], value)
            if top >= low and i >= segments.report[g]:
                out.event[n] = i
                out.start[n] = top
                n += 1
    return n


def hits(tables, apart, events, keys, size, segments):
    """The hits of many segments, in their order.

    Parameters
    ----------
    tables, apart, events, keys, size, segments
        As for `cer_gpu.kernels.step_pairs.cpu_counts.counted_ends`.

    Returns
    -------
    event : ndarray, shape (hits,), int64
    start : ndarray, shape (hits,), int64
        The event of the latest start.
    """
    window = comparable(keys, size)
    event, start, left = cpu_nested_loop.found(tables, apart, events, window, segments)
    if not len(left.begin):
        return event, start
    arranged = arrange(tables, events, left)
    out = room_for_ends(left)
    rows = int(left.base[-1])
    best, latest = np.empty((1, 2 * rows), np.int64), np.empty(rows, np.int64)
    reached = np.empty(apart.last + 1, np.int64)
    n = _hits(tables, apart, events, window, left, arranged, best, latest, reached, out)
    return cpu_nested_loop.merged((event, start), (out.event[:n], out.start[:n]))
