"""Arithmetic of whole constants, done once: `2 * 3` is `6`.

Arithmetic on other numbers is kept: compared with a decimal, `0.1` is one tenth, but `0.05 + 0.05` is a
float.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cer_gpu.language import tree as t
from cer_gpu.language.signs import COMBINES

LEAST, MOST = -(2**63), 2**63 - 1


def folded(side: Any) -> Any:
    """Replace arithmetic on constant integers by its result, if that fits 64 bits."""
    match side:
        case t.Negation(operand=operand):
            inner = folded(operand)
            if _is_whole(inner):
                return _number(-inner.value, side)
            return side if inner is operand else replace(side, operand=inner)
        case t.Arithmetic(op=op, left=left, right=right):
            one, other = folded(left), folded(right)
            if _is_whole(one) and _is_whole(other) and op in COMBINES:
                return _number(COMBINES[op](one.value, other.value), side)
            return side if one is left and other is right else replace(side, left=one, right=other)
    return side


def _is_whole(side: t.Expression) -> bool:
    return isinstance(side, t.Number) and isinstance(side.value, int)


def _number(value: int, side: t.Expression) -> t.Expression:
    """A number in the place of an expression, where it fits 64 bits."""
    return t.Number(value, span=side.span) if LEAST <= value <= MOST else side
