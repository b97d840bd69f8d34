"""Text files: compressed, with other delimiters, with named types; and what is wrong with them, in full."""

import bz2
import gzip
import lzma
from pathlib import Path

import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.cli import status_of
from cer_gpu.engine.read.sources import text as text_files
from cer_gpu.engine.read.sources import text_faults
from cer_gpu.engine.read.sources.open_source import open_source
from cer_gpu.engine.read.sources.text_form import text_form
from cer_gpu.errors import DataError, QueryError

GOLDEN = Path(__file__).parent / "golden" / "inputs"

CSV = b"type,ts,id\nA,2024-01-01 10:00:00,007\nB,2024-01-01 10:00:01,008\n"
JSON = (
    b'{"type": "A", "ts": "2024-01-01T10:00:00", "v": 1}\n'
    b'{"type": "B", "ts": "2024-01-01T10:00:01", "v": 2}\n'
)
PAIR = "SELECT * WHERE A AS a ; B AS b WITHIN 5 SECONDS"


def zstd(content):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as file:
        file.write(content)
    return sink.getvalue().to_pybytes()


PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstd, ".xz": lzma.compress}


@pytest.mark.crossed
@pytest.mark.parametrize("packed", PACKERS)
@pytest.mark.parametrize(
    ("suffix", "content"),
    [(".csv", CSV), (".tsv", CSV.replace(b",", b"\t")), (".jsonl", JSON), (".ndjson", JSON), (".json", JSON)],
)
def test_compressed_text(suffix, content, packed, tmp_path):
    path = tmp_path / f"events{suffix}{packed}"
    path.write_bytes(PACKERS[packed](content))
    query = cer.compile(PAIR)
    assert query.count(path, order_by="ts") == 1
    assert query.count(tmp_path, order_by="ts") == 1  # found in a folder
    assert query.count({"A": path, "B": path}, order_by="ts", type_column="kind") == 3


@pytest.mark.parametrize("packed", [".gz", ".bz2", ".zst", ".xz"])
def test_a_compressed_file_that_is_cut_short(packed, tmp_path):
    rows = b"".join(b"A,%d\n" % number for number in range(200_000))
    path = tmp_path / f"events.csv{packed}"
    path.write_bytes(PACKERS[packed](b"type,ts\n" + rows)[:-40])
    with pytest.raises(DataError, match=r"events\.csv\.\w+ cannot be read"):
        cer.compile("SELECT * WHERE A AS a FILTER a[ts > 7]").count(path)


