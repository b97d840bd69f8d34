"""How many events a variable may mark in one complex event, seen from the pattern alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cer_gpu.language import tree

SEVERAL = 2
"""Stands for any number from two on."""


def marking_several(query: tree.SelectQuery, variables: Iterable[str]) -> frozenset[str]:
    """The variables that may mark more than one event of a complex event.

    >>> query = parse("SELECT * FROM S WHERE A AS a ; B+ AS b ; (C AS c ; C AS c)")
    >>> sorted(marking_several(query, ("a", "b", "c")))
    ['b', 'c']
    """
    most = _most(query.pattern)
    return frozenset(name for name in variables if _of(most, name) >= SEVERAL)


def _of(most: dict[str, int], name: str) -> int:
    # Under FROM S an event of T is marked with S>T too, which the pattern need not say.
    return max(most.get(name, 0), most.get(name.rpartition(">")[2], 0))


_ALL = ""
"""Stands for all variables together: how many events have some mark."""


def _most(node: Any) -> dict[str, int]:
    """At most how many events each variable marks in a complex event of a pattern."""
    match node:
        case tree.EventType():
            return dict.fromkeys((*node.variables, _ALL), 1)
        case tree.OtherEvent():
            return {_ALL: 0}
        case tree.As():
            inner = _most(node.pattern)
            return inner | {node.variable: inner[_ALL]}
        case tree.Sequence() | tree.All():
            return _added(_most(node.left), _most(node.right))
        case tree.Or():
            return _greater(_most(node.left), _most(node.right))
        case tree.And():
            left, right = _most(node.left), _most(node.right)
            return {name: min(left.get(name, 0), right.get(name, 0)) for name in {*left, *right}}
        case tree.Iteration():
            once = _most(node.pattern)
            return once if getattr(node, "most", None) == 1 else _added(once, once)
        case tree.Project():
            inner = _most(node.pattern)
            return {name: inner.get(name, 0) for name in (*node.variables, _ALL)}
    # What is left keeps the marks of one operand: UNLESS of its left side, the others of their pattern.
    return _most(node.pattern if hasattr(node, "pattern") else node.left)


def _added(left: dict[str, int], right: dict[str, int]) -> dict[str, int]:
    return {name: min(left.get(name, 0) + right.get(name, 0), SEVERAL) for name in {*left, *right}}


def _greater(left: dict[str, int], right: dict[str, int]) -> dict[str, int]:
    return {name: max(left.get(name, 0), right.get(name, 0)) for name in {*left, *right}}
