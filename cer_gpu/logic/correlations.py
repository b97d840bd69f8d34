"""Filters with correlations, unfolded: AND to filters around each other, OR to OR of formulas.

What is left of a correlation is one comparison, or its complement, in a filter of its own.
"""

from __future__ import annotations

from dataclasses import replace

from cer_gpu.errors import LimitError
from cer_gpu.language import tree as t
from cer_gpu.logic.boolean import negation
from cer_gpu.logic.formulas import BUDGET, atoms, correlates, rebuild


def unfolded(pattern: t.Pattern, budget: int = BUDGET) -> t.Pattern:
    """An equivalent formula in which every filter with a correlation has no other condition.

    `p FILTER x.a = y.b OR x[c > 1]` becomes `(p FILTER x.a = y.b) OR (p FILTER x[c > 1])`.

    Parameters
    ----------
    pattern : Pattern
    budget : int
        How many atoms the result may have.

    Raises
    ------
    LimitError
        The result would be larger; found before it is built.
    """
    inner = rebuild(pattern, lambda part: unfolded(part, budget))
    if not isinstance(inner, t.Filter) or not correlates(replace(inner, pattern=t.EventType(""))):
        return inner
    size = _branches(inner.condition, False) * atoms(inner.pattern)
    if size > budget:
        raise LimitError(
            f"a filter with correlations and ORs unfolds to {size:,} atoms, {budget:,} are allowed: "
            "use fewer alternatives in one filter"
        )
    return _filtered(inner.pattern, inner.condition, False)


def _filtered(pattern: t.Pattern, condition: t.Condition, negated: bool) -> t.Pattern:
    match condition:
        case t.Not(operand=operand):
            return _filtered(pattern, operand, not negated)
        case t.Both(left=left, right=right) | t.Either(left=left, right=right):
            if isinstance(condition, t.Both) != negated:
                return _filtered(_filtered(pattern, left, negated), right, negated)
            return t.Or(_filtered(pattern, left, negated), _filtered(pattern, right, negated))
    return t.Filter(pattern, negation(condition) if negated else condition)


def _branches(condition: t.Condition, negated: bool) -> int:
    """How many copies of the filtered pattern there will be."""
    match condition:
        case t.Not(operand=operand):
            return _branches(operand, not negated)
        case t.Both(left=left, right=right) | t.Either(left=left, right=right):
            one, other = _branches(left, negated), _branches(right, negated)
            return one * other if isinstance(condition, t.Both) != negated else one + other
    return 1
