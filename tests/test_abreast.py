"""Queries that go abreast find what each finds by itself, and their kernel what its contract says."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from cer_gpu.kernels.teams.contract import AbreastEvents, Spans, abreast_reference, level_tables, no_sums
from cer_gpu.kernels.teams.cpu import abreast
from cer_gpu.kernels.teams.cpu_edge_lists import listed_abreast
from cer_gpu.kernels.teams.cpu_levels import grid_sums, levels_abreast, no_level_sums
from test_backtest import ticks, told

import cer_gpu as cer
from cer_gpu.engine.machines import numbers
from cer_gpu.engine.machines.chunk import Segments
from cer_gpu.engine.run import team as running
from cer_gpu.engine.run import team_run
from cer_gpu.plan.automaton_levels import grid_of
from cer_gpu.plan.automaton_team import Ladder, edges_of, listed_of, shared_edges


def members_of(rng: np.random.Generator, members: int, symbols: int) -> tuple[list[Ladder], list[np.ndarray]]:
    """Random members over random cells."""
    ladders, cells = [], []
    for _ in range(members):
        nodes = int(rng.integers(1, 5))
        pairs = [(p, q) for p in range(nodes) for q in range(p + 1, nodes + 1)]
        edges = {pair: np.append(False, rng.random(symbols) < 0.4) for pair in pairs if rng.random() < 0.7}
        ladders.append(Ladder(nodes, edges))
        cells.append(np.append(0, rng.integers(0, symbols + 1, 6)))
    return ladders, cells


@pytest.mark.draws("seed", 40)
def test_the_kernel_adds_up_what_the_runs_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    members = int(rng.integers(1, 9))
    given = members_of(rng, members, 4)
    edges, nodes = edges_of(*given)
    count = int(rng.integers(1, 30))
    kind: Any = rng.choice([np.uint64, np.float64])
    keys = np.sort(rng.integers(0, 40, count)).astype(kind)
    at = keys.astype(rng.choice([np.int64, np.float64]))
    cuts = np.sort(rng.integers(0, count + 1, 3)).tolist()
    begin, stop = np.array([0, *cuts]), np.array([*cuts, count])
    report = begin + rng.integers(0, 3, 4)
    group = np.sort(rng.integers(0, 3, count)) if rng.random() < 0.5 else np.empty(0, np.int64)
    borders = np.unique(np.append(rng.integers(0, members + 1, 2), [0, members]))
    spans = Spans(borders, rng.integers(0, 30, len(borders) - 1).astype(kind))
    events = AbreastEvents(rng.integers(0, 7, count).astype(np.uint8), keys, at, group)
    sums = no_sums(3, members, at.dtype)
    widest = abreast(edges, spans, nodes, events, begin, report, stop, sums)
    expected = abreast_reference(edges, spans, nodes, events, begin, report, stop, 3)
    for found, right in zip(sums, expected, strict=True):
        np.testing.assert_array_equal(found, right)
    assert widest <= count
    sums = no_sums(3, members, at.dtype)
    listed, nodes = listed_of(*given, borders)
    listed_abreast(listed, members, spans, nodes, events, begin, report, stop, sums)
    for found, right in zip(sums, expected, strict=True):
        np.testing.assert_array_equal(found, right)


@pytest.mark.draws("seed", 60)
def test_a_grid_adds_up_what_its_members_find(seed: int) -> None:
    rng = np.random.default_rng(seed)
    steps = int(rng.integers(2, 5))
    widths = rng.integers(1, 4, steps)
    cells = 6
    levels = np.stack([rng.integers(-1, width, cells) for width in widths], axis=1).astype(np.int16)
    levels[0] = -1
    places = [place[::-1] for place in np.ndindex(*widths[::-1])]  # the first step varies fastest
    ladders = [
        Ladder(steps, {(k, k + 1): levels[:, k] >= asked for k, asked in enumerate(place)})
        for place in places
    ]
    count = int(rng.integers(1, 40))
    kind: Any = rng.choice([np.uint64, np.float64])
    keys = np.sort(rng.integers(0, 40, count)).astype(kind)
    at = keys.astype(rng.choice([np.int64, np.float64]))
    cuts = np.sort(rng.integers(0, count + 1, 2)).tolist()
    begin, stop = np.array([0, *cuts]), np.array([*cuts, count])
    segments = begin, begin + rng.integers(0, 3, 3), stop
    group = np.sort(rng.integers(0, 3, count)) if rng.random() < 0.5 else np.empty(0, np.int64)
    events = AbreastEvents(rng.integers(0, cells, count).astype(np.uint8), keys, at, group)
    spans = Spans(np.array([0, len(places)]), rng.integers(0, 30, 1).astype(kind))
    edges, nodes = edges_of(ladders, [np.arange(cells)] * len(places))
    expected = abreast_reference(edges, spans, nodes, events, *segments, 3)
    sums = no_level_sums(3, widths, at.dtype)
    assert levels_abreast(level_tables(levels, widths), spans.size, events, *segments, sums) <= count
    for found, right in zip(grid_sums(sums, widths), expected, strict=True):
        np.testing.assert_array_equal(found, right)


def test_which_members_make_a_grid() -> None:
    wide, narrow, other = (np.array([False, *one], bool) for one in ((1, 1, 0), (1, 0, 0), (0, 1, 0)))
    end = np.array([False, False, False, True])
    cells = [np.arange(4)] * 2

    def ladders(*firsts: np.ndarray) -> list[Ladder]:
        return [Ladder(2, {(0, 1): first, (1, 2): end}) for first in firsts]

    found = grid_of(ladders(narrow, wide), cells)
    assert found is not None
    assert found.members.tolist() == [1, 0]
    assert found.tables.levels.tolist() == [[-1, -1], [1, -1], [0, -1], [-1, 0]]
    assert grid_of(ladders(narrow, other), cells) is None  # neither takes all that the other takes
    skipping = Ladder(2, {(0, 1): wide, (1, 2): end, (0, 2): narrow})
    assert grid_of([skipping, skipping], cells) is None


@pytest.mark.parametrize("clause", ["", "PARTITION BY [k]"])
def test_a_grid_past_64_bits(clause: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = cer.sweep(
        "SELECT * FROM S WHERE (A AS a FILTER a[x > $p]) ; (B AS b FILTER b[y <= $q]) ; C "
        f"{clause} WITHIN $w",
        p=[3, 10, 17.5],
        q=[0.2, 0.9],
        w=["10 min", "3 h"],
    )
    whole = cer.backtest(sweep, ticks(), order_by="ts", by="6 h", device="cpu").to_arrow()
    monkeypatch.setattr(numbers, "SAFE", 1 << 12)
    assert cer.backtest(sweep, ticks(), order_by="ts", by="6 h", device="cpu").to_arrow() == whole
    monkeypatch.setattr(running, "grid_of", lambda *_: None)
    assert cer.backtest(sweep, ticks(), order_by="ts", by="6 h", device="cpu").to_arrow() == whole


TEMPLATES = [
    "(A AS a FILTER a[x > $p]) ; (B AS b FILTER b[y <= $q]) ; C",
    "(A AS a FILTER a[x > $p]) ; (B OR (C AS c FILTER c[y <= $q])) ; D",
    "(A AS a FILTER a[x > $p]) ; B ? ; (C AS c FILTER c[y <= $q])",
    "(A AS a FILTER a[x > $p]) {2,3} ; (D AS d FILTER d[y <= $q])",
    "(A AS a FILTER a[x > $p]) ; (A AS b FILTER b[y <= $q])",
    "(A AS a FILTER a[x > $p AND y <= $q])",
]


def test_the_share_of_members_with_an_edge() -> None:
    ladder = Ladder(1, {(0, 1): np.array([False, True, False])})
    assert shared_edges([ladder, ladder], [np.array([0, 1]), np.array([0, 1])]) == 1
    assert shared_edges([ladder, ladder], [np.array([0, 1, 2]), np.array([0, 2, 1])]) == 0.5


@pytest.mark.crossed
@pytest.mark.parametrize("clause", ["", "PARTITION BY [k]"])
@pytest.mark.parametrize("window", ['["10 min", "3 h"]', "[40, 7]"])
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("pattern", TEMPLATES)
def test_variants_go_abreast(
    pattern: str, listed: bool, window: str, clause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "SHARED", 2.0 if listed else -1.0)
    gone: list[int] = []
    inner = running.teams_of

    def noted(members: Any) -> Any:
        teams, left = inner(members)
        gone.append(sum(len(team.members) for team in teams))
        return teams, left

    monkeypatch.setattr("cer_gpu.engine.run.shared_run.teams_of", noted)
    unit = "" if "min" in window else "EVENTS"
    sweep = cer.sweep(
        f"SELECT * FROM S WHERE {pattern} {clause} WITHIN $w {unit}",
        p=[3, 10, 17.5],
        q=[0.2, 0.9],
        w=eval(window),
    )
    found = cer.backtest(sweep, ticks(), order_by="ts", device="cpu")
    assert gone == [len(sweep)]
    rows = found.to_arrow().to_pylist()
    assert sum(row["matches"] for row in rows) > 0
    for values, row in zip(sweep, rows):
        own = told(sweep.query, ticks(), order_by="ts", params=values, device="cpu")
        assert {name: row[name] for name in own} == own, values


@pytest.mark.parametrize("by", ["1d", "k", ["6 h", "k"]])
def test_sums_by_bucket_and_key(by: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = cer.sweep(
        "SELECT * FROM S WHERE (A AS a FILTER a[x > $p]) ; B ; C PARTITION BY [k] WITHIN $w",
        p=list(range(0, 20, 4)),
        w=["10 min", "3 h"],
    )
    together = cer.backtest(sweep, ticks(), order_by="ts", by=by, device="cpu").to_arrow()
    monkeypatch.setattr(team_run, "GROUPS", 2)
    assert cer.backtest(sweep, ticks(), order_by="ts", by=by, device="cpu").to_arrow() == together
    monkeypatch.setattr(running, "LEAST_ABREAST", 1 << 20)
    assert cer.backtest(sweep, ticks(), order_by="ts", by=by, device="cpu").to_arrow() == together


def test_unlike_queries_go_abreast(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {
        f"{a}{b}{c}": f"SELECT * WHERE ({a} AS a FILTER a[x > {x}]) ; ({b} AS b FILTER b[y < 0.{x}]) ; {c} "
        f"WITHIN {w}"
        for (a, b, c), x, w in zip(
            ["ABC", "BCA", "CAD", "DEA", "EAB", "ABD", "AAC", "BEB", "CDE", "DAE"],
            range(1, 11),
            ["10 min", "20 min", "1 h", "3 h", "7 min", "1 day", "10 min", "5 h", "2 h", "90 min"],
        )
    }
    events = ticks()
    rows = cer.backtest(asked, events, order_by="ts", by="6 h", device="cpu").to_arrow()
    monkeypatch.setattr(running, "LEAST_LISTED", 1 << 20)
    assert cer.backtest(asked, events, order_by="ts", by="6 h", device="cpu").to_arrow() == rows
    totals = cer.backtest(asked, events, order_by="ts", device="cpu").to_arrow().to_pylist()
    for (name, text), row in zip(asked.items(), totals):
        own = told(cer.compile(text), events, order_by="ts", device="cpu")
        assert own["matches"] > 0
        assert {key: row[key] for key in own} == own, name


@pytest.mark.parametrize("shared", [-1.0, 2.0])
def test_numbers_past_64_bits_are_exact(shared: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "SHARED", shared)
    count = 4000
    steps = " ; ".join("A" for _ in range(7))
    sweep = cer.sweep(
        f"SELECT * FROM S WHERE {steps} ; (A AS a FILTER a[x >= $p]) WITHIN 1 DAY", p=list(range(8))
    )
    table = ticks(count).set_column(0, "type", [["A"] * count])
    rows = cer.backtest(sweep, table, order_by="ts", device="cpu").to_arrow().to_pylist()
    assert min(row["matches"] for row in rows) > 1 << 64
    for values, row in zip(sweep, rows):
        own = told(sweep.query, table, order_by="ts", params=values, device="cpu")
        assert {name: int(row[name]) if name == "matches" else row[name] for name in own} == own, values


def test_some_go_abreast_beside_others() -> None:
    rng = Random(4)
    texts = []
    for _ in range(60):
        a, b, c = (rng.choice("ABCDE") for _ in range(3))
        between = rng.choice([";", ";", ":"])
        window = rng.choice(["5 MINUTES", "2 HOURS"])
        texts.append(
            f"SELECT * FROM S WHERE ({a} AS a FILTER a[x > {rng.randrange(20)}]) {between} {b} ; {c} "
            f"WITHIN {window}"
        )
    found = cer.backtest(texts, ticks(), order_by="ts", device="cpu").to_arrow().to_pylist()
    for text, row in zip(texts, found):
        own = told(cer.compile(text), ticks(), order_by="ts", device="cpu")
        assert {name: row[name] for name in own} == own, text


def test_keys_that_share_their_sums_are_not_cut_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit is cut where it has many groups of sums, not where it has many keys."""
    monkeypatch.setattr(team_run, "GROUPS", 8)
    edges, lanes = np.arange(0, 5000, 5), np.arange(1000)
    segments = Segments(edges, edges, edges + 5, lanes)
    at, zero = np.arange(5000), np.zeros(1, np.int64)
    shared = team_run.GroupedEvents(at, zero[:0], zero, zero)
    apart = team_run.GroupedEvents(at, at // 5, np.zeros(1000, np.int64), lanes)
    assert len(team_run.units_of(segments, shared, 2)) == len(segments.units(2))
    units = team_run.units_of(segments, apart, 2)
    assert max(len(unit.begin) for unit in units) == 8
    for found in (units, team_run.units_of(segments, shared, 2)):
        assert np.array_equal(np.concatenate([unit.begin for unit in found]), edges)
