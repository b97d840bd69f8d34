"""Fields of structs as attributes, and columns of any type in results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
import spark_sessions

import cer_gpu as cer
from cer_gpu import spark as cer_spark
from cer_gpu.engine.read.sources.fields import path_to

ROWS: list[dict[str, Any]] = [
    {"type": "A", "payload": {"price": 3.0, "at": {"x": 1, "note": "n"}, "tags": ["a"]}, "ts": 1},
    {"type": "B", "payload": {"price": 9.5, "at": None, "tags": []}, "ts": 2},
    {"type": "A", "payload": None, "ts": 3},
    {"type": "B", "payload": {"price": None, "at": {"x": 1, "note": None}, "tags": None}, "ts": 4},
    {"type": "A", "payload": {"price": 7.0, "at": {"x": 2, "note": "m"}, "tags": ["b", "c"]}, "ts": 5},
    {"type": "B", "payload": {"price": 8.0, "at": {"x": 1, "note": "n"}, "tags": ["c"]}, "ts": 6},
]
AT = pa.struct([("x", pa.int64()), ("note", pa.string())])
PAYLOAD = pa.struct([("price", pa.float64()), ("at", AT), ("tags", pa.list_(pa.string()))])
NESTED = pa.Table.from_pylist(
    ROWS, pa.schema([("type", pa.string()), ("payload", PAYLOAD), ("ts", pa.int64())])
)
FLAT = pa.table(
    {
        "type": NESTED["type"],
        "price": [None if row["payload"] is None else row["payload"]["price"] for row in ROWS],
        "x": [((row["payload"] or {}).get("at") or {}).get("x") for row in ROWS],
        "note": [((row["payload"] or {}).get("at") or {}).get("note") for row in ROWS],
        "ts": NESTED["ts"],
    }
)
QUERIES = [
    "SELECT * FROM S WHERE A AS a ; B AS b FILTER a[`payload.price` > 2.5 AND `payload.at.note` LIKE 'n|m']",
    "SELECT * FROM S WHERE A AS a ; B AS b FILTER NOT b[`payload.price` < 9] PARTITION BY [`payload.at.x`]",
    "SELECT * FROM S WHERE A AS a ; B AS b FILTER a.`payload.at.x` = b.`payload.at.x`",
    "SELECT b[`payload.price`] FROM S WHERE A AS a ; B AS b FILTER b[`payload.at.x` IS NULL]",
]


def flat(text: str) -> str:
    for name in ("price", "at.x", "at.note"):
        text = text.replace(f"`payload.{name}`", name.removeprefix("at."))
    return text


def marks(matches: Any) -> list[Any]:
    return [(ce.start, ce.end, dict(ce.marks), ce.partition) for ce in matches]


@pytest.mark.parametrize("text", QUERIES)
def test_a_field_is_an_attribute(text: str, tmp_path: Path) -> None:
    wanted = marks(cer.compile(flat(text)).run(FLAT))
    assert wanted
    query = cer.compile(text)
    pq.write_table(NESTED, tmp_path / "events.parquet", row_group_size=2)
    for events in (
        NESTED,
        NESTED.to_reader(max_chunksize=2),
        NESTED.to_pandas(),
        tmp_path / "events.parquet",
    ):
        assert marks(query.run(events)) == wanted
    backwards = NESTED.take(pa.array(range(5, -1, -1)))
    assert marks(query.run(backwards, order_by="ts", sort=True)) == wanted
    with query.stream() as stream:
        assert [ce for start in range(6) for ce in marks(stream.push(NESTED.slice(start, 1)))] == wanted


def test_a_field_may_be_the_time_and_the_type() -> None:
    rows = [{"e": {"kind": row["type"], "at": row["ts"]}, "payload": row["payload"]} for row in ROWS]
    events = pa.Table.from_pylist(rows)
    query = cer.compile("SELECT * FROM S WHERE A AS a ; B AS b WITHIN 1 [`e.at`]")
    found = query.run(events, order_by="e.at", type_column="e.kind")
    assert [(ce.start, ce.end) for ce in found] == [(0, 1), (2, 3), (4, 5)]


def test_fields_of_a_dict_of_tables() -> None:
    tables = {
        "A": pa.table({"ts": [1, 3], "d": [{"v": 1}, {"v": 5}]}),
        "B": pa.table({"ts": [2, 4], "v": [7, 8]}),
    }
    query = cer.compile("SELECT * FROM S WHERE A AS a ; B AS b FILTER a[`d.v` > 2]")
    assert [(ce.start, ce.end) for ce in query.run(tables, order_by="ts")] == [(2, 3)]


def test_a_column_with_such_a_name_comes_first() -> None:
    schema = NESTED.append_column("payload.price", pa.array([1.0] * 6)).schema
    assert path_to("payload.price", schema) == ("payload.price",)
    assert path_to("payload.at.x", schema) == ("payload", "at", "x")
    dotted = pa.schema([("a.b", pa.struct([("c.d", pa.int64())]))])
    assert path_to("a.b.c.d", dotted) == ("a.b", "c.d")
    assert path_to("a.b.c", dotted) is None


def test_columns_of_any_type_are_returned() -> None:
    events = NESTED.append_column("raw", pa.array([b"\x00", None, b"b", b"", b"c", b"d"]))
    query = cer.compile("SELECT a[payload, raw], b[`payload.tags`] FROM S WHERE A AS a ; B AS b")
    rows = query.run(events).to_arrow()
    for marked, values in zip(rows["a"].to_pylist(), rows["a[payload, raw]"].to_pylist(), strict=True):
        assert values == [{name: events[name][at].as_py() for name in ("payload", "raw")} for at in marked]
    tags = [one[0]["payload.tags"] for one in rows["b[payload.tags]"].to_pylist()]
    assert tags == [(ROWS[end]["payload"] or {}).get("tags") for end in rows["end"].to_pylist()]
    with query.stream() as stream:
        assert pa.concat_tables([stream.push(events.slice(at, 1)).to_arrow() for at in range(6)]).equals(rows)
    with pytest.raises(cer.QueryError, match=r"name a field of it, as in `payload.field`"):
        cer.compile("SELECT * FROM S WHERE A AS a FILTER a[payload = 1]").run(events)
    with pytest.raises(cer.QueryError, match=r"did you mean `+payload\.price`+\?"):
        cer.compile("SELECT a[`payload.prise`] FROM S WHERE A AS a").run(events)


class TestSpark:
    pytestmark = spark_sessions.GROUP

    @pytest.mark.parametrize("text", QUERIES)
    def test_a_field_on_spark(self, spark: Any, text: str, tmp_path: Path) -> None:
        query = cer.compile(text)
        wanted = query.count(NESTED, order_by="ts")
        frame = spark.createDataFrame(NESTED)
        assert cer_spark.count(frame, query, order_by="ts").collect()[0][0] == wanted
        pq.write_table(NESTED, tmp_path / "events.parquet")
        counted = cer_spark.count_files(str(tmp_path), query, order_by="ts")
        assert counted.collect()[0][0] == wanted


def test_of_a_struct_only_the_fields_that_are_asked_for_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "nested.parquet"
    pq.write_table(NESTED, path)
    asked: list[list[str]] = []
    iter_batches = pq.ParquetFile.iter_batches

    def noted(self: Any, rows: int, groups: Any, columns: list[str], **more: Any) -> Any:
        asked.append(sorted(columns))
        return iter_batches(self, rows, groups, columns, **more)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", noted)
    for text in QUERIES:
        wanted = marks(cer.compile(flat(text)).run(FLAT))
        assert marks(cer.compile(text).run(str(path))) == wanted
        assert marks(cer.compile(text).run(pads.dataset(str(path)))) == wanted
    assert asked
    assert not {name for names in asked for name in names} & {"payload", "payload.tags", "payload.at"}
    asked.clear()
    whole = cer.compile("SELECT a[payload] FROM S WHERE A AS a FILTER a[`payload.price` > 3]")
    found = whole.run(str(path)).to_arrow()["a[payload]"].to_pylist()
    assert [one[0]["payload"] for one in found] == [ROWS[4]["payload"]]
