"""Results as JSON lines, CSV, Parquet and tables; files that are whole or not there."""

import csv
import datetime
import io
import json
import os
import random
import re
import threading
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cer_gpu import output
from cer_gpu.engine.answers.answer_reader import AnswerForms, RunAccount
from cer_gpu.engine.answers.matches import Matches
from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.workers import Workers
from cer_gpu.json_text import json_text
from cer_gpu.output import format_of, output_file, write_matches, write_rows

UTC = datetime.UTC
SCHEMA = pa.schema(
    [
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("symbol", pa.dictionary(pa.int32(), pa.string())),
        ("start_time", pa.timestamp("ms", "UTC")),
        ("end_time", pa.timestamp("ms", "UTC")),
        ("a", pa.list_(pa.int64())),
        ("b", pa.list_(pa.int64())),
        ("b[price]", pa.list_(pa.struct([("price", pa.float64())]))),
    ]
)


def answers(count, seed=1):
    rng = random.Random(seed)
    rows = []
    for at in range(count):
        marked = sorted(rng.sample(range(100), rng.randrange(4)))
        rows.append(
            {
                "start": at,
                "end": at + 9,
                "symbol": rng.choice(['x"y', "é", None]),
                "start_time": datetime.datetime(2024, 1, 1, tzinfo=UTC),
                "end_time": datetime.datetime(2024, 1, 2, 0, 0, 0, 250_000, tzinfo=UTC),
                "a": sorted(rng.sample(range(100), rng.randrange(3))),
                "b": marked,
                "b[price]": [{"price": rng.choice([1.5, None, 1e300])} for _ in marked],
            }
        )
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def test_slices_of_a_batch_become_text_side_by_side(monkeypatch):
    """A batch has few rows left at its end, and no slice has many rows if these are wide."""
    flat, met = output._flat, threading.Barrier(2, timeout=60)

    def meeting(batch, shown):
        if len(batch):  # the header has no row
            met.wait()
        return flat(batch, shown)

    monkeypatch.setattr(output, "_SLICE", 1 << 16)
    monkeypatch.setattr(output, "_flat", meeting)
    monkeypatch.setattr(output, "Workers", lambda: Workers(2))
    count = 3 * 8192 + 100
    rows = pa.record_batch({"x": np.arange(count)})
    slices = [len(part.rows) for part in output._slices([rows])]
    assert sum(slices) == count
    assert len(slices) % 2 == 0
    assert max(slices) - min(slices) < len(slices)
    sink = io.BytesIO()
    write_rows(pa.Table.from_batches([rows]).to_reader(), "csv", sink)
    assert sink.getvalue().decode() == '"x"\n' + "".join(f"{number}\n" for number in range(count))


def written(table, form, **options):
    sink = io.BytesIO()
    write_rows(table.to_reader(max_chunksize=7), form, sink, **options)
    return sink.getvalue()


def lines_of(table, variables, partition=()):
    form = SimpleNamespace(
        schema=table.schema,
        variables=variables,
        partition=partition,
        times=tuple(name for name in ("start_time", "end_time") if name in table.schema.names),
        head=None,
        measures=(),
        hidden=None,
        folding=None,
    )
    parts = table.to_batches(max_chunksize=7)
    forms = AnswerForms(form, None, None)
    matches = Matches(forms, lambda *_: iter(parts), RunAccount("cpu", "", Notes()), None, True, 0)
    sink = io.BytesIO()
    write_matches(matches, "jsonl", sink)
    return sink.getvalue()


def test_the_line_of_the_documentation():
    marks = pa.list_(pa.int64())
    schema = pa.schema([("start", pa.int64()), ("end", pa.int64()), ("a", marks), ("b", marks)])
    table = pa.Table.from_pylist([{"start": 3, "end": 9, "a": [3], "b": [9]}], schema=schema)
    line = b'{"start": 3, "end": 9, "marks": {"a": [3], "b": [9]}}\n'
    assert lines_of(table, ("a", "b")) == line
    assert lines_of(table.select(["start", "end"]), ()) == b'{"start": 3, "end": 9, "marks": {}}\n'
    renamed = table.rename_columns(["start", "end", "start_", "b"])
    assert lines_of(renamed, ("start", "b")) == line.replace(b'"a"', b'"start"')


