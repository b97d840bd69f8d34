"""Formulas with equalities between events to chains (CCEA): each event is compared with the one before it.

`A AS a ; B AS b ; C AS c FILTER a.x = b.x AND b.y = c.y` becomes, with positions as states, ::

    () --A--> A        (A), x = x, --B--> B        (B), y = y, --C--> C

An equality holds one value in an instance of its scope, if both of its variables mark an event there. The run
carries that value along: what it knows at each step is which attributes of its last event equal it. Where an
event must have a value that the last event does not carry, no automaton of this kind can follow (PCEA paper,
Proposition 3.4), and the query is refused.

Whether both variables will mark an event is guessed at the first event that one of them marks: either they
will, and all events of both are equal, or the other will not, and nothing is asked. The marks of the complex
event say which it was, so the guess adds no second run for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TypeAlias

from cer_gpu.automata.cea import Predicate, both
from cer_gpu.automata.determinise import DEFAULT_BUDGET
from cer_gpu.automata.explore import coreachable, explore
from cer_gpu.automata.pcea import PCEA, Equality, GatherTransition, Keys
from cer_gpu.automata.positions import (
    Constraint,
    PositionAutomaton,
    PositionStep,
    Prospects,
    inexpressible,
    loses_its_marks,
    position_automaton,
    prospects_of,
)
from cer_gpu.errors import QueryError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree as t
from cer_gpu.language.printer import to_text
from cer_gpu.language.words import written

UNMARKED = frozenset({""})
"""The label of a first or last event that keeps no mark: start and end say where it is."""


@dataclass(frozen=True, slots=True)
class Status:
    """The knowledge of a run about one equality in the present instance of its scope.

    Attributes
    ----------
    seen : frozenset of int
        Which of its sides (0, 1) has marked an event.
    equal : bool
        Whether both sides will have marked events, so that all of these have one value; else only the side
        seen will.
    carried : frozenset of Expression
        The values of the last event that equal it.
    """

    seen: frozenset[int] = frozenset()
    equal: bool = False
    carried: frozenset[t.Expression] = frozenset()


NEW = Status()
Statuses: TypeAlias = tuple[Status, ...]
State: TypeAlias = tuple[int, Statuses] | None
"""A position and what is known there; None before the first event."""


@dataclass(frozen=True, slots=True)
class _Move:
    """The next step of a run: what is compared with the last event, and inside the event itself."""

    pairs: tuple[tuple[t.Expression, t.Expression], ...]
    inside: tuple[tuple[t.Expression, t.Expression], ...]
    next: bool
    missing: int | None
    """The equality whose value the last event does not carry."""


def to_pcea(pattern: t.Pattern, budget: int = DEFAULT_BUDGET) -> PCEA:
    """The CCEA of a formula with equalities between its events.

    Parameters
    ----------
    pattern : Pattern
        In LP-normal form, except for filters `x.a = y.b`.
    budget : int
        States and transitions that may be built.

    Returns
    -------
    PCEA
        A chain, over every label at most one run for each complex event and each reading of the formula:
        `cer_gpu.automata.disambiguation` merges the readings.

    Raises
    ------
    QueryError
        CER091, when it cannot follow a correlation, or an event in the middle keeps no mark.
    LimitError
        When it exceeds the budget.
    """
    automaton = position_automaton(pattern)
    prospects = [prospects_of(automaton, one) for one in automaton.constraints]
    steps: dict[int, list[PositionStep]] = {}
    for step in automaton.steps:
        steps.setdefault(step.source, []).append(step)

    def follow(state: State) -> Iterator[tuple[_Move, State]]:
        if state is None:
            fresh = (NEW,) * len(automaton.constraints)
            for first in dict.fromkeys(automaton.first):
                yield from _read(automaton.constraints, prospects, fresh, first, False)
            return
        position, before = state
        for step in dict.fromkeys(steps.get(position, ())):
            after = _closed(automaton.constraints, before, step.loop)
            if after is not None:
                yield from _read(automaton.constraints, prospects, after, step.target, step.contiguous)

    def final(state: State) -> bool:
        return state is not None and state[0] in automaton.last and all(map(_fulfilled, state[1]))

    found = explore(None, follow, final, budget, "the automaton of the correlations")
    edges = [(source, target) for source, _, target in found.edges]
    useful = coreachable(len(found.states), edges, found.final)
    kept = [(source, move, target) for source, move, target in found.edges if target in useful]
    for source, move, target in kept:
        if move.missing is not None:
            raise _not_carried(automaton, found.states[source], found.states[target], move.missing)
    return _built(automaton, found.states, kept, found.final)


def _read(
    constraints: tuple[Constraint, ...],
    prospects: list[Prospects],
    before: Statuses,
    position: int,
    contiguous: bool,
) -> Iterator[tuple[_Move, State]]:
    """The ways to read an event at a position, by what is guessed of equalities that it begins."""
    marking = [
        tuple(n for n, side in enumerate((one.left, one.right)) if position in side.positions)
        for one in constraints
    ]
    options: list[list[bool]] = []
    for status, sides, ahead in zip(before, marking, prospects, strict=True):
        if not sides or status.seen:
            options.append([status.equal])
        elif len(sides) == 2:
            options.append([True])
        else:
            # one side alone may still turn out to be the only one
            meets, avoids = ahead[sides[0]]
            options.append([True] * (position in meets) + [False] * (position in avoids))
    for guess in product(*options):
        read = _guessed(constraints, before, marking, guess, position, contiguous)
        if read is not None:
            yield read


def _guessed(
    constraints: tuple[Constraint, ...],
    before: Statuses,
    marking: list[tuple[int, ...]],
    guess: tuple[bool, ...],
    position: int,
    contiguous: bool,
) -> tuple[_Move, State] | None:
    pairs: set[tuple[t.Expression, t.Expression]] = set()
    inside: set[tuple[t.Expression, t.Expression]] = set()
    missing: int | None = None
    for number, (one, status, sides, equal) in enumerate(
        zip(constraints, before, marking, guess, strict=True)
    ):
        if not sides:
            continue
        if not equal:
            if status.seen | frozenset(sides) == {0, 1}:
                return None
            continue
        keys = [(one.left, one.right)[side].key for side in sides]
        if len(keys) == 2:
            # one key compared with itself still asks for a value: null equals nothing
            inside.add((keys[0], keys[1]))
        if status.seen:
            if not status.carried:
                missing = number
            else:
                known = min(status.carried, key=to_text)
                pairs.update((known, key) for key in keys)
    ordered = tuple(sorted(pairs, key=lambda pair: (to_text(pair[0]), to_text(pair[1]))))
    classes = _classes(before, pairs, inside)
    after = []
    for one, status, sides, equal in zip(constraints, before, marking, guess, strict=True):
        values = {(0, key) for key in status.carried} if status.equal else set()
        values |= {(1, (one.left, one.right)[side].key) for side in sides} if equal else set()
        now = frozenset(key for place, key in _equal_to(values, classes) if place == 1)
        after.append(Status(status.seen | frozenset(sides), equal, now if equal else frozenset()))
    move = _Move(ordered, tuple(sorted(inside, key=str)), contiguous, missing)
    return move, (position, tuple(after))


Place: TypeAlias = tuple[int, t.Expression]
"""An expression over the last event (0) or over the one that is read (1)."""


def _classes(
    before: Statuses,
    pairs: set[tuple[t.Expression, t.Expression]],
    inside: set[tuple[t.Expression, t.Expression]],
) -> list[set[Place]]:
    """What is known to be equal of the last event and of the one that is read."""
    classes: list[set[Place]] = []
    groups: list[set[Place]] = [{(0, key) for key in status.carried} for status in before if status.carried]
    groups += [{(0, old), (1, new)} for old, new in pairs]
    groups += [{(1, one), (1, other)} for one, other in inside]
    for group in groups:
        touching = [known for known in classes if known & group]
        classes = [known for known in classes if not known & group]
        classes.append(group.union(*touching))
    return classes


def _equal_to(values: set[Place], classes: list[set[Place]]) -> set[Place]:
    found = set(values)
    for known in classes:
        if known & values:
            found |= known
    return found


def _closed(constraints: tuple[Constraint, ...], before: Statuses, loop: int | None) -> Statuses | None:
    """What is known after an iteration's loop, which ends instances; None where a guess was wrong."""
    if loop is None:
        return before
    after = []
    for one, status in zip(constraints, before, strict=True):
        if loop in one.resets:
            if not _fulfilled(status):
                return None
            status = NEW
        after.append(status)
    return tuple(after)


