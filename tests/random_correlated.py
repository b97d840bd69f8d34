"""Seeded random queries with equalities between their events."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from generate import condition, query_around

from cer_gpu.language import tree as t
from cer_gpu.language.scope import variables
from cer_gpu.logic.binding import reads

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


def random_correlated(rng: Random) -> t.SelectQuery:
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


def random_scopes(rng: Random) -> t.SelectQuery:
    """A query in which scopes matter: names again, two names for one event, PROJECT, reads from outside.

    Fewer of these can be evaluated than of `random_correlated`.
    """
    names = [f"x{number}" for number in range(rng.choice((2, 3, 3, 4)))]
    while True:
        made = _scoped(rng, rng.choice((2, 3, 3, 4)), names)
        found = sorted(variables(made).intersection(names))
        for one, other in pairwise(found):
            if rng.random() < 0.6:
                made = t.Filter(made, _equality(rng, one, other))
        if reads(made) <= variables(made):
            return query_around(rng, made)


def _scoped(rng: Random, atoms: int, names: list[str]) -> t.Pattern:
    made: t.Pattern
    if atoms == 1:
        made = t.EventType(rng.choice(TYPES))
        if rng.random() < 0.15:
            made = t.Or(made, t.EventType(rng.choice(TYPES)))
        made = t.As(made, rng.choice(names))
        if rng.random() < 0.2:
            made = t.As(made, rng.choice(names))
    else:
        left = rng.randrange(1, atoms)
        one, other = _scoped(rng, left, names), _scoped(rng, atoms - left, names)
        if rng.random() < 0.2:
            made = t.Or(one, other)
        else:
            made = t.Sequence(one, other, contiguous=rng.random() < 0.1)
    if rng.random() < 0.45:
        local = sorted(variables(made))
        for _ in range(rng.choice((1, 1, 2))):
            first, second = rng.choice(local), rng.choice(local if rng.random() < 0.8 else names)
            if first != second:
                made = t.Filter(made, _equality(rng, first, second))
    chosen = rng.random()
    if chosen < 0.22:
        return t.Iteration(made, contiguous=rng.random() < 0.15)
    if chosen < 0.28:
        return t.As(made, rng.choice(names))
    if chosen < 0.32:
        kept = tuple(name for name in sorted(variables(made)) if rng.random() < 0.75)
        return t.Project(made, kept or (min(variables(made)),))
    return made


def _equality(rng: Random, one: str, other: str) -> t.Condition:
    if rng.random() < 0.5:
        one, other = other, one
    key = rng.choice(KEYS)
    again = rng.choice(("id", "lap")) if key != "s" and rng.random() < 0.15 else key
    right: t.Expression = t.Attribute(again, other)
    if key != "s" and rng.random() < 0.05:
        right = t.Arithmetic("+", right, t.Number(1))
    made: t.Condition = t.Comparison("=", t.Attribute(key, one), right)
    if rng.random() < 0.1:
        return t.Either(made, t.Every(other, t.IsNull(t.Attribute("p"))))
    return made
