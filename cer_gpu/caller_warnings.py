"""Warnings that point at the line of the user's program that asked, not at a line of this package."""

from __future__ import annotations

import sys
import warnings
from typing import Any, NamedTuple

_BETWEEN = (__name__.partition(".")[0], "contextlib")
"""Modules that no user wrote, by the first part of their names."""


class CallerLine(NamedTuple):
    """A line of the user's program.

    Attributes
    ----------
    file : str
    number : int
    module : str
    told : dict
        What Python has warned of in this module.
    """

    file: str
    number: int
    module: str
    told: dict[Any, Any]

    def warn(self, text: str) -> None:
        """Warn of something at this line, now or later, from any thread."""
        warnings.warn_explicit(text, UserWarning, self.file, self.number, self.module, self.told)


def caller_line() -> CallerLine:
    """The nearest line that called into this package."""
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        frame = frame.f_back
    names = frame.f_globals
    told = names.setdefault("__warningregistry__", {})
    return CallerLine(frame.f_code.co_filename, frame.f_lineno, names.get("__name__", "<unknown>"), told)


def warn(text: str) -> None:
    """Warn of something at the nearest line that called into this package.

    Parameters
    ----------
    text : str
    """
    caller_line().warn(text)
