"""Counts abreast: how often many automata fire over the same events, all of them at each event.

For each member the numbers of runs from node p to node q over the events of its window are a matrix M, upper
triangular with ones on its diagonal: the product of a matrix for each event, `1 + N`, N with a one for each
edge of the event. The next event is multiplied to the right, and the oldest one is taken off again to the
left: its inverse is a product of subtractions too, since N^n = 0. So an event is added once and taken off
once, whatever the window, and nothing of the window is kept but M. Both do the same to all members that have
the edge, so the innermost loops go over the members, with a mask: they are what a CPU does many at a time.

Sums wrap at 2^64 on the way, which does no harm where the result is less: the kernel says how many events
the widest window held, and the caller bounds the result by them.
"""

import numpy as np

from ..jit import OFTEN, inline, jit


@inline
def added(matrices, into, of, mask, begin, stop):
    """Where the mask says so, add one number of each member to another."""
    sums, more = matrices[into], matrices[of]
    for v in range(begin, stop):
        sums[v] += more[v] & mask[v]


@inline
def taken(matrices, out_of, of, mask, begin, stop):
    """Where the mask says so, subtract one number of each member from another."""
    sums, less = matrices[out_of], matrices[of]
    for v in range(begin, stop):
        sums[v] -= less[v] & mask[v]


@inline
def tally(number, at, hits, matches, first, last):
    """Add what ends at an event to the sums of its group."""
    for v in range(number.shape[0]):
        hits[v] += number[v] != 0
        matches[v] += number[v]
    for v in range(number.shape[0]):
        first[v] = at if (number[v] != 0) & (at < first[v]) else first[v]
        last[v] = at if (number[v] != 0) & (at > last[v]) else last[v]


@inline
def nodes_of(matrices):
    """How many nodes matrices of so many rows have."""
    n = 1
    while n * n < matrices.shape[0]:
        n += 1
    return n


@inline
def dropped(edges, n, cell, matrices, begin, stop):
    """Take the oldest event off the matrices of some members."""
    for k in range(edges.first[cell], edges.first[cell + 1]):
        e = edges.back[k]
        p, q = edges.source[e], edges.target[e]
        if q == n:
            continue
        mask = edges.masks[edges.row[e]]
        for r in range(q + 1, n):
            taken(matrices, p * n + r, q * n + r, mask, begin, stop)
        ones = matrices[p * n + q]
        for v in range(begin, stop):
            ones[v] += mask[v]


def abreast_body(edges, spans, events, begin, report, stop, low, matrices, number, sums, halt):
    """Add what the members find in some segments to `sums`; gives the most events that a window held.

    ==========  ============================  ==========================================================
    `edges`     Edges                         in
    `spans`     Spans                         in
    `events`    AbreastEvents                 in
    `begin`     int64 [segments]              in: events begin .. stop - 1 are run
    `report`    int64 [segments]              in: the ends from here on are added up
    `stop`      int64 [segments]              in
    `low`       int64 [spans]                 scratch: the first event in each window
    `matrices`  int64 [n * n, members]        scratch: row p * n + q is the number of runs from p to q
    `number`    int64 [members]               scratch: of complex events at an end
    `sums`      GroupSums                     in/out
    `halt`      uint8 [1]                     in: see `jit`
    ==========  ============================  ==========================================================
    """
    first, source, target, row = edges.first, edges.source, edges.target, edges.row
    cells, keys = events.cells, events.keys
    members = number.shape[0]
    n = nodes_of(matrices)
    widest = 0
    for g in range(begin.shape[0]):
        matrices[:] = 0
        low[:] = begin[g]
        for j in range(begin[g], stop[g]):
            if j % OFTEN == 0 and halt.shape[0] and halt[0]:
                return widest
            e, e1 = first[cells[j]], first[cells[j] + 1]
            if e < e1 and target[e] == n and j >= report[g]:
                for d in range(low.shape[0]):
                    while keys[j] - keys[low[d]] > spans.size[d]:
                        dropped(edges, n, cells[low[d]], matrices, spans.begin[d], spans.begin[d + 1])
                        low[d] += 1
                    widest = max(widest, j - low[d])
                number[:] = 0
                while e < e1 and target[e] == n:
                    mask = edges.masks[row[e]]
                    if source[e] == 0:
                        for v in range(members):
                            number[v] -= mask[v]
                    else:
                        runs = matrices[source[e]]
                        for v in range(members):
                            number[v] += runs[v] & mask[v]
                    e += 1
                b = events.group[j] if events.group.shape[0] else 0
                tally(number, events.at[j], sums.hits[b], sums.matches[b], sums.first[b], sums.last[b])
            for k in range(e, e1):
                p, q = source[k], target[k]
                if q < n:
                    mask = edges.masks[row[k]]
                    for r in range(p):
                        added(matrices, r * n + q, r * n + p, mask, 0, members)
                    ones = matrices[p * n + q]
                    for v in range(members):
                        ones[v] -= mask[v]
    return widest


abreast_kernel = jit(abreast_body)


def abreast(edges, spans, n_nodes, events, begin, report, stop, sums):
    """`abreast_body` with its scratch, over nodes 0 .. n_nodes - 1.

    Returns
    -------
    int
        The most events that a window held, without the last one.
    """
    members = edges.masks.shape[1]
    low = np.empty(len(spans.size), np.int64)
    matrices = np.empty((n_nodes * n_nodes, members), np.int64)
    number = np.empty(members, np.int64)
    return abreast_kernel(edges, spans, events, begin, report, stop, low, matrices, number, sums)
