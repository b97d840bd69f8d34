"""`until`: the stream is known up to a time, and an answer is given only if nothing that comes changes it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from engine_oracle import OPTIONS, Row, cuts, found, pieces, select
from generate import ORDER, TYPES, pattern, query_around, stream, stream_to_table
from random_besides import with_besides
from random_formulas import formula
from snapshots import stored
from test_engine_selection import tiny_pieces  # noqa: F401

import cer_gpu as cer
from cer_gpu.errors import LimitError
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.logic.formulas import rebuild
from cer_gpu.reference.events import Event, Instant
from cer_gpu.reference.semantics import evaluate

SEEDS, QUERIES = 6, 25

EPOCH = datetime(1970, 1, 1)


def known_until(rng: Random, events: Sequence[Event]) -> int:
    """A time that no event is after, in ms."""
    return _ms(events[-1]) + rng.choice((0, 0, 1, 250, 499, 500, 1000, 1500, 3000))


def expected(query: tree.SelectQuery, events: Sequence[Event], until: int | None) -> list[Row]:
    """The answers that there are whatever comes."""
    at = None if until is None else Instant(until, "ms")
    answers = evaluate(select(to_text(query)), events, order=ORDER, until=at)
    return [(one.start, one.end, tuple(sorted(one.marks.items())), repr(one.partition)) for one in answers]


def answered(query: tree.SelectQuery, events: Sequence[Event], until: int, rng: Random) -> list[Row]:
    """What the engine answers, the same however it is asked."""
    table, compiled = stream_to_table(events), cer.compile(to_text(query))
    options: dict[str, Any] = {**OPTIONS, "until": EPOCH + timedelta(milliseconds=until)}
    rows = found(compiled.run(table, **options))
    assert compiled.count(table, **options) == len(rows)
    assert compiled.hits(table, **options)["position"].to_pylist() == sorted({row[1] for row in rows})
    parts = pieces(table, cuts(rng, len(events)))
    reader = pa.Table.from_batches([batch for part in parts for batch in part.to_batches()], table.schema)
    assert found(compiled.run(reader.to_reader(max_chunksize=rng.choice((1, 2, 5))), **options)) == rows
    pushed, given = compiled.stream(**options), []
    for part in parts:
        given += found(pushed.push(part))
        pushed = stored(pushed, partial(compiled.stream, **options), rng)
    last = pushed.close()
    assert sorted(given + ([] if last is None else found(last))) == sorted(rows)
    return rows


def drawn(rng: Random, number: int, strategy: tree.Strategy) -> tuple[tree.SelectQuery, list[Event], int]:
    inner = formula(rng, 1) if number % 3 == 0 else pattern(rng, atoms=3)
    query = query_around(rng, ahead(rng, with_besides(rng, inner)), strategy)
    events = stream(rng, rng.randrange(4, 13), lap_falls=rng.random() < 0.3)
    return query, events, known_until(rng, events)


def ahead(rng: Random, node: tree.Pattern) -> tree.Pattern:
    """The pattern, which mostly looks ahead."""
    made = rebuild(node, partial(ahead, rng))
    return replace(made, before=made.before and rng.random() < 0.3) if isinstance(made, tree.Beside) else made


def settles(query: tree.SelectQuery) -> bool:
    """Whether what is not known of an event can be taken for something."""
    outlooks = cer.compile(to_text(query))._plan.compiled.outlooks
    return all(one.doubt is not None for one in outlooks)


def surely(seed: str) -> None:
    """Assert that the engine answers what the reference is sure of."""
    answers, fewer, settled, finer, refused = 0, 0, 0, 0, 0
    for number in range(QUERIES):
        rng = Random(f"{seed} {number}")
        query, events, until = drawn(rng, number, tree.Strategy.ALL)
        query = replace(query, limit=None, consume=tree.Consume.NONE)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event ")
            try:
                rows = answered(query, events, until, rng)
            except LimitError:  # some random automata are over the budget
                refused += 1
                continue
        wanted = expected(query, events, until)
        if settles(query):
            assert set(rows) >= set(wanted)
            settled += 1
        if set(rows) > set(wanted):  # it is known that what is looked for never comes
            finer += 1
            assert all(
                set(rows) <= set(expected(query, continued(rng, events, until), None)) for _ in range(8)
            )
        else:
            assert rows == (wanted if settles(query) else sorted(rows, key=wanted.index))
        answers += len(rows) > 0
        fewer += len(rows) < len(expected(query, events, None))
    assert answers
    assert fewer or QUERIES < 25
    assert settled > QUERIES // 2
    assert finer <= 1
    assert refused <= QUERIES // 4


@pytest.mark.draws("seed", SEEDS)
def test_what_is_sure_is_answered(seed: int) -> None:
    surely(f"until {seed}")


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.draws("seed", SEEDS)
def test_it_is_in_tiny_pieces_too(seed: int) -> None:
    surely(f"until in pieces {seed}")


@pytest.mark.draws("seed", SEEDS)
def test_nothing_that_comes_takes_an_answer_away(seed: int) -> None:
    answers, refused = 0, 0
    for number in range(QUERIES):
        rng = Random(f"continued {seed} {number}")
        query, events, until = drawn(rng, number, rng.choice(list(tree.Strategy)))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event ")
            try:
                rows = answered(query, events, until, rng)
            except LimitError:
                refused += 1
                continue
        answers += len(rows) > 0
        for _ in range(4):
            more = continued(rng, events, until)
            assert set(rows) <= set(expected(query, more, None))
    assert answers
    assert refused <= QUERIES // 4


def continued(rng: Random, events: Sequence[Event], until: int) -> list[Event]:
    """The events, and some more after a time."""
    more = stream(rng, rng.randrange(5), types=TYPES)
    if not more:
        return list(events)
    shift = until + rng.choice((1, 250, 500, 1000)) - _ms(more[0])
    later = [
        replace(one, attributes={**one.attributes, ORDER: Instant(_ms(one) + shift, "ms")}) for one in more
    ]
    return [*events, *later]


def _ms(event: Event) -> int:
    time = event.attributes[ORDER]
    assert isinstance(time, Instant)
    return time.count
