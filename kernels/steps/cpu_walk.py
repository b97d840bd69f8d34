"""Enumeration of steps: the complex events of many hits, each hit's in canonical order.

A complex event is a path from a root to a start: from each entry to one of its links, and from the link to
one of its entries. All entries have a run, and those whose latest start is before the window are passed over,
so every path that is begun leads to a complex event.

Paths that share what comes after an entry share its node. A walk takes later entries first, so what it finds,
read backwards, ascends by the last events: little is left to do but a stable sort by starts.
"""

import numpy as np

from ..arena.blocks import list_hits
from ..arena.contract import DEPTH_FULL, DONE, MISMATCH, NODES_FULL
from ..arena.order import sort_found, sort_runs
from ..forest.contract import SortScratch
from ..jit import composed, inline, jit
from .contract import DIGIT, FoundPaths, WalkedPaths

ENTRY, NODE, AFTER, LINK, AT, FRAME = range(6)
"""Columns of a frame: an entry, its node, the node of the entry after it, the link that is followed, and the
entry of that link to try next. `FRAME` is their number."""

WALKED = 1 << 6
"""Up to this many complex events of a hit are counted one by one, however few events the window has."""


@inline
def _push(nodes, frames, depth, entry, node, after):
    frames[depth, ENTRY] = entry
    frames[depth, NODE] = node
    frames[depth, AFTER] = after
    link = nodes.link_first[entry]
    frames[depth, LINK] = link
    frames[depth, AT] = nodes.link_high[link] - 1


@jit
def _walk(nodes, hit, lowest, most, listed, found):
    """Walk through the complex events of a hit; gives how many there are, or minus the status.

    =========  ==========  ==================================================================
    `nodes`    StepNodes   in
    `hit`      int         in
    `lowest`   int         in: the least admissible start
    `most`     int         in: the walk ends once it has found more than this many
    `listed`   bool        in: whether they are written to `found`, which has room for `most`
    `found`    FoundPaths  out
    =========  ==========  ==================================================================
    """
    frames = found.frames
    chained = nodes.before.shape[0] > 0
    n = 0
    used = 0
    for r in range(nodes.root_first[hit], nodes.root_first[hit + 1]):
        if listed:
            if used == found.node_entry.shape[0]:
                return -NODES_FULL
            found.node_entry[used] = nodes.root_entry[r]
            found.node_after[used] = -1
            found.node_length[used] = 1
            used += 1
        _push(nodes, frames, 0, nodes.root_entry[r], used - 1, -1)
        depth = 0
        while depth >= 0:
            entry = frames[depth, ENTRY]
            link = frames[depth, LINK]
            if link == nodes.link_last[entry]:
                depth -= 1
                continue
            low = nodes.link_low[link]
            if low < 0:
                # A run has started here.
                if nodes.event[entry] >= lowest:
                    if n >= most:
                        return most + 1
                    if listed:
                        found.entry[n] = entry
                        found.after[n] = frames[depth, AFTER]
                        found.start[n] = nodes.event[entry] - lowest
                    n += 1
            else:
                node = frames[depth, NODE]
                at = frames[depth, AT]
                deeper = -1
                while at >= low and deeper < 0:
                    child = at
                    at = nodes.before[at] if chained else at - 1
                    if nodes.latest[child] < lowest:
                        continue
                    first = nodes.link_first[child]
                    if nodes.link_low[first] < 0 and nodes.link_last[child] == first + 1:
                        # Nothing but a start.
                        if n >= most:
                            return most + 1
                        if listed:
                            found.entry[n] = child
                            found.after[n] = node
                            found.start[n] = nodes.event[child] - lowest
                        n += 1
                    else:
                        deeper = child
                if deeper >= 0:
                    frames[depth, AT] = at
                    depth += 1
                    if depth == frames.shape[0]:
                        return -DEPTH_FULL
                    if listed:
                        if used == found.node_entry.shape[0]:
                            return -NODES_FULL
                        found.node_entry[used] = deeper
                        found.node_after[used] = node
                        found.node_length[used] = found.node_length[node] + 1
                        used += 1
                    _push(nodes, frames, depth, deeper, used - 1, node)
                    continue
            link += 1
            frames[depth, LINK] = link
            if link < nodes.link_last[entry]:
                frames[depth, AT] = nodes.link_high[link] - 1
    return n


