"""Random timed queries on random streams, as many as one likes: `python tests/timed_cases.py --cases 100000`.

A case is one query on one stream. Its complex events, hits, counts and number are compared with the reference
semantics, over the whole table, in batches, pushed to a stream that is stored and continued now and then, and
on each route that takes the query besides the one that is chosen. A query is asked of some streams one by
one, and of more of them at once: there each stream is a partition of one table, and what the reference says
of it alone must be said of its partition. Tasks of Spark are handed the rows of such a table now and then,
and where there is a device (`NUMBA_ENABLE_CUDASIM=1`: the simulator) it answers some of them too. Half of the
queries run with blocks, chunks and groups of a few events. What is drawn depends on the seed and the number
of the query alone. Where an answer is wrong, the query, the events and the command that repeats it are
printed, and the exit status is 1. Ctrl-C ends it with what was compared by then.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from campaign import run, show
from cer_gpu.kernels.device.availability import cuda_usable
from engine_oracle import OPTIONS, Row, _key, _latest_starts, _looks_beside, cuts, found, pieces, pushed
from fuzz import SHOWN, sizes
from generate import ORDER, stream, stream_to_table, with_keys
from random_one_clock import one_clock_query
from random_steps import keyed_query, session_query, timed_query
from random_windows import windowed_query
from spark_tasks import dealt, numbered, shuffled, task_of
from test_spark_worker import OPTIONS as ON_SPARK
from test_spark_worker import check_tasks

from cer_gpu.api import Query
from cer_gpu.errors import LimitError, QueryError
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.language.walk import nodes
from cer_gpu.reference.events import Event
from cer_gpu.reference.semantics import evaluate

USABLE = cuda_usable()

if USABLE.devices == ("simulator",):
    sys.path.insert(0, str(Path(__file__).parents[1]))
    import cuda_device  # noqa: F401 (the simulator as the engine's device)

ALONE = 1
"""Streams that each query is asked of one by one."""

TOGETHER = 63
"""Streams that each query is asked of at once."""

WIDER = 4
"""With so many streams at once the tiny sizes are once more as large."""

SPARK = 8
"""One in so many queries is answered by tasks of Spark, too."""

KINDS: dict[str, Callable[[Random], tree.SelectQuery]] = {
    "steps": timed_query,
    "keys": keyed_query,
    "sessions": session_query,
    "one clock": one_clock_query,
    "any": windowed_query,
}
SHARES = (4, 1, 1, 2, 4)
"""How often each kind is drawn."""

OPERATORS = {
    "nested windows": tree.Timed,
    "AND": tree.And,
    "ALL": tree.All,
    "OR": tree.Or,
    "UNLESS": tree.Unless,
    "projection": tree.Project,
    "selectors": tree.Selector,
    "FOLLOWED BY, PRECEDED BY": tree.Beside,
    "iteration": tree.Iteration,
}

ON_DEVICE = {
    "cer_gpu.engine.cuda.machines.units.LEAST_UNIT": 5,
    "cer_gpu.engine.cuda.machines.units.LEAST": 1,
    "cer_gpu.engine.cuda.machines.one_device.LEAST_UNIT": 4,
}
"""Sizes under which a device answers, however few events there are."""

STREAM = "case"
"""The column that parts the streams of one table."""


@dataclass(frozen=True)
class Answered:
    """A table of one stream or many, and what the reference says of it.

    Attributes
    ----------
    events : list of Event
        The rows of the table.
    table : pyarrow.Table
    streams : int
    rows : list of Row
        The complex events.
    latest : dict of int to int
        The latest start of each end that the strategy chooses from.
    """

    events: list[Event]
    table: pa.Table
    streams: int
    rows: list[Row]
    latest: dict[int, int]


def of_streams(
    query: tree.SelectQuery, streams: Sequence[Sequence[Event]], owners: Sequence[int]
) -> Answered:
    """Streams in one table, and what the reference says of each of them.

    Parameters
    ----------
    owners : sequence of int
        The stream of each row of the table; where there are several streams, it is one more key.
    """
    places: list[list[int]] = [[] for _ in streams]
    for row, owner in enumerate(owners):
        places[owner].append(row)
    rows: list[Row] = []
    latest: dict[int, int] = {}
    for number, (events, place) in enumerate(zip(streams, places, strict=True)):
        own: list[Row] = []
        for answer in evaluate(query, events, order=ORDER):
            marks = sorted(answer.marks.items())
            own.append((answer.start, answer.end, tuple(marks), _key(answer.partition)))
            key = answer.partition if len(streams) == 1 else (*(answer.partition or ()), number)
            moved = tuple((name, tuple(place[at] for at in marked)) for name, marked in marks)
            rows.append((place[answer.start], place[answer.end], moved, _key(key)))
        found_there = _latest_starts(query, own, events)
        latest |= {place[end]: place[start] for end, start in found_there.items()}
    rows.sort(key=lambda row: row[1])
    taken = [iter(events) for events in streams]
    events = [next(taken[owner]) for owner in owners]
    table = stream_to_table(events)
    if len(streams) > 1:
        table = table.append_column(STREAM, pa.array(owners, pa.int64()))
        events = [
            replace(event, attributes={**event.attributes, STREAM: owner})
            for event, owner in zip(events, owners, strict=True)
        ]
    return Answered(events, table, len(streams), rows, latest)


def parted(query: tree.SelectQuery) -> tree.SelectQuery | None:
    """The query over many streams in one table; None where what one consumes would be lost to the others."""
    consume = query.consume
    if consume is tree.Consume.ANY:
        if query.partition:
            return None
        consume = tree.Consume.PARTITION
    return replace(query, partition=(*query.partition, (STREAM,)), consume=consume)


def mixed(rng: Random, streams: Sequence[Sequence[Event]]) -> list[int]:
    """The stream of each row of a table: in the order of time, or any that keeps the order of each stream."""
    owners = [number for number, events in enumerate(streams) for _ in events]
    if rng.random() < 0.5:
        times = [event.attributes[ORDER] for events in streams for event in events]
        return [
            owner for _, owner in sorted(zip((time.count for time in times), owners), key=lambda one: one[0])
        ]
    rng.shuffle(owners)
    return owners


def drawn_stream(rng: Random) -> list[Event]:
    """A short stream, with other values of keys now and then."""
    events = stream(rng, rng.randrange(4, 13), lap_falls=rng.random() < 0.2)
    return with_keys(rng, events) if rng.random() < 0.15 else events


def compared(asked: Query, query: tree.SelectQuery, wanted: Answered, rng: Random) -> Counter[str]:
    """Assert that the engine says of a table what the reference says; what was compared.

    Raises
    ------
    Exception
        Where it does not, or fails.
    """
    table, rows = wanted.table, wanted.rows
    done = Counter({"cases": wanted.streams, "complex events": len(rows)})
    _as_wanted(asked, query, wanted, {})
    parts = pieces(table, cuts(rng, len(table)))
    batches = pa.Table.from_batches([one for part in parts for one in part.to_batches()], table.schema)
    reader = batches.to_reader(max_chunksize=rng.choice((1, 2, 5) if wanted.streams == 1 else (7, 30)))
    assert found(asked.run(reader, **OPTIONS)) == rows, "in batches"
    given, ordered = pushed(asked, parts, rng), rows
    if _looks_beside(query):
        given, ordered = sorted(given), sorted(rows)
    assert given == ordered, "pushed"
    chosen = asked._plan.engine
    done[f"cases of {chosen}"] += wanted.streams
    for engine, refusal in asked._plan.said:
        if engine != chosen and refusal is None:
            _as_wanted(asked, query, wanted, {"engine": engine})
            done[f"{chosen} and {engine}"] += wanted.streams
    return done


def _as_wanted(asked: Query, query: tree.SelectQuery, wanted: Answered, how: dict[str, Any]) -> None:
    """Assert that the whole table gives what is wanted: listed, counted, and its hits."""
    table, rows, options = wanted.table, wanted.rows, OPTIONS | how
    assert found(asked.run(table, **options)) == rows, f"run {how}"
    if "engine" not in how:
        assert asked.count(table, **options) == len(rows), f"count {how}"
    counts, hits = (ask(table, **options).to_pydict() for ask in (asked.counts, asked.hits))
    ends = sorted(Counter(row[1] for row in rows).items())
    assert list(zip(counts["position"], counts["count"], strict=True)) == ends, f"counts {how}"
    assert hits["position"] == [end for end, _ in ends], f"hits {how}"
    if query.limit is None:
        assert dict(zip(hits["position"], hits["latest_start"], strict=True)) == wanted.latest, (
            f"starts {how}"
        )


def _elsewhere(
    asked: Query, query: tree.SelectQuery, wanted: Answered, rng: Random, spark: bool
) -> Counter[str]:
    """Assert that tasks of Spark and a device say the same; what was compared."""
    done = Counter[str]()
    if USABLE:
        with ExitStack() as changed:
            for name, size in ON_DEVICE.items():
                changed.enter_context(patch(name, size))
            _as_wanted(asked, query, wanted, {"device": "cuda"})
        done[f"cases of {asked._plan.engine} with a device"] += wanted.streams
    if spark:
        table = numbered(wanted.table)
        keys = task_of(asked, table.schema, "run", **ON_SPARK).query.query.reading.partition
        check_tasks(asked, table, dealt(shuffled(table, rng), keys, rng.choice((1, 2, 3))), rng)
        done["cases by tasks of Spark"] += wanted.streams
    return done


def of_query(seed: str, number: int) -> Counter[str]:
    """What was compared of one query on its streams; wrong answers are printed."""
    rng = Random(f"{seed} {number}")
    kind = rng.choices(list(KINDS), SHARES)[0]
    query, done = KINDS[kind](rng), Counter({"queries": 1, f"queries: {kind}": 1})
    has = list(nodes(query.pattern))
    done.update(
        f"queries with {name}" for name, one in OPERATORS.items() if any(isinstance(x, one) for x in has)
    )
    turns: list[tuple[tree.SelectQuery, int]] = [(query, 1)] * ALONE
    if (over_all := parted(query)) is not None:
        turns.append((over_all, TOGETHER))
    asked: dict[int, Query] = {}
    for statement, many in turns:
        streams = [drawn_stream(rng) for _ in range(many)]
        wanted = of_streams(query, streams, mixed(rng, streams))
        try:
            with sizes(number % 2 == 1, times=max(1, many // WIDER)):
                if many not in asked:
                    asked[many] = Query(to_text(statement))
                told = compared(asked[many], statement, wanted, rng)
                if many > 1:
                    told += _elsewhere(asked[many], statement, wanted, rng, number % SPARK == 0)
                done += told
        except LimitError:
            return done + Counter({"queries over budget": 1})
        except QueryError as error:
            return done + Counter({f"queries refused with {error.diagnostics[0].code}": 1})
        except Exception:
            done["WRONG"] += 1
            if done["WRONG"] <= SHOWN:
                show(__file__, statement, wanted.events, seed, number)
    return done


if __name__ == "__main__":
    sys.exit(run(__file__, __doc__, of_query))
