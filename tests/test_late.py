"""Rows that come late (`late`, `on_late`), and streams that are told that time has passed (`advance`)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from engine_oracle import OPTIONS, Row, cuts, expected, found, pieces
from generate import ORDER, pattern, query_around, stream, stream_to_table
from random_besides import with_besides
from random_formulas import formula
from snapshots import stored

import cer_gpu as cer
from cer_gpu.cli import status_of
from cer_gpu.errors import LimitError
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.reference.events import Event, Instant

SEEDS, QUERIES = 6, 12

SPANS = (0, 250, 500, 1000, 2500, 5000)


def ms(event: Event) -> int:
    """The time of an event."""
    time = event.attributes[ORDER]
    assert isinstance(time, Instant)
    return time.count


def as_they_come(rng: Random, events: Sequence[Event], late: int) -> list[Event]:
    """The events out of order, none after one that is more than so much later."""
    return sorted(events, key=lambda one: ms(one) + rng.randrange(late + 1))


def in_time(events: Sequence[Event], late: int) -> list[Event]:
    """Those that are not too late."""
    kept, greatest = [], 0
    for one in events:
        if ms(one) >= greatest - late:
            kept.append(one)
            greatest = max(greatest, ms(one))
    return kept


def drawn(rng: Random, number: int) -> tuple[tree.SelectQuery, list[Event]]:
    inner = formula(rng, 1) if number % 3 == 0 else pattern(rng, atoms=3)
    if number % 2:
        inner = with_besides(rng, inner)
    strategy = rng.choice(list(tree.Strategy)) if rng.random() < 0.3 else tree.Strategy.ALL
    return query_around(rng, inner, strategy), stream(rng, rng.randrange(4, 13))


def pushed(
    compiled: cer.Query, parts: Sequence[pa.Table], rng: Random, advances: bool, **options: Any
) -> list[Row]:
    """The complex events of a stream that is stored, continued and advanced now and then."""
    given = compiled.stream(**options)
    rows: list[Row] = []
    for number, part in enumerate(parts):
        if advances and rng.random() < 0.5:
            times = [time for one in parts[number:] for time in one[ORDER].to_pylist()]
            if times:
                told = given.advance(min(times))
                rows += [] if told is None else found(told)
        rows += found(given.push(part))
        given = stored(given, partial(compiled.stream, **options), rng)
    if advances and rng.random() < 0.3:
        told = given.advance("2100-01-01")
        rows += [] if told is None else found(told)
    last = given.close()
    return rows if last is None else rows + found(last)


@pytest.mark.draws("seed", SEEDS)
def test_rows_that_come_late_are_put_in_order(seed: int) -> None:
    answered = 0
    for number in range(QUERIES):
        rng = Random(f"late {seed} {number}")
        query, events = drawn(rng, number)
        late = rng.choice(SPANS)
        come = as_they_come(rng, events, late)
        drops = rng.random() < 0.4
        if drops:
            late = rng.choice(SPANS)
        wanted = expected(query, sorted(in_time(come, late), key=ms))
        options: dict[str, Any] = {**OPTIONS, "late": f"{late} ms", "on_late": "drop" if drops else "error"}
        table = stream_to_table(come)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event |.* left out")
            try:
                compiled = cer.compile(to_text(query))
                assert found(compiled.run(table, **options)) == wanted
            except LimitError:  # some random automata are over the budget
                continue
            assert compiled.count(table, **options) == len(wanted)
            hits = compiled.hits(table, **options)["position"].to_pylist()
            assert hits == sorted({row[1] for row in wanted})
            parts = pieces(table, cuts(rng, len(come)))
            reader = pa.Table.from_batches(
                [batch for part in parts for batch in part.to_batches()], table.schema
            )
            size = rng.choice((1, 2, 5))
            assert found(compiled.run(reader.to_reader(max_chunksize=size), **options)) == wanted
            rows = pushed(compiled, parts, rng, advances=False, **options)
            assert sorted(rows) == sorted(wanted)
            if not drops:
                assert sorted(pushed(compiled, parts, rng, advances=True, **options)) == sorted(wanted)
        answered += bool(wanted)
    assert answered


@pytest.mark.draws("seed", SEEDS)
def test_a_stream_that_advances_gives_the_same(seed: int) -> None:
    answered = 0
    for number in range(1, 4 * QUERIES, 2):
        rng = Random(f"advance {seed} {number}")
        query, events = drawn(rng, number)
        wanted, table = expected(query, events), stream_to_table(events)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event ")
            try:
                rows = pushed(
                    cer.compile(to_text(query)), pieces(table, cuts(rng, len(events))), rng, True, **OPTIONS
                )
            except LimitError:
                continue
        assert sorted(rows) == sorted(wanted)
        answered += bool(wanted)
    assert answered


# ------------------------------------------------------------------------------------------ some by hand


def rows_of(*events: tuple[str, int]) -> pa.Table:
    """Events of a type, at a time."""
    types, times = zip(*events, strict=True)
    return pa.table({"type": types, "ts": pa.array(times, pa.int64())})


def ends(matches: object) -> list[int]:
    return [ce.end for ce in matches]  # type: ignore[attr-defined]


def test_rows_wait_until_no_earlier_one_can_come() -> None:
    stream = cer.compile("SELECT * WHERE A ; B").stream(order_by="ts", late=2)
    assert ends(stream.push(rows_of(("A", 10), ("B", 12)))) == []
    assert ends(stream.push(rows_of(("A", 11), ("X", 13)))) == []  # a row at 11 may come
    assert ends(stream.push(rows_of(("X", 14)))) == [2, 2]
    assert ends(stream.push(rows_of(("B", 13)))) == []
    assert ends(stream.close() or []) == [4, 4]


def test_a_row_that_is_too_late_is_an_error_that_names_it() -> None:
    stream = cer.compile("SELECT * WHERE A ; B").stream(order_by="ts", late=2)
    stream.push(rows_of(("A", 10), ("B", 12)))
    with pytest.raises(
        cer.DataError, match=r"row 3 \(counted from 0\) comes too late: it has 9, and 12 came"
    ):
        stream.push(rows_of(("A", 11), ("A", 9)))
    assert ends(stream.push(rows_of(("A", 11)))) == []  # nothing of that batch was taken
    assert ends(stream.close() or []) == [2, 2]


def test_rows_that_are_too_late_are_left_out_and_counted() -> None:
    table = rows_of(("A", 10), ("B", 12), ("A", 9), ("B", 20))
    query = cer.compile("SELECT * WHERE A ; B")
    matches = query.run(table, order_by="ts", late=2, on_late="drop")
    with pytest.warns(UserWarning, match="1 row was left out: later than late=2"):
        assert ends(matches) == [1, 2]
    assert any("1 row was left out" in note for note in matches.notes)
    assert matches.events()["row"].to_pylist() == [0, 1, 0, 3]
    stream = query.stream(order_by="ts", late=2, on_late="drop")
    given = stream.push(table)
    assert any("1 row was left out" in note for note in given.notes)
    last = query.stream(stream.snapshot(), order_by="ts", late=2, on_late="drop").close()
    assert last is not None
    assert ends(given) + ends(last) == [1, 2]
    assert [one for part in (given, last) for one in part.events()["row"].to_pylist()] == [0, 1, 0, 3]


def test_the_row_of_a_file_is_named() -> None:
    table = rows_of(("A", 10), ("B", 12), ("A", 9), ("B", 20))
    with pytest.raises(cer.DataError, match=r"row 2 of the table .* comes too late"):
        cer.compile("SELECT * WHERE A ; B").count(table, order_by="ts", late=2)


def test_ties_keep_the_order_in_which_they_came() -> None:
    table = rows_of(("B", 5), ("C", 9), ("A", 5), ("B", 5))
    assert ends(cer.compile("SELECT * WHERE A ; B").run(table, order_by="ts", late=4)) == [2]


def test_tables_are_put_in_order_each_by_itself() -> None:
    tables = {"A": pa.table({"ts": [3, 1, 9]}), "B": pa.table({"ts": [2, 8, 7]})}
    query = cer.compile("SELECT * WHERE A ; B")
    assert query.count(tables, order_by="ts", late=2) == 5
    stream = query.stream(order_by="ts", late=2)
    assert len(list(stream.push(tables))) + len(list(stream.close() or [])) == 5


def test_a_stream_that_is_advanced_decides_what_waits() -> None:
    stream = cer.compile("SELECT * WHERE A NOT FOLLOWED BY [<= 5] B").stream(order_by="ts")
    assert stream.advance(0) is None
    assert ends(stream.push(rows_of(("A", 1), ("A", 3)))) == []
    assert ends(stream.advance(6) or []) == []  # a B at 6 may come
    assert ends(stream.advance(7) or []) == [0]
    assert ends(stream.advance(5) or []) == []  # it has come farther
    with pytest.raises(cer.DataError, match=r"row 2 .* is before 7, to which the stream was advanced"):
        stream.push(rows_of(("B", 6)))
    assert ends(stream.push(rows_of(("B", 8)))) == []
    assert ends(stream.close() or []) == []


def test_each_partition_is_advanced() -> None:
    text = "SELECT * WHERE A NOT FOLLOWED BY [<= 5] B PARTITION BY k"
    stream = cer.compile(text).stream(order_by="ts")
    table = rows_of(("A", 1), ("A", 3), ("A", 9)).append_column("k", pa.array([1, 2, 3]))
    assert ends(stream.push(table)) == []
    assert sorted(ends(stream.advance(9) or [])) == [0, 1]
    with pytest.raises(cer.DataError, match="is before 9"):
        stream.push(table.slice(0, 1))
    assert ends(stream.close() or []) == [2]


def test_rows_that_wait_are_given_when_the_stream_is_advanced() -> None:
    stream = cer.compile("SELECT * WHERE A ; B").stream(order_by="ts", late=100)
    stream.push(rows_of(("B", 12), ("A", 10)))
    assert ends(stream.advance(11) or []) == []
    again = cer.compile("SELECT * WHERE A ; B").stream(stream.snapshot(), order_by="ts", late=100)
    with pytest.raises(cer.DataError, match=r"row 2 .* is before 11"):
        again.push(rows_of(("A", 10)))
    assert ends(again.advance(13) or []) == [1]


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        ({"late": "soon"}, "late='soon' is not a span of time: write '30 s'"),
        ({"late": -1}, "late=-1 is not a span of time"),
        (
            {"late": "5 s"},
            "`ts` holds plain numbers: give their unit with order_unit, or give a number as late",
        ),
        ({"late": 5, "order_by": None}, "late needs order_by"),
        ({"late": 5, "sort": True}, "leave late out"),
        ({"late": 5, "on_late": "keep"}, "on_late must be one of error, drop, not 'keep'"),
        ({"on_late": "drop"}, "pass late too"),
        ({"until": 5, "order_by": None}, "until needs order_by"),
        ({"until": "noon"}, "until='noon' cannot be read as int64, the type of `ts`"),
    ],
)
def test_what_cannot_be_is_refused(keywords: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        cer.compile("SELECT * WHERE A").count(rows_of(("A", 1)), **{"order_by": "ts", **keywords})


def test_a_span_has_a_unit_where_times_have_one() -> None:
    table = pa.table({"type": ["A"], "ts": pa.array([1], pa.timestamp("s"))})
    with pytest.raises(ValueError, match=r"`ts` holds timestamp\[s\]: write the span with a unit"):
        cer.compile("SELECT * WHERE A").count(table, order_by="ts", late=5)


def test_the_shell_takes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "events.csv"
    lines = ("A,2024-01-01T10:00", "B,2024-01-01T10:06", "A,2024-01-01T10:05", "A,2024-01-01T10:30")
    path.write_text("\n".join(["type,ts", *lines, ""]))
    asked = ["count", "SELECT * WHERE A NOT FOLLOWED BY [<= 5 min] B", str(path), "--order-by", "ts"]
    late = ["--late", "2 min", "--until"]
    assert status_of([*asked, *late, "2024-01-01T10:34"]) == 0
    assert status_of([*asked, *late, "2024-01-01T10:35"]) == 0
    assert capsys.readouterr().out.split() == ["1", "2"]
    assert status_of([*asked, "--late", "10 s", "--on-late", "drop"]) == 0
    told = capsys.readouterr()
    assert (told.out.split(), told.err.strip()) == (
        ["2"],
        "warning: 1 row was left out: later than late='10 s'",
    )
    assert status_of([*asked, "--late", "10 s"]) == 2
    assert status_of([*asked, *late, "2024-01-01T10:29"]) == 2
    assert "row 3 of" in (said := capsys.readouterr().err)
    assert "is after until=2024-01-01 10:29:00: it has 2024-01-01 10:30:00" in said
    assert status_of([*asked, *late, "noon"]) == 4
    assert "until='noon' cannot be read as timestamp[s]" in capsys.readouterr().err
    assert status_of([asked[0], asked[1], str(path), "--late", "1 s"]) == 4
    assert "--late needs the column of time: --order-by" in capsys.readouterr().err


def test_a_backtest_takes_them() -> None:
    table = rows_of(("A", 10), ("B", 12), ("A", 9), ("A", 40))
    queries = {"alone": "SELECT * WHERE A NOT FOLLOWED BY [<= 5] B", "pairs": "SELECT * WHERE A ; B"}
    for until, alone in ((44, 0), (45, 1)):
        found = cer.backtest(queries, table, order_by="ts", late=3, until=until).to_arrow()
        assert found["hits"].to_pylist() == [alone, 1]
        assert found["matches"].to_pylist() == [alone, 2]
    dropped = cer.backtest(queries, table, order_by="ts", late=1, on_late="drop")
    assert dropped.to_arrow()["matches"].to_pylist() == [1, 1]
    assert any("1 row was left out: later than late=1" in note for note in dropped.notes)
    with pytest.raises(ValueError, match="until and resume cannot be combined"):
        cer.backtest(queries, "a.parquet", order_by="ts", until=45, resume="kept")


@pytest.mark.parametrize("late", [None, "2 s"])
def test_a_stream_that_is_advanced_before_the_first_push_refuses_earlier_rows(late: str | None) -> None:
    table = pa.table({"type": ["A", "B"], "ts": pa.array([0, 5], pa.timestamp("s"))})
    stream = cer.compile("SELECT * WHERE A").stream(order_by="ts", late=late)
    assert stream.advance("1970-01-01T00:00:03") is None
    with pytest.raises(cer.DataError, match=r"row 0 .* is before 1970-01-01 00:00:03, to which"):
        stream.push(table)
    with pytest.raises(ValueError, match="advance needs a time"):
        stream.advance(None)
    stream.push(table.slice(1, 1))
    with pytest.raises(ValueError, match="advance needs a time"):
        stream.advance(None)
    stream.close()
    with pytest.raises(ValueError, match="is a time: name the column of time with order_by"):
        cer.compile("SELECT * WHERE A").stream().advance("1970-01-01T00:00:03")


def test_a_wrong_time_of_advance_is_told_at_each_push_until_it_is_right() -> None:
    table = pa.table({"type": ["A"], "ts": pa.array([5], pa.timestamp("s"))})
    stream = cer.compile("SELECT * WHERE A").stream(order_by="ts")
    stream.advance("soon")
    for _ in range(2):
        with pytest.raises(ValueError, match="time='soon' cannot be read as timestamp"):
            stream.push(table)
