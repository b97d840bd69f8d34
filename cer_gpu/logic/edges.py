"""The edges of repetitions, for aggregates of expressions over several variables (`with_edges`)."""

from __future__ import annotations

from dataclasses import replace

from cer_gpu.language import tree as t
from cer_gpu.language.measures import with_what_is_read
from cer_gpu.language.repetition_edges import edge_of, is_joint, names_of, places, scope_of
from cer_gpu.language.walk import rebuild, with_aggregates


def with_edges(query: t.SelectQuery) -> t.SelectQuery:
    """The query with the edge of each aggregate of an expression over several variables.

    The SELECT list keeps the variables of edges that measures need.
    """
    edges = {
        (id(place.filtered), place.aggregate): edge_of(scope_of(place), names_of(place.aggregate))
        for place in places(query.pattern)
    }

    def known(condition: t.Condition, filtered: t.Pattern) -> t.Condition:
        def one(aggregate: t.Aggregate) -> t.Aggregate:
            key = id(filtered), aggregate
            return replace(aggregate, edge=edges[key]) if key in edges else aggregate

        found: t.Condition = with_aggregates(condition, one)
        return found

    def changed(pattern: t.Pattern) -> t.Pattern:
        if isinstance(pattern, t.OtherEvent):
            if pattern.condition is None:
                return pattern
            return replace(pattern, condition=known(pattern.condition, pattern.type))
        made = rebuild(pattern, changed)
        if not isinstance(pattern, t.Filter) or not isinstance(made, t.Filter):
            return made
        return replace(made, condition=known(pattern.condition, pattern.pattern))

    def measured(aggregate: t.Aggregate) -> t.Aggregate:
        if not is_joint(aggregate):
            return aggregate
        return replace(aggregate, edge=edge_of(query.pattern, names_of(aggregate)))

    measures = tuple(
        replace(one, expression=with_aggregates(one.expression, measured)) for one in query.measures
    )
    select = query.select if not query.select else with_what_is_read(query.select, measures)
    return replace(query, pattern=changed(query.pattern), measures=measures, select=select)
