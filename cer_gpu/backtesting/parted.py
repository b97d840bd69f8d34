"""How the rows of a backtest are grouped: by buckets of time and by columns of the partition."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from cer_gpu.backtesting.buckets import Buckets, buckets, is_span
from cer_gpu.engine.run.options import Options

Partition: TypeAlias = tuple[tuple[str, ...], ...]
"""PARTITION BY of a query."""


class Parted(NamedTuple):
    """How the rows of a result are grouped: by buckets of time and by columns of the partition."""

    buckets: Buckets | None
    columns: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The columns by which rows are grouped."""
        return [*(["bucket"] if self.buckets is not None else []), *self.columns]


def parted_by(by: Any, partitions: Iterable[Partition], schema: pa.Schema, options: Options) -> Parted:
    """Read the keyword `by`.

    Raises
    ------
    ValueError
        When `by` has two lengths of time, a column twice, or one that is not in the PARTITION BY of every
        query.
    """
    listed = [] if by is None else list(by) if isinstance(by, (list, tuple)) else [by]
    spans = [one for one in listed if is_span(one)]
    if len(spans) > 1:
        raise ValueError(f"by={by!r} has two lengths of time, {spans[0]!r} and {spans[1]!r}: give one")
    columns = [one for one in listed if not is_span(one)]
    for place, name in enumerate(columns):
        if name in columns[:place]:
            raise ValueError(f"by={by!r} names {name!r} twice: give it once")
    for number, parts in enumerate(partitions, 1):
        for name in columns:
            if (name,) not in parts:
                there = ", ".join(" or ".join(part) for part in parts)
                has = f"PARTITION BY {there}" if there else "no PARTITION BY"
                raise ValueError(
                    f"by={name!r}: query number {number} has {has}; write PARTITION BY {name} in each query, "
                    "or "
                    'give a length of time such as "1 d"'
                )
    cut = buckets(spans[0], options.order_by, schema, options.order_unit) if spans else None
    return Parted(cut, tuple(columns))


def columns_found(parted: Parted, schema: pa.Schema, options: Options) -> pa.Schema:
    """The columns of a query's rows, for data of a schema."""
    at = schema.field(options.order_by[0]).type if options.order_by else pa.int64()
    keys = [pa.field(name, _plain(schema.field(name).type)) for name in parted.columns]
    bucket = [] if parted.buckets is None else [pa.field("bucket", at)]
    sums = [pa.field("hits", pa.int64()), pa.field("matches", pa.int64())]
    return pa.schema([*bucket, *keys, *sums, pa.field("first", at), pa.field("last", at)])


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type of a key as it can be sorted: of the values of a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind
