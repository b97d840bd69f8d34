"""Chains of operators that associate, `a ; b ; c` or `p OR q OR r`: balanced trees, so none is ever deep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


def balanced(parts: Sequence[T], join: Callable[[int, T, T], T]) -> T:
    """One or more parts joined in their order, as a tree of least depth.

    Parameters
    ----------
    parts : sequence
    join : callable
        `join(k, left, right)` joins what comes before part k with what begins there.
    """
    if not parts:
        raise ValueError("a chain of no parts")

    def span(start: int, stop: int) -> T:
        if stop - start == 1:
            return parts[start]
        middle = middle_of(start, stop)
        return join(middle, span(start, middle), span(middle, stop))

    return span(0, len(parts))


def middle_of(start: int, stop: int) -> int:
    """Where a chain of the parts `start .. stop - 1` is joined last; the left side is never the shorter."""
    return (start + stop + 1) // 2


def flattened(kind: type[Any], node: Any) -> list[Any]:
    """The operands of nested nodes of one kind, which have a `left` and a `right`, from left to right."""
    found = []
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, kind):
            waiting += (part.right, part.left)
        else:
            found.append(part)
    return found
