"""The file route on a Spark session: workers read Parquet themselves and give what the local engine gives."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import spark_sessions
from cer_gpu.spark import lake, settings
from cer_gpu.spark.binding import spark_type, task_of
from cer_gpu.spark.files import opened_lake, shares_of
from cer_gpu.spark.layout import Layout, read_layout
from cer_gpu.spark.routes import Size
from spark_tasks import ROW, shuffled
from test_spark_operators import history, rows_of

import cer_gpu as cer
from cer_gpu import spark as cer_spark
from cer_gpu.engine.read.sources.files import FileRows
from cer_gpu.errors import DataError

pytestmark = spark_sessions.GROUP

SIZE = Size(3000, 500, 2)

QUERIES = {
    "time window": "SELECT * FROM S WHERE A AS a ; B AS b FILTER a[price > 90] WITHIN 2 SECONDS",
    "keyed, time window": (
        "SELECT a, b[price] WHERE A AS a ; B AS b FILTER a[price > 80] PARTITION BY [k] WITHIN 5 SECONDS"
    ),
    "count window": "SELECT * FROM S WHERE A AS a ; B AS b FILTER a[price > 90] WITHIN 9 EVENTS",
    "keyed, count window": (
        "SELECT * FROM S WHERE A ; B AS b FILTER b[price > 90] PARTITION BY [k] WITHIN 4 EVENTS"
    ),
    "keyed, no window": (
        "SELECT * FROM S WHERE A AS a ; B AS b FILTER a[price > 96] AND b[price > 96] PARTITION BY [k]"
    ),
    "whole": "SELECT * FROM S WHERE A AS a ; B AS b FILTER a[price > 98] AND b[price > 97]",
    "followed": (
        "SELECT * FROM S WHERE A AS a NOT FOLLOWED BY [<= 100 ms] C FILTER a[price > 70] WITHIN 1 SECOND"
    ),
    "keyed, preceded": (
        "SELECT a WHERE (A AS a FILTER a[price > 90]) PRECEDED BY [100 ms, 900 ms] (C FOLLOWED BY [<= 1 s] B)"
        " PARTITION BY [k] WITHIN 1 SECOND"
    ),
    "consumed": "SELECT * WHERE A AS a ; B AS b FILTER a[price > 90] WITHIN 9 EVENTS CONSUME BY ANY",
    "suppressed": "SELECT * FROM S WHERE A AS a ; B FILTER a[price > 90] WITHIN 1 SECOND SUPPRESS FOR 200 ms",
    "keyed, suppressed": (
        "SELECT * FROM S WHERE A AS a ; B AS b FILTER a[price > 90] PARTITION BY [k] WITHIN 1 SECOND "
        "SUPPRESS FOR 5 s"
    ),
    "keyed, suppressed everywhere": (
        "SELECT * FROM S WHERE A AS a ; B AS b FILTER a[price > 90] PARTITION BY [k] WITHIN 1 SECOND "
        "SUPPRESS FOR 300 ms BY ANY"
    ),
    "gaps": (
        "SELECT * FROM S WHERE A AS a ;[<= 400 ms] B AS b ;[<= 300 ms] C AS c "
        "FILTER a[price > 80] AND c[price > 70]"
    ),
    "neighbours": "SELECT * FROM S WHERE A AS a :[<= 400 ms] B AS b :[<= 300 ms] C AS c",
    "neighbours without a window": "SELECT * FROM S WHERE A AS a : B AS b FILTER b.price - a.price > 20",
    "keyed, neighbours": (
        "SELECT * FROM S WHERE A AS a :[<= 400 ms] B AS b : C AS c FILTER c.price > a.price PARTITION BY [k]"
    ),
    "keyed, sessions": "SELECT MAX * WHERE (A AS a FILTER a[price > 40]){2,}[<= 900 ms] PARTITION BY [k]",
}

SHUFFLED = (
    "keyed, count window",
    "keyed, no window",
    "keyed, suppressed",
    "keyed, neighbours",
    "keyed, sessions",
)
"""Those whose rows go from task to task."""

WHOLE = (
    *("whole", "neighbours without a window", "consumed", "suppressed"),
    "keyed, suppressed everywhere",
)
"""Those that one task answers."""


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return history(seed=7)


@pytest.fixture(scope="module")
def folder(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The history in four files of five row groups, the second file in a folder below."""
    root = tmp_path_factory.mktemp("lake")
    names = ["a.parquet", "b.parquet", "c.pq", "below/d.parquet"]
    (root / "below").mkdir()
    for number, name in enumerate(names):
        pq.write_table(table.slice(number * 750, 750), root / name, row_group_size=150)
    (root / "_SUCCESS").write_text("")
    (root / "_hidden.parquet").write_text("not Parquet")
    return str(root)


