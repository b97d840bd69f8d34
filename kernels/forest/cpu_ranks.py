"""Building the persistent structure where starts are ordered by rank, not by time.

The column `LATEST` of a node is the greatest rank of a start, so enumeration leaves out the starts that an
end does not admit as it does under other windows. But a new run need not have a greater rank than those
before it; the union-lists of tECS are short only because it has, and would here grow with the stream. So each
state has a **heap** instead: persistent, with the greatest rank on top, made of unions alone:

- a node that is no union is a heap of one element,
- `union(element, heap)` is a heap with one branch,
- `union(element, union(heap, heap))`, where the first heap is a union, is a heap with two branches.

All unions have the greater `LATEST` on their left, and a non-union after two left steps at most. The heaps
are leftist: `distance` is the number of steps to the nearest missing branch, and two heaps are melded along
the branches where it is smaller, which are at most log(nodes) many. The nodes on that path are copied.
"""

from typing import NamedTuple

import numpy as np

from ..jit import OFTEN, inline, jit
from .contract import BOTTOM, LABEL, LATEST, LEFT, RIGHT, UNION
from .cpu_nodes import (
    ARENA_FULL,
    DONE,
    EVENT,
    HIT,
    NODES,
    OPEN,
    ROOTS,
    ROOTS_FULL,
    SEGMENT,
    made_node,
    made_root,
)

STEPS = 128
"""The most steps of a meld: the path into each of two heaps has as many as its size has bits."""


class HeapScratch(NamedTuple):
    """Scratch of building, beside the nodes.

    =======  =================  =============================================================
    `heaps`  int64 [2, n_live]  the heap of each state before and after an event; -1: empty
    `way`    int64 [2, STEPS]   the elements and the other branches that a meld has passed
    =======  =================  =============================================================
    """

    heaps: np.ndarray
    way: np.ndarray


@inline
def _node(arena, distance, progress, label, left, right, latest):
    node = made_node(arena, progress, label, left, right, latest)
    distance[node] = 1
    return node


@jit
def _grown(arena, distance, progress, element, one, other):
    """The heap of an element over two branches."""
    if arena[one, LATEST] < arena[other, LATEST]:
        one, other = other, one
    both = _node(arena, distance, progress, UNION, one, other, arena[one, LATEST])
    heap = _node(arena, distance, progress, UNION, element, both, arena[element, LATEST])
    if arena[one, LABEL] == UNION:
        distance[heap] = 1 + min(distance[one], distance[other])
    return heap


@jit
def _meld(arena, distance, progress, one, other, way):
    """The heap of the elements of two heaps, either of which may be -1: empty."""
    depth = 0
    while one >= 0 and other >= 0:
        if arena[one, LATEST] < arena[other, LATEST]:
            one, other = other, one
        if arena[one, LABEL] != UNION:
            one = _node(arena, distance, progress, UNION, one, other, arena[one, LATEST])
            other = -1
            break
        element, rest = arena[one, LEFT], arena[one, RIGHT]
        if arena[rest, LABEL] != UNION or arena[arena[rest, LEFT], LABEL] != UNION:
            one = _grown(arena, distance, progress, element, rest, other)
            other = -1
            break
        near, far = arena[rest, LEFT], arena[rest, RIGHT]
        if distance[far] < distance[near]:
            near, far = far, near
        way[0, depth] = element
        way[1, depth] = far
        depth += 1
        one = near
    heap = one if one >= 0 else other
    while depth > 0:
        depth -= 1
        heap = _grown(arena, distance, progress, way[0, depth], way[1, depth], heap)
    return heap


@jit
def follow_event(tables, arena, distance, roots, scratch, progress, symbol, event, rank, bound, ends):
    """Follow all runs over one event: `heaps[0]` holds the heaps of the states before it, then after it."""
    heaps, way = scratch
    n_states = heaps.shape[1]
    for q in range(n_states):
        heaps[1, q] = -1
        if heaps[0, q] >= 0 and arena[heaps[0, q], LATEST] < bound:
            heaps[0, q] = -1
    heaps[0, 0] = -1
    for t in range(tables.first[symbol], tables.first[symbol + 1]):
        if tables.source[t] == 0 and heaps[0, 0] < 0 and rank >= bound:
            heaps[0, 0] = _node(arena, distance, progress, BOTTOM, -1, event, rank)
        heap = heaps[0, tables.source[t]]
        if heap < 0:
            continue
        if ends and tables.accepting[t]:
            made_root(roots, progress, tables.label[t], heap)
        if tables.target[t] >= 0:
            reached = heap
            if tables.label[t] != 0:
                reached = _node(arena, distance, progress, tables.label[t], heap, event, arena[heap, LATEST])
            heaps[1, tables.target[t]] = _meld(
                arena, distance, progress, heaps[1, tables.target[t]], reached, way
            )
    for q in range(n_states):
        heaps[0, q] = heaps[1, q]


@jit
def build(tables, symbols, rank, begin, stop, hits, arena, distance, roots, scratch, progress, halt):
    """Build the nodes of segments and record the roots of their hits: `DONE`, or which array is full.

    ============  ======================  ===============================================================
    `tables`      TransitionTables        in
    `symbols`     uint8, uint16 [events]  in
    `rank`        int64 [events]          in: as in `cer_gpu.kernels.attribute_windows.contract.Ranks`
    `begin`       int64 [segments]        in: first event of each segment
    `stop`        int64 [segments]        in: one past the last event
    `hits`        SegmentHits             in: `lowest` is the least rank that this hit or a later one of its
                                          segment admits
    `arena`       int64 [capacity, 4]     out: nodes 0 .. progress[NODES] - 1
    `distance`    int64 [capacity]        scratch, kept until all segments are built
    `roots`       Roots                   out: roots 0 .. progress[ROOTS] - 1
    `scratch`     HeapScratch             scratch, `heaps` kept like `distance`
    `progress`    int64 [WORDS]           in/out: zeros at first, then kept
    `halt`        uint8 [1]               in: see `jit`
    ============  ======================  ===============================================================

    When an array is full, the host enlarges it and calls again with everything else as it is. Runs whose
    start is admitted by no later hit are not followed.
    """
    heaps = scratch.heaps
    while progress[SEGMENT] < begin.shape[0]:
        g = progress[SEGMENT]
        if progress[OPEN] == 0:
            for q in range(heaps.shape[1]):
                heaps[0, q] = -1
            progress[OPEN] = 1
            progress[EVENT] = begin[g]
            progress[HIT] = hits.first[g]
        event = progress[EVENT]
        h = progress[HIT]
        while event < stop[g] and h < hits.first[g + 1]:
            if event % OFTEN == 0 and halt[0]:
                return DONE
            symbol = symbols[event]
            block = tables.first[symbol + 1] - tables.first[symbol]
            status = DONE
            if progress[NODES] + block * (2 * STEPS + 2) + 1 > arena.shape[0]:
                status = ARENA_FULL
            elif progress[ROOTS] + block > roots.node.shape[0]:
                status = ROOTS_FULL
            if status != DONE:
                progress[EVENT] = event
                progress[HIT] = h
                return status
            ends = hits.event[h] == event
            if ends:
                roots.first[h] = progress[ROOTS]
            follow_event(
                tables, arena, distance, roots, scratch, progress, symbol, event, rank[event],
                hits.lowest[h], ends,
            )  # fmt: skip
            if ends:
                h += 1
                roots.first[h] = progress[ROOTS]
            event += 1
        progress[OPEN] = 0
        progress[SEGMENT] = g + 1
    return DONE
