"""The machine of configurations looks partial matches up by a value that a later event has to have."""

from __future__ import annotations

import warnings
from random import Random

import generate
import pyarrow as pa
import pytest
from cer_gpu.kernels.configurations.contract import WORK
from engine_oracle import OPTIONS, check

import cer_gpu as cer
from cer_gpu.engine.machines import configurations
from cer_gpu.engine.machines.configurations import ConfigurationRuns
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text

PATTERNS = (
    "A AS a ; B AS b ; A AS c FILTER a.id = c.id AND b.v < a.v",
    "A AS a ; B AS b ; C AS c FILTER c.p > a.p AND c.s = a.s",
    "(A AS a ; B AS b ; C AS c) FILTER a.id = c.id AND b.p != a.p",
    "(A AS a)+ ; B AS b ; C AS c FILTER a.id = c.id AND b.v > a.v",
    "A AS a ; (B AS b)+ ; C AS c FILTER c.id = a.id AND b.v != c.v",
    "A AS a ;[<= 2 s] B AS b ; C AS c FILTER a.id = c.id AND b.v < c.v",
    "A AS a ; B AS b ; C AS c FILTER a.id = c.id AND (b.v < a.v OR b.p > c.p)",
    "PROJECT((A AS a ; B AS b ; A AS c FILTER c.id = a.id AND b.v < c.v) | a, b)",
)


@pytest.mark.crossed
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("tiny", [False, True])
def test_random_streams(pattern: str, tiny: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OPTIONS, "engine", "general")
    if tiny:
        for name in ("ROOM", "LEAST"):
            monkeypatch.setattr(configurations, name, 2)
    indexed, answered = [], 0
    begin = ConfigurationRuns._learn

    def learned(runs: ConfigurationRuns, row: int, symbol: int) -> None:
        begin(runs, row, symbol)
        assert runs._steps is not None
        indexed.append(runs._steps.indexed)

    monkeypatch.setattr(ConfigurationRuns, "_learn", learned)
    for seed in range(5):
        rng = Random(f"index {seed}")
        clause = rng.choice(("", "WITHIN 3 SECONDS", "WITHIN 6 EVENTS", "CONSUME BY ANY", "PARTITION BY lap"))
        query = parse(f"SELECT {rng.choice(('', '', 'MAX', 'NEXT'))} * WHERE {pattern} {clause}")
        assert isinstance(query, t.SelectQuery)
        events = generate.stream(rng, 16)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            print(f"seed {seed}: {to_text(query)}")
            answered += check(query, events, rng) > 0
    assert answered
    assert any(indexed)


@pytest.mark.parametrize("asked", ["count", "hits", "run"])
def test_an_event_touches_those_that_have_its_value(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 500 values an event has one: no more partial matches are touched than with it."""
    touched: list[int] = []
    follow = ConfigurationRuns._follow

    def followed(runs: ConfigurationRuns, stop: int, ends: object) -> object:
        before = int(runs._progress[WORK])
        found = follow(runs, stop, ends)  # type: ignore[arg-type]
        touched.append(int(runs._progress[WORK]) - before)
        return found

    monkeypatch.setattr(ConfigurationRuns, "_follow", followed)
    count = 500
    zeros = [0.0, -0.0]
    table = pa.table(
        {
            "type": ["A"] * count + ["B"] + ["C"] * count,
            "ts": range(2 * count + 1),
            "k": [*map(float, range(1, count)), zeros[0], None, *map(float, range(1, count)), zeros[1]],
            "v": [1] * count + [0] + [2] * count,
        }
    )
    query = cer.compile(
        "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER c.v > a.v AND b.v < a.v AND c.k = a.k"
    )
    found = getattr(query, asked)(table, order_by="ts", engine="general")
    assert (
        found if asked == "count" else len(list(found.to_pylist() if asked == "hits" else found))
    ) == count
    assert sum(touched) < 8 * count