@pytest.mark.parametrize("name", QUERIES)
def test_files_give_what_the_engine_gives(spark: Any, folder: str, small_tasks: None, name: str) -> None:
    query = cer.compile(QUERIES[name])
    local = query.run(folder, order_by="ts").to_arrow()
    assert len(local) > 3
    found = cer_spark.run_files(folder, query, order_by="ts", spark=spark).toArrow()
    assert found.schema.names == local.schema.names
    assert rows_of(found) == rows_of(local.cast(found.schema))
    hits = cer_spark.hits_files(folder, query, order_by="ts", spark=spark).toArrow()
    assert rows_of(hits) == rows_of(query.hits(folder, order_by="ts"))
    assert int(cer_spark.count_files(folder, query, order_by="ts").first()["count"]) == len(local)
    counts = cer_spark.counts_files(folder, query, order_by="ts").toArrow()
    local_counts = query.counts(folder, order_by="ts")
    assert rows_of(counts.cast(local_counts.schema)) == rows_of(local_counts)


def test_a_file_that_changes_after_its_footer_was_read(table: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=1000)
    found = opened_lake(str(path), "ts")
    parts = list(lake.files_of(found.files, found.groups[1:]))
    rows = FileRows(parts, found.schema)
    assert sum(batch.num_rows for batch in rows.read(rows.subschema(["ts"]), 500)) == len(table) - 1000
    pq.write_table(table.slice(1), path, row_group_size=1000)
    with pytest.raises(DataError, match=r"a\.parquet .* after it was opened"):
        list(rows.read(rows.subschema(["ts"]), 500))


def test_ids_stand_for_positions(spark: Any, folder: str, small_tasks: None) -> None:
    query = QUERIES["keyed, time window"]
    found = cer_spark.hits_files(folder, query, order_by="ts", event_id="ts").toArrow()
    table = pa.concat_tables([pq.read_table(path) for path in files_of(folder)])
    time = table.column("ts").to_pylist()
    local = cer.compile(query).hits(folder, order_by="ts").to_pylist()
    named = [row | {name: time[row[name]] for name in ("position", "latest_start")} for row in local]
    assert rows_of(found) == rows_of(pa.Table.from_pylist(named))
    assert rows_of(found) == rows_of(cer.compile(query).hits(folder, order_by="ts", event_id="ts"))


@pytest.mark.parametrize("unit", ["ms", "ns", "96 bits"])
def test_times_go_through_spark_in_the_unit_of_the_files(
    spark: Any, table: pa.Table, small_tasks: None, tmp_path: Path, unit: str
) -> None:
    time = table.column("ts").cast(pa.timestamp("us"))
    if unit != "96 bits":
        time = time.cast(pa.timestamp(unit), safe=False)
    for number in (1, 0):
        part = table.set_column(1, "ts", time).slice(1500 * number, 1500)
        bits = {"use_deprecated_int96_timestamps": unit == "96 bits"}
        pq.write_table(part, tmp_path / f"{1 - number}.parquet", row_group_size=300, **bits)
    # A bare number is meant in the unit of the column, and the halo of a cut as well.
    second = {"ms": 10**3}.get(unit, 10**9)
    for text in (QUERIES["keyed, no window"] + f" WITHIN {40 * second} [ts]", QUERIES["time window"]):
        query = cer.compile(text)
        local = query.hits(sorted(map(str, tmp_path.iterdir())), order_by="ts", sort=True)
        assert len(local) > 5
        found = cer_spark.hits_files(tmp_path, query, order_by="ts", event_id=ROW).toArrow()
        assert rows_of(found) == rows_of(local)


def files_of(folder: str) -> list[str]:
    return [place.file.path for place in lake.places(folder)]


def test_the_order_of_the_rows_is_the_order_without_order_by(
    spark: Any, folder: str, small_tasks: None
) -> None:
    for text in (
        "SELECT * WHERE A AS a ; B AS b FILTER a[price > 90] WITHIN 4 EVENTS",
        "SELECT * WHERE A AS a ; B AS b FILTER a[price > 90] PARTITION BY [k] WITHIN 3 EVENTS",
    ):
        local = cer.compile(text).run(folder).to_arrow()
        found = cer_spark.run_files(folder, text).toArrow()
        assert found.schema.names == local.schema.names
        assert rows_of(found) == rows_of(local.cast(found.schema))


