"""Answers as rows: the answers of some hits, found by a kernel that walks through a structure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cer_gpu.kernels.arena.contract import DONE, ROWS_FULL, STACK_FULL, AnswerRows


class FoundRows(NamedTuple):
    """Answers of some hits, in the order in which they are found.

    Attributes
    ----------
    rows : AnswerRows
    order : ndarray, shape (rows,), int32
        The rows of each hit in canonical order.
    begin : ndarray, shape (hits + 1,), int64
        Hit h has the rows begin[h] .. begin[h + 1] - 1.
    """

    rows: AnswerRows
    order: np.ndarray
    begin: np.ndarray


def found_rows(
    fill: Callable[..., int],
    nodes: tuple[Any, ...],
    hits: np.ndarray,
    lowest: np.ndarray,
    room: int,
    scratch: Callable[[int], Any],
    atoms: int = 0,
) -> FoundRows | None:
    """The answers of some hits, in the order in which they are found; None for more than `room`.

    Parameters
    ----------
    fill : Kernel
        `cer_gpu.kernels.arena.rows.list_rows`, composed.
    nodes : NamedTuple
        The structure that it walks through.
    hits : ndarray, shape (n,), int64
        Numbers of hits; the result numbers them by their place in this array.
    lowest : ndarray, shape (all hits,), int64
        The least admissible start of every hit.
    room : int
    scratch : callable
        Makes the scratch of a walk through so many nodes.
    atoms : int, optional
        The events of each answer, which have no labels; 0: marks.
    """
    marks, depth = room * atoms if atoms else 4 * room + 64, 64
    progress = np.zeros(3, np.int64)
    begin, first = np.zeros(len(hits) + 1, np.int64), np.empty(room + 1, np.int64)
    event, label = np.empty(marks, np.int32), np.empty(0 if atoms else marks, np.int32)
    start, order, spare = (np.empty(room, np.int32) for _ in range(3))
    while True:
        rows = AnswerRows(first, event, label, start)
        status = fill(nodes, hits, lowest, begin, rows, order, spare, scratch(depth), progress)
        if status == DONE:
            return FoundRows(rows, order, begin)
        if status == ROWS_FULL:
            return None
        if status == STACK_FULL:
            depth *= 2
        else:
            event, label = (np.append(old, np.empty_like(old)) for old in (event, label))
