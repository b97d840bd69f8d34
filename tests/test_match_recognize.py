"""`cer.match_recognize`: statements over tables, files and subqueries, and the SELECT around them."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cer_gpu as cer
from cer_gpu.engine.rows import answers, match_finder, search, table_parts
from cer_gpu.patterns import live_states

TRADES = pa.table(
    {
        "symbol": ["A", "B", "A", "A", "B", "A", "B", "B", "A", "A"],
        "ts": pa.array(range(10), pa.timestamp("s")),
        "price": [10, 5, 8, 6, 4, 9, 7, 6, 11, 3],
    }
)
V_SHAPE = """SELECT * FROM trades MATCH_RECOGNIZE (
    PARTITION BY symbol ORDER BY ts
    MEASURES FIRST(down.price) AS top, LAST(up.price) AS last, CLASSIFIER() AS c, MATCH_NUMBER() AS n
    ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
    PATTERN (start down+ up+)
    DEFINE down AS price < PREV(price), up AS price > PREV(price)
) AS m"""


def listed(sql: str, **tables: object) -> list[dict[str, object]]:
    """The rows of a statement as dicts."""
    return cer.match_recognize(sql, **tables).to_arrow().to_pylist()


def test_a_v_shape() -> None:
    """A: 10 8 6 9 11 3, B: 5 4 7 6: each falls and rises once."""
    assert listed(V_SHAPE, trades=TRADES) == [
        {"symbol": "A", "top": 8, "last": 11, "c": "UP", "n": 1},
        {"symbol": "B", "top": 4, "last": 7, "c": "UP", "n": 1},
    ]


def test_the_same_from_any_data(tmp_path: Path) -> None:
    path = tmp_path / "trades.parquet"
    pq.write_table(TRADES, path)
    expected = listed(V_SHAPE, trades=TRADES)
    frame = TRADES.to_pandas()
    codes = pa.array([0, 1, 0, 0, 1, 0, 1, 1, 0, 0], pa.int8())
    narrow = TRADES.set_column(0, "symbol", pa.DictionaryArray.from_arrays(codes, ["A", "B"]))
    for given in (path, str(path), frame, pl.DataFrame(TRADES), TRADES.to_reader(), TRADES.slice(0), narrow):
        assert listed(V_SHAPE, trades=given) == expected
    assert listed(V_SHAPE.replace("FROM trades", f"FROM '{path}'")) == expected
    result = cer.match_recognize(V_SHAPE, trades=TRADES)
    assert result.to_pandas().equals(pd.DataFrame(expected))
    assert result.to_polars().equals(pl.DataFrame(expected))
    assert [batch.num_rows for batch in result.batches()] == [2]
    assert result.to_arrow().schema == result.schema


def test_all_rows_have_running_measures() -> None:
    rows = listed(
        """SELECT * FROM trades MATCH_RECOGNIZE (
            PARTITION BY symbol ORDER BY ts MEASURES SUM(b.price) AS s, FINAL SUM(b.price) AS total
            ALL ROWS PER MATCH PATTERN (b+) DEFINE b AS SUM(b.price) <= 20)""",
        trades=TRADES.slice(0, 6),
    )
    assert [(row["symbol"], row["price"], row["s"], row["total"]) for row in rows] == [
        ("A", 10, 10, 18),
        ("A", 8, 18, 18),
        ("A", 6, 6, 15),
        ("A", 9, 15, 15),
        ("B", 5, 5, 9),
        ("B", 4, 9, 9),
    ]
    assert list(rows[0]) == ["symbol", "ts", "s", "total", "price"]


def test_the_select_around_is_sql() -> None:
    sql = (
        f"SELECT m.symbol, m.last - m.top AS gain FROM ({V_SHAPE.replace(') AS m', ')')}) AS m ORDER BY gain"
    )
    assert listed(sql, trades=TRADES) == [{"symbol": "A", "gain": 3}, {"symbol": "B", "gain": 3}]
    joined = (
        V_SHAPE.replace("*", "names.name, m.last", 1)
        + " JOIN names ON names.symbol = m.symbol WHERE m.last > 10"
    )
    names = pa.table({"symbol": ["A", "B"], "name": ["Alpha", "Beta"]})
    assert listed(joined, trades=TRADES, names=names) == [{"name": "Alpha", "last": 11}]


def test_a_select_without_duckdb_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(cer.QueryError, match=r"DuckDB, which is not installed[\s\S]*'\.\[sql\]'"):
        listed(f"{V_SHAPE} WHERE m.last > 7", trades=TRADES)


def test_a_clause_reads_a_subquery_and_another_clause() -> None:
    dear = V_SHAPE.replace("FROM trades", "FROM (SELECT * FROM trades WHERE price < 11)")
    assert [row["last"] for row in listed(dear, trades=TRADES)] == [9, 7]
    twice = f"""SELECT * FROM ({V_SHAPE.replace("* FROM", "symbol, last FROM", 1)}) MATCH_RECOGNIZE (
        ORDER BY last MEASURES FIRST(last) AS low, LAST(last) AS high PATTERN (x+) DEFINE x AS last > 0)"""
    assert listed(twice, trades=TRADES) == [{"low": 7, "high": 11}]


def test_partitions_that_do_not_fit_are_put_into_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_parts, "BATCH", 1 << 10)
    rng = np.random.default_rng(3)
    keys = rng.integers(0, 50, 20_000)
    table = pa.table(
        {
            "symbol": pa.array(np.where(keys == 7, None, keys.astype(str)), pa.string()),
            "ts": np.arange(20_000),
            "price": rng.integers(0, 100, 20_000),
        }
    )
    expected = (
        cer.match_recognize(V_SHAPE, trades=table)
        .to_arrow()
        .sort_by([("symbol", "ascending"), ("n", "ascending")])
    )
    assert expected.num_rows > 1_000
    result = cer.match_recognize(V_SHAPE, trades=table, memory=800_000)
    assert result.to_arrow().sort_by([("symbol", "ascending"), ("n", "ascending")]) == expected
    with pytest.raises(cer.LimitError, match="a partition is too large"):
        cer.match_recognize(V_SHAPE, trades=table, memory=8_000).to_arrow()
    alone = V_SHAPE.replace("PARTITION BY symbol", "")
    with pytest.raises(cer.LimitError, match="add PARTITION BY"):
        cer.match_recognize(alone, trades=table, memory=800_000).to_arrow()


def test_long_answers_come_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = cer.match_recognize(V_SHAPE, trades=TRADES).to_arrow()
    every = V_SHAPE.replace("ONE ROW PER MATCH", "ALL ROWS PER MATCH WITH UNMATCHED ROWS")
    rows = cer.match_recognize(every, trades=TRADES).to_arrow()
    monkeypatch.setattr(answers, "ELEMENTS", 1)
    result = cer.match_recognize(V_SHAPE, trades=TRADES)
    assert [batch.num_rows for batch in result.batches()] == [1, 1]
    assert result.to_arrow() == whole
    assert cer.match_recognize(every, trades=TRADES).to_arrow() == rows


@pytest.mark.parametrize("to", ["FIRST start", "LAST up"])
def test_skips_that_lead_nowhere_are_errors(to: str) -> None:
    if to == "FIRST start":
        with pytest.raises(cer.DataError, match=r"begins at row 0 of the table .* begins with it"):
            cer.match_recognize(V_SHAPE.replace("PAST LAST ROW", f"TO {to}"), trades=TRADES).to_arrow()
    else:
        sql = (
            V_SHAPE.replace("PAST LAST ROW", f"TO {to}")
            .replace("up+)", "up*)")
            .replace("start down+", "start down*")
        )
        with pytest.raises(cer.DataError, match="has no row of it"):
            cer.match_recognize(sql, trades=TRADES).to_arrow()


def test_a_search_has_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "BUDGET", 1_000)
    table = pa.table({"i": np.arange(3_000), "x": np.ones(3_000, np.int64)})
    sql = "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY x ORDER BY i PATTERN (a+) DEFINE a AS SUM(a.x) > 0)"
    with pytest.raises(cer.LimitError, match="more than 1,000 rows were tried"):
        cer.match_recognize(sql, t=table).to_arrow()


def test_what_has_failed_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every way to part 40 rows among the stars fails; without a memory there are more than 2^39."""
    monkeypatch.setattr(search, "BUDGET", 100_000)
    table = pa.table({"i": np.arange(40), "x": np.ones(40, np.int64)})
    sql = """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY i MEASURES COUNT(*) AS n
        PATTERN ((a | b)* c) DEFINE a AS x > 0, b AS x > 0, c AS COUNT(*) > 100)"""
    assert listed(sql, t=table) == []


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(cer.DataError, match="there is no table trades: no table is given"):
        cer.match_recognize(V_SHAPE)
    with pytest.raises(cer.QueryError, match="volume"):
        cer.match_recognize(V_SHAPE.replace("down.price", "down.volume"), trades=TRADES)
    with pytest.raises(cer.QueryError, match=r"\^"):
        cer.match_recognize(V_SHAPE.replace("price < PREV(price)", "price < 'x'"), trades=TRADES)
    with pytest.raises(TypeError, match="must be a str"):
        cer.match_recognize(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="memory"):
        cer.match_recognize(V_SHAPE, trades=TRADES, memory=0)


