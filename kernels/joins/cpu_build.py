"""The persistent structure of joins over segments: the nodes of their runs, and the roots of their hits."""

import numpy as np

from ..jit import composed
from ..loop.contract import FoundEnds, LoopSegments
from ..loop.follow import FULL, follow
from ..loop.follow import WORDS as PROGRESS
from ..loop.nodes import LACKS, LINKS, ROOTS
from ..loop.products import LATEST
from ..runs.contract import SegmentHits
from ..windows.contract import NO_WINDOW
from .contract import ProductNodes
from .cpu_nodes import NODES, PATH, WORDS
from .index import NODES_AT_SLOTS, NodeTable, hash_tables

make_nodes = composed(follow, "make_nodes", **LATEST | NODES_AT_SLOTS)


def build(tables, events, begin, hits, nodes, enlarged):
    """Make the nodes of segments, and the roots of their hits: `ProductNodes`.

    Parameters
    ----------
    tables : JoinTables
    events : KeyedEvents
    begin : ndarray, shape (segments,), int64
    hits : SegmentHits
        Of each segment; their least starts do not fall in a segment.
    nodes : ProductNodes
        Room at first.
    enlarged : callable
        `enlarged(nodes, lacks, most)` gives the nodes with room for at least `most` more of what they lack:
        `NODES`, `LINKS` or `ROOTS`.
    """
    segments, own = _parted(begin, hits)
    most = np.array([tables.n_fired, tables.n_reads, tables.n_stores], np.int64)
    table = np.full(int(events.offset[-1]), -1, np.int32)
    words, progress = np.zeros(WORDS, np.int64), np.zeros(PROGRESS, np.int64)
    entered, ends = np.empty(tables.n_fired, np.int64), np.empty(tables.n_fired + 1, np.int64)
    path = np.empty((PATH, 2), np.int64)
    none, program = FoundEnds(*np.empty((2, 0), np.int64)), hash_tables(tables)
    needed = {NODES: most[0] + most[2] * PATH, LINKS: most[1], ROOTS: most[0]}
    while True:
        room = NodeTable(table, nodes, own, most, words, ends, path)
        make_nodes(program, events, NO_WINDOW, segments, room, entered, none, progress)
        if not progress[FULL]:
            return ProductNodes(
                nodes.arena[: words[NODES]],
                nodes.children[: words[LINKS]],
                nodes.root_first,
                nodes.root_node[: words[ROOTS]],
            )
        lacks = int(words[LACKS])
        nodes = enlarged(nodes, lacks, int(needed[lacks]))


def _parted(begin, hits):
    """Segments of the events that hits need: a segment ends where no later hit needs what came before."""
    owner = np.repeat(np.arange(len(begin)), np.diff(hits.first))
    apart = (hits.lowest[1:] > hits.event[:-1]) | (owner[1:] != owner[:-1])
    first = np.append(np.flatnonzero(np.append(True, apart)) if len(owner) else [], len(owner)).astype(int)
    low = np.maximum(begin[owner[first[:-1]]], hits.lowest[first[:-1]])
    stop = hits.event[first[1:] - 1] + 1
    return LoopSegments(low, low, stop), SegmentHits(first.astype(np.int64), hits.event, hits.lowest)
