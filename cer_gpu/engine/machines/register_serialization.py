"""States with values as bytes, to be stored with a stream: `written_down`, `read_back`."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

from cer_gpu.automata.configurations.serialization import KINDS
from cer_gpu.engine.read.comparisons import NAN


def written_down(value: Any) -> bytes:
    """Write nested lists, tuples, sets, mappings, clocks, numbers and texts as bytes."""
    return json.dumps(_written(value), allow_nan=False).encode()


def read_back(stored: bytes) -> Any:
    """Read what `written_down` has written."""
    return _read(json.loads(stored))


def _written(value: Any) -> Any:
    kind = type(value)
    for name, own in KINDS.items():
        if kind is own:
            return [name, int(value)]
    if kind is list or kind is tuple:
        return [kind.__name__, *map(_written, value)]
    if kind is frozenset or kind is set:
        return ["set", *sorted(map(_written, value), key=repr)]
    if kind is dict:
        return ["dict", *([_written(key), _written(one)] for key, one in value.items())]
    if kind is Fraction:
        return ["fraction", value.numerator, value.denominator]
    if kind is float and not math.isfinite(value):
        return ["float", repr(value)]
    return value


def _read(stored: Any) -> Any:
    if not isinstance(stored, list):
        return stored
    name, *parts = stored
    match name:
        case "tuple":
            return tuple(map(_read, parts))
        case "list":
            return list(map(_read, parts))
        case "set":
            return frozenset(map(_read, parts))
        case "dict":
            return {_read(key): _read(one) for key, one in parts}
        case "fraction":
            return Fraction(*parts)
        case "float":
            return NAN if parts[0] == "nan" else float(parts[0])
    return KINDS[name](parts[0])
