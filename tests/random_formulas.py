"""Random formulas with AND, ALL, UNLESS and selectors around and inside everything else.

Most intersections of random patterns are empty, and most random negations forbid nothing or everything; here
the operands of AND share a part, and few event types are used, so that most formulas have answers.
"""

from __future__ import annotations

from random import Random

from generate import TYPES, _filtered, predicate

from cer_gpu.automata.operators.formula import EXTENDED
from cer_gpu.language import tree as t
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import children, condition_variables, nodes, walk
from cer_gpu.logic.formulas import atoms

ATOMS = 8
TESTS = 3
"""Larger formulas, and those with more conditions, are drawn again: their automata take long to build."""

SELECTORS = (t.Strategy.NEXT, t.Strategy.LAST, t.Strategy.MAX, t.Strategy.STRICT)


def formula(rng: Random, depth: int, *, filters: float = 0.06) -> t.Pattern:
    """A formula in which AND, ALL, UNLESS and selectors are nested.

    Parameters
    ----------
    rng : Random
    depth : int
        How many of these operators lie around one another, on one path at least.
    filters : float
        How likely each part is filtered, on its own variables or on those of parts around it.
    """
    while True:
        plain = nested(rng, depth, rng.randrange(2))
        made = _filtered(rng, plain, variables(plain), filters, False)
        if atoms(made) <= ATOMS and sum(isinstance(part, t.Every) for part in walk(made)) <= TESTS:
            return made


def nested(rng: Random, depth: int, loops: int) -> t.Pattern:
    """A formula of the given nesting without filters; at most `loops` iterations around non-atoms."""
    if depth == 0:
        return small(rng, rng.choice((1, 2)), loops)
    pick = rng.random()
    if pick < 0.34:
        made: t.Pattern = t.Selector(rng.choice(SELECTORS), nested(rng, depth - 1, loops))
    elif pick < 0.46:
        made = conjunction(rng, depth, loops)
    elif pick < 0.76:
        kind = rng.choice((t.All, t.All, t.Unless, t.Unless, t.Unless))
        made = kind(*sides(rng, depth - 1, loops))
    elif pick < 0.84:
        made = t.Or(*sides(rng, depth, loops))
    elif pick < 0.95 or not loops:
        made = t.Sequence(*sides(rng, depth, loops), rng.random() < 0.3)
    else:
        made = t.Iteration(nested(rng, depth, loops - 1), rng.random() < 0.4)
    return named(rng, made)


def sides(rng: Random, depth: int, loops: int) -> tuple[t.Pattern, t.Pattern]:
    """Two operands, one of them of the given nesting, in any order."""
    deep = nested(rng, depth, loops)
    other = nested(rng, 1, 0) if depth and rng.random() < 0.1 else small(rng, rng.choice((1, 1, 1, 2)), 0)
    return (deep, other) if rng.random() < 0.6 else (other, deep)


def conjunction(rng: Random, depth: int, loops: int) -> t.Pattern:
    """`p AND q` where q has a part of p among its alternatives, or is another choice of p."""
    shared = nested(rng, depth - 1, loops)
    match rng.randrange(4):
        case 0:
            return t.And(shared, t.Or(small(rng, 2, 0), shared))
        case 1 if depth > 1:
            inner = nested(rng, depth - 2, loops)
            first, second = rng.sample(SELECTORS, 2)
            return t.And(t.Selector(first, inner), t.Selector(second, inner))
        case 2:
            return t.And(t.Or(shared, small(rng, 2, 1)), t.Or(shared, small(rng, 1, 0)))
        case _:
            return t.And(*sides(rng, depth - 1, loops))


def small(rng: Random, atoms: int, loops: int) -> t.Pattern:
    """A regular formula of one or two atoms."""
    if atoms == 1:
        return atom(rng, loops)
    left, right = small(rng, 1, loops), small(rng, 1, 0)
    joined: t.Pattern = t.Sequence(left, right, rng.random() < 0.3)
    return named(rng, t.Or(left, right) if rng.random() < 0.25 else joined)


def atom(rng: Random, loops: int) -> t.Pattern:
    """An event type or another event, now and then repeated."""
    kind = t.EventType(rng.choice(TYPES))
    if rng.random() < 0.08:
        return t.OtherEvent(kind, t.Every(kind.name, predicate(rng)) if rng.random() < 0.5 else None)
    made: t.Pattern = t.As(kind, rng.choice("xyz")) if rng.random() < 0.4 else kind
    return t.Iteration(made, rng.random() < 0.4) if loops and rng.random() < 0.6 else made


def named(rng: Random, made: t.Pattern) -> t.Pattern:
    """The formula with AS or PROJECT around it now and then."""
    if rng.random() < 0.15:
        made = t.As(made, rng.choice("xyz"))
    marked = sorted(variables(made))
    if marked and rng.random() < 0.12:
        return t.Project(made, tuple(x for x in marked if rng.random() < 0.7) or (marked[0],))
    return made


def nesting(pattern: t.Pattern) -> int:
    """How many of AND, ALL, UNLESS and selectors lie around one another at most."""
    inside = max((nesting(child) for child in children(pattern)), default=0)
    return inside + isinstance(pattern, EXTENDED)


def around_selectors(pattern: t.Pattern) -> int:
    """How many filters stand directly around a selector, or around its name."""
    found = 0
    for node in nodes(pattern):
        inner = node.pattern if isinstance(node, t.Filter) else node
        while isinstance(inner, t.As | t.Project):
            inner = inner.pattern
        found += isinstance(node, t.Filter) and isinstance(inner, t.Selector)
    return found


def on_outer_variables(pattern: t.Pattern) -> int:
    """How many filters speak of a variable that the filtered pattern does not define."""
    return sum(
        bool(condition_variables(node.condition) - variables(node.pattern))
        for node in nodes(pattern)
        if isinstance(node, t.Filter)
    )
