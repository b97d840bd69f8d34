"""Events are read before they are used, and chunks are made where nothing that is found says what is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cer_gpu as cer
from cer_gpu.engine.read import eviction, lookahead
from cer_gpu.engine.read.early_reader import EarlyReader, ReadMark
from cer_gpu.engine.read.events import EventArrays
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
    TEXTS := "A AS a ; B AS b FILTER b.s > a.s PARTITION BY k WITHIN 1 HOUR",
    f"{TEXTS} SUPPRESS FOR 3 min BY PARTITION",
)


def noting(asked: list[str]) -> Callable[[Workers, Iterable[Any]], Iterator[Any]]:
    """`Workers.early`, which notes what it is called for: batches, the events in them, or chunks."""
    early = Workers.early

    def noted(workers: Workers, items: Iterable[Any]) -> Iterator[Any]:
        name = getattr(items, "__qualname__", "")
        asked.append({"Run.chunks": "chunks", "EarlyReader._marked": "events"}.get(name, "batches"))
        return early(workers, items)

    return noted


@pytest.mark.parametrize("pattern", EARLY + LATER)
@pytest.mark.parametrize("product", ["hits", "counts", "run"])
def test_only_what_a_window_alone_keeps_is_read_early(
    pattern: str, product: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(Workers, "early", noting(asked))
    query = cer.compile(f"SELECT * WHERE {pattern}")
    found = getattr(query, product)(events(1), order_by="t")
    found = found.to_arrow() if product == "run" else found
    assert ("chunks" in asked) is (pattern in EARLY)
    assert ("events" in asked) is (TEXTS not in pattern)
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
    asked: list[str] = []
    for pattern in (EARLY[0], LATER[1], TEXTS):
        query = cer.compile(f"SELECT * WHERE {pattern}")
        expected = getattr(query, product)(data, order_by="t")
        expected = expected.to_arrow() if product == "run" else expected
        asked.clear()
        with monkeypatch.context() as patch:
            patch.setattr(Workers, "early", noting(asked))
            found = getattr(query, product)(path, order_by="t", memory=memory)
            found = found.to_arrow() if product == "run" else found
        # Batches of the file, their events, and chunks where a window alone says what is kept.
        early = ["batches"] + ["events"] * (TEXTS not in pattern) + ["chunks"] * (pattern in EARLY)
        assert sorted(asked) == ([] if memory else sorted(early))
        assert found.equals(expected)


def test_a_reader_says_how_far_the_part_goes_that_was_given() -> None:
    """And once something is to be forgotten, it waits with a further part until the next is asked for."""
    read: list[int] = []

    def parts() -> Iterator[EventArrays]:
        for number in range(6):
            read.append(number)
            yield EventArrays(np.zeros(number, np.uint8), np.arange(number))

    reader = EarlyReader(parts(), lambda: ReadMark(len(read), None, None))
    given = reader.read(Workers(2))
    for number in range(3):
        assert len(next(given)) == number
        assert reader.mark.rows == number + 1
    while len(read) < 4:  # another thread reads
        time.sleep(0.001)
    assert not reader.ends()
    for number in range(3, 6):
        assert len(next(given)) == number
        assert reader.mark.rows == number + 1
        time.sleep(0.01)
        assert len(read) == number + 1
        assert reader.ends()
    assert next(given, None) is None
    assert reader.ends()


OUTLOOKS = (
    "A NOT FOLLOWED BY [<= 1 min] B PARTITION BY k WITHIN 5 MINUTES",
    "A NOT FOLLOWED BY [<= 1 min] B PARTITION BY k",
    "(A ; B) NOT FOLLOWED BY [<= 2 min] (B ; C) PARTITION BY k WITHIN 5 MINUTES",
    "A FOLLOWED BY [<= 3 EVENTS] B PARTITION BY k",
    "A NOT PRECEDED BY [<= 2 min] C PARTITION BY k",
    "B NOT FOLLOWED BY B PARTITION BY k",
    "A NOT FOLLOWED BY [<= 90 s] C",
)


@pytest.mark.draws("seed", 114)
def test_answers_are_the_same_however_early_events_are_read(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each item is made before the one before it is used, as if threads took turns in the worst order."""
    rng = Random(f"early {seed}")
    data = events(seed)
    if rng.random() < 0.5:
        keys = pa.array(at // 9 + rng.randrange(4) for at in range(ROWS))
        data = data.set_column(2, "k", [keys])
    patterns = EARLY + LATER + OUTLOOKS
    query = cer.compile(f"SELECT * WHERE {patterns[seed % len(patterns)]}")
    products = [query.hits, query.counts, lambda *given, **options: query.run(*given, **options).to_arrow()]
    found = [product(data, order_by="t") for product in products]

    def eager(_: Workers, items: Iterable[Any]) -> Iterator[Any]:
        making = iter(items)
        item, none = next(making, making), making
        while item is not none:
            coming = next(making, none)
            yield item
            item = coming

    size = rng.choice((20, 60, 170))
    monkeypatch.setattr(Workers, "early", eager)
    monkeypatch.setattr(eviction, "REMEMBERED", 64)
    monkeypatch.setattr(lookahead, "BLOCK", 32)
    for module, name in (
        (bound_query, "BATCH"),
        (bound_query, "CHUNK"),
        (chunks, "CHUNK"),
        (chunks, "CARRIED"),
    ):
        monkeypatch.setattr(module, name, size)
    for product, expected in zip(products, found, strict=True):
        assert product(data, order_by="t").equals(expected)
