"""The plans of a query: for each schema, for each shape that its parameters give it, and for each route.

A parameter is an axis of its own, of which only the bound varies: `price > $p` is a boolean axis beside those
of other constants on `price`. The automaton, the diagram and the tables are made once, and a call only says
where the axis is cut. Only values that change the pattern itself, such as those of a repetition, need a plan
of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from cer_gpu.errors import Diagnostic, QueryError
from cer_gpu.language import tree
from cer_gpu.language.check import check
from cer_gpu.language.schema import Schema
from cer_gpu.plan.axes import Axis, GivenAxis, RelationAxis
from cer_gpu.plan.constants import ConstantReader
from cer_gpu.plan.cost import Question
from cer_gpu.plan.leaves import AxisBuilder, RoleColumns
from cer_gpu.plan.outline import Outline, outline
from cer_gpu.plan.planning.planner import Plan, suppress_plan, window_of
from cer_gpu.plan.refusals import never_answers
from cer_gpu.printable_text import brief

SCHEMAS = 4
"""Plans of a query are kept for so many schemas that it has last met, so that calls may alternate."""

PLANS = 256
"""Plans that are kept of one schema, for values that need their own."""

NEVER = RelationAxis("!=", tree.Number(0), tree.Number(0))
"""The axis of what no event satisfies."""

Make: TypeAlias = Callable[[Outline, Question, "Plan | None"], Plan]
"""Makes a plan: of an outline, for a question, with an earlier plan for events of the same schema."""


class ShapePlans(NamedTuple):
    """The plans of one outline for events of one schema.

    Attributes
    ----------
    outline : Outline
    first : Plan
        The plan of the question that came first; it has the routes that take the query.
    made : dict of str to Plan
        The plan of each route that some question takes.
    notes : sequence of Diagnostic
        Those of the checks, with the values of the call that came first.
    """

    outline: Outline
    first: Plan
    made: dict[str, Plan]
    notes: Sequence[Diagnostic]


class QueryPlans:
    """Plans a query for events, and for the values of its parameters.

    Parameters
    ----------
    statement : Query or Rule
    text : str
        As it was written.
    outline : Outline
        That of `statement`.
    given : mapping of str to object
        Values that `compile` was given, for calls that give no other.

    Raises
    ------
    QueryError
        When a value has no parameter.
    """

    def __init__(
        self, statement: tree.Statement, text: str, outline: Outline, given: Mapping[str, Any]
    ) -> None:
        self._statement = statement
        self._text = text
        self._outline = outline
        self.given = dict(given)
        self._asked: dict[str, Any] = {}
        self._shaping: frozenset[str] = frozenset()
        self._kept: tuple[tuple[Any, dict[Any, ShapePlans]], ...] = ()
        if given or "$" in text:
            # Few queries have parameters, and what is not imported takes no time.
            from cer_gpu.language.parameters import check_given, parameters, shaping

            self._asked, self._shaping = parameters(statement), shaping(statement)
            check_given(self._asked, {**dict.fromkeys(self._asked), **self.given}, text)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters, in the order of the text."""
        return tuple(self._asked)

    def planned(
        self,
        key: Any,
        schema: Schema,
        params: Mapping[str, Any],
        make: Make,
        question: Question,
        cuda: bool,
    ) -> tuple[Plan, Sequence[Diagnostic]]:
        """The plan for events and some values, and the notes of the checks.

        Parameters
        ----------
        key : object
            Everything besides the values that a plan depends on; calls with equal keys share plans.
        schema : Schema
        params : mapping of str to object
            The values of this call.
        make : callable
        question : Question
        cuda : bool
            Whether CUDA devices run it; part of `key`.

        Raises
        ------
        QueryError
            When the query does not fit the schema, or a value is missing, has no parameter, or does not fit
            its place.
        """
        given, statement = {**self.given, **params}, self._statement
        if given or self._asked:
            from cer_gpu.language.parameters import check_given, with_values

            check_given(self._asked, given, self._text)
            statement = with_values(statement, given, schema, self._text)
        known = self._kept  # another thread may run the query on other data
        plans = next((plans for one, plans in known if one == key), {})
        own = self._shape(statement, given)
        shape = plans.get(own)
        notes: Sequence[Diagnostic] = () if shape is None else shape.notes
        if shape is None or self._asked:  # values may not fit where others did
            notes = check(statement, schema)
            errors = [finding for finding in notes if finding.severity == "error"]
            if errors:
                raise QueryError(errors, self._text)
        if shape is None:
            opened = self._opened(statement, given, schema) if self._asked else self._outline
            first = make(opened, question, None)
            if not plans:
                self._kept = ((key, plans), *known[: SCHEMAS - 1])
            elif len(plans) >= PLANS:
                plans.clear()
            shape = plans[own] = ShapePlans(opened, first, {first.engine: first}, notes)
        engine = shape.first.chosen.engine_for(question, cuda)
        plan = shape.made.get(engine)
        if plan is None:
            plan = shape.made[engine] = make(shape.outline, question, shape.first)
        if plan.never:
            notes = (*notes, never_answers(statement))
        return (with_given(plan, statement, given, schema) if self._asked else plan), notes

    def _shape(self, statement: tree.Statement, given: Mapping[str, Any]) -> Any:
        """What distinguishes the plans of one schema: the values that need a plan of their own."""
        if not self._asked:
            return None
        window = statement.window
        measured = None if window is None else (window.kind, window.unit, window.attribute)
        return repr({name: given[name] for name in sorted(self._shaping)}), measured

    def _opened(self, statement: tree.Statement, given: Mapping[str, Any], schema: Schema) -> Outline:
        """The outline for all values that do not change the shape; `statement` has all values put in."""
        from cer_gpu.language.parameters import with_values

        shape = {name: given[name] for name in self._shaping}
        opened = with_values(self._statement, shape, schema, self._text)
        if statement.window is not None:
            opened = replace(opened, window=statement.window)
        return outline(opened, self._text)

    def told(self, params: Mapping[str, Any]) -> list[str]:
        """A line for each parameter: its value, and whether a new value needs a new plan."""
        given = {**self.given, **params}
        return [
            f"${name}{f' = {brief(given[name])}' if name in given else ''}: "
            + ("each value has a plan of its own" if name in self._shaping else "the plan serves all values")
            for name in self._asked
        ]


