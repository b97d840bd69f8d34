"""Lists, iterators, lazy frames, scanners, data frames of mixed columns, and times of 96 bits."""

import datetime as dt
import io
import sys
from itertools import count

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest

import cer_gpu as cer
from cer_gpu.cli import status_of
from cer_gpu.errors import DataError, QueryError

PAIR = "SELECT * WHERE A AS a ; B AS b WITHIN 5 EVENTS"
FIRST = {"type": ["A", "C"], "v": [1, 2]}
SECOND = {"type": ["B", "A"], "v": [3, 4]}
BOTH = {name: FIRST[name] + SECOND[name] for name in FIRST}
MAKERS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "table": pa.table,
    "batch": pa.RecordBatch.from_pydict,
}


def found(events, **keywords):
    return [(ce.start, ce.end) for ce in cer.compile(PAIR).run(events, **keywords)]


@pytest.mark.crossed
@pytest.mark.parametrize("first", MAKERS)
@pytest.mark.parametrize("second", MAKERS)
def test_lists_and_iterators_of_frames(first, second):
    parts = [MAKERS[first](FIRST), MAKERS[second](SECOND)]
    assert found(parts) == [(0, 2)]
    assert found(tuple(parts)) == [(0, 2)]
    assert found(iter(parts)) == [(0, 2)]
    assert found(part for part in parts) == [(0, 2)]
    assert found({"A": parts, "B": iter(parts)}, order_by="v", type_column="kind") == [
        (start, end)
        for start, end in [(0, 1), (0, 3), (2, 3), (0, 5), (2, 5), (4, 5), (2, 7), (4, 7), (6, 7)]
    ]


def test_the_types_of_a_list_widen():
    parts = [pa.table({"type": ["A"], "v": [1]}), pa.table({"type": ["B"], "v": [2.5]})]
    query = cer.compile("SELECT * WHERE B AS b FILTER b[v = 2.5]")
    assert query.count(parts) == 1
    assert query.count(parts[::-1]) == 1


def test_tables_of_a_list_that_do_not_fit():
    with pytest.raises(DataError, match="different columns: table 0 has `v`, table 1 has not"):
        found([pa.table(FIRST), pa.table({"type": ["B"]})])
    with pytest.raises(DataError, match=r"no column of .* can be read: `v` holds int64 in table 0"):
        found([pa.table({"v": [1]}), pa.table({"v": ["x"]})])


def test_columns_that_are_not_read_do_not_stop_a_list():
    frames = [
        pd.DataFrame({"type": ["A", "B"], "v": [1, 2], "mixed": [1, "x"], "unlike": [1, 2]}),
        pd.DataFrame({"type": ["A", "B"], "v": [3, 4], "mixed": [None, 2.5], "unlike": ["y", "z"]}),
    ]
    for parts in (frames, frames[::-1]):
        assert found(parts) == [(0, 1), (0, 3), (2, 3)]
        assert cer.compile("SELECT a[*] WHERE A AS a FILTER a[v < 5]").run(parts).to_pandas().shape == (2, 4)
        with pytest.raises(QueryError, match="the column `mixed` holds Python objects of several types"):
            cer.compile("SELECT * WHERE A AS a FILTER a[mixed = 1]").run(parts)
    with pytest.raises(QueryError) as raised:
        cer.compile("SELECT * WHERE A AS a FILTER a[unlike = 1]").run(frames)
    assert "the column `unlike` holds int64 in table 0 of the list and " in str(raised.value)
    assert "in table 1, which no query can use" in str(raised.value)
    assert "help: convert them to one type" in str(raised.value)


def test_iterators_that_do_not_fit():
    reading_v = cer.compile("SELECT a[v] WHERE A AS a")
    with pytest.raises(
        DataError, match=r"batch 1 of the iterator .* has no column `v`, and the first has: give all"
    ):
        list(reading_v.run(iter([pa.table(FIRST), pa.table({"type": ["B"]})])))
    with pytest.raises(DataError, match=r"batch 1 of the iterator .* has other types than the first"):
        list(reading_v.run(iter([pa.table(FIRST), pa.table({"type": ["B"], "v": ["x"]})])))
    with pytest.raises(DataError, match="the iterator gave no batches"):
        found(iter([]))
    with pytest.raises(DataError, match="the iterator gives int, not record batches"):
        found(iter([1, 2]))


