"""The complex events of ends in a structure whose unions have no order: an end admits all of its own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from cer_gpu.enumeration.blocks import BULK_COUNT, in_blocks
from cer_gpu.enumeration.structure import Structure
from cer_gpu.kernels.forest import cpu_stream as kernels
from cer_gpu.kernels.forest.contract import BOTTOM, LABEL, LEFT, RIGHT, UNION, Block, CountedHits, Roots
from cer_gpu.kernels.forest_selection.cpu import wanted
from cer_gpu.kernels.runs.contract import TransitionTables

STACK = 1 << 12
"""Room for the nodes that a walk still has to visit, at first."""

NO_TABLES = TransitionTables(*(np.zeros(1, np.int32) for _ in TransitionTables._fields))
"""No automaton: the nodes are enough, and nothing is run again."""


class NodeAnswers(Structure):
    """The complex events of ends whose roots are nodes that do not change.

    Parameters
    ----------
    arena : ndarray, shape (capacity, 4), int64
        Nodes that are added later change nothing.
    roots : Roots
    event, lowest : ndarray, shape (ends,), int64
        The event of each end, and the least start of its complex events.
    """

    def __init__(self, arena: np.ndarray, roots: Roots, event: np.ndarray, lowest: np.ndarray) -> None:
        super().__init__(NO_TABLES)
        self.arena = arena
        self.roots = roots
        counts = np.empty(len(event), np.int64)
        kernels.count_up_to(arena, roots, lowest, BULK_COUNT, counts, np.empty(STACK, np.int64))
        # More than are found and sorted at once, or too many to walk: these are found in order.
        counts[counts < 0] = BULK_COUNT + 1
        self.hits = CountedHits(np.array([0, len(event)], np.int64), event, lowest, counts)

    def ordered(self, hit: int, limit: int | None, size: int) -> Iterator[Block]:
        """The complex events of one end, found one by one in canonical order; as `Structure.ordered`."""
        first, last = self.roots.first[hit : hit + 2]
        roots = list(zip(self.roots.label[first:last].tolist(), self.roots.node[first:last].tolist()))
        return in_blocks(_ordered(self.arena, roots, int(self.hits.event[hit])), hit, limit, size)


def _ordered(
    arena: np.ndarray, roots: list[tuple[int, int]], end: int
) -> Iterator[tuple[int, list[int], list[int]]]:
    """The complex events of roots by (start, marked events, labels).

    They are followed from their starts, against the direction of the nodes, so that those with the same
    marked events are neighbours: a walk holds the paths that agree in these so far.

    Yields
    ------
    tuple
        The start, the marked events and their labels.
    """
    turned = _NodeOrder(arena, roots)
    for start, nodes in turned.bottoms():
        # Ways with the same marked events: their labels, and the node that each has come to.
        stack: list[tuple[Path, list[tuple[Path, int]]]] = [(None, [(None, node) for node in nodes])]
        while stack:
            events, ways = stack.pop()
            if events is not None and events[1] == end and ways[0][1] < 0:
                for row in sorted(_listed(labels) for labels, _ in ways):
                    yield start, _listed(events), row
                continue
            if len(ways) == 1 and ways[0][1] >= 0:
                events, labels, node = turned.straight_on(events, *ways[0])
                ways = [(labels, node)]
            over: list[list[int]] = []
            further: dict[int, list[tuple[Path, int]]] = {}
            for labels, node in ways:
                for label in turned.ends(node):
                    if label:
                        further.setdefault(end, []).append(((labels, label), -1))
                    else:
                        over.append(_listed(labels))
                for one in turned.following(node):
                    label, event = arena[one, [LABEL, RIGHT]].tolist()
                    further.setdefault(event, []).append(((labels, label), one))
            for row in sorted(over):
                yield start, _listed(events), row
            stack += [((events, event), further[event]) for event in sorted(further, reverse=True)]


Path: TypeAlias = "tuple[Path, int] | None"
"""What has been passed, the last one first: ways share what they have in common."""


def _listed(path: Path) -> list[int]:
    """What has been passed, in order."""
    found = []
    while path is not None:
        path, one = path
        found.append(one)
    found.reverse()
    return found


class _NodeOrder:
    """The nodes below some roots, from the bottom up, in a few words for each.

    Parameters
    ----------
    arena : ndarray, shape (capacity, 4), int64
    roots : list of (int, int)
        The label and the node of each.
    """

    def __init__(self, arena: np.ndarray, roots: list[tuple[int, int]]) -> None:
        self._last: dict[int, list[int]] = {}
        for label, node in roots:
            self._last.setdefault(node, []).append(label)
        top = np.array(list(self._last), np.int64)
        below = np.zeros(int(top.max(initial=-1)) + 1, np.uint8)
        wanted(arena, top, below)
        nodes = np.flatnonzero(below)
        label = arena[nodes, LABEL]
        starts = nodes[label == BOTTOM]
        self._starts = starts[np.argsort(arena[starts, RIGHT], kind="stable")]
        inner, unions = nodes[label != BOTTOM], nodes[label == UNION]
        child = np.concatenate([arena[inner, LEFT], arena[unions, RIGHT]])
        over = np.concatenate([inner, unions])
        # Of each node those right over it lie together.
        self._over = over[np.argsort(child, kind="stable")]
        self._first = np.append(0, np.cumsum(np.bincount(child, minlength=len(below))))
        self._arena = arena

    def bottoms(self) -> Iterator[tuple[int, list[int]]]:
        """The starts, ascending, and the nodes of each."""
        starts = self._arena[self._starts, RIGHT]
        edges = np.append(np.flatnonzero(np.append(True, starts[1:] != starts[:-1])), len(starts))
        for low, high in pairwise(edges.tolist() if len(starts) else []):
            yield int(starts[low]), self._starts[low:high].tolist()

    def _above(self, node: int) -> list[int]:
        above: list[int] = self._over[self._first[node] : self._first[node + 1]].tolist()
        return above

    def straight_on(self, events: Path, labels: Path, node: int) -> tuple[Path, Path, int]:
        """Where a way comes to before it forks or may end."""
        first, over, arena = self._first, self._over, self._arena
        while node not in self._last:
            at = first.item(node)
            if first.item(node + 1) != at + 1:
                break
            one = over.item(at)
            label = arena.item(one, LABEL)
            if label == UNION:
                break
            events, labels, node = (events, arena.item(one, RIGHT)), (labels, label), one
        return events, labels, node

    def following(self, node: int) -> Iterator[int]:
        """The outputs over a node, through unions."""
        pending = [node]
        while pending:
            for one in self._above(pending.pop()):
                if self._arena[one, LABEL] == UNION:
                    pending.append(one)
                else:
                    yield one

    def ends(self, node: int) -> Iterator[int]:
        """The labels of the last mark (0: none) with which complex events end right after a node."""
        pending = [node]
        while pending:
            at = pending.pop()
            yield from self._last.get(at, ())
            pending += [one for one in self._above(at) if self._arena[one, LABEL] == UNION]
