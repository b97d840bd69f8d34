"""Seeded random queries that compare events with those before them, by order and by equality."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

from generate import condition, query_around
from random_repetitions import times

from cer_gpu.language import tree as t

TYPES = ("A", "B", "C")
NUMBERS = ("id", "v", "v", "p", "p", "lap")
OPERATORS = ("<", "<=", ">", ">=", "!=", "<", ">")


def random_ordered(rng: Random) -> t.SelectQuery:
    """A query of steps that are compared with the ones before them: most are ordered look-ups."""
    names = iter(f"x{number}" for number in range(9))
    made, compared = _grown(rng, rng.choice((1, 2, 2, 2, 3, 3, 4)), names)
    if len(compared) > 1:
        made = t.Filter(made, _comparisons(rng, compared))
    return query_around(rng, made)


def _grown(rng: Random, atoms: int, names: object) -> tuple[t.Pattern, list[str]]:
    if atoms == 1:
        return _element(rng, names)
    left = rng.randrange(1, atoms)
    one, first = _grown(rng, left, names)
    other, second = _grown(rng, atoms - left, names)
    chosen = rng.random()
    if chosen < 0.1:
        return t.Or(one, other), []
    made: t.Pattern = t.Sequence(one, other, contiguous=rng.random() < 0.15)
    ends = first[:1] + second[-1:]
    inner = first[-1:] + second[:1]
    if len(inner) == 2 and rng.random() < 0.6:
        made = t.Filter(made, _comparisons(rng, inner))
        if chosen < 0.25:
            return t.Iteration(made, contiguous=rng.random() < 0.15), []
    return made, ends if atoms == 2 else []


def _element(rng: Random, names: object) -> tuple[t.Pattern, list[str]]:
    name = next(names)  # type: ignore[call-overload]
    made: t.Pattern = t.As(t.EventType(rng.choice(TYPES)), name)
    if rng.random() < 0.15:
        made = t.Or(made, t.As(t.EventType(rng.choice(TYPES)), name))
    if rng.random() < 0.15:
        made = t.Filter(made, condition(rng, (name,), depth=1))
    if rng.random() > 0.35:
        return made, [name]
    made = t.Filter(made, random_comparison(rng, t.Attribute, name, name, prior="PRIOR"))
    counts = times(rng) if rng.random() < 0.6 else None
    return t.Iteration(made, contiguous=rng.random() < 0.25, times=counts), []


def _comparisons(rng: Random, names: list[str]) -> t.Condition:
    made: t.Condition | None = None
    for one, other in pairwise(names):
        step: t.Condition = random_comparison(rng, t.Attribute, one, other)
        if rng.random() < 0.3:
            key = rng.choice(("id", "lap", "s"))
            step = t.Both(step, t.Comparison("=", t.Attribute(key, one), t.Attribute(key, other)))
        made = step if made is None else t.Both(made, step)
    assert made is not None
    return made


def random_comparison(
    rng: Random, attribute: type, one: str, other: str, prior: t.Earlier = ""
) -> t.Comparison:
    """A comparison of two events, of numbers, times or texts."""
    pick = rng.random()
    if pick < 0.12:
        first, second = "ts", "ts"
    elif pick < 0.27:
        first, second = "s", "s"
    else:
        first = rng.choice(NUMBERS)
        second = first if rng.random() < 0.7 else rng.choice(NUMBERS)
    left: t.Expression = t.Attribute(first, one)
    right: t.Expression = t.Attribute(second, other, prior=prior)
    if first in NUMBERS:
        left, right = _linear(rng, left), _linear(rng, right)
    elif first == "ts" and rng.random() < 0.5:
        right = t.Arithmetic("+", right, t.Quantity(rng.choice((1, 2)), "s"))
    if rng.random() < 0.5:
        left, right = right, left
    return t.Comparison(rng.choice(OPERATORS), left, right)


def _linear(rng: Random, side: t.Expression) -> t.Expression:
    pick = rng.random()
    if pick < 0.12:
        return t.Arithmetic("*", t.Number(rng.choice((2, 1.5, -1))), side)
    if pick < 0.24:
        return t.Arithmetic(rng.choice("+-"), side, t.Number(rng.choice((1, 3, 0.5))))
    return side


STRATEGIES = (t.Strategy.ALL, t.Strategy.ALL, t.Strategy.MAX, t.Strategy.NEXT, t.Strategy.LAST)


CHOOSING = (t.Strategy.MAX, t.Strategy.NEXT, t.Strategy.LAST)


def random_chosen(rng: Random) -> t.SelectQuery:
    """A query of compared steps, or of rising runs, of which a strategy leaves some."""
    if rng.random() < 0.5:
        return replace(random_ordered(rng), strategy=rng.choice(CHOOSING))
    made: t.Pattern = t.As(t.EventType(rng.choice(TYPES)), "x")
    if rng.random() < 0.5:
        made = t.Or(made, t.As(t.EventType(rng.choice(TYPES)), "x"))
    value = rng.choice(("v", "p", "v", "s"))
    rises: t.Condition = t.Comparison(
        rng.choice(OPERATORS[:4]), t.Attribute(value, "x"), t.Attribute(value, "x", prior="PRIOR")
    )
    if rng.random() < 0.3:
        same = t.Comparison("=", t.Attribute("id", "x"), t.Attribute("id", "x", prior="PRIOR"))
        rises = t.Both(rises, same) if rng.random() < 0.7 else same
    least = rng.choice((1, 1, 2, 2, 3, 4))
    made = t.Iteration(t.Filter(made, rises), times=t.Times(least, None))
    return query_around(rng, made, rng.choice(CHOOSING))


def random_neighbours(rng: Random) -> t.SelectQuery:
    """A query with contiguous repetitions of one event, each compared with the one before it."""
    made: t.Pattern = t.As(t.EventType(rng.choice(TYPES)), "x")
    if rng.random() < 0.3:
        made = t.Filter(made, condition(rng, ("x",), depth=1))
    made = t.Filter(made, random_comparison(rng, t.Attribute, "x", "x", prior="PRIOR"))
    if rng.random() < 0.3:
        made = t.As(made, "w")
    made = t.Iteration(made, contiguous=True, times=times(rng) if rng.random() < 0.6 else None)
    if rng.random() < 0.4:
        other = t.As(t.EventType(rng.choice(TYPES)), "y")
        made = t.Sequence(made, other, contiguous=rng.random() < 0.5)
    if rng.random() < 0.2:
        made = t.Iteration(made, contiguous=rng.random() < 0.5)
    return query_around(rng, made, rng.choice(STRATEGIES))
