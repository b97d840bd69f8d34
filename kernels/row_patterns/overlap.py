"""Matches that start at every row, whose rows they share: a row and its slot have one continuation."""

from typing import NamedTuple

import numpy as np

from ..jit import SELDOM, jit
from .contract import NONE
from .skips import may_start


class SharedNodes(NamedTuple):
    """Rows of matches with their slots; each once, the rows descending.

    ==========  ==============  ================================================================
    `rows`      int64 [nodes]
    `slots`     int32 [nodes]
    `behind`    int64 [nodes]   the node of the next row of the match, a lesser number; -1: none
    ==========  ==============  ================================================================
    """

    rows: np.ndarray
    slots: np.ndarray
    behind: np.ndarray


class SharedStarts(NamedTuple):
    """Where matches start.

    ==========  ===============  ===============================================
    `rows`      int64 [matches]  ascending
    `nodes`     int64 [matches]  the first node; -1: the match is empty
    ==========  ===============  ===============================================
    """

    rows: np.ndarray
    nodes: np.ndarray


def room_of(nodes, matches):
    """Room for so many nodes and matches."""
    return (
        SharedNodes(np.empty(nodes, np.int64), np.empty(nodes, np.int32), np.empty(nodes, np.int64)),
        SharedStarts(np.empty(matches, np.int64), np.empty(matches, np.int64)),
    )


@jit
def share(choices, lanes, skip, nodes, starts, open_, halt):
    """Find the preferred match of every row of neighbouring partitions, or count what they share.

    ==========  =====================  ==================================================================
    `choices`   `TabledChoices`        in
    `lanes`     int64 [lanes + 1]      in: neighbouring partitions
    `skip`      `SkipRule`             in: at which rows matches may start
    `nodes`     `SharedNodes`          out; without room nothing is written
    `starts`    `SharedStarts`         out; without room nothing is written
    `open_`     int64 [4, slots]       scratch
    `halt`      uint8 [1]              in: see `jit`
    ==========  =====================  ==================================================================

    Gives the numbers of nodes and of matches.
    """
    # The slots that some match has at the row, with their nodes, and those at the next row.
    open_[1:] = -1
    ours, other = 1, 2
    most, count, matches, listed = nodes.rows.shape[0], 0, 0, 0
    for lane in range(lanes.shape[0] - 1):
        first, stop = lanes[lane], lanes[lane + 1]
        listed = 0
        for row in range(first, stop):
            if row % SELDOM == 0 and halt[0]:
                return count, matches
            if may_start(skip, row):
                choice = choices.begins[0 if row == first else 1, choices.states[row]]
                if choice != NONE:
                    node = -1
                    if choice >= 0:
                        if open_[ours, choice] < 0:
                            open_[ours, choice] = count
                            open_[0, listed] = choice
                            listed += 1
                            count += 1
                        node = open_[ours, choice]
                    if starts.rows.shape[0] > 0:
                        starts.rows[matches] = row
                        starts.nodes[matches] = most - 1 - node if node >= 0 else -1
                    matches += 1
            behind = choices.states[row + 1] if row + 1 < stop else 0
            following = 0
            for k in range(listed):
                slot = open_[0, k]
                node = open_[ours, slot]
                open_[ours, slot] = -1
                target = choices.follows[slot, behind]
                if target >= 0 and open_[other, target] < 0:
                    open_[other, target] = count
                    open_[3, following] = target
                    following += 1
                    count += 1
                if most > 0:
                    nodes.rows[most - 1 - node] = row
                    nodes.slots[most - 1 - node] = slot
                    nodes.behind[most - 1 - node] = most - 1 - open_[other, target] if target >= 0 else -1
            for k in range(following):
                open_[0, k] = open_[3, k]
            listed = following
            ours, other = other, ours
    return count, matches


@jit
def chain(chosen, behind, nearest, before, halt):
    """Leave nodes out of the chains that they are in.

    =========  ================  =============================================================
    `chosen`   uint8 [nodes]     in: which are kept
    `behind`   int64 [nodes]     in: as in `SharedNodes`
    `nearest`  int64 [nodes]     out: the number among those kept of the node itself, or of the
                                 next one of its chain that is; -1: none
    `before`   int64 [kept]      out: the same of the node behind each that is kept
    `halt`     uint8 [1]         in: see `jit`
    =========  ================  =============================================================
    """
    kept = 0
    for node in range(chosen.shape[0]):
        if node % SELDOM == 0 and halt[0]:
            return
        after = nearest[behind[node]] if behind[node] >= 0 else -1
        if chosen[node]:
            before[kept] = after
            nearest[node] = kept
            kept += 1
        else:
            nearest[node] = after


@jit
def last_of(before, counts, skip, found, halt):
    """The last element of each chain, or one so many before it; -1 where there are not so many.

    =========  =================  ======================================
    `before`   int64 [elements]   in: from `chain`
    `counts`   int64 [elements]   in: how many elements a chain has
    `skip`     int64              in
    `found`    int64 [elements]   out
    `halt`     uint8 [1]          in: see `jit`
    =========  =================  ======================================
    """
    for k in range(before.shape[0]):
        if k % SELDOM == 0 and halt[0]:
            return
        if counts[k] == skip + 1:
            found[k] = k
        elif counts[k] > skip + 1:
            found[k] = found[before[k]]
        else:
            found[k] = -1