# ------------------------------------------------------------------------------- the layout of keys


@pytest.fixture(scope="module")
def prepared(spark: Any, table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("prepared") / "lake")
    frame = spark.createDataFrame(shuffled(table, Random(2)))
    cer_spark.prepare(frame, path, "k", "ts", partitions=3)
    return path


@pytest.mark.parametrize("name", ["keyed, no window", "keyed, count window", "keyed, time window"])
def test_prepared_files_need_no_shuffle(
    spark: Any, table: pa.Table, prepared: str, small_tasks: None, name: str
) -> None:
    query = cer.compile(QUERIES[name])
    found = cer_spark.run_files(prepared, query, order_by="ts", event_id=ROW)
    plan = found._jdf.queryExecution().executedPlan().toString()
    assert "Exchange" not in plan
    assert rows_of(found.toArrow()) == rows_of(query.run(table, order_by="ts").to_arrow())


def test_prepared_files_say_how_they_were_written(spark: Any, table: pa.Table, prepared: str) -> None:
    assert read_layout(prepared) == Layout(("k",), ("ts",))
    assert opened_lake(prepared, "ts").rows == len(table)
    own = Layout(("k",), ("ts",))
    schema = table.schema.append(pa.field("name", pa.string()))
    tasks = {
        text: task_of(f"SELECT * WHERE A ; B {text}", schema, "run", order_by=order)
        for text, order in {
            "PARTITION BY [k]": "ts",
            "PARTITION BY [k], [price]": "ts",
            "PARTITION BY [k, name]": "ts",
            "PARTITION BY [price]": "ts",
        }.items()
    }
    served = {text: task.keyed and own.serves(task) for text, task in tasks.items()}
    assert [text for text, serves in served.items() if serves] == [
        "PARTITION BY [k]",
        "PARTITION BY [k], [price]",
    ]
    other = task_of("SELECT * WHERE A ; B PARTITION BY [k]", table.schema, "run", order_by="price")
    assert not own.serves(other)


def test_what_was_not_written_by_prepare_alone_is_of_no_layout(
    spark: Any, table: pa.Table, prepared: str, tmp_path: Path
) -> None:
    frame = spark.createDataFrame(table.slice(0, 10)).select("k", ROW)
    other = str(tmp_path / "other")
    frame.write.parquet(other)
    cer_spark.prepare(frame, other, "k", ROW, partitions=1, mode="ignore")
    assert read_layout(other) is None
    cer_spark.prepare(frame, other, "k", ROW, partitions=1, mode="overwrite")
    assert opened_lake(other, ROW).layout == Layout(("k",), (ROW,))
    frame.write.mode("append").parquet(other)
    assert opened_lake(other, ROW).layout is None


def test_prepare_refuses_what_it_cannot_write(spark: Any, table: pa.Table, prepared: str) -> None:
    from pyspark.errors import AnalysisException

    frame = spark.createDataFrame(table.slice(0, 10))
    with pytest.raises(DataError, match="no column `key`"):
        cer_spark.prepare(frame, prepared, "key", "ts")
    with pytest.raises(ValueError, match="mode must be error"):
        cer_spark.prepare(frame, prepared, "k", "ts", mode="append")
    with pytest.raises(AnalysisException, match="already exists"):
        cer_spark.prepare(frame, prepared, "k", "ts", partitions=1)
    assert opened_lake(prepared, None).rows == len(table)


