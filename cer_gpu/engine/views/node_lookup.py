"""Looks up, for the rows of one node, the rows of another node that join them, in slices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cer_gpu.engine.views.layout import SiblingJoin, ViewLayout, ViewNode
from cer_gpu.engine.views.runs import pairs_of, ranges_asked, wide
from cer_gpu.engine.views.terms import Columns, ComparedSide
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.views import cpu_list
from cer_gpu.kernels.views.contract import OPS, CountedRows, RowTests
from cer_gpu.language.signs import CONVERSE

PAIRS = 1 << 18
"""How many pairs of rows are compared at once."""

NO_TESTS = RowTests(*(np.empty(0, np.int64) for _ in range(3)))


@dataclass(frozen=True, slots=True)
class Probe:
    """The question of each of m rows to another node: which rows to join.

    Attributes
    ----------
    asking : ndarray of int64, shape (m, prefix + tests)
        The values with which the rows asked for begin, then the values that are compared.
    prefix : int
    tests : RowTests
        The tests of `asking`.
    first : str or None
        The operator of the first test, `asking[i] OP row`; None if there is none, or if it selects no range.
    """

    asking: np.ndarray
    prefix: int
    tests: RowTests
    first: str | None

    @property
    def by_ranges(self) -> bool:
        """Whether all rows that a row asks for are neighbours."""
        return len(self.tests.ops) == (self.first is not None)

    def ranges(self, run: CountedRows) -> np.ndarray:
        """The rows of a run that may be asked for, by the first test: int64 [m, 2]."""
        op = -1 if self.first is None else OPS.index(self.first)
        return ranges_asked(run, self.asking, self.prefix, op)


def columns_of(place: ViewNode, keys: np.ndarray) -> Columns:
    """The columns of rows of a node, by name."""
    return {name: keys[:, number] for number, name in enumerate(place.columns)}


def stacked(columns: Columns, names: Sequence[str], rows: int) -> np.ndarray:
    """Some columns side by side: int64 [rows, names]."""
    return _side_by_side([columns[name] for name in names], rows)


def _side_by_side(columns: Sequence[np.ndarray], rows: int) -> np.ndarray:
    """Columns as an array int64 [rows, columns]; the one that they are taken from, where that is the same."""
    whole = columns[0].base if columns else None
    shape, kind = (rows, len(columns)), np.int64
    if isinstance(whole, np.ndarray) and whole.shape == shape and whole.dtype == kind:
        begin = whole.ctypes.data
        places = [(one.ctypes.data - begin, one.strides) for one in columns]
        apart = [(8 * number, whole.strides[:1]) for number in range(len(columns))]
        if whole.flags.c_contiguous and places == apart:
            return whole
    found = np.empty((rows, len(columns)), np.int64)
    for number, values in enumerate(columns):
        found[:, number] = values
    return found


def probe_other(layout: ViewLayout, join: SiblingJoin, columns: Columns, rows: int) -> Probe:
    """What rows of the guard, or of the node above, ask of the other child."""
    sides = [one.left for one in join.keys]
    return _probe(layout, join, columns, rows, sides, [one.op for one in join.keys], join.tests)


def probe_guard(layout: ViewLayout, join: SiblingJoin, columns: Columns, rows: int) -> Probe:
    """What rows of the other child ask of the guard."""
    sides = [one.right for one in join.keys]
    ops = [CONVERSE[one.op] for one in join.keys]
    return _probe(layout, join, columns, rows, sides, ops, join.turned)


def _probe(
    layout: ViewLayout,
    join: SiblingJoin,
    columns: Columns,
    rows: int,
    sides: Sequence[ComparedSide],
    ops: Sequence[str],
    tests: RowTests,
) -> Probe:
    prefix = len(join.shared)
    values = [layout.values(side, columns, rows) for side in sides]
    asking = _side_by_side([*(columns[name] for name in join.shared), *values], rows)
    places = np.arange(prefix, prefix + len(sides))
    first = ops[0] if ops and ops[0] != "!=" else None
    return Probe(asking, prefix, RowTests(tests.ops, places, tests.columns), first)


def probe_below(layout: ViewLayout, place: ViewNode, columns: Columns, rows: int) -> Probe:
    """What rows of a node ask of its guard, or of its single child: `place`."""
    known = place.columns[: place.known]
    if place.computed:
        made = {name: layout.values(side, columns, rows) for name, side in place.computed}
        columns = {**columns, **made}
    return Probe(stacked(columns, known, rows), len(known), NO_TESTS, None)


class AskedRows(NamedTuple):
    """Rows that are asked for: as ranges, or one by one.

    Attributes
    ----------
    first, last : int
        The rows that ask: rows `first` .. `last` - 1 have the ranges; one by one they are in `asking`.
    ranges : ndarray of int64, shape (last - first, 2), or None
        The rows that each asks for.
    asking, places : ndarray of int64, shape (n,), or None
        The row that asks, and the row that it asks for.
    size : int
        How many pairs there are.
    """

    first: int
    last: int
    ranges: np.ndarray | None
    asking: np.ndarray | None
    places: np.ndarray | None
    size: int

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """The row that asks, and the row that it asks for: int64 [n] each."""
        if self.asking is not None and self.places is not None:
            return self.asking, self.places
        assert self.ranges is not None
        asking, places = np.empty(self.size, np.int64), np.empty(self.size, np.int64)
        cpu_list.spread(self.ranges, asking, places)
        return asking + self.first, places


def found_rows(probe: Probe, run: CountedRows, most: int) -> Iterator[AskedRows]:
    """The rows of a run that are asked for, at most `most` at a time."""
    ranges = probe.ranges(run)
    if probe.by_ranges:
        yield from slices_of(ranges, most)
        return
    for parents, places in pairs_of(run, probe.asking, probe.prefix, probe.tests, ranges, max(1, most)):
        yield AskedRows(0, 0, None, parents, places, len(places))


def slices_of(ranges: np.ndarray, most: int, offset: int = 0) -> Iterator[AskedRows]:
    """Ranges of rows that ask, the first of which is row `offset`, cut into slices of at most `most` rows."""
    sizes = ranges[:, 1] - ranges[:, 0]
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    if total <= most:
        if total:
            yield AskedRows(offset, offset + len(ranges), ranges, None, None, total)
        return
    lows = np.arange(0, total, most)
    highs = np.minimum(lows + most, total)
    firsts, lasts = np.searchsorted(ends, [lows, highs - 1], side="right")
    for low, high, first, last in zip(*(part.tolist() for part in (lows, highs, firsts, lasts))):
        some = ranges[first : last + 1].copy()
        some[-1, 1] -= ends[last] - high
        some[0, 0] += low - (ends[first] - sizes[first])
        yield AskedRows(offset + first, offset + last + 1, some, None, None, high - low)


def pairs(
    probe: Probe, runs: Iterable[CountedRows], most: int = PAIRS
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The rows that are asked for, at most `most` at a time.

    Yields
    ------
    asking : ndarray of int64, shape (n,)
        The number of the probe's row that asks, in order for one run.
    keys : ndarray of int64, shape (n, width)
    counts : ndarray of int64, shape (n,)
        Their multiplicities: not 0.
    """
    for run in runs:
        for found in found_rows(probe, run, most):
            asking, places = found.pairs()
            counts = wide(run.counts[places])
            there = counts != 0
            if not there.all():
                asking, places, counts = asking[there], places[there], counts[there]
            yield asking, wide(run.keys[places]), counts


def mixed(
    layout: ViewLayout, join: SiblingJoin, guard: Columns, other: Columns, rows: int
) -> np.ndarray | None:
    """Whether pairs of rows satisfy the comparisons that only pairs decide; None if there are none."""
    if not join.rest:
        return None
    columns: Mapping[str, np.ndarray] = {**other, **guard}
    found = np.ones(rows, bool)
    for one in join.rest:
        found &= one.holds(columns, layout.kinds, layout.codes, rows)
    return found
