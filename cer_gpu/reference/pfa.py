"""Parallelized finite automata (PFA) over strings, and their determinisation: section 3 of the PCEA paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from cer_gpu.automata.cea import AutomatonError, UnknownStateError, UnknownSymbolError
from cer_gpu.automata.explore import explore
from cer_gpu.frozen_dataclass import dataclass


class ParallelTransition(NamedTuple):
    """A transition (P, a, q): runs in all of `sources` read `symbol` together and become one in `target`."""

    sources: frozenset[int]
    symbol: str
    target: int


@dataclass(frozen=True, slots=True)
class StateTree:
    """A run tree of a PFA: the state at its root, and the run trees one symbol earlier."""

    state: int
    children: tuple[StateTree, ...] = ()


@dataclass(frozen=True, slots=True)
class PFA:
    """A parallelized finite automaton; `a` and `b` in any order, then `c`, is ::

        {0} --a,b,c--> 0   {0} --a--> 1   {1} --a,b,c--> 1
        {2} --a,b,c--> 2   {2} --b--> 3   {3} --a,b,c--> 3      {1, 3} --c--> 4

    Attributes
    ----------
    n_states : int
    alphabet : tuple of str
    transitions : tuple of Parallel
        Their sources are not empty: all leaves of a run tree have one depth.
    initial, final : frozenset of int

    Raises
    ------
    UnknownStateError, UnknownSymbolError, AutomatonError
        When a state or a symbol does not exist, or a transition has no sources.
    """

    n_states: int
    alphabet: tuple[str, ...]
    transitions: tuple[ParallelTransition, ...]
    initial: frozenset[int]
    final: frozenset[int]

    def __post_init__(self) -> None:
        states = frozenset(range(self.n_states))
        if not self.initial | self.final <= states:
            raise UnknownStateError(f"initial or final states are not among the {self.n_states} states")
        for move in self.transitions:
            if not move.sources | {move.target} <= states:
                raise UnknownStateError(f"{move}: not all are among the {self.n_states} states")
            if move.symbol not in self.alphabet:
                raise UnknownSymbolError(f"{move}: the alphabet is {self.alphabet}")
            if not move.sources:
                raise AutomatonError(f"{move} has no sources")

    @property
    def size(self) -> int:
        """States, and for each transition its sources and one (the paper's |P|)."""
        return self.n_states + sum(len(move.sources) + 1 for move in self.transitions)


@dataclass(frozen=True, slots=True)
class DFA:
    """A deterministic finite automaton whose transition function is total; state 0 is initial.

    Attributes
    ----------
    alphabet : tuple of str
    moves : tuple of tuple of int
        `moves[state][k]` is the state that the symbol `alphabet[k]` leads to.
    final : frozenset of int
    """

    alphabet: tuple[str, ...]
    moves: tuple[tuple[int, ...], ...]
    final: frozenset[int]

    def accepts(self, word: Sequence[str]) -> bool:
        """Whether the run on a word ends in a final state."""
        state = 0
        for symbol in word:
            state = self.moves[state][self.alphabet.index(symbol)]
        return state in self.final


def accepting_trees(pfa: PFA, word: Sequence[str]) -> Iterator[StateTree]:
    """The accepting run trees on a word, by the definition: exponential."""
    for state in sorted(pfa.final):
        yield from _trees(pfa, word, state)


def _trees(pfa: PFA, word: Sequence[str], state: int) -> Iterator[StateTree]:
    if not word:
        if state in pfa.initial:
            yield StateTree(state)
        return
    for move in pfa.transitions:
        if move.target == state and move.symbol == word[-1]:
            below = (_trees(pfa, word[:-1], source) for source in sorted(move.sources))
            yield from (StateTree(state, children) for children in product(*below))


def determinise_pfa(pfa: PFA) -> DFA:
    """The equivalent DFA of at most 2^n states (Proposition 3.2): its states are the sets of states reached.

    A run tree with root q exists after a prefix iff q is in the set, since the runs that a transition
    gathers are independent of each other.
    """

    def follow(reached: frozenset[int]) -> Iterator[tuple[str, frozenset[int]]]:
        for symbol in pfa.alphabet:
            yield (
                symbol,
                frozenset(
                    move.target
                    for move in pfa.transitions
                    if move.symbol == symbol and move.sources <= reached
                ),
            )

    found = explore(
        pfa.initial, follow, lambda reached: bool(reached & pfa.final), None, "the determinisation of a PFA"
    )
    targets: list[list[int]] = [[] for _ in found.states]
    for source, _, target in found.edges:  # in the order of the alphabet
        targets[source].append(target)
    return DFA(pfa.alphabet, tuple(map(tuple, targets)), found.final)
