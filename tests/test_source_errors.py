"""What is wrong with the events is said with its place and a way out."""

import os
import re

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import cer_gpu
from cer_gpu.engine.read.sources.open_source import open_source
from cer_gpu.errors import DataError, QueryError


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, pa.Table):
        pq.write_table(content, path)
    else:
        path.write_bytes(content)
    return path


def fails(events, message, **options):
    def read():
        source = open_source(events, **options)
        return list(source.batches(source.arrow_schema.names, 1000))

    with pytest.raises(DataError, match=message):
        read()


TABLE = pa.table({"type": ["A", "B"], "ts": [1, 2], "price": [1.0, 2.0]})


@pytest.mark.parametrize(
    ("asked", "there"),
    [("timestamp", "ts"), ("Ts", "ts"), ("tss", "ts"), ("time", "event_time"), ("ts", "time")],
)
def test_the_time_column_that_was_meant(asked, there):
    events = pa.table({"type": ["A"], there: [1], "price": [1.0]})
    with pytest.raises(DataError, match=f"`{asked}`, which order_by names: did you mean `{there}`\\?"):
        cer_gpu.compile("SELECT * WHERE A").count(events, order_by=asked)


def test_paths(tmp_path):
    write(tmp_path, "trades.parquet", TABLE)
    write(tmp_path, "notes.txt", b"hello")
    (tmp_path / "empty").mkdir()
    fails(tmp_path / "trade.parquet", "there is no such file or directory; did you mean `.*trades.parquet`")
    fails(tmp_path / "nowhere" / "x.parquet", r"no such file or directory \(nor a directory .*nowhere\)")
    fails(str(tmp_path / "*.csv"), r"\*\.csv: no file matches")
    fails(tmp_path / "empty", "the directory has no data file")
    fails(tmp_path / "notes.txt", r"the suffix does not say the format of the file.*looks like text")
    fails([], "the list of files is empty")
    fails("s3://lake/trades/", r"in Python pass `pyarrow.dataset.dataset\('s3://lake/trades/'\)`")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.parquet", b"type,ts\nA,1\n", "the suffix says Parquet, the content looks like CSV"),
        ("a.parquet", b"PAR1 and then nothing of the kind", "cannot be read as Parquet"),
        ("a.csv", b"PAR1\x00\x01", "the suffix says CSV, the content looks like Parquet"),
        ("a.csv", b"\x00\x01\x02", "the content looks like unknown binary data"),
        ("a.csv", b'{"a": 1}\n', "the content looks like JSON lines"),
        ("a.csv.gz", b"a,b\n1,2\n", "the content looks like CSV"),
        ("a.arrow", b"PAR1....", "the suffix says Arrow IPC, the content looks like Parquet"),
        ("a.arrow", b"ARROW1\x00\x00 broken off", "cannot be read as Arrow IPC"),
        (
            "a.json",
            b'[{"a": 1}]',
            r"one JSON array; write one object on each line, as `jq -c '\.\[\]' in\.json",
        ),
        ("a.jsonl", b'{"a": 1}\n{"a": \n', "cannot be read as JSON lines"),
        ("a.csv", b"", r"the file is empty \(0 bytes\)"),
        ("a.csv", b"a,b,a\n1,2,3\n", "has several columns named `a`"),
        ("a.csv", b"a,b\n1,2\n3\n", r"row 1 of .*a.csv .* has 1 cell, and the header 2 cells: `3`"),
    ],
)
def test_content(name, content, message, tmp_path):
    fails(write(tmp_path, name, content), message)


def test_truncated_parquet(tmp_path):
    path = write(tmp_path, "a.parquet", pa.table({"x": list(range(100_000))}))
    whole = bytearray(path.read_bytes())
    whole[1000:200_000] = bytes(199_000)
    path.write_bytes(whole)
    fails(path, "a.parquet cannot be read")


