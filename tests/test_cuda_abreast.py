"""Variants abreast on a device: the kernel beside its contract, whole backtests beside the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cer_gpu.kernels.teams.contract import AbreastEvents, Spans, abreast_reference
from cer_gpu.kernels.teams.cuda import AbreastUnits, abreast, device_events, device_team
from cuda_device import TINY, USABLE, forms_ahead, forms_launched
from test_abreast import TEMPLATES, members_of
from test_backtest import ticks

import cer_gpu as cer
from cer_gpu.engine.cuda.machines import teams
from cer_gpu.engine.machines import numbers
from cer_gpu.engine.run import bound_query, passes, team_run
from cer_gpu.engine.run.device_choice import Place
from cer_gpu.plan.automaton_team import edges_of
from cer_gpu.plan.machine import TEAMS

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = pytest.mark.gpu


@pytest.mark.draws("seed", 12)
def test_the_kernel_adds_up_what_the_runs_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    members, count = int(rng.integers(1, 9)), int(rng.integers(1, 30))
    edges, nodes = edges_of(*members_of(rng, members, 4))
    kind: Any = rng.choice([np.uint64, np.float64])
    keys = np.sort(rng.integers(0, 40, count)).astype(kind)
    at = keys.astype(rng.choice([np.int64, np.float64]))
    cuts = np.sort(rng.integers(0, count + 1, 3)).tolist()
    begin, stop = np.array([0, *cuts]), np.array([*cuts, count])
    units = AbreastUnits(begin, begin + rng.integers(0, 3, 4), stop)
    group = np.sort(rng.integers(0, 3, count)) if rng.random() < 0.5 else np.empty(0, np.int64)
    borders = np.unique(np.append(rng.integers(0, members + 1, 2), [0, members]))
    spans = Spans(borders, rng.integers(0, 30, len(borders) - 1).astype(kind))
    events = AbreastEvents(rng.integers(0, 7, count).astype(np.uint8), keys, at, group)
    expected = abreast_reference(edges, spans, nodes, events, *units, 3)
    team = device_team(edges, borders, nodes)
    widest, sums = abreast(team, spans.size, device_events(events), units, 3, TINY[seed % 3])
    for found, right in zip(sums, expected, strict=True):
        np.testing.assert_array_equal(found, right)
    assert widest.shape == (members,)
    assert widest.max() < count


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many members the device has followed in each chunk, of ladders; few groups to a launch."""
    begun, asked = teams.DeviceTeams.__init__, teams.DeviceTeams.found
    monkeypatch.setattr(teams, "SUMS", 64)
    monkeypatch.setattr(
        teams.DeviceTeams, "__init__", lambda self, devices, given: begun(self, devices, given, *TINY[:2])
    )
    found: list[int] = []

    def noted(self: teams.DeviceTeams, *given: Any) -> Any:
        made = asked(self, *given)
        found.append(0 if made is None else len(made[0].wrong))
        return made

    monkeypatch.setattr(teams.DeviceTeams, "found", noted)
    return found


@pytest.mark.parametrize("by", [None, "12 h", "k", ["8 h", "k"]])
@pytest.mark.parametrize("window", [["5 h", "14 h"], [40, 17]], ids=["time", "events"])
def test_a_sweep_finds_what_it_finds_on_the_cpu(window: list[Any], by: Any, followed: list[int]) -> None:
    unit = "" if isinstance(window[0], str) else "EVENTS"
    text = f"SELECT * FROM S WHERE {TEMPLATES[0]} PARTITION BY [k] WITHIN $w {unit}"
    sweep = cer.sweep(text, p=[3, 10], q=[0.2, 0.9], w=window)
    given: dict[str, Any] = {"order_by": "ts", "by": by}
    with forms_launched() as launched:
        there = cer.backtest(sweep, ticks(120), device="cuda", **given).to_arrow()
    assert followed == [len(sweep)]
    assert launched["abreast"] <= forms_ahead()["abreast"]
    assert there.equals(cer.backtest(sweep, ticks(120), device="cpu", **given).to_arrow())
    assert sum(there["matches"].to_pylist()) > 0


def test_what_cannot_go_abreast_runs_by_itself_there(followed: list[int]) -> None:
    texts = {f"steps {x}": f"SELECT * WHERE (A AS a FILTER a[x > {x}]) ; B WITHIN 2 hours" for x in range(7)}
    texts |= {
        "next": "SELECT * WHERE A : B WITHIN 2 hours",
        "last": "SELECT LAST * WHERE A ; B WITHIN 1 hour",
    }
    there = cer.backtest(texts, ticks(80), order_by="ts", device="cuda").to_arrow()
    assert followed == [7]
    assert there.equals(cer.backtest(texts, ticks(80), order_by="ts", device="cpu").to_arrow())


