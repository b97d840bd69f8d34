"""Queries from SQL: the table function `cer_match`.

Spark gives a Python table function its rows one at a time. Table functions over Arrow batches cannot find
their columns by an `analyze` of their own, so they cannot be used here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from types import FrameType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from cer_gpu.spark import settings
from cer_gpu.spark.expressions import quoted
from cer_gpu.spark.jvm import is_connect
from cer_gpu.spark.task import DIGITS, WARN
from cer_gpu.spark.tie_reports import accumulated
from cer_gpu.spark.worker import Worker, task_from
from pyspark.sql.types import Row
from pyspark.sql.udtf import AnalyzeArgument, AnalyzeResult, PartitioningColumn, SelectedColumn

from cer_gpu.engine.read.sources.fields import path_to
from cer_gpu.errors import CerError, DataError
from cer_gpu.printable_text import brief

if TYPE_CHECKING:
    from cer_gpu.spark.task import Task
    from pyspark.accumulators import Accumulator
    from pyspark.sql import SparkSession

NAME = "cer_match"

PRODUCTS = ("run", "counts", "hits")
"""What may be asked for; the sum of `counts` is what SQL has itself."""

BUCKETS = 256
"""Partitions that are asked for where the query has keys: many keys are then run at once."""

COUNT = pa.decimal128(DIGITS, 0)
"""Counts in the result; tasks give them as text."""

ROWS = 1 << 16
"""Rows that are kept as Python objects before they become a batch."""

NOT_PARTITIONED = (
    "neither the query nor the call divides the table into streams: write PARTITION BY (column) after the "
    "table, or PARTITION BY in the query; or, if the whole table is one stream, pass single_partition => "
    "true (in place of WITH SINGLE PARTITION)"
)


def register(spark: SparkSession, name: str = NAME) -> None:
    """Make queries available in SQL, as a table function.

    ``SELECT * FROM cer_match(TABLE(trades) PARTITION BY (symbol), 'SELECT * WHERE Buy ; Sell')``

    The first two arguments are the table (`events`) and the text of the query (`query`). The others are given
    by name, and all of them are constants:

    - `order_by`: the time column, or an array of it and the columns that break ties. It may be left out if
      the table has exactly one column of timestamps or dates.
    - `event_id`, `order_unit`, `type_column`, `stream_column`, `engine`, `nan_is_null`: as for `run`.
    - `ties`: 'warn', 'error' or 'any', as for `run`. Python warns at the line of this call, once of each
      query; under Spark Connect the warning is in the log of the worker.
    - `params`: the values of the query's parameters, a map or a struct, as in
      `params => named_struct('p', 10, 'w', '5 min')`.
    - `product`: 'run', 'counts' or 'hits'.
    - `single_partition => true`: the whole table is one stream.

    Otherwise each partition of the table is a stream of its own, whose positions count from 0, in the order
    of `order_by` whether or not ORDER BY is written. If the query has PARTITION BY, leave it out after the
    table: the function asks Spark for it, and the result has the columns of the key.

    Parameters
    ----------
    spark : SparkSession
        Also one of Spark Connect. The function keeps the present value of its setting `spark.cer.gpu`.
    name : str
        The name of the function.
    """
    from pyspark.sql.functions import udtf

    tied = None if is_connect(spark) else accumulated(spark, each=True)
    made = udtf(_function(settings.value(spark, settings.GPU), tied), useArrow=False)
    spark.udtf.register(name, made)  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------- on the driver


@dataclass
class CallAnalysis(AnalyzeResult):
    """The result of the analysis of a call, which Spark takes to the rows.

    Attributes
    ----------
    task : bytes
        A pickled `Task`.
    """

    task: bytes = b""


def _function(gpu: str, tied: Accumulator[Any] | None) -> type:
    """The table function, for one way to look for GPUs, and what its tasks report ties to.

    A class of its own for each session travels as a whole; the code that it inherits is imported.
    """

    class CerMatch(MatchRows):
        ties = tied

        @staticmethod
        def analyze(
            events: AnalyzeArgument, query: AnalyzeArgument, **named: AnalyzeArgument
        ) -> AnalyzeResult:
            try:
                return analysed(events, query, named, gpu)
            except (CerError, TypeError, ValueError) as error:
                # What is wrong is shown with the way that led to it, which is nobody's business here.
                raise error.with_traceback(None) from None

    return CerMatch


def analysed(
    events: AnalyzeArgument, query: AnalyzeArgument, named: dict[str, AnalyzeArgument], gpu: str
) -> CallAnalysis:
    """Check a call, and find the columns of its result and how its table must be partitioned.

    Parameters
    ----------
    events, query : AnalyzeArgument
    named : dict of str to AnalyzeArgument
    gpu : {"auto", "required", "off"}

    Raises
    ------
    QueryError
        When the query does not fit the table.
    DataError
        When an argument is wrong, or there is no time column.
    """
    from cer_gpu.spark.binding import arrow_schema, spark_schema, task_of

    if not events.isTable:
        raise DataError(
            f"the first argument of {NAME} must be a table: write TABLE(name) or TABLE(SELECT ...)"
        )
    text = _constant("query", query)
    if not isinstance(text, str):
        raise DataError(f"the second argument of {NAME} must be the text of a query, not {brief(text)}")
    given = {key: _constant(key, argument) for key, argument in named.items()}
    unknown = sorted(given.keys() - _NAMED)
    if unknown:
        raise DataError(
            f"{NAME} has no argument `{unknown[0]}`; its arguments are {', '.join(sorted(_NAMED))}"
        )
    # A type column that is null says that no column tells the type.
    given = {key: value for key, value in given.items() if value is not None or key == "type_column"}
    product = given.pop("product", "run")
    if product not in PRODUCTS:
        raise DataError(f"product must be one of {', '.join(map(repr, PRODUCTS))}, not {brief(product)}")
    single = given.pop("single_partition", False)
    if "params" in given:
        given["params"] = _values(given["params"])
    schema = arrow_schema(events.dataType)
    order_by = given.pop("order_by", None) or _only_time(schema)
    task = task_of(text, schema, product, order_by=order_by, gpu=gpu, **{"ties": WARN} | given)
    keyed = task.keyed and not single
    result = task.result
    if product == "counts":
        result = result.set(len(result) - 1, pa.field("count", COUNT, nullable=False))
    return CallAnalysis(
        spark_schema(result),
        withSinglePartition=bool(single) or bool(task.query.query.reading.partition and not keyed),
        partitionBy=[PartitioningColumn(_bucket(task, schema))] if keyed else [],
        select=[_selected(name, schema, task.query.schema.field(name).type) for name in task.columns],
        task=task.dumped(),
    )


_NAMED = {
    "engine",
    "event_id",
    "nan_is_null",
    "order_by",
    "order_unit",
    "params",
    "product",
    "single_partition",
    "stream_column",
    "ties",
    "type_column",
}


def _constant(name: str, argument: AnalyzeArgument) -> Any:
    if argument.isTable or not argument.isConstantExpression:
        raise DataError(
            f"the argument `{name}` of {NAME} must be a constant: the columns of the result depend on it"
        )
    return argument.value


def _values(params: Any) -> dict[str, Any]:
    """The values of parameters; the place of a text says whether it is a number or a span."""
    from cer_gpu.language.parameters import WrittenParameter

    found = params.asDict() if isinstance(params, Row) else params
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in found):
        raise DataError(f"params must be a map or a struct, as in map('p', 10), not {brief(params)}")
    return {
        name: WrittenParameter(value) if isinstance(value, str) else value for name, value in found.items()
    }


def _only_time(schema: pa.Schema) -> str:
    times = [
        field.name for field in schema if pa.types.is_timestamp(field.type) or pa.types.is_date(field.type)
    ]
    if len(times) == 1:
        return times[0]
    found = f"columns {', '.join(f'`{name}`' for name in times)}" if times else "no column"
    raise DataError(
        f"the table has {found} of timestamps or dates: name the time column with order_by => 'column'"
    )


def _bucket(task: Task, schema: pa.Schema) -> str:
    """An expression that is the same for all rows of a key."""
    parts = []
    for part in task.query.query.reading.partition:
        names = [quoted(path_to(name, schema) or (name,)) for name in part]
        parts.append(names[0] if len(names) == 1 else f"coalesce({', '.join(names)})")
    return f"pmod(hash({', '.join(parts)}), {BUCKETS})"


def _selected(name: str, schema: pa.Schema, kind: pa.DataType) -> SelectedColumn:
    path = path_to(name, schema) or (name,)
    if _is_instant(kind):
        # Python's times are slow, and those of Spark in it are of the zone that the worker happens to be in.
        return SelectedColumn(f"unix_micros({quoted(path)})", alias="time")
    return SelectedColumn(quoted(path)) if len(path) == 1 else SelectedColumn(quoted(path), alias=name)


def _is_instant(kind: pa.DataType) -> bool:
    return pa.types.is_timestamp(kind) and kind.tz is not None


# ----------------------------------------------------------------------------------------- in a worker


class MatchRows:
    """Runs the query over the rows of a partition; Spark makes an object for each partition.

    Parameters
    ----------
    told : Analysed
    """

    ties: Accumulator[Any] | None = None
    """What ties are reported to; None: the log of the process."""

    def __init__(self, told: CallAnalysis) -> None:
        if not (told.withSinglePartition or told.partitionBy) and not _partitioned():
            raise DataError(NOT_PARTITIONED)
        self._dumped = told.task
        task = task_from(told.task)
        self._keys = task.query.query.reading.partition if task.keyed else ()
        self._counts = task.product == "counts"
        self._names = task.columns
        self._types = [task.query.schema.field(name).type for name in task.columns]
        self._rows: list[tuple[Any, ...]] = []
        self._batches: list[pa.RecordBatch] = []

    def eval(self, events: Sequence[Any], query: str, **named: Any) -> None:
        """Take a row."""
        self._rows.append(tuple(events))
        if len(self._rows) == ROWS:
            self._pack()

    def terminate(self) -> Iterator[tuple[Any, ...]]:
        """The rows of the result, after the last row of the partition."""
        self._pack()
        for batch in Worker(self._dumped, ties=self.ties)(self._batches):
            columns = [column.to_pylist() for column in batch.columns]
            if self._counts:
                columns[-1] = list(map(Decimal, columns[-1]))
            yield from zip(*columns, strict=True)

    def _pack(self) -> None:
        """The rows so far as a batch, but for those without a whole key, which are of no partition."""
        if not self._rows:
            return
        columns = [pa.array(list(values), kind) for values, kind in zip(zip(*self._rows), self._types)]
        self._rows.clear()
        batch = pa.RecordBatch.from_arrays(columns, names=list(self._names))
        for part in self._keys:
            present = [pc.is_valid(batch.column(name)) for name in part]
            batch = batch.filter(reduce(pc.or_, present))
        if len(batch):
            self._batches.append(batch)


def _partitioned() -> bool:
    """Whether the rows come partitioned: Spark tells this to its own reader of table functions alone.

    The first one in a task is made under that reader; others are made only where partitions end.
    """
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "read_udtf":
            return bool(frame.f_locals["partition_child_indexes"])
        frame = frame.f_back
    return True
