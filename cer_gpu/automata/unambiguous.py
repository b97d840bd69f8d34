"""Chains with at most one run for each complex event: what Algorithm 1 of the PCEA paper asks for.

The subset construction of a CCEA over symbols, apart for every label and equality: runs that have read the
same marked events by the same equalities are one. Where a target is also reached with fewer equalities, the
stricter way to it adds no complex event and is dropped (`x.id = y.id OR y[price > 3]` for a dear y). What
remains may still have two runs for one complex event, by different equalities; then the query is refused. (No
construction is known that makes any PCEA unambiguous: the paper's section 6.)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from cer_gpu.automata.cea import Predicate
from cer_gpu.automata.determinise import DEFAULT_BUDGET
from cer_gpu.automata.explore import coreachable, explore
from cer_gpu.automata.pcea import PCEA, Equality
from cer_gpu.automata.symbol_pcea import SymbolGather, SymbolPCEA, over_symbols
from cer_gpu.errors import Diagnostic, QueryError

Label: TypeAlias = frozenset[Hashable]
Subset: TypeAlias = frozenset[int]
Edge: TypeAlias = tuple[frozenset[int], str, Equality | None, Label]
"""Symbols, event type, equality with the last event (None where a run starts), label."""

START: Subset = frozenset()
"""Before the first event."""


def disambiguate(
    pcea: PCEA,
    symbols: Sequence[frozenset[int]],
    tests: Sequence[Predicate],
    budget: int = DEFAULT_BUDGET,
) -> SymbolPCEA:
    """An unambiguous chain with the complex events of a chain.

    Parameters
    ----------
    pcea : PCEA
        A chain.
    symbols, tests
        As in `over_symbols`.
    budget : int
        States and transitions that may be built.

    Raises
    ------
    QueryError
        CER062, where two runs for one complex event remain.
    LimitError
        When it exceeds the budget.
    """
    chain = _futures_merged(over_symbols(pcea, symbols, tests))
    leaving: dict[int, list[SymbolGather]] = {}
    starting = [move for move in chain.transitions if not move.sources]
    for move in chain.transitions:
        for source in move.sources:
            leaving.setdefault(source, []).append(move)

    def follow(subset: Subset) -> Iterator[tuple[Edge, Subset]]:
        moves = (
            starting if subset == START else [m for state in sorted(subset) for m in leaving.get(state, ())]
        )
        yield from _merged(moves)

    found = explore(
        START,
        follow,
        lambda subset: bool(subset & chain.final),
        budget,
        "merging the runs of the correlations",
    )
    useful = coreachable(
        len(found.states), [(source, target) for source, _, target in found.edges], found.final
    )
    edges = [(source, edge, target) for source, edge, target in found.edges if target in useful]
    _refuse_ambiguous(edges, found.final)
    used = sorted({target for _, _, target in edges})
    number = {state: place for place, state in enumerate(used)}
    names = tuple(" ".join(chain.names[state] for state in sorted(found.states[subset])) for subset in used)
    moves = tuple(
        SymbolGather(
            read,
            () if equality is None else (number[source],),
            event_type,
            () if equality is None else (equality,),
            label,
            number[target],
        )
        for source, (read, event_type, equality, label), target in edges
    )
    return SymbolPCEA(names, len(symbols), moves, frozenset(number[s] for s in found.final if s in number))


def _futures_merged(chain: SymbolPCEA) -> SymbolPCEA:
    """The chain with states that go on alike put together: the coarsest bisimulation, by refinement."""
    n_states = len(chain.names)
    leaving: list[list[SymbolGather]] = [[] for _ in range(n_states)]
    for move in chain.transitions:
        for source in move.sources:
            leaving[source].append(move)
    block = [int(state in chain.final) for state in range(n_states)]
    count = 0
    while count != len(set(block)):
        count = len(set(block))
        numbers: dict[tuple[object, ...], int] = {}
        block = [
            numbers.setdefault(
                (
                    block[state],
                    frozenset(
                        (m.symbols, m.event_type, m.joins, m.label, block[m.target]) for m in leaving[state]
                    ),
                ),
                len(numbers),
            )
            for state in range(n_states)
        ]
    names = {block[state]: chain.names[state] for state in reversed(range(n_states))}
    moves = dict.fromkeys(
        replace(move, sources=tuple(block[source] for source in move.sources), target=block[move.target])
        for move in chain.transitions
    )
    final = frozenset(block[state] for state in chain.final)
    return SymbolPCEA(tuple(names[k] for k in range(count)), chain.n_symbols, tuple(moves), final)


def _merged(moves: Sequence[SymbolGather]) -> Iterator[tuple[Edge, Subset]]:
    """The transitions that leave a subset: one for each symbol, label and equality, symbols put together."""
    reached: dict[tuple[int, str, Label], dict[Equality | None, set[int]]] = {}
    for move in moves:
        equality = move.joins[0] if move.joins else None
        for symbol in sorted(move.symbols):
            ways = reached.setdefault((symbol, move.event_type, move.label), {})
            ways.setdefault(equality, set()).add(move.target)
    merged: dict[tuple[str, Equality | None, Label, Subset], set[int]] = {}
    for (symbol, event_type, label), ways in reached.items():
        for equality, targets in ways.items():
            weaker = (other for one, other in ways.items() if _asks_less(one, equality))
            left = targets.difference(*weaker)
            if left:
                merged.setdefault((event_type, equality, label, frozenset(left)), set()).add(symbol)
    for (event_type, equality, label, targets_left), read in merged.items():
        yield (frozenset(read), event_type, equality, label), targets_left


def _asks_less(one: Equality | None, other: Equality | None) -> bool:
    """Whether the one holds wherever the other does, and is not the same."""
    if one is None or other is None or one == other or (one.next and not other.next):
        return False
    return _pairs(one) <= _pairs(other)


def _pairs(equality: Equality) -> frozenset[object]:
    return frozenset(
        (name, old, new)
        for name, keys in equality.left
        for old, new in zip(keys, equality.right, strict=True)
    )


def _refuse_ambiguous(edges: Sequence[tuple[int, Edge, int]], final: frozenset[int]) -> None:
    """Refuse where two different states are reached by the same marked events, and both go on to an end."""
    leaving: dict[int, list[tuple[Edge, int]]] = {}
    for source, edge, target in edges:
        leaving.setdefault(source, []).append((edge, target))

    def follow(pair: tuple[int, int]) -> Iterator[tuple[tuple[Edge, Edge], tuple[int, int]]]:
        for one, to in leaving.get(pair[0], ()):
            for other, at in leaving.get(pair[1], ()):
                if one[3] == other[3] and one[0] & other[0]:
                    # a pair of runs has no order: both orders are one state
                    yield (one, other), (max(to, at), min(to, at))

    found = explore(
        (0, 0), follow, lambda pair: pair[0] in final and pair[1] in final, None, "comparing runs"
    )
    steps = [(source, target) for source, _, target in found.edges]
    useful = coreachable(len(found.states), steps, found.final)
    for source, (one, other), target in found.edges:
        apart = found.states[target][0] != found.states[target][1]
        merging = found.states[source][0] == found.states[source][1] and one != other
        if target in useful and (apart or merging):
            marks = ", ".join(f"`{name}`" for name in sorted(map(str, one[3])))
            raise QueryError(
                [
                    Diagnostic(
                        "CER062",
                        f"alternatives overlap: an event marked {marks} can be matched by several of them, "
                        "which compare it differently: a complex event could be found more than once",
                        None,
                        hints=(
                            "make the alternatives exclude each other, or give their events different names",
                        ),
                    )
                ],
                "",
            )
