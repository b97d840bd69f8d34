"""What the answers of a rule are made of: `tuple_form`."""

from __future__ import annotations

from cer_gpu.joins.query import ConjunctiveQuery
from cer_gpu.language import tree
from cer_gpu.plan.compiled import HeadColumn, TupleForm


def tuple_form(rule: tree.Rule, body: ConjunctiveQuery) -> TupleForm:
    """Where the head of a rule finds its values, and the event types of its atoms."""
    first: dict[str, tuple[int, str]] = {}
    for atom in body.atoms:
        for name, attribute in atom.attribute_of.items():
            first.setdefault(name, (atom.id, attribute))
    head = tuple(HeadColumn(variable.name, *first[variable.name]) for variable in rule.head)
    return TupleForm(head, tuple(atom.type.variables[-1] for atom in body.atoms))
