"""The rows of two nodes that join: sums of multiplicities, and pairs of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from cer_gpu.engine.views.layout import SiblingJoin, ViewLayout, ViewNode
from cer_gpu.engine.views.terms import TURNED, Columns, limits
from cer_gpu.frozen import dataclass
from cer_gpu.kernels.views import cpu
from cer_gpu.kernels.views.contract import CountedRows

PAIRS = 1 << 18
"""Pairs of rows that are looked at together."""

NO_LIMIT = 0
"""Columns of limits where only a prefix is asked for."""


@dataclass(frozen=True, slots=True)
class Probe:
    """What rows of a node are asked for, once for each of m rows.

    Attributes
    ----------
    prefixes : ndarray of int64, shape (m, p)
    limits : ndarray of int64, shape (m, 2) or (m, 0)
    """

    prefixes: np.ndarray
    limits: np.ndarray

    def ranges(self, run: CountedRows) -> np.ndarray:
        """The rows of a run that are asked for: int64 [m, 2]."""
        found = np.empty((len(self.prefixes), 2), np.int64)
        cpu.bounds(run.keys, self.prefixes, self.limits, found)
        np.maximum(found[:, 1], found[:, 0], out=found[:, 1])
        return found


def columns_of(place: ViewNode, keys: np.ndarray) -> Columns:
    """The columns of rows of a node, by name."""
    return {name: keys[:, number] for number, name in enumerate(place.columns)}


def stacked(columns: Columns, names: Sequence[str], rows: int) -> np.ndarray:
    """Some columns next to each other: int64 [rows, names]."""
    found = np.empty((rows, len(names)), np.int64)
    for number, name in enumerate(names):
        found[:, number] = columns[name]
    return found


def probe_other(layout: ViewLayout, join: SiblingJoin, columns: Columns, rows: int) -> Probe:
    """What rows of the guard, or of the node above, ask of the other child."""
    prefixes = stacked(columns, join.shared, rows)
    if join.key is None:
        return Probe(prefixes, np.empty((rows, NO_LIMIT), np.int64))
    values = layout.values(join.key.left, columns, rows)
    return Probe(prefixes, limits(TURNED[join.key.op], values))


def probe_guard(layout: ViewLayout, join: SiblingJoin, columns: Columns, rows: int) -> Probe:
    """What rows of the other child ask of the guard."""
    prefixes = stacked(columns, join.shared, rows)
    if join.key is None:
        return Probe(prefixes, np.empty((rows, NO_LIMIT), np.int64))
    values = layout.values(join.key.right, columns, rows)
    return Probe(prefixes, limits(join.key.op, values))


def probe_below(layout: ViewLayout, place: ViewNode, columns: Columns, rows: int) -> Probe:
    """What rows of a node ask of its guard, or of its single child: `place`."""
    known = place.columns[: place.known]
    if place.computed is not None:
        name = next(name for name in place.columns if name not in place.variables)
        columns = {**columns, name: layout.values(place.computed, columns, rows)}
    return Probe(stacked(columns, known, rows), np.empty((rows, NO_LIMIT), np.int64))


def pairs(
    probe: Probe, runs: Iterable[CountedRows], most: int = PAIRS
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The rows that are asked for, at most `most` at a time.

    Yields
    ------
    asking : ndarray of int64, shape (n,)
        Which of the probe's rows asks, in order for one run.
    keys : ndarray of int64, shape (n, width)
    counts : ndarray of int64, shape (n,)
        Their multiplicities: not 0.
    """
    for run in runs:
        ranges = probe.ranges(run)
        for piece in _pieces(ranges, most):
            sizes = piece[:, 1] - piece[:, 0]
            size = int(sizes.sum())
            asking, places = np.empty(size, np.int64), np.empty(size, np.int64)
            cpu.spread(piece, asking, places)
            counts = run.counts[places]
            there = counts != 0
            if not there.all():
                asking, places, counts = asking[there], places[there], counts[there]
            yield asking, run.keys[places], counts


def _pieces(ranges: np.ndarray, most: int) -> Iterator[np.ndarray]:
    """Ranges cut so that each piece has at most `most` rows; the others of a piece are empty."""
    ends = np.cumsum(ranges[:, 1] - ranges[:, 0])
    total = int(ends[-1]) if len(ends) else 0
    if total <= most:
        if total:
            yield ranges
        return
    starts = ends - (ranges[:, 1] - ranges[:, 0])
    for low in range(0, total, most):
        first = np.clip(low - starts, 0, ends - starts)
        last = np.clip(low + most - starts, 0, ends - starts)
        yield np.stack([ranges[:, 0] + first, ranges[:, 0] + last], axis=1)


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


def totals(
    layout: ViewLayout, join: SiblingJoin, columns: Columns, rows: int, runs: Sequence[CountedRows]
) -> tuple[np.ndarray, np.ndarray]:
    """For rows of the guard the multiplicities of the other child's rows that join.

    Returns
    -------
    totals : ndarray of int64, shape (rows,)
    touched : ndarray of bool, shape (rows,)
        Whether there is such a row, be it one whose multiplicity is 0.
    """
    probe = probe_other(layout, join, columns, rows)
    found = np.zeros(rows, np.int64)
    touched = np.zeros(rows, bool)
    if not join.rest:
        for run in runs:
            ranges = probe.ranges(run)
            touched |= ranges[:, 1] > ranges[:, 0]
            cpu.total(run, ranges, found)
        return found, touched
    other = layout.places[join.other]
    where = {name: number for number, name in enumerate(other.columns)}
    for run in runs:
        for piece in _pieces(probe.ranges(run), PAIRS):
            size = int((piece[:, 1] - piece[:, 0]).sum())
            asking, places = np.empty(size, np.int64), np.empty(size, np.int64)
            cpu.spread(piece, asking, places)
            theirs = {name: run.keys[places, number] for name, number in where.items()}
            mine = {name: values[asking] for name, values in columns.items()}
            holds = mixed(layout, join, mine, theirs, size)
            asking, places = asking[holds], places[holds]
            np.add.at(found, asking, run.counts[places])
            touched[asking] = True
    return found, touched
