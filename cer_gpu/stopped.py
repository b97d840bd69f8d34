"""How many partial matches go on to the next step of a pattern, as a query that has one match for each.

A *run* is a match of the pattern up to a step. It goes on to the next step where some later event makes it a
match of the pattern up to that step; otherwise it dies there. For a step that is one event,

>>> SELECT * WHERE (A AS a) ; (B AS b FILTER b.x > a.x) WITHIN 5 s

the matches of `A` that go on are counted by the *first* event that continues each:

>>> SELECT * WHERE A AS a : NOT (B FILTER B.x > a.x) :+ ? : (B AS b FILTER b.x > a.x) WITHIN 5 s
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from cer_gpu.language import tree
from cer_gpu.language.chains import chain_of, leftward, linked
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import condition_variables, nodes, prior_variables, walk, with_attributes

_UNMARKED = (tree.OtherEvent, tree.Project)


class RunsBefore(NamedTuple):
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


class _OneEvent(NamedTuple):
    """One event that a step may be: its type, the variables that mark it, and what is asked of it."""

    type: tree.EventType
    variables: tuple[str, ...]
    conditions: tuple[Any, ...]


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
    query: tree.SelectQuery, runs: RunsBefore, step: NextStep, windowed: bool = True
) -> tree.SelectQuery | None:
    """A query with one match for each run that goes on to a step; None where the language has none.

    Parameters
    ----------
    query : SelectQuery
        Its clauses are kept, its pattern is not.
    runs : RunsBefore
    step : NextStep
    windowed : bool
        Whether WITHIN holds for the event that continues a run; it always holds for the run itself.
    """
    if isinstance(runs.steps[-1], tree.Optional):
        return None  # what stands before it may be what the step is joined to
    asked = [one for one in step.conditions if one not in runs.conditions or _speaks_of(one, step)]
    choices = _choices(step.pattern)
    if choices is None and step.joint.contiguous and isinstance(step.pattern, tree.OtherEvent):
        within = step.pattern.condition
        choices = [_OneEvent(step.pattern.type, (), () if within is None else (within,))]
    if choices is None or not _plain(runs, step, choices, asked):
        return None
    wanted = _GoingOn(query, runs, step, choices, asked)
    window = query.window
    if windowed and window is not None:
        # A difference of an attribute may fall again, or be null: then it is not the first event that tells.
        return wanted.first(query, None) if step.joint.contiguous or window.kind != "attribute" else None
    free = replace(query, window=None)
    alone = len(runs.steps) == 1 and _is_one_event(runs.steps[0])
    # One event is within each window, but for that of an attribute which is null there.
    if window is None or (alone and window.kind != "attribute"):
        return wanted.first(free, None) or wanted.followed()
    if window.kind != "time" or window.parameter is not None:
        return wanted.followed()
    return wanted.first(free, tree.Interval(None, tree.Bound(window.size, window.unit))) or wanted.followed()


class _GoingOn(NamedTuple):
    """Runs and the step that they may reach, with what is asked of the two together."""

    query: tree.SelectQuery
    runs: RunsBefore
    step: NextStep
    choices: list[_OneEvent]
    asked: list[Any]

    def first(self, query: tree.SelectQuery, within: tree.Interval | None) -> tree.SelectQuery | None:
        """Each run, no longer than `within`, with the first event that continues it."""
        runs, joint = self.runs, self.step.joint
        before = runs.pattern if within is None else tree.Timed(runs.pattern, within)
        event = filtered(_once(self.step.pattern), self.step.own)
        if joint.contiguous:  # only one event may continue a run
            return replace(query, pattern=filtered(replace(joint, left=before, right=event), self.asked))
        last = runs.steps[-1]
        if any(isinstance(node, _UNMARKED) for node in nodes(last)):
            return None  # runs that end at different events may have the same marks
        others = [_other(one, [*self.step.own, *self.asked]) for one in self.choices]
        none = tree.Optional(tree.Iteration(chain_of(tree.And, others), contiguous=True))

        def followed(left: Any) -> Any:
            return tree.Sequence(tree.Sequence(left, none, contiguous=True), event, contiguous=True)

        if joint.gap is None:
            return replace(query, pattern=filtered(followed(before), self.asked))
        if joint.gap.low is not None or within is not None or not _is_one_event(last):
            return None
        near: Any = tree.Timed(followed(last), joint.gap)
        if len(runs.steps) > 1:
            left = chained(runs.steps[:-1], runs.joints[:-1])
            near = replace(runs.joints[-1], left=left, right=near)
        return replace(query, pattern=filtered(near, [*runs.conditions, *self.asked]))

    def followed(self) -> tree.SelectQuery | None:
        """The runs that an event follows which continues them, within the window or not."""
        step, before, gap = self.step, self.runs.variables, self.step.joint.gap
        if any(condition_variables(one) & before for one in self.all):
            return None
        if step.joint.contiguous:
            if gap is not None:
                return None
            gap = tree.Interval(None, tree.Bound(1, "events"))
        event = filtered(filtered(_once(step.pattern), step.own), self.asked)
        return replace(self.query, pattern=tree.Beside(self.runs.pattern, event, interval=gap))

    @property
    def all(self) -> list[Any]:
        """All that is asked of the event."""
        return [*self.asked, *self.step.own, *(one for each in self.choices for one in each.conditions)]


def _plain(runs: RunsBefore, step: NextStep, choices: list[_OneEvent], asked: list[Any]) -> bool:
    """Whether the conditions of a step can be asked of one event, in place of the variables that mark it."""
    before, own = runs.variables, frozenset[str]().union(*(one.variables for one in choices))
    for condition in (*asked, *step.own, *(one for each in choices for one in each.conditions)):
        used = condition_variables(condition)
        if not used or used & own & before or prior_variables(condition):
            return False
        if any(isinstance(node, tree.Aggregate) and node.variable in own for node in walk(condition)):
            return False
    for one in choices:
        others = own - {*one.variables}
        if any(condition_variables(each) & others for each in (*asked, *step.own, *one.conditions)):
            return False
    names = [one.type.name for one in choices]
    return len({*names}) == len(names)


def _choices(pattern: Any) -> list[_OneEvent] | None:
    """The events that a pattern of one event may be; None for other patterns."""
    match pattern:
        case tree.EventType():
            return [_OneEvent(pattern, pattern.variables, ())]
        case tree.As(pattern=inner, variable=name):
            found = _choices(inner)
            return found and [one._replace(variables=(*one.variables, name)) for one in found]
        case tree.Filter(pattern=inner, condition=condition):
            found = _choices(inner)
            return found and [one._replace(conditions=(*one.conditions, condition)) for one in found]
        case tree.Or(left=left, right=right):
            first, second = _choices(left), _choices(right)
            return None if first is None or second is None else [*first, *second]
        case tree.Iteration(pattern=inner, times=times):
            many = times is not None and (times.least > 1 or times.least_parameter is not None)
            return None if many else _choices(inner)
        case _:
            return None


def _once(pattern: Any) -> Any:
    """A pattern of one event, without the iterations around it."""
    match pattern:
        case tree.As() | tree.Filter():
            return replace(pattern, pattern=_once(pattern.pattern))
        case tree.Or(left=left, right=right):
            return replace(pattern, left=_once(left), right=_once(right))
        case tree.Iteration(pattern=inner):
            return _once(inner)
        case _:
            return pattern


def _other(choice: _OneEvent, conditions: Sequence[Any]) -> Any:
    """An event that is none of a choice."""
    own = {*choice.variables}
    asked = [_of(one, own, choice.type.name) for one in (*choice.conditions, *conditions)]
    return tree.OtherEvent(choice.type, chain_of(tree.Both, asked) if asked else None)


def _of(condition: Any, own: set[str], name: str) -> Any:
    """A condition that speaks of `name` where it spoke of one of the variables `own`."""

    def renamed(one: tree.Attribute) -> tree.Attribute:
        return replace(one, variable=name) if one.variable in own else one

    match condition:
        case tree.Both(left=left, right=right) | tree.Either(left=left, right=right):
            return replace(condition, left=_of(left, own, name), right=_of(right, own, name))
        case tree.Not(operand=inner):
            return replace(condition, operand=_of(inner, own, name))
        case tree.Every(variable=variable):
            return replace(condition, variable=name) if variable in own else condition
        case _:
            return with_attributes(condition, renamed)


def _speaks_of(condition: Any, step: NextStep) -> bool:
    """Whether a condition reads a variable of a step."""
    return bool(condition_variables(condition) & variables(step.pattern))


def _is_one_event(pattern: Any) -> bool:
    """Whether all matches of a pattern are one event, which is marked."""
    return _choices(pattern) is not None and not any(
        isinstance(node, tree.Iteration) for node in nodes(pattern)
    )
