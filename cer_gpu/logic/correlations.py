"""Unfolds filters with correlations: OR becomes OR of formulas, AND a filter of correlations around others.

Afterwards a filter with correlations is an AND of comparisons and of negated comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cer_gpu.errors import LimitError
from cer_gpu.language import tree as t
from cer_gpu.language.chains import chain_of, flattened
from cer_gpu.language.walk import rebuild
from cer_gpu.logic.boolean import negation
from cer_gpu.logic.formulas import BUDGET, atoms, correlates


def unfolded(pattern: t.Pattern, budget: int = BUDGET) -> t.Pattern:
    """An equivalent formula in which every filter with a correlation is an AND of correlations.

    `p FILTER x.a = y.b OR x[c > 1]` becomes `(p FILTER x.a = y.b) OR (p FILTER x[c > 1])`.

    Parameters
    ----------
    pattern : Pattern
    budget : int
        How many atoms the result may have.

    Raises
    ------
    LimitError
        When the result would be larger; this is checked before it is built.
    """
    if isinstance(pattern, t.Beside):  # what is looked for is a query of its own
        return replace(pattern, left=unfolded(pattern.left, budget))
    inner = rebuild(pattern, lambda part: unfolded(part, budget))
    if not isinstance(inner, t.Filter) or not correlates(replace(inner, pattern=t.EventType(""))):
        return inner
    size = _branches(inner.condition, False) * atoms(inner.pattern)
    if size > budget:
        raise LimitError(
            f"a filter that compares events, with OR in it, stands for {size:,} event types in alternatives, "
            f"and at most {budget:,} are allowed: use fewer alternatives in one filter"
        )
    return _filtered(inner.pattern, inner.condition, False)


def _filtered(pattern: t.Pattern, condition: t.Condition, negated: bool) -> t.Pattern:
    if isinstance(condition, t.Not):
        return _filtered(pattern, condition.operand, not negated)
    if not isinstance(condition, t.Both | t.Either):
        return t.Filter(pattern, negation(condition) if negated else condition)
    if isinstance(condition, t.Both) == negated:
        parts = flattened(type(condition), condition)
        return chain_of(t.Or, [_filtered(pattern, part, negated) for part in parts])
    unary: list[t.Condition] = []
    correlations: list[t.Condition] = []
    for part, opposite in _together(condition, negated):
        if isinstance(part, t.Both | t.Either):
            pattern = _filtered(pattern, part, opposite)
        else:
            literals = unary if isinstance(part, t.Every | t.Truth) else correlations
            literals.append(negation(part) if opposite else part)
    for literals in (unary, correlations):
        if literals:
            pattern = t.Filter(pattern, chain_of(t.Both, literals))
    return pattern


def _together(condition: t.Condition, negated: bool) -> Iterator[tuple[t.Condition, bool]]:
    """The operands of a condition that is an AND, NOT pushed down: each with whether it is negated."""
    waiting = [(condition, negated)]
    while waiting:
        part, opposite = waiting.pop()
        if isinstance(part, t.Not):
            waiting.append((part.operand, not opposite))
        elif isinstance(part, t.Both | t.Either) and isinstance(part, t.Both) != opposite:
            waiting += ((part.right, opposite), (part.left, opposite))
        else:
            yield part, opposite


def _branches(condition: t.Condition, negated: bool) -> int:
    """How many copies of the filtered pattern there will be."""
    match condition:
        case t.Not(operand=operand):
            return _branches(operand, not negated)
        case t.Both(left=left, right=right) | t.Either(left=left, right=right):
            one, other = _branches(left, negated), _branches(right, negated)
            return one * other if isinstance(condition, t.Both) != negated else one + other
    return 1
