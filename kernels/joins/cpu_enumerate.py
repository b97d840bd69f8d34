"""Enumeration: the answers of many hits, each hit's in canonical order.

An answer has one node for every choice point: first one in the heap of the root, then one in the heap of
every child, and so on in depth-first order. The heaps still to choose from are an agenda, a linked list.
Every choice remembers the rest of the agenda when it was made, so going back to a choice costs nothing. Every
node that is visited inside the window leads to an answer, so the steps between two answers are bounded by the
size of the answers.
"""

from ..jit import inline, jit
from .contract import CHILD, CHILDREN, EVENT, LABEL, LATEST, LEFT, RIGHT

DONE = 0
STACK_FULL = 1
ROWS_FULL = 2
MARKS_FULL = 3

BASE, REST, CELLS, AT, MARK, LEAST, CHOICE = range(7)
"""Columns of `choice`: where its nodes still to visit begin, the agenda after it, and how many cells the
agenda had when it was made; the event and the label of the node that is chosen now; the least event of this
choice and those before it. `CHOICE` is the number of columns."""


@jit
def walk(nodes, hit, lowest, label_atoms, rows, stacks, n, m):
    """Append the answers of a hit; gives the status, and the rows and marks written then.

    ===============  ============================  =======================================================
    `nodes`          ProductNodes                  in
    `hit`            int64                         in
    `lowest`         int64                         in: the least admissible start
    `label_atoms`    uint8 [labels, atoms]         in: the atoms that a label fills; [labels, 0]: write marks
    `rows`           AnswerRows                    out
    `stacks`         AnswerStacks                  scratch
    `n`, `m`         int64                         in: rows and marks written so far
    ===============  ============================  =======================================================
    """
    arena = nodes.arena
    pending = stacks.pending
    choice = stacks.choice
    agenda = stacks.agenda
    atom = stacks.atom
    atoms = label_atoms.shape[1]
    for r in range(nodes.root_first[hit], nodes.root_first[hit + 1]):
        pending[0] = nodes.root_node[r]
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
            # This choice fills no atom of the choices before it, so these stay as they are.
            for a in range(atoms):
                if label_atoms[label, a]:
                    atom[a] = event
            todo = choice[depth, REST]
            for k in range(arena[node, CHILD] + arena[node, CHILDREN] - 1, arena[node, CHILD] - 1, -1):
                agenda[cells, 0] = nodes.children[k]
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


@jit
def _before(rows, one, other):
    """Whether a row comes before another: by start, then events, then labels; both as tuples."""
    if rows.start[one] != rows.start[other]:
        return rows.start[one] < rows.start[other]
    a, b = rows.first[one], rows.first[other]
    n, m = rows.first[one + 1] - a, rows.first[other + 1] - b
    for k in range(min(n, m)):
        if rows.event[a + k] != rows.event[b + k]:
            return rows.event[a + k] < rows.event[b + k]
    if n != m:
        return n < m
    if rows.label.shape[0] > 0:
        for k in range(n):
            if rows.label[a + k] != rows.label[b + k]:
                return rows.label[a + k] < rows.label[b + k]
    return False


@jit
def sort_rows(rows, low, high, order, spare):
    """Put rows low .. high - 1 of a hit in canonical order: `order[low:high]`; insertion, then merges."""
    run = 16
    for a in range(low, high, run):
        b = min(a + run, high)
        for i in range(a, b):
            # Later runs are at the top of a heap, so the last rows are mostly the first.
            row = high - 1 - i + low
            j = i
            while j > a and _before(rows, row, order[j - 1]):
                order[j] = order[j - 1]
                j -= 1
            order[j] = row
    while run < high - low:
        for a in range(low, high, 2 * run):
            mid = min(a + run, high)
            b = min(a + 2 * run, high)
            i, j = a, mid
            for k in range(a, b):
                if j >= b or (i < mid and not _before(rows, order[j], order[i])):
                    spare[k] = order[i]
                    i += 1
                else:
                    spare[k] = order[j]
                    j += 1
        for k in range(low, high):
            order[k] = spare[k]
        run *= 2


@inline
def full(rows, n, m, marks):
    """Which array is full where a row with `marks` marks does not fit behind `n` rows and `m` marks."""
    status = DONE
    if n + 2 > rows.first.shape[0]:
        status = ROWS_FULL
    elif m + marks > rows.event.shape[0]:
        status = MARKS_FULL
    return status


@jit
def note_rows(rows, n, m, begin, order, spare, progress):
    """Put the rows of a hit in canonical order, and note that it is done, with `n` rows and `m` marks now.

    The other parameters are those of `fill`.
    """
    sort_rows(rows, progress[1], n, order, spare)
    progress[0] += 1
    begin[progress[0]] = n
    progress[1] = n
    progress[2] = m


@jit
def fill(nodes, hits, hit_lowest, label_atoms, begin, rows, order, spare, stacks, progress, halt):
    """Write the answers of the hits from `progress[0]` on, until an array is full; gives the status.

    ===============  ============================  =======================================================
    `nodes`          ProductNodes                  in
    `hits`           int64 [hits]                  in: numbers of hits
    `hit_lowest`     int64 [all hits]              in: the least admissible start of each
    `label_atoms`    uint8 [labels, atoms]         in: as in `walk`
    `begin`          int64 [hits + 1]              out: the first row of each, and all rows
    `rows`           AnswerRows                    out
    `order`          int32 [rows]                  out: the rows of each hit in canonical order
    `spare`          int32 [rows]                  scratch
    `stacks`         AnswerStacks                  scratch
    `progress`       int64 [3]                     in/out: hits, rows and marks that are done; zeros at first
    `halt`           uint8 [1]                     in: see `jit`
    ===============  ============================  =======================================================
    """
    begin[0] = 0
    rows.first[progress[1]] = progress[2]
    while progress[0] < hits.shape[0] and not halt[0]:
        hit = hits[progress[0]]
        status, n, m = walk(nodes, hit, hit_lowest[hit], label_atoms, rows, stacks, progress[1], progress[2])
        if status != DONE:
            return status
        note_rows(rows, n, m, begin, order, spare, progress)
    return DONE
