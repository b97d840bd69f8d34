"""Ordered categories in views: a rule that compares them by order compares their places.

Where a rule compares a column `sev` of ordered categories by order, the relation has a further attribute, the
places of `sev`. Joins and answers have the texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import pyarrow as pa

from cer_gpu.caller_warnings import warn
from cer_gpu.engine.read.functions import places_of
from cer_gpu.engine.read.sources.columns import single
from cer_gpu.errors import QueryError
from cer_gpu.language import tree as t
from cer_gpu.language.categories import (
    EXTREMES,
    CategoryChecker,
    OrderAt,
    compared,
    order_of_columns,
    orders_of_variables,
    rank_of,
)
from cer_gpu.language.findings import Findings
from cer_gpu.language.leaves import attributes
from cer_gpu.language.schema import CategoryOrder
from cer_gpu.logic.rewriting.ranks import rule_with_ranks

_CATEGORIES = b"categories"
"""The key of a field's metadata that has the categories, ascending."""


def field_of(name: str, kind: pa.DataType, order: CategoryOrder | None) -> pa.Field:
    """A field of a snapshot, with the order of the categories of its column."""
    held = None if order is None else {_CATEGORIES: json.dumps(order.categories).encode()}
    return pa.field(name, kind, metadata=held)


def orders_of(schema: pa.Schema) -> dict[str, CategoryOrder]:
    """The orders of the columns of a snapshot."""
    held = {field.name: (field.metadata or {}).get(_CATEGORIES) for field in schema}
    return {name: CategoryOrder(tuple(json.loads(own))) for name, own in held.items() if own is not None}


def with_places(table: pa.Table, orders: Mapping[str, CategoryOrder], asked: Iterable[str]) -> pa.Table:
    """A table with the columns of places that are asked for and not there.

    Raises
    ------
    DataError
        If a text is no category.
    """
    for name, order in orders.items():
        rank = rank_of(name)
        if rank in asked and rank not in table.column_names and name in table.column_names:
            table = table.append_column(rank, places_of(single(table.column(name)), order.categories, name))
    return table


def compared_variables(rule: t.Rule) -> frozenset[str]:
    """The variables that a rule compares by order."""
    values = [side for comparison in rule.comparisons for pair in compared(comparison) for side in pair]
    values += [
        one.argument for one in rule.aggregates if one.function in EXTREMES and one.argument is not None
    ]
    return frozenset(one.name for one in attributes(*values))


def by_places(rule: t.Rule, order_at: OrderAt, text: str) -> t.Rule:
    """A rule with comparisons of places where it compares ordered categories by order.

    Parameters
    ----------
    rule : Rule
        All atoms name their attributes.
    order_at : callable
    text : str
        As it was written.

    Raises
    ------
    QueryError
        If categories have no order to be compared by.
    """
    found = orders_of_variables(rule, order_at)
    orders = {name: order for name, own in found.items() if (order := order_of_columns(own)) is not None}
    if not orders:
        return rule
    findings = Findings()
    CategoryChecker(orders, findings).check(rule)
    listed = findings.sorted()
    if wrong := [one for one in listed if one.severity == "error"]:
        raise QueryError(wrong, text)
    for one in listed:
        warn(f"{one.message}; {one.hints[0]}")
    return rule_with_ranks(rule, order_at)
