"""How the rows of a backtest are grouped: by buckets of time and by columns of the partition."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from cer_gpu.backtesting.buckets import Buckets, buckets, is_span
from cer_gpu.engine.answers.form import free_name
from cer_gpu.engine.read.sources.arrow_types import without_dictionary
from cer_gpu.engine.run.options import Options
from cer_gpu.printable_text import brief, name_text

QUERY, BUCKET, TOOK, MANY, STARTS = "query", "bucket", "__duration", "__number", "starts"

COLUMNS = frozenset(
    [QUERY, BUCKET, "hits", "matches", "first", "last", "duration_median", "duration_p95", TOOK, MANY, STARTS]
)
"""Columns that a backtest or a table on the way to it has: the key of such a name gets another one."""

Partition: TypeAlias = tuple[tuple[str, ...], ...]
"""PARTITION BY of a query."""


class RowGroups(NamedTuple):
    """How the rows of a result are grouped: by buckets of time and by columns of the partition.

    Attributes
    ----------
    buckets : Buckets or None
    columns : tuple of str
        The columns of the data.
    heads : tuple of str
        Their names in the result: `hits_` of a column `hits`.
    timed : bool
        Whether the run has an order: then ends have times, else positions.
    schema : pyarrow.Schema
        The columns of a query's rows.
    """

    buckets: Buckets | None
    columns: tuple[str, ...]
    heads: tuple[str, ...] = ()
    timed: bool = True
    schema: pa.Schema = pa.schema([])

    def over(self, data: pa.Schema, options: Options) -> RowGroups:
        """The same groups for data of a schema."""
        at = data.field(options.order_by[0]).type if options.order_by else pa.int64()
        kinds = [without_dictionary(data.field(name).type) for name in self.columns]
        keys = [pa.field(name, kind) for name, kind in zip(self.heads, kinds, strict=True)]
        bucket = [] if self.buckets is None else [pa.field(BUCKET, at)]
        sums = [pa.field("hits", pa.int64()), pa.field("matches", pa.int64())]
        fields = [*bucket, *keys, *sums, pa.field("first", at), pa.field("last", at)]
        return self._replace(timed=bool(options.order_by), schema=pa.schema(fields))

    @property
    def names(self) -> list[str]:
        """The columns of the result by which rows are grouped."""
        return [*([BUCKET] if self.buckets is not None else []), *self.heads]

    def places(self, partition: Partition) -> list[int]:
        """The part of a key that each column is, for a query with some PARTITION BY."""
        return [partition.index((name,)) for name in self.columns]


def parted_by(by: Any, partitions: Iterable[Partition], schema: pa.Schema, options: Options) -> RowGroups:
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
        raise ValueError(
            f"by={brief(by)} has two lengths of time, {brief(spans[0])} and {brief(spans[1])}: give one"
        )
    columns = [one for one in listed if not is_span(one)]
    for place, name in enumerate(columns):
        if not isinstance(name, str):
            raise ValueError(f"by takes names of columns and one length of time, not {brief(name)}")
        if name in columns[:place]:
            raise ValueError(f"by={brief(by)} names {brief(name)} twice: give it once")
    for number, parts in enumerate(partitions, 1):
        for name in columns:
            if (name,) not in parts:
                there = ", ".join(" or ".join(part) for part in parts)
                has = f"PARTITION BY {there}" if there else "no PARTITION BY"
                raise ValueError(
                    f"by={brief(name)}: query number {number} has {has}; write PARTITION BY "
                    f'{name_text(name)} in each query, or give a length of time such as "1 d"'
                )
    cut = buckets(spans[0], options.order_by, schema, options.order_unit) if spans else None
    taken = set(COLUMNS)
    heads = tuple(free_name(name, taken) for name in columns)
    return RowGroups(cut, tuple(columns), heads).over(schema, options)
