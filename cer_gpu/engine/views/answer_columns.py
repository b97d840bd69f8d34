"""Answers of a view in columns, what listing them reads, and how rows are written beside rows they join."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.views.layout import ViewLayout, ViewNode
from cer_gpu.engine.views.levels import Levels, first_from
from cer_gpu.engine.views.node_lookup import AskedRows, columns_of
from cer_gpu.engine.views.reducts import Change
from cer_gpu.engine.views.runs import places_of
from cer_gpu.engine.views.terms import Columns
from cer_gpu.kernels.views import cpu_list
from cer_gpu.kernels.views.contract import CountedRows

_ONE = np.int64(1).tobytes()
_ONES = np.ndarray(1 << 20, np.int64, _ONE, 0, (0,))

LONG_LISTING, SELDOM_SEVERAL = 8, 16
"""Once one in so many rows of a leaf has been asked for, the rows that are there several times are looked
for, and kept if at most one in so many is."""


class ListedAnswers(NamedTuple):
    """Some answers, over the nodes listed so far.

    Attributes
    ----------
    columns : mapping of str to ndarray of int64, shape (n,)
    before, after : ndarray of int64, shape (n,)
        Their multiplicities before and after the last batch; the same if all answers are listed.
    single : bool
        Whether all multiplicities are known to be 1.
    block : ndarray of int64, shape (columns or columns + 1, n), or None
        The columns, then `after` unless all are 1, if they lie in one array.
    """

    columns: Columns
    before: np.ndarray
    after: np.ndarray
    single: bool = False
    block: np.ndarray | None = None

    def some(self, which: np.ndarray) -> ListedAnswers:
        """The answers that a mask chooses, bool [n]; these themselves if it chooses all."""
        if which.all():
            return self
        columns = {name: values[which] for name, values in self.columns.items()}
        return ListedAnswers(columns, self.before[which], self.after[which])


class SubtreeTable(NamedTuple):
    """What lies below neighbouring rows of a node, in their order.

    Attributes
    ----------
    names : tuple of str
        The variables of the node and of all nodes below it.
    rows : CountedRows
        Their values, and the multiplicities.
    counted : bool
        Whether some multiplicity is not 1.
    ranges : ndarray of int64, shape (m, 2)
        The rows of the table for each row that asks.
    """

    names: tuple[str, ...]
    rows: CountedRows
    counted: bool
    ranges: np.ndarray


class StackedAnswers:
    """A piece whose columns lie in one array where they are asked for.

    Parameters
    ----------
    piece : ListedAnswers
    """

    def __init__(self, piece: ListedAnswers) -> None:
        self.piece = piece
        self._block = piece.block

    def held(self, counted: bool) -> np.ndarray:
        """The columns, and `after` as the last if `counted`: int64 [columns or columns + 1, n]."""
        columns, after = self.piece.columns, self.piece.after
        many = len(columns) + counted
        if self._block is None or len(self._block) < many:
            self._block = np.empty((many, len(after)), np.int64)
            for number, values in enumerate(columns.values()):
                self._block[number] = values
            if counted:
                self._block[-1] = after
        return self._block[:many]


class ListedState(NamedTuple):
    """What a listing reads.

    Attributes
    ----------
    layout : ViewLayout
    stores : sequence of Levels
        The rows of each node.
    changes : sequence of Change or None
        What the last batch changed in each node.
    check : callable
        Raises if the view has been updated since the listing began.
    """

    layout: ViewLayout
    stores: Sequence[Levels]
    changes: Sequence[Change | None]
    check: Callable[[], None]


class GuardCounts:
    """The multiplicities of a leaf whose variables are those of the node above it, by that node's rows.

    Parameters
    ----------
    state : ListedState
    number : int
        The node above.
    guard : int
        The leaf.
    """

    def __init__(self, state: ListedState, number: int, guard: int) -> None:
        columns = state.layout.places[number].columns
        self.guard = guard
        self._store = state.stores[guard]
        self._places = [columns.index(name) for name in state.layout.places[guard].columns]
        self._known: dict[int, tuple[np.ndarray, int, int]] = {}
        self._asked = 0
        self._several: CountedRows | None = None

    def of(self, keys: np.ndarray, ordered: bool = False) -> np.ndarray:
        """Those of some rows of the node; any number for rows that the node does not hold now.

        `ordered` says that the rows are in order.
        """
        if self._store.single:
            return ones(len(keys))[0]
        before, self._asked = self._asked, self._asked + len(keys)
        rows = len(self._store)
        if before <= rows // LONG_LISTING < self._asked:
            self._several = self._store.several(rows // SELDOM_SEVERAL)
        same = self._places == list(range(keys.shape[1]))
        if not same:
            keys = keys[:, self._places]
        keys = np.ascontiguousarray(keys, np.int64)
        if self._several is None:
            return self._store.counts_of(keys)
        # The leaf has every row that the node has: those that are not among the few are there once.
        few = self._between(keys) if ordered and same and len(keys) else None
        if few is not None and not len(few.counts):
            return ones(len(keys))[0]
        counts = np.ones(len(keys), np.int64)
        if few is not None:
            places = places_of(CountedRows(keys, counts, counts[:0]), few.keys)
            counts[places[places >= 0]] = few.counts[places >= 0]
            return counts
        places = places_of(self._several, keys)
        there = places >= 0
        if there.any():
            counts[there] = self._several.counts[places[there]]
        return counts

    def _between(self, keys: np.ndarray) -> CountedRows:
        """The rows that are there several times, from the first to the last of some rows in order."""
        assert self._several is not None
        low, high = first_from(self._several.keys, keys[[0, -1]], keys.shape[1]).tolist()
        return CountedRows(*(values[low : high + 1] for values in self._several))

    def run(self, run: CountedRows, ranges: np.ndarray, size: int) -> CountedRows:
        """A run of the node with the leaf's multiplicities, in ranges of `size` rows in all."""
        low, high = int(ranges[:, 0].min()), int(ranges[:, 1].max())
        counts, first, last = self._known.get(id(run.keys), (np.empty(0, np.int64), 0, 0))
        if not len(counts):
            counts = np.empty(len(run.counts), np.int64)
        if high - low > 2 * size:
            places = np.empty((2, size), np.int64)
            cpu_list.spread(ranges, places[0], places[1])
            counts[places[1]] = self.of(run.keys[places[1]])
            first = last = 0
        elif low < first or high > last:
            # Rows that ask are in order, so most have been asked for just before.
            begin = max(low, last) if first <= low <= last else low
            counts[begin:high] = self.of(run.keys[begin:high], ordered=True)
            first, last = first if begin > low else low, high
        self._known[id(run.keys)] = counts, first, last
        return CountedRows(run.keys, counts, run.sums[:0])


