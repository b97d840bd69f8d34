"""The case files in tasks of Spark: rows in any order, in one task, by key, streamed, and cut with halos."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest
import spark_sessions
import test_spark_worker
from case_files import cases
from case_tables import table_of
from spark_tasks import ROW, dealt, numbered, shuffled, task_of
from test_spark_worker import by_key, check_tasks, cut

import cer_gpu as cer
from cer_gpu import spark as cer_spark

FAMILIES = ("quantifiers", "optional", "followed", "prev", "functions", "measures")
"""The families of what the engine gained last; those of aggregates, sums and PRIOR follow by tasks alone."""


@pytest.fixture(autouse=True)
def _one_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_spark_worker, "OPTIONS", {"order_by": ("ts", ROW)})


@pytest.mark.parametrize("family", [*FAMILIES, "aggregates", "multi_correlation", "prior", "window"])
def test_tasks_give_what_the_engine_gives(family: str) -> None:
    """Which `test_engine_cases` holds to what the cases expect."""
    cut_apart = 0
    for case in cases(family):
        rng = Random(case["id"])
        query, table = cer.compile(case["query"]), numbered(table_of(case))
        task = task_of(query, table.schema, "run", order_by=("ts", ROW))
        check_tasks(query, table, [shuffled(table, rng)], rng)
        if task.keyed:
            check_tasks(query, table, [by_key(table, task, rng)], rng, streamed=True)
            check_tasks(query, table, dealt(shuffled(table, rng), task.query.query.reading.partition, 2), rng)
        elif task.cuttable and len(table) >= 4 and not pa.types.is_floating(table.schema.field("ts").type):
            cut_apart += 1
            parts, segments = cut(table, task.query.query, rng)
            check_tasks(query, table, parts, rng, segments=segments)
    assert cut_apart > 0 or family != "window"


@spark_sessions.GROUP
@pytest.mark.parametrize(
    "family", ["quantifiers", *(pytest.param(name, marks=pytest.mark.large) for name in FAMILIES[1:])]
)
def test_a_session_gives_what_the_engine_gives(spark: Any, family: str) -> None:
    """Every third query, since each is a job of its own."""
    for case in list(cases(family))[::3]:
        query, table = cer.compile(case["query"]), numbered(table_of(case))
        local = query.run(table, order_by=("ts", ROW)).to_arrow()
        found = cer_spark.run(spark.createDataFrame(table), query, order_by=("ts", ROW), event_id=ROW)
        rows = found.toArrow().select(local.schema.names).cast(local.schema)
        assert sorted(map(repr, rows.to_pylist())) == sorted(map(repr, local.to_pylist())), case["id"]
