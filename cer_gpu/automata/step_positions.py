"""The positions of a timed formula: an automaton whose steps go from one marked event to the next.

A **position** is a place of the formula where an event is matched (Glushkov's construction). The formula
`A ;[<= 5 s] (B :+[<= 1 s])` has two, with the steps ::

    A --[<= 5 s]--> B        and        B --:[<= 1 s]--> B

Every matched event is marked, so each interval and each `:` is between two consecutive marked events.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from cer_gpu.automata.cea import Label, Predicate, both, identity, outlook
from cer_gpu.automata.construct import atom, check_repetitions, is_atom, leaning_elements
from cer_gpu.automata.explore import coreachable
from cer_gpu.diagnostics import NOT_TAKEN
from cer_gpu.errors import Diagnostic, LimitError, QueryError, Span
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree as t
from cer_gpu.language.repetitions import has_optional

STEPS = 200_000
"""Steps of the position automaton at most."""


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
class PlaceStep:
    """From the event of one position to that of the next.

    Attributes
    ----------
    source, target : int
    contiguous : bool
        Whether no event of the stream lies between the two.
    gaps : frozenset of Interval
        Intervals that must all contain the time between the two.
    """

    source: int
    target: int
    contiguous: bool
    gaps: frozenset[t.Interval]


@dataclass(frozen=True, slots=True)
class PlaceAutomaton:
    """The positions of a formula, where a match begins and ends, and its steps."""

    places: tuple[MarkedPlace, ...]
    first: tuple[int, ...]
    last: frozenset[int]
    steps: tuple[PlaceStep, ...]


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
    ahead = coreachable(len(walk.labels), [(step.source, step.target) for step in whole.steps], whole.last)
    back = coreachable(len(walk.labels), [(step.target, step.source) for step in whole.steps], whole.first)
    useful = sorted(ahead & back)
    number = {place: new for new, place in enumerate(useful)}
    of = [number.get(walk.copied[place], number[place]) for place in useful]
    steps = [step for step in whole.steps if step.source in number and step.target in number]
    return PlaceAutomaton(
        tuple(
            MarkedPlace(walk.predicates[place], walk.labels[place], copied)
            for place, copied in zip(useful, of)
        ),
        tuple(number[place] for place in whole.first if place in number),
        frozenset(number[place] for place in whole.last if place in number),
        tuple(
            dict.fromkeys(
                PlaceStep(number[step.source], number[step.target], step.contiguous, step.gaps)
                for step in steps
            )
        ),
    )


def repeated_step(found: PlaceAutomaton) -> PlaceStep | None:
    """The step of a repetition whose matches of one end are all contained in one of them.

    `Click+[<= 30 min]` is one: adding clicks between the events of a match gives a match, so the one with all
    clicks of the session is the greatest. So are `Click {3,}[<= 30 min]`, `Click :+[<= 30 min]`, and these
    with FOLLOWED BY, which depends on the last event only. All steps must be alike and without a lower bound,
    all places must be alike, and if n events can make a match, every greater number must too.

    Returns
    -------
    PlaceStep or None
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


@dataclass(frozen=True, slots=True)
class _Part:
    """A subformula: its positions, the first and the last ones, and its steps."""

    places: list[int]
    first: list[int]
    last: list[int]
    steps: list[PlaceStep]


