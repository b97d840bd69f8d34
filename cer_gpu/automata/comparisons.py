"""Formulas whose events are compared with the marked event before them: a deterministic automaton of steps.

`X AS x ; Y AS y FILTER y.p > x.p AND y.id = x.id` has two positions and one step, with two **tests** of the
pair (last marked event, next one). Runs with the same marks have the same last event, so all tests of all
steps read the same pair: the subset construction over positions that reads the symbol of the next event,
which tests hold, and whether it comes right after the last one, is deterministic. A partial match is a state
and the event that entered it.

A comparison of two events can be followed this way if one of them is the last marked event when the other is
read. `PRIOR(x)` is one if a repetition marks one event: rising runs are `(T AS x FILTER x.p > PRIOR(x).p)+`,
whose second and later events each ask for a greater value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from cer_gpu.automata.cea import Label, Predicate, both
from cer_gpu.automata.chains import UNMARKED
from cer_gpu.automata.explore import Exploration, coreachable, explore
from cer_gpu.automata.marked_automaton import BUDGET
from cer_gpu.automata.positions import (
    Constraint,
    PositionAutomaton,
    PositionStep,
    inexpressible,
    loses_its_marks,
    position_automaton,
)
from cer_gpu.diagnostics import NOT_TAKEN
from cer_gpu.errors import Diagnostic, QueryError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree as t
from cer_gpu.language.signs import CONVERSE

OPERATORS = frozenset({"=", "!=", "<", "<=", ">", ">="})


@dataclass(frozen=True, slots=True)
class PairTest:
    """`old op new`, of what two events have: the last marked one and the one that is read."""

    op: str
    old: t.Expression
    new: t.Expression


Seen: TypeAlias = int
"""What a run has seen of a side: `NOTHING`, the `LAST` event alone, or something `OLDER`."""

NOTHING, LAST, OLDER = range(3)


@dataclass(frozen=True, slots=True)
class PairState:
    """A state: a position, what the run has seen of the sides of comparisons, and the event's own tests.

    Attributes
    ----------
    position : int
    seen : tuple of (Seen, Seen)
        For each comparison, for its two sides; with PRIOR, for the events that it compares with in this
        repetition and in the one before.
    inside : tuple of (str, Expression, Expression)
        The comparisons of the event with itself.
    """

    position: int
    seen: tuple[tuple[Seen, Seen], ...]
    inside: tuple[tuple[str, t.Expression, t.Expression], ...]


@dataclass(frozen=True, slots=True)
class PairStep:
    """From the event of one state to that of the next: the tests that the two satisfy.

    Attributes
    ----------
    source, target : int
    tests : frozenset of PairTest
    contiguous : bool
    """

    source: int
    target: int
    tests: frozenset[PairTest]
    contiguous: bool


@dataclass(frozen=True, slots=True)
class PairAutomaton:
    """The automaton of a formula with comparisons, before events are classified into symbols.

    Attributes
    ----------
    predicates : tuple of Predicate
        The predicate of the event of each state.
    types : tuple of str
        The event type of each state.
    labels : tuple of Label
        The marks of each state; `UNMARKED` for none.
    first : tuple of int
    last : frozenset of int
    steps : tuple of PairStep
    """

    predicates: tuple[Predicate, ...]
    types: tuple[str, ...]
    labels: tuple[Label, ...]
    first: tuple[int, ...]
    last: frozenset[int]
    steps: tuple[PairStep, ...]


def pair_automaton(pattern: t.Pattern) -> PairAutomaton:
    """The automaton of a formula in LP-normal form, except for comparisons between its events.

    Raises
    ------
    QueryError
        CER091, when an event is compared with one that is not the last marked event, or an event in the
        middle keeps no mark.
    LimitError
        When it exceeds the budget.
    """
    automaton = position_automaton(pattern, OPERATORS)
    steps: dict[int, list[PositionStep]] = {}
    for step in automaton.steps:
        steps.setdefault(step.source, []).append(step)
    fresh = ((NOTHING, NOTHING),) * len(automaton.constraints)

    def follow(state: PairState | None) -> Iterator[tuple[_PairMove, PairState]]:
        if state is None:
            for first in dict.fromkeys(automaton.first):
                yield _read(automaton, fresh, first, False)
            return
        for step in dict.fromkeys(steps.get(state.position, ())):
            before = tuple(
                _looped(one, seen, step.loop) for one, seen in zip(automaton.constraints, state.seen)
            )
            yield _read(automaton, before, step.target, step.contiguous)

    def final(state: PairState | None) -> bool:
        return state is not None and state.position in automaton.last

    found = explore(None, follow, final, BUDGET, "the automaton of the comparisons")
    edges = [(source, target) for source, _, target in found.edges]
    useful = coreachable(len(found.states), edges, found.final)
    for source, move, target in found.edges:
        if target in useful and move.missing is not None:
            raise _not_last(automaton, found.states[source], found.states[target], move.missing)
    return _paired(automaton, found, useful)


@dataclass(frozen=True, slots=True)
class _PairMove:
    tests: frozenset[PairTest]
    contiguous: bool
    missing: int | None
    """The comparison that asks for an event before the last one."""


def _read(
    automaton: PositionAutomaton, before: tuple[tuple[Seen, Seen], ...], position: int, contiguous: bool
) -> tuple[_PairMove, PairState]:
    """Read an event at a position."""
    tests: set[PairTest] = set()
    inside: set[tuple[str, t.Expression, t.Expression]] = set()
    missing: int | None = None
    after = []
    for number, (one, seen) in enumerate(zip(automaton.constraints, before)):
        sides, op = (one.left, one.right), one.comparison.op
        marked = [position in side.positions for side in sides]
        if one.repeats is not None:
            other = 0 if sides[0].prior else 1
            if marked[1 - other] and seen[1] != NOTHING:
                missing = number if seen[1] == OLDER else missing
                turned = op if other == 0 else CONVERSE[op]
                tests.add(PairTest(turned, sides[other].key, sides[1 - other].key))
            after.append((_later(seen[0], marked[other]), _later(seen[1], False)))
            continue
        for new, old in ((1, 0), (0, 1)):
            if marked[new] and seen[old] != NOTHING:
                missing = number if seen[old] == OLDER else missing
                turned = op if old == 0 else CONVERSE[op]
                tests.add(PairTest(turned, sides[old].key, sides[new].key))
        if all(marked):
            inside.add((op, sides[0].key, sides[1].key))
        after.append((_later(seen[0], marked[0]), _later(seen[1], marked[1])))
    move = _PairMove(frozenset(tests), contiguous, missing)
    return move, PairState(position, tuple(after), tuple(sorted(inside, key=str)))


def _later(seen: Seen, marked: bool) -> Seen:
    """What has been seen of a side once an event more is read."""
    if seen != NOTHING:
        return OLDER
    return LAST if marked else NOTHING


def _looped(one: Constraint, seen: tuple[Seen, Seen], loop: int | None) -> tuple[Seen, Seen]:
    """What has been seen of a comparison in an instance, after an iteration's loop."""
    if loop is None:
        return seen
    if loop == one.repeats:
        return NOTHING, seen[0]
    return (NOTHING, NOTHING) if loop in one.resets else seen


