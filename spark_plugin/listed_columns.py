"""On the driver: puts together the columns of a backtest for which tasks list matches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from cer_gpu.spark.listed_task import KEY

from cer_gpu.backtesting.listed_values import MANY, STARTS, TOOK, DurationSums, ListedKinds, duration_type
from cer_gpu.backtesting.row_groups import RowGroups
from cer_gpu.backtesting.table import QUERY

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class ListedColumns:
    """What tasks list matches for, and the columns that are made of it.

    Parameters
    ----------
    wanted : ListedKinds
    parted : Parted
    schema : pyarrow.Schema
        Of what is found of a query.
    given : sequence of pyarrow.Field
        The number of the query, buckets and keys, as tasks give them.

    Attributes
    ----------
    result : pyarrow.Schema
        Of what tasks give: see `listed_task.listed`.
    """

    def __init__(
        self, wanted: ListedKinds, parted: RowGroups, schema: pa.Schema, given: Sequence[pa.Field]
    ) -> None:
        self.wanted, self._parted, self._schema = wanted, parted, schema
        at = schema.field("first").type
        self._kind = duration_type(at)
        took = pa.float64() if pa.types.is_floating(at) else pa.int64()
        listed = [(TOOK, took), (MANY, pa.int64()), (STARTS, pa.int64()), (KEY, pa.string())]
        self.result = pa.schema([*given, *(pa.field(*one) for one in listed)])

    def summed(self, frames: Sequence[DataFrame]) -> pa.Table:
        """What all tasks gave: how many matches have each duration, and, without one, how many starts."""
        import pyspark.sql.functions as sf

        whole = reduce(lambda one, other: one.unionByName(other), frames)
        names = self._parted.names
        keys = [QUERY, *(f"c{place}" for place in range(len(names)))]
        once = whole.groupBy(*keys, TOOK, STARTS, KEY).agg(sf.sum(MANY).alias(MANY))
        sums = [sf.sum(MANY).alias(MANY), sf.count(STARTS).alias(STARTS)]
        table = once.groupBy(*keys, TOOK).agg(*sums).toArrow()
        columns = [table.column(QUERY).cast(pa.int64())]
        for place, name in enumerate(names):
            columns.append(pc.cast(table.column(f"c{place}"), self._schema.field(name).type))
        columns += [table.column(TOOK), *(table.column(name).cast(pa.int64()) for name in (MANY, STARTS))]
        return pa.table(columns, [QUERY, *names, TOOK, MANY, STARTS])

    def added_to(self, found: pa.Table, summed: pa.Table, number: int) -> pa.Table:
        """What was found of a query, with the columns."""
        names = self._parted.names
        order = [(name, "ascending") for name in names]
        own = summed.filter(pc.equal(summed.column(QUERY), number))
        found = found.sort_by(order) if names else found
        lasting = pc.is_valid(own.column(TOOK))
        if self.wanted.starts:
            starts = own.filter(pc.invert(lasting))
            starts = starts.sort_by(order) if names else starts
            found = found.append_column(STARTS, starts.column(STARTS).combine_chunks())
        if self.wanted.durations:
            sums = DurationSums(self._parted)
            sums.take(own.filter(lasting).select([*names, TOOK, MANY]))
            found = sums.added_to(found, self._kind)
        return found

    def without(self, found: pa.Table) -> pa.Table:
        """What was found, where the columns are not known."""
        return self.wanted.without(found, self._kind)
