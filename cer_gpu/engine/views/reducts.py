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

from cer_gpu.engine.views.joining import columns_of, mixed, pairs, probe_guard, probe_other, stacked
from cer_gpu.engine.views.layout import SiblingJoin, ViewLayout, ViewNode
from cer_gpu.engine.views.levels import Levels, collapsed, product, rows_of, too_many, united
from cer_gpu.engine.views.runs import Run, add_totals
from cer_gpu.engine.views.terms import Columns
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.views import cpu_climb
from cer_gpu.kernels.views.contract import CountedRows

LEAST = 1 << 15
"""The least number of rows that a thread checks."""

LEAST_ASKING = 1 << 13
"""The least number of rows for which a thread sums what joins them: each takes several searches."""


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
    return Change(*collapsed(stacked(columns, place.columns, rows), amounts, layout.device))


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
    parts: list[Change] = []
    changed = None if of_other is None else of_other.rows
    if of_guard is not None:
        parts += _with_other(layout, place, join, of_guard, [*stores[join.other].runs, changed])
    if changed is not None:
        for run in stores[join.guard].runs:
            parts += _with_guard(layout, place, join, run, changed)
    parts = sorted((part for part in parts if len(part.amounts)), key=lambda part: len(part.amounts))
    while len(parts) > 1:
        one, other, *parts = parts
        both = united(rows_of(*one, summed=False), rows_of(*other, summed=False))
        parts = sorted([Change(*both), *parts], key=lambda part: len(part.amounts))
    return parts[0] if parts else None


def _with_other(
    layout: ViewLayout,
    place: ViewNode,
    join: SiblingJoin,
    change: Change,
    runs: Sequence[Run | None],
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

    def summed(part: slice) -> None:
        for run in runs:
            if run is not None:
                asking = change.keys[part]
                add_totals(run, asking, len(join.shared), join.tests, sums[part], touched[part])

    threads = min(Workers().threads, max(1, rows // LEAST_ASKING))
    cuts = [rows * number // threads for number in range(threads + 1)]
    Workers().map("updating", summed, [slice(*pair) for pair in pairwise(cuts)])
    there = touched.view(bool)
    if not there.any():
        return []
    keys, amounts = (
        (change.keys, change.amounts) if there.all() else (change.keys[there], change.amounts[there])
    )
    amounts = product(amounts, sums if there.all() else sums[there])
    return [_over(layout, place, join, keys, amounts)]


def _over(
    layout: ViewLayout, place: ViewNode, join: SiblingJoin, keys: np.ndarray, amounts: np.ndarray
) -> Change:
    """Rows of the guard, in order, as a change of the node above."""
    if join.aligned and len(place.columns) == keys.shape[1]:
        return Change(np.ascontiguousarray(keys), amounts)
    return change_of(layout, place, columns_of(layout.places[join.guard], keys), amounts)


def _with_guard(
    layout: ViewLayout, place: ViewNode, join: SiblingJoin, run: Run, changed: CountedRows
) -> list[Change]:
    """The rows of the guard that some changed row of the other child joins, each once."""
    if join.rest:
        return _pair_by_pair(layout, place, join, run, changed)
    width = len(place.columns) if join.aligned else len(layout.places[join.guard].columns)
    if not isinstance(run, CountedRows):
        found = run.affected(changed, len(join.shared), join.tests, join.turned, width)
        if found is None:
            raise too_many()
        return [_over(layout, place, join, *collapsed(*found))]
    ranges = np.empty((len(changed.counts), 4), np.int64)
    many = cpu_climb.reach(run.keys, changed.keys, len(join.shared), join.turned, ranges)
    if not many:
        return []
    ranges = ranges[:many]

    slices = _shared_out(ranges)
    sizes = [int((one[:, 1] - one[:, 0]).sum()) for one in slices]
    starts = [0, *np.cumsum(sizes).tolist()]
    keys, amounts = np.empty((starts[-1], width), np.int64), np.empty(starts[-1], np.int64)

    def written(number: int) -> int:
        begin, end = starts[number], starts[number + 1]
        scratch = np.empty((len(join.keys), 2), np.int64)
        tests = len(join.shared), join.tests, join.turned
        arguments = (slices[number], scratch, keys[begin:end], amounts[begin:end])
        return int(cpu_climb.affected(run, changed, *tests, *arguments))

    made = [written(0)] if len(slices) == 1 else Workers().map("updating", written, range(len(slices)))
    if min(made) < 0:
        raise too_many()
    if not join.aligned:

        def over(number: int) -> Change:
            part = slice(starts[number], starts[number] + made[number])
            columns = columns_of(layout.places[join.guard], keys[part])
            return change_of(layout, place, columns, amounts[part])

        return Workers().map("updating", over, range(len(slices)))
    # Slices come in order: each is moved to where the one before it ends.
    size = made[0]
    for begin, rows in zip(starts[1:], made[1:]):
        end = begin + rows
        if size and rows and (keys[size - 1] == keys[begin]).all():
            # Two groups may have one row of the node.
            amounts[size - 1] += amounts[begin]
            begin += 1
        if begin > size:
            keys[size : size + end - begin] = keys[begin:end]
            amounts[size : size + end - begin] = amounts[begin:end]
        size += end - begin
    return [Change(keys[:size], amounts[:size])]


def _shared_out(ranges: np.ndarray) -> list[np.ndarray]:
    """Groups in slices for threads, of about as many rows each."""
    ends = np.cumsum(ranges[:, 1] - ranges[:, 0])
    threads = min(Workers().threads, max(1, int(ends[-1]) // LEAST))
    if threads < 2:
        return [ranges]
    cuts = np.searchsorted(ends, ends[-1] * np.arange(1, threads) // threads)
    return [part for part in np.split(ranges, cuts) if len(part)]


def _pair_by_pair(
    layout: ViewLayout, place: ViewNode, join: SiblingJoin, run: Run, changed: CountedRows
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