PairExploration: TypeAlias = Exploration[PairState | None, _PairMove]


def _paired(automaton: PositionAutomaton, found: PairExploration, useful: frozenset[int]) -> PairAutomaton:
    number: dict[int, int] = {}
    predicates, types, labels = [], [], []
    leaving = {source for source, _, target in found.edges if target in useful}
    entered = {target for source, _, target in found.edges if source}
    for place, state in enumerate(found.states):
        if state is None or place not in useful:
            continue
        position = automaton.positions[state.position]
        predicate: Predicate = position.predicate
        for op, one, other in state.inside:
            predicate = both(predicate, t.Comparison(op, one, other))
        number[place] = len(number)
        predicates.append(predicate)
        types.append(position.event_type)
        labels.append(position.label or UNMARKED)
        if not position.label and place in leaving and place in entered:
            raise loses_its_marks(position.event_type)
    steps = [
        PairStep(number[source], number[target], move.tests, move.contiguous)
        for source, move, target in found.edges
        if source in number and target in number
    ]
    return PairAutomaton(
        tuple(predicates),
        tuple(types),
        tuple(labels),
        tuple(
            dict.fromkeys(
                number[target] for source, _, target in found.edges if not source and target in number
            )
        ),
        frozenset(number[place] for place in found.final if place in number),
        tuple(dict.fromkeys(steps)),
    )


def _not_last(
    automaton: PositionAutomaton, source: PairState | None, target: PairState | None, missing: int
) -> QueryError:
    assert source is not None
    assert target is not None
    between = automaton.positions[source.position].event_type
    event = automaton.positions[target.position].event_type
    return inexpressible(
        automaton.constraints[missing].comparison,
        f"`{event}` comes after `{between}`, and is compared with an event before that one",
    )


def beyond(what: str) -> QueryError:
    """The error for a formula that no automaton of compared steps expresses."""
    return QueryError([Diagnostic(NOT_TAKEN, what, None)], "")
