"""The structure of compared steps: each entry, and the ranges of ranks that it comes from.

The entries of an order are the leaves of a binary tree over its ranks. A new entry copies the path to its
leaf, so that earlier versions of the tree stay as they are: a link names a version and a range of ranks. Each
node knows the latest start of the runs below it, so that walks pass over what has left the window.
"""

import numpy as np

from ..jit import SELDOM, jit
from ..steps.contract import scratch
from ..windows.contract import comparable
from .contract import NEIGHBOUR, NO_TREE, ONE_ENTRY, ComparedNodes
from .cpu_order import shown, together

DONE, NODES_FULL, LINKS_FULL, ENTRIES_FULL = range(4)

VALUE, LINKS = range(2)
"""Columns of `entered`: the value of a group, and where its links end."""


@jit
def inserted(nodes, count, root, size, rank, entry, value):
    """Make the version of a tree with one more entry, its root at `count`; gives the number of nodes then.

    ========  ==============  ============================================
    `nodes`   ComparedNodes   out: `left`, `right` and `latest`
    `count`   int             in: how many nodes there are
    `root`    int             in: the version before, -1: the empty one
    `size`    int             in: how many ranks the tree has
    `rank`    int             in
    `entry`   int             in
    `value`   int             in: the latest start of its runs
    ========  ==============  ============================================
    """
    low = 0
    high = size
    old = root
    while True:
        nodes.latest[count] = max(value, nodes.latest[old]) if old >= 0 else value
        if high - low == 1:
            nodes.left[count] = entry
            nodes.right[count] = -1
            break
        middle = (low + high) >> 1
        left = nodes.left[old] if old >= 0 else -1
        right = nodes.right[old] if old >= 0 else -1
        if rank < middle:
            nodes.left[count] = count + 1
            nodes.right[count] = right
            old = left
            high = middle
        else:
            nodes.left[count] = left
            nodes.right[count] = count + 1
            old = right
            low = middle
        count += 1
    return count + 1


@jit
def found_last(nodes, root, size, least, rank, lowest):
    """The greatest of the ranks `least` .. `rank` with a run from `lowest` on, and its entry; -1: none.

    =========  ==============  ===============================
    `nodes`    ComparedNodes   in
    `root`     int             in: a version of a tree
    `size`     int             in: how many ranks it has
    `least`    int             in
    `rank`     int             in
    `lowest`   int             in
    =========  ==============  ===============================
    """
    node = root
    low = 0
    high = size
    # The deepest subtree before `rank` that has such a run: all its ranks are less.
    other = -1
    other_low = 0
    other_high = 0
    while node >= 0 and nodes.latest[node] >= lowest and high - low > 1:
        middle = (low + high) >> 1
        if rank < middle:
            node = nodes.left[node]
            high = middle
        else:
            left = nodes.left[node]
            if left >= 0 and nodes.latest[left] >= lowest:
                other = left
                other_low = low
                other_high = middle
            node = nodes.right[node]
            low = middle
    if node < 0 or nodes.latest[node] < lowest:
        node = other
        low = other_low
        high = other_high
        while node >= 0 and high - low > 1:
            middle = (low + high) >> 1
            right = nodes.right[node]
            if right >= 0 and nodes.latest[right] >= lowest:
                node = right
                low = middle
            else:
                node = nodes.left[node]
                high = middle
    if node < 0 or low < least:
        return -1, -1
    return low, nodes.left[node]


