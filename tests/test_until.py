"""`until`: the stream is known up to a time, and an answer is given only if nothing that comes changes it."""

from __future__ import annotations

import re
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
from cer_gpu.language.walk import rebuild
from cer_gpu.reference.events import Event, Instant
from cer_gpu.reference.semantics import evaluate

SEEDS, QUERIES = 6, 25

EPOCH = datetime(1970, 1, 1)

STRATEGIES = [tree.Strategy.ALL] * 6 + [tree.Strategy.NEXT, tree.Strategy.LAST, tree.Strategy.MAX]


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
        query, events, until = drawn(rng, number, rng.choice(STRATEGIES))
        query = replace(query, limit=None, consume=tree.Consume.NONE, suppress=None)
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
    assert fewer
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


# ------------------------------------------------------------------------------------------ some by hand


def ends(pattern: str, table: pa.Table, **options: Any) -> list[int]:
    """Where complex events of a pattern end, asked in two ways."""
    query = cer.compile(f"SELECT NONE WHERE {pattern}")
    found: list[int] = query.hits(table, order_by="ts", **options)["position"].to_pylist()
    given = query.stream(order_by="ts", **options)
    rows = [ce.end for part in (given.push(table), given.close()) for ce in part or ()]
    assert sorted(rows) == found
    return found


EVENTS = pa.table({"type": list("ABAACA"), "ts": [0, 4, 6, 20, 21, 22]})


@pytest.mark.parametrize(
    ("pattern", "until", "wanted"),
    [
        ("A NOT FOLLOWED BY [<= 10] B", None, [2, 3, 5]),
        ("A NOT FOLLOWED BY [<= 10] B", 22, [2]),
        ("A NOT FOLLOWED BY [<= 10] B", 29, [2]),
        ("A NOT FOLLOWED BY [<= 10] B", 30, [2, 3]),  # all events at 30 are known
        ("A NOT FOLLOWED BY [< 10] B", 29, [2, 3]),  # a time is a whole number
        ("A NOT FOLLOWED BY [<= 10] B", 32, [2, 3, 5]),
        ("A FOLLOWED BY [<= 10] B", 22, [0]),
        ("A NOT FOLLOWED BY B", 1000, []),  # one may come at any time
        ("A NOT FOLLOWED BY [<= 2 EVENTS] B", 1000, [2, 3]),  # no time brings two events
        ("(A NOT FOLLOWED BY [<= 10] B) OR C", 22, [2, 4]),  # the C rests on nothing
        ("A ; C UNLESS (A NOT FOLLOWED BY [<= 3] B)", 22, []),
        ("C UNLESS (C NOT FOLLOWED BY [<= 3] A)", 22, [4]),
        ("C UNLESS (C NOT FOLLOWED BY [<= 3] B)", 22, []),  # there may be none
        ("C UNLESS (C FOLLOWED BY [<= 3] B)", 22, []),  # there may be one
        ("C UNLESS (C FOLLOWED BY [<= 3] B)", 24, [4]),
        ("A NOT FOLLOWED BY [<= 10] (B NOT FOLLOWED BY [<= 1] A)", 22, [2]),
        ("A PRECEDED BY (A NOT FOLLOWED BY [<= 5] B)", 22, [3, 5]),
        ("LAST(A NOT FOLLOWED BY [<= 10] B)", 30, [2, 3]),
    ],
)
def test_until_a_time(pattern: str, until: int | None, wanted: list[int]) -> None:
    assert ends(pattern, EVENTS, until=until) == wanted
    times = pa.array([time * 1000 for time in EVENTS["ts"].to_pylist()], pa.timestamp("ms"))
    spans = re.sub(r"([<>]=?) (\d+)\]", r"\1 \2 s]", pattern)
    as_times = EVENTS.set_column(1, "ts", times)
    if "[< 10]" not in pattern:
        told = None if until is None else EPOCH + timedelta(seconds=until)
        assert ends(spans, as_times, until=told) == wanted


