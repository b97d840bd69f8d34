"""A batch of inserts and deletes climbs the tree: `climbed` (Algorithm 2). What every node then holds is the
reduct of Definition 6.

Nothing is changed before all changes are known, so a batch that fails leaves everything as it was. A change
says for each row how much its multiplicity grows. It also lists rows whose multiplicity stays although what
is below them has changed, so that a listing of what a batch did finds all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cer_gpu.engine.views.joining import (
    columns_of,
    mixed,
    pairs,
    probe_guard,
    stacked,
    totals,
)
from cer_gpu.engine.views.layout import SiblingJoin, ViewLayout, ViewNode
from cer_gpu.engine.views.levels import Levels, collapsed, product, rows_of
from cer_gpu.engine.views.terms import Columns
from cer_gpu.kernels.views import cpu
from cer_gpu.kernels.views.contract import CountedRows


class Change(NamedTuple):
    """What a batch does to a node.

    Attributes
    ----------
    keys : ndarray of int64, shape (m, width)
        Different rows, in order.
    amounts : ndarray of int64, shape (m,)
        How much the multiplicity of each grows; 0 where only what is below it changed.
    """

    keys: np.ndarray
    amounts: np.ndarray

    @property
    def rows(self) -> CountedRows:
        """As rows whose amounts can be summed."""
        return rows_of(self.keys, self.amounts)


def climbed(
    layout: ViewLayout, stores: Sequence[Levels], leaves: Mapping[int, Change]
) -> list[Change | None]:
    """The change of every node, None where there is none.

    Parameters
    ----------
    layout : ViewLayout
    stores : sequence of Levels
        What the nodes hold before the batch. It is not changed.
    leaves : mapping of int to Change
        By the atom.
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
    if place.computed is not None:
        name = next(name for name in place.columns if name not in place.variables)
        columns = {**columns, name: layout.values(place.computed, columns, len(amounts))}
    return Change(*collapsed(stacked(columns, place.columns, len(amounts)), amounts))


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
    guard, other = layout.places[join.guard], layout.places[join.other]
    of_guard, of_other = found[join.guard], found[join.other]
    changed = [] if of_other is None else [of_other.rows]
    parts: list[Change] = []
    if of_guard is not None:
        columns = columns_of(guard, of_guard.keys)
        rows = len(of_guard.amounts)
        sums, touched = totals(layout, join, columns, rows, [*stores[join.other].runs, *changed])
        some = {name: values[touched] for name, values in columns.items()}
        amounts = product(of_guard.amounts[touched], sums[touched])
        parts.append(change_of(layout, place, some, amounts))
    if of_other is not None and stores[join.guard].runs:
        affect = _pair_by_pair if join.rest else _range_by_range
        parts += affect(layout, place, join, (guard, stores[join.guard].runs), (other, of_other))
    parts = [part for part in parts if len(part.amounts)]
    if len(parts) < 2:
        return parts[0] if parts else None
    keys = np.concatenate([part.keys for part in parts])
    return Change(*collapsed(keys, np.concatenate([part.amounts for part in parts])))


def _range_by_range(
    layout: ViewLayout,
    place: ViewNode,
    join: SiblingJoin,
    guards: tuple[ViewNode, Sequence[CountedRows]],
    others: tuple[ViewNode, Change],
) -> list[Change]:
    """The rows of the guard that some changed row of the other child joins, each once."""
    guard, runs = guards
    other, change = others
    columns = columns_of(other, change.keys)
    probe = probe_guard(layout, join, columns, len(change.amounts))
    # One range for each group of rows with the same shared values: from the first limit to the last.
    reach = _groups(probe.prefixes, probe.limits)
    parts = []
    changed = [change.rows]
    for run in runs:
        ranges = np.empty((len(reach[0]), 2), np.int64)
        cpu.bounds(run.keys, *reach, ranges)
        np.maximum(ranges[:, 1], ranges[:, 0], out=ranges[:, 1])
        size = int((ranges[:, 1] - ranges[:, 0]).sum())
        if not size:
            continue
        asking, places = np.empty(size, np.int64), np.empty(size, np.int64)
        cpu.spread(ranges, asking, places)
        counts = run.counts[places]
        if not counts.all():
            places = places[counts != 0]
            counts = run.counts[places]
        mine = columns_of(guard, run.keys[places])
        sums, touched = totals(layout, join, mine, len(places), changed)
        some = {name: values[touched] for name, values in mine.items()}
        parts.append(change_of(layout, place, some, product(counts[touched], sums[touched])))
    return parts


def _groups(prefixes: np.ndarray, limits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each different prefix, in order, the least low and the greatest high limit."""
    if limits.shape[1]:
        there = limits[:, 0] < limits[:, 1]
        prefixes, limits = prefixes[there], limits[there]
    if len(prefixes) < 2:
        return np.ascontiguousarray(prefixes), np.ascontiguousarray(limits)
    first = np.empty(len(prefixes), bool)
    first[0] = True
    (prefixes[1:] != prefixes[:-1]).any(axis=1, out=first[1:])
    starts = np.flatnonzero(first)
    if not limits.shape[1]:
        return np.ascontiguousarray(prefixes[starts]), np.empty((len(starts), 0), np.int64)
    low = np.minimum.reduceat(limits[:, 0], starts)
    high = np.maximum.reduceat(limits[:, 1], starts)
    return np.ascontiguousarray(prefixes[starts]), np.stack([low, high], axis=1)


def _pair_by_pair(
    layout: ViewLayout,
    place: ViewNode,
    join: SiblingJoin,
    guards: tuple[ViewNode, Sequence[CountedRows]],
    others: tuple[ViewNode, Change],
) -> list[Change]:
    guard, runs = guards
    other, change = others
    columns = columns_of(other, change.keys)
    probe = probe_guard(layout, join, columns, len(change.amounts))
    parts = []
    for asking, keys, counts in pairs(probe, runs):
        mine = columns_of(guard, keys)
        theirs = {name: values[asking] for name, values in columns.items()}
        holds = mixed(layout, join, mine, theirs, len(counts))
        some = {name: values[holds] for name, values in mine.items()}
        amounts = product(counts[holds], change.amounts[asking][holds])
        parts.append(change_of(layout, place, some, amounts))
    return parts
