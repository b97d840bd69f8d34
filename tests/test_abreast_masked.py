"""Templates of any shape go abreast: kernels find what the runs are, and each variant what it finds alone."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import test_backtest_resume
from cer_gpu.kernels.runs.contract import TransitionTables, accepting_runs
from cer_gpu.kernels.teams.contract import AbreastEvents, no_sums
from random_tables import random_tables
from test_backtest import ticks, told
from test_backtest_resume import interrupted_everywhere, written

import cer_gpu as cer
from cer_gpu.engine.machines import masked_sums as sizes
from cer_gpu.engine.machines.masked_sums import carried_sums, masked_sums
from cer_gpu.engine.run import chunks, team_run
from cer_gpu.engine.run import team as running
from cer_gpu.plan import automaton_masks
from cer_gpu.plan.automaton_masks import Moves, masked_of

read = test_backtest_resume.read


def moves_in(tables: TransitionTables, nodes: int) -> Moves:
    """What the symbols of some tables do, one transition after another."""
    moves = np.zeros((tables.n_symbols, nodes, nodes), np.uint8)
    ends = np.zeros((tables.n_symbols, nodes), np.uint8)
    for s in range(tables.n_symbols):
        for t in range(tables.first[s], tables.first[s + 1]):
            if 0 <= tables.target[t] < nodes:
                moves[s, tables.source[t], tables.target[t]] += 1
            ends[s, tables.source[t]] += tables.accepting[t]
    moves[:, 0, 0] = 1
    return Moves(moves, ends)


@pytest.mark.draws("seed", 60)
def test_the_kernels_add_up_what_the_runs_are(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automaton_masks, "WORTH", 1 << 30)
    rng, draw = np.random.default_rng(seed), Random(seed)
    tables = [random_tables(draw) for _ in range(int(rng.integers(1, 6)))]
    nodes = max(one.n_live for one in tables)
    symbols = [one.n_symbols for one in tables]
    cells = [rng.integers(0, many, 5) for many in symbols]
    masked = masked_of([moves_in(one, nodes) for one in tables], cells)
    assert masked is not None
    count = int(rng.integers(1, 14))
    kind: Any = rng.choice([np.uint64, np.float64])
    keys, size = np.sort(rng.integers(0, 20, count)).astype(kind), kind(rng.integers(0, 12))
    at = keys.astype(np.int64)
    cuts = np.sort(rng.integers(0, count + 1, 2)).tolist()
    begin, stop = np.array([0, *cuts]), np.array([*cuts, count])
    report = np.minimum(begin + rng.integers(0, 3, 3), stop)
    group = np.sort(rng.integers(0, 2, count)) if rng.random() < 0.5 else np.empty(0, np.int64)
    given = rng.integers(0, 5, count).astype(np.uint8)
    events = AbreastEvents(given, keys, at, group)
    windowed, free = no_sums(2, len(tables), at.dtype), no_sums(2, len(tables), at.dtype)
    assert not masked_sums(masked, size, events, begin, report, stop, windowed).any()
    carried = np.zeros((3, nodes, len(tables)), np.int64)
    middle = (begin + stop) // 2  # each lane in two parts
    lane = np.arange(3)
    assert not carried_sums(masked, events, begin, middle, lane, carried, free).any()
    assert not carried_sums(masked, events, middle, stop, lane, carried, free).any()
    for member, (one, own) in enumerate(zip(tables, cells, strict=True)):
        for found, narrow in ((windowed, True), (free, False)):
            right = no_sums(2, 1, at.dtype)
            for g in range(3):
                ends: dict[int, int] = {}
                for start, end, _ in accepting_runs(one, own[given], int(begin[g]), int(stop[g])):
                    if not narrow or (end >= report[g] and keys[end] - keys[start] <= size):
                        ends[end] = ends.get(end, 0) + 1
                for end, many in ends.items():
                    b = int(group[end]) if len(group) else 0
                    right.hits[b, 0] += 1
                    right.matches[b, 0] += many
                    right.first[b, 0] = min(right.first[b, 0], at[end])
                    right.last[b, 0] = max(right.last[b, 0], at[end])
            for column, expected in zip(found, right, strict=True):
                np.testing.assert_array_equal(column[:, member], expected[:, 0])


TEMPLATES = [
    "(A AS a FILTER a[x > $p]) : (B AS b FILTER b[y <= $q])",
    "(A AS a FILTER a[x > $p]) : B ; (C AS c FILTER c[y <= $q])",
    "(A AS a FILTER a[x > $p]) ; (B AS b FILTER b[y <= $q]) : C",
    "(A AS a FILTER a[x > $p]) : (B AS b FILTER b[y <= $q]) +",
    "((A AS a FILTER a[x > $p]) : (B AS b FILTER b[y <= $q])) + ; C",
    "(A OR (B AS b FILTER b[x > $p])) : (C OR D AS d FILTER d[y <= $q]) : E",
]

ITERATED = [
    "(A AS a FILTER a[x > $p]) + ; (B AS b FILTER b[y <= $q])",
    "A ; (B AS b FILTER b[x > $p]) + ; (C AS c FILTER c[y <= $q])",
]


@pytest.fixture
def gone(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many members of each bunch go abreast."""
    noted: list[int] = []
    inner = running.teams_of

    def watched(members: Any) -> Any:
        teams, left = inner(members)
        noted.append(sum(len(team.members) for team in teams))
        return teams, left

    monkeypatch.setattr("cer_gpu.engine.run.shared_run.teams_of", watched)
    return noted


