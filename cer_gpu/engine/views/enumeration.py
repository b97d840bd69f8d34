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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial

import numpy as np

from cer_gpu.engine.views.answer_columns import (
    GuardCounts,
    ListedAnswers,
    ListedState,
    StackedAnswers,
    all_once,
    expanded,
    ones,
    variables_of_rows,
)
from cer_gpu.engine.views.layout import SiblingJoin, ViewLayout, ViewNode
from cer_gpu.engine.views.levels import Levels, collapsed, product
from cer_gpu.engine.views.node_lookup import (
    AskedRows,
    Probe,
    found_rows,
    mixed,
    probe_below,
    probe_other,
    slices_of,
)
from cer_gpu.engine.views.runs import wide
from cer_gpu.engine.views.subtrees import SubtreeTables
from cer_gpu.kernels.views import cpu_search
from cer_gpu.kernels.views.contract import CountedRows

FEWER = 8
"""How many times fewer rows of the root are read first, and then twice as many each time: the first answers
may be all that is asked for."""


class Mode(Enum):
    """Which rows of a node are listed."""

    HELD = "those that it holds"
    CHANGED = "those that the last batch changed"
    SAME = "those that it holds; in the frontier, those that the last batch did not change"
    ALL = "both"


def answers(state: ListedState, most: int) -> Iterator[ListedAnswers]:
    """All answers over the variables of the connex set, each once, at most `most` at a time."""
    root = len(state.layout.places) - 1
    yield from _listed(state, {root: Mode.HELD}, most)


def changes(state: ListedState, most: int) -> Iterator[ListedAnswers]:
    """The answers whose multiplicity the last batch changed, each once, at most `most` at a time."""
    for modes in _ways(state.layout):
        yield from differing(_listed(state, modes, most))


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
    yield from pieces if place.last else _descended(state, pieces, root, modes, most, guards)


def _descended(
    state: ListedState,
    pieces: Iterator[ListedAnswers],
    number: int,
    modes: dict[int, Mode],
    most: int,
    guards: Mapping[int, GuardCounts],
) -> Iterator[ListedAnswers]:
    """The pieces with the rows of all nodes below one."""
    waiting = [number]
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
            if modes[child] is Mode.HELD and not state.layout.places[child].last:
                pieces = _with_subtree(state, pieces, (above, child), most, guards)
                continue
            pieces = _with_child(state, pieces, (above, child), modes[child], most, guards.get(child))
            if not state.layout.places[child].last:
                waiting.append(child)
    yield from pieces


def _guards(state: ListedState) -> dict[int, GuardCounts]:
    """For nodes above a leaf with no other variables, its multiplicities."""
    found = {}
    for number, place in enumerate(state.layout.places):
        if place.joined is None or not place.listed or place.last:
            continue
        guard = state.layout.places[place.joined.guard]
        same = guard.last and guard.variables <= place.variables and not guard.computed
        if same:
            found[number] = GuardCounts(state, number, place.joined.guard)
    return found


