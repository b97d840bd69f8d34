"""Arithmetic of whole constants, done once: `2 * 3` is `6`.

Arithmetic on other numbers is kept: compared with a decimal, `0.1` is one tenth, but `0.05 + 0.05` is a
float.
"""

from __future__ import annotations

from typing import Any

from cer_gpu.language import tree as t
from cer_gpu.language.signs import COMBINES
from cer_gpu.language.walk import rebuild

LEAST, MOST = -(2**63), 2**63 - 1


def folded(side: Any) -> Any:
    """Replace arithmetic on constant integers by its result, if that fits 64 bits."""
    if not isinstance(side, t.Negation | t.Arithmetic):
        return side
    match made := rebuild(side, folded):
        case t.Negation(operand=t.Number(value=int() as value)):
            return _number(-value, made)
        case t.Arithmetic(left=t.Number(value=int() as one), right=t.Number(value=int() as other)):
            return _number(COMBINES[made.op](one, other), made) if made.op in COMBINES else made
    return made


def _number(value: int, side: t.Expression) -> t.Expression:
    """A number in the place of an expression, where it fits 64 bits."""
    return t.Number(value, span=side.span) if LEAST <= value <= MOST else side
