"""Splits conditions into conditions on single events: the second step of LP-normal form.

AND becomes demands that hold together, OR becomes branches, each a formula of its own.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from cer_gpu.language import tree as t
from cer_gpu.language.chains import flattened
from cer_gpu.language.mark_counts import Names, counts_marked
from cer_gpu.language.scope import variables
from cer_gpu.logic.boolean import (
    conjunction,
    disjunction,
    fold,
    negation,
    replace_literals,
    speaks_of_events,
)


class Demand(NamedTuple):
    """A predicate that all events marked by some names must satisfy; if existential, at least one of them."""

    names: Names
    predicate: t.Condition


Demands = tuple[Demand, ...]


class Branch(NamedTuple):
    """One disjunct of a condition: unary demands, and the correlations, which stay a FILTER."""

    universal: Demands = ()
    existential: Demands = ()
    rest: tuple[t.Condition, ...] = ()


def condense(condition: t.Condition, filtered: t.Pattern) -> t.Condition:
    """Fewer unary predicates, so that fewer formulas come out of unfolding.

    `x[P] AND x[Q]` is `x[P AND Q]`; where x marks at most one event, `x[P] OR x[Q]` is `x[P OR Q]`, and
    where it marks exactly one, `NOT x[P]` is `x[NOT P]`. If the whole pattern is one event, all names that
    always mark it are the same name.

    Parameters
    ----------
    condition : Condition
        In negation normal form.
    filtered : Pattern
        The pattern that it filters.
    """
    names = sorted(variables(filtered))
    counts = counts_marked(filtered)
    single = [x for x in names if counts[x] == (1, 1)]
    if single and counts[None] == (1, 1):
        same = dict.fromkeys(single, single[0])
        condition = replace_literals(
            condition,
            lambda one: (
                t.Every(same.get(one.variable, one.variable), one.predicate)
                if isinstance(one, t.Every) and not one.prior
                else one
            ),
        )

    def positive(one: t.Condition) -> t.Condition:
        if isinstance(one, t.Not) and isinstance(one.operand, t.Every) and not one.operand.prior:
            name = one.operand.variable
            if name in single:
                return t.Every(name, negation(one.operand.predicate))
        return one

    def condensed(node: t.Condition) -> t.Condition:
        match node:
            case t.Both() | t.Either() if speaks_of_events(node):
                operands = [condensed(one) for one in flattened(type(node), node)]
                join = conjunction if isinstance(node, t.Both) else disjunction
                together: dict[str, list[t.Condition]] = {}
                others = []
                for one in operands:
                    if (
                        isinstance(one, t.Every)
                        and not one.prior
                        and (isinstance(node, t.Both) or counts[one.variable].most <= 1)
                    ):
                        together.setdefault(one.variable, []).append(one.predicate)
                    else:
                        others.append(one)
                merged = (t.Every(x, join(predicates)) for x, predicates in together.items())
                return fold(join((*merged, *others)))
            case _:
                return positive(node)

    return condensed(condition)


def branches(condition: t.Condition) -> list[Branch]:
    """The disjuncts of a condition in negation normal form."""
    match condition:
        case t.Truth(value=value):
            return [Branch()] if value else []
        case t.Every(variable=name, predicate=predicate, prior=""):
            return [Branch(universal=(Demand(frozenset((name,)), predicate),))]
        case t.Not(operand=t.Every(variable=name, predicate=predicate, prior="")):
            return [Branch(existential=(Demand(frozenset((name,)), negation(predicate)),))]
        case t.Either(left=left, right=right) if speaks_of_events(condition):
            return branches(left) + branches(right)
        case t.Both(left=left, right=right) if speaks_of_events(condition):
            pairs = product(branches(left), branches(right))
            return [
                Branch(a.universal + b.universal, a.existential + b.existential, a.rest + b.rest)
                for a, b in pairs
            ]
        case _:
            return [Branch(rest=(condition,))]


def count_branches(condition: t.Condition) -> int:
    """How many disjuncts `branches(condition)` has at most, without building them."""
    match condition:
        case t.Either(left=left, right=right) if speaks_of_events(condition):
            return count_branches(left) + count_branches(right)
        case t.Both(left=left, right=right) if speaks_of_events(condition):
            return count_branches(left) * count_branches(right)
        case _:
            return 1
