"""`cer watch`: whenever it is killed, what it has written in the end is what `cer run` prints."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from engine_oracle import cuts, pieces
from generate import ORDER, stream_to_table
from processes import started
from test_late import as_they_come, drawn

from cer_gpu.cli import status_of
from cer_gpu.language.printer import to_text
from cer_gpu.watch_state import WatchState

QUERY = "SELECT a, b[x] WHERE A AS a ; B AS b PARTITION BY [k] WITHIN 10 SECONDS"


class KilledError(BaseException):
    """The process is gone; nothing in it catches this."""


class HalfSink:
    """A file that gets part of what is written before the process is gone."""

    def __init__(self, sink: Any, kill: Kills) -> None:
        self._sink, self._kill = sink, kill

    def write(self, data: bytes) -> None:
        cut = self._kill.rng.randrange(len(data) + 1)
        self._sink.write(data[:cut])
        self._sink.flush()
        self._kill()
        self._sink.write(data[cut:])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sink, name)


class Kills:
    """Kills now and then: before a transaction, after it, and while matches are written."""

    def __init__(self, rng: Random, likely: float, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rng, self._likely, self.number = rng, likely, 0
        store, write = WatchState._store, WatchState._write

        def stored(state: WatchState, *given: Any) -> None:
            self()
            store(state, *given)
            self()

        def written(state: WatchState) -> None:
            if not isinstance(state._sink, HalfSink):
                state._sink = HalfSink(state._sink, self)
            write(state)

        monkeypatch.setattr(WatchState, "_store", stored)
        monkeypatch.setattr(WatchState, "_write", written)

    def __call__(self) -> None:
        if self.rng.random() < self._likely:
            self.number += 1
            raise KilledError


@pytest.mark.draws("seed", 24)
def test_whenever_it_is_killed_it_goes_on(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = 0
    kills = Kills(Random(f"watch kills {seed}"), 0.2, monkeypatch)
    for number in range(24):
        if number >= 4 and lines:
            break  # some queries have no matches
        rng = Random(f"watch {seed} {number}")
        query, events = drawn(rng, number)
        late = rng.choice((0, 250, 2500))
        text, table = to_text(query), stream_to_table(as_they_come(rng, events, late))
        place = tmp_path / str(number)
        (place / "in").mkdir(parents=True)
        pq.write_table(table, place / "all.parquet")
        common = ["--order-by", ORDER, "--stream-column", "stream", "--late", f"{late} ms"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if status_of(["run", text, str(place / "all.parquet"), *common]):
                capsys.readouterr()
                continue  # some random automata are over the budget
            wanted = capsys.readouterr().out
            watch = ["watch", text, str(place / "in"), *common]
            watch += ["--state", str(place / "state"), "-o", str(place / "out.jsonl")]
            (place / "out.jsonl").write_text("older\n")
            parts = pieces(table, cuts(rng, len(table)))
            for part, rows in enumerate(parts):
                pq.write_table(rows, place / "in" / f"{part:03}.parquet")
                ends = "--end" if part == len(parts) - 1 else "--once"
                while True:
                    try:
                        status = status_of([*watch, ends])
                    except KilledError:
                        continue
                    told = capsys.readouterr().err
                    over = "was ended with --end" in told  # killed at the very end
                    assert status == 0 or (over and ends == "--end"), told
                    break
        written = (place / "out.jsonl").read_text().removeprefix("older\n")
        assert sorted(written.splitlines()) == sorted(wanted.splitlines()), text
        lines += len(wanted.splitlines())
    assert lines
    assert kills.number


def rows_of(*events: tuple[str, int, str, float]) -> pa.Table:
    types, times, keys, values = zip(*events, strict=True)
    stamps = pa.array([1_700_000_000 + time for time in times], pa.timestamp("s", "UTC"))
    return pa.table({"type": types, "ts": stamps, "k": keys, "x": values})


FIRST = rows_of(("A", 1, "x", 1.5), ("B", 3, "x", 2.5))
SECOND = rows_of(("A", 4, "y", 1.5), ("B", 5, "x", 2.5), ("B", 6, "y", 0.5))


def json_lines(table: pa.Table) -> str:
    rows = [row | {"ts": row["ts"].strftime("%Y-%m-%dT%H:%M:%SZ")} for row in table.to_pylist()]
    return "".join(json.dumps(row) + "\n" for row in rows)


def cer(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[Any], str]:
    status = status_of([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return status, [(line["start"], line["end"]) for line in map(json.loads, out.splitlines())], err


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_files_of_a_folder_are_taken_once(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()

    def drop(table: pa.Table, name: str) -> None:
        if form == "parquet":
            pq.write_table(table, folder / f"{name}.parquet")
        elif form == "csv":
            pacsv.write_csv(table, folder / f"{name}.csv")
        else:
            (folder / f"{name}.jsonl").write_text(json_lines(table))

    watch = ["watch", QUERY, folder, "--state", tmp_path / "state", "--order-by", "ts", "--once"]
    assert cer(capsys, *watch) == (0, [], "")  # nothing is there yet
    drop(FIRST, "1")
    (folder / "notes.txt").write_text("no data")
    (folder / ".2.csv").write_text("not complete")
    assert cer(capsys, *watch) == (0, [(0, 1)], "")
    assert cer(capsys, *watch) == (0, [], "")
    drop(SECOND, "2")
    assert cer(capsys, *watch) == (0, [(0, 3), (2, 4)], "")


def piped(text: str, *arguments: object) -> tuple[int, list[Any], str]:
    command = [sys.executable, "-m", "cer_gpu", "watch", QUERY, "-", "--order-by", "ts", *map(str, arguments)]
    ran = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return (
        ran.returncode,
        [(one["start"], one["end"]) for one in map(json.loads, ran.stdout.splitlines())],
        ran.stderr,
    )


def test_lines_that_begin_anew_are_taken_once(tmp_path: Path) -> None:
    state = ["--state", tmp_path / "state"]
    assert piped(json_lines(FIRST), *state) == (0, [(0, 1)], "")
    assert piped(json_lines(FIRST) + json_lines(SECOND), *state) == (0, [(0, 3), (2, 4)], "")


def test_lines_that_go_on(tmp_path: Path) -> None:
    texts = []
    for table in (FIRST, SECOND):
        sink = pa.BufferOutputStream()
        pacsv.write_csv(table, sink)
        texts.append(sink.getvalue().to_pybytes().decode())
    options = ["--state", tmp_path / "state", "--input-format", "csv", "--no-replay"]
    assert piped(texts[0].rstrip("\n"), *options) == (0, [(0, 1)], "")  # the last line has no end
    assert piped(texts[1], *options) == (0, [(0, 3), (2, 4)], "")


def test_a_process_that_is_killed_loses_and_repeats_nothing(tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out.jsonl"
    folder.mkdir()
    command = [sys.executable, "-m", "cer_gpu", "watch", QUERY, str(folder), "--order-by", "ts"]
    command += ["--state", str(tmp_path / "state"), "-o", str(out), "--every", "0.01"]
    rng, dropped = Random(5), 0

    def lines() -> int:
        return len(out.read_text().splitlines()) if out.exists() else 0

    for _ in range(3):
        with started(command) as process:
            first, deadline = lines(), time.monotonic() + 60
            while lines() < first + 15 and time.monotonic() < deadline:
                rows = rows_of(("A", 20 * dropped, "x", 1.0), ("B", 20 * dropped + 1, "x", 1.0))
                pq.write_table(rows, folder / f".{dropped:05}")
                (folder / f".{dropped:05}").rename(folder / f"{dropped:05}.parquet")
                dropped += 1
                time.sleep(rng.random() / 50)
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert lines() >= first + 15
    subprocess.run([*command, "--once"], check=True)
    ends = [json.loads(line)["end"] for line in out.read_text().splitlines()]
    assert ends == list(range(1, 2 * dropped, 2))


def test_columns_keep_their_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "1.csv").write_text("type,ts,k,x,y\nA,2024-05-01T00:00:00,007,1,1\nB,2024-05-01T00:00:01,b,1,1")
    (folder / "2.csv").write_text("type,ts,k,x\nB,2024-05-01T00:00:02.5,007,NA\n")
    state = ["--state", tmp_path / "state", "--order-by", "ts", "--once"]
    assert cer(capsys, "watch", QUERY, folder, *state) == (0, [(0, 2)], "")  # the query reads no `y`
    (folder / "3.csv").write_text("type,ts,k,x\nB,2024-05-01T00:00:03,007,1.5\n")
    status, found, err = cer(capsys, "watch", QUERY, folder, *state)
    assert (status, found) == (2, [])
    assert "has `1.5` in column `x`, which is int64" in err
    assert "Columns keep the types that they have in the first file" in err


SILENCE = "SELECT a WHERE A AS a NOT FOLLOWED BY [<= 2 s] B"


def test_the_clock_decides_what_did_not_come(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    pq.write_table(rows_of(("A", 1, "x", 1.0)), folder / "1.parquet")
    watch = ["watch", SILENCE, folder, "--state", tmp_path / "state", "--order-by", "ts"]
    assert cer(capsys, *watch, "--once") == (0, [], "")

    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cer_gpu.cli_watch.time.sleep", interrupted)
    status, found, _ = cer(capsys, *watch, "--clock")  # the first look at an idle folder tells the time
    assert (status, found) == (130, [(0, 0)])
    assert cer(capsys, *watch, "--end") == (0, [], "")
    other = ["watch", SILENCE, folder, "--state", tmp_path / "other", "--order-by", "ts", "--once"]
    assert cer(capsys, *other, "--clock") == (0, [(0, 0)], "")


def test_rows_of_other_keys_let_time_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An alarm that nobody answers is printed though no further row of it comes."""
    folder = tmp_path / "in"
    folder.mkdir()
    pq.write_table(rows_of(("A", 1, "x", 1.0), ("A", 9, "y", 1.0)), folder / "1.parquet")
    query = f"{SILENCE} PARTITION BY k"
    watch = ["watch", query, folder, "--state", tmp_path / "state", "--order-by", "ts", "--once"]
    assert cer(capsys, *watch) == (0, [(0, 0)], "")
    pq.write_table(rows_of(("A", 2, "z", 1.0)), folder / "2.parquet")
    status, found, err = cer(capsys, *watch)
    assert (status, found, "No row of" in err) == (2, [], True)