def _fulfilled(status: Status) -> bool:
    return not status.equal or status.seen == {0, 1}


def _built(
    automaton: PositionAutomaton,
    states: tuple[State, ...],
    edges: list[tuple[int, _Move, int]],
    final: frozenset[int],
) -> PCEA:
    used = sorted({target for _, _, target in edges})
    number = {state: place for place, state in enumerate(used)}
    leaving = {source for source, _, _ in edges}
    counted: dict[str, int] = {}
    names = []
    moves: dict[GatherTransition, None] = {}
    for state in used:
        position = automaton.positions[_position(states, state)]
        count = counted[position.event_type] = counted.get(position.event_type, 0) + 1
        names.append(position.event_type if count == 1 else f"{position.event_type}{count}")
    for source, move, target in edges:
        position = automaton.positions[_position(states, target)]
        label: frozenset[str] = position.label
        if not label:
            if source != 0 and target in leaving:
                raise loses_its_marks(position.event_type)
            label = UNMARKED
        predicate: Predicate = position.predicate
        for one, other in move.inside:
            predicate = both(predicate, t.Comparison("=", one, other))
        sources: tuple[int, ...] = ()
        joins: tuple[Equality, ...] = ()
        if source != 0:
            last = automaton.positions[_position(states, source)].event_type
            left: Keys = tuple(old for old, _ in move.pairs)
            right: Keys = tuple(new for _, new in move.pairs)
            sources, joins = (number[source],), (Equality(((last, left),), right, move.next),)
        moves[GatherTransition(sources, predicate, position.event_type, joins, label, number[target])] = None
    accepting = frozenset(number[state] for state in final if state in number)
    return PCEA(tuple(names), tuple(moves), accepting)


def _position(states: tuple[State, ...], number: int) -> int:
    state = states[number]
    assert state is not None
    return state[0]


def _not_carried(automaton: PositionAutomaton, source: State, target: State, missing: int) -> QueryError:
    assert source is not None
    assert target is not None
    between = automaton.positions[source[0]].event_type
    event = automaton.positions[target[0]].event_type
    one = automaton.constraints[missing]
    hints = [f"if the `{between}` has the same value, add an equality with it"]
    if one.left.key == one.right.key and isinstance(one.left.key, t.Attribute):
        hints.append(
            f"if all events of a match have the same value, write `PARTITION BY {written(one.left.key.name)}`"
        )
    return inexpressible(
        one.comparison,
        f"it compares an event with the one right before it, and `{between}`, which comes before `{event}`, "
        "is not known to have the value",
        *hints,
    )
