"""The case files that this version evaluates: the engine gives what they expect, in every way of asking."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest
from case_files import PATTERNS, Found, assert_answers, cases
from case_tables import found_by_engine, table_of
from engine_oracle import cuts, pieces
from snapshots import stored
from test_engine_random import tiny_pieces

import cer_gpu as cer

__all__ = ["tiny_pieces"]


def check(case: dict[str, Any], rng: Random) -> None:
    """Assert that batches, streams and every engine that takes the query give what the case expects."""
    query, table, order = cer.compile(case["query"]), table_of(case), case["order_by"]
    wanted = found_by_engine(query.run(table, order_by=order))
    assert_answers(case, wanted)
    for engine in [name for name, refusal in query._plan.said if refusal is None]:
        options = {"order_by": order, "engine": engine}
        assert found_by_engine(query.run(table, **options)) == wanted, engine
        assert query.count(table, **options) == len(wanted), engine
        ends = query.hits(table, **options)["position"].to_pylist()
        assert ends == sorted({row[1] for row in wanted}), engine
        reader = table.to_reader(max_chunksize=rng.choice((1, 2, 3)))
        assert found_by_engine(query.run(reader, **options)) == wanted, engine
        parts = pieces(table, cuts(rng, len(table)))
        assert sorted(pushed(query, parts, options, rng), key=repr) == sorted(wanted, key=repr), engine


def pushed(query: cer.Query, parts: list[pa.Table], options: dict[str, Any], rng: Random) -> list[Found]:
    """The complex events of a stream that is stored and continued now and then, and of its end."""
    stream, rows = query.stream(**options), []
    for part in parts:
        rows += found_by_engine(stream.push(part))
        stream = stored(stream, lambda state: query.stream(state=state, **options), rng)
    last = stream.close()
    return rows if last is None else rows + found_by_engine(last)


@pytest.mark.parametrize("family", PATTERNS)
def test_the_engine_gives_what_the_cases_expect(family: str) -> None:
    for case in cases(family):
        check(case, Random(case["id"]))


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.parametrize("family", PATTERNS)
def test_it_does_in_tiny_pieces_too(family: str) -> None:
    for case in cases(family):
        check(case, Random(f"tiny {case['id']}"))
