"""The machine of configurations in tasks of Spark, without a cluster: lanes, segments with halos."""

from __future__ import annotations

from random import Random

import pytest
from cer_gpu.spark.binding import task_of
from generate import unary_query
from random_windows import windowed_query
from spark_tasks import shuffled
from test_spark_worker import OPTIONS, by_key, check_tasks, cut, drawn

from cer_gpu.language import tree


@pytest.fixture(autouse=True)
def general(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask for the machine of configurations, also where others would take the query."""
    monkeypatch.setitem(OPTIONS, "engine", "general")


def made(rng: Random, atoms: int) -> tree.SelectQuery:
    return windowed_query(rng) if rng.random() < 0.6 else unary_query(rng, atoms=atoms)


@pytest.mark.parametrize("seed", range(12))
def test_tasks_of_lanes_give_what_the_engine_gives(seed: int) -> None:
    rng = Random(f"general tasks {seed}")
    query, table = drawn(rng, made)
    task = task_of(query, table.schema, "run", **OPTIONS)
    check_tasks(query, table, [shuffled(table, rng)], rng)
    check_tasks(query, table, [by_key(table, task, rng) if task.keyed else table], rng, streamed=True)


@pytest.mark.parametrize("seed", range(12))
def test_segments_with_a_halo_give_what_the_engine_gives(seed: int) -> None:
    rng = Random(f"general segments {seed}")
    while True:
        query, table = drawn(rng, made)
        task = task_of(query, table.schema, "run", **OPTIONS)
        plan = task.query.query
        if task.cuttable and not task.keyed and not plan.reading.streams and len(table) >= 4:
            break
    parts, segments = cut(table, plan, rng)
    check_tasks(query, table, parts, rng, segments=segments)
