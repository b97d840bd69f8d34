"""What the values of parameters make of a plan, and what is remembered of them from call to call.

A sweep gives a query a thousand combinations of a few dozen values. Whether a value fits its place, and where
it cuts an axis, is the same in all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from cer_gpu.language import tree
from cer_gpu.language.parameters import free_places, parameters, with_values
from cer_gpu.language.schema import Schema
from cer_gpu.plan.axes import Axis, GivenAxis, RelationAxis
from cer_gpu.plan.constants import ConstantReader
from cer_gpu.plan.leaves import AxisBuilder, RoleColumns
from cer_gpu.plan.planning.planner import Plan
from cer_gpu.plan.planning.windows import suppress_plan, window_of

NEVER = RelationAxis("!=", tree.Number(0), tree.Number(0))
"""The axis of what no event satisfies."""

REMEMBERED = 1 << 12
"""The most values of a place, or axes of a plan, that are remembered."""

SCALARS = (str, bytes, bool, int, float, complex)
"""Two values of one of these types that are equal mean the same."""


class GivenValues:
    """The values that calls have given the parameters of a statement over one schema.

    Parameters
    ----------
    statement : Query or Rule
    """

    def __init__(self, statement: tree.Statement) -> None:
        self._places = free_places(statement)
        self._fitting: list[set[Hashable]] = [set() for _ in self._places]
        self._axes: dict[Hashable, Axis] = {}
        self._names: dict[tuple[str, int], tuple[str, ...]] = {}

    def fit(self, given: Mapping[str, Any]) -> bool:
        """Whether each condition and each clause has had its values before, without an error or a note."""
        return all(
            _told(given, names) in known for names, known in zip(self._places, self._fitting, strict=True)
        )

    def keep(self, given: Mapping[str, Any]) -> None:
        """Remember values that a check of the whole statement found right."""
        for names, known in zip(self._places, self._fitting, strict=True):
            told = _told(given, names)
            if told is not None and len(known) < REMEMBERED:
                known.add(told)

    def axes(self, plan: Plan, given: Mapping[str, Any], schema: Schema, text: str) -> Iterator[Axis]:
        """The axes of a plan, with values where it has parameters."""
        widened: Schema | None = None
        for number, axis in enumerate(plan.compiled.reading.axes):
            if not isinstance(axis, GivenAxis):
                yield axis
                continue
            place = plan.engine, number
            if place not in self._names:
                self._names[place] = tuple(parameters(axis.leaf))
            told = _told(given, self._names[place])
            found = None if told is None else self._axes.get((place, told))
            if found is None:
                widened = widened or _with_derived(plan, schema)
                found = _bound(axis, given, widened, text)
                if told is not None and len(self._axes) < REMEMBERED:
                    self._axes[place, told] = found
            yield found


def _told(given: Mapping[str, Any], names: tuple[str, ...]) -> Hashable | None:
    """Something that only equal values of these parameters have; None where their type has no such thing."""
    values = [given[name] for name in names]
    if not all(type(value) in SCALARS for value in values):
        return None
    return tuple((type(value), value) for value in values)


def with_given(
    plan: Plan, statement: tree.Statement, given: Mapping[str, Any], schema: Schema, values: GivenValues
) -> Plan:
    """A plan with values for its open parameters.

    Parameters
    ----------
    plan : Plan
    statement : Query or Rule
        The statement, with the values of its WITHIN and its SUPPRESS.
    given : mapping of str to object
    schema : Schema
        The schema that the plan was made for.
    values : GivenValues
        Of the statement and the schema.

    Raises
    ------
    QueryError
        When a value does not fit its place.
    """
    compiled = plan.compiled
    axes = tuple(values.axes(plan, given, schema, compiled.text))
    if spans := plan.outline.spans:
        from cer_gpu.logic.rewriting.windows import tightest

        statement = replace(statement, window=tightest(statement.window, spans))
    if plan.outline.bounds:
        statement = replace(statement, window=plan.outline.statement.window)
    made = replace(
        compiled,
        reading=replace(compiled.reading, axes=axes, window=window_of(statement, schema, plan.built)),
        suppress=suppress_plan(statement, schema),
    )
    return replace(plan, compiled=made)


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
