"""A filter that bounds the time from the first event of a match to its last is WITHIN.

`A AS a ; B ; C AS c FILTER c.ts <= a.ts + 60 s` means `A AS a ; B ; C AS c WITHIN 60 s` where `ts` is the
order of the events. As a comparison it would be followed one partial match at a time; as a window it is not
even a comparison between events.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import Any, TypeAlias

from cer_gpu.language import tree as t
from cer_gpu.language.chains import flattened
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.units import NANOSECONDS, exact, nanoseconds
from cer_gpu.language.walk import walk
from cer_gpu.logic.rewriting.places import conjuncts, filtered_by, is_single, marked, sites

EXACT = (ValueType.INT64, ValueType.TIMESTAMP, ValueType.DURATION)
"""The types of orders whose differences are exact, so that a sum may be written as a difference."""

Terms: TypeAlias = tuple[Mapping[str, int], Fraction]
"""How often each variable's time is added, and a constant, in the unit of the order."""


def with_window(query: t.SelectQuery, schema: Schema) -> tuple[t.SelectQuery, tuple[t.Condition, ...]]:
    """A query with a window in place of the filters that say the same, and these filters.

    Parameters
    ----------
    query : SelectQuery
        Without a strategy that chooses, and without CONSUME.
    schema : Schema

    Returns
    -------
    query : SelectQuery
        The same object where there is no such filter. Its window is over the order attribute, in its unit.
    conditions : tuple of Condition
        The conditions that are left out.
    """
    order = schema.order
    if order is None or schema.attributes.get(order) not in EXACT or not isinstance(query.pattern, t.Filter):
        return query, ()
    size = None if query.window is None else _in_units(query.window, schema)
    if query.window is not None and size is None:
        return query, ()
    firsts, lasts = _outer(query.pattern)
    found: list[t.Condition] = []

    def without(pattern: t.Pattern) -> t.Pattern:
        nonlocal size
        if not isinstance(pattern, t.Filter):
            return pattern
        inner, kept = without(pattern.pattern), []
        for part in conjuncts(pattern.condition):
            bound = _bound(part, firsts, lasts, schema)
            if bound is None:
                kept.append(part)
            else:
                size = bound if size is None else min(size, bound)
                found.append(part)
        return filtered_by(inner, kept, pattern)

    pattern = without(query.pattern)
    if not found or size is None:
        return query, ()
    return replace(query, pattern=pattern, window=t.Window(size, "attribute", None, order)), tuple(found)


def order_that_bounds(query: t.SelectQuery) -> tuple[str, tuple[t.Condition, ...]] | None:
    """A time that makes filters of a query a window if it is the order of the events, and these filters.

    Of attributes that are compared as plain numbers nothing says that they are times.
    """
    for name in dict.fromkeys(node.name for node in walk(query.pattern) if isinstance(node, t.Attribute)):
        schema = Schema({name: ValueType.TIMESTAMP}, order=name, units={name: "ns"})
        conditions = with_window(query, schema)[1]
        if any(isinstance(node, t.Quantity) for one in conditions for node in walk(one)):
            return name, conditions
    return None


def _in_units(window: t.Window, schema: Schema) -> int | None:
    """The size of a window over the order in its unit; None where it is not such a window."""
    over_order = window.kind == "time" or (window.kind == "attribute" and window.attribute == schema.order)
    if window.parameter is not None or not over_order:
        return None
    if window.unit is None:
        return floor(exact(window.size))
    unit = schema.units.get(schema.order or "", schema.order_unit)
    return None if unit is None else floor(nanoseconds(window.size, window.unit) / NANOSECONDS[unit])


def _outer(pattern: t.Pattern) -> tuple[frozenset[str], frozenset[str]]:
    """The variables that mark the first event of every match and no other, and those of the last."""
    base = pattern
    while isinstance(base, t.Filter):
        base = base.pattern
    first, *between = flattened(t.Sequence, base)
    return (_single(first, pattern), _single(between[-1], pattern)) if between else (frozenset(), frozenset())


def _single(step: t.Pattern, pattern: t.Pattern) -> frozenset[str]:
    """The variables of a step of one event that nothing else in a pattern defines."""
    if not is_single(step):
        return frozenset()
    return frozenset(name for name in marked(step) if len(list(sites(pattern, name))) == 1)


def _bound(part: t.Condition, firsts: frozenset[str], lasts: frozenset[str], schema: Schema) -> int | None:
    """The longest time from the first event to the last that a condition allows, if it says just that."""
    if not isinstance(part, t.Comparison) or part.op not in ("<", "<=", ">", ">="):
        return None
    lesser, greater = (part.left, part.right) if part.op[0] == "<" else (part.right, part.left)
    least, most = _terms(lesser, schema), _terms(greater, schema)
    if least is None or most is None:
        return None
    (left, more), (right, less) = least, most
    # left + more <= right + less: what is moved to the left has to be last - first.
    moved = {name: left.get(name, 0) - right.get(name, 0) for name in (*left, *right)}
    moved = {name: count for name, count in moved.items() if count}
    last = [name for name, count in moved.items() if count == 1 and name in lasts]
    first = [name for name, count in moved.items() if count == -1 and name in firsts]
    if len(moved) != 2 or not last or not first:
        return None
    size = less - more
    longest = floor(size) if part.op in ("<=", ">=") else ceil(size) - 1
    return longest if longest >= 0 else None


def _terms(side: Any, schema: Schema) -> Terms | None:
    """The sum that an expression is; None of any other expression."""
    kind = schema.attributes[schema.order or ""]
    match side:
        case t.Attribute(name=name, variable=str() as variable, prior="") if name == schema.order:
            return {variable: 1}, Fraction(0)
        case t.Number(value=int() as value) if kind is ValueType.INT64:
            return {}, Fraction(value)
        case t.Quantity(value=value, unit=unit) if kind is not ValueType.INT64:
            return {}, nanoseconds(value, unit) / NANOSECONDS[schema.units[schema.order or ""]]
        case t.Negation(operand=operand):
            return _added(({}, Fraction(0)), _terms(operand, schema), -1)
        case t.Arithmetic(op="+" | "-" as op, left=left, right=right):
            return _added(_terms(left, schema), _terms(right, schema), 1 if op == "+" else -1)
    return None


def _added(one: Terms | None, other: Terms | None, sign: int) -> Terms | None:
    if one is None or other is None:
        return None
    counts = {name: one[0].get(name, 0) + sign * other[0].get(name, 0) for name in (*one[0], *other[0])}
    return counts, one[1] + sign * other[1]