def test_a_compressed_file_of_several_members(tmp_path):
    for suffix, pack in ((".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)):
        path = tmp_path / f"events.csv{suffix}"
        path.write_bytes(pack(CSV) + pack(b"B,2024-01-01 10:00:02,9\n"))
        assert cer.compile(PAIR).count(path, order_by="ts") == 2


@pytest.mark.parametrize("delimiter", [";", "|", "\t", "\\t", "tab"])
def test_delimiters(delimiter, tmp_path):
    sign = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    path = tmp_path / "events.csv"
    path.write_bytes(CSV.replace(b",", sign.encode()))
    assert cer.compile(PAIR).count(path, order_by="ts", delimiter=delimiter) == 1
    with pytest.raises(DataError, match=r"has one column, .* pass delimiter="):
        cer.compile(PAIR).count(path, order_by="ts")


def test_a_file_of_one_column_needs_no_delimiter(tmp_path):
    path = tmp_path / "events.csv"
    path.write_bytes(b"type\nA\nB\n")
    assert cer.compile("SELECT * WHERE A ; B").count(path) == 1
    path.write_bytes(b"a;b\n1\n")
    source = open_source(path, **text(delimiter=","))
    assert source.arrow_schema.names == ["a;b"]


def text(**keywords):
    return {"text": text_form(keywords.get("delimiter"), keywords.get("column_types"))}


@pytest.mark.parametrize(
    ("kind", "wanted", "value"),
    [
        ("string", pa.string(), "007"), ("str", pa.string(), "007"), (pa.string(), pa.string(), "007"),
        ("int", pa.int64(), "7"), ("float64", pa.float64(), "7.0"),
        ("decimal(9, 2)", pa.decimal128(9, 2), "7.00"),
    ],
)  # fmt: skip
def test_named_types(kind, wanted, value, tmp_path):
    path = tmp_path / "events.csv"
    path.write_bytes(CSV)
    source = open_source(path, **text(column_types={"id": kind}))
    (batch,) = source.batches(["id"], 10)
    column = batch.column(0)
    values = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    assert values.type == wanted
    assert str(values[0]) == value


def test_a_named_type_lets_a_query_read_what_the_first_lines_hide(tmp_path, monkeypatch):
    monkeypatch.setattr(text_files, "TEXT_BLOCK", 1 << 16)
    path = tmp_path / "events.csv"
    path.write_bytes(b"id\n" + b"1\n" * 50_000 + b"x1\n")
    query = cer.compile("SELECT * FROM S WHERE S AS s FILTER s[id LIKE 'x']")
    assert query.count(path, column_types={"id": "string"}) == 1
    with pytest.raises(QueryError):
        query.count(path)


def test_types_of_json_lines(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_bytes(JSON)
    source = open_source(path, **text(column_types={"v": "float64", "ts": "timestamp[ms]"}))
    (batch,) = source.batches(["v", "ts"], 10)
    assert batch.schema.types == [pa.float64(), pa.timestamp("ms")]
    assert batch.column(0).to_pylist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"delimiter": ";;"}, ValueError, "delimiter must be one ASCII character"),
        ({"delimiter": 3}, TypeError, "delimiter must be a str, not 3"),
        ({"column_types": ["id"]}, TypeError, "column_types must be a dict"),
        ({"column_types": {1: "int"}}, TypeError, "must name each column by a str"),
        ({"column_types": {"id": 1}}, TypeError, "a str or a pyarrow type"),
        (
            {"column_types": {"id": "number"}},
            ValueError,
            "`id`, 'number', is not known: write one such as string, int64",
        ),
        ({"column_types": {"idd": "int"}}, DataError, "has no such column: did you mean `id`"),
        ({"delimter": ";"}, TypeError, "did you mean 'delimiter'"),
        ({"date_format": 3}, TypeError, "date_format must be a str or a list of str, not 3"),
        ({"date_format": "%d.%m."}, ValueError, "'%d.%m.' has no year"),
        ({"decimal_point": ";"}, ValueError, "decimal_point must be '.' or ',', not ';'"),
        ({"decimal_point": ",", "delimiter": ","}, ValueError, "needs another delimiter than ','"),
    ],
)
def test_wrong_keywords(keywords, error, message, tmp_path):
    path = tmp_path / "events.csv"
    path.write_bytes(CSV)
    with pytest.raises(error, match=message):
        cer.compile(PAIR).count(path, order_by="ts", **keywords)


def test_keywords_of_text_are_for_text(tmp_path):
    table = pa.table({"type": ["A"]})
    with pytest.raises(DataError, match="column_types is for CSV and JSON lines files, and the table has"):
        cer.compile("SELECT * WHERE A").count(table, column_types={"type": "string"})
    with pytest.raises(DataError, match="decimal_point is for CSV and JSON lines files, and the table has"):
        cer.compile("SELECT * WHERE A").count(table, decimal_point=",")
    lines = tmp_path / "a.jsonl"
    lines.write_bytes(JSON)
    with pytest.raises(DataError, match=r"date_format is for CSV files, and .*a\.jsonl is JSON lines"):
        cer.compile("SELECT * WHERE A").count(lines, date_format="%d.%m.%Y")
    path = tmp_path / "a.parquet"
    import pyarrow.parquet as pq

    pq.write_table(table, path)
    with pytest.raises(DataError, match=r"delimiter is for text files, and .*a\.parquet is Parquet"):
        cer.compile("SELECT * WHERE A").count(path, delimiter=";")
    with pytest.raises(DataError, match=r"types of its own: cast the table .*assume_timezone"):
        cer.compile("SELECT * WHERE A").count(path, column_types={"ts": "timestamp[us, America/New_York]"})


GERMAN = b"type;ts;price\nA;31.12.2024 23:59:59;1,5\nB;1.1.2025 00:00:03;7,25\nB;1.1.2025 00:10:00;9\n"


