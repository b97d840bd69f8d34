"""Time zones: text is read in the zone of the column, and results are shown with the offset."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import cer_gpu as cer
from cer_gpu.cli import app
from cer_gpu.engine.read.sources.clock_times import ClockTimes, LocalRun
from cer_gpu.json_text import json_text, time_text
from cer_gpu.language.units import timestamp_nanoseconds

BERLIN = "Europe/Berlin"


def table(zone: str | None, unit: str = "us") -> pa.Table:
    """An event every half hour, around the end of summer time in Berlin, 2024-10-27 03:00."""
    seconds = [int(datetime(2024, 10, 26, 22, tzinfo=UTC).timestamp()) + 1800 * i for i in range(16)]
    times = pa.array(seconds, pa.timestamp("s")).cast(pa.timestamp(unit)).cast(pa.int64())
    return pa.table({"type": ["A"] * 16, "ts": times.cast(pa.timestamp(unit)).cast(pa.timestamp(unit, zone))})


def positions(condition: str, events: pa.Table) -> list[int]:
    query = cer.compile(f"SELECT * FROM S WHERE A AS a FILTER a[{condition}]")
    return query.hits(events, order_by="ts")["position"].to_pylist()


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_text_without_an_offset_is_read_in_the_zone_of_the_column(unit: str) -> None:
    at_midnight = {"UTC": 4, BERLIN: 0, "America/New_York": 12, "+01:00": 2, "-00:30": 5}
    for zone, place in at_midnight.items():
        found = positions("ts = '2024-10-27T00:00'", table(zone, unit))
        assert found == [place]
    assert positions("ts = '2024-10-27'", table(None, unit)) == [4]


def test_text_with_an_offset_is_read_as_it_says() -> None:
    for zone in (None, "UTC", BERLIN, "America/New_York"):
        assert positions("ts = '2024-10-27T02:00+02:00'", table(zone)) == [4]
        assert positions("ts IN {'2024-10-27T00:00Z', '2024-10-27T01:30+01:00'}", table(zone)) == [4, 5]


def test_a_time_that_clocks_show_twice_is_the_first_one() -> None:
    # 02:30 in Berlin is 00:30 and 01:30 in UTC.
    assert positions("ts = '2024-10-27T02:30'", table(BERLIN)) == [5]
    assert positions("ts + 1 h = '2024-10-27T02:30'", table(BERLIN)) == [3]
    assert positions("ts IN RANGE ('2024-10-27T02:00', '2024-10-27T03:00')", table(BERLIN)) == [4, 5, 6, 7, 8]


def test_text_in_zones_is_what_python_makes_of_it() -> None:
    for zone in (BERLIN, "Asia/Kolkata", "America/St_Johns"):
        for text in ("2024-03-31T01:59:59", "2024-03-31T03:00", "1900-01-01", "2024-07-01T12:00:00.5"):
            moment = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))
            assert timestamp_nanoseconds(text, zone) == round(moment.timestamp() * 1000) * 10**6


LEFT_OUT = {
    ("2024-03-31T02:00", BERLIN): "2024-03-31T03:00+02:00",
    ("2024-03-31T02:30:10.25", BERLIN): "2024-03-31T03:00+02:00",
    ("2024-03-10 02:59", "America/New_York"): "2024-03-10T03:00-04:00",
    ("2024-10-06T02:10", "Australia/Lord_Howe"): "2024-10-06T02:30+11:00",  # half an hour
    ("2018-11-04", "America/Sao_Paulo"): "2018-11-04T01:00-02:00",
    ("2011-12-30T12:00", "Pacific/Apia"): "2011-12-31T00:00+14:00",  # a whole day
}


def test_a_time_that_no_clock_showed_is_read_as_in_files() -> None:
    """As the end of the hour that was left out, which is what cells of CSV files are read as."""
    for (text, zone), meant in LEFT_OUT.items():
        assert timestamp_nanoseconds(text, zone) == timestamp_nanoseconds(meant), (text, zone)
        cell = pa.array([datetime.fromisoformat(text)], pa.timestamp("us"))
        moments = ClockTimes().moments(cell, pa.timestamp("us", zone), ("file", "ts"), 0)
        assert moments.cast(pa.int64())[0].as_py() * 1000 == timestamp_nanoseconds(meant)
    changed = datetime(2024, 3, 31, 1, tzinfo=UTC)
    times = pa.array([changed + timedelta(minutes=minutes) for minutes in (-1, 0, 1)])
    events = pa.table({"type": ["A"] * 3, "ts": times.cast(pa.timestamp("us", BERLIN))})
    with pytest.warns(UserWarning, match="never shown"):
        assert positions("ts >= '2024-03-31T02:30'", events) == [1, 2]


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("ts >= '2024-03-31T02:30'", "'2024-03-31T02:30' was never shown by clocks of Europe/Berlin, which"),
        ("'2024-03-31T02:30' < PREV(ts) + 1 h", "'2024-03-31T02:30' was never shown"),
        ("ts IN RANGE ('2024-03-01', '2024-10-27T02:30')", "'2024-10-27T02:30' was shown twice by clocks of"),
        ("ts IN {'2024-03-01', '2024-10-27 02:59:59.9'}", "'2024-10-27 02:59:59.9' was shown twice"),
        ("ts > '2024-03-31' AND ts < '2024-03-31T02:30+02:00'", None),
        ("ts > '2024-03-31T01:59:59' AND ts < '2024-03-31T03:00'", None),
        ("DATE(ts) = '2024-03-31'", None),
        ("DATE(ts) < '2024-03-31T02:30'", None),
    ],
)
def test_a_text_at_a_time_that_clocks_left_out_or_showed_twice_is_noted(
    condition: str, said: str | None
) -> None:
    query = cer.compile(f"SELECT * FROM S WHERE A AS a FILTER a[{condition}]")
    notes = [one for one in query.check(table(BERLIN)) if one.code == "CER112"]
    assert [one.message.startswith(said) for one in notes] == ([True] if said else []), notes
    for note in notes:  # what the hint writes is the same moment, if it was shown
        offset = "+02:00'" if "twice" in note.message else "+01:00'"
        assert note.hints[0].endswith(offset)
    assert [one for one in query.check(table("UTC")) if one.code == "CER112"] == []


def test_rules_have_the_note_too() -> None:
    rule = cer.compile("Q(x) <- A(ts = x), x > '2024-03-31T02:30'")
    assert [one.code for one in rule.check(table(BERLIN))] == ["CER112"]


def test_a_zone_that_is_not_known() -> None:
    events = table("Mars/Olympus")
    with pytest.raises(cer.DataError, match="`Mars/Olympus` of a column is not known on this machine"):
        positions("ts > '2024-01-01'", events)
    assert positions("ts = '2024-10-27T00:00Z'", events) == [4]


def test_times_are_shown_with_their_offset() -> None:
    shown = time_text(table(BERLIN).column("ts").combine_chunks()).to_pylist()
    assert shown[:2] == ["2024-10-27T00:00:00.000000+02:00", "2024-10-27T00:30:00.000000+02:00"]
    assert shown[5:8:2] == ["2024-10-27T02:30:00.000000+02:00", "2024-10-27T02:30:00.000000+01:00"]
    times = [0, None, -(2**63), 2**63 - 1, -(10**17), 10**18]
    for unit in ("s", "ms", "us", "ns"):
        for zone in ("UTC", BERLIN, "Asia/Kolkata", "-03:30", "America/New_York"):
            column = pa.array(times, pa.int64()).cast(pa.timestamp(unit, zone))
            for text, count in zip(time_text(column).to_pylist(), times, strict=True):
                if text is None or text.startswith("<"):
                    continue
                if text[0] == "-" or len(text.split("-")[0]) > 4 or count is None:
                    continue  # Python has no such year
                factor = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[unit]
                assert timestamp_nanoseconds(text) == count * factor
                assert text.endswith("Z") == (zone == "UTC") or abs(count) == 2**63 - 1 or count == -(2**63)
    assert json_text(table("+05:30", "s")["ts"].combine_chunks())[0].as_py() == '"2024-10-27T03:30:00+05:30"'


@pytest.mark.parametrize("form", ["jsonl", "csv", "table"])
def test_the_shell_prints_times_with_their_offset(form: str, tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    pq.write_table(table(BERLIN, "ms"), path)
    query = "SELECT a[ts] FROM S WHERE A AS a FILTER a[ts = '2024-10-27T02:30']"
    found = CliRunner().invoke(app, ["run", query, str(path), "--order-by", "ts", "--format", form])
    assert found.exit_code == 0, found.output
    if form == "jsonl":
        line = json.loads(found.stdout)
        assert line["attributes"] == {"a": [{"ts": "2024-10-27T02:30:00.000+02:00"}]}
    elif form == "csv":
        assert "2024-10-27T02:30:00.000+02:00" in found.stdout
    else:  # cells are narrow
        assert "+02:00" in found.stdout


def test_times_of_a_clock_in_a_csv_file(tmp_path: Path) -> None:
    """A type with a zone says whose clock the cells without an offset show."""
    path = tmp_path / "clock.csv"
    given = {"order_by": "ts", "column_types": {"ts": "timestamp[us, America/New_York]"}}
    path.write_text("type,ts\nA,2024-03-10 01:30\nB,2024-03-10 02:30\nB,2024-03-10 03:30\n")
    query = cer.compile("SELECT * WHERE A AS a ; B FILTER a[HOUR(ts) = 1] WITHIN 1 HOURS")
    left_out = (
        rf"1 time of column `ts` of {path} \(in row 1, counted from 0\) was never shown by clocks of "
        r"America/New_York, which were set forward: it is read as the end of the hour"
    )
    with pytest.warns(UserWarning, match=left_out):
        one, two = query.run(path, sort=True, **given)
    # Half past two was not on that clock: it is three o'clock.
    assert [one.duration, two.duration] == [timedelta(minutes=30), timedelta(hours=1)]
    assert one.start_time == datetime(2024, 3, 10, 6, 30, tzinfo=UTC)
    path.write_text("type,ts\nA,2024-03-10T01:30:00-05:00\nB,2024-03-10T07:30:00Z\n")
    (pair,) = query.run(path, **given)
    assert (pair.start_time.isoformat(), pair.duration) == ("2024-03-10T01:30:00-05:00", timedelta(hours=1))


def test_times_that_clocks_show_twice_in_a_csv_file(tmp_path: Path) -> None:
    path = tmp_path / "clock.csv"
    path.write_text("type,ts\nA,2024-11-03 00:30\nA,2024-11-03 01:10\nA,\nB,2024-11-03 01:30\n")
    given = {
        "order_by": "ts",
        "column_types": {"ts": "timestamp[us, America/New_York]"},
        "sort": True,
        "ambiguous": "earliest",
    }
    query = cer.compile("SELECT * WHERE A ; B WITHIN 30 MINUTES")
    said = (
        f"2 times of column `ts` of {path} (the first in row 1, counted from 0) were shown twice by clocks "
        "of America/New_York, which were set back: the first of the two is taken; write the offset, as in "
        "02:30:00-05:00"
    )
    path.write_text(path.read_text().replace("A,\n", ""))
    matches = query.run(path, **given)
    with pytest.warns(UserWarning, match="were shown twice by clocks"):
        (pair,) = matches
    assert said in matches.notes
    assert pair.end_time.isoformat() == "2024-11-03T01:30:00-04:00"
    with pytest.warns(UserWarning, match="^2 times of column"):
        assert query.count(path, **given) == 1
    assert [note for note in matches.notes if "shown" in note] == [said]


def twice(tmp_path: Path, *clock: str) -> Path:
    path = tmp_path / "clock.csv"
    path.write_text("type,ts\n" + "".join(f"A,{one}\n" for one in clock))
    return path


@pytest.mark.parametrize(
    ("ambiguous", "offsets"), [("earliest", "44445"), ("latest", "45555"), ("infer", "44455")]
)
def test_which_of_two_times_is_meant(tmp_path: Path, ambiguous: str, offsets: str) -> None:
    shown = ["00:59", "01:10", "01:50", "01:20", "02:00"]
    path = twice(tmp_path, *(f"2024-11-03 {one}" for one in shown))
    zone = {"ts": "timestamp[us, America/New_York]"}
    query = cer.compile("SELECT * WHERE A")
    with pytest.warns(UserWarning, match="3 times of column .* shown twice"):
        found = query.run(
            path, order_by="ts", column_types=zone, ambiguous=ambiguous, sort=ambiguous != "infer"
        ).to_arrow()
    times = sorted((ce.isoformat()[11:16], ce.isoformat()[-4]) for ce in found["start_time"].to_pylist())
    assert times == sorted(zip(shown, offsets, strict=True))


def test_a_time_that_clocks_show_twice_is_an_error(tmp_path: Path) -> None:
    path = twice(tmp_path, "2024-11-03 00:59", "2024-11-03 01:10")
    zone = {"ts": "timestamp[us, America/New_York]"}
    with pytest.raises(
        cer.DataError, match=r"row 1 of .*clock.csv .* clocks of America/New_York showed twice"
    ):
        cer.compile("SELECT * WHERE A").count(path, order_by="ts", column_types=zone)
    with pytest.raises(
        ValueError, match="ambiguous must be one of raise, earliest, latest, infer, not 'first'"
    ):
        cer.compile("SELECT * WHERE A").count(path, ambiguous="first")


def test_an_hour_that_comes_twice_is_told_where_times_have_no_zone(tmp_path: Path) -> None:
    query = cer.compile("SELECT * WHERE A")
    path = twice(tmp_path, "2024-11-03 01:50", "2024-11-03 01:10")
    with pytest.raises(cer.DataError, match="if a clock was set back here, sorting mixes the hour"):
        query.count(path, order_by="ts")
    path = twice(tmp_path, "2024-11-04 01:50", "2024-11-04 01:10")  # a Monday
    with pytest.raises(cer.DataError, match=r"pass sort=True \(--sort\)$"):
        query.count(path, order_by="ts")


def test_the_order_of_rows_tells_each_night_by_itself() -> None:
    clocks, run = ClockTimes("infer"), LocalRun()
    nights = ("2023-11-05", "2024-11-03")
    shown = [f"{night}T01:{minute}" for night in nights for minute in ("30", "10", "40")]
    kind = pa.timestamp("s", "America/New_York")
    found = []
    for seen, one in enumerate([shown[0], None, *shown[1:]]):  # batch after batch, with a null
        cell = pa.array([None if one is None else datetime.fromisoformat(one)], pa.timestamp("s"))
        found += clocks.moments(cell, kind, ("file", "ts"), seen, run).to_pylist()
    assert [one.isoformat()[-4] for one in found if one is not None] == list("455455")


def test_a_cell_that_is_no_time_of_a_clock(tmp_path: Path) -> None:
    path = tmp_path / "clock.csv"
    path.write_text("type,ts\n" + "A,2024-03-10 01:30\n" * 600_000 + "B,soon\n")
    with pytest.raises(cer.DataError, match=r"row 600,000 of .*clock.csv .* `soon` in column `ts`"):
        cer.compile("SELECT * WHERE A AS x FILTER x[ts IS NULL]").count(
            path, column_types={"ts": "timestamp[us, America/New_York]"}
        )