@jit
def _build(tables, events, window, segments, arranged, hits, last, root, entered, nodes, progress, halt):
    """Make the entries of the segments from `progress[0]` on, and the roots of their hits; gives the status.

    ==========  =======================  ===================================================================
    `tables`    ComparedTables           in
    `events`    PairedEvents             in
    `window`    MeasuredWindow           in
    `segments`  ComparedSegments         in
    `arranged`  Arranged                 in
    `hits`      SegmentHits              in: of each segment, ascending
    `last`      int64 [states, 3]        scratch: the last event that has entered, its entry and its value
    `root`      int64 [orders]           scratch: the present version of each order
    `entered`   int64 [groups, 2]        scratch
    `nodes`     ComparedNodes            out
    `progress`  int64 [5]                in/out: segments that are done, entries, links, nodes and roots
    `halt`      uint8 [1]                in: see `jit`
    ==========  =======================  ===================================================================
    """
    keys = window.keys
    windowed = keys.shape[0] > 0
    nodes.root_first[0] = 0
    while progress[0] < segments.begin.shape[0]:
        g = progress[0]
        base = segments.base[g]
        entries = progress[1]
        links = progress[2]
        count = progress[3]
        roots = progress[4]
        for state in range(last.shape[0]):
            last[state, 0] = -1
        for order in range(root.shape[0]):
            root[order] = -1
        low = segments.begin[g]
        h = hits.first[g]
        for i in range(segments.begin[g], segments.stop[g]):
            if i % SELDOM == 0 and halt[0]:
                return DONE
            if windowed:
                while keys[i] - keys[low] > window.size:
                    low += 1
            symbol = events.symbols[i]
            begin = tables.first[symbol]
            before = links
            if (
                links
                + 2 * (tables.read_first[tables.first[symbol + 1]] - tables.read_first[begin])
                + (tables.first[symbol + 1] - begin)
                > nodes.link_root.shape[0]
            ):
                return LINKS_FULL
            if entries + tables.first[symbol + 1] - begin > nodes.event.shape[0]:
                return ENTRIES_FULL
            for group in range(begin, tables.first[symbol + 1]):
                value = -1
                if tables.group_starts[group]:
                    value = i
                    nodes.link_root[links] = NO_TREE
                    nodes.link_size[links] = 0
                    nodes.link_low[links] = -1
                    nodes.link_high[links] = -1
                    links += 1
                for read in range(tables.read_first[group], tables.read_first[group + 1]):
                    view = tables.read_view[read]
                    order = tables.view_order[view]
                    if tables.view_near[view] == NEIGHBOUR:
                        source = tables.order_state[order]
                        if (
                            last[source, 0] >= 0
                            and last[source, 2] >= low
                            and together(tables, events, view, last[source, 0], i)
                        ):
                            value = max(value, last[source, 2])
                            nodes.link_root[links] = ONE_ENTRY
                            nodes.link_size[links] = 0
                            nodes.link_low[links] = last[source, 1]
                            nodes.link_high[links] = last[source, 1] + 1
                            links += 1
                        continue
                    size = arranged.size[order, g]
                    tree = root[order]
                    if tree < 0:
                        continue
                    a, b, c, d = shown(tables, events, arranged, base, size, view, i)
                    for part in range(2):
                        first = a if part == 0 else c
                        stop = b if part == 0 else d
                        best = -1
                        if first < stop:
                            best = latest_in(nodes, tree, size, first, stop)
                        if best >= low:
                            value = max(value, best)
                            nodes.link_root[links] = tree
                            nodes.link_size[links] = size
                            nodes.link_low[links] = first
                            nodes.link_high[links] = stop
                            links += 1
                entered[group - begin, VALUE] = value
                entered[group - begin, LINKS] = links
            ends = h < hits.first[g + 1] and hits.event[h] == i
            for group in range(begin, tables.first[symbol + 1]):
                state = tables.group_state[group]
                value = entered[group - begin, VALUE]
                if value >= 0:
                    at = entries
                    entries += 1
                    nodes.event[at] = i
                    nodes.label[at] = tables.state_label[state]
                    nodes.value[at] = value
                    nodes.link_first[at] = before
                    nodes.link_last[at] = entered[group - begin, LINKS]
                    last[state, 0] = i
                    last[state, 1] = at
                    last[state, 2] = value
                    for order in range(tables.order_first[state], tables.order_first[state + 1]):
                        rank = arranged.rank[order, base + i - segments.begin[g]]
                        if rank >= 0:
                            if count + 64 > nodes.left.shape[0]:
                                return NODES_FULL
                            new = count
                            size = arranged.size[order, g]
                            count = inserted(nodes, count, root[order], size, rank, at, value)
                            root[order] = new
                    if ends and tables.accepting[state] and value >= hits.lowest[h]:
                        nodes.root_entry[roots] = at
                        roots += 1
                before = entered[group - begin, LINKS]
            if ends:
                h += 1
                nodes.root_first[h] = roots
        progress[0] = g + 1
        progress[1] = entries
        progress[2] = links
        progress[3] = count
        progress[4] = roots
    return DONE


