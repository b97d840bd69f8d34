"""The order of rows by their keys: as Python sorts them, whatever the types and however they are cut."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import cer_gpu.kernels.sorting.order as by_digits
import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.sorting import cpu
from cer_gpu.kernels.sorting.contract import DIGIT, SortedRuns, merge_reference, order_of_reference
from cer_gpu.kernels.sorting.order import ascending

from cer_gpu.engine.read.sources import sorting
from cer_gpu.engine.read.sources.sorting import stable_order

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


@pytest.mark.crossed
@pytest.mark.parametrize(
    "kinds", [[kind] for kind in COLUMNS] + [["int64", "string"], ["float64", "int64", "string"]]
)
@pytest.mark.parametrize("part", [1, 3, 1 << 18])
def test_rows_are_sorted_and_ties_stay(kinds: list[str], part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "PART", part)
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


@pytest.mark.crossed
@pytest.mark.parametrize("low", [0, -5, 2**62 - 2**DIGIT, -(2**63)])
@pytest.mark.parametrize("bits", [0, 1, DIGIT, DIGIT + 1, 3 * DIGIT])
def test_numbers_by_their_digits(low: int, bits: int) -> None:
    rng = np.random.default_rng(bits)
    for count in (0, 1, 2, 100):
        values = low + rng.integers(0, 2 ** min(bits, DIGIT), count) * 2 ** max(bits - DIGIT, 0)
        shift = max(count - 1, 0).bit_length()
        scratch = np.empty((2, count), np.int64), np.empty(2**DIGIT, np.int64)
        found, wanted = np.empty((2, count), np.int64)
        cpu.order_of(values, low, bits, shift, *scratch, found)
        order_of_reference(values, low, bits, shift, *scratch, wanted)
        assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64])
def test_the_ascending_order_is_that_of_a_stable_sort(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_digits, "FEW", 4)
    rng = np.random.default_rng(11)
    least, most = np.iinfo(kind).min, np.iinfo(kind).max
    spans = [(least, most), (0, 100), (most // 2, most), (0, min(2**33 - 1, most)), (0, min(2**40, most))]
    spans += [(0, min(2**62, most)), (least, least + 7)]
    for low, high in spans:
        for count in (0, 3, 4, 5, 1000):
            values = rng.integers(low, high, count, kind, endpoint=True)
            values[count // 2 :] = values[: count - count // 2]  # some values are there twice
            for given in (values, np.sort(values)):
                assert ascending(given).tolist() == np.argsort(given, kind="stable").tolist()
    assert ascending(np.arange(10, dtype=kind)[::-1]).tolist() == list(range(10))[::-1]
