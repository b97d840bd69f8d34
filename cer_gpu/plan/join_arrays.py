"""Turns a PCEA into arrays: states become entries of the look-up table, equalities become columns of slots.

The runs of state 1 (an S) of `Q(x, y) <- T(x), S(x, y), R(x, y)` are gathered by an R with equal x and y, so
they are stored in one entry, at the slot of the pair (x, y). Of the four entries two are indexed by x alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import field

import numpy as np

from cer_gpu.automata.chains import UNMARKED
from cer_gpu.automata.pcea import Equality, Keys
from cer_gpu.automata.symbol_pcea import SymbolPCEA
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.joins.contract import JoinTables
from cer_gpu.plan.compiled_query import KeyColumn, KeyPlan
from cer_gpu.plan.step_groups import offsets

Label = frozenset[Hashable]
Entry = tuple[int, Equality]

NO_COLUMN = -1
"""The column of an equality that compares nothing: every event has slot 0."""


@dataclass(frozen=True, slots=True)
class JoinArrays:
    """A compiled PCEA over symbols.

    Attributes
    ----------
    tables : JoinTables
    keys : KeyPlan
        Its columns are in the order of the numbers that the tables use.
    symbol_of : tuple of int
        For each class of events its symbol.
    labels : tuple of frozenset
        The marks of each label; `labels[0]` is empty.
    """

    tables: JoinTables
    keys: KeyPlan
    symbol_of: tuple[int, ...]
    labels: tuple[Label, ...]

    @property
    def spaces(self) -> tuple[tuple[int, ...], ...]:
        """For each space of keys the columns of slots that are in it."""
        found: dict[int, list[int]] = {}
        for number, column in enumerate(self.keys.columns):
            found.setdefault(column.space, []).append(number)
        return tuple(tuple(found[space]) for space in range(len(found)))


@dataclass
class SlotColumns:
    """The columns of slots that a query needs, in the order of their first use.

    Attributes
    ----------
    lane : mapping of str to Keys, or None
        For each event type the values that make its lane, if all events of an answer agree in them. Their
        columns come first, and share a space.
    numbers : dict of Keys to int
    """

    lane: Mapping[str, Keys] | None = None
    numbers: dict[Keys, int] = field(default_factory=dict)
    _above: dict[Keys, Keys] = field(default_factory=dict)

    def __post_init__(self) -> None:
        own = list((self.lane or {}).values())
        for keys in own:
            self.number(keys)
            self.link(own[0], keys)

    def link(self, one: Keys, other: Keys) -> None:
        """Put both into one space of slots, since they are compared with each other."""
        top, low = self._top(one), self._top(other)
        if top != low:
            self._above[low] = top

    def number(self, keys: Keys) -> int:
        """The number of a column, `NO_COLUMN` for the empty key."""
        return self.numbers.setdefault(keys, len(self.numbers)) if keys else NO_COLUMN

    def space(self, keys: Keys) -> Keys:
        """The representative of the space of a column."""
        return self._top(keys)

    def built(self) -> tuple[tuple[KeyColumn, ...], Mapping[Keys, int]]:
        """The columns by number, and the number of each space."""
        spaces: dict[Keys, int] = {}
        columns = tuple(
            KeyColumn(spaces.setdefault(self._top(keys), len(spaces)), keys) for keys in self.numbers
        )
        return columns, spaces

    def lane_column(self, types: Iterable[str | None]) -> np.ndarray:
        """For each symbol, given the type of its events, the column of the lane: `KeyPlan.lane_column`."""
        if self.lane is None:
            return np.empty(0, np.int32)
        found = [NO_COLUMN if name is None else self.number(self.lane[name]) for name in types]
        return np.array(found, np.int32)

    def _top(self, keys: Keys) -> Keys:
        while keys in self._above:
            keys = self._above[keys]
        return keys


def join_arrays(machine: SymbolPCEA, lane: Mapping[str, Keys] | None) -> JoinArrays:
    """The arrays of a PCEA over symbols.

    Parameters
    ----------
    machine : SymbolPCEA
        Unambiguous.
    lane : mapping of str to Keys, or None
        For each event type the values that make its lane, if all events of an answer agree in them.
    """
    symbol_of, applicable = merged_symbols(machine)
    used = {move.label for move in machine.transitions} - {UNMARKED}
    # In their order: complex events with equal positions come in the order of the variables at each.
    labels: dict[Label, int] = {frozenset(): 0}
    for label in sorted(used, key=lambda label: sorted(map(str, label))):
        labels[label] = len(labels)
    labels_with_none = {**labels, UNMARKED: 0}
    columns = SlotColumns(lane)
    for move in machine.transitions:
        for equality in move.joins:
            for _, keys in equality.left:
                columns.link(equality.right, keys)
    entries: dict[Entry, int] = {}
    looked_up: dict[int, list[Entry]] = {}
    for move in machine.transitions:
        for source, equality in zip(move.sources, move.joins, strict=True):
            entry = _entry(source, equality, columns)
            if entry not in entries:
                entries[entry] = len(entries)
                looked_up.setdefault(source, []).append(entry)
    reads: list[list[tuple[int, int]]] = []
    stores: list[list[tuple[int, int]]] = []
    for move in machine.transitions:
        reads.append(
            [
                (entries[_entry(source, equality, columns)], columns.number(equality.right))
                for source, equality in zip(move.sources, move.joins, strict=True)
            ]
        )
        stores.append(
            [
                (entries[entry], columns.number(stored))
                for entry in looked_up.get(move.target, ())
                if (stored := dict(entry[1].left).get(move.event_type)) is not None
            ]
        )
    built, spaces = columns.built()
    tables = JoinTables(
        first=offsets([len(moves) for moves in applicable]),
        transition=np.array([move for moves in applicable for move in moves], np.int32),
        label=np.array([labels_with_none[move.label] for move in machine.transitions], np.int32),
        accepting=np.array([move.target in machine.final for move in machine.transitions], np.uint8),
        read_first=offsets([len(found) for found in reads]),
        read_entry=_flat(reads, 0),
        read_column=_flat(reads, 1),
        store_first=offsets([len(found) for found in stores]),
        store_entry=_flat(stores, 0),
        store_column=_flat(stores, 1),
        entry_space=np.array(
            [spaces[columns.space(e.right)] if e.right else NO_COLUMN for _, e in entries], np.int32
        ),
        entry_next=np.array([e.next for _, e in entries], np.uint8),
    )
    lane_column = columns.lane_column(
        machine.transitions[moves[0]].event_type if moves else None for moves in applicable
    )
    plan = KeyPlan(built, lane_column, _asked(tables, len(built), lane_column))
    return JoinArrays(tables, plan, symbol_of, tuple(labels))


def _asked(tables: JoinTables, columns: int, lane_column: np.ndarray) -> np.ndarray:
    """By which columns an event with each symbol is compared, shape (symbols, columns), bool."""
    asked = np.zeros((tables.n_symbols, columns), bool)
    for symbol in range(tables.n_symbols):
        for transition in tables.transition[tables.first[symbol] : tables.first[symbol + 1]]:
            for first, column in (
                (tables.read_first, tables.read_column),
                (tables.store_first, tables.store_column),
            ):
                used = column[first[transition] : first[transition + 1]]
                asked[symbol, used[used >= 0]] = True
    ask_lanes(asked, lane_column)
    return asked


def ask_lanes(asked: np.ndarray, lane_column: np.ndarray) -> None:
    """Note in `KeyPlan.asked` that events with a lane are asked for the column of their lane."""
    laned = np.flatnonzero(lane_column >= 0)
    asked[laned, lane_column[laned]] = True


def _entry(source: int, equality: Equality, columns: SlotColumns) -> Entry:
    """Where the runs of a state are stored for an equality: those with one left side share an entry."""
    space = columns.space(equality.right) if equality.right else ()
    return source, Equality(equality.left, space, equality.next)


def merged_symbols(machine: SymbolPCEA) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """Merge symbols that no transition tells apart; 0 is the neutral one.

    Returns
    -------
    symbol_of : tuple of int
        For each symbol of the machine the new one.
    applicable : tuple of tuple of int
        For each new symbol the transitions that read it, ascending.
    """
    moves: list[list[int]] = [[] for _ in range(machine.n_symbols)]
    for number, move in enumerate(machine.transitions):
        for symbol in move.symbols:
            moves[symbol].append(number)
    numbers: dict[tuple[int, ...], int] = {(): 0}
    symbol_of = tuple(numbers.setdefault(tuple(found), len(numbers)) for found in moves)
    return symbol_of, tuple(numbers)


def _flat(pairs: Sequence[Sequence[tuple[int, int]]], side: int) -> np.ndarray:
    return np.array([pair[side] for found in pairs for pair in found], np.int32)
