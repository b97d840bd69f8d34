"""The words by which a single event is compared, from Python's numbers: for
`cer_gpu.engine.read.single_events`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from cer_gpu.engine.words import Domain, float_word
from cer_gpu.kernels.comparisons.contract import AT, NO_VALUE
from cer_gpu.language import tree
from cer_gpu.language.signs import COMBINES

Row: TypeAlias = tuple[int, int, int]
"""A value in the rows of slots: its side, and the upper and the lower half of its word."""

Number: TypeAlias = Callable[[Mapping[str, Any]], int | float | None]
"""Gives a number of an event, from the values of its columns."""

NOTHING: Row = (NO_VALUE, 0, 0)


def single_row(
    value: tree.Expression, own: Domain, domain: Domain
) -> Callable[[Mapping[str, Any]], Row] | None:
    """A function that gives the row of a value of a single event; None if arrays have to compute it.

    Parameters
    ----------
    value : Expression
        Not a text.
    own : Domain
        The domain of the value.
    domain : Domain
        The domain of what it is compared with.
    """
    if own != domain:
        return None
    if own.kind == "f":
        floating = _floating(value)
        return None if floating is None else lambda values: _row_of_float(floating(values))
    if not isinstance(value, tree.Attribute):
        return None  # sums of integers may not fit
    name, offset = value.name, 1 << 63 if own.kind == "u" else 0

    def row(values: Mapping[str, Any]) -> Row:
        found = values[name]
        return NOTHING if found is None else _row(int(found) - offset)

    return row


def _floating(value: tree.Expression) -> Number | None:
    """A value that is worked out in float64."""
    match value:
        case tree.Attribute(name=name):
            return lambda values: values[name]
        case tree.Number(value=number):
            return lambda values: number
        case tree.Arithmetic(op=op, left=left, right=right) if op in COMBINES:
            if not (_is_float(left) or _is_float(right)):
                return None  # of integers, which may not fit
            first, second, compute = _floating(left), _floating(right), COMBINES[op]
            if first is None or second is None:
                return None

            def computed(values: Mapping[str, Any]) -> float | None:
                one, other = first(values), second(values)
                return None if one is None or other is None else compute(float(one), float(other))

            return computed
    return None


def _is_float(value: tree.Expression) -> bool:
    """Whether a value is a float64 whatever its columns are."""
    if isinstance(value, tree.Arithmetic):
        return _is_float(value.left) or _is_float(value.right)
    return isinstance(value, tree.Number) and isinstance(value.value, float)


def _row_of_float(number: float | None) -> Row:
    if number is None or number != number:
        return NOTHING
    return _row(float_word(number))


def _row(word: int) -> Row:
    lower = word & 0xFFFFFFFF
    return AT, word >> 32, lower - (1 << 32) if lower >> 31 else lower
