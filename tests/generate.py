"""Seeded random streams and queries, shared by the tests.

Everything takes a `random.Random`: the same seed gives the same queries and streams. Sizes are such that
the reference semantics answers most of them in about a millisecond.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pyarrow as pa
from random_suppressed import suppress

from cer_gpu.language import tree as t
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import rebuild, walk
from cer_gpu.reference.events import Event, Instant, Value

TYPES = ("A", "B", "C")
STREAMS = ("S", "R")
WORDS = ("alpha", "beta", "delta", "gamma", "")
ORDER = "ts"

ATTRIBUTES: dict[str, ValueType] = {
    "id": ValueType.INT64,
    "v": ValueType.INT64,
    "p": ValueType.FLOAT64,
    "s": ValueType.STRING,
    "lap": ValueType.INT64,
    "ts": ValueType.TIMESTAMP,
}

_ARROW = {
    "id": pa.int64(),
    "v": pa.int64(),
    "p": pa.float64(),
    "s": pa.string(),
    "lap": pa.int64(),
    "ts": pa.timestamp("ms"),
}


def schema() -> Schema:
    """The schema of the generated streams: every type may have every attribute, `ts` is the order."""
    return Schema(ATTRIBUTES, None, frozenset(STREAMS), order=ORDER, units={"ts": "ms"})


# ------------------------------------------------------------------------------------- streams


def stream(
    rng: Random,
    n: int,
    *,
    types: Sequence[str] = TYPES,
    holes: float = 0.06,
    times_tie: float = 0.3,
    lap_falls: bool = False,
) -> list[Event]:
    """A stream of `n` events.

    Attributes are null, missing or (p) NaN with probability `holes` each; `ts` is never null, does not
    decrease, and ties with the event before with probability `times_tie`; `lap` does not decrease either,
    unless `lap_falls`: then it falls back now and then.
    """
    events, now, lap = [], rng.randrange(0, 5) * 500, 0
    for _ in range(n):
        if rng.random() >= times_tie:
            now += rng.choice((250, 500, 1000, 2000))
        lap += rng.random() < 0.4
        if lap_falls and rng.random() < 0.15:
            lap = rng.randrange(lap + 1)
        values: dict[str, Value] = {
            "id": rng.randrange(3),
            "v": rng.randrange(10),
            "p": rng.randrange(40) / 4,
            "s": rng.choice(WORDS),
            "lap": lap,
        }
        if rng.random() < holes:
            values["p"] = math.nan
        for name in list(values):
            if rng.random() < holes:
                values[name] = None
            elif rng.random() < holes:
                del values[name]
        events.append(Event(rng.choice(types), {**values, "ts": Instant(now, "ms")}, rng.choice(STREAMS)))
    return events


def with_keys(rng: Random, events: Sequence[Event]) -> list[Event]:
    """The events with other values of `lap` and `p`, for windows over them.

    Of each: it ascends, or falls now and then, or is any of a few; in half of the streams it is sometimes
    null, `p` also NaN or infinite.
    """
    lap, p = _keys(rng, len(events), (None,)), _keys(rng, len(events), (None, math.nan, -math.inf, math.inf))
    floats = [None if value is None else value / 2 for value in p]
    return [
        replace(event, attributes={**event.attributes, "lap": one, "p": other})
        for event, one, other in zip(events, lap, floats, strict=True)
    ]


def _keys(rng: Random, n: int, others: Sequence[float | None]) -> list[Any]:
    falls, holes = rng.choice((0.0, 0.2, 1.0)), rng.choice((0.0, 0.25))
    keys, key = [], 0
    for _ in range(n):
        key = rng.randrange(6) if rng.random() < falls else key + (rng.random() < 0.5)
        keys.append(rng.choice(others) if rng.random() < holes else key)
    return keys


def stream_to_table(events: Sequence[Event]) -> pa.Table:
    """The events as a table: `type`, `stream`, and the attributes, where a missing one is null."""
    columns: dict[str, pa.Array] = {
        "type": pa.array([event.type for event in events], pa.string()),
        "stream": pa.array([event.stream for event in events], pa.string()),
    }
    for name, kind in _ARROW.items():
        values = [event.attributes.get(name) for event in events]
        plain = [value.count if isinstance(value, Instant) else value for value in values]
        if pa.types.is_timestamp(kind):
            columns[name] = pa.array(plain, pa.int64()).cast(kind)
        else:
            columns[name] = pa.array(plain, kind)
    return pa.table(columns)


# ---------------------------------------------------------------------------- predicates, conditions


def number(rng: Random, attribute: str) -> t.Expression:
    """An arithmetic expression over the attributes of one event, mostly one attribute."""
    plain = t.Attribute(attribute)
    if rng.random() < 0.7:
        return plain
    other = t.Attribute(rng.choice(("id", "v", "p"))) if rng.random() < 0.5 else constant(rng, "v")
    pair = (plain, other) if rng.random() < 0.7 else (other, plain)
    made: t.Expression = t.Arithmetic(rng.choice("+-*/%"), *pair)
    return t.Negation(made) if rng.random() < 0.1 else made


def constant(rng: Random, attribute: str) -> t.Number:
    """A literal near the values of a numeric attribute; now and then of the other numeric type."""
    if (attribute == "p") != (rng.random() < 0.15):
        return t.Number(rng.randrange(-4, 44) / 4)
    return t.Number(rng.randrange(-1, 4 if attribute == "id" else 11))


def predicate(rng: Random, depth: int = 2) -> t.Condition:
    """A predicate on one event."""
    if depth and rng.random() < 0.35:
        match rng.randrange(3):
            case 0:
                return t.Not(predicate(rng, depth - 1))
            case 1:
                return t.Both(predicate(rng, depth - 1), predicate(rng, depth - 1))
            case _:
                return t.Either(predicate(rng, depth - 1), predicate(rng, depth - 1))
    attribute = rng.choice(("id", "v", "v", "p", "p", "s"))
    if attribute == "s":
        return _string_predicate(rng)
    match rng.randrange(8):
        case 0:
            choices = tuple(constant(rng, attribute) for _ in range(rng.randrange(1, 4)))
            ends = sorted((choice.value for choice in choices), reverse=choices[0].value == 3)
            ranges = [(t.Number(ends[0]), t.Number(ends[-1] + 1)), (None, t.Number(0))][: len(choices) - 1]
            members = t.Members.of(*choices[: 4 - len(choices)], ranges=ranges)
            return _maybe_not(rng, t.InSet(t.Attribute(attribute), members))
        case 1:
            ends = sorted((constant(rng, attribute) for _ in range(2)), key=lambda one: one.value)
            low, high = rng.choice(((ends[0], ends[1]), (ends[0], None), (None, ends[1])))
            return _maybe_not(rng, t.InRange(t.Attribute(attribute), low, high))
        case 2:
            end = number(rng, rng.choice(("id", "v")))
            return t.InRange(t.Attribute(attribute), constant(rng, attribute), end)
        case 3:
            return _maybe_not(rng, t.IsNull(t.Attribute(attribute)))
        case _:
            op = rng.choice(("=", "!=", "<", "<=", ">", ">="))
            return t.Comparison(op, number(rng, attribute), constant(rng, attribute))


def _string_predicate(rng: Random) -> t.Condition:
    attribute = t.Attribute("s")
    match rng.randrange(4):
        case 0:
            return t.Like(attribute, rng.choice(("a$", "^[ab]", "l.*a", "(mm|lp)", "et")))
        case 1:
            words = tuple(t.Text(word) for word in rng.sample(WORDS, rng.randrange(1, 3)))
            return _maybe_not(rng, t.InSet(attribute, t.Members.of(*words)))
        case 2:
            return _maybe_not(rng, t.IsNull(attribute))
        case _:
            op = rng.choice(("=", "!=", "<", "<=", ">", ">="))
            return t.Comparison(op, attribute, t.Text(rng.choice(WORDS)))


def _maybe_not(rng: Random, condition: t.Condition) -> t.Condition:
    return t.Not(condition) if rng.random() < 0.3 else condition


def condition(
    rng: Random, names: Sequence[str], depth: int = 2, *, correlations: bool = False
) -> t.Condition:
    """A condition on some variables."""
    if depth and rng.random() < 0.35:
        parts = [condition(rng, names, depth - 1, correlations=correlations) for _ in range(2)]
        match rng.randrange(3):
            case 0:
                return t.Not(parts[0])
            case 1:
                return t.Both(parts[0], parts[1])
            case _:
                return t.Either(parts[0], parts[1])
    if correlations and len(names) > 1 and rng.random() < 0.5:
        return _correlation(rng, *rng.sample(sorted(names), 2))
    return t.Every(rng.choice(names), predicate(rng, depth=1))


def _correlation(rng: Random, x: str, y: str) -> t.Comparison:
    attribute = rng.choice(("id", "v", "p", "s", "ts"))
    op = rng.choice(("=", "!=", "<", "<=", ">", ">="))
    right: t.Expression = t.Attribute(attribute, y)
    if attribute == "ts" and rng.random() < 0.7:
        right = t.Arithmetic(rng.choice("+-"), right, t.Quantity(rng.choice((1, 2, 0.5)), "s"))
    elif attribute in ("v", "p") and rng.random() < 0.4:
        right = t.Arithmetic(rng.choice("+-*"), right, constant(rng, attribute))
    return t.Comparison(op, t.Attribute(attribute, x), right)


# ------------------------------------------------------------------------------------ patterns


@dataclass
class _Shape:
    """What a pattern may be made of, and how many more iterations: they multiply the answers."""

    full: bool
    iterations: int = 2


def pattern(rng: Random, *, atoms: int = 4, full: bool = False, filters: float = 0.3) -> t.Pattern:
    """A well-formed pattern.

    Parameters
    ----------
    rng : Random
    atoms : int
        At most so many event types.
    full : bool
        Also AND, ALL, UNLESS, selectors, time and correlations; otherwise only types, NOT, AS, unary FILTER,
        `;`, `:`, `+`, `:+`, OR and PROJECT.
    filters : float
        How likely each part is filtered.
    """
    plain = _pattern(rng, _Shape(full), rng.randrange(1, atoms + 1))
    return _filtered(rng, plain, variables(plain), filters, full)


def _pattern(rng: Random, shape: _Shape, atoms: int) -> t.Pattern:
    made = _unnamed(rng, shape, atoms)
    if rng.random() < 0.3:
        made = t.As(made, rng.choice(("x", "y", "z")))
    if rng.random() < 0.1 and variables(made):
        kept = [x for x in sorted(variables(made)) if rng.random() < 0.6]
        if kept:
            made = t.Project(made, tuple(kept))
    return made


def _unnamed(rng: Random, shape: _Shape, atoms: int) -> t.Pattern:
    if atoms == 1:
        kind = _event_type(rng)
        if rng.random() < 0.12:
            return t.OtherEvent(kind, t.Every(kind.name, predicate(rng)) if rng.random() < 0.5 else None)
        if rng.random() < 0.3 and shape.iterations:
            shape.iterations -= 1
            return _iteration(rng, t.As(kind, "x") if rng.random() < 0.3 else kind, shape.full)
        return kind
    if rng.random() < 0.15 and shape.iterations:
        shape.iterations -= 1
        return _iteration(rng, _pattern(rng, shape, atoms), shape.full)
    if shape.full and rng.random() < 0.15:
        inner = _pattern(rng, shape, atoms)
        if rng.random() < 0.4:
            return t.Timed(inner, interval(rng))
        strategies = (t.Strategy.NEXT, t.Strategy.LAST, t.Strategy.MAX, t.Strategy.STRICT)
        return t.Selector(rng.choice(strategies), inner)
    split = rng.randrange(1, atoms)
    left, right = _pattern(rng, shape, split), _pattern(rng, shape, atoms - split)
    pick = rng.random()
    if shape.full and pick < 0.3:
        return rng.choice((t.And, t.All, t.Unless, t.Unless))(left, right)
    if pick < 0.5:
        return t.Or(left, right)
    gap = interval(rng) if shape.full and rng.random() < 0.2 else None
    return t.Sequence(left, right, rng.random() < 0.35, gap)


def _event_type(rng: Random) -> t.EventType:
    return t.EventType(rng.choice(TYPES), rng.choice(STREAMS) if rng.random() < 0.08 else None)


def _iteration(rng: Random, body: t.Pattern, full: bool) -> t.Iteration:
    gap = interval(rng) if full and rng.random() < 0.25 else None
    return t.Iteration(body, rng.random() < 0.4, gap)


def interval(rng: Random) -> t.Interval:
    """A bound, two bounds, or one point of time."""
    low = t.Bound(rng.choice((0, 250, 500, 1000)), "ms", open=rng.random() < 0.3)
    high = t.Bound(rng.choice((1.5, 2, 2.5, 4)), "s", open=rng.random() < 0.3)
    if rng.random() < 0.1:
        point = t.Bound(rng.choice((500, 1000, 2000)), "ms")
        return t.Interval(point, point)
    return rng.choice((t.Interval(low, None), t.Interval(None, high), t.Interval(low, high)))


def _filtered(rng: Random, node: t.Pattern, outer: frozenset[str], likely: float, full: bool) -> t.Pattern:
    """The pattern with filters put around some of its parts, on their own variables and on outer ones."""

    def child(inner: t.Pattern) -> t.Pattern:
        scope = isinstance(node, t.Iteration | t.Selector | t.Project)
        forbidden = isinstance(node, t.Unless) and inner is node.right
        seen = outer | variables(inner) if scope or forbidden else outer
        return _filtered(rng, inner, seen, likely, full)

    names = sorted(variables(node))
    if outer and rng.random() < 0.35:
        names = sorted({*names, rng.choice(sorted(outer))})
    made = rebuild(node, child)
    if isinstance(made, t.OtherEvent):
        if made.condition is not None and names:
            spoken = sorted({made.type.name, *names})
            made = t.OtherEvent(made.type, condition(rng, spoken, correlations=full))
        return made
    if names and rng.random() < likely:
        return t.Filter(made, condition(rng, names, correlations=full))
    return made


# ------------------------------------------------------------------------------------- queries


def unary_query(rng: Random, *, atoms: int = 4, clauses: bool = True) -> t.SelectQuery:
    """A query of what regular engines evaluate: unary filters, no selection.

    Parameters
    ----------
    rng : Random
    atoms : int
        At most so many event types in the pattern.
    clauses : bool
        Also a SELECT list, PARTITION BY, WITHIN, CONSUME BY and LIMIT.
    """
    made = pattern(rng, atoms=atoms)
    return query_around(rng, made, t.Strategy.ALL) if clauses else t.SelectQuery(made)


def any_query(rng: Random, *, atoms: int = 4) -> t.SelectQuery:
    """A query of the whole language, well-formed."""
    strategy = t.Strategy.ALL if rng.random() < 0.4 else rng.choice(list(t.Strategy))
    return query_around(rng, pattern(rng, atoms=atoms, full=True), strategy)


def query_around(rng: Random, made: t.Pattern, strategy: t.Strategy = t.Strategy.ALL) -> t.SelectQuery:
    """A query for a pattern; now and then a SELECT list, FROM, partitions, a window, and other clauses."""
    query = t.SelectQuery(
        made,
        strategy=strategy,
        select=_select(rng, made),
        streams=_streams(rng, made),
        partition=_partition(rng),
        window=_window(rng),
        consume=rng.choice(list(t.Consume)) if rng.random() < 0.25 else t.Consume.NONE,
        limit=rng.choice((0, 1, 2, 5)) if rng.random() < 0.15 else None,
    )
    own = Random(to_text(query))  # what is drawn later does not depend on it
    return replace(query, suppress=suppress(own)) if own.random() < 0.1 else query


def _streams(rng: Random, made: t.Pattern) -> tuple[str, ...]:
    """FROM, now and then: it lists every stream that the pattern names, so it names one only if none is."""
    if rng.random() > 0.08:
        return ()
    named = any(isinstance(node, t.EventType) and node.stream is not None for node in walk(made))
    return STREAMS if named else (rng.choice(STREAMS),)


def _select(rng: Random, made: t.Pattern) -> tuple[t.SelectItem, ...] | None:
    pick = rng.random()
    if pick < 0.6:
        return None
    names = [x for x in sorted(variables(made)) if rng.random() < 0.6] if pick < 0.9 else []
    return tuple(
        t.SelectItem(x, tuple(rng.sample(("id", "v", "p", "s"), rng.choice((0, 0, 1, 2))))) for x in names
    )


def _partition(rng: Random) -> tuple[tuple[str, ...], ...]:
    if rng.random() < 0.65:
        return ()
    return rng.choice(((("id",),), (("s",),), (("id",), ("s",)), (("id", "v"),), (("v", "id"), ("s",))))


def _window(rng: Random) -> t.Window | None:
    match rng.randrange(8):
        case 0 | 1:
            return t.Window(rng.randrange(6), "events")
        case 2:
            return t.Window(rng.choice((0, 1, 2, 2.5, 4)), "time", unit="s")
        case 3:
            return t.Window(rng.choice((500, 1000, 3000)), "time", unit="ms")
        case 4:
            return t.Window(rng.choice((0, 1, 2)), "attribute", attribute="lap")
        case 5:
            return t.Window(rng.choice((500, 2000)), "attribute", attribute="ts")
        case _:
            return None
