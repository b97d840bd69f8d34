"""Configurations on a device: whole queries of the general machine beside the CPU and the reference."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.configurations import contract as words
from cer_gpu.kernels.configurations import cuda
from cuda_device import TINY, USABLE, cases
from engine_oracle import expected
from generate import stream, stream_to_table
from random_correlated import random_correlated
from random_windows import windowed_query

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.engine.cuda.machines import general
from cer_gpu.engine.cuda.machines.general import DevicesConfigurations
from cer_gpu.engine.machines import configurations
from cer_gpu.engine.run import event_run
from cer_gpu.errors import DataError, LimitError
from cer_gpu.language import tree as t
from cer_gpu.language.printer import to_text

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Configurations of few lanes on the device, in small pushes: what lanes have said."""
    monkeypatch.setattr(general, "LEAST", 1)
    monkeypatch.setattr(event_run, "AT_ONCE", 24)
    begun, asked = DevicesConfigurations.__init__, DevicesConfigurations._by_device
    monkeypatch.setattr(DevicesConfigurations, "__init__", lambda *given: begun(*given, TINY[0]))
    tally: Counter[str] = Counter()

    def noted(self: DevicesConfigurations, *given: Any) -> Any:
        found = asked(self, *given)
        for status in found[0][:, 0].tolist():
            tally[f"status {status}"] += 1
        return found

    monkeypatch.setattr(DevicesConfigurations, "_by_device", noted)
    return tally


def trades(n: int = 60, times: str = "int64", seed: int = 3) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "type": rng.choice(["A", "B", "C"], n),
            "p": rng.integers(0, 9, n),
            "q": rng.random(n).round(1),
            "name": rng.choice(["x", "y", "z"], n),
            "k": rng.integers(0, 3, n),
            "ts": np.cumsum(rng.integers(0, 2, n)).astype(times),
        }
    )


def agree(text: str, table: pa.Table, **options: Any) -> int:
    """Assert that every question has the CPU's answer; how many ends there are."""
    query = cer.compile(f"SELECT * WHERE {text}")
    options = {"engine": "general", "order_by": "ts", "order_unit": "s", **options}
    for ask in (query.hits, query.counts):
        assert ask(table, device="cuda", **options) == ask(table, device="cpu", **options)
    return len(query.hits(table, device="cpu", **options))


TEXTS = {
    "a later value": "A AS a ; B AS b ; C AS c FILTER c.p > a.p PARTITION BY k WITHIN 20 SECONDS",
    "an equal value": "A AS a ; B AS b ; C AS c FILTER c.p = a.p PARTITION BY k WITHIN 40 SECONDS",
    "texts": "A AS a ; B ; C AS c FILTER c.name >= a.name PARTITION BY k WITHIN 9 EVENTS",
    "worked out": "A AS a ; B ; C AS c FILTER c.p + c.q > 2 * a.p - 1 PARTITION BY k WITHIN 20 SECONDS",
    "an aggregate": "A AS a ; B+ AS b ; C AS c FILTER SUM(b.p) > a.p + c.p PARTITION BY k WITHIN 15 SECONDS",
    "before": "(A AS a FILTER a.p >= MAX(BEFORE(a).p)) {2,3} ; C PARTITION BY k WITHIN 8 SECONDS",
    "repetitions": "(A AS a ; B AS b) {1,2} ; C FILTER SUM(b.p - a.p) > 1 PARTITION BY k WITHIN 9 SECONDS",
    "several clocks": "((A ; B) WITHIN [<= 4 s] ; C) WITHIN [<= 9 s] PARTITION BY k",
    "clocks and values": "A AS a ;[<= 5 s] B ;[>= 1 s] C AS c FILTER c.p > a.p PARTITION BY k",
    "consumed": "A AS a ; B ; C AS c FILTER c.p > a.p PARTITION BY k WITHIN 20 SECONDS CONSUME BY PARTITION",
    "limited": "A AS a ; B ; C AS c FILTER c.p >= a.p PARTITION BY k LIMIT 2",
    "plain": "A AS a ; B+ AS b ; C AS c FILTER b[p > 3] PARTITION BY k",
    "in a window": "A ; B ; C PARTITION BY k WITHIN 9 EVENTS",
    "neighbours": "A : (B OR C) PARTITION BY k WITHIN 3 SECONDS",
    "by an attribute": "A ; B PARTITION BY k WITHIN 4 [p]",
    "not there": "(A AS a ; B UNLESS C) ; C AS c FILTER c.p > a.p PARTITION BY k WITHIN 12 SECONDS",
}


