"""The first matches of each key, chosen while they are read: values and keys of all types, ties, cuts."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise
from math import inf, nan
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.heaps.contract import first_rows_reference
from cer_gpu.kernels.heaps.cpu import first_rows

from cer_gpu.engine.answers import candidates
from cer_gpu.engine.answers.match_order import MatchOrder
from cer_gpu.errors import DataError

TEXTS = ["", "a", "ab", "b", "ä", "😀"]
FLOATS = [-inf, -1.5, -0.0, 0.0, 1e-300, 2.0, inf, nan, -nan]
DECIMALS = [Decimal("-1.50"), Decimal("0.00"), Decimal("1.49"), Decimal("99.99")]
WIDE = [*DECIMALS, Decimal("-99999999999999999999.01"), Decimal("99999999999999999999.02")]

VALUES: dict[pa.DataType, list[Any]] = {
    pa.int8(): [-128, -1, 0, 127],
    pa.int64(): [-(1 << 63), -1, 0, 1, (1 << 63) - 1],
    pa.uint8(): [0, 1, 255],
    pa.uint64(): [0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1],
    pa.float32(): [-inf, -1.5, -0.0, 0.0, 2.0, inf, nan, -nan],
    pa.float64(): FLOATS,
    pa.bool_(): [False, True],
    pa.string(): TEXTS,
    pa.large_string(): TEXTS,
    pa.dictionary(pa.int32(), pa.string()): TEXTS,
    pa.dictionary(pa.int8(), pa.large_string()): TEXTS,
    pa.binary(): [b"", b"\0", b"a", b"\xff"],
    pa.binary(2): [b"\0\0", b"ab", b"\xff\0"],
    pa.date32(): [date(1969, 12, 31), date(1970, 1, 1), date(2024, 2, 29)],
    pa.timestamp("us"): [datetime(1969, 12, 31, 23), datetime(2024, 1, 1), datetime(2024, 1, 1, 0, 0, 1)],
    pa.duration("ms"): [timedelta(-1), timedelta(0), timedelta(milliseconds=1)],
    pa.time32("s"): [time(0), time(23, 59, 59)],
    pa.decimal128(10, 2): DECIMALS,
    pa.decimal128(30, 2): WIDE,
    pa.decimal256(50, 2): WIDE,
}
"""For each type of columns some values of which many are equal."""


def drawn(rng: Random, kind: pa.DataType, count: int) -> pa.Array:
    """A column of random values, some missing."""
    missing = rng.choice((0.0, 0.2))
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    whole = pa.array(rng.choices(VALUES[kind], k=count), plain)
    there = np.array([rng.random() >= missing for _ in range(count)], bool)
    # Where a value is missing, the memory has one all the same.
    held = [pa.py_buffer(np.packbits(there, bitorder="little")), *whole.buffers()[1:]]
    column = pa.Array.from_buffers(plain, count, held)
    return column.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else column


def as_key(value: Any) -> Any:
    """A value as a part of a key: all NaN are one, and so are the two zeros."""
    return "NaN" if value != value else value


def first_in_python(order: MatchOrder, table: pa.Table) -> list[int]:
    """The matches that come first, by sorting all."""
    values = table[order.by].to_pylist()
    there = [place for place, value in enumerate(values) if value is not None and value == value]
    ranked = sorted(there, key=lambda place: values[place], reverse=order.descending)  # stable, also reversed
    ranked += [place for place, value in enumerate(values) if value is not None and value != value]
    ranked += [place for place, value in enumerate(values) if value is None]
    keys = [tuple(map(as_key, key)) for key in zip(*(table[name].to_pylist() for name in order.per))]
    seen: dict[Any, int] = {}
    chosen = []
    for place in ranked:
        key = keys[place] if keys else ()
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= order.number:
            chosen.append(place)
    return chosen


@pytest.mark.parametrize("kind", VALUES, ids=str)
def test_values_and_keys_of_all_types(kind: pa.DataType, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(f"candidates {kind}")
    for turn in range(30):
        # Without room, what others have ousted is dropped after each batch.
        monkeypatch.setattr(candidates, "ROOM", rng.choice((0, 300, 1 << 26)))
        monkeypatch.setattr(candidates, "GROWTH", rng.choice((0, 3)))
        count = rng.choice((0, 1, 7, 60))
        kinds = [kind, *rng.choices(list(VALUES), k=2)]
        if turn % 2:
            kinds[0], kinds[1] = kinds[1], kinds[0]
        columns = {name: drawn(rng, one, count) for name, one in zip("vkl", kinds, strict=True)}
        table = pa.table({"start": np.arange(count), "end": np.arange(count), **columns})
        order = MatchOrder(
            rng.choice((0, 1, 2, 5, 1 << 70)),
            rng.choice("vvk"),
            tuple(rng.sample("kl", rng.choice((0, 1, 1, 2)))),
            rng.random() < 0.5,
            (),
        )
        order.check(table.schema, False)
        batches = table.to_batches(rng.choice((1, 2, 5, 100)))
        rows = table.select(["end"]).schema
        found = order.chosen(((one, one.select(["end"])) for one in batches), table.schema, rows)
        wanted = first_in_python(order, table)
        assert found.matches.tolist() == wanted, (order, table.to_pydict())
        assert found.rows == pa.table({"end": np.array(wanted, np.int64)})


def test_heaps_keep_the_rows_that_come_first() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        count, lanes = int(rng.integers(0, 40)), int(rng.integers(1, 5))
        grouped = bool(rng.integers(2))
        groups = rng.integers(0, lanes, count if grouped else 0).astype(np.int32)
        words = rng.integers(-3, 3, count)
        late = rng.integers(0, 3, count if rng.integers(2) else 0).astype(np.uint8)
        begins = np.cumsum([0, *rng.integers(0, 6, lanes if grouped else 1)])
        found = []
        for kernel in (first_rows, first_rows_reference):
            sizes, heaps = np.zeros(len(begins) - 1, np.int64), np.full(begins[-1], -1)
            tops = np.zeros(begins[-1], np.int64)
            kernel(groups, words, late, begins, sizes, heaps, tops)
            pairs = [*zip(heaps.tolist(), tops.tolist(), strict=True)]
            found.append((sizes.tolist(), [sorted(pairs[low:high]) for low, high in pairwise(begins)]))
        assert found[0] == found[1]


def test_what_was_ousted_takes_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "ROOM", 1 << 16)
    held, batches = [], []
    name = pa.DictionaryArray.from_arrays(np.zeros(1000, np.int32), pa.array(["a long name" * 100]))
    kinds = pa.schema([("end", pa.int64()), ("name", name.type)])
    own = candidates.CandidateMatches(3, True, None, kinds)
    for batch in range(100):
        rows = pa.record_batch({"end": np.arange(1000) + batch, "name": name})
        own.add(rows.column(0), rows, rows)
        held.append(sum(map(len, own._rows)))
        batches.append(len(own._rows))
    assert max(held) < 6000
    assert max(batches) < 10
    matches, rows = own.chosen()
    assert matches.tolist() == [99999, 98999, 99998]
    assert rows["end"].to_pylist() == [1098, 1097, 1097]


def test_a_key_needs_values_that_can_be_equal() -> None:
    order = MatchOrder(1, "end", ("parts",), True, ())
    schema = pa.schema([("start", pa.int64()), ("end", pa.int64()), ("parts", pa.list_(pa.int64()))])
    with pytest.raises(DataError, match=r"`parts` is of type .*, which is no key"):
        order.check(schema, False)
