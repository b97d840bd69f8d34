"""`cer backtest`: files of named queries, swept parameters, rows by time and key."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cer_gpu as cer
from cer_gpu.backtesting.query_file import named_queries
from cer_gpu.cli import status_of

FILE = """\
-- patterns of the desk
-- name: spike
SELECT * FROM S WHERE A AS a ; B  -- a comment
FILTER a[v > $p] PARTITION BY k WITHIN 1 HOUR

-- name: any b
SELECT * FROM S WHERE B PARTITION BY k
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    count = 400
    table = pa.table(
        {
            "type": ["ABC"[n * n % 3] for n in range(count)],
            "v": [n * 7 % 40 for n in range(count)],
            "k": ["xy"[n % 5 % 2] for n in range(count)],
            "ts": pa.array([n * 600 for n in range(count)], pa.timestamp("s")),
        }
    )
    pq.write_table(table, tmp_path / "events.parquet")
    (tmp_path / "patterns.ceql").write_text(FILE)
    return tmp_path


def shell(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = status_of(["backtest", *map(str, arguments)])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_it_prints_what_python_gives(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, where = folder / "events.parquet", {"order_by": "ts"}
    asked = [folder / "patterns.ceql", data, "--order-by", "ts", "--by", "1d", "--by", "k"]
    status, out, _ = shell(capsys, *asked, "--sweep", "p=3,20", "--format", "jsonl")
    texts = named_queries(FILE, "patterns.ceql")
    queries = {"spike": cer.sweep(texts["spike"], p=[3, 20]), "any b": texts["any b"]}
    own = cer.backtest(queries, data, by=["1d", "k"], **where).to_arrow().to_pylist()
    rows = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert len(rows) == len(own) > 8
    for row, wanted in zip(rows, own):
        assert (row["query"], row["k"], row["hits"], row["matches"]) == tuple(
            wanted[name] for name in ("query", "k", "hits", "matches")
        )
        assert row["p"] == wanted["p"]


def test_a_query_may_be_typed_and_the_rows_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "SELECT * FROM S WHERE A AS a FILTER a[v > $p]"
    out = folder / "found.parquet"
    assert shell(capsys, text, folder / "events.parquet", "--param", "p=30", "-o", out)[0] == 0
    own = cer.compile(text, params={"p": 30}).count(folder / "events.parquet")
    assert pq.read_table(out).to_pylist()[0]["matches"] == own > 0


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--sweep", "q=1"], 4, "no query has the parameter $q; the parameters are $p"),
        (["--sweep", "p"], 4, "--sweep takes NAME=VALUES"),
        (["--sweep", "p=1", "--param", "z=1"], 4, "no query has the parameter `$z`"),
        ([], 1, "in the query 'spike'"),
        (["--sweep", "p=1", "--order-by", "ts", "--by", "2 moons"], 4, "is not a length of time"),
        (["--sweep", "p=1", "-o", "nowhere/out.csv"], 4, "there is no such directory to write in"),
        (["--sweep", "p=1", "--report", "nowhere/out.html"], 4, "there is no such directory to write in"),
        (["--sweep", "p=1", "--resume", "nowhere/kept"], 4, "there is no such directory to write in"),
    ],
)
def test_what_it_refuses(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, message: str
) -> None:
    found, out, said = shell(capsys, folder / "patterns.ceql", folder / "events.parquet", *arguments)
    assert message in said
    assert not out
    assert found == status