def test_rows_without_a_key_are_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    watch = ["watch", "SELECT * WHERE A ; B PARTITION BY k", folder, "--state", tmp_path / "state"]
    for number in range(3):
        missing = [("A", 10 * number + one, None, 1.0) for one in range(number)]
        pq.write_table(rows_of(*missing, ("A", 10 * number + 5, "x", 1.0)), folder / f"{number}.parquet")
        status, _, said = cer(capsys, *watch, "--order-by", "ts", "--once")
        assert status == 0
        skipped = re.findall(r"(\d rows? ha\w+ no value in a column of PARTITION BY; skipped)", said)
        assert len(skipped) == bool(number), said
        assert not number or skipped[0].startswith(f"{number} row"), said


def test_a_file_of_several_queries_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    queries = tmp_path / "rules.ceql"
    queries.write_text("-- name: one\nSELECT * WHERE A\n-- name: other\nSELECT * WHERE B\n")
    for command in (
        ["watch", f"@{queries}", tmp_path, "--state", tmp_path / "state"],
        ["check", f"@{queries}"],
    ):
        status, _, said = cer(capsys, *command)
        assert (status, "has 2 queries (`one`, `other`): `cer backtest` runs them" in said) == (4, True), said


def test_what_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = tmp_path / "in", tmp_path / "out.jsonl"
    folder.mkdir()
    pq.write_table(FIRST, folder / "1.parquet")
    state = ["--state", tmp_path / "state", "--order-by", "ts", "--once"]
    assert cer(capsys, "watch", QUERY, folder, *state, "-o", out)[0] == 0
    for arguments, status, reason in (
        ([QUERY.replace("10", "20"), folder, *state, "-o", out], 2, "belongs to another query, 'SELECT"),
        (
            [QUERY, folder, *state, "--late", "5 s", "-o", out],
            2,
            "without --late, and cer watch is now",
        ),
        ([QUERY, tmp_path, *state, "-o", out], 2, "has another source"),
        ([QUERY, folder, *state], 2, "has another output"),
        ([QUERY, tmp_path / "gone", *state, "-o", out], 2, "there is no folder"),
        ([QUERY, folder, "--state", tmp_path / "other", "--clock"], 4, "--clock needs the column of time"),
        (
            [QUERY, folder, "--state", folder / "1.parquet"],
            2,
            "it is not a file of cer watch",
        ),
    ):
        found = cer(capsys, "watch", *arguments)
        assert found[0] == status, found
        assert reason in found[2]
    with WatchState(str(tmp_path / "taken"), {}, None):
        found = cer(capsys, "watch", QUERY, folder, "--state", tmp_path / "taken")
    assert (found[0], "another cer watch has it open" in found[2]) == (2, True)
    out.write_text("")
    found = cer(capsys, "watch", QUERY, folder, *state, "-o", out)
    assert (found[0], "has 0 bytes, and" in found[2]) == (2, True)
    pq.write_table(rows_of(("A", 0, "x", 1.0)), folder / "2.parquet")
    out.write_text("x" * 200)
    found = cer(capsys, "watch", QUERY, folder, *state, "-o", out)
    assert (found[0], "No row of" in found[2], "row 0 of" in found[2]) == (2, True, True)


def test_a_file_that_is_older_than_the_one_before_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    pq.write_table(FIRST, folder / "1.parquet")
    state = ["--state", tmp_path / "state", "--order-by", "ts", "--once"]
    watch = ["watch", "SELECT * WHERE A ; B", folder, *state]
    assert cer(capsys, *watch) == (0, [(0, 1)], "")
    pq.write_table(rows_of(("A", 0, "x", 1.0)), folder / "2.parquet")
    status, found, said = cer(capsys, *watch)
    assert (status, found) == (2, [])
    assert f"row 0 of {folder / '2.parquet'} (counted from 0) is out of order by `ts`" in said
    assert "and the last row of the files before it" in said
    assert "move it out of the folder, and call cer watch again; or accept late rows with --late" in said
    (folder / "2.parquet").unlink()
    pq.write_table(SECOND, folder / "3.parquet")
    assert cer(capsys, *watch)[:2] == (0, [(0, 3), (2, 3), (0, 4), (2, 4)])
