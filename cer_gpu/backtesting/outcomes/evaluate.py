"""The values of outcomes: arithmetic over what was looked up, as float64 with NaN where there is no value.

A price that is divided by zero is infinite until the outcome is complete, and only then no value; so this is
NumPy's arithmetic and not that of queries (`cer_gpu.engine.read.derive`), where a division by zero is null.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np

from cer_gpu.backtesting.outcomes.expression import AskedOutcome
from cer_gpu.language import tree
from cer_gpu.printable_text import brief

Value = np.ndarray | float

_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "ABS": np.abs,
    "FLOOR": np.floor,
    "CEIL": np.ceil,
    "ROUND": np.round,
    "COALESCE": lambda *given: _first_there(given),
    "SQRT": np.sqrt,
    "EXP": np.exp,
    "LN": np.log,
    "POWER": np.power,
    "SIGN": np.sign,
    "GREATEST": lambda *given: reduce(np.fmax, given),
    "LEAST": lambda *given: reduce(np.fmin, given),
}


def evaluated(
    outcome: AskedOutcome, looked: Callable[[tree.Aggregate], np.ndarray], count: int
) -> np.ndarray:
    """The values of an outcome.

    Parameters
    ----------
    outcome : AskedOutcome
    looked : callable
        The values of a node that is looked up or read of the match; float64, shape (count,).
    count : int

    Returns
    -------
    ndarray, shape (count,), float64
        NaN where a value is missing, and for a division by 0 or an overflow of float64.

    Raises
    ------
    ValueError
        When the outcome has a function or a constant that is not numeric.
    """

    def value(node: tree.Expression) -> Value:
        match node:
            case tree.Number():
                return float(node.value)
            case tree.Quantity():
                raise ValueError(
                    f"the outcome {brief(outcome.name)}: `TIME TO` is a number of seconds: combine it with "
                    "plain numbers, such as 60, not with a length of time"
                )
            case tree.Negation(operand=operand):
                return -value(operand)
            case tree.Arithmetic(op=op, left=left, right=right):
                return _OPERATORS[op](value(left), value(right))
            case tree.Aggregate():
                return looked(node)
            case tree.Call(function=function, arguments=arguments) if function in _FUNCTIONS:
                return _FUNCTIONS[function](*map(value, arguments))
        raise ValueError(
            f"the outcome {brief(outcome.name)}, `{outcome.text}`: an outcome can have numbers, + - * / % "
            f"and {', '.join(_FUNCTIONS)}"
        )

    with np.errstate(all="ignore"):
        found = np.broadcast_to(np.asarray(value(outcome.expression), np.float64), (count,))
    return np.where(np.isfinite(found), found, np.nan)


_OPERATORS: dict[str, Callable[[Value, Value], Value]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: np.divide(a, b),
    "%": lambda a, b: np.fmod(a, b),
}


def _first_there(given: tuple[Value, ...]) -> Value:
    found = given[0]
    for one in given[1:]:
        found = np.where(np.isnan(found), one, found)
    return found