def test_auto_runs_a_sweep_where_it_takes_less_time(
    followed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device is worth it for seven variants together, and for none by itself."""

    def place_of(*given: Any, members: int = 1, lists: bool = False) -> Place:
        return Place((0,) if given[0] == ("auto",) and members >= 7 else (), "as estimated")

    monkeypatch.setattr(bound_query, "place_of", place_of)
    text = "SELECT * WHERE (A AS a FILTER a[x > $p]) ; B WITHIN 2 hours"
    for members, there in ((5, []), (7, [7])):
        queries = {f"above {p}": text.replace("$p", str(p)) for p in range(members)}
        queries["next"] = "SELECT NEXT * WHERE A ; B WITHIN 2 hours"
        found = cer.backtest(queries, ticks(80), order_by="ts").to_arrow()
        assert found.equals(cer.backtest(queries, ticks(80), order_by="ts", device="cpu").to_arrow())
        assert followed == there


def test_without_memory_the_cpu_follows_them(followed: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    text = "SELECT * WHERE (A AS a FILTER a[x > $p]) ; B WITHIN 2 hours"
    sweep = cer.sweep(text, p=list(range(8)))
    expected = cer.backtest(sweep, ticks(80), order_by="ts", device="cpu").to_arrow()
    monkeypatch.setattr(teams, "tried_on", lambda number, action: None)
    assert cer.backtest(sweep, ticks(80), order_by="ts", device="cuda").to_arrow().equals(expected)
    assert followed == [0]


def test_kernels_of_teams_that_are_wrong_are_not_used(
    followed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(number: int, *engines: str) -> str | None:
        return "the kernel is wrong" if TEAMS in engines else None

    monkeypatch.setattr(passes, "why_wrong", wrong)
    sweep = cer.sweep("SELECT * WHERE (A AS a FILTER a[x > $p]) ; B WITHIN 2 hours", p=list(range(8)))
    with pytest.warns(UserWarning, match=r"the kernel is wrong\. The queries run one by one"):
        there = cer.backtest(sweep, ticks(80), order_by="ts", device="cuda").to_arrow()
    assert followed == []
    assert there.equals(cer.backtest(sweep, ticks(80), order_by="ts", device="cpu").to_arrow())


def test_numbers_that_may_not_fit_are_counted_one_by_one(
    followed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numbers, "SAFE", 40)
    text = "SELECT * WHERE (A AS a FILTER a[x > $p]) ; B ; C WITHIN $w"
    sweep = cer.sweep(text, p=[2, 5, 9], w=["1 min", "5 h"])
    one_by_one: list[int] = []
    asked = team_run.AbreastRun._one_by_one

    def noted(self: Any, chunk: Any, team: Any, which: np.ndarray, segments: Any) -> Any:
        one_by_one.append(int(which.sum()))
        return asked(self, chunk, team, which, segments)

    monkeypatch.setattr(team_run.AbreastRun, "_one_by_one", noted)
    there = cer.backtest(sweep, ticks(60), order_by="ts", device="cuda").to_arrow()
    assert one_by_one
    monkeypatch.undo()
    assert there.equals(cer.backtest(sweep, ticks(60), order_by="ts", device="cpu").to_arrow())


@pytest.mark.parametrize(
    "pattern", ["A ; B {2,} ; (C ; A) AS x", "A ; B ? ; C", "A ; (B : C) AS x", "A : B : C"]
)
def test_the_funnel_of_a_device(pattern: str) -> None:
    query = cer.compile(f"SELECT * WHERE {pattern} PARTITION BY [k] WITHIN 5 hours")
    there = query.funnel(ticks(80), order_by="ts", device="cuda")
    assert there.equals(query.funnel(ticks(80), order_by="ts", device="cpu"))
    died = [one for step, one in zip(there["step"].to_pylist(), there["died"].to_pylist()) if step > 1]
    assert None not in died
    assert sum(died) > 0


def test_the_funnels_of_a_sweep_are_counted_abreast(followed: list[int]) -> None:
    text = "SELECT * WHERE (A AS a FILTER a[x > $p]) ; (B AS b FILTER b[y < $q]) ; C WITHIN 5 hours"
    sweep = cer.sweep(text, p=[3, 10], q=[0.2, 0.9])
    there = cer.backtest(sweep, ticks(80), order_by="ts", device="cuda", funnel=True)
    assert max(followed) > len(sweep)
    assert there.funnel.equals(
        cer.backtest(sweep, ticks(80), order_by="ts", funnel=True, device="cpu").funnel
    )
    assert sum(one or 0 for one in there.funnel["died"].to_pylist()) > 0
