"""Each Arrow type of text, in every place of a query, by every way in: the same answers as plain strings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import cer_gpu as cer

BASES = {"string": pa.string(), "large_string": pa.large_string(), "string_view": pa.string_view()}
Texts = Sequence[str | None]


def coded(texts: Texts, base: pa.DataType) -> pa.Array:
    """A dictionary of the texts that occur, each once."""
    known = [*dict.fromkeys(text for text in texts if text is not None)]
    codes = [None if text is None else known.index(text) for text in texts]
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(known, base))


def repeated(texts: Texts, base: pa.DataType, codes: pa.DataType = pa.int64()) -> pa.Array:  # noqa: B008
    """A dictionary with a code for each row: texts occur again, and null is one of them."""
    return pa.DictionaryArray.from_arrays(pa.array(range(len(texts)), codes), pa.array(texts, base))


def runs(values: pa.Array) -> pa.Array:
    """Runs of one row each, of which the first is cut off."""
    ends = pa.array(range(1, len(values) + 2), pa.int32())
    twice = pa.concat_arrays([values.slice(0, 1), values])
    return pa.RunEndEncodedArray.from_arrays(ends, twice).slice(1)


FORMS: dict[str, Callable[[Texts, pa.DataType], pa.Array]] = {
    "plain": lambda texts, base: pa.array(texts, base),
    "dictionary": coded,
    "repeated": repeated,
    "repeated, as batches have them": lambda texts, base: repeated(texts, base, pa.int32()),
    "runs": lambda texts, base: runs(pa.array(texts, base)),
    "runs of a dictionary": lambda texts, base: runs(coded(texts, base)),
}

TYPES: Texts = ["A", "B", None, "A", "B", "A", "B", "C", "A", "B"]
VALUES: Texts = ["x", "XX", None, "x", "yy", "XX", "äß", "x", " y", "XX"]

CONDITIONS = [
    "LENGTH(a.s) > 1",
    "LOWER(a.s) = 'xx'",
    "UPPER(a.s) = 'X' OR LENGTH(b.s) = 2",
    "a[s LIKE '^.$']",
    "a[s IN {'x', 'XX'}]",
    "a[s NOT IN {'x'}] AND b[s IS NULL OR s != 'q']",
    "a[s IS NULL]",
    "a[s > 'a']",
    "a[COALESCE(s, t) = 'XX']",
    "b[PREV(s) = 'x']",
    "a.s = b.s",
    "a.s < b.s",
    "a.s = b.t",
    "MIN(a.s) <= MAX(b.t)",
]
QUERIES = [
    *(f"SELECT * WHERE A AS a ; B AS b FILTER {condition}" for condition in CONDITIONS),
    "SELECT a[s, t], b[*] WHERE A AS a : B AS b",
    "SELECT * FROM X WHERE A ; B PARTITION BY s",
    "SELECT *, MAX(a.s) AS m, LOWER(a.s) AS l, COUNT(DISTINCT b.s) AS n WHERE A AS a : B AS b",
    "SELECT * WHERE (B AS x FILTER x.s >= PRIOR(x).s)+ WITHIN 5 EVENTS",
    "SELECT a[s] WHERE A AS a FOLLOWED BY [<= 3 EVENTS] (B AS b FILTER b.s > 'B')",
    "Q(s, t) <- A(s = s), B(s = s, t = t)",
]


def halves(form: str, base: str) -> tuple[pa.Table, pa.Table]:
    """The events in two tables, whose dictionaries differ."""

    def column(texts: Texts) -> pa.Array:
        return FORMS[form](texts, BASES[base])

    parts = []
    for rows in (slice(0, 5), slice(5, None)):
        texts, values = TYPES[rows], VALUES[rows]
        parts.append(
            pa.table(
                {
                    "type": column(texts),
                    "s": column(values),
                    "t": column([*values[1:], "x"]),
                    "stream": column(["X"] * len(texts)),
                    "ts": pa.array(range(*rows.indices(len(TYPES)))),
                }
            )
        )
    return parts[0], parts[1]


def pushed(query: cer.Query, parts: Iterator[pa.Table]) -> list[Any]:
    stream = query.stream(stream_column="stream")
    found = [row for part in parts for row in stream.push(part).to_arrow().to_pylist()]
    return [*found, *stream.close().to_arrow().to_pylist()]


def by_run(query: cer.Query, first: pa.Table, second: pa.Table, folder: Path) -> list[Any]:
    events = pa.concat_tables([first, second])
    return query.run(events, stream_column="stream").to_arrow().to_pylist()  # type: ignore[no-any-return]


def by_reader(query: cer.Query, first: pa.Table, second: pa.Table, folder: Path) -> list[Any]:
    batches = [*first.to_batches(), *second.to_batches()]
    events = pa.RecordBatchReader.from_batches(first.schema, batches)
    return query.run(events, stream_column="stream").to_arrow().to_pylist()  # type: ignore[no-any-return]


def by_file(query: cer.Query, first: pa.Table, second: pa.Table, folder: Path) -> list[Any]:
    path = str(folder / "events.arrow")
    if any(pa.types.is_run_end_encoded(kind) for kind in first.schema.types):
        return by_run(query, first, second, folder)  # Arrow writes no dictionaries inside runs
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_stream(sink, first.schema) as writer:
        writer.write_table(first)
        writer.write_table(second)
    return query.run(path, stream_column="stream").to_arrow().to_pylist()  # type: ignore[no-any-return]


def by_stream(query: cer.Query, first: pa.Table, second: pa.Table, folder: Path) -> list[Any]:
    return pushed(query, iter([first, second]))


def by_single_events(query: cer.Query, first: pa.Table, second: pa.Table, folder: Path) -> list[Any]:
    return pushed(query, (part.slice(row, 1) for part in (first, second) for row in range(5)))


def by_typed_tables(query: cer.Query, first: pa.Table, second: pa.Table, folder: Path) -> list[Any]:
    """The events as a table for each type, one event at a time; those without a type are left out."""
    stream = query.stream(stream_column="stream", order_by="ts")
    found: list[Any] = []
    for part in (first, second):
        for row, kind in enumerate(part.column("type").to_pylist()):
            event = part.slice(row, 1).drop_columns("type")
            tables = {name: event if name == kind else event.slice(0, 0) for name in "ABC"}
            found += stream.push(tables).to_arrow().to_pylist() if kind is not None else []
    return [*found, *stream.close().to_arrow().to_pylist()]


WAYS = [by_run, by_reader, by_file, by_stream, by_single_events, by_typed_tables]


@pytest.mark.crossed
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("form", FORMS)
def test_texts_of_all_types_give_the_answers_of_plain_strings(form: str, base: str, tmp_path: Path) -> None:
    plain, given = halves("plain", "string"), halves(form, base)
    for text in QUERIES:
        query = cer.compile(text)
        for way in WAYS:
            wanted = sorted(map(repr, way(query, *plain, tmp_path)))
            assert sorted(map(repr, way(query, *given, tmp_path))) == wanted, (text, way.__name__)


@pytest.mark.crossed
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("form", FORMS)
def test_texts_of_all_types_are_counted_by_backtests(form: str, base: str) -> None:
    queries = {str(number): text for number, text in enumerate(QUERIES) if "<-" not in text}

    def counted(parts: tuple[pa.Table, pa.Table]) -> list[Any]:
        events = pa.concat_tables(parts)
        keywords = {"order_by": "ts", "stream_column": "stream"}
        by_text = cer.backtest({"q": "SELECT * WHERE A ; B PARTITION BY s"}, events, by="s", **keywords)
        whole = cer.backtest(queries, events, **keywords)
        return [*by_text.to_arrow().to_pylist(), *whole.to_arrow().to_pylist()]

    assert counted(halves(form, base)) == counted(halves("plain", "string"))


@pytest.mark.crossed
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rule", ["Q(s, t) <- R(s, t), S(s)", "Q(s; COUNT(*), MIN(t)) <- R(s, t), S(s)"])
def test_texts_of_all_types_are_kept_by_views(rule: str, form: str, base: str) -> None:
    def kept(parts: tuple[pa.Table, pa.Table]) -> list[str]:
        view = cer.maintain(rule)
        view.insert("R", pa.concat_tables(parts).select(["s", "t"]))
        for part in parts:
            view.insert("S", part.select(["s"]))
        view.delete("R", parts[1].select(["s", "t"]).slice(1, 2))
        return sorted(map(repr, view.enumerate().to_arrow().to_pylist()))

    assert kept(halves(form, base)) == kept(halves("plain", "string"))