def test_json_lines_of_complex_events():
    table = answers(50)
    expected = [
        {
            "start": row["start"],
            "end": row["end"],
            "start_time": "2024-01-01T00:00:00.000Z",
            "end_time": "2024-01-02T00:00:00.250Z",
            "marks": {name: row[name] for name in ("a", "b") if row[name]},
            "partition": {"symbol": row["symbol"]},
            "attributes": {"b": row["b[price]"]} if row["b"] else {},
        }
        for row in table.to_pylist()
    ]
    found = [json.loads(line) for line in lines_of(table, ("a", "b"), ("symbol",)).splitlines()]
    assert found == expected
    part = lines_of(table.slice(13, 20), ("a", "b"), ("symbol",))
    sliced = [json.loads(line) for line in part.splitlines()]
    assert sliced == expected[13:33]


def test_json_lines_of_other_rows():
    table = pa.table({"position": [4, 7], "latest_start": [1, 7]})
    assert written(table, "jsonl") == (
        b'{"position": 4, "latest_start": 1}\n{"position": 7, "latest_start": 7}\n'
    )
    assert written(table.slice(0, 0), "jsonl") == b""


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([True, None]), [True, None]),
        (pa.array([1.0, 0.1, float("nan"), float("-inf"), None]), [1.0, 0.1, "NaN", "-Infinity", None]),
        (pa.array(['a"\\\n', None, "é"], pa.large_string()), ['a"\\\n', None, "é"]),
        (pa.array([0, 1_500], pa.timestamp("ms")), ["1970-01-01T00:00:00.000", "1970-01-01T00:00:01.500"]),
        (pa.array([0, None], pa.timestamp("s", "America/New_York")), ["1969-12-31T19:00:00-05:00", None]),
        (pa.array([90], pa.duration("s")), [90]),
        (pa.array([180_852, None, -1], pa.duration("ms")), [180.852, None, -0.001]),
        (pa.array([2**63 - 1], pa.duration("ns")), [9223372036.854775807]),
        (pa.array([[1], [], None, [2, 3]]), [[1], [], None, [2, 3]]),
        (pa.array([{"a": 1, "b": "x"}, None]), [{"a": 1, "b": "x"}, None]),
        (pa.array([datetime.date(2024, 2, 29)]), ["2024-02-29"]),
    ],
)
def test_json_of_every_type(array, expected):
    text = json_text(array)
    assert text.null_count == 0
    assert [json.loads(value) for value in text.to_pylist()] == expected


def test_csv():
    table = answers(20)
    rows = list(csv.DictReader(io.StringIO(written(table, "csv").decode())))
    assert [row["b"] for row in rows] == [" ".join(map(str, row["b"])) for row in table.to_pylist()]
    assert [json.loads(row["b[price]"]) for row in rows] == table.column("b[price]").to_pylist()
    assert {row["end_time"] for row in rows} == {"2024-01-02T00:00:00.250Z"}
    assert written(table.slice(0, 0), "csv").startswith(b'"start","end","symbol"')


def test_csv_of_durations_and_of_structs():
    table = pa.table({"held": pa.array([90, None], pa.duration("s")), "whole": [{"a": 1}, None]})
    assert written(table, "csv").decode().splitlines()[1:] == ['90,"{""a"": 1}"', ',"null"']


