"""Timed complex event automata (timed CEA) as frozen values (timed CEL paper, section 4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from cer_gpu.automata.bisimulation import coarsest
from cer_gpu.automata.cea import (
    AutomatonError,
    Identities,
    Label,
    Predicate,
    UnknownPredicateError,
    UnknownStateError,
    checked_states,
    distinct,
    identity,
)
from cer_gpu.automata.explore import coreachable, explore
from cer_gpu.automata.timed.clocks import (
    NEVER,
    ClockCondition,
    clocks_of,
    conjunction,
    disjuncts,
    renamed,
    satisfiable,
)
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.tree import Both, Either, Not, Truth


class UnknownClockError(AutomatonError):
    """A transition names a clock outside `0 .. n_clocks - 1`."""


@dataclass(frozen=True, slots=True)
class TimedTransition:
    """From `source`, read an event that satisfies `predicate` at a moment at which `condition` holds; mark it
    with `label`, set the clocks `resets` to zero, be in `target`."""

    source: int
    predicate: Predicate
    condition: ClockCondition
    label: Label
    resets: frozenset[int]
    target: int


@dataclass(frozen=True, slots=True)
class TimedCEA:
    """A timed complex event automaton: `(Q, P, X, Z, Delta, q0, F)`.

    A run begins with all clocks unset, takes one transition for each event from the start to the end, and
    gives a complex event if it ends in a final state. `(A ;[<= 1 s] B) AS x`, with one clock, is ::

        0 --A/{A,x}, reset z--> 1 --B, z <= 1 s/{B,x}--> 2      and   1 --TRUE/{}--> 1

    Attributes
    ----------
    n_states : int
        States are `0 .. n_states - 1`.
    n_clocks : int
        Clocks are `0 .. n_clocks - 1`.
    initial : int
    final : frozenset of int
    transitions : tuple of TimedTransition

    Raises
    ------
    UnknownStateError, UnknownClockError
        If a part of a transition does not exist.
    """

    n_states: int
    n_clocks: int
    initial: int
    final: frozenset[int]
    transitions: tuple[TimedTransition, ...]

    def __post_init__(self) -> None:
        states, clocks = checked_states(self.n_states, self.initial, self.final), range(self.n_clocks)
        for move in self.transitions:
            named = f"transition from state {move.source} to state {move.target} on {move.predicate}"
            if move.source not in states or move.target not in states:
                raise UnknownStateError(f"{named}: not both are among the {self.n_states} states")
            if unknown := (move.resets | clocks_of(move.condition)) - set(clocks):
                raise UnknownClockError(f"{named}: clock {min(unknown)} of {self.n_clocks}")

    @property
    def size(self) -> int:
        """States and transitions together."""
        return self.n_states + len(self.transitions)

    def leaving(self) -> list[list[TimedTransition]]:
        """For each state the transitions that leave it."""
        found: list[list[TimedTransition]] = [[] for _ in range(self.n_states)]
        for move in self.transitions:
            found[move.source].append(move)
        return found


class EventClasses(NamedTuple):
    """The classes of events that an automaton tells apart.

    Attributes
    ----------
    predicates : sequence of Predicate
    symbols : sequence of frozenset of int
        For each class the indices of the predicates that hold for its events, the others not.
    """

    predicates: Sequence[Predicate]
    symbols: Sequence[frozenset[int]]

    def holding(self) -> dict[tuple[object, ...], int]:
        """For each predicate, by its identity, the classes for which it holds, as bits."""
        found = {identity(predicate): 0 for predicate in self.predicates}
        names = list(map(identity, self.predicates))
        for symbol, holds in enumerate(self.symbols):
            for predicate in holds:
                found[names[predicate]] |= 1 << symbol
        found.setdefault(identity(Truth(True)), (1 << len(self.symbols)) - 1)
        found.setdefault(identity(Truth(False)), 0)
        return found

    def of(self, transitions: Iterable[TimedTransition]) -> list[int]:
        """For each transition the classes of events that satisfy its predicate, as bits.

        Raises
        ------
        UnknownPredicateError
            If its predicate is neither among the predicates nor made of them.
        """
        holding, known = self.holding(), Identities()
        every = (1 << len(self.symbols)) - 1

        def of_predicate(predicate: Predicate) -> int:
            classes = holding.get(known.of(predicate))
            if classes is not None:
                return classes
            match predicate:
                case Both(left, right):
                    return of_predicate(left) & of_predicate(right)
                case Either(left, right):
                    return of_predicate(left) | of_predicate(right)
                case Not(operand):
                    return every & ~of_predicate(operand)
            raise UnknownPredicateError(f"{predicate} is not among the predicates")

        return [of_predicate(move.predicate) for move in transitions]


def timed_predicates(timed: TimedCEA) -> tuple[Predicate, ...]:
    """The distinct predicates of the transitions, in the order of their first transition."""
    return distinct(move.predicate for move in timed.transitions)


def timed_trim(timed: TimedCEA) -> TimedCEA:
    """The states that are reached from the initial one and reach a final one, numbered breadth-first.

    Transitions that never fire, since no event or no valuation satisfies them, are dropped. The initial state
    stays, as state 0; clocks keep their numbers.
    """
    moves: list[list[TimedTransition]] = [[] for _ in range(timed.n_states)]
    for move in dict.fromkeys(timed.transitions):
        if move.predicate != Truth(False) and move.condition != NEVER and satisfiable(move.condition):
            moves[move.source].append(move)
    arcs = [(move.source, move.target) for leaving in moves for move in leaving]
    useful = coreachable(timed.n_states, arcs, timed.final)
    found = explore(
        timed.initial,
        lambda state: [(move, move.target) for move in moves[state] if move.target in useful],
        timed.final.__contains__,
        None,
        "trimming",
    )
    kept = tuple(replace(move, source=source, target=target) for source, move, target in found.edges)
    return TimedCEA(len(found.states), timed.n_clocks, 0, found.final, kept)


def merged_states(timed: TimedCEA) -> TimedCEA:
    """The automaton in which states with the same futures, transition by transition, are one (bisimilar).

    The result has the same complex events, on every stream. The initial state stays apart, so that nothing
    enters it if nothing did, and states are numbered in the order of the first of each class.
    """
    known = Identities()
    moves: list[list[tuple[object, ...]]] = [[] for _ in range(timed.n_states)]
    for move in timed.transitions:
        read = known.of(move.predicate)
        moves[move.source].append((read, move.condition, move.label, move.resets, move.target))
    block = coarsest(
        [(state == timed.initial, state in timed.final) for state in range(timed.n_states)], moves
    )
    merged = (
        replace(move, source=block[move.source], target=block[move.target]) for move in timed.transitions
    )
    return TimedCEA(
        max(block) + 1,
        timed.n_clocks,
        block[timed.initial],
        frozenset(block[state] for state in timed.final),
        tuple(dict.fromkeys(merged)),
    )


def with_clocks_in_use(timed: TimedCEA) -> TimedCEA:
    """The automaton without the clocks that no condition names, the others numbered in order."""
    used = sorted(frozenset[int]().union(*(clocks_of(move.condition) for move in timed.transitions)))
    if len(used) == timed.n_clocks:
        return timed
    number = {clock: place for place, clock in enumerate(used)}
    return TimedCEA(
        timed.n_states,
        len(used),
        timed.initial,
        timed.final,
        tuple(
            replace(
                move,
                condition=renamed(move.condition, number),
                resets=frozenset(number[clock] for clock in move.resets if clock in number),
            )
            for move in timed.transitions
        ),
    )


def disjunction_free(timed: TimedCEA) -> TimedCEA:
    """The automaton whose conditions are conjunctions of checks, one transition for each (Lemma A.1)."""
    moves = tuple(
        replace(move, condition=conjunction(*checks))
        for move in timed.transitions
        for checks in disjuncts(move.condition)
    )
    return replace(timed, transitions=tuple(dict.fromkeys(moves)))


def is_deterministic(timed: TimedCEA, classes: EventClasses) -> bool:
    """Whether transitions that leave one state differ in their labels if they may fire at once (section 5).

    They may if an event satisfies both predicates and a valuation both conditions. Every complex event has
    then one run.
    """
    holding = dict(zip(timed.transitions, classes.of(timed.transitions), strict=True))
    return not any(
        one.label == other.label
        and holding[one] & holding[other]
        and satisfiable(conjunction(one.condition, other.condition))
        for leaving in timed.leaving()
        for one, other in combinations(dict.fromkeys(leaving), 2)
    )