def _roots(
    state: ListedState, root: int, mode: Mode, most: int, guard: GuardCounts | None
) -> Iterator[ListedAnswers]:
    place = state.layout.places[root]
    for run, changed in _runs(state, root, mode):
        low, rows = 0, max(1, most // FEWER)
        while low < len(run.counts):
            state.check()
            keys, counts = wide(run.keys[low : low + rows]), run.counts[low : low + rows]
            there = None if changed is not None or state.stores[root].whole else counts != 0
            if _leaves_out(place, mode, changed is None):
                same = _unchanged(state, root, keys)
                there = same if there is None else there & same
            single = not place.last or (changed is None and state.stores[root].single)
            if guard is not None:
                before = after = guard.of(keys, ordered=True)
            elif not place.last:
                before, after = ones(len(counts))
            elif changed is None:
                before = after = wide(counts)
            else:
                before, after = (values[low : low + len(counts)] for values in changed)
            if there is not None and not there.all():
                keys, kept = keys[there], after[there]
                before, after = (kept if before is after else before[there]), kept
            if guard is not None:
                single = all_once(after)
            if len(keys):
                yield ListedAnswers(variables_of_rows(place, keys), before, after, single)
            low, rows = low + rows, min(2 * rows, most)


def _with_child(
    state: ListedState,
    pieces: Iterator[ListedAnswers],
    edge: tuple[int, int],
    mode: Mode,
    most: int,
    guard: GuardCounts | None,
) -> Iterator[ListedAnswers]:
    """The pieces with the rows of one more node, a child of one that they have."""
    child, join, store = state.layout.places[edge[1]], _join_of(state, edge), state.stores[edge[1]]
    for piece in pieces:
        state.check()
        probe = _probe(state, child, join, piece)
        plain = (join is None or not join.rest) and store.whole
        whole = StackedAnswers(piece)
        for run, changed in _runs(state, edge[1], mode):
            held = plain and changed is None and not _leaves_out(child, mode, True)
            asked = found_rows(probe, run, most)
            if held:
                for found in asked:
                    state.check()
                    yield _beside(whole, child, store, run, guard, found)
                continue
            for found in asked:
                state.check()
                made = _chosen(state, piece, (join, edge[1]), mode, (run, changed), found, guard)
                if len(made.before):
                    yield made


def _with_subtree(
    state: ListedState,
    pieces: Iterator[ListedAnswers],
    edge: tuple[int, int],
    most: int,
    guards: Mapping[int, GuardCounts],
) -> Iterator[ListedAnswers]:
    """The pieces with the rows of a child and of all nodes below it.

    What lies below the rows that are asked for is listed first, as a table, where each of them is asked for
    more than once: a row that asks then has a range of the table, which is copied as a whole.
    """
    child, join, store = state.layout.places[edge[1]], _join_of(state, edge), state.stores[edge[1]]
    guard = guards.get(edge[1])
    plain = (join is None or not join.rest) and store.whole

    def one_by_one(found: Iterator[ListedAnswers]) -> Iterator[ListedAnswers]:
        return _descended(state, found, edge[1], {edge[1]: Mode.HELD}, most, guards)

    tables = SubtreeTables(child, guard, most, one_by_one)
    for piece in pieces:
        state.check()
        probe = _probe(state, child, join, piece)
        if not plain or not probe.by_ranges or not tables.used:
            yield from one_by_one(_with_child(state, iter([piece]), edge, Mode.HELD, most, guard))
            continue
        whole = StackedAnswers(piece)
        for run in store.runs:
            ranges = probe.ranges(run)
            first = 0
            while first < len(piece.before):
                part = slice(first, first + tables.asking)
                table = tables.of(run, ranges[part], piece.columns)
                if table is None:
                    beside = partial(_beside, whole, child, store, run, guard)
                    yield from one_by_one(map(beside, slices_of(ranges[part], most, first)))
                else:
                    for found in slices_of(table.ranges, most, first):
                        state.check()
                        yield expanded(whole, table.names, table.rows, found, table.counted)
                first += len(ranges[part])


def _join_of(state: ListedState, edge: tuple[int, int]) -> SiblingJoin | None:
    """How a child joins its sibling, if it is not the guard of the node above."""
    join = state.layout.places[edge[0]].joined
    return join if join is not None and join.other == edge[1] else None


def _probe(state: ListedState, child: ViewNode, join: SiblingJoin | None, piece: ListedAnswers) -> Probe:
    """What the answers of a piece ask of a child of one of their nodes."""
    if join is not None:
        return probe_other(state.layout, join, piece.columns, len(piece.before))
    return probe_below(state.layout, child, piece.columns, len(piece.before))


def _beside(
    whole: StackedAnswers,
    child: ViewNode,
    store: Levels,
    run: CountedRows,
    guard: GuardCounts | None,
    found: AskedRows,
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
                columns[name] = wide(keys[places, number])
        times: np.ndarray = np.ones(1, np.int64)
        if counted and not (store.single and guard is None):
            times = wide(run.counts[places]) if guard is None else guard.of(keys[places])
        if piece.single and (times == 1).all():
            return ListedAnswers(columns, *ones(len(asking)), True)
        after = piece.after[asking] * times
        before = after if piece.before is piece.after else piece.before[asking] * times
        return ListedAnswers(columns, before, after)
    if guard is not None:
        run = guard.run(run, found.ranges, found.size)
    counted = counted and not _each_once(run, store, found, guard)
    names = tuple(name if name in child.variables else "" for name in child.columns)
    return expanded(whole, names, run, found, counted)


def _each_once(run: CountedRows, store: Levels, found: AskedRows, guard: GuardCounts | None) -> bool:
    """Whether each row that is found is known to be there once."""
    if guard is None and store.single:
        return True
    if found.ranges is None:
        return False
    low, high = int(found.ranges[:, 0].min()), int(found.ranges[:, 1].max())
    return high - low <= found.size and bool((run.counts[low:high] == 1).all())


def _chosen(
    state: ListedState,
    piece: ListedAnswers,
    edge: tuple[SiblingJoin | None, int],
    mode: Mode,
    held: tuple[CountedRows, tuple[np.ndarray, np.ndarray] | None],
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
    counts = wide(run.counts[places])
    if changed is None and not counts.all():
        there = counts != 0
        asking, places, counts = asking[there], places[there], counts[there]
    keys = wide(run.keys[places])
    columns = {name: values[asking] for name, values in piece.columns.items()}
    own = variables_of_rows(child, keys)
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
    made = ListedAnswers(columns, before, after)
    return made if holds is None else made.some(holds)


def _runs(
    state: ListedState, number: int, mode: Mode
) -> Iterator[tuple[CountedRows, tuple[np.ndarray, np.ndarray] | None]]:
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


def _unchanged(state: ListedState, number: int, keys: np.ndarray) -> np.ndarray:
    """Whether the last batch left rows as they were."""
    change = state.changes[number]
    if change is None:
        return np.ones(len(keys), bool)
    places = np.empty(len(keys), np.int64)
    cpu_search.find(change.keys, np.ascontiguousarray(keys), places)
    return places < 0


def _only(place: ViewNode) -> int:
    if place.child is None:
        raise ValueError("a leaf has no child")
    return place.child


def differing(pieces: Iterable[ListedAnswers]) -> Iterator[ListedAnswers]:
    """The answers whose multiplicities differ."""
    for piece in pieces:
        differs = piece.before != piece.after
        if differs.any():
            yield piece.some(differs)


def merged(names: Sequence[str], before: Levels, after: Levels, most: int) -> Iterator[ListedAnswers]:
    """The rows of two multisets, those whose multiplicities differ or, where both are one, all."""
    old_keys, old = before.ordered()
    new_keys, new = after.ordered()
    keys, _ = collapsed(np.concatenate([old_keys, new_keys]), np.concatenate([old, new]))
    was, is_now = before.counts_of(keys), after.counts_of(keys)
    for low in range(0, len(keys), most):
        part = keys[low : low + most]
        columns = {name: part[:, number] for number, name in enumerate(names)}
        yield ListedAnswers(columns, was[low : low + most], is_now[low : low + most])
