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
