"""The operations on nodes with reset and check gadgets: timed CEL paper, appendix C.1, Algorithm 1.

Where checks are `z <= c`, new runs have the greatest stamps. The runs of a state are a **union-list**
u_0, u_1, ..., u_k with `stamp(u_0) >= stamp(u_1) > stamp(u_2) > ...`, u_0 no union under its gadget, as in
the paper; `joined` unites nodes of one stamp.

Where they are `z >= c`, new runs have the least stamps. The paper calls this case analogous, in inverse
order, but then a list would get each new reset at its end and grow as long as there are resets. So the runs
of a state are a persistent **leftist heap** by stamp (`melded`): a union of the greatest run with a union of
two heaps. An insertion copies a path, whose length is the logarithm of the number of runs. Enumeration leaves
a heap whose greatest stamp fails, so its delay is output-linear too.
"""

from ..forest.cpu_nodes import made_node
from ..jit import inline, jit
from .contract import BOTTOM, CHECK, LABEL, LATEST, LEFT, NO_CHECK, RANK, RESET, RIGHT, STAMP, UNION

PAIR = 0
"""`RANK` of the union of two heaps that lies below a heap's greatest run. The rank of a heap is the length of
its right spine; a single run has rank 1."""

SPINE = 128
"""No heap in memory has a right spine of half this length."""


@inline
def made(arena, progress, label, left, right):
    """Make a node above `left`, with its stamp and latest start; gives its number."""
    node = made_node(arena, progress, label, left, right, arena[left, LATEST])
    arena[node, STAMP] = arena[left, STAMP]
    arena[node, RANK] = 1
    return node


@inline
def bottom(arena, progress, event, stamp):
    """Make a node for the run that starts at an event; gives its number."""
    node = made_node(arena, progress, BOTTOM, -1, event, event)
    arena[node, STAMP] = stamp
    arena[node, RANK] = 1
    return node


@inline
def union(arena, progress, left, right):
    """Make the union of two nodes, the greater stamp on the left; gives its number."""
    node = made(arena, progress, UNION, left, right)
    arena[node, LATEST] = max(arena[left, LATEST], arena[right, LATEST])
    # A run that is over may hold the place on the left.
    arena[node, STAMP] = max(arena[left, STAMP], arena[right, STAMP])
    return node


@jit
def exit_of(arena, node):
    """The first node that is not part of the gadget on a node."""
    if arena[node, LABEL] == RESET:
        node = arena[node, LEFT]
    if arena[node, LABEL] == CHECK:
        node = arena[node, LEFT]
    return node


@jit
def composed(arena, progress, resets, stamp, least, node):
    """Put a gadget on a node, which may begin with one: at most a reset and a check (Lemma C.2); -1 if empty.

    `resets` says whether it resets to `stamp`; `least` is the least stamp that it admits, or `NO_CHECK`.
    """
    below = node
    inner = NO_CHECK
    is_reset = arena[node, LABEL] == RESET
    if is_reset:
        below = arena[node, LEFT]
    checked = below
    if arena[below, LABEL] == CHECK:
        inner = arena[below, RIGHT]
        below = arena[below, LEFT]
    if is_reset:
        # The check speaks of the inner reset: all of its runs pass, or none.
        if arena[node, STAMP] < least:
            return -1
    elif least > inner:
        if arena[below, STAMP] < least:
            return -1
        rank = arena[below, RANK]
        checked = made(arena, progress, CHECK, below, least)
        arena[checked, RANK] = rank
        if not resets:
            return checked
    if not resets:
        return node
    rank = arena[checked, RANK]
    result = made(arena, progress, RESET, checked, stamp)
    arena[result, STAMP] = stamp
    arena[result, RANK] = rank
    return result


@jit
def below_gadget(arena, progress, gadget, child):
    """A child of a union with the gadget above the union, `gadget` its first node; -1 if empty."""
    resets = arena[gadget, LABEL] == RESET
    stamp = arena[gadget, STAMP]
    node = gadget
    if resets:
        node = arena[node, LEFT]
    least = NO_CHECK
    if arena[node, LABEL] == CHECK:
        least = arena[node, RIGHT]
    return composed(arena, progress, resets, stamp, least, child)


@jit
def joined(arena, progress, one, other):
    """Make the union of two nodes of one stamp (Algorithm 1, `union`).

    What either has on its left is no union, so neither is what the result has there, and the output depth
    does not grow with the number of joins. A gadget may leave nothing of a right child.
    """
    first = exit_of(arena, one)
    second = exit_of(arena, other)
    if arena[first, LABEL] != UNION and arena[second, LABEL] != UNION:
        return union(arena, progress, one, other)
    if arena[first, LABEL] != UNION:
        left = below_gadget(arena, progress, other, arena[second, LEFT])
        right = below_gadget(arena, progress, other, arena[second, RIGHT])
        if right >= 0:
            left = union(arena, progress, left, right)
        return union(arena, progress, one, left)
    if arena[second, LABEL] != UNION:
        left = below_gadget(arena, progress, one, arena[first, LEFT])
        right = below_gadget(arena, progress, one, arena[first, RIGHT])
        if right >= 0:
            left = union(arena, progress, left, right)
        return union(arena, progress, other, left)
    left = below_gadget(arena, progress, one, arena[first, LEFT])
    inner = below_gadget(arena, progress, other, arena[second, LEFT])
    third = below_gadget(arena, progress, one, arena[first, RIGHT])
    fourth = below_gadget(arena, progress, other, arena[second, RIGHT])
    if third < 0:
        third, fourth = fourth, third
    if third >= 0:
        if fourth >= 0:
            if arena[third, STAMP] < arena[fourth, STAMP]:
                third, fourth = fourth, third
            third = union(arena, progress, third, fourth)
        inner = union(arena, progress, inner, third)
    return union(arena, progress, left, inner)


@jit
def melded(arena, progress, one, other, pieces):
    """Make the union of two heaps; `pieces` int64 [2, SPINE] is scratch."""
    n = 0
    while one >= 0 and other >= 0:
        if arena[one, STAMP] < arena[other, STAMP]:
            one, other = other, one
        top = exit_of(arena, one)
        item = one
        left = -1
        right = -1
        if arena[top, LABEL] == UNION:
            item = below_gadget(arena, progress, one, arena[top, LEFT])
            rest = arena[top, RIGHT]
            if arena[rest, LABEL] == UNION and arena[rest, RANK] == PAIR:
                left = arena[rest, LEFT]
                right = arena[rest, RIGHT]
                if arena[left, RANK] < arena[right, RANK]:
                    left, right = right, left
                left = below_gadget(arena, progress, one, left)
                right = below_gadget(arena, progress, one, right)
                if left < 0:
                    left, right = right, left
            else:
                left = below_gadget(arena, progress, one, rest)
        pieces[0, n] = item
        pieces[1, n] = left
        n += 1
        one = right
    found = one if one >= 0 else other
    while n > 0:
        n -= 1
        found = heap_of(arena, progress, pieces[0, n], pieces[1, n], found)
    return found


@jit
def heap_of(arena, progress, item, left, right):
    """Make the heap of its greatest run and two heaps, each of which may be -1."""
    if left < 0:
        left, right = right, left
    if left < 0:
        return item
    if right < 0:
        return union(arena, progress, item, left)
    rank = 1 + min(arena[left, RANK], arena[right, RANK])
    if arena[left, STAMP] < arena[right, STAMP]:
        left, right = right, left
    pair = union(arena, progress, left, right)
    arena[pair, RANK] = PAIR
    result = union(arena, progress, item, pair)
    arena[result, RANK] = rank
    return result
