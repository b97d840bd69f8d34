"""The rows of a backtest: what each query found as Arrow columns, and all of it as one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.backtesting.buckets import Buckets
from cer_gpu.backtesting.totals import Sums
from cer_gpu.engine.answers.form import free_name
from cer_gpu.engine.answers.where import exact_column, times
from cer_gpu.engine.run.together import Bunch

FOUND = ("hits", "matches", "first", "last")

_SUMMED = [("hits", "sum"), ("matches", "sum"), ("first", "min"), ("last", "max")]


class Row(NamedTuple):
    """What a query or variant found.

    Attributes
    ----------
    name : str
    values : mapping of str to object
        Its parameters.
    table : pyarrow.Table
    """

    name: str
    values: Mapping[str, Any]
    table: pa.Table


def of_groups(
    groups: Sums, buckets: Buckets | None, columns: Sequence[str], bunch: Bunch, schema: pa.Schema
) -> pa.Table:
    """What a query found that was read with others, in the columns of `schema`."""
    arrays = [] if buckets is None else [buckets.column(groups.bucket)]
    if columns:
        assert bunch.encoder is not None
        keys = dict(zip(bunch.encoder.names, bunch.lane_keys_of(groups.lane)))
        arrays += [keys[name].cast(schema.field(name).type) for name in columns]
    kind = schema.field("first").type
    arrays += [pa.array(groups.hits), exact_column(groups.matches)]
    arrays += [times(one, kind) for one in (groups.first, groups.last)]
    found = pa.table(arrays, schema.names)
    return _regrouped(found, schema) if columns else found


def of_ends(
    ends: pa.Table, buckets: Buckets | None, columns: Sequence[str], at: str, schema: pa.Schema
) -> pa.Table:
    """The same from the table that `counts` gives."""
    arrays: list[Any] = []
    if buckets is not None:
        moments = ends.column(at).cast(buckets.kind).combine_chunks()
        arrays.append(buckets.column(buckets.of(_numbers(moments))))
    arrays += [ends.column(name).cast(schema.field(name).type) for name in columns]
    arrays += [pa.array(np.ones(len(ends), np.int64)), ends.column("count"), ends.column(at), ends.column(at)]
    return _regrouped(pa.table(arrays, schema.names), schema)


def _numbers(column: pa.Array) -> np.ndarray:
    """Times as the numbers that they are."""
    if pa.types.is_temporal(column.type):
        column = column.view(pa.int32() if column.type.bit_width == 32 else pa.int64())
    found: np.ndarray = column.to_numpy(zero_copy_only=False)
    return found


def _regrouped(found: pa.Table, schema: pa.Schema) -> pa.Table:
    """Rows that agree in all but what was found as one, ascending."""
    keys = [name for name in schema.names if name not in FOUND]
    if not len(found):
        return found  # a group of nothing would be a row of nulls
    sums = found.group_by(keys, use_threads=False).aggregate(_SUMMED)
    arrays = [sums.column(name) for name in keys] + [sums.column(f"{name}_{how}") for name, how in _SUMMED]
    table = pa.table(arrays, [*keys, *FOUND]).select(schema.names)
    return table.sort_by([(name, "ascending") for name in keys]) if keys else table


def combined(rows: Sequence[Row], schema: pa.Schema, each: bool) -> pa.Table:
    """The rows of all queries as one table.

    Parameters
    ----------
    rows : sequence of Row
    schema : pyarrow.Schema
        Of the tables of the rows.
    each : bool
        Whether a query that found nothing has a row.
    """
    wide = any(not pa.types.is_integer(row.table.column("matches").type) for row in rows)
    number = pa.decimal256(76, 0) if wide else pa.int64()
    schema = pa.schema([field.with_type(number) if field.name == "matches" else field for field in schema])
    tables = []
    for row in rows:
        table = row.table
        if each and not len(table):
            none = {"hits": [0], "matches": [0], "first": [None], "last": [None]}
            table = pa.table(
                [pa.array(none[field.name], pa.int64()).cast(field.type) for field in schema], schema.names
            )
        tables.append(table.cast(schema))
    sizes = [len(table) for table in tables]
    at = np.repeat(np.arange(len(rows)), sizes)
    taken = {*schema.names, "query"}
    arrays = [pa.array([row.name for row in rows]).take(pa.array(at))]
    names = ["query"]
    for name in dict.fromkeys(name for row in rows for name in row.values):
        names.append(free_name(name, taken))
        arrays.append(_values([row.values.get(name) for row in rows]).take(pa.array(at)))
    found = pa.concat_tables(tables) if tables else schema.empty_table()
    return pa.table([*arrays, *found.columns], [*names, *schema.names])


def _values(values: list[Any]) -> pa.Array:
    """The values of a parameter as a column: as text, where they have no type in common."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([None if value is None else str(value) for value in values])