def check(sweep: cer.Variants, rows: list[dict[str, Any]], events: Any) -> None:
    """Assert that each row is what its variant finds by itself."""
    assert sum(row["hits"] for row in rows) > 0
    for values, row in zip(sweep, rows, strict=True):
        own = told(sweep.query, events, order_by="ts", params=values, device="cpu")
        matches = {"matches": int(row["matches"])}
        assert {name: row[name] for name in own} | matches == own, values


@pytest.mark.crossed
@pytest.mark.parametrize("clause", ["", "PARTITION BY [k]"])
@pytest.mark.parametrize("window", ["", '["10 min", "3 h"]', "[40, 7]"])
@pytest.mark.parametrize("pattern", [*TEMPLATES, *ITERATED])
def test_variants_go_abreast(pattern: str, window: str, clause: str, gone: list[int]) -> None:
    unit = "" if "min" in window else "EVENTS"
    events = ticks(1500 if window else 400)
    within = f"WITHIN $w {unit}" if window else ""
    values: dict[str, Any] = {"w": eval(window)} if window else {}
    sweep = cer.sweep(
        f"SELECT * FROM S WHERE {pattern} {clause} {within}", p=[3, 10, 15, 17.5], q=[0.2, 0.9], **values
    )
    found = cer.backtest(sweep, events, order_by="ts", device="cpu")
    assert gone == [len(sweep)]
    check(sweep, found.to_arrow().to_pylist(), events)


@pytest.mark.parametrize("within", ["", "WITHIN 5 h"])
@pytest.mark.parametrize("by", ["1d", "k", ["6 h", "k"]])
def test_sums_by_bucket_and_key(by: Any, within: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = cer.sweep(
        f"SELECT * FROM S WHERE (A AS a FILTER a[x > $p]) : B ; C PARTITION BY [k] {within}",
        p=list(range(0, 20, 2)),
    )
    together = cer.backtest(sweep, ticks(), order_by="ts", by=by, device="cpu").to_arrow()
    monkeypatch.setattr(team_run, "GROUPS", 2)
    monkeypatch.setattr(chunks, "CARRIED", 50)
    assert cer.backtest(sweep, ticks(), order_by="ts", by=by, device="cpu").to_arrow() == together
    monkeypatch.setattr(running, "LEAST_ABREAST", 1 << 20)
    assert cer.backtest(sweep, ticks(), order_by="ts", by=by, device="cpu").to_arrow() == together
    assert len(together) > 10


@pytest.mark.parametrize("within", ["", "WITHIN 2 days"])
def test_numbers_past_64_bits_are_exact(
    within: str, gone: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some variants leave 64 bits behind, in the middle of the stream, and others do not."""
    monkeypatch.setattr(chunks, "CARRIED", 100)
    monkeypatch.setattr(chunks, "CHUNK", 100)
    sweep = cer.sweep(
        f"SELECT * FROM S WHERE (A AS a FILTER a[x >= $p]) + ; B PARTITION BY name {within}",
        p=[0, 3, 8, 12, 15, 17, 18, 19],
    )
    rows = cer.backtest(sweep, ticks(2000), order_by="ts", device="cpu").to_arrow().to_pylist()
    assert gone == [len(sweep)]
    numbers = [int(row["matches"]) for row in rows]
    assert max(numbers) > 1 << 70
    assert 0 < min(numbers) < 1 << 60
    check(sweep, rows, ticks(2000))


def test_windows_with_too_many_starts_are_followed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = cer.sweep("SELECT * WHERE (A AS a FILTER a[x > $p]) : B ; C WITHIN 1 day", p=list(range(10)))
    expected = cer.backtest(sweep, ticks(), order_by="ts", device="cpu").to_arrow()
    monkeypatch.setattr(sizes, "FRONT", 10)
    assert cer.backtest(sweep, ticks(), order_by="ts", device="cpu").to_arrow() == expected
    check(sweep, expected.to_pylist(), ticks())


def test_an_interrupted_sweep_without_a_window_goes_on(read: dict[str, Any], tmp_path: Path) -> None:
    """What is carried is kept, of those that have left 64 bits behind, too."""
    paths = written(ticks(1200, seed=3), tmp_path, [300, 700, 1000])
    text = "SELECT * WHERE (A AS a FILTER a[x >= $p]) + : B PARTITION BY k"
    interrupted_everywhere(cer.sweep(text, p=[0, 2, 5, 9, 12, 16, 19]), paths, read, order_by="ts")
    (tmp_path / "kept").unlink()
    text = "SELECT * WHERE (A AS a FILTER a[x >= $p]) + ; B PARTITION BY k"
    interrupted_everywhere(cer.sweep(text, p=[0, 2, 5, 9, 12, 16, 19]), paths, read, order_by="ts")
