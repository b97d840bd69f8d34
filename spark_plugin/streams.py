"""A query on Structured Streaming: `stream`.

The keys are dealt to buckets, and each bucket is a group of Spark's `transformWithState`, whose state is the
snapshot of one `Stream` over the keys of the bucket. Faults, offsets and delivery are left to Spark.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
from cer_gpu.spark.binding import arrow_schema, compiled, spark_schema, task_of
from cer_gpu.spark.expressions import column, in_tasks, key_expressions, selected
from cer_gpu.spark.operators import with_numbers
from cer_gpu.spark.stream_task import BUCKET, PACKED_SCHEMA, BlobReader, BucketFiller, StreamTask, moment_of
from cer_gpu.spark.watermark import MOMENT, event_time, observed

from cer_gpu.engine.read.sources.caller_times import span_of
from cer_gpu.engine.run.options import ON_LATE, spelled
from cer_gpu.engine.run.stream_identity import about
from cer_gpu.errors import ArgumentError, DataError
from cer_gpu.language.units import NANOSECONDS, exact
from cer_gpu.patterns.statement_kind import is_statement
from cer_gpu.printable_text import brief

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from cer_gpu.api import Query


BUCKETS = 16
"""Streams that share the keys, where their number is not said."""

PRODUCTS = ("run", "hits", "counts")

STORE = "spark.sql.streaming.stateStore.providerClass"

CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"

ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
"""The only state store that `transformWithState` runs on."""


def stream_keywords(
    order_by: str | Sequence[str] | None = None,
    late: Any = "0 s",
    on_late: str = "drop",
    event_id: str | None = None,
    what: str = "run",
    order_unit: str | None = None,
    type_column: str | None = "type",
    stream_column: str | None = None,
    memory: int | None = None,
    params: Mapping[str, Any] | None = None,
    engine: str = "auto",
    nan_is_null: bool | None = None,
    buckets: int | None = None,
    initial: DataFrame | bytes | None = None,
    after: str | None = None,
) -> None:
    """The keywords of `stream`."""


@spelled(stream_keywords)
def stream(streaming_df: DataFrame, query: Query | str, **keywords: Any) -> DataFrame:
    """Run a query on a streaming DataFrame: one row for each match, as soon as time has decided it.

    The matches are those of `cer_spark.run` over all rows that ever come, without those that come too late.
    It needs Spark's RocksDB state store, which is set in the session, with a log of changes, if nothing else
    is.

    Parameters
    ----------
    streaming_df : DataFrame
        From `spark.readStream`. Only the columns that the query reads are used.
    query : Query or str
        Or a SELECT with MATCH_RECOGNIZE in Spark's dialect, with WITHIN, which tells when a match is over;
        the table that it names is the DataFrame. It takes `late`, `on_late`, `params` and `buckets`.
    order_by : str or sequence of str
        The time column (a timestamp, a date, or numbers with `order_unit`), then the columns that break ties.
        Ties that are left keep the order of the micro-batches, and within one that of all columns.
    late : str or timedelta, default "0 s"
        By how much rows may be out of order. The watermark stays so much behind the latest time of the
        micro-batches before; a row waits until the watermark has passed it.
    on_late : {"drop", "error"}, default "drop"
        What becomes of rows that are older than the watermark: they are left out and counted
        (`stream_metrics`), or stop the query.
    event_id : str, default None
        The column whose values stand for the events of a match; by default the time column.
    what : {"run", "hits", "counts"}, default "run"
        The matches; the events at which some end, with the latest start; or how many end at each. Ends with
        one key, one time and one id are one row: give `event_id` where events tie.
    order_unit : str, default None
        The unit of a plain-number time column: "s", "ms", "us" or "ns".
    memory : int, default None
        Bytes that the stream of a bucket may keep for events that later matches may still use.
    buckets : int, default None
        How many streams share the keys, 16 by default: at most so many tasks run at once. A checkpoint can
        only be continued with the same number. A query without a key has one.
    initial : DataFrame or bytes, default None
        What came before, for a new checkpoint (one that is continued has a state of its own): the history,
        with the columns of the stream; or, for one bucket, a state from `cer.backtest(..., state=True)`. The
        stream continues after its last event: rows at that time or before count as late, and the matches that
        are known by then, those of `run(history, until=...)`, are not returned again. Of a history only the
        last window is read, if the query has one.
    after : str, default None
        The checkpoint of a stream that has stopped, with its events as `initial`: this stream continues at
        the watermark up to which that one has written its matches. So the number of buckets and of Spark's
        partitions, the query or the version of this package can change. The source has to send the events
        from that watermark on again. Both keywords can be left out once a micro-batch is committed.
    **keywords
        `type_column`, `stream_column`, `params`, `engine`, `nan_is_null`: as for `cer_spark.run`.

    Returns
    -------
    DataFrame
        Streaming, for output mode append; its columns are those of `cer_spark.run`, `hits` or `counts`.

    Raises
    ------
    QueryError
        When the query does not fit the DataFrame.
    DataError
        When a column is missing, or the DataFrame is not a streaming one. While the stream runs: when the
        checkpoint is of another query, other keywords or another version of this package.
    ValueError
        When a keyword has a value that it cannot have.

    Examples
    --------
    >>> found = cer_spark.stream(trades, query, order_by="ts", late="30 s", event_id="id")
    >>> found.writeStream.option("checkpointLocation", folder).toTable("found")
    """
    from cer_gpu.spark.blob_keeper import ANSWERS
    from cer_gpu.spark.bucket_keeper import BucketKeeper

    if not streaming_df.isStreaming:
        raise DataError(
            "stream() takes a streaming DataFrame, from spark.readStream; for one that is there as a whole, "
            "use run(), hits() or counts()"
        )
    if isinstance(query, str) and is_statement(query):
        return _live_statement(streaming_df, query, keywords)
    initial, after = keywords.pop("initial", None), keywords.pop("after", None)
    late, live = live_task(query, arrow_schema(streaming_df.schema), keywords)
    task = live.task
    _set_store(streaming_df)
    states, begin = _first_states(streaming_df, live, initial, after)
    rows = _with_buckets(streaming_df, live, late, begin)
    groups = in_tasks(rows, BucketFiller(), PACKED_SCHEMA).groupBy(BUCKET)
    found = groups.transformWithState(
        BucketKeeper(pickle.dumps(live)),
        ANSWERS,
        "Append",
        "EventTime",
        initialState=states.groupBy(BUCKET),
    )
    answers = in_tasks(observed(found), BlobReader(task.result), task.result)
    return with_numbers(answers, task.product)


def _live_statement(frame: DataFrame, sql: str, keywords: Mapping[str, Any]) -> DataFrame:
    """The rows of a SELECT with MATCH_RECOGNIZE; keywords as for `stream`."""
    from cer_gpu.spark.row_pattern_streams import live_rows

    taken = _checked({"late": "0 s", "on_late": "drop", "what": "run", "buckets": None}, keywords)
    if taken["what"] != "run":
        raise ValueError(f"what={brief(taken['what'])}: a stream of MATCH_RECOGNIZE gives rows, what='run'")
    buckets = _buckets(taken["buckets"], True)
    _set_store(frame)
    given = {name: value for name, value in keywords.items() if value is not None}
    return live_rows(frame, sql, given, buckets, _milliseconds(taken["late"], pa.timestamp("us"), None))


def _checked(given: Mapping[str, Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The values of some keywords, with those that are not given."""
    taken = {name: keywords.get(name, default) for name, default in given.items()}
    if taken["what"] not in PRODUCTS:
        raise ValueError(f"what must be one of {', '.join(PRODUCTS)}, not {brief(taken['what'])}")
    if taken["on_late"] not in ON_LATE:
        raise ValueError(f"on_late must be one of {', '.join(ON_LATE)}, not {brief(taken['on_late'])}")
    return taken


