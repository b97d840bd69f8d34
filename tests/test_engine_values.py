"""PREV and the functions of one event: the engine agrees with the reference, however the stream is cut."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
import random_values
from engine_oracle import OPTIONS, check, found
from generate import stream, stream_to_table

import cer_gpu as cer
from cer_gpu.engine.read.functions import of_text
from cer_gpu.language import tree
from cer_gpu.language.parser import parse
from cer_gpu.language.scalar_functions import lower, upper


@pytest.mark.draws("seed", 60)
def test_random_values_agree_with_the_reference(seed: int) -> None:
    rng = Random(seed)
    for _ in range(3):
        query = parse(random_values.query(rng))
        assert isinstance(query, tree.SelectQuery)
        check(query, stream(rng, rng.randrange(3, 22)), rng)


def trades(n: int = 5000, seed: int = 1) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "type": pa.array(rng.choice(["T", "Q"], n)),
            "k": pa.array(rng.integers(0, 40, n), pa.int32()),
            "symbol": pa.array(rng.choice(["a", "b", "c"], n)).dictionary_encode(),
            "price": pa.array(rng.integers(0, 9, n) / 2.0, mask=rng.random(n) < 0.05),
            "size": pa.array(rng.integers(0, 9, n), pa.int16()),
            "flag": pa.array(rng.random(n) < 0.5),
            "ts": pa.array(np.cumsum(rng.integers(1, 40, n)), pa.timestamp("ms")),
        }
    )


def with_lags(table: pa.Table, names: list[str], distance: int, keys: list[str]) -> pa.Table:
    """The table with columns `lag_...` written by hand."""
    frame = table.to_pandas()
    for name in names:
        values = table[name].to_pylist()
        last: dict[Any, list[Any]] = {}
        lags = []
        for row, key in enumerate(
            zip(*(frame[one] for one in keys), strict=True) if keys else [()] * len(table)
        ):
            seen = last.setdefault(tuple(key), [])
            lags.append(seen[-distance] if len(seen) >= distance else None)
            seen.append(values[row])
        table = table.append_column(f"lag_{name}", pa.array(lags, table.schema.field(name).type))
    return table


@pytest.mark.crossed
@pytest.mark.parametrize("distance", [1, 2, 5])
@pytest.mark.parametrize("keys", [[], ["k"], ["symbol"], ["k", "symbol"]])
def test_prev_is_a_lag_column(distance: int, keys: list[str]) -> None:
    table = trades()
    names = ["price", "size", "symbol", "flag", "ts"]
    lagged = with_lags(table, names, distance, keys)
    parted = f" PARTITION BY {', '.join(f'[{key}]' for key in keys)}" if keys else ""
    conditions = [
        "price > {price}", "size != {size}", "symbol = {symbol}", "flag = {flag}", "ts > {ts} + 20 ms",
        "{price} IS NULL AND {size} > 2",
    ]  # fmt: skip
    for condition in conditions:
        text = "SELECT * FROM S WHERE (T AS a FILTER a[{}]) : Q AS b{}"
        before = {name: f"PREV({name}, {distance})" for name in names}
        query = cer.compile(text.format(condition.format(**before), parted))
        by_hand = cer.compile(
            text.format(condition.format(**{name: f"lag_{name}" for name in names}), parted)
        )
        wanted = by_hand.hits(lagged)
        assert len(wanted) > 20
        assert query.hits(table).equals(wanted)
        for size in (1, 3, 997):
            assert query.hits(table.slice(0, 2000).to_reader(max_chunksize=size)).equals(
                by_hand.hits(lagged.slice(0, 2000))
            )
        # Pieces of the table that lie one after another in memory, and that do not.
        pieces = pa.concat_tables([table.slice(0, 700), table.slice(700, 2), table.slice(702)])
        assert query.hits(pieces).equals(wanted)
        assert (
            query.hits(table.slice(100)).num_rows
            == query.hits(pa.table(table.slice(100).to_pydict(), table.schema)).num_rows
        )


def test_prev_of_sorted_and_merged_events() -> None:
    table = trades()
    query = cer.compile(
        "SELECT * FROM S WHERE T AS a ; Q AS b FILTER a[price > PREV(price)] AND b[PREV(size, 2) = 3] "
        "WITHIN 4 EVENTS"
    )
    wanted = found(query.run(table, order_by="ts"))
    assert wanted
    shuffled = table.take(pa.array(np.random.default_rng(3).permutation(len(table))))
    assert found(query.run(shuffled, order_by="ts", sort=True)) == wanted
    kinds = table["type"].to_numpy(zero_copy_only=False)
    tables = {kind: table.filter(pa.array(kinds == kind)).drop_columns(["type"]) for kind in ("T", "Q")}
    assert found(query.run(tables, order_by="ts")) == wanted


def test_prev_sees_events_that_were_consumed_and_of_other_types() -> None:
    table = pa.table({"type": list("ABAAB"), "v": [1, 5, 6, 2, 3]})
    query = cer.compile("SELECT * FROM S WHERE A AS a FILTER a[v > PREV(v)] CONSUME BY ANY")
    assert [ce.start for ce in query.run(table)] == [2]
    query = cer.compile("SELECT * FROM S WHERE B AS b FILTER b[v > PREV(v)] CONSUME BY ANY")
    assert [ce.start for ce in query.run(table)] == [1, 4]


def test_prev_goes_on_after_a_snapshot() -> None:
    table = trades(600)
    for parted in ("", "PARTITION BY [k]", "PARTITION BY [symbol]"):
        risen = "price > PREV(price, 2) AND (symbol != PREV(symbol) OR size > 3)"
        query = cer.compile(f"SELECT * FROM S WHERE (T AS a FILTER a[{risen}])+ {parted} WITHIN 6 EVENTS")
        wanted = found(query.run(table, order_by="ts"))
        assert wanted
        state, rows, at = None, [], 0
        for size in (1, 200, 2, 97, 300):
            with query.stream(state, order_by="ts") as stream_:
                rows += found(stream_.push(table.slice(at, size)))
                state = stream_.snapshot()
            at += size
        assert rows == wanted


def test_a_rising_run() -> None:
    prices = pa.table({"type": ["T"] * 6, "price": [1.0, 2.0, 3.0, 2.5, 4.0, 1.0]})
    query = cer.compile("SELECT MAX * FROM S WHERE (T FILTER T[price > PREV(price)]) :+")
    assert [(ce.start, ce.end) for ce in query.run(prices)][-1] == (4, 4)
    assert query.hits(prices)["position"].to_pylist() == [1, 2, 4]


ZONES = ["UTC", "Europe/Berlin", "Asia/Kolkata", "America/St_Johns", "-03:30", None]


@pytest.mark.crossed
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_parts_of_a_time_are_those_of_the_zone(zone: str | None, unit: str) -> None:
    rng = np.random.default_rng(5)
    seconds = np.sort(rng.integers(-2 * 10**9, 2 * 10**9, 200))
    factor = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    times = pa.array(seconds * factor + (factor - 1), pa.int64()).cast(pa.timestamp(unit, zone))
    offset = timedelta(hours=-3, minutes=-30)
    moments = [datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(one)) for one in seconds]
    local = [one + offset if zone == "-03:30" else one.astimezone(ZoneInfo(zone or "UTC")) for one in moments]
    parts: dict[str, Callable[[datetime], int]] = {
        "YEAR": lambda one: one.year, "MONTH": lambda one: one.month, "DAY": lambda one: one.day,
        "HOUR": lambda one: one.hour, "MINUTE": lambda one: one.minute, "SECOND": lambda one: one.second,
        "WEEKDAY": datetime.isoweekday,
    }  # fmt: skip
    table = pa.table({"type": ["A"] * 200, "at": times})
    for function, part in parts.items():
        wanted = table.append_column("w", pa.array([part(one) for one in local]))
        query = cer.compile(f"SELECT * FROM S WHERE A AS a FILTER a[{function}(at) = w]")
        assert query.count(wanted) == 200, function
    day = local[57].date()
    query = cer.compile(f"SELECT * FROM S WHERE A AS a FILTER a[DATE(at) = '{day}']")
    assert query.hits(table)["position"].to_pylist() == [
        row for row, one in enumerate(local) if one.date() == day
    ]


def test_functions_at_the_edges_of_numbers() -> None:
    values = [float("nan"), float("inf"), 1e300, 2.5, -2.5, 3.5, -0.0, None]
    whole = [-(2**63), 2**63 - 1, 5, -5, 0, 7, None, 1]
    table = pa.table(
        {"type": ["A"] * 8, "f": values, "i": whole, "s": ["É", "ß", "x" * 3, "", None, "😀", "Ab", "aB"]}
    )

    def at(condition: str, rows: slice = slice(None)) -> list[int]:
        query = cer.compile(f"SELECT * FROM S WHERE A AS a FILTER a[{condition}]")
        return query.hits(table[rows])["position"].to_pylist()

    assert at("FLOOR(f) IS NULL") == [0, 1, 2, 7]
    assert at("ROUND(f) = 2") == [3]
    assert at("ROUND(f) = -2") == [4]
    assert at("ROUND(f) = 4") == [5]
    assert at("CEIL(f) = 3 OR FLOOR(f) = -3") == [3, 4]
    assert at("ABS(f) >= 2.5") == [1, 2, 3, 4, 5]
    assert at("ABS(i) = 5", slice(1, None)) == [1, 2]
    with pytest.raises(cer.DataError, match=r"row 0 .*integer overflow: ABS\(i\) does not fit 64 bits"):
        at("ABS(i) = 5")
    assert at("ABS(i) = 5 AND f > 3", slice(1, None)) == [1]
    assert at("LENGTH(s) = 1") == [0, 1, 5]
    assert at("LOWER(s) = 'ab'") == [6, 7]
    assert at("ABS(-3) = i + LENGTH('abc') - 5", slice(2, None)) == [0]


def test_an_overflow_in_a_function_is_an_error_where_it_is_asked_for() -> None:
    table = pa.table({"type": ["A", "B"], "i": [3, 2**62]})
    query = cer.compile("SELECT * FROM S WHERE A AS a FILTER a[ABS(i * 4) = 12]")
    assert query.count(table) == 1
    with pytest.raises(cer.DataError, match=r"row 1 .*ABS\(i \* 4\) does not fit"):
        cer.compile("SELECT * FROM S WHERE B AS b FILTER b[ABS(i * 4) = 12]").count(table)


def test_decimals_in_functions() -> None:
    from decimal import Decimal

    values = [Decimal("2.50"), Decimal("-2.50"), Decimal("3.51"), None, Decimal("-0.01")]
    table = pa.table({"type": ["A"] * 5, "d": pa.array(values, pa.decimal128(9, 2)), "n": [1, 2, 3, 4, 5]})

    def at(condition: str) -> list[int]:
        query = cer.compile(f"SELECT * FROM S WHERE A AS a FILTER a[{condition}]")
        return query.hits(table)["position"].to_pylist()

    assert at("ABS(d) = 2.5") == [0, 1]
    assert at("FLOOR(d) = -3") == [1]
    assert at("ROUND(d) = 2") == [0]
    assert at("CEIL(d) = 0") == [4]
    assert at("COALESCE(d, n) = 4") == [3]
    assert at("PREV(d) > d") == [1]
    assert at("d - PREV(d) = 6.01") == [2]


def test_explain_shows_what_is_derived() -> None:
    shown = cer.compile("SELECT * WHERE A AS a FILTER a[ABS(v - PREV(v)) > 3]").explain(verbose=True)
    assert "ABS(v - PREV(v))" in shown
    assert "\0" not in shown


def test_streams_that_from_names_have_their_own_events_before() -> None:
    rng = Random(4)
    events = stream(rng, 60)
    query = cer.compile("SELECT * FROM S WHERE A AS a FILTER a[v > PREV(v)]")
    table = stream_to_table(events)
    rows = [row for row, name in enumerate(table["stream"].to_pylist()) if name == "S"]
    alone = query.hits(table.take(pa.array(rows)), order_by="ts")["position"].to_pylist()
    assert query.hits(table, **OPTIONS)["position"].to_pylist() == [rows[at] for at in alone]


def test_small_and_capital_letters_of_all_that_have_them() -> None:
    points = [chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point < 0xE000]
    # Arrow knows letters that are newer than those of Python.
    known = [one for one in points if unicodedata.category(one) != "Cn"]
    for function, ours in (("LOWER", lower), ("UPPER", upper)):
        arrow = of_text(function, [pa.array(known)]).to_pylist()
        newer = [one for one in arrow if unicodedata.category(one) == "Cn"]
        wrong = [(one, told) for one, told in zip(known, arrow) if ours(one) != told and told not in newer]
        assert not wrong
        assert len(newer) < 100
    words = ["Straße", "ΑΣ ΟΔΟΣ", "İstanbul", "ﬁne", ""]
    for function, ours in (("LOWER", lower), ("UPPER", upper)):
        assert of_text(function, [pa.array(words)]).to_pylist() == [ours(word) for word in words]
    events = pa.table({"type": ["A"] * len(words), "s": words})
    for row, word in enumerate(words):
        query = cer.compile(f"SELECT * WHERE A AS a FILTER a[UPPER(s) = UPPER('{word}')]")
        assert query.hits(events)["position"].to_pylist() == [row]
