"""The complex events of ends in a structure whose unions have no order: an end admits all of its own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cer_gpu.enumeration.blocks import BULK_COUNT
from cer_gpu.enumeration.structure import Structure
from cer_gpu.kernels.forest import cpu_stream as kernels
from cer_gpu.kernels.forest.contract import BOTTOM, LABEL, LEFT, RIGHT, UNION, Block, CountedHits, Roots
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
        found = _ordered(self.arena, roots, int(self.hits.event[hit]))
        rows: list[tuple[int, list[int], list[int]]] = []
        left = limit
        for row in found:
            if left is not None:
                if left == 0:
                    break
                left -= 1
            rows.append(row)
            if len(rows) == size:
                yield _block(hit, rows)
                rows = []
        if rows:
            yield _block(hit, rows)


def _block(hit: int, rows: list[tuple[int, list[int], list[int]]]) -> Block:
    length = np.array([len(events) for _, events, _ in rows], np.int64)
    return Block(
        np.full(len(rows), hit, np.int64),
        np.array([start for start, _, _ in rows], np.int64),
        np.append(0, np.cumsum(length)),
        np.array([event for _, events, _ in rows for event in events], np.int64),
        np.array([label for _, _, labels in rows for label in labels], np.int32),
    )


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
    above, last, bottoms = _turned(arena, roots)

    def following(node: int) -> Iterator[int]:
        """The outputs over a node, through unions."""
        pending = [node]
        while pending:
            for one in above.get(pending.pop(), ()):
                if arena[one, LABEL] == UNION:
                    pending.append(one)
                else:
                    yield one

    def ends(node: int) -> Iterator[int]:
        """The labels of the last mark (0: none) with which complex events end right after a node."""
        pending = [node]
        while pending:
            at = pending.pop()
            yield from last.get(at, ())
            pending += [one for one in above.get(at, ()) if arena[one, LABEL] == UNION]

    for start in sorted(bottoms):
        # Ways with the same marked events: their labels, and the node that each has come to.
        stack: list[tuple[tuple[int, ...], list[tuple[tuple[int, ...], int]]]] = [
            ((), [((), node) for node in bottoms[start]])
        ]
        while stack:
            events, ways = stack.pop()
            if events and events[-1] == end and ways and ways[0][1] < 0:
                for labels, _ in sorted(ways):
                    yield start, list(events), list(labels)
                continue
            over: list[tuple[int, ...]] = []
            further: dict[int, list[tuple[tuple[int, ...], int]]] = {}
            for labels, node in ways:
                for label in ends(node):
                    if label:
                        further.setdefault(end, []).append(((*labels, label), -1))
                    else:
                        over.append(labels)
                for one in following(node):
                    row = (*labels, int(arena[one, LABEL])), one
                    further.setdefault(int(arena[one, RIGHT]), []).append(row)
            for labels in sorted(over):
                yield start, list(events), list(labels)
            stack += [((*events, event), further[event]) for event in sorted(further, reverse=True)]


def _turned(
    arena: np.ndarray, roots: list[tuple[int, int]]
) -> tuple[dict[int, list[int]], dict[int, list[int]], dict[int, list[int]]]:
    """The nodes below roots: what is over each, the labels of the roots of each, and where starts are."""
    above: dict[int, list[int]] = {}
    last: dict[int, list[int]] = {}
    bottoms: dict[int, list[int]] = {}
    seen: set[int] = set()
    pending = []
    for label, node in roots:
        last.setdefault(node, []).append(label)
        pending.append(node)
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        label, left, right = arena[node, [LABEL, LEFT, RIGHT]].tolist()
        if label == BOTTOM:
            bottoms.setdefault(right, []).append(node)
            continue
        for child in (left, right) if label == UNION else (left,):
            above.setdefault(child, []).append(node)
            pending.append(child)
    return above, last, bottoms
