"""Seeded random queries with equalities between their events."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from generate import condition, query_around

from cer_gpu.language import tree as t

TYPES = ("A", "B", "C")
KEYS = ("id", "id", "id", "id", "lap", "s")


class _Growing:
    """A pattern that is being made, with the variables that are free to be compared."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.names = 0

    def atom(self) -> tuple[t.Pattern, list[str]]:
        rng = self.rng
        name = f"x{self.names}"
        self.names += 1
        made: t.Pattern = t.EventType(rng.choice(TYPES))
        if rng.random() < 0.2:
            made = t.Or(t.As(made, name), t.As(t.EventType(rng.choice(TYPES)), name))
        else:
            made = t.As(made, name)
        if rng.random() < 0.15:
            made = t.Filter(made, condition(rng, (name,), depth=1))
        return made, [name]

    def grow(self, atoms: int) -> tuple[t.Pattern, list[str]]:
        rng = self.rng
        if atoms == 1:
            made, names = self.atom()
        else:
            left = rng.randrange(1, atoms)
            one, first = self.grow(left)
            other, second = self.grow(atoms - left)
            names = first + second
            if rng.random() < 0.12:
                made = t.Or(one, other)
            else:
                made = t.Sequence(one, other, contiguous=rng.random() < 0.15)
        if len(names) > 1 and rng.random() < 0.75:
            made = t.Filter(made, self.equalities(names))
        if rng.random() < 0.25:
            made = t.Iteration(made, contiguous=rng.random() < 0.15)
        return made, names

    def equalities(self, names: list[str]) -> t.Condition:
        rng = self.rng
        made: t.Condition | None = None
        key = rng.choice(KEYS)
        for one, other in pairwise(names):
            if made is not None and rng.random() < 0.3:
                continue
            if rng.random() < 0.2:
                key = rng.choice(KEYS)
            equality = t.Comparison("=", t.Attribute(key, one), t.Attribute(key, other))
            if rng.random() < 0.1:
                made_here: t.Condition = t.Either(equality, t.Every(other, t.IsNull(t.Attribute("p"))))
            else:
                made_here = equality
            made = made_here if made is None else t.Both(made, made_here)
        assert made is not None
        return made


def random_correlated(rng: Random) -> t.Query:
    """A query with equalities between variables, most of which can be evaluated, some of which cannot."""
    growing = _Growing(rng)
    made, names = growing.grow(rng.choice((2, 2, 3, 3, 4)))
    if not isinstance(made, t.Filter) and len(names) > 1:
        made = t.Filter(made, growing.equalities(names))
    if rng.random() < 0.1:
        # a filter inside an iteration that speaks of a variable outside of it
        name = f"x{growing.names}"
        repeated = t.Filter(
            t.As(t.EventType(rng.choice(TYPES)), name),
            t.Comparison("=", t.Attribute("id", name), t.Attribute("id", names[-1])),
        )
        made = t.Sequence(made, t.Iteration(repeated))
    return query_around(rng, made)
