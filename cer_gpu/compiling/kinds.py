"""The kinds of arguments for which a kernel is compiled: machine code depends on these, not on values.

A kind is text, or for a tuple a tuple that begins with the name of its class:

=====================  =================================================================================
`int`, `bool`          a Python number; `float` and `none` likewise
`!uint16`              a NumPy number of that type
`<i8:2C`               an array: its dtype, its dimensions, `C` (contiguous, rows first) or `A` (any)
`("m:Class", ...)`     a named tuple of class `Class` in module `m`, with the kinds of its fields
`("", ...)`            a plain tuple
=====================  =================================================================================

Whether an array may be written to is no part of its kind: the contract of a kernel says what it writes.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

Kind: TypeAlias = "str | tuple[Any, ...]"

CONTIGUOUS, ALIGNED = 0x0001, 0x0100
"""The bits of NumPy's flags of arrays that matter."""

_PLAIN = {int: "int", bool: "bool", float: "float", type(None): "none"}

NUMBERS = "biuf"
"""The kinds of dtype that kernels read: booleans, integers, floats."""


class UnfitArgumentError(TypeError):
    """A kernel was called with something that it cannot read."""


def kind_of(value: Any) -> Kind:
    """The kind of an argument.

    Raises
    ------
    UnfitArgumentError
        For a value that no kernel reads.
    """
    plain = _PLAIN.get(type(value))
    if plain is not None:
        return plain
    if isinstance(value, np.ndarray):
        layout = "C" if value.flags.c_contiguous else "A"
        if value.dtype.kind in NUMBERS and value.dtype.isnative and value.flags.aligned:
            return f"{value.dtype.str}:{value.ndim}{layout}"
    elif isinstance(value, np.generic):
        if value.dtype.kind in NUMBERS:
            return f"!{value.dtype.name}"
    elif isinstance(value, tuple):
        return (_name_of(type(value)), *(kind_of(item) for item in value))
    raise UnfitArgumentError(f"no kernel reads {_told(value)}")


def from_json(kinds: Any) -> Any:
    """Kinds as they were before they were written as JSON, which has no tuples."""
    return kinds if isinstance(kinds, str) else tuple(map(from_json, kinds))


def classes_of(kind: Kind) -> list[type]:
    """The classes of the objects that an argument is made of: its own, then those of its items in order."""
    if isinstance(kind, tuple):
        return [class_named(kind[0]), *(one for item in kind[1:] for one in classes_of(item))]
    if kind.startswith("!"):
        return [np.dtype(kind[1:]).type]
    for one, name in _PLAIN.items():
        if name == kind:
            return [one]
    return [np.ndarray]


def class_named(name: str) -> type:
    """The class of tuples that a kind names."""
    if not name:
        return tuple
    module, _, path = name.partition(":")
    found: Any = import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def canonical(value: Any) -> Any:
    """The same argument in the form that machine code reads: NumPy has several for one type of number."""
    if isinstance(value, np.ndarray):
        usual = np.dtype(value.dtype.str)
        if type(value) is np.ndarray and value.dtype is usual:
            return value
        return value.view(np.ndarray).view(usual)
    if isinstance(value, np.generic):
        return np.dtype(value.dtype.str).type(value)
    if isinstance(value, tuple):
        items = [canonical(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def _name_of(kind: type) -> str:
    if kind is tuple:
        return ""
    name = f"{kind.__module__}:{kind.__qualname__}"
    if (
        hasattr(kind, "_fields")
        and getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind
    ):
        return name
    raise UnfitArgumentError(f"no kernel reads a tuple of {name}: it is not a named tuple of a module")


def _told(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with flags {value.flags.num:#x}"
    return f"a {type(value).__name__}"
