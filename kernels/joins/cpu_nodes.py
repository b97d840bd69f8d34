"""Building the persistent structure of joins: DS_w of the PCEA paper (section 5), by its Algorithm 1.

**Union** puts a fresh node into a heap by path copying. A node that is not earlier than the root becomes the
root, with the old one at its left: one node, and the usual case. Any other node goes down to the lighter
child, where possible an empty or expired one: each step halves the weight, so the path has at most
log2(weight) + 1 nodes whatever the shape of the heap. The paper follows a direction bit, which gives a path
as short only while the tree is balanced; but roots put on top of each other make it a list, and after runs
that alternate between latest and earliest the bits of a path of any length may all point down it.
"""

from ..jit import inline, jit
from ..loop.nodes import NODE_WORDS
from .contract import CHILD, CHILDREN, COLUMNS, EVENT, LABEL, LATEST, LEFT, RIGHT, WEIGHT

PATH = 64
"""The most nodes that one union copies: log2 of more nodes than there can be."""

NODES, BASE, WORDS = range(NODE_WORDS, NODE_WORDS + 3)
"""Further words: how many nodes there are, and the first one of the segment. `WORDS` is the number of all."""


@inline
def copied_node(arena, progress, node):
    new = progress[NODES]
    progress[NODES] = new + 1
    for k in range(COLUMNS):
        arena[new, k] = arena[node, k]
    return new


@inline
def on_top(arena, progress, fresh, old):
    """Make a fresh node the root of a heap that has no later node."""
    root = copied_node(arena, progress, fresh)
    arena[root, LEFT] = old
    arena[root, WEIGHT] = arena[old, WEIGHT] + 1
    return root


@inline
def live(arena, node, side, bound):
    """One child of a node, -1 where there is none or it has expired."""
    child = arena[node, side]
    if child >= 0 and arena[child, LATEST] < bound:
        child = -1
    return child


@inline
def weight_of(arena, node):
    weight = 0
    if node >= 0:
        weight = arena[node, WEIGHT]
    return weight


@jit
def union(arena, progress, path, old, fresh, bound):
    """Unite a heap with a node that has nothing below it; gives the new root.

    ============  =====================  ==============================================================
    `arena`       int32 [capacity, 8]    in/out: room for `PATH` more nodes
    `progress`    int64 [WORDS]          in/out
    `path`        int64 [PATH, 2]        scratch: the nodes that are copied, and the sides taken
    `old`         int64                  in: the root of a heap
    `fresh`       int64                  in: LEFT and RIGHT are -1
    `bound`       int64                  in: runs that began before it have left every window to come
    ============  =====================  ==============================================================
    """
    if arena[old, LATEST] < bound:
        return fresh
    latest = arena[fresh, LATEST]
    length = 0
    node = old
    while node >= 0 and latest < arena[node, LATEST]:
        left = live(arena, node, LEFT, bound)
        right = live(arena, node, RIGHT, bound)
        side = LEFT
        if weight_of(arena, right) < weight_of(arena, left):
            side = RIGHT
        path[length, 0] = node
        path[length, 1] = side
        length += 1
        node = left if side == LEFT else right
    below = fresh if node < 0 else on_top(arena, progress, fresh, node)
    # from below upwards, so that what a node refers to precedes it
    for k in range(length - 1, -1, -1):
        side = path[k, 1]
        other = LEFT + RIGHT - side
        node = copied_node(arena, progress, path[k, 0])
        arena[node, other] = live(arena, node, other, bound)
        arena[node, side] = below
        arena[node, WEIGHT] = 1 + arena[below, WEIGHT] + weight_of(arena, arena[node, other])
        below = node
    return below


@inline
def new_node(arena, progress, label, event, latest, first, last):
    """Make a node with the children first .. last - 1; gives its number."""
    node = progress[NODES]
    progress[NODES] = node + 1
    arena[node, LABEL] = label
    arena[node, EVENT] = event
    arena[node, CHILD] = first
    arena[node, CHILDREN] = last - first
    arena[node, LEFT] = -1
    arena[node, RIGHT] = -1
    arena[node, LATEST] = latest
    arena[node, WEIGHT] = 1
    return node
