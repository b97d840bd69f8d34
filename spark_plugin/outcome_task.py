"""In a worker: counts how often outcomes have each value at hits, and sums up hits and events by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from cer_gpu.spark.arrow_types import shown_as
from cer_gpu.spark.labels import Labels
from cer_gpu.spark.segments import OWN

from cer_gpu.backtesting.outcomes.expression import AskedOutcome
from cer_gpu.backtesting.outcomes.table import AFTER, BEFORE, samples_of
from cer_gpu.backtesting.outcomes.time_blocks import BlockSums, TimeSpan
from cer_gpu.backtesting.outcomes.values import OutcomeValues, aggregates_of, of_complex_events
from cer_gpu.backtesting.row_groups import Partition
from cer_gpu.backtesting.table import QUERY
from cer_gpu.engine.answers.future_values import EventColumns
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound_query import BoundQuery
from cer_gpu.engine.run.portable_query import PortableQuery
from cer_gpu.frozen_dataclass import dataclass

OUTCOME, LATE, VALUE, MANY = "outcome", "late", "value", "number"

PLACE, TIME, VALUES = "position", "time", "values"
"""The columns of single hits, beside those of their keys; `values` has that of each outcome."""

KEYED = f"{OWN}key_"
"""What the names of the columns of keys begin with."""

HIT, SPAN, SUMS = -1, -2, -3
"""Outcomes of rows that are no counts: single hits, the time that the events of a partition span, and, from
`SUMS` on downwards, the sums of the first outcome, the second, ... by block.

A span has the number of its partition in place of the query, and in `values` its ends. Sums have the block in
place of the position, and in `values` its level and the sums; `late` is null for both sides of the split."""


@dataclass(frozen=True, slots=True)
class OutcomePlans:
    """The outcomes that a task computes; picklable, and needs no parser.

    Attributes
    ----------
    asked : tuple of AskedOutcome
    partitions : tuple of Partition
        PARTITION BY of each query of the task.
    spans : mapping of Partition to int
        The number of each partition among those of all queries.
    values : tuple of PortableQuery
        For each query the query that returns the aggregates that outcomes read; empty if they read none.
    ends : mapping of (Partition, str) to PortableQuery
        The queries of `TIME TO`, by their text.
    split : int, float or None
        The time of the split, in the unit of the order column.
    unit : str or None
        Of plain numbers of time.
    hits : bool
        Whether the values at single hits are wanted, too.
    """

    asked: tuple[AskedOutcome, ...]
    partitions: tuple[Partition, ...]
    spans: Mapping[Partition, int]
    values: tuple[PortableQuery, ...]
    ends: Mapping[tuple[Partition, str], PortableQuery]
    split: int | float | None
    unit: str | None
    hits: bool

    @property
    def own(self) -> tuple[str, ...]:
        """The columns that occur in outcomes and partitions."""
        keys = [name for partition in self.partitions for part in partition for name in part]
        return tuple(dict.fromkeys([*(name for one in self.asked for name in one.columns), *keys]))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read for outcomes."""
        queries = (*self.values, *self.ends.values())
        return tuple(dict.fromkeys([*self.own, *(name for query in queries for name in query.columns)]))


class CountedValues(NamedTuple):
    """How often values of an outcome occur.

    Attributes
    ----------
    member : int
        The place of a query in its task.
    outcome : int
    late : bool
        Whether the values are at the split or after it.
    values : ndarray, float64
    numbers : ndarray, int64
    """

    member: int
    outcome: int
    late: bool
    values: np.ndarray
    numbers: np.ndarray


class ValuesAtHits(NamedTuple):
    """The outcomes at the hits of a query.

    Attributes
    ----------
    member : int
        The place of the query in its task.
    hits : pyarrow.Table
        Of `BoundQuery.hits`.
    values : list of ndarray, float64
        Of each outcome; NaN where it has none.
    """

    member: int
    hits: pa.Table
    values: list[np.ndarray]


class PartitionSpan(NamedTuple):
    """From when to when the events of a task happened, by the number of their partition."""

    number: int
    span: TimeSpan


class SummedBlocks(NamedTuple):
    """The sums of an outcome at the hits of a query, by block.

    Attributes
    ----------
    member : int
        The place of the query in its task.
    outcome : int
    late : bool or None
        None for both sides of the split.
    sums : BlockSums
    """

    member: int
    outcome: int
    late: bool | None
    sums: BlockSums


Found: TypeAlias = CountedValues | ValuesAtHits | PartitionSpan | SummedBlocks
"""What a task returns."""