@pytest.mark.parametrize("times", ["int64", "float64"])
@pytest.mark.parametrize("name", TEXTS)
def test_every_kind_of_query_has_the_answers_of_the_cpu(name: str, times: str, done: Counter[str]) -> None:
    assert agree(TEXTS[name], trades(times=times)) > 2
    assert done["status 0"] > 6


def test_slabs_grow_and_what_overflows_the_largest_is_followed_by_the_cpu(
    done: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(general, "ROWS", 4)
    assert agree(TEXTS["a later value"], trades()) > 2
    assert done[f"status {words.CONFIGURATIONS_FULL}"] > 2
    assert done["status 0"] > 6
    before = done["status 0"]
    monkeypatch.setattr(general, "MOST_ROWS", 3)
    assert agree(TEXTS["a later value"], trades()) > 2
    assert done["status 0"] == before


def test_counts_past_64_bits(done: Counter[str]) -> None:
    """A lane whose counts need another digit is counted by the CPU; the device goes on with more digits."""
    n = 80
    table = pa.table(
        {"type": ["A"] * (n - 1) + ["C"], "p": [1] * (n - 1) + [2], "k": [0] * n, "ts": range(n)}
    )
    assert agree("(A AS a)+ ; C AS c FILTER c.p > a.p PARTITION BY k", table) == 1
    found = cer.compile("SELECT * WHERE (A AS a)+ ; C AS c FILTER c.p > a.p PARTITION BY k").counts(
        table, engine="general", device="cuda", order_by="ts", order_unit="s"
    )
    assert found["count"].to_pylist() == [2 ** (n - 1) - 1]
    assert done[f"status {words.LIMBS_FULL}"] > 0


def test_budgets_and_overflow_end_as_on_the_cpu(done: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU follows a push again where a budget may be exceeded: its errors are those of the device."""
    monkeypatch.setattr(configurations, "CONFIGURATIONS", 60)
    text = "A AS a ; B ; C AS c FILTER c.p > a.p PARTITION BY k"
    said = []
    for device in ("cpu", "cuda"):
        with pytest.raises(LimitError) as raised:
            cer.compile(f"SELECT * WHERE {text}").hits(trades(150), engine="general", device=device)
        said.append(str(raised.value))
    assert said[0] == said[1]
    assert done["status 0"] > 2
    monkeypatch.setattr(configurations, "CONFIGURATIONS", 1 << 22)
    large = trades()
    large = large.set_column(1, "p", pa.array([1 << 62] * len(large), pa.int64()))
    for device in ("cpu", "cuda"):
        with pytest.raises(DataError, match="does not fit 64 bits"):
            cer.compile("SELECT * WHERE A AS a ; B ; C AS c FILTER c.p + a.p > 2 * a.p PARTITION BY k").hits(
                large, engine="general", device=device
            )


def test_a_device_without_memory_leaves_the_push_to_the_cpu(
    done: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class NoMemoryError(Exception):
        """What a driver without memory raises."""

        code = 2

    def exhausted(*_: Any, **__: Any) -> None:
        raise NoMemoryError

    monkeypatch.setattr(cuda, "slab_of", exhausted)
    with pytest.warns(UserWarning, match="no memory left for partial matches"):
        assert agree(TEXTS["a later value"], trades()) > 2
    assert not done


def test_random_queries_have_the_answers_of_the_reference(done: Counter[str]) -> None:
    """Correlated and timed queries by key, over streams in small pushes."""
    rng, answered = Random("configurations there"), 0
    while answered < cases(6, 200):
        drawn = windowed_query(rng) if answered % 2 else random_correlated(rng)
        drawn = replace(drawn, partition=(("id",),), consume=t.Consume.NONE, limit=None, measures=())
        events = stream(rng, rng.randrange(10, 18))
        given = {"engine": "general", "order_by": "ts", "stream_column": "stream", "device": "cuda"}
        ends = Counter(row[1] for row in expected(drawn, events))
        if not ends and rng.random() < 0.8:
            continue
        query, table = Query(to_text(drawn)), stream_to_table(events)
        assert Counter(query.hits(table, **given)["position"].to_pylist()) == Counter(ends.keys()), query.text
        found = query.counts(table, **given)
        counts = dict(zip(found["position"].to_pylist(), found["count"].to_pylist(), strict=True))
        assert counts == ends, query.text
        answered += len(ends) > 0
    assert done["status 0"] > answered
