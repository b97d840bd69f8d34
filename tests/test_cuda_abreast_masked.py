"""Variants of any shape abreast on a device: the kernels beside all runs, whole backtests beside the CPU."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from cer_gpu.kernels.runs.contract import accepting_runs
from cer_gpu.kernels.teams.contract import AbreastEvents, no_sums
from cer_gpu.kernels.teams.cuda import AbreastUnits, device_events
from cer_gpu.kernels.teams.cuda_masks import abreast_carried, abreast_masked, device_masked
from cuda_device import TINY, USABLE, forms_ahead, forms_launched
from random_tables import random_tables
from test_abreast_masked import ITERATED, TEMPLATES, moves_in
from test_backtest import ticks

import cer_gpu as cer
from cer_gpu.engine.cuda.machines import teams as device_teams
from cer_gpu.engine.machines import masked_sums as sizes
from cer_gpu.engine.run import chunks
from cer_gpu.plan.automaton_masks import masked_of

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = pytest.mark.gpu


@pytest.mark.draws("seed", 12)
def test_the_kernels_add_up_what_the_runs_are(seed: int) -> None:
    rng, draw = np.random.default_rng(seed), Random(seed)
    tables = [random_tables(draw) for _ in range(int(rng.integers(1, 6)))]
    nodes, many = max(one.n_live for one in tables), len(tables)
    cells = [rng.integers(0, one.n_symbols, 5) for one in tables]
    masked = masked_of([moves_in(one, nodes) for one in tables], cells, always=True)
    assert masked is not None
    count = int(rng.integers(1, 12))
    kind: Any = rng.choice([np.uint64, np.float64])
    keys, size = np.sort(rng.integers(0, 20, count)).astype(kind), kind(rng.integers(0, 12))
    at = keys.astype(rng.choice([np.int64, np.float64]))
    cuts = np.sort(rng.integers(0, count + 1, 2)).tolist()
    begin, stop = np.array([0, *cuts]), np.array([*cuts, count])
    report = np.minimum(begin + rng.integers(0, 3, 3), stop)
    group = np.sort(rng.integers(0, 2, count)) if rng.random() < 0.5 else np.empty(0, np.int64)
    given = rng.integers(0, 5, count).astype(np.uint8)
    there = device_masked(masked.forward, masked.backward, masked.ends, masked.nodes, masked.registers)
    events = device_events(AbreastEvents(given, keys, at, group))
    units = AbreastUnits(begin, report, stop)
    wrong, windowed = abreast_masked(there, np.array([size]), events, units, count + 1, 2, TINY[seed % 3])
    assert not wrong.any()
    carried, middle = np.zeros((3, nodes, many), np.int64), (begin + stop) // 2
    wrong, carried, free = abreast_carried(there, events, begin, middle, carried, 2, TINY[seed % 3])
    more, _, rest = abreast_carried(there, events, middle, stop, carried, 2, TINY[seed % 3])
    assert not (wrong | more).any()
    free = type(free)(
        free.hits + rest.hits,
        free.matches + rest.matches,
        np.minimum(free.first, rest.first),
        np.maximum(free.last, rest.last),
    )
    for member, (one, own) in enumerate(zip(tables, cells, strict=True)):
        for found, narrow in ((windowed, True), (free, False)):
            right = no_sums(2, 1, at.dtype)
            for g in range(3):
                ends: dict[int, int] = {}
                for start, end, _ in accepting_runs(one, own[given], int(begin[g]), int(stop[g])):
                    if not narrow or (end >= report[g] and keys[end] - keys[start] <= size):
                        ends[end] = ends.get(end, 0) + 1
                for end, matches in ends.items():
                    b = int(group[end]) if len(group) else 0
                    right.hits[b, 0] += 1
                    right.matches[b, 0] += matches
                    right.first[b, 0] = min(right.first[b, 0], at[end])
                    right.last[b, 0] = max(right.last[b, 0], at[end])
            for column, expected in zip(found, right, strict=True):
                np.testing.assert_array_equal(column[:, member], expected[:, 0])


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many members the device has followed in each chunk; few groups to a launch."""
    own = device_teams.DeviceTeams
    begun, windowed, carried = own.__init__, own.found, own.carried
    monkeypatch.setattr(device_teams, "SUMS", 64)
    monkeypatch.setattr(own, "__init__", lambda self, devices, teams: begun(self, devices, teams, *TINY[:2]))
    found: list[int] = []

    def noted(self: Any, *given: Any) -> Any:
        made = windowed(self, *given)
        found.append(0 if made is None else len(made[0].wrong))
        return made

    def noted_carried(self: Any, *given: Any) -> Any:
        made = carried(self, *given)
        found.append(0 if made is None else len(made.found[0].wrong))
        return made

    monkeypatch.setattr(own, "found", noted)
    monkeypatch.setattr(own, "carried", noted_carried)
    return found


GIVEN: dict[str, Any] = {"p": [3, 10, 15], "q": [0.2, 0.9]}


