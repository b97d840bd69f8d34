"""Every kind of events gives the same rows, in batches of the asked size."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.dataset as pads
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import cer_gpu as cer
from cer_gpu.engine.read.sources import columns
from cer_gpu.engine.read.sources.arrow_types import DICTIONARY, LARGE_DICTIONARY
from cer_gpu.engine.read.sources.open_source import open_source
from cer_gpu.errors import DataError
from cer_gpu.language.schema import ValueType

COLUMNS = ["type", "ts", "price", "key"]
N = 1000


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(7)
    return pa.table(
        {
            "type": pa.array(rng.choice(["A", "B", "C"], N)),
            "ts": pa.array(1_000 + 500 * np.arange(N), pa.timestamp("ms")),
            "price": pa.array(np.where(rng.random(N) < 0.1, None, rng.integers(0, 99, N) / 4)),
            "key": pa.array([None if i % 5 == 0 else f"k{i % 7}" for i in range(N)]),
            "unused": pa.array(np.arange(N)),
        }
    )


def make(kind, table, folder):
    """The table as another kind of events."""
    if kind == "table":
        return table
    if kind == "batch":
        return table.to_batches()[0]
    if kind == "batches":
        return table.to_batches(max_chunksize=100)
    if kind == "reader":
        return table.to_reader(max_chunksize=64)
    if kind == "dataset":
        return pads.dataset(table)
    if kind == "pandas":
        return table.to_pandas()
    if kind == "polars":
        return pl.from_arrow(table)
    path = folder / f"events.{kind}"
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=130)
    elif kind == "feather":
        feather.write_feather(table, str(path))
    elif kind == "arrow":
        with pa.ipc.new_stream(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=77)
    elif kind in ("csv", "csv.gz"):
        with pa.output_stream(str(path)) as stream:
            pacsv.write_csv(table, stream)
    else:
        rows = [{**row, "ts": row["ts"].isoformat()} for row in table.to_pylist()]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


FILES = ["parquet", "feather", "arrow", "csv", "csv.gz", "jsonl", "json"]
KINDS = ["table", "batch", "batches", "reader", "dataset", "pandas", "polars", *FILES]


def rows_of(source, columns=COLUMNS, rows=300):
    batches = list(source.batches(columns, rows))
    assert all(0 < batch.num_rows <= rows for batch in batches)
    assert all(batch.schema.names == list(columns) for batch in batches)
    return [row for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_the_same_rows(kind, table, tmp_path):
    source = open_source(make(kind, table, tmp_path), order_by=("ts",))
    assert source.has_type_column
    assert source.arrow_schema.field("type").type == DICTIONARY
    assert rows_of(source) == table.select(COLUMNS).to_pylist()
    if kind == "reader":
        with pytest.raises(DataError, match="read only once"):
            rows_of(source)
        assert source.scan_event_types() is None
    else:
        assert rows_of(source, ["price", "ts"], 7) == table.select(["price", "ts"]).to_pylist()
        assert sum(batch.num_rows for batch in source.batches([], 90)) == N
        assert source.scan_event_types() == {"A", "B", "C"}


def test_duckdb_relation(table):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("events", table)
    source = open_source(connection.sql("SELECT * FROM events"), order_by=("ts",))
    assert rows_of(source) == table.select(COLUMNS).to_pylist()
    assert rows_of(source, ["key"]) == table.select(["key"]).to_pylist()
    # Two relations of one connection cannot be read side by side; as two tables they must work.
    parts = {
        kind: connection.sql(f"SELECT ts, price FROM events WHERE type = '{kind}' ORDER BY ts")
        for kind in "ABC"
    }
    chosen = ["type", "ts"]
    assert rows_of(open_source(parts, order_by=("ts",)), chosen) == table.select(chosen).to_pylist()


def test_slices_of_memory_are_not_copied():
    table = pa.table({"x": pa.array(np.arange(1000))})
    batches = list(open_source(table).batches(["x"], 250))
    addresses = {batch.column(0).buffers()[1].address for batch in batches}
    assert addresses == {table.column("x").chunk(0).buffers()[1].address}


def test_small_batches_are_joined_and_dictionaries_unified():
    parts = [pa.table({"key": pa.array([str(i), str(i + 1)]).dictionary_encode()}) for i in range(100)]
    source = open_source(pa.concat_tables(parts))
    batches = list(source.batches(["key"], 128))
    assert len(batches) < 20
    assert [v for b in batches for v in b.column(0).to_pylist()] == [
        v for i in range(100) for v in (str(i), str(i + 1))
    ]


def test_zero_rows():
    source = open_source(pa.table({"type": pa.array([], pa.string()), "ts": pa.array([], pa.int64())}))
    assert list(source.batches(["type", "ts"], 10)) == []
    assert source.scan_event_types() == frozenset()
    empty = pd.DataFrame({"type": pd.Series([], dtype=object), "ts": pd.Series([], dtype="int64")})
    source = open_source(empty, order_by=("ts",))
    assert source.arrow_schema.field("type").type == DICTIONARY
    assert list(source.batches(["type"], 10)) == []


def test_reader_that_was_read_elsewhere():
    reader = pa.table({"x": [1]}).to_reader()
    assert rows_of(open_source(reader), ["x"]) == [{"x": 1}]
    with pytest.warns(UserWarning, match="the reader gave no rows: it is empty, or has been read before"):
        assert rows_of(open_source(reader), ["x"]) == []


def test_types_of_the_language():
    arrow = {
        "flag": (pa.bool_(), ValueType.BOOL),
        "tiny": (pa.int8(), ValueType.INT64),
        "count": (pa.uint64(), ValueType.INT64),
        "half": (pa.float16(), ValueType.FLOAT64),
        "text": (pa.large_string(), ValueType.STRING),
        "view": (pa.string_view(), ValueType.STRING),
        "category": (pa.dictionary(pa.int8(), pa.large_string()), ValueType.STRING),
        "codes": (pa.dictionary(pa.int8(), pa.int32()), ValueType.INT64),
        "runs": (pa.run_end_encoded(pa.int32(), pa.int64()), ValueType.INT64),
        "day": (pa.date32(), ValueType.TIMESTAMP),
        "at": (pa.timestamp("ns", "Europe/Paris"), ValueType.TIMESTAMP),
        "took": (pa.duration("us"), ValueType.DURATION),
        "clock": (pa.time64("us"), ValueType.DURATION),
        "money": (pa.decimal128(9, 2), ValueType.DECIMAL),
    }
    fields = [pa.field(name, kind) for name, (kind, _) in arrow.items()]
    fields += [pa.field("list", pa.list_(pa.int64()))]
    fields += [pa.field("nothing", pa.null()), pa.field("type", pa.string())]
    schema = open_source(pa.schema(fields).empty_table()).language_schema()
    assert schema.attributes == {name: kind for name, (_, kind) in arrow.items()}
    assert schema.unsupported == {"list": "list<item: int64>", "nothing": "null"}
    assert schema.types is None
    assert schema.order is None


def test_odd_encodings_come_in_normal_types():
    table = pa.table(
        {
            "count": pa.array([1, None, 3], pa.uint64()),
            "half": pa.array(np.array([0.5, 1.0, 2.0], np.float16)),
            "view": pa.array(["a", None, "b"], pa.string_view()),
            "codes": pa.array([7, None, 7]).dictionary_encode(),
            "category": pa.array(["x", "y", "x"], pa.large_string()).dictionary_encode(),
            "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([5, 6])),
        }
    )
    source = open_source(table, type_column="view")
    assert [str(kind) for kind in source.arrow_schema.types] == [
        "uint64",
        "float",
        str(DICTIONARY),
        "int64",
        str(LARGE_DICTIONARY),
        "int64",
    ]
    assert rows_of(source, table.schema.names) == [
        {"count": 1, "half": 0.5, "view": "a", "codes": 7, "category": "x", "runs": 5},
        {"count": None, "half": 1.0, "view": None, "codes": None, "category": "y", "runs": 5},
        {"count": 3, "half": 2.0, "view": "b", "codes": 7, "category": "x", "runs": 6},
    ]


def test_unsigned_values_are_never_wrapped():
    whole = pa.table({"n": pa.array([1, 2**63], pa.uint64())})
    assert rows_of(open_source(whole), ["n"]) == [{"n": 1}, {"n": 2**63}]
    narrow = pa.table({"n": pa.array([3], pa.uint8())})
    assert rows_of(open_source([whole, narrow]), ["n"]) == [{"n": 1}, {"n": 2**63}, {"n": 3}]
    signed = pa.table({"n": pa.array([-1], pa.int64()), "ts": [0]})
    both = {"A": whole.append_column("ts", pa.array([0, 1])), "B": signed}
    with pytest.raises(DataError, match=r"column `n` of .* cannot be converted from uint64 to int64"):
        rows_of(open_source(both, order_by=("ts",)), ["n"])


def test_index_of_a_data_frame():
    frame = pd.DataFrame({"x": [1, 2]}, index=pd.Index([5, 7], name="ts"))
    assert rows_of(open_source(frame, order_by=("ts",)), ["ts", "x"]) == [
        {"ts": 5, "x": 1},
        {"ts": 7, "x": 2},
    ]
    assert open_source(pd.DataFrame({"x": [1]}, index=[4])).arrow_schema.names == ["x"]


def test_empty_cells_of_csv_are_null(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("type,ts,name,price\nA,1,NA,\nB,2,,NA\nA,3,x,2.5\n")
    assert rows_of(open_source(str(path)), ["type", "ts", "name", "price"]) == [
        {"type": "A", "ts": 1, "name": "NA", "price": None},
        {"type": "B", "ts": 2, "name": None, "price": None},
        {"type": "A", "ts": 3, "name": "x", "price": 2.5},
    ]


def test_times_with_fractions_in_json(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"ts": "2024-01-01T00:00:00Z", "x": 1}\n{"ts": "2024-01-01T00:00:00.25Z", "x": 2}\n')
    source = open_source(path, order_by=("ts",))
    assert source.arrow_schema.field("ts").type == pa.timestamp("us", "UTC")
    (batch,) = source.batches(["ts"], 10)
    first, second = batch.column(0).cast(pa.int64()).to_pylist()
    assert second - first == 250_000


def test_directory_with_folders_that_name_a_column(tmp_path):
    for day, values in (("2", [3]), ("1", [1, 2]), ("__HIVE_DEFAULT_PARTITION__", [9])):
        folder = tmp_path / f"day={day}" / "zone=a%2Fb"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"x": values}), folder / "part-0.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".part.crc").touch()
    assert rows_of(open_source(tmp_path), ["day", "x", "zone"]) == [
        {"day": 1, "x": 1, "zone": "a/b"},
        {"day": 1, "x": 2, "zone": "a/b"},
        {"day": 2, "x": 3, "zone": "a/b"},
        {"day": None, "x": 9, "zone": "a/b"},
    ]
    assert rows_of(open_source(tmp_path), ["day"]) == [{"day": 1}, {"day": 1}, {"day": 2}, {"day": None}]


def test_glob_list_and_widening(tmp_path):
    first = pa.table({"x": pa.array([1], pa.int32()), "ts": pa.array([1], pa.timestamp("s"))})
    second = pa.table({"x": [2.5], "ts": pa.array([1500], pa.timestamp("ms"))})
    pq.write_table(first, tmp_path / "1.pq")
    pq.write_table(second, tmp_path / "2.pq")
    for events in (str(tmp_path / "*.pq"), [tmp_path / "1.pq", str(tmp_path / "2.pq")]):
        source = open_source(events)
        assert source.rows == 2
        assert [str(kind) for kind in source.arrow_schema.types] == ["double", "timestamp[ms]"]
        assert [row["x"] for row in rows_of(source, ["x"])] == [1.0, 2.5]


def test_reader_that_opens_once_is_told_apart():
    class Once:
        def __init__(self):
            self.reader = pa.table({"x": [1]}).to_reader()

        def __arrow_c_stream__(self, requested_schema=None):
            return self.reader.__arrow_c_stream__(requested_schema)

    source = open_source(Once())
    assert rows_of(source, ["x"]) == [{"x": 1}]
    with pytest.raises(DataError, match="gave 1 rows or more when it was first read, and gives 0 now"):
        rows_of(source, ["x"])


@pytest.mark.parametrize("width", ["int8", "uint8", "int16", "uint16", "int32", "int64", "uint32"])
def test_codes_are_read_in_the_width_in_which_they_lie(width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of columns that only say what an event is; what is kept, or a key, is widened as before."""
    seen: set[str] = set()
    codes = columns.codes

    def noted(column: pa.Array, name: str) -> columns.Codes:
        found = codes(column, name)
        seen.add(f"{name} {found.data.dtype}")
        return found

    monkeypatch.setattr(columns, "codes", noted)
    rng = np.random.default_rng(5)
    kinds, names = pa.array(["A", "B", "C"]), pa.array(["x", "y"])
    chunks = []
    for rows in (400, 3, 2, 5):  # small chunks are put together
        drawn = [pa.array(rng.integers(0, most, rows)).cast(width) for most in (3, 2)]
        kind, name = map(pa.DictionaryArray.from_arrays, drawn, (kinds, names))
        chunks.append(pa.table({"type": kind, "name": name, "seat": name}))
        kinds, names = kinds.take(pa.array([2, 0, 1])), names.take(pa.array([1, 0]))
    narrow = width if "8" in width or "16" in width else "int32"
    for table in (chunks[0], pa.concat_tables(chunks)):
        plain = pa.table({column: table[column].cast(pa.string()) for column in table.column_names})
        for text in (
            "SELECT a[name], b WHERE A AS a ; B AS b FILTER a[seat = 'x'] WITHIN 4 EVENTS",
            "SELECT * WHERE A AS a ; B AS b FILTER b[seat LIKE 'y'] PARTITION BY name WITHIN 4 EVENTS",
        ):
            query = cer.compile(text)
            found = query.run(table).to_arrow()
            assert len(found) > 20
            assert found.to_pylist() == query.run(plain).to_arrow().to_pylist()
            assert query.count(table) == len(found)
        if table is chunks[0]:
            assert seen >= {f"type {narrow}", f"seat {narrow}"}
