"""The machine of configurations looks ahead: what can no longer end within the window is dropped at once."""

from __future__ import annotations

import warnings
from dataclasses import replace
from random import Random

import generate
import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.configurations.contract import HOPELESS
from cer_gpu.kernels.configurations.cpu_lookahead import earliest_ends
from engine_oracle import OPTIONS, check, expected, pieces, pushed
from fuzz import sizes
from random_comparisons import compared_query
from random_one_clock import one_clock_query
from random_windows import windowed_query

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.engine.machines import configurations, lookahead
from cer_gpu.engine.machines.configurations import ConfigurationRuns
from cer_gpu.language import tree as t
from cer_gpu.language.printer import to_text


@pytest.fixture
def dropped(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Look ahead from the first event on; how many configurations each run of events has dropped for it."""
    monkeypatch.setattr(lookahead, "WORK", 0)
    monkeypatch.setattr(lookahead, "FEW", 1)
    monkeypatch.setattr(lookahead, "SHARE", 1 << 40)  # one is enough to go on
    found: list[int] = []
    follow = ConfigurationRuns._follow

    def followed(runs: ConfigurationRuns, stop: int, ends: object) -> object:
        before = int(runs._progress[HOPELESS])
        try:
            return follow(runs, stop, ends)  # type: ignore[arg-type]
        finally:
            found.append(int(runs._progress[HOPELESS]) - before)

    monkeypatch.setattr(ConfigurationRuns, "_follow", followed)
    return found


WINDOWS = (
    t.Window(2, "events"),
    t.Window(4, "events"),
    t.Window(1, "time", unit="s"),
    t.Window(3, "time", unit="s"),
    t.Window(1500, "attribute", attribute="ts"),
)


@pytest.mark.parametrize(("kind", "count"), [("compared", 16), ("timed", 24)])
def test_random_queries(kind: str, count: int, dropped: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OPTIONS, "engine", "general")
    answered = 0
    for seed in range(count):
        rng = Random(f"ahead {kind} {seed}")
        query = compared_query(rng) if kind == "compared" else windowed_query(rng)
        query = replace(query, window=rng.choice(WINDOWS))
        if dict(Query(to_text(query))._plan.said)["general"] is not None:
            continue  # nothing in it is compared or timed
        events = generate.stream(rng, rng.randrange(6, 13))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            print(f"seed {seed}: {to_text(query)}")
            answered += check(query, events, rng) > 0
    assert answered > count // 6
    assert sum(map(bool, dropped)) > count


QUERIES = {
    "two variables": "A AS a ; A AS b ; B AS c FILTER c.v > a.v + b.v",
    "far": "A AS a ; A AS b ; B AS c FILTER c.v > a.v AND b.v > a.v",
    "sum": "(A AS a) {2} ; B AS c FILTER SUM(a.v) < c.v",
    "either": "(A AS a ; (A AS b OR X AS b)) ; B AS c FILTER c.v + b.v > a.v",
    "unless": "(A AS a ; A AS b ; B AS c) UNLESS (X AS x FILTER x.v = a.v) FILTER c.v > a.v + b.v",
}


@pytest.mark.crossed
@pytest.mark.parametrize("asked", ["count", "hits", "run"])
@pytest.mark.parametrize("window", ["20 EVENTS", "20 SECONDS", "20000000000 [ts]"])
@pytest.mark.parametrize("name", QUERIES)
def test_what_cannot_end_takes_no_room(
    name: str, window: str, asked: str, dropped: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only three events are close enough to the one that ends a match: few partial matches are ever open."""
    count, gap = 300, 17
    table = pa.table(
        {
            "type": ["A"] * count + ["X"] * gap + ["B"],
            "ts": pa.array(range(0, 1_000_000_000 * (count + gap + 1), 1_000_000_000), pa.timestamp("ns")),
            "v": [n % 7 + 1 for n in range(count)] + [0] * gap + [40],
        }
    )
    query = cer.compile(f"SELECT * WHERE {QUERIES[name]} WITHIN {window}")

    def ask() -> int:
        found = getattr(query, asked)(table, order_by="ts", engine="general")
        return int(found) if asked == "count" else len(found if asked == "hits" else list(found))

    monkeypatch.setattr(configurations, "CONFIGURATIONS", 24 if asked == "hits" else 60)
    found = ask()
    assert sum(dropped) > count // 2
    assert found
    monkeypatch.setattr(lookahead, "WORK", 1 << 40)
    with pytest.raises(cer.LimitError, match="partial matches are open"):
        ask()
    monkeypatch.setattr(configurations, "CONFIGURATIONS", 1 << 20)
    assert ask() == found


def test_a_push_that_saves_nothing_looks_ahead_no_more(
    dropped: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookahead, "SHARE", 8)
    looked: list[int] = []
    whole = lookahead.earliest_ends

    def seen(*arguments: object) -> None:
        looked.append(1)
        whole(*arguments)

    monkeypatch.setattr(lookahead, "earliest_ends", seen)
    monkeypatch.setattr(lookahead, "WORK", 50)
    query = cer.compile("SELECT * WHERE A AS a ; A AS b ; A AS c FILTER c.v > a.v + b.v WITHIN 10 EVENTS")
    table = pa.table({"type": ["A"] * 2000, "ts": range(2000), "v": [n % 5 for n in range(2000)]})
    assert query.count(table, order_by="ts", engine="general")
    assert 1 <= len(looked) < 20


@pytest.mark.draws("seed", 20)
def test_earliest_ends(seed: int) -> None:
    """By definition: the least that is measured at a later event of the lane at which a run may end."""
    rng = Random(f"ends {seed}")
    n, states, symbols, lanes = rng.randrange(1, 14), rng.randrange(1, 4), 3, rng.choice((1, 2))
    edges = [
        [(rng.randrange(states), rng.randrange(-1, states)) for _ in range(rng.randrange(4))]
        for _ in range(symbols)
    ]
    symbol = np.array([rng.randrange(symbols) for _ in range(n)], np.uint8)
    lane = np.array([rng.randrange(lanes) for _ in range(n)] if lanes > 1 else [], np.int32)
    dtype = rng.choice((np.uint64, np.float64))
    measured = np.cumsum([rng.randrange(3) for _ in range(n)]).astype(dtype)
    never = dtype(1 << 60)
    scratch = np.zeros(lanes, np.uint8), np.empty((lanes, states), dtype)
    out, begin = np.full((n, states), never), rng.randrange(n)
    earliest_ends(
        np.cumsum([0, *map(len, edges)], dtype=np.int32),
        np.array([edge for own in edges for edge in own], np.int32).reshape(-1, 2),
        symbol, lane, measured, begin, never, *scratch, out,
    )  # fmt: skip

    def earliest(event: int, state: int) -> float:
        own = lane[event] if len(lane) else 0
        later = [one for one in range(event + 1, n) if not len(lane) or lane[one] == own]
        if not later:
            return float(measured[event])  # what comes is not known
        one = later[0]
        found = [float(never)]
        for source, target in edges[symbol[one]]:
            if source == state:
                found.append(float(measured[one]) if target < 0 else earliest(one, target))
        return min(found)

    for event in range(begin, n):
        assert [earliest(event, state) for state in range(states)] == out[event].tolist()


def test_looking_ahead_knows_shapes_that_no_step_leads_to() -> None:
    """A late age may lead to a shape that no partial match has yet, when a push begins to look ahead."""
    rng = Random("campaign snapshots 17443")
    query = one_clock_query(rng)
    assert to_text(query).startswith("SELECT z\nWHERE PROJECT(C AS z+[< 0.5 s] ; B AS x | z)")
    events = generate.stream(rng, rng.randrange(5, 11))
    parts = pieces(generate.stream_to_table(events), range(1, len(events)))
    wanted = sorted(expected(query, events))
    for seed in range(20):  # of which some begin to look ahead then
        with sizes(tiny=True), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            told = pushed(Query(to_text(query)), parts, Random(seed), "general", often=0.4)
        assert sorted(told) == wanted
