"""Random patterns with counted repetitions and optional elements: what another generator made, changed."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from cer_gpu.language import tree as t
from cer_gpu.language.walk import rebuild, walk


def repeated(rng: Random, query: t.SelectQuery, likely: float = 0.4) -> t.SelectQuery:
    """The query with counts on its iterations, and on some event types, and with optional elements."""
    return replace(query, pattern=changed(rng, query.pattern, likely))


def changed(rng: Random, node: t.Pattern, likely: float = 0.4) -> t.Pattern:
    """The pattern with counts and optional elements, which mark what they marked before."""
    made = rebuild(node, lambda inner: changed(rng, inner, likely))
    match made:
        case t.Iteration() if rng.random() < 2 * likely:
            return replace(made, times=times(rng))
        case t.EventType() if rng.random() < likely / 4:
            return t.Iteration(made, rng.random() < 0.4, times=times(rng))
        case t.Sequence(left=left, right=right) if rng.random() < likely:
            return replace(made, **_optional(rng, left, right))
        case _:
            return made


def _optional(rng: Random, left: t.Pattern, right: t.Pattern) -> dict[str, t.Pattern]:
    # One element, at any end; where the left side is itself a sequence it becomes a leaning one.
    if rng.random() < 0.5:
        return {"right": t.Optional(right)}
    return {"left": t.Optional(left)}


def times(rng: Random) -> t.Times:
    """`{n}`, `{n,}` or `{n,m}` of few repetitions."""
    least = rng.choice((1, 1, 2, 2, 3))
    return t.Times(least, rng.choice((None, least, least + 1, least + 2)))


def kinds(query: t.SelectQuery) -> set[str]:
    """What of it there is: "optional", "counted", "counted group" (of more than one event type)."""
    found = set()
    for node in walk(query.pattern):
        if isinstance(node, t.Optional):
            found.add("optional")
        elif isinstance(node, t.Iteration) and node.times is not None:
            found.add("counted" if isinstance(node.pattern, t.EventType) else "counted group")
    return found
