"""Tasks of Spark, without a cluster, by machines that compare events: one task, by key, cut with halos."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from cer_gpu.spark.binding import task_of
from generate import stream, stream_to_table
from random_comparisons import compared_query
from random_looked_for import looking_query
from random_one_clock import one_clock_query
from random_ordered import random_ordered
from random_rules import random_join, random_rule_events
from random_steps import session_query, timed_query
from random_thresholds import thresholds_query
from spark_tasks import dealt, numbered, shuffled
from test_rule_groups import aggregated_rule
from test_spark_worker import OPTIONS, by_key, check_tasks, cut

import cer_gpu as cer
from cer_gpu.errors import CerError
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text

PATTERNS: dict[str, Callable[[Random], tree.SelectQuery]] = {
    "ordered": random_ordered,
    "general": compared_query,
    "looked for": looking_query,
    "timed": timed_query,
    "sessions": session_query,
    "clock": one_clock_query,
    "threshold": thresholds_query,
}
"""What draws queries for a machine: look-ups of neighbours, registers, runs of what is looked for, gaps."""


def drawn(rng: Random, machine: str, **changes: Any) -> tuple[cer.Query, pa.Table]:
    """A query that the machine answers, and a stream in order with a number for each event."""
    while True:
        try:
            query = cer.compile(to_text(replace(PATTERNS[machine](rng), **changes)))
        except CerError:
            continue
        looks = any(one.machine is not None for one in query._plan.compiled.outlooks)
        engine = "timed" if machine == "sessions" else machine
        if looks if machine == "looked for" else query._plan.engine == engine:
            return query, numbered(stream_to_table(stream(rng, rng.randrange(4, 14))))


@pytest.mark.parametrize("machine", PATTERNS)
@pytest.mark.draws("seed", 3)
def test_one_task_gives_what_the_engine_gives(machine: str, seed: int) -> None:
    rng = Random(f"one task {machine} {seed}")
    query, table = drawn(rng, machine, partition=())
    check_tasks(query, table, [shuffled(table, rng)], rng)
    check_tasks(query, table, [table], rng, streamed=True)


@pytest.mark.parametrize("machine", PATTERNS)
@pytest.mark.draws("seed", 3)
def test_tasks_by_key_give_what_the_engine_gives(machine: str, seed: int) -> None:
    rng = Random(f"by key {machine} {seed}")
    query, table = drawn(rng, machine, partition=(("id",),), consume=tree.Consume.NONE, suppress=None)
    task = task_of(query, table.schema, "run", **OPTIONS)
    assert task.keyed
    parts = dealt(shuffled(table, rng), task.query.query.reading.partition, rng.choice((1, 2, 3)))
    check_tasks(query, table, parts, rng)
    ordered = [one.sort_by([("row", "ascending")]) for one in parts]
    check_tasks(query, table, [by_key(one, task, rng) for one in ordered], rng, streamed=True)


@pytest.mark.parametrize("machine", PATTERNS)
@pytest.mark.draws("seed", 3)
def test_segments_with_halos_give_what_the_engine_gives(machine: str, seed: int) -> None:
    rng = Random(f"halos {machine} {seed}")
    while True:
        window = tree.Window(rng.choice((500, 1000, 2000)), "time", unit="ms")
        query, table = drawn(
            rng, machine, partition=(), consume=tree.Consume.NONE, suppress=None, window=window
        )
        task = task_of(query, table.schema, "run", **OPTIONS)
        if task.cuttable:
            break
    parts, segments = cut(table, task.query.query, rng)
    check_tasks(query, table, parts, rng, segments=segments)


@pytest.mark.draws("seed", 4)
def test_gaps_alone_make_halos(seed: int) -> None:
    """Without WITHIN the upper bounds of the gaps add up to a window."""
    rng = Random(f"halos of gaps {seed}")
    while True:
        query, table = drawn(
            rng, "timed", partition=(), consume=tree.Consume.NONE, suppress=None, window=None
        )
        task = task_of(query, table.schema, "run", **OPTIONS)
        if task.cuttable:
            break
    parts, segments = cut(table, task.query.query, rng)
    check_tasks(query, table, parts, rng, segments=segments)


@pytest.mark.parametrize("window", [None, tree.Window(1000, "time", unit="ms")], ids=["one task", "halo"])
@pytest.mark.draws("seed", 3)
def test_rules_by_lookups_give_what_the_engine_gives(window: tree.Window | None, seed: int) -> None:
    rng = Random(f"joins on tasks {seed}")
    while True:
        rule = replace(random_join(rng), window=window)
        query = cer.compile(to_text(rule))
        table = numbered(stream_to_table(random_rule_events(rng, rule, rng.randrange(4, 12))))
        task = task_of(query, table.schema, "run", **OPTIONS)
        if query._plan.engine == "join" and task.cuttable == (window is not None):
            break
    check_tasks(query, table, [shuffled(table, rng)], rng)
    if task.cuttable:
        parts, segments = cut(table, task.query.query, rng)
        check_tasks(query, table, parts, rng, segments=segments)


@pytest.mark.draws("seed", 4)
def test_rules_with_aggregates_run_in_one_task(seed: int) -> None:
    rng = Random(f"groups on tasks {seed}")
    while True:
        rule = aggregated_rule(rng)
        if rule.head:
            break
    query = cer.compile(to_text(replace(rule, window=tree.Window(1000, "time", unit="ms"))))
    table = numbered(stream_to_table(random_rule_events(rng, rule, 12)))
    task = task_of(query, table.schema, "run", **OPTIONS)
    assert not task.keyed
    assert not task.cuttable
    check_tasks(query, table, [shuffled(table, rng)], rng)
