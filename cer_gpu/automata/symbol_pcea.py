"""PCEA over symbols: each transition reads the events that have one of its symbols."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from cer_gpu.automata.cea import (
    AutomatonError,
    Predicate,
    UnknownPredicateError,
    UnknownStateError,
    UnknownSymbolError,
    distinct,
    identity,
)
from cer_gpu.automata.pcea import PCEA, Equality
from cer_gpu.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SymbolGatherTransition:
    """A transition of a PCEA (`cer_gpu.automata.pcea.Gather`) that reads events of some symbols.

    Attributes
    ----------
    symbols : frozenset of int
    sources : tuple of int
    event_type : str
        Of all events of these symbols.
    joins : tuple of Equality
        One for each source.
    label : frozenset
    target : int
    """

    symbols: frozenset[int]
    sources: tuple[int, ...]
    event_type: str
    joins: tuple[Equality, ...]
    label: frozenset[Hashable]
    target: int


@dataclass(frozen=True, slots=True)
class SymbolPCEA:
    """A PCEA over symbols.

    Attributes
    ----------
    names : tuple of str
        The states.
    n_symbols : int
        Symbols are 0 .. n_symbols - 1.
    transitions : tuple of SymbolGatherTransition
    final : frozenset of int

    Raises
    ------
    UnknownStateError, UnknownSymbolError, AutomatonError
        When a state or a symbol does not exist, or a source has no equality.
    """

    names: tuple[str, ...]
    n_symbols: int
    transitions: tuple[SymbolGatherTransition, ...]
    final: frozenset[int]

    def __post_init__(self) -> None:
        states, symbols = range(len(self.names)), range(self.n_symbols)
        for number, move in enumerate(self.transitions):
            if any(state not in states for state in (*move.sources, move.target)):
                raise UnknownStateError(f"transition {number}: not all of {len(states)} states exist")
            if any(symbol not in symbols for symbol in move.symbols):
                raise UnknownSymbolError(f"transition {number}: there are {self.n_symbols} symbols")
            if len(move.sources) != len(move.joins):
                raise AutomatonError(f"transition {number}: one equality for each source")


def gather_predicates(pcea: PCEA) -> tuple[Predicate, ...]:
    """The distinct predicates of the transitions, in the order of their first transition."""
    return distinct(move.predicate for move in pcea.transitions)


def over_symbols(pcea: PCEA, symbols: Sequence[frozenset[int]], tests: Sequence[Predicate]) -> SymbolPCEA:
    """The PCEA over classes of events.

    Parameters
    ----------
    pcea : PCEA
    symbols : sequence of frozenset of int
        For each symbol the indices of the predicates that hold for its events, the others not.
    tests : sequence of Predicate
        The distinct predicates of the transitions, `gather_predicates(pcea)`.

    Raises
    ------
    UnknownPredicateError
        If a transition's predicate is not among `tests`.
    """
    index = {identity(test): number for number, test in enumerate(tests)}
    moves = []
    for move in pcea.transitions:
        number = index.get(identity(move.predicate))
        if number is None:
            raise UnknownPredicateError(f"{move.predicate} is not among the predicates")
        holding = frozenset(symbol for symbol, holds in enumerate(symbols) if number in holds)
        moves.append(
            SymbolGatherTransition(
                holding, move.sources, move.event_type, move.joins, move.label, move.target
            )
        )
    return SymbolPCEA(pcea.names, len(symbols), tuple(moves), pcea.final)
