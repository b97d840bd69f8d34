"""Outcomes: what happened after each hit, checked against pandas and event by event."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cer_gpu.kernels.outcomes.contract import greatest_reference, reach_reference
from cer_gpu.kernels.outcomes.cpu import greatest, reach
from test_backtest import ticks

import cer_gpu as cer
from cer_gpu.backtesting.outcomes.summary import summary

QUERY = "SELECT * FROM S WHERE (A AS a FILTER a[x > 10]) ; B AS b PARTITION BY [k] WITHIN 1 HOUR"
EVERYTHING = "SELECT * FROM S WHERE A OR B OR C OR D OR E PARTITION BY [k]"
OPTIONS: dict[str, Any] = {"order_by": "ts", "device": "cpu"}


def outcome_at_hits(text: str, events: Any = None, query: str = QUERY, **keywords: Any) -> pd.DataFrame:
    """The values of one outcome, `o`, at the hits of a query."""
    events = ticks() if events is None else events
    found = cer.backtest(query, events, outcomes={"o": text}, **{**OPTIONS, **keywords})
    return found.outcome_hits.to_pandas()


def test_a_value_some_time_later_is_merge_asof() -> None:
    found = outcome_at_hits("AFTER 20 MINUTES (y)")
    frame = ticks().to_pandas()
    frame["k"] = frame["k"].astype(str)
    found["k"] = found["k"].astype(str)
    there = frame.dropna(subset=["y"])[["ts", "k", "y"]]
    asked = found[["time", "k"]].assign(ts=found["time"] + pd.Timedelta("20min"))
    right = pd.merge_asof(asked.sort_values("ts"), there, on="ts", by="k").sort_values("time")
    last = frame.groupby("k", observed=True)["ts"].max()
    right.loc[right["ts"] > right["k"].map(last).astype(right["ts"].dtype), "y"] = np.nan
    assert len(found) > 100
    np.testing.assert_array_equal(found["o"].to_numpy(), right["y"].to_numpy())


@pytest.mark.parametrize(("word", "name"), [("MAX", "max"), ("MIN", "min")])
def test_extremes_are_those_of_a_rolling_window(word: str, name: str) -> None:
    found = outcome_at_hits(f"{word} WITHIN 30 MINUTES (y)")
    frame = ticks().to_pandas()
    span = pd.Timedelta("30min")
    for row in found.itertuples():
        own = frame[frame["k"] == row.k]
        inside = own[(own.index > row.position) & (own["ts"] <= row.time + span)]
        right = getattr(inside["y"], name)() if own["ts"].max() >= row.time + span else np.nan
        assert row.o == right or (np.isnan(row.o) and np.isnan(right))


def test_numbers_of_events_count_those_that_have_the_value() -> None:
    found = outcome_at_hits("AFTER 3 EVENTS (y)").merge(
        outcome_at_hits("MAX WITHIN 3 EVENTS (y)"), on="position", suffixes=("", "_most")
    )
    frame = ticks().to_pandas()
    for row in found.itertuples():
        later = frame[(frame["k"] == row.k) & (frame.index > row.position)]["y"].dropna()
        third = later.iloc[2] if len(later) > 2 else np.nan
        most = later.iloc[:3].max() if len(later) > 2 else np.nan
        assert np.array_equal([row.o, row.o_most], [third, most], equal_nan=True)


def test_the_time_to_a_pattern_is_up_to_its_next_end() -> None:
    pattern = "C AS c FILTER c[x > 5]"
    found = outcome_at_hits(f"TIME TO ({pattern}) / 60")
    frame = ticks().to_pandas()
    wanted = frame[(frame["type"] == "C") & (frame["x"] > 5)]
    for row in found.itertuples():
        later = wanted[(wanted["k"] == row.k) & (wanted.index > row.position)]
        right = (later["ts"].iloc[0] - row.time).total_seconds() / 60 if len(later) else np.nan
        assert np.isclose(row.o, right, equal_nan=True)


def test_values_of_the_complex_event_are_those_of_the_latest() -> None:
    found = outcome_at_hits("x - LAST(a.x)")
    text = QUERY.replace("SELECT *", "SELECT LAST b, LAST(a.x) AS ax")
    right = cer.compile(text).run(ticks(), **OPTIONS).to_arrow()
    assert right.column("end").to_pylist() == found["position"].tolist()
    x = ticks().column("x").to_numpy()
    expected = x[found["position"].to_numpy()] - right.column("ax").to_numpy()
    np.testing.assert_array_equal(found["o"].to_numpy(), expected)


def test_without_a_partition_the_whole_stream_is_looked_at() -> None:
    events = pa.table({"type": list("ABCAB"), "ts": [0, 10, 20, 30, 45], "p": [1.0, 2.0, None, 4.0, 5.0]})
    query = "SELECT * WHERE A ; B WITHIN 15 [ts]"
    found = outcome_at_hits("AFTER 20 (p)", events, query)
    assert found[["position", "o"]].values.tolist()[0] == [1, 4.0]
    assert np.isnan(found["o"][1])  # the data ends before
    timed = outcome_at_hits("TIME TO (A)", events, query, order_unit="ms")
    assert timed["o"].tolist()[0] == 0.02


def test_the_time_to_the_one_type_that_from_names() -> None:
    events = pa.table({"ts": [0, 10, 20, 35], "k": list("xyxx")})
    query = "SELECT * FROM T WHERE T AS t FILTER t[ts < 30] PARTITION BY k"
    found = outcome_at_hits("TIME TO (T)", events, query, order_unit="ms")
    np.testing.assert_array_equal(found["o"], [0.02, np.nan, 0.015])


def test_the_base_is_every_event_of_the_sample() -> None:
    found = cer.backtest(
        QUERY, ticks(), outcomes={"o": "AFTER 1 HOUR (y) - y"}, split="1970-01-02", **OPTIONS
    )
    rows = {row["sample"]: row for row in found.outcomes.to_pylist()}
    hits = found.outcome_hits.to_pandas()
    late = hits["time"] >= pd.Timestamp("1970-01-02")
    for sample, part in {"all": hits, "before": hits[~late], "after": hits[late]}.items():
        values = part["o"].dropna()
        row = rows[sample]
        assert row["n"] == len(values)
        assert np.isclose(row["mean"], values.mean())
        assert np.isclose(row["median"], values.median())
        assert np.isclose(row["positive"], (values > 0).mean())
        assert row["low"] < row["mean"] < row["high"]
    frame = ticks().to_pandas().reset_index(names="position")
    every = cer.backtest(EVERYTHING, ticks(), outcomes={"o": "AFTER 1 HOUR (y) - y"}, **OPTIONS)
    every = every.outcome_hits.to_pandas().merge(frame[["position", "ts"]], on="position").dropna(subset="o")
    assert rows["all"]["base_n"] == rows["before"]["base_n"] + rows["after"]["base_n"] > 2000
    late = every["ts"] >= pd.Timestamp("1970-01-02")
    samples = {"all": (hits, every), "before": (hits[hits["time"] < "1970-01-02"], every[~late])}
    for sample, (own, events) in samples.items():
        keys = own.dropna(subset="o")["k"].map(events.groupby("k", observed=True)["o"].mean())
        above = own.dropna(subset="o")["k"].map((events["o"] > 0).groupby(events["k"], observed=True).mean())
        assert rows[sample]["base_n"] == events["k"].isin(set(own.dropna(subset="o")["k"])).sum()
        assert np.isclose(rows[sample]["base_mean"], keys.astype(float).mean())
        assert np.isclose(rows[sample]["base_positive"], above.astype(float).mean())
    everywhere = cer.backtest(
        EVERYTHING, ticks(), outcomes={"o": "AFTER 1 HOUR (y) - y"}, **OPTIONS
    ).outcomes.to_pylist()[0]
    assert everywhere["n"] == everywhere["base_n"] == rows["all"]["base_n"]
    assert np.isclose(everywhere["mean"], everywhere["base_mean"])
    assert abs(everywhere["gain_low"]) < 1e-9 > abs(everywhere["gain_high"])


def test_an_event_without_a_key_is_in_no_base() -> None:
    events = pa.table(
        {"type": list("AABA"), "ts": [0, 1, 2, 3], "k": ["x", None, "x", None], "y": [5.0, 6.0, 7.0, 8.0]}
    )
    outcomes = {"now": "y", "then": "COALESCE(AFTER 1 EVENTS (y), 100)"}
    query = "SELECT * WHERE A ; B PARTITION BY k"
    for row in cer.backtest(query, events, outcomes=outcomes, **OPTIONS).outcomes.to_pylist():
        assert (row["n"], row["base_n"]) == (1, 2)
        assert row["base_mean"] == {"now": 6.0, "then": 53.5}[row["outcome"]]
    whole = cer.backtest("SELECT * WHERE A ; B", events, outcomes=outcomes, **OPTIONS).outcomes.to_pylist()
    assert [row["base_n"] for row in whole] == [4, 4]


def test_the_order_of_events_changes_no_figure() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=4000).round(2)
    told = summary(values)
    assert told == summary(rng.permutation(values))
    frame = pd.Series(values)
    np.testing.assert_allclose(told[:2], [4000, frame.mean()])
    np.testing.assert_allclose(told[2:7], frame.quantile([0.05, 0.25, 0.5, 0.75, 0.95]), rtol=1e-12)
    assert told.positive == (frame > 0).mean()
    assert summary(np.array([np.nan])).n == 0


def test_a_split_is_read_on_the_clock_of_the_column() -> None:
    events = ticks()
    zoned = pa.timestamp("us", "America/New_York")
    events = events.set_column(5, "ts", events.column("ts").cast(zoned))
    found = cer.backtest(QUERY, events, outcomes={"o": "x"}, split="1970-01-02 12:00:00", **OPTIONS)
    times = found.outcome_hits.to_pandas()["time"]
    row = found.outcomes.to_pylist()[1]
    assert row["sample"] == "before"
    assert row["n"] == (times < pd.Timestamp("1970-01-02 12:00:00", tz="America/New_York")).sum() > 0
    with pytest.raises(ValueError, match="split='soon' is not a time"):
        cer.backtest(QUERY, events, outcomes={"o": "x"}, split="soon", **OPTIONS)


def test_a_sweep_has_a_row_for_each_variant_and_outcome() -> None:
    sweep = cer.sweep(QUERY.replace("10", "$p"), p=[3, 10, 18])
    found = cer.backtest(sweep, ticks(), outcomes={"a": "AFTER 1 HOUR (y)", "b": "x"}, **OPTIONS)
    rows = found.outcomes.to_pylist()
    assert [(row["p"], row["outcome"]) for row in rows] == [(p, o) for p in (3, 10, 18) for o in "ab"]
    assert [row["n"] for row in rows if row["outcome"] == "b"] == found.to_arrow().column("hits").to_pylist()


def test_a_parameter_that_is_called_as_a_column_gets_another_name() -> None:
    text = QUERY.replace("x > 10", "x > $low AND x < $position AND x != $query")
    sweep = cer.sweep(text, low=[3, 10], position=50, query=-1)
    found = cer.backtest(sweep, ticks(), outcomes={"time": "x"}, **OPTIONS)
    rows = found.outcomes.to_pylist()
    assert [(row["low_"], row["position"], row["query_"]) for row in rows] == [(3, 50, -1), (10, 50, -1)]
    assert rows[0]["low"] < rows[0]["mean"] < rows[0]["high"]
    hits = found.outcome_hits
    assert hits.schema.names == ["query", "low", "position_", "query_", "position", "k", "time", "time_"]
    assert len(found.plot.sweep("time").to_dict()) > 3
    assert len(found.plot.distribution().to_dict()) > 3


@pytest.mark.draws("seed", 20)
def test_the_kernels_do_what_their_contract_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, 4)
    stop = np.cumsum(sizes)
    begin = stop - sizes
    times = np.concatenate([np.sort(rng.integers(0, 30, n)) for n in sizes])
    times = times.astype(rng.choice([np.int64, np.float64]))
    reached = reach(times, begin, stop, 7)
    assert reached.tolist() == reach_reference(times, begin, stop, 7)
    values = np.where(rng.random(len(times)) < 0.3, np.nan, rng.normal(size=len(times)))
    np.testing.assert_array_equal(greatest(values, reached), greatest_reference(values, reached))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("AFTER 5 lightyears (y)", "`lightyears` is not a unit of time"),
        ("AFTER 5 MINUTES y", "parentheses"),
        ("TIME TO ()", "empty or not closed"),
        ("", "it is empty"),
        ("x >", "'o', `x >`"),
        ("MAX WITHIN 0 EVENTS (y)", "1 or more"),
        ("UPPER(name)", "an outcome can have numbers"),
        ("SUM(s.y * s.y)", "SUM takes one attribute of a variable here"),
    ],
)
def test_what_is_no_outcome_is_named(text: str, said: str) -> None:
    with pytest.raises(ValueError, match="outcome") as error:
        outcome_at_hits(text)
    assert said in str(error.value)


def test_columns_and_times_that_do_not_fit_are_named() -> None:
    with pytest.raises(cer.DataError, match="`name` holds string, and an outcome needs numbers"):
        outcome_at_hits("AFTER 5 MINUTES (name)")
    with pytest.raises(cer.DataError, match="prize"):
        outcome_at_hits("AFTER 5 MINUTES (prize)")
    with pytest.raises(ValueError, match="5 has no unit"):
        outcome_at_hits("AFTER 5 (y)")
    with pytest.raises(ValueError, match="order_by"):
        outcome_at_hits("AFTER 5 MINUTES (y)", query=QUERY.replace("1 HOUR", "9 EVENTS"), order_by=None)
    with pytest.raises(ValueError, match="no outcome was asked for"):
        print(cer.backtest(QUERY, ticks(), **OPTIONS).outcomes)
    with pytest.raises(ValueError, match="pass outcomes too"):
        cer.backtest(QUERY, ticks(), split="1970-01-02", **OPTIONS)


@pytest.mark.parametrize("kind", [pa.int8(), pa.int16(), pa.uint8(), pa.uint32(), pa.float32()], ids=str)
def test_narrow_and_unsigned_times_have_the_outcomes_of_wide_ones(kind: pa.DataType) -> None:
    first = {pa.uint8(): 0, pa.uint32(): 2**32 - 256}.get(kind, -110)
    steps = [0, 50, 190, 210]

    def found(times: pa.Array, text: str) -> list[float]:
        events = pa.table({"type": list("AAAA"), "ts": times, "y": [0.0, 1.0, 2.0, 3.0]})
        own = {"order_by": "ts", "order_unit": "s", "query": "SELECT * FROM S WHERE A"}
        return list(outcome_at_hits(text, events, **own)["o"])

    for text in ("AFTER 60 s (y)", "MAX WITHIN 170 s (y)", "MIN WITHIN 100 MINUTES (y)", "TIME TO (A)"):
        own = found(pa.array([first + step for step in steps], kind), text)
        np.testing.assert_array_equal(own, found(pa.array(steps, pa.int64()), text))


def test_the_two_zeros_are_one_partition() -> None:
    events = pa.table({"type": list("AAA"), "ts": [0, 1, 2], "k": [0.0, -0.0, 1.0], "y": [5.0, 6.0, 7.0]})
    found = outcome_at_hits("AFTER 1 EVENTS (y)", events, "SELECT * FROM S WHERE A PARTITION BY k")
    np.testing.assert_array_equal(found["o"], [6.0, np.nan, np.nan])


def test_a_value_that_is_too_old_is_left_out() -> None:
    """After a gap the last value is as old as the gap: `merge_asof` with a tolerance."""
    rng = np.random.default_rng(2)
    hours = np.cumsum(rng.choice([1, 1, 1, 2, 30], 400))
    ts = pd.Timestamp("2024-01-01") + pd.to_timedelta(hours, "h")
    value = np.where(rng.random(400) < 0.2, np.nan, rng.normal(size=400))
    frame = pd.DataFrame({"ts": ts, "type": "A", "v": value, "k": rng.choice(list("pq"), 400)})
    outcomes = {"any": "AFTER 24 HOURS (v)", "fresh": "after 24 hours (v) fresh 3 hours + 1"}
    query = "SELECT * WHERE A PARTITION BY k"
    found = cer.backtest(
        query, frame, outcomes=outcomes, order_by="ts", device="cpu"
    ).outcome_hits.to_pandas()
    asked = found.assign(ts=(found["time"] + pd.Timedelta("24h")).astype(frame["ts"].dtype))
    there = frame.dropna(subset="v")
    for name, age in {"any": None, "fresh": pd.Timedelta("3h")}.items():
        right = pd.merge_asof(asked.sort_values("ts"), there, on="ts", by="k", tolerance=age).sort_values(
            "ts"
        )
        known = right["ts"] <= right["k"].map(frame.groupby("k")["ts"].max())
        value = right["v"].where(known) + (name == "fresh")
        np.testing.assert_array_equal(asked.sort_values("ts")[name].to_numpy(), value.to_numpy())
    assert 0 < found["fresh"].count() < found["any"].count() - 50
    for text in ("AFTER 3 EVENTS (v) FRESH 1 HOUR", "AFTER 3 HOURS (v) FRESH 1 EVENTS"):
        with pytest.raises(ValueError, match="FRESH takes a length of time, after AFTER with a length"):
            cer.backtest(query, frame, outcomes={"o": text}, order_by="ts", device="cpu")
    with pytest.raises(ValueError, match="5 has no unit"):
        cer.backtest(query, frame, outcomes={"o": "AFTER 3 HOURS (v) FRESH 5"}, order_by="ts", device="cpu")
