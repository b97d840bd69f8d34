"""The comparison operators as Python functions of two values."""

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
