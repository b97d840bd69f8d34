"""What `cer.match_recognize` reads, and what DuckDB runs around it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

pytest.importorskip("sqlglot", reason="SQL is read by sqlglot, of the extra sql")
pytest.importorskip("duckdb", reason="the SELECT around is run by DuckDB, of the extra sql")

import cer_gpu as cer

TRADES = pa.table(
    {
        "symbol": ["A", "B", "A", "A"],
        "ts": pa.array(range(4), pa.timestamp("s")),
        "price": [10, 5, 8, 6],
    }
)
COUNTED = "MATCH_RECOGNIZE (MEASURES COUNT(*) AS n PATTERN (a+))"
NAMED = "MATCH_RECOGNIZE (PARTITION BY symbol MEASURES FIRST(symbol) AS f, COUNT(*) AS n PATTERN (a+))"


def listed(sql: str, dialect: str | None = None, **tables: object) -> list[dict[str, object]]:
    """The rows of a statement as dicts."""
    return cer.match_recognize(sql, dialect=dialect, **tables).to_arrow().to_pylist()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pq.write_table(TRADES, tmp_path / "trades.parquet")
    pc.write_csv(TRADES, tmp_path / "trades.csv")
    pq.write_table(TRADES.select(["symbol"]), tmp_path / "texts.parquet")
    return tmp_path


def test_rows_are_counted_where_no_column_is_named(folder: Path) -> None:
    for name in ("trades.parquet", "trades.csv", "texts.parquet"):
        assert listed(f"SELECT * FROM '{folder / name}' {COUNTED}") == [{"n": 4}]
    for given in (TRADES, TRADES.to_reader(), iter(TRADES.to_batches()), pl.DataFrame(TRADES).lazy()):
        assert listed(f"SELECT * FROM t {COUNTED}", t=given) == [{"n": 4}]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8(), pa.int16(), pa.uint32(), pa.int64()], ids=str)
def test_codes_of_any_width_are_read(kind: pa.DataType) -> None:
    symbols = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 0], kind), ["A", "B"])
    table = TRADES.set_column(0, "symbol", symbols)
    expected = [{"symbol": "A", "f": "A", "n": 6}, {"symbol": "B", "f": "B", "n": 2}]
    twice = pa.concat_tables([table, table])
    assert listed(f"SELECT * FROM t {NAMED}", t=twice) == expected
    assert listed(f"SELECT * FROM t {NAMED} AS m WHERE n > 0 ORDER BY n DESC", t=twice) == expected


def test_texts_of_files_are_strings(folder: Path) -> None:
    frame = TRADES.to_pandas().astype({"symbol": "category"})
    frame.to_parquet(folder / "categories.parquet")
    texts = {"symbol": pa.string(), "f": pa.string(), "n": pa.int64()}
    for name in ("trades.parquet", "trades.csv"):
        for around in ("SELECT *", "SELECT symbol, f, n AS n"):
            for given in (str(folder / name), [str(folder / name)]):
                result = cer.match_recognize(f"{around} FROM t {NAMED} AS m", t=given)
                assert dict(zip(result.schema.names, result.schema.types, strict=True)) == texts
                assert result.to_arrow().schema == result.schema
        joined = f"SELECT t.symbol FROM t {NAMED} AS m JOIN t ON t.symbol = m.symbol"
        assert cer.match_recognize(joined, t=folder / name).schema.types == [pa.string()]
    swapped = "MATCH_RECOGNIZE (MEASURES LAST(symbol) AS price, LAST(price) AS symbol PATTERN (a+))"
    result = cer.match_recognize(f"SELECT * FROM '{folder / 'trades.csv'}' {swapped}")
    assert result.to_arrow().schema.types == [pa.string(), pa.int64()]
    for given in (frame, folder / "categories.parquet"):
        result = cer.match_recognize(f"SELECT * FROM t {NAMED}", t=given)
        assert [pa.types.is_dictionary(kind) for kind in result.schema.types] == [True, True, False]


def test_names_of_tables_are_exact_or_in_any_case() -> None:
    short = TRADES.slice(0, 1)
    assert listed(f"SELECT * FROM T {COUNTED}", t=TRADES) == [{"n": 4}]
    for name, count in (("t", 4), ("T", 1)):
        assert listed(f"SELECT * FROM {name} {COUNTED}", t=TRADES, T=short) == [{"n": count}]
        around = f"SELECT n, (SELECT COUNT(*) FROM {name}) AS c FROM t {COUNTED}"
        assert listed(around, t=TRADES, T=short) == [{"n": 4, "c": count}]
    for sql in (f"SELECT * FROM Ab {COUNTED}", f"SELECT n, (SELECT COUNT(*) FROM Ab) AS c FROM t {COUNTED}"):
        with pytest.raises(cer.DataError, match="Ab may be any of the tables `ab`, `AB`"):
            listed(sql, t=TRADES, ab=TRADES, AB=TRADES)
    with pytest.raises(cer.DataError, match="`t`, `T` differ in case only"):
        listed(f"SELECT n FROM t {COUNTED} AS m, t AS a, T AS b", t=TRADES, T=TRADES)


def test_what_can_be_read_once_is_kept_for_a_second_use() -> None:
    statements = {
        f"SELECT x.n + y.n AS n FROM t {COUNTED} AS x, t {COUNTED} AS y": 8,
        f"SELECT n + (SELECT COUNT(*) FROM t) AS n FROM T {COUNTED}": 8,
        f"SELECT n + (SELECT COUNT(*) FROM t) AS n FROM (SELECT * FROM t WHERE price > 5) {COUNTED}": 7,
    }
    for sql, n in statements.items():
        for given in (TRADES.to_reader(), iter(TRADES.to_batches())):
            result = cer.match_recognize(sql, t=given)
            assert result.schema.names == ["n"]
            for _ in range(2):
                assert result.to_arrow().to_pylist() == [{"n": n}]


def test_only_tables_that_are_named_are_read(folder: Path) -> None:
    missing = folder / "missing.parquet"
    assert listed(f"SELECT n + 1 AS n FROM t {COUNTED}", t=TRADES, u=missing) == [{"n": 5}]
    with pytest.raises(cer.DataError, match=r"missing\.parquet"):
        listed(f"SELECT n + 1 AS n FROM t {COUNTED}, u", t=TRADES, u=missing)
    # A name that was not passed is no variable of the code that runs DuckDB.
    with pytest.raises(cer.DataError, match="result does not exist"):
        listed(f"SELECT n FROM t {COUNTED}, result", t=TRADES)


def test_hints_are_left_out_in_silence(capfd: pytest.CaptureFixture[str]) -> None:
    hinted = f"SELECT /*+ LEADING(x y) odd( */ n FROM t {COUNTED} x"
    assert listed(hinted, "oracle", t=TRADES) == [{"n": 4}]
    assert capfd.readouterr().err == ""


def test_what_duckdb_cannot_do_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(cer.QueryError, match=r"CER096.*cannot be written for DuckDB.*FOR UPDATE"):
        listed(f"SELECT n + 1 AS n FROM t {COUNTED} AS m FOR UPDATE", "snowflake", t=TRADES)
    columns = r"\"ts\" not found.*; outside, the columns are `symbol`, `f`, `n`; ONE ROW PER MATCH has"
    with pytest.raises(cer.DataError, match=columns):
        listed(f"SELECT ts FROM t {NAMED} AS m", t=TRADES)
    measure = "LAST(a.ts) - FIRST(a.ts) AS lasted"
    spans = f"MATCH_RECOGNIZE (ORDER BY ts MEASURES {measure} PATTERN (a+) DEFINE a AS true)"
    moments = pa.table({"ts": pa.array([0, 5], pa.timestamp("s"))})
    with pytest.raises(cer.DataError, match=r"sum\(INTERVAL\).*; EPOCH makes seconds of an interval"):
        listed(f"SELECT SUM(lasted) AS s FROM t {spans}", t=moments)
    assert listed(f"SELECT SUM(EPOCH(lasted)) AS s FROM t {spans}", t=moments) == [{"s": 5}]
    many = pa.table({"x": ["1"] * 400_000 + ["odd"]})
    late = "MATCH_RECOGNIZE (MEASURES FIRST(a.x) AS x PATTERN (a))"
    reader = cer.match_recognize(f"SELECT CAST(x AS INT) AS x FROM t {late}", t=many).batches
    with pytest.raises(cer.DataError, match=r"says: .*Conversion Error.*odd"):
        reader().read_all()
    assert capfd.readouterr().err == ""
