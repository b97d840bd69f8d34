"""The times in the tables of hits and counts are those of the data, however it is cut."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from cer_gpu import compile
from cer_gpu.engine.answers import stream_times
from cer_gpu.engine.run import chunks

TIMES = {
    "int64": pa.array(range(400)),
    "float32": pa.array([value / 3 for value in range(400)], pa.float32()),
    "timestamp": pa.array(
        [datetime(2020, 1, 1) + timedelta(hours=k) for k in range(400)], pa.timestamp("us")
    ),
    "date32": pa.array([date(2020, 1, 1) + timedelta(days=k // 3) for k in range(400)]),
    "duration": pa.array([timedelta(seconds=k) for k in range(400)], pa.duration("ms")),
}

QUERIES = [
    "SELECT * FROM S WHERE A ; B",
    "SELECT * FROM S WHERE A ; B WITHIN 7 EVENTS",
    "SELECT * FROM S WHERE A ; B WITHIN 3 [x]",
    "SELECT * FROM S WHERE A ; B PARTITION BY k WITHIN 9 EVENTS",
    "SELECT * FROM S WHERE A AS a ; B AS b FILTER a.k = b.k WITHIN 20 EVENTS",
    "SELECT * FROM S WHERE A FOLLOWED BY B WITHIN 20 EVENTS",
]


@pytest.mark.crossed
@pytest.mark.parametrize("kind", TIMES)
@pytest.mark.parametrize("text", QUERIES)
@pytest.mark.parametrize("chunk", [1, 5, 1 << 20])
@pytest.mark.parametrize("others", [0, 30])
def test_they_are_those_of_the_ends(
    kind: str, text: str, chunk: int, others: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of `others` events in a hundred more no query speaks: then batches keep only the times of the rest."""
    monkeypatch.setattr(chunks, "CHUNK", chunk)
    monkeypatch.setattr(chunks, "CARRIED", chunk)
    monkeypatch.setattr(stream_times, "SPARSE", 2)
    rng = Random(f"{kind} {text} {chunk}")
    types = rng.choices("ABT", [10, 10, others], k=400)
    data = pa.table(
        {
            "type": types,
            "k": rng.choices([1, 2, 3], k=400),
            "x": [rng.uniform(0, 10) for _ in range(400)],
            "t": TIMES[kind],
        }
    )
    parts, low = [], 0
    while low < 400:
        size = rng.choice([0, 1, 7, 60])
        parts.append(data.slice(low, size).combine_chunks())
        low += size
    for product in ("hits", "counts"):
        found = getattr(compile(text), product)(pa.concat_tables(parts), order_by="t")
        assert len(found) > 20
        assert found["time"].equals(data["t"].take(found["position"]))


def test_batches_whose_ends_have_been_reported_are_dropped() -> None:
    """Only the last batch can have events of a chunk to come."""
    kept = stream_times.StreamTimes("t", pa.int64())
    batches = pa.table({"t": range(60)}).to_batches(max_chunksize=20)
    everything = pa.array(range(20)).to_numpy()
    for number, batch in enumerate(batches):
        before = 20 * number
        kept.note(batch, [(everything + before, everything)], before)
        assert kept.at(everything[-3:] + before, before + 19).to_pylist() == [
            before + 17,
            before + 18,
            before + 19,
        ]
        assert len(kept._batches) <= 2


def test_batches_that_are_read_before_ends_are_looked_up_stay() -> None:
    """A chunk is run while the batches of the next one are read."""
    kept = stream_times.StreamTimes("t", pa.int64())
    rows = np.arange(20)
    for number, batch in enumerate(pa.table({"t": range(80)}).to_batches(max_chunksize=20)):
        kept.note(batch, [(rows + 20 * number, rows)], 20 * number)
    assert kept.at(np.array([3, 21]), 25).to_pylist() == [3, 21]
    assert kept.at(np.empty(0, np.int64), 39).to_pylist() == []
    assert kept.at(np.array([39, 45, 79]), 79).to_pylist() == [39, 45, 79]
    assert len(kept._batches) == 1
