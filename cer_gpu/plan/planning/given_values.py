"""What the values of parameters make of a plan, and what is remembered of them from call to call.

A sweep gives a query a thousand combinations of a few dozen values. Whether a value fits its place, and where
it cuts an axis, is the same in all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from cer_gpu.frozen_dataclass import replace
from cer_gpu.language import tree
from cer_gpu.language.parameters import (
    REMEMBERED,
    clause_parameters,
    free_places,
    parameters,
    remembered,
    told,
    with_values,
)
from cer_gpu.language.schema import Schema
from cer_gpu.plan.axes import Axis, GivenAxis, RelationAxis
from cer_gpu.plan.compiled_query import SuppressPlan, WindowPlan
from cer_gpu.plan.constants import ConstantReader
from cer_gpu.plan.leaves import AxisBuilder, RoleColumns
from cer_gpu.plan.planning.planner import Plan
from cer_gpu.plan.planning.windows import suppress_plan, window_of

NEVER = RelationAxis("!=", tree.Number(0), tree.Number(0))
"""The axis of what no event satisfies."""


class OpenPlan:
    """A plan with open parameters, and the parts that it had with the values of earlier calls.

    Parameters
    ----------
    plan : Plan
    clauses : tuple of str
        The parameters of WITHIN and of SUPPRESS.
    """

    def __init__(self, plan: Plan, clauses: tuple[str, ...]) -> None:
        self._plan, self._clauses = plan, clauses
        axes = enumerate(plan.compiled.reading.axes)
        self._open = [
            (number, axis, tuple(parameters(axis.leaf)))
            for number, axis in axes
            if isinstance(axis, GivenAxis)
        ]
        self._axes: dict[Hashable, Axis] = {}
        self._measured: dict[Hashable, tuple[WindowPlan | None, SuppressPlan | None]] = {}

    def closed(self, statement: tree.Statement, given: Mapping[str, Any], schema: Schema) -> Plan:
        """The plan with the values of a call; `statement` has those of WITHIN and of SUPPRESS."""
        plan = self._plan
        window, suppress = self._clauses_of(statement, given, schema)
        reading = replace(plan.compiled.reading, axes=self._axes_of(given, schema), window=window)
        return replace(plan, compiled=replace(plan.compiled, reading=reading, suppress=suppress))

    def _clauses_of(
        self, statement: tree.Statement, given: Mapping[str, Any], schema: Schema
    ) -> tuple[WindowPlan | None, SuppressPlan | None]:
        values, outline = told(given, self._clauses), self._plan.outline
        found = None if values is None else self._measured.get(values)
        if found is not None:
            return found
        if spans := outline.spans:
            from cer_gpu.logic.rewriting.windows import tightest

            statement = replace(statement, window=tightest(statement.window, spans))
        if outline.bounds:
            statement = replace(statement, window=outline.statement.window)
        found = window_of(statement, schema, self._plan.built), suppress_plan(statement, schema)
        return remembered(self._measured, values, found)

    def _axes_of(self, given: Mapping[str, Any], schema: Schema) -> tuple[Axis, ...]:
        axes = list(self._plan.compiled.reading.axes)
        for number, axis, names in self._open:
            values = told(given, names)
            found = None if values is None else self._axes.get((number, values))
            if found is None:
                text = self._plan.compiled.text
                found = _bound(axis, given, _with_derived(self._plan, schema), text)
                remembered(self._axes, None if values is None else (number, values), found)
            axes[number] = found
        return tuple(axes)


class GivenValues:
    """The values that calls have given the parameters of a statement over one schema.

    Parameters
    ----------
    statement : Query or Rule
    """

    def __init__(self, statement: tree.Statement) -> None:
        self._places = free_places(statement)
        self._fitting: list[set[Hashable]] = [set() for _ in self._places]
        self._clauses = clause_parameters(statement)
        self._plans: dict[int, OpenPlan] = {}

    def fit(self, given: Mapping[str, Any]) -> bool:
        """Whether each condition and each clause has had its values before, without an error or a note."""
        return all(
            told(given, names) in known for names, known in zip(self._places, self._fitting, strict=True)
        )

    def keep(self, given: Mapping[str, Any]) -> None:
        """Remember values that a check of the whole statement found right."""
        for names, known in zip(self._places, self._fitting, strict=True):
            values = told(given, names)
            if values is not None and len(known) < REMEMBERED:
                known.add(values)

    def closed(self, plan: Plan, statement: tree.Statement, given: Mapping[str, Any], schema: Schema) -> Plan:
        """A plan with values for its open parameters.

        Parameters
        ----------
        plan : Plan
            Known by its identity.
        statement : Query or Rule
            The statement, with the values of its WITHIN and its SUPPRESS.
        given : mapping of str to object
        schema : Schema
            The schema that the plan was made for.

        Raises
        ------
        QueryError
            When a value does not fit its place.
        """
        if id(plan) not in self._plans:
            self._plans[id(plan)] = OpenPlan(plan, self._clauses)
        return self._plans[id(plan)].closed(statement, given, schema)


def _with_derived(plan: Plan, schema: Schema) -> Schema:
    """A schema with the derived columns of a plan."""
    derived = {one.name: one.measure for one in plan.compiled.reading.derived}
    return replace(
        schema,
        attributes={**schema.attributes, **{name: measure.type for name, measure in derived.items()}},
        units={
            **schema.units,
            **{name: one.unit for name, one in derived.items() if one.unit is not None},
        },
        zones={
            **schema.zones,
            **{name: one.zone for name, one in derived.items() if one.zone is not None},
        },
    )


def _bound(axis: GivenAxis, given: Mapping[str, Any], schema: Schema, text: str) -> Axis:
    leaf = with_values(axis.leaf, given, schema, text)
    if schema.categories:
        from cer_gpu.logic.rewriting.ranks import in_places

        leaf = in_places(leaf, schema)
    found, _ = AxisBuilder(ConstantReader(schema), RoleColumns(None, None)).build([leaf])
    return found[0] if found else NEVER
