"""The attributes of the relations of a view, and the kinds of the variables of its rule."""

from __future__ import annotations

from collections.abc import Callable, Collection

import pyarrow as pa

from cer_gpu.engine.views.category_order import compared_variables
from cer_gpu.engine.views.codes import ValueKind, WideValuesError, is_wide, kind_of, wide
from cer_gpu.engine.views.relations import GivenTable
from cer_gpu.engine.views.terms import refused
from cer_gpu.errors import DataError
from cer_gpu.language import tree as t
from cer_gpu.language.categories import rank_of
from cer_gpu.language.schema import ValueType
from cer_gpu.printable_text import names_text


def attributes_of(
    rule: t.Rule, relation: str, given: GivenTable, widened: Collection[tuple[str, str]]
) -> dict[str, ValueKind]:
    """The attributes of a relation, by the first table of its rows.

    Parameters
    ----------
    rule : Rule
        The atoms of the relation name their attributes.
    relation : str
    given : GivenTable
    widened : collection of (str, str)
        The relations and attributes whose whole numbers are numbered in their order.

    Raises
    ------
    DataError
        If the table lacks one, or a view cannot hold its values.
    """
    table, orders = given
    ordered = compared_variables(rule)
    found: dict[str, ValueKind] = {}
    for atom in rule.atoms:
        if atom.type.name != relation:
            continue
        for attribute, term in zip(atom.names or (), atom.terms):
            where = f"column `{attribute}` of {relation}"
            if attribute not in table.column_names:
                shown = (name for name in table.column_names if not name.startswith("\0"))
                raise DataError(f"{where} is missing: the table has {names_text(shown)}")
            column = table.column(attribute)
            kind = kind_of(column.type, where)
            found[attribute] = wide(kind) if (relation, attribute) in widened or is_wide(column) else kind
            compares = isinstance(term, t.RuleVariable) and term.name in ordered
            if compares and attribute in orders and orders[attribute].categories:
                found[rank_of(attribute)] = ValueKind(ValueType.INT64, pa.int64())
    return found


def variable_kinds(rule: t.Rule, kind_at: Callable[[str, str], ValueKind], text: str) -> dict[str, ValueKind]:
    """The kind of each variable of a rule.

    Parameters
    ----------
    rule : Rule
        All atoms name their attributes.
    kind_at : callable
        Gives the kind of an attribute of a relation.
    text : str
        The rule as written.

    Raises
    ------
    QueryError
        If values of different types are joined.
    WideValuesError
        If whole numbers that are numbered in their order are joined with others.
    """
    found: dict[str, ValueKind] = {}
    for atom in rule.atoms:
        for attribute, term in zip(atom.names or (), atom.terms):
            if not isinstance(term, t.RuleVariable):
                continue
            kind = kind_at(atom.type.name, attribute)
            first = found.setdefault(term.name, kind)
            if first.joins(kind):
                continue
            if pa.types.is_integer(first.arrow) and pa.types.is_integer(kind.arrow):
                raise WideValuesError(_columns_of(rule, term.name))
            what = f"`{term.name}` is of type {first.arrow} and of type {kind.arrow}"
            hint = "cast one of the columns, so that both have the same type"
            raise refused(f"{what}: these cannot be equal", atom, text, hint)
    return found


def _columns_of(rule: t.Rule, variable: str) -> list[tuple[str, str]]:
    """The relations and attributes that a variable stands for."""
    return [
        (atom.type.name, name)
        for atom in rule.atoms
        for name, term in zip(atom.names or (), atom.terms)
        if isinstance(term, t.RuleVariable) and term.name == variable
    ]
