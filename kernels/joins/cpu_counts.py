"""How many answers end at hits, without listing them.

For a node whose answers all begin inside the window, their number is known beforehand. For a node that the
window cuts, it is added up from the nodes below, once for each hit. So a hit costs at most as many steps as
there are nodes inside its window, however many answers it has.

A heap of single events, each put on top of the ones before, is a list in the order of their starts. How much
of it the window leaves is found in O(log n) steps, by jumps as in skew-binary random access lists.
"""

import numpy as np

from ..jit import inline, jit
from .contract import CHILD, CHILDREN, EVENT, LATEST, LEFT, RIGHT, WEIGHT

LARGEST = 1 << 62
"""Stands for every count from 2^62 on."""

HALF = 1 << 31
"""Two numbers below this have a product that fits 64 bits."""


@inline
def product_of(one, other):
    result = LARGEST
    if max(one, other) < HALF or other == 0 or one <= (LARGEST - 1) // other:
        result = one * other
    return result


@inline
def sum_of(one, other):
    result = LARGEST
    if one < LARGEST - other:
        result = one + other
    return result


@inline
def jumped(arena, jump, node):
    """A node further down the list of single events that begins at a node; itself at its end, -1: no list."""
    below = arena[node, LEFT]
    result = -1
    if arena[node, CHILDREN] == 0 and arena[node, RIGHT] < 0:
        if below < 0:
            result = node
        elif jump[below] >= 0:
            far = jump[below]
            result = below
            if arena[below, WEIGHT] - arena[far, WEIGHT] == arena[far, WEIGHT] - arena[jump[far], WEIGHT]:
                result = jump[far]
    return result


@jit
def inside_window(arena, jump, node, lowest):
    """How many events of a list are inside the window, given that the first one is."""
    last = node
    while True:
        below = jump[last]
        if arena[below, LATEST] < lowest:
            below = arena[last, LEFT]
            if arena[below, LATEST] < lowest:
                break
        if below == last:
            break
        last = below
    return np.int64(arena[node, WEIGHT]) - arena[last, WEIGHT] + 1


@jit
def weigh(arena, children, weights):
    """Count the answers of each node (`LARGEST` where it does not fit), and find their earliest start.

    `arena` int32 [nodes, 8] and `children` int32 [links]: in; `weights` NodeWeights: out, except its scratch.
    """
    total = weights.total
    earliest = weights.earliest
    jump = weights.jump
    for node in range(arena.shape[0]):
        number = 1
        first = arena[node, EVENT]
        for k in range(arena[node, CHILD], arena[node, CHILD] + arena[node, CHILDREN]):
            number = product_of(number, total[children[k]])
            first = min(first, earliest[children[k]])
        for side in (LEFT, RIGHT):
            below = arena[node, side]
            if below >= 0:
                number = sum_of(number, total[below])
                first = min(first, earliest[below])
        total[node] = number
        earliest[node] = first
        jump[node] = jumped(arena, jump, node)


@inline
def known_key(arena, weights, node, lowest, hit):
    """The number of answers of a node inside the window, -1 where it has to be added up."""
    result = -1
    if node < 0 or arena[node, LATEST] < lowest:
        result = 0
    elif weights.earliest[node] >= lowest:
        result = weights.total[node]
    elif weights.jump[node] >= 0:
        result = inside_window(arena, weights.jump, node, lowest)
    elif weights.memo_hit[node] == hit:
        result = weights.memo[node]
    return result


@jit
def count_hits(arena, children, weights, root_first, root_node, hit_lowest, out, halt):
    """Count the answers of each hit.

    ===============  =========================  ==========================================================
    `arena`          int32 [nodes, 8]           in
    `children`       int32 [links]              in
    `weights`        NodeWeights                in: as `weigh` has left them
    `root_first`     int64 [hits + 1]           in
    `root_node`      int32 [roots]              in
    `hit_lowest`     int64 [hits]               in: the least admissible start
    `out`            int64 [hits]               out: `LARGEST` where the number does not fit
    `halt`           uint8 [1] or [0]           in: see `jit`
    ===============  =========================  ==========================================================
    """
    stack = weights.stack
    for hit in range(hit_lowest.shape[0]):
        if halt.shape[0] > 0 and halt[0]:
            return
        lowest = hit_lowest[hit]
        answers = 0
        for r in range(root_first[hit], root_first[hit + 1]):
            root = root_node[r]
            stack[0] = root
            top = 1
            if known_key(arena, weights, root, lowest, hit) >= 0:
                top = 0
            while top > 0:
                node = stack[top - 1]
                before = top
                number = 1
                for k in range(arena[node, CHILD], arena[node, CHILD] + arena[node, CHILDREN]):
                    below = children[k]
                    found = known_key(arena, weights, below, lowest, hit)
                    if found < 0:
                        stack[top] = below
                        top += 1
                    else:
                        number = product_of(number, found)
                for side in (LEFT, RIGHT):
                    below = arena[node, side]
                    found = known_key(arena, weights, below, lowest, hit)
                    if found < 0:
                        stack[top] = below
                        top += 1
                    else:
                        number = sum_of(number, found)
                if top == before:
                    weights.memo_hit[node] = hit
                    weights.memo[node] = number
                    top -= 1
            answers = sum_of(answers, known_key(arena, weights, root, lowest, hit))
        out[hit] = answers


def count_exactly(arena, children, roots, lowest):
    """How many answers are below some roots, by definition: a Python integer of any size."""
    known = {-1: 0}
    pending = [int(root) for root in roots]
    while pending:
        node = pending.pop()
        if node in known:
            continue
        row = arena[node].tolist()
        if row[LATEST] < lowest:
            known[node] = 0
            continue
        gathered = children[row[CHILD] : row[CHILD] + row[CHILDREN]].tolist()
        unknown = [below for below in (*gathered, row[LEFT], row[RIGHT]) if below not in known]
        if unknown:
            pending += [node, *unknown]
            continue
        product = 1
        for below in gathered:
            product *= known[below]
        known[node] = product + known[row[LEFT]] + known[row[RIGHT]]
    return sum(known[int(root)] for root in roots)
