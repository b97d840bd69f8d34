"""`until` on Spark, for queries with a key, with a window of time, and with neither."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import spark_sessions
from spark_tasks import ROW, shuffled

import cer_gpu as cer
from cer_gpu import spark as cer_spark

pytestmark = spark_sessions.GROUP

QUERIES = (
    "SELECT NONE WHERE A NOT FOLLOWED BY [<= 10 s] B PARTITION BY k",
    "SELECT NONE WHERE A FOLLOWED BY [<= 10 s] B PARTITION BY k",
    "SELECT NONE WHERE (A ; C NOT FOLLOWED BY [<= 5 s] B) OR A WITHIN 4 SECONDS",
    "SELECT NONE WHERE A NOT FOLLOWED BY B PARTITION BY k",
    "SELECT NONE WHERE A NOT FOLLOWED BY [<= 3 EVENTS] B",
)

OPTIONS: dict[str, Any] = {"order_by": ("ts", ROW)}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng, n = np.random.default_rng(5), 400
    return pa.table(
        {
            "type": pa.array(rng.choice(list("ABC"), n)),
            "ts": pa.array(np.sort(rng.integers(0, 60_000_000, n)), pa.timestamp("us", "UTC")),
            "k": rng.integers(0, 20, n),
            ROW: np.arange(n),
        }
    )


@pytest.mark.parametrize("text", QUERIES)
@pytest.mark.parametrize("second", [0, 5, 30])
def test_what_is_known_until_then(spark: Any, table: pa.Table, text: str, second: int) -> None:
    query = cer.compile(text)
    until = datetime(1970, 1, 1, 0, 1, second, tzinfo=UTC)
    frame = spark.createDataFrame(shuffled(table, Random(1))).repartition(3)
    counted = cer_spark.count(frame, query, until=until, **OPTIONS).collect()[0]["count"]
    assert counted == query.count(table, until=until, **OPTIONS) <= query.count(table, **OPTIONS) + 400
    rows = cer_spark.run(frame, query, event_id=ROW, until=until.isoformat(), **OPTIONS).collect()
    wanted = query.run(table, event_id=ROW, until=until, **OPTIONS)
    assert sorted((row["start"], row["end"]) for row in rows) == sorted((ce.start, ce.end) for ce in wanted)


def test_backtests_and_files_take_it(spark: Any, table: pa.Table, tmp_path: Path) -> None:
    until, asked = datetime(1970, 1, 1, 0, 1, 5, tzinfo=UTC), {"one": QUERIES[0], "two": QUERIES[2]}
    wanted = cer.backtest(asked, table, until=until, **OPTIONS).to_arrow()["hits"].to_pylist()
    frame = spark.createDataFrame(shuffled(table, Random(1)))
    found = cer_spark.backtest(frame, asked, until=until, **OPTIONS).to_arrow()
    assert found["hits"].to_pylist() == wanted
    assert wanted != cer.backtest(asked, table, **OPTIONS).to_arrow()["hits"].to_pylist()
    pq.write_table(table, tmp_path / "events.parquet", row_group_size=50)
    counted = cer_spark.count_files(str(tmp_path), QUERIES[0], until=until, order_by="ts").collect()
    assert counted[0]["count"] == cer.compile(QUERIES[0]).count(table, order_by="ts", until=until)


def test_rows_of_a_frame_are_never_late(spark: Any, table: pa.Table) -> None:
    frame = spark.createDataFrame(shuffled(table, Random(1)))
    with pytest.raises(TypeError, match="there is no keyword 'late' on Spark: leave it out"):
        cer_spark.count(frame, QUERIES[0], late="5 s", **OPTIONS)
