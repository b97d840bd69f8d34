"""Columns in memory are read as they lie, whatever their width: no copy of them is made, none is widened."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.engine.read import classify

ROWS = 3000
NUMBERS = [
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32()),
    *(pa.float32(), pa.float64(), pa.date32(), pa.time32("s"), pa.timestamp("us")),
]
MIDDLE = {
    pa.date32(): "'1970-02-20'",
    pa.time32("s"): "50 s",
    pa.timestamp("us"): "'1970-01-01T00:00:00.000050'",
}
"""How 50 is written where it is a time."""

CODES = [pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16()]


def places(array: pa.Array) -> tuple[int, int]:
    """Where the values of an array begin and end in memory."""
    buffer = array.buffers()[1]
    assert buffer is not None
    return buffer.address, buffer.address + buffer.size


@pytest.fixture(name="read")
def _read(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """The columns that the kernels of classification are given."""
    given: list[np.ndarray] = []
    for name in ("add_cuts", "add_codes"):
        kernel = getattr(classify.kernels, name)

        def noting(index: Any, data: np.ndarray, *others: Any, kernel: Any = kernel) -> None:
            given.append(data)
            kernel(index, data, *others)

        monkeypatch.setattr(classify.kernels, name, noting)
    return given


def is_among(given: list[np.ndarray], column: pa.Array) -> bool:
    """Whether the values of a column were given, where they lie and in the width that they have."""
    begin, end = places(column)
    width = column.type.bit_width // 8
    return any(begin <= each.ctypes.data < end and each.dtype.itemsize == width for each in given)


@pytest.mark.crossed
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("kind", NUMBERS, ids=str)
def test_numbers(kind: pa.DataType, holes: bool, read: list[np.ndarray]) -> None:
    rng = np.random.default_rng(7)
    drawn = rng.integers(0, 100, ROWS)
    storage = pa.int32() if kind.bit_width == 32 else pa.int64()
    whole = pa.array(drawn, mask=rng.random(ROWS) < 0.1 if holes else None)
    values = whole.cast(storage).cast(kind) if pa.types.is_temporal(kind) else whole.cast(kind)
    hits = cer.compile(f"SELECT * FROM T WHERE T FILTER T[v > {MIDDLE.get(kind, 50)}]").hits(
        pa.table({"v": values})
    )
    assert hits["position"].to_pylist() == [
        row for row, value in enumerate(whole.to_pylist()) if value is not None and value > 50
    ]
    assert is_among(read, values)


@pytest.mark.parametrize("width", CODES, ids=str)
def test_codes(width: pa.DataType, read: list[np.ndarray]) -> None:
    rng = np.random.default_rng(8)
    codes = pa.array(rng.integers(0, 3, ROWS)).cast(width)
    coded = pa.DictionaryArray.from_arrays(codes, ["A", "B", "C"])
    hits = cer.compile("SELECT * WHERE A").hits(pa.table({"type": coded}))
    assert hits["position"].to_pylist() == np.flatnonzero(codes.to_numpy() == 0).tolist()
    assert is_among(read, codes)
