"""Derived columns: PREV and the functions of one event, computed before anything else reads an event.

In `ABS(price - PREV(price)) > 3` there are two: `PREV(price)`, and `ABS(price - PREV(price))` over it. The
rest is an ordinary comparison of a column with a constant, so no later step, on any device, has to know
functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree
from cer_gpu.language.leaves import attributes_of
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.walk import rebuild, walk
from cer_gpu.plan.constants import ConstantReader, Measure, folded, measure_of_call

MARK = "\0"
"""What the name of a derived column begins with: no column of the data is called so."""

PLACE = "PLACE"
"""The function that gives the place of a category in the order; no query can write it."""


@dataclass(frozen=True, slots=True)
class DerivedColumn:
    """A column that is computed from others.

    Attributes
    ----------
    name : str
        `MARK` and the expression as it is written.
    expression : Previous or Call
        Over columns of the data and derived columns before this one.
    measure : Measure
        The type, unit and time zone of its values.
    zone : str or None
        The time zone in which a function reads a time.
    categories : tuple of str
        For the places of categories in their order: these categories, ascending.
    """

    name: str
    expression: tree.Previous | tree.Call
    measure: Measure
    zone: str | None = None
    categories: tuple[str, ...] = ()

    @property
    def read(self) -> frozenset[str]:
        """The columns that it is computed from."""
        return attributes_of(self.expression)


class Deriver:
    """Replaces PREV and functions by derived columns.

    Parameters
    ----------
    schema : Schema

    Attributes
    ----------
    schema : Schema
        The schema with the derived columns as further attributes.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._columns: dict[str, DerivedColumn] = {}
        for rank, column in schema.ranks.items():
            self._columns[rank] = self._places(rank, tree.Attribute(column), column)

    @property
    def columns(self) -> tuple[DerivedColumn, ...]:
        """The derived columns so far, each after those that it reads."""
        return tuple(self._columns.values())

    def all_rewritten(self, nodes: Iterable[Any]) -> tuple[Any, ...]:
        """Predicates and expressions in which derived columns replace PREV and functions."""
        return tuple(self.rewritten(node) if derives(node) else node for node in nodes)

    def rewritten(self, node: Any) -> Any:
        """As `all_rewritten`, for one predicate or expression."""
        match node:
            case tree.Previous(attribute=attribute) if attribute.name in self.schema.ranks:
                column = self.schema.ranks[attribute.name]
                before = self.rewritten(replace(node, attribute=replace(attribute, name=column)))
                name = f"{MARK}{PLACE}({to_text(replace(node, attribute=tree.Attribute(column)))})"
                if name not in self._columns:
                    self._columns[name] = self._places(name, before, column)
                    kinds = {**self.schema.attributes, name: ValueType.INT64}
                    self.schema = replace(self.schema, attributes=kinds)
                return tree.Attribute(name)
            case tree.Previous(attribute=attribute):
                plain = replace(node, attribute=replace(attribute, span=None), span=None)
                return self._column(plain, self._measure_of(attribute))
            case tree.Call(function=function, arguments=arguments):
                call = tree.Call(function, tuple(map(self.rewritten, arguments)))
                if not attributes_of(call):
                    waits = any(isinstance(part, tree.Parameter) for part in walk(call))
                    return call if waits else folded(call)
                measures = [self._measure_of(one) for one in call.arguments]
                measure = measure_of_call(function, measures)
                return self._column(call, measure, to_text(node), measures[0].zone)
            case tree.Every() | tree.Aggregate():
                return node
        return rebuild(node, self.rewritten)

    def _column(
        self,
        expression: tree.Previous | tree.Call,
        measure: Measure,
        text: str | None = None,
        zone: str | None = None,
    ) -> tree.Attribute:
        name = MARK + (text or to_text(expression))
        if name not in self._columns:
            self._columns[name] = DerivedColumn(name, expression, measure, zone)
            schema = self.schema
            units, zones = dict(schema.units), dict(schema.zones)
            if measure.unit is not None:
                units[name] = measure.unit
            if measure.zone is not None:
                zones[name] = measure.zone
            kinds = {**schema.attributes, name: measure.type}
            self.schema = replace(schema, attributes=kinds, units=units, zones=zones)
        return tree.Attribute(name)

    def _places(self, name: str, text: tree.Attribute, column: str) -> DerivedColumn:
        """The column of the places of categories of `column`, the texts of which are in `text`."""
        categories = self.schema.categories[column].categories
        return DerivedColumn(name, tree.Call(PLACE, (text,)), Measure(ValueType.INT64), None, categories)

    def _measure_of(self, expression: tree.Expression) -> Measure:
        return ConstantReader(self.schema).type_of(expression)


def derives(node: Any) -> bool:
    """Whether a predicate or an expression has a PREV or a function in it."""
    return any(isinstance(part, tree.Previous | tree.Call) for part in walk(node))


def written_out(expression: Any, columns: Sequence[DerivedColumn]) -> Any:
    """An expression in which PREV and functions replace derived columns again, for messages."""
    known = {column.name: column.expression for column in columns}
    match expression:
        case tree.Attribute(name) if name in known:
            return written_out(known[name], columns)
        case tree.Call() | tree.Arithmetic() | tree.Negation():
            return rebuild(expression, lambda part: written_out(part, columns))
    return expression


def columns_behind(names: Iterable[str], columns: Sequence[DerivedColumn]) -> list[str]:
    """The columns of the data among `names`, and those that the derived ones among them are computed from."""
    known = {column.name: column for column in columns}
    found: dict[str, None] = {}
    for name in names:
        if name in known:
            found.update(dict.fromkeys(columns_behind(sorted(known[name].read), columns)))
        else:
            found[name] = None
    return list(found)