@pytest.mark.parametrize("kind", [pa.int32(), pa.uint64(), pa.float64(), pa.duration("s")])
def test_until_a_time_of_any_type(kind: pa.DataType) -> None:
    table = EVENTS.set_column(1, "ts", EVENTS["ts"].cast(pa.int64()).cast(kind))
    unit = " s" if pa.types.is_duration(kind) else ""
    pattern = f"A NOT FOLLOWED BY [<= 10{unit}] B"
    assert ends(pattern, table, until="29 s" if unit else 29) == [2]
    assert ends(pattern, table, until="30 s" if unit else 30) == [2, 3]
    if kind == pa.float64():
        assert ends("A NOT FOLLOWED BY [< 10] B", table, until=29.999) == [2]
        assert ends("A NOT FOLLOWED BY [< 10] B", table, until=30) == [2, 3]


def test_answers_of_one_end_that_share_what_follows() -> None:
    table = pa.table({"type": list("AABAAB"), "ts": [0, 1, 2, 20, 21, 22], "k": list("xxxyyy")})
    for text, wanted in (
        ("SELECT LAST * WHERE (A AS a ; B) NOT FOLLOWED BY [<= 5] A PARTITION BY k", [(1, 2)]),
        ("SELECT * WHERE (A AS a ; B) NOT FOLLOWED BY [<= 5] A PARTITION BY k LIMIT 1", [(0, 2)]),
        ("SELECT LAST * WHERE (A NOT FOLLOWED BY [<= 2] C) ; B PARTITION BY k", [(1, 2)]),
    ):
        query = cer.compile(text)
        assert [(ce.start, ce.end) for ce in query.run(table, order_by="ts", until=22)] == wanted
        assert len(list(query.run(table, order_by="ts", until=27))) == 2
    first = cer.compile("SELECT LAST * WHERE (A NOT FOLLOWED BY [<= 5] B) OR (A AS x) LIMIT 3")._plan
    whole = cer.compile("SELECT LAST * WHERE (A ; B) FOLLOWED BY B LIMIT 3")._plan
    assert [plan.compiled.outlooks[0].doubt for plan in (first, whole)] == [None, 0]


def test_a_row_after_it_is_an_error_that_names_it() -> None:
    query, table = cer.compile("SELECT * WHERE A PARTITION BY k"), EVENTS.append_column("k", EVENTS["type"])
    with pytest.raises(
        cer.DataError, match=r"row 5 of the table .* is after until=21: it has 22; leave such"
    ):
        query.count(table, order_by="ts", until=21)
    stream = query.stream(order_by="ts", until=21)
    assert len(list(stream.push(table.slice(0, 3)))) == 2
    with pytest.raises(cer.DataError, match=r"row 5 .* is after until=21"):
        stream.push(table.slice(3))
    assert len(list(stream.push(table.slice(3, 1)))) == 1


def test_it_is_when_it_comes_though_rows_wait() -> None:
    stream = cer.compile("SELECT * WHERE A").stream(order_by="ts", until=21, late=9)
    assert list(stream.push(EVENTS.slice(0, 3))) == []
    with pytest.raises(
        cer.DataError, match=r"row 5 .* is after until=21: it has 22; .* nothing of this batch"
    ):
        stream.push(EVENTS.slice(3))
    assert [ce.end for ce in stream.push(EVENTS.slice(3, 1))] == [0, 2]
    assert [ce.end for ce in stream.close() or ()] == [3]


def test_a_text_is_a_time_in_the_zone_of_the_column() -> None:
    times = pa.array([0, 60], pa.timestamp("s", "Europe/Berlin"))  # from one o'clock on
    table = pa.table({"type": ["A", "B"], "ts": times})
    assert ends("B NOT FOLLOWED BY [<= 5 min] A", table, until="1970-01-01T01:05") == []
    assert ends("B NOT FOLLOWED BY [<= 5 min] A", table, until="1970-01-01T01:06") == [1]
    assert ends("B NOT FOLLOWED BY [<= 5 min] A", table, until="1970-01-01T00:06Z") == [1]


def test_what_is_suppressed_over_the_whole_stream_waits_for_all_partitions() -> None:
    """The C is reported unless the A before it turns out to be, in another partition."""
    table = pa.table({"type": ["A", "C"], "k": ["x", "y"], "ts": [0, 1]})
    query = cer.compile(
        "SELECT * WHERE (A NOT FOLLOWED BY [<= 5] B) OR C PARTITION BY k SUPPRESS FOR 10 BY ANY"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [
            [(one.start, one.end) for one in query.run(table, order_by="ts", until=until)]
            for until in (1, 4, 5)
        ]
    assert found == [[], [], [(0, 0)]]
