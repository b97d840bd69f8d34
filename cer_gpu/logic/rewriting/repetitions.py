"""Rewrites COUNT to a number of repetitions, FIRST and LAST beside a constant to steps of their own, and
repetitions to one where that has the same hits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree as t
from cer_gpu.language.chains import chain_of
from cer_gpu.language.signs import CONVERSE
from cer_gpu.language.walk import children, condition_variables, nodes, prior_variables, rebuild, walk
from cer_gpu.logic.boolean import FALSE
from cer_gpu.logic.rewriting.aggregates import OPPOSITE, is_constant
from cer_gpu.logic.rewriting.places import always_there, at_filters, conjuncts, filtered_by, is_single, sites


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


_POSITIVE = (t.As, t.Filter, t.Iteration, t.Sequence, t.Or)
"""The patterns whose parts have to match; what stands behind NOT or UNLESS must not."""


def with_single_repetitions(query: t.SelectQuery) -> t.SelectQuery | None:
    """A query with the same hits, in which iterations with gaps are replaced by one repetition.

    Where matches end does not depend on how often an iteration repeats: for hits, `A+ ; B` is `A ; B`. A
    filter that holds for every event of an iteration holds for its last repetition alone. So whatever matches
    with several repetitions, also matches with the last of them: it ends at the same event, and starts as
    late or later. With one repetition there are no subsets of events to be told apart.

    Parameters
    ----------
    query : SelectQuery

    Returns
    -------
    SelectQuery or None
        It selects nothing; None where no iteration can be replaced.
    """
    window = query.window
    if query.strategy not in (t.Strategy.ALL, t.Strategy.ANY) or (window and window.kind == "attribute"):
        return None  # a choice depends on the marks; a window over falling values may need the first start
    pattern = _SingleRepetitions(query.pattern).of(query.pattern, True)
    return None if pattern is query.pattern else replace(query, pattern=pattern, select=(), measures=())


class _SingleRepetitions:
    """Replaces the iterations of a pattern.

    Parameters
    ----------
    pattern : Pattern
        The whole one: conditions anywhere in it may read the variables of an iteration.
    """

    def __init__(self, pattern: t.Pattern) -> None:
        self._needed = frozenset(_needed(pattern, True))
        self._read = frozenset(name for one in nodes(pattern) for name in _names_read(_condition_of(one)))
        self._bound = _bound(pattern)

    def of(self, pattern: Any, later: bool, names: frozenset[str] = frozenset()) -> Any:
        """A pattern with single repetitions.

        Parameters
        ----------
        pattern : Pattern
        later : bool
            Whether it may start later than before.
        names : frozenset of str
            The variables that mark all events of the pattern.
        """
        match pattern:
            case t.Iteration(pattern=inner):
                own = later and not pattern.contiguous and pattern.gap is None
                if later and self._is_replaceable(pattern, names):
                    return self.of(inner, own, names)
                return rebuild(pattern, lambda part: self.of(part, own, names))
            case t.Filter(condition=condition) if not _holds_of_fewer(condition):
                return pattern
            case t.As(variable=name):
                return rebuild(pattern, lambda part: self.of(part, later, names | {name}))
            case t.Sequence(left=left, right=right):
                own = not pattern.contiguous and pattern.gap is None
                own = own and (later or not _may_be_left_out(left))  # the right side may be the first
                sides = self.of(left, later, names), self.of(right, own, names)
                same = sides[0] is left and sides[1] is right
                return pattern if same else replace(pattern, left=sides[0], right=sides[1])
            case t.Filter() | t.Or():
                return rebuild(pattern, lambda part: self.of(part, later, names))
        return pattern

    def _is_replaceable(self, iteration: t.Iteration, names: frozenset[str]) -> bool:
        """Whether one repetition is enough, and conditions read the same events in it as before."""
        times = iteration.times
        if iteration.contiguous or iteration.gap is not None:
            return False
        if times is not None and (times.least > 1 or times.least_parameter is not None):
            return False
        # Inside of an iteration a variable means the events of a repetition; without, also those elsewhere.
        own = _bound(iteration.pattern)
        elsewhere = any(name in self._read and self._bound[name] > number for name, number in own.items())
        return not elsewhere and self._needed.isdisjoint(names | set(own))


def _may_be_left_out(pattern: t.Pattern) -> bool:
    match pattern:
        case t.Optional():
            return True
        case t.Sequence(left=left, right=right):
            return _may_be_left_out(left) and _may_be_left_out(right)
    return False


def _bound(pattern: t.Pattern) -> Counter[str]:
    """How many places of a pattern mark events with each variable."""
    found: Counter[str] = Counter()
    for node in nodes(pattern):
        if isinstance(node, t.EventType):
            found.update(node.variables)
        elif isinstance(node, t.As):
            found[node.variable] += 1
    return found


def _condition_of(pattern: t.Pattern) -> t.Condition | None:
    return getattr(pattern, "condition", None)


def _names_read(condition: t.Condition | None) -> frozenset[str]:
    if condition is None:
        return frozenset()
    return condition_variables(condition) | prior_variables(condition)


def _needed(pattern: t.Pattern, counts: bool) -> Iterator[str]:
    """The variables of which a condition may need more than one event.

    `counts`: whether the pattern has to match.
    """
    inside = counts and isinstance(pattern, _POSITIVE)
    condition = _condition_of(pattern)
    if condition is not None and not (inside and _holds_of_fewer(condition)):
        yield from _names_read(condition)
    for child in children(pattern):
        yield from _needed(child, inside)


def _holds_of_fewer(condition: t.Condition) -> bool:
    """Whether a condition that holds for some events holds for fewer of them."""
    waiting: list[Any] = [condition]
    while waiting:
        match waiting.pop():
            case t.Both(left=left, right=right) | t.Either(left=left, right=right):
                waiting += (left, right)
            case t.Comparison() | t.Every() as leaf:
                if any(isinstance(node, t.Aggregate) or getattr(node, "prior", "") for node in walk(leaf)):
                    return False
            case _:
                return False
    return True