def test_explain_says_how_rows_are_matched() -> None:
    text = cer.match_recognize(V_SHAPE, trades=TRADES).explain()
    assert "DOWN        price < PREV(price)    (rows at fixed places)" in text
    assert "linear in the rows" in text
    open_ = V_SHAPE.replace("price > PREV(price)", "price > AVG(down.price)")
    assert "the match so far" in cer.match_recognize(open_, trades=TRADES).explain()


def shown(body: str, dialect: str | None = None, **columns: list[object]) -> pa.Table:
    """The answer of a clause over a table of some columns."""
    sql = f"SELECT * FROM t MATCH_RECOGNIZE ({body})"
    return cer.match_recognize(sql, dialect=dialect, t=pa.table(columns)).to_arrow()


def test_functions_of_one_row_of_the_match_are_computed_beforehand() -> None:
    """The days of the rows behind the first one that are like its day, and texts of other variables."""
    times = pd.to_datetime(["2024-01-31 23:00", "2024-01-31 23:30", "2024-02-01 00:10", "2024-02-01 09:00"])
    body = """ORDER BY ts MEASURES FIRST(ts) AS first, COUNT(*) AS n PATTERN (a b*)
        DEFINE b AS {} = {}"""
    for day in ("CAST({} AS DATE)", "DATE_TRUNC('day', {})", "EXTRACT(DAY FROM {})"):
        condition = body.format(day.format("b.ts"), day.format("a.ts"))
        assert shown(condition, ts=list(times))["n"].to_pylist() == [2, 2]
    names = shown(
        "MEASURES COUNT(*) AS n PATTERN (a b*) DEFINE b AS UPPER(b.s) = UPPER(a.s)", s=["a", "A", "b"]
    )
    assert names["n"].to_pylist() == [2, 1]


