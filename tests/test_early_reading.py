"""A chunk is made while the one before is run, but only where nothing that is found says what is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cer_gpu as cer
from cer_gpu.engine.run import bound_query, chunks
from cer_gpu.engine.workers import Workers

ROWS = 3000


def events(seed: int) -> pa.Table:
    """Events of a few keys, with numbers and texts to compare."""
    rng = Random(f"early reading {seed}")
    return pa.table(
        {
            "type": [rng.choice("ABC") for _ in range(ROWS)],
            "t": pa.array(sorted(rng.randrange(20 * ROWS) for _ in range(ROWS)), pa.timestamp("s")),
            "k": [rng.randrange(9) for _ in range(ROWS)],
            "x": [rng.randrange(30) for _ in range(ROWS)],
            "s": [rng.choice(("p", "q", "rr", "")) for _ in range(ROWS)],
        }
    )


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches and chunks are short, so that there are many."""
    monkeypatch.setattr(bound_query, "BATCH", 170)
    monkeypatch.setattr(bound_query, "CHUNK", 170)
    monkeypatch.setattr(chunks, "CHUNK", 120)


EARLY = (
    "A ; B ; C WITHIN 10 MINUTES",
    "A ; B ; C PARTITION BY k WITHIN 10 MINUTES",
    "A AS a ; B AS b FILTER b.x > a.x PARTITION BY k WITHIN 1 HOUR",
    "A AS a ; B AS b ; C AS c FILTER a.x = b.x AND b.x = c.x WITHIN 1 HOUR",
    "A ;[<= 5 min] B ; C WITHIN 1 HOUR",
    "A AS a ; B AS b FILTER b.x > a.x + 3 WITHIN 1 HOUR",
)
LATER = (
    "A ; B ; C PARTITION BY k",
    "A ; B ; C PARTITION BY k WITHIN 10 MINUTES CONSUME BY PARTITION",
    "A ; B ; C PARTITION BY k WITHIN 10 MINUTES SUPPRESS FOR 3 min BY PARTITION",
    "A ; B ; C PARTITION BY k WITHIN 10 [x]",
    "A AS a ; B AS b FILTER b.s > a.s PARTITION BY k WITHIN 1 HOUR",
)


def noting(asked: list[int]) -> Callable[[Workers, Iterable[object]], Iterator[object]]:
    """`Workers.early`, which notes each call."""
    early = Workers.early

    def noted(workers: Workers, items: Iterable[object]) -> Iterator[object]:
        asked.append(1)
        return early(workers, items)

    return noted


@pytest.mark.parametrize("pattern", EARLY + LATER)
@pytest.mark.parametrize("product", ["hits", "counts", "run"])
def test_only_what_a_window_alone_keeps_is_read_early(
    pattern: str, product: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(Workers, "early", noting(asked))
    query = cer.compile(f"SELECT * WHERE {pattern}")
    found = getattr(query, product)(events(1), order_by="t")
    found = found.to_arrow() if product == "run" else found
    assert bool(asked) is (pattern in EARLY)
    # Where memory is bounded, no more than one chunk is there at a time.
    again = getattr(query, product)(events(1), order_by="t", memory=1 << 30)
    assert found.num_rows > 0
    assert found.equals(again.to_arrow() if product == "run" else again)


@pytest.mark.draws("seed", 30)
def test_what_is_read_early_is_what_one_chunk_has(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(seed)
    query, data = cer.compile(f"SELECT * WHERE {rng.choice(EARLY)}"), events(seed)
    found = [
        query.hits(data, order_by="t"),
        query.counts(data, order_by="t"),
        query.count(data, order_by="t"),
    ]
    for module, name in ((bound_query, "BATCH"), (bound_query, "CHUNK"), (chunks, "CHUNK")):
        monkeypatch.setattr(module, name, 1 << 20)
    assert found[0].equals(query.hits(data, order_by="t"))
    assert found[1].equals(query.counts(data, order_by="t"))
    assert found[2] == query.count(data, order_by="t") > 0


def test_a_source_of_unknown_length_is_not_waited_for() -> None:
    """Its next batch may come late, or never: what the batches before it answer has been reported by then."""
    data, read = events(2), []

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in data.to_batches(max_chunksize=170):
            read.append(len(batch))
            yield batch

    query = cer.compile(f"SELECT * WHERE {EARLY[1]}")
    found = query.run(pa.RecordBatchReader.from_batches(data.schema, batches()), order_by="t").batches()
    first = next(iter(found))
    assert first["end"][0].as_py() < 340
    assert len(read) == 1
    hits = query.hits(data.to_reader(max_chunksize=170), order_by="t")
    assert hits.equals(query.hits(data, order_by="t"))


@pytest.mark.parametrize("memory", [None, 1 << 30])
@pytest.mark.parametrize("product", ["hits", "counts", "run"])
def test_a_file_is_read_while_what_was_read_is_run(
    product: str, memory: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "events.parquet"
    pq.write_table(events(3), path, row_group_size=400)
    data = pq.read_table(path)  # it has no seconds
    asked: list[int] = []
    for pattern in (EARLY[0], LATER[1], LATER[4]):
        query = cer.compile(f"SELECT * WHERE {pattern}")
        expected = getattr(query, product)(data, order_by="t")
        expected = expected.to_arrow() if product == "run" else expected
        asked.clear()
        with monkeypatch.context() as patch:
            patch.setattr(Workers, "early", noting(asked))
            found = getattr(query, product)(path, order_by="t", memory=memory)
            found = found.to_arrow() if product == "run" else found
        # Batches of the file, and chunks where a window alone says what is kept.
        assert len(asked) == (0 if memory else 1 + (pattern in EARLY))
        assert found.equals(expected)