def test_csv_whose_types_change(tmp_path):
    rows = b"".join(b"%d,5\n" % n for n in range(1_500_000))
    path = write(tmp_path, "a.csv", b"ts,price\n" + rows + b"9999999,cheap\n")
    fails(
        path,
        r"row 1,500,000 of .*a.csv \(counted from 0\) has `cheap` in column `price`, which is int64 "
        r"\(decided by its first 8 MiB\): if the value is right, pass column_types={'price': 'string'}",
    )
    path.write_bytes(b"ts,price\n" + rows + b"9999999\n")
    fails(path, r"row 1,500,000 of .*a.csv .* has 1 cell, and the header 2 cells: `9999999`; correct the row")


def test_json_lines_whose_attributes_change(tmp_path):
    rows = b"".join(b'{"type": "A", "price": 5}\n' for _ in range(400_000))
    path = write(tmp_path, "a.jsonl", rows + b'{"type": "B", "price": "cheap"}\n')
    fails(
        path,
        r'row 400,000 of .*a.jsonl \(counted from 0\) has `"cheap"` as `price`, which is int64',
    )
    path.write_bytes(rows + b'{"type": "B", "price": 5.5}\n')
    fails(path, r"row 400,000 of .*a.jsonl .* has `5.5` as `price`.*pass column_types={'price': 'float64'}")


