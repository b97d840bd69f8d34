"""Matches on the line of a value over time: the data of `Plots.episodes`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.api import Query
from cer_gpu.checked_query import opened
from cer_gpu.engine.answers.future_values import EventColumns
from cer_gpu.engine.read.lanes import LaneEncoder
from cer_gpu.engine.run.options import read_options
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.row_pattern_query import RowPatternQuery

MOST = 500
"""Matches that are drawn at most: the first ones."""

POINTS = 4000
"""Points of the line at most: of more, the least and the greatest value of each stretch are kept."""


class Episodes(NamedTuple):
    """What is drawn.

    Attributes
    ----------
    line : list of dict
        `time` and `value` of events.
    matches : list of dict
        For each match the times of its first and last event, `from` and `to`, and the values there, `begin`
        and `end`.
    key : str
        The partition that is drawn, such as `symbol=ACME`; empty without PARTITION BY.
    temporal : bool
        Whether the times are timestamps or dates, and not plain numbers.
    """

    line: list[dict[str, Any]]
    matches: list[dict[str, Any]]
    key: str
    temporal: bool


def episodes(
    query: Query | RowPatternQuery, events: Any, value: str, keywords: Mapping[str, Any]
) -> Episodes:
    """The line of a column and the matches of a query, in the partition with the most of the first matches.

    Parameters
    ----------
    query : Query or RowPatternQuery
    events : object
        As for `Query.run`; they are read twice.
    value : str
        A column of numbers.
    keywords : mapping
        Those of `Query.run`; `order_by` is among them.

    Raises
    ------
    ValueError
        Without `order_by`.
    DataError
        For a column that is not there, or holds no numbers.
    """
    given = dict(keywords)
    options = read_options(**given)
    if not options.order_by:
        raise ValueError("episodes are drawn over time: name the column of time with order_by")
    source = opened(query.names | {value, options.order_by[0]}, events, options)
    bound = query.bound_to(source, options, "lists")
    found = bound.matches().batches()
    parts, many = [], 0
    for batch in found:
        parts.append(batch.slice(0, MOST - many))
        many += len(parts[-1])
        if many == MOST:
            break
    matches = pa.Table.from_batches(parts, found.schema)
    partition = bound.partition
    names = [name for part in partition for name in part]
    columns = EventColumns(source, [value, *names], lambda batches: batches)
    lanes = columns.lanes(partition)
    start, end = (matches.column(name).to_numpy() for name in ("start", "end"))
    chosen = 0
    if len(end) and len(partition):
        lane, often = np.unique(lanes[end], return_counts=True)
        chosen = int(lane[np.argmax(often)])
    inside = np.flatnonzero(lanes == chosen) if partition else np.arange(columns.rows)
    own = lanes[end] == chosen if partition else np.ones(len(end), bool)
    key = ""
    if partition and own.any():
        row = int(np.flatnonzero(own)[0])
        encoder = LaneEncoder(partition, source.arrow_schema)
        values = [matches.column(2 + place)[row].as_py() for place in range(len(partition))]
        key = " ".join(f"{name}={one}" for name, one in zip(encoder.names, values))
    numbers = columns.number(value, "a line")
    kept = _thinned(inside[~np.isnan(numbers[inside])], numbers)
    kind = source.arrow_schema.field(options.order_by[0]).type
    times = columns.times
    assert times is not None

    def at(rows: np.ndarray) -> list[Any]:
        moments = times[rows]
        if not pa.types.is_timestamp(kind) and not pa.types.is_date(kind):
            return moments.tolist()
        unit = columns.unit
        shown = pc.cast(pa.array(moments.astype(np.int64), pa.int64()), pa.timestamp(unit))
        return [str(one).replace(" ", "T") for one in shown.cast(pa.timestamp("ms"), safe=False).to_pylist()]

    line = [{"time": t, "value": v} for t, v in zip(at(kept), numbers[kept].tolist())]
    first, last = start[own], end[own]
    columns_of = at(first), at(last), numbers[first].tolist(), numbers[last].tolist()
    drawn = [dict(zip(("from", "to", "begin", "end"), one)) for one in zip(*columns_of)]
    drawn = [one for one in drawn if one["begin"] == one["begin"] and one["end"] == one["end"]]
    return Episodes(line, drawn, key, pa.types.is_timestamp(kind) or pa.types.is_date(kind))


def _thinned(rows: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Rows for a line that looks like that of all of them."""
    if len(rows) <= POINTS:
        return rows
    edges = np.linspace(0, len(rows), POINTS // 2 + 1).astype(np.int64)
    values = numbers[rows]
    kept = []
    for low, high in zip(edges[:-1].tolist(), edges[1:].tolist()):
        part = values[low:high]
        kept += sorted({low + int(part.argmin()), low + int(part.argmax())})
    return rows[np.array(kept)]