def counted_values(
    plans: OutcomePlans,
    source: Source,
    bound: Sequence[BoundQuery],
    bound_to: Callable[[PortableQuery], BoundQuery],
) -> Iterator[Found]:
    """The outcomes at the hits of the queries, compared with those at all events.

    Parameters
    ----------
    plans : OutcomePlans
    source : Source
    bound : sequence of BoundQuery
        The queries over the source.
    bound_to : callable
        Binds another query to it.
    """

    def ends_of(partition: Partition, pattern: str) -> np.ndarray:
        ended = bound_to(plans.ends[partition, pattern]).hits()
        found: np.ndarray = ended.column("position").to_numpy()
        return found

    columns = EventColumns(source, plans.own, lambda batches: batches)
    values = OutcomeValues(columns, plans.unit, plans.split, ends_of)
    wanted = aggregates_of(plans.asked)
    for partition in dict.fromkeys(plans.partitions):
        yield PartitionSpan(plans.spans[partition], values.span_of(partition))
    sides = {BEFORE: False, AFTER: True}
    for member, (query, partition) in enumerate(zip(bound, plans.partitions, strict=True)):
        hits = query.hits()
        position = hits.column("position").to_numpy()
        if not len(position):
            continue
        read = {}
        if wanted:
            matches = bound_to(plans.values[member]).matches().to_arrow()
            read = of_complex_events(matches, wanted, position)
        late = None if values.late is None else values.late[position]
        found = [values.at_hits(one, partition, position, read) for one in plans.asked]
        for number, (one, own) in enumerate(zip(plans.asked, found, strict=True)):
            yield from _counted(member, number, own, late)
            for name, inside in samples_of(values.late):
                at = inside if isinstance(inside, slice) else inside[position]
                sums = values.sums(one, partition, (name, inside), position[at], own[at])
                yield SummedBlocks(member, number, sides.get(name), sums)
        if plans.hits:
            yield ValuesAtHits(member, hits, found)


def _counted(
    member: int, outcome: int, values: np.ndarray, late: np.ndarray | None
) -> Iterator[CountedValues]:
    sides = [(False, slice(None))] if late is None else [(False, ~late), (True, late)]
    for side, inside in sides:
        own = values[inside]
        found, numbers = np.unique(own[~np.isnan(own)], return_counts=True)
        if len(found):
            yield CountedValues(member, outcome, side, found, numbers)


def shown_values(
    found: Iterable[Found],
    numbers: Sequence[int],
    partitions: Sequence[Partition],
    labels: Labels,
    schema: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    """Batches for Spark.

    Parameters
    ----------
    found : iterable of CountedValues or ValuesAtHits
    numbers : sequence of int
        Of the queries among all of the backtest.
    partitions : sequence of Partition
        PARTITION BY of each query of the task.
    labels : Labels
        What stands for the positions of the run.
    schema : pyarrow.Schema
        Of the result: the columns of counts, then those of single hits: place, time, keys, values.
    """
    for one in found:
        if isinstance(one, ValuesAtHits):
            keys = [part[0] for part in partitions[one.member]]
            yield _shown_hits(one, numbers[one.member], keys, labels, schema)
            continue
        if isinstance(one, PartitionSpan):
            given = {
                QUERY: [one.number],
                OUTCOME: [SPAN],
                MANY: [1],
                VALUES: [[one.span.least, one.span.most]],
            }
            yield _shown(given, 1, schema)
            continue
        if isinstance(one, SummedBlocks):
            yield _shown_sums(one, numbers[one.member], schema)
            continue
        count = len(one.values)
        columns = [
            pa.array(np.full(count, numbers[one.member], np.int64)),
            pa.array(np.full(count, one.outcome, np.int64)),
            pa.array(np.full(count, one.late)),
            pa.array(one.values),
            pa.array(one.numbers.astype(np.int64, copy=False)),
        ]
        columns += [pa.nulls(count, field.type) for field in list(schema)[len(columns) :]]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _shown(given: Mapping[str, Any], count: int, schema: pa.Schema) -> pa.RecordBatch:
    """Rows of some columns; the others are null."""
    columns = [
        pa.array(given[field.name], field.type) if field.name in given else pa.nulls(count, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _shown_sums(found: SummedBlocks, query: int, schema: pa.Schema) -> pa.RecordBatch:
    """The rows of sums by block."""
    block, sums = found.sums.block, found.sums.sums
    count = len(block)
    given = {
        QUERY: np.full(count, query),
        OUTCOME: np.full(count, SUMS - found.outcome),
        LATE: [found.late] * count,
        MANY: np.ones(count, np.int64),
        PLACE: block,
        VALUES: np.insert(sums, 0, found.sums.level, axis=1).tolist(),
    }
    return _shown(given, count, schema)


def _shown_hits(
    found: ValuesAtHits, query: int, names: Sequence[str], labels: Labels, schema: pa.Schema
) -> pa.RecordBatch:
    """The rows of single hits."""
    count, width = len(found.hits), len(found.values)
    position, *keys, time, _ = (column.combine_chunks() for column in found.hits.columns)
    own = dict(zip(names, keys, strict=True))
    given = {
        QUERY: pa.array(np.full(count, query, np.int64)),
        OUTCOME: pa.array(np.full(count, HIT, np.int64)),
        MANY: pa.array(np.zeros(count, np.int64)),
        PLACE: labels.of(position, pa.int64()),
        TIME: shown_as(time, schema.field(TIME).type),
    }
    flat = pa.array(np.stack(found.values, axis=1).reshape(-1), from_pandas=True)
    offsets = pa.array(np.arange(count + 1, dtype=np.int32) * width)
    columns = []
    for number, field in enumerate(schema):
        if field.name == VALUES:
            columns.append(pa.ListArray.from_arrays(offsets, flat, type=field.type))
        elif number > schema.get_field_index(TIME):
            name = field.name.removeprefix(KEYED)
            columns.append(shown_as(own[name], field.type) if name in own else pa.nulls(count, field.type))
        else:
            columns.append(given.get(field.name, pa.nulls(count, field.type)))
    return pa.RecordBatch.from_arrays(columns, schema=schema)
