"""Lists what lies below neighbouring rows of a node once, for all rows that join them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from cer_gpu.engine.views.answer_columns import (
    GuardCounts,
    ListedAnswers,
    SubtreeTable,
    all_once,
    ones,
    variables_of_rows,
)
from cer_gpu.engine.views.layout import ViewNode
from cer_gpu.engine.views.runs import wide
from cer_gpu.engine.views.terms import Columns
from cer_gpu.kernels.views import cpu_list
from cer_gpu.kernels.views.contract import CountedRows

ROW = "\0row"
"""The name of the column with the numbers of the rows of a node, in a table of what lies below them."""

LONG = 4
"""A table has at most this many times as many rows as a piece."""

OFTEN_ASKED = 2
"""A table is made where each of its rows is asked for at least this often."""

FIRST_ASKING, MOST_ASKING, SHORTER = 1 << 10, 1 << 14, 8
"""For how many rows that ask the first table is made, and any; and how many times fewer after one
that was too long."""


class SubtreeTables:
    """Makes tables of what lies below the rows of a node, as long as that saves work.

    Parameters
    ----------
    place : ViewNode
    guard : GuardCounts or None
        The multiplicities of a leaf below the node that takes no stage of its own.
    most : int
        The most answers in a piece; a table has `LONG` times as many rows at most.
    below : callable
        Lists what is below rows of the node.

    Attributes
    ----------
    asking : int
        For how many rows that ask the next table is to be made.
    used : bool
        False once tables have cost more than they saved.
    """

    def __init__(
        self,
        place: ViewNode,
        guard: GuardCounts | None,
        most: int,
        below: Callable[[Iterator[ListedAnswers]], Iterator[ListedAnswers]],
    ) -> None:
        self._place = place
        self._guard = guard
        self._most = most
        self._list_below = below
        self.asking = FIRST_ASKING
        self.used = True

    def of(self, run: CountedRows, ranges: np.ndarray, known: Columns) -> SubtreeTable | None:
        """A table for rows that ask for ranges of a run; None where these are better listed one by one.

        It has no columns for variables that are `known`.
        """
        sizes = ranges[:, 1] - ranges[:, 0]
        some = sizes > 0
        if not self.used or not some.any():
            return None
        every = bool(some.all())
        asked = ranges if every else ranges[some]
        low, high = int(asked[:, 0].min()), int(asked[:, 1].max())
        limit = LONG * self._most
        if int(sizes.sum()) < OFTEN_ASKED * (high - low) or high - low > limit:
            return None
        pieces = self._below(run, low, high, limit)
        if pieces is None:
            # What lies below a row is long: it is copied as a whole without a table.
            self.used = self.asking > 1
            self.asking = max(1, self.asking // SHORTER)
            return None
        names = (
            tuple(name for name in pieces[0].columns if name != ROW and name not in known) if pieces else ()
        )
        rows = sum(len(piece.after) for piece in pieces)
        # Columns are read one by one: the values of each lie side by side.
        keys, counts = np.empty((len(names), rows), np.int64).T, np.empty(rows, np.int64)
        parts = [piece.columns[ROW] for piece in pieces]
        parents = parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.int64), *parts])
        at = 0
        for piece in pieces:
            end = at + len(piece.after)
            for number, name in enumerate(names):
                keys[at:end, number] = piece.columns[name]
            counts[at:end] = piece.after
            at = end
        ends = np.empty(high - low + 1, np.int64)
        if not cpu_list.ended(parents, ends):
            order = np.argsort(parents, kind="stable")
            keys, counts, parents = keys.T.take(order, axis=1).T, counts.take(order), parents.take(order)
            cpu_list.ended(parents, ends)
        if every:
            found = ends.take(ranges - low)
        else:
            found = np.zeros_like(ranges)
            found[some] = ends.take(asked - low)
        if int((found[:, 1] - found[:, 0]).sum()) < rows:
            self.used = False
        if 2 * rows < self._most:
            self.asking = min(2 * self.asking, MOST_ASKING)
        elif rows > 2 * self._most:
            self.asking = max(1, self.asking // 2)
        counted = not all(piece.single for piece in pieces)
        return SubtreeTable(names, CountedRows(keys, counts, counts[:0]), counted, found)

    def _below(self, run: CountedRows, low: int, high: int, limit: int) -> list[ListedAnswers] | None:
        """What is below rows `low` .. `high` - 1, which are numbered in a column `ROW`; None if too much."""
        keys = wide(run.keys[low:high])
        counts = ones(high - low)[0] if self._guard is None else self._guard.of(keys, ordered=True)
        columns = {**variables_of_rows(self._place, keys), ROW: np.arange(high - low)}
        single = self._guard is None or all_once(counts)
        found, rows = [], 0
        for piece in self._list_below(iter([ListedAnswers(columns, counts, counts, single)])):
            rows += len(piece.after)
            if rows > limit:
                return None
            found.append(piece)
        return found
