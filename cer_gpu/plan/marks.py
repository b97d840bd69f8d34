"""The form of the answers: the variables of the results, which may mark several events, and measures."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cer_gpu.language import tree
from cer_gpu.language.leaves import attributes
from cer_gpu.language.mark_counts import NO_EVENTS, Count, counts_marked
from cer_gpu.language.schema import Schema
from cer_gpu.language.scope import marks
from cer_gpu.plan.compiled_query import AnswerForm, HeadColumn, MarkForm, MeasureColumn, TupleForm
from cer_gpu.plan.outline import Outline

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
    counts = counts_marked(query.pattern)
    return frozenset(name for name in variables if _most(counts, name) == SEVERAL)


def _most(counts: Mapping[str | None, Count], name: str) -> int:
    # Under FROM S an event of T is marked with S>T too, which the pattern need not say.
    return max(counts.get(one, NO_EVENTS).most for one in (name, name.rpartition(">")[2]))


def limit_of_marks(outline: Outline, limit: int | None) -> int | None:
    """The most complex events of one end, before measures are computed."""
    if not outline.hidden or limit == 0:
        return limit
    statement = outline.statement
    assert isinstance(statement, tree.SelectQuery)
    # Of several that only hidden variables tell apart the first one is kept, so one needs no other.
    return 1 if limit == 1 or statement.strategy is tree.Strategy.ANY else None


def answer_form(
    outline: Outline, form: AnswerForm, schema: Schema | None, stream_column: str | None
) -> AnswerForm:
    """The form of the answers with the measures, and the attributes of `x[*]` in the data."""
    query = outline.statement
    if isinstance(query, tree.Rule) or not isinstance(form, MarkForm):
        return form
    measures = tuple(MeasureColumn(one.name, one.expression) for one in query.measures)
    whole = frozenset(item.variable for item in query.select or () if item.whole)
    if not measures and not whole:
        return form
    attributes = form.attributes
    if whole and schema is not None:
        types = marks(query.pattern)
        attributes = attributes | {
            name: _attributes_of({one.name for one in types.get(name, ())}, schema, stream_column)
            for name in sorted(whole)
        }
    return replace(
        form,
        attributes=attributes,
        whole=whole,
        measures=measures,
        hidden=outline.hidden,
        limit=query.limit if outline.hidden else None,
    )


def _attributes_of(types: Collection[str], schema: Schema, stream_column: str | None) -> tuple[str, ...]:
    """All attributes of events of some types, in the order of the data."""
    others = (name for name in schema.unsupported if name in schema.returned)
    known = [name for name in (*schema.attributes, *others) if name != stream_column]
    if schema.types is None:
        return tuple(known)
    own = frozenset[str]().union(*(schema.types.get(name, frozenset()) for name in types))
    return tuple(name for name in known if name in own)
