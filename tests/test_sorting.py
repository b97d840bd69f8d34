"""The order of rows by their keys: as Python sorts them, whatever the types and however they are cut."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.sorting import cpu
from cer_gpu.kernels.sorting.contract import SortedRuns, merge_reference

from cer_gpu.engine.read.sources import row_order
from cer_gpu.engine.read.sources.row_order import stable_order

FLOATS = [0.0, -0.0, 1.5, -1.5, float("inf"), float("-inf"), 5e-324, -5e-324, 1e308, -1e308]
TEXTS = ["", "a", "b", "ab", "é", "z", "\U0001f600", "A"]
WHOLE = [0, 1, -1, 2**63 - 1, -(2**63), 7, -7]


def column(rng: Random, values: list[Any], count: int, kind: pa.DataType) -> pa.ChunkedArray:
    """So many of some values, in chunks of several lengths, an empty one among them."""
    drawn = [rng.choice(values) for _ in range(count)]
    cuts = sorted(rng.randrange(count + 1) for _ in range(3))
    bounds = [0, *cuts, cuts[-1], count]
    return pa.chunked_array([pa.array(drawn[low:high], kind) for low, high in pairwise(bounds)], kind)


COLUMNS = {
    "int64": (WHOLE, pa.int64()),
    "float64": (FLOATS, pa.float64()),
    "string": (TEXTS, pa.string()),
    "large_string": (TEXTS, pa.large_string()),
}


@pytest.mark.parametrize(
    "kinds", [[kind] for kind in COLUMNS] + [["int64", "string"], ["float64", "int64", "string"]]
)
@pytest.mark.parametrize("part", [1, 3, 1 << 18])
def test_rows_are_sorted_and_ties_stay(kinds: list[str], part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_order, "PART", part)
    rng = Random(len(kinds) * 100 + part)
    for count in (0, 1, 2, 5, 40):
        keys = [column(rng, *_with_count(kind, count)) for kind in kinds]
        rows = list(zip(*(key.to_pylist() for key in keys)))
        wanted = sorted(range(count), key=lambda row: tuple(_comparable(value) for value in rows[row]))
        assert stable_order(keys).tolist() == wanted


def _with_count(kind: str, count: int) -> tuple[list[Any], int, pa.DataType]:
    values, arrow = COLUMNS[kind]
    return values, count, arrow


def _comparable(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


@pytest.mark.parametrize("columns", [1, 3])
def test_runs_are_merged_as_the_contract_says(columns: int) -> None:
    rng = np.random.default_rng(columns)
    for _ in range(50):
        rows = int(rng.integers(2, 30))
        keys = rng.integers(0, 4, (columns, rows))
        low, high = 0, rows
        middle = int(rng.integers(1, rows))
        order = rng.permutation(rows)
        for part in (slice(low, middle), slice(middle, high)):
            order[part] = sorted(order[part], key=lambda row: tuple(keys[:, row]))
        runs, wanted, spare = (SortedRuns(order.copy(), keys[0, order]) for _ in range(3))
        merge_reference(keys, wanted, low, middle, high)
        cpu.merge(keys, runs, spare, low, middle, high)
        assert runs.order.tolist() == wanted.order.tolist()
        assert runs.first.tolist() == wanted.first.tolist()
