"""Measures: against the reference on random queries, in every form of the answers, and their edges."""

from __future__ import annotations

import datetime
import io
import json
import math
import pickle
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from engine_oracle import OPTIONS, cuts, pieces
from generate import ORDER, any_query, stream, stream_to_table
from spark_tasks import answer, shuffled, task_of

import cer_gpu as cer
from cer_gpu.engine.answers.deduplication import AnswerDeduplication
from cer_gpu.engine.answers.matches import Matches
from cer_gpu.language import tree as t
from cer_gpu.language.measures import with_what_is_read
from cer_gpu.language.printer import to_text
from cer_gpu.language.scope import marks
from cer_gpu.output import write_matches
from cer_gpu.reference.events import Duration, Instant
from cer_gpu.reference.semantics import evaluate

NUMBERS = ("v", "p", "id", "lap")


def aggregate(rng: Random, names: list[str], attributes: tuple[str, ...], functions: str) -> t.Aggregate:
    variable = rng.choice(names)
    return t.Aggregate(rng.choice(functions.split()), t.Attribute(rng.choice(attributes), variable), variable)


def number(rng: Random, names: list[str], depth: int = 2) -> t.Expression:
    kind = rng.randrange(9 if depth else 4)
    if kind == 0:
        return t.Aggregate("COUNT", None, rng.choice(names))
    if kind == 1:
        counted = aggregate(rng, names, (*NUMBERS, "s", ORDER), "COUNT")
        return replace(counted, distinct=rng.random() < 0.6)
    if kind < 4:
        return aggregate(rng, names, NUMBERS, "SUM MIN MAX AVG FIRST LAST")
    if kind == 4:
        return t.Number(rng.choice((0, 2, 3, 0.5, 2.25)))
    if kind == 5:
        return t.Call("LENGTH", (text(rng, names, depth - 1),))
    if kind == 6:
        part = rng.choice(("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "WEEKDAY"))
        return t.Call(part, (time(rng, names, depth - 1),))
    if kind == 7:
        one = ("ABS", "FLOOR", "CEIL", "ROUND", "SQRT", "SIGN", "LN")
        function = rng.choice((*one, "COALESCE", "GREATEST", "LEAST"))
        inner = tuple(number(rng, names, depth - 1) for _ in range(1 if function in one else 2))
        return t.Call(function, inner)
    left, right = (number(rng, names, depth - 1) for _ in range(2))
    return t.Arithmetic(rng.choice("+-*/%"), left, right)


def text(rng: Random, names: list[str], depth: int = 1) -> t.Expression:
    found = aggregate(rng, names, ("s",), "MIN MAX FIRST LAST")
    if depth <= 0 or rng.random() < 0.5:
        return found
    return rng.choice(
        (
            t.Call("UPPER", (found,)),
            t.Call("LOWER", (found,)),
            t.Call("COALESCE", (found, t.Text("none"))),
            t.Call("SUBSTRING", (found, t.Number(2), t.Call("FLOOR", (number(rng, names, 0),)))),
            t.Call("LEAST", (found, t.Text("beta"))),
            t.Call("||", (found, t.Text("-"))),
        )
    )


def time(rng: Random, names: list[str], depth: int = 1) -> t.Expression:
    found: t.Expression = aggregate(rng, names, (ORDER,), "MIN MAX FIRST LAST")
    if rng.random() < 0.5:
        found = t.Moment(rng.choice(("START_TIME", "END_TIME")))
    if depth > 0 and rng.random() < 0.3:
        return t.Call("DATE", (found,))
    if depth > 0 and rng.random() < 0.4:
        return t.Arithmetic(rng.choice("+-"), found, span(rng, names, 0))
    return found


def span(rng: Random, names: list[str], depth: int = 1) -> t.Expression:
    kind = rng.randrange(5 if depth > 0 else 2)
    if kind == 0:
        return t.Quantity(rng.choice((2, 0.5)), rng.choice(("s", "min")))
    if kind == 1:
        return t.Moment("DURATION")
    if kind == 2:
        return t.Arithmetic("-", time(rng, names, 0), time(rng, names, 0))
    if kind == 3:
        return t.Negation(span(rng, names, depth - 1))
    return t.Arithmetic(rng.choice("*/"), span(rng, names, depth - 1), t.Number(rng.choice((2, 4, 0.5))))


def measured_query(rng: Random) -> t.SelectQuery:
    """A random query that is evaluated, with measures, which `NONE` may stand before."""
    while True:
        query = any_query(rng, atoms=3)
        names = sorted(marks(query.pattern))
        if not names:
            continue
        made = [
            rng.choice((number, number, text, time, span))(rng, names) for _ in range(rng.choice((1, 1, 2)))
        ]
        measures = tuple(t.SelectMeasure(one, f"m{place}") for place, one in enumerate(made))
        select = rng.choice((None, (), query.select))
        if select:
            select = with_what_is_read(select, measures)
        found = replace(query, measures=measures, select=select)
        try:
            cer.compile(to_text(found))
        except cer.CerError:
            continue
        return found


def said(value: Any) -> Any:
    """A value of the reference or of the engine: floats to nine digits, times in nanoseconds."""
    if isinstance(value, Instant | Duration):
        value = value.nanoseconds
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, Fraction):
        value = round(value)
    return "NaN" if value != value else f"{value:.9g}" if math.isfinite(value) else repr(value)


def numbers_of(column: pa.ChunkedArray) -> list[Any]:
    kind = column.type
    if pa.types.is_date(kind):
        column = column.cast(pa.timestamp("s"))
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ns")).cast(pa.int64())
    if pa.types.is_duration(kind):
        column = column.cast(pa.duration("ns")).cast(pa.int64())
    return [said(value) for value in column.to_pylist()]


Row = tuple[Any, ...]


def rows_of(found: Matches) -> list[Row]:
    """Start, end, marks and measures of every answer."""
    table = found.to_arrow()
    measured = zip(*(numbers_of(table[name]) for name in found.measures), strict=True)
    return [
        (ce.start, ce.end, tuple(sorted(ce.marks.items())), values)
        for ce, values in zip(found, measured, strict=True)
    ]


@pytest.mark.draws("seed", 60)
def test_measures_are_those_of_the_reference(seed: int) -> None:
    rng = Random(seed)
    answers = 0
    while answers < 3:
        query, events = measured_query(rng), stream(rng, rng.randrange(2, 12))
        wanted = [
            (one.start, one.end, tuple(sorted(one.marks.items())), tuple(map(said, one.measures.values())))
            for one in evaluate(query, events, order=ORDER)
        ]
        answers += max(len(wanted), 1)
        check(query, stream_to_table(events), wanted, rng)


def check(query: t.SelectQuery, table: pa.Table, wanted: list[Row], rng: Random) -> None:
    text_of = to_text(query)
    compiled = cer.compile(text_of)
    whole = rows_of(compiled.run(table, **OPTIONS))
    if query.select == () and query.limit is not None:
        # Which ones LIMIT leaves, of those that measures alone tell apart, the language does not say.
        assert Counter(row[1] for row in whole) == Counter(row[1] for row in wanted), text_of
        assert len(set(whole)) == len(whole)
        assert set(whole) <= set(
            rows_of(cer.compile(to_text(replace(query, limit=None))).run(table, **OPTIONS))
        )
    else:
        assert sorted(map(repr, whole)) == sorted(map(repr, wanted)), text_of
        assert [row[:2] for row in whole] == [row[:2] for row in wanted]
    ends = Counter(row[1] for row in whole)
    assert compiled.count(table, **OPTIONS) == len(whole)
    counts = compiled.counts(table, **OPTIONS).to_pydict()
    assert dict(zip(counts["position"], counts["count"], strict=True)) == ends
    assert compiled.hits(table, **OPTIONS)["position"].to_pylist() == sorted(ends)
    parts = pieces(table, cuts(rng, len(table)))
    joined = pa.Table.from_batches([batch for part in parts for batch in part.to_batches()], table.schema)
    reader = joined.to_reader(max_chunksize=rng.choice((1, 2, 5)))
    assert rows_of(compiled.run(reader, **OPTIONS)) == whole
    with compiled.stream(**OPTIONS) as pushed:
        assert [row for part in parts for row in rows_of(pushed.push(part))] == whole


# -------------------------------------------------------------------------- the forms of the answers

TRADES = pa.table(
    {
        "type": list("BSBBS"),
        "symbol": list("xxyxx"),
        "price": [10.0, 12.5, 7.0, 11.0, 12.0],
        "size": [1, 2, 3, 4, None],
        "ts": pa.array([0, 10, 20, 30, 40], pa.timestamp("s")),
    }
)
GAIN = "LAST(s.price) - FIRST(b.price) AS gain"
SOLD = "FROM Trades WHERE B AS b ; S AS s PARTITION BY symbol"


def run(text: str, events: object = TRADES, **keywords: Any) -> Matches:
    return cer.compile(text).run(events, order_by="ts", **keywords)


def test_measures_of_complex_events_and_columns() -> None:
    found = run(f"SELECT *, {GAIN}, DURATION AS held, COUNT(DISTINCT b.size) AS sizes {SOLD}")
    assert [ce.measures["gain"] for ce in found] == [2.5, 2.0, 1.0]
    table = found.to_arrow()
    assert table.schema.names[-3:] == ["gain", "held", "sizes"]
    assert table["held"].type == pa.duration("s")
    assert table["sizes"].to_pylist() == [1, 1, 1]
    one = found.first()
    assert pickle.loads(pickle.dumps(one)).measures == one.measures
    assert "gain" in repr(found)


def written(found: Matches, form: str) -> str:
    sink = io.BytesIO()
    write_matches(found, form, sink)
    return sink.getvalue().decode()


def test_measures_in_the_files_that_the_shell_writes() -> None:
    text = f"SELECT b, s, {GAIN}, s.size AS size {SOLD}"
    lines = [json.loads(line) for line in written(run(text), "jsonl").splitlines()]
    assert [line["measures"] for line in lines] == [
        {"gain": 2.5, "size": 2},
        {"gain": 2.0, "size": None},
        {"gain": 1.0, "size": None},
    ]
    header, first, *_ = written(run(text), "csv").splitlines()
    row = dict(zip(header.replace('"', "").split(","), first.split(","), strict=True))
    assert (row["gain"], row["b"], row["s"]) == ("2.5", "0", "1")
    assert "gain" in written(run(text), "table")


def test_measures_beside_the_events_of_their_matches() -> None:
    told = run(f"SELECT *, {GAIN} {SOLD}").events()
    gains = run(f"SELECT *, {GAIN} {SOLD}").to_arrow()["gain"].to_pylist()
    assert told["gain"].to_pylist() == [gains[match] for match in told["match"].to_pylist()]


def test_measures_alone_keep_what_they_read() -> None:
    assert run(f"SELECT {GAIN} {SOLD}").to_arrow().schema.names[-3:] == ["s", "b", "gain"]
    assert run(f"SELECT NONE, {GAIN} {SOLD}").to_arrow().schema.names[-2:] == ["end_time", "gain"]


@pytest.mark.parametrize("limit", [None, 1, 2, 3])
def test_measures_tell_answers_apart_where_no_variable_does(
    monkeypatch: pytest.MonkeyPatch, limit: int | None
) -> None:
    """Many complex events of one end, cut into batches of a few rows."""
    monkeypatch.setattr("cer_gpu.engine.answers.batches.GROUP", 2)
    values = [1, 2, 1, 2, 3]
    types = [*"A" * len(values), "Z", "Z"]
    data = pa.table({"type": types, "v": [*values, 0, 0], "ts": range(len(types))})
    head = "SELECT NONE, SUM(a.v) AS total FROM S WHERE A+ AS a ; Z"
    query = cer.compile(head if limit is None else f"{head} LIMIT {limit}")
    table = query.run(data, order_by="ts").to_arrow()
    found = list(zip(*(table[name].to_pylist() for name in ("start", "end", "total")), strict=True))
    every = {
        (first, end, sum(values[one] for one in (first, *rest)))
        for end in (5, 6)
        for first in range(len(values))
        for rest in subsets(range(first + 1, len(values)))
    }
    assert len(set(found)) == len(found) == query.count(data, order_by="ts")
    assert set(found) <= every
    of_end = len({row for row in every if row[1] == 5})
    wanted = of_end if limit is None else min(limit, of_end)
    assert query.counts(data, order_by="ts").to_pydict() == {
        "position": [5, 6],
        "time": [5, 6],
        "count": [wanted] * 2,
    }
    assert query.run(data, order_by="ts").head(3).to_arrow() == table.slice(0, 3)


def subsets(places: range) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for place in places:
        found += [(*one, place) for one in found]
    return found


def test_ids_stand_for_positions_beside_measures() -> None:
    named = TRADES.append_column("id", pa.array(list("abcde")))
    assert run(f"SELECT *, {GAIN} {SOLD}", named, event_id="id").first().end == "b"


def test_all_attributes_of_a_variable() -> None:
    found = run("SELECT s[*], b FROM T WHERE B AS b ; S AS s WITHIN 15 s")
    assert found.first()["s"] == [{"symbol": "x", "price": 12.5, "size": 2, "ts": TRADES["ts"][1].as_py()}]
    tables = {
        "B": TRADES.filter(pa.array([True, False, True, True, False])).drop_columns(["type", "size"]),
        "S": TRADES.filter(pa.array([False, True, False, False, True])).drop_columns(["type", "symbol"]),
    }
    (event,) = run("SELECT s[*], b[*] WHERE B AS b ; S AS s WITHIN 15 s", tables).first()["s"]
    assert event.keys() == {"price", "size", "ts"}


def test_decimals_are_added_exactly() -> None:
    money = pa.array(["0.10", "0.20", "0.30"]).cast(pa.decimal128(10, 2))
    data = pa.table({"type": list("AAZ"), "m": money, "ts": range(3)})
    text = (
        "SELECT NONE, SUM(a.m) AS total, MAX(a.m) * 2 AS twice, a.m / 4 AS part, a.m + 0.05 AS more, "
        "AVG(a.m) AS mean, -SUM(a.m) % 0.07 AS rest, a.m % 0 AS void FROM S"
    )
    (found,) = [ce for ce in run(f"{text} WHERE A+ AS a ; Z", data) if ce.measures["total"] > Decimal("0.25")]
    assert found.measures == {
        "total": Decimal("0.30"),
        "twice": Decimal("0.40"),
        "part": pytest.approx(0.025),
        "more": Decimal("0.15"),
        "mean": 0.15,
        "rest": Decimal("-0.02"),
        "void": None,
    }
    assert pa.types.is_decimal128(run(f"{text} WHERE A+ AS a ; Z", data).to_arrow()["twice"].type)


def test_parts_of_times_are_those_of_the_zone_of_the_column() -> None:
    """Also of 1890, when the clocks of Berlin were 53 minutes and 28 seconds ahead."""
    times = pa.array([-2_524_000_000, 1_704_067_199], pa.timestamp("s", "Europe/Berlin"))
    data = pa.table({"type": list("AA"), "ts": times})
    text = (
        "SELECT NONE, DATE(A.ts) AS day, HOUR(A.ts) AS hour, MINUTE(A.ts) AS minute, SECOND(A.ts) AS second"
    )
    found = run(f"{text}, WEEKDAY(A.ts) AS weekday WHERE A", data)
    local = [moment.as_py() for moment in times]
    assert [ce.measures for ce in found] == [
        {
            "day": one.date(),
            "hour": one.hour,
            "minute": one.minute,
            "second": one.second,
            "weekday": one.isoweekday(),
        }
        for one in local
    ]


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("SUM(a.v)", "the sum .* does not fit 64 bits"),
        ("FIRST(a.v) * 4", "`x` has a value that does not fit"),
    ],
)
def test_integers_that_do_not_fit(measure: str, message: str) -> None:
    data = pa.table({"type": list("AAZ"), "v": [2**62, 2**62, 0], "ts": range(3)})
    with pytest.raises(cer.DataError, match=message):
        run(f"SELECT NONE, {measure} AS x FROM S WHERE A+ AS a ; Z", data).to_arrow()


