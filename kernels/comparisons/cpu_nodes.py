"""The structure of compared steps: each entry, and the ranges of ranks that it comes from.

The entries of an order are the leaves of a binary tree over its ranks. A new entry copies the path to its
leaf, so that earlier versions of the tree stay as they are: a link names a version and a range of ranks. Each
node knows the latest start of the runs below it, so that walks pass over what has left the window.
"""

import numpy as np

from ..jit import composed
from ..loop.contract import FoundEnds
from ..loop.follow import FULL, follow
from ..loop.follow import WORDS as PROGRESS
from ..loop.nodes import LACKS, LINKS
from ..loop.products import LATEST
from ..loop.run import scratch
from ..windows.contract import comparable
from .contract import ComparedNodes, whole
from .index import ENTRIES, HERE, NODES, NODES_IN_ORDERS, WORDS, NodesRoom

make_nodes = composed(follow, "make_nodes", **LATEST | NODES_IN_ORDERS)


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
    entered, words, progress = scratch(tables), np.zeros(WORDS, np.int64), np.zeros(PROGRESS, np.int64)
    last = np.empty((len(tables.accepting), 3), np.int64)
    root = np.empty(len(tables.order_slot), np.int64)
    here, ends = np.empty(HERE, np.int64), np.empty(len(entered) + 1, np.int64)
    window, none = comparable(keys, size), FoundEnds(*np.empty((2, 0), np.int64))
    while True:
        nodes = ComparedNodes(*one, *of_link, *tree, first, roots)
        room = NodesRoom(arranged, segments, here, nodes, hits, last, root, words, ends)
        make_nodes(tables, events, window, whole(segments), room, entered, none, progress)
        if not progress[FULL]:
            return nodes
        one, tree, of_link = (
            [np.append(old, np.empty_like(old)) for old in arrays] if words[LACKS] == which else arrays
            for which, arrays in ((ENTRIES, one), (NODES, tree), (LINKS, of_link))
        )
