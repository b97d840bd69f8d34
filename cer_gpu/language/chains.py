"""Chains of operators that associate, `a ; b ; c` or `p OR q OR r`: balanced trees, so none is ever deep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

T = TypeVar("T")


def balanced(parts: Sequence[T], join: Callable[[int, T, T], T]) -> T:
    """One or more parts joined in their order, as a tree of least depth.

    Parameters
    ----------
    parts : sequence
    join : callable
        `join(k, left, right)` joins the tree of parts that end before part k with the tree that begins with
        it.
    """
    if not parts:
        raise ValueError("a chain of no parts")

    def span(start: int, stop: int) -> T:
        if stop - start == 1:
            return parts[start]
        middle = middle_of(start, stop)
        return join(middle, span(start, middle), span(middle, stop))

    return span(0, len(parts))


def leftward(parts: Sequence[T], join: Callable[[int, T, T], T]) -> T:
    """One or more parts joined from the left, `((a, b), c)`; `join` as for `balanced`."""
    made = parts[0]
    for place in range(1, len(parts)):
        made = join(place, made, parts[place])
    return made


def chain_of(kind: Callable[[Any, Any], Any], parts: Sequence[Any]) -> Any:
    """Parts joined by nodes of one kind, as `balanced` does."""
    return balanced(parts, lambda _, left, right: kind(left, right))


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


def links(node: Any, alone: Callable[[Any], bool] = lambda _: False) -> tuple[list[Any], list[Any]]:
    """The operands of nested nodes of the kind of `node`, and the nodes between them, from left to right.

    A node for which `alone` holds is an operand, even if it is of that kind.
    """
    kind = type(node)
    operands, joints = [], []
    waiting = [(node, False)]
    while waiting:
        part, joins = waiting.pop()
        if joins:
            joints.append(part)
        elif isinstance(part, kind) and not alone(part):
            waiting += ((part.right, False), (part, True), (part.left, False))
        else:
            operands.append(part)
    return operands, joints


def linked(operands: Sequence[Any], joints: Sequence[Any]) -> Any:
    """Join operands as a balanced tree: the inverse of `links`."""
    return balanced(operands, lambda place, left, right: replace(joints[place - 1], left=left, right=right))


def as_written(node: Any, alone: Callable[[Any], bool] = lambda _: False) -> tuple[list[Any], list[Any]]:
    """The operands that a chain is written with, and the nodes that join them, from left to right.

    A node for which `alone` holds is an operand, even if it is a chain of the same kind.

    The parser joins operands without parentheses as `balanced` does. If the tree has another shape, some
    operands are chains of its kind themselves, and have to be written in parentheses.
    """
    kind = type(node)

    def read(one: Any) -> tuple[list[Any], list[Any]]:
        if not isinstance(one, kind) or alone(one):
            return [one], []
        left, right = read(one.left), read(one.right)
        single: Any = (([one.left], []), ([one.right], []))
        for first, second in ((left, right), (left, single[1]), (single[0], right), single):
            before, after = len(first[0]), len(second[0])
            if before == middle_of(0, before + after):
                return [*first[0], *second[0]], [*first[1], one, *second[1]]
        raise AssertionError("two operands are always read back")

    return read(node)
