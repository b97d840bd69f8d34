"""`cer sql`: statements with MATCH_RECOGNIZE in the shell, and `explain` and `check` of them."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

pytest.importorskip("sqlglot", reason="SQL is read by sqlglot, of the extra sql")

from cer_gpu.cli import status_of

TRADES = pa.table(
    {
        "symbol": ["A", "A", "A", "A", "B", "B", "B", "A"],
        "ts": pa.array(range(8), pa.timestamp("s")),
        "price": [10, 8, 9, 7, 5, 4, 6, 12],
    }
)
V_SHAPES = """SELECT * FROM {} MATCH_RECOGNIZE (
    PARTITION BY symbol ORDER BY ts MEASURES LAST(down.price) AS low, LAST(up.price) AS high
    PATTERN (start down+ up+) DEFINE down AS price < PREV(price), up AS price > PREV(price) AND price > $least
)"""
NAMED = V_SHAPES.format("trades")
SHAPES = [
    {"symbol": "A", "low": 8, "high": 9},
    {"symbol": "B", "low": 4, "high": 6},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    parquet.write_table(TRADES, tmp_path / "trades.parquet")
    csv.write_csv(TRADES, tmp_path / "trades.csv")
    (tmp_path / "v.sql").write_text(NAMED, encoding="utf-8")
    return tmp_path


def printed(capfd: pytest.CaptureFixture[str], *arguments: object, status: int = 0) -> str:
    """What a command prints."""
    assert status_of([str(argument) for argument in arguments]) == status
    captured = capfd.readouterr()
    return captured.err if status and not captured.out else captured.out


def rows(text: str) -> list[dict[str, object]]:
    """Lines of JSON."""
    return [json.loads(line) for line in text.splitlines()]


def test_tables_are_named_files_or_stand_in_the_text(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, values = folder / "trades.parquet", ("--param", "least=0")
    assert rows(printed(capfd, "sql", V_SHAPES.format(f"'{path}'"), *values)) == SHAPES
    for given in (path, folder / "trades.csv"):
        assert rows(printed(capfd, "sql", NAMED, "--table", f"trades={given}", *values)) == SHAPES
    assert rows(printed(capfd, "sql", f"@{folder / 'v.sql'}", "--table", f"trades={path}", *values)) == SHAPES
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert rows(printed(capfd, "sql", NAMED, "--table", "trades=-", *values)) == SHAPES
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(NAMED.encode())))
    assert rows(printed(capfd, "sql", "@-", "--table", f"trades={path}", *values)) == SHAPES


def test_parameters_dialects_formats_and_limits(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table = ("--table", f"trades={folder / 'trades.parquet'}")
    assert rows(printed(capfd, "sql", NAMED, *table, "--param", "least=6")) == [SHAPES[0]]
    around = f"SELECT symbol FROM ({NAMED}) AS `m`"
    flink = printed(
        capfd, "sql", around, *table, "--param", "least=0", "--dialect", "flink", "--format", "csv"
    )
    assert flink.split() == ['"symbol"', '"A"', '"B"']
    for limit, count in ((0, 0), (1, 1), (2, 2), (9, 2)):
        shown = printed(capfd, "sql", NAMED, *table, "--param", "least=0", "--limit", limit)
        assert rows(shown) == SHAPES[:count]
    out = folder / "shapes.parquet"
    assert printed(capfd, "sql", NAMED, *table, "--param", "least=0", "-o", out, "--memory", "1GB") == ""
    assert parquet.read_table(out).to_pylist() == SHAPES
    assert " low " in printed(capfd, "sql", NAMED, *table, "--param", "least=0", "--format", "table")


def test_how_matches_are_found(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = f"trades={folder / 'trades.parquet'}"
    told = printed(capfd, "sql", NAMED, "--explain", "--param", "least=0", "--table", given)
    assert "pattern     START DOWN+ UP+" in told
    assert "linear in the rows" in told
    for more in ((), ("--table", given)):
        assert printed(capfd, "sql", NAMED, "--explain", "--param", "least=0", *more) == told
    for more in ((), (given,)):
        assert printed(capfd, "explain", NAMED, "--param", "least=0", *more) == told
    out = folder / "told.txt"
    printed(capfd, "explain", NAMED, "--param", "least=0", "-o", out)
    assert out.read_text(encoding="utf-8") == told.rstrip("\n")
    drawn = printed(capfd, "explain", NAMED, "--param", "least=0", "--format", "mermaid")
    assert drawn.startswith("flowchart LR")
    assert "leave it out for SQL" in printed(capfd, "explain", NAMED, "--funnel", status=4)


def test_statements_are_checked(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = f"trades={folder / 'trades.parquet'}"
    for more in ((), (given,)):
        assert printed(capfd, "check", NAMED, *more, "--param", "least=0") == "ok\n"
    wrong = NAMED.replace("LAST(down.price)", "LAST(down.prize)")
    assert printed(capfd, "check", wrong, "--param", "least=0") == "ok\n"
    shown = printed(capfd, "check", wrong, given, "--param", "least=0", status=1)
    assert "there is no column `prize`" in shown
    assert "^^^^^" in shown
    assert "`$least` has no value" in printed(capfd, "check", NAMED, status=1)


def test_what_is_wrong_has_a_status(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table = ("--table", f"trades={folder / 'trades.parquet'}")
    assert "there is no MATCH_RECOGNIZE" in printed(capfd, "sql", "SELECT 1", status=1)
    assert "there is no table trades" in printed(capfd, "sql", NAMED, "--param", "least=0", status=2)
    around = f"SELECT FROM WHERE ({NAMED})"
    assert "cannot be read" in printed(capfd, "sql", around, *table, "--param", "least=0", status=1)
    huge = NAMED.replace("up+)", "(up{1,1000}){1,1000})")
    assert "pattern" in printed(capfd, "sql", huge, *table, "--param", "least=0", status=3)
    assert "NAME=FILE" in printed(capfd, "sql", NAMED, "--table", "trades.parquet", status=4)
    assert "there is no dialect" in printed(capfd, "sql", NAMED, "--dialect", "klingon", status=4)
    own = folder / "trades.parquet"
    assert "is one of the inputs" in printed(capfd, "sql", NAMED, *table, "-o", own, status=4)


def test_a_query_of_events_is_told_where_sql_is_run(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert "with `cer sql` in the shell" in printed(capfd, "run", NAMED, folder / "trades.csv", status=1)


def test_check_reads_standard_input_once(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"SELECT * WHERE A ; B")))
    assert printed(capfd, "check", "@-") == "ok\n"
