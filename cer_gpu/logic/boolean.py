"""Boolean algebra of conditions and predicates: constructors that fold, and negation normal form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

from cer_gpu.language import tree as t
from cer_gpu.language.chains import chain_of, flattened
from cer_gpu.language.walk import leaves_of

TRUE = t.Truth(True)
FALSE = t.Truth(False)


Operands: TypeAlias = dict[t.Condition, None]
"""Conditions, each once, in the order of the text."""


def conjunction(conditions: Iterable[t.Condition]) -> t.Condition:
    """AND of conditions, flat, without repetitions; false if it has a condition and its negation."""
    kept = _flat(t.Both, conditions)
    if FALSE in kept or _contradicts(kept):
        return FALSE
    return chain_of(t.Both, [one for one in kept if one != TRUE] or [TRUE])


def disjunction(conditions: Iterable[t.Condition]) -> t.Condition:
    """OR of conditions, flat, without repetitions; true if it has a condition and its negation."""
    kept = _flat(t.Either, conditions)
    if TRUE in kept or _contradicts(kept):
        return TRUE
    return chain_of(t.Either, [one for one in kept if one != FALSE] or [FALSE])


def negation(condition: t.Condition) -> t.Condition:
    """NOT of a condition, without NOT NOT. The logic is two-valued, so no comparison is turned around."""
    match condition:
        case t.Truth(value=value):
            return t.Truth(not value)
        case t.Not(operand=operand):
            return operand
        case _:
            return t.Not(condition)


def _flat(kind: type[t.Both] | type[t.Either], conditions: Iterable[t.Condition]) -> Operands:
    operands = (one for condition in conditions for one in flattened(kind, condition))
    return dict.fromkeys(operands)


def _contradicts(operands: Operands) -> bool:
    return any(one.operand in operands for one in operands if isinstance(one, t.Not))


def replace_literals(condition: t.Condition, literal: Callable[[t.Condition], t.Condition]) -> t.Condition:
    """The condition with every literal (what is not AND, OR, NOT or a truth value) replaced, and folded."""
    match condition:
        case t.Truth():
            return condition
        case t.Both(left=left, right=right):
            return conjunction((replace_literals(left, literal), replace_literals(right, literal)))
        case t.Either(left=left, right=right):
            return disjunction((replace_literals(left, literal), replace_literals(right, literal)))
        case t.Not(operand=operand):
            return negation(replace_literals(operand, literal))
        case _:
            return literal(condition)


def fold(condition: t.Condition) -> t.Condition:
    """The condition without truth values inside it, repetitions and double negations."""

    def literal(one: t.Condition) -> t.Condition:
        if not isinstance(one, t.Every):
            return one
        predicate = fold(one.predicate)
        return TRUE if predicate == TRUE else replace(one, predicate=predicate)

    return replace_literals(condition, literal)


def speaks_of_events(condition: t.Condition) -> bool:
    """Whether a condition has a unary predicate, `x[...]`; `PRIOR(x)[...]` is none."""
    return any(isinstance(one, t.Every) and not one.prior for one in leaves_of(condition))


def unary_literals(condition: t.Condition) -> list[t.Every]:
    """The unary predicates of a condition, each once, in the order of the text."""
    found = (one for one in leaves_of(condition) if isinstance(one, t.Every) and not one.prior)
    return list(dict.fromkeys(found))


def negation_normal_form(condition: t.Condition, *, negated: bool = False) -> t.Condition:
    """NOT pushed down to unary predicates; parts without one are literals and stay as they are."""
    if not speaks_of_events(condition):
        return negation(condition) if negated else condition
    match condition:
        case t.Not(operand=operand):
            return negation_normal_form(operand, negated=not negated)
        case t.Both(left=left, right=right) | t.Either(left=left, right=right):
            join = conjunction if isinstance(condition, t.Both) != negated else disjunction
            return join(negation_normal_form(one, negated=negated) for one in (left, right))
        case _:
            return negation(condition) if negated else condition