@jit
def _precedes(walked, one, other):
    """Whether a complex event comes before another: by start, then events, then labels; both as tuples."""
    nodes, found, _ = walked
    if found.start[one] != found.start[other]:
        return found.start[one] < found.start[other]
    p = found.after[one]
    q = found.after[other]
    while p != q and p >= 0 and q >= 0:
        a = nodes.event[found.node_entry[p]]
        b = nodes.event[found.node_entry[q]]
        if a != b:
            return a < b
        p = found.node_after[p]
        q = found.node_after[q]
    if p != q:
        return p < 0
    a = nodes.label[found.entry[one]]
    b = nodes.label[found.entry[other]]
    p = found.after[one]
    q = found.after[other]
    while a == b and p != q:
        a = nodes.label[found.node_entry[p]]
        b = nodes.label[found.node_entry[q]]
        p = found.node_after[p]
        q = found.node_after[q]
    return a < b


@jit
def count_up_to(nodes, hits, lowest, most, counts, found, halt):
    """Count the complex events of each hit, up to `most`: `most` + 1 stands for more; gives the status.

    ==========  ============  =================================================
    `nodes`     StepNodes     in
    `hits`      int64 [hits]  in: whose roots they have
    `lowest`    int64 [hits]  in: the least admissible start of each
    `most`      int64 [hits]  in
    `counts`    int64 [hits]  out
    `found`     FoundPaths    scratch: `frames` alone
    `halt`      uint8 [1]     in: see `jit`
    ==========  ============  =================================================
    """
    for k in range(hits.shape[0]):
        if halt[0]:
            break
        number = _walk(nodes, hits[k], lowest[k], most[k], False, found)
        if number < 0:
            return -number
        counts[k] = number
    return DONE


_sort_slice = composed(sort_runs, "_sort_slice", precedes=_precedes)
_sort_found = composed(sort_found, "_sort_found", precedes=_precedes, sort_slice=_sort_slice)


@inline
def _found_all(nodes, hits, hit, found):
    """Find all complex events of a hit, and sort them: `DONE` or a status."""
    count = hits.counts[hit]
    number = _walk(nodes, hit, hits.lowest[hit], count, True, found)
    status = DONE
    if number < 0:
        status = -number
    elif number != count:
        status = MISMATCH
    else:
        for k in range(count):
            found.sorting.order[k] = count - 1 - k
        _sort_found(count, WalkedPaths(nodes, found, found.start), found.sorting)
    return status


@inline
def _too_many(found, count):
    return count > found.start.shape[0]


@inline
def _length(found, item):
    after = found.after[item]
    return 1 + (found.node_length[after] if after >= 0 else 0)


@inline
def _write(nodes, hits, hit, found, item, block, n, m):
    entry = found.entry[item]
    after = found.after[item]
    block.start[n] = nodes.event[entry]
    block.event[m] = nodes.event[entry]
    block.label[m] = nodes.label[entry]
    m += 1
    while after >= 0:
        entry = found.node_entry[after]
        block.event[m] = nodes.event[entry]
        block.label[m] = nodes.label[entry]
        m += 1
        after = found.node_after[after]
    return m


fill = composed(
    list_hits, "fill", find=_found_all, too_many=_too_many, length=_length, write=_write
)  # fmt: skip
"""`list_hits` over `StepNodes`; `NODES_FULL`, `DEPTH_FULL`: `FoundPaths` has no room for what a hit needs."""


def paths_for(rows, nodes, depth):
    """Room for `rows` complex events of a hit, `nodes` nodes of their paths, `depth` entries of a path."""
    return FoundPaths(
        *np.empty((3, rows), np.int32),
        *np.empty((3, nodes), np.int32),
        SortScratch(*np.empty((2, rows), np.int32), np.empty(1 << DIGIT, np.int64)),
        np.empty((depth, FRAME), np.int64),
    )


def walked_counts(nodes, hits, event, lowest):
    """Count the complex events of each hit one by one, where the window does not have fewer events.

    Parameters
    ----------
    nodes : StepNodes
    hits : ndarray, shape (hits,), int64
        Whose roots they have.
    event, lowest : ndarray, shape (hits,), int64
        Where each ends, and the least admissible start.

    Returns
    -------
    number : ndarray, shape (hits,), int64
    many : ndarray, shape (m,), int64
        The hits whose windows have fewer events than complex events; their `number` is meaningless.
    """
    most = event - lowest + WALKED
    number = np.empty(len(event), np.int64)
    depth = 64
    while count_up_to(nodes, hits, lowest, most, number, paths_for(0, 0, depth)) == DEPTH_FULL:
        depth *= 2
    return number, np.flatnonzero(number > most)