@pytest.mark.parametrize("within", ["", "WITHIN 14 h", "WITHIN 60 EVENTS"])
@pytest.mark.parametrize("pattern", [TEMPLATES[0], TEMPLATES[3], *ITERATED])
def test_a_sweep_finds_what_it_finds_on_the_cpu(pattern: str, within: str, followed: list[int]) -> None:
    sweep = cer.sweep(f"SELECT * FROM S WHERE {pattern} PARTITION BY [k] {within}", **GIVEN)
    with forms_launched() as launched:
        there = cer.backtest(sweep, ticks(200), order_by="ts", device="cuda").to_arrow()
    assert set(followed) == {len(sweep)}
    name = "abreast_masked" if within else "abreast_carried"
    assert launched[name] <= forms_ahead()[name]
    assert there.equals(cer.backtest(sweep, ticks(200), order_by="ts", device="cpu").to_arrow())
    assert sum(there["matches"].to_pylist()) > 0


@pytest.mark.parametrize("by", ["12 h", "k", ["8 h", "k"]])
@pytest.mark.parametrize("within", ["", "WITHIN 5 h"])
def test_sums_by_bucket_and_key(
    within: str, by: Any, followed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "CARRIED", 50)
    sweep = cer.sweep(f"SELECT * FROM S WHERE {TEMPLATES[1]} PARTITION BY [k] {within}", **GIVEN)
    given: dict[str, Any] = {"order_by": "ts", "by": by}
    there = cer.backtest(sweep, ticks(160), device="cuda", **given).to_arrow()
    assert set(followed) == {len(sweep)}
    assert there.equals(cer.backtest(sweep, ticks(160), device="cpu", **given).to_arrow())
    assert len(there) > 6


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("within", ["", "WITHIN 2 days"])
def test_numbers_past_64_bits_are_exact(
    within: str, followed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "CARRIED", 100)
    text = f"SELECT * FROM S WHERE (A AS a FILTER a[x >= $p]) + ; B PARTITION BY name {within}"
    sweep = cer.sweep(text, p=[0, 3, 8, 15, 18, 19])
    there = cer.backtest(sweep, ticks(1200), order_by="ts", device="cuda").to_arrow()
    assert set(followed) == {len(sweep)}
    assert there.equals(cer.backtest(sweep, ticks(1200), order_by="ts", device="cpu").to_arrow())
    numbers = [int(one) for one in there["matches"].to_pylist()]
    assert max(numbers) > 1 << 64
    assert 0 < min(numbers) < 1 << 60


@pytest.mark.parametrize("within", ["", "WITHIN 5 h"])
def test_without_memory_the_cpu_follows_them(
    within: str, followed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = cer.sweep(f"SELECT * FROM S WHERE {TEMPLATES[0]} {within}", **GIVEN)
    expected = cer.backtest(sweep, ticks(80), order_by="ts", device="cpu").to_arrow()
    monkeypatch.setattr(device_teams, "tried_on", lambda number, action: None)
    assert cer.backtest(sweep, ticks(80), order_by="ts", device="cuda").to_arrow().equals(expected)
    assert followed == [0]


def test_windows_with_too_many_starts_go_to_the_cpu(
    followed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = cer.sweep(f"SELECT * FROM S WHERE {TEMPLATES[1]} WITHIN 1 day", **GIVEN)
    expected = cer.backtest(sweep, ticks(80), order_by="ts", device="cpu").to_arrow()
    monkeypatch.setattr(device_teams, "has_room", lambda team, most: False)
    monkeypatch.setattr(sizes, "FRONT", 10)
    assert cer.backtest(sweep, ticks(80), order_by="ts", device="cuda").to_arrow().equals(expected)
    assert followed == [0]


def test_a_few_of_a_kind_run_by_themselves(followed: list[int]) -> None:
    sweep = cer.sweep(f"SELECT * FROM S WHERE {TEMPLATES[0]} WITHIN $w", p=[3], q=[0.9], w=["1 h", "5 h"])
    there = cer.backtest(sweep, ticks(80), order_by="ts", device="cuda").to_arrow()
    assert not followed
    assert there.equals(cer.backtest(sweep, ticks(80), order_by="ts", device="cpu").to_arrow())


@pytest.mark.parametrize("within", ["", "WITHIN 20 h"])
def test_a_sweep_goes_on_with_new_files(within: str, followed: list[int], tmp_path: Path) -> None:
    table, paths = ticks(240, 2), []
    for first, stop in ((0, 90), (90, 91), (91, 240)):
        paths.append(tmp_path / f"part-{first}.parquet")
        pq.write_table(table.slice(first, stop - first), paths[-1])
    text = f"SELECT * FROM S WHERE (A AS a FILTER a[x >= $p]) + ; B PARTITION BY k {within}"
    sweep = cer.sweep(text, p=[0, 2, 5, 9, 12, 16])
    given: dict[str, Any] = {"order_by": "ts", "by": "8 h"}
    for many in (1, 2, 3):
        there = cer.backtest(sweep, paths[:many], device="cuda", resume=tmp_path / "kept", **given)
        expected = cer.backtest(sweep, paths[:many], device="cpu", **given)
        assert there.to_arrow().equals(expected.to_arrow())
    assert len(there) > 6
    assert set(followed) == {len(sweep)}
