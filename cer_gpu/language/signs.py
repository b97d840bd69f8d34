"""The comparison operators: as Python functions of two values, and with their sides exchanged."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

HOLDS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

CONVERSE: Mapping[str, str] = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""Each operator with its sides exchanged."""

COMBINES: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
"""The operators of arithmetic that do not divide."""
