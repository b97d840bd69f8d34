"""On the driver: chooses how the events of a DataFrame get to the tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from cer_gpu.spark import cuts
from cer_gpu.spark.binding import arrow_schema
from cer_gpu.spark.expressions import (
    column,
    in_tasks,
    key_expressions,
    literal,
    number_of_segment,
    rank,
    selected,
)
from cer_gpu.spark.segments import SEGMENT, Segment, numbers_apart
from cer_gpu.spark.task import Task

from cer_gpu.caller_warnings import warn
from cer_gpu.frozen_dataclass import dataclass

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SAMPLED = 200_000
"""Rows whose keys are looked at to find keys with too many events for one task."""

HOT_KEYS = 32
"""Keys that are cut at most."""

SMALL = 1 << 19
"""Events that a task can have on top of its start without anybody noticing: fewer are not worth a second."""


@dataclass(frozen=True, slots=True)
class FrameRoute:
    """How the events of a DataFrame get to the tasks.

    Attributes
    ----------
    frame : DataFrame
        The DataFrame with the rows of each task in its partition.
    segments : dict of int to Segment
        As for `Worker`.
    streamed : bool
        As for `Worker`.
    reason : str
        The choice and its reason: a line for `explain`.
    """

    frame: DataFrame
    segments: dict[int, Segment]
    streamed: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the data and of the cluster.

    Attributes
    ----------
    rows : int
    rows_per_task : int
    parallel : int
        How many tasks, or GPUs, there are at once.
    """

    rows: int
    rows_per_task: int
    parallel: int

    @property
    def partitions(self) -> int:
        """The number of partitions for these rows; if it is large, a multiple of `parallel`."""
        wanted = max(-(-self.rows // self.rows_per_task), min(self.parallel, -(-self.rows // SMALL)), 1)
        return wanted if wanted < self.parallel else -(-wanted // self.parallel) * self.parallel


def route_of(frame: DataFrame, task: Task, size: Size) -> FrameRoute:
    """Choose a route.

    Keyed queries are shuffled by key; a key with too many events for a task is cut by time, if the query has
    a window, or else streamed. Queries without keys are cut by time, if they have a window, or else run in
    one task. If a stream is cut, one job measures the distribution of its times, and another one counts
    events if the window is in EVENTS.

    Parameters
    ----------
    frame : DataFrame
    task : Task
    size : Size
    """
    frame = _useful(selected(frame, task.columns), task)
    if task.keyed:
        return _keyed(frame, task, size)
    if task.cuttable and size.partitions > 1:
        found = _cut(frame, task, size, [None])
        if found is not None:
            return found
    return _whole(frame, task, size)


def _useful(frame: DataFrame, task: Task) -> DataFrame:
    """The rows without those of types that the query has no use for, where these do not count for anything.

    A row without a time stays, since it is an error whatever its type.
    """
    types = None if task.counts_all else task.types
    options = task.query.options
    if types is None or options.type_column is None:
        return frame
    asked = column(options.type_column).isin(*types)
    return frame.where(asked | column(options.order_by[0]).isNull())


# ------------------------------------------------------------------------------------------- without cuts


def _keyed(frame: DataFrame, task: Task, size: Size) -> FrameRoute:
    keys = key_expressions(task.query)
    for key in keys:
        frame = frame.where(key.isNotNull())  # an event without a whole key is of no partition
    count = size.partitions
    hot = _hot_keys(frame, keys, size) if size.rows > size.rows_per_task else []
    if hot and task.cuttable:
        found = _cut(frame, task, size, hot)
        if found is not None:
            return found
    shuffled = frame.repartition(count, *keys)
    if hot:
        reason = (
            f"keyed: {_tasks(count)} by key, sorted by Spark and streamed, since {_keys(hot)} has more "
            "events than a task should get, and the query cannot be divided by time"
        )
        order = [*keys, *_sort_columns(task)]
        return FrameRoute(shuffled.sortWithinPartitions(*order), {}, True, reason)
    return FrameRoute(shuffled, {}, False, f"keyed: {_tasks(count)} by key, sorted in the worker")


def _whole(frame: DataFrame, task: Task, size: Size) -> FrameRoute:
    why = task.uncut
    if task.cuttable:
        why = f"{size.rows:,} events are too few for several tasks"
    else:
        warn(f"one task runs the whole stream, since {why}")
    single = frame.repartition(1)
    if size.rows <= size.rows_per_task:
        return FrameRoute(single, {}, False, f"one task, since {why}; sorted in the worker")
    ordered = single.sortWithinPartitions(*_sort_columns(task))
    return FrameRoute(ordered, {}, True, f"one task, since {why}; sorted by Spark and streamed")


def _sort_columns(task: Task) -> list[Column]:
    """The order of a stream, as Spark sorts by it."""
    order = list(task.query.options.order_by)
    order += [name for name in task.ties if not pa.types.is_nested(task.query.schema.field(name).type)]
    return [column(name).asc_nulls_last() for name in order]


def _hot_keys(frame: DataFrame, keys: Sequence[Column], size: Size) -> list[tuple[Any, ...]]:
    """The keys that alone have more events than a task is meant to get, by a sample."""
    import pyspark.sql.functions as sf

    share = min(1.0, SAMPLED / size.rows)
    names = [f"k{number}" for number in range(len(keys))]
    sample = frame.select(*(key.alias(name) for key, name in zip(keys, names)))
    if share < 1:
        sample = sample.sample(share, seed=7)
    counted = sample.groupBy(*names).agg(sf.count(sf.lit(1)).alias("n"))
    found = (
        counted.where(sf.col("n") > size.rows_per_task * share).orderBy(sf.col("n").desc()).limit(HOT_KEYS)
    )
    return [tuple(row)[:-1] for row in found.collect()]


def _tasks(count: int) -> str:
    return "1 task" if count == 1 else f"{count} tasks"


def _keys(hot: Sequence[tuple[Any, ...]]) -> str:
    shown = ", ".join(map(repr, hot[0]))
    return f"the key ({shown})" + (f" and {len(hot) - 1} more" if len(hot) > 1 else "")


# ---------------------------------------------------------------------------------------------- with cuts


def _cut(
    frame: DataFrame, task: Task, size: Size, hot: Sequence[tuple[Any, ...] | None]
) -> FrameRoute | None:
    """Cut streams by time: the events of some keys, or `[None]`, all events. None: it is not worth it."""
    import pyspark.sql.functions as sf

    query = task.query
    time, window = query.options.order_by[0], query.query.window
    reached = query.query.reached
    assert window is not None
    assert reached is not None
    keys = key_expressions(query)
    stream = sf.lit(0).cast("int")
    if hot != [None]:
        stream = sf.lit(-1).cast("int")
        for number, values in enumerate(hot):
            same = sf.lit(True)
            for key, one in zip(keys, values or ()):
                same = same & key.eqNullSafe(sf.lit(one))
            stream = sf.when(same, sf.lit(number)).otherwise(stream)
    marked = frame.withColumn(cuts.STREAM, stream)
    only = marked.where(column(cuts.STREAM) >= 0).select(cuts.STREAM, column(time))
    sketched = measured(only, cuts.TimeSketch(time))
    found = {stream: cuts.distribution(parts) for stream, parts in sketched.items()}
    bounds: dict[int, np.ndarray] = {}
    halos: dict[int, np.ndarray] = {}
    for number, spread in found.items():
        wanted = max(-(-spread.rows // size.rows_per_task), size.parallel if hot == [None] else 2)
        edges = spread.bounds(wanted)
        if window.kind == "time":
            edges = cuts.worth_cutting(edges, cuts.earlier(edges, reached), spread)
            halos[number] = cuts.earlier(edges, reached)
        else:
            most = max(1, spread.rows // (2 * int(window.size) + 1))
            edges = spread.bounds(min(wanted, most))
        bounds[number] = edges
    if not any(len(edges) for edges in bounds.values()):
        return None
    offsets: dict[int, np.ndarray] = {
        number: np.zeros(len(edges), np.int64) for number, edges in bounds.items()
    }
    placed = task.event_id is None and task.product != "count"
    if placed or window.kind == "events":
        cells = {number: _cells(found[number], edges, halos.get(number)) for number, edges in bounds.items()}
        counted = measured(only, cuts.Histogram(time, cells))
        for number, parts in counted.items():
            counts = np.sum([values for _, values in parts], axis=0)
            if window.kind == "events":
                halos[number] = cuts.by_count(cells[number], counts, bounds[number], int(window.size))
            before = np.concatenate([[0], np.cumsum(counts)[:-1]])
            at = np.searchsorted(cells[number], halos[number])
            offsets[number] = np.where(np.isin(halos[number], cells[number]), before[at + 1], 0)
    return _cut_up(marked, task, size, bounds, halos, offsets, hot)


def _cells(spread: cuts.Distribution, bounds: np.ndarray, halos: np.ndarray | None) -> np.ndarray:
    if halos is not None:
        return np.union1d(bounds, halos)
    return np.union1d(bounds, spread.bounds(cuts.FINE * (len(bounds) + 1)))


def measured(frame: DataFrame, function: Any) -> dict[int, list[tuple[int, np.ndarray]]]:
    """What tasks measure of each stream: a job."""
    rows = in_tasks(frame, function, cuts.MEASURED).collect()
    found: dict[int, list[tuple[int, np.ndarray]]] = {}
    for stream, whole, count, integers, floats in rows:
        values = np.array(integers, np.int64) if whole else np.array(floats, np.float64)
        if count:
            found.setdefault(stream, []).append((count, values))
    return found


def _cut_up(
    marked: DataFrame,
    task: Task,
    size: Size,
    bounds: dict[int, np.ndarray],
    halos: dict[int, np.ndarray],
    offsets: dict[int, np.ndarray],
    hot: Sequence[tuple[Any, ...] | None],
) -> FrameRoute:
    """The frame with each row once for each segment that needs it."""
    import pyspark.sql.functions as sf

    time = task.query.options.order_by[0]
    kind = arrow_schema(marked.schema).field(time).type
    total = sum(len(edges) + 1 for edges in bounds.values())
    whole = hot == [None]
    count = total if whole else max(size.partitions, total)
    numbers = iter(numbers_apart(total, count))
    segments: dict[int, Segment] = {}
    which = sf.array(sf.lit(0))
    for stream, edges in bounds.items():
        own = [next(numbers) for _ in range(len(edges) + 1)]
        starts = [None, *(edge.item() for edge in edges)]
        befores = [0, *offsets[stream].tolist()]
        ends, lasting = [None] * len(own), edges
        if task.query.query.looks_ahead:
            # Where the next segment has begun, it is still looked for what follows the events of this one.
            ends, lasting = [*starts[1:], None], cuts.later(edges, task.query.query.sight or 0)
        segments |= {number: Segment(*one) for number, *one in zip(own, starts, befores, ends)}
        first = rank(column(time), [literal(edge.item(), kind) for edge in lasting])
        last = rank(column(time), [literal(edge.item(), kind) for edge in halos[stream]])
        which = sf.when(column(cuts.STREAM) == stream, number_of_segment(own, first, last)).otherwise(which)
    spread = marked.withColumn(SEGMENT, sf.explode(which)).drop(cuts.STREAM)
    if whole:
        reason = f"cut by time: {_tasks(total)}, each also reads one window before it"
        return FrameRoute(spread.repartition(count, column(SEGMENT)), segments, False, reason)
    keys = key_expressions(task.query)
    named = _keys([key for key in hot if key is not None])
    reason = (
        f"keyed: {_tasks(count)} by key; {named} cut by time into {total} segments, and each also reads one "
        "window before it"
    )
    return FrameRoute(spread.repartition(count, *keys, column(SEGMENT)), segments, False, reason)
