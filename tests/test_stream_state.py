"""Streams whose pushes cost what is new: the same answers however they are cut, and nothing kept in vain."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest
from engine_oracle import OPTIONS
from generate import stream, stream_to_table, unary_query
from random_correlated import random_correlated
from random_rules import random_rule, random_rule_events

from cer_gpu.api import Query
from cer_gpu.engine.answers.matches import Matches
from cer_gpu.engine.machines.stream_state import StreamState
from cer_gpu.errors import QueryError
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
    while total < 3000:
        rule = random_rule(rng)
        if rule.window is None or rule.window.kind != "attribute":
            events = random_rule_events(rng, rule, rng.randrange(20, 60))
            total += check(to_text(rule), stream_to_table(events), rng)


@pytest.mark.parametrize("block", range(2))
def test_random_correlations_in_random_batches(block: int, few: None) -> None:
    rng = Random(f"stream of correlations {block}")
    total = 0
    while total < 1500:
        query = random_correlated(rng)
        if query.window is None or query.window.kind != "attribute":
            total += check(to_text(query), stream_to_table(stream(rng, rng.randrange(20, 60))), rng)


def check(text: str, table: pa.Table, rng: Random) -> int:
    """Assert that pushes give what a run over everything gives; the number of complex events."""
    try:
        query = Query(text)
    except QueryError:
        return 0
    wanted = query.run(table, limit=3000, **OPTIONS).to_arrow().to_pylist()
    if len(wanted) == 3000:
        return 0
    rows: list[list[object]] = []
    late: list[tuple[int, Matches]] = []
    with query.stream(**OPTIONS) as pushed:
        for part in cut(rng, table):
            late.append((len(rows), pushed.push(part)))
            rows.append([])
            if rng.random() < 0.3:
                # What earlier pushes gave is asked for late, and in any order.
                rng.shuffle(late)
                while late:
                    at, matches = late.pop()
                    rows[at] = matches.to_arrow().to_pylist()
        assert pushed._state is None or isinstance(pushed._state, StreamState)
        for at, matches in late:
            rows[at] = matches.to_arrow().to_pylist()
    assert repr([row for part in rows for row in part]) == repr(wanted), text
    return len(wanted)
