"""Streams whose pushes cost what is new: the same answers however they are cut, and nothing kept in vain."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_oracle import OPTIONS, expected, found
from generate import any_query, stream, stream_to_table, unary_query
from random_correlated import random_correlated
from random_ordered import random_chosen, random_ordered
from random_rules import random_rule, random_rule_events
from random_steps import has_gap
from snapshots import stored

from cer_gpu.api import Query
from cer_gpu.engine.answers.matches import Matches
from cer_gpu.engine.machines import open_runs
from cer_gpu.engine.machines.selection_stream import BestRuns
from cer_gpu.engine.machines.stream_state import StreamState
from cer_gpu.errors import DataError, LimitError, QueryError
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.reference.events import Event
from cer_gpu.reference.homomorphisms import answers


def cut(rng: Random, table: pa.Table) -> list[pa.Table]:
    """A table in batches of which most have one event or none."""
    parts, low = [], 0
    while low < len(table):
        size = rng.choice((0, 1, 1, 1, 2, 5))
        parts.append(table.slice(low, size))
        low += size
    return parts


@pytest.fixture(params=[1, 7])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drop what is no longer open at every other event, and follow a few events at a time."""
    monkeypatch.setattr("cer_gpu.engine.machines.stream_state.LEAST", request.param)
    monkeypatch.setattr("cer_gpu.engine.machines.stream_state.LOOK", request.param)
    monkeypatch.setattr(open_runs, "STEP", 2)


@pytest.mark.draws("block", 3)
def test_random_queries_in_random_batches(block: int, few: None) -> None:
    rng = Random(f"stream {block}")
    total = 0
    while total < 150:
        query = unary_query(rng)
        total += check(to_text(query), stream_to_table(stream(rng, rng.randrange(20, 60))), rng)
        total += check_by_reference(unary_query(rng, atoms=3), stream(rng, rng.randrange(5, 12)), rng)


