"""Disjunctive normal form: every OR is at the top of the formula, or at the top of the body of a scope.

CEPL thesis, Lemma 5.3: `(A OR B) ; C` becomes `(A ; C) OR (B ; C)`. An iteration keeps its OR inside, since
each repetition chooses anew; so do selectors and the right side of UNLESS.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from cer_gpu.errors import LimitError
from cer_gpu.language import tree as t
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import children
from cer_gpu.logic.binding import hidden
from cer_gpu.logic.formulas import BUDGET, around, either, joined
from cer_gpu.logic.outer_predicates import filtered, vacuous, without


class DisjunctSize(NamedTuple):
    """How many disjuncts a formula becomes, and how many atoms they have together."""

    disjuncts: int
    atoms: int


def to_dnf(pattern: t.Pattern, budget: int = BUDGET) -> t.Pattern:
    """An equivalent formula in disjunctive normal form, at most exponential in size (thesis, Lemma 5.3).

    A filter on a variable that a disjunct does not define is dropped from that disjunct: there the variable
    marks nothing and the filter holds.

    Parameters
    ----------
    pattern : Pattern
        Well-formed.
    budget : int
        How many atoms the result may have.

    Raises
    ------
    LimitError
        When the result would be larger than the budget; this is checked before it is built.
    """
    size = cost(pattern)
    if size > budget:
        raise LimitError(
            f"the disjunctive normal form of this pattern has {size:,} event types and the budget is "
            f"{budget:,}; what multiplies them is OR inside {_multiplier(pattern)}: write it as fewer "
            "alternatives"
        )
    return either(disjuncts(pattern))


def is_dnf(pattern: t.Pattern) -> bool:
    """Whether every OR is at the top, or at the top of the body of an iteration, selector or UNLESS."""
    if isinstance(pattern, t.Or):
        return is_dnf(pattern.left) and is_dnf(pattern.right)
    return all(
        is_dnf(child) if _keeps_or(pattern, child) else not isinstance(child, t.Or) and is_dnf(child)
        for child in children(pattern)
    )


def cost(pattern: t.Pattern) -> int:
    """How many atoms `to_dnf(pattern)` has at most; equal disjuncts are counted twice."""
    return _size(pattern).atoms


def disjuncts(pattern: t.Pattern) -> list[t.Pattern]:
    """The disjuncts of the disjunctive normal form, in the order of the formula."""
    match pattern:
        case t.EventType() | t.OtherEvent():
            return [pattern]
        case t.Or(left=left, right=right):
            return disjuncts(left) + disjuncts(right)
        case t.Iteration() | t.Selector():
            return [around(pattern, either(disjuncts(pattern.pattern)))]
        case t.Unless(left=left, right=right):
            forbidden = either(disjuncts(right))
            return [t.Unless(kept, forbidden, span=pattern.span) for kept in disjuncts(left)]
        case t.Beside(left=left, right=right):
            beside = either(disjuncts(right))
            return [joined(pattern, kept, beside) for kept in disjuncts(left)]
        case t.Filter(pattern=inner, condition=condition):
            defined = variables(inner)
            return [filtered(one, vacuous(condition, defined - variables(one))) for one in disjuncts(inner)]
        case t.Project(pattern=inner):
            dropped = hidden(pattern)
            return [
                t.Project(without(one, dropped - variables(one)), pattern.variables, span=pattern.span)
                for one in disjuncts(inner)
            ]
        case t.Sequence() | t.And() | t.All():
            pairs = product(disjuncts(pattern.left), disjuncts(pattern.right))
            return [joined(pattern, left, right) for left, right in pairs]
        case _:
            return [around(pattern, one) for one in disjuncts(pattern.pattern)]


def _keeps_or(pattern: t.Pattern, child: t.Pattern) -> bool:
    if isinstance(pattern, t.Unless | t.Beside):
        return child is pattern.right
    return isinstance(pattern, t.Iteration | t.Selector)


def _size(pattern: t.Pattern) -> DisjunctSize:
    match pattern:
        case t.EventType() | t.OtherEvent():
            return DisjunctSize(1, 1)
        case t.Iteration(pattern=body) | t.Selector(pattern=body):
            return DisjunctSize(1, _size(body).atoms)
        case t.Or() | t.Sequence() | t.And() | t.All() | t.Unless() | t.Beside():
            a, b = _size(pattern.left), _size(pattern.right)
            if isinstance(pattern, t.Or):
                return DisjunctSize(a.disjuncts + b.disjuncts, a.atoms + b.atoms)
            if isinstance(pattern, t.Unless | t.Beside):
                return DisjunctSize(a.disjuncts, a.atoms + a.disjuncts * b.atoms)
            return DisjunctSize(a.disjuncts * b.disjuncts, a.atoms * b.disjuncts + b.atoms * a.disjuncts)
        case _:
            return _size(pattern.pattern)


_WRITTEN = {t.And: "AND", t.All: "ALL"}


def _multiplier(pattern: t.Pattern) -> str:
    """The operator, as it is written, under which the number of disjuncts grows most."""

    def growth(node: t.Pattern) -> int:
        if not isinstance(node, t.Sequence | t.And | t.All):
            return 0
        return _size(node).disjuncts

    def widest(node: t.Pattern) -> t.Pattern:
        return max((node, *(widest(child) for child in children(node))), key=growth)

    node = widest(pattern)
    if isinstance(node, t.Sequence):
        return ":" if node.contiguous else ";"
    return _WRITTEN.get(type(node), "OR")