def test_sums_of_decimals_that_do_not_fit_are_an_error() -> None:
    large = pa.array([Decimal(9 * 10**37)] * 2 + [None]).cast(pa.decimal128(38, 0))
    data = pa.table({"type": list("AAZ"), "v": large, "ts": range(3)})
    with pytest.raises(cer.DataError, match="does not fit 38 digits"):
        run("SELECT NONE, SUM(a.v) AS x FROM S WHERE A+ AS a ; Z", data).to_arrow()


def test_parameters_in_measures() -> None:
    query = cer.compile(
        f"SELECT b, s, (LAST(s.price) - FIRST(b.price)) * $rate AS gain, $name AS name {SOLD}"
    )
    for rate, wanted in ((2, [5.0, 4.0, 2.0]), (0.5, [1.25, 1.0, 0.5])):
        found = query.run(TRADES, order_by="ts", params={"rate": rate, "name": "x"}).to_arrow()
        assert found["gain"].to_pylist() == wanted
        assert found["name"].to_pylist() == ["x"] * 3


@pytest.mark.parametrize("kept", ["*", "NONE", "b"])
def test_measures_in_the_tasks_of_spark(kept: str) -> None:
    text = f"SELECT {kept}, {GAIN}, DURATION AS held, COUNT(b) AS n {SOLD}"
    query = cer.compile(text)
    local = query.run(TRADES, order_by="ts").to_arrow()
    for product, found in (("run", local), ("count", query.count(TRADES, order_by="ts"))):
        task = task_of(query, TRADES.schema, product, order_by="ts", event_id="ts")
        rows = answer(task, [shuffled(TRADES, Random(1))], Random(2))
        if product == "run":
            got = [{name: evaluated(row)[name] for name in ("gain", "held", "n")} for row in rows]
            assert sorted(map(repr, got)) == sorted(map(repr, found.select(list(got[0])).to_pylist()))
        else:
            assert rows == [repr({"count": str(found)})]


