"""Random formulas with windows and gaps on any operator, inside and around everything else."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from generate import _filtered, query_around
from random_formulas import nested, small

from cer_gpu.language import tree as t
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import nodes, rebuild, walk
from cer_gpu.logic.formulas import atoms

ATOMS = 6
TESTS = 3
"""Larger formulas are drawn again: the reference takes long for them."""


def interval(rng: Random) -> t.Interval:
    """A bound, two bounds, or one point of time, in the steps of the random streams."""
    low = t.Bound(rng.choice((0, 250, 500, 1000)), "ms", open=rng.random() < 0.3)
    high = t.Bound(rng.choice((0.5, 1, 1.5, 2, 4)), "s", open=rng.random() < 0.3)
    if rng.random() < 0.15:
        point = t.Bound(rng.choice((0, 500, 1000)), "ms")
        return t.Interval(point, point)
    return rng.choice((t.Interval(low, None), t.Interval(None, high), t.Interval(None, high),
                       t.Interval(replace(low, value=rng.choice((0, 250))), high)))  # fmt: skip


def timed(rng: Random, made: t.Pattern, likely: float) -> t.Pattern:
    """A pattern with gaps, windows and counts put on some of its parts."""
    made = rebuild(made, lambda inner: timed(rng, inner, likely))
    if isinstance(made, t.Sequence):
        if rng.random() < likely:
            made = replace(made, gap=interval(rng))
    elif isinstance(made, t.Iteration):
        if rng.random() < likely:
            made = replace(made, gap=interval(rng))
        if rng.random() < 0.2:
            low = rng.choice((1, 1, 2))
            made = replace(made, times=t.Times(low, rng.choice((None, low, low + 1))))
    elif rng.random() < 0.1 and not isinstance(made, t.EventType | t.Timed):
        made = t.Timed(made, interval(rng))
    return made


def with_optional(rng: Random, made: t.Pattern) -> t.Pattern:
    """A pattern some elements of whose sequences may be left out."""
    made = rebuild(made, lambda inner: with_optional(rng, inner))
    if isinstance(made, t.Sequence) and rng.random() < 0.15 and not isinstance(made.right, t.Sequence):
        return replace(made, right=t.Optional(made.right))
    return made


def formula(rng: Random, depth: int, *, filters: float = 0.06, likely: float = 0.4) -> t.Pattern:
    """A formula that speaks of time, in which AND, ALL, UNLESS and selectors are nested `depth` deep."""
    while True:
        plain = nested(rng, depth, rng.randrange(2)) if depth else _flat(rng)
        made = timed(rng, plain, likely)
        if rng.random() < 0.3:
            made = t.Timed(made, interval(rng))
        made = _filtered(rng, made, variables(made), filters, False)
        made = with_optional(rng, made)
        few = sum(isinstance(part, t.Every) for part in walk(made)) <= TESTS
        if atoms(made) <= ATOMS and few and speaks_of_time(made):
            return made


STRATEGIES = (*(t.Strategy.ALL,) * 4, *t.Strategy)


def windowed_query(rng: Random) -> t.SelectQuery:
    """A query with such a formula, and every clause now and then."""
    while True:
        made = query_around(rng, formula(rng, rng.choice((0, 0, 1, 1, 2))), rng.choice(STRATEGIES))
        if made.window is None or made.window.kind != "attribute":
            return made


def _flat(rng: Random) -> t.Pattern:
    """A sequence of small formulas."""
    made = small(rng, rng.choice((1, 2)), 1)
    for _ in range(rng.randrange(3)):
        made = t.Sequence(made, small(rng, rng.choice((1, 1, 2)), 1), rng.random() < 0.3)
    return made


def speaks_of_time(made: t.Pattern) -> bool:
    """Whether an interval stands on some operator."""
    return any(isinstance(node, t.Timed) or getattr(node, "gap", None) is not None for node in nodes(made))
