"""How many runs a node of an automaton with one clock stands for, without walking through each of them.

Which runs below a node pass depends on the node, on the least stamp that the checks above it admit, and on
the window. So each union is counted once for each least stamp with which it is reached.
"""

from ..jit import inline, jit
from .contract import BOTTOM, LABEL, LEFT, NO_CHECK, RIGHT, UNION
from .cpu_walk import admits, checked

DONE = 0
STACK_FULL = 1
TABLE_FULL = 2
TOO_MANY = 3

LARGEST = 2**62

NODE, LEAST, VALUE, END, FIELDS = range(5)
"""Columns of `table`: a union, the least stamp there, its number, and the end that it was counted for."""

SIDE, SUM, FRAME = 2, 3, 4
"""Further columns of `stack`: which child is being counted, and the sum of those before."""


@inline
def place(table, node, least, end):
    mask = table.shape[0] - 1
    at = (node * 0x9E3779B1 + least * 0x85EBCA6B) & mask
    while table[at, END] == end and (table[at, NODE] != node or table[at, LEAST] != least):
        at = (at + 1) & mask
    return at


@jit
def union_below(arena, node, least, lowest):
    """The first union at or below a node (-1: no run passes, -2: one does), and the least stamp there."""
    while True:
        if not admits(arena, node, lowest, least):
            return -1, least
        label = arena[node, LABEL]
        if label == BOTTOM:
            return -2, least
        if label == UNION:
            return node, least
        least = checked(arena, node, least)
        node = arena[node, LEFT]


@jit
def count_exactly(arena, roots, lowest, counts, table, stack, progress, halt):
    """Count the runs that end at each of some ends: `DONE`, or why the end progress[0] is not counted.

    ===========  =========================  ==========================================================
    `arena`      int64 [nodes, COLUMNS]     in
    `roots`      Roots                      in
    `lowest`     int64 [ends]               in: the least admissible start
    `counts`     int64 [ends]               out
    `table`      int64 [2^k, FIELDS]        scratch; -1 in `END` at first
    `stack`      int64 [frames, FRAME]      scratch
    `progress`   int64 [1]                  in/out: the next end
    `halt`       uint8 [1]                  in: see `jit`
    ===========  =========================  ==========================================================
    """
    while progress[0] < lowest.shape[0] and not halt[0]:
        end = progress[0]
        bound = lowest[end]
        used = 0
        total = 0
        for root in range(roots.first[end], roots.first[end + 1]):
            n = 0
            value = 1
            node, least = union_below(arena, roots.node[root], NO_CHECK, bound)
            if node == -1:
                value = 0
            elif node >= 0:
                stack[0, NODE] = node
                stack[0, LEAST] = least
                stack[0, SIDE] = 0
                stack[0, SUM] = 0
                n = 1
            while n > 0:
                node = stack[n - 1, NODE]
                least = stack[n - 1, LEAST]
                side = stack[n - 1, SIDE]
                at = place(table, node, least, end)
                if table[at, END] == end:
                    value = table[at, VALUE]
                    n -= 1
                elif side == 2:
                    value = stack[n - 1, SUM]
                    table[at, NODE] = node
                    table[at, LEAST] = least
                    table[at, VALUE] = value
                    table[at, END] = end
                    used += 1
                    if 2 * used > table.shape[0]:
                        return TABLE_FULL
                    n -= 1
                else:
                    stack[n - 1, SIDE] = side + 1
                    child = arena[node, LEFT] if side == 0 else arena[node, RIGHT]
                    below, floor = union_below(arena, child, least, bound)
                    if below >= 0:
                        if n == stack.shape[0]:
                            return STACK_FULL
                        stack[n, NODE] = below
                        stack[n, LEAST] = floor
                        stack[n, SIDE] = 0
                        stack[n, SUM] = 0
                        n += 1
                        continue
                    stack[n - 1, SUM] += 1 if below == -2 else 0
                    continue
                # what a child came to
                if n > 0:
                    stack[n - 1, SUM] += value
                    if stack[n - 1, SUM] > LARGEST:
                        return TOO_MANY
            total += value
            if total > LARGEST:
                return TOO_MANY
        counts[end] = total
        progress[0] = end + 1
    return DONE
