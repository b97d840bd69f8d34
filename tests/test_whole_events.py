"""`x[*]`: all attributes of marked events, of every type and with nulls, however answers are asked for."""

from __future__ import annotations

import datetime
import io
import json
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from engine_oracle import OPTIONS, cuts, expected, pieces
from generate import any_query, stream, stream_to_table
from snapshots import stored
from spark_tasks import ROW, answer, numbered, task_of, wanted

import cer_gpu as cer
from cer_gpu.json_text import json_text
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.language.scope import marks
from cer_gpu.output import write_matches

DAY = datetime.datetime(2024, 1, 5)

KINDS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "truth": (pa.bool_(), [True, False]),
    "small": (pa.int8(), [-128, 0, 127]),
    "most": (pa.uint64(), [2**63 - 1, 0]),
    "half": (pa.float32(), [0.5, -1e20, float("inf"), float("nan")]),
    "date": (pa.date32(), [DAY.date()]),
    "span": (pa.duration("us"), [datetime.timedelta(seconds=1, microseconds=5), -datetime.timedelta(1)]),
    "zoned": (pa.timestamp("ms", "Europe/Berlin"), [DAY.replace(tzinfo=datetime.UTC)]),
    "money": (pa.decimal128(30, 4), [Decimal("12345678901234567890.1234"), Decimal("-0.5000")]),
    "word": (pa.dictionary(pa.int32(), pa.string()), ["a, b", 'say "so"', "", "line\nline"]),
    "parts": (pa.list_(pa.int64()), [[1, None], []]),
    "inner": (pa.struct([("q", pa.int64()), ("r", pa.string())]), [{"q": 1, "r": None}]),
}
"""Columns beside those of `generate`, and values that they have."""


def drawn(rng: Random) -> tuple[tree.SelectQuery, cer.Query, pa.Table, list[Any]]:
    """A random query in which some variables have `[*]`, events, and what the reference finds in them."""
    while True:
        query = any_query(rng, atoms=3)
        names = sorted(marks(query.pattern))
        if not names:
            continue
        chosen = rng.sample(names, rng.randint(1, min(2, len(names))))
        query = replace(query, select=tuple(tree.SelectItem(name, whole=True) for name in chosen))
        try:
            compiled = cer.compile(to_text(query))
        except cer.CerError:
            continue
        events = stream(rng, rng.randint(3, 9))
        found = expected(query, events)
        if 0 < len(found) <= 300:
            table = stream_to_table(events)
            for name, (kind, values) in KINDS.items():
                some = [rng.choice([*values, None]) for _ in events]
                table = table.append_column(name, pa.array(some, kind))
            return query, compiled, table, found


def shown(value: Any) -> str:
    """A value as text, in which one NaN is like another."""
    return repr(value)


def check_batches(batches: Iterable[pa.RecordBatch], whole: list[str], rows: list[Any], found: Any) -> None:
    told = [row for batch in batches for row in batch.to_pylist()]
    assert [(row["start"], row["end"]) for row in told] == [one[:2] for one in found]
    for row, (_, _, marked, _) in zip(told, found, strict=True):
        for name in whole:
            there = dict(marked).get(name, ())
            assert tuple(row[name]) == there
            assert shown(row[f"{name}[*]"]) == shown([rows[position] for position in there])


