"""Timed machines in tasks of Spark, without a cluster: lanes, segments with halos."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from cer_gpu.spark.binding import task_of
from generate import unary_query
from random_one_clock import one_clock_query
from random_windows import windowed_query
from spark_tasks import shuffled
from test_spark_worker import OPTIONS, by_key, check_tasks, cut, drawn

from cer_gpu.errors import QueryError
from cer_gpu.language import tree


@pytest.fixture(autouse=True)
def general(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask for the machine of configurations, also where others would take the query."""
    monkeypatch.setitem(OPTIONS, "engine", "general")


def made(rng: Random, atoms: int) -> tree.SelectQuery:
    return windowed_query(rng) if rng.random() < 0.6 else unary_query(rng, atoms=atoms)


@pytest.mark.draws("seed", 12)
def test_tasks_of_lanes_give_what_the_engine_gives(seed: int) -> None:
    rng = Random(f"general tasks {seed}")
    query, table = drawn(rng, made)
    task = task_of(query, table.schema, "run", **OPTIONS)
    check_tasks(query, table, [shuffled(table, rng)], rng)
    check_tasks(query, table, [by_key(table, task, rng) if task.keyed else table], rng, streamed=True)


@pytest.mark.draws("seed", 12)
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


def unbounded(draw: Callable[[Random], tree.SelectQuery]) -> Callable[[Random, int], tree.SelectQuery]:
    """Queries without WITHIN, keys and consumption."""

    def drawn_so(rng: Random, atoms: int) -> tree.SelectQuery:
        return replace(draw(rng), window=None, partition=(), consume=tree.Consume.NONE)

    return drawn_so


@pytest.mark.parametrize(("engine", "draw"), [("clock", one_clock_query), ("general", windowed_query)])
@pytest.mark.draws("seed", 6)
def test_intervals_alone_make_halos(
    engine: str, draw: Callable[[Random], tree.SelectQuery], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without WITHIN the upper bounds of gaps and of windows inside the pattern add up to a window."""
    monkeypatch.setitem(OPTIONS, "engine", engine)
    rng = Random(f"halos of intervals {engine} {seed}")
    while True:
        try:
            query, table = drawn(rng, unbounded(draw))
            task = task_of(query, table.schema, "run", **OPTIONS)
        except QueryError:  # a query that the machine does not take
            continue
        if "an interval over the whole pattern is as WITHIN" in query.explain(engine=engine, verbose=True):
            continue
        if task.cuttable and len(table) >= 4:
            break
    parts, segments = cut(table, task.query.query, rng)
    check_tasks(query, table, parts, rng, segments=segments)
    assert (
        query.explain(engine=engine, verbose=True).count(
            "the upper bounds of the intervals add up to a window"
        )
        == 1
    )
