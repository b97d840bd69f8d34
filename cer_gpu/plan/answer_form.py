"""Measures and `x[*]` of the SELECT list in the form of the answers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from cer_gpu.language import tree
from cer_gpu.language.schema import Schema
from cer_gpu.language.scope import marks
from cer_gpu.plan.compiled_query import AnswerForm, MarkForm, MeasureColumn
from cer_gpu.plan.outline import Outline


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
