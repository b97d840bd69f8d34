"""MATCH_RECOGNIZE on a stream of Spark, in one process: killed and repeated, it gives the rows of one run."""

from __future__ import annotations

import pickle
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.spark import blob_keeper
from cer_gpu.spark.row_pattern_keeper import LiveRowPattern, RowPatternKeeper
from cer_gpu.spark.row_pattern_worker import RowPatternTask
from cer_gpu.spark.stream_task import from_blob, to_blob
from micro_batches import END, Store, Timer
from random_row_patterns import SCHEMA, random_rows
from test_row_pattern_stream import ORDER, by_partition, live_clause

from cer_gpu.engine.rows.answers import RowPatternAnswer
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import DataError, LimitError, QueryError

LATE = 2000
"""Milliseconds by which rows may be late."""


class LiveRows:
    """The state of a statement, and the rows that it has given; micro-batches may come twice."""

    def __init__(self, live: LiveRowPattern, rng: Random) -> None:
        self._dumped, self._rng = pickle.dumps(live), rng
        self._store = Store()
        self._processes: list[dict[Any, Any]] = [{}, {}]
        self.rows: list[dict[str, Any]] = []
        self.bytes: list[int] = []

    def push(self, tables: list[pa.Table], watermark: int) -> None:
        """Run a micro-batch, until it is not killed."""
        while self._rng.random() < 0.2:
            self._ran(tables, watermark)
            self._rng.shuffle(tables)
        store, found = self._ran(tables, watermark)
        self._store = store
        self.bytes.append(found[0]["bytes"] if found else 0)
        for row in found:
            self.rows += from_blob(row["answers"]).to_pylist() if row["answers"] else []

    def _ran(self, tables: list[pa.Table], watermark: int) -> tuple[Store, list[dict[str, Any]]]:
        """The state after a micro-batch, and what it gives: nothing counts before it has ended."""
        store, timer = self._store.copied(), Timer(watermark)
        blob_keeper._kept = self._rng.choice(self._processes)
        keeper = RowPatternKeeper(self._dumped)
        keeper.init(store)
        if tables:
            packed = [{"rows": to_blob(table)} for table in tables]
            answers = keeper.handleInputRows((0,), iter(packed), timer)
        elif any(moment <= watermark for moment in store.timers.get(0, ())):
            answers = keeper.handleExpiredTimer((0,), timer, None)
        else:
            answers = iter(())
        return store, [row.asDict() for row in answers]


def live_of(clause: Any, on_late: str = "drop") -> tuple[LiveRowPattern, RowPatternAnswer, pa.Schema]:
    """What workers know of a clause."""
    answer = RowPatternAnswer(clause, SCHEMA, "")
    read = pa.schema([SCHEMA.field(name) for name in answer.columns])
    order = tuple(key.column for key in ORDER)
    task = RowPatternTask(answer, read, tuple(clause.partition_by), order)
    return LiveRowPattern(clause, task, answer.schema, "about", f"{id(clause)}", on_late), answer, read


@pytest.mark.draws("seed", 300)
def test_micro_batches_that_are_killed_give_what_one_run_gives(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(f"live row patterns {seed}")
    monkeypatch.setattr(blob_keeper, "LEAST", rng.choice([0, 6000, 1 << 16]))
    monkeypatch.setattr(blob_keeper, "_kept", {})
    table = pa.Table.from_pylist(random_rows(rng, 40), SCHEMA)
    clause = live_clause(rng)
    try:
        live, answer, read = live_of(clause)
        rows = table.select(read.names)
        whole = pa.Table.from_batches(answer.over(answer.ordered(rows), Workers()), answer.schema)
    except (DataError, LimitError, QueryError):
        return
    made = LiveRows(live, rng)
    times = np.asarray(table["t"].combine_chunks().view(pa.int64())) // 1000
    order = np.array(sorted(range(len(table)), key=lambda row: times[row] + rng.randrange(LATE)), np.int64)
    watermark = at = 0
    while at < len(order):
        part = order[at : at + rng.randrange(1, 9)]
        at += len(part)
        cut = rng.randrange(len(part) + 1)
        made.push([rows.take(pa.array(one)) for one in (part[:cut], part[cut:]) if len(one)], watermark)
        watermark = max(watermark, int(times[part].max()) - LATE)
        if rng.random() < 0.3:
            made.push([], watermark)
    made.push([], END)
    assert by_partition(made.rows, clause) == by_partition(whole.to_pylist(), clause)


def test_late_rows_are_counted_or_an_error() -> None:
    clause, rng = live_clause(Random(1)), Random(7)
    rows = pa.Table.from_pylist(random_rows(Random(3), 20), SCHEMA)
    for on_late in ("drop", "error"):
        live, _, read = live_of(clause, on_late)
        made = LiveRows(live, rng)
        made.push([rows.select(read.names)], 0)
        if on_late == "drop":
            made.push([rows.select(read.names)], END)
        else:
            with pytest.raises(DataError, match=f"{len(rows)} rows are older than the watermark"):
                made.push([rows.select(read.names)], END)


def test_what_is_written_does_not_grow_with_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a hundred micro-batches whose rows all stay open, few write all rows."""
    live, _, read = live_of(live_clause(Random(1)))
    written: list[int] = []
    stored = RowPatternKeeper.stored
    monkeypatch.setattr(RowPatternKeeper, "stored", lambda *given: (written.append(1), stored(*given))[1])
    monkeypatch.setattr(blob_keeper, "LEAST", 0)
    rows = pa.Table.from_pylist(random_rows(Random(3), 20), SCHEMA).select(read.names)
    made = LiveRows(live, Random(1))
    for _ in range(100):
        made.push([rows], 0)
    assert 3 < len(written) < 40
    assert made.bytes[-1] > 20 * made.bytes[0]


def test_the_state_of_another_statement_is_refused() -> None:
    live, _, _ = live_of(live_clause(Random(1)))
    state = RowPatternKeeper(pickle.dumps(live))
    changed = RowPatternKeeper(pickle.dumps(replace(live, about="changed")))
    for keeper in (state, changed):
        keeper.init(Store())
    assert state.restored(state.first()).waiting == 0
    with pytest.raises(DataError, match="it is of another statement"):
        changed.restored(state.first())
