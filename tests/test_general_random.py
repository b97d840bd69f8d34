"""The machine of configurations: random queries in every way they can be asked, against the reference."""

from __future__ import annotations

import warnings
from random import Random

import generate
import pytest
from engine_oracle import OPTIONS, check
from random_windows import windowed_query

from cer_gpu.engine.machines import configurations
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text


@pytest.fixture(autouse=True)
def general(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask for the machine of configurations, also where others would take the query."""
    monkeypatch.setitem(OPTIONS, "engine", "general")


def checked(name: str, seeds: range) -> int:
    """How many queries had answers, all of them those of the reference."""
    answered = 0
    for seed in seeds:
        rng = Random(f"{name} {seed}")
        query = windowed_query(rng)
        events = generate.stream(rng, rng.randrange(4, 12))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            print(f"seed {name} {seed}: {to_text(query)}")
            answered += check(query, events, rng) > 0
    return answered


KEYED = [
    "(A AS a ; B AS b) WITHIN [<= 2 s] ;[<= 1 s] C AS c FILTER a.id = b.id AND b.id = c.id",
    "A AS a ;[<= 2 s] B AS b FILTER a.id = b.id",
    "(A AS a ;[> 250 ms] (B AS b OR C AS b)) WITHIN [<= 4 s] FILTER a.v = b.v AND a[p > 2]",
    "PROJECT((A AS a ; B AS b ;[<= 4 s] A AS c FILTER a.id = c.id AND a.id = b.id) | a, c)",
]


@pytest.mark.parametrize("pattern", KEYED)
def test_a_shared_key_makes_lanes(pattern: str) -> None:
    answered = 0
    for seed in range(8):
        rng = Random(f"keyed {seed}")
        clause = rng.choice(("", "WITHIN 3 SECONDS", "WITHIN 6 EVENTS", "CONSUME BY ANY", "LIMIT 2"))
        strategy = rng.choice(("", "NEXT", "MAX", "LAST"))
        query = parse(f"SELECT {strategy} * WHERE {pattern} {clause}")
        assert isinstance(query, t.SelectQuery)
        events = generate.stream(rng, 16)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answered += check(query, events, rng) > 0
    assert answered


@pytest.mark.draws("part", 4)
def test_random_timed_queries(part: int) -> None:
    assert checked(f"general {part}", range(25)) > 4


def test_tables_that_are_too_small_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configurations, "ROOM", 2)
    monkeypatch.setattr(configurations, "LEAST", 3)
    assert checked("small tables", range(24)) > 2
