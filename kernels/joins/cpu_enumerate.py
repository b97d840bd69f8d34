"""Enumeration: the answers of many hits, each hit's in canonical order.

An answer has one node for every choice point: first one in the heap of the root, then one in the heap of
every child, and so on in depth-first order. The heaps still to choose from are an agenda, a linked list.
Every choice remembers the rest of the agenda when it was made, so going back to a choice costs nothing. Every
node that is visited inside the window leads to an answer, so the steps between two answers are bounded by the
size of the answers.
"""

from ..arena.contract import DONE, STACK_FULL
from ..arena.rows import full, list_rows
from ..jit import composed, inline, jit
from .contract import CHILD, CHILDREN, EVENT, LABEL, LATEST, LEFT, RIGHT

BASE, REST, CELLS, AT, MARK, LEAST, CHOICE = range(7)
"""Columns of `choice`: where its nodes still to visit begin, the agenda after it, and how many cells the
agenda had when it was made; the event and the label of the node that is chosen now; the least event of this
choice and those before it. `CHOICE` is the number of columns."""


NONE_LEFT, NO_ROOM = -1, -2
"""What `chosen` gives in place of a node."""


@inline
def chosen(arena, children, lowest, pending, choice, agenda, top, depth):
    """Choose the next node of a choice, and go on to the next heap of the agenda, if there is one.

    Gives the node, `NONE_LEFT` or `NO_ROOM`; how many nodes are to be visited then; and the next choice: the
    same one if the answer is complete, or the one before where none is left.
    """
    node = NONE_LEFT
    if top == choice[depth, BASE]:
        depth -= 1
    else:
        top -= 1
        node = pending[top]
        cells = choice[depth, CELLS]
        last = cells + arena[node, CHILDREN]
        if top + 3 > pending.shape[0] or depth + 2 > choice.shape[0] or last > agenda.shape[0]:
            node = NO_ROOM
        else:
            for side in (RIGHT, LEFT):
                below = arena[node, side]
                if below >= 0 and arena[below, LATEST] >= lowest:
                    pending[top] = below
                    top += 1
            todo = choice[depth, REST]
            for k in range(arena[node, CHILD] + arena[node, CHILDREN] - 1, arena[node, CHILD] - 1, -1):
                agenda[cells, 0] = children[k]
                agenda[cells, 1] = todo
                todo = cells
                cells += 1
            if todo >= 0:
                depth += 1
                choice[depth, BASE] = top
                choice[depth, REST] = agenda[todo, 1]
                choice[depth, CELLS] = cells
                pending[top] = agenda[todo, 0]
                top += 1
    return node, top, depth


@inline
def begin_choice(pending, choice, root):
    """Begin with the heap of a root."""
    pending[0] = root
    choice[0, BASE] = 0
    choice[0, REST] = -1
    choice[0, CELLS] = 0


@jit
def walk(nodes, hit, lowest, scratch, rows, n, m):
    """Append the answers of a hit; gives the status, and the rows and marks written then.

    ===============  ============================  =======================================================
    `nodes`          ProductNodes                  in
    `hit`            int64                         in
    `lowest`         int64                         in: the least admissible start
    `scratch`        AnswerScratch                 scratch
    `rows`           AnswerRows                    out
    `n`, `m`         int64                         in: rows and marks written so far
    ===============  ============================  =======================================================
    """
    arena = nodes.arena
    label_atoms, pending, choice, agenda, atom = scratch
    atoms = label_atoms.shape[1]
    for r in range(nodes.root_first[hit], nodes.root_first[hit + 1]):
        begin_choice(pending, choice, nodes.root_node[r])
        top = 1
        depth = 0
        while depth >= 0:
            at = depth
            node, top, depth = chosen(arena, nodes.children, lowest, pending, choice, agenda, top, depth)
            if node == NONE_LEFT:
                continue
            if node == NO_ROOM:
                return STACK_FULL, n, m
            event = arena[node, EVENT]
            choice[at, AT] = event
            choice[at, MARK] = label = arena[node, LABEL]
            choice[at, LEAST] = event if at == 0 else min(event, choice[at - 1, LEAST])
            # This choice fills no atom of the choices before it, so these stay as they are.
            for a in range(atoms):
                if label_atoms[label, a]:
                    atom[a] = event
            if depth > at:
                continue
            status = full(rows, n, m, max(atoms, depth + 1))
            if status != DONE:
                return status, n, m
            if atoms > 0:
                for a in range(atoms):
                    rows.event[m + a] = atom[a]
                m += atoms
            else:
                for d in range(depth, -1, -1):
                    if choice[d, MARK] != 0:
                        rows.event[m] = choice[d, AT]
                        rows.label[m] = choice[d, MARK]
                        m += 1
            rows.start[n] = choice[depth, LEAST]
            n += 1
            rows.first[n] = m
    return DONE, n, m


fill = composed(list_rows, "fill", walk=walk)
"""`list_rows` over `ProductNodes`."""