@dataclass
class _PlaceWalk:
    predicates: list[Predicate] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    copied: list[int] = field(default_factory=list)
    count: int = 0

    def of(self, node: t.Pattern) -> _Part:
        match node:
            case t.Filter() if not is_atom(node):
                raise beyond("a filter around a selector", node)
            case t.EventType() | t.Filter():
                event_type, predicate = atom(node)
                place = self.place(predicate, frozenset(event_type.variables))
                return _Part([place], [place], [place], [])
            case t.As(pattern=inner, variable=name):
                part = self.of(inner)
                for place in part.places:
                    self.labels[place] |= {name}
                return part
            case t.Project(pattern=inner, variables=kept):
                part = self.of(inner)
                for place in part.places:
                    self.labels[place] &= frozenset(kept)
                    if not self.labels[place]:
                        raise beyond("a list of variables that leaves an event of the pattern unmarked", node)
                return part
            case t.Or(left=left, right=right):
                one, other = self.of(left), self.of(right)
                return _Part(
                    one.places + other.places,
                    one.first + other.first,
                    one.last + other.last,
                    one.steps + other.steps,
                )
            case t.And(left=left, right=right):
                return self.product(self.of(left), self.of(right))
            case t.Optional(pattern=inner):
                return self.of(inner)
            case t.Sequence() if has_optional(node):
                return self.elements(node)
            case t.Sequence(left=left, right=right):
                one, other = self.of(left), self.of(right)
                steps = one.steps + other.steps + self.joint(one.last, other.first, node)
                return _Part(one.places + other.places, one.first, other.last, steps)
            case t.Iteration():
                return self.iteration(node)
            case t.Beside(left=left):
                return self.restricted(self.of(left), outlook(node), node.before)
            case t.Selector(strategy=t.Strategy.STRICT, pattern=inner):
                part = self.of(inner)
                neighbours = [PlaceStep(one.source, one.target, True, one.gaps) for one in part.steps]
                return _Part(part.places, part.first, part.last, neighbours)
        raise beyond(_name(node), node)

    def place(self, predicate: Predicate, label: Label, of: int | None = None) -> int:
        self.predicates.append(predicate)
        self.labels.append(label)
        self.copied.append(len(self.copied) if of is None else of)
        return len(self.labels) - 1

    def joint(
        self, sources: Iterable[int], targets: Iterable[int], node: t.Sequence | t.Iteration
    ) -> list[PlaceStep]:
        gaps = frozenset[t.Interval]() if node.gap is None else frozenset({node.gap})
        found = [PlaceStep(source, target, node.contiguous, gaps) for source in sources for target in targets]
        self.count += len(found)
        if self.count > STEPS:
            raise LimitError(
                f"the pattern has more than {STEPS:,} steps from one event to the next: count fewer "
                "repetitions, or use fewer alternatives"
            )
        return found

    def elements(self, node: t.Sequence) -> _Part:
        """A sequence with optional elements: each follows the last ones that may stand before it."""
        places: list[int] = []
        first: list[int] = []
        last: list[int] = []
        steps: list[PlaceStep] = []
        empty = True
        for element, joint in leaning_elements(node):
            part = self.of(element)
            steps += part.steps
            if joint is not None:
                steps += self.joint(last, part.first, joint)
            optional = isinstance(element, t.Optional)
            first += part.first if empty else []
            last = last + part.last if optional else part.last
            empty = empty and optional
            places += part.places
        return _Part(places, first, last, steps)

    def iteration(self, node: t.Iteration) -> _Part:
        parts: list[_Part] = []
        steps: list[PlaceStep] = []
        for _ in range(node.most or node.least):
            part = self.of(node.pattern)
            steps += part.steps
            if parts:
                steps += self.joint(parts[-1].last, part.first, node)
            parts.append(part)
        if node.most is None:
            steps += self.joint(parts[-1].last, parts[-1].first, node)
        return _Part(
            [place for part in parts for place in part.places],
            parts[0].first,
            [place for part in parts[node.least - 1 :] for place in part.last],
            steps,
        )

    def product(self, one: _Part, other: _Part) -> _Part:
        """AND: both sides match the same events with the same marks, so they step together."""
        number: dict[tuple[int, int], int] = {}
        for left in one.places:
            for right in other.places:
                if self.labels[left] == self.labels[right]:
                    predicate = both(self.predicates[left], self.predicates[right])
                    number[left, right] = self.place(predicate, self.labels[left])
        self.count += len(one.steps) * len(other.steps)
        if self.count > STEPS:
            raise LimitError(
                f"an AND of timed patterns takes more than {STEPS:,} steps: make its sides smaller"
            )
        steps = [
            PlaceStep(
                number[a.source, b.source],
                number[a.target, b.target],
                a.contiguous or b.contiguous,
                a.gaps | b.gaps,
            )
            for a in one.steps
            for b in other.steps
            if (a.source, b.source) in number and (a.target, b.target) in number
        ]
        return _Part(
            list(number.values()),
            [number[pair] for pair in number if pair[0] in one.first and pair[1] in other.first],
            [number[pair] for pair in number if pair[0] in one.last and pair[1] in other.last],
            steps,
        )

    def restricted(self, part: _Part, predicate: Predicate, before: bool) -> _Part:
        """The matches whose last event satisfies a predicate; whose first event does, if `before`."""
        ends = part.first if before else part.last
        copy = {
            place: self.place(both(self.predicates[place], predicate), self.labels[place], place)
            for place in ends
        }
        steps = list(part.steps)
        for one in part.steps:
            if before and one.source in copy:
                steps.append(PlaceStep(copy[one.source], one.target, one.contiguous, one.gaps))
            if not before and one.target in copy:
                steps.append(PlaceStep(one.source, copy[one.target], one.contiguous, one.gaps))
        # A position that is the first and the last one is a match of one event, its copy too.
        across = part.last if before else part.first
        alone = [copy[place] for place in across if place in copy]
        made = list(copy.values())
        places = part.places + made
        if before:
            return _Part(places, made, part.last + alone, steps)
        return _Part(places, part.first + alone, made, steps)


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