def evaluated(row: str) -> dict[str, Any]:
    """The row whose text a task gave."""
    found: dict[str, Any] = eval(row, {"datetime": datetime})
    return found


def test_limit_0_leaves_no_hits_of_answers_that_measures_alone_tell_apart() -> None:
    events = pa.table({"type": ["A", "B"]})
    for pattern in ("A ; B", "A+"):
        query = cer.compile(f"SELECT NONE, COUNT(A) AS n WHERE {pattern} LIMIT 0")
        assert query.hits(events).num_rows == query.count(events) == 0


def test_answers_are_told_apart_across_batches() -> None:
    """Batches without repetitions are given as they come, and others in between are not."""
    rng = Random("told apart")
    dropped = 0
    for _ in range(60):
        drawn = [(rng.randrange(4), rng.randrange(3), rng.randrange(2)) for _ in range(rng.randrange(1, 12))]
        rows = sorted(drawn)
        batches = []
        while rows:
            size = rng.randrange(4)
            some, rows = rows[:size], rows[size:]
            end, start, value = ([row[k] for row in some] for k in range(3))
            batches.append(pa.record_batch({"start": start, "end": end, "value": value}, schema=ROWS))
        given = [row for batch in AnswerDeduplication(1, None).distinct(batches) for row in batch.to_pylist()]
        assert [(row["end"], row["start"], row["value"]) for row in given] == sorted(set(drawn))
        dropped += len(drawn) - len(set(drawn))
    assert dropped > 10


ROWS = pa.schema({"start": pa.int64(), "end": pa.int64(), "value": pa.int64()})
