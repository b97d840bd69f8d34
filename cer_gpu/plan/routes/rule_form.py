"""The form of the answers of a rule: `tuple_form`."""

from __future__ import annotations

from cer_gpu.joins.query import ConjunctiveQuery
from cer_gpu.language import tree
from cer_gpu.language.leaves import attributes
from cer_gpu.plan.compiled import HeadColumn, TupleForm


def tuple_form(rule: tree.Rule, body: ConjunctiveQuery) -> TupleForm:
    """The atom and attribute of each variable in the head of a rule, and the event types of its atoms."""
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
