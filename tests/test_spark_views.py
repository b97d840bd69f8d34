"""Views on Spark: micro-batches, those handed over again, and tasks that are killed."""

from __future__ import annotations

import os
import signal
from collections import Counter
from datetime import date, datetime
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import spark_sessions

import cer_gpu
from cer_gpu.errors import DataError

pytestmark = spark_sessions.GROUP

KEYED = "Q(x, a, c) <- R(x, a), S(k = x, c = c), a < c"
PROJECTED = "Q(a) <- R(x, a), S(k = x, c = c), a < c"
FOLDED = "Q(x; COUNT(*), MAX(c)) <- R(x, a), S(k = x, c = c), a < c"
ALONE = "Q(a, c) <- R(x, a), S(k = y, c = c), a < c"


def rows(rng: Random, names: str, count: int) -> pa.Table:
    keys = pa.array([rng.choice(["u", "v", "w", None]) for _ in range(count)], pa.string())
    return pa.table({names[0]: keys, names[1]: [rng.randint(0, 9) for _ in range(count)]})


def listed(table: pa.Table) -> Counter[Any]:
    return Counter(tuple(row.values()) for row in table.to_pylist())


def spark_views() -> Any:
    from cer_gpu.spark import views

    return views


@pytest.mark.parametrize("rule", [KEYED, PROJECTED, FOLDED, ALONE])
def test_micro_batches_give_what_the_view_gives(spark: Any, tmp_path: Path, rule: str) -> None:
    rng = Random(rule)
    from cer_gpu.spark.view_folder import COMMITS

    views = spark_views()
    made = views.maintain(rule, tmp_path, parts=None if rule == ALONE else 3)
    assert made.parts == (1 if rule == ALONE else 3)
    local = cer_gpu.maintain(rule)
    gone = None
    for batch in range(2):
        new = {"R": rows(rng, "xa", 12), "S": rows(rng, "kc", 12)}
        for name, table in new.items():
            made.insert(name)(spark.createDataFrame(table), batch)
            local.insert(name, table)
        if gone is not None:
            made.delete("R")(spark.createDataFrame(gone), batch)
            # Spark hands a micro-batch over again after a restart.
            made.delete("R")(spark.createDataFrame(gone), batch)
            made.insert("S")(spark.createDataFrame(new["S"]), batch)
            local.delete("R", gone)
            assert listed(made.delta(spark).toArrow()) == listed(local.delta().to_arrow())
        gone = new["R"].slice(0, 5)
    assert made.count() == local.count()
    wanted = listed(local.enumerate().to_arrow())
    assert listed(made.enumerate(spark).toArrow()) == wanted
    # Another driver continues from the folder.
    again = views.maintain(rule, tmp_path, parts=made.parts)
    assert again.count() == made.count()
    left = views.ViewFolder(str(tmp_path))
    assert len(left.names(COMMITS)) == 2
    assert set(left.commit().files.values()) <= set(left.names())


def test_a_date_and_a_time_that_are_equal_are_in_one_part(spark: Any, tmp_path: Path) -> None:
    days = [date(2024, 1, 1 + day) for day in range(8)]
    times = [datetime(day.year, day.month, day.day) for day in days]
    r, s = pa.table({"x": days, "a": range(8)}), pa.table({"k": times, "c": range(1, 9)})
    made = spark_views().maintain(KEYED, tmp_path, parts=5)
    local = cer_gpu.maintain(KEYED)
    for name, table, types in (("R", r, "x date, a long"), ("S", s, "k timestamp_ntz, c long")):
        made.insert(name)(spark.createDataFrame(table.to_pylist(), types), 0)
        local.insert(name, table)
    assert made.count() == local.count() == 8
    assert listed(made.delta(spark).toArrow()) == listed(local.enumerate().to_arrow())


def test_streams_with_checkpoints(spark: Any, tmp_path: Path) -> None:
    rng = Random(1)
    views = spark_views()
    made = views.maintain(KEYED, str(tmp_path / "view"), parts=2)
    local = cer_gpu.maintain(KEYED)
    for name, columns in (("R", "xa"), ("S", "kc")):
        (tmp_path / name).mkdir()
        for number in range(2):
            table = rows(rng, columns, 9)
            pq.write_table(table, tmp_path / name / f"{number}.parquet")
            local.insert(name, table)
        for _ in range(2):  # the second time nothing is new
            stream = (
                spark.readStream.schema(spark.read.parquet(str(tmp_path / name)).schema)
                .option("maxFilesPerTrigger", 1)
                .parquet(str(tmp_path / name))
            )
            query = (
                stream.writeStream.foreachBatch(made.insert(name))
                .option("checkpointLocation", str(tmp_path / f"checkpoint-{name}"))
                .trigger(availableNow=True)
                .start()
            )
            query.awaitTermination()
            assert query.exception() is None
    assert made.count() == local.count()
    assert listed(made.enumerate(spark).toArrow()) == listed(local.enumerate().to_arrow())


