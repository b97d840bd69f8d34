"""Random timed formulas in which every interval speaks of two marked events, one after the other."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

from generate import TYPES, _filtered, interval, predicate, query_around
from random_besides import reach

from cer_gpu.language import tree as t
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import children, walk

ATOMS = 4
PLACES = 7
"""Larger formulas are drawn again: their automata take long to build."""


def timed_query(rng: Random) -> t.SelectQuery:
    """A query of the class, with clauses; its SELECT list unmarks no event."""
    while True:
        plain = steps(rng, rng.randrange(2, ATOMS + 1), 2)
        made = _filtered(rng, plain, variables(plain), 0.08, False)
        if rng.random() < 0.15:
            right = t.EventType(rng.choice(TYPES))
            made = t.Beside(made, right, rng.random() < 0.5, rng.random() < 0.5, reach(rng))
        if rng.random() < 0.12:
            high = t.Bound(rng.choice((500, 1000, 2000, 3000)), "ms", open=rng.random() < 0.3)
            made = t.Timed(made, t.Interval(None, high))
        if has_gap(made) and well_formed(made) and places(made) <= PLACES:
            break
    strategy = rng.choice((t.Strategy.ALL,) * 6 + (t.Strategy.ANY, t.Strategy.STRICT))
    query = query_around(rng, made, strategy)
    if isinstance(made, t.Timed) and query.window is not None and query.window.kind != "time":
        query = replace(query, window=None)
    return t.SelectQuery(
        query.pattern,
        strategy=query.strategy,
        partition=query.partition,
        window=query.window,
        consume=query.consume,
        limit=query.limit,
        suppress=query.suppress,
    )


def places(node: t.Pattern) -> int:
    """How many event types a pattern has, repetitions counted."""
    inside = sum(map(places, children(node))) if children(node) else 1
    return inside * (node.most or node.least) if isinstance(node, t.Iteration) else inside


def well_formed(pattern: t.Pattern) -> bool:
    """Whether no filter is put around an element that need not be there."""
    return not any(
        isinstance(node, t.Filter) and any(isinstance(inner, t.Optional) for inner in elements(node.pattern))
        for node in walk(pattern)
    )


def elements(pattern: t.Pattern) -> list[t.Pattern]:
    """A pattern and what names and filters stand around."""
    inner = pattern.pattern if isinstance(pattern, t.Filter | t.As) else None
    return [pattern, *(elements(inner) if inner is not None else [])]


def keyed_query(rng: Random) -> t.SelectQuery:
    """Two or three events in a row that have one attribute equal, which makes lanes."""
    names = "abc"[: rng.randrange(2, 4)]
    made: t.Pattern = t.As(t.EventType(rng.choice(TYPES)), "a")
    for name in names[1:]:
        made = t.Sequence(made, t.As(t.EventType(rng.choice(TYPES)), name), False, interval(rng))
    for one, other in pairwise(names):
        equal = t.Comparison("=", t.Attribute("id", one), t.Attribute("id", other))
        made = t.Filter(made, equal)
    query = query_around(rng, made)
    return replace(query, select=None, partition=(), streams=())


def session_query(rng: Random) -> t.SelectQuery:
    """A strategy over a repetition of which each end has one match that all its others are part of."""
    body: t.Pattern = t.EventType(rng.choice(TYPES))
    if rng.random() < 0.4:
        body = t.Filter(body, t.Every(body.name, predicate(rng)))
    if rng.random() < 0.4:
        body = t.As(body, "x")
    bound = t.Bound(rng.choice((250, 500, 1000, 2000)), "ms", open=rng.random() < 0.3)
    times = t.Times(rng.randrange(1, 4), None) if rng.random() < 0.4 else None
    made: t.Pattern = t.Iteration(body, rng.random() < 0.3, t.Interval(None, bound), times)
    if rng.random() < 0.4:
        made = t.Beside(made, t.EventType(rng.choice(TYPES)), False, rng.random() < 0.6, reach(rng))
    strategy = rng.choice((t.Strategy.MAX, t.Strategy.MAX, t.Strategy.NEXT, t.Strategy.LAST))
    query = query_around(rng, made, strategy)
    window = None if query.window is not None and query.window.kind == "attribute" else query.window
    return replace(query, streams=(), window=window)


def neighbour_query(rng: Random) -> t.SelectQuery:
    """Steps with gaps that all lead from an event to its neighbour, without a window."""
    gap = t.Interval(t.Bound(rng.choice((0, 0, 250)), "ms"), t.Bound(rng.choice((500, 1000, 2000)), "ms"))

    def element() -> t.Pattern:
        made: t.Pattern = t.EventType(rng.choice(TYPES))
        if rng.random() < 0.3:
            made = t.Filter(made, t.Every(made.name, predicate(rng)))
        if rng.random() < 0.7:
            times = t.Times(rng.randrange(1, 4), None) if rng.random() < 0.3 else None
            made = t.Iteration(made, True, gap if rng.random() < 0.7 else None, times)
        return made

    made = t.Iteration(t.EventType(rng.choice(TYPES)), True, gap)
    for _ in range(rng.randrange(3)):
        other = element()
        first, second = (made, other) if rng.random() < 0.5 else (other, made)
        made = t.Sequence(first, second, True, gap if rng.random() < 0.7 else None)
    keys = (("id",),) if rng.random() < 0.7 else ()
    strategy = rng.choice((t.Strategy.ALL, t.Strategy.STRICT))
    return t.SelectQuery(made, strategy=strategy, partition=keys)


def has_gap(pattern: t.Pattern) -> bool:
    """Whether the pattern has an interval of time."""
    return any(isinstance(node, t.Sequence | t.Iteration) and node.gap is not None for node in walk(pattern))


def steps(rng: Random, atoms: int, loops: int) -> t.Pattern:
    """A pattern of event types with AS, OR, AND, sequences, iterations, counts and optional elements."""
    made = _unnamed(rng, atoms, loops)
    return t.As(made, rng.choice("xyz")) if rng.random() < 0.2 else made


def _unnamed(rng: Random, atoms: int, loops: int) -> t.Pattern:
    if loops and rng.random() < 0.25:
        return repeated(rng, steps(rng, atoms, loops - 1))
    if atoms == 1:
        return t.EventType(rng.choice(TYPES))
    split = rng.randrange(1, atoms)
    pick = rng.random()
    if pick < 0.12:
        return t.Or(steps(rng, split, loops), steps(rng, atoms - split, loops))
    if pick < 0.2:
        return conjunction(rng, atoms, loops)
    if pick < 0.26:
        return t.Selector(t.Strategy.STRICT, steps(rng, atoms, 0))
    parts = [steps(rng, split, loops), steps(rng, atoms - split, loops)]
    if rng.random() < 0.15:
        parts[rng.randrange(2)] = t.Optional(parts[rng.randrange(2)])
    if all(isinstance(part, t.Optional) for part in parts):
        parts[0] = steps(rng, 1, 0)
    return t.Sequence(parts[0], parts[1], rng.random() < 0.25, gap(rng))


def repeated(rng: Random, body: t.Pattern) -> t.Iteration:
    """An iteration of a pattern, counted now and then."""
    times = None
    if rng.random() < 0.3:
        least = rng.choice((1, 1, 2))
        times = t.Times(least, rng.choice((None, least, least + 1)))
    return t.Iteration(body, rng.random() < 0.3, gap(rng), times)


def conjunction(rng: Random, atoms: int, loops: int) -> t.And:
    """An AND whose sides have matches in common more often than not."""
    one = steps(rng, max(atoms - 1, 2), 0)

    def loosened(node: t.Pattern) -> t.Pattern:
        if isinstance(node, t.Sequence):
            return t.Sequence(
                loosened(node.left),
                loosened(node.right),
                node.contiguous and rng.random() < 0.5,
                gap(rng) if rng.random() < 0.5 else node.gap,
            )
        return node

    return t.And(one, loosened(one))


def gap(rng: Random) -> t.Interval | None:
    """An interval, or none now and then."""
    return interval(rng) if rng.random() < 0.7 else None