def with_given(plan: Plan, statement: tree.Statement, given: Mapping[str, Any], schema: Schema) -> Plan:
    """A plan with values for its open parameters.

    Parameters
    ----------
    plan : Plan
    statement : Query or Rule
        The statement with all values put in.
    given : mapping of str to object
    schema : Schema
        The schema that the plan was made for.

    Raises
    ------
    QueryError
        When a value does not fit its place.
    """
    compiled = plan.compiled
    reading = compiled.reading
    derived = {one.name: one.measure for one in reading.derived}
    kinds = {**schema.attributes, **{name: measure.type for name, measure in derived.items()}}
    units = {**schema.units, **{name: one.unit for name, one in derived.items() if one.unit is not None}}
    zones = {**schema.zones, **{name: one.zone for name, one in derived.items() if one.zone is not None}}
    known = replace(schema, attributes=kinds, units=units, zones=zones)
    axes = tuple(
        _bound(axis, given, known, compiled.text) if isinstance(axis, GivenAxis) else axis
        for axis in reading.axes
    )
    if spans := plan.outline.spans:
        from cer_gpu.logic.rewriting.windows import tightest

        statement = replace(statement, window=tightest(statement.window, spans))
    if plan.outline.bounds:
        statement = replace(statement, window=plan.outline.statement.window)
    window = window_of(statement, schema, plan.built)
    made = replace(
        compiled,
        reading=replace(reading, axes=axes, window=window),
        suppress=suppress_plan(statement, schema),
    )
    return replace(plan, compiled=made)


def _bound(axis: GivenAxis, given: Mapping[str, Any], schema: Schema, text: str) -> Axis:
    from cer_gpu.language.parameters import with_values

    leaf = with_values(axis.leaf, given, schema, text)
    if schema.categories:
        from cer_gpu.logic.rewriting.ranks import in_places

        leaf = in_places(leaf, schema)
    found, _ = AxisBuilder(ConstantReader(schema), RoleColumns(None, None)).build([leaf])
    return found[0] if found else NEVER
