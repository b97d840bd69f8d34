"""A backtest over files that was interrupted goes on with the first file that it had not finished."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from generate import any_query, stream, stream_to_table
from outcome_tables import assert_same_outcomes
from random_correlated import random_correlated
from random_looked_for import looking_query
from random_one_clock import one_clock_query
from random_ordered import random_chosen, random_ordered
from random_steps import session_query, timed_query
from test_backtest import OPTIONS, ticks

import cer_gpu as cer
from cer_gpu.backtesting import checkpoint
from cer_gpu.engine.read.sources.files import FileRows
from cer_gpu.engine.run.bound_query import BoundQuery
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text

QUERIES = {
    "abreast": "SELECT * WHERE A AS a ; B AS b FILTER b[x > 12] PARTITION BY k WITHIN 6 hours",
    "wider": "SELECT * WHERE A ; C PARTITION BY k WITHIN 1 day",
    "carried": "SELECT * WHERE A ; B ; C PARTITION BY k",
    "iterated": "SELECT * WHERE A+ ; B WITHIN 40 EVENTS",
    "neighbours": "SELECT * WHERE A :[<= 1 hour] B PARTITION BY name",
    "gaps": "SELECT * WHERE A ;[<= 2 hours] B ;[<= 3 hours] C PARTITION BY k WITHIN 5 hours",
    "consumed": "SELECT * WHERE A ; B PARTITION BY k WITHIN 6 hours CONSUME BY PARTITION",
    "suppressed": "SELECT * WHERE A ; B PARTITION BY k WITHIN 6 hours SUPPRESS FOR 9 hours",
    "suppressed everywhere": "SELECT * WHERE A ; B PARTITION BY k SUPPRESS FOR 9 hours BY ANY",
    "suppressed and consumed": "SELECT * WHERE A ; B WITHIN 6 hours CONSUME BY ANY SUPPRESS FOR 1 day",
    "longest": "SELECT MAX * WHERE A+ : B WITHIN 6 hours",
    "strict": "SELECT STRICT * WHERE A ; B WITHIN 6 hours",
    "clock": "SELECT * WHERE (A ; B) WITHIN [<= 1 hour] ; C",
    "followed": "SELECT * WHERE A NOT FOLLOWED BY B WITHIN 3 hours",
    "correlated": "SELECT * WHERE A AS a ; B AS b FILTER b.x = a.x WITHIN 6 hours",
    "measured": "SELECT NONE, LAST(b.x) - FIRST(a.x) AS up WHERE A AS a ; B+ AS b PARTITION BY k WITHIN 1 h",
    "measured at all": "SELECT NONE, LAST(b.x) - FIRST(a.x) AS gain WHERE A AS a ; B AS b PARTITION BY k",
    "previous": "SELECT * WHERE A AS a FILTER a[x > PREV(x)] PARTITION BY name",
}


class StoppedError(Exception):
    """Stands for what ends a process."""


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The files whose rows are read, and the one at which reading stops; each state is kept."""
    noted: dict[str, Any] = {"paths": [], "stop": None}
    own = FileRows.read

    def watched(self: FileRows, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        noted["paths"].append(Path(self.where).name)
        if Path(self.where).name == noted["stop"]:
            raise StoppedError
        yield from own(self, wanted, rows)

    monkeypatch.setattr(FileRows, "read", watched)
    monkeypatch.setattr(checkpoint, "SHARE", 0)
    return noted


def written(table: pa.Table, folder: Path, cuts: list[int]) -> list[Path]:
    """The rows of a table as files."""
    ends = [0, *cuts, len(table)]
    paths = []
    for number, (begin, end) in enumerate(pairwise(ends)):
        paths.append(folder / f"part-{number}.parquet")
        pq.write_table(table.slice(begin, end - begin), paths[-1])
    return paths


def interrupted_everywhere(queries: Any, paths: list[Path], read: dict[str, Any], **keywords: Any) -> None:
    """Stop at each file but the first, one after another, and compare what comes of it."""
    state = paths[0].parent / "kept"
    whole = cer.backtest(queries, paths, **keywords)
    for path in paths[1:]:
        read["stop"] = path.name
        with pytest.raises(StoppedError):
            cer.backtest(queries, paths, resume=state, **keywords)
    read["stop"] = None
    found = cer.backtest(queries, paths, resume=state, **keywords)
    assert found.to_arrow().equals(whole.to_arrow())
    assert found.notes == whole.notes


@pytest.mark.parametrize("by", [None, "6 h"], ids=["in all", "by time"])
def test_interrupted_after_each_file(read: dict[str, Any], tmp_path: Path, by: str | None) -> None:
    paths = written(ticks(1200), tmp_path, [1, 300, 300, 900])
    interrupted_everywhere(QUERIES, paths, read, order_by="ts", by=by)


def test_keys_are_told_apart_after_an_interruption(read: dict[str, Any], tmp_path: Path) -> None:
    queries = {name: text for name, text in QUERIES.items() if "PARTITION BY k" in text}
    paths = written(ticks(900, seed=5), tmp_path, [200, 500])
    interrupted_everywhere(queries, paths, read, order_by="ts", by=["12 h", "k"])


def test_a_sweep_goes_on(read: dict[str, Any], tmp_path: Path) -> None:
    paths = written(ticks(900, seed=2), tmp_path, [200, 500])
    text = "SELECT * WHERE A AS a ; B AS b ; C FILTER a[x > $low] AND b[y < $high] PARTITION BY k WITHIN $w"
    sweep = cer.sweep(text, low=[2, 5, 9], high=[0.3, 0.8], w=["1 h", "5 h"])
    interrupted_everywhere(sweep, paths, read, order_by="ts", by="1d")


def test_random_queries_go_on(read: dict[str, Any], tmp_path: Path) -> None:
    rng = Random("resumed")
    answered = 0
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        table = stream_to_table(stream(rng, 40))
        paths = written(table, folder, sorted(rng.sample(range(1, 40), 2)))
        queries = {}
        while len(queries) < 6:
            try:
                query = cer.compile(to_text(any_query(rng)))
                query.counts(table, **OPTIONS)
            except cer.CerError:
                continue
            queries[f"number {len(queries)}"] = query
        interrupted_everywhere(queries, paths, read, **OPTIONS)
        answered += sum(cer.backtest(queries, table, **OPTIONS).to_arrow()["hits"].to_pylist())
    assert answered > 20


def test_numbers_beyond_64_bits_are_kept(read: dict[str, Any], tmp_path: Path) -> None:
    count = 150
    table = pa.table({"type": ["A"] * count, "ts": np.arange(count)})
    paths = written(table, tmp_path, [70, 100])
    interrupted_everywhere({"all": "SELECT * WHERE A+"}, paths, read, order_by="ts")
    (row,) = cer.backtest({"all": "SELECT * WHERE A+"}, paths, order_by="ts").to_arrow().to_pylist()
    assert int(row["matches"]) == 2**count - 1


def test_finished_files_are_not_read_again(read: dict[str, Any], tmp_path: Path) -> None:
    paths, state = written(ticks(900), tmp_path, [200, 400, 600]), tmp_path / "kept"
    query = {"q": QUERIES["abreast"]}
    read["stop"] = "part-2.parquet"
    with pytest.raises(StoppedError):
        cer.backtest(query, paths, order_by="ts", resume=state)
    read["stop"], read["paths"] = None, []
    cer.backtest(query, paths, order_by="ts", resume=state)
    assert read["paths"] == ["part-2.parquet", "part-3.parquet"]
    read["paths"] = []
    cer.backtest(query, paths, order_by="ts", resume=state)
    assert read["paths"] == []


def test_what_reads_all_files_is_not_worked_out_again(
    read: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, state = ticks(900), tmp_path / "kept"
    paths = written(table.slice(0, 600), tmp_path, [300])
    queries = {name: QUERIES[name] for name in ("abreast", "wider", "correlated")}
    given: dict[str, Any] = {"order_by": "ts", "by": "12 h", "starts": True, "durations": True}
    given |= {"funnel": True, "outcomes": {"next": "AFTER 2 EVENTS (x)"}, "split": "1970-01-02"}
    whole = cer.backtest(queries, paths, **given)
    listed, matches = [], BoundQuery.matches

    def stopping(bound: BoundQuery) -> Any:
        listed.append(bound)
        if len(listed) == 3:
            raise StoppedError
        return matches(bound)

    monkeypatch.setattr(BoundQuery, "matches", stopping)
    with pytest.raises(StoppedError):
        cer.backtest(queries, paths, resume=state, **given)
    found = cer.backtest(queries, paths, resume=state, **given)
    assert len(listed) == 4  # two, the one at which it stopped, and that one again
    read["paths"] = []
    again = cer.backtest(queries, paths, resume=state, **given)
    assert read["paths"] == []
    for one in (found, again):
        assert one.to_arrow().equals(whole.to_arrow())
        assert one.funnel.equals(whole.funnel)
        assert_same_outcomes(one.outcomes, whole.outcomes)
        assert one.outcome_hits.equals(whole.outcome_hits)
    other = cer.backtest(queries, paths, resume=state, **{**given, "outcomes": {"next": "x"}})
    assert not other.outcomes.equals(whole.outcomes)
    paths.append(tmp_path / "part-2.parquet")
    pq.write_table(table.slice(600), paths[-1])
    more, whole = (cer.backtest(queries, paths, resume=where, **given) for where in (state, None))
    assert more.to_arrow().equals(whole.to_arrow())
    assert_same_outcomes(more.outcomes, whole.outcomes)
    assert more.funnel.equals(whole.funnel)


@pytest.mark.parametrize("by", [None, ["8 h", "k"]], ids=["in all", "by time and key"])
def test_what_lists_matches_looks_back_as_far_as_windows_reach(
    read: dict[str, Any], tmp_path: Path, by: Any
) -> None:
    names = ["abreast", "iterated", "gaps", "correlated", "clock", "rare"]
    queries = QUERIES | {"rare": "SELECT * WHERE A ; (B AS b FILTER b[x > 90]) PARTITION BY k WITHIN 1 hour"}
    queries["clock"] = "SELECT * WHERE (A ; B) WITHIN [<= 1 hour] ; C PARTITION BY k WITHIN 5 hours"
    queries["correlated"] = "SELECT * WHERE A AS a ; B AS b FILTER b.x = a.x PARTITION BY k WITHIN 6 hours"
    asked = {name: queries[name] for name in names if by is None or "PARTITION BY k" in queries[name]}
    paths, state = written(ticks(900), tmp_path, [150, 300, 450, 600, 750]), tmp_path / "kept"
    given: dict[str, Any] = {"order_by": "ts", "by": by, "starts": True, "durations": True}
    for many in (3, 5, 6):
        expected = cer.backtest(asked, paths[:many], **given)
        read["paths"] = []
        found = cer.backtest(asked, paths[:many], resume=state, **given)
        assert found.to_arrow().equals(expected.to_arrow())
        # Twelve hours are in each file, and six of them before the last one are reached.
    assert {*read["paths"]} == {"part-5.parquet", "part-4.parquet and 1 more files"}
    assert min(row["starts"] for row in found.to_arrow().to_pylist() if row["query"] != "rare") > 0


def test_a_funnel_goes_on_with_new_files(read: dict[str, Any], tmp_path: Path) -> None:
    paths, state = written(ticks(900), tmp_path, [300, 600]), tmp_path / "kept"
    asked = {name: QUERIES[name] for name in ("abreast", "carried", "neighbours")}
    asked["several"] = "SELECT * WHERE A ; B {2,} ; (C ; A) AS x ; D ? WITHIN 2 hours"
    asked["beside"] = "SELECT * WHERE A ; (B : C) AS x WITHIN 2 hours"
    for many in (2, 3):
        read["paths"] = []
        found = cer.backtest(asked, paths[:many], order_by="ts", funnel=True, resume=state)
        expected = cer.backtest(asked, paths[:many], order_by="ts", funnel=True)
        if many == 3:
            assert {*read["paths"]} == {"part-2.parquet", "part-0.parquet and 2 more files"}
        assert found.funnel.equals(expected.funnel)
    read["stop"] = "part-1.parquet"
    state.unlink()
    with pytest.raises(StoppedError):
        cer.backtest(asked, paths, order_by="ts", funnel=True, resume=state)
    read["stop"] = None
    found = cer.backtest(asked, paths, order_by="ts", funnel=True, resume=state)
    assert found.funnel.equals(expected.funnel)


def test_each_file_is_read_once_for_all_queries(read: dict[str, Any], tmp_path: Path) -> None:
    paths = written(ticks(600), tmp_path, [200, 400])
    # Matches that differ by measures alone are listed, by a reading of their own.
    asked = {name: text for name, text in QUERIES.items() if not name.startswith("measured")}
    found = cer.backtest(asked, paths, order_by="ts", by="12 h").to_arrow()
    assert len(read["paths"]) == 1  # of all files
    table = pa.concat_tables([pq.read_table(path) for path in paths])
    for name, text in asked.items():
        own = found.filter(np.array(found["query"]) == name)
        assert sum(own["matches"].to_pylist()) == cer.compile(text).count(table, order_by="ts"), name


@pytest.mark.parametrize("name", QUERIES)
def test_only_new_files_are_read(name: str, read: dict[str, Any], tmp_path: Path) -> None:
    paths, state = written(ticks(900), tmp_path, [300, 600]), tmp_path / "kept"
    asked = {name: QUERIES[name]}
    cer.backtest(asked, paths[:2], order_by="ts", funnel=True, resume=state)
    read["paths"] = []
    found = cer.backtest(asked, paths, order_by="ts", funnel=True, resume=state)
    assert {*read["paths"]} == {"part-2.parquet"}
    expected = cer.backtest(asked, paths, order_by="ts", funnel=True)
    assert found.to_arrow().equals(expected.to_arrow())
    assert found.funnel.equals(expected.funnel)


def test_files_without_events_are_read_on(read: dict[str, Any], tmp_path: Path) -> None:
    paths, state = written(ticks(300), tmp_path, [0, 0]), tmp_path / "kept"
    asked = {name: QUERIES[name] for name in ("abreast", "measured")}
    for many in (1, 2, 3):
        found = cer.backtest(asked, paths[:many], order_by="ts", resume=state)
        assert found.to_arrow().equals(cer.backtest(asked, paths[:many], order_by="ts").to_arrow())


def without_window(query: tree.SelectQuery) -> tree.SelectQuery:
    """A query whose answers depend on events at any distance."""
    return replace(query, window=None)


DRAWN = [random_correlated, random_ordered, random_chosen, timed_query, session_query, one_clock_query]


@pytest.mark.crossed
@pytest.mark.parametrize("drawn", [*DRAWN, looking_query, any_query])
@pytest.mark.parametrize("change", [lambda query: query, without_window], ids=["", "without window"])
def test_random_queries_go_on_with_new_files(
    drawn: Callable[[Random], tree.SelectQuery], change: Any, read: dict[str, Any], tmp_path: Path
) -> None:
    rng = Random(f"new files {drawn.__name__}")
    answered = taken = 0
    while taken < 6 or not answered:
        table = stream_to_table(stream(rng, rng.randrange(20, 40)))
        try:
            query = cer.compile(to_text(change(drawn(rng))))
            counts = query.counts(table, **OPTIONS)
        except cer.CerError:
            continue
        if query._plan.compiled.hidden and query._plan.compiled.looks_ahead:
            continue
        folder = tmp_path / str(taken)
        folder.mkdir()
        paths = written(table, folder, sorted(rng.sample(range(1, len(table)), 3)))
        for many in (1, 2, 4):
            read["paths"] = []
            found = cer.backtest({"q": query}, paths[:many], resume=folder / "kept", **OPTIONS)
            assert "part-0.parquet" not in read["paths"] or many == 1
            expected = cer.backtest({"q": query}, paths[:many], **OPTIONS)
            assert found.to_arrow().equals(expected.to_arrow()), query.text
        taken, answered = taken + 1, answered + len(counts)


def test_a_wrong_row_is_named_in_its_file(read: dict[str, Any], tmp_path: Path) -> None:
    table = ticks(600)
    late = table.slice(400, 1)
    paths = written(pa.concat_tables([table.slice(0, 500), late, table.slice(500)]), tmp_path, [200, 450])
    query = {"q": "SELECT * WHERE A ; B WITHIN 1 hour"}
    with pytest.raises(cer.DataError, match=r"row 50 of \S*part-2\.parquet"):
        cer.backtest(query, paths, order_by="ts", resume=tmp_path / "kept")
    with pytest.raises(cer.DataError, match=r"row 50 of \S*part-2\.parquet"):
        cer.backtest(query, paths, order_by="ts", resume=tmp_path / "kept")


def test_what_does_not_fit_is_said(read: dict[str, Any], tmp_path: Path) -> None:
    paths, state = written(ticks(300), tmp_path, [100]), tmp_path / "kept"
    query = {"q": QUERIES["abreast"]}
    cer.backtest(query, paths, order_by="ts", resume=state)
    with pytest.raises(cer.DataError, match="another by: remove the file"):
        cer.backtest(query, paths, order_by="ts", by="1d", resume=state)
    with pytest.raises(cer.DataError, match="another set of queries"):
        cer.backtest({"q": QUERIES["wider"]}, paths, order_by="ts", resume=state)
    with pytest.raises(cer.DataError, match=r"part-1\.parquet, which is missing now"):
        cer.backtest(query, paths[:1], order_by="ts", resume=state)
    pq.write_table(ticks(90), paths[0])
    with pytest.raises(cer.DataError, match=r"part-0\.parquet, which has changed"):
        cer.backtest(query, paths, order_by="ts", resume=state)
    state.write_bytes(state.read_bytes()[:-3])
    with pytest.raises(cer.DataError, match=r"damaged.*remove the file"):
        cer.backtest(query, paths, order_by="ts", resume=state)
    with pytest.raises(cer.DataError, match="pass the paths of files"):
        cer.backtest(query, ticks(300), order_by="ts", resume=tmp_path / "other")
    with pytest.raises(cer.DataError, match="without sort=True"):
        cer.backtest(query, paths, order_by="ts", sort=True, resume=tmp_path / "other")


KILLED = """
import os, signal, sys
from cer_gpu.backtesting import checkpoint
from cer_gpu.cli import status_of
from cer_gpu.engine.read.sources.files import FileRows
from cer_gpu.engine.run.bound_query import BoundQuery

checkpoint.SHARE = 0
own = FileRows.read

def killed(self, *given):
    for batch in own(self, *given):
        if self.where.endswith(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGKILL)
        yield batch

FileRows.read = killed
sys.exit(status_of(sys.argv[2:]))
"""


def test_a_killed_process_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from cer_gpu.cli import status_of

    paths = written(ticks(900), tmp_path, [300, 600])
    asked = ["backtest", QUERIES["wider"], *map(str, paths), "--order-by", "ts", "--by", "1d"]
    more = ["--resume", str(tmp_path / "kept")]
    run = [sys.executable, "-c", KILLED, "part-2.parquet", *asked, *more]
    assert subprocess.run(run, capture_output=True, check=False).returncode == -signal.SIGKILL
    assert (tmp_path / "kept").exists()
    assert status_of(asked) == 0
    whole = capsys.readouterr().out
    assert status_of([*asked, *more, "--report", str(tmp_path / "page.html")]) == 0
    assert capsys.readouterr().out == whole
    assert len(whole.splitlines()) > 1
    assert "900 events" in (tmp_path / "page.html").read_text()
