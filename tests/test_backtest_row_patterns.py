"""Backtests of SELECTs with MATCH_RECOGNIZE count what the reference and `match_recognize` list."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from random_row_patterns import SCHEMA, ClauseDraft, random_rows, random_table

import cer_gpu as cer
from cer_gpu.backtesting.queries import AskedQuery
from cer_gpu.cli import status_of
from cer_gpu.errors import DataError, LimitError, QueryError
from cer_gpu.patterns.tree import Field, Navigation, RowMeasure, RowsPerMatch
from cer_gpu.reference.row_pattern_matches import row_pattern_answers

pytest.importorskip("sqlglot", reason="SQL is read by sqlglot, of the extra sql")

from row_pattern_sql import clause_sql

RISES = """SELECT * FROM trades MATCH_RECOGNIZE (
    PARTITION BY symbol ORDER BY ts
    MEASURES FIRST(price) AS low, LAST(price) AS high
    PATTERN (start_ up{2,}) DEFINE up AS price > PREV(price) + $least)"""


def trades(count: int = 2000) -> pa.Table:
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "type": pa.array(["T"] * count),
            "symbol": pa.array([f"s{one}" for one in rng.integers(0, 4, count)]),
            "ts": pa.array(np.arange(count) * 60, pa.timestamp("s")),
            "price": rng.random(count),
        }
    )


def measure(name, column, which):
    return RowMeasure(name, Navigation(Field(column), which=which, final=True))


@pytest.mark.draws("seed", 300)
def test_random_statements_are_counted_as_the_reference_lists_them(seed):
    rng = Random(seed)
    rows = random_rows(rng, 12)
    table = random_table(rng, rows).append_column("n", pa.array(range(len(rows))))
    draft = ClauseDraft(rng).clause()
    located = [measure("first_", "n", "first"), measure("last_", "n", "last"), measure("key_", "k", "last")]
    clause = replace(draft, rows=RowsPerMatch.ONE, measures=tuple(located))
    numbered = [{**row, "n": number} for number, row in enumerate(rows)]
    try:
        matches = row_pattern_answers(clause, numbered, [*SCHEMA.names, "n"], 20_000)
    except (DataError, LimitError):
        return
    matches = [one for one in matches if one["first_"] is not None]
    by = ["10 s", "k"] if draft.partition_by == ("k",) else "10 s"
    try:
        found = cer.backtest(
            {"q": clause_sql(draft)}, table, order_by="t", by=by, starts=True, durations=True
        )
    except QueryError as error:
        # Some functions the search computes for one row alone.
        if "of the match" not in str(error) and "of one row only" not in str(error):
            raise
        return
    times = [row["t"] for row in rows]

    def group(match):
        at = times[match["last_"]]
        bucket = at.replace(microsecond=0, second=at.second // 10 * 10)
        return (bucket, match["key_"]) if len(by) == 2 else (bucket,)

    expected = {}
    for key in {group(one) for one in matches}:
        own = [one for one in matches if group(one) == key]
        ends = {one["last_"] for one in own}
        expected[key] = (len(own), len(ends), len({one["first_"] for one in own}))
        expected[key] += (min(times[end] for end in ends), max(times[end] for end in ends))
    told = found.to_arrow()
    for name in ("bucket", "first", "last"):
        told = told.set_column(told.schema.get_field_index(name), name, told[name].cast(pa.timestamp("us")))
    got = {
        ((row["bucket"], row["k"]) if len(by) == 2 else (row["bucket"],)): (
            *(row[name] for name in ("matches", "hits", "starts", "first", "last")),
        )
        for row in told.to_pylist()
    }
    assert got == expected, clause_sql(draft)


def test_a_sweep_counts_what_match_recognize_lists():
    table, values = trades(), [{"least": one} for one in (0.0, 0.05, 0.2)]
    found = cer.backtest(cer.sweep(RISES, values), table, order_by="ts", by="symbol").to_arrow().to_pylist()
    listed = cer.match_recognize(RISES, params=values, trades=table).to_arrow().to_pylist()
    assert {(row["least"], row["symbol"]): row["matches"] for row in found} == Counter(
        (row["least"], row["symbol"]) for row in listed
    )
    assert all(row["hits"] == row["matches"] for row in found)


@pytest.mark.parametrize(
    "around", ["WHERE high > low + 0.4", "AS m WHERE m.high > m.low + $gain ORDER BY low"]
)
def test_where_leaves_matches_out(around):
    table = trades()
    given = {"gain": 0.4} if "$gain" in around else {}
    sql = f"{RISES.replace('$least', '0')} {around}"
    (row,) = cer.backtest(sql, table, order_by="ts", params=given).to_arrow().to_pylist()
    assert row["matches"] == len(cer.match_recognize(sql, params=given, trades=table).to_arrow()) > 10


def test_sql_and_ceql_are_counted_in_one_backtest():
    table = trades()
    queries = {
        "peak": "SELECT * WHERE T AS a FILTER a[price > 0.99] PARTITION BY symbol",
        "rises": RISES.replace("$least", "0.1"),
        "same": "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES price AS p "
        "PATTERN (a) DEFINE a AS price > 0.99)",
    }
    rows = cer.backtest(queries, table, order_by="ts").to_arrow().to_pylist()
    assert [row["query"] for row in rows] == list(queries)
    assert {**rows[0], "query": "same"} == rows[2]
    assert rows[1]["matches"] == len(cer.match_recognize(queries["rises"], trades=table).to_arrow())


def test_outcomes_are_those_of_the_same_hits_in_ceql():
    table = trades()
    sql = (
        "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (a) DEFINE a AS price > $p)"
    )
    ceql = "SELECT * WHERE T AS a FILTER a[price > $p] PARTITION BY symbol"
    for where in ({}, {"sort": True}):
        mixed = table.take(pa.array(np.random.default_rng(1).permutation(len(table)))) if where else table
        found = cer.backtest(
            {"sql": cer.sweep(sql, p=[0.5, 0.9]), "ceql": cer.sweep(ceql, p=[0.5, 0.9])},
            mixed,
            order_by="ts",
            outcomes={"later": "AFTER 5 MINUTES (price) - price"},
            split="1970-01-02",
            **where,
        )
        rows = found.outcomes.to_pylist()
        assert len(rows) == 12
        for one, other in zip(rows[:6], rows[6:]):
            assert {**one, "query": ""} == {**other, "query": ""}
        hits = found.outcome_hits.to_pylist()
        half = len(hits) // 2
        assert [{**one, "query": ""} for one in hits[:half]] == [{**one, "query": ""} for one in hits[half:]]


def test_rows_of_a_subquery_are_matched():
    table = trades()
    inner = "(SELECT * FROM trades WHERE symbol <> 's1')"
    sql = RISES.replace("$least", "0").replace("FROM trades", f"FROM {inner}")
    (row,) = cer.backtest(sql, table, order_by="ts").to_arrow().to_pylist()
    assert row["matches"] == len(cer.match_recognize(sql, trades=table).to_arrow()) > 10
    with pytest.raises(ValueError, match="matches the rows of a subquery"):
        cer.backtest(sql, table, order_by="ts", outcomes={"later": "AFTER 5 MINUTES (price)"})


def test_a_dialect_is_named():
    table = trades()
    sql = (
        "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY `ts` MEASURES `a`.`price` AS p "
        "PATTERN (`a` b) DEFINE `a` AS `price` > 0.9)"
    )
    (row,) = cer.backtest(cer.RowPatternQuery(sql, "flink"), table, order_by="ts").to_arrow().to_pylist()
    assert row["matches"] == len(cer.match_recognize(sql, dialect="flink", t=table).to_arrow()) > 10
    with pytest.raises(ValueError, match="no dialect"):
        cer.RowPatternQuery(sql, "klingon")


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT symbol, COUNT(*) FROM t MATCH_RECOGNIZE ({}) GROUP BY symbol", "this SELECT around"),
        ("SELECT * FROM t MATCH_RECOGNIZE ({}) LIMIT 3", "this SELECT around"),
        ("SELECT * FROM t MATCH_RECOGNIZE ({}) a JOIN u ON a.symbol = u.symbol", "this SELECT around"),
        ("SELECT * FROM 'x.parquet' MATCH_RECOGNIZE ({})", "reads the file 'x.parquet'"),
        ("SELECT * FROM t MATCH_RECOGNIZE ({}) a, t MATCH_RECOGNIZE ({}) b", "one MATCH_RECOGNIZE"),
        ("SELECT * FROM t MATCH_RECOGNIZE (ALL ROWS PER MATCH PATTERN (a)) WHERE price > 1", "chooses rows"),
        ("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY nothing PATTERN (a))", "nothing"),
    ],
)
def test_what_cannot_be_counted_is_refused(sql, said):
    clause = "PARTITION BY symbol ORDER BY ts PATTERN (a b) DEFINE b AS price > PREV(price)"
    with pytest.raises(QueryError, match=said):
        cer.backtest({"q": sql.replace("{}", clause)}, trades(50), order_by="ts")


def test_what_is_for_ceql_alone_is_refused(tmp_path: Path):
    path = tmp_path / "t.parquet"
    pq.write_table(trades(100), path)
    sql = RISES.replace("$least", "0")
    with pytest.raises(ValueError, match="resume is for queries of CEQL"):
        cer.backtest(sql, str(path), order_by="ts", resume=tmp_path / "state")
    with pytest.raises(ValueError, match="is SQL, whose variables"):
        cer.backtest(sql, str(path), order_by="ts", outcomes={"x": "LAST(up.price)"})
    with pytest.raises(ValueError, match="is SQL with MATCH_RECOGNIZE, which a backtest on Spark"):
        _ = AskedQuery("q1", {}, cer.RowPatternQuery(sql)).ceql
    with pytest.raises(QueryError, match=r"no parameter `\$q`"):
        cer.sweep(RISES, q=[1])


def test_the_shell_sweeps_a_statement(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "t.parquet"
    pq.write_table(trades(), path)
    (tmp_path / "q.ceql").write_text(
        f"-- name: rises\n{RISES}\n\n-- name: peak\nSELECT * WHERE T AS a FILTER a[price > 0.9]\n"
    )
    report = tmp_path / "report.html"
    asked = ["backtest", str(tmp_path / "q.ceql"), str(path), "--order-by", "ts", "--sweep", "least=0,0.1"]
    assert status_of([*asked, "--format", "csv", "--report", str(report)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].startswith('"query","least","hits"')
    assert len(out.splitlines()) == 4
    assert "MATCH_RECOGNIZE" in report.read_text()


def test_a_chart_shows_the_matches_of_a_statement():
    pytest.importorskip("altair")
    table = trades()
    found = cer.backtest({"rises": RISES.replace("$least", "0.05")}, table, order_by="ts", by="6 h")
    chart = found.plot.episodes(table, "price", order_by="ts")
    spans = chart.to_dict()["layer"][1]["data"]["values"]
    rows = cer.backtest(RISES.replace("$least", "0.05"), table, order_by="ts", by="symbol").to_arrow()
    assert len(spans) in rows.column("matches").to_pylist()
