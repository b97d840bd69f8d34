"""Advice to name the first or last event of an iteration that is compared with the event beside it."""

from __future__ import annotations

from dataclasses import replace

from cer_gpu.automata.configurations.comparisons import conditions_in
from cer_gpu.language import tree as t
from cer_gpu.language.leaves import aggregates
from cer_gpu.language.printer import to_text
from cer_gpu.language.walk import nodes, walk


def end_named(pattern: t.Pattern) -> str | None:
    """How to write a comparison of the end of an iteration with the event beside it as one of two events.

    `A AS a+ ; B AS b FILTER LAST(a.p) < b.p` keeps the value of each partial match. If `p` is never null, it
    is that of the last event alone, which may have a name of its own: then `b` is looked up among sorted
    values. Where it may be null, LAST passes over the event, so that this is advice and no rewriting.

    Parameters
    ----------
    pattern : Pattern

    Returns
    -------
    str or None
        None where no such comparison is found.
    """
    used = {node.variable for node in walk(pattern) if isinstance(node, t.As)}
    for condition in conditions_in(pattern):
        if not isinstance(condition, t.Comparison):
            continue
        ends = [
            one for one in aggregates(condition.left, condition.right) if one.function in ("FIRST", "LAST")
        ]
        others = {
            node.variable for node in walk(condition) if isinstance(node, t.Attribute) and not node.prior
        } - {one.variable for one in ends}
        if len(ends) != 1 or len(others) != 1:
            continue
        (end,), (other,) = ends, others
        assert isinstance(end.argument, t.Attribute)
        if end.prior or (found := _beside(pattern, end, str(other))) is None:
            continue
        name = f"{end.variable}_{end.function.lower()}"
        while name in used:
            name += "_"
        value = replace(end.argument, variable=name)
        return (
            f"if {to_text(replace(value, variable=None))} is never null, {to_text(end)} is of one event:\n"
            f"name it, `{_named(found, end.function, name)}`,\n"
            f"compare {to_text(value)}, and leave {name} out of SELECT: an index then finds it"
        )
    return None


def _beside(pattern: t.Pattern, end: t.Aggregate, other: str) -> t.Iteration | None:
    """The iteration of single events of which an end is compared with the event before or after it."""
    for node in nodes(pattern):
        if not isinstance(node, t.Sequence):
            continue
        before, after = node.left, node.right
        while isinstance(before, t.Sequence):
            before = before.right
        while isinstance(after, t.Sequence):
            after = after.left
        one, beside = (before, after) if end.function == "LAST" else (after, before)
        if (
            isinstance(one, t.Iteration)
            and one.times is None
            and one.gap is None
            and _single(one.pattern) == end.variable
            and _single(beside) == other
        ):
            return one
    return None


def _single(pattern: t.Pattern) -> str | None:
    """The only variable of a single event, whatever it is filtered by."""
    while isinstance(pattern, t.Filter):
        pattern = pattern.pattern
    one_event = isinstance(pattern, t.As) and isinstance(pattern.pattern, t.EventType)
    return pattern.variable if isinstance(pattern, t.As) and one_event else None


def _named(iteration: t.Iteration, function: str, name: str) -> str:
    """The iteration with a name for its first or last event."""
    alone = t.As(iteration.pattern, name)
    before, after = (iteration, alone) if function == "LAST" else (alone, iteration)
    return to_text(t.Or(t.Sequence(before, after, contiguous=iteration.contiguous), alone))
