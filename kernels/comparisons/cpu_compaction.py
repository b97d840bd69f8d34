"""What a stream of compared steps keeps: the entries and nodes that later events still read, copied."""

from ..jit import jit
from ..joins.cpu_stream import NODE, PLACE
from ..loop.nodes import ROOTS
from .contract import (
    BIT,
    LATEST,
    LEAF,
    LEFT,
    LINK_FIRST,
    LINK_LAST,
    NO_TREE,
    NODES_BEFORE,
    ONE,
    ONE_ENTRY,
    RIGHT,
    ROOT,
    VALUE,
)
from .cpu_stream import ENTRIES, NODES

DROPPED, AS_OPEN, WHOLE = range(3)
"""How an entry or a node is kept: not at all, with its open runs only, or with all its runs."""


@jit
def mark(versions, newest, is_open, entries, nodes, progress):
    """Mark the entries and nodes that the roots read, or events to come; the latter read open runs only.

    ==========  ==============  ===================================================
    `versions`  Versions        in
    `newest`    NewestVersions  in
    `is_open`   uint8 [events]  in: of `streams.cpu.mark_open`
    `entries`   uint8 [n]       out, as many as there are; `DROPPED` at first
    `nodes`     uint8 [n]       out, as many as there are; `DROPPED` at first
    `progress`  int64 [WORDS]   in: `words` of `OpenVersions`
    ==========  ==============  ===================================================
    """
    entry = versions.entry
    link = versions.link
    tree = versions.tree
    for row in range(newest.table.shape[0]):
        if newest.table[row, PLACE] >= 0:
            nodes[newest.table[row, NODE]] = AS_OPEN
    for lane in range(newest.last.shape[0]):
        for state in range(newest.last.shape[1]):
            if newest.last[lane, state] >= 0:
                entries[newest.last[lane, state]] = AS_OPEN
    for root in range(progress[ROOTS]):
        entries[versions.root_entry[root]] = WHOLE
    node = progress[NODES] - 1
    for one in range(progress[ENTRIES] - 1, -1, -1):
        while node >= entry[one, NODES_BEFORE]:
            if nodes[node] == AS_OPEN and not is_open[tree[node, LATEST]]:
                nodes[node] = DROPPED
            if nodes[node] != DROPPED and tree[node, BIT] == LEAF:
                below = tree[node, LEFT]
                entries[below] = max(entries[below], nodes[node])
            elif nodes[node] != DROPPED:
                for side in range(LEFT, RIGHT + 1):
                    below = tree[node, side]
                    nodes[below] = max(nodes[below], nodes[node])
            node -= 1
        if entries[one] == AS_OPEN and not is_open[entry[one, VALUE]]:
            entries[one] = DROPPED
        if entries[one] != DROPPED:
            for at in range(entry[one, LINK_FIRST], entry[one, LINK_LAST]):
                if link[at, ROOT] == ONE_ENTRY:
                    below = link[at, ONE]
                    entries[below] = max(entries[below], entries[one])
                elif link[at, ROOT] != NO_TREE:
                    below = link[at, ROOT]
                    nodes[below] = max(nodes[below], entries[one])
    return node


@jit
def renumber(tree, nodes, node_of):
    """Number the nodes that `mark` has marked; a node with one branch left is dropped, too.

    ============  ================  ==================================================================
    `tree`        int32 [n, 4]      in
    `nodes`       uint8 [n]         in/out
    `node_of`     int64 [n + 1]     out: the new number of each node, or of the one that takes its place; -1
                                    at first, and for a node without one
    ============  ================  ==================================================================
    """
    new = 0
    for node in range(nodes.shape[0]):
        if nodes[node] == DROPPED:
            continue
        if tree[node, BIT] != LEAF:
            left = node_of[tree[node, LEFT]]
            right = node_of[tree[node, RIGHT]]
            if left < 0 or right < 0:
                node_of[node] = max(left, right)
                nodes[node] = DROPPED
                continue
        node_of[node] = new
        new += 1
