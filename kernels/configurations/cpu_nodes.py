"""The nodes of the persistent structure that configurations share: making, uniting and dropping them."""

from ..forest.contract import BOTTOM, LABEL, LATEST, LEFT, RIGHT, UNION
from ..jit import inline, jit
from .contract import NODES


@inline
def new_node(arena, progress, label, left, right, latest):
    node = progress[NODES]
    progress[NODES] = node + 1
    arena[node, LABEL] = label
    arena[node, LEFT] = left
    arena[node, RIGHT] = right
    arena[node, LATEST] = latest
    return node


@jit
def union(arena, progress, one, other):
    """The complex events of two nodes, which are disjoint.

    The left child of the union is no union, or a union whose left child is none: so a walk to the left meets
    an output after two steps, and no node is copied.
    """
    latest = max(arena[one, LATEST], arena[other, LATEST])
    if arena[one, LABEL] != UNION:
        return new_node(arena, progress, UNION, one, other, latest)
    if arena[other, LABEL] != UNION:
        return new_node(arena, progress, UNION, other, one, latest)
    behind = arena[one, RIGHT]
    later = max(arena[other, LATEST], arena[behind, LATEST])
    rest = new_node(arena, progress, UNION, other, behind, later)
    return new_node(arena, progress, UNION, arena[one, LEFT], rest, latest)


@jit
def nodes_below(arena, count, roots, place_of):
    """Number the nodes that are below some roots; gives how many there are.

    ===========  =====================  ================================================================
    `arena`      int64 [capacity, 4]    in: of which `count` nodes are in use
    `roots`      int64 [roots]          in: nodes, -1 for none
    `place_of`   int64 [count]          out: the new number of each node, -1 for one that is dropped
    ===========  =====================  ================================================================
    """
    for node in range(count):
        place_of[node] = -1
    for root in range(roots.shape[0]):
        if roots[root] >= 0:
            place_of[roots[root]] = 0
    for back in range(count):
        node = count - 1 - back
        if place_of[node] < 0 or arena[node, LABEL] == BOTTOM:
            continue
        place_of[arena[node, LEFT]] = 0
        if arena[node, LABEL] == UNION:
            place_of[arena[node, RIGHT]] = 0
    n = 0
    for node in range(count):
        if place_of[node] >= 0:
            place_of[node] = n
            n += 1
    return n


@jit
def kept_nodes(arena, count, place, place_of, out):
    """Copy the nodes that `nodes_below` has numbered.

    ===========  =====================  ================================================================
    `arena`      int64 [capacity, 4]    in: of which `count` nodes are in use
    `place`      int64 [events]         in: the new number of each event; [0]: numbers stay
    `place_of`   int64 [count]          in
    `out`        int64 [kept, 4]        out: with room for more
    ===========  =====================  ================================================================
    """
    renumbers = place.shape[0] > 0
    for node in range(count):
        n = place_of[node]
        if n < 0:
            continue
        label = arena[node, LABEL]
        left = arena[node, LEFT]
        right = arena[node, RIGHT]
        latest = arena[node, LATEST]
        if renumbers:
            latest = place[latest]
        if label == UNION:
            right = place_of[right]
        elif renumbers:
            right = place[right]
        if label != BOTTOM:
            left = place_of[left]
        out[n, LABEL] = label
        out[n, LEFT] = left
        out[n, RIGHT] = right
        out[n, LATEST] = latest
