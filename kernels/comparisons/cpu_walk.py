"""Enumeration of compared steps: the complex events of many hits, each hit's in canonical order.

A complex event is a path from a root to a start: from each entry to one of its links, and from the link to
one of its entries. The next entry of a link is found in O(log n) steps and has a run inside the window, so
every path that is begun leads to a complex event. A batch keeps the entries of a link in a range of an order,
a stream in a tree of `Versions`; what differs is in the pieces of `_walk_paths`:

=====================================  ======================================================================
`follow(nodes, path, depth, link)`     put a link into the path, as one that is read from its end on
`step(nodes, path, depth, lowest)`     the next entry of the link of which a run starts at `lowest` or later;
                                       -1: none
`first_link(nodes, entry)`             an entry's links are first_link .. last_link - 1
`last_link(nodes, entry)`
`starts(nodes, link)`                  whether the link stands for a run that starts in the entry
`event_of(nodes, entry)`               the event of an entry
`label_of(nodes, entry)`               its label; 0: it is not shown
=====================================  ======================================================================
"""

from ..arena.contract import DONE, STACK_FULL
from ..arena.rows import full, list_rows
from ..jit import composed, inline
from .contract import (
    EVENT,
    LABEL,
    LEFT,
    LINK_FIRST,
    LINK_LAST,
    NO_TREE,
    ONE,
    ONE_ENTRY,
    ROOT,
    VALUE,
)
from .cpu_trie import LAST_PLACE, leaf_before
from .tree import found_last

ENTRY, LINK, AT = range(3)
"""Columns of a path: an entry, the link that is followed from it, and where to go on in that link: the rank
to try next, or the leaf to go on before."""

FRESH, OVER = -1, -2
"""In place of a leaf: the link is read from its end on; nothing is left of it."""


def _walk_paths(nodes, hit, lowest, path, rows, n, m):
    """Append the complex events of a hit; gives the status, and the rows and marks written then.

    ========  =========================  =========================================
    `nodes`   ComparedNodes or Versions  in
    `hit`     int                        in
    `lowest`  int                        in: the least admissible start
    `path`    int64 [depth, 3]           scratch
    `rows`    AnswerRows                 out
    `n`, `m`  int                        in: rows and marks written so far
    ========  =========================  =========================================
    """
    for r in range(nodes.root_first[hit], nodes.root_first[hit + 1]):
        path[0, ENTRY] = nodes.root_entry[r]
        follow(nodes, path, 0, first_link(nodes, path[0, ENTRY]))  # noqa: F821
        depth = 0
        while depth >= 0:
            entry = path[depth, ENTRY]
            link = path[depth, LINK]
            if link == last_link(nodes, entry):  # noqa: F821
                depth -= 1
                continue
            onward = step(nodes, path, depth, lowest)  # noqa: F821
            if onward >= 0:
                depth += 1
                if depth == path.shape[0]:
                    return STACK_FULL, n, m
                path[depth, ENTRY] = onward
                follow(nodes, path, depth, first_link(nodes, onward))  # noqa: F821
                continue
            if link + 1 < last_link(nodes, entry):  # noqa: F821
                follow(nodes, path, depth, link + 1)  # noqa: F821
            else:
                path[depth, LINK] = link + 1
            if not starts(nodes, link) or event_of(nodes, entry) < lowest:  # noqa: F821
                continue
            status = full(rows, n, m, depth + 1)
            if status != DONE:
                return status, n, m
            for d in range(depth, -1, -1):
                label = label_of(nodes, path[d, ENTRY])  # noqa: F821
                if label == 0:  # not shown: it has no place in the order
                    continue
                rows.event[m] = event_of(nodes, path[d, ENTRY])  # noqa: F821
                rows.label[m] = label
                m += 1
            rows.start[n] = event_of(nodes, entry)  # noqa: F821
            n += 1
            rows.first[n] = m
    return DONE, n, m


@inline
def _follow_range(nodes, path, depth, link):
    path[depth, LINK] = link
    path[depth, AT] = nodes.link_high[link] - 1


@inline
def _step_range(nodes, path, depth, lowest):
    link = path[depth, LINK]
    at = path[depth, AT]
    root = nodes.link_root[link]
    low = nodes.link_low[link]
    onward = -1
    if root == ONE_ENTRY and at >= low and nodes.value[at] >= lowest:
        onward = at
    elif root >= 0 and at >= low:
        at, onward = found_last(nodes, root, nodes.link_size[link], low, at, lowest)
    if onward >= 0:
        path[depth, AT] = at - 1
    return onward


@inline
def _first_of(nodes, entry):
    return nodes.link_first[entry]


@inline
def _last_of(nodes, entry):
    return nodes.link_last[entry]


@inline
def _starts(nodes, link):
    return nodes.link_root[link] == NO_TREE


@inline
def _event_of(nodes, entry):
    return nodes.event[entry]


@inline
def _label_of(nodes, entry):
    return nodes.label[entry]


_walk = composed(
    _walk_paths, "_walk", follow=_follow_range, step=_step_range, first_link=_first_of, last_link=_last_of,
    starts=_starts, event_of=_event_of, label_of=_label_of,
)  # fmt: skip
fill = composed(list_rows, "fill", walk=_walk)
"""`list_rows` over `ComparedNodes`."""


@inline
def _follow_tree(versions, path, depth, link):
    path[depth, LINK] = link
    path[depth, AT] = FRESH


@inline
def _step_tree(versions, path, depth, lowest):
    link = path[depth, LINK]
    at = path[depth, AT]
    root = versions.link[link, ROOT]
    onward = -1
    if root == ONE_ENTRY:
        one = versions.link[link, ONE]
        if at == FRESH and versions.entry[one, VALUE] >= lowest:
            onward = one
            path[depth, AT] = OVER
    elif root != NO_TREE:
        word = versions.range[link, 1]
        place = LAST_PLACE
        if at >= 0:
            word = versions.key[at, 0]
            place = versions.key[at, 1]
        leaf = leaf_before(versions, root, word, place, versions.range[link, 0], lowest)
        if leaf >= 0:
            onward = versions.tree[leaf, LEFT]
            path[depth, AT] = leaf
    return onward


@inline
def _first_kept(versions, entry):
    return versions.entry[entry, LINK_FIRST]


@inline
def _last_kept(versions, entry):
    return versions.entry[entry, LINK_LAST]


@inline
def _starts_kept(versions, link):
    return versions.link[link, ROOT] == NO_TREE


@inline
def _event_kept(versions, entry):
    return versions.entry[entry, EVENT]


@inline
def _label_kept(versions, entry):
    return versions.entry[entry, LABEL]


_walk_open = composed(
    _walk_paths, "_walk_open", follow=_follow_tree, step=_step_tree, first_link=_first_kept,
    last_link=_last_kept, starts=_starts_kept, event_of=_event_kept, label_of=_label_kept,
)  # fmt: skip
fill_open = composed(list_rows, "fill_open", walk=_walk_open)
"""`list_rows` over `Versions`, for a stream."""
