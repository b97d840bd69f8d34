"""The machine of configurations: random queries in every way they can be asked, against the reference."""

from __future__ import annotations

import warnings
from random import Random

import generate
import pytest
from engine_oracle import OPTIONS, check
from random_windows import windowed_query

from cer_gpu.engine.machines import configurations
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


@pytest.mark.parametrize("part", range(4))
def test_random_timed_queries(part: int) -> None:
    assert checked(f"general {part}", range(25)) > 4


def test_tables_that_are_too_small_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configurations, "ROOM", 2)
    monkeypatch.setattr(configurations, "LEAST", 3)
    assert checked("small tables", range(24)) > 2