def test_dates_and_decimals_of_other_forms(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_bytes(GERMAN)
    text = "SELECT b[price] WHERE A AS a ; B AS b FILTER b[price > 7] WITHIN 5 SECONDS"
    form = {"delimiter": ";", "date_format": ["%d.%m.%Y %H:%M:%S"], "decimal_point": ","}
    (found,) = cer.compile(text).run(path, order_by="ts", **form)
    assert str(found.start_time) == "2024-12-31 23:59:59"
    assert str(found.duration) == "0:00:04"
    assert found["b"] == [{"price": 7.25}]
    options = ["--date-format", "%d.%m.%Y %H:%M:%S", "--decimal-point", ",", "--delimiter", ";"]
    assert status_of(["count", text, str(path), "--order-by", "ts", *options]) == 0
    assert capsys.readouterr().out == "1\n"
    zoned = {"column_types": {"ts": "timestamp[us, Europe/Berlin]"}}
    (found,) = cer.compile(text).run(path, order_by="ts", **form, **zoned)
    assert found.start_time.isoformat() == "2024-12-31T23:59:59+01:00"


@pytest.mark.parametrize(
    ("format", "wanted"), [("%d/%m/%Y", "2024-02-01 00:00:00"), ("%m/%d/%Y", "2024-01-02 00:00:00")]
)
def test_a_date_format_says_which_number_is_the_month(format, wanted, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"ts,price\n01/02/2024,8\n")
    found = cer.compile(PRICE).run(path, order_by="ts", date_format=format).first()
    assert str(found.start_time) == wanted


LONG = b"".join(b"%d,5\n" % number for number in range(30_000))
LONG_JSON = b'{"type": "A", "v": 1}\n' * 4000
PRICE = "SELECT * FROM S WHERE S AS s FILTER s[price > 7]"
VALUE = "SELECT * WHERE A AS a FILTER a[v > 7]"

FAULTS = {
    "csv_cell_deep_in_a_file": ("a.csv", b"ts,price\n" + LONG + b"30000,cheap\n", PRICE, ()),
    "csv_cell_that_is_no_int": ("a.csv", b"ts,price\n" + LONG + b"30000,5.5\n", PRICE, ()),
    "csv_cell_against_a_named_type": (
        "a.csv", b"ts,price\n1,5\n2,x y\n", PRICE, ("--column-type", "price=int64"),
    ),
    "csv_row_too_short": ("a.csv", b"ts,price\n" + LONG + b"30000\n", PRICE, ()),
    "csv_row_too_long": ("a.csv", b"ts,price\n1,5\n2,5,6\n", PRICE, ()),
    "csv_quoted_lines_before_the_fault": (
        "a.csv", b'ts,note,price\n1,"two\n\nlines",5\n\n' + b"2,n,5\n" * 20_000 + b"3,n,?\n", PRICE, (),
    ),
    "csv_time_that_is_none": (
        "a.csv", b"ts,price\n" + b"2024-01-01 10:00:00,5\n" * 20_000 + b"yesterday,5\n", PRICE,
        ("--order-by", "ts"),
    ),
    "csv_times_of_another_form": (
        "a.csv", b"ts,price\n31.12.2024 10:00,5\n31.12.2024 10:01,5\n", PRICE, ("--order-by", "ts"),
    ),
    "csv_time_against_a_date_format": (
        "a.csv", b"ts,price\n" + b"31.12.2024,5\n" * 20_000 + b"12/31/2024,5\n", PRICE,
        ("--order-by", "ts", "--date-format", "%d.%m.%Y"),
    ),
    "csv_decimal_comma": (
        "a.csv", b"ts;price\n" + b"1;5\n" * 30_000 + b"2;7,5\n", PRICE, ("--delimiter", ";"),
    ),
    "csv_another_delimiter": ("a.csv", b"ts;price\n1;5\n", PRICE, ()),
    "csv_tabs": ("a.csv", b"ts\tprice\n1\t5\n", PRICE, ()),
    "csv_in_latin_1": (
        "a.csv", "name,price\nCafé,5\n".encode("latin-1"), PRICE.replace("price > 7", "name = 'x'"), (),
    ),
    "csv_in_latin_1_deep_in_a_file": (
        "a.csv", b"name,price\n" + b"x,5\n" * 30_000 + "Café,5\n".encode("latin-1"),
        PRICE.replace("price > 7", "name = 'x'"), (),
    ),
    "csv_names_in_latin_1": ("a.csv", "ts,prix_été\n1,5\n".encode("latin-1"), PRICE, ()),
    "csv_in_utf_16": ("a.csv", "ts,price\n1,5\n".encode("utf-16"), PRICE, ()),
    "csv_out_of_order": (
        "a.csv", b"ts,price\n2024-01-01 10:00:00,5\n2024-01-01 09:59:59.500,8\n", PRICE, ("--order-by", "ts"),
    ),
    "csv_partition_out_of_order": (
        "a.csv", b"ts,user,price\n2024-01-01,x,5\n2024-01-03,y,8\n2024-01-02,y,8\n",
        f"{PRICE} PARTITION BY user", ("--order-by", "ts"),
    ),
    "csv_ties_out_of_order": (
        "a.csv", b"ts,no,price\n7,1,5\n7,3,8\n7,2,8\n", PRICE, ("--order-by", "ts,no"),
    ),
    "csv_without_a_time": ("a.csv", b"ts,price\n7,1\n,8\n", PRICE, ("--order-by", "ts")),
    "csv_gzip_by_its_name_only": ("a.csv.gz", b"ts,price\n1,5\n", PRICE, ()),
    "csv_in_a_zip": ("a.csv", b"PK\x03\x04" + bytes(100), PRICE, ()),
    "json_value_deep_in_a_file": ("a.jsonl", LONG_JSON + b'{"type": "A", "v": "cheap"}\n', VALUE, ()),
    "json_value_that_is_no_int": ("a.jsonl", LONG_JSON + b'{"type": "A", "v": 5.5}\n', VALUE, ()),
    "json_line_cut_short": ("a.jsonl", LONG_JSON + b'{"type": "A", "v": \n', VALUE, ()),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name, tmp_path, capsys, monkeypatch):
    """What the shell says of a file that is wrong, compared in full."""
    file, content, query, options = FAULTS[name]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(text_files, "TEXT_BLOCK", 1 << 16)
    Path(file).write_bytes(content)
    status = status_of(["count", query, file, *options])
    said = f"status {status}\n{capsys.readouterr().err}"
    golden = GOLDEN / f"{name}.txt"
    assert said == golden.read_text(encoding="utf-8")


def test_a_row_that_would_take_long_to_find(tmp_path, monkeypatch):
    monkeypatch.setattr(text_files, "TEXT_BLOCK", 1 << 16)
    monkeypatch.setattr(text_faults, "SEARCH_S", -1.0)
    path = tmp_path / "a.csv"
    path.write_bytes(b"ts,price\n" + LONG + b"30000\n")
    with pytest.raises(
        DataError, match=r"a\.csv cannot be read after row [\d,]+ .*Expected 2 columns, got 1: 30000"
    ):
        cer.compile(PRICE).count(path)


def test_tables_that_are_out_of_order(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_bytes(b"ts\n2024-01-02 10:00:00\n2024-01-01 10:00:00\n")
    Path("b.csv").write_bytes(b"ts\n2024-01-03 10:00:00\n")
    assert status_of(["count", "SELECT * WHERE A ; B", "A=a.csv", "B=b.csv", "--order-by", "ts"]) == 2
    assert capsys.readouterr().err == (GOLDEN / "tables_out_of_order.txt").read_text(encoding="utf-8")


URLS = [
    "https://example.org/events.csv", "s3://lake/events.parquet", "gs://lake/events/", "hdfs://node/events",
    "s3a://lake/events", "sftp://host/events.csv",
]  # fmt: skip


def test_urls(capsys):
    """A URL of another machine gets advice that works."""
    for url in URLS:
        assert status_of(["count", PRICE, url]) == 2
    assert capsys.readouterr().err == (GOLDEN / "urls.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("url", ["gs://anonymous@lake/events/", "s3://lake/events.parquet?region=eu-west-1"])
def test_pyarrow_opens_the_urls_that_it_is_said_to_open(url):
    from pyarrow.fs import FileSystem

    found, path = FileSystem.from_uri(url)
    assert path.startswith("lake/events")
    assert found.type_name in ("gcs", "s3")


def test_a_url_of_a_file_is_a_path(tmp_path):
    path = tmp_path / "my events.csv"
    path.write_bytes(CSV)
    assert cer.compile(PAIR).count(path.as_uri(), order_by="ts") == 1