def test_sums_beyond_64_bits_are_errors() -> None:
    with pytest.raises(cer.DataError, match="does not fit 64 bits"):
        shown("MEASURES SUM(v) AS s PATTERN (a+)", v=[2**62, 2**62])
    assert shown("MEASURES SUM(v) AS s PATTERN (a+)", v=[2**62, -(2**62), 2**62])["s"].to_pylist() == [2**62]
    assert shown("MEASURES SUM(v) AS s PATTERN (a+)", v=[1e308, 1e308])["s"].to_pylist() == [float("inf")]


@pytest.mark.parametrize(
    ("dialect", "up", "down"),
    [
        (None, [1, 3, None], [3, 1, None]),
        ("trino", [1, 3, None], [3, 1, None]),
        ("oracle", [1, 3, None], [None, 3, 1]),
        ("snowflake", [1, 3, None], [None, 3, 1]),
        ("spark", [None, 1, 3], [3, 1, None]),
        ("flink", [None, 1, 3], [3, 1, None]),
    ],
)
def test_nulls_lie_where_the_dialect_puts_them(
    dialect: str | None, up: list[object], down: list[object]
) -> None:
    for way, expected in (("", up), ("DESC", down)):
        body = f"ORDER BY o {way} ALL ROWS PER MATCH PATTERN (a+) DEFINE a AS NEXT(o) IS NULL OR 1 = 1"
        assert shown(body, dialect, o=[1, None, 3])["o"].to_pylist() == expected


def test_statements_that_are_no_select_are_refused() -> None:
    clause = "SELECT * FROM t MATCH_RECOGNIZE (MEASURES COUNT(*) AS n PATTERN (a))"
    assert listed(clause + ";", t=TRADES)
    for sql, said in {
        f"SELECT 1; {clause}": "another statement begins here",
        f"{clause}; DROP TABLE x": "another statement begins here",
        f"COPY ({clause}) TO 'x.csv'": "only a SELECT can be run",
        f"CREATE VIEW z AS {clause}": "only a SELECT can be run",
    }.items():
        with pytest.raises(cer.QueryError, match=said):
            listed(sql, t=TRADES)


def test_limits_are_told() -> None:
    names = [f"v{number}" for number in range(65)]
    with pytest.raises(cer.LimitError, match="at most 64 variables"):
        shown(f"MEASURES COUNT(*) AS n PATTERN ({' '.join(names)})", v=[1])
    assert shown(f"MEASURES COUNT(*) AS n PATTERN ({' '.join(names[1:])})", v=[1] * 64)["n"].to_pylist() == [
        64
    ]
    with pytest.raises(cer.QueryError, match="the result has no columns"):
        shown("PATTERN (a)", v=[1])
    with pytest.raises(cer.DataError, match="partitioned by the column v, of type list"):
        shown("PARTITION BY v MEASURES COUNT(*) AS n PATTERN (a)", v=[[1]])
    with pytest.raises(cer.DataError, match="the table t is of type dict"):
        listed("SELECT * FROM t MATCH_RECOGNIZE (MEASURES COUNT(*) AS n PATTERN (a))", t={"v": [1]})
    with pytest.raises(TypeError, match="dialect"):
        cer.match_recognize(V_SHAPE, dialect=5, trades=TRADES)  # type: ignore[arg-type]


