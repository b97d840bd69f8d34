"""How a batch of inserts and deletes changes the nodes of the tree: `climbed` (Algorithm 2). The rows of
every node are then the reduct of Definition 6.

Nothing is changed before all changes are known, so a batch that fails leaves everything as it was. A change
tells for each row how much its multiplicity grows. It also contains rows whose multiplicity stays although
rows below them have changed, so that a listing of the batch's changes finds all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cer_gpu.engine.views.layout import SiblingJoin, ViewLayout, ViewNode
from cer_gpu.engine.views.levels import (
    Levels,
    chosen,
    collapsed,
    first_from,
    product,
    rows_of,
    too_many,
    united,
)
from cer_gpu.engine.views.node_lookup import columns_of, mixed, pairs, probe_guard, probe_other, stacked
from cer_gpu.engine.views.runs import add_totals
from cer_gpu.engine.views.terms import Columns
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.views import cpu_climb
from cer_gpu.kernels.views.contract import CountedRows

LEAST = 1 << 13
"""The least number of changed rows that a thread joins: each takes several searches."""

SLICES = 2
"""How many slices there are for a thread: one may join many more rows than another."""


class Change(NamedTuple):
    """What a batch changes in a node.

    Attributes
    ----------
    keys : ndarray of int64, shape (m, width)
        Different rows, in order.
    amounts : ndarray of int64, shape (m,)
        How much the multiplicity of each grows; 0 if only rows below it changed.
    """

    keys: np.ndarray
    amounts: np.ndarray

    @property
    def rows(self) -> CountedRows:
        """The change as rows whose amounts can be summed."""
        return rows_of(self.keys, self.amounts)


def together(found: Sequence[Change]) -> Change:
    """The sum of changes, in order."""
    if len(found) == 1:
        return found[0]
    keys = np.concatenate([one.keys for one in found])
    return Change(*collapsed(keys, np.concatenate([one.amounts for one in found])))


def climbed(
    layout: ViewLayout, stores: Sequence[Levels], leaves: Mapping[int, Change]
) -> list[Change | None]:
    """The change of every node; None where nothing changes.

    Parameters
    ----------
    layout : ViewLayout
    stores : sequence of Levels
        The rows of the nodes before the batch; they are not changed.
    leaves : mapping of int to Change
        The changes of the leaves, by their atoms.
    """
    found: list[Change | None] = []
    for place in layout.places:
        if place.atom is not None:
            change = leaves.get(place.atom)
        elif place.joined is None:
            change = _projected(layout, place, found)
        else:
            change = _joined(layout, place, place.joined, stores, found)
        found.append(change if change is not None and len(change.amounts) else None)
    return found


def change_of(layout: ViewLayout, place: ViewNode, columns: Columns, amounts: np.ndarray) -> Change:
    """Rows over variables as a change of a node: its columns, in order, equal rows once."""
    rows = len(amounts)
    if place.computed:
        made = {name: layout.values(side, columns, rows) for name, side in place.computed}
        columns = {**columns, **made}
    return Change(*collapsed(stacked(columns, place.columns, rows), amounts))


def _projected(layout: ViewLayout, place: ViewNode, found: Sequence[Change | None]) -> Change | None:
    below = found[place.child] if place.child is not None else None
    if below is None or place.child is None:
        return None
    return change_of(layout, place, columns_of(layout.places[place.child], below.keys), below.amounts)


def _joined(
    layout: ViewLayout,
    place: ViewNode,
    join: SiblingJoin,
    stores: Sequence[Levels],
    found: Sequence[Change | None],
) -> Change | None:
    """The guard's change joined with the other child as it will be, and the guard as it was with the other
    child's change."""
    of_guard, of_other = found[join.guard], found[join.other]
    changed = None if of_other is None else of_other.rows
    runs = JoinedRuns([*stores[join.other].runs, changed], stores[join.guard].runs)

    def joined(one: ChangedSlice) -> Change | None:
        parts = [] if one.guard is None else _with_other(layout, place, join, one.guard, runs.other)
        for run in runs.guard if one.other is not None else ():
            assert one.other is not None
            parts += _with_guard(layout, place, join, run, one.other)
        return _as_one(parts, 1 if len(slices) > 1 else Workers().threads)

    slices = _slices(join, of_guard, changed, runs)
    made = [joined(slices[0])] if len(slices) == 1 else Workers().map("updating", joined, slices)
    parts = [part for part in made if part is not None]
    if join.aligned and len(place.columns) >= len(join.shared) > 0:
        return _in_order(parts)
    return _as_one(parts, Workers().threads)


class JoinedRuns(NamedTuple):
    """What the changed rows of two children join.

    Attributes
    ----------
    other : sequence of CountedRows or None
        The other child's rows as they will be.
    guard : sequence of CountedRows
        The guard's rows as they were.
    """

    other: Sequence[CountedRows | None]
    guard: Sequence[CountedRows]


class ChangedSlice(NamedTuple):
    """Changed rows of both children that a thread joins: those of some values of the shared variables."""

    guard: Change | None
    other: CountedRows | None


