"""What is evaluated: refusing the rest by name, and the schema that a query suggests by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any

from cer_gpu.errors import Diagnostic, Span
from cer_gpu.language import tree
from cer_gpu.language.schema import Schema, ValueType


def walk(node: Any) -> Iterator[Any]:
    """Every node of a syntax tree, the outer before the inner, left to right."""
    if isinstance(node, tuple):
        for part in node:
            yield from walk(part)
    elif is_dataclass(node) and not isinstance(node, (Span, Enum)):
        yield node
        for entry in fields(node):
            yield from walk(getattr(node, entry.name))


def _construct(node: Any) -> str | None:
    """The name of a construct that is not evaluated yet; None for one that is."""
    match node:
        case tree.And():
            return "`AND` between patterns"
        case tree.All():
            return "`ALL` between patterns"
        case tree.Unless():
            return "`UNLESS`"
        case tree.Selector(strategy):
            return f"the selector `{'NXT' if strategy is tree.Strategy.NEXT else strategy.value}(...)`"
        case tree.Timed():
            return "`(...) WITHIN [...]` inside a pattern"
        case tree.Sequence(gap=tree.Interval()):
            return f"a time interval on `{':' if node.contiguous else ';'}`"
        case tree.Iteration(gap=tree.Interval()):
            return f"a time interval on `{':+' if node.contiguous else '+'}`"
        case tree.Comparison() if len(_variables(node)) > 1:
            return "a correlation between two variables"
        case tree.Query(strategy=strategy) if strategy is not tree.Strategy.ALL:
            return f"the selection strategy `{strategy.value}`"
    return None


def _variables(node: tree.Comparison) -> set[str]:
    return {
        part.variable for part in walk(node) if isinstance(part, tree.Attribute) and part.variable is not None
    }


def unevaluated(query: tree.Query) -> list[Diagnostic]:
    """An error for every construct that parses but is not evaluated yet."""
    return [
        Diagnostic(
            "CER090",
            f"{construct} is not evaluated yet",
            node.span,
            hints=(
                "the query is well-formed; this version evaluates regular patterns: "
                "types, NOT, AS, FILTER on one event, `;`, `:`, `+`, `:+`, OR and PROJECT",
            ),
        )
        for node in walk(query)
        if (construct := _construct(node)) is not None
    ]


def with_empty_columns(schema: Schema, query: tree.Query) -> Schema:
    """A schema in which columns that hold nothing but nulls have the type that the query suggests.

    Arrow gives a column without any value the type `null`, which says nothing of what it would hold.
    """
    empty = [name for name, arrow in schema.unsupported.items() if arrow == "null"]
    if not empty:
        return schema
    suggested = assumed_schema(query)
    kinds = {name: suggested.attributes.get(name, ValueType.FLOAT64) for name in empty}
    units = {name: "ns" for name, kind in kinds.items() if kind is ValueType.DURATION}
    types = schema.types
    return replace(
        schema,
        attributes={**schema.attributes, **kinds},
        types=None if types is None else {name: known.union(empty) for name, known in types.items()},
        units={**schema.units, **units},
        unsupported={name: arrow for name, arrow in schema.unsupported.items() if name not in kinds},
    )


def assumed_schema(query: tree.Query) -> Schema:
    """A schema in which every attribute has the type that the query's constants suggest.

    Numbers where nothing says otherwise; an order attribute in nanoseconds, since a window over time
    can be planned for any.
    """
    kinds: dict[str, ValueType] = {}
    for node in walk(query.pattern):
        operands: tuple[Any, ...] = ()
        match node:
            case tree.Comparison(_, left, right):
                operands = (left, right)
            case tree.InSet(operand, values):
                operands = (operand, *values)
            case tree.InRange(operand, low, high):
                operands = (operand, low, high)
            case tree.Like(operand):
                operands = (operand, tree.Text(""))
        suggested = ValueType.FLOAT64
        if any(isinstance(operand, tree.Text) for operand in operands):
            suggested = ValueType.STRING
        elif any(isinstance(part, tree.Quantity) for part in walk(operands)):
            suggested = ValueType.DURATION
        for operand in operands:
            for part in walk(operand):
                if isinstance(part, tree.Attribute) and kinds.get(part.name) is not ValueType.STRING:
                    kinds[part.name] = suggested
    for node in walk(query.pattern):
        if isinstance(node, tree.IsNull):
            for part in walk(node.operand):
                if isinstance(part, tree.Attribute):
                    kinds.setdefault(part.name, ValueType.FLOAT64)
    order = "time"
    while order in kinds:
        order += "_"
    if query.window is not None and query.window.attribute is not None:
        kinds.setdefault(query.window.attribute, ValueType.FLOAT64)
    kinds[order] = ValueType.TIMESTAMP
    units = {name: "ns" for name, kind in kinds.items() if kind in (ValueType.TIMESTAMP, ValueType.DURATION)}
    return Schema(kinds, order=order, units=units)
