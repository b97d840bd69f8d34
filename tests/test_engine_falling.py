"""Windows over attributes that are null, infinite or fall: all ways of running agree with the reference."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from cer_gpu.kernels.attribute_windows import cpu_lists
from engine_oracle import check
from generate import pattern, query_around, stream, with_keys

import cer_gpu as cer
from cer_gpu.engine.answers import batches as enumerate
from cer_gpu.engine.machines import chunk
from cer_gpu.engine.read import classify
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.run import bound_query
from cer_gpu.engine.run import chunks as runner
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import LimitError
from cer_gpu.language import tree


@pytest.fixture
def tiny_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks, chunks, segments, ranges and groups of a few events, so that their borders are crossed."""
    monkeypatch.setattr(classify, "BLOCK", 4)
    monkeypatch.setattr(bound_query, "BATCH", 5)
    monkeypatch.setattr(runner, "CHUNK", 3)
    monkeypatch.setattr(chunk, "SEGMENT", 2)
    monkeypatch.setattr(cpu_lists, "RANGE", 2)
    monkeypatch.setattr(enumerate, "GROUP", 3)
    monkeypatch.setattr(enumerate, "BULK_COUNT", 2)


def agree(seed: str, queries: int) -> None:
    rng = Random(seed)
    answered = 0
    for _ in range(queries):
        attribute = rng.choice(("lap", "p"))
        window = tree.Window(rng.randrange(3), "attribute", attribute=attribute)
        query = replace(query_around(rng, pattern(rng, filters=0.12), tree.Strategy.ALL), window=window)
        events = with_keys(rng, stream(rng, rng.randrange(4, 13)))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event ")
            try:
                answered += check(query, events, rng) > 0
            except LimitError:
                continue
    assert answered >= queries // 4


@pytest.mark.draws("seed", 3)
def test_random_queries_agree_with_the_reference(seed: int) -> None:
    agree(f"falling {seed}", 30)


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.draws("seed", 3)
def test_they_agree_in_tiny_pieces_too(seed: int) -> None:
    agree(f"falling pieces {seed}", 30)


def ends_and_starts(query: str, table: pa.Table, **options: object) -> list[tuple[int, int]]:
    """Start and end of each complex event, as all calls agree on them."""
    compiled = cer.compile(query)
    rows = compiled.run(table, **options).to_arrow()
    found = list(zip(rows["start"].to_pylist(), rows["end"].to_pylist(), strict=True))
    ends = sorted({end for _, end in found})
    latest = [max(start for start, other in found if other == end) for end in ends]
    hits = compiled.hits(table, **options).to_pydict()
    assert (hits["position"], hits["latest_start"]) == (ends, latest)
    counts = compiled.counts(table, **options).to_pydict()
    assert counts["count"] == [sum(other == end for _, other in found) for end in ends]
    assert compiled.count(table, **options) == len(found)
    return found


INF = math.inf


@pytest.mark.parametrize(
    ("x", "wanted"),
    [
        ([0.0, 1.0, INF, INF], [(0, 1)]),
        ([1.0, 0.0, INF, INF], [(0, 1)]),  # x falls before it is infinite
        ([INF, INF, 0.0, 1.0], [(0, 3), (2, 3)]),  # it falls from infinity
        ([-INF, -INF, 0.0, 1.0], [(2, 3)]),
        ([2.0, 1.0, -INF, -INF], [(0, 1), (0, 3)]),
        ([-INF, 0.0, -INF, -INF], []),
        ([INF, -INF, -INF, INF], [(0, 1)]),
        ([math.nan, 0.0, 1.0, 2.0], [(2, 3)]),
    ],
)
def test_no_infinite_value_is_near_itself(x: list[float], wanted: list[tuple[int, int]]) -> None:
    table = pa.table({"type": list("ABAB"), "x": pa.array(x, pa.float64()), "k": [1] * 4})
    for clauses in ("", "PARTITION BY k"):
        assert ends_and_starts(f"SELECT * WHERE A ; B {clauses} WITHIN 5 [x]", table) == wanted
    either = [(i, j) for j in range(4) for i in range(j) if (j - i) % 2 and x[j] - x[i] <= 5]
    assert ends_and_starts("Q(k) <- A(k = k), B(k = k) WITHIN 5 [x]", table) == either
    for pushed in (1, 3):
        batches = table.to_reader(max_chunksize=pushed)
        rows = cer.compile("SELECT * WHERE A ; B WITHIN 5 [x]").run(batches).to_arrow()
        assert list(zip(rows["start"].to_pylist(), rows["end"].to_pylist(), strict=True)) == wanted


