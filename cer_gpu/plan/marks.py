"""The form of the answers: the variables of the results, and which of them may mark several events."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cer_gpu.language import tree
from cer_gpu.language.leaves import attributes
from cer_gpu.plan.compiled_query import HeadColumn, MarkForm, TupleForm

if TYPE_CHECKING:
    from cer_gpu.joins.query import ConjunctiveQuery

SEVERAL = 2
"""Stands for any number from two on."""


def mark_form(labels: Sequence[frozenset[Any]], query: tree.SelectQuery) -> MarkForm:
    """The answers of a query whose automaton marks events with some labels."""
    variables, label_has = mark_columns(labels, query.select)
    attributes = {item.variable: item.attributes for item in query.select or () if item.attributes}
    return MarkForm(variables, label_has, attributes, marking_several(query, variables))


def mark_columns(
    labels: Sequence[frozenset[Any]], select: tuple[tree.SelectItem, ...] | None
) -> tuple[tuple[str, ...], np.ndarray]:
    """The variables of the result and which of them each label marks.

    They are those of the SELECT list in its order (also those that mark nothing), or all that some label has.
    """
    if select is None:
        variables = tuple(sorted({variable for label in labels for variable in label}))
    else:
        variables = tuple(dict.fromkeys(item.variable for item in select))
    return variables, marks_of(labels, variables)


def tuple_form(rule: tree.Rule, body: ConjunctiveQuery) -> TupleForm:
    """The answers of a rule: the atom and attribute of each variable in the head, and the types of atoms."""
    first: dict[str, tuple[int, str]] = {}
    for atom in body.atoms:
        for name, attribute in atom.attribute_of.items():
            first.setdefault(name, (atom.id, attribute))
    shown = [variable.name for variable in rule.head]
    folded = [one.argument for one in rule.aggregates if one.argument is not None]
    read = [name for name in dict.fromkeys(one.name for one in attributes(*folded)) if name not in shown]
    head = tuple(HeadColumn(name, *first[name]) for name in (*shown, *read))
    types = tuple(atom.type.variables[-1] for atom in body.atoms)
    return TupleForm(head, types, rule.aggregates, len(shown) if rule.aggregates else 0)


def marks_of(labels: Sequence[frozenset[Any]], variables: Sequence[Hashable]) -> np.ndarray:
    """Which of some variables, or atoms of a rule, each label marks: uint8 [labels, variables]."""
    has = np.array([[variable in label for variable in variables] for label in labels], np.uint8)
    return has.reshape(len(labels), len(variables))


def marking_several(query: tree.SelectQuery, variables: Iterable[str]) -> frozenset[str]:
    """The variables that may mark more than one event of a complex event.

    >>> query = parse("SELECT * FROM S WHERE A AS a ; B+ AS b ; (C AS c ; C AS c)")
    >>> sorted(marking_several(query, ("a", "b", "c")))
    ['b', 'c']
    """
    most = _most(query.pattern)
    return frozenset(name for name in variables if _of(most, name) >= SEVERAL)


def _of(most: dict[str, int], name: str) -> int:
    # Under FROM S an event of T is marked with S>T too, which the pattern need not say.
    return max(most.get(name, 0), most.get(name.rpartition(">")[2], 0))


_ALL = ""
"""Stands for all variables together: how many events have some mark."""


def _most(node: Any) -> dict[str, int]:
    """At most how many events each variable marks in a complex event of a pattern."""
    match node:
        case tree.EventType():
            return dict.fromkeys((*node.variables, _ALL), 1)
        case tree.OtherEvent():
            return {_ALL: 0}
        case tree.As():
            inner = _most(node.pattern)
            return inner | {node.variable: inner[_ALL]}
        case tree.Sequence() | tree.All():
            return _added(_most(node.left), _most(node.right))
        case tree.Or():
            return _greater(_most(node.left), _most(node.right))
        case tree.And():
            left, right = _most(node.left), _most(node.right)
            return {name: min(left.get(name, 0), right.get(name, 0)) for name in {*left, *right}}
        case tree.Iteration():
            once = _most(node.pattern)
            return once if getattr(node, "most", None) == 1 else _added(once, once)
        case tree.Project():
            inner = _most(node.pattern)
            return {name: inner.get(name, 0) for name in (*node.variables, _ALL)}
    # What is left keeps the marks of one operand: UNLESS of its left side, the others of their pattern.
    return _most(node.pattern if hasattr(node, "pattern") else node.left)


def _added(left: dict[str, int], right: dict[str, int]) -> dict[str, int]:
    return {name: min(left.get(name, 0) + right.get(name, 0), SEVERAL) for name in {*left, *right}}


def _greater(left: dict[str, int], right: dict[str, int]) -> dict[str, int]:
    return {name: max(left.get(name, 0), right.get(name, 0)) for name in {*left, *right}}
