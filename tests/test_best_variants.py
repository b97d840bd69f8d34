"""The best variants of a backtest, and the verdict on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from test_backtest import ticks

import cer_gpu as cer
from cer_gpu.backtesting.outcomes.block_interval import student_quantile
from cer_gpu.backtesting.variant_label import in_order

SWEPT = "SELECT * WHERE A AS a FILTER a[x >= $p] AND a[x < $q]"


def moved(rng: np.random.Generator, gain: float, count: int = 4000) -> pd.DataFrame:
    """Events whose value two events later is noise, plus `gain` after those with `x` from 8 on."""
    x = rng.integers(0, 10, count)
    step = rng.normal(0, 1, count)
    price = np.where(np.roll(x, 1) >= 8, gain, 0) + step
    return pd.DataFrame({"type": "A", "ts": np.arange(count), "x": x, "next": price})


def swept(events: pd.DataFrame, **given: Any) -> cer.Backtest:
    pairs = [{"p": low, "q": low + 2} for low in range(0, 10, 2)] + [{"p": 9, "q": 9}, {"p": 0, "q": 10}]
    outcomes = {"later": "AFTER 1 EVENTS (next)"}
    return cer.backtest(
        cer.sweep(SWEPT, pairs), events, outcomes=outcomes, order_by="ts", device="cpu", **given
    )


def test_what_is_better_than_all_events_is_found() -> None:
    found = swept(moved(np.random.default_rng(1), 1.0))
    best = found.best("later")
    frame = best.to_pandas()
    assert best.beats_base
    assert (best.compared, best.left_out) == (6, 1)
    assert frame[["p", "q"]].iloc[0].tolist() == [8, 10]
    assert frame["mean"].is_monotonic_decreasing
    outcomes = found.outcomes.to_pandas().set_index(["p", "q"])
    for row in frame.itertuples():
        own = outcomes.loc[(row.p, row.q)]
        assert (row.n, row.mean, row.blocks) == (own.n, own["mean"], own.blocks)
        assert (row.gain_low, row.gain_high) == (own.gain_low, own.gain_high)
        assert (row.base, row.base_n) == (own.base_mean, own.base_n)
        assert row.gain == pytest.approx(row.mean - row.base)
        # Bonferroni: as many standard errors as Student's distribution has for six intervals at once.
        wide = student_quantile(1 - 0.025 / 6, row.blocks - 1) / student_quantile(0.975, row.blocks - 1)
        assert 1.3 < wide < 1.4
        assert row.gain - row.all_low == pytest.approx((row.gain - row.gain_low) * wide)
        assert row.beats_base == (row.all_low > 0)
    assert best.verdict.startswith("1 of 6 queries is above the base, by more than chance explains.")
    assert "The greatest mean of later (p=8 q=10) is " in best.verdict
    assert (
        f"(95 % for 6 queries at once, from {frame['blocks'][0]} blocks of time: hits that " in best.verdict
    )
    assert best.verdict.endswith("Queries with fewer than 30 values are left out (1).")
    assert str(best).startswith(best.verdict)
    assert "p=8 q=10" in best._repr_html_()


def test_noise_beats_nothing() -> None:
    """Of a hundred sweeps over noise a few at most find something: the intervals hold at once with 95 %."""
    wrong = 0
    for seed in range(40):
        best = swept(moved(np.random.default_rng(100 + seed), 0.0, 600)).best("later", min_n=20)
        wrong += best.beats_base
        nothing = ("Nothing beats the base: chance alone may explain", "None is above the base, but ")
        assert best.beats_base != best.verdict.startswith(nothing)
    assert wrong <= 4


def test_less_may_be_better() -> None:
    found = swept(moved(np.random.default_rng(2), -1.0))
    best = found.best("later", descending=False, number=2)
    assert best.to_pandas()["p"].tolist()[0] == 8
    assert len(best) == 2
    assert best.beats_base
    assert "is below the base" in best.verdict
    assert found.best("later").to_pandas()["p"].tolist()[0] != 8


def test_a_report_says_that_less_was_found(tmp_path: Path) -> None:
    variants = cer.sweep(SWEPT, [{"p": 8, "q": 9}, {"p": 9, "q": 10}, {"p": 0, "q": 10}])
    found = cer.backtest(
        variants,
        moved(np.random.default_rng(2), -1.0),
        outcomes={"later": "AFTER 1 EVENTS (next)"},
        order_by="ts",
        device="cpu",
    )
    best = found.best("later")
    assert not best.beats_base
    assert best.verdict.startswith("None is above the base, but 2 of 3 queries are below the base, by more ")
    found.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "below the base, by more than chance explains. The least mean of later" in page
    assert "Nothing beats the base" not in page


def test_shares_are_compared_too() -> None:
    found = swept(moved(np.random.default_rng(3), 1.0))
    frame = found.best("later", by="positive").to_pandas()
    assert frame["p"].tolist()[0] == 8
    assert frame["beats_base"].tolist() == [True] + [False] * 5
    outcomes = found.outcomes.to_pandas().set_index(["p", "q"])
    for row in frame.itertuples():
        own = outcomes.loc[(row.p, row.q)]
        assert (row.positive, row.base) == (own.positive, own.base_positive)
        assert (row.gain_low, row.gain_high) == (own.positive_gain_low, own.positive_gain_high)
        assert row.all_low <= row.gain_low <= row.gain <= row.gain_high <= row.all_high


def test_chosen_before_a_split_and_looked_at_after() -> None:
    events = moved(np.random.default_rng(4), 1.0)
    found = swept(events, split=2000)
    best = found.best("later")
    row = best.to_pandas().iloc[0]
    own = found.outcomes.to_pandas().query("p == 8 and q == 10").set_index("sample")
    assert (row["n"], row["mean"]) == (own.loc["before"].n, own.loc["before"]["mean"])
    assert (row["after_n"], row["after"]) == (own.loc["after"].n, own.loc["after"]["mean"])
    after = own.loc["after"]
    assert (row["after_gain_low"], row["after_base"]) == (after.gain_low, after.base_mean)
    assert row["after_blocks"] == after.blocks > 10
    assert best.verdict.split(". ")[-1].startswith("After the split it is")
    assert ": it holds." in best.verdict
    events.loc[2000:, "next"] = np.random.default_rng(5).normal(-1, 1, 2000)
    assert ": it does not hold up." in swept(events, split=2000).best("later").verdict


def test_too_few_hits_are_said() -> None:
    found = swept(moved(np.random.default_rng(6), 1.0, 200))
    best = found.best("later", min_n=1000)
    assert len(best) == 0
    assert not best.beats_base
    assert best.verdict == (
        "Nothing can be compared: no query has 1,000 hits with a value of later, the most are 199. Take more "
        "data, or a smaller min_n."
    )


def test_one_query() -> None:
    query = "SELECT * FROM S WHERE (A AS a FILTER a[x > 10]) ; B AS b PARTITION BY [k] WITHIN 1 HOUR"
    found = cer.backtest(
        query, ticks(), order_by="ts", device="cpu", outcomes={"o": "AFTER 20 MINUTES (y)"}, by="k"
    )
    best = found.best("o")
    row = best.to_pandas().iloc[0]
    assert (row["all_low"], row["all_high"]) == pytest.approx((row["gain_low"], row["gain_high"]))
    assert "The mean of o is " in best.verdict
    assert f"(95 %, from {row['blocks']} blocks of time: hits that overlap" in best.verdict


def test_what_best_refuses() -> None:
    found = swept(moved(np.random.default_rng(7), 0.0, 100))
    with pytest.raises(ValueError, match="there is no outcome 'ret'; the outcomes are later"):
        found.best("ret")
    with pytest.raises(ValueError, match="by must be one of mean, positive, not 'median'"):
        found.best("later", by="median")
    with pytest.raises(ValueError, match="min_n=1: one value has no interval"):
        found.best("later", min_n=1)
    with pytest.raises(ValueError, match="number=0: give how many variants"):
        found.best("later", number=0)
    plain = cer.backtest("SELECT * WHERE A", moved(np.random.default_rng(8), 0.0, 9), device="cpu")
    with pytest.raises(ValueError, match="no outcome was asked for"):
        plain.best("later")


def test_values_of_parameters_are_in_their_order() -> None:
    assert in_order(["5 s", "30 s", "2 s", "10 s", "1 min"]) == ["2 s", "5 s", "10 s", "30 s", "1 min"]
    assert in_order(["10", "9", "100"]) == ["9", "10", "100"]
    assert in_order([3, 2.5, None, 10]) == [None, 2.5, 3, 10]
    assert in_order(["b", "a", "10 min"]) == ["10 min", "a", "b"]
    hours = [pd.Timedelta("2h").to_pytimedelta(), pd.Timedelta("90min").to_pytimedelta(), "100 min"]
    assert in_order(hours) == [hours[1], "100 min", hours[0]]
