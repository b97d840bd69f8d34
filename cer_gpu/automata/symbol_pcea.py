"""PCEA over symbols: the transitions say which classes of events they read."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from cer_gpu.automata.cea import Predicate, UnknownPredicateError, identity
from cer_gpu.automata.pcea import PCEA, Equality


@dataclass(frozen=True, slots=True)
class SymbolGather:
    symbols: frozenset[int]
    sources: tuple[int, ...]
    event_type: str
    joins: tuple[Equality, ...]
    label: frozenset[Hashable]
    target: int


@dataclass(frozen=True, slots=True)
class SymbolPCEA:
    names: tuple[str, ...]
    n_symbols: int
    transitions: tuple[SymbolGather, ...]
    final: frozenset[int]


def gather_predicates(pcea: PCEA) -> tuple[Predicate, ...]:
    first: dict[tuple[object, ...], Predicate] = {}
    for move in pcea.transitions:
        first.setdefault(identity(move.predicate), move.predicate)
    return tuple(first.values())


def over_symbols(pcea: PCEA, symbols: Sequence[frozenset[int]], tests: Sequence[Predicate]) -> SymbolPCEA:
    index = {identity(test): number for number, test in enumerate(tests)}
    moves = []
    for move in pcea.transitions:
        number = index.get(identity(move.predicate))
        if number is None:
            raise UnknownPredicateError(f"{move.predicate} is not among the predicates")
        holding = frozenset(symbol for symbol, holds in enumerate(symbols) if number in holds)
        moves.append(
            SymbolGather(holding, move.sources, move.event_type, move.joins, move.label, move.target)
        )
    return SymbolPCEA(pcea.names, len(symbols), tuple(moves), pcea.final)
