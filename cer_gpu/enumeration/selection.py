"""The complex events that NEXT, LAST or MAX chooses in a structure whose unions are in no order."""

from __future__ import annotations

import numpy as np

from cer_gpu.enumeration.blocks import grown
from cer_gpu.errors import LimitError
from cer_gpu.kernels.forest.contract import Roots
from cer_gpu.kernels.forest_selection import contract, cpu
from cer_gpu.kernels.forest_selection.contract import EMPTY, ChoiceResult, Lists

ROOM = 1 << 8
"""Paths and items that there is room for at first."""

PATHS = 1 << 25
"""Partial matches that may be compared at once: 1 GiB of them."""

HOW = {"NEXT": contract.NEXT, "LAST": contract.LAST, "MAX": contract.MAX}


def left_of(arena: np.ndarray, roots: Roots, strategy: str, shown: np.ndarray) -> tuple[np.ndarray, Roots]:
    """The structure of what a strategy leaves at each hit, with the marks that the SELECT list shows.

    Each node keeps the partial matches that are preferred among its own, since what is marked later changes
    nothing in their order (`cer_gpu.kernels.forest_selection.contract`). So the work grows with the nodes
    below the roots, and with the partial matches that a node keeps: for NEXT and LAST one, unless several
    have the same marked events.

    Parameters
    ----------
    arena : ndarray, shape (capacity, 4), int64
    roots : Roots
    strategy : {"NEXT", "LAST", "MAX"}
    shown : ndarray, shape (labels,), int32
        What each label becomes; 0 for no mark.

    Returns
    -------
    arena : ndarray, shape (nodes, 4), int64
        Without unions: each root is one complex event.
    roots : Roots

    Raises
    ------
    LimitError
        Where MAX keeps too many.
    """
    choice = _Choice(arena, roots, strategy)
    left, path = choice.left()
    below = np.zeros(len(path), np.uint8)
    cpu.wanted(path, left.path, below)
    buckets = np.full(1 << len(path).bit_length() + 1, EMPTY, np.int64)
    made, number = np.empty_like(path), np.empty(len(path), np.int64)
    count = int(cpu.shown_nodes(path, below, shown, buckets, made, number))
    hit = np.repeat(np.arange(len(left.first) - 1), np.diff(left.first))
    label, node = shown[left.label], number[left.path]
    if len(np.unique(shown)) < len(shown) or not shown[1:].all():
        order = np.lexsort((label, node, hit))
        rows = hit[order], node[order], label[order]
        fresh = np.append(True, np.any([row[1:] != row[:-1] for row in rows], 0))[: len(order)]
        hit, node, label = (row[fresh] for row in rows)
    first = np.searchsorted(hit, np.arange(len(left.first)))
    return made[:count], Roots(first, label, node)


class _Choice:
    """The paths of the nodes below some roots, in arrays that grow."""

    def __init__(self, arena: np.ndarray, roots: Roots, strategy: str) -> None:
        self._arena, self._roots, self._strategy = arena, roots, strategy
        self._how = HOW[strategy]
        nodes = int(roots.node.max(initial=-1)) + 1
        self._below = np.zeros(nodes, np.uint8)
        cpu.wanted(arena, roots.node, self._below)
        self._lists = Lists(
            np.empty((ROOM, 4), np.int64),
            np.empty(ROOM, np.int64),
            np.zeros(nodes, np.int64),
            np.zeros(nodes, np.int64),
        )
        self._progress = np.zeros(contract.WORDS, np.int64)

    def left(self) -> tuple[ChoiceResult, np.ndarray]:
        """What is left at the hits, and the paths."""
        lists, progress = self._lists, self._progress
        while status := cpu.of_nodes(self._arena, self._below, self._how, lists, progress):
            if status == contract.PATHS_FULL:
                lists = lists._replace(path=self._more(lists.path, contract.PATHS))
            else:
                lists = lists._replace(item=self._more(lists.item, contract.ITEMS))
        paths = int(progress[contract.PATHS])
        progress[[contract.AT, contract.ITEMS]] = 0
        hits = len(self._roots.first) - 1
        left = ChoiceResult(np.zeros(hits + 1, np.int64), np.empty(ROOM, np.int32), np.empty(ROOM, np.int64))
        while cpu.of_hits(self._roots, self._how, lists, left, progress):
            left = left._replace(path=self._more(left.path, contract.ITEMS))
            left = left._replace(label=grown(left.label, len(left.path) - len(left.label)))
        count = int(progress[contract.ITEMS])
        return left._replace(path=left.path[:count], label=left.label[:count]), lists.path[:paths]

    def _more(self, values: np.ndarray, used: int) -> np.ndarray:
        """Room for twice as many, and for what is needed now."""
        size = 2 * len(values) + int(self._progress[contract.NEEDED])
        if int(self._progress[used]) + int(self._progress[contract.NEEDED]) > PATHS:
            raise LimitError(
                f"{self._strategy} has more than {PATHS:,} partial matches to choose from: use a smaller "
                "WITHIN or a narrower filter, leave the strategy out, or ask for `hits`, for which nothing "
                "is chosen"
            )
        return grown(values, min(size, max(PATHS, len(values))) - len(values))
