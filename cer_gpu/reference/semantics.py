"""The reference semantics: the definitions of the language written down, slow and obvious.

Every engine is compared with it. Sections 2, 6 and 8 of the language here; the patterns of sections 3 to 5
are in `cer_gpu.reference.matcher`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree as t
from cer_gpu.language.repetition_edges import names_of, repeated_in
from cer_gpu.language.scope import dropped, variables
from cer_gpu.logic.binding import reads
from cer_gpu.reference.aggregates import aggregate_of
from cer_gpu.reference.conditions import value_of, valued
from cer_gpu.reference.events import Duration, Event, Instant, Value
from cer_gpu.reference.matcher import NOTHING, JointAggregates, Matcher
from cer_gpu.reference.selection import Match
from cer_gpu.reference.time import at_most, difference


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
    measures : mapping of str to Value
    """

    start: int
    end: int
    marks: Mapping[str, tuple[int, ...]]
    partition: tuple[Value, ...] | None = None
    measures: Mapping[str, Value] = field(default_factory=dict)


class SelectedAnswer(NamedTuple):
    """A complex event after the SELECT list: the marks that it keeps, and the values of the measures."""

    match: Match
    measures: tuple[Value, ...]

    def sort_key(self) -> tuple[object, ...]:
        """The order in which answers are given: that of `Match`, then the order of the measures as text."""
        return *self.match.sort_key(), tuple(map(repr, self.measures))


@dataclass(frozen=True, slots=True)
class PartitionEvents:
    """The events of one partition, on which the pattern runs on its own."""

    key: tuple[Value, ...] | None
    positions: tuple[int, ...]
    """Where its events stand in the whole stream, ascending."""
    matcher: Matcher


def evaluate(
    query: t.SelectQuery,
    events: Sequence[Event],
    *,
    order: str | None = None,
    order_unit: str | None = None,
    until: Value = None,
) -> tuple[Answer, ...]:
    """The answer of a query on a stream.

    Parameters
    ----------
    query : Query
    events : sequence of Event
        In stream order, which is not checked.
    order : str, optional
        The order attribute; without one, the query may not mention time.
    order_unit : str, optional
        The unit of a plain-number order attribute.
    until : Value
        The time up to which the stream is known, not before that of any event: the answers that there are
        whatever comes after it. None: after the last event nothing comes.

    Returns
    -------
    tuple of Answer
        A set: no repetitions. Sorted by (end, start, positions, variables at each). Under LIMIT n and ANY the
        answers of each end position are the first n, and the first one, in that order.

    Raises
    ------
    ValueError
        When the query mentions time and there is no order attribute, or it has no such unit, or a filter
        reads a variable that no pattern around it defines. With `until`, also for CONSUME BY, SUPPRESS, ANY
        and LIMIT, where more than pairs of complex events decide.
    TypeError
        When values do not compare.
    """
    drops = query.consume is not t.Consume.NONE or query.suppress is not None
    if until is not None and (drops or query.limit is not None or query.strategy is t.Strategy.ANY):
        raise ValueError("what CONSUME BY, SUPPRESS, ANY and LIMIT surely leave is not defined here")
    undefined = reads(query.pattern) - variables(query.pattern) - dropped(query.pattern)
    if undefined:
        raise ValueError(f"variables that no pattern defines: {', '.join(sorted(undefined))}")
    joint = JointAggregates(query.pattern, [one.expression for one in query.measures])
    parts = [
        PartitionEvents(
            key,
            places,
            Matcher([events[p] for p in places], order, order_unit, joint=joint, until=until),
        )
        for key, places in _partition(query, events)
    ]
    kept = None if query.select is None else frozenset(item.variable for item in query.select)
    limit = 1 if query.strategy is t.Strategy.ANY and query.limit != 0 else query.limit
    found: list[tuple[SelectedAnswer, tuple[Value, ...] | None]] = []
    # The last position that has been consumed: everywhere, and in each part.
    consumed, consumed_in = -1, dict.fromkeys(range(len(parts)), -1)
    # The time of the last end that SUPPRESS counts: of the whole stream (None), or of each part.
    last: dict[int | None, Value] = {}
    for number, local_end in _ends(parts):
        part = parts[number]
        after = max(consumed, consumed_in[number])
        first = sum(position <= after for position in part.positions)
        reported = _reported(query, part, first, local_end)
        if not reported:
            continue
        if query.suppress is not None:
            if order is None:
                raise ValueError("the query mentions time, and there is no order attribute")
            here = number if _by_partition(query, query.suppress) else None
            now = part.matcher.events[local_end].attributes.get(order)
            if here in last and _is_suppressed(query.suppress, now, last[here], order_unit):
                continue
            last[here] = now
        if query.consume is t.Consume.ANY:
            consumed = part.positions[local_end]
        elif query.consume is t.Consume.PARTITION:
            consumed_in[number] = part.positions[local_end]
        shown = {
            SelectedAnswer(_in_stream(match, kept, part.positions), _measured(query, part.matcher, match))
            for match in reported
        }
        found += [(one, part.key) for one in sorted(shown, key=SelectedAnswer.sort_key)[:limit]]
    names = [measure.name for measure in query.measures]
    return tuple(
        Answer(one.match.start, one.match.end, _by_variable(one.match), key, dict(zip(names, one.measures)))
        for one, key in found
    )


