"""Queries with 10^12 partial matches are stopped in bounded memory, by a message that says what to do."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pyarrow as pa
import pytest

import cer_gpu as cer

COUNT = 44
"""Events that an iteration may take or leave: 2^44 are more than 10^13 ways."""

MOST = 32 << 20
"""Bytes that a run may take on the way, with budgets of `LIMIT`."""

LIMIT = 400

CASES: dict[str, tuple[str, str, dict[str, list[Any]]]] = {
    "numbers": (
        "b.v < a.v AND b.p > a.p",
        "`b.v < a.v` compares",
        {"v": list(range(COUNT + 1)), "p": [float(n) for n in range(COUNT + 1)]},
    ),
    "texts": ("b.s != a.s", "`b.s != a.s` compares", {"s": [f"text {n}" for n in range(COUNT + 1)]}),
    "aggregates": (
        "SUM(a.v) = b.v",
        r"`SUM\(a.v\) = b.v` compares",
        {"v": [*(1 << n for n in range(COUNT)), 5]},
    ),
}


WAYS = [
    (case, asked)
    for case in CASES
    for asked in ("count", "hits", "run")
    if (case, asked) not in (("numbers", "hits"), ("texts", "hits"))
]
"""For hits of numbers all ways are one partial match, and for those of texts one repetition is enough."""


def ask(query: cer.Query, asked: str, table: pa.Table) -> object:
    """The answer of a query, of a list the first complex event."""
    found = getattr(query, asked)(table, order_by="ts")
    return found.first() if asked == "run" else found


@pytest.mark.parametrize(("case", "asked"), WAYS)
def test_too_many_partial_matches_are_an_error(
    case: str, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("registers.CONFIGURATIONS", "registers.STATES", "configurations.CONFIGURATIONS"):
        monkeypatch.setattr(f"cer_gpu.engine.machines.{name}", LIMIT)
    condition, about, columns = CASES[case]
    table = pa.table({"type": ["A"] * COUNT + ["B"], "ts": range(COUNT + 1)} | columns)
    query = cer.compile(f"SELECT * WHERE ((A AS a)+ ; B AS b) FILTER {condition}")
    tracemalloc.start()
    try:
        with pytest.raises(cer.LimitError, match=about) as stopped:
            ask(query, asked, table)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "WITHIN" in str(stopped.value)
    assert peak < MOST
