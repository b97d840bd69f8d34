"""Other forms of a query that mean the same: a function for each law, and `other_form`, which draws some.

A law gives None where it does not apply. Each has its reason: the algebra of complex event logic (thesis,
chapter 4: sequencing and OR are associative, sequencing distributes over OR), or a sentence of LANGUAGE.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from random import Random

from cer_gpu.language import tree as t
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import (
    condition_variables,
    nodes,
    prior_variables,
    rebuild,
    walk,
    with_attributes,
)

Law = Callable[[Random, t.SelectQuery], t.SelectQuery | None]


def at_some(
    rng: Random, pattern: t.Pattern, change: Callable[[t.Pattern], t.Pattern | None]
) -> t.Pattern | None:
    """A pattern with one of its parts changed, of those for which `change` gives another form."""
    places = [node for node in nodes(pattern) if change(node) is not None]
    if not places:
        return None
    chosen = rng.choice(places)

    def changed(node: t.Pattern) -> t.Pattern:
        if node is chosen:
            made = change(node)
            assert made is not None
            return made
        return rebuild(node, changed)

    return changed(pattern)


def _inside(
    rng: Random, query: t.SelectQuery, change: Callable[[t.Pattern], t.Pattern | None]
) -> t.SelectQuery | None:
    made = at_some(rng, query.pattern, change)
    return None if made is None else replace(query, pattern=made)


def brackets(rng: Random, query: t.SelectQuery) -> t.SelectQuery | None:
    """`(p ; q) ; r` is `p ; (q ; r)`, and the same for OR."""

    def change(node: t.Pattern) -> t.Pattern | None:
        if isinstance(node, t.Or):
            if isinstance(node.left, t.Or):
                return t.Or(node.left.left, t.Or(node.left.right, node.right))
            if isinstance(node.right, t.Or):
                return t.Or(t.Or(node.left, node.right.left), node.right.right)
        if not isinstance(node, t.Sequence) or node.gap is not None:
            return None
        for inner in (node.left, node.right):
            if isinstance(inner, t.Sequence) and (
                inner.gap is not None or inner.contiguous != node.contiguous
            ):
                return None
        if isinstance(node.left, t.Sequence):
            behind = replace(node, left=node.left.right)
            return replace(node, left=node.left.left, right=behind)
        if isinstance(node.right, t.Sequence):
            before = replace(node, right=node.right.left)
            return replace(node, left=before, right=node.right.right)
        return None

    return _inside(rng, query, change)


def turned(rng: Random, query: t.SelectQuery) -> t.SelectQuery | None:
    """`p OR q` is `q OR p`."""
    return _inside(rng, query, lambda node: t.Or(node.right, node.left) if isinstance(node, t.Or) else None)


def twice(rng: Random, query: t.SelectQuery) -> t.SelectQuery | None:
    """A condition says no more where it is written twice, `p FILTER c` is `p FILTER c AND c`."""

    def change(node: t.Pattern) -> t.Pattern | None:
        return (
            replace(node, condition=t.Both(node.condition, node.condition))
            if isinstance(node, t.Filter)
            else None
        )

    return _inside(rng, query, change)


def split(rng: Random, query: t.SelectQuery) -> t.SelectQuery | None:
    """`p FILTER c AND d` is `(p FILTER c) FILTER d`."""

    def change(node: t.Pattern) -> t.Pattern | None:
        if isinstance(node, t.Filter) and isinstance(node.condition, t.Both):
            return t.Filter(t.Filter(node.pattern, node.condition.left), node.condition.right)
        if isinstance(node, t.Filter) and isinstance(node.pattern, t.Filter):
            return t.Filter(node.pattern.pattern, t.Both(node.pattern.condition, node.condition))
        return None

    return _inside(rng, query, change)


def moved_out(rng: Random, query: t.SelectQuery) -> t.SelectQuery | None:
    """`(p FILTER c) ; q` is `(p ; q) FILTER c` where q marks no variable of c."""

    def change(node: t.Pattern) -> t.Pattern | None:
        if not isinstance(node, t.Sequence):
            return None
        for side, other in (("left", node.right), ("right", node.left)):
            own = getattr(node, side)
            if isinstance(own, t.Filter) and not _spoken_of(own.condition) & variables(other):
                return t.Filter(replace(node, **{side: own.pattern}), own.condition)
        return None

    return _inside(rng, query, change)


def moved_in(rng: Random, query: t.SelectQuery) -> t.SelectQuery | None:
    """The same the other way, not to an optional step."""

    def change(node: t.Pattern) -> t.Pattern | None:
        if not isinstance(node, t.Filter) or not isinstance(node.pattern, t.Sequence):
            return None
        inner, read = node.pattern, _spoken_of(node.condition)
        for side, other in (("left", inner.right), ("right", inner.left)):
            own = getattr(inner, side)
            optional = isinstance(own, t.Optional)  # a filter stands before `?`
            if not optional and read <= variables(own) and not read & variables(other):
                return replace(inner, **{side: t.Filter(own, node.condition)})
        return None

    return _inside(rng, query, change)


def distributed(rng: Random, query: t.SelectQuery) -> t.SelectQuery | None:
    """`p ; (q OR r)` is `(p ; q) OR (p ; r)`, and the same on the left."""

    def change(node: t.Pattern) -> t.Pattern | None:
        if not isinstance(node, t.Sequence):
            return None
        for side in ("left", "right"):
            own = getattr(node, side)
            if isinstance(own, t.Or):
                return t.Or(replace(node, **{side: own.left}), replace(node, **{side: own.right}))
        return None

    return _inside(rng, query, change)


def unrolled(rng: Random, query: t.SelectQuery) -> t.SelectQuery | None:
    """`p {3}` is `p ; p ; p`."""

    def change(node: t.Pattern) -> t.Pattern | None:
        if not isinstance(node, t.Iteration) or node.gap is not None or node.least != node.most:
            return None
        made = node.pattern
        for _ in range(node.least - 1):
            made = t.Sequence(made, node.pattern, node.contiguous)
        return made

    return _inside(rng, query, change)


def without_optional(rng: Random, query: t.SelectQuery) -> t.SelectQuery | None:
    """`p ; q?` is `(p ; q) OR p`, and the same on the left."""

    def change(node: t.Pattern) -> t.Pattern | None:
        if not isinstance(node, t.Sequence) or node.gap is not None:
            return None
        for side, other in (("left", node.right), ("right", node.left)):
            own = getattr(node, side)
            if isinstance(own, t.Optional) and not isinstance(other, t.Optional):
                return t.Or(replace(node, **{side: own.pattern}), other)
        return None

    return _inside(rng, query, change)


def as_interval(rng: Random, query: t.SelectQuery) -> t.SelectQuery | None:
    """WITHIN of a time is an interval around the whole pattern."""
    window = query.window
    if window is None or window.kind != "time" or window.unit is None or query.strategy in t.CHOOSING:
        return None
    bound = t.Bound(window.size, window.unit)
    return replace(query, pattern=t.Timed(query.pattern, t.Interval(None, bound)), window=None)


def as_selector(rng: Random, query: t.SelectQuery) -> t.SelectQuery | None:
    """`SELECT LAST * WHERE p WITHIN t` is `SELECT * WHERE LAST((p) WITHIN [<= t])` (LANGUAGE 6)."""
    window = query.window
    if query.strategy not in t.CHOOSING or query.select is not None or query.consume is not t.Consume.NONE:
        return None
    if query.partition or query.limit is not None:
        return None
    pattern = query.pattern
    if window is not None:
        if window.kind != "time" or window.unit is None:
            return None
        pattern = t.Timed(pattern, t.Interval(None, t.Bound(window.size, window.unit)))
    return replace(query, pattern=t.Selector(query.strategy, pattern), strategy=t.Strategy.ALL, window=None)


def as_equalities(rng: Random, query: t.SelectQuery) -> t.SelectQuery | None:
    """PARTITION BY one attribute is an equality between each event and the next, if each has a variable.

    Not under CONSUME BY and WITHIN of events, which count within a partition.
    """
    if len(query.partition) != 1 or len(query.partition[0]) != 1 or query.consume is not t.Consume.NONE:
        return None
    if query.window is not None and query.window.kind != "time":
        return None
    steps: list[str] = []
    node = query.pattern
    while isinstance(node, t.Filter):
        node = node.pattern
    while isinstance(node, t.Sequence) and not node.contiguous and node.gap is None:
        name = _own_name(node.right)
        if name is None:
            return None
        steps.insert(0, name)
        node = node.left
    name = _own_name(node)
    if name is None or not steps or len({name, *steps}) <= len(steps):
        return None
    steps.insert(0, name)
    (attribute,) = query.partition[0]
    made = query.pattern
    for one, other in pairwise(steps):
        sides = (t.Attribute(attribute, variable=name) for name in (one, other))
        made = t.Filter(made, t.Comparison("=", next(sides), next(sides)))
    return replace(query, pattern=made, partition=())


def neighbours_as_previous(rng: Random, query: t.SelectQuery) -> t.SelectQuery | None:
    """A comparison of neighbours and the time between them are predicates of the later one, with PREV.

    `A AS a : B AS b FILTER b.v > a.v` is `A AS a : B AS b FILTER b[v > PREV(v)]`, and `A :[<= 2 s] B AS b` is
    `A : B AS b FILTER b[ts - PREV(ts) <= 2 s]`: `:` and PREV count in the stream that the pattern runs on.
    """

    def change(node: t.Pattern) -> t.Pattern | None:
        if isinstance(node, t.Sequence) and node.contiguous and node.gap is not None:
            later, high = _own_name(node.right), node.gap.high
            if later is None or node.gap.low is not None or high is None or high.unit is None or high.open:
                return None
            time = t.Attribute("ts")
            since = t.Arithmetic("-", time, t.Previous(time))
            near = t.Comparison("<=", since, t.Quantity(high.value, high.unit))
            return replace(node, right=t.Filter(node.right, t.Every(later, near)), gap=None)
        if not isinstance(node, t.Filter) or not isinstance(node.condition, t.Comparison):
            return None
        inner, leaf = node.pattern, node.condition
        while isinstance(inner, t.Filter):
            inner = inner.pattern
        if not isinstance(inner, t.Sequence) or not inner.contiguous:
            return None
        one, later = _own_name(inner.left), _own_name(inner.right)
        if one is None or later is None or condition_variables(leaf) != {one, later}:
            return None

        def of_later(read: t.Attribute) -> t.Expression:
            attribute = t.Attribute(read.name)
            return attribute if read.variable == later else t.Previous(attribute)

        return replace(node, condition=t.Every(later, with_attributes(leaf, of_later)))

    return _inside(rng, query, change)


def _own_name(node: t.Pattern) -> str | None:
    """The variable of a step that is one event."""
    while isinstance(node, t.Filter):
        node = node.pattern
    if isinstance(node, t.As) and isinstance(node.pattern, t.EventType | t.Filter):
        inner = node.pattern
        while isinstance(inner, t.Filter):
            inner = inner.pattern
        return node.variable if isinstance(inner, t.EventType) else None
    return None


def _spoken_of(condition: t.Condition) -> frozenset[str]:
    """The variables that a condition reads."""
    return (
        condition_variables(condition)
        | prior_variables(condition)
        | {node.variable for node in walk(condition) if isinstance(node, t.Every)}
    )


LAWS: dict[str, Law] = {
    law.__name__: law
    for law in (
        brackets, turned, twice, split, moved_out, moved_in, distributed, unrolled, without_optional,
        as_interval, as_selector, as_equalities, neighbours_as_previous,
    )
}  # fmt: skip


def other_form(rng: Random, query: t.SelectQuery) -> tuple[t.SelectQuery, tuple[str, ...]]:
    """Another form of a query, by one to three laws, and their names; none where none applies."""
    used: list[str] = []
    for _ in range(rng.randint(1, 3)):
        names = list(LAWS)
        rng.shuffle(names)
        for name in names:
            made = LAWS[name](rng, query)
            if made is not None and made != query:
                query = made
                used.append(name)
                break
    return query, tuple(used)
