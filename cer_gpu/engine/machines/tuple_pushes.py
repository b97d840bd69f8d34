"""The answers that a push adds to a rule, listed by a join tree that is kept from push to push: `PushedView`.

The tree holds the events of the open window. A push deletes from it what has left the window and inserts what
is new; the answers that this adds are those that end at new events. So a push costs what it changes, and not
what the window holds. That needs values which stay the same from push to push: positions for events, and for
what is compared the numbers themselves (`ordered_numbers`). A rule that compares texts, or numbers of
different kinds, is looked up as before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.lookups import Lookups, PartialAnswers, TupleEnds
from cer_gpu.engine.machines.tuple_total import tree_of
from cer_gpu.engine.machines.tuple_views import admitted_at, tallied
from cer_gpu.engine.read.ranks import OrderedNumbers, ordered_numbers
from cer_gpu.engine.views.enumeration import changes
from cer_gpu.engine.views.trees import Input, KeptTree, statistics
from cer_gpu.engine.words import Domain
from cer_gpu.errors import LimitError
from cer_gpu.joins.theta.bags import BagStage
from cer_gpu.joins.theta.rule_query import LANE, event_name, listed_query, side_names
from cer_gpu.kernels.sorting.order import ascending
from cer_gpu.plan.tuples import TupleMachine

SMALL = 4
"""The tree is kept where the window holds at least this many times as many events as a push brings."""

CHANGED = 8
"""What it costs to change a row of a node of the tree, in partial answers of lookups."""

LEAST = 1 << 13
"""Partial answers of a push from which on a tree is made: below, lookups take a millisecond or two."""

PIECE = 1 << 16
"""Answers that are listed together."""


class WindowRows(NamedTuple):
    """The events of the window that fit an atom.

    Attributes
    ----------
    position : ndarray of int64, shape (n,)
    there : ndarray of bool, shape (n,)
        Whether the event has all values, and is a row of the tree.
    columns : mapping of str to ndarray of int64, shape (n,)
    """

    position: np.ndarray
    there: np.ndarray
    columns: Mapping[str, np.ndarray]

    def some(self, which: np.ndarray) -> WindowRows:
        """Some of them, by a mask."""
        columns = {name: values[which] for name, values in self.columns.items()}
        return WindowRows(self.position[which], self.there[which], columns)

    def input(self, sign: int) -> Input:
        """Those that are rows, as inserts or deletes."""
        rows = np.full(np.count_nonzero(self.there), sign, np.int64)
        return Input({name: values[self.there] for name, values in self.columns.items()}, rows)


class UnstableError(Exception):
    """Values that have no number which stays the same from push to push."""


class PushedView:
    """A join tree over the open window of a rule, kept from push to push.

    Parameters
    ----------
    machine : TupleMachine
    """

    def __init__(self, machine: TupleMachine) -> None:
        self._machine = machine
        self._plan = machine.lookups
        self._tree: KeptTree | None = None
        self._held: dict[int, WindowRows] = {}
        self._domains: dict[int, Domain] = {}
        self._wanted = False
        self._refused = False
        self._rate = 0.0
        self._beyond = 0.0

    def learn(self, chunk: Chunk, new: int, effort: int) -> None:
        """Note what lookups did for a push: from how many partial answers on the next one has a tree."""
        if not new:
            return
        self._rate = effort / new
        self._wanted = _small(chunk, new) and effort > LEAST and self._rate >= max(CHANGED, self._beyond)

    def added(self, chunk: Chunk, lookups: Lookups, event: np.ndarray) -> AddedAnswers | None:
        """What lists the answers that end at the new events; None where lookups are the better way.

        Parameters
        ----------
        chunk : Chunk
        lookups : Lookups
            Of its events.
        event : ndarray of int64, shape (ends,)
            The new events.
        """
        if not len(event):
            return None
        # Where this fails the tree is made again.
        tree, self._tree = self._tree, None
        if self._refused or not _small(chunk, len(event)):
            return None
        if tree is None and not self._wanted:
            return None
        try:
            tree = self._moved(tree, chunk, lookups, event)
        except (UnstableError, LimitError):
            self._refused = True
            return None
        cost = CHANGED * sum(0 if one is None else len(one.amounts) for one in tree.changes) / len(event)
        if cost > self._rate > 0:
            # Lookups did less: they are asked again, until they take twice as much as the tree did.
            self._beyond, self._wanted = 2 * cost, False
        else:
            self._tree = tree
        return AddedAnswers(tree, lookups, chunk)

    def _moved(self, tree: KeptTree | None, chunk: Chunk, lookups: Lookups, event: np.ndarray) -> KeptTree:
        """The tree over the window of a push, which has taken the new events last."""
        events = chunk.events
        fresh = np.zeros(len(events), bool)
        fresh[event] = True
        edges = np.zeros(len(events) + 1, np.int64)
        np.add.at(edges, chunk.segments.begin, 1)
        np.add.at(edges, chunk.segments.report, -1)
        old = (np.cumsum(edges[:-1]) > 0) & ~fresh
        held, self._held = self._held if tree is not None else {}, {}
        moved: dict[int, list[Input]] = {}
        new: dict[int, Input] = {}
        kept: dict[int, WindowRows] = {}
        for atom in range(lookups.atoms):
            fits = lookups.fitting(atom)
            before = np.flatnonzero(old & fits)
            was = held.get(atom)
            parts = []
            if was is not None:
                stays = np.isin(was.position, events.positions[before])
                before = before[~np.isin(events.positions[before], was.position)]
                parts = [was.some(stays)]
                moved.setdefault(atom, []).append(was.some(~stays).input(-1))
            missing = self._rows(events.payload, lookups, atom, before)
            moved.setdefault(atom, []).append(missing.input(1))
            fresh_rows = self._rows(events.payload, lookups, atom, np.flatnonzero(fresh & fits))
            new[atom] = fresh_rows.input(1)
            kept[atom] = _joined([*parts, missing, fresh_rows])
        if tree is None:
            query = listed_query(self._plan, bool(len(events.lanes)))
            if query is None:
                raise UnstableError
            stage = BagStage(query, tuple(range(lookups.atoms)))
            inputs = {atom: _both([*moved[atom], new[atom]]) for atom in moved}
            tree = tree_of(self._plan, stage, statistics(stage, inputs))
        _take(tree, {atom: _both(parts) for atom, parts in moved.items()})
        _take(tree, new)
        self._held = kept
        return tree

    def _rows(self, payload: pa.Table | None, lookups: Lookups, atom: int, which: np.ndarray) -> WindowRows:
        """Some events as rows of an atom."""
        events = lookups.events
        columns = lookups.joined_slots(atom, which)
        there = np.ones(len(which), bool)
        for values in columns.values():
            there &= values >= 0
        table = None if payload is None else payload.take(pa.array(which))
        for number, one in enumerate(self._plan.compared):
            for name, owner, side in zip(side_names(number), one.atoms, one.sides, strict=True):
                if owner == atom:
                    assert table is not None
                    found = self._numbers(ordered_numbers(side, table, self._machine.units), number)
                    columns[name] = found.numbers
                    there &= found.present
        if len(events.lanes):
            columns[LANE] = events.lanes[which].astype(np.int64)
        columns[event_name(atom)] = events.positions[which]
        return WindowRows(events.positions[which], there, columns)

    def _numbers(self, found: OrderedNumbers | None, comparison: int) -> OrderedNumbers:
        """Numbers of a side of a comparison, where both sides have them of one domain."""
        if found is None or self._domains.setdefault(comparison, found.domain) != found.domain:
            raise UnstableError
        return found


class AddedAnswers:
    """The answers that a push added; a `TupleFinder` until the next one.

    Parameters
    ----------
    tree : KeptTree
    lookups : Lookups
    chunk : Chunk
    """

    def __init__(self, tree: KeptTree, lookups: Lookups, chunk: Chunk) -> None:
        self._tree = tree
        self._lookups = lookups
        self._positions = chunk.events.positions
        self._order = ascending(self._positions)

    @property
    def atoms(self) -> int:
        """How many atoms the rule has."""
        return self._lookups.atoms

    def listed(self, event: np.ndarray, low: np.ndarray) -> Iterator[PartialAnswers]:
        """The answers that end at some events; as `Lookups.listed`."""
        end_of = np.full(len(self._positions), -1, np.int64)
        end_of[event] = np.arange(len(event))
        for piece in changes(self._tree.listed(lambda: None), PIECE):
            columns = [self._place(piece.columns[event_name(atom)]) for atom in range(self.atoms)]
            found = admitted_at(np.stack(columns, axis=1), end_of, low, self._lookups)
            if len(found):
                yield found

    def tally(self, event: np.ndarray, low: np.ndarray) -> TupleEnds:
        """How many answers end at some events; as `Lookups.tally`."""
        return tallied(self.listed(event, low), event, low)

    def _place(self, position: np.ndarray) -> np.ndarray:
        """The events of the chunk at some positions."""
        found: np.ndarray = self._order[np.searchsorted(self._positions, position, sorter=self._order)]
        return found


def _small(chunk: Chunk, new: int) -> bool:
    return len(chunk.events) >= SMALL * new


def _joined(parts: list[WindowRows]) -> WindowRows:
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns}
    position, there = (np.concatenate([part[n] for part in parts]) for n in (0, 1))
    return WindowRows(position, there, columns)


def _both(parts: list[Input]) -> Input:
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns}
    return Input(columns, np.concatenate([part.amounts for part in parts]))


def _take(tree: KeptTree, changed: Mapping[int, Input]) -> None:
    tree.commit(tree.climb({atom: one for atom, one in changed.items() if len(one.amounts)}))