def lanes_of(monkeypatch: pytest.MonkeyPatch, query: str, table: pa.Table) -> list[tuple[int, int]]:
    """How many lanes of each chunk of a count ascend, and how many fall."""
    made = []
    before = runner.make_chunk

    def noting(*given: object) -> chunk.Chunk:
        found = before(*given)  # type: ignore[arg-type]
        made.append((len(found.segments.begin), len(found.falling.begin)))
        return found

    monkeypatch.setattr(runner, "make_chunk", noting)
    cer.compile(query).count(table)
    return made


@pytest.mark.parametrize("hole", [None, math.nan, -math.inf])
def test_holes_make_no_lane_fall(hole: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a lane that falls leaves the others as they are."""
    x = [float(i // 2) for i in range(40)]
    x[0] = hole  # type: ignore[call-overload]
    x[10], x[39] = None, math.inf  # type: ignore[call-overload]
    table = pa.table({"type": ["A", "A", "B", "B"] * 10, "x": x, "key": ["a", "b"] * 20})
    query = "SELECT * WHERE A ; B {} WITHIN 3 [x]"
    assert lanes_of(monkeypatch, query.format(""), table) == [(1, 0)]
    assert lanes_of(monkeypatch, query.format("PARTITION BY key"), table) == [(2, 0)]
    x[21] = 0.0
    table = table.set_column(1, "x", pa.array(x, pa.float64()))
    assert lanes_of(monkeypatch, query.format(""), table) == [(0, 1)]
    assert lanes_of(monkeypatch, query.format("PARTITION BY key"), table) == [(1, 1)]


def kept(
    query: str, table: pa.Table, monkeypatch: pytest.MonkeyPatch, order_by: str | None = None
) -> list[int]:
    """How many events are kept for later ones after each chunk of 50."""
    sizes = []
    before = runner.Chunker.chunk

    def noting(self: runner.Chunker, new: EventArrays) -> chunk.Chunk:
        held = self.held()
        sizes.append(0 if held is None else len(held))
        return before(self, new)

    monkeypatch.setattr(runner.Chunker, "chunk", noting)
    monkeypatch.setattr(runner, "CHUNK", 50)
    monkeypatch.setattr(bound_query, "BATCH", 50)
    cer.compile(query).count(table.to_reader(max_chunksize=50), order_by=order_by)
    return sizes


@pytest.mark.parametrize("falls", [False, True])
@pytest.mark.parametrize("clauses", ["", "PARTITION BY key"])
def test_what_no_run_needs_is_forgotten(falls: bool, clauses: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of neighbours only the last event begins something; what waits for a B may be inside once x falls."""
    x = [(-i if falls else i) % 1000 for i in range(1000)]
    table = pa.table({"type": ["A", "A", "B", "C"] * 250, "x": x, "key": [1] * 1000})
    assert max(kept(f"SELECT * WHERE A : B : C {clauses} WITHIN 3 [x]", table, monkeypatch)) <= 2
    assert max(kept(f"SELECT * WHERE A ; B ; C {clauses} WITHIN 3 [x]", table, monkeypatch)) > 400


@pytest.mark.parametrize("clauses", ["", "PARTITION BY key"])
def test_where_the_order_is_promised_the_tail_is_freed(clauses: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`order_by` says that the attribute never falls; explain says so, and what a fall costs otherwise."""
    query = f"SELECT * WHERE A ; B ; C {clauses} WITHIN 3 [x]"
    table = pa.table({"type": ["A", "A", "B", "C"] * 250, "x": range(1000), "key": [1] * 1000})
    assert max(kept(query, table, monkeypatch)) > 400
    assert max(kept(query, table, monkeypatch, order_by="x")) <= 4
    said = cer.compile(query).explain(verbose=True)
    assert "in partitions in which `x` ascends, log(their events) in others" in said
    assert "`x` may fall: order_by='x' promises that it does not" in said
    assert "may fall" not in cer.compile(query.replace("[x]", "SECONDS")).explain(verbose=True)


@pytest.mark.parametrize("falls", [False, True])
def test_several_threads_list(falls: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One lane where x ascends, and many where it falls."""
    shared: list[int] = []
    before = Workers.map

    def noting(self: Workers, phase: str, function: Any, items: Any, events: int = 0) -> list[Any]:
        work = list(items)
        shared.extend([len(work)] if phase == "finding matches" else [])
        return before(self, phase, function, work, events)

    monkeypatch.setattr(Workers, "map", noting)
    monkeypatch.setattr(chunk, "SEGMENT", 50)
    x = [1000 - i if falls else i for i in range(1000)]
    key = [i // 50 if falls else 0 for i in range(1000)]
    table = pa.table({"type": ["A", "B"] * 500, "x": x, "key": key})
    found = cer.compile("SELECT * WHERE A ; B PARTITION BY key WITHIN 1 [x]").run(table).to_arrow()
    assert len(found) == (500 * 26 // 2 if falls else 500)
    assert max(shared) > 3
