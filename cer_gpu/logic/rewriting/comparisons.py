"""Simplifies comparisons: computes constants, copies them to equal values, drops what others imply."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cer_gpu.language import tree as t
from cer_gpu.language.scope import variables
from cer_gpu.language.signs import CONVERSE
from cer_gpu.logic.boolean import replace_literals
from cer_gpu.logic.rewriting.aggregates import folded, settled
from cer_gpu.logic.rewriting.places import at_filters, conjuncts, filtered_by, marked


def constants(pattern: t.Pattern) -> t.Pattern:
    """Replace `y.v > x.v + 2 * 3` by `y.v > x.v + 6`, and `1 >= 2` by a truth value."""

    def change(node: t.Filter) -> t.Pattern:
        found = replace_literals(node.condition, literal)
        return node if found == node.condition else replace(node, condition=found)

    def literal(one: t.Condition) -> t.Condition:
        if isinstance(one, t.Every):
            return replace(one, predicate=replace_literals(one.predicate, side_by_side))
        if isinstance(one, t.Comparison):
            made = side_by_side(one)
            return one if made == one else settled(made) or one
        return one

    def side_by_side(one: Any) -> Any:
        if isinstance(one, t.Comparison):
            return replace(one, left=folded(one.left), right=folded(one.right))
        return one

    return at_filters(pattern, change)


def known(pattern: t.Pattern) -> t.Pattern:
    """Add `b[id = 3]` to `a.id = b.id AND a[id = 3]`, if a always marks an event.

    Then events of b that cannot match are dropped before they are compared.
    """

    def change(node: t.Filter) -> t.Pattern:
        there, parts = marked(node.pattern), conjuncts(node.condition)
        local = variables(node.pattern)
        told = {_told(part): part for part in parts if _told(part) is not None}
        added: list[t.Condition] = []
        for part in parts:
            for one, other in _ends(part, "="):
                if one[0] not in there:
                    continue
                for key, said in told.items():
                    assert isinstance(said, t.Every)
                    if key is not None and key[:2] == one and other[0] in local:
                        new = _said_of(said, other)
                        added += [] if new in parts or new in added else [new]
        return filtered_by(node.pattern, [*parts, *added], node) if added else node

    return at_filters(pattern, change)


def implied(pattern: t.Pattern) -> t.Pattern:
    """Drop the last comparison of `a.p < b.p AND b.p < c.p AND a.p < c.p`, which the others imply.

    They imply it only if b always marks an event, since a condition on no event always holds. The comparisons
    that
    are left are between neighbours, which a faster machine may take.
    """

    def change(node: t.Filter) -> t.Pattern:
        there, kept = marked(node.pattern), conjuncts(node.condition)
        for part in reversed(list(kept)):
            rest = [one for one in kept if one is not part]
            if any(_follows(rest, there, left, right, strict) for left, right, strict in _orders(part)):
                kept = rest
        return node if len(kept) == len(conjuncts(node.condition)) else filtered_by(node.pattern, kept, node)

    return at_filters(pattern, change)


Value = tuple[str, str]
"""A variable and an attribute."""


def _value(side: t.Expression) -> Value | None:
    if isinstance(side, t.Attribute) and side.variable is not None and not side.prior:
        return side.variable, side.name
    return None


def _ends(part: t.Condition, op: str) -> list[tuple[Value, Value]]:
    """The two values of a comparison of an operator, each before the other."""
    if not isinstance(part, t.Comparison) or part.op not in (op, "==" if op == "=" else op):
        return []
    left, right = _value(part.left), _value(part.right)
    if left is None or right is None or left[0] == right[0]:
        return []
    return [(left, right), (right, left)]


def _orders(part: t.Condition) -> list[tuple[Value, Value, bool]]:
    """A comparison by order as (lesser, greater, strictly); none of another condition."""
    if not isinstance(part, t.Comparison) or part.op not in ("<", "<=", ">", ">="):
        return []
    op, left, right = part.op, _value(part.left), _value(part.right)
    if left is None or right is None:
        return []
    if op[0] == ">":
        op, left, right = CONVERSE[op], right, left
    return [(left, right, op == "<")]


def _follows(
    parts: list[t.Condition], there: frozenset[str], lesser: Value, greater: Value, strict: bool
) -> bool:
    """Whether conditions say that one value is less than another, or equal unless `strict`."""
    steps: dict[Value, list[tuple[Value, bool]]] = {}
    for part in parts:
        for left, right, strictly in _orders(part):
            steps.setdefault(left, []).append((right, strictly))
        for left, right in _ends(part, "="):
            steps.setdefault(left, []).append((right, False))
    seen, waiting = set(), [(lesser, False)]
    while waiting:
        value, strictly = waiting.pop()
        for target, step in steps.get(value, ()):
            found = (target, strictly or step)
            if target == greater:
                if found[1] or not strict:
                    return True
            elif target[0] in there and target[0] not in (lesser[0], greater[0]) and found not in seen:
                seen.add(found)
                waiting.append(found)
    return False


def _told(part: t.Condition) -> tuple[str, str, t.Condition] | None:
    """What compares one value of each event of a variable with a constant: variable, attribute, condition."""
    if not isinstance(part, t.Every) or part.prior or not isinstance(part.predicate, t.Comparison):
        return None
    left, right = part.predicate.left, part.predicate.right
    if isinstance(left, t.Attribute) and isinstance(right, t.Number | t.Text):
        return part.variable, left.name, part
    return None


def _said_of(said: t.Every, value: Value) -> t.Every:
    """The same of another value."""
    predicate = said.predicate
    assert isinstance(predicate, t.Comparison)
    return t.Every(value[0], replace(predicate, left=t.Attribute(value[1])), span=said.span)
