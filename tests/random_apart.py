"""Seeded random chains of which two events are compared that need not be neighbours."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

from generate import condition, query_around
from random_ordered import TYPES, random_comparison

from cer_gpu.language import tree as t


def random_apart(rng: Random) -> t.SelectQuery:
    """A query of three to five steps of which two are compared, mostly not neighbours; some share a key."""
    count = rng.choice((3, 3, 3, 4, 4, 5))
    types = rng.sample(TYPES, rng.choice((1, 1, 2, 3)))
    names = [f"x{step}" for step in range(count)]
    parts: list[t.Pattern] = []
    for name in names:
        part: t.Pattern = t.As(t.EventType(rng.choice(types)), name)
        parts.append(t.Filter(part, condition(rng, (name,), depth=1)) if rng.random() < 0.1 else part)
    made = parts[0]
    for part in parts[1:]:
        made = t.Sequence(made, part)
    old, new = sorted(rng.sample(names, 2)) if rng.random() < 0.6 else (names[0], names[-1])
    compared: t.Condition = random_comparison(rng, t.Attribute, old, new)
    if rng.random() < 0.2:
        key = rng.choice(("id", "s"))
        compared = t.Both(compared, t.Comparison("=", t.Attribute(key, old), t.Attribute(key, new)))
    if rng.random() < 0.2:
        for one, other in pairwise(names):
            same = t.Comparison("=", t.Attribute("id", one), t.Attribute("id", other))
            compared = t.Both(compared, same)
    query = replace(query_around(rng, t.Filter(made, compared)), streams=(), partition=())
    windows = None, t.Window(rng.randrange(4, 16), "events"), t.Window(rng.randrange(3, 12), "time", unit="s")
    key = rng.choice(((), (), (("id",),)))
    return replace(query, window=rng.choice(windows), partition=key)