@pytest.mark.draws("block", 2)
def test_random_rules_in_random_batches(block: int, few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cer_gpu.engine.read.eviction.REMEMBERED", 1)
    rng = Random(f"stream of rules {block}")
    total = 0
    while total < 350:
        rule = random_rule(rng)
        events = random_rule_events(rng, rule, rng.randrange(20, 60))
        total += check(to_text(rule), stream_to_table(events), rng)
        few_events = random_rule_events(rng, rule, rng.randrange(5, 12))
        wanted = list(answers(rule, few_events, order="ts"))
        pushed = pushed_rows(
            Query(to_text(rule)), stream_to_table(few_events), rng, {"order_by": "ts"},
            lambda matches: [answer.positions for answer in matches],
        )  # fmt: skip
        assert pushed == wanted, to_text(rule)
        total += len(wanted)


@pytest.mark.draws("block", 2)
def test_random_correlations_in_random_batches(block: int, few: None) -> None:
    rng = Random(f"stream of correlations {block}")
    total = 0
    while total < 150:
        query = random_correlated(rng)
        total += check(to_text(query), stream_to_table(stream(rng, rng.randrange(20, 60))), rng)
        total += check_by_reference(query, stream(rng, rng.randrange(5, 12)), rng)


@pytest.mark.parametrize("drawn", [random_ordered, random_chosen])
def test_random_ordered_lookups_in_random_batches(
    drawn: Callable[[Random], tree.SelectQuery], few: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cer_gpu.engine.machines.open_state.ROOM", 1)
    monkeypatch.setattr("cer_gpu.engine.machines.compared_stream.SPARE", 1)
    monkeypatch.setattr("cer_gpu.enumeration.open_comparisons.FEW", 1)
    rng = Random(f"stream of {drawn.__name__}")
    total, taken = 0, 0
    while taken < 25:
        query = drawn(rng)
        if not is_looked_up(query):
            continue
        taken += 1
        total += check(to_text(query), stream_to_table(stream(rng, rng.randrange(20, 40))), rng)
        total += check_by_reference(query, stream(rng, rng.randrange(5, 12)), rng)
    assert total > 50


def is_looked_up(query: tree.SelectQuery) -> bool:
    """Whether a query is answered by ordered look-ups."""
    try:
        return Query(to_text(query))._plan.engine == "ordered"
    except (QueryError, LimitError):
        return False


@pytest.mark.draws("block", 2)
def test_random_strategies_and_windows_over_attributes(block: int, few: None) -> None:
    rng = Random(f"stream of any query {block}")
    total = 0
    while total < 150:
        query = any_query(rng, atoms=3)
        total += check(to_text(query), stream_to_table(stream(rng, rng.randrange(10, 25))), rng)
        total += check_by_reference(query, stream(rng, rng.randrange(5, 12)), rng)


@pytest.mark.crossed
@pytest.mark.parametrize("strategy", ["NEXT", "LAST"])
@pytest.mark.parametrize("partition", ["", "PARTITION BY key"])
def test_the_best_of_each_end(
    strategy: str, partition: str, few: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cer_gpu.engine.machines.selection_stream.ROOM", 2)
    monkeypatch.setattr("cer_gpu.engine.machines.open_state.ROOM", 2)
    rng = Random(f"{strategy} {partition}")
    total = 0
    for pattern in ("A ; B", "A ; B+ ; A", "A+ : B", "(A ; B) OR (B ; B ; A)", "A ; NOT (A) ; B ; B"):
        for window in ("0 EVENTS", "3 EVENTS", "7 EVENTS", "20 MILLISECONDS", "50 EVENTS"):
            text = f"SELECT {strategy} * WHERE {pattern} {partition} WITHIN {window}"
            events = some_events(120)
            times = np.cumsum([rng.choice((0, 0, 1, 5, 30)) for _ in range(120)])
            total += check(text, events.set_column(1, "ts", pa.array(times)), rng, KEYWORDS)
            with Query(text).stream(**KEYWORDS) as pushed:
                pushed.push(events)
                assert isinstance(pushed._state._runs, BestRuns) or "NOT" in pattern
    assert total > 300


QUERIES = [
    "SELECT a[price], b WHERE A AS a ; B AS b PARTITION BY key WITHIN 20 EVENTS",
    "SELECT * WHERE A ; B+ WITHIN 5 MILLISECONDS CONSUME BY ANY",
    "SELECT MAX * WHERE A ; B+ WITHIN 4 EVENTS",
    "SELECT MAX * WHERE A+ ; B WITHIN 4 EVENTS",
    "SELECT NEXT * WHERE A ; B ; A PARTITION BY key WITHIN 9 EVENTS",
    "SELECT LAST * WHERE A ; B ; A WITHIN 9 MILLISECONDS",
    "SELECT * WHERE A ; B PARTITION BY key WITHIN 0.2 [price]",
    "SELECT * WHERE (A UNLESS B) ; B WITHIN 9 EVENTS",
    "Q(x) <- A(key = x), B(key = x) WITHIN 30 EVENTS",
]


def some_events(count: int) -> pa.Table:
    rng = Random(5)
    return pa.table(
        {
            "type": [rng.choice("AB") for _ in range(count)],
            "ts": range(count),
            "key": [rng.choice(["x", "y", None]) for _ in range(count)],
            "price": [rng.random() for _ in range(count)],
        }
    )


KEYWORDS = {"order_by": "ts", "order_unit": "ms"}


def test_another_process_goes_on_with_a_state(tmp_path: Path) -> None:
    events = some_events(60)
    pq.write_table(events, tmp_path / "events.parquet")
    wanted = []
    for number, text in enumerate(QUERIES):
        with Query(text).stream(**KEYWORDS) as pushed:
            pushed.push(events.slice(0, 31))
            (tmp_path / f"{number}.state").write_bytes(pushed.snapshot())
            wanted.append(repr(pushed.push(events.slice(31)).to_arrow().to_pylist()))
    assert all(len(rows) > 10 for rows in wanted)
    code = f"""
import sys
from pathlib import Path
import pyarrow.parquet as pq
import cer_gpu as cer
folder = Path(sys.argv[1])
events = pq.read_table(folder / "events.parquet")
for number, text in enumerate({QUERIES!r}):
    state = (folder / f"{{number}}.state").read_bytes()
    with cer.compile(text).stream(state=state, **{KEYWORDS!r}) as pushed:
        print(pushed.push(events.slice(31)).to_arrow().to_pylist())
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == wanted


def test_a_state_that_does_not_fit_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    query = Query(QUERIES[0])
    with query.stream(**KEYWORDS) as pushed:
        fresh = pushed.snapshot()
        pushed.push(some_events(9))
        state = pushed.snapshot()
    with pytest.raises(DataError, match="the stream is closed"):
        pushed.snapshot()
    with query.stream(state=fresh, **KEYWORDS) as pushed:
        assert pushed.push(some_events(30)).to_arrow().num_rows
    for damaged in (state[:-1], state[:300], state[:700] + b"!" + state[701:], state + b"!"):
        with pytest.raises(DataError, match="damaged or cut short"):
            query.stream(state=damaged, **KEYWORDS)
    for odd in (b"", b"PK", "text"):
        with pytest.raises(DataError, match="snapshot"):
            query.stream(state=odd, **KEYWORDS)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="stored with another query"):
        Query(QUERIES[1]).stream(state=state, **KEYWORDS)
    with pytest.raises(DataError, match="stored with another order_by"):
        query.stream(state=state)
    with (
        query.stream(state=state, **KEYWORDS) as pushed,
        pytest.raises(DataError, match="`other` is new"),
    ):
        pushed.push(some_events(9).append_column("other", some_events(9)["ts"]))
    monkeypatch.setattr("cer_gpu.engine.run.stream_identity.own_version", lambda: "0.0.1")
    with pytest.raises(DataError, match="stored with another version"):
        query.stream(state=state, **KEYWORDS)


@pytest.mark.crossed
@pytest.mark.parametrize("strategy", ["ALL", "NEXT", "LAST", "MAX"])
@pytest.mark.parametrize("kind", ["float64", "int64"])
def test_windows_over_attributes_of_extreme_values(strategy: str, kind: str, few: None) -> None:
    rng = Random(f"{strategy} {kind}")
    values: list[float | int | None] = [None, 0, 1, 2, 3, 4, 5]
    if kind == "float64":
        values += [math.inf, -math.inf, math.nan, 0.1, 0.30000000000000004, -0.0, 1e308, -1e308, 5e-324]
    else:
        values += [2**63 - 1, -(2**63), 2**62, -(2**62)]
    total = 0
    for partition in ("", "PARTITION BY key"):
        for consume in ("", "CONSUME BY ANY", "CONSUME BY PARTITION"):
            size = rng.choice(("0", "2", "1" + 18 * "0") + ("0.2",) * (kind == "float64"))
            events = some_events(40)
            column = pa.array([rng.choice(values) for _ in range(40)], pa.type_for_alias(kind))
            events = events.set_column(events.schema.get_field_index("price"), "price", column)
            text = f"SELECT {strategy} * WHERE A ; B+ {partition} WITHIN {size} [price] {consume} LIMIT 9"
            total += check(text, events, rng, {})
    assert total > 10


FOLLOWED = {
    "all": "SELECT * WHERE A ; B WITHIN 9 EVENTS",
    "best": "SELECT LAST * WHERE A ; B WITHIN 9 EVENTS",
    "attribute": "SELECT * WHERE A ; B WITHIN 9 [price]",
    "join": "SELECT * WHERE A AS a ; B AS b FILTER a.price = b.price WITHIN 9 EVENTS",
}


@pytest.mark.parametrize("text", FOLLOWED.values(), ids=FOLLOWED)
def test_a_large_push_can_be_interrupted(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stops now and then, shows how far it is, and an interrupt there closes the stream."""
    monkeypatch.setattr(open_runs, "STEP", 10)
    shown: list[tuple[int, int]] = []

    def show(phase: str, done: int, total: int) -> None:
        if phase != "following partial matches":
            return  # a kernel is compiled
        shown.append((done, total))
        if len(shown) == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(open_runs.progress, "show", show)
    events = pa.table({"type": list("AB") * 18, "price": np.arange(36.0) % 3})
    with Query(text).stream() as pushed:
        pushed.push(events.slice(0, 35)).to_arrow()
        assert shown == [(10, 35), (20, 35), (30, 35)]
        pushed.push(events.slice(35)).to_arrow()
        assert len(shown) == 3
        with pytest.raises(KeyboardInterrupt):
            pushed.push(events)
        with pytest.raises(DataError, match="closed"):
            pushed.push(events)


def test_what_is_kept_is_a_copy() -> None:
    text = "SELECT a[price], b WHERE A AS a ; B AS b WITHIN 9 EVENTS"
    prices = np.zeros(1)
    with Query(text).stream() as pushed:
        for price in range(5):
            prices[0] = price  # in the memory of the batches before
            column = pa.Array.from_buffers(pa.float64(), 1, [None, pa.py_buffer(prices)])
            pushed.push(pa.record_batch({"type": pa.array(["A"]), "price": column}))
        last = pushed.push(pa.record_batch({"type": pa.array(["B"]), "price": pa.array([9.0])}))
    found = last.to_arrow()
    assert found["a[price]"].to_pylist() == [[{"price": float(price)}] for price in range(5)]


def test_what_has_left_every_window_is_freed() -> None:
    text = "SELECT a[price], b WHERE A AS a ; B AS b WITHIN 50 EVENTS"
    events = some_events(200)
    with Query(text).stream() as pushed:
        sizes = []
        for _ in range(200):
            pushed.push(events)
            sizes.append(pushed._state.nbytes)
        assert max(sizes[100:]) <= max(sizes[:100])
        assert len(pushed.snapshot()) < 50_000


def check(text: str, table: pa.Table, rng: Random, options: dict[str, Any] = OPTIONS) -> int:
    """Assert that pushes give what a run over everything gives; the number of complex events.

    Parameters
    ----------
    options : dict
        How the events are read.
    """
    try:
        query = Query(text)
    except (QueryError, LimitError):
        return 0
    wanted = query.run(table, limit=3000, **options).to_arrow().to_pylist()
    if len(wanted) == 3000:
        return 0
    rows = pushed_rows(query, table, rng, options, lambda matches: matches.to_arrow().to_pylist())
    assert repr(rows) == repr(wanted), text
    return len(wanted)


def pushed_rows(
    query: Query,
    table: pa.Table,
    rng: Random,
    options: dict[str, Any],
    rows_of: Callable[[Matches], list[Any]],
) -> list[Any]:
    """What pushes of a few events each give, read sooner or later, with the stream stored now and then."""
    rows: list[list[Any]] = []
    late: list[tuple[int, Matches]] = []
    with ExitStack() as streams:
        pushed = streams.enter_context(query.stream(**options))
        for part in cut(rng, table):
            pushed = stored(
                pushed,
                lambda state: streams.enter_context(query.stream(state=state, **options)),
                rng,
                often=0.1,
            )
            late.append((len(rows), pushed.push(part)))
            rows.append([])
            if rng.random() < 0.3:
                # What earlier pushes gave is asked for late, and in any order.
                rng.shuffle(late)
                while late:
                    at, matches = late.pop()
                    rows[at] = rows_of(matches)
        if not costs_a_window(query):
            assert pushed._state is None or isinstance(pushed._state, StreamState)
        for at, matches in late:
            rows[at] = rows_of(matches)
    return [row for part in rows for row in part]


def costs_a_window(query: Query) -> bool:
    """Whether each push runs the open window again: for intervals, CONSUME by values."""
    again = query._plan.compiled.pushes_run_again
    statement = query._tree
    timed = isinstance(statement, tree.SelectQuery) and has_gap(statement.pattern)
    assert not again or timed or ("CONSUME" in query.text and "[" in query.text)
    return again


def check_by_reference(query: tree.SelectQuery, events: Sequence[Event], rng: Random) -> int:
    """Assert that pushes give what the reference semantics does; the number of complex events."""
    try:
        compiled = Query(to_text(query))
    except (QueryError, LimitError):
        return 0
    wanted = expected(query, events)
    assert pushed_rows(compiled, stream_to_table(events), rng, OPTIONS, found) == wanted, to_text(query)
    return len(wanted)


NEW = "a push costs only what is new in it, however many partial matches are open"

LOGARITHM = "a push costs what is new in it, times the logarithm of the open partial matches"

FILTERED = ";\nwhere the attribute falls, an end also looks through matches outside its window"

LISTED = (
    ";\nlisting the matches of an end runs the relevant events of its window again, one step each, "
    "since the choice depends on all matches that begin in the window"
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT * WHERE A ; B", NEW),
        ("SELECT * WHERE NEXT(A ; B) ; A PARTITION BY key WITHIN 9 EVENTS", NEW),
        ("SELECT LAST * WHERE A ; B", NEW),
        ("Q(x) <- A(key = x), B(key = x) WITHIN 30 EVENTS", NEW),
        ("SELECT LAST * WHERE A ; B WITHIN 9 EVENTS", NEW),
        ("SELECT LAST * WHERE A ; B WITHIN 9 EVENTS CONSUME BY ANY", f"{NEW}{LISTED}"),
        ("SELECT MAX * WHERE A+ ; B WITHIN 9 EVENTS", f"{NEW}{LISTED}"),
        ("SELECT MAX * WHERE A ; B+ WITHIN 9 EVENTS", NEW),
        ("SELECT * WHERE A ; B WITHIN 5 [price]", LOGARITHM),
        ("SELECT NEXT * WHERE A ; B WITHIN 5 [price]", f"{LOGARITHM}{LISTED}"),
        ("Q(x) <- A(key = x), B(key = x) WITHIN 5 [price]", f"{LOGARITHM}{FILTERED}"),
        (
            "SELECT * WHERE A AS a ; B AS b FILTER b.price > a.price WITHIN 9 EVENTS",
            LOGARITHM,
        ),
        (
            "SELECT * WHERE A AS a ; B AS b ; A FILTER a.key = b.key WITHIN 5 [price] CONSUME BY ANY",
            "each push runs the open window again",
        ),
    ],
)
def test_explain_says_what_a_push_costs(text: str, said: str) -> None:
    lines = Query(text).explain(verbose=True).splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("stream "))
    assert "\n".join(line[12:] for line in lines[first:]) == said
    with Query(text).stream() as pushed:
        pushed.push(some_events(9))
        assert isinstance(pushed._state, StreamState) == (not said.startswith("each push"))


@pytest.mark.parametrize("size", [11, 97, 700])
def test_many_answers_of_two_compared_events_in_a_window_that_falls(size: int) -> None:
    """An end may admit an earlier start than the ends before it: what has left the window comes back."""
    query = Query("SELECT * WHERE A AS x ; B AS y FILTER x.v < y.v WITHIN 5 [price]")
    for seed in range(3):
        rng, n = np.random.default_rng(seed), 700
        table = pa.table(
            {
                "type": rng.choice(list("ABC"), n),
                "ts": np.cumsum(rng.integers(0, 5, n)),
                "v": rng.integers(-5, 5, n),
                "price": rng.integers(0, 40, n),
            }
        )
        stream = query.stream(order_by="ts")
        pushed = [stream.push(table.slice(low, size)).to_arrow() for low in range(0, n, size)]
        assert pa.concat_tables(pushed).equals(query.run(table, order_by="ts").to_arrow())
