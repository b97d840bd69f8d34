"""The answers from the root down: all of them (Algorithm 1), or what the last batch changed.

A listing is a chain of stages, each a generator: it takes sets of answers over the nodes so far
(`ListedAnswers`), and yields sets that also have the variables of one more node. Every row of a node joins
some row of each of its children, so no work is in vain, and a set is as large as the caller wants.

The changes of a batch are listed as the union of disjoint sets. An answer is in the set of the first node, in
the order of the frontier, at which its row changed. On the path from the root to that node rows are changed
ones (`CHANGED`). To the right of the path they are any rows (`ALL`). To the left of it those of the frontier
are the unchanged ones (`SAME`), and above the frontier any rows of the nodes, because a row may have changed
below in one answer and not in another. A row that is skipped there belongs to an answer of another set, so
the time is linear in the answers.

Where all answers are listed, a leaf that has no other variables than the node above it takes no stage: its
multiplicities are looked up for rows of that node (`GuardCounts`), which many answers share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.views.joining import AskedRows, columns_of, found_rows, mixed, probe_below, probe_other
from cer_gpu.engine.views.layout import SiblingJoin, ViewLayout, ViewNode
from cer_gpu.engine.views.levels import Levels, product
from cer_gpu.engine.views.reducts import Change
from cer_gpu.engine.views.runs import Run, expand, size_of
from cer_gpu.engine.views.terms import Columns
from cer_gpu.kernels.views import cpu_list, cpu_search
from cer_gpu.kernels.views.contract import CountedRows


class Mode(Enum):
    """Which rows of a node are listed."""

    HELD = "those that it holds"
    CHANGED = "those that the last batch changed"
    SAME = "those that it holds; in the frontier, those that the last batch did not change"
    ALL = "both"


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


def answers(state: ListedState, most: int) -> Iterator[ListedAnswers]:
    """All answers over the variables of the connex set, each once, at most `most` at a time."""
    root = len(state.layout.places) - 1
    yield from _listed(state, {root: Mode.HELD}, most)


def changes(state: ListedState, most: int) -> Iterator[ListedAnswers]:
    """The answers whose multiplicity the last batch changed, each once, at most `most` at a time."""
    for modes in _ways(state.layout):
        for piece in _listed(state, modes, most):
            differs = piece.before != piece.after
            if differs.all():
                yield piece
            elif differs.any():
                columns = {name: values[differs] for name, values in piece.columns.items()}
                yield ListedAnswers(columns, piece.before[differs], piece.after[differs])


def _ways(layout: ViewLayout) -> Iterator[dict[int, Mode]]:
    """For each node of the frontier the modes on the way to it."""
    root = len(layout.places) - 1

    def ways(number: int) -> Iterator[dict[int, Mode]]:
        place = layout.places[number]
        if place.last:
            yield {number: Mode.CHANGED}
        elif place.joined is None:
            for way in ways(_only(place)):
                yield {number: Mode.CHANGED, **way}
        else:
            guard, other = place.joined.guard, place.joined.other
            for way in ways(guard):
                yield {number: Mode.CHANGED, **way, other: Mode.ALL}
            for way in ways(other):
                yield {number: Mode.CHANGED, guard: Mode.SAME, **way}

    yield from ways(root)


def _listed(state: ListedState, modes: dict[int, Mode], most: int) -> Iterator[ListedAnswers]:
    root = len(state.layout.places) - 1
    place = state.layout.places[root]
    guards = _guards(state) if modes[root] is Mode.HELD else {}
    pieces = _roots(state, root, modes[root], most, guards.get(root))
    waiting = [] if place.last else [root]
    while waiting:
        above = waiting.pop(0)
        place = state.layout.places[above]
        children = [_only(place)] if place.joined is None else [place.joined.guard, place.joined.other]
        if above in guards:
            children.remove(guards[above].guard)
        # Changed rows first, as they are few.
        children.sort(key=lambda child: modes.get(child) is not Mode.CHANGED)
        for child in children:
            if child not in modes:
                modes = {**modes, child: modes[above]}
            pieces = _with_child(state, pieces, (above, child), modes[child], most, guards.get(child))
            if not state.layout.places[child].last:
                waiting.append(child)
    yield from pieces


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

    def of(self, keys: np.ndarray) -> np.ndarray:
        """Those of some rows of the node."""
        if self._store.single:
            return _ones(len(keys))[0]
        return self._store.counts_of(keys[:, self._places])

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
            counts[begin:high] = self.of(run.keys[begin:high])
            first, last = first if begin > low else low, high
        self._known[id(run.keys)] = counts, first, last
        return CountedRows(run.keys, counts, run.sums[:0])


def _guards(state: ListedState) -> dict[int, GuardCounts]:
    """For nodes above a leaf with no other variables, where both are on the host, its multiplicities."""
    found = {}
    for number, place in enumerate(state.layout.places):
        if place.joined is None or not place.listed or place.last:
            continue
        guard = state.layout.places[place.joined.guard]
        runs = state.stores[number].runs
        same = guard.last and guard.variables <= place.variables and not guard.computed
        if same and all(isinstance(run, CountedRows) for run in runs):
            found[number] = GuardCounts(state, number, place.joined.guard)
    return found


def _roots(
    state: ListedState, root: int, mode: Mode, most: int, guard: GuardCounts | None
) -> Iterator[ListedAnswers]:
    place = state.layout.places[root]
    for run, changed in _runs(state, root, mode):
        for low in range(0, size_of(run), most):
            state.check()
            keys, counts = run.keys[low : low + most], run.counts[low : low + most]
            there = counts != 0 if changed is None else np.ones(len(counts), bool)
            if _leaves_out(place, mode, changed is None):
                there &= _unchanged(state, root, keys)
            before, after = (counts, counts) if changed is None else _both(changed, low, len(counts))
            single = not place.last or (changed is None and state.stores[root].single)
            if not place.last:
                before, after = _ones(len(counts))
            if guard is not None:
                before = after = guard.of(keys)
                single = bool((after[there] == 1).all())
            if there.any():
                columns = {name: values[there] for name, values in _variables(place, keys).items()}
                kept = after[there]
                kept_before = kept if before is after else before[there]
                yield ListedAnswers(columns, kept_before, kept, single)


def _with_child(
    state: ListedState,
    pieces: Iterator[ListedAnswers],
    edge: tuple[int, int],
    mode: Mode,
    most: int,
    guard: GuardCounts | None,
) -> Iterator[ListedAnswers]:
    """The pieces with the rows of one more node, a child of one that they have."""
    layout = state.layout
    above, child = layout.places[edge[0]], layout.places[edge[1]]
    join = above.joined
    if join is not None and join.other != edge[1]:
        join = None
    for piece in pieces:
        state.check()
        rows = len(piece.before)
        if join is not None:
            probe = probe_other(layout, join, piece.columns, rows)
        else:
            probe = probe_below(layout, child, piece.columns, rows)
        store = state.stores[edge[1]]
        plain = (join is None or not join.rest) and store.whole
        whole = StackedAnswers(piece)
        for run, changed in _runs(state, edge[1], mode):
            asked = found_rows(probe, run, most)
            if plain and changed is None and not _leaves_out(child, mode, True):
                for found in asked:
                    state.check()
                    yield _beside(whole, child, store, run, found, guard)
                continue
            for found in asked:
                state.check()
                made = _chosen(state, piece, (join, edge[1]), mode, (run, changed), found, guard)
                if len(made.before):
                    yield made


def _beside(
    whole: StackedAnswers,
    child: ViewNode,
    store: Levels,
    run: Run,
    found: AskedRows,
    guard: GuardCounts | None,
) -> ListedAnswers:
    """All the rows that are found, beside those that ask for them."""
    piece = whole.piece
    columns = {}
    counted = child.last or guard is not None
    if found.ranges is None:
        asking, places = found.pairs()
        columns = {name: values[asking] for name, values in piece.columns.items()}
        keys = run.keys
        for number, name in enumerate(child.columns):
            if name in child.variables and name not in columns:
                columns[name] = keys[places, number]
        times: np.ndarray = np.ones(1, np.int64)
        if counted and not (store.single and guard is None):
            times = run.counts[places] if guard is None else guard.of(keys[places])
        if piece.single and (times == 1).all():
            return ListedAnswers(columns, *_ones(len(asking)), True)
        after = piece.after[asking] * times
        before = after if piece.before is piece.after else piece.before[asking] * times
        return ListedAnswers(columns, before, after)
    if guard is not None and isinstance(run, CountedRows):
        run = guard.run(run, found.ranges, found.size)
    counted = counted and not _each_once(run, store, found, guard)
    single = piece.single and not counted
    held = whole.held(not single)
    new = [name for name in child.columns if name in child.variables and name not in piece.columns]
    own = np.array([child.columns.index(name) for name in new], np.int64)
    made = buffer((len(new) + len(held)) * found.size).reshape(-1, found.size)
    expand(run, found.ranges, found.first, held, own, counted, made)
    columns = dict(zip([*new, *piece.columns], made))
    if single:
        return ListedAnswers(columns, *_ones(found.size), single, made)
    after = before = made[-1]
    if piece.before is not piece.after:
        before = buffer(found.size)
        past = piece.before[None, :].copy()
        expand(run, found.ranges, found.first, past, own[:0], counted, before[None, :])
    return ListedAnswers(columns, before, after, block=made)


def _each_once(run: Run, store: Levels, found: AskedRows, guard: GuardCounts | None) -> bool:
    """Whether each row that is found is known to be there once."""
    if guard is None and store.single:
        return True
    if not isinstance(run, CountedRows) or found.ranges is None:
        return False
    low, high = int(found.ranges[:, 0].min()), int(found.ranges[:, 1].max())
    return high - low <= found.size and bool((run.counts[low:high] == 1).all())


def _ones(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Multiplicities of answers that are there once, before and after: they take no memory."""
    ones = np.broadcast_to(np.int64(1), rows)
    return ones, ones