def test_columns_that_are_not_read_do_not_stop_an_iterator():
    parts = [
        pd.DataFrame({"type": ["A", "B"], "v": [1, 2], "mixed": [1, "x"], "unlike": [1, 2], "more": [1, 2]}),
        pd.DataFrame({"type": ["A", "B"], "v": [3, 4], "mixed": [None, 2.5], "unlike": ["y", "z"]}),
    ]
    tables = [pa.Table.from_pandas(part.drop(columns="mixed")) for part in parts]
    for given in (parts, tables, [table.to_batches()[0] for table in tables]):
        assert found(iter(given)) == [(0, 1), (0, 3), (2, 3)]
    with pytest.raises(QueryError, match="the column `mixed` holds Python objects of several types"):
        cer.compile("SELECT * WHERE A AS a FILTER a[mixed = 1]").run(iter(parts))
    with pytest.raises(DataError, match=r"the column `mixed` of batch 1 of the iterator .* of several types"):
        list(cer.compile("SELECT * WHERE A AS a FILTER a[mixed > 1]").run(iter(parts[::-1])))
    with pytest.raises(DataError, match=r"batch 1 of the iterator .* has other types than .*: .*'[yz]'"):
        list(cer.compile("SELECT * WHERE A AS a FILTER a[unlike = 1]").run(iter(parts)))
    with pytest.raises(DataError, match=r"batch 1 of the iterator .* has no column `more`"):
        list(cer.compile("SELECT a[more] WHERE A AS a").run(iter(parts)))


def test_an_iterator_is_read_once_and_its_own_errors_are_its_own():
    batches = iter([pa.table(FIRST), pa.table(SECOND)])
    run = cer.compile(PAIR).run(batches)
    assert len(list(run)) == 1
    with pytest.raises(DataError, match="gave no batches: it is empty, or has been read before"):
        found(batches)

    def failing():
        yield pa.table(FIRST)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        found(failing())


def test_lazy_frames_make_only_the_columns_that_are_read():
    read = []

    def note(values):
        read.append(len(values))
        return values

    lazy = (
        pl.DataFrame(BOTH)
        .lazy()
        .with_columns(pl.col("v").map_batches(note, return_dtype=pl.Int64).alias("unused"))
    )
    assert found(lazy) == [(0, 2)]
    assert found(lazy) == [(0, 2)]  # it can be collected again
    assert not any(read)
    assert cer.compile("SELECT * WHERE A AS a FILTER a[unused > 3]").count(lazy) == 1
    assert any(read)
    with pytest.raises(DataError, match="gave no Arrow stream"):
        found(pl.DataFrame(BOTH).lazy().select(pl.col("nothing")))


def test_scanners():
    table = pa.table(BOTH)
    query = cer.compile(PAIR)
    scanner = pads.dataset(table).scanner(columns=["type"])
    assert [query.count(scanner) for _ in range(2)] == [1, 1]
    with pytest.raises(QueryError, match="no attribute `v`"):
        cer.compile("SELECT * WHERE A AS a FILTER a[v > 3]").count(scanner)
    once = pads.Scanner.from_batches(table.to_reader())
    assert query.count(once) == 1


def test_a_mixed_column_does_not_stop_a_query_that_does_not_read_it():
    frame = pd.DataFrame({**BOTH, "mixed": [1, "x", None, 2.5], "other": [{1}, 2, 3, 4]})
    assert found(frame) == [(0, 2)]
    assert cer.compile("SELECT * WHERE A AS a FILTER a[v = 4]").count(frame) == 1
    with pytest.raises(QueryError, match="the column `mixed` holds Python objects of several types"):
        cer.compile("SELECT * WHERE A AS a FILTER a[mixed = 1]").count(frame)
    with pytest.raises(DataError, match="the column `mixed` of the table holds Python objects of several"):
        found(frame, order_by="mixed")
    with pytest.raises(DataError, match="the column `other` of the table holds Python objects of several"):
        found(frame, stream_column="other")
    (all_others,) = cer.compile("SELECT a[*] WHERE A AS a FILTER a[v = 4]").run(
        frame.rename(columns={"other": 0})
    )
    assert all_others["a"] == [{"v": 4}]
    assert found([frame, frame]) == [(0, 2), (3, 6), (4, 6)]


def parquet_of_96_bits(path, times, writer):
    """A file with times of 96 bits, as another program than Arrow would have written it."""
    table = pa.table({"type": ["A", "B"], "ts": pa.array(times, pa.timestamp("us"))})
    pq.write_table(table, path, use_deprecated_int96_timestamps=True)
    content, own = path.read_bytes(), pq.read_metadata(path).created_by
    path.write_bytes(content.replace(own.encode(), writer.ljust(len(own)).encode()))
    assert pq.read_metadata(path).created_by.startswith(writer)


@pytest.mark.parametrize("writer", ["parquet-mr version 1.1", "parquet-cpp-arrow vers"])
def test_times_of_96_bits_beside_microseconds(writer, tmp_path):
    soon = dt.datetime(2024, 1, 1)
    parquet_of_96_bits(tmp_path / "1.parquet", [soon, soon + dt.timedelta(seconds=1)], writer)
    after = [soon + dt.timedelta(seconds=2), soon + dt.timedelta(seconds=3)]
    pq.write_table(
        pa.table({"type": ["A", "B"], "ts": pa.array(after, pa.timestamp("us"))}), tmp_path / "2.parquet"
    )
    query = cer.compile(
        "SELECT * WHERE A AS a ; B AS b FILTER b[ts >= '2024-01-01 00:00:01'] WITHIN 1 SECONDS"
    )
    assert query.count(tmp_path, order_by="ts") == 2