def test_the_three_lines_of_the_readme(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")
    (events,) = re.findall(r"```csv title=\"trades.csv\"\n(.*?)```", readme, re.DOTALL)
    (tmp_path / "trades.csv").write_text(events)
    (tmp_path / "trades").mkdir()
    pq.write_table(pa.csv.read_csv(tmp_path / "trades.csv"), tmp_path / "trades" / "part.parquet")
    monkeypatch.chdir(tmp_path)
    (lines,) = re.findall(
        r"```python title=\"on Spark\"\n(from cer_gpu import spark .*?)```", readme, re.DOTALL
    )
    assert len([line for line in lines.splitlines() if line]) == 3
    names: dict[str, Any] = {}
    try:
        exec(lines, names)
    finally:  # the session runs already: what is set there at run time would stay for other tests
        for setting in (settings.ARROW_RECORDS, settings.ARROW_BYTES):
            spark.conf.unset(setting.key)
    found = sorted((row["Buy"], row["Sell"], row["symbol"]) for row in names["found"].collect())
    assert found == [([buy], [sell], "ACME") for buy in (0, 1) for sell in (2, 4)]


# -------------------------------------------------------------------------------------- the shares


@pytest.mark.parametrize("name", [name for name in QUERIES if name not in SHUFFLED])
def test_shares_have_the_rows_that_a_window_reaches(folder: str, table: pa.Table, name: str) -> None:
    found = opened_lake(folder, "ts")
    task = task_of(QUERIES[name], table.schema, "run", order_by="ts")
    if name in (
        "whole",
        "neighbours without a window",
        "consumed",
        "suppressed",
        "keyed, suppressed everywhere",
    ):
        with pytest.warns(UserWarning, match="one task reads all files"):
            (share,) = shares_of(found, task, SIZE) or []
        assert (share.first, share.halo) == (0, 0)
        return
    shares = shares_of(found, task, SIZE)
    assert shares is not None
    assert len(shares) > 4
    window = task.query.query.window
    time = pa.concat_tables([pq.read_table(path) for path in files_of(folder)]).column("ts")
    moments = time.cast(pa.int64()).to_numpy()
    end = 0
    for share in shares:
        own = share.first + share.halo
        assert own == end
        behind = share.first + sum(part.rows for part in share.parts)
        end = behind - share.ahead
        if window.kind == "time":
            assert share.first == 0 or moments[share.first - 1] < moments[own] - task.query.query.reached
            looks = task.query.query.looks_ahead
            sight = task.query.query.sight if looks else 0
            assert behind == len(table) or not looks or moments[behind] > moments[end - 1] + sight
            assert looks or not share.ahead
        else:
            assert share.first == 0 or share.halo >= window.size
    assert end == len(table)


def test_keys_whose_rows_lie_anywhere_are_shuffled(folder: str, table: pa.Table) -> None:
    found = opened_lake(folder, "ts")
    for name in SHUFFLED:
        assert shares_of(found, task_of(QUERIES[name], table.schema, "run", order_by="ts"), SIZE) is None


def test_a_few_files_out_of_order_are_sorted(table: pa.Table, tmp_path: Path) -> None:
    for number in range(2):
        pq.write_table(table.slice(100 - 100 * number, 100), tmp_path / f"{number}.parquet")
    found = opened_lake(tmp_path, "ts")
    for name, text in QUERIES.items():
        task = task_of(text, table.schema, "run", order_by="ts")
        assert shares_of(found, task, Size(200, 500, 2)) is None, name


def test_files_with_times_in_several_units_are_cut_at_the_same_moments(
    table: pa.Table, tmp_path: Path
) -> None:
    time = table.column("ts").cast(pa.timestamp("ms", "UTC"), safe=False)
    coarse = table.set_column(1, "ts", time)
    pq.write_table(coarse.slice(0, 1500), tmp_path / "0.parquet", row_group_size=500)
    exact = coarse.set_column(1, "ts", time.cast(pa.timestamp("us", "UTC")))
    pq.write_table(exact.slice(1500), tmp_path / "1.parquet", row_group_size=500)
    found = opened_lake(tmp_path, "ts")
    pq.write_table(exact, tmp_path / "all.parquet", row_group_size=500)
    whole = opened_lake(tmp_path / "all.parquet", "ts")
    assert [(one.least, one.most) for one in found.groups] == [(one.least, one.most) for one in whole.groups]
    task = task_of(QUERIES["time window"], whole.schema, "run", order_by="ts")
    shares, wanted = (shares_of(one, task, SIZE) or [] for one in (found, whole))
    assert [(one.first, one.halo) for one in shares] == [(one.first, one.halo) for one in wanted]


def test_files_out_of_order_are_shuffled(
    spark: Any, table: pa.Table, small_tasks: None, tmp_path: Path
) -> None:
    for number in range(3):
        part = table.slice((2 - number) * 1000, 1000)
        pq.write_table(part, tmp_path / f"{number}.parquet", row_group_size=300)
    query = cer.compile(QUERIES["time window"])
    local = query.run(table, order_by="ts").to_arrow()
    found = cer_spark.run_files(str(tmp_path), query, order_by="ts", event_id=ROW).toArrow()
    assert rows_of(found) == rows_of(local)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_footers_tell_times_in_the_unit_of_the_column(unit: str, tmp_path: Path) -> None:
    path = tmp_path / "one.parquet"
    times = pa.array([5, 7, 9, 11], pa.timestamp(unit))
    pq.write_table(
        pa.table({"ts": times, "date": pa.array([1, 1, 2, 2], pa.date32())}), path, row_group_size=2
    )
    stored = pq.read_schema(path).field("ts").type
    factor = {"s": 1000}.get(unit, 1) if stored.unit != unit else 1
    found = lake.footer(0, lake.places(str(path))[0], "ts").groups
    told = [(group.least, group.most) for group in found]
    assert told in ([(5 * factor, 7 * factor), (9 * factor, 11 * factor)], [(None, None)] * 2)
    assert told[0][0] is not None or unit == "s"
    dates = lake.footer(0, lake.places(str(path))[0], "date").groups
    assert [(group.least, group.most) for group in dates] == [(1, 1), (2, 2)]
    assert lake.in_order(dates)
    assert not lake.in_order(dates[::-1])


def test_times_that_may_be_null_or_nan_have_no_range(tmp_path: Path) -> None:
    path = tmp_path / "one.parquet"
    holes = pa.table({"a": pa.array([1, None]), "b": [1.0, np.nan], "c": ["x", "y"], "d": [2.5, 3.5]})
    pq.write_table(holes, path)
    place = lake.places(str(path))[0]
    assert [lake.footer(0, place, name).groups[0].least for name in "ac"] == [None, None]
    assert lake.footer(0, place, "d").groups[0].most == 3.5


# ----------------------------------------------------------------------------- folders, errors


def test_names_of_folders_are_columns(spark: Any, table: pa.Table, small_tasks: None, tmp_path: Path) -> None:
    for day in range(3):
        place = tmp_path / f"day={day}"
        place.mkdir()
        pq.write_table(table.slice(day * 1000, 1000), place / "part.parquet", row_group_size=200)
    text = "SELECT a, b[price] WHERE A AS a ; B AS b FILTER a[day = 1 AND price > 80] WITHIN 3 SECONDS"
    local = cer.compile(text).run(tmp_path, order_by="ts").to_arrow()
    assert len(local) > 10
    found = cer_spark.run_files(str(tmp_path), text, order_by="ts").toArrow()
    assert rows_of(found) == rows_of(local.cast(found.schema))


def test_a_path_that_is_wrong_is_named(spark: Any, tmp_path: Path, folder: str) -> None:
    query = "SELECT * WHERE A ; B WITHIN 3 EVENTS"
    with pytest.raises(DataError, match="no such file or directory"):
        cer_spark.run_files(str(tmp_path / "nothing"), query)
    with pytest.raises(DataError, match="there is no Parquet file"):
        cer_spark.run_files(str(tmp_path), query)
    (tmp_path / "odd.parquet").write_text("this is not Parquet")
    with pytest.raises(DataError, match=r"odd\.parquet cannot be read as Parquet"):
        cer_spark.run_files(str(tmp_path), query)
    with pytest.raises(DataError, match="cannot be opened"):
        cer_spark.run_files("nosuchscheme://bucket/x", query)
    assert len(lake.places([f"{folder}/[a-c].p*", f"{folder}/below"])) == 4


def test_a_pattern_names_no_hidden_files_and_a_name_with_marks_is_a_name(folder: str, tmp_path: Path) -> None:
    named = [Path(place.file.path).name for place in lake.places(f"{folder}/*")]
    assert named == ["a.parquet", "b.parquet", "d.parquet", "c.pq"]
    marked = tmp_path / "a[1].parquet"
    marked.write_bytes(Path(folder, "a.parquet").read_bytes())
    assert [place.file.path for place in lake.places([marked])] == [str(marked)]
    assert opened_lake(marked, "ts").layout is None


def test_types_that_spark_has_not_become_wider_ones() -> None:
    odd = [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.date64()]
    assert [str(spark_type(kind)) for kind in odd] == [
        "int16",
        "int32",
        "int64",
        "decimal128(20, 0)",
        "date32[day]",
    ]


def test_a_file_that_breaks_while_it_is_read_is_named(spark: Any, folder: str, tmp_path: Path) -> None:
    from pyspark.errors import PythonException

    whole = Path(folder, "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(whole)
    found = cer_spark.run_files(str(tmp_path), QUERIES["time window"], order_by="ts")
    (tmp_path / "a.parquet").write_bytes(bytes(len(whole) - 2000) + whole[-2000:])
    with pytest.raises(PythonException, match=r"a\.parquet"):
        found.collect()
