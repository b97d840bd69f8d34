"""Checks the invariants of the structure of automata with one clock, from the definitions of the paper.

Slow, and written from timed CEL, appendix C.1, and `cer_gpu.kernels.clock.contract`, not from
the code that builds the structure.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import numpy as np
from cer_gpu.kernels.clock.contract import (
    BOTTOM,
    CHECK,
    LABEL,
    LATEST,
    LEFT,
    NO_CHECK,
    RANK,
    RESET,
    RIGHT,
    STAMP,
    UNION,
)
from cer_gpu.kernels.clock.cpu_nodes import PAIR
from cer_gpu.kernels.clock.cpu_stream import OVERLONG
from forest_validator import InvariantError, WalkedComplexEvent

from cer_gpu.engine.machines.one_clock_stream import ClockRuns
from cer_gpu.enumeration.clock_structure import Ending

MAX_OUTPUT_DEPTH = 11
"""The most left steps from a node to the first output: k of the paper's k-bounded structures."""

SAFE_UNION = 9
"""The same from a safe union."""

OpenRun = tuple[int, tuple[tuple[int, int], ...], int]
"""Start, marks (event, label), stamp."""


def check_nodes(structure: ClockRuns) -> None:
    """Check every node by itself: acyclic, gadgets not stacked, unions time-ordered, nodes safe.

    Raises
    ------
    InvariantError
    """
    arena = structure.arena[: structure.n_nodes].tolist()
    depth = [0] * len(arena)
    for node, row in enumerate(arena):
        label, left, right = row[LABEL], row[LEFT], row[RIGHT]
        if label == BOTTOM:
            if row[LATEST] != right or left != -1:
                raise InvariantError(f"bottom {node} starts at {right}, its latest start is {row[LATEST]}")
            continue
        for child in (left, right) if label == UNION else (left,):
            if not 0 <= child < node:
                raise InvariantError(f"node {node} has the child {child}, which does not precede it")
        below = arena[left]
        latest = max(below[LATEST], arena[right][LATEST]) if label == UNION else below[LATEST]
        if row[LATEST] != latest:
            raise InvariantError(f"node {node} has the latest start {row[LATEST]}, its children {latest}")
        if label in (RESET, CHECK) and below[LABEL] in ((RESET,) if label == RESET else (RESET, CHECK)):
            raise InvariantError(f"node {node} is stacked on another gadget")
        if label == CHECK and below[STAMP] < right:
            raise InvariantError(f"check {node} leaves nothing")
        depth[node] = 0 if label > 0 else depth[left] + 1
        if label == UNION:
            if below[LATEST] >= 0 and below[STAMP] < arena[right][STAMP]:
                raise InvariantError(f"union {node} is not time-ordered")
            if depth[node] > SAFE_UNION:
                raise InvariantError(f"union {node} is not safe: its output depth is {depth[node]}")
        if depth[node] > MAX_OUTPUT_DEPTH:
            raise InvariantError(f"node {node} has the output depth {depth[node]}")


def check_lists(structure: ClockRuns) -> None:
    """Check the lists of all states: the length of Lemma C.6, the order, and heaps where checks are `>=`.

    Raises
    ------
    InvariantError
    """
    if structure.progress[OVERLONG]:
        raise InvariantError("a union-list was longer than |Q| + 2")
    arena, most = structure.arena, structure.tables.n_live + 2
    for (lane, state), nodes in union_lists(structure).items():
        where = f"the list of state {state} in lane {lane}"
        stamps = arena[nodes, STAMP].tolist()
        if structure.tables.sense < 0:
            if len(nodes) != 1:
                raise InvariantError(f"{where} is no heap")
            check_heap(arena, nodes[0])
            continue
        if len(nodes) > most:
            raise InvariantError(f"{where} has {len(nodes)} nodes, more than |Q| + 2 = {most}")
        if arena[_exit(arena, nodes[0]), LABEL] == UNION:
            raise InvariantError(f"{where} begins with a union")
        if max(stamps) != stamps[0] or any(one <= two for one, two in pairwise(stamps[1:])):
            raise InvariantError(f"{where} has the stamps {stamps}")


def union_lists(structure: ClockRuns) -> dict[tuple[int, int], list[int]]:
    """The nodes of each list, by lane and state."""
    kept, found = structure.arrays(), {}
    where, pool = kept["PackedLists where"], kept["PackedLists pool"]
    for lane, at in enumerate(where.tolist()):
        start = at + 2
        for _ in range(pool[at + 1] if at >= 0 else 0):
            state, length = pool[start : start + 2].tolist()
            found[lane, state] = pool[start + 3 : start + 3 + length].tolist()
            start += 3 + length
    return found


