"""Rewrites COUNT to a number of repetitions, and FIRST and LAST beside a constant to steps of their own."""

from __future__ import annotations

from dataclasses import replace

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree as t
from cer_gpu.language.chains import chain_of
from cer_gpu.language.signs import CONVERSE
from cer_gpu.language.walk import nodes, rebuild, walk
from cer_gpu.logic.boolean import FALSE
from cer_gpu.logic.rewriting.aggregates import OPPOSITE, is_constant
from cer_gpu.logic.rewriting.places import (
    always_there,
    at_filters,
    conjuncts,
    filtered_by,
    is_single,
    sites,
)


def counted(pattern: t.Pattern) -> t.Pattern:
    """Replace `COUNT(x) >= 3` over repetitions of single events by the repetition `{3,}`.

    `(A ; B+ AS b) FILTER COUNT(b) >= 3` becomes `A ; B{3,} AS b`.
    """

    def change(node: t.Filter) -> t.Pattern:
        inner, kept, found = node.pattern, list[t.Condition](), False
        for one in conjuncts(node.condition):
            number = _number_of(pattern, node, inner, one)
            if number is None:
                kept.append(one)
                continue
            found = True
            if number.times is None:
                kept.append(FALSE)
            elif number.times != (number.body.least, number.body.most):
                times = t.Times(*number.times)
                inner = _in_place_of(inner, number.body, replace(number.body, times=times))
        return filtered_by(inner, kept, node) if found else node

    return at_filters(pattern, change)


@dataclass(frozen=True, slots=True)
class _Number:
    """How often an iteration may repeat; `times` is None if no number satisfies the condition."""

    body: t.Iteration
    times: tuple[int, int | None] | None


def _number_of(root: t.Pattern, node: t.Filter, inner: t.Pattern, condition: t.Condition) -> _Number | None:
    """What `COUNT(x) op n` says of an iteration of the filtered pattern; None of another condition."""
    if not isinstance(condition, t.Comparison) or condition.op == "!=":
        return None
    op, left, right = condition.op, condition.left, condition.right
    if isinstance(right, t.Aggregate):
        op, left, right = CONVERSE[op], right, left
    if not isinstance(left, t.Aggregate) or left.function != "COUNT" or not isinstance(right, t.Number):
        return None
    if isinstance(left.argument, t.Attribute) or isinstance(right.value, float):
        return None
    body = _repeated(root, node, inner, left)
    if body is None or (body.times is not None and (body.times.least_parameter or body.times.most_parameter)):
        return None
    number = right.value
    least = max({"=": number, ">=": number, ">": number + 1}.get(op, 1), body.least)
    most = {"=": number, "<=": number, "<": number - 1}.get(op)
    highest = min((one for one in (most, body.most) if one is not None), default=None)
    return _Number(body, None if highest is not None and highest < least else (least, highest))


def first_and_last(pattern: t.Pattern) -> t.Pattern:
    """Replace `FIRST(x.a) > 3` and `LAST(x.a) > 3` over repetitions of single events by a step of its own.

    `(B+ AS b) FILTER LAST(b.p) > 3` becomes `(B FILTER B[p > 3]) OR (B+ ; (B FILTER B[p > 3]))`, with further
    alternatives for events without a value: the last event that has one decides.
    """

    def change(node: t.Filter) -> t.Pattern:
        inner, kept = node.pattern, list[t.Condition]()
        for one in conjuncts(node.condition):
            made = _ended(pattern, node, inner, one) if inner is node.pattern else None
            if made is None:
                kept.append(one)
            else:
                inner = made
        return node if inner is node.pattern else filtered_by(inner, kept, node)

    return at_filters(pattern, change)


def _ended(root: t.Pattern, node: t.Filter, inner: t.Pattern, condition: t.Condition) -> t.Pattern | None:
    """What a filter becomes by `FIRST(x.a) op constant` or `LAST(x.a) op constant`; None where it stays."""
    if not isinstance(condition, t.Comparison):
        return None
    op, left, right = condition.op, condition.left, condition.right
    if isinstance(right, t.Aggregate):
        op, left, right = CONVERSE[op], right, left
    if not isinstance(left, t.Aggregate) or left.function not in ("FIRST", "LAST") or not is_constant(right):
        return None
    attribute = left.argument
    if not isinstance(attribute, t.Attribute):
        return None
    body = _repeated(root, node, inner, left)
    if body is None or body.times is not None or any(getattr(one, "prior", False) for one in walk(body)):
        return None
    value = replace(attribute, variable=None, prior="")
    opposite = OPPOSITE.get(op, "!=" if op == "=" else "=")
    holds = t.Comparison(op, value, right, span=condition.span)
    fails = t.Comparison(opposite, value, right, span=condition.span)
    name = _own_name(body.pattern)
    one, nothing = body.pattern, t.Both(t.Not(holds), t.Not(fails))
    decides = t.Filter(one, t.Every(name, holds))
    without = replace(body, pattern=t.Filter(one, t.Every(name, nothing)))
    first = left.function == "FIRST"

    def sequence(*steps: t.Pattern) -> t.Pattern:
        made, *rest = steps if first else reversed(steps)
        for step in rest:
            made = t.Sequence(made, step, body.contiguous, body.gap)
        return made

    alternatives = [
        decides,
        sequence(decides, body),
        sequence(without, decides),
        sequence(without, decides, body),
    ]
    return _in_place_of(inner, body, chain_of(t.Or, alternatives))


def _own_name(single: t.Pattern) -> str:
    """The name that the type of a single event gives it."""
    while isinstance(single, t.As | t.Filter):
        single = single.pattern
    assert isinstance(single, t.EventType)
    return single.name


def _repeated(
    root: t.Pattern, node: t.Filter, inner: t.Pattern, aggregate: t.Aggregate
) -> t.Iteration | None:
    """The iteration of single events whose events an aggregate takes, all of them and no others."""
    name = aggregate.variable
    if name is None or aggregate.prior or aggregate.distinct:
        return None
    inside = list(sites(inner, name))
    if len(inside) != 1 or len(list(sites(node.pattern, name))) != len(list(sites(root, name))):
        return None
    (site,) = inside
    part: t.Pattern | None = site
    while isinstance(part, t.As):
        part = part.pattern
    if not isinstance(part, t.Iteration):
        part = _around(inner, site)
    if not isinstance(part, t.Iteration) or not is_single(part.pattern) or not always_there(inner, part):
        return None
    return part


def _around(pattern: t.Pattern, site: t.Pattern) -> t.Iteration | None:
    """The iteration whose single event defines a variable at some place."""
    return next(
        (
            one
            for one in nodes(pattern)
            if isinstance(one, t.Iteration)
            and is_single(one.pattern)
            and any(part is site for part in nodes(one.pattern))
        ),
        None,
    )


def _in_place_of(pattern: t.Pattern, part: t.Pattern, other: t.Pattern) -> t.Pattern:
    """The pattern with another one in the place of a part of it."""
    if pattern is part:
        return other
    return rebuild(pattern, lambda inner: _in_place_of(inner, part, other))
