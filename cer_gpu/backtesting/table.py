"""The rows of a backtest: those of each query as Arrow columns, and all of them as one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.backtesting.row_groups import QUERY, Partition, RowGroups
from cer_gpu.engine.answers.end_form import exact_column, times
from cer_gpu.engine.answers.form import free_name, parameter_column
from cer_gpu.engine.machines.numbers import SAFE
from cer_gpu.engine.machines.reported_ends import sum_exactly
from cer_gpu.engine.read.sources.arrow_types import whole_type
from cer_gpu.engine.run.shared_run import Bunch
from cer_gpu.engine.run.totals import SETTLED, Sums
from cer_gpu.lazy_modules import compute as pc

FOUND = ("hits", "matches", "first", "last")

WIDE = pa.decimal256(76, 0)
"""The type of numbers of matches that may exceed 64 bits."""

MOST_PARTS = 1 << 10
"""Tables that are not summed up yet, at most."""

_SUMMED = [("hits", "sum"), ("matches", "sum"), ("first", "min"), ("last", "max")]


def of_groups(groups: Sums, parted: RowGroups, bunch: Bunch) -> pa.Table:
    """The rows of the queries of a bunch: the number of the query, and the columns of `RowGroups.schema`."""
    schema = parted.schema
    arrays = [pa.array(groups.query)]
    if parted.buckets is not None:
        arrays.append(parted.buckets.column(groups.bucket))
    if parted.columns:
        assert bunch.encoder is not None
        keys = bunch.lane_keys_of(groups.lane)
        places = parted.places(tuple(part.names for part in bunch.encoder.keys.parts))
        heads = zip(parted.heads, places, strict=True)
        arrays += [keys[place].cast(schema.field(head).type) for head, place in heads]
    kind = schema.field("first").type
    arrays += [pa.array(groups.hits), exact_column(groups.matches)]
    arrays += [times(one, kind) for one in (groups.first, groups.last)]
    found = pa.table(arrays, [QUERY, *schema.names])
    return _regrouped(found, [QUERY, *schema.names]) if parted.columns else found


def numbered(found: pa.Table, query: int) -> pa.Table:
    """The rows of one query, with its number."""
    return found.add_column(0, QUERY, pa.array(np.full(len(found), query, np.int64)))


def of_ends(ends: pa.Table, parted: RowGroups, partition: Partition) -> pa.Table:
    """The rows of a query from its table of `counts`: its position, key, time (where `timed`) and count."""
    arrays: list[Any] = []
    schema = parted.schema
    at = ends.column(1 + len(partition) if parted.timed else 0)
    if parted.buckets is not None:
        moments = at.cast(parted.buckets.kind).combine_chunks()
        arrays.append(parted.buckets.column(parted.buckets.of(moments_of(moments))))
    heads = zip(parted.heads, parted.places(partition), strict=True)
    arrays += [ends.column(1 + place).cast(schema.field(head).type) for head, place in heads]
    arrays += [pa.array(np.ones(len(ends), np.int64)), ends.column(ends.num_columns - 1), at, at]
    return _regrouped(pa.table(arrays, schema.names), schema.names)


class EndTotals:
    """Sums up the rows of queries that are run one by one, from batches of their tables of `counts`.

    Parameters
    ----------
    parted : Parted
    partitions : sequence of Partition
        PARTITION BY of each query.
    """

    def __init__(self, parted: RowGroups, partitions: Sequence[Partition]) -> None:
        self._parted, self._partitions = parted, partitions
        self._parts: list[pa.Table] = []
        self._waiting = 0

    def add(self, query: int, ends: pa.Table) -> None:
        """Add a batch of the table `counts` of a query."""
        self._parts.append(numbered(of_ends(ends, self._parted, self._partitions[query]), query))
        self._waiting += len(self._parts[-1])
        if self._waiting > SETTLED or len(self._parts) > MOST_PARTS:
            self._parts = [self.table()]
            self._waiting = 0

    def state(self) -> pa.Table:
        """As `table`, for `resume`."""
        return self.table()

    def resume(self, state: pa.Table) -> None:
        """Restore what `state` returned."""
        self._parts, self._waiting = [state], len(state)

    def table(self) -> pa.Table:
        """All rows, with the numbers of the queries."""
        if not self._parts:
            fields = [pa.field(QUERY, pa.int64()), *self._parted.schema]
            return pa.schema(fields).empty_table()
        return as_one(self._parts)


def as_one(parts: Sequence[pa.Table]) -> pa.Table:
    """What was found in several parts of the events, in tables of the same columns: sums of all."""
    names = parts[0].schema.names
    if len({part.schema.field("matches").type for part in parts}) > 1:
        place = names.index("matches")
        parts = [part.set_column(place, "matches", part.column(place).cast(WIDE)) for part in parts]
    return _regrouped(pa.concat_tables(parts), names)


def moment_columns(matches: pa.RecordBatch, parts: int, timed: bool) -> tuple[pa.Array, pa.Array]:
    """The times of the starts and ends of matches whose keys have so many parts, or else their positions."""
    first = 2 + parts if timed else 0
    return matches.column(first), matches.column(first + 1)


def placed(matches: pa.RecordBatch, parted: RowGroups, partition: Partition) -> list[Any]:
    """The columns of bucket and key for some matches: the bucket of the end, and the key as values.

    Parameters
    ----------
    matches : RecordBatch
    parted : Parted
    partition : Partition
        PARTITION BY of the query.
    """
    arrays: list[Any] = []
    if parted.buckets is not None:
        ends = moment_columns(matches, len(partition), parted.timed)[1].cast(parted.buckets.kind)
        arrays.append(parted.buckets.column(parted.buckets.of(moments_of(ends))))
    for place in parted.places(partition):
        column = matches.column(2 + place)
        dictionary = pa.types.is_dictionary(column.type)
        arrays.append(pc.cast(column, column.type.value_type) if dictionary else column)
    return arrays


def moments_of(column: pa.Array) -> np.ndarray:
    """The int64 or float64 numbers of a column of times."""
    if pa.types.is_temporal(column.type):
        column = column.view(whole_type(column.type))
    found: np.ndarray = column.to_numpy(zero_copy_only=False)
    return found


def _regrouped(found: pa.Table, names: Sequence[str]) -> pa.Table:
    """Rows that agree in all but what was found as one, ascending."""
    keys = [name for name in names if name not in FOUND]
    if not len(found):
        return found  # a group of nothing would be a row of nulls
    place = found.schema.get_field_index("matches")
    number = found.column(place)
    if pa.types.is_integer(number.type) and sum_exactly(number.to_numpy()) >= SAFE:
        found = found.set_column(place, "matches", number.cast(WIDE))  # a sum of integers would wrap
    kind = found.schema.field("first").type
    if pa.types.is_duration(kind):  # of which Arrow has no least one in a group
        for name in ("first", "last"):
            at = found.schema.get_field_index(name)
            found = found.set_column(at, name, found.column(name).cast(pa.int64()))
    sums = found.group_by(keys, use_threads=False).aggregate(_SUMMED)
    arrays = [sums.column(name) for name in keys] + [sums.column(f"{name}_{how}") for name, how in _SUMMED]
    arrays[-2:] = [one.cast(kind) for one in arrays[-2:]]
    table = pa.table(arrays, [*keys, *FOUND]).select(names)
    return table.sort_by([(name, "ascending") for name in keys]) if keys else table


def combined(
    tables: Sequence[pa.Table],
    names: Sequence[str],
    values: Sequence[Mapping[str, Any]],
    schema: pa.Schema,
    each: bool,
) -> pa.Table:
    """The rows of all queries as one table, in the order of the queries.

    Parameters
    ----------
    tables : sequence of pyarrow.Table
        Rows with the number of their query. All rows of a query are in one table; the order is that of the
        result.
    names : sequence of str
        The names of the queries.
    values : sequence of mapping of str to object
        The values of their parameters.
    schema : pyarrow.Schema
        The columns of the tables, without the numbers.
    each : bool
        Whether a query without hits has a row.
    """
    wide = any(not pa.types.is_integer(table.column("matches").type) for table in tables)
    number = WIDE if wide else pa.int64()
    schema = pa.schema([field.with_type(number) if field.name == "matches" else field for field in schema])
    whole = pa.schema([pa.field(QUERY, pa.int64()), *schema])
    found = pa.concat_tables([table.cast(whole) for table in tables]) if tables else whole.empty_table()
    query = found.column(QUERY).to_numpy()
    if each:
        none = np.setdiff1d(np.arange(len(names)), query)
        absent = {
            QUERY: none,
            "hits": np.zeros(len(none), np.int64),
            "matches": np.zeros(len(none), np.int64),
            "starts": np.zeros(len(none), np.int64),
        }
        columns = [
            pa.array(absent[field.name]).cast(field.type)
            if field.name in absent
            else pa.nulls(len(none), field.type)
            for field in whole
        ]
        found = pa.concat_tables([found, pa.table(columns, whole.names)])
        query = np.append(query, none)
    order = np.argsort(query, kind="stable")
    found, at = found.take(pa.array(order)), pa.array(query[order])
    taken = {*schema.names, QUERY}
    arrays, heads = [pa.array(names, pa.string()).take(at)], [QUERY]
    for name in dict.fromkeys(name for own in values for name in own):
        heads.append(free_name(name, taken))
        arrays.append(parameter_column([own.get(name) for own in values]).take(at))
    return pa.table([*arrays, *found.columns[1:]], [*heads, *schema.names])
