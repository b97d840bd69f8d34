"""Queries of any automaton that go abreast: what an event does to their runs, as operations under masks.

The variants of a template have automata of one shape, whatever it is: `A : B` loses its runs at most events,
`A+` doubles them, and without a window nothing is ever taken off. So all variants do the same operations on
numbers of runs, each where its own thresholds say so (`cer_gpu.kernels.teams.cpu_masks`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.teams.contract import MaskedEnds, MaskedProgram
from cer_gpu.plan.automaton import AutomatonMachine
from cer_gpu.plan.automaton_team import MOST_NODES
from cer_gpu.plan.compiled_query import CompiledQuery

TABLES = 1 << 26
"""Members times cells times pairs of nodes at most: the bytes that are taken to look at them."""

WORTH = 40
"""An event of one query by itself costs about as much as so many numbers of an operation under a mask."""


@dataclass(frozen=True, slots=True)
class Moves:
    """What the symbols of an automaton do to its runs.

    Attributes
    ----------
    moves : ndarray, shape (symbols, nodes, nodes), uint8
        In how many ways a run goes on from one node to another, `[symbol, source, target]`; node 0, in which
        runs begin, keeps itself.
    ends : ndarray, shape (symbols, nodes), uint8
        In how many ways a complex event ends.
    """

    moves: np.ndarray
    ends: np.ndarray

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return self.ends.shape[1]


@dataclass(frozen=True, slots=True)
class MaskedTeam:
    """What members do together.

    Attributes
    ----------
    forward, backward : MaskedProgram
    ends : MaskedEnds
    nodes : int
    registers : tuple of int
        Of the two programs.
    """

    forward: MaskedProgram
    backward: MaskedProgram
    ends: MaskedEnds
    nodes: int
    registers: tuple[int, int]


def moves_of(query: CompiledQuery) -> Moves | None:
    """What the symbols of a query do, if that is all there is to it, else None.

    So it is of an automaton without a window, or with one over time or positions, but for strategies of
    SELECT, CONSUME BY, SUPPRESS and LIMIT.
    """
    machine, window = query.machine, query.window
    if not isinstance(machine, AutomatonMachine) or machine.choice is not None or machine.monitor is not None:
        return None
    if (window is not None and window.kind == "attribute") or query.consume != "NONE" or query.suppress:
        return None
    tables = machine.tables
    if query.limit is not None or tables.n_live > MOST_NODES:
        return None
    symbol = np.repeat(np.arange(tables.n_symbols), np.diff(tables.first))
    moves = np.zeros((tables.n_symbols, tables.n_live, tables.n_live), np.uint8)
    ends = np.zeros((tables.n_symbols, tables.n_live), np.uint8)
    goes_on = (tables.target >= 0) & (tables.target < tables.n_live)
    np.add.at(moves, (symbol[goes_on], tables.source[goes_on], tables.target[goes_on]), 1)
    accepts = tables.accepting != 0
    np.add.at(ends, (symbol[accepts], tables.source[accepts]), 1)
    moves[:, 0, 0] = 1
    moves[0] = np.eye(tables.n_live)  # the neutral symbol
    ends[0] = 0
    return Moves(moves, ends)


def most_of(nodes: int, cells: int) -> int:
    """How many members with so many nodes, over so many cells, `masked_of` looks at; at least 1."""
    return max(1, TABLES // (cells * nodes * nodes))


def masked_of(
    members: Sequence[Moves], cells: Sequence[np.ndarray], always: bool = False
) -> MaskedTeam | None:
    """What some members do over shared cells; None if it costs less to run each by itself.

    Parameters
    ----------
    members : sequence of Moves
        All have the same number of nodes.
    cells : sequence of ndarray, shape (cells,)
        For each member the symbol that it reads each cell as.
    always : bool
        Whether they go together even if it costs more.
    """
    n, count = members[0].nodes, len(cells[0])
    if len(members) > most_of(n, count):
        return None
    moves = np.stack([one.moves[own] for one, own in zip(members, cells, strict=True)], axis=-1)
    ends = np.stack([one.ends[own] for one, own in zip(members, cells, strict=True)], axis=-1)
    rows = _MaskRows(len(members))
    forward, backward = _Programs(n), _Programs(n)
    ended: list[list[tuple[int, int]]] = []
    for cell in range(count):
        changed = _entries(moves[cell], rows)
        forward.add({(q, p): own for (p, q), own in changed.items()}, rows)
        backward.add(changed, rows)
        ways = int(ends[cell].max())
        pairs = product(range(n), range(1, ways + 1))
        ended.append([(p, rows.of(ends[cell, p] >= way)) for p, way in pairs if (ends[cell, p] >= way).any()])
    work = sum(map(len, forward.blocks)) + sum(map(len, backward.blocks))
    looked_at = sum(int(np.count_nonzero(own)) for own in cells)
    if not always and work * n * len(members) > WORTH * looked_at:
        return None
    first = np.append(0, np.cumsum(list(map(len, ended)))).astype(np.int32)
    flat = np.array([one for own in ended for one in own], np.int32).reshape(-1, 2)
    begins = (moves[:, 0, 1:] > 0).any(axis=(1, 2)).astype(np.uint8)
    source, row = (np.ascontiguousarray(column) for column in flat.T)
    found = MaskedEnds(first, source, row, begins, rows.masks())
    registers = forward.registers, backward.registers
    return MaskedTeam(forward.program(), backward.program(), found, n, registers)


class _MaskRows:
    """Masks by their numbers, each once."""

    def __init__(self, members: int) -> None:
        self._numbers: dict[bytes, int] = {}
        self._all = np.ones(members, bool)

    def of(self, mask: np.ndarray) -> int:
        """The number of a mask."""
        return self._numbers.setdefault(mask.tobytes(), len(self._numbers))

    @property
    def all(self) -> int:
        """That of all members."""
        return self.of(self._all)

    @property
    def none(self) -> int:
        """That of no member."""
        return self.of(~self._all)

    def masks(self) -> np.ndarray:
        """All of them, shape (rows, members), int64: -1 or 0."""
        self.of(self._all)
        whole = np.frombuffer(b"".join(self._numbers), np.uint8).reshape(-1, len(self._all))
        return -whole.astype(np.int64)


def _entries(moves: np.ndarray, rows: _MaskRows) -> dict[tuple[int, int], list[int]]:
    """For each pair (source, target) the masks of its first way, its second one, ...; none where all stay."""
    found: dict[tuple[int, int], list[int]] = {}
    n = len(moves)
    for p, q in product(range(n), range(n)):
        own = moves[p, q]
        ways = int(own.max())
        if ways:
            found[p, q] = [rows.of(own >= way) for way in range(1, ways + 1)]
    return found


class _Programs:
    """Operations for each cell, in which no register is read after it has changed."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes
        self.registers = nodes
        self.blocks: list[list[tuple[int, int, int, int]]] = []

    def add(self, entries: Mapping[tuple[int, int], Sequence[int]], rows: _MaskRows) -> None:
        """The operations of the next cell: register `into` gets registers `of`, `entries[into, of]`."""
        everyone = rows.all
        reads: dict[int, dict[int, Sequence[int]]] = {into: {} for into in range(self._nodes)}
        for (into, of), own in entries.items():
            reads[into][of] = own
        left = {into for into, own in reads.items() if own != {into: [everyone]}}
        block: list[tuple[int, int, int, int]] = []
        old: dict[int, int] = {}

        def kept(one: int) -> None:
            old[one] = self._nodes + len(old)
            self.registers = max(self.registers, old[one] + 1)
            block.append((old[one], one, everyone, 0))

        while left:
            free = [q for q in left if not any(q in reads[other] for other in left if other != q)]
            into = min(free) if free else min(left)
            if not free or len(reads[into].get(into, ())) > 2:
                kept(into)
            at = old.get(into, into)
            mine = [(at, row) for row in reads[into].get(into, ())]
            more = [(old.get(of, of), row) for of, each in reads[into].items() if of != into for row in each]
            operations = [(into, source, mask, 1) for source, mask in (*mine, *more)]
            if mine[:1] == [(into, everyone)]:
                del operations[0]  # what it has stays
            elif operations:
                operations[0] = (*operations[0][:3], 0)
            else:
                operations = [(into, into, rows.none, 0)]
            block += operations
            left.discard(into)
        self.blocks.append(block)

    def program(self) -> MaskedProgram:
        """All of them."""
        first = np.append(0, np.cumsum(list(map(len, self.blocks)))).astype(np.int32)
        flat = np.array([one for block in self.blocks for one in block], np.int32).reshape(-1, 4)
        into, of, row, adds = (np.ascontiguousarray(column) for column in flat.T)
        return MaskedProgram(first, into, of, row, adds.astype(np.uint8))
