"""Enumeration of compared steps: the complex events of many hits, each hit's in canonical order.

A complex event is a path from a root to a start: from each entry to one of its links, and from the link to
one of its entries. The next entry of a link is found in O(log n) steps and has a run inside the window, so
every path that is begun leads to a complex event.
"""

from ..jit import jit
from ..joins.cpu_enumerate import DONE, MARKS_FULL, ROWS_FULL, STACK_FULL, full, note_rows
from .contract import NO_TREE, ONE_ENTRY
from .tree import found_last

PATH_FULL = STACK_FULL

__all__ = ["DONE", "MARKS_FULL", "PATH_FULL", "ROWS_FULL"]

ENTRY, LINK, AT = range(3)
"""Columns of a path: an entry, the link that is followed from it, and the rank of that link to try next."""


@jit
def walk(nodes, hit, lowest, path, rows, n, m):
    """Append the complex events of a hit; gives the status, and the rows and marks written then.

    ========  ==================  =========================================
    `nodes`   ComparedNodes       in
    `hit`     int                 in
    `lowest`  int                 in: the least admissible start
    `path`    int64 [depth, 3]    scratch
    `rows`    AnswerRows          out
    `n`, `m`  int                 in: rows and marks written so far
    ========  ==================  =========================================
    """
    for r in range(nodes.root_first[hit], nodes.root_first[hit + 1]):
        entry = nodes.root_entry[r]
        path[0, ENTRY] = entry
        path[0, LINK] = nodes.link_first[entry]
        path[0, AT] = nodes.link_high[nodes.link_first[entry]] - 1
        depth = 0
        while depth >= 0:
            entry = path[depth, ENTRY]
            link = path[depth, LINK]
            if link == nodes.link_last[entry]:
                depth -= 1
                continue
            at = path[depth, AT]
            low = nodes.link_low[link]
            root = nodes.link_root[link]
            onward = -1
            if root == ONE_ENTRY and at >= low and nodes.value[at] >= lowest:
                onward = at
            elif root >= 0 and at >= low:
                at, onward = found_last(nodes, root, nodes.link_size[link], low, at, lowest)
            if onward >= 0:
                path[depth, AT] = at - 1
                depth += 1
                if depth == path.shape[0]:
                    return PATH_FULL, n, m
                path[depth, ENTRY] = onward
                path[depth, LINK] = nodes.link_first[onward]
                path[depth, AT] = nodes.link_high[nodes.link_first[onward]] - 1
                continue
            path[depth, LINK] = link + 1
            if link + 1 < nodes.link_last[entry]:
                path[depth, AT] = nodes.link_high[link + 1] - 1
            if root != NO_TREE or nodes.event[entry] < lowest:
                continue
            status = full(rows, n, m, depth + 1)
            if status != DONE:
                return status, n, m
            for d in range(depth, -1, -1):
                if nodes.label[path[d, ENTRY]] == 0:  # not shown: it has no place in the order
                    continue
                rows.event[m] = nodes.event[path[d, ENTRY]]
                rows.label[m] = nodes.label[path[d, ENTRY]]
                m += 1
            rows.start[n] = nodes.event[entry]
            n += 1
            rows.first[n] = m
    return DONE, n, m


@jit
def fill(nodes, hits, hit_lowest, begin, rows, order, spare, path, progress, halt):
    """Write the complex events of the hits from `progress[0]` on, until an array is full; gives the status.

    ============  ==================  ====================================================================
    `nodes`       ComparedNodes       in
    `hits`        int64 [hits]        in: numbers of hits
    `hit_lowest`  int64 [all hits]    in: the least admissible start of each
    `begin`       int64 [hits + 1]    out: the first row of each, and all rows
    `rows`        AnswerRows          out
    `order`       int32 [rows]        out: the rows of each hit in canonical order
    `spare`       int32 [rows]        scratch
    `path`        int64 [depth, 3]    scratch
    `progress`    int64 [3]           in/out: hits, rows and marks that are done; zeros at first
    `halt`        uint8 [1]           in: see `jit`
    ============  ==================  ====================================================================
    """
    begin[0] = 0
    rows.first[progress[1]] = progress[2]
    while progress[0] < hits.shape[0] and not halt[0]:
        hit = hits[progress[0]]
        status, n, m = walk(nodes, hit, hit_lowest[hit], path, rows, progress[1], progress[2])
        if status != DONE:
            return status
        note_rows(rows, n, m, begin, order, spare, progress)
    return DONE
