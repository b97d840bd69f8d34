"""Decimals beyond 64 bits that are compared by order, however events are read, against the reference."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from snapshots import stored
from spark_tasks import ROW, answer, batches, dealt, numbered, shuffled, task_of
from test_decimals import FAR, KINDS, decimal_of, reference_events, value_of

import cer_gpu as cer
from cer_gpu.language import tree
from cer_gpu.language.parser import parse
from cer_gpu.reference.events import Event
from cer_gpu.reference.semantics import evaluate


def far_events(rng: Random, n: int = 45) -> pa.Table:
    """Events of two types whose decimals lie near one another, most of them beyond 64 bits."""
    near = [FAR + k for k in range(4)] + [Decimal(2**63 + k).scaleb(-3) for k in (-1, 0, 1)] + [Decimal(2)]
    near += [-one for one in near]
    values = {name: [rng.choice((*near, None)) for _ in range(n)] for name in ("wide", "huge")}
    return pa.table(
        {
            "type": [rng.choice("AB") for _ in range(n)],
            **{name: pa.array(own, KINDS[name]) for name, own in values.items()},
            "p": pa.array([value_of(rng, "p") for _ in range(n)], KINDS["p"]),
            "q": pa.array([decimal_of(rng, KINDS["q"]) for _ in range(n)], KINDS["q"]),
            "i": pa.array([value_of(rng, "i") for _ in range(n)]),
            "k": [rng.choice("xy") for _ in range(n)],
            "ts": pa.array(sorted(rng.choices(range(3 * n), k=n))),
        }
    )


FAR_SIDES = ("wide", "huge", "wide + 1", "wide * 2", "huge - wide", "wide * wide", "p * q", "q * q", "-wide")


@pytest.mark.draws("seed", 40)
def test_orders_of_far_decimals_agree_with_the_reference_however_events_are_read(
    seed: int, tmp_path: Path
) -> None:
    """Streams in batches of any size and stored in between, readers, files in several pieces, tasks."""
    rng = Random(f"far decimals {seed}")
    table = far_events(rng)
    sides = rng.choice(FAR_SIDES), rng.choice((*FAR_SIDES, "p", "i", "q"))
    left, right = (
        re.sub(r"\b([a-z]+)\b", rf"{variable}.\1", side)
        for variable, side in zip(rng.sample(("x", "y"), 2), sides)
    )
    keyed = "PARTITION BY k " if rng.random() < 0.5 else ""
    text = (
        f"SELECT * WHERE A AS x ; B AS y FILTER {left} {rng.choice(('<', '<=', '>', '>='))} {right} "
        f"{keyed}WITHIN {rng.choice((20, 60))} [ts]"
    )
    wanted = sorted(reference_answers(text, table))

    def found(matches: Iterable[cer.ComplexEvent]) -> list[tuple[int, int]]:
        return sorted((one.start, one.end) for one in matches)

    query, order = cer.compile(text), {"order_by": "ts"}
    pieces = [table.slice(low, 15) for low in range(0, len(table), 15)]
    for number, piece in enumerate(pieces):
        pq.write_table(piece, tmp_path / f"{number}.parquet", row_group_size=4)
    paths = sorted(tmp_path.glob("*.parquet"))
    assert found(query.run(table, **order)) == wanted
    for once in (lambda: table.to_reader(7), lambda: iter(table.to_batches(7)), lambda: paths):
        assert found(query.run(once(), **order)) == wanted
        assert query.count(once(), **order) == len(wanted)
        assert query.hits(once(), **order)["position"].to_pylist() == sorted({end for _, end in wanted})
    stream, told = query.stream(**order), []
    for batch in batches(table, rng):
        told += stream.push(batch)
        stream = stored(stream, lambda state: query.stream(state=state, **order), rng)
    assert found([*told, *stream.close()]) == wanted
    given = numbered(table)
    task = task_of(query, given.schema, "run", order_by=["ts", ROW], event_id=ROW)
    parts = dealt(given, [["k"]], 2) if keyed else [given]
    listed = answer(task, [shuffled(part, rng) for part in parts], rng)
    local = query.run(given, order_by=["ts", ROW], event_id=ROW).to_arrow()
    assert listed == sorted(map(repr, local.select(task.result.names).to_pylist()))
    assert len(listed) == len(wanted)


def reference_answers(text: str, table: pa.Table) -> list[tuple[int, int]]:
    """Starts and ends, by the definition."""
    query = parse(text)
    assert isinstance(query, tree.SelectQuery)
    rows = zip(table["type"].to_pylist(), reference_events(table))
    events = [Event(kind, one.attributes) for kind, one in rows]
    return [(one.start, one.end) for one in evaluate(query, events, order="ts")]
