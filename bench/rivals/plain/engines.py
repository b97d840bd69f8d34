"""The tools that answer plain questions: what they load, and how a form of a question is asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

from bench.rivals.plain.events import TYPES
from bench.rivals.plain.questions import COUNT, HITS, Plain, questions

TOP = 3
"""Of the greatest of each key, so many are asked for."""


class Loaded(NamedTuple):
    """A tool with its events: for a question, the functions that answer it; and which columns they answer with."""

    forms: Callable[[Plain], dict[str, Callable[[], Any]]]


def open_ours(path: str) -> Loaded:
    """Load a file into Arrow tables, with texts as dictionaries."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    import cer_gpu as cer

    events = pq.read_table(path, read_dictionary=["type", "symbol"]).unify_dictionaries().combine_chunks()
    alike = events.drop_columns("type")
    kinds = {kind: alike.filter(pc.equal(events["type"], kind)).combine_chunks() for kind in TYPES}

    def given(question: Plain) -> tuple[Any, dict[str, Any]]:
        if len(question.tables) > 1:
            return {kind: kinds[kind] for kind in question.tables}, {}
        if question.tables:
            return kinds[question.tables[0]], {"type_column": None}
        return (events, {}) if question.typed else (alike, {"type_column": None})

    def asked(question: Plain, text: str) -> Callable[[], Any]:
        query = cer.compile(text)
        found, options = given(question)
        options["order_by"] = "ts"
        if question.kind == COUNT:
            return lambda: query.count(found, **options)
        if question.kind == HITS:
            return lambda: query.hits(found, **options)
        if question.after == "unique":
            return lambda: query.hits(found, **options).select(["user_id"]).group_by("user_id").aggregate([])
        if question.after == "top":
            [value] = question.columns
            key = "symbol" if "symbol" in text else "user_id"
            return lambda: query.run(found, **options).top(TOP, by=value, per=key)
        return lambda: query.run(found, **options).to_arrow()

    def forms(question: Plain) -> dict[str, Callable[[], Any]]:
        return {f"{k}": asked(question, text) for k, text in enumerate(question.texts)}

    return Loaded(forms)


def open_duckdb(path: str) -> Loaded:
    """Load a file into tables of DuckDB."""
    import duckdb

    from bench.rivals.plain.sql import statements

    connection = duckdb.connect()
    connection.execute("CREATE TABLE raw AS SELECT * FROM read_parquet(?)", [path])
    for column in ("type", "symbol"):
        connection.execute(f"CREATE TYPE {column}_text AS ENUM (SELECT DISTINCT {column} FROM raw ORDER BY 1)")
    connection.execute(
        "CREATE TABLE events AS SELECT * REPLACE (type::type_text AS type, symbol::symbol_text AS symbol), "
        "epoch_us(ts) AS t FROM raw ORDER BY ts"
    )
    connection.execute("DROP TABLE raw")
    for kind in TYPES:
        connection.execute(f"CREATE VIEW {kind}s AS SELECT * FROM events WHERE type = '{kind}'")
        connection.execute(f"CREATE TABLE {kind}_rows AS SELECT * FROM {kind}s ORDER BY ts")
    asked = statements("duckdb")

    def answer(text: str, kind: str) -> Any:
        found = connection.execute(text)
        return int(found.fetchone()[0] or 0) if kind == COUNT else found.to_arrow_table()

    def forms(question: Plain) -> dict[str, Callable[[], Any]]:
        return {f"{k}": partial(answer, text, question.kind) for k, text in enumerate(asked[question.name])}

    return Loaded(forms)


