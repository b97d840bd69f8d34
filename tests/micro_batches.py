"""Structured Streaming without Spark: micro-batches, watermarks, state that is committed, and kills.

Rows pass through the functions that workers run. What stands for Spark's state store forgets what a
micro-batch did that was killed, and the micro-batch is run again, in the same process or in another one.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import floor
from random import Random
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from cer_gpu.spark import blob_keeper
from cer_gpu.spark.bucket_keeper import BucketKeeper
from cer_gpu.spark.first_states import HistoryKeeper, empty_states, handed_state, reach
from cer_gpu.spark.stream_task import BUCKET, PACKED_SCHEMA, PER_SECOND, BlobReader, BucketFiller
from cer_gpu.spark.streams import live_task

END = 4_102_444_800_000
"""The watermark of the last micro-batch: the year 2100."""


class KilledError(Exception):
    """The worker is gone."""


class Timer:
    """The times of a micro-batch."""

    def __init__(self, watermark: int) -> None:
        self._watermark = watermark

    def getCurrentWatermarkInMs(self) -> int:  # noqa: N802
        return self._watermark


class Store:
    """The state of all buckets: what `StatefulProcessorHandle` gives for the bucket that is at work."""

    def __init__(self) -> None:
        self.values: dict[tuple[int, str], tuple[Any, ...]] = {}
        self.maps: dict[tuple[int, str], Mapping[tuple[int], Any]] = {}
        self.timers: dict[int, set[int]] = {}
        self.bucket = 0

    def copied(self) -> Store:
        other = Store()
        other.values, other.maps = dict(self.values), dict(self.maps)
        other.timers = {bucket: set(timers) for bucket, timers in self.timers.items()}
        return other

    def getValueState(self, name: str, schema: str) -> Value:  # noqa: N802
        return Value(self, name)

    def getMapState(self, name: str, key: str, value: str) -> Mapped:  # noqa: N802
        return Mapped(self, name)

    def registerTimer(self, moment: int) -> None:  # noqa: N802
        self.timers.setdefault(self.bucket, set()).add(moment)


class Value:
    """One value of the bucket that is at work."""

    def __init__(self, store: Store, name: str) -> None:
        self._store, self._name = store, name

    def exists(self) -> bool:
        return (self._store.bucket, self._name) in self._store.values

    def get(self) -> Any:
        return self._store.values.get((self._store.bucket, self._name))

    def update(self, value: tuple[Any, ...]) -> None:
        self._store.values[self._store.bucket, self._name] = value


class Mapped:
    """A map of the bucket that is at work."""

    def __init__(self, store: Store, name: str) -> None:
        self._store, self._name = store, name

    def containsKey(self, key: tuple[int]) -> bool:  # noqa: N802
        return key in self._there()

    def getValue(self, key: tuple[int]) -> Any:  # noqa: N802
        return self._there()[key]

    def updateValue(self, key: tuple[int], value: tuple[Any, ...]) -> None:  # noqa: N802
        self._put(self._there() | {key: value})

    def clear(self) -> None:
        self._put({})

    def _there(self) -> Mapping[tuple[int], Any]:
        return self._store.maps.get((self._store.bucket, self._name), {})

    def _put(self, values: Mapping[tuple[int], Any]) -> None:
        self._store.maps[self._store.bucket, self._name] = values


class MicroBatches:
    """A streaming query.

    Parameters
    ----------
    query : Query
    schema : pyarrow.Schema
    rng : Random or None
        Kills micro-batches; None: nothing is killed.
    initial : pyarrow.Table or bytes, optional
        As for `cer_gpu.spark.stream`.
    after : int, optional
        The watermark at which it continues, in milliseconds: what is behind its `after`.
    **keywords
        As for `cer_gpu.spark.stream`.
    """

    def __init__(
        self,
        query: Any,
        schema: pa.Schema,
        rng: Random | None,
        initial: pa.Table | bytes | None = None,
        after: int | None = None,
        **keywords: Any,
    ) -> None:
        self.query, self.keywords, self._rng = query, keywords, rng
        self.late, self.live = live_task(query, schema, keywords)
        self.watermark, self.latest = 0, -(1 << 62)
        self.answers: list[pa.RecordBatch] = []
        self.metrics: list[dict[str, int]] = []
        self.kills = 0
        self._processes: list[dict[Any, Any]] = [{}, {}, {}]
        self._store = Store()
        processor = self._keeper(self._store)
        for bucket, state in self._first_states(initial, after):
            self._store.bucket = bucket
            processor.handleInitialState((bucket,), {"state": state}, Timer(0))

    def _first_states(self, initial: pa.Table | bytes | None, after: int | None) -> list[tuple[int, bytes]]:
        if initial is None:
            return empty_states(self.live)
        if isinstance(initial, bytes):
            return handed_state(self.live, initial)[0]
        far = reach(self.live)
        if after is None:
            end = self._times(initial).max().item() + 1
        else:
            end = 1000 * after
            initial = initial.filter(pa.array(self._times(initial) < end))
        if far is not None:
            initial = initial.filter(pa.array(self._times(initial) >= end - far))
        packed = [*self._packed(initial), *self._blank()]
        keeper, states = HistoryKeeper(pickle.dumps(self.live), end), []
        for bucket in range(self.live.buckets):
            rows = pa.Table.from_batches(packed)
            found = keeper(rows.filter(pc.equal(rows.column(BUCKET), bucket))).to_pylist()
            states += [(row[BUCKET], row["state"]) for row in found]
        return states

    def _blank(self) -> list[pa.RecordBatch]:
        rows = [{BUCKET: bucket, "rows": b""} for bucket in range(self.live.buckets)]
        return [pa.RecordBatch.from_pylist(rows, PACKED_SCHEMA)]

    def _keeper(self, store: Store) -> BucketKeeper:
        processor = BucketKeeper(pickle.dumps(self.live))
        processor.init(store)
        return processor

    def restart(self, query: Any, schema: pa.Schema, **keywords: Any) -> None:
        """Continue the checkpoint with another program."""
        self.late, self.live = live_task(query, schema, keywords)

    def push(self, tables: Sequence[pa.Table]) -> None:
        """Run a micro-batch over the rows of several tasks, until it is not killed."""
        packed = [batch for table in tables if len(table) for batch in self._packed(table)]
        while not self._ran(packed, self.watermark):
            self.kills += 1
        self.latest = max([self.latest, *(self._latest(table) for table in tables if len(table))])
        self.watermark = max(self.watermark, self.latest - self.late)

    def idle(self, watermark: int | None = None) -> None:
        """Run a micro-batch without rows."""
        self.watermark = max(self.watermark, watermark or 0)
        while not self._ran([], self.watermark):
            self.kills += 1

    def _packed(self, table: pa.Table) -> list[pa.RecordBatch]:
        task = self.live.task
        types = None if task.counts_all else task.types
        used = np.ones(len(table), bool)
        if types is not None:
            used = np.isin(table.column("type").to_numpy(zero_copy_only=False), list(types))
        bucket = np.zeros(len(table), np.int32)
        if task.keyed:
            keys = [_key(row, task.query.query.reading.partition) for row in table.to_pylist()]
            used &= np.array([None not in key for key in keys], bool)
            bucket[:] = [crc32(repr(key).encode()) % self.live.buckets for key in keys]
        rows = table.select(task.columns)
        rows = rows.append_column(BUCKET, pa.array(bucket)).filter(pa.array(used))
        return list(BucketFiller()(rows.to_batches(max_chunksize=3)))

    def _latest(self, table: pa.Table) -> int:
        """The latest time of some rows in milliseconds: what Spark makes watermarks of."""
        return int(self._times(table).max()) // 1000

    def _times(self, table: pa.Table) -> np.ndarray:
        """The times of rows in microseconds, rounded down."""
        options = self.live.task.query.options
        times = table.column(options.order_by[0])
        if pa.types.is_temporal(times.type):
            times = times.cast(pa.timestamp("ns"), safe=False).cast(pa.int64())
        per_second = PER_SECOND[options.order_unit or "ns"]
        return np.array([floor(Fraction(time) * 1_000_000 / per_second) for time in times.to_pylist()])

    def _ran(self, packed: Sequence[pa.RecordBatch], watermark: int) -> bool:
        """Whether a micro-batch came to its end; only then what it did counts."""
        store, rng = self._store.copied(), self._rng
        groups: dict[int, list[dict[str, Any]]] = {}
        given = [row for batch in packed for row in batch.to_pylist()]
        if rng is not None:
            rng.shuffle(given)
        for row in given:
            groups.setdefault(row[BUCKET], []).append(row)
        found = []
        if rng is not None:  # whichever worker process Spark gives the buckets to
            blob_keeper._kept = rng.choice(self._processes)
        try:
            for row in self._steps(store, groups, Timer(watermark)):
                if rng is not None and rng.random() < 0.2:
                    raise KilledError
                found.append(row.asDict())
        except KilledError:
            if rng is not None and rng.random() < 0.5:
                blob_keeper._kept.clear()  # the process is gone, too
            return False
        self._store = store
        blobs = pa.array([row["answers"] for row in found], pa.binary())
        unpacker = BlobReader(self.live.task.result)
        self.answers += list(unpacker([pa.RecordBatch.from_arrays([blobs], ["answers"])]))
        names = [name for name in found[0] if name != "answers"] if found else []
        self.metrics.append({name: sum(row[name] for row in found) for name in names})
        return True

    def _steps(self, store: Store, groups: Mapping[int, Any], timer: Timer) -> Iterator[Any]:
        processor = self._keeper(store)
        for bucket, rows in groups.items():
            store.bucket = bucket
            yield from processor.handleInputRows((bucket,), iter(rows), timer)
        watermark = timer.getCurrentWatermarkInMs()
        for bucket in list(store.timers):
            for moment in sorted(store.timers[bucket]):
                if moment <= watermark:
                    store.bucket = bucket
                    yield from processor.handleExpiredTimer((bucket,), timer, None)
                    store.timers[bucket].discard(moment)

    def table(self) -> pa.Table:
        """All answers."""
        return pa.Table.from_batches(self.answers, self.live.task.result)


def _key(row: Mapping[str, Any], partition: Sequence[Sequence[str]]) -> tuple[Any, ...]:
    found = []
    for part in partition:
        there = [row[name] for name in part if row[name] is not None and row[name] == row[name]]
        found.append(there[0] if there else None)
    return tuple(found)
