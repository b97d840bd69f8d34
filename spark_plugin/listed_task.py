"""In a worker: how long the matches of a task's queries last, and at which events they begin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from cer_gpu.spark.arrow_types import shown_as
from cer_gpu.spark.labels import Labels
from cer_gpu.spark.segments import OWN

from cer_gpu.backtesting.listed_values import MANY, STARTS, TOOK, DistinctStarts, DurationSums, ListedKinds
from cer_gpu.backtesting.row_groups import RowGroups
from cer_gpu.backtesting.table import placed
from cer_gpu.engine.read.sources.columns import single
from cer_gpu.engine.run.bound_query import BoundQuery

KEY = f"{OWN}key"
"""The column of the key of an event as a text: with its place under that key, it says which event it is."""

_BETWEEN, _NONE = "\x1f", "\x00"


def listed(
    bound: Sequence[BoundQuery],
    wanted: ListedKinds,
    parted: RowGroups,
    labels: Labels,
    numbers: Sequence[int],
    result: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    """What the matches of some queries are listed for.

    Parameters
    ----------
    bound : sequence of BoundQuery
    wanted : ListedKinds
    parted : Parted
    labels : Labels
        What stands for the positions of the run: other tasks may see the same events.
    numbers : sequence of int
        Of the queries among all of the backtest.
    result : pyarrow.Schema
        The number of the query, buckets and keys, then the duration and number of rows of durations; of
        starts, a row each, what stands for the event: its place, `starts`, and its key as a text.
    """
    for number, one in zip(numbers, bound, strict=True):
        durations = DurationSums(parted) if wanted.durations else None
        starts = DistinctStarts([*parted.names, KEY]) if wanted.starts else None
        partition = one.partition
        for batch in one.matches().batches(keep=False):
            keys = placed(batch, parted, partition)
            if durations is not None:
                durations.add(batch, keys, len(partition))
            if starts is not None:
                starts.add(batch, [*keys, _text_of(batch.columns[2 : 2 + len(partition)], len(batch))])
        if durations is not None and not durations.empty:
            yield from _shown(durations.table(), number, result)
        if starts is not None and not starts.empty:
            seen = starts.table().combine_chunks()
            place = labels.of(single(seen.column(STARTS)), pa.int64())
            seen = seen.set_column(seen.schema.get_field_index(STARTS), STARTS, place)
            yield from _shown(seen, number, result)


def _shown(found: pa.Table, number: int, result: pa.Schema) -> Iterator[pa.RecordBatch]:
    """A table as Spark has it; columns of the result that it lacks are null."""
    fields = list(result)[1:]
    names = [*found.schema.names]
    own = [name for name in names if name not in (TOOK, MANY, STARTS, KEY)]
    columns = [pa.array(np.full(len(found), number, np.int64))]
    for field in fields:
        name = own.pop(0) if own else field.name
        if name in names:
            columns.append(shown_as(single(found.column(name)), field.type))
        else:
            columns.append(pa.nulls(len(found), field.type))
    yield pa.RecordBatch.from_arrays(columns, schema=result)


def _text_of(columns: Sequence[pa.Array], rows: int) -> pa.Array:
    """A key as a text, equal for equal keys."""
    if not columns:
        return pa.array([""] * rows, pa.string())
    texts = []
    for column in columns:
        plain = pc.cast(column, column.type.value_type) if pa.types.is_dictionary(column.type) else column
        plain = pc.add(plain, 0.0) if pa.types.is_floating(plain.type) else plain  # no -0.0
        texts.append(pc.cast(plain, pa.string()))
    return pc.binary_join_element_wise(*texts, _BETWEEN, null_handling="replace", null_replacement=_NONE)
