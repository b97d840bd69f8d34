"""Warnings that point at the line of the user's program that asked, not at a line of this package."""

from __future__ import annotations

import sys
import warnings

_BETWEEN = (__name__.partition(".")[0], "contextlib")
"""Modules that no user wrote, by the first part of their names."""


def warn(text: str) -> None:
    """Warn of something at the nearest line that called into this package.

    Parameters
    ----------
    text : str
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, UserWarning, stacklevel=level)