def test_a_killed_task_changes_nothing(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(2)
    views = spark_views()
    made = views.maintain(KEYED, str(tmp_path / "view"), parts=2)
    local = cer_gpu.maintain(KEYED)
    for name, columns in (("R", "xa"), ("S", "kc")):
        table = rows(rng, columns, 20)
        made.insert(name)(spark.createDataFrame(table), 0)
        local.insert(name, table)
    before = views.ViewFolder(str(tmp_path / "view")).commit()
    told = str(tmp_path / "died")
    whole = views._applied

    def dying(*arguments: Any) -> Any:
        applied = whole(*arguments)

        def once(table: pa.Table) -> pa.Table:
            found = applied(table)
            if not os.path.exists(told):
                with open(told, "w"):
                    pass
                os.kill(os.getpid(), signal.SIGKILL)
            return found

        return once

    monkeypatch.setattr(views, "_applied", dying)
    table = rows(rng, "xa", 20)
    with pytest.raises(Exception, match=r"(?s)(crashed|EOF|exited|Exception)"):
        made.insert("R")(spark.createDataFrame(table), 1)
    assert os.path.exists(told)
    assert views.ViewFolder(str(tmp_path / "view")).commit() == before
    assert made.count() == local.count()
    # Spark hands the micro-batch over again.
    made.insert("R")(spark.createDataFrame(table), 1)
    local.insert("R", table)
    assert listed(made.enumerate(spark).toArrow()) == listed(local.enumerate().to_arrow())


def test_a_delete_of_what_is_not_there_leaves_all_parts_as_they_were(spark: Any, tmp_path: Path) -> None:
    views = spark_views()
    made = views.maintain(KEYED, tmp_path, parts=3)
    made.insert("R")(spark.createDataFrame(pa.table({"x": ["u", "v", "w"], "a": [1, 1, 1]})), 0)
    before = views.ViewFolder(str(tmp_path)).commit()
    gone = pa.table({"x": ["u", "v", "w"], "a": [1, 1, 2]})
    with pytest.raises(Exception, match=r"cannot delete \(x = 'w', a = 2\) from R"):
        made.delete("R")(spark.createDataFrame(gone), 0)
    assert views.ViewFolder(str(tmp_path)).commit() == before
    with pytest.raises(DataError, match="the view has no rows yet"):
        made.enumerate(spark)


def test_what_cannot_be_shared_out_is_said(spark: Any, tmp_path: Path) -> None:
    views = spark_views()
    with pytest.raises(DataError, match="no variable is in all parts of the rule"):
        views.maintain(ALONE, tmp_path, parts=2)
    with pytest.raises(DataError, match="several keys"):
        views.maintain("Q(; COUNT(*)) <- R(x, a), S(k = x, c = c)", tmp_path, parts=2)
    made = views.maintain(KEYED, tmp_path, parts=2)
    with pytest.raises(DataError, match="no relation `T`: its relations are R, S"):
        made.insert("T")(spark.createDataFrame(pa.table({"x": [1]})), 0)
    with pytest.raises(DataError, match="`k` of S, by which rows are dealt to tasks, is of type double"):
        made.insert("S")(spark.createDataFrame(pa.table({"k": [1.0], "c": [1]})), 0)


def test_a_folder_is_continued_by_the_same_rule_and_parts_alone(tmp_path: Path) -> None:
    views = spark_views()
    commit = views.ViewCommit(1, {"+R": 0}, {0: "0-0-a.view"}, {0: 1}, "", KEYED, 3)
    views.ViewFolder(str(tmp_path)).put(commit)
    assert views.ViewFolder(str(tmp_path)).commit() == commit
    assert views.maintain(KEYED, tmp_path, parts=3).count() == 1
    for rule, parts, told in ((KEYED, None, "shared by 3 tasks, not by 16"), (ALONE, None, "is of `")):
        with pytest.raises(DataError, match=told):
            views.maintain(rule, tmp_path, parts=parts)
