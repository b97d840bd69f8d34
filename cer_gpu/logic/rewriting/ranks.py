"""Comparisons of ordered categories become comparisons of whole numbers: their places in the order.

Where `low < medium < high` are the categories of `sev`, `b.sev > a.sev` becomes a comparison of the attribute
that stands for the places of `sev`, and `a[sev >= 'medium']` compares this attribute with 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from cer_gpu.language import tree as t
from cer_gpu.language.categories import (
    CHOOSING,
    EXTREMES,
    OrderAt,
    chosen,
    compared,
    order_of_columns,
    orders_of_variables,
    rank_of,
)
from cer_gpu.language.rules import resolve
from cer_gpu.language.schema import CategoryOrder, Schema, ValueType
from cer_gpu.language.walk import names_in, rebuild, rebuild_all, walk, with_aggregates

Ordered = Callable[[t.Attribute], CategoryOrder | None]
"""Gives the order of the categories of an attribute; None where it has none."""


def with_ranks(statement: t.Statement, schema: Schema) -> tuple[t.Statement, Schema] | None:
    """A statement that compares places of categories, and the schema that has them; None where none does.

    Parameters
    ----------
    statement : SelectQuery or Rule
        Without errors on this schema.
    schema : Schema
    """
    if not any(order.categories for order in schema.categories.values()):
        return None
    if isinstance(statement, t.Rule):
        made: t.Statement = rule_with_ranks(
            resolve(statement, schema), lambda _, name: schema.categories.get(name)
        )
    else:

        def order_of(one: t.Attribute) -> CategoryOrder | None:
            order = schema.categories.get(one.name)
            return order if order is not None and order.categories else None

        pattern = _changed(statement.pattern, order_of)
        measures = tuple(
            replace(one, expression=with_aggregates(one.expression, lambda own: _ordered(own, order_of)))
            for one in statement.measures
        )
        made = replace(statement, pattern=pattern, measures=measures)
    if made == statement:
        return None
    names = names_in(made)
    ranks = {rank: name for name in schema.categories if (rank := rank_of(name)) in names}
    kinds = {**schema.attributes, **dict.fromkeys(ranks, ValueType.INT64)}
    types = schema.types
    if types is not None:
        types = {
            name: own | {rank for rank, column in ranks.items() if column in own}
            for name, own in types.items()
        }
    return made, replace(schema, attributes=kinds, types=types, ranks=ranks)


def in_places(leaf: Any, schema: Schema) -> Any:
    """A predicate whose texts are compared with an attribute of places: each text as its own place.

    Parameters
    ----------
    leaf : Predicate
        Of a statement that `with_ranks` made, with values of parameters put in.
    schema : Schema
    """

    def place(node: Any, order: CategoryOrder) -> Any:
        return t.Number(order.categories.index(node.value)) if isinstance(node, t.Text) else node

    names = {one.name for one in walk(leaf) if isinstance(one, t.Attribute)}
    column = next((name for name in schema.categories if rank_of(name) in names), None)
    if column is None:
        return leaf
    order = schema.categories[column]
    match leaf:
        case t.Comparison(left=left, right=right):
            return replace(leaf, left=place(left, order), right=place(right, order))
        case t.InRange(low=low, high=high):
            return replace(leaf, low=place(low, order), high=place(high, order))
    return leaf


def _changed(node: Any, order_of: Ordered) -> Any:
    """A part of a statement in which places of categories are compared."""
    pairs = list(compared(node))
    if pairs:
        orders = [_order_of(side, order_of) for pair in pairs for side in pair]
        order = next((one for one in orders if one is not None), None)
        if order is None:
            return node
        names = ("left", "right") if isinstance(node, t.Comparison) else ("operand", "low", "high")
        sides = {name: getattr(node, name) for name in names}
        return replace(node, **{name: side and _placed(side, order) for name, side in sides.items()})
    return rebuild_all(node, lambda part: _changed(part, order_of))


def _order_of(expression: t.Expression, order_of: Ordered) -> CategoryOrder | None:
    for part in chosen(expression):
        if isinstance(part, t.Attribute) and (order := order_of(part)) is not None:
            return order
    return None


def _placed(expression: t.Expression, order: CategoryOrder) -> t.Expression:
    """The place of a text in an order."""
    match expression:
        case t.Attribute(name=name):
            return replace(expression, name=rank_of(name))
        case t.Text(value=text):
            return t.Number(order.categories.index(text), span=expression.span)
        case t.Arithmetic() | t.Negation():
            return expression
        case t.Aggregate(function=function) if function not in CHOOSING:
            return expression
    placed: t.Expression = rebuild(expression, lambda part: _placed(part, order))
    return placed


def rule_with_ranks(rule: t.Rule, order_at: OrderAt) -> t.Rule:
    """A rule with a further variable for each one whose places are compared.

    Parameters
    ----------
    rule : Rule
        All atoms name their attributes.
    order_at : callable
        Gives the order of an attribute of an event type.
    """
    orders: Mapping[str, CategoryOrder] = {
        name: order
        for name, own in orders_of_variables(rule, order_at).items()
        if (order := order_of_columns(own)) is not None and order.categories
    }

    def order_of(one: t.Attribute) -> CategoryOrder | None:
        return orders.get(one.name)

    comparisons = _changed(rule.comparisons, order_of)
    aggregates = tuple(_ordered(one, order_of) for one in rule.aggregates)
    used = {one.name for part in comparisons for one in walk(part) if isinstance(one, t.Attribute)}
    atoms = []
    for atom in rule.atoms:
        terms, names = dict(zip(atom.names or (), atom.terms)), atom.names or ()
        for name in names:
            term, order = terms[name], order_at(atom.type.name, name)
            if isinstance(term, t.RuleVariable) and rank_of(term.name) in used and order and order.categories:
                terms[rank_of(name)] = t.RuleVariable(rank_of(term.name))
        atoms.append(replace(atom, terms=tuple(terms.values()), names=tuple(terms)))
    return replace(rule, atoms=tuple(atoms), comparisons=comparisons, aggregates=aggregates)


def _ordered(aggregate: t.Aggregate, order_of: Ordered) -> t.Aggregate:
    """MIN and MAX of categories, which know their order."""
    argument = aggregate.argument
    if aggregate.function not in EXTREMES or not isinstance(argument, t.Attribute):
        return aggregate
    order = order_of(argument)
    return aggregate if order is None else replace(aggregate, order=order.categories)
