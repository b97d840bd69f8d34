"""Safe formulas, in which no variable is defined on both sides of `;`, `:`, AND or ALL.

CEPL thesis, section 5.1. There a variable stands for one position, so that `T AS x ; T AS x` has no complex
event, and writing it is a mistake. In this language variables are sets of positions and it marks two events
with x: it is legal, and the check only notes it. `is_safe` is the source of that note. A formula that is
safe, names only event types and gives each the name of an AS has the same complex events (as sets of
positions) under both readings, as long as a filter outside an iteration does not speak of names inside it.
"""

from __future__ import annotations

from cer_gpu.language import tree as t
from cer_gpu.language.walk import children, nodes, rebuild
from cer_gpu.logic.formulas import BUDGET, around, either, first_type, never
from cer_gpu.reference import dnf

_CORE = (t.EventType, t.OtherEvent, t.As, t.Filter, t.Or, t.Sequence, t.Iteration)


def defined_once(pattern: t.Pattern) -> frozenset[str]:
    """The names that AS gives outside all iterations, `vdef_+` of the thesis."""
    match pattern:
        case t.As(pattern=inner, variable=name):
            return defined_once(inner) | {name}
        case t.Iteration() | t.EventType() | t.OtherEvent():
            return frozenset()
        case t.Unless(left=left):
            return defined_once(left)
        case t.Project(pattern=inner, variables=kept):
            return defined_once(inner) & frozenset(kept)
        case _:
            return frozenset().union(*(defined_once(child) for child in children(pattern)))


def reused(pattern: t.Pattern) -> frozenset[str]:
    """The names that both sides of this node define, if it is `;`, `:`, AND or ALL."""
    if not isinstance(pattern, t.Sequence | t.And | t.All):
        return frozenset()
    return defined_once(pattern.left) & defined_once(pattern.right)


def is_safe(pattern: t.Pattern) -> bool:
    """Whether no name is defined on both sides of `;`, `:`, AND or ALL."""
    return not any(reused(node) for node in nodes(pattern))


def cost(pattern: t.Pattern) -> int:
    """How many atoms `to_safe(pattern)` has at most: those of the disjunctive normal form."""
    return dnf.cost(pattern)


def to_safe(pattern: t.Pattern, budget: int = BUDGET) -> t.Pattern:
    """A safe formula that is equivalent in the thesis' semantics (Theorem 5.2, Lemma 5.6).

    The formula is put in disjunctive normal form; then every disjunct that is not safe is dropped, from the
    innermost iteration out, since there one variable would stand for two positions. With sets of positions
    such a disjunct has complex events, so this is an equivalence only for valuations.

    Parameters
    ----------
    pattern : Pattern
        Of the core: types, NOT, AS, FILTER, `;`, `:`, iteration, OR. Well-formed.
    budget : int
        How many atoms the result may have.

    Raises
    ------
    ValueError
        When the formula has an operator outside the core.
    LimitError
        When the disjunctive normal form would be larger than the budget.
    """
    for node in nodes(pattern):
        if not isinstance(node, _CORE):
            raise ValueError(f"{type(node).__name__} is not an operator of the core")
    kept = _safe_part(dnf.to_dnf(pattern, budget))
    return never(first_type(pattern)) if kept is None else kept


def _safe_part(pattern: t.Pattern) -> t.Pattern | None:
    options = [_satisfiable(one) for one in dnf.disjuncts(pattern)]
    safe = [one for one in options if one is not None and is_safe(one)]
    return either(safe) if safe else None


def _satisfiable(disjunct: t.Pattern) -> t.Pattern | None:
    """A disjunct whose iterations are safe; None where one of them cannot be (Lemma 5.5)."""
    if isinstance(disjunct, t.Iteration):
        body = _safe_part(disjunct.pattern)
        return None if body is None else around(disjunct, body)
    parts = {id(child): _satisfiable(child) for child in children(disjunct)}
    if None in parts.values():
        return None
    return rebuild(disjunct, lambda child: parts[id(child)] or child)
