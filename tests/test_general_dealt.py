"""The lanes of a query by configurations are dealt to several threads, which give what one gives."""

from __future__ import annotations

import threading
import warnings
from random import Random
from unittest.mock import patch

import generate
import numpy as np
import pyarrow as pa
import pytest
from engine_oracle import OPTIONS, check

import cer_gpu as cer
from cer_gpu.engine import workers
from cer_gpu.engine.machines import configurations, dealt_configurations
from cer_gpu.engine.machines.configurations import ConfigurationRuns
from cer_gpu.engine.machines.dealt_configurations import DealtConfigurations
from cer_gpu.errors import LimitError
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text

PATTERNS = (
    "A AS a ; B AS b ; C AS c FILTER b.p != a.p AND c.v >= a.v",
    "A AS a ; (B AS b)+ ; C AS c FILTER c.s > a.s",
    "(A AS a ; B AS b) UNLESS (C AS c FILTER c.v < a.v)",
    "A AS a ;[<= 9 s] B AS b ; A AS c FILTER b.p <= c.v",
    "(A AS a)+ ; B AS b FILTER SUM(a.v) > b.v + 2",
)


@pytest.fixture(name="three")
def _three(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Three threads, which get lanes of any push; how many follow lanes of each."""
    monkeypatch.setattr(workers, "usable_cores", lambda: 3)
    monkeypatch.setattr(dealt_configurations, "LEAST", 0)
    monkeypatch.setattr(dealt_configurations, "FEW", 2)
    shares = []
    push = DealtConfigurations.push

    def pushed(runs: DealtConfigurations, following: object) -> object:
        found = push(runs, following)  # type: ignore[arg-type]
        shares.append(len({*runs._owner.tolist()}))
        return found

    monkeypatch.setattr(DealtConfigurations, "push", pushed)
    return shares


@pytest.mark.crossed
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("tiny", [False, True])
def test_random_streams(pattern: str, tiny: bool, three: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OPTIONS, "engine", "general")
    if tiny:
        for name in ("ROOM", "LEAST"):
            monkeypatch.setattr(configurations, name, 2)
    answered = 0
    for seed in range(6):
        rng = Random(f"dealt {pattern} {seed}")
        clause = rng.choice(("", "WITHIN 6 SECONDS", "WITHIN 6 EVENTS", "CONSUME BY PARTITION"))
        own, _, rest = clause.partition("CONSUME")
        rest = f"CONSUME{rest}" if rest else ""
        query = parse(
            f"SELECT {rng.choice(('', '', 'MAX', 'NEXT'))} * WHERE {pattern} PARTITION BY id {own} {rest}"
        )
        assert isinstance(query, t.SelectQuery)
        events = generate.stream(rng, 20, holes=0.02)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            print(f"seed {seed}: {to_text(query)}")
            answered += check(query, events, rng) > 0
    assert answered > 2
    assert max(three) == 3


def _table(count: int, keys: int) -> pa.Table:
    rng = np.random.default_rng(7)
    return pa.table(
        {
            "type": pa.array(rng.choice(list("ABC"), count)).dictionary_encode(),
            "k": rng.integers(0, keys, count),
            "p": rng.integers(0, 50, count),
            "s": pa.array(rng.choice(["x", "y", "z", "u"], count)),
        }
    )


QUERY = (
    "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER c.p > a.p AND b.s != a.s PARTITION BY k WITHIN 60 EVENTS"
)


def _with_threads(threads: int, text: str = QUERY) -> cer.Query:
    """A query that runs in so many threads."""
    with patch.object(workers, "usable_cores", lambda: threads):
        return cer.compile(text)


def test_lanes_are_followed_in_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is counted, told and listed is what one thread finds, in the same order."""
    table, query = _table(30_000, 200), _with_threads(1)
    seen: set[str] = set()
    follow = ConfigurationRuns._follow

    def followed(runs: ConfigurationRuns, stop: int, ends: object) -> object:
        seen.add(threading.current_thread().name)
        return follow(runs, stop, ends)  # type: ignore[arg-type]

    monkeypatch.setattr(ConfigurationRuns, "_follow", followed)
    number, counts = query.count(table, engine="general"), query.counts(table, engine="general")
    hits, rows = query.hits(table, engine="general"), query.run(table, engine="general").to_arrow()
    assert seen == {"MainThread"}
    query = _with_threads(4)
    assert query.count(table, engine="general") == number > 10_000
    assert len(seen) > 2
    assert query.counts(table, engine="general").equals(counts)
    assert query.hits(table, engine="general").equals(hits)
    assert query.run(table, engine="general").to_arrow().equals(rows)


def test_a_stored_stream_goes_on_with_other_threads() -> None:
    half = dealt_configurations.LEAST + 100
    table, text = _table(2 * half, 50), QUERY.replace("60 EVENTS", "20 EVENTS")
    wanted = _with_threads(1, text).count(table, engine="general")
    assert wanted > half
    for first, second in ((3, 1), (1, 4), (4, 2)):
        stream = _with_threads(first, text).stream(engine="general")
        found = stream.push(table.slice(0, half)).to_arrow().num_rows
        state = stream.snapshot()
        stream = _with_threads(second, text).stream(engine="general", state=state)
        found += stream.push(table.slice(half, 17)).to_arrow().num_rows
        found += stream.push(table.slice(half + 17)).to_arrow().num_rows
        assert found == wanted


def test_the_budget_is_that_of_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of three threads has less than the budget, all together more."""
    table = _table(30_000, 300)
    query = _with_threads(
        3, "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER b.p > a.p AND c.p > a.p + b.p PARTITION BY k"
    )
    open_rows = []
    follow = ConfigurationRuns._follow

    def followed(runs: ConfigurationRuns, stop: int, ends: object) -> object:
        found = follow(runs, stop, ends)  # type: ignore[arg-type]
        open_rows.append(runs.open_count)
        return found

    monkeypatch.setattr(ConfigurationRuns, "_follow", followed)
    query.hits(table, engine="general")
    assert len(open_rows) == 3
    monkeypatch.setattr(configurations, "CONFIGURATIONS", max(open_rows) * 3 // 2)
    with pytest.raises(LimitError, match=f"more than {max(open_rows) * 3 // 2:,} partial matches are open"):
        query.hits(table, engine="general")
    monkeypatch.setattr(configurations, "CONFIGURATIONS", sum(open_rows) * 2)
    query.hits(table, engine="general")
