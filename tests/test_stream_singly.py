"""Events pushed to a stream one at a time: they are read by their values, and give what a run gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from cer_gpu.api import Query
from cer_gpu.engine.machines import open_runs
from cer_gpu.engine.read.intake import Intake
from cer_gpu.engine.read.single_events import SingleEvent
from cer_gpu.errors import DataError

KEYWORDS = {"order_by": "ts", "order_unit": "ms"}


@pytest.mark.parametrize("coded", [False, True])
def test_events_pushed_one_by_one_with_nulls_and_new_texts(coded: bool) -> None:
    rng = Random(7)
    kinds = ["A", "B", "other", None, *(f"type {number}" for number in range(20))]
    events = pa.table(
        {
            "type": pa.array([rng.choice(kinds[: rng.choice((2, 2, 24))]) for _ in range(400)]),
            "ts": range(400),
            "price": [rng.choice((None, 1.5, 2)) for _ in range(400)],
            "name": [rng.choice((None, "x", "y")) for _ in range(400)],
            "flag": [rng.choice((None, True, False)) for _ in range(400)],
        }
    )
    text = "SELECT a[price, name, flag], b[flag] WHERE A AS a ; B AS b WITHIN 6 EVENTS"
    wanted = Query(text).run(events).to_arrow().to_pylist()
    found: list[object] = []
    with Query(text).stream() as pushed:
        for at in range(400):
            # Each event in arrays of its own, as they come from elsewhere.
            row = pa.Table.from_pylist(events.slice(at, 1).to_pylist(), schema=events.schema)
            if coded:
                row = row.set_column(0, "type", row["type"].dictionary_encode())
            found += pushed.push(row).to_arrow().to_pylist()
    assert found == wanted
    assert len(wanted) > 100


SINGLY = [
    "SELECT * WHERE A ; B WITHIN 9 EVENTS",
    "SELECT a[price], b WHERE A AS a ; B AS b FILTER a[price > 1] AND b[NOT price IS NULL] WITHIN 9 EVENTS",
    "SELECT * WHERE A AS a ; B AS b FILTER a[price * 2 > 2] WITHIN 9 EVENTS",
    "SELECT * WHERE A AS a ; B AS b FILTER a[name = 'x'] AND b[flag = true] WITHIN 5 SECONDS",
    "SELECT a[name], b WHERE A AS a ; B AS b PARTITION BY key WITHIN 9 EVENTS",
    "SELECT * WHERE A AS a ; B AS b FILTER a[name = 'x' OR name IS NULL] AND b[name != key] WITHIN 9 EVENTS",
    "SELECT * WHERE A : B PARTITION BY key, price WITHIN 4 SECONDS",
    "SELECT * WHERE A ; B PARTITION BY key WITHIN 2 [price] CONSUME BY PARTITION",
    "SELECT LAST * WHERE A ; B ; A WITHIN 9 EVENTS",
    "SELECT NEXT * WHERE (A UNLESS B) ; B PARTITION BY key WITHIN 9 EVENTS",
    "Q(x) <- A(key = x), B(key = x) WITHIN 9 EVENTS",
    "SELECT * WHERE A AS a ; B AS b FILTER a.price = b.price AND a.key = b.key WITHIN 90 EVENTS",
    "SELECT * WHERE A AS a ; B AS b : A AS c FILTER a.key = b.key WITHIN 9 EVENTS",
    "SELECT * WHERE A ;[<= 2 s] B ;[>= 1 s] A WITHIN 9 EVENTS",
    "SELECT MAX * WHERE (A OR B)+[<= 1 s] PARTITION BY key",
    "SELECT * WHERE (A ; B) WITHIN [<= 2 s] PARTITION BY key",
    "SELECT * WHERE ((A ; B) WITHIN [<= 2 s] ; A) WITHIN [<= 3 s] PARTITION BY key",
]


MERGED = ["price * 2", "a[name]", "Q(x)"]
"""Arithmetic, and texts that are kept, are read from tables that are merged."""


def events_of_all_kinds(rng: Random, count: int) -> pa.Table:
    """Events with nulls, NaN, infinities and both zeros, in the order of time for each key."""
    prices = [None, 0.0, -0.0, 1.0, 1.5, 2.0, math.nan, math.inf, -math.inf]
    clock = dict.fromkeys("xyz", 0)
    rows = []
    for _ in range(count):
        key = rng.choice("xyz")
        clock[key] += rng.choice((0, 1, 1000))
        rows.append(
            {
                "type": rng.choice("AABBN"),
                "ts": clock[key],
                "key": rng.choice((key, key, key, None)),
                "price": rng.choice(prices),
                "name": rng.choice(("x", "y", None)),
                "flag": rng.choice((True, False, None)),
            }
        )
    return pa.Table.from_pylist(rows)


def by_type(events: pa.Table) -> dict[str, pa.Table]:
    """A table for each type; those of N lack a column."""
    types = events["type"].to_pylist()
    found = {
        name: events.filter(pa.array([one == name for one in types])).drop_columns("type") for name in "ABN"
    }
    return {**found, "N": found["N"].drop_columns("name")}


def what_was_read(monkeypatch: pytest.MonkeyPatch) -> list[SingleEvent | bool]:
    """What came of each try to read a pushed event by its values; False where it had to be read as others."""
    read: list[SingleEvent | bool] = []
    singly = Intake.singly

    def noted(of: Intake, *arguments: Any) -> SingleEvent | bool:
        read.append(singly(of, *arguments))
        return read[-1]

    monkeypatch.setattr(Intake, "singly", noted)
    return read


def pushed_and_wanted(
    query: Query, events: pa.Table, sizes: Iterable[int], given: Callable[[pa.Table], Any]
) -> tuple[list[object], list[object], int]:
    """What events give that are pushed in batches of some rows; what a run gives; how many before the end.

    Parameters
    ----------
    query : Query
    events : pyarrow.Table
    sizes : iterable of int
        How many rows each batch has.
    given : callable
        What is pushed of some rows.
    """
    wanted = query.run(events, **KEYWORDS).to_arrow().to_pylist()
    got: list[object] = []
    stream, at = query.stream(**KEYWORDS), 0
    for rows in sizes:
        got += stream.push(given(events.slice(at, rows))).to_arrow().to_pylist()
        at += rows
    assert at == len(events)
    early, last = len(got), stream.close()
    if last is not None:
        got += last.to_arrow().to_pylist()
    return got, wanted, early


@pytest.mark.crossed
@pytest.mark.parametrize("text", SINGLY)
@pytest.mark.parametrize("kind", ["batch", "table", "coded", "tables by type"])
def test_single_events_are_read_by_their_values(
    text: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly all of them; and what they give is what a run over all gives."""
    read = what_was_read(monkeypatch)
    rng = Random(text)
    events = events_of_all_kinds(rng, 160)
    if "PARTITION" not in text:
        events = events.sort_by("ts")
    if kind == "coded":
        events = events.set_column(0, "type", events["type"].dictionary_encode())

    def given(row: pa.Table) -> Any:
        if kind == "batch":
            return row.to_batches()[0]
        return by_type(row) if kind == "tables by type" else row

    got, wanted, _ = pushed_and_wanted(Query(text), events, [1] * 160, given)
    assert repr(got) == repr(wanted)
    assert len(wanted) > 4
    if kind != "tables by type" or not any(one in text for one in MERGED):
        assert sum(one is not False for one in read) > 50