def test_json_lines_whose_attribute_first_appears_late(tmp_path):
    query = cer_gpu.compile("SELECT * WHERE B AS b FILTER b[name = 'x']")
    late = b'{"type": "B", "name": "x"}\n'
    path = write(tmp_path, "a.jsonl", b'{"type": "A", "price": 5}\n' * 400_000 + late)
    with pytest.raises(QueryError) as caught:
        query.count(path)
    assert "no attribute `name`" in str(caught.value)
    assert "a.jsonl are those of its first 8 MiB: add the attribute to one of its first" in str(caught.value)
    assert "CSV" not in str(caught.value)
    path.write_bytes(late + path.read_bytes())
    assert query.count(path) == 2
    path.write_bytes(b'{"type": "A", "price": 5}\n')
    with pytest.raises(QueryError) as caught:
        query.count(path)
    assert "MiB" not in str(caught.value)


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl", "arrow"])
def test_names_that_are_not_text(suffix, tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff." + suffix.encode()
    with open(name, "wb") as file:
        file.write(b"type\nA\n")
    fails(os.fsdecode(name), "the path .* is not UTF-8 text: rename it")
    fails(tmp_path, "is not UTF-8 text: rename it")
    fails({"A": TABLE, "\ud800": TABLE}, "the event type .* is not UTF-8 text", order_by=("ts",))
    fails(TABLE, "no column `\ufffd`", order_by=("\udcff",))
    with pytest.raises(QueryError, match=r"CER002.*`U\+D800` is half of a character"):
        cer_gpu.compile("SELECT * WHERE `\ud800`")


def test_mixed_schemas(tmp_path):
    write(tmp_path / "d", "1.parquet", TABLE)
    write(tmp_path / "d", "2.parquet", TABLE.set_column(2, "price", [["x", "y"]]))
    fails(
        tmp_path / "d",
        r"disagree on column `price`: double in .*1\.parquet, dictionary.* in .*2\.parquet",
    )
    write(tmp_path / "e", "1.parquet", TABLE)
    write(tmp_path / "e", "2.parquet", TABLE.drop_columns(["price"]))
    fails(tmp_path / "e", r"different columns: .*1\.parquet has `price`, .*2\.parquet has not")
    feather.write_feather(TABLE.drop_columns(["ts"]), str(tmp_path / "3.feather"))
    fails([tmp_path / "3.feather", tmp_path / "d" / "1.parquet"], "1.parquet has `ts`, .*3.feather has not")


def test_columns():
    fails(TABLE, r"no column `tss`, which order_by names: did you mean `ts`\?", order_by=("tss",))
    fails(TABLE, r"no column `venue`, which stream_column names", stream_column="venue")
    fails(TABLE, "names a column twice", order_by=("ts", "ts"))
    fails(TABLE, "needs order_by", sort=True)
    fails(
        TABLE,
        r"order column `type` of the table holds texts such as `A`, not times; .*pd\.to_datetime\(df\[",
        order_by=("type",),
    )
    fails(
        TABLE,
        "column `price` of the table is of type double, but the type_column must hold strings, integers or",
        type_column="price",
    )
    fails(pa.Table.from_arrays([[1], [2]], names=["x", "x"]), "several columns named `x`")
    source = open_source(TABLE)
    with pytest.raises(DataError, match="no column `prize`: did you mean `price`"):
        next(source.batches(["prize"], 10))


def test_types_without_a_type_column():
    source = open_source(pa.table({"kind": ["A"], "ts": [1]}))
    assert not source.has_type_column
    source.check_types({"Trades"}, ("Trades",))
    with pytest.raises(
        DataError,
        match=r"no column `type`.*types `A`, `B`: name the column of event types with .* one of `kind`, `ts`",
    ):
        source.check_types({"B", "A"}, ("A",))
    with pytest.raises(DataError, match=r"use only that type in the query: SELECT \.\.\. FROM T"):
        source.check_types({"A"}, ())
    mistyped = open_source(pa.table({"kind": ["A"], "ts": [1]}), type_column="kid")
    with pytest.raises(DataError, match=r"no column `kid`, which type_column names: did you mean `kind`"):
        mistyped.check_types({"Trades"}, ("Trades",))
    open_source(pa.table({"type": ["A"]})).check_types({"A", "B"}, ())


def test_kinds_of_objects():
    fails(42, "cannot read events of type int; pass a pyarrow Table")
    fails(None, "cannot read events of type NoneType")
    fails(
        [TABLE, "x.parquet"],
        "a list of events must hold paths only, or record batches, tables or data frames only, and this one "
        "holds a str",
    )
    fails([TABLE.to_batches()[0], pa.record_batch({"x": [1]})], "do not fit together")
    fails(
        [{"type": "A", "ts": 1}],
        r"holds a dict: make a table of a list of dicts with pyarrow\.Table\.from_pylist\(\.\.\.\)",
    )
    for column in ([1, 2], pa.array([1]), np.array([1])):
        fails(
            {"type": ["A"], "ts": column},
            r"a table for each event type, and `ts` is not a table: make one .* with pyarrow\.table",
            order_by=("ts",),
        )

    class Lazy:
        def collect(self):
            return TABLE

    fails(Lazy(), r"call \.collect\(\) on it first")


def test_data_frame_that_arrow_cannot_hold():
    pandas = pytest.importorskip("pandas")
    fails(pandas.DataFrame({"x": [1, "a"]}), "cannot be converted to Arrow: .*column x")


@pytest.mark.parametrize("texts", [["2022-03-11T00:00:00-05:00", "2022-03-14T00:00:00-04:00"],
                                   ["2022-03-11 00:00:00", "2022-03-14 12:00:00"]])  # fmt: skip
def test_the_advice_for_texts_of_times_can_be_followed(texts):
    """In pandas, polars and DuckDB it gives the same moments, also where the offsets differ."""
    df = pd.DataFrame({"ts": texts, "type": ["A", "A"]})
    with pytest.raises(DataError) as caught:
        open_source(pa.Table.from_pandas(df), order_by=("ts",))
    said = re.search(
        r"convert them to times first: (.+) in pandas, (.+) in polars, (.+) in DuckDB, (.+) in pyarrow",
        str(caught.value),
    )
    pandas = eval(said[1], {"pd": pd, "df": df})
    polars = pl.from_pandas(df).select(eval(said[2], {"pl": pl}))["ts"]
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        other = connection.sql(f"SELECT epoch_us({said[3]}) AS ts FROM df").fetchall()
    moments = [round(one.timestamp() * 10**6) for one in pandas]
    arrow = eval(said[4], {"pyarrow": pa, "table": pa.table(df)}).cast(pa.int64()).to_pylist()
    assert moments == arrow
    assert moments == polars.dt.epoch("us").to_list() == [row[0] for row in other]
