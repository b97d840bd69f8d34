"""Where matches end does not depend on how often an iteration repeats: for hits, `A+ ; B` is `A ; B`.

A filter that holds for every event of an iteration holds for its last repetition alone. So whatever matches
with several repetitions, also matches with the last of them: it ends at the same event, and starts as late or
later. With one repetition there are no subsets of events to be told apart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cer_gpu.language import tree as t
from cer_gpu.language.walk import walk


def with_single_repetitions(query: t.SelectQuery) -> t.SelectQuery | None:
    """A query with the same hits, in which iterations with gaps are replaced by one repetition.

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
    pattern = _single(query.pattern, True)
    return None if pattern is query.pattern else replace(query, pattern=pattern, select=(), measures=())


def _single(pattern: Any, later: bool) -> Any:
    """A pattern with single repetitions; `later`: whether it may start later than before."""
    match pattern:
        case t.Iteration(pattern=inner):
            found = _single(inner, later and not pattern.contiguous and pattern.gap is None)
            if later and _is_replaceable(pattern):
                return found
            return pattern if found is inner else replace(pattern, pattern=found)
        case t.Filter(pattern=inner, condition=condition) if _holds_of_fewer(condition):
            found = _single(inner, later)
            return pattern if found is inner else replace(pattern, pattern=found)
        case t.As(pattern=inner):
            found = _single(inner, later)
            return pattern if found is inner else replace(pattern, pattern=found)
        case t.Sequence(left=left, right=right):
            own = not pattern.contiguous and pattern.gap is None
            return _with_sides(pattern, _single(left, later), _single(right, own))
        case t.Or(left=left, right=right):
            return _with_sides(pattern, _single(left, later), _single(right, later))
    return pattern


def _with_sides(pattern: Any, left: Any, right: Any) -> Any:
    same = left is pattern.left and right is pattern.right
    return pattern if same else replace(pattern, left=left, right=right)


def _is_replaceable(iteration: t.Iteration) -> bool:
    """Whether one repetition is enough, and none speaks of those before it."""
    times = iteration.times
    if iteration.contiguous or iteration.gap is not None:
        return False
    if times is not None and (times.least > 1 or times.least_parameter is not None):
        return False
    return not any(getattr(node, "prior", "") for node in walk(iteration.pattern))


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
