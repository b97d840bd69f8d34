"""Enumeration of compared steps on a stream: as `cpu_walk`, through the trees of `Versions`."""

from ..jit import jit
from ..joins.cpu_enumerate import full, note_rows
from .contract import EVENT, LABEL, LEFT, LINK_FIRST, LINK_LAST, NO_TREE, ONE, ONE_ENTRY, ROOT, VALUE
from .cpu_trie import LAST_PLACE, leaf_before
from .cpu_walk import AT, DONE, ENTRY, LINK, PATH_FULL

FRESH, OVER = -1, -2
"""Stands for the leaf to go on before: the link is read from its end on."""


@jit
def walk(versions, hit, lowest, path, rows, n, m):
    """Append the complex events of an end; gives the status, and the rows and marks written then.

    ==========  ==================  ============================================================
    `versions`  Versions            in
    `hit`       int                 in
    `lowest`    int                 in: the least admissible start
    `path`      int64 [depth, 3]    scratch: an entry, its link, and the leaf of it to go on before
    `rows`      AnswerRows          out
    `n`, `m`    int                 in: rows and marks written so far
    ==========  ==================  ============================================================
    """
    entry_of = versions.entry
    link_of = versions.link
    for r in range(versions.root_first[hit], versions.root_first[hit + 1]):
        entry = versions.root_entry[r]
        path[0, ENTRY] = entry
        path[0, LINK] = entry_of[entry, LINK_FIRST]
        path[0, AT] = FRESH
        depth = 0
        while depth >= 0:
            entry = path[depth, ENTRY]
            link = path[depth, LINK]
            if link == entry_of[entry, LINK_LAST]:
                depth -= 1
                continue
            at = path[depth, AT]
            root = link_of[link, ROOT]
            onward = -1
            if root == ONE_ENTRY:
                if at == FRESH and entry_of[link_of[link, ONE], VALUE] >= lowest:
                    onward = link_of[link, ONE]
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
            if onward >= 0:
                depth += 1
                if depth == path.shape[0]:
                    return PATH_FULL, n, m
                path[depth, ENTRY] = onward
                path[depth, LINK] = entry_of[onward, LINK_FIRST]
                path[depth, AT] = FRESH
                continue
            path[depth, LINK] = link + 1
            path[depth, AT] = FRESH
            if root != NO_TREE or entry_of[entry, EVENT] < lowest:
                continue
            status = full(rows, n, m, depth + 1)
            if status != DONE:
                return status, n, m
            for d in range(depth, -1, -1):
                if entry_of[path[d, ENTRY], LABEL] == 0:  # not shown: it has no place in the order
                    continue
                rows.event[m] = entry_of[path[d, ENTRY], EVENT]
                rows.label[m] = entry_of[path[d, ENTRY], LABEL]
                m += 1
            rows.start[n] = entry_of[entry, EVENT]
            n += 1
            rows.first[n] = m
    return DONE, n, m


@jit
def fill(versions, hits, hit_lowest, begin, rows, order, spare, path, progress, halt):
    """Write the complex events of the ends from `progress[0]` on, until an array is full; gives the status.

    ============  ==================  ================================
    `versions`    Versions            in
    ...                               the rest as of `cpu_walk.fill`
    ============  ==================  ================================
    """
    begin[0] = 0
    rows.first[progress[1]] = progress[2]
    while progress[0] < hits.shape[0] and not halt[0]:
        hit = hits[progress[0]]
        status, n, m = walk(versions, hit, hit_lowest[hit], path, rows, progress[1], progress[2])
        if status != DONE:
            return status
        note_rows(rows, n, m, begin, order, spare, progress)
    return DONE
