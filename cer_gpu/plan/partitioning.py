"""Finds correlations that make all events of a complex event agree; they become the key of the lanes.

`A AS a ; B AS b ; C AS c FILTER a.id = c.id AND b.id = c.id` is `A AS a ; B AS b ; C AS c` on the events of
each id. What has to be proved is **connection**: an equality links the events of both of its sides as soon as
each side marks one in the same instance of its scope, and links nothing otherwise.

That is decided on the position automaton, for one **class** at a time, a choice of what is compared of each
event type (`id` of A, `id` of B, ...). A state is a position with the *groups* of events that are known to
be equal so far, each with the sides of equalities that it has marked, in instances that may still go on.
Reading an event adds a group, and an equality of which both sides are there merges the groups that have
them. A group all of whose instances have ended can never be merged again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import TypeAlias

from cer_gpu.automata.explore import explore
from cer_gpu.automata.pcea import Keys
from cer_gpu.automata.positions import (
    EQUALITY,
    Constraint,
    PositionAutomaton,
    PositionStep,
    position_automaton,
)
from cer_gpu.errors import LimitError, QueryError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree as t
from cer_gpu.language.chains import flattened
from cer_gpu.language.leaves import aggregates, attributes
from cer_gpu.language.walk import nodes, parts, rebuild
from cer_gpu.logic.formulas import compares_events, without_besides
from cer_gpu.logic.rewriting.places import with_conjuncts

BUDGET = 2_000
"""States and edges for one class; past it the class is not part of the key."""

CLASSES = 64
"""How many classes are looked at."""

Class: TypeAlias = Mapping[str, t.Expression]
"""For each event type what is compared of its events."""


@dataclass(frozen=True, slots=True)
class SharedKey:
    """Attributes in which all events of each complex event are equal, none of them null or NaN.

    Attributes
    ----------
    lane : mapping of str to Keys
        For each event type of the formula the attributes of the key, in one order for all types.
    pattern : Pattern
        The formula without the equalities that hold when all events have one key.
    """

    lane: Mapping[str, Keys]
    pattern: t.Pattern

    @property
    def uniform(self) -> bool:
        """Whether the key is the same attributes for all event types."""
        return len(set(self.lane.values())) == 1


def shared_key(formula: t.Pattern, comparing: frozenset[str] = EQUALITY) -> SharedKey | None:
    """The key by which the stream may be partitioned without changing the answer of a formula.

    Its complex events are those of `pattern` on the events of each key alone, with their positions in the
    whole stream. This holds since all events of each complex event have one key, and events that are not
    matched do not matter: contiguity, NOT (T), UNLESS and selectors are not lifted, neither are AND and ALL.
    Remaining filters, gaps and windows depend on matched events only: they only remove complex events.

    Parameters
    ----------
    formula : Pattern
        In LP-normal form, except for filters `x.a = y.b` (`cer_gpu.logic.correlations.unfolded`).
    comparing : frozenset of str
        The operators of comparisons between events that it may have; equalities alone make a key.

    Returns
    -------
    SharedKey or None
        None if no such key is found: an equality may be vacuous (one of its variables marks nothing on some
        path) or leaves an event out, or an event type would need two attributes. Equalities between two
        attributes of one event are not followed from one class to another.
    """
    if any(_sees_other_events(node) for node in nodes(formula)):
        return None
    try:
        automaton = position_automaton(_untimed(formula), comparing)
    except QueryError:
        # what no automaton can follow is reported where one is asked for
        return None
    equalities = [one for one in automaton.constraints if one.comparison.op == "=" and one.repeats is None]
    automaton = replace(automaton, constraints=tuple(equalities))
    found = islice(_classes(automaton), CLASSES)
    classes = [one for one in found if _connects(automaton, one)]
    if not classes:
        return None
    types = sorted({position.event_type for position in automaton.positions})
    lane = {name: tuple(one[name] for one in classes) for name in types}
    return SharedKey(lane, _without_guaranteed(formula, automaton, classes))


def _sees_other_events(node: t.Pattern) -> bool:
    """Whether a node may ask for more than its own matched events, or is not read as a path of them."""
    match node:
        case t.Beside():
            return True
        case t.Sequence(contiguous=contiguous) | t.Iteration(contiguous=contiguous):
            return contiguous
        case t.EventType() | t.As() | t.Filter() | t.Project() | t.Or() | t.Optional() | t.Timed():
            return False
    return True


def _untimed(formula: t.Pattern) -> t.Pattern:
    """The formula without gaps and windows."""
    made = rebuild(formula, _untimed)
    if isinstance(made, t.Timed):
        return made.pattern
    if isinstance(made, t.Sequence | t.Iteration) and made.gap is not None:
        return replace(made, gap=None)
    return made


# ------------------------------------------------------------------------------------- classes


def _classes(automaton: PositionAutomaton) -> Iterator[Class]:
    """The choices of one key for each event type that equalities lead from one to another; each once."""
    types = [position.event_type for position in automaton.positions]
    sides = [
        tuple((types[p], side.key) for side in (one.left, one.right) for p in sorted(side.positions))
        for one in automaton.constraints
    ]
    starts = dict.fromkeys(key for side in sides for name, key in side if name == types[0])
    for key in starts:
        yield from _grown({types[0]: key}, frozenset(types), sides)


def _grown(
    known: Class, types: frozenset[str], sides: list[tuple[tuple[str, t.Expression], ...]]
) -> Iterator[Class]:
    if known.keys() == types:
        yield known
        return
    linked = dict.fromkeys(
        pair for side in sides if any(known.get(name) == key for name, key in side) for pair in side
    )
    new = next((name for name, _ in linked if name not in known), None)
    for name, key in linked:
        if name == new:
            yield from _grown({**known, name: key}, types, sides)


# ---------------------------------------------------------------------------------- connection


Group: TypeAlias = frozenset[tuple[int, int]]
"""Events that are equal: the (equality, side 0 or 1) that they have marked, in instances that may go on.

