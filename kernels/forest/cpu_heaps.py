"""The persistent structure of a stream whose window is over an attribute that may fall.

An end admits the starts of the greatest keys, wherever they lie in time. So the nodes are those of
`cpu_ranks`: each state has a persistent heap, with the start of the greatest key on top. Ranks would change
with every further event; in their place stands the key itself, as an int64 in the order of the keys: its
**number**. An end admits the starts from one number on.

As long as the attribute may fall, nothing leaves the window for good: all runs that are in some state are
kept. Node 0 is dead.
"""

from typing import NamedTuple

import numpy as np

from ..jit import inline, jit
from ..streams.cpu import note_end
from .contract import BOTTOM, LABEL, LATEST, LEFT, RIGHT, UNION
from .cpu_nodes import ARENA_FULL, DONE, ROOTS_FULL
from .cpu_ranks import EVENT, HIT, NODES, ROOTS, STEPS, follow_event

LEAST = -(2**63)

SIGN = 2**63 - 1
"""Reverses the order of the bits of negative numbers."""

INFINITE = 0x7FF << 52
"""The bits of an infinite float64."""


class KeyNumbers(NamedTuple):
    """The keys of new events as numbers, all int64 [new].

    =========  ===========================================================
    `own`      of the key of each event
    `least`    the least number of a start that the end at each event admits
    =========  ===========================================================
    """

    own: np.ndarray
    least: np.ndarray


class KeyedNodes(NamedTuple):
    """The nodes of a stream.

    ==========  ======================  ====================================================
    `arena`     int64 [capacity, 4]     `LATEST` is the number of a key
    `distance`  int64 [capacity]        how many steps each node is from the nearest missing branch
    `heaps`     int64 [lanes, n_live]   the heap of each state of a lane; -1: no run is open
    ==========  ======================  ====================================================
    """

    arena: np.ndarray
    distance: np.ndarray
    heaps: np.ndarray


@jit
def whole_numbers(measured, first, stop, size, numbers):
    """Number the keys of the events `first` .. `stop - 1`; the keys are integers.

    `measured` uint64 [events] in: int64 by their bits; `size` uint64 in: the longest difference that the
    window keeps; `numbers` KeyNumbers out.
    """
    for event in range(first, stop):
        key = np.int64(measured[event])
        numbers.own[event - first] = key
        numbers.least[event - first] = LEAST
        if measured[event] - np.uint64(LEAST) > size:
            numbers.least[event - first] = np.int64(measured[event] - size)


@inline
def _in_order(bits):
    """The bits of a float64 as a number in the order of the floats, or back."""
    return bits if bits >= 0 else bits ^ SIGN


@jit
def float_numbers(measured, first, stop, size, value, bits, numbers):
    """Number the keys of the events `first` .. `stop - 1`; the keys are floats.

    `measured` float64 [events], `size` float64: in; `value` float64 [1] and `bits` int64 [1], the same bytes:
    scratch; `numbers`: out. What an end admits is found by bisection, because a difference is rounded.
    """
    for event in range(first, stop):
        end = measured[event]
        value[0] = end
        numbers.own[event - first] = _in_order(bits[0])
        low = -INFINITE
        high = INFINITE
        while low < high:
            middle = (low >> 1) + (high >> 1) + (low & high & 1)
            bits[0] = _in_order(middle)
            if end - value[0] <= size:
                high = middle
            else:
                low = middle + 1
        numbers.least[event - first] = low