def test_a_file_of_queries_keeps_its_lines() -> None:
    found = named_queries(FILE, "patterns.ceql")
    assert list(found) == ["spike", "any b"]
    wrong = FILE.replace("SELECT * FROM S WHERE B", "SELECT * FROM S WHERE")
    with pytest.raises(cer.QueryError, match="query:7:"):
        cer.compile(named_queries(wrong, "patterns.ceql")["any b"])
    assert named_queries("SELECT * FROM S WHERE A", "q") == {"query": "SELECT * FROM S WHERE A"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "-- name: a\nSELECT * WHERE A\n--name: a\nSELECT * WHERE B",
            "line 3: line 1 has a query `a` already",
        ),
        ("-- name:\nSELECT * WHERE A", "line 1: a query has no name"),
        ("SELECT * WHERE A\n-- name: b\nSELECT * WHERE B", "line 1: this text belongs to no query"),
        ("-- name: a\n-- name: b\nSELECT * WHERE B", "line 1: the name `a` has no query after it"),
    ],
)
def test_what_is_no_file_of_queries(text: str, message: str) -> None:
    with pytest.raises(cer.DataError, match=message):
        named_queries(text, "patterns.ceql")


def test_outcomes_are_summed_up(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "SELECT * FROM S WHERE A AS a FILTER a[v > $p]"
    asked = [text, folder / "events.parquet", "--order-by", "ts", "--sweep", "p=3,20", "--format", "jsonl"]
    status, out, _ = shell(
        capsys, *asked, "--outcome", "later=AFTER 3 EVENTS (v) - v", "--split", "1970-01-02"
    )
    rows = [json.loads(line) for line in out.splitlines()]
    own = cer.backtest(
        cer.sweep(text, p=[3, 20]),
        folder / "events.parquet",
        order_by="ts",
        outcomes={"later": "AFTER 3 EVENTS (v) - v"},
        split="1970-01-02",
    ).outcomes.to_pylist()
    assert status == 0
    assert len(rows) == len(own) == 6
    for row, right in zip(rows, own):
        assert {"query": right["query"], **row} == right


def test_what_is_swept_is_printed_as_it_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers have no quotes in CSV, `07` may be a text; a query that was typed has no column for a name."""
    text = "SELECT * FROM S WHERE A AS a ; B AS b FILTER a[v > $p] AND b[v < $q] WITHIN $w"
    swept = ["--sweep", "p=3,20", "--sweep", "q=8.5,90", "--sweep", "w=1 h,2 d", "--format", "csv"]
    status, out, _ = shell(capsys, text, folder / "events.parquet", "--order-by", "ts", *swept)
    header, first, *rest = out.splitlines()
    assert (status, len(rest)) == (0, 7)
    assert header == '"p","q","w","hits","matches","first","last"'
    assert first.startswith('3,8.5,"1 h",')
    _, out, _ = shell(
        capsys, text, folder / "events.parquet", "--order-by", "ts", *swept[:3], "q=07", *swept[4:]
    )
    assert out.splitlines()[1].startswith('3,"07","1 h",')
    _, out, _ = shell(
        capsys, text, folder / "events.parquet", "--order-by", "ts", *swept[:3], "q=.5", *swept[4:]
    )
    assert out.splitlines()[1].startswith('3,0.5,"1 h",')


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--outcome", "v"], "--outcome takes NAME=EXPRESSION"),
        (["--outcome", "a=v", "--outcome", "a=2 * v"], "the name a is given twice"),
        (["--outcome", "a=AFTER 3 (v"], "the parentheses are empty or not closed"),
        (["--split", "1970-01-02"], "pass outcomes too"),
    ],
)
def test_outcomes_that_are_none(
    given: list[str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = shell(capsys, "SELECT * FROM S WHERE A", folder / "events.parquet", *given)
    assert status != 0
    assert said in " ".join(err.split())


@pytest.mark.parametrize("package", ["altair", "vl_convert"])
def test_a_report_without_its_packages_is_refused_before_anything_is_run(
    package: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(
        "cer_gpu.backtesting.run.backtest", lambda *given, **keywords: pytest.fail("it was run")
    )
    asked = [folder / "patterns.ceql", folder / "events.parquet", "--order-by", "ts", "--param", "p=3"]
    status, _, said = shell(capsys, *asked, "--report", folder / "page.html")
    assert status != 0
    assert "install the extra `report`: in a clone of cer-gpu, `pip install '.[report]'`" in " ".join(
        said.split()
    )
