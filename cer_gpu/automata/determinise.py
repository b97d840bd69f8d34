"""Determinisation over symbols: at most one run for each complex event (thesis, Proposition 6.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cer_gpu.automata.cea import (
    CEA,
    DeterministicCEA,
    Label,
    Predicate,
    Step,
    UnknownPredicateError,
    UnknownSymbolError,
    closures,
    identity,
)
from cer_gpu.automata.explore import Exploration, explore

DEFAULT_BUDGET = 100_000
"""States and transitions that a determinisation may build."""

_START = -1


def predicates(cea: CEA) -> tuple[Predicate, ...]:
    """The distinct predicates of the transitions, in the order of their first transition."""
    first: dict[tuple[object, ...], Predicate] = {}
    for move in cea.transitions:
        first.setdefault(identity(move.predicate), move.predicate)
    return tuple(first.values())


def determinise(
    cea: CEA,
    symbols: Sequence[frozenset[int]],
    predicates: Sequence[Predicate],
    budget: int = DEFAULT_BUDGET,
    what: str = "determinisation",
) -> DeterministicCEA:
    """The I/O-deterministic CEA with the complex events of `cea`.

    The subset construction, apart for every pair of a symbol and a label. The initial state is a copy that
    nothing enters, so that "a run starts here" is a property of the state.

    Parameters
    ----------
    cea : CEA
    symbols : sequence of frozenset of int
        For each symbol the indices of the predicates that hold for its events, the others not.
    predicates : sequence of Predicate
        The distinct predicates of the transitions, `predicates(cea)`.
    budget : int
        How many states and transitions may be built.
    what : str
        What is being determinised, for the message.

    Raises
    ------
    LimitError
        As soon as the result is larger than the budget.
    UnknownPredicateError
        If a transition's predicate is not among `predicates`.
    UnknownSymbolError
        If a symbol speaks of a predicate that does not exist.
    """
    index = {identity(predicate): i for i, predicate in enumerate(predicates)}
    truths = [_truths(symbol, holds, len(predicates)) for symbol, holds in enumerate(symbols)]
    labels = tuple(sorted({frozenset[str](), *(move.label for move in cea.transitions)}, key=sorted))
    label_index = {label: i for i, label in enumerate(labels)}

    # Sets of states and of predicates are bits of an int.
    closed = [_bits(states) for states in closures(cea)]
    moves: list[list[tuple[int, int, int]]] = [[] for _ in range(cea.n_states)]
    for move in cea.transitions:
        predicate = index.get(identity(move.predicate))
        if predicate is None:
            raise UnknownPredicateError(
                f"transition from state {move.source} to state {move.target}: {move.predicate} "
                "is not among the predicates"
            )
        moves[move.source].append((predicate, label_index[move.label], closed[move.target]))
    start, accepting = closed[cea.initial], _bits(cea.final)

    def follow(state: int) -> Iterator[tuple[tuple[int, int], int]]:
        leaving: dict[int, list[tuple[int, int]]] = {}
        for member in _members(start if state == _START else state):
            for predicate, label, targets in moves[member]:
                leaving.setdefault(predicate, []).append((label, targets))
        tested = _bits(leaving)
        successors: dict[int, list[tuple[int, int]]] = {}
        for symbol, truth in enumerate(truths):
            holding = truth & tested
            if holding not in successors:
                reached: dict[int, int] = {}
                for predicate in _members(holding):
                    for label, targets in leaving[predicate]:
                        reached[label] = reached.get(label, 0) | targets
                successors[holding] = sorted(reached.items())
            for label, targets in successors[holding]:
                yield (symbol, label), targets

    found = explore(
        _START,
        follow,
        lambda state: state != _START and bool(state & accepting),
        budget,
        f"{what} over {len(symbols):,} classes of events",
    )
    return assemble(found, len(symbols), labels)


def assemble(
    found: Exploration[int, tuple[int, int]], n_symbols: int, labels: tuple[Label, ...]
) -> DeterministicCEA:
    """The automaton of an exploration whose edges are (symbol, label), without the labels not used."""
    used = sorted({0} | {label for _, (_, label), _ in found.edges})
    renumbered = {label: i for i, label in enumerate(used)}
    steps = [
        Step(source, symbol, renumbered[label], target) for source, (symbol, label), target in found.edges
    ]
    steps.sort(key=lambda step: (step.symbol, step.source, step.label))
    return DeterministicCEA(
        len(found.states), n_symbols, tuple(labels[label] for label in used), tuple(steps), found.final
    )


def _truths(symbol: int, holds: frozenset[int], n_predicates: int) -> int:
    for predicate in sorted(holds):
        if predicate not in range(n_predicates):
            raise UnknownSymbolError(f"symbol {symbol} speaks of predicate {predicate} of {n_predicates}")
    return _bits(holds)


def _bits(members: Iterable[int]) -> int:
    bits = 0
    for member in members:
        bits |= 1 << member
    return bits


def _members(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
