"""Streams whose pushes cost what is new: the same answers however they are cut, and nothing kept in vain."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_oracle import OPTIONS
from generate import any_query, stream, stream_to_table, unary_query
from random_correlated import random_correlated
from random_rules import random_rule, random_rule_events

from cer_gpu.api import Query
from cer_gpu.engine.answers.matches import Matches
from cer_gpu.engine.machines.stream_state import StreamState
from cer_gpu.errors import DataError, LimitError, QueryError
from cer_gpu.language.printer import to_text

pytestmark = pytest.mark.filterwarnings("ignore:no event ")


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
    """Drop what is no longer open at every other event."""
    monkeypatch.setattr("cer_gpu.engine.machines.stream_state.LEAST", request.param)


@pytest.mark.parametrize("block", range(3))
def test_random_queries_in_random_batches(block: int, few: None) -> None:
    rng = Random(f"stream {block}")
    total = 0
    while total < 500:
        query = unary_query(rng)
        if query.window is None or query.window.kind != "attribute":
            total += check(to_text(query), stream_to_table(stream(rng, rng.randrange(20, 60))), rng)


@pytest.mark.parametrize("block", range(2))
def test_random_rules_in_random_batches(block: int, few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cer_gpu.engine.read.intake.REMEMBERED", 1)
    rng = Random(f"stream of rules {block}")
    total = 0
    while total < 1000:
        rule = random_rule(rng)
        if rule.window is None or rule.window.kind != "attribute":
            events = random_rule_events(rng, rule, rng.randrange(20, 60))
            total += check(to_text(rule), stream_to_table(events), rng)


@pytest.mark.parametrize("block", range(2))
def test_random_correlations_in_random_batches(block: int, few: None) -> None:
    rng = Random(f"stream of correlations {block}")
    total = 0
    while total < 300:
        query = random_correlated(rng)
        if query.window is None or query.window.kind != "attribute":
            total += check(to_text(query), stream_to_table(stream(rng, rng.randrange(20, 60))), rng)


@pytest.mark.parametrize("block", range(2))
def test_random_strategies_and_windows_over_attributes(block: int, few: None) -> None:
    rng = Random(f"stream of any query {block}")
    total = 0
    while total < 300:
        query = any_query(rng, atoms=3)
        total += check(to_text(query), stream_to_table(stream(rng, rng.randrange(10, 25))), rng, again=True)


QUERIES = [
    "SELECT a[price], b WHERE A AS a ; B AS b PARTITION BY key WITHIN 20 EVENTS",
    "SELECT * WHERE A ; B+ WITHIN 5 MILLISECONDS CONSUME BY ANY",
    "SELECT MAX * WHERE A ; B+ WITHIN 4 EVENTS",
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
    monkeypatch.setattr("cer_gpu.engine.run.stream.version", lambda: "0.0.1")
    with pytest.raises(DataError, match="stored with another version"):
        query.stream(state=state, **KEYWORDS)


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


def check(text: str, table: pa.Table, rng: Random, again: bool = False) -> int:
    """Assert that pushes give what a run over everything gives; the number of complex events.

    Parameters
    ----------
    again : bool
        Whether the query may be one that runs the open window again.
    """
    try:
        query = Query(text)
    except (QueryError, LimitError):
        return 0
    wanted = query.run(table, limit=3000, **OPTIONS).to_arrow().to_pylist()
    if len(wanted) == 3000:
        return 0
    rows: list[list[object]] = []
    late: list[tuple[int, Matches]] = []
    with ExitStack() as streams:
        pushed = streams.enter_context(query.stream(**OPTIONS))
        for part in cut(rng, table):
            if rng.random() < 0.05:
                pushed = streams.enter_context(query.stream(state=pushed.snapshot(), **OPTIONS))
            late.append((len(rows), pushed.push(part)))
            rows.append([])
            if rng.random() < 0.3:
                # What earlier pushes gave is asked for late, and in any order.
                rng.shuffle(late)
                while late:
                    at, matches = late.pop()
                    rows[at] = matches.to_arrow().to_pylist()
        assert pushed._state is None or again or isinstance(pushed._state, StreamState)
        for at, matches in late:
            rows[at] = matches.to_arrow().to_pylist()
    assert repr([row for part in rows for row in part]) == repr(wanted), text
    return len(wanted)


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("SELECT * WHERE A ; B", False),
        ("SELECT * WHERE NEXT(A ; B) ; A PARTITION BY key WITHIN 9 EVENTS", False),
        ("SELECT LAST * WHERE A ; B", False),
        ("Q(x) <- A(key = x), B(key = x) WITHIN 30 EVENTS", False),
        ("SELECT LAST * WHERE A ; B WITHIN 9 EVENTS", True),
        ("SELECT MAX * WHERE A ; B+ WITHIN 9 EVENTS", True),
        ("SELECT * WHERE A ; B WITHIN 5 [price]", True),
    ],
)
def test_explain_says_whether_a_push_runs_the_window_again(text: str, again: bool) -> None:
    said = "stream      each push runs the open window again"
    assert (said in Query(text).explain()) == again
    with Query(text).stream() as pushed:
        pushed.push(some_events(9))
        assert isinstance(pushed._state, StreamState) != again
