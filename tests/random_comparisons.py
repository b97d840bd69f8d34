"""Seeded random queries whose filters compare events in every way of the language."""

from __future__ import annotations

from random import Random

from generate import any_query, condition, constant, pattern, query_around
from random_windows import with_optional

from cer_gpu.language import tree as t
from cer_gpu.language.functions import OF_EXPRESSIONS
from cer_gpu.language.repetition_edges import UnknownRepetitionError, edge_of, names_of, places, scope_of
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import rebuild, walk
from cer_gpu.logic.binding import prior_reads, reads
from cer_gpu.logic.formulas import atoms

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")

EARLIER: tuple[t.Earlier, ...] = ("PRIOR", "BEFORE")

ATOMS = 6
"""Event types of a pattern, at most."""

STRATEGIES = (*(t.Strategy.ALL,) * 6, *t.Strategy)


def value(rng: Random, name: str, attribute: str, prior: t.Earlier) -> t.Expression:
    """A value of one event of a variable, or of all that it marks."""
    read = t.Attribute(attribute, name, prior)
    picked = rng.random()
    if picked < 0.25:
        return aggregate(rng, name, attribute, prior)
    if picked < 0.32 and attribute not in ("s", "ts"):
        return t.Call("ABS", (t.Arithmetic("-", read, t.Number(3)),))
    if picked < 0.37 and not prior:
        return t.Previous(read, rng.choice((1, 1, 2)))
    if picked < 0.5 and attribute not in ("s", "ts"):
        return t.Arithmetic(rng.choice("+-*"), read, constant(rng, attribute))
    return read


def aggregate(rng: Random, name: str, attribute: str, prior: t.Earlier) -> t.Aggregate:
    """An aggregate whose value has the type of the attribute."""
    functions = ("MIN", "MAX", "FIRST", "LAST")
    if attribute == "v":
        functions = (*functions, "SUM", "COUNT")
    if attribute == "p":
        functions = (*functions, "SUM", "AVG")
    function = rng.choice(functions)
    read: t.Expression = t.Attribute(attribute, name, prior)
    if function in OF_EXPRESSIONS and attribute in ("v", "p") and rng.random() < 0.3:
        read = t.Arithmetic(rng.choice("+-*"), read, t.Attribute(rng.choice("vp"), name, prior))
    if function == "COUNT":
        argument = rng.choice((None, read))
        return t.Aggregate("COUNT", argument, name, prior, argument is not None and rng.random() < 0.5)
    return t.Aggregate(function, read, name, prior)


def joint(rng: Random, names: list[str], prior: t.Earlier) -> t.Aggregate:
    """An aggregate of an expression over several variables."""
    parts = [t.Attribute(rng.choice("vvp"), name, prior) for name in rng.sample(names, 2)]
    made: t.Expression = t.Arithmetic(rng.choice("--*+"), *parts)
    if rng.random() < 0.2:
        made = t.Arithmetic(rng.choice("/%"), made, parts[1])
    elif rng.random() < 0.2:
        made = t.Call("ABS", (made,))
    return t.Aggregate(rng.choice(OF_EXPRESSIONS), made)


def comparison(rng: Random, names: list[str], priors: list[str]) -> t.Condition:
    """A comparison of some variables; of those in `priors` also with PRIOR and BEFORE."""

    def chosen() -> tuple[str, t.Earlier]:
        if priors and rng.random() < 0.4:
            return rng.choice(priors), rng.choice(EARLIER)
        return rng.choice(names), ""

    if len(names) > 1 and rng.random() < 0.2:
        word = rng.choice(EARLIER) if len(priors) > 1 and rng.random() < 0.4 else ""
        right = t.Number(rng.randrange(-3, 12)) if rng.random() < 0.7 else t.Attribute("v", rng.choice(names))
        return t.Comparison(rng.choice(OPERATORS), joint(rng, priors if word else names, word), right)
    attribute = rng.choice(("id", "v", "v", "p", "p", "s", "ts"))
    one, other = chosen(), chosen()
    if one == other:
        return t.Comparison(
            rng.choice(OPERATORS), aggregate(rng, one[0], "v", one[1]), t.Number(rng.randrange(12))
        )
    if attribute in ("v", "p") and rng.random() < 0.25:
        third = chosen()
        left: t.Expression = t.Arithmetic(
            rng.choice("+-"), t.Attribute(attribute, *one), t.Attribute(attribute, *other)
        )
        if rng.random() < 0.3:
            left = t.Call("ABS", (left,))
        right = t.Attribute("v", *third) if rng.random() < 0.6 else t.Number(rng.randrange(8))
        return t.Comparison(rng.choice(OPERATORS), left, right)
    again = rng.choice(("v", "p")) if attribute in ("v", "p") else attribute
    return t.Comparison(
        rng.choice(OPERATORS), value(rng, one[0], attribute, one[1]), value(rng, other[0], again, other[1])
    )