def _slices(
    join: SiblingJoin, of_guard: Change | None, changed: CountedRows | None, runs: JoinedRuns
) -> list[ChangedSlice]:
    """The changed rows, in order, cut where the values of the shared variables change."""
    whole = [ChangedSlice(of_guard, changed)]
    both = [part for part in (of_guard, changed) if part is not None]
    if not both or join.rest:
        return whole
    keys = max((part.keys for part in both), key=len)
    threads = min(Workers().threads, len(keys) // LEAST)
    if threads < 2:
        return whole
    if not join.shared:
        # The other child's rows are of one group, which is not cut.
        if of_guard is None:
            return whole
        cuts = np.arange(threads + 1) * len(of_guard.amounts) // threads
        parts = [Change(of_guard.keys[a:b], of_guard.amounts[a:b]) for a, b in pairwise(cuts.tolist())]
        return [ChangedSlice(part, changed if not number else None) for number, part in enumerate(parts)]
    many = SLICES * threads
    probes = keys.take(np.arange(1, many) * len(keys) // many, axis=0)

    def cut(keys: np.ndarray, counts: np.ndarray) -> list[Change | None]:
        ends = [0, *first_from(keys, probes, len(join.shared)).tolist(), len(keys)]
        return [Change(keys[a:b], counts[a:b]) if b > a else None for a, b in pairwise(ends)]

    none: list[Change | None] = [None] * many
    guards = none if of_guard is None else cut(*of_guard)
    others = none if changed is None else cut(changed.keys, changed.counts)
    return [
        ChangedSlice(one, None if other is None else rows_of(other.keys, other.amounts, summed=False))
        for one, other in zip(guards, others)
        if one is not None or other is not None
    ]


def _as_one(parts: Sequence[Change], threads: int) -> Change | None:
    """The sum of changes, made by some threads."""
    parts = sorted((part for part in parts if len(part.amounts)), key=lambda part: len(part.amounts))
    while len(parts) > 1:
        one, other, *parts = parts
        both = united(rows_of(*one, summed=False), rows_of(*other, summed=False), threads)
        parts = sorted([Change(*both), *parts], key=lambda part: len(part.amounts))
    return parts[0] if parts else None


def _in_order(parts: Sequence[Change]) -> Change | None:
    """Changes of which each comes after the one before."""
    if len(parts) < 2:
        return parts[0] if parts else None
    ends = np.cumsum([len(part.amounts) for part in parts]).tolist()
    keys, amounts = np.empty((ends[-1], parts[0].keys.shape[1]), np.int64), np.empty(ends[-1], np.int64)

    def copy(number: int) -> None:
        rows = slice(ends[number - 1] if number else 0, ends[number])
        keys[rows], amounts[rows] = parts[number]

    Workers().map("updating", copy, range(len(parts)))
    return Change(keys, amounts)


def _with_other(
    layout: ViewLayout,
    place: ViewNode,
    join: SiblingJoin,
    change: Change,
    runs: Sequence[CountedRows | None],
) -> list[Change]:
    """The changed rows of the guard with the other child's rows."""
    rows = len(change.amounts)
    if join.rest:
        guard, other = layout.places[join.guard], layout.places[join.other]
        columns = columns_of(guard, change.keys)
        probe = probe_other(layout, join, columns, rows)
        parts = []
        for asking, keys, counts in pairs(probe, [run for run in runs if run is not None]):
            mine = {name: values[asking] for name, values in columns.items()}
            holds = mixed(layout, join, mine, columns_of(other, keys), len(counts))
            some = {name: values[holds] for name, values in mine.items()}
            amounts = product(change.amounts[asking[holds]], counts[holds])
            parts.append(change_of(layout, place, some, amounts))
        return parts
    sums, touched = np.zeros(rows, np.int64), np.zeros(rows, np.uint8)
    for run in runs:
        if run is not None:
            add_totals(run, change.keys, len(join.shared), join.tests, sums, touched)
    there = touched.view(bool)
    if not there.any():
        return []
    keys, amounts = chosen(change.keys, product(change.amounts, sums), there)
    return [_over(layout, place, join, keys, amounts)]


def _over(
    layout: ViewLayout, place: ViewNode, join: SiblingJoin, keys: np.ndarray, amounts: np.ndarray
) -> Change:
    """Rows of the guard, in order, as a change of the node above."""
    if join.aligned and len(place.columns) == keys.shape[1]:
        return Change(np.ascontiguousarray(keys), amounts)
    return change_of(layout, place, columns_of(layout.places[join.guard], keys), amounts)


def _with_guard(
    layout: ViewLayout, place: ViewNode, join: SiblingJoin, run: CountedRows, changed: CountedRows
) -> list[Change]:
    """The rows of the guard that some changed row of the other child joins, each once."""
    if join.rest:
        return _pair_by_pair(layout, place, join, run, changed)
    width = len(place.columns) if join.aligned else len(layout.places[join.guard].columns)
    ranges = np.empty((len(changed.counts), 4), np.int64)
    many = cpu_climb.reach(run.keys, changed.keys, len(join.shared), join.turned, ranges)
    if not many:
        return []
    ranges = ranges[:many]
    most = int((ranges[:, 1] - ranges[:, 0]).sum())
    keys, amounts = np.empty((most, width), np.int64), np.empty(most, np.int64)
    scratch = np.empty((len(join.keys), 2), np.int64)
    tests = len(join.shared), join.tests, join.turned
    made = int(cpu_climb.affected(run, changed, *tests, ranges, scratch, keys, amounts))
    if made < 0:
        raise too_many()
    return [_over(layout, place, join, keys[:made], amounts[:made])]


def _pair_by_pair(
    layout: ViewLayout, place: ViewNode, join: SiblingJoin, run: CountedRows, changed: CountedRows
) -> list[Change]:
    guard, other = layout.places[join.guard], layout.places[join.other]
    columns = columns_of(other, changed.keys)
    probe = probe_guard(layout, join, columns, len(changed.counts))
    parts = []
    for asking, keys, counts in pairs(probe, [run]):
        mine = columns_of(guard, keys)
        theirs = {name: values[asking] for name, values in columns.items()}
        holds = mixed(layout, join, mine, theirs, len(counts))
        some = {name: values[holds] for name, values in mine.items()}
        amounts = product(counts[holds], changed.counts[asking][holds])
        parts.append(change_of(layout, place, some, amounts))
    return parts
