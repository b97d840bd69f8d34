"""Whether the answer of a test rises or falls with one value that a configuration keeps."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import NamedTuple

from cer_gpu.automata.configurations.value_words import Code


class SlotDependence(NamedTuple):
    """A word on the stack of a program, as far as it depends on one slot.

    Attributes
    ----------
    slot : int
        -1: it depends on no slot.
    rises : bool
        Whether it rises with the value of the slot; it falls otherwise.
    plain : bool
        Whether it is the value of the slot itself, or its negative.
    constant : int or None
        The word, if it is a constant.
    """

    slot: int = -1
    rises: bool = True
    plain: bool = False
    constant: int | None = None


_SUMS = {"PLUS": 1, "REAL_PLUS": 1, "MINUS": -1, "REAL_MINUS": -1}
_PRODUCTS = {"TIMES", "REAL_TIMES", "REAL_DIVIDED"}
_COMPARED = {"IS_LESS", "IS_AT_MOST", "REAL_IS_LESS", "REAL_IS_AT_MOST"}
_OF_ONE = {"TO_REAL": 1, "OPPOSITE": -1, "REAL_OPPOSITE": -1}
_OF_REALS = "REAL_"


def lower_side(code: Code) -> tuple[int, bool] | None:
    """The only slot that a comparison of a program reads, and whether it holds for the least of its values.

    `y.q > x.q + 0.5` holds for all values of `x.q` up to one: the program reads the slot of `x.q` once, and
    rounding keeps the order. None if it reads several slots, or what it computes may be without order among
    finite values: a sum is of the value itself and one other word, or of a constant.

    Parameters
    ----------
    code : tuple of (str, int)
        Instructions, as `cer_gpu.kernels.configurations.contract.Programs` has them.
    """
    stack: list[SlotDependence] = []
    for place, (name, argument) in enumerate(code):
        found: SlotDependence | None
        if name == "LOAD":
            stack.append(SlotDependence(argument, True, True) if argument >= 0 else SlotDependence())
            continue
        if name in ("CONSTANT", "TEXT", "NOTHING"):
            stack.append(SlotDependence(constant=argument if name == "CONSTANT" else None))
            continue
        if name in _OF_ONE or name in ("SIZE", "REAL_SIZE", "DOWN", "UP", "NEAREST"):
            found = _of_one(name, stack.pop())
        elif len(stack) < 2 or name in ("SUM_HIGH", "SPANS"):
            return None
        else:
            other, one = stack.pop(), stack.pop()
            if name in _COMPARED:
                last = place == len(code) - 1 and not stack
                return _told(one, other) if last else None
            found = _of_two(name, one, other)
        if found is None:
            return None
        stack.append(found)
    return None


def _told(one: SlotDependence, other: SlotDependence) -> tuple[int, bool] | None:
    """What `one < other` tells."""
    if (one.slot < 0) == (other.slot < 0):
        return None
    return (one.slot, one.rises) if one.slot >= 0 else (other.slot, not other.rises)


def _of_one(name: str, one: SlotDependence) -> SlotDependence | None:
    if one.slot < 0:
        return SlotDependence()
    if name not in _OF_ONE:
        return None
    return one._replace(rises=one.rises == (_OF_ONE[name] > 0))


def _of_two(name: str, one: SlotDependence, other: SlotDependence) -> SlotDependence | None:
    if one.slot < 0 and other.slot < 0:
        return SlotDependence()
    if one.slot >= 0 and other.slot >= 0:
        return None
    own, free = (one, other) if one.slot >= 0 else (other, one)
    value = None if free.constant is None else _value(name, free.constant)
    if name in _SUMS:
        if value is None and not (own.plain or not name.startswith(_OF_REALS)):
            return None
        if value is not None and not math.isfinite(value):
            return None
        rises = own.rises == (own is one or _SUMS[name] > 0)
        return SlotDependence(own.slot, rises)
    if name in _PRODUCTS and value is not None and math.isfinite(value) and value != 0:
        if name == "REAL_DIVIDED" and own is not one:
            return None
        return SlotDependence(own.slot, own.rises == (value > 0))
    if name == "BESIDE_REAL":  # the sign of one - other
        return SlotDependence(own.slot, own.rises == (own is one))
    return None


def _value(name: str, word: int) -> int | float:
    """The number that a word stands for."""
    if not name.startswith(_OF_REALS):
        return word
    found: float = struct.unpack("<d", struct.pack("<q", word))[0]
    return found


def reals_of(measures: Sequence[int], slot: int, reals: Sequence[int]) -> bool | None:
    """Whether a slot keeps floats; None if it keeps the time or the place of an event."""
    column = measures[slot] - 2
    if column < 0:
        return None
    return column < len(reals) and bool(reals[column])
