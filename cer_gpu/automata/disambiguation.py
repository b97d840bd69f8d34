"""Chains with at most one run for each complex event; Algorithm 1 of the PCEA paper needs them.

The subset construction of a CCEA over symbols, apart for every label and equality: runs that have read the
same marked events by the same equalities are one. It also keeps the states of weaker runs: with more
equalities at no event, and fewer at some event. Wherever the stricter run exists, the weaker ones exist too,
so it adds no complex event where they reach its state or also end (`x.id = y.id OR y[price > 3]` for dear y).
What remains may still have two runs for one complex event, by different equalities; then the query is
refused. (No construction is known that makes any PCEA unambiguous: the paper's section 6.)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from cer_gpu.automata.bisimulation import coarsest
from cer_gpu.automata.cea import Predicate
from cer_gpu.automata.determinise import DEFAULT_BUDGET
from cer_gpu.automata.explore import coreachable, explore
from cer_gpu.automata.pcea import PCEA, Equality
from cer_gpu.automata.symbol_pcea import SymbolGatherTransition, SymbolPCEA, over_symbols
from cer_gpu.diagnostics import NOT_TAKEN
from cer_gpu.errors import Diagnostic, QueryError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.printer import to_text

Label: TypeAlias = frozenset[Hashable]
Subset: TypeAlias = frozenset[int]
Edge: TypeAlias = tuple[frozenset[int], str, Equality | None, Label]
"""Symbols, event type, equality with the last event (None where a run starts), label."""


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs that have read the same marked events.

    Attributes
    ----------
    states : frozenset of int
        The states of runs with the same equalities; empty before the first event.
    weaker : frozenset of int
        The states of weaker runs. No state is in both.
    """

    states: Subset = frozenset()
    weaker: Subset = frozenset()


START = Runs()


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
        CER091, when two runs for one complex event remain.
    LimitError
        When it exceeds the budget.
    """
    chain = _futures_merged(over_symbols(pcea, symbols, tests))
    leaving: dict[int, list[SymbolGatherTransition]] = {}
    starting = [move for move in chain.transitions if not move.sources]
    for move in chain.transitions:
        for source in move.sources:
            leaving.setdefault(source, []).append(move)

    def moves_of(states: Subset) -> list[SymbolGatherTransition]:
        return [move for state in sorted(states) for move in leaving.get(state, ())]

    def follow(runs: Runs) -> Iterator[tuple[Edge, Runs]]:
        yield from _merged(starting if runs == START else moves_of(runs.states), moves_of(runs.weaker))

    found = explore(
        START,
        follow,
        lambda runs: bool(runs.states & chain.final) and not runs.weaker & chain.final,
        budget,
        "merging the runs of the correlations",
    )
    useful = coreachable(
        len(found.states), [(source, target) for source, _, target in found.edges], found.final
    )
    edges = [(source, edge, target) for source, edge, target in found.edges if target in useful]
    _refuse_ambiguous(edges, found.final, budget)
    used = sorted({target for _, _, target in edges})
    number = {state: place for place, state in enumerate(used)}
    names = tuple(" ".join(chain.names[k] for k in sorted(found.states[state].states)) for state in used)
    moves = tuple(
        SymbolGatherTransition(
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
    leaving: list[list[tuple[object, ...]]] = [[] for _ in range(n_states)]
    for move in chain.transitions:
        for source in move.sources:
            leaving[source].append((move.symbols, move.event_type, move.joins, move.label, move.target))
    block = coarsest([state in chain.final for state in range(n_states)], leaving)
    names = {block[state]: chain.names[state] for state in reversed(range(n_states))}
    moves = dict.fromkeys(
        replace(move, sources=tuple(block[source] for source in move.sources), target=block[move.target])
        for move in chain.transitions
    )
    final = frozenset(block[state] for state in chain.final)
    return SymbolPCEA(tuple(names[k] for k in range(len(names))), chain.n_symbols, tuple(moves), final)


def _merged(
    moves: Sequence[SymbolGatherTransition], weaker: Sequence[SymbolGatherTransition]
) -> Iterator[tuple[Edge, Runs]]:
    """The transitions that runs go on by: one for each symbol, label and equality, symbols put together.

    `moves` are those of the runs with the same equalities, `weaker` those of the runs that asked less.
    """
    reached, beside = _by_equality(moves), _by_equality(weaker)
    merged: dict[tuple[str, Equality | None, Label, Runs], set[int]] = {}
    for word, ways in reached.items():
        symbol, event_type, label = word
        for equality, targets in ways.items():
            less = [to for one, to in ways.items() if _asks_less(one, equality)]
            less += [
                to for one, to in beside.get(word, {}).items() if one == equality or _asks_less(one, equality)
            ]
            below: Subset = frozenset().union(*less)
            if left := targets - below:
                merged.setdefault((event_type, equality, label, Runs(left, below)), set()).add(symbol)
    for (event_type, equality, label, runs), read in merged.items():
        yield (frozenset(read), event_type, equality, label), runs


def _by_equality(
    moves: Sequence[SymbolGatherTransition],
) -> dict[tuple[int, str, Label], dict[Equality | None, Subset]]:
    """The states reached by each symbol, event type and label, apart for each equality."""
    reached: dict[tuple[int, str, Label], dict[Equality | None, Subset]] = {}
    for move in moves:
        equality = move.joins[0] if move.joins else None
        for symbol in sorted(move.symbols):
            ways = reached.setdefault((symbol, move.event_type, move.label), {})
            ways[equality] = ways.get(equality, frozenset()) | {move.target}
    return reached


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


def _refuse_ambiguous(edges: Sequence[tuple[int, Edge, int]], final: frozenset[int], budget: int) -> None:
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
        (0, 0), follow, lambda pair: pair[0] in final and pair[1] in final, budget, "comparing runs"
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
                        NOT_TAKEN,
                        f"two alternatives can match the same event, marked {marks}: one "
                        f"{_compared(one)}, another {_compared(other)}; a match could be found twice",
                        None,
                        hints=(
                            "write conditions that exclude each other, or give the events of the "
                            "alternatives different names",
                        ),
                    )
                ],
                "",
            )


def _compared(edge: Edge) -> str:
    """How an edge compares its event with the last one, for a message."""
    _, event_type, equality, _ = edge
    if equality is None or not equality.right:
        return "without a comparison"
    said = (
        f"`{event_type}.{to_text(new)} = {last}.{to_text(old)}`"
        for last, keys in equality.left
        for old, new in zip(keys, equality.right, strict=True)
    )
    return "by " + " and ".join(said)