@pytest.mark.draws("seed", 60)
def test_all_attributes_are_those_of_the_events_that_the_reference_marks(seed: int) -> None:
    rng = Random(f"whole events {seed}")
    query, compiled, table, found = drawn(rng)
    assert query.select is not None
    whole = [item.variable for item in query.select]
    names = [name for name in table.schema.names if name not in ("type", "stream")]
    rows = table.select(names).to_pylist()
    matches = compiled.run(table, **OPTIONS)
    check_batches(matches.batches(), whole, rows, found)
    for one, (_, _, marked, _) in zip(compiled.run(table, **OPTIONS), found, strict=True):
        for name in whole:
            assert shown(one[name]) == shown([rows[position] for position in dict(marked).get(name, ())])
    parts = [batch for part in pieces(table, cuts(rng, len(table))) for batch in part.to_batches()]
    check_batches(compiled.run(iter(parts), **OPTIONS).batches(), whole, rows, found)
    given = pushed(compiled, parts, rng)
    told = [(row["start"], row["end"], [row[f"{name}[*]"] for name in whole]) for row in given]
    assert sorted(map(shown, told)) == sorted(
        shown((start, end, [[rows[position] for position in dict(marked).get(name, ())] for name in whole]))
        for start, end, marked, _ in found
    )
    check_tidy(compiled.run(table, **OPTIONS).events(), whole, rows)
    check_texts(compiled, table, whole, names, found)


def pushed(compiled: cer.Query, parts: list[pa.RecordBatch], rng: Random) -> list[dict[str, Any]]:
    """The rows of a stream that is stored and continued now and then."""
    stream, told = compiled.stream(**OPTIONS), []
    for part in parts:
        told += stream.push(part).to_arrow().to_pylist()
        stream = stored(stream, lambda state: compiled.stream(state=state, **OPTIONS), rng)
    last = stream.close()
    return told if last is None else told + last.to_arrow().to_pylist()


def check_tidy(events: pa.Table, whole: list[str], rows: list[Any]) -> None:
    columns = events.column_names
    keys = columns[: columns.index("variable")]  # under BY [id, v] the value may be another attribute's
    for told in events.to_pylist():
        wanted_ = rows[told["position"]] if told["variable"] in whole else dict.fromkeys(rows[0])
        own = {name: wanted_[name] if name in keys else told[name] for name in rows[0]}
        assert shown(own) == shown(wanted_)


def check_texts(
    compiled: cer.Query, table: pa.Table, whole: list[str], names: list[str], found: list[Any]
) -> None:
    """JSON lines have every value as JSON; CSV has a cell for each attribute of a variable of one event."""
    lines = io.BytesIO()
    write_matches(compiled.run(table, **OPTIONS), "jsonl", lines)
    as_json = [json_text(table[name].combine_chunks()).to_pylist() for name in names]
    texts = [dict(zip(names, row)) for row in zip(*as_json)]
    for line, (_, _, marked, _) in zip(lines.getvalue().decode().splitlines(), found, strict=True):
        said = json.loads(line).get("attributes", {})
        for name in whole:
            events = [
                {key: json.loads(text) for key, text in texts[position].items()}
                for position in dict(marked).get(name, ())
            ]
            assert said.get(name, []) == events
    cells = io.BytesIO()
    write_matches(compiled.run(table, **OPTIONS), "csv", cells)
    kept = pacsv.ParseOptions(newlines_in_values=True)
    read = pacsv.read_csv(io.BytesIO(cells.getvalue()), parse_options=kept)
    assert len(read) == len(found)
    integers = table["id"].to_pylist()
    for name in whole:
        if f"{name}_id" in read.schema.names:
            marked = [dict(one[2]).get(name, (None,))[0] for one in found]
            ids = [None if position is None else integers[position] for position in marked]
            assert read[f"{name}_id"].to_pylist() == ids


@pytest.mark.draws("seed", 12)
def test_tasks_of_spark_give_all_attributes(seed: int) -> None:
    rng = Random(f"whole events in tasks {seed}")
    _, compiled, table, found = drawn(rng)
    table = numbered(
        table.drop_columns(["span", "most", "half", "word", "zoned"])
    )  # which Spark has not, or shows in UTC
    task = task_of(compiled, table.schema, "run", **OPTIONS, event_id=ROW)
    local = compiled.run(table, **OPTIONS, event_id=ROW).to_arrow()
    assert len(local) == len(found)
    assert any(name.endswith("[*]") for name in task.result.names)
    assert answer(task, [table], rng) == wanted(local, task.result.names)