def open_chdb(path: str) -> Loaded:
    """Load a file into tables of chdb: in the order of time, and of user or symbol and time."""
    from chdb.session import Session

    from bench.rivals.plain.sql import statements

    session = Session()
    text = "LowCardinality(String)"
    columns = f"ts DateTime64(6), type {text}, user_id Int64, symbol {text}, price Float64, size Int64, "
    columns += "source Int64, target Int64, t Int64, s Float64"
    tables = {"events": "t", "by_user": "(user_id, t)", "by_symbol": "(symbol, t)"}
    for name, order in [*tables.items(), *((f"{kind}_rows", "t") for kind in TYPES)]:
        session.query(f"DROP TABLE IF EXISTS {name}")
        session.query(f"CREATE TABLE {name} ({columns}) ENGINE = MergeTree ORDER BY {order}")
        source = f"SELECT *, toUnixTimestamp64Micro(ts) AS t, t / 1e6 AS s FROM file('{path}', Parquet)"
        if name not in tables:
            source = f"SELECT * FROM events WHERE type = '{name.removesuffix('_rows')}'"
        session.query(f"INSERT INTO {name} {source}")
        session.query(f"OPTIMIZE TABLE {name} FINAL")
    for kind in TYPES:
        session.query(f"DROP VIEW IF EXISTS {kind}s")
        session.query(f"CREATE VIEW {kind}s AS SELECT * FROM events WHERE type = '{kind}'")
    asked = statements("chdb")

    def answer(text: str, kind: str) -> Any:
        if kind == COUNT:
            return int(str(session.query(text, "TSV")).split()[0])
        return session.query(text, "ArrowTable")

    def forms(question: Plain) -> dict[str, Callable[[], Any]]:
        return {f"{k}": partial(answer, text, question.kind) for k, text in enumerate(asked[question.name])}

    return Loaded(forms)


def open_polars(path: str) -> Loaded:
    """Load a file into frames of Polars, with texts as categories."""
    import polars as pl

    from bench.rivals.plain import polars_forms, polars_windows

    events = pl.read_parquet(path)
    texts = {name: pl.Enum(events[name].unique().sort()) for name in ("type", "symbol")}
    events = events.with_columns(pl.col(name).cast(kind) for name, kind in texts.items()).rechunk()
    events = events.with_columns(pl.col("ts").set_sorted())
    frames = {"events": events.lazy()}
    for kind in TYPES:
        frames[kind] = frames["events"].filter(pl.col("type") == kind)
        frames[f"{kind} rows"] = frames[kind].collect().lazy()
    known = polars_forms.FORMS | polars_windows.FORMS

    def answer(form: Any, engine: str, kind: str) -> Any:
        found = form(frames).collect(engine=engine)
        return int(found.item() or 0) if kind == COUNT else found

    def forms(question: Plain) -> dict[str, Callable[[], Any]]:
        return {
            f"{form.__name__}, {engine}": partial(answer, form, engine, question.kind)
            for form in known[question.name]
            for engine in ("in-memory", "streaming")
        }

    return Loaded(forms)


OPENERS: dict[str, Callable[[str], Loaded]] = {
    "cer-gpu": open_ours,
    "duckdb": open_duckdb,
    "chdb": open_chdb,
    "polars": open_polars,
}


def digest(question: Plain, answer: Any) -> tuple[int, list[int]]:
    """The number of rows of an answer, and for each column to compare the sum of its values.

    Times are microseconds and other numbers are hundredths; sums are modulo 2^64. A count has no columns.
    """
    import numpy as np
    import pyarrow as pa

    if isinstance(answer, int):
        return answer, []
    table = answer if isinstance(answer, pa.Table) else pa.table(answer)
    ours = {"began": "start_time", "ended": "end_time", "viewed": "start_time", "bought": "end_time", "time": "end_time"}
    sums = []
    for name in question.columns:
        there = name if name in table.column_names else ours[name]
        column = table[there].combine_chunks()
        if pa.types.is_floating(column.type):
            values = np.rint(column.to_numpy(zero_copy_only=False) * 100).astype(np.int64)
        else:
            values = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
        sums.append(int(values.astype(np.int64).sum()))
    return table.num_rows, sums
