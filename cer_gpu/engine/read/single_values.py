"""The words by which a single event is compared, from Python's numbers: for
`cer_gpu.engine.read.single_events`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from cer_gpu.engine.read.comparisons import known, named_number
from cer_gpu.engine.words import Domain, float_word
from cer_gpu.kernels.comparisons.contract import AT, NO_VALUE
from cer_gpu.language import tree

Row: TypeAlias = tuple[int, int, int]
"""A value in the rows of slots: its side, and the upper and the lower half of its word."""

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
        if not _is_float(value):
            return None
        floating = known(value, named_number).value
        return lambda values: _row_of_float(floating(values))
    if not isinstance(value, tree.Attribute):
        return None  # sums of integers may not fit
    name, offset = value.name, 1 << 63 if own.kind == "u" else 0

    def row(values: Mapping[str, Any]) -> Row:
        found = values[name]
        return NOTHING if found is None else _row(int(found) - offset)

    return row


def _is_float(value: tree.Expression) -> bool:
    """Whether arithmetic is of float64 in each step: a step over whole numbers may not fit."""
    match value:
        case tree.Attribute() | tree.Number():
            return True
        case tree.Arithmetic(op="+" | "-" | "*", left=left, right=right):
            known_float = any(
                isinstance(side, tree.Arithmetic)
                or (isinstance(side, tree.Number) and isinstance(side.value, float))
                for side in (left, right)
            )
            return known_float and _is_float(left) and _is_float(right)
    return False


def _row_of_float(number: float | None) -> Row:
    if number is None or number != number:
        return NOTHING
    return _row(float_word(number))


def _row(word: int) -> Row:
    lower = word & 0xFFFFFFFF
    return AT, word >> 32, lower - (1 << 32) if lower >> 31 else lower