def _chosen(
    state: ListedState,
    piece: ListedAnswers,
    edge: tuple[SiblingJoin | None, int],
    mode: Mode,
    held: tuple[Run, tuple[np.ndarray, np.ndarray] | None],
    found: AskedRows,
    guard: GuardCounts | None,
) -> ListedAnswers:
    """The rows that are found, without those that are there no more, fail a comparison or are not asked for
    by a mode."""
    layout = state.layout
    join, number = edge
    run, changed = held
    child = layout.places[number]
    asking, places = found.pairs()
    counts = run.counts[places]
    if changed is None and not counts.all():
        there = counts != 0
        asking, places, counts = asking[there], places[there], counts[there]
    keys = run.keys[places]
    columns = {name: values[asking] for name, values in piece.columns.items()}
    own = _variables(child, keys)
    holds = None if join is None else mixed(layout, join, columns, own, len(counts))
    if _leaves_out(child, mode, changed is None):
        same = _unchanged(state, number, keys)
        holds = same if holds is None else holds & same
    before, after = piece.before[asking], piece.after[asking]
    if child.last:
        old, new = (counts, counts) if changed is None else (changed[0][places], changed[1][places])
        before, after = product(before, old), product(after, new)
    elif guard is not None:
        before = after = product(after, guard.of(keys))
    columns |= {name: values for name, values in own.items() if name not in columns}
    if holds is not None and not holds.all():
        return ListedAnswers({n: v[holds] for n, v in columns.items()}, before[holds], after[holds])
    return ListedAnswers(columns, before, after)


