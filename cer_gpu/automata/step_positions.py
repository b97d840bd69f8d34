"""The positions of a timed formula: an automaton whose steps go from one marked event to the next.

A **position** is a place of the formula where an event is matched (Glushkov's construction). The formula
`A ;[<= 5 s] (B :+[<= 1 s])` has two, with the steps ::

    A --[<= 5 s]--> B        and        B --:[<= 1 s]--> B

Every matched event is marked, so each interval and each `:` is between two consecutive marked events.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cer_gpu.automata.cea import Label, Predicate, both, identity
from cer_gpu.automata.construct import check_repetitions, is_atom
from cer_gpu.automata.explore import coreachable
from cer_gpu.automata.position_walk import STEPS, Fragment, PositionStep, PositionWalk
from cer_gpu.diagnostics import NOT_TAKEN
from cer_gpu.errors import Diagnostic, QueryError, Span
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree as t


@dataclass(frozen=True, slots=True)
class MarkedPlace:
    """A place of the formula where an event is matched.

    Attributes
    ----------
    predicate : Predicate
        The predicate of the event.
    label : Label
        Its marks.
    of : int
        The place that it is a stricter copy of (FOLLOWED BY), or itself.
    """

    predicate: Predicate
    label: Label
    of: int


@dataclass(frozen=True, slots=True)
class PlaceAutomaton:
    """The positions of a formula, where a match begins and ends, and its steps."""

    places: tuple[MarkedPlace, ...]
    first: tuple[int, ...]
    last: frozenset[int]
    steps: tuple[PositionStep, ...]


def place_automaton(formula: t.Pattern) -> PlaceAutomaton:
    """The position automaton of a formula in LP-normal form.

    Raises
    ------
    QueryError
        CER091, when an operator is not between two consecutive marked events.
    LimitError
        When there are more than `STEPS` steps, or too many repetitions.
    """
    check_repetitions(formula)
    walk = _PlaceWalk()
    whole = walk.of(formula)
    # AND and FOLLOWED BY leave places behind through which no match goes.
    arcs = [(step.source, step.target) for step in whole.steps]
    ahead = coreachable(len(walk.types), arcs, whole.last)
    back = coreachable(len(walk.types), [(target, source) for source, target in arcs], whole.first)
    number = {place: new for new, place in enumerate(sorted(ahead & back))}
    return PlaceAutomaton(
        tuple(
            MarkedPlace(walk.predicates[place], whole.marked[place], number.get(walk.origin[place], own))
            for place, own in number.items()
        ),
        tuple(number[place] for place in whole.first if place in number),
        frozenset(number[place] for place in whole.last if place in number),
        tuple(
            dict.fromkeys(
                PositionStep(number[step.source], number[step.target], step.contiguous, None, step.gaps)
                for step in whole.steps
                if step.source in number and step.target in number
            )
        ),
    )


def repeated_step(found: PlaceAutomaton) -> PositionStep | None:
    """The step of a repetition whose matches of one end are all contained in one of them.

    `Click+[<= 30 min]` is one: adding clicks between the events of a match gives a match, so the one with all
    clicks of the session is the greatest. So are `Click {3,}[<= 30 min]`, `Click :+[<= 30 min]`, and these
    with FOLLOWED BY, which depends on the last event only. All steps must be alike and without a lower bound,
    all places must be alike, and if n events can make a match, every greater number must too.

    Returns
    -------
    PositionStep or None
        None if the pattern is not known to be one.
    """
    places, steps = found.places, found.steps
    if not steps or len({(step.contiguous, step.gaps) for step in steps}) > 1:
        return None
    if any(gap.low is not None and (gap.low.value or gap.low.open) for gap in steps[0].gaps):
        return None
    copies = {number for number, place in enumerate(places) if place.of != number}
    if copies and (copies != found.last or any(step.source in copies for step in steps)):
        return None
    for some in (copies, set(range(len(places))) - copies):
        if len({(identity(places[number].predicate), places[number].label) for number in some}) > 1:
            return None
    if len({place.label for place in places}) > 1 or not _closed_upwards(found):
        return None
    return steps[0]


def _closed_upwards(found: PlaceAutomaton) -> bool:
    """Whether of a number of events that makes a match every greater one makes one."""
    following: dict[int, set[int]] = {}
    for step in found.steps:
        following.setdefault(step.source, set()).add(step.target)
    now, seen, matched = frozenset(found.first), set[frozenset[int]](), False
    while now not in seen and len(seen) <= STEPS:
        seen.add(now)
        matches = not now.isdisjoint(found.last)
        if matched and not matches:
            return False
        matched = matched or matches
        now = frozenset(target for place in now for target in following.get(place, ()))
    return matched


class _PlaceWalk(PositionWalk):
    def __init__(self) -> None:
        super().__init__()
        self.origin: list[int] = []

    def of(self, node: t.Pattern) -> Fragment:
        match node:
            case t.Filter() if not is_atom(node):
                raise beyond("a filter around a selector", node)
            case t.And(left=left, right=right):
                return self.product(self.of(left), self.of(right))
            case t.Selector(strategy=t.Strategy.STRICT, pattern=inner):
                part = self.of(inner)
                return part._replace(steps=tuple(replace(one, contiguous=True) for one in part.steps))
            case t.OtherEvent() | t.All() | t.Unless() | t.Selector() | t.Timed():
                raise beyond(_name(node), node)
        part = super().of(node)
        if isinstance(node, t.Project) and not all(part.marked.values()):
            raise beyond("a list of variables that leaves an event of the pattern unmarked", node)
        return part

    def place(self, event_type: str, predicate: Predicate) -> int:
        made = super().place(event_type, predicate)
        self.origin.append(made)
        return made

    def stricter(self, places: Iterable[int], predicate: Predicate) -> dict[int, int]:
        copy = super().stricter(places, predicate)
        for place, made in copy.items():
            self.origin[made] = place
        return copy

    def product(self, one: Fragment, other: Fragment) -> Fragment:
        """AND: both sides match the same events with the same marks, so they step together."""
        number: dict[tuple[int, int], int] = {}
        for left, names in one.marked.items():
            for right, others in other.marked.items():
                if names == others:
                    predicate = both(self.predicates[left], self.predicates[right])
                    number[left, right] = self.place(self.types[left], predicate)
        self.count(
            len(one.steps) * len(other.steps),
            f"an AND of timed patterns takes more than {STEPS:,} steps: make its sides smaller",
        )
        steps = (
            PositionStep(
                number[a.source, b.source],
                number[a.target, b.target],
                a.contiguous or b.contiguous,
                None,
                a.gaps | b.gaps,
            )
            for a in one.steps
            for b in other.steps
            if (a.source, b.source) in number and (a.target, b.target) in number
        )
        return Fragment(
            tuple(made for (a, b), made in number.items() if a in one.first and b in other.first),
            tuple(made for (a, b), made in number.items() if a in one.last and b in other.last),
            {made: one.marked[left] for (left, _), made in number.items()},
            tuple(steps),
        )


def beyond(what: str, node: t.Pattern | None, span: Span | None = None) -> QueryError:
    """The error for a formula that the automaton of steps does not express."""
    place = span if node is None else node.span
    return QueryError(
        [
            Diagnostic(
                NOT_TAKEN,
                f"this engine does not take {what} together with an interval of time",
                place,
                hints=(
                    "it takes intervals on `;`, `:` and iterations, of event types with AS, OR, AND and "
                    "filters on one event; every event of a match must be marked",
                ),
            )
        ],
        "",
    )


def _name(node: t.Pattern) -> str:
    match node:
        case t.Timed():
            return "`(...) WITHIN [...]` inside a pattern"
        case t.OtherEvent():
            return "`NOT (...)`"
        case t.All() | t.Unless():
            return f"`{type(node).__name__.upper()}`"
        case t.Selector(strategy=strategy):
            return f"the selector `{strategy.selector}(...)`"
    return f"`{type(node).__name__}`"
