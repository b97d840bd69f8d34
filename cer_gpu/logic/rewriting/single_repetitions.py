"""Where matches end does not depend on how often an iteration repeats: for hits, `A+ ; B` is `A ; B`.

A filter that holds for every event of an iteration holds for its last repetition alone. So whatever matches
with several repetitions, also matches with the last of them: it ends at the same event, and starts as late or
later. With one repetition there are no subsets of events to be told apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from cer_gpu.language import tree as t
from cer_gpu.language.walk import children, condition_variables, nodes, prior_variables, rebuild, walk

_POSITIVE = (t.As, t.Filter, t.Iteration, t.Sequence, t.Or)
"""The patterns whose parts have to match; what stands behind NOT or UNLESS must not."""


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
