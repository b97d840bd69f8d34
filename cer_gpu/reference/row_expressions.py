"""Scalar expressions of row patterns, one row at a time over Python values, by SQL's three-valued logic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cer_gpu.patterns.tree import Operation, Scalar, ScalarConstant
from cer_gpu.reference.row_arithmetic import OF_NULLS, OF_NUMBERS
from cer_gpu.reference.row_functions import DETAILED, OF_TEXTS_AND_TIMES


def value_of(expression: Scalar, leaf: Callable[[Scalar], Any]) -> Any:
    """The value of an expression in one row; None for null.

    Parameters
    ----------
    expression : Scalar
    leaf : callable
        The value of a node that is neither an operation nor a constant.

    Raises
    ------
    DataError
        A whole number beyond 64 bits, a division of whole numbers or decimals by zero, a failed cast.
    """
    if isinstance(expression, ScalarConstant):
        return expression.value
    if not isinstance(expression, Operation):
        return leaf(expression)
    name, operands = expression.name, expression.operands
    if name in LAZY:
        return LAZY[name](*(_later(operand, leaf) for operand in operands))
    values = [value_of(operand, leaf) for operand in operands]
    if name in OF_NULLS:
        return OF_NULLS[name](*values)
    if any(value is None for value in values):
        return None
    if name in DETAILED:
        return DETAILED[name](expression.detail, *values)
    return (OF_NUMBERS | OF_TEXTS_AND_TIMES)[name](*values)


def _later(operand: Scalar, leaf: Callable[[Scalar], Any]) -> Callable[[], Any]:
    return lambda: value_of(operand, leaf)


# Operations whose operands are looked at from left to right, and no further than needed


def _and(*operands: Callable[[], Any]) -> bool | None:
    answer: bool | None = True
    for operand in operands:
        value = operand()
        if value is False:
            return False
        if value is None:
            answer = None
    return answer


def _or(*operands: Callable[[], Any]) -> bool | None:
    answer: bool | None = False
    for operand in operands:
        value = operand()
        if value is True:
            return True
        if value is None:
            answer = None
    return answer


def _case(*operands: Callable[[], Any]) -> Any:
    for condition, value in zip(operands[:-1:2], operands[1::2], strict=True):
        if condition() is True:
            return value()
    return operands[-1]()


def _coalesce(*operands: Callable[[], Any]) -> Any:
    for operand in operands:
        value = operand()
        if value is not None:
            return value
    return None


LAZY: dict[str, Callable[..., Any]] = {"and": _and, "or": _or, "case": _case, "coalesce": _coalesce}
