"""Enumeration into rows: the answers of many hits, each hit's in canonical order, in arrays of 32 bits.

A structure brings the piece `walk(nodes, hit, lowest, scratch, rows, n, m)`, which appends the answers of a
hit behind `n` rows and `m` marks, and gives the status and how many rows and marks there are then.
"""

from ..jit import composed, inline, jit
from .contract import DONE, MARKS_FULL, ROWS_FULL
from .order import sort_runs


@jit
def _precedes(rows, one, other):
    """Whether a row comes before another: by start, then events, then labels; both as tuples."""
    if rows.start[one] != rows.start[other]:
        return rows.start[one] < rows.start[other]
    a, b = rows.first[one], rows.first[other]
    n, m = rows.first[one + 1] - a, rows.first[other + 1] - b
    for k in range(min(n, m)):
        if rows.event[a + k] != rows.event[b + k]:
            return rows.event[a + k] < rows.event[b + k]
    if n != m:
        return n < m
    if rows.label.shape[0] > 0:
        for k in range(n):
            if rows.label[a + k] != rows.label[b + k]:
                return rows.label[a + k] < rows.label[b + k]
    return False


_sort_slice = composed(sort_runs, "_sort_slice", precedes=_precedes)


@jit
def sort_rows(rows, low, high, order, spare):
    """Put rows low .. high - 1 of a hit in canonical order: `order[low:high]`."""
    for k in range(low, high):
        # Later runs are at the top of a heap, so the last rows are mostly the first.
        order[k] = high - 1 - k + low
    _sort_slice(order, spare, low, high, rows)


@inline
def full(rows, n, m, marks):
    """Which array is full where a row with `marks` marks does not fit behind `n` rows and `m` marks."""
    status = DONE
    if n + 2 > rows.first.shape[0]:
        status = ROWS_FULL
    elif m + marks > rows.event.shape[0]:
        status = MARKS_FULL
    return status


def list_rows(nodes, hits, hit_lowest, begin, rows, order, spare, scratch, progress, halt):
    """Write the answers of the hits from `progress[0]` on, until an array is full; gives the status.

    ============  ==================  ====================================================================
    `nodes`       NamedTuple          in: the structure
    `hits`        int64 [hits]        in: numbers of hits
    `hit_lowest`  int64 [all hits]    in: the least admissible start of each
    `begin`       int64 [hits + 1]    out: the first row of each, and all rows
    `rows`        AnswerRows          out
    `order`       int32 [rows]        out: the rows of each hit in canonical order
    `spare`       int32 [rows]        scratch
    `scratch`     of the walk         scratch
    `progress`    int64 [3]           in/out: hits, rows and marks that are done; zeros at first
    `halt`        uint8 [1]           in: see `jit`
    ============  ==================  ====================================================================
    """
    begin[0] = 0
    rows.first[progress[1]] = progress[2]
    while progress[0] < hits.shape[0] and not halt[0]:
        hit = hits[progress[0]]
        status, n, m = walk(nodes, hit, hit_lowest[hit], scratch, rows, progress[1], progress[2])  # noqa: F821
        if status != DONE:
            return status
        sort_rows(rows, progress[1], n, order, spare)
        progress[0] += 1
        begin[progress[0]] = n
        progress[1] = n
        progress[2] = m
    return DONE