def expanded(
    whole: StackedAnswers, names: Sequence[str], run: CountedRows, found: AskedRows, counted: bool
) -> ListedAnswers:
    """Rows of ranges, whose columns have names (or none), beside the rows that ask for them."""
    assert found.ranges is not None
    piece = whole.piece
    single = piece.single and not counted
    held = whole.held(not single)
    new = [name for name in names if name and name not in piece.columns]
    own = np.array([names.index(name) for name in new], np.int64)
    made = buffer((len(new) + len(held)) * found.size).reshape(-1, found.size)
    cpu_list.expand(found.ranges, found.first, held, run, own, counted, made)
    columns = dict(zip([*new, *piece.columns], made))
    if single:
        return ListedAnswers(columns, *ones(found.size), single, made)
    after = before = made[-1]
    if piece.before is not piece.after:
        before = buffer(found.size)
        past = piece.before[None, :].copy()
        cpu_list.expand(found.ranges, found.first, past, run, own[:0], counted, before[None, :])
    return ListedAnswers(columns, before, after, block=made)


def ones(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Multiplicities of answers that are there once, before and after: they take no memory."""
    ones = _ONES[:rows] if rows <= len(_ONES) else np.ndarray(rows, np.int64, _ONE, 0, (0,))
    return ones, ones


def all_once(counts: np.ndarray) -> bool:
    """Whether all multiplicities are 1."""
    return bool(counts.strides == (0,) and len(counts) and counts[0] == 1) or bool((counts == 1).all())


def buffer(rows: int) -> np.ndarray:
    """An int64 array in memory that Arrow keeps and reuses."""
    return np.frombuffer(pa.allocate_buffer(8 * rows), np.int64)


def variables_of_rows(place: ViewNode, keys: np.ndarray) -> dict[str, np.ndarray]:
    columns = columns_of(place, keys)
    return {name: values for name, values in columns.items() if name in place.variables}