@pytest.mark.parametrize(("unit", "in_one"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
def test_durations_are_seconds_exactly(unit: str, in_one: int) -> None:
    most = (1 << 63) - 1
    for counts in ([70_250_000, None, -90, 0], [most, -most - 1, 1], [-most - 1], [None], []):
        column = pa.array(counts, pa.int64()).cast(pa.duration(unit))
        wanted = [None if count is None else Decimal(count) / in_one for count in counts]
        told = written(pa.table({"held": column}), "csv").decode().splitlines()[1:]
        assert [Decimal(cell) if cell else None for cell in told] == wanted
        lines = json_text(column).to_pylist()
        assert [json.loads(line, parse_float=Decimal) for line in lines] == wanted


def test_parquet():
    table = answers(20)
    assert pq.read_table(io.BytesIO(written(table, "parquet"))).equals(table)


class Terminal(io.BytesIO):
    def isatty(self) -> bool:
        return True


def test_rows_wider_than_the_terminal_are_shown_one_below_the_other(monkeypatch):
    def shown(table: pa.Table, columns: int) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(columns))
        sink = Terminal()
        write_rows(table.to_reader(), "table", sink)
        return re.sub(r"\x1b\[[0-9;]*m", "", sink.getvalue().decode()).splitlines()

    times = ["2026-01-01T05:00:00"] * 2
    table = pa.table({"start": [1, 20], "f_first_time": times, "s_time": times, "[bold]": ["x", "y"]})
    assert shown(table, 80)[0].startswith("┏━")
    lines = [line.rstrip() for line in shown(table, 40)]
    assert lines[0].startswith("1 ──")
    assert lines[1:3] == ["start         1", "f_first_time  2026-01-01T05:00:00"]
    assert lines[4] == "[bold]        x"
    assert lines[5].startswith("2 ──")
    assert lines[6] == "start         20"


def test_a_table_in_a_file_is_as_wide_as_its_cells(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    times = ["2026-01-01T05:00:00.123456"] * 2
    text = written(pa.table({"start": [1, 20], "f_first_time": times, "s_time": times}), "table").decode()
    assert text.count(times[0]) == 4


def test_table_shows_the_first_and_says_that_there_are_more():
    text = written(answers(30), "table").decode()
    assert "the first 20; there are more" in text
    assert "the first 5; there are more" in written(answers(6), "table", most=5).decode()
    assert "there are more" not in written(answers(5), "table", most=5).decode()
    assert "none" in written(answers(0), "table").decode()


@pytest.mark.parametrize(
    ("path", "form"),
    [("a.csv", "csv"), ("a.PARQUET", "parquet"), ("x/a.jsonl", "jsonl"), ("a.xlsx", None), (None, "jsonl")],
)
def test_format_of_a_file_name(path, form):
    assert format_of(path) == form


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, SystemExit])
def test_no_half_file_is_left(error, tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"older")

    def half():
        with output_file(str(path)) as sink:
            sink.write(b"half")
            sink.flush()
            assert len(os.listdir(tmp_path)) == 2
            raise error

    with pytest.raises(error):
        half()
    assert os.listdir(tmp_path) == ["out.jsonl"]
    assert path.read_bytes() == b"older"


def test_a_file_takes_its_name_when_it_is_whole(tmp_path):
    path = tmp_path / "out.jsonl"
    with output_file(str(path)) as sink:
        sink.write(b"whole")
        assert [name.rpartition(".")[2] for name in os.listdir(tmp_path)] == ["partial"]
    assert os.listdir(tmp_path) == ["out.jsonl"]
    assert path.read_bytes() == b"whole"


def test_the_file_aside_is_no_one_elses(tmp_path):
    kept = tmp_path / "kept"
    kept.write_bytes(b"of somebody else")
    planted = tmp_path / f"out.jsonl.{os.getpid()}.partial"
    planted.symlink_to(kept)
    with output_file(str(tmp_path / "out.jsonl")) as sink:
        sink.write(b"whole")
    assert kept.read_bytes() == b"of somebody else"
    assert planted.is_symlink()
    assert not (tmp_path / "out.jsonl").is_symlink()
    assert (tmp_path / "out.jsonl").read_bytes() == b"whole"


def test_a_directory_that_does_not_exist_is_named(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match=r"no such directory.*/missing/out.csv'"),
        output_file(str(tmp_path / "missing" / "out.csv")),
    ):
        pass


def test_devices_and_links(tmp_path):
    with output_file(os.devnull) as sink:
        sink.write(b"gone")
    assert os.path.exists(os.devnull)
    assert not os.path.isfile(os.devnull)
    (tmp_path / "real.csv").write_bytes(b"older")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    with output_file(str(tmp_path / "link.csv")) as sink:
        sink.write(b"newer")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_bytes() == b"newer"