Groups that have marked the same have the same future, so one stands for all of them.
"""

Groups: TypeAlias = frozenset[Group]
State: TypeAlias = tuple[int, Groups] | None
"""A position and the groups there; None before the first event."""

BROKEN: State = (-1, frozenset())
"""Some events will never be known to be equal."""


def _connects(automaton: PositionAutomaton, keys: Class) -> bool:
    """Whether all events of every run are equal in the class. Every position lies on some run."""
    steps: dict[int, list[PositionStep]] = {}
    for step in automaton.steps:
        steps.setdefault(step.source, []).append(step)
    sides = _sides(automaton, keys)

    def follow(state: State) -> Iterator[tuple[None, State]]:
        if state is None:
            for first in automaton.first:
                yield None, _state(first, _read(frozenset(), sides[first]))
            return
        position, before = state
        for step in steps.get(position, ()):
            after = _ended(before, automaton.constraints, step.loop)
            yield None, _state(step.target, _read(after, sides[step.target]))

    def final(state: State) -> bool:
        return state is not None and state[0] in automaton.last

    try:
        found = explore(None, follow, final, BUDGET, "the search for a key")
    except LimitError:
        return False
    ends = [state for number in found.final if (state := found.states[number]) is not None]
    return BROKEN not in found.states and all(_are_equal(groups) for _, groups in ends)


def _sides(automaton: PositionAutomaton, keys: Class) -> list[Group]:
    """For each position the sides of equalities that compare the class's key of its events."""
    return [
        frozenset(
            (number, place)
            for number, one in enumerate(automaton.constraints)
            for place, side in enumerate((one.left, one.right))
            if position in side.positions and side.key == keys[atom.event_type]
        )
        for position, atom in enumerate(automaton.positions)
    ]


def _read(before: Groups, sides: Group) -> Groups:
    """The groups after an event that marks these sides."""
    groups = before | {sides}
    for number in sorted({number for number, _ in sides}):
        marking = {one for one in groups if not one.isdisjoint(_both(number))}
        merged = frozenset[tuple[int, int]]().union(*marking)
        if _both(number) <= merged:
            groups = (groups - marking) | {merged}
    return groups


def _both(number: int) -> Group:
    return frozenset(((number, 0), (number, 1)))


def _ended(before: Groups, constraints: tuple[Constraint, ...], loop: int | None) -> Groups:
    """The groups after an iteration's loop, which ends instances."""
    if loop is None:
        return before
    return frozenset(
        frozenset(side for side in one if loop not in constraints[side[0]].resets) for one in before
    )


def _state(position: int, groups: Groups) -> State:
    # the event just read is in a group too, so one that marks nothing leaves two groups or a lone event
    return BROKEN if frozenset() in groups else (position, groups)


def _are_equal(groups: Groups) -> bool:
    """Whether all events are in one group, and an equality speaks of them: none is null.

    The last event's group has both sides of an equality only by a merge at that event, which left no other
    group with a side of it: so the one group does not stand for several.
    """
    return len(groups) == 1 and any(_both(number) <= one for one in groups for number, _ in one)


# ------------------------------------------------------------------------------------- filters


def _without_guaranteed(formula: t.Pattern, automaton: PositionAutomaton, classes: list[Class]) -> t.Pattern:
    """The formula without the equalities both of whose sides are the key of one class everywhere."""
    types = [position.event_type for position in automaton.positions]

    def guaranteed(one: Constraint) -> bool:
        read = [(types[p], side.key) for side in (one.left, one.right) for p in side.positions]
        return any(all(keys[name] == key for name, key in read) for keys in classes)

    # a comparison may stand in several places, copied by OR, and speak of different positions there
    kept = {one.comparison for one in automaton.constraints if not guaranteed(one)}
    removed = {one.comparison for one in automaton.constraints} - kept

    return with_conjuncts(formula, lambda one: one not in removed)


# ------------------------------------------------------------------------------- beside other comparisons


def keyed(formula: t.Pattern) -> tuple[t.Pattern, Mapping[str, Keys] | None]:
    """The key of lanes that the equalities of a formula give, and the formula without these.

    Only equalities that hold on their own count. Without its other comparisons the formula has more complex
    events, and even the events of each of these share the key.
    """
    relaxed = with_conjuncts(formula, lambda one: _is_equality(one) or not compares_events(one))
    shared = shared_key(relaxed)
    if shared is None or not shared.uniform:
        return formula, None
    left = set(_equalities_in(shared.pattern))
    removed = frozenset(one for one in _equalities_in(relaxed) if one not in left)
    return with_conjuncts(formula, lambda one: one not in removed), shared.lane


def _is_equality(condition: t.Condition) -> bool:
    if not isinstance(condition, t.Comparison) or condition.op != "=":
        return False
    sides = [{(one.variable, one.prior) for one in attributes(side)} for side in parts(condition)]
    if any(aggregates(condition)) or any(len(side) != 1 for side in sides):
        return False
    return sides[0] != sides[1] and not any(prior for side in sides for _, prior in side)


def _equalities_in(formula: t.Pattern) -> Iterator[t.Condition]:
    for node in nodes(without_besides(formula)):
        if isinstance(node, t.Filter):
            yield from filter(_is_equality, flattened(t.Both, node.condition))