@jit
def latest_in(nodes, root, size, first, stop):
    """The latest start of the runs of ranks first .. stop - 1 in a version of a tree, or -1."""
    node = root
    low = 0
    high = size
    best = -1
    # Down to where the two ends part, or to a node that the range covers.
    going = True
    while going and node >= 0 and not (first <= low and high <= stop):
        middle = (low + high) >> 1
        if stop <= middle:
            node = nodes.left[node]
            high = middle
        elif first >= middle:
            node = nodes.right[node]
            low = middle
        else:
            going = False
    if node >= 0 and first <= low and high <= stop:
        best = nodes.latest[node]
    elif node >= 0:
        middle = (low + high) >> 1
        one = nodes.left[node]
        a = low
        b = middle
        while one >= 0 and first > a:
            half = (a + b) >> 1
            if first < half:
                right = nodes.right[one]
                if right >= 0:
                    best = max(best, nodes.latest[right])
                one = nodes.left[one]
                b = half
            else:
                one = nodes.right[one]
                a = half
        if one >= 0:
            best = max(best, nodes.latest[one])
        other = nodes.right[node]
        a = middle
        b = high
        while other >= 0 and stop < b:
            half = (a + b) >> 1
            if stop > half:
                left = nodes.left[other]
                if left >= 0:
                    best = max(best, nodes.latest[left])
                other = nodes.right[other]
                a = half
            elif stop == half:
                other = nodes.left[other]
                b = half
            else:
                other = nodes.left[other]
                b = half
        if other >= 0:
            best = max(best, nodes.latest[other])
    return best


def build(tables, events, keys, size, segments, arranged, hits):
    """The entries of many segments with the roots of their hits: `ComparedNodes`.

    Parameters
    ----------
    tables : ComparedTables
    events : PairedEvents
    keys : ndarray, shape (events,) or (0,), int64 or float64
        What the window measures; empty without a window.
    size : int or float
    segments : ComparedSegments
    arranged : Arranged
    hits : SegmentHits
    """
    rows = int(segments.base[-1])
    groups = np.diff(tables.first)[events.symbols[hits.event]]
    entries, links, count = rows + 64, 2 * rows + 64, 8 * rows + 1024
    one, tree, of_link = (
        [np.empty(room, np.int32) for _ in range(number)]
        for room, number in ((entries, 5), (count, 3), (links, 4))
    )
    first, roots = np.zeros(len(hits.event) + 1, np.int64), np.empty(int(groups.sum()), np.int32)
    last = np.empty((len(tables.accepting), 3), np.int64)
    root = np.empty(len(tables.order_slot), np.int64)
    entered = np.empty((len(scratch(tables)), 2), np.int64)
    progress = np.zeros(5, np.int64)
    window = comparable(keys, size)
    while True:
        nodes = ComparedNodes(*one, *of_link, *tree, first, roots)
        status = _build(
            tables, events, window, segments, arranged, hits, last, root, entered, nodes, progress
        )
        if status == NODES_FULL:
            tree = [np.append(old, np.empty_like(old)) for old in tree]
        elif status == LINKS_FULL:
            of_link = [np.append(old, np.empty_like(old)) for old in of_link]
        elif status == ENTRIES_FULL:
            one = [np.append(old, np.empty_like(old)) for old in one]
        else:
            return nodes