@jit
def follow(tables, events, span, numbers, consumes, bounds, nodes, roots, ends, scratch, progress):
    """Follow all runs of a stream over its next events: `DONE`, or which array is full.

    ============  =====================  ===================================================================
    `tables`      TransitionTables       in: with barred symbols
    `events`      StreamEvents           in
    `span`        (int64, int64)         in: the first of the new events, and one past the last
    `numbers`     KeyNumbers             in: of the new events
    `consumes`    int64                  in: what a reported end consumes
    `bounds`      LaneBounds             in/out: `low` is the first event that is needed
    `nodes`       KeyedNodes             in/out: nodes 0 .. progress[NODES] - 1
    `roots`       Roots                  out: roots 0 .. progress[ROOTS] - 1
    `ends`        StreamEnds             out: ends 0 .. progress[HIT] - 1; `lowest` is the first event that
                                         is needed, `latest` the least number that the end admits
    `scratch`     HeapScratch            scratch
    `progress`    int64 [WORDS]          in/out: the next event, and so on
    ============  =====================  ===================================================================

    When an array is full, the host enlarges it and calls again with everything else as it is.
    """
    laned = events.lanes.shape[0] > 0
    arena, distance, heaps = nodes.arena, nodes.distance, scratch.heaps
    n_states = heaps.shape[1]
    first, stop = span
    while progress[EVENT] < stop:
        event = progress[EVENT]
        lane = 0
        if laned:
            lane = events.lanes[event]
        symbol = events.symbols[event]
        block = tables.first[symbol + 1] - tables.first[symbol]
        if progress[NODES] + block * (2 * STEPS + 2) + 1 > arena.shape[0]:
            return ARENA_FULL
        if progress[ROOTS] + block > roots.node.shape[0]:
            return ROOTS_FULL
        bound = max(bounds.least[lane], bounds.all[0])
        if bounds.last[lane] < bound:
            # What was open when this lane was last looked at has been consumed.
            for state in range(n_states):
                nodes.heaps[lane, state] = -1
            bounds.low[lane] = event
        bounds.low[lane] = min(bounds.low[lane], event)
        bounds.last[lane] = event
        for state in range(n_states):
            heaps[0, state] = nodes.heaps[lane, state]
        first_root = progress[ROOTS]
        follow_event(
            tables, arena, distance, roots, scratch, progress, symbol, event,
            numbers.own[event - first], LEAST, True,
        )  # fmt: skip
        for state in range(n_states):
            nodes.heaps[lane, state] = heaps[0, state]
        least = numbers.least[event - first]
        kept = first_root
        for root in range(first_root, progress[ROOTS]):
            if arena[roots.node[root], LATEST] >= least:
                roots.node[kept] = roots.node[root]
                roots.label[kept] = roots.label[root]
                kept += 1
        progress[ROOTS] = kept
        progress[EVENT] = event + 1
        if kept > first_root:
            end = progress[HIT]
            roots.first[end + 1] = kept
            progress[HIT] = end + 1
            note_end(ends, end, event, lane, max(bound, bounds.low[lane]), least, bounds, consumes)
    return DONE


@jit
def mark_nodes(nodes, count, roots, used, reached):
    """Mark the nodes that some state or some root leads to.

    `nodes` KeyedNodes in, of which `count` are in use; `roots` Roots in, of which `used` are in use;
    `reached` uint8 [count] out.
    """
    arena = nodes.arena
    for node in range(count):
        reached[node] = 0
    reached[0] = 1
    for lane in range(nodes.heaps.shape[0]):
        for state in range(nodes.heaps.shape[1]):
            if nodes.heaps[lane, state] >= 0:
                reached[nodes.heaps[lane, state]] = 1
    for root in range(used):
        reached[roots.node[root]] = 1
    for node in range(count - 1, 0, -1):
        if reached[node] != 0 and arena[node, LABEL] != BOTTOM:
            reached[arena[node, LEFT]] = 1
            if arena[node, LABEL] == UNION:
                reached[arena[node, RIGHT]] = 1


@jit
def first_needed(events, nodes, count, reached, bounds):
    """Set `bounds.low` of each lane to the first event at which an open run has begun.

    `events` StreamEvents, `nodes` KeyedNodes, `count` int64, `reached` uint8 [count]: in; `bounds` LaneBounds
    in/out. Where no run is open it is one past all events.
    """
    for lane in range(bounds.low.shape[0]):
        bounds.low[lane] = SIGN
    for node in range(1, count):
        if reached[node] != 0 and nodes.arena[node, LABEL] == BOTTOM:
            event = nodes.arena[node, RIGHT]
            lane = 0
            if events.lanes.shape[0] > 0:
                lane = events.lanes[event]
            bounds.low[lane] = min(bounds.low[lane], event)
