"""Queries that run abreast: automata whose runs never return to a state, as edges over shared cells.

The variants of a template mostly are sequences with skips and a window, `A ; B ; C WITHIN 5 MINUTES`. Their
automata keep their runs at every event and send copies of them on, and so the numbers of runs of all variants
can be brought up to date together (`cer_gpu.kernels.teams`). `ladder_of` recognises such automata.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.runs.contract import TransitionTables
from cer_gpu.kernels.teams.contract import Edges, ListedEdges
from cer_gpu.plan.automaton import AutomatonMachine
from cer_gpu.plan.compiled_query import CompiledQuery

MOST_NODES = 8
"""With more nodes than these the matrices of runs between them cost more than following each query alone."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """An automaton whose runs never return to a state.

    Attributes
    ----------
    nodes : int
    edges : dict of (int, int) to ndarray, shape (symbols,), bool
        For each pair of a node and a later node, which symbols lead from the one to the other; the node after
        the last one stands for the end of a complex event.
    """

    nodes: int
    edges: dict[tuple[int, int], np.ndarray]


def ladder_of(query: CompiledQuery, known: dict[int, Ladder | None] | None = None) -> Ladder | None:
    """The automaton of a query that can run abreast with others, else None.

    `known` has those of the machines of earlier queries: the variants of a template have one machine.

    The query needs a window over time or positions, and runs that stay in each state at every event, never
    return to a state, and have one way to each next state: sequences with `;`, their alternatives and
    optional elements, `{2,3}`; not iterations, `:`, strategies of SELECT, CONSUME BY, SUPPRESS and LIMIT.
    """
    machine, window = query.machine, query.window
    if not isinstance(machine, AutomatonMachine) or machine.choice is not None or machine.monitor is not None:
        return None
    if window is None or window.kind == "attribute" or query.consume != "NONE" or query.limit is not None:
        return None
    if query.suppress is not None:
        return None
    if known is None:
        return _ladder(machine.tables)
    if id(machine) not in known:
        known[id(machine)] = _ladder(machine.tables)
    return known[id(machine)]


def _ladder(tables: TransitionTables) -> Ladder | None:
    nodes, symbols = tables.n_live, tables.n_symbols
    if nodes > MOST_NODES:
        return None
    symbol = np.repeat(np.arange(symbols), np.diff(tables.first))
    stays = np.zeros((symbols, nodes), bool)
    stays[:, 0] = True
    moves: dict[tuple[int, int], np.ndarray] = {}
    for s, source, label, target, accepting in zip(
        symbol.tolist(),
        tables.source.tolist(),
        tables.label.tolist(),
        tables.target.tolist(),
        tables.accepting.tolist(),
    ):
        if source == target:
            if label or accepting or stays[s, source]:
                return None
            stays[s, source] = True
            continue
        for to in ([nodes] if accepting else []) + ([target] if 0 <= target < nodes else []):
            along = moves.setdefault((source, to), np.zeros(symbols, bool))
            if along[s]:
                return None
            along[s] = True
    if not stays.all():
        return None
    order = _ascending(nodes, moves)
    if order is None:
        return None
    rank = {node: number for number, node in enumerate([*order, nodes])}
    return Ladder(nodes, {(rank[p], rank[q]): along for (p, q), along in moves.items()})


def _ascending(nodes: int, moves: dict[tuple[int, int], np.ndarray]) -> list[int] | None:
    """The nodes in an order in which every move leads to a later one, node 0 first; None: there is none."""
    left, found = set(range(nodes)), list[int]()
    while left:
        free = sorted(one for one in left if not any(p in left and q == one for p, q in moves))
        if not free:
            return None
        found += free
        left -= {*free}
    return found if found[0] == 0 else None


def shared_edges(ladders: Sequence[Ladder], cells: Sequence[np.ndarray]) -> float:
    """The average share of members that have an edge, over the edges that at least one member has.

    Parameters
    ----------
    ladders, cells
        As for `edges_of`.
    """
    many: dict[tuple[int, int], np.ndarray] = {}
    nodes = max(one.nodes for one in ladders)
    for ladder, symbols in zip(ladders, cells, strict=True):
        for pair, along in ladder.edges.items():
            own = many.setdefault(_pair(ladder, pair, nodes), np.zeros(len(symbols), np.int64))
            own += along[symbols]
    whole = sum(int(np.count_nonzero(own)) for own in many.values())
    return sum(int(own.sum()) for own in many.values()) / max(1, whole * len(ladders))


def listed_of(
    ladders: Sequence[Ladder], cells: Sequence[np.ndarray], begin: np.ndarray
) -> tuple[ListedEdges, int]:
    """The edges of some members over shared cells as lists of additions, and the most nodes that one has.

    Parameters
    ----------
    ladders, cells
        As for `edges_of`.
    begin : ndarray, shape (spans + 1,), int64
        The first member of each window, and one past the last.
    """
    n = max(one.nodes for one in ladders)
    width = len(begin) - 1
    ends, more, fewer = _Lists(), _Lists(), _Lists()
    for member, (ladder, symbols) in enumerate(zip(ladders, cells, strict=True)):
        span = int(np.searchsorted(begin, member, side="right")) - 1
        base = member * n * n
        for pair, along in ladder.edges.items():
            p, q = _pair(ladder, pair, n)
            at = np.flatnonzero(along[symbols])
            if q == n:
                ends.put(at * width + span, member, 0, member, base + p)
                continue
            # A later target first, then a later source: what an addition reads is as it was before the event.
            for r in range(p + 1):
                more.put(at, member, -q, base + r * n + q, base + r * n + p)
            for r in range(q, n):
                fewer.put(at * width + span, member, -p, base + p * n + r, base + q * n + r)
    count = len(cells[0])
    ended, dropped = ends.gathered(count * width), fewer.gathered(count * width)
    return ListedEdges(*ended, *more.gathered(count), *dropped), n


class _Lists:
    """Lists of pairs of numbers, one list for each place."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = []

    def put(self, places: np.ndarray, member: int, rank: int, one: int, other: int) -> None:
        """Put a pair into the lists of some places, by member and rank."""
        part = np.empty((5, len(places)), np.int64)
        part[0] = places
        part[1:] = np.array([member, rank, one, other])[:, None]
        self._parts.append(part)

    def gathered(self, places: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where the list of each place begins, int32, and the numbers of the pairs, uint32."""
        whole = np.concatenate([np.empty((5, 0), np.int64), *self._parts], axis=1)
        order = np.lexsort(whole[2::-1])
        begin = np.searchsorted(whole[0, order], np.arange(places + 1)).astype(np.int32)
        return begin, whole[3, order].astype(np.uint32), whole[4, order].astype(np.uint32)


def edges_of(ladders: Sequence[Ladder], cells: Sequence[np.ndarray]) -> tuple[Edges, int]:
    """The edges of some members over shared cells, and how many nodes they have at most.

    Parameters
    ----------
    ladders : sequence of Ladder
    cells : sequence of ndarray, shape (cells,)
        For each member the symbol that it reads each cell as.
    """
    nodes = max(one.nodes for one in ladders)
    pairs = sorted({_pair(one, pair, nodes) for one in ladders for pair in one.edges})
    has = np.zeros((len(pairs), len(cells[0]), len(ladders)), bool)
    numbers = {pair: number for number, pair in enumerate(pairs)}
    for member, (ladder, symbols) in enumerate(zip(ladders, cells, strict=True)):
        for pair, along in ladder.edges.items():
            has[numbers[_pair(ladder, pair, nodes)], :, member] = along[symbols]
    sources, targets = np.array(pairs, np.int32).reshape(-1, 2).T
    used: np.ndarray = has.max(axis=2, initial=False).T  # for each cell which pairs some member has
    first = np.append(0, np.cumsum(used.sum(axis=1))).astype(np.int32)
    forth, back = np.lexsort((sources, -targets)), np.lexsort((targets, -sources))
    cell, place = np.nonzero(used[:, forth])
    number = np.empty(used.shape, np.int32)
    number[cell, forth[place]] = np.arange(len(cell))
    back_cell, back_place = np.nonzero(used[:, back])
    at = forth[place]
    rows: dict[bytes, int] = {}
    row = [rows.setdefault(has[p, c].tobytes(), len(rows)) for p, c in zip(at.tolist(), cell.tolist())]
    masks = -np.frombuffer(b"".join(rows), np.uint8).reshape(-1, len(ladders)).astype(np.int64)
    found = Edges(
        first,
        sources[at].astype(np.int32),
        targets[at].astype(np.int32),
        np.array(row, np.int32),
        number[back_cell, back[back_place]].astype(np.int32),
        np.ascontiguousarray(masks),
    )
    return found, nodes


def _pair(ladder: Ladder, pair: tuple[int, int], nodes: int) -> tuple[int, int]:
    """An edge where all members end in one node."""
    source, target = pair
    return source, nodes if target == ladder.nodes else target
