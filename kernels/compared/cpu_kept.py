"""What a stream of compared steps keeps: the entries and nodes that later events still read, copied."""

from ..jit import jit
from ..joins.cpu_stream import NODE, PLACE
from .contract import (
    BIT,
    EVENT,
    LABEL,
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
from .cpu_stream import ENTRIES, NODES, ROOTS

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
    `progress`  int64 [WORDS]   in: of `cpu_stream.follow`
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
def copied(versions, is_open, place, entries, nodes, entry_of, node_of, before, kept, progress):
    """Copy what `mark` has marked, and write to `progress` how many there are.

    ============  ================  ==================================================================
    `versions`    Versions          in; `root_entry` in/out
    `is_open`     uint8 [events]    in
    `place`       int64 [n]         in: the new number of each event; empty: as before
    `entries`     uint8 [n]         in
    `nodes`       uint8 [n]         in
    `entry_of`    int64 [n]         out: the new number of each entry, -1: dropped
    `node_of`     int64 [n]         out: the new number of each node, or of the one that takes its place
    `before`      int64 [n + 1]     scratch
    `kept`        Versions          out
    `progress`    int64 [WORDS]     in/out
    ============  ================  ==================================================================

    Gives how many links there are.
    """
    entry = versions.entry
    link = versions.link
    tree = versions.tree
    moved = place.shape[0] > 0
    count = 0
    for one in range(progress[ENTRIES]):
        entry_of[one] = -1
        if entries[one] != DROPPED:
            entry_of[one] = count
            count += 1
    new = 0
    for node in range(progress[NODES]):
        before[node] = new
        node_of[node] = -1
        if nodes[node] == DROPPED:
            continue
        left = tree[node, LEFT]
        right = -1
        if tree[node, BIT] == LEAF:
            left = entry_of[left]
        else:
            left = node_of[left]
            right = node_of[tree[node, RIGHT]]
            if left < 0 or right < 0:
                node_of[node] = max(left, right)
                continue
        kept.tree[new, LEFT] = left
        kept.tree[new, RIGHT] = right
        kept.tree[new, LATEST] = place[tree[node, LATEST]] if moved else tree[node, LATEST]
        kept.tree[new, BIT] = tree[node, BIT]
        kept.key[new, 0] = versions.key[node, 0]
        kept.key[new, 1] = versions.key[node, 1]
        node_of[node] = new
        new += 1
    before[progress[NODES]] = new
    links = 0
    for one in range(progress[ENTRIES]):
        at = entry_of[one]
        if at < 0:
            continue
        event = entry[one, EVENT]
        kept.entry[at, EVENT] = place[event] if moved else event
        kept.entry[at, LABEL] = entry[one, LABEL]
        kept.entry[at, VALUE] = place[entry[one, VALUE]] if moved else entry[one, VALUE]
        kept.entry[at, LINK_FIRST] = links
        for old in range(entry[one, LINK_FIRST], entry[one, LINK_LAST]):
            root = link[old, ROOT]
            below = -1
            if root == ONE_ENTRY:
                below = entry_of[link[old, ONE]]
                if below < 0:
                    continue
            elif root == NO_TREE:
                if entries[one] == AS_OPEN and not is_open[event]:
                    continue
            else:
                root = node_of[root]
                if root < 0:
                    continue
            kept.link[links, ROOT] = root
            kept.link[links, ONE] = below
            kept.range[links, 0] = versions.range[old, 0]
            kept.range[links, 1] = versions.range[old, 1]
            links += 1
        kept.entry[at, LINK_LAST] = links
        kept.entry[at, NODES_BEFORE] = before[entry[one, NODES_BEFORE]]
    for root in range(progress[ROOTS]):
        versions.root_entry[root] = entry_of[versions.root_entry[root]]
    progress[ENTRIES] = count
    progress[NODES] = new
    return links
