"""Aggregates on both sides of a comparison: partial matches that differ in them must not be merged."""

from __future__ import annotations

import warnings
from itertools import product
from random import Random

import pyarrow as pa
import pytest
from engine_oracle import check
from generate import stream
from random_aggregates import aggregates_query

import cer_gpu as cer
from cer_gpu.language.printer import to_text

TURN = "(O AS p OR C AS q)"

HOLDS = {
    "COUNT(p) = COUNT(q)": lambda p, q: p == q,
    "COUNT(p) != COUNT(q)": lambda p, q: p != q,
    "COUNT(p) > COUNT(q)": lambda p, q: p > q,
    "COUNT(p) = 2 * COUNT(q)": lambda p, q: p == 2 * q,
    "COUNT(p) * COUNT(q) = 2": lambda p, q: p * q == 2,
}

PATTERNS = {f"({TURN} : {TURN})": (2, 2), f"({TURN} : {TURN} : {TURN})": (3, 3), f"({TURN} :+)": (1, 5)}


@pytest.mark.crossed
@pytest.mark.parametrize("condition", HOLDS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_all_streams_of_two_types(pattern: str, condition: str) -> None:
    query = cer.compile(f"SELECT * WHERE {pattern} FILTER {condition}")
    least, most = PATTERNS[pattern]
    for length in range(1, 6):
        for types in product("OC", repeat=length):
            expected = [
                (start, end)
                for end in range(length)
                for start in range(end + 1)
                if least <= end - start + 1 <= most
                and HOLDS[condition](
                    types[start : end + 1].count("O"), types[start : end + 1].count("C")
                )
            ]  # fmt: skip
            table = pa.table({"type": list(types)})
            assert [(one.start, one.end) for one in query.run(table)] == expected, types
            assert query.count(table) == len(expected)


def test_what_a_match_counts_is_what_its_measures_say() -> None:
    query = cer.compile(
        f"SELECT *, COUNT(p) AS opened, COUNT(q) AS closed WHERE ({TURN} :+) FILTER COUNT(p) = COUNT(q)"
    )
    rows = query.run(pa.table({"type": list("OCCOCOOC")}))
    assert [one.measures["opened"] - one.measures["closed"] for one in rows] == [0] * len(list(rows))
    assert len(list(rows)) > 5


@pytest.mark.draws("part", 4)
def test_random_aggregates(part: int) -> None:
    answered = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(20):
            rng = Random(f"aggregates {part} {seed}")
            query = aggregates_query(rng)
            events = stream(rng, rng.randrange(3, 9))
            print(f"seed {part} {seed}: {to_text(query)}")
            answered += check(query, events, rng) > 0
    assert answered > 2