def matches(
    pattern: t.Pattern, events: Sequence[Event], *, order: str | None = None, order_unit: str | None = None
) -> frozenset[Match]:
    """The complex events of a pattern alone on a stream: no partition, no window, no strategy.

    Raises
    ------
    ValueError, TypeError
        As `evaluate`.
    """
    matcher = Matcher(events, order, order_unit, joint=JointAggregates(pattern))
    found = matcher.of_scope(pattern, 0, NOTHING)
    return frozenset(match._replace(repetitions=frozenset()) for match in found)


def _by_partition(query: t.SelectQuery, suppress: t.Suppress) -> bool:
    """Whether SUPPRESS looks at each partition on its own: the default under PARTITION BY."""
    return bool(query.partition) and suppress.by is not t.Consume.ANY


def _is_suppressed(suppress: t.Suppress, now: Value, last: Value, order_unit: str | None) -> bool:
    """Whether an end is not reported, since the last that was reported is at most so long ago."""
    return at_most(difference(now, last), suppress.length.value, suppress.length.unit, order_unit)


def _measured(query: t.SelectQuery, matcher: Matcher, found: Match) -> tuple[Value, ...]:
    """The values of the measures of a complex event, whose marks the SELECT list has not dropped yet."""

    def marked(name: str, prior: t.Earlier) -> list[Event]:
        return [matcher.events[position] for position in sorted(found.marked_by(name))]

    def repetitions(node: t.Aggregate) -> Sequence[Mapping[str, Sequence[Event]]]:
        names = names_of(node)
        loops = {id(one) for one in repeated_in(query.pattern, names)}
        if not loops:
            return [{name: marked(name, "") for name in names}]
        return matcher.events_of(found.repetitions, loops, names)

    def value(node: t.Expression) -> Value:
        match node:
            case t.Aggregate():
                return aggregate_of(node, marked, valued, repetitions)
            case t.Moment(name=name):
                return matcher.moment(name, found)
        raise TypeError(f"{node!r} in a measure")

    return tuple(value_of(measure.expression, value) for measure in query.measures)


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

    def candidates(matcher: Matcher) -> Iterable[Match]:
        found = matcher.of_scope(query.pattern, first, NOTHING)
        return (m for m in found if m.end == end and matcher.in_window(query.window, m))

    sure = part.matcher
    reported = sure.chosen(query.strategy, candidates(sure), candidates(sure.other))
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
