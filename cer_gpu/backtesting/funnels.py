"""The funnels of the queries of a backtest, all in as few passes as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from cer_gpu.api import Query
from cer_gpu.backtesting.asked import AskedQuery, parameters_of
from cer_gpu.backtesting.table import QUERY
from cer_gpu.engine.answers.form import free_name, parameter_column
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.options import Options
from cer_gpu.funnel import FunnelStage, funnel, stages_of
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text


def funnels_of(asked: Sequence[AskedQuery], source: Source, options: Options) -> pa.Table:
    """The funnel of each pattern: `query`, the parameters, and the columns of `Query.funnel`."""
    stages: list[FunnelStage] = []
    bound, owner = [], []
    compiled: dict[str, Query] = {}
    for number, one in enumerate(asked):
        if not isinstance(one.query.tree, tree.SelectQuery):
            continue
        given = {**one.query.given, **options.params, **one.values}
        for stage in stages_of(one.query.tree):
            text = to_text(stage.query)
            query = compiled.get(text) or compiled.setdefault(text, Query(text))
            params = {name: given[name] for name in query.parameters}
            stages.append(stage)
            bound.append(query.bound_to(source, replace(options, params=params)))
            owner.append(number)
    found = funnel(stages, bound, source, options)
    taken = {QUERY, *found.schema.names}
    at = pa.array(np.array(owner, np.int64))
    columns, names = [pa.array([one.name for one in asked], pa.string()).take(at)], [QUERY]
    for name in parameters_of(asked):
        names.append(free_name(name, taken))
        columns.append(parameter_column([one.values.get(name) for one in asked]).take(at))
    return pa.table([*columns, *found.columns], [*names, *found.schema.names])
