"""Assumes types for attributes whose types are not known, from the constants in the statement."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from cer_gpu.joins.query import from_rule
from cer_gpu.language import tree
from cer_gpu.language.rules import resolve
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.walk import walk


def with_empty_columns(schema: Schema, statement: tree.Statement) -> Schema:
    """A schema in which columns of nulls alone get the type that the statement suggests.

    Arrow gives a column without any value the type `null`.
    """
    empty = [name for name, arrow in schema.unsupported.items() if arrow == "null"]
    if not empty:
        return schema
    suggested = assumed_schema(_conditions(statement), statement.window).attributes
    if isinstance(statement, tree.Rule):
        suggested = {**suggested, **_joined_kinds(statement, schema)}
    kinds = {name: suggested.get(name, ValueType.FLOAT64) for name in empty}
    units = {name: "ns" for name, kind in kinds.items() if kind is ValueType.DURATION}
    types = schema.types
    return replace(
        schema,
        attributes={**schema.attributes, **kinds},
        types=None if types is None else {name: known.union(empty) for name, known in types.items()},
        units={**schema.units, **units},
        unsupported={name: arrow for name, arrow in schema.unsupported.items() if name not in kinds},
    )


def assumed_schema(conditions: tuple[Any, ...], window: tree.Window | None) -> Schema:
    """A schema in which every attribute has the type that the constants it is compared with suggest.

    By default that is a number. The order attribute is assumed to be in nanoseconds.

    Parameters
    ----------
    conditions : tuple
        Patterns, conditions, predicates.
    window : Window or None
    """
    kinds: dict[str, ValueType] = {}
    nodes = list(walk(conditions))
    for node in nodes:
        operands: tuple[Any, ...] = ()
        match node:
            case tree.Comparison(_, left, right):
                operands = (left, right)
            case tree.InSet(operand, members):
                operands = (operand, *members.others, *_spans(members), *map(tree.Text, members.texts[:1]))
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
    for node in nodes:
        if isinstance(node, tree.IsNull):
            for part in walk(node.operand):
                if isinstance(part, tree.Attribute):
                    kinds.setdefault(part.name, ValueType.FLOAT64)
    order = "time"
    while order in kinds:
        order += "_"
    if window is not None and window.attribute is not None:
        kinds.setdefault(window.attribute, ValueType.FLOAT64)
    kinds[order] = ValueType.TIMESTAMP
    units = {name: "ns" for name, kind in kinds.items() if kind in (ValueType.TIMESTAMP, ValueType.DURATION)}
    return Schema(kinds, order=order, units=units)


def _spans(members: tree.Members) -> tuple[Any, ...]:
    """The ends of ranges of a set that are spans of time or parameters: of numbers there may be many."""
    if members.end_kinds.isdisjoint((tree.Quantity, tree.Parameter)):
        return ()
    ends = (*members.lows, *members.highs)
    return tuple(end for end in ends if isinstance(end, tree.Quantity | tree.Parameter))


def _conditions(statement: tree.Statement) -> tuple[Any, ...]:
    """Where a statement compares attributes with constants."""
    if isinstance(statement, tree.SelectQuery):
        return (statement.pattern,)
    atoms = from_rule(resolve(statement, None)).atoms
    constants = (
        tree.Comparison("=", tree.Attribute(name), term)
        for atom in atoms
        for name, term in atom.terms
        if not isinstance(term, tree.RuleVariable)
    )
    return (*constants, *(test for atom in atoms for test in atom.tests))


def _joined_kinds(rule: tree.Rule, schema: Schema) -> dict[str, ValueType]:
    """The types of attributes that share a variable with one whose type is known."""
    of_variable: dict[str, ValueType] = {}
    for variable, name in _named(rule):
        if name in schema.attributes:
            of_variable[variable] = schema.attributes[name]
    return {name: of_variable[variable] for variable, name in _named(rule) if variable in of_variable}


def _named(rule: tree.Rule) -> Iterable[tuple[str, str]]:
    for atom in rule.atoms:
        for name, term in zip(atom.names or (), atom.terms):
            if isinstance(term, tree.RuleVariable):
                yield term.name, name
