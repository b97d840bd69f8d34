"""The complex events of a pattern: the operators of sections 3 to 6 as sets of complex events.

After Figures 2 and 3 of the timed CEL paper (operators as sets of complex events) and chapters 3 and 4 of the
CEPL thesis (UNLESS, ALL, selectors, the starting position i, and "there is a valuation").
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from cer_gpu.language import tree as t
from cer_gpu.language.amounts import EVENTS
from cer_gpu.language.repetition_edges import is_joint, names_of, places, repeated_in, scope_of, word_of
from cer_gpu.language.repetitions import has_optional, may_be_empty
from cer_gpu.language.scope import variables
from cer_gpu.language.tree import Strategy
from cer_gpu.language.walk import children, condition_variables, prior_variables, walk
from cer_gpu.logic.binding import hidden, reads
from cer_gpu.reference.conditions import condition_holds
from cer_gpu.reference.events import Duration, Event, Instant, Value, linked
from cer_gpu.reference.selection import Match, select
from cer_gpu.reference.time import at_most, counting, difference, inside


class PriorMarks(NamedTuple):
    """What PRIOR(variable) or BEFORE(variable) stands for, as a key of an `Environment`."""

    variable: str
    word: t.Earlier


class RepetitionMarks(NamedTuple):
    """What repetitions have marked that a scope binds, or earlier ones of an iteration, as such a key."""

    word: t.Earlier = ""
    iteration: int = 0


Environment: TypeAlias = Mapping[str | PriorMarks | RepetitionMarks, frozenset[Any]]
"""The positions that variables of enclosing scopes mark, and marked in earlier repetitions."""

NOTHING: Environment = {}


class JointAggregates:
    """The aggregates of expressions over several variables in a query."""

    def __init__(self, pattern: t.Pattern, measures: Iterable[t.Expression] = ()) -> None:
        found = list(places(pattern))
        measured = [node for one in measures for node in walk(one) if is_joint(node)]
        self.names = frozenset(names_of(one) for one in (*(place.aggregate for place in found), *measured))
        self.places = {(id(place.filtered), place.aggregate): place for place in found}


class Matcher:
    """The complex events of patterns on one stream.

    `of(p, i, e)` is the set of complex events of `p` that start at position `i` or later (the thesis'
    `[[p]](S, i, v)`), where `e` fixes the marks of the variables that filters of `p` read from outside.

    Parameters
    ----------
    events : sequence of Event
    order, order_unit : str or None
        As in `evaluate`.
    loose : bool
        Whether to over-approximate: filters that read a variable from outside hold, selectors keep everything
        and UNLESS drops nothing.
    joint : JointAggregates, optional
        The aggregates of expressions over several variables.
    until : Value
        The time up to which the stream is known; None: after the last event nothing comes.
    surely : bool
        With `until`, whether to keep the complex events that there are whatever comes, or else all that there
        may be.
    """

    def __init__(
        self,
        events: Sequence[Event],
        order: str | None = None,
        order_unit: str | None = None,
        *,
        loose: bool = False,
        joint: JointAggregates | None = None,
        until: Value = None,
        surely: bool = True,
    ) -> None:
        self.events = linked(events)
        self.order = order
        self.order_unit = order_unit
        self.loose = loose
        self._joint = joint
        self._joins = frozenset[frozenset[str]]() if joint is None else joint.names
        self.until = until
        self.surely = surely
        self._other: Matcher | None = None
        self._candidates = self if loose else Matcher(events, order, order_unit, loose=True, joint=joint)
        # Keyed by the identity of nodes, which are kept alive with their results.
        self._known: dict[tuple[object, ...], frozenset[Match]] = {}
        self._nodes: dict[int, _Node] = {}

    @property
    def other(self) -> Matcher:
        """The complex events that there may be, in place of those that there are; and the other way round."""
        if self.until is None:
            return self
        if self._other is None:
            self._other = Matcher(
                self.events,
                self.order,
                self.order_unit,
                joint=self._joint,
                until=self.until,
                surely=not self.surely,
            )
            self._other._other = self
        return self._other

    def chosen(self, strategy: Strategy, own: Iterable[Match], others: Iterable[Match]) -> frozenset[Match]:
        """What a strategy keeps of complex events, if others, those of `other`, may be there or not."""
        own, others = frozenset(own), frozenset(others)
        if self.surely:
            return select(strategy, own | others) & own
        return frozenset(one for one in own if one in select(strategy, others | {one}))

    def of(self, pattern: t.Pattern, first: int, outside: Environment) -> frozenset[Match]:
        """The complex events of a pattern that start at `first` or later."""
        relevant = frozenset((x, marked) for x, marked in outside.items() if self._depends(pattern, x))
        key = id(pattern), first, relevant
        if key not in self._known:
            self._known[key] = frozenset(self._of(pattern, first, outside))
        return self._known[key]

    def of_scope(self, body: t.Pattern, first: int, outside: Environment) -> frozenset[Match]:
        """The complex events of a scope, for some valuation of the variables that it binds.

        The marks that inner filters read are guessed from the complex events of the over-approximated
        pattern; complex
        events are kept if their own marks equal the guess.
        """
        return self._binding(body, self._reads(body) & self._variables(body), first, outside)

    def _binding(
        self, body: t.Pattern, bound: frozenset[str], first: int, outside: Environment
    ) -> frozenset[Match]:
        if self.loose or not bound:
            return self.of(body, first, outside)
        names = sorted(bound)

        def guessed(match: Match) -> tuple[Any, ...]:
            return (*(match.marked_by(x) for x in names), match.repetitions)

        own = {id(node) for node in walk(body)} if self._joins else set[int]()
        around = frozenset(one for one in outside.get(RepetitionMarks(), ()) if one[0] not in own)
        found: set[Match] = set()
        for guess in {guessed(m) for m in self._candidates.of(body, first, NOTHING)}:
            inner = dict(outside)
            inner.update(zip(names, guess))
            if self._joins:
                inner[RepetitionMarks()] = around | guess[-1]
            found |= {m for m in self.of(body, first, inner) if guessed(m) == guess}
        return frozenset(found)

    def _of(self, pattern: t.Pattern, first: int, outside: Environment) -> Iterable[Match]:
        match pattern:
            case t.EventType():
                return self._event_type(pattern, first)
            case t.OtherEvent():
                return self._other_event(pattern, first, outside)
            case t.As(pattern=inner, variable=name):
                return (
                    m._replace(marks=m.marks | {(name, p) for p in m.positions()})
                    for m in self.of(inner, first, outside)
                )
            case t.Filter(pattern=inner, condition=condition):
                return (
                    m for m in self.of(inner, first, outside) if self._holds(condition, inner, m, outside)
                )
            case t.Optional(pattern=inner):
                return self.of(inner, first, outside)
            case t.Sequence() if has_optional(pattern):
                return self._elements(pattern, first, outside)
            case t.Sequence(left=left, right=right, contiguous=contiguous, gap=gap):
                return (
                    _union(c1, c2)
                    for c1 in self.of(left, first, outside)
                    for c2 in self.of(right, c1.end + 1, outside)
                    if self._follows(c1, c2, contiguous, gap)
                )
            case t.Iteration():
                return self._iteration(pattern, first, outside, 1)
            case t.Or(left=left, right=right):
                return self.of(left, first, outside) | self.of(right, first, outside)
            case t.And(left=left, right=right):
                others = self.of(right, first, outside)
                return (
                    _union(c1, c2)
                    for c1 in self.of(left, first, outside)
                    for c2 in others
                    if c1[:3] == c2[:3]
                )
            case t.All(left=left, right=right):
                others = self.of(right, first, outside)
                return (_union(c1, c2) for c1 in self.of(left, first, outside) for c2 in others)
            case t.Unless(left=left, right=right):
                found = self.of(left, first, outside)
                if self.loose:
                    return found
                forbidden = self.other.of_scope(right, first, outside)
                return (m for m in found if not any(m.start <= f.start and f.end <= m.end for f in forbidden))
            case t.Beside(left=left):
                found = self.of(left, first, outside)
                return found if self.loose else (m for m in found if self._stands_beside(pattern, m))
            case t.Project(pattern=inner, variables=kept):
                bound = self._reads(inner) & hidden(pattern)
                return (
                    m._replace(marks=frozenset(mark for mark in m.marks if mark[0] in kept))
                    for m in self._binding(inner, bound, first, outside)
                )
            case t.Selector(strategy=strategy, pattern=operand):
                found = self.of_scope(operand, first, outside)
                if self.loose:
                    return found
                return self.chosen(strategy, found, self.other.of_scope(operand, first, outside))
            case t.Timed(pattern=inner, interval=interval):
                return (
                    m
                    for m in self.of(inner, first, outside)
                    if inside(self._elapsed(m.start, m.end), interval, self.order_unit)
                )

    def _event_type(self, atom: t.EventType, first: int) -> Iterable[Match]:
        for position in range(first, len(self.events)):
            if self.events[position].is_a(atom.name, atom.stream):
                yield Match(position, position, frozenset((x, position) for x in atom.variables))

    def _other_event(self, atom: t.OtherEvent, first: int, outside: Environment) -> Iterable[Match]:
        for position in range(first, len(self.events)):
            excluded = self.events[position].is_a(atom.type.name, atom.type.stream)
            if excluded and atom.condition is not None:
                itself = Match(position, position, frozenset((x, position) for x in atom.type.variables))
                if self.loose and not self._is_local(atom.condition, atom.type):
                    excluded = False
                else:
                    excluded = self._holds(atom.condition, atom.type, itself, outside)
            if not excluded:
                yield Match(position, position, frozenset())

    def _iteration(
        self, pattern: t.Iteration, first: int, outside: Environment, number: int
    ) -> Iterable[Match]:
        """The repetitions from the one of this number on; PRIOR and BEFORE speak of earlier ones."""
        key = id(pattern), first, frozenset(outside.items()), min(number, _counted(pattern))
        if key not in self._known:
            self._known[key] = frozenset(self._repetitions(pattern, first, outside, number))
        return self._known[key]

    def _repetitions(
        self, pattern: t.Iteration, first: int, outside: Environment, number: int
    ) -> Iterable[Match]:
        body = pattern.pattern
        own = (
            []
            if self.loose
            else [one for one in self._earlier(body) if one.variable in self._variables(body)]
        )
        here = dict(outside)
        words: tuple[t.Earlier, ...] = () if self.loose or not self._joins else ("PRIOR", "BEFORE")
        again = [RepetitionMarks(word, id(pattern)) for word in words]
        if number == 1:
            here.update((one, frozenset()) for one in own)
            here.update((one, frozenset()) for one in again)
        for found in self.of_scope(body, first, here):
            c1 = self._noted(pattern, found)
            if number >= pattern.least:
                yield c1
            if pattern.most is not None and number >= pattern.most:
                continue
            there = dict(outside)
            for one in own:
                marked = c1.marked_by(one.variable)
                there[one] = marked | here[one] if one.word == "BEFORE" else marked
            for key in again:
                there[key] = c1.repetitions | here[key] if key.word == "BEFORE" else c1.repetitions
            for c2 in self._iteration(pattern, c1.end + 1, there, number + 1):
                if self._follows(c1, c2, pattern.contiguous, pattern.gap):
                    yield _union(c1, c2)

    def _noted(self, iteration: t.Iteration, match: Match) -> Match:
        """A repetition with what it has marked, for the aggregates that take its events together."""
        body = iteration.pattern
        found = set(match.repetitions)
        for names in self._joins:
            if names <= self._variables(body) and not repeated_in(body, names):
                marks = frozenset(mark for mark in match.marks if mark[0] in names)
                found.add((id(iteration), names, marks))
        return match._replace(repetitions=frozenset(found))

    def _elements(self, pattern: t.Sequence, first: int, outside: Environment) -> Iterable[Match]:
        """Every way to leave elements out of a sequence that leans to the left."""
        left, right = pattern.left, pattern.right
        before = self.of(left, first, outside)
        if isinstance(right, t.Optional):
            yield from before
        if may_be_empty(left):
            yield from self.of(right, first, outside)
        for c1 in before:
            for c2 in self.of(right, c1.end + 1, outside):
                if self._follows(c1, c2, pattern.contiguous, pattern.gap):
                    yield _union(c1, c2)

    def _stands_beside(self, pattern: t.Beside, match: Match) -> bool:
        """Whether some complex event of the right side, or none, stands after (before) a match."""
        looked = self.other if pattern.negated else self
        others = looked.of_scope(pattern.right, 0, NOTHING)
        found = any(self._reaches(pattern, match, other) for other in others)
        if not looked.surely and not pattern.before:
            found = found or self._may_be_reached(pattern, match)
        return found != pattern.negated

    def _may_be_reached(self, pattern: t.Beside, match: Match) -> bool:
        """Whether what comes after `until` may lie in the interval after a match."""
        interval = pattern.interval
        if interval is None or interval.high is None:
            return True
        most = t.Interval(None, interval.high)
        if interval.high.unit == EVENTS:
            return inside(len(self.events) - match.end, counting(most), None)
        assert self.order is not None
        time = self.events[match.end].attributes.get(self.order)
        if isinstance(self.until, float):  # the next time is later by as little as one likes
            most = t.Interval(None, replace(interval.high, open=True))
            return inside(difference(self.until, time), most, self.order_unit)
        return inside(difference(_next(self.until), time), most, self.order_unit)

    def _reaches(self, pattern: t.Beside, match: Match, other: Match) -> bool:
        if not (other.end < match.start if pattern.before else other.start > match.end):
            return False
        early, late = (other.start, match.start) if pattern.before else (match.end, other.end)
        interval = pattern.interval
        if interval is None:
            return True
        if any(bound is not None and bound.unit == EVENTS for bound in (interval.low, interval.high)):
            return inside(late - early, counting(interval), None)
        return inside(self._elapsed(early, late), interval, self.order_unit)

    def _follows(self, c1: Match, c2: Match, contiguous: bool, gap: t.Interval | None) -> bool:
        if contiguous and c2.start != c1.end + 1:
            return False
        return gap is None or inside(self._elapsed(c1.end, c2.start), gap, self.order_unit)

    def _is_local(self, condition: t.Condition, filtered: t.Pattern) -> bool:
        return condition_variables(condition) <= self._variables(filtered) and not prior_variables(condition)

    def _holds(self, condition: t.Condition, filtered: t.Pattern, match: Match, outside: Environment) -> bool:
        if self.loose and not self._is_local(condition, filtered):
            return True
        local = self._variables(filtered)

        def marked(name: str, prior: t.Earlier) -> Sequence[Event]:
            # What a PROJECT drops marks nothing outside of it.
            if prior:
                positions = outside[PriorMarks(name, prior)]
            else:
                positions = match.marked_by(name) if name in local else outside.get(name, frozenset())
            return [self.events[position] for position in sorted(positions)]

        def repetitions(aggregate: t.Aggregate) -> Sequence[Mapping[str, Sequence[Event]]]:
            assert self._joint is not None
            place = self._joint.places[id(filtered), aggregate]
            scope, names, word = scope_of(place), names_of(aggregate), word_of(aggregate)
            loops = {id(one) for one in repeated_in(scope, names)}
            if not loops:
                return [{name: marked(name, word) for name in names}]
            if word:
                [around] = [one for one in place.loops if scope in (one, one.pattern)]
                known = outside[RepetitionMarks(word, id(around))]
            else:
                known = match.repetitions if scope is filtered else outside[RepetitionMarks()]
            return self.events_of(known, loops, names)

        return condition_holds(condition, marked, repetitions)

    def events_of(
        self, known: Iterable[Any], loops: Container[int], names: frozenset[str]
    ) -> list[dict[str, list[Event]]]:
        """The events that some variables have marked in each repetition of some iterations."""
        return [
            {name: [self.events[p] for x, p in sorted(marks) if x == name] for name in sorted(names)}
            for loop, own, marks in sorted(known, key=lambda one: min((p for _, p in one[2]), default=0))
            if loop in loops and own == names
        ]

    def _elapsed(self, early: int, late: int) -> int | float | Duration | None:
        if self.order is None:
            raise ValueError("the query speaks of time and there is no order attribute")
        return self._change(self.order, early, late)

    def _change(self, attribute: str, early: int, late: int) -> int | float | Duration | None:
        values = (self.events[position].attributes.get(attribute) for position in (late, early))
        return difference(*values)

    def moment(self, name: str, match: Match) -> Value:
        """START_TIME, END_TIME or DURATION of a complex event."""
        if name == "DURATION":
            return self._elapsed(match.start, match.end)
        if self.order is None:
            raise ValueError("the query speaks of time and there is no order attribute")
        return self.events[match.start if name == "START_TIME" else match.end].attributes.get(self.order)

    def in_window(self, window: t.Window | None, match: Match) -> bool:
        """Whether a complex event is inside the window of the query (section 2)."""
        if window is None:
            return True
        if window.kind == "events":
            return match.end - match.start <= window.size
        if window.kind == "time":
            gap = self._elapsed(match.start, match.end)
            return at_most(gap, window.size, window.unit, self.order_unit)
        if window.attribute is None:
            raise ValueError("a window on an attribute names it")
        return at_most(self._change(window.attribute, match.start, match.end), window.size, None, None)

    def _reads(self, pattern: t.Pattern) -> frozenset[str]:
        return self._node(pattern).reads

    def _variables(self, pattern: t.Pattern) -> frozenset[str]:
        return self._node(pattern).variables

    def _earlier(self, pattern: t.Pattern) -> frozenset[PriorMarks]:
        return self._node(pattern).earlier

    def _depends(self, pattern: t.Pattern, name: str | PriorMarks | RepetitionMarks) -> bool:
        node = self._node(pattern)
        if isinstance(name, RepetitionMarks):
            return node.joint
        return name in (node.earlier if isinstance(name, PriorMarks) else node.reads)

    def _node(self, pattern: t.Pattern) -> _Node:
        known = self._nodes.get(id(pattern))
        if known is None:
            known = _Node(
                pattern,
                reads(pattern),
                variables(pattern),
                _earlier_reads(pattern),
                any(map(is_joint, walk(pattern))),
            )
            self._nodes[id(pattern)] = known
        return known


class _Node(NamedTuple):
    # A pattern, what it reads from outside, what it defines, and what it asks of earlier repetitions.
    pattern: t.Pattern
    reads: frozenset[str]
    variables: frozenset[str]
    earlier: frozenset[PriorMarks]
    joint: bool


def _earlier_reads(pattern: t.Pattern) -> frozenset[PriorMarks]:
    """What PRIOR and BEFORE speak of inside a pattern and no iteration inside it repeats."""
    match pattern:
        case t.EventType() | t.OtherEvent():
            return frozenset()
        case t.Filter(pattern=inner, condition=condition):
            spoken = (
                node for node in walk(condition) if isinstance(node, t.Every | t.Attribute | t.Aggregate)
            )
            own = (PriorMarks(node.variable or "", node.prior) for node in spoken if node.prior)
            return _earlier_reads(inner).union(own)
        case t.Iteration(pattern=body):
            inside = variables(body)
            return frozenset(one for one in _earlier_reads(body) if one.variable not in inside)
        case _:
            return frozenset().union(*(_earlier_reads(child) for child in children(pattern)))


def _next(time: Value) -> Value:
    """The first time after one."""
    if isinstance(time, Instant):
        return replace(time, count=time.count + 1)
    if isinstance(time, Duration):
        return replace(time, count=time.count + 1)
    assert isinstance(time, int)
    return time + 1


def _counted(pattern: t.Iteration) -> int:
    """From which repetition on all are alike."""
    return max(pattern.least, pattern.most or 0, 1) + 1


def _union(c1: Match, c2: Match) -> Match:
    marks, repetitions = c1.marks | c2.marks, c1.repetitions | c2.repetitions
    return Match(min(c1.start, c2.start), max(c1.end, c2.end), marks, repetitions)