def live_task(query: Query | str, schema: pa.Schema, keywords: Mapping[str, Any]) -> tuple[int, StreamTask]:
    """By how many milliseconds rows may be late, and what workers have to know; keywords as for `stream`."""
    given = {"late": "0 s", "on_late": "drop", "what": "run", "buckets": None}
    taken = _checked(given, keywords)
    others = {name: value for name, value in keywords.items() if name not in given}
    for name in ("limit", "until", "ties", "rows", "sort", "ordered"):
        if name in others:
            raise TypeError(f"there is no keyword {brief(name)} for a stream, which has no end: leave it out")
    whole = compiled(query)
    order = others.get("order_by")
    time = order if isinstance(order, str) or not order else order[0]
    event_id = others.pop("event_id", None) or time
    task = task_of(whole, schema, taken["what"], gpu="off", event_id=event_id, live=True, **others)
    if task.query.result.folding is not None:
        raise DataError(
            "a rule with aggregates cannot be a stream: its groups change with later events, and a row that "
            "was written stays; list the matches without them, or keep the groups with maintain()"
        )
    options, columns = task.query.options, task.query.schema
    kind = columns.field(options.order_by[0]).type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if not (pa.types.is_timestamp(kind) or pa.types.is_date(kind) or (is_number and options.order_unit)):
        raise DataError(
            f"`{options.order_by[0]}` is {kind}: a stream needs a column of time, a timestamp, a date, or "
            "numbers with order_unit"
        )
    buckets = _buckets(taken["buckets"], task.keyed)
    what = about(whole.text, options) | {"product": task.product, "buckets": buckets}
    what["stream_column"] = others.get("stream_column")  # also where the query does not read it
    what["columns"] = [f"{name} {columns.field(name).type}" for name in task.query.columns]
    live = StreamTask(task, what, uuid4().hex, taken["on_late"], buckets)
    return _milliseconds(taken["late"], kind, options.order_unit), live


