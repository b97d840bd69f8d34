"""Puts values of parameters into a plan: a parameter is an axis of its own, of which only the bound varies.

`price > $p` is a boolean axis of its own, beside those of other constants on `price`: the automaton, the
diagram and the tables are made once, and a call only says where the axis is cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cer_gpu.language import tree
from cer_gpu.language.parameters import with_values
from cer_gpu.language.schema import Schema
from cer_gpu.plan.axes import Axis, GivenAxis, RelationAxis
from cer_gpu.plan.constants import ConstantReader
from cer_gpu.plan.leaves import AxisBuilder, RoleColumns
from cer_gpu.plan.planning.planner import Plan, window_of

NEVER = RelationAxis("!=", tree.Number(0), tree.Number(0))
"""The axis of what no event satisfies."""


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
    return replace(plan, compiled=replace(compiled, reading=replace(reading, axes=axes, window=window)))


def _bound(axis: GivenAxis, given: Mapping[str, Any], schema: Schema, text: str) -> Axis:
    leaf = with_values(axis.leaf, given, schema, text)
    if schema.categories:
        from cer_gpu.logic.rewriting.ranks import in_places

        leaf = in_places(leaf, schema)
    found, _ = AxisBuilder(ConstantReader(schema), RoleColumns(None, None)).build([leaf])
    return found[0] if found else NEVER