def test_lag_and_lead_of_snowflake() -> None:
    body = "ORDER BY o MEASURES COUNT(*) AS n PATTERN (a b+) DEFINE b AS LAG(o) < o AND LEAD(o, 1) > o"
    assert shown(body, "snowflake", o=[1, 2, 3])["n"].to_pylist() == [2]


def test_nan_is_the_greatest_and_one_partition() -> None:
    nan = float("nan")
    for nulls, up, down in (
        ([], "1.0 2.0 nan", "nan 2.0 1.0"),
        ([None], "1.0 2.0 nan None", "nan 2.0 1.0 None"),
    ):
        for way, expected in (("", up), ("DESC", down)):
            found = shown(f"ORDER BY x {way} ALL ROWS PER MATCH PATTERN (a+)", x=[2.0, -nan, 1.0, *nulls])
            assert " ".join(map(str, found["x"].to_pylist())) == expected
    for values in ([-1.0, nan, 2.0], [nan, -1.0, 2.0]):
        for fold, least in (("MIN", "= -1"), ("MAX", "> 100")):
            condition = f"{fold}(x) {least} OR {fold}(x) <> {fold}(x)"
            body = f"MEASURES COUNT(*) AS n PATTERN (a a b) DEFINE b AS {condition}"
            assert shown(body, x=values)["n"].to_pylist() == [3]
    counted = shown("PARTITION BY x MEASURES COUNT(*) AS n PATTERN (a+)", x=[nan, -nan, 0.0, -0.0, None])
    assert counted["n"].to_pylist() == [2, 2, 1]


def test_within_needs_an_order() -> None:
    with pytest.raises(cer.QueryError, match="WITHIN measures time by the first column of ORDER BY"):
        shown("MEASURES COUNT(*) AS n PATTERN (a+) WITHIN INTERVAL '1' SECOND", "flink", v=[1])


def test_many_kinds_of_rows_take_the_way_without_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    columns = {f"c{number}": rng.integers(0, 2, 200).tolist() for number in range(18)}
    names = list(columns)
    body = f"MEASURES COUNT(*) AS n PATTERN (({' | '.join(names)})+ c0 c1)"
    body += f" DEFINE {', '.join(f'{name} AS {name} = 1' for name in names)}"
    expected = shown(body, **columns)
    assert expected.num_rows > 0
    monkeypatch.setattr(live_states, "MOST_ENTRIES", 100)
    assert shown(body, **columns) == expected


def test_the_query_of_all_matches_needs_an_ascending_order() -> None:
    text = cer.match_recognize(V_SHAPE, trades=TRADES).explain()
    assert "all matches SELECT * FROM trades WHERE (trades AS start) :" in text
    falling = V_SHAPE.replace("ORDER BY ts", "ORDER BY ts DESC")
    assert "no CEQL query gives them" in cer.match_recognize(falling, trades=TRADES).explain()


def test_matches_that_overlap_come_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of rising numbers from each row on: parts end inside partitions, and inside long matches."""
    rng = np.random.default_rng(8)
    columns = {"k": [number // 100 for number in range(300)], "x": rng.integers(0, 9, 300).tolist()}
    body = """PARTITION BY k MEASURES MATCH_NUMBER() AS n, COUNT(*) AS length ALL ROWS PER MATCH
        WITH UNMATCHED ROWS AFTER MATCH SKIP TO NEXT ROW PATTERN (a b b b*) DEFINE b AS x >= PREV(x)"""
    whole = shown(body, **columns)
    assert max(filter(None, whole["n"].to_pylist())) > 20
    assert whole["n"].null_count > 20
    monkeypatch.setattr(match_finder, "PART", 3)
    assert shown(body, **columns) == whole


def test_several_values_of_parameters() -> None:
    sql = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES COUNT(*) AS n
        PATTERN (b+) DEFINE b AS SUM(b.price) <= $most)"""
    values = [{"most": 10}, {"most": 25}]
    swept = cer.match_recognize(sql, params=values, t=TRADES.to_reader())
    found = swept.to_arrow()
    assert found.schema.names == ["most", "symbol", "n"]
    for each in values:
        own = cer.match_recognize(sql, params=each, t=TRADES).to_arrow().to_pylist()
        assert [row for row in found.to_pylist() if row["most"] == each["most"]] == [
            each | row for row in own
        ]
    assert "the match so far" in swept.explain()
    for wrong in ([], [{"most": 1}, {"least": 1}]):
        with pytest.raises((ValueError, cer.QueryError)):
            cer.match_recognize(sql, params=wrong, t=TRADES)
    with pytest.raises(ValueError, match="the name of a column"):
        cer.match_recognize(sql.replace("AS n", "AS most"), params=values, t=TRADES)