def _buckets(asked: Any, keyed: bool) -> int:
    if asked is None:
        return BUCKETS if keyed else 1
    if isinstance(asked, bool) or not isinstance(asked, int) or asked < 1:
        raise ValueError(f"buckets must be a whole number, 1 or more, not {brief(asked)}")
    if asked > 1 and not keyed:
        raise ValueError(f"buckets={asked}: the query has no key by which events can be divided")
    return asked


def _milliseconds(late: Any, kind: pa.DataType, unit: str | None) -> int:
    """How late rows may be, rounded up to what watermarks are counted in."""
    amount = span_of("late", late)
    own = amount.unit or (None if pa.types.is_temporal(kind) else unit)
    if own is None:
        raise ArgumentError(f"late={brief(late)}: write the span with a unit, such as '30 s'")
    return int(-(-exact(amount.value) * NANOSECONDS[own] // NANOSECONDS["ms"]))


def _set_store(frame: DataFrame) -> None:
    """Set the state store that `transformWithState` needs, where the session has not chosen it.

    What a micro-batch changes is then written as a log: a snapshot of the store each time takes 1.0 s instead
    of 0.3 s of a micro-batch.
    """
    conf = frame.sparkSession.conf
    if "RocksDB" not in (conf.get(STORE, "") or ""):
        conf.set(STORE, ROCKS_DB)
    if not conf.get(CHANGELOG, ""):
        conf.set(CHANGELOG, "true")


def _with_buckets(
    frame: DataFrame, live: StreamTask, late: int | None = None, begin: int | None = None
) -> DataFrame:
    """The rows that the query uses, with the bucket of each.

    `late` milliseconds behind the latest time of all rows is the watermark, but never before the microsecond
    `begin` at which the stream continues: another one that continues after this one begins there or later.
    """
    import pyspark.sql.functions as sf

    task = live.task
    timed = selected(frame, task.columns).withColumn(MOMENT, _moment(live))
    if begin is not None and late is not None:
        least, moment = sf.timestamp_micros(sf.lit(begin + 1000 * late)), column(MOMENT)
        timed = timed.withColumn(MOMENT, sf.when(moment.isNotNull(), sf.greatest(moment, least)))
    timed = timed if late is None else timed.withWatermark(MOMENT, f"{late} milliseconds")
    used = sf.lit(True)
    types = None if task.counts_all else task.types
    type_column = task.query.options.type_column
    if types is not None and type_column is not None:
        used = column(type_column).isin(*types)
    bucket: Column = sf.lit(0)
    if task.keyed:
        keys = key_expressions(task.query)
        for key in keys:
            used = used & key.isNotNull()  # an event without a whole key is of no partition
        bucket = sf.pmod(sf.xxhash64(*keys), sf.lit(live.buckets))
    # A condition on the watermark's column is not moved before it. A row without a time stays: an error.
    kept = timed.where(sf.coalesce(used, sf.lit(False)) | column(MOMENT).isNull())
    return kept.drop(MOMENT).withColumn(BUCKET, bucket.cast("int"))


def _first_states(
    frame: DataFrame, live: StreamTask, initial: Any, after: str | None
) -> tuple[DataFrame, int | None]:
    """The state in which each bucket begins, and the microsecond at which the stream continues."""
    import pyspark.sql.functions as sf
    from cer_gpu.spark.first_states import STATES, HistoryKeeper, empty_states, handed_state, reach

    spark, schema = frame.sparkSession, spark_schema(STATES)
    if after is not None and (initial is None or isinstance(initial, bytes)):
        raise DataError(
            f"after={brief(after)} needs the events that the earlier stream has read: pass them as a "
            "DataFrame, initial=spark.read..."
        )
    if initial is None:
        return spark.createDataFrame(empty_states(live), schema), None
    if isinstance(initial, bytes):
        states, begin = handed_state(live, initial)
        return spark.createDataFrame(states, schema), begin
    there, own = arrow_schema(initial.schema), arrow_schema(frame.schema)
    for name in (one for one in live.task.query.columns if one in own.names):
        found = there.field(name).type if name in there.names else "missing"
        if found != own.field(name).type:
            raise DataError(
                f"`{name}` is {found} in the history and {own.field(name).type} in the stream: cast or add it"
            )
    initial, end = _before(initial, live, after)
    if end is None:
        return spark.createDataFrame(empty_states(live), schema), None
    far = reach(live)
    kept = initial if far is None else initial.where(sf.unix_micros(_moment(live)) >= end - far)
    rows = in_tasks(_with_buckets(kept, live), BucketFiller(), PACKED_SCHEMA)
    every = spark.createDataFrame([(bucket, b"") for bucket in range(live.buckets)], rows.schema)
    keeper = HistoryKeeper(pickle.dumps(live), end)

    def keep(packed: pa.Table) -> pa.Table:  # of an object Spark does not find out how it is called
        return keeper(packed)

    return rows.union(every).groupBy(BUCKET).applyInArrow(keep, schema), end


def _moment(live: StreamTask) -> Column:
    """The time of a row as a timestamp, not after it."""
    query = live.task.query
    time = query.options.order_by[0]
    return event_time(column(time), query.schema.field(time).type, query.options.order_unit)


def _before(initial: DataFrame, live: StreamTask, after: str | None) -> tuple[DataFrame, int | None]:
    """The rows of a history, and the microsecond at which the stream continues; None: at its first row."""
    import pyspark.sql.functions as sf
    from cer_gpu.spark.first_states import spare

    name, unit = live.task.query.options.order_by[0], live.task.query.options.order_unit
    kind = live.task.query.schema.field(name).type
    micros = sf.unix_micros(_moment(live))
    if after is None:
        last = initial.agg(sf.max(micros)).collect()[0][0]
        return initial, None if last is None else last + spare(kind)
    end = 1000 * decided_until(initial.sparkSession, after)
    if pa.types.is_floating(kind):  # microseconds are rounded, and the earlier stream has compared numbers
        return initial.where(column(name) < sf.lit(moment_of(end, kind, unit))), end
    return initial.where(micros < end), end


def decided_until(spark: SparkSession, folder: str) -> int:
    """The watermark of the last micro-batch that is committed: all matches known by then are written.

    Parameters
    ----------
    spark : SparkSession
        It reads the checkpoint, wherever that is.
    folder : str
        The `checkpointLocation` of a stream.

    Returns
    -------
    int
        In milliseconds since 1970.

    Raises
    ------
    DataError
        When the folder is no checkpoint, its last micro-batch was interrupted, which may have written its
        matches all the same, or no watermark has passed an event.
    """
    from pyspark.errors import PySparkException

    folder = str(folder).rstrip("/")
    try:
        begun = _entries(spark, f"{folder}/offsets")
        last = max(begun)
        watermark = int(json.loads(begun[last].split("\n")[1])["batchWatermarkMs"])
    except (PySparkException, ValueError, LookupError) as error:
        raise DataError(
            f"after={folder}: this is not the checkpointLocation of a stream that has run ({error}): name "
            "its folder, which has the folders commits and offsets"
        ) from None
    try:
        committed = last in _entries(spark, f"{folder}/commits")
    except PySparkException:  # the folder comes with the first one that ends
        committed = False
    if not committed:
        raise DataError(
            f"after={folder}: its micro-batch {last} was interrupted: start the earlier stream once more, "
            "with trigger(availableNow=True), and wait until it ends"
        )
    if watermark <= 0:
        raise DataError(
            f"after={folder}: no watermark has passed an event there, so no match is written: pass the "
            "initial= and after= that this stream was started with, or neither"
        )
    return watermark


def _entries(spark: SparkSession, folder: str) -> dict[int, str]:
    """The texts of a log of Spark by the numbers of the micro-batches."""
    import pyspark.sql.functions as sf

    rows = spark.read.text(folder, wholetext=True).select(sf.input_file_name(), "value").collect()
    return {int(path.rpartition("/")[2]): text for path, text in rows}