@pytest.mark.parametrize("partition", ["", "PARTITION BY key"])
def test_a_single_event_out_of_order_is_refused_as_in_a_run(partition: str) -> None:
    query = Query(f"SELECT * WHERE A ; B {partition} WITHIN 9 EVENTS")
    events = pa.table({"type": list("AABAB"), "ts": [3, 5, 4, 6, 5], "key": list("xyxyy")})
    with pytest.raises(DataError) as refused:
        query.run(events, **KEYWORDS).to_arrow()
    last = 4 if partition else 2
    with query.stream(**KEYWORDS) as pushed:
        for at in range(last):
            pushed.push(events.slice(at, 1))
        with pytest.raises(DataError) as refused_singly:
            pushed.push(events.slice(last, 1))
    where, _, remedy = str(refused_singly.value).rpartition("; ")
    assert where == str(refused.value).replace(" of the table", "").rpartition("; ")[0]
    assert remedy.startswith("nothing of this batch was used, and the stream continues")


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("Q(x) <- A(k = x), B(k = x), C(k = x) WITHIN 1000 [v]", 0),
        ("SELECT * FROM S WHERE A ; B ; C WITHIN 1000 [v]", 0),
        ("SELECT * FROM S WHERE A AS a ; B AS b ; C AS c FILTER c.v > a.v + b.v WITHIN 1000 EVENTS", 59),
    ],
)
def test_only_a_machine_that_reads_values_is_given_a_table_of_a_single_event(
    monkeypatch: pytest.MonkeyPatch, text: str, tables: int
) -> None:
    """To make the table of one row takes a sixth of a push."""
    made: list[int] = []

    def table_of(*given: Any) -> pa.Table:
        made.append(1)
        return whole(*given)

    whole = open_runs.table_of
    monkeypatch.setattr(open_runs, "table_of", table_of)
    rows = [{"type": "AB"[at % 2], "k": at % 5, "v": at} for at in range(60)]
    with Query(text).stream() as stream:
        for row in rows:
            batch = pa.RecordBatch.from_pylist([row])
            stream.push(batch)
    assert len(made) == tables
