"""The funnels of all queries of a backtest, counted in as few passes over the events as one funnel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.api import Query
from cer_gpu.backtesting.checkpoint import BacktestCheckpoint
from cer_gpu.backtesting.queries import AskedQuery, parameters_of
from cer_gpu.backtesting.table import QUERY
from cer_gpu.engine.answers.form import free_name, parameter_column
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound_query import BoundQuery
from cer_gpu.engine.run.options import Options
from cer_gpu.funnel import (
    FunnelStage,
    bound_stages,
    counted,
    funnel_table,
    listed_stages,
    stages_of,
    unlisted,
)
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.listed_runs import MOST_LISTED, MOST_ROWS, ListedRunCounts


class FunnelStages(NamedTuple):
    """The stages of the funnels of a backtest, one after another.

    Attributes
    ----------
    stages : list of FunnelStage
    queries : list of AskedQuery
        The query of each stage, with the values of its parameters.
    owner : list of int
        For each stage the number of the query whose funnel it belongs to.
    """

    stages: list[FunnelStage]
    queries: list[AskedQuery]
    owner: list[int]

    def at(self, places: Sequence[int]) -> FunnelStages:
        """The stages at some places."""
        return FunnelStages(
            [self.stages[place] for place in places],
            [self.queries[place] for place in places],
            [self.owner[place] for place in places],
        )


def staged(asked: Sequence[AskedQuery], params: Mapping[str, Any]) -> FunnelStages:
    """The stages of all queries that are patterns; `params` holds values for all queries."""
    found = FunnelStages([], [], [])
    compiled: dict[str, Query] = {}
    for number, one in enumerate(asked):
        if not isinstance(one.query, Query) or not isinstance(one.query.tree, tree.SelectQuery):
            continue
        given = {**one.query.given, **params, **one.values}
        for stage in stages_of(one.query.tree):
            text = to_text(stage.query)
            query = compiled.get(text) or compiled.setdefault(text, Query(text, bound_next=True))
            values = {name: given[name] for name in query.parameters}
            found.stages.append(stage)
            found.queries.append(AskedQuery(one.name, values, query))
            found.owner.append(number)
    return found


def funnels_of(
    asked: Sequence[AskedQuery], source: Source, options: Options, kept: BacktestCheckpoint | None = None
) -> pa.Table:
    """The funnel of each pattern: `query`, the parameters, and the columns of `Query.funnel`."""
    parts = staged(asked, options.params)

    def bind(place: int) -> BoundQuery:
        one = parts.queries[place]
        return one.ceql.bound_to(source, replace(options, params=one.values), "counts", once=True)

    places, bound = bound_stages(parts.stages, bind)
    keeper = None if kept is None else kept.beside("funnel")
    hits, matches = counted(bound, source, options, keeper)
    left = parts.at(places)

    def bind_to(place: int, pattern: tree.SelectQuery) -> BoundQuery:
        one = asked[left.owner[place]]
        query, given = Query(to_text(pattern)), {**one.ceql.given, **options.params, **one.values}
        own = {name: given[name] for name in query.parameters}
        few = replace(options, params=own, limit=MOST_LISTED + 1)
        return query.bound_to(source, few, "lists", once=True)

    if sum(one.listed is not None for one in left.stages) > MOST_ROWS:
        why = f"in one backtest, matches are listed for {MOST_ROWS} such rows at most"
        return with_queries(asked, left, hits, matches, unlisted(left.stages, why))
    return with_queries(asked, left, hits, matches, listed_stages(left.stages, bind_to))


def with_queries(
    asked: Sequence[AskedQuery],
    parts: FunnelStages,
    hits: Sequence[int],
    matches: Sequence[int],
    listed: ListedRunCounts,
) -> pa.Table:
    """A row for each stage: its query, the query's parameters, and the counts."""
    found = funnel_table(parts.stages, hits, matches, listed)
    taken = {QUERY, *found.schema.names}
    owners = [owner for stage, owner in zip(parts.stages, parts.owner) if not stage.runs]
    at = pa.array(np.array(owners, np.int64))
    columns, names = [pa.array([one.name for one in asked], pa.string()).take(at)], [QUERY]
    for name in parameters_of(asked):
        names.append(free_name(name, taken))
        columns.append(parameter_column([one.values.get(name) for one in asked]).take(at))
    return pa.table([*columns, *found.columns], [*names, *found.schema.names])
