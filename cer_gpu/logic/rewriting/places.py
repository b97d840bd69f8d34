"""Questions that rewritings ask of a pattern: where a variable is defined, and how often it marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from cer_gpu.language import tree as t
from cer_gpu.language.chains import chain_of, flattened
from cer_gpu.language.mark_counts import counts_marked
from cer_gpu.language.walk import nodes, rebuild
from cer_gpu.logic.boolean import conjunction

Change = Callable[[t.Filter], t.Pattern]
"""Gives what takes the place of a filter; the same object where nothing changes."""


def at_filters(pattern: t.Pattern, change: Change) -> t.Pattern:
    """The pattern with `change` applied to its filters, inner before outer; itself if none changes."""
    made: t.Pattern = rebuild(pattern, lambda child: at_filters(child, change))
    return change(made) if isinstance(made, t.Filter) else made


def conjuncts(condition: t.Condition) -> list[t.Condition]:
    """The conditions that AND joins."""
    return flattened(t.Both, condition)


def with_conjuncts(pattern: t.Pattern, keep: Callable[[t.Condition], bool]) -> t.Pattern:
    """The pattern with those conditions left out that AND joins in its filters and that are not to be kept.

    What FOLLOWED BY and PRECEDED BY look for is a query of its own, and stays.
    """
    if isinstance(pattern, t.Beside):
        return replace(pattern, left=with_conjuncts(pattern.left, keep))
    made: t.Pattern = rebuild(pattern, lambda inner: with_conjuncts(inner, keep))
    if not isinstance(made, t.Filter):
        return made
    found = conjuncts(made.condition)
    left = [one for one in found if keep(one)]
    if len(left) == len(found):
        return made
    return replace(made, condition=chain_of(t.Both, left)) if left else made.pattern


def filtered_by(pattern: t.Pattern, kept: list[t.Condition], like: t.Filter) -> t.Pattern:
    """The pattern filtered by all of `kept`, in place of the filter `like`; unfiltered if `kept` is empty."""
    if not kept:
        return pattern
    return t.Filter(pattern, conjunction(kept), span=like.span)


def sites(pattern: t.Pattern, name: str) -> Iterator[t.Pattern]:
    """The nodes of a pattern that define a variable: event types, and AS."""
    for node in nodes(pattern):
        if isinstance(node, t.EventType):
            if name in node.variables:
                yield node
        elif isinstance(node, t.As) and node.variable == name:
            yield node


def is_single(pattern: t.Pattern) -> bool:
    """Whether each complex event of a pattern is one marked event: an event type, with AS and FILTER."""
    while isinstance(pattern, t.As | t.Filter):
        pattern = pattern.pattern
    return isinstance(pattern, t.EventType)


def always_there(pattern: t.Pattern, wanted: t.Pattern) -> bool:
    """Whether each complex event of a pattern has exactly one of `wanted` inside, with its marks."""
    if pattern is wanted:
        return True
    match pattern:
        case t.As(pattern=inner) | t.Filter(pattern=inner) | t.Timed(pattern=inner):
            return always_there(inner, wanted)
        case t.Sequence(left=left, right=right) | t.All(left=left, right=right):
            return always_there(left, wanted) or always_there(right, wanted)
        case t.Unless(left=left) | t.Beside(left=left):
            return always_there(left, wanted)
        case _:
            return False


def marked(pattern: t.Pattern) -> frozenset[str]:
    """The variables that mark at least one event in every complex event of a pattern."""
    counts = counts_marked(pattern)
    return frozenset(name for name, count in counts.items() if name is not None and count.least)
