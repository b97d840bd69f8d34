"""Determinisation over symbols, after which each complex event has at most one run (thesis, Prop. 6.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cer_gpu.automata.bisimulation import coarsest, merged_moves, symbols_of
from cer_gpu.automata.cea import (
    CEA,
    DeterministicCEA,
    Identities,
    Label,
    Predicate,
    Step,
    UnknownPredicateError,
    UnknownSymbolError,
    closures,
    distinct,
    identity,
)
from cer_gpu.automata.explore import Effort, Exploration, explore

DEFAULT_BUDGET = 100_000
"""States and transitions that a determinisation may build."""

START = -1
"""The initial subset of a subset construction: a copy that nothing enters."""


def predicates(cea: CEA) -> tuple[Predicate, ...]:
    """The distinct predicates of the transitions, in the order of their first transition."""
    return distinct(move.predicate for move in cea.transitions)


def determinise(
    cea: CEA,
    symbols: Sequence[frozenset[int]],
    predicates: Sequence[Predicate],
    budget: int = DEFAULT_BUDGET,
    what: str = "determinisation",
) -> DeterministicCEA:
    """The I/O-deterministic CEA with the complex events of `cea`.

    The subset construction, separately for every pair of a symbol and a label, after bisimilar states are
    merged. The initial state is a copy that no transition enters, so that "a run starts here" is a property
    of the state.

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
        The construction, as the message names it.

    Raises
    ------
    LimitError
        When the result is larger than the budget, or the sets that are explored are too large.
    UnknownPredicateError
        If a transition's predicate is not among `predicates`.
    UnknownSymbolError
        If a symbol names a predicate that does not exist.
    """
    labels = tuple(sorted({frozenset[str](), *(move.label for move in cea.transitions)}, key=sorted))
    moves, final, start = _merged(cea, _holding(symbols, predicates), predicates, labels)
    masks = {mask: i for i, mask in enumerate(sorted({mask for leaving in moves for mask, _, _ in leaving}))}
    tests = [[(masks[mask], label, 1 << target) for mask, label, target in leaving] for leaving in moves]
    truths = [0] * len(symbols)
    for mask, i in masks.items():
        for symbol in members_of(mask):
            truths[symbol] |= 1 << i
    accepting = _bits(final)
    effort = Effort(budget)

    # Sets of blocks and of masks are bits of an int.
    def follow(state: int) -> Iterator[tuple[tuple[int, int], int]]:
        leaving: dict[int, list[tuple[int, int]]] = {}
        for member in members_of(1 << start if state == START else state):
            effort.spend(len(tests[member]))
            for mask, label, target in tests[member]:
                leaving.setdefault(mask, []).append((label, target))
        tested = _bits(leaving)
        successors: dict[int, list[tuple[int, int]]] = {}
        for symbol, truth in enumerate(truths):
            holding = truth & tested
            if holding not in successors:
                reached: dict[int, int] = {}
                for mask in members_of(holding):
                    effort.spend(len(leaving[mask]))
                    for label, target in leaving[mask]:
                        reached[label] = reached.get(label, 0) | target
                successors[holding] = sorted(reached.items())
            for label, targets in successors[holding]:
                yield (symbol, label), targets

    found = explore(
        START,
        follow,
        lambda state: state != START and bool(state & accepting),
        budget,
        f"{what} over {len(symbols):,} classes of events",
        effort,
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


def _holding(symbols: Sequence[frozenset[int]], predicates: Sequence[Predicate]) -> list[int]:
    """For each predicate the symbols for which it holds, as bits."""
    known = frozenset(range(len(predicates)))
    found: list[list[int]] = [[] for _ in predicates]
    for symbol, holds in enumerate(symbols):
        if not holds <= known:
            raise UnknownSymbolError(
                f"symbol {symbol} names predicate {min(holds - known)}, and there are {len(predicates)}"
            )
        for predicate in holds:
            found[predicate].append(symbol)
    return [_bits(one) for one in found]


def _merged(
    cea: CEA, holding: Sequence[int], predicates: Sequence[Predicate], labels: Sequence[Label]
) -> tuple[list[list[tuple[int, int, int]]], list[int], int]:
    """The automaton over symbols without epsilon transitions, bisimilar states being one.

    Returns
    -------
    moves : list of list of (int, int, int)
        For each state (symbols, label, target).
    final : list of int
    start : int
    """
    index = {identity(predicate): i for i, predicate in enumerate(predicates)}
    label_index = {label: i for i, label in enumerate(labels)}
    closed = closures(cea)
    entered = sorted({cea.initial, *(move.target for move in cea.transitions)})
    place = {state: i for i, state in enumerate(entered)}
    direct: list[list[tuple[int, int, int]]] = [[] for _ in range(cea.n_states)]
    known = Identities()
    for move in cea.transitions:
        predicate = index.get(known.of(move.predicate))
        if predicate is None:
            raise UnknownPredicateError(
                f"transition from state {move.source} to state {move.target}: {move.predicate} "
                "is not among the predicates"
            )
        if holding[predicate]:
            direct[move.source].append((holding[predicate], label_index[move.label], place[move.target]))
    moves = [[move for member in sorted(closed[state]) for move in direct[member]] for state in entered]
    accepts = [not cea.final.isdisjoint(closed[state]) for state in entered]
    block = coarsest(accepts, moves, symbols_of)
    quotient: list[list[tuple[int, int, int]]] = []
    for state, number in enumerate(block):
        if number == len(quotient):
            merged = merged_moves(moves[state], block)
            quotient.append([(mask, label, target) for (label, target), mask in sorted(merged.items())])
    final = sorted({block[state] for state, accepted in enumerate(accepts) if accepted})
    return quotient, final, block[place[cea.initial]]


def _bits(members: Iterable[int]) -> int:
    # Byte by byte: a number of 65,536 bits is 8 kB, too much to be made anew for each of its members.
    found = bytearray()
    for member in members:
        place = member >> 3
        if place >= len(found):
            found.extend(bytes(place + 1 - len(found)))
        found[place] |= 1 << (member & 7)
    return int.from_bytes(found, "little")


def members_of(bits: int) -> Iterator[int]:
    """The members of a set that is given as bits, the least first."""
    digits = bin(bits)[:1:-1]
    place = digits.find("1")
    while place >= 0:
        yield place
        place = digits.find("1", place + 1)
