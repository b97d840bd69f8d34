"""Random SUPPRESS clauses, laid over queries of any kind."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from cer_gpu.language import tree

LENGTHS = ((0, "s"), (400, "ms"), (1, "s"), (1, "s"), (2, "s"), (2.5, "s"), (5, "s"), (1, "h"))
"""Some that no gap between events is below, and one that is above all."""


def suppress(rng: Random) -> tree.Suppress:
    """A clause: for any length, by what it does not say, or says."""
    value, unit = rng.choice(LENGTHS)
    by = rng.choice((None, None, tree.Consume.ANY, tree.Consume.PARTITION))
    return tree.Suppress(tree.Bound(value, unit), by)


def suppressed(rng: Random, query: tree.SelectQuery, consumes: float = 0.0) -> tree.SelectQuery:
    """A query with a clause; with a probability of `consumes` it also consumes."""
    if rng.random() < consumes:
        query = replace(query, consume=rng.choice((tree.Consume.ANY, tree.Consume.PARTITION)))
    return replace(query, suppress=suppress(rng))