def buffer(rows: int) -> np.ndarray:
    """An int64 array in memory that Arrow keeps and reuses."""
    return np.frombuffer(pa.allocate_buffer(8 * rows), np.int64)


def _runs(
    state: ListedState, number: int, mode: Mode
) -> Iterator[tuple[Run, tuple[np.ndarray, np.ndarray] | None]]:
    """The runs of a node that a mode asks for; with changed rows, their multiplicities before and after."""
    change = state.changes[number]
    if mode in (Mode.CHANGED, Mode.ALL) and change is not None:
        after = state.stores[number].counts_of(change.keys)
        yield CountedRows(change.keys, change.amounts, change.amounts), (after - change.amounts, after)
    if mode is not Mode.CHANGED:
        for run in state.stores[number].runs:
            yield run, None


def _leaves_out(place: ViewNode, mode: Mode, held: bool) -> bool:
    """Whether rows that a node holds are left out where the last batch changed them."""
    return (mode is Mode.SAME and place.last) or (mode is Mode.ALL and held)


def _both(changed: tuple[np.ndarray, np.ndarray], low: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    return changed[0][low : low + rows], changed[1][low : low + rows]


def _unchanged(state: ListedState, number: int, keys: np.ndarray) -> np.ndarray:
    """Whether the last batch left rows as they were."""
    change = state.changes[number]
    if change is None:
        return np.ones(len(keys), bool)
    places = np.empty(len(keys), np.int64)
    cpu_search.find(change.keys, np.ascontiguousarray(keys), places)
    return places < 0


def _variables(place: ViewNode, keys: np.ndarray) -> dict[str, np.ndarray]:
    columns = columns_of(place, keys)
    return {name: values for name, values in columns.items() if name in place.variables}


def _only(place: ViewNode) -> int:
    if place.child is None:
        raise ValueError("a leaf has no child")
    return place.child