def test_times_of_96_bits_beyond_nanoseconds(tmp_path):
    """Spark's and Hive's times reach further than 64 bits of nanoseconds do."""
    never = [dt.datetime(2024, 1, 1), dt.datetime(9999, 12, 31)]
    path = tmp_path / "1.parquet"
    parquet_of_96_bits(path, never, "parquet-mr version 1.1")
    query = cer.compile("SELECT * WHERE B AS b FILTER b[ts > '9000-01-01 00:00:00']")
    assert query.count(path, order_by="ts") == 1
    assert query.count(pads.dataset(path), order_by="ts") == 1
    some = pads.dataset(path)
    assert query.count(some.replace_schema(some.schema.remove(1).append(some.schema.field(1)))) == 1
    plain = tmp_path / "2.parquet"
    pq.write_table(pa.table({"type": ["B"], "ts": pa.array(never[1:], pa.timestamp("us"))}), plain)
    assert query.count(pads.dataset([path, plain], schema=some.schema), order_by="ts") == 2


class Piped:
    """Standard input with some bytes."""

    def __init__(self, content):
        self.buffer = io.BytesIO(content)


CSV = b"type,v\nA,1\nC,2\nB,3\nA,4\n"


def shell(monkeypatch, capsys, content, *arguments):
    monkeypatch.setattr(sys, "stdin", Piped(content))
    status = status_of(["count", *arguments])
    printed = capsys.readouterr()
    return status, printed.out.strip() or printed.err


def parquet():
    sink = io.BytesIO()
    pq.write_table(pa.table(BOTH), sink)
    return sink.getvalue()


def arrow():
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, pa.table(BOTH).schema) as file:
        file.write_table(pa.table(BOTH))
    return sink.getvalue().to_pybytes()


def gzipped():
    import gzip

    return gzip.compress(CSV)


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (CSV, ()),
        (CSV, ("--input-format", "csv")),
        (CSV.replace(b",", b"\t"), ("--input-format", "tsv")),
        (CSV.replace(b",", b";"), ("--input-format", "csv", "--delimiter", ";")),
        (gzipped(), ("--input-format", "csv")),
        (b'{"type": "A"}\n{"type": "B"}\n', ("--input-format", "jsonl")),
        (b'{"type": "A"}\n{"type": "B"}\n', ()),
        (parquet(), ("--input-format", "parquet")),
        (parquet(), ()),
        (arrow(), ("--input-format", "arrow")),
    ],
    ids=count(),
)
def test_standard_input(content, options, monkeypatch, capsys):
    assert shell(monkeypatch, capsys, content, PAIR, "-", *options) == (0, "1")


def test_standard_input_of_one_type_and_as_the_query(monkeypatch, capsys, tmp_path):
    path = tmp_path / "b.csv"
    path.write_bytes(b"v\n2\n")
    named = shell(
        monkeypatch, capsys, b"v\n1\n", PAIR, "A=-", f"B={path}", "--order-by", "v", "--input-format", "csv"
    )
    assert named == (0, "1")
    path.write_bytes(CSV)
    assert shell(monkeypatch, capsys, PAIR.encode(), "@-", str(path)) == (0, "1")
    path.write_bytes(b"type,id\nA,007\n")
    query = "SELECT * WHERE A AS a FILTER a[id = '007']"
    asked = (query, str(path), "--column-type", "id=string")
    assert shell(monkeypatch, capsys, b"", *asked) == (0, "1")


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (CSV, ("@-", "-"), "standard input (-) can be read only once"),
        (CSV, (PAIR, "-", "-"), "standard input (-) can be read only once"),
        (
            b"type\nA\n",
            (PAIR, "-"),
            "name the format of standard input with --input-format: parquet, arrow, csv",
        ),
        (CSV, (PAIR, "a.csv", "--input-format", "csv"), "--input-format is the format of standard input"),
        (
            CSV,
            (PAIR, "-", "--input-format", "parquet"),
            "the suffix says Parquet, the content looks like CSV",
        ),
        (
            CSV,
            (PAIR, "-", "--column-type", "id"),
            "--column-type takes NAME=TYPE, such as id=string, not `id`",
        ),
        (
            CSV,
            (PAIR, "-", "--column-type", "v=number"),
            "'number', is not known: write one such as string, int64",
        ),
        (CSV, (PAIR, "-", "--delimiter", "ab"), "delimiter must be one ASCII character"),
    ],
)
def test_standard_input_that_cannot_be_read(content, arguments, message, monkeypatch, capsys):
    if arguments[0] == "@-":
        content = PAIR.encode()
    status, said = shell(monkeypatch, capsys, content, *arguments)
    assert status in (2, 4)
    assert message in said
