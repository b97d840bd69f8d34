"""The reference semantics: the definitions of the language written down, slow and obvious.

Every engine is compared with it. Sections 2 to 6 and 8 of the language, after Figures 2 and 3 of the timed
CEL paper (operators as sets of complex events) and chapters 3 and 4 of the CEPL thesis (UNLESS, ALL,
selectors, the starting position i, and "there is a valuation").
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from cer_gpu.frozen import dataclass
from cer_gpu.language import tree as t
from cer_gpu.language.scope import dropped, variables
from cer_gpu.language.walk import condition_variables
from cer_gpu.logic.binding import hidden, reads
from cer_gpu.reference.conditions import condition_holds
from cer_gpu.reference.events import Duration, Event, Instant, Value
from cer_gpu.reference.selection import Match, select
from cer_gpu.reference.time import at_most, difference, inside

Environment: TypeAlias = Mapping[str, frozenset[int]]
"""The positions that variables of enclosing scopes mark."""

NOTHING: Environment = {}


@dataclass(frozen=True, slots=True)
class Answer:
    """One complex event of the answer.

    Attributes
    ----------
    start, end : int
        Positions in the whole stream.
    marks : mapping of str to tuple of int
        The positions that each variable marks, ascending; variables that mark none are left out.
    partition : tuple of Value, or None
        The values of the key, one for each part; None without PARTITION BY.
    """

    start: int
    end: int
    marks: Mapping[str, tuple[int, ...]]
    partition: tuple[Value, ...] | None = None


@dataclass(frozen=True, slots=True)
class PartitionEvents:
    """A part of the stream, on which the pattern runs on its own."""

    key: tuple[Value, ...] | None
    positions: tuple[int, ...]
    """Where its events stand in the whole stream, ascending."""
    matcher: Matcher


def evaluate(
    query: t.SelectQuery, events: Sequence[Event], *, order: str | None = None, order_unit: str | None = None
) -> tuple[Answer, ...]:
    """The answer of a query on a stream.

    Parameters
    ----------
    query : Query
    events : sequence of Event
        In stream order, which is not checked.
    order : str, optional
        The order attribute; without one, nothing of the query may speak of time.
    order_unit : str, optional
        The unit of a plain-number order attribute.

    Returns
    -------
    tuple of Answer
        A set: no repetitions. Sorted by (end, start, positions, variables at each). Under LIMIT n and ANY the
        answers of each end position are the first n, and the first one, in that order.

    Raises
    ------
    ValueError
        The query speaks of time and there is no order attribute, or of a unit that the order attribute does
        not have, or a filter reads a variable that no pattern around it defines.
    TypeError
        Values that do not compare.
    """
    undefined = reads(query.pattern) - variables(query.pattern) - dropped(query.pattern)
    if undefined:
        raise ValueError(f"variables that no pattern defines: {', '.join(sorted(undefined))}")
    parts = [
        PartitionEvents(key, positions, Matcher([events[p] for p in positions], order, order_unit))
        for key, positions in _partition(query, events)
    ]
    kept = None if query.select is None else frozenset(item.variable for item in query.select)
    limit = 1 if query.strategy is t.Strategy.ANY and query.limit != 0 else query.limit
    found: list[tuple[Match, tuple[Value, ...] | None]] = []
    # The last position that has been consumed: everywhere, and in each part.
    consumed, consumed_in = -1, dict.fromkeys(range(len(parts)), -1)
    for number, local_end in _ends(parts):
        part = parts[number]
        after = max(consumed, consumed_in[number])
        first = sum(position <= after for position in part.positions)
        reported = _reported(query, part, first, local_end)
        if not reported:
            continue
        if query.consume is t.Consume.ANY:
            consumed = part.positions[local_end]
        elif query.consume is t.Consume.PARTITION:
            consumed_in[number] = part.positions[local_end]
        shown = {_in_stream(match, kept, part.positions) for match in reported}
        found += [(match, part.key) for match in sorted(shown, key=Match.sort_key)[:limit]]
    return tuple(Answer(m.start, m.end, _by_variable(m), key) for m, key in found)


def matches(
    pattern: t.Pattern, events: Sequence[Event], *, order: str | None = None, order_unit: str | None = None
) -> frozenset[Match]:
    """The complex events of a pattern alone on a stream: no partition, no window, no strategy.

    Raises
    ------
    ValueError, TypeError
        As `evaluate`.
    """
    return Matcher(events, order, order_unit).of_scope(pattern, 0, NOTHING)


def _ends(parts: Sequence[PartitionEvents]) -> list[tuple[int, int]]:
    """Every (part, position in the part), in the order of the whole stream."""
    places = [
        (position, number, local)
        for number, part in enumerate(parts)
        for local, position in enumerate(part.positions)
    ]
    return [(number, local) for _, number, local in sorted(places)]


def _reported(query: t.SelectQuery, part: PartitionEvents, first: int, end: int) -> frozenset[Match]:
    """What is reported at an end position, as if the part began at `first`."""
    candidates = part.matcher.of_scope(query.pattern, first, NOTHING)
    in_window = (m for m in candidates if m.end == end and part.matcher.in_window(query.window, m))
    reported = select(query.strategy, in_window)
    return frozenset() if query.limit == 0 else reported


def _partition(
    query: t.SelectQuery, events: Sequence[Event]
) -> list[tuple[tuple[Value, ...] | None, tuple[int, ...]]]:
    taking_part = _of_streams(query, events)
    if not query.partition:
        return [(None, taking_part)]
    keys: dict[tuple[object, ...], tuple[Value, ...]] = {}
    groups: dict[tuple[object, ...], list[int]] = {}
    for position in taking_part:
        event = events[position]
        values = [_first_value(event, alternatives) for alternatives in query.partition]
        if any(value is None for value in values):
            continue
        same = tuple(_identity(value) for value in values)
        keys.setdefault(same, tuple(values))
        groups.setdefault(same, []).append(position)
    return [(keys[same], tuple(positions)) for same, positions in groups.items()]


def _of_streams(query: t.SelectQuery, events: Sequence[Event]) -> tuple[int, ...]:
    """The events that take part: where streams have names, those of the streams of FROM."""
    if not query.streams or all(event.stream is None for event in events):
        return tuple(range(len(events)))
    return tuple(position for position, event in enumerate(events) if event.stream in query.streams)


def _first_value(event: Event, alternatives: Iterable[str]) -> Value:
    values = (event.attributes.get(name) for name in alternatives)
    return next((value for value in values if value is not None), None)


def _identity(value: Value) -> object:
    """What two values of a key must share to be one: all NaN are one value, and so are 0.0 and -0.0."""
    if isinstance(value, float) and math.isnan(value):
        return "NaN", None
    if isinstance(value, Instant | Duration):
        return type(value).__name__, value.nanoseconds
    return "string" if isinstance(value, str) else "number", value


def _in_stream(match: Match, kept: frozenset[str] | None, positions: Sequence[int]) -> Match:
    """The match with positions of the whole stream, and only the marks that the SELECT list keeps."""
    marks = frozenset((name, positions[p]) for name, p in match.marks if kept is None or name in kept)
    return Match(positions[match.start], positions[match.end], marks)


def _by_variable(match: Match) -> dict[str, tuple[int, ...]]:
    names = sorted({name for name, _ in match.marks})
    return {name: tuple(sorted(match.marked_by(name))) for name in names}


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
        Over-approximate: filters that read a variable from outside hold, selectors choose everything and
        UNLESS drops nothing.
    """

    def __init__(
        self,
        events: Sequence[Event],
        order: str | None = None,
        order_unit: str | None = None,
        *,
        loose: bool = False,
    ) -> None:
        self.events = events
        self.order = order
        self.order_unit = order_unit
        self.loose = loose
        self._candidates = self if loose else Matcher(events, order, order_unit, loose=True)
        # Keyed by the identity of nodes, which are kept alive with their results.
        self._known: dict[tuple[object, ...], frozenset[Match]] = {}
        self._nodes: dict[int, tuple[t.Pattern, frozenset[str], frozenset[str]]] = {}

    def of(self, pattern: t.Pattern, first: int, outside: Environment) -> frozenset[Match]:
        """The complex events of a pattern that start at `first` or later."""
        relevant = frozenset((x, marked) for x, marked in outside.items() if x in self._reads(pattern))
        key = id(pattern), first, relevant
        if key not in self._known:
            self._known[key] = frozenset(self._of(pattern, first, outside))
        return self._known[key]

    def of_scope(self, body: t.Pattern, first: int, outside: Environment) -> frozenset[Match]:
        """The complex events of a scope: there is a valuation of the variables that it binds.

        The marks that filters inside read are guessed, among those of a looser pattern, and the complex
        events are kept whose own marks are the guess.
        """
        return self._binding(body, self._reads(body) & self._variables(body), first, outside)

    def _binding(
        self, body: t.Pattern, bound: frozenset[str], first: int, outside: Environment
    ) -> frozenset[Match]:
        if self.loose or not bound:
            return self.of(body, first, outside)
        names = sorted(bound)
        guesses = {tuple(m.marked_by(x) for x in names) for m in self._candidates.of(body, first, NOTHING)}
        found: set[Match] = set()
        for guess in guesses:
            inner = {**outside, **dict(zip(names, guess))}
            found |= {m for m in self.of(body, first, inner) if tuple(m.marked_by(x) for x in names) == guess}
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
            case t.Sequence(left=left, right=right, contiguous=contiguous, gap=gap):
                return (
                    _union(c1, c2)
                    for c1 in self.of(left, first, outside)
                    for c2 in self.of(right, c1.end + 1, outside)
                    if self._follows(c1, c2, contiguous, gap)
                )
            case t.Iteration():
                return self._iteration(pattern, first, outside)
            case t.Or(left=left, right=right):
                return self.of(left, first, outside) | self.of(right, first, outside)
            case t.And(left=left, right=right):
                return self.of(left, first, outside) & self.of(right, first, outside)
            case t.All(left=left, right=right):
                others = self.of(right, first, outside)
                return (_union(c1, c2) for c1 in self.of(left, first, outside) for c2 in others)
            case t.Unless(left=left, right=right):
                found = self.of(left, first, outside)
                if self.loose:
                    return found
                forbidden = self.of_scope(right, first, outside)
                return (m for m in found if not any(m.start <= f.start and f.end <= m.end for f in forbidden))
            case t.Project(pattern=inner, variables=kept):
                bound = self._reads(inner) & hidden(pattern)
                return (
                    m._replace(marks=frozenset(mark for mark in m.marks if mark[0] in kept))
                    for m in self._binding(inner, bound, first, outside)
                )
            case t.Selector(strategy=strategy, pattern=operand):
                found = self.of_scope(operand, first, outside)
                return found if self.loose else select(strategy, found)
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

    def _iteration(self, pattern: t.Iteration, first: int, outside: Environment) -> Iterable[Match]:
        for c1 in self.of_scope(pattern.pattern, first, outside):
            yield c1
            for c2 in self.of(pattern, c1.end + 1, outside):
                if self._follows(c1, c2, pattern.contiguous, pattern.gap):
                    yield _union(c1, c2)

    def _follows(self, c1: Match, c2: Match, contiguous: bool, gap: t.Interval | None) -> bool:
        if contiguous and c2.start != c1.end + 1:
            return False
        return gap is None or inside(self._elapsed(c1.end, c2.start), gap, self.order_unit)

    def _is_local(self, condition: t.Condition, filtered: t.Pattern) -> bool:
        return condition_variables(condition) <= self._variables(filtered)

    def _holds(self, condition: t.Condition, filtered: t.Pattern, match: Match, outside: Environment) -> bool:
        if self.loose and not self._is_local(condition, filtered):
            return True
        local = self._variables(filtered)

        def marked(name: str) -> Iterable[Event]:
            # What a PROJECT drops marks nothing outside of it.
            positions = match.marked_by(name) if name in local else outside.get(name, frozenset())
            return [self.events[position] for position in positions]

        return condition_holds(condition, marked)

    def _elapsed(self, early: int, late: int) -> int | float | Duration | None:
        if self.order is None:
            raise ValueError("the query speaks of time and there is no order attribute")
        return self._change(self.order, early, late)

    def _change(self, attribute: str, early: int, late: int) -> int | float | Duration | None:
        values = (self.events[position].attributes.get(attribute) for position in (late, early))
        return difference(*values)

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
        return self._node(pattern)[1]

    def _variables(self, pattern: t.Pattern) -> frozenset[str]:
        return self._node(pattern)[2]

    def _node(self, pattern: t.Pattern) -> tuple[t.Pattern, frozenset[str], frozenset[str]]:
        known = self._nodes.get(id(pattern))
        if known is None:
            known = self._nodes[id(pattern)] = (pattern, reads(pattern), variables(pattern))
        return known


def _union(c1: Match, c2: Match) -> Match:
    return Match(min(c1.start, c2.start), max(c1.end, c2.end), c1.marks | c2.marks)
