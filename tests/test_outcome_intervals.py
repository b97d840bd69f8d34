"""Intervals of outcomes: against pandas, and against chance in series where nothing happens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from test_backtest import ticks

import cer_gpu as cer
from cer_gpu.backtesting.outcomes.block_interval import student_quantile

OPTIONS: dict[str, Any] = {"order_by": "ts", "device": "cpu"}

AHEAD = 24
"""Hours that outcomes look ahead in the simulations."""


def smooth(rng: np.random.Generator, count: int, keep: float, width: int = 1) -> np.ndarray:
    """Series that forget `1 - keep` of their deviation at each step, shape (count, width)."""
    steps = rng.normal(size=(count, width))
    for at in range(1, count):
        steps[at] += keep * steps[at - 1]
    return steps


def stations(seed: int, effect: float, count: int = 4000, width: int = 1) -> pd.DataFrame:
    """Hourly readings of correlated stations; a signal that lasts for hours precedes a rise by `effect`."""
    rng = np.random.default_rng(seed)
    value = smooth(rng, count, 0.9) + 0.3 * smooth(rng, count, 0.9, width)
    signal = smooth(rng, count, 0.9) + 0.5 * smooth(rng, count, 0.9, width)
    fires = signal > signal.std()
    value[AHEAD:] += effect * fires[:-AHEAD]
    return pd.DataFrame(
        {
            "type": "A",
            "ts": np.repeat(np.arange(count), width),
            "station": np.tile(np.arange(width), count),
            "value": value.ravel(),
            "fires": fires.ravel().astype(int),
        }
    )


def backtested(events: pd.DataFrame) -> cer.Backtest:
    query = "SELECT * WHERE A AS a FILTER a[fires = 1] PARTITION BY station"
    return cer.backtest(query, events, outcomes={"later": f"AFTER {AHEAD} (value)"}, **OPTIONS)


def by_the_definition(hits: pd.DataFrame, every: pd.DataFrame, ahead: float, name: str) -> dict[str, float]:
    """Base, blocks and intervals of hits with `k`, `ts` and `o`, from all events: in pandas, for `name`."""
    length = 1
    while length < 2 * ahead or every["ts"].floordiv(length).nunique() >= 100:
        length *= 2
    as_number = {"mean": lambda o: o.astype(float), "positive": lambda o: (o > 0).astype(float)}[name]
    every, hits = every.assign(o=as_number(every["o"])), hits.assign(o=as_number(hits["o"]))
    mean = every.groupby("k")["o"].mean()
    share = hits.groupby("k").size() / every.groupby("k").size()
    above = hits["o"] - hits["k"].map(mean)
    gain = above.mean()
    differ = (every["o"] - every["k"].map(mean)) * every["k"].map(share).fillna(0)
    blocks = hits["ts"] // length
    each = blocks.value_counts()
    many = int(len(hits) ** 2 / (each**2).sum())
    found: dict[str, float] = {"base": hits["k"].map(mean).mean(), "blocks": many}
    deviations = {
        "": (hits["o"] - hits["o"].mean()).groupby(blocks).sum(),
        "gain_": (above - gain)
        .groupby(blocks)
        .sum()
        .sub(differ.groupby(every["ts"] // length).sum(), fill_value=0),
    }
    for head, one in deviations.items():
        error = np.sqrt((one**2).sum() * many / (many - 1)) / len(hits)
        middle = gain if head else hits["o"].mean()
        for end, sign in (("low", -1), ("high", 1)):
            found[f"{head}{end}"] = middle + sign * student_quantile(0.975, many - 1) * error
    return found


@pytest.mark.parametrize("outcome", ["AFTER 20 MINUTES (y)", "AFTER 3 EVENTS (y) - y", "TIME TO (C) - 900"])
def test_intervals_are_those_of_clusters_of_time(outcome: str) -> None:
    queries = {
        "some": "SELECT * FROM S WHERE (A AS a FILTER a[x > 10]) ; B AS b PARTITION BY [k] WITHIN 1 HOUR",
        "all": "SELECT * FROM S WHERE A OR B OR C OR D OR E PARTITION BY [k]",
    }
    found = cer.backtest(queries, ticks(), outcomes={"o": outcome}, **OPTIONS)
    hits = found.outcome_hits.to_pandas()
    at = ticks().to_pandas()["ts"].astype("datetime64[us]").astype(np.int64)
    hits = hits.assign(k=hits["k"].astype(str), ts=hits["position"].map(at)).dropna(subset="o")
    every, own = (hits[hits["query"] == name] for name in ("all", "some"))
    ahead = 20 * 60e6
    if "EVENTS" in outcome:  # the mean time up to the third event with a value
        there = ticks().to_pandas().assign(k=lambda frame: frame["k"].astype(str), at=at).dropna(subset="y")
        ahead = np.mean(
            [
                there[(there["k"] == one.k) & (there.index > one.position)]["at"].iloc[2] - one.ts
                for one in every.itertuples()
            ]
        )
    elif "TIME" in outcome:
        ahead = (every["o"].mean() + 900) * 1e6
    row = found.outcomes.to_pandas().set_index("query").loc["some"]
    for name, head in (("mean", ""), ("positive", "positive_")):
        right = by_the_definition(own, every, ahead, name)
        assert row["blocks"] == right["blocks"] > 10
        assert np.isclose(row[f"base_{name}"], right["base"])
        for end in ("gain_low", "gain_high"):
            assert np.isclose(row[f"{head}{end}"], right[end], rtol=1e-9, atol=1e-11), (name, end)
    right = by_the_definition(own, every, ahead, "mean")
    assert np.allclose([row["low"], row["high"]], [right["low"], right["high"]], rtol=1e-9)


def test_overlapping_hits_of_nothing_are_rarely_called_an_effect() -> None:
    """Of 200 draws without an effect few claim one at 95 %; as if hits were independent, many would."""
    claimed = independent = 0
    for seed in range(200):
        found = backtested(stations(seed, 0.0, 1500, 3))
        best, least = found.best("later"), found.best("later", descending=False)
        assert not (best.beats_base and least.beats_base)
        claimed += best.beats_base or least.beats_base
        row = found.outcomes.to_pylist()[0]
        values = found.outcome_hits.column("later").drop_null().to_numpy()
        error = values.std(ddof=1) / np.sqrt(len(values))
        independent += abs(row["mean"] - row["base_mean"]) > 1.96 * error
    assert claimed <= 16
    assert independent >= 60


def test_an_effect_is_found_in_overlapping_hits() -> None:
    found = sum(backtested(stations(seed, 2.0, 4000, 3)).best("later").beats_base for seed in range(20))
    assert found >= 18


def test_too_little_history_allows_no_claim() -> None:
    events = stations(3, 5.0, 400, 12)
    best = backtested(events).best("later")
    row = best.to_pandas().iloc[0]
    assert row["n"] > 500 > 10 > row["blocks"]
    assert row["all_low"] > 0
    assert not best.beats_base
    assert best.verdict.startswith(
        "There is too little independent history for a claim: the hits of a query lie in at most "
        f"{row['blocks']} independent blocks of time, and 10 are needed "
        "(hits that overlap, or occur together, do not count "
        "twice). The mean of later is "
    )


def test_hits_that_are_all_alike_tell_nothing_of_rare_failures() -> None:
    """Of 40 hits none failed, and of all events one in a hundred: chance explains it."""
    rng = np.random.default_rng(1)
    count = 20_000
    good = np.where(rng.random(count) < 0.01, -1.0, 1.0)
    fires = np.zeros(count, int)
    fires[rng.choice(np.flatnonzero(good > 0), 40, replace=False)] = 1
    events = pd.DataFrame({"type": "A", "ts": np.arange(count), "good": good, "fires": fires})
    query = "SELECT * WHERE A AS a FILTER a[fires = 1]"
    found = cer.backtest(query, events, outcomes={"o": "good"}, **OPTIONS)
    row = found.outcomes.to_pylist()[0]
    assert row["positive"] == row["mean"] == 1.0
    assert row["blocks"] > 20
    for by in ("mean", "positive"):
        assert not found.best("o", by=by).beats_base
    spread = np.sqrt(row["base_positive"] * (1 - row["base_positive"]) / 40)
    half = student_quantile(0.975, row["blocks"] - 1) * spread
    assert np.isclose(row["positive_gain_high"], 1 - row["base_positive"] + half)


def test_keys_that_differ_do_not_make_an_effect() -> None:
    """Hits are mostly of the key whose values are low: pooled they would be below the base."""
    rng = np.random.default_rng(4)
    count = 20_000
    key = rng.choice(list("ab"), count)
    value = rng.normal(size=count) + np.where(key == "a", 10.0, 0.0)
    fires = (rng.random(count) < np.where(key == "a", 0.01, 0.2)).astype(int)
    value += 0.2 * fires
    events = pd.DataFrame({"type": "A", "ts": np.arange(count), "k": key, "v": value, "fires": fires})
    query = "SELECT * WHERE A AS a FILTER a[fires = 1] PARTITION BY k"
    found = cer.backtest(query, events, outcomes={"o": "v"}, **OPTIONS)
    row = found.outcomes.to_pylist()[0]
    assert row["mean"] < value.mean() - 3
    assert row["gain_low"] < 0.2 < row["gain_high"]
    assert found.best("o").beats_base
    whole = cer.backtest(query.replace("PARTITION BY k", ""), events, outcomes={"o": "v"}, **OPTIONS)
    assert np.isclose(whole.outcomes.to_pylist()[0]["base_mean"], value.mean())


@pytest.mark.parametrize("freedom", [1, 2, 3, 10, 49, 98])
def test_quantiles_are_those_of_students_density(freedom: int) -> None:
    for share in (0.9, 0.975, 0.999):
        reach = student_quantile(share, freedom)
        angles = np.linspace(-np.pi / 2, np.pi / 2, 400_001)[:-1] + np.pi / 800_000
        # With t = sqrt(freedom) * tan(angle) the density is that of cos(angle) ** (freedom - 1).
        density = np.cos(angles) ** (freedom - 1)
        inside = density[np.sqrt(freedom) * np.tan(angles) <= reach].sum() / density.sum()
        assert inside == pytest.approx(share, abs=1e-5)
