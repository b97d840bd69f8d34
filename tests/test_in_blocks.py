"""Arithmetic and functions that are evaluated for a block of rows at a time answer as whole columns do."""

from __future__ import annotations

from decimal import Decimal
from random import Random

import numpy as np
import pyarrow as pa
import pytest
import random_values
from engine_oracle import check
from generate import stream

import cer_gpu as cer
from cer_gpu.engine.read import classify
from cer_gpu.engine.read.adders import EvaluatedColumn
from cer_gpu.language import tree
from cer_gpu.language.parser import parse

ROWS = 40
"""A batch of ten blocks."""

CONDITIONS = (
    "ABS(f) > 3", "ABS(f - 2.5) < 2", "ABS(i - 5) >= 3", "i * 2 - 7 > 4", "f > 1.5 * g", "f - g IS NULL",
    "FLOOR(f / 2) = 1", "COALESCE(f, i, 0) < 2", "ABS(PREV(f) - f) > 1", "i > g", "i % 3 = 1", "-i < g",
    "ABS(d) >= 2.25", "d - 1 > f", "at - PREV(at) > 1500 ms", "HOUR(at) >= 2", "at + 90 min > later",
    "ABS(at - later) < 1 h", "ROUND(f) IS NULL", "ABS(f) IS NULL", "i / (i - 4) > 1", "LENGTH(s) + i > 8",
    "ABS(LENGTH(s) - i) = 2", "s > t",
)  # fmt: skip


def events(seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    lacking = rng.random((3, ROWS)) < 0.15
    floats = rng.integers(-20, 20, ROWS) / 2
    floats[rng.random(ROWS) < 0.1] = np.nan
    at = np.cumsum(rng.integers(0, 900_000, ROWS))
    return pa.table(
        {
            "type": pa.array(rng.choice(["A", "B"], ROWS)),
            "f": pa.array(floats, mask=lacking[0]),
            "g": pa.array(rng.integers(-9, 9, ROWS), pa.float32()),
            "i": pa.array(rng.integers(0, 10, ROWS), pa.int16(), mask=lacking[1]),
            "d": pa.array(
                [Decimal(int(one)) / 4 for one in rng.integers(-30, 30, ROWS)], pa.decimal128(9, 2)
            ),
            "at": pa.array(at, pa.timestamp("ms")),
            "later": pa.array(at // 1000 + rng.integers(0, 9000, ROWS), pa.timestamp("s")),
            "s": pa.array(rng.choice(["", "ab", "abcd"], ROWS), mask=lacking[2]),
            "t": pa.array(rng.choice(["aa", "b"], ROWS)),
        }
    )


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Blocks of four rows. Gets the first row of each block that is evaluated."""
    monkeypatch.setattr(classify, "BLOCK", 4)
    rows: list[int] = []
    own = EvaluatedColumn.slice

    def noted(self: EvaluatedColumn, start: int, stop: int) -> object:
        rows.append(start)
        return own(self, start, stop)

    monkeypatch.setattr(EvaluatedColumn, "slice", noted)
    return rows


@pytest.mark.draws("seed", 40)
def test_random_values_agree_with_the_reference(seed: int, read: list[int]) -> None:
    rng = Random(1000 + seed)
    for _ in range(3):
        query = parse(random_values.query(rng))
        assert isinstance(query, tree.SelectQuery)
        check(query, stream(rng, rng.randrange(6, 22)), rng)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_blocks_answer_as_whole_columns_do(
    condition: str, read: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    query = cer.compile(f"SELECT * WHERE A ; B AS b FILTER b[{condition}]")
    for seed in range(3):
        table = events(seed)
        monkeypatch.setattr(classify, "BLOCK", ROWS)
        read.clear()
        wanted = query.hits(table)
        assert not read
        monkeypatch.setattr(classify, "BLOCK", 4)
        assert query.hits(table).equals(wanted)
        assert set(read) == (set() if condition == "s > t" else set(range(0, ROWS, 4)))


def test_a_function_that_is_read_elsewhere_too_is_a_column(read: list[int]) -> None:
    table = events(5)
    for also in ("ABS(a.i - 5) = ABS(b.i - 5)", "a.i = b.i"):
        query = cer.compile(f"SELECT * WHERE A AS a ; B AS b FILTER b[ABS(i - 5) > 1] AND {also}")
        sizes = [int(query.count(table)), int(query.count(table.to_reader(max_chunksize=3)))]
        assert sizes[0] == sizes[1] > 0


def test_a_function_that_two_queries_of_one_pass_read(read: list[int]) -> None:
    table = events(6)
    texts = {
        "one": "SELECT * WHERE A ; B AS b FILTER b[ABS(i - 5) > 1]",
        "two": "SELECT * WHERE A AS a ; B FILTER a[ABS(i - 5) > 2 AND f * 2 < 9]",
    }
    told = cer.backtest(texts, table, order_by="at")
    wanted = {name: int(cer.compile(text).count(table)) for name, text in texts.items()}
    found = {row["query"]: int(row["matches"]) for row in told.to_arrow().to_pylist()}
    assert found == wanted
    assert read


def test_an_overflow_in_a_later_block_is_the_same_error(read: list[int]) -> None:
    whole = [3] * 30 + [-(2**63)] + [5] * 9
    table = pa.table({"type": ["A", "B"] * 20, "i": whole})
    query = cer.compile("SELECT * WHERE A AS a FILTER a[ABS(i) > 4]")
    with pytest.raises(cer.DataError, match=r"row 30 .*integer overflow: ABS\(i\) does not fit 64 bits"):
        query.hits(table)
    assert read
    with pytest.raises(cer.DataError, match=r"row 30 .*-9223372036854775808 - 1 does not fit 64 bits"):
        cer.compile("SELECT * WHERE A AS a FILTER a[i - 1 > 3]").hits(table)
    # What no filter asks for is no error.
    other = cer.compile("SELECT * WHERE B AS b FILTER b[ABS(i) > 4 OR i - 1 > 3]")
    assert other.hits(table)["position"].to_pylist() == [31, 33, 35, 37, 39]


def test_decimals_beyond_64_bits_in_a_later_block(read: list[int]) -> None:
    far = Decimal("123456789012345678901234567.25")
    values = [Decimal("2.50")] * 20 + [-far, None, far] + [Decimal("-3.75")] * 17
    table = pa.table({"type": ["A"] * 40, "d": pa.array(values, pa.decimal128(38, 2))})

    def at(condition: str) -> list[int]:
        return cer.compile(f"SELECT * WHERE A AS a FILTER a[{condition}]").hits(table)["position"].to_pylist()

    assert at("ABS(d) > 3") == [20, 22, *range(23, 40)]
    assert at("ABS(d) > 123456789012345678901234567.0") == [20, 22]
    assert at("d - 1 < -4") == [20, *range(23, 40)]
    assert at("ABS(d) IS NULL") == [21]
    assert read
