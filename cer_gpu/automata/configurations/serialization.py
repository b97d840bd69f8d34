"""Shapes and states as plain lists, texts and numbers, to be stored with a stream: `written`, `shape_of`."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from cer_gpu.automata.configurations.shapes import Shape
from cer_gpu.automata.configurations.slots import LowerBoundClock, Slot, UpperBoundClock

KINDS: dict[str, type[Slot]] = {"slot": Slot, "younger": UpperBoundClock, "older": LowerBoundClock}


def written(shape: Shape) -> list[Any]:
    """A shape as lists, texts and numbers."""
    return [shape.started, list(shape.measures), plain(shape.states)]


def shape_of(stored: list[Any]) -> Shape:
    """The shape that `written` has stored."""
    started, measures, states = stored
    return Shape(started, read(states), tuple(measures))


def plain(value: Any) -> Any:
    """Nested lists, tuples, sets, mappings, clocks, numbers and texts as lists, numbers and texts."""
    kind = type(value)
    for name, own in KINDS.items():
        if kind is own:
            return [name, int(value)]
    if kind is list or kind is tuple:
        return [kind.__name__, *map(plain, value)]
    if kind is frozenset or kind is set:
        return ["set", *sorted(map(plain, value), key=repr)]
    if kind is dict:
        return ["dict", *([plain(key), plain(one)] for key, one in value.items())]
    if kind is Fraction:
        return ["fraction", value.numerator, value.denominator]
    if kind is float and not math.isfinite(value):
        return ["float", repr(value)]
    return value


def read(stored: Any) -> Any:
    """The value that `plain` has made lists of."""
    if not isinstance(stored, list):
        return stored
    name, *parts = stored
    match name:
        case "tuple":
            return tuple(map(read, parts))
        case "list":
            return list(map(read, parts))
        case "set":
            return frozenset(map(read, parts))
        case "dict":
            return {read(key): read(one) for key, one in parts}
        case "fraction":
            return Fraction(*parts)
        case "float":
            return math.nan if parts[0] == "nan" else float(parts[0])
    return KINDS[name](parts[0])
