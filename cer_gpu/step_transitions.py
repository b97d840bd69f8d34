"""How many partial matches go on to the next step of a pattern, as a query that has one match for each.

A *run* is a match of the pattern up to a step. It goes on to the next step where later events make it a match
of the pattern up to that step; otherwise it dies there. For a step that is one event,

>>> SELECT * WHERE (A AS a) ; (B AS b FILTER b.x > a.x) WITHIN 5 s

the matches of `A` that go on are counted by the *first* event that continues each:

>>> SELECT * WHERE A AS a : NOT (B FILTER B.x > a.x) :+ ? : (B AS b FILTER b.x > a.x) WITHIN 5 s

For a step of several events, each is the first that fits after the one before (see `next_events`). Where a
run is one event, or there is no window, any step that reads nothing of the run can follow it:

>>> SELECT * WHERE A AS a FOLLOWED BY [<= 5 s] (B : C)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from cer_gpu.language import tree
from cer_gpu.language.chains import leftward, linked
from cer_gpu.language.printer import to_text
from cer_gpu.language.scope import variables
from cer_gpu.language.units import nanoseconds
from cer_gpu.language.walk import condition_variables, nodes, prior_variables, walk
from cer_gpu.next_events import NextEvent, NextEvents, choices_of, next_events, none_of, together_asked

UNMARKED = "the step before may end with an event that is not marked"
"""Why nothing tells which of several runs goes on."""

_UNMARKED = (tree.OtherEvent, tree.Project)


class PrefixPattern(NamedTuple):
    """The pattern up to a step, of which each match is a run.

    Attributes
    ----------
    steps : list of Pattern
    joints : list of Sequence
        The nodes that join them.
    conditions : list of Condition
        What is asked of them as a whole.
    """

    steps: list[Any]
    joints: list[Any]
    conditions: list[Any]

    @property
    def pattern(self) -> Any:
        """The pattern with its conditions."""
        return filtered(chained(self.steps, self.joints), self.conditions)

    @property
    def variables(self) -> frozenset[str]:
        """The variables that mark events of a run."""
        return frozenset[str]().union(*map(variables, self.steps))

    @property
    def alone(self) -> bool:
        """Whether each run is one event."""
        return len(self.steps) == 1 and (
            isinstance(self.steps[0], tree.OtherEvent) or _is_one_event(self.steps[0])
        )

    @property
    def unmarked(self) -> bool:
        """Whether runs that end at different events may have the same marks."""
        ends = []
        for step in reversed(self.steps):
            ends.append(step)
            if not isinstance(step, tree.Optional):
                break
        return any(isinstance(node, _UNMARKED) for step in ends for node in nodes(step))


class NextStep(NamedTuple):
    """A step that runs may reach.

    Attributes
    ----------
    pattern : Pattern
        Without its outermost filters.
    own : list of Condition
        What these ask for.
    joint : Sequence
        The node that joins the step to the one before.
    conditions : list of Condition
        What is asked of the pattern up to this step as a whole.
    """

    pattern: Any
    own: list[Any]
    joint: tree.Sequence
    conditions: list[Any]


def chained(steps: Sequence[Any], joints: Sequence[Any]) -> Any:
    """Steps joined to a pattern."""
    if not any(isinstance(one, tree.Optional) for one in steps):
        return linked(steps, joints)
    return leftward(steps, lambda place, left, right: replace(joints[place - 1], left=left, right=right))


def filtered(pattern: Any, conditions: Sequence[Any]) -> Any:
    """A pattern with conditions."""
    for condition in conditions:
        pattern = tree.Filter(pattern, condition)
    return pattern


def going_on(
    query: tree.SelectQuery, runs: PrefixPattern, step: NextStep, windowed: bool = True
) -> tree.SelectQuery | str:
    """A query with one match for each run that goes on to a step; or why the language has none.

    Parameters
    ----------
    query : SelectQuery
        Its clauses are kept, its pattern is not.
    runs : PrefixPattern
    step : NextStep
    windowed : bool
        Whether WITHIN holds for the events that continue a run; it always holds for the run itself.
    """
    asked = [one for one in step.conditions if one not in runs.conditions or _speaks_of(one, step)]
    wanted = _StepTransition(query, runs, step, asked)
    if isinstance(step.pattern, tree.Optional):
        return wanted.left_out()
    window, free = query.window, replace(query, window=None)
    if windowed and window is not None:
        found = wanted.first(query, None, window)
        other = wanted.followed(window) if isinstance(found, str) and runs.alone else found
        return found if isinstance(other, str) else other
    # One event is within each window, but for that of an attribute which is null there.
    found = "a run has to be within its own window, which is no bound of time"
    if window is None or (runs.alone and window.kind != "attribute"):
        found = wanted.first(free, None)
    elif window.kind == "time" and window.parameter is None:
        found = wanted.first(free, tree.Interval(None, tree.Bound(window.size, window.unit)))
    if isinstance(found, str):
        other = wanted.followed(None)
        return found if isinstance(other, str) else other
    return found


class _StepTransition(NamedTuple):
    """Runs and the step that they may reach, with what is asked of the two together."""

    query: tree.SelectQuery
    runs: PrefixPattern
    step: NextStep
    asked: list[Any]

    def first(
        self, query: tree.SelectQuery, within: tree.Interval | None, window: tree.Window | None = None
    ) -> tree.SelectQuery | str:
        """Each run, no longer than `within`, with the first events that continue it."""
        runs, joint = self.runs, self.step.joint
        found = next_events(self.step.pattern)
        if isinstance(found, str) and joint.contiguous and isinstance(self.step.pattern, tree.OtherEvent):
            found = NextEvents((NextEvent(self.step.pattern, ()),))
        if isinstance(found, str):
            return found
        asked = [*self.step.own, *found.conditions, *self.asked]
        told = together_asked(self.step.pattern, found, runs.variables, asked)
        if told is not None:
            return told
        (event, *others), lasting = found.events, asked
        if not others:
            event, lasting = event._replace(pattern=filtered(event.pattern, self.step.own)), self.asked
        if window is not None and window.kind == "attribute" and (others or not joint.contiguous):
            return f"a difference of `{window.attribute}` may fall again, so the first event does not decide"
        begun: Any
        before = runs.pattern if within is None else tree.Timed(runs.pattern, within)
        if joint.contiguous:  # only one event may continue a run
            begun = replace(joint, left=before, right=event.pattern)
        elif runs.unmarked:
            return UNMARKED
        elif joint.gap is None:
            begun = _then(before, event, asked)
        elif joint.gap.low is not None:
            return "the first event that fits may come before the interval"
        elif within is not None or not _is_one_event(runs.steps[-1]):
            return "the interval begins at the end of several events"
        else:
            begun = tree.Timed(_then(runs.steps[-1], event, asked), joint.gap)
            if len(runs.steps) > 1:
                left = chained(runs.steps[:-1], runs.joints[:-1])
                begun = replace(runs.joints[-1], left=left, right=begun)
            lasting = [*runs.conditions, *lasting]
        for other in others:
            begun = _then(begun, other, asked)
        return replace(query, pattern=filtered(begun, lasting))

    def followed(self, window: tree.Window | None) -> tree.SelectQuery | str:
        """The runs that a step follows which reads nothing of them, within a window or anywhere.

        With a window, each run is one event.
        """
        step, joint, interval = self.step, self.step.joint, self.step.joint.gap
        event = filtered(filtered(step.pattern, step.own), self.asked)
        if any(condition_variables(one) & self.runs.variables for one in _conditions(event)):
            return "the step reads events of the steps before"
        if any(isinstance(node, tree.Selector) for node in nodes(event)):
            return "a selector chooses among the matches after a run"
        single = _is_event(step.pattern)
        if not single and (joint.contiguous or interval is not None):
            return "a step of several events is joined by `:` or by an interval"
        if joint.contiguous:
            if interval is not None or window is not None:
                return "a step is joined by `:` and has to lie within an interval"
            interval = tree.Interval(None, tree.Bound(1, "events"))
        if window is not None:
            found = _both(interval, window)
            if isinstance(found, str):
                return found
            interval = found
        within = self.query.window
        if self.runs.alone and within is not None and within.kind != "attribute":
            within = None  # one event is always within it
        pattern = tree.Beside(self.runs.pattern, event, interval=interval)
        return replace(self.query, pattern=pattern, window=within)

    def left_out(self) -> tree.SelectQuery | str:
        """The runs where a step may be left out: each is a match up to that step, too."""
        for one in self.asked:
            if not _vacuous(one) or any(isinstance(node, tree.Aggregate) for node in walk(one)):
                return f"`{to_text(one)}` is asked also where the step is left out"
        return replace(self.query, pattern=self.runs.pattern)


def _then(left: Any, event: NextEvent, asked: Sequence[Any]) -> Any:
    """A pattern, and the first event after it of which the conditions that speak of it hold."""
    none = none_of(event, [one for one in asked if condition_variables(one) & event.variables])
    return tree.Sequence(tree.Sequence(left, none, contiguous=True), event.pattern, contiguous=True)


def _both(gap: tree.Interval | None, window: tree.Window) -> tree.Interval | str:
    """The interval of what lies in an interval and in a window, both from the end of a run of one event."""
    if window.kind == "events" and gap is None:
        return tree.Interval(None, tree.Bound(window.size, "events", parameter=window.parameter))
    if window.kind != "time":
        return "the window is no bound of time"
    bound = tree.Bound(window.size, window.unit, parameter=window.parameter)
    if gap is None:
        return tree.Interval(None, bound)
    low, high, end = (_nanoseconds(one) for one in (gap.low, gap.high, bound))
    if end is None or (low is None) != (gap.low is None) or (high is None) != (gap.high is None):
        return "the interval and the window cannot be compared before their parameters are known"
    if low is not None and low >= end:
        return "the interval does not lie in the window"
    return gap if high is not None and high <= end else replace(gap, high=bound)


def _nanoseconds(bound: tree.Bound | None) -> Fraction | None:
    """A bound of time with a unit; None for others."""
    if bound is None or bound.parameter is not None or bound.unit is None:
        return None
    return nanoseconds(bound.value, bound.unit)


def _conditions(pattern: Any) -> list[Any]:
    """All conditions in a pattern."""
    return [
        node.condition
        for node in nodes(pattern)
        if isinstance(node, tree.Filter | tree.OtherEvent) and node.condition is not None
    ]


def _vacuous(condition: Any) -> bool:
    """Whether a condition without aggregates holds where a variable that it reads marks nothing."""
    if isinstance(condition, tree.Both | tree.Either):
        return _vacuous(condition.left) and _vacuous(condition.right)
    return isinstance(condition, tree.Every | tree.Comparison) and not prior_variables(condition)


def _speaks_of(condition: Any, step: NextStep) -> bool:
    """Whether a condition reads a variable of a step."""
    return bool(condition_variables(condition) & variables(step.pattern))


def _is_one_event(pattern: Any) -> bool:
    """Whether all matches of a pattern are one event, which is marked."""
    return choices_of(pattern) is not None and not any(
        isinstance(node, tree.Iteration) for node in nodes(pattern)
    )


def _is_event(pattern: Any) -> bool:
    """Whether the first match of a pattern after an event is one event, marked or not."""
    return isinstance(pattern, tree.OtherEvent) or choices_of(pattern) is not None