def compared(rng: Random, names: list[str], priors: list[str], depth: int = 2) -> t.Condition:
    """A condition that compares events."""
    if depth and rng.random() < 0.35:
        one, other = (compared(rng, names, priors, depth - 1) for _ in range(2))
        return rng.choice((t.Not(one), t.Both(one, other), t.Either(one, other)))
    if priors and rng.random() < 0.1:
        inside = condition(rng, (names[0],), 0)
        assert isinstance(inside, t.Every)
        return t.Every(rng.choice(priors), inside.predicate, rng.choice(EARLIER))
    if rng.random() < 0.25:
        return condition(rng, names, 0)
    return comparison(rng, names, priors)


def filtered(
    rng: Random, node: t.Pattern, outer: frozenset[str], priors: frozenset[str], likely: float
) -> t.Pattern:
    """The pattern with comparisons put around some of its parts, also with variables from outside."""

    def child(inner: t.Pattern) -> t.Pattern:
        scope = isinstance(node, t.Iteration | t.Selector | t.Project)
        forbidden = isinstance(node, t.Unless | t.Beside) and inner is node.right
        seen = outer | variables(inner) if scope or forbidden else outer
        if isinstance(node, t.Beside) and forbidden:
            return inner
        past = priors
        if isinstance(node, t.Iteration):
            past = priors | variables(inner)
        elif isinstance(node, t.Selector) or forbidden:
            past = frozenset()
        return filtered(rng, inner, seen, past, likely)

    names = sorted(variables(node))
    if outer and rng.random() < 0.35:
        names = sorted({*names, rng.choice(sorted(outer))})
    made = rebuild(node, child)
    if isinstance(made, t.OtherEvent):
        if names and rng.random() < 0.5:
            return t.OtherEvent(made.type, compared(rng, sorted({made.type.name, *names}), [], 1))
        return made
    if names and rng.random() < likely:
        return t.Filter(made, compared(rng, names, sorted(priors)))
    return made


def compared_query(rng: Random, atoms_at_most: int = 4) -> t.SelectQuery:
    """A well-formed query that compares events."""
    while True:
        if rng.random() < 0.3:
            query = any_query(rng, atoms=atoms_at_most)
        else:
            plain = pattern(rng, atoms=atoms_at_most, full=rng.random() < 0.5, filters=0)
            made = filtered(rng, plain, variables(plain), frozenset(), 0.4)
            made = with_optional(rng, made)
            query = query_around(rng, made, rng.choice(STRATEGIES))
        made = query.pattern
        if (
            reads(made) <= variables(made)
            and not prior_reads(made)
            and compares(made)
            and atoms(made) <= ATOMS
            and are_taken_together(made)
        ):
            return query


def are_taken_together(made: t.Pattern) -> bool:
    """Whether it is known which events of several variables are of one repetition, for all aggregates."""
    try:
        for place in places(made):
            edge_of(scope_of(place), names_of(place.aggregate))
    except UnknownRepetitionError:
        return False
    return True


def compares(made: t.Pattern) -> bool:
    """Whether a filter compares events."""
    return any(
        isinstance(node, t.Aggregate) or (isinstance(node, t.Attribute) and node.variable is not None)
        for node in walk(made)
    )
