"""Signatures that name the keywords which a function passes on, for completion and `help`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def spelled(
    source: Callable[..., Any], omit: Collection[str] = (), only: Collection[str] | None = None
) -> Callable[[Function], Function]:
    """A decorator whose function shows the keywords of another function in place of `**keywords`.

    Parameters
    ----------
    source : callable
        The function that has the keywords; its own `**unknown` is left out.
    omit : collection of str
        Keywords that the decorated function does not have.
    only : collection of str, optional
        Keywords that it has; by default all.
    """
    passed = [
        given.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, given in inspect.signature(source).parameters.items()
        if given.kind is not inspect.Parameter.VAR_KEYWORD
        and name not in omit
        and (only is None or name in only)
    ]

    def spell(function: Function) -> Function:
        own = inspect.signature(function)
        first = [one for one in own.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        names = {one.name for one in first}
        parameters = [*first, *(one for one in passed if one.name not in names)]
        function.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        return function

    return spell
