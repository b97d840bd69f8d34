"""Queries that read a stream together: each event has the symbol that it has for each query alone."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.plan import shared_reading

TEXTS = ["ann", "bob", "eve", ""]


def events(rng: np.random.Generator, count: int = 2000) -> pa.Table:
    """Events of four types with whole numbers, floats, texts and nulls."""
    holes = rng.random((3, count)) < 0.1
    return pa.table(
        {
            "type": rng.choice(list("ABCD"), count),
            "x": pa.array(rng.integers(-4, 5, count), mask=holes[0]),
            "y": pa.array(rng.integers(-4, 5, count) / 2, mask=holes[1]),
            "name": pa.array(rng.choice(TEXTS, count), mask=holes[2]),
            "ts": np.arange(count),
        }
    )


def condition(rng: random.Random, depth: int = 2) -> str:
    """A random condition on one event."""
    if depth and rng.random() < 0.5:
        inner = [condition(rng, depth - 1) for _ in range(2)]
        return rng.choice(["({} AND {})", "({} OR {})", "(NOT {} OR {})"]).format(*inner)
    number = rng.choice([rng.randint(-3, 3), rng.randint(-6, 6) / 2])
    text = rng.choice(TEXTS)
    return rng.choice(
        [
            f"{rng.choice('xy')} {rng.choice(['<', '<=', '>', '>=', '=', '!='])} {number}",
            f"x + y {rng.choice(['<', '>='])} {number}",
            f"name {rng.choice(['<', '>=', '=', '!='])} '{text}'",
            f"name IN {{'{text}', 'bob'}}",
            f"name LIKE '{rng.choice(['^a', 'e', 'b$'])}'",
            f"{rng.choice(['x', 'y', 'name'])} IS NULL",
            f"x {rng.choice(['<', '='])} y",
        ]
    )


def query(rng: random.Random) -> str:
    """A random sequence of two or three filtered steps."""
    steps = []
    for variable in "abc"[: rng.randint(2, 3)]:
        step = f"{rng.choice('ABCD')} AS {variable}"
        steps.append(f"({step} FILTER {variable}[{condition(rng)}])" if rng.random() < 0.8 else step)
    return f"SELECT * WHERE {' ; '.join(steps)} WITHIN {rng.choice([3, 10])} EVENTS"


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("name", "most"), [("QUERIES", 5000), ("LEVEL", 60), ("TOLD_APART", 30)])
def test_queries_together_find_what_each_finds_alone(
    name: str, most: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_reading, name, most)
    rng = random.Random(seed)
    table = events(np.random.default_rng(seed))
    texts = [query(rng) for _ in range(25)]
    found = cer.backtest(texts, table, order_by="ts", device="cpu")
    rows = found.to_arrow().to_pylist()
    assert sum(row["hits"] for row in rows) > 100
    for text, row in zip(texts, rows, strict=True):
        counts = cer.compile(text).counts(table, order_by="ts", device="cpu")["count"].to_pylist()
        assert (row["hits"], row["matches"]) == (len(counts), sum(counts)), text