def check_heap(arena: np.ndarray, root: int) -> None:
    """Check that a node is a leftist heap: its right spine is no longer than the logarithm of its runs.

    Raises
    ------
    InvariantError
    """
    pending = [root]
    while pending:
        node = pending.pop()
        top = _exit(arena, node)
        if arena[top, LABEL] != UNION:
            continue
        item, rest = arena[top, LEFT], arena[top, RIGHT]
        if arena[_exit(arena, item), LABEL] == UNION:
            raise InvariantError(f"heap {node} has a union as its greatest run")
        rank, heaps = 1, [rest]
        if arena[rest, LABEL] == UNION and arena[rest, RANK] == PAIR:
            heaps = [arena[rest, LEFT], arena[rest, RIGHT]]
            rank = 1 + min(arena[heaps, RANK])
        if not arena[node, RANK] == arena[top, RANK] == rank:
            raise InvariantError(f"heap {node} has the rank {arena[node, RANK]}, its parts give {rank}")
        if any(arena[one, STAMP] > arena[item, STAMP] for one in heaps):
            raise InvariantError(f"heap {node} has a greater run below its greatest one")
        pending += heaps


def check_runs(structure: ClockRuns, whole: bool) -> None:
    """Check every node by the runs that it stands for: its stamp, duplicates, and order of unions.

    Lists all runs of all nodes: for small streams.

    Parameters
    ----------
    structure : ClockRuns
    whole : bool
        Whether it has all of its runs. If some were forgotten, because they began before a window or were
        consumed, a node may keep their stamp.

    Raises
    ------
    InvariantError
    """
    arena = structure.arena[: structure.n_nodes]

    @cache
    def runs(node: int) -> frozenset[OpenRun]:
        label, left, right = (int(arena[node, column]) for column in (LABEL, LEFT, RIGHT))
        if label == BOTTOM:
            return frozenset({(right, (), int(arena[node, STAMP]))} if right >= 0 else ())
        if label == UNION:
            return runs(left) | runs(right)
        if label == RESET:
            return frozenset((start, marks, right) for start, marks, _ in runs(left))
        if label == CHECK:
            return frozenset(run for run in runs(left) if run[2] >= right)
        return frozenset((start, (*marks, (right, label)), stamp) for start, marks, stamp in runs(left))

    for node in range(1, len(arena)):
        own = runs(node)
        if not own:
            if arena[node, LATEST] >= 0:
                raise InvariantError(f"node {node} stands for no run")
            continue
        stamp = max(stamp for _, _, stamp in own)
        if stamp > arena[node, STAMP] or (whole and stamp != arena[node, STAMP]):
            raise InvariantError(f"node {node} has the stamp {arena[node, STAMP]}")
        if max(start for start, _, _ in own) > arena[node, LATEST]:
            raise InvariantError(f"node {node} has a start after {arena[node, LATEST]}")
        if arena[node, LABEL] == UNION:
            one, other = runs(int(arena[node, LEFT])), runs(int(arena[node, RIGHT]))
            if {run[:2] for run in one} & {run[:2] for run in other}:
                raise InvariantError(f"union {node} has a run twice")


def walk_timed(arena: np.ndarray, ending: Ending, end: int) -> Iterator[WalkedComplexEvent]:
    """Enumerate an end by the paper's walk (Algorithm 2): left before right, no node that fails."""
    lowest, event = int(ending.ends.lowest[end]), int(ending.ends.event[end])
    visited = 0
    for r in range(ending.roots.first[end], ending.roots.first[end + 1]):
        label = int(ending.roots.label[r])
        pending = [(int(ending.roots.node[r]), ((event, label),) if label else (), NO_CHECK)]
        while pending:
            node, marks, least = pending.pop()
            kind, left, right, latest, stamp = arena[node, : STAMP + 1].tolist()
            if latest < lowest or stamp < least:
                continue
            visited += 1
            if kind == UNION:
                pending += [(right, marks, least), (left, marks, least)]
            elif kind == BOTTOM:
                yield WalkedComplexEvent(
                    right, tuple(one for one, _ in marks), tuple(one for _, one in marks), visited
                )
                visited = 0
            elif kind == RESET:
                pending.append((left, marks, NO_CHECK))
            elif kind == CHECK:
                pending.append((left, marks, max(least, right)))
            else:
                pending.append((left, ((right, kind), *marks), least))


def longest_timed_walk(arena: np.ndarray, ending: Ending, end: int) -> float:
    """The most nodes visited from one complex event of an end to the next, divided by the size of the latter.

    Output-linear delay: at most `MAX_OUTPUT_DEPTH` + 1, whatever the stream. A node that fails is read from
    its parent, and costs nothing more.
    """
    found = walk_timed(arena, ending, end)
    return max((one.visited / (len(one.events) + 1) for one in found), default=0.0)


def _exit(arena: np.ndarray, node: int) -> int:
    """The first node behind a gadget."""
    while arena[node, LABEL] in (RESET, CHECK):
        node = int(arena[node, LEFT])
    return node
