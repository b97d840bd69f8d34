"""The operators of timed CEL on the automata of their operands (proof of Proposition 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from cer_gpu.automata.cea import Label, Predicate, both, complement, evaluated, identity, literals
from cer_gpu.automata.timed.clocks import (
    ALWAYS,
    ClockCondition,
    conjunction,
)
from cer_gpu.automata.timed.timed_cea import TimedTransition
from cer_gpu.errors import LimitError
from cer_gpu.language import tree
from cer_gpu.language.chains import flattened
from cer_gpu.language.scope import variables
from cer_gpu.language.tree import Truth
from cer_gpu.language.walk import condition_variables

TIMED_BUDGET = 20_000
"""States and transitions that the timed CEA of a formula may have."""

UNMARKED_LABEL: Label = frozenset()


class BeyondTimedCELError(TypeError):
    """A formula has an operator that timed CEA do not express, or a filter that compares events."""


class TimedPart(NamedTuple):
    """The automaton of a subformula: nothing enters its initial state, 0, and nothing leaves a final one."""

    n_states: int
    final: frozenset[int]
    moves: tuple[TimedTransition, ...]


def single(predicate: Predicate, label: Label) -> TimedPart:
    """One event that satisfies a predicate, with a label."""
    return TimedPart(2, frozenset({1}), (TimedTransition(0, predicate, ALWAYS, label, frozenset(), 1),))


def waits(state: int) -> TimedTransition:
    """The transition with which a run waits in a state."""
    return TimedTransition(state, Truth(True), ALWAYS, UNMARKED_LABEL, frozenset(), state)


def shifted(part: TimedPart, offset: int, condition: ClockCondition) -> TimedPart:
    """The automaton with renumbered states and one more condition on its first transitions."""
    moves = tuple(
        replace(
            move,
            source=move.source + offset,
            target=move.target + offset,
            condition=conjunction(move.condition, condition) if move.source == 0 else move.condition,
        )
        for move in part.moves
    )
    return TimedPart(part.n_states, frozenset(state + offset for state in part.final), moves)


def entering(part: TimedPart, target: int, reset: frozenset[int]) -> list[TimedTransition]:
    """Copies of the last transitions, into a state from which the run continues."""
    return [
        replace(move, target=target, resets=move.resets | reset)
        for move in part.moves
        if move.target in part.final
    ]


def labelled(part: TimedPart, relabel: Callable[[Label], Label]) -> TimedPart:
    """AS and PROJECT: the same runs with other labels."""
    return part._replace(moves=tuple(replace(move, label=relabel(move.label)) for move in part.moves))


def either(left: TimedPart, right: TimedPart) -> TimedPart:
    """`p OR q`: one initial state for both."""
    offset = left.n_states

    def place(state: int) -> int:
        return state + offset if state else 0

    moves = [*left.moves]
    moves += [replace(move, source=place(move.source), target=place(move.target)) for move in right.moves]
    return TimedPart(
        offset + right.n_states, left.final | {place(state) for state in right.final}, tuple(moves)
    )


def beside(part: TimedPart, predicate: Predicate, first: bool) -> TimedPart:
    """`p FOLLOWED BY q`: a predicate on the last event (PRECEDED BY: on the first)."""

    def asks(move: TimedTransition) -> bool:
        return move.source == 0 if first else move.target in part.final

    return part._replace(
        moves=tuple(
            replace(move, predicate=both(move.predicate, predicate)) if asks(move) else move
            for move in part.moves
        )
    )


class _StatePair(NamedTuple):
    """Two sides of a product: None is a side that stands still while the other reads."""

    left: TimedTransition | None
    right: TimedTransition | None


def in_step(
    mine: Sequence[TimedTransition], theirs: Sequence[TimedTransition], *_: bool
) -> Iterable[_StatePair]:
    """AND: both sides read every event, with one label."""
    return [_StatePair(one, other) for one in mine for other in theirs if one.label == other.label]


def each_alone(
    mine: Sequence[TimedTransition],
    theirs: Sequence[TimedTransition],
    rests: bool,
    others_rest: bool,
    edge: bool,
) -> Iterable[_StatePair]:
    """ALL: a side reads nothing before its start and after its end; at the edges one of them does read."""
    pairs = [_StatePair(one, other) for one in mine for other in theirs]
    if rests:
        pairs += [_StatePair(None, other) for other in theirs]
    if others_rest:
        pairs += [_StatePair(one, None) for one in mine]
    return [*pairs, _StatePair(None, None)] if rests and others_rest and not edge else pairs


def in_product(left: TimedPart, right: TimedPart, pairs: Callable[..., Iterable[_StatePair]]) -> TimedPart:
    """The product of two parts, of the states that are reached."""
    ours, theirs = _leaving(left), _leaving(right)
    number = {(0, 0): 0}
    todo = [(0, 0)]
    moves: list[TimedTransition] = []
    ends = {(one, other) for one in left.final for other in right.final}
    for here in todo:  # grows while it is read
        one, other = here
        rests = (one == 0 or one in left.final), (other == 0 or other in right.final)
        if here in ends:
            continue
        for mine, yours in pairs(ours[one], theirs[other], *rests, here == (0, 0)):
            there = (one if mine is None else mine.target), (other if yours is None else yours.target)
            if there not in number:
                number[there] = len(todo)
                todo.append(there)
            moves.append(_together(number[here], mine, yours, number[there]))
        if len(todo) + len(moves) > TIMED_BUDGET:
            raise LimitError(
                f"the timed automaton of AND or ALL takes more than {TIMED_BUDGET:,} states and transitions: "
                "make the patterns that it joins smaller"
            )
    return TimedPart(len(todo), frozenset(number[pair] for pair in ends if pair in number), tuple(moves))


def _together(
    source: int, mine: TimedTransition | None, yours: TimedTransition | None, target: int
) -> TimedTransition:
    predicate: Predicate = Truth(True)
    condition, label, resets = ALWAYS, UNMARKED_LABEL, frozenset[int]()
    for move in (mine, yours):
        if move is not None:
            predicate = both(predicate, move.predicate)
            condition = conjunction(condition, move.condition)
            label, resets = label | move.label, resets | move.resets
    return TimedTransition(source, predicate, condition, label, resets, target)


def _leaving(part: TimedPart) -> list[list[TimedTransition]]:
    found: list[list[TimedTransition]] = [[] for _ in range(part.n_states)]
    for move in part.moves:
        found[move.source].append(move)
    return found


def strict(part: TimedPart) -> TimedPart:
    """`STRICT(p)`: the marked positions have no unmarked one between them."""
    moves: list[TimedTransition] = []
    n = part.n_states  # phases: nothing marked yet, marking, no more marks
    for move in part.moves:
        for phase in (0,) if move.source == 0 else range(3):
            if phase == 2 and move.label:
                continue
            after = 1 if move.label else (2 if phase else 0)
            source = move.source + phase * n if move.source else 0
            moves.append(replace(move, source=source, target=move.target + after * n))
    return TimedPart(
        3 * n, frozenset(state + phase * n for state in part.final for phase in range(3)), tuple(moves)
    )


def filtered(part: TimedPart, node: tree.Filter, condition: tree.Condition) -> TimedPart:
    """`p FILTER c`: a conjunction of `x[P]` is asked of the transitions that mark x.

    For any other condition the state keeps which of its `x[P]` some event has violated.
    """
    if foreign := condition_variables(condition) - variables(node.pattern):
        raise BeyondTimedCELError(f"a filter speaks of `{min(foreign)}`, which its pattern does not define")
    demands = _demands(condition)
    if demands is not None:
        moves = []
        for move in part.moves:
            predicate = move.predicate
            for demand in demands:
                if isinstance(demand, Truth):
                    predicate = both(predicate, demand)
                elif demand.variable in move.label:
                    predicate = both(predicate, demand.predicate)
            moves.append(replace(move, predicate=predicate))
        return part._replace(moves=tuple(moves))
    try:
        asked = literals(node)
    except TypeError as error:
        raise BeyondTimedCELError("a filter compares several events") from error
    return _watched(part, condition, asked)


def _watched(part: TimedPart, condition: tree.Condition, asked: Sequence[tree.Every]) -> TimedPart:
    """The part with, beside its state, which of the asked `x[P]` an event has violated: what is reached."""
    leaving = _leaving(part)
    number = {(0, 0): 0}
    todo = [(0, 0)]
    moves: list[TimedTransition] = []
    for state, violated in todo:  # grows while it is read
        for move in leaving[state]:
            for predicate, more in _violating(move, asked):
                there = move.target, violated | more
                if there not in number:
                    number[there] = len(todo)
                    todo.append(there)
                source = number[state, violated]
                moves.append(replace(move, predicate=predicate, source=source, target=number[there]))
        if len(todo) + len(moves) > TIMED_BUDGET:
            raise LimitError(
                "the conditions of a filter that are joined by OR take too many states of the timed "
                "automaton: use fewer, or join them by AND"
            )
    place = {identity(literal): place for place, literal in enumerate(asked)}
    final = {
        number[state, violated]
        for state, violated in todo
        if state in part.final
        and evaluated(condition, place, [not violated >> bit & 1 for bit in range(len(asked))])
    }
    return TimedPart(len(todo), frozenset(final), tuple(moves))


def _violating(move: TimedTransition, asked: Sequence[tree.Every]) -> list[tuple[Predicate, int]]:
    """What an event of a transition may violate, as bits, each with the predicate of such events."""
    cases: list[tuple[Predicate, int]] = [(move.predicate, 0)]
    for number, literal in enumerate(asked):
        if literal.variable in move.label:
            cases = [
                case
                for predicate, violated in cases
                for case in (
                    (both(predicate, literal.predicate), violated),
                    (both(predicate, complement(literal.predicate)), violated | 1 << number),
                )
            ]
    return cases


def _demands(condition: tree.Condition) -> list[tree.Every | Truth] | None:
    """The parts of a conjunction of `x[P]`; None for another condition."""
    found = flattened(tree.Both, condition)
    plain = all(isinstance(one, Truth) or (isinstance(one, tree.Every) and not one.prior) for one in found)
    return found if plain else None
