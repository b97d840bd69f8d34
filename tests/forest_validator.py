"""Checks the invariants of the persistent structure, and measures the longest walk between two outputs.

Slow, and written from the definitions in `cer_gpu.kernels.forest.contract`, not from the code
that builds the structure.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from cer_gpu.kernels.forest.contract import BOTTOM, LABEL, LATEST, LEFT, RIGHT, UNION

from cer_gpu.enumeration.structure import Structure

MAX_OUTPUT_DEPTH = 3


class InvariantError(AssertionError):
    """The structure breaks an invariant that enumeration relies on; the message names the node."""


class WalkedComplexEvent(NamedTuple):
    """A complex event, and the number of nodes that the walk visited after the complex event before it."""

    start: int
    events: tuple[int, ...]
    labels: tuple[int, ...]
    visited: int


def check(structure: Structure) -> None:
    """Check every node: acyclic, latest starts right, unions time-ordered, output depth bounded.

    Raises
    ------
    InvariantError
    """
    arena = structure.arena[: structure.n_nodes]
    depth, last = np.zeros((2, structure.n_nodes), dtype=np.int64)  # `last`: in time, of the starts
    for node, (label, left, right, latest) in enumerate(arena.tolist()):
        if label == BOTTOM:
            last[node] = right
            continue
        children = (left, right) if label == UNION else (left,)
        for child in children:
            if not 0 <= child < node:
                raise InvariantError(f"node {node} has the child {child}, which does not precede it")
        if latest != arena[left, LATEST]:
            raise InvariantError(
                f"node {node} has the latest start {latest}, its left child {arena[left, LATEST]}"
            )
        if label == UNION:
            if arena[right, LATEST] > latest:
                raise InvariantError(f"union {node} is not time-ordered")
            depth[node] = 1 + depth[left]
            last[node] = max(last[left], last[right])
            if depth[node] > MAX_OUTPUT_DEPTH:
                raise InvariantError(f"union {node} has the output depth {depth[node]}")
        elif label < 1 or right < last[left]:
            raise InvariantError(f"output {node} has the label {label} and the event {right}")
        else:
            last[node] = last[left]


def check_duplicate_free(structure: Structure) -> None:
    """Check that no hit lists a complex event twice, and that each lists as many as were counted.

    Raises
    ------
    InvariantError
    """
    for hit in range(structure.hits.event.size):
        found = [found[:3] for found in walked_complex_events(structure, hit)]
        if len(set(found)) != len(found):
            raise InvariantError(f"hit {hit} lists a complex event twice")
        if len(found) != structure.hits.counts[hit]:
            raise InvariantError(
                f"hit {hit} has {len(found)} complex events, counted {structure.hits.counts[hit]}"
            )


def walked_complex_events(structure: Structure, hit: int) -> Iterator[WalkedComplexEvent]:
    """Enumerate a hit by the plain depth-first walk, left before right, without nodes that have expired."""
    arena = structure.arena
    lowest = int(structure.hits.lowest[hit])
    end = int(structure.hits.event[hit])
    visited = 0
    for r in range(structure.roots.first[hit], structure.roots.first[hit + 1]):
        label = int(structure.roots.label[r])
        pending = [(int(structure.roots.node[r]), ((end, label),) if label else ())]
        while pending:
            node, marks = pending.pop()
            visited += 1
            if arena[node, LATEST] < lowest:
                continue
            kind, left, right = (int(arena[node, column]) for column in (LABEL, LEFT, RIGHT))
            if kind == UNION:
                # A right child that has expired costs no step: its start is read from here.
                if arena[right, LATEST] >= lowest:
                    pending.append((right, marks))
                pending.append((left, marks))
            elif kind == BOTTOM:
                events = tuple(event for event, _ in marks)
                labels = tuple(label for _, label in marks)
                yield WalkedComplexEvent(right, events, labels, visited)
                visited = 0
            else:
                pending.append((left, ((right, kind), *marks)))


def longest_walk(structure: Structure, hit: int, most: int | None = None) -> float:
    """The most nodes visited from one complex event of a hit to the next, divided by the size of the latter.

    Its size is the number of its marks, and one for its start.

    Output-linear delay: at most `MAX_OUTPUT_DEPTH` + 1, whatever the stream. If `most` is given, only the
    first `most` complex events are walked through.
    """
    found = islice(walked_complex_events(structure, hit), most)
    return max((event.visited / (len(event.events) + 1) for event in found), default=0.0)
