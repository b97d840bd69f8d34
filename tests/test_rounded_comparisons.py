"""The note that floats round differences of decimals: where it is said, and where it would be noise."""

from __future__ import annotations

import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cer_gpu as cer
from cer_gpu.language.parser import parse
from cer_gpu.language.rounded_comparisons import rounded_comparisons

CENTS = 10_000 + np.cumsum(np.random.default_rng(3).integers(-5, 6, 5_000))
TRADES = pa.table(
    {
        "ts": np.arange(len(CENTS)),
        "price": CENTS / 100,
        "fine": CENTS / 100_000,  # more digits than a threshold of 0.03 would have
        "whole": CENTS.astype(float),
        "cents": CENTS,
        "exact": pa.array([Decimal(int(one)) / 100 for one in CENTS], pa.decimal128(12, 2)),
    }
)


def query(condition: str) -> cer.Query:
    return cer.compile(f"SELECT * FROM T WHERE T AS t FILTER t[{condition}]")


def notes(asked: cer.Query, events: Any = TRADES, **keywords: Any) -> list[str]:
    """The warnings of a count about rounding."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        asked.count(events, **keywords)
    return [str(one.message) for one in said if "floats round" in str(one.message)]


def test_what_is_lost_is_said_and_the_remedies_find_it() -> None:
    falls = int((np.diff(CENTS) <= -3).sum())
    with pytest.warns(UserWarning, match="floats round"):
        assert query("price <= PREV(price) - 0.03").count(TRADES) < falls
    for remedy in (
        "PREV(price) - price >= 0.03 - 0.000001",
        "cents <= PREV(cents) - 3",
        "exact <= PREV(exact) - 0.03",
    ):
        assert query(remedy).count(TRADES) == falls
        assert notes(query(remedy)) == []


def test_the_text_of_the_note() -> None:
    assert notes(query("price <= PREV(price) - 0.03")) == [
        "`price <= PREV(price) - 0.03` may be wrong where its two sides are equal: floats round sums and "
        "differences of decimals, such as those in `price`. Compare with a small tolerance (`0.03 - "
        "0.000001` for at least 0.03), or use whole numbers (cents) or a column of decimals"
    ]


@pytest.mark.parametrize(
    "pattern",
    [
        "T AS t FILTER t[ABS(price - PREV(price)) > 0.03]",
        "T AS t FILTER t[price - PREV(price, 2) IN RANGE (0.03, 5)]",
        "T AS t FILTER t[-price + PREV(price) = 0.5]",
        "T AS a ; T AS b FILTER b.price - a.price >= 0.03",
        "T AS a ; T AS b FILTER b.price >= a.cents + 0.03",
        "(T AS a) :+ FILTER LAST(a.price) - FIRST(a.price) > 0.03",
        "(T AS a) :{2,3} FILTER SUM(a.price) > 200.1",
    ],
)
def test_differences_of_prices_are_noted(pattern: str) -> None:
    assert len(notes(cer.compile(f"SELECT NONE FROM T WHERE {pattern} WITHIN 3 EVENTS"))) == 1


@pytest.mark.parametrize(
    "condition",
    [
        "price - PREV(price) >= 10",  # whole
        "price / PREV(price) - 1 > 0.01",
        "price >= 1.05 * PREV(price)",
        "price - PREV(price) > 0.025",  # prices differ by cents
        "price > PREV(price)",
        "price > 100.03",
        "fine - PREV(fine) > 0.03",
        "whole - PREV(whole) > 0.5",
        "price - PREV(price) > 0.0000000001",
        "price - PREV(price) >= $p",
    ],
)
def test_no_noise(condition: str) -> None:
    assert notes(query(condition), **({"params": {"p": 2}} if "$p" in condition else {})) == []


def test_values_of_parameters() -> None:
    asked = query("price <= PREV(price) - $fall")
    (note,) = notes(asked, params={"fall": 0.03})
    assert "`$fall - 0.000001` for at least $fall" in note
    assert notes(asked, params={"fall": 0.025}) == []
    with pytest.warns(UserWarning, match="floats round") as said:
        cer.backtest(cer.sweep(asked.text, fall=[0.01, 0.02, 0.03]), TRADES)
    assert len([one for one in said if "floats round" in str(one.message)]) == 1


def test_digits_are_seen_in_later_batches(tmp_path: Path) -> None:
    asked = query("price <= PREV(price) - 0.03")
    late = pa.concat_tables(
        [TRADES.slice(0, 0), TRADES.set_column(1, "price", pa.nulls(5_000, pa.float64()))]
    )
    batches = [*late.to_batches(), *TRADES.to_batches()]
    assert len(notes(asked, iter(batches))) == 1
    pq.write_table(TRADES, tmp_path / "trades.parquet")
    assert len(notes(asked, tmp_path / "trades.parquet")) == 1
    found = asked.run(TRADES)
    with pytest.warns(UserWarning, match="floats round"):
        found.to_arrow()
    assert any("floats round" in note for note in found.notes)


def test_nulls_and_numbers_that_are_not_finite_say_nothing() -> None:
    values = [None, float("nan"), float("inf"), 1e300, 4.0]
    table = pa.table({"price": pa.array(values, pa.float64())})
    assert notes(query("price - PREV(price) > 0.03"), table) == []


def test_terms_of_rules_are_no_columns() -> None:
    assert rounded_comparisons(parse("Q(x) <- A(x, p), B(x, q), q - p > 0.03")) == ()
