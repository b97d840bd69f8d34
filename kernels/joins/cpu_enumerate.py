"""Enumeration: the answers of many hits, each hit's in canonical order.

An answer is one node for every choice point: the root's first, then one in the heap of every child, and so
on in depth-first order. What is still to choose is an agenda, a linked list of which every choice keeps the
part that was left when it was made; so going back to a choice costs nothing. Every node that is looked at
inside the window leads to an answer, so the steps between two answers are bounded by the size of the
answers.
"""

from ..jit import jit
from .contract import CHILD, CHILDREN, EVENT, LABEL, LATEST, LEFT, RIGHT

DONE = 0
STACK_FULL = 1
ROWS_FULL = 2
MARKS_FULL = 3

BASE, REST, CELLS, AT, MARK, LEAST, CHOICE = range(7)
"""Columns of `choice`: where the nodes still to visit begin, what is still to choose after it, the agenda's
cells when it was made; of the node that is chosen now the event and its label, and the least event of this
choice and those before it; `CHOICE` is their number."""


@jit
def walk(
    arena, children, root_node, r0, r1, lowest, label_atoms, out_start, out_first, out_event, out_label,
    pending, choice, agenda, atom, n, m,
):  # fmt: skip
    """Append the answers below some roots: status, and how many rows and marks there are by then.

    ===============  ============================  =======================================================
    `arena`          int32 [nodes, 8]              in
    `children`       int32 [links]                 in
    `root_node`      int32 [roots]                 in: the roots r0 .. r1 - 1
    `lowest`         int64                         in: the least admissible start
    `label_atoms`    uint8 [labels, atoms]         in: which atoms a label fills; no atoms: marks are written
    `out_start`      int32 [rows]                  out: the least event of each answer
    `out_first`      int64 [rows + 1]              out: where the events of each answer begin
    `out_event`      int32 [marks]                 out: by atom; marks ascend (their runs are chains)
    `out_label`      int32 [marks] or [0]          out: of marks
    `pending`        int32 [stack]                 scratch
    `choice`         int32 [depth, CHOICE]         scratch
    `agenda`         int32 [cells, 2]              scratch: a node, and the next cell or -1
    `atom`           int32 [atoms]                 scratch: the event of each
    `n`, `m`         int64                         in: rows and marks written so far
    ===============  ============================  =======================================================
    """
    atoms = label_atoms.shape[1]
    for r in range(r0, r1):
        pending[0] = root_node[r]
        top = 1
        depth = 0
        choice[0, BASE] = 0
        choice[0, REST] = -1
        choice[0, CELLS] = 0
        while depth >= 0:
            if top == choice[depth, BASE]:
                depth -= 1
                continue
            top -= 1
            node = pending[top]
            cells = choice[depth, CELLS]
            last = cells + arena[node, CHILDREN]
            if top + 3 > pending.shape[0] or depth + 2 > choice.shape[0] or last > agenda.shape[0]:
                return STACK_FULL, n, m
            for side in (RIGHT, LEFT):
                below = arena[node, side]
                if below >= 0 and arena[below, LATEST] >= lowest:
                    pending[top] = below
                    top += 1
            event = arena[node, EVENT]
            label = arena[node, LABEL]
            choice[depth, AT] = event
            choice[depth, MARK] = label
            choice[depth, LEAST] = event if depth == 0 else min(event, choice[depth - 1, LEAST])
            # What is chosen now fills no atom of the choices before it, so that these stay as they are.
            for a in range(atoms):
                if label_atoms[label, a]:
                    atom[a] = event
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
                continue
            if n + 2 > out_first.shape[0]:
                return ROWS_FULL, n, m
            if m + max(atoms, depth + 1) > out_event.shape[0]:
                return MARKS_FULL, n, m
            if atoms > 0:
                for a in range(atoms):
                    out_event[m + a] = atom[a]
                m += atoms
            else:
                for d in range(depth, -1, -1):
                    if choice[d, MARK] != 0:
                        out_event[m] = choice[d, AT]
                        out_label[m] = choice[d, MARK]
                        m += 1
            out_start[n] = choice[depth, LEAST]
            n += 1
            out_first[n] = m
    return DONE, n, m


@jit
def _before(first, event, label, start, one, other):
    """Whether a row comes before another: by start, then events, then labels; both as tuples."""
    if start[one] != start[other]:
        return start[one] < start[other]
    a, b = first[one], first[other]
    n, m = first[one + 1] - a, first[other + 1] - b
    for k in range(min(n, m)):
        if event[a + k] != event[b + k]:
            return event[a + k] < event[b + k]
    if n != m:
        return n < m
    if label.shape[0] > 0:
        for k in range(n):
            if label[a + k] != label[b + k]:
                return label[a + k] < label[b + k]
    return False


@jit
def sort_rows(first, event, label, start, low, high, order, spare):
    """Put rows low .. high - 1 of a hit in canonical order: `order[low:high]`; insertion, then merges."""
    run = 16
    for a in range(low, high, run):
        b = min(a + run, high)
        for i in range(a, b):
            # Later runs are at the top of a heap, so the last rows are mostly the first.
            row = high - 1 - i + low
            j = i
            while j > a and _before(first, event, label, start, row, order[j - 1]):
                order[j] = order[j - 1]
                j -= 1
            order[j] = row
    while run < high - low:
        for a in range(low, high, 2 * run):
            mid = min(a + run, high)
            b = min(a + 2 * run, high)
            i, j = a, mid
            for k in range(a, b):
                if j >= b or (i < mid and not _before(first, event, label, start, order[j], order[i])):
                    spare[k] = order[i]
                    i += 1
                else:
                    spare[k] = order[j]
                    j += 1
        for k in range(low, high):
            order[k] = spare[k]
        run *= 2


@jit
def fill(
    arena, children, hits, root_first, root_node, hit_lowest, label_atoms, begin, out_first, out_event,
    out_label, start, order, spare, pending, choice, agenda, atom, progress,
):  # fmt: skip
    """The answers of the hits from `progress[0]` on, until an array is full: the status.

    ===============  ============================  =======================================================
    `hits`           int64 [hits]                  in: numbers of hits
    `root_first` ... of `build`                    in
    `begin`          int64 [hits + 1]              out: the first row of each, and all rows
    `label_atoms`... of `walk`                     in, out and scratch
    `start`          int32 [rows]                  out: `out_start` of `walk`
    `order`          int32 [rows]                  out: the rows of each hit in canonical order
    `spare`          int32 [rows]                  scratch
    `progress`       int64 [3]                     in/out: hits, rows and marks that are done; zeros at first
    ===============  ============================  =======================================================
    """
    n = progress[1]
    m = progress[2]
    begin[0] = 0
    out_first[n] = m
    while progress[0] < hits.shape[0]:
        hit = hits[progress[0]]
        status, rows, marks = walk(
            arena, children, root_node, root_first[hit], root_first[hit + 1], hit_lowest[hit], label_atoms,
            start, out_first, out_event, out_label, pending, choice, agenda, atom, n, m,
        )  # fmt: skip
        if status != DONE:
            return status
        sort_rows(out_first, out_event, out_label, start, n, rows, order, spare)
        n = rows
        m = marks
        progress[0] += 1
        begin[progress[0]] = n
        progress[1] = n
        progress[2] = m
    return DONE
