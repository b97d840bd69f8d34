"""The tools that answer plain questions: what they load, and how a form of a question is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from bench.rivals.plain.events import TYPES
from bench.rivals.plain.questions import COUNT, GRID, HITS, MANY, ONE, VARIANTS, Plain, questions
from bench.rivals.plain.sql import statements
from bench.rivals.prepared import prepared

TOP = 3
"""Of the greatest values of each key, so many are asked for."""

MARK = "plain:"
"""With it begins a plain question as a text."""

COLLECTORS = ("in-memory", "streaming")
"""The engines of Polars."""

OURS_NAMES = {
    "began": "start_time",
    "ended": "end_time",
    "viewed": "start_time",
    "bought": "end_time",
    "time": "end_time",
}
"""The columns of our answers, by the names that they have in the answers of others."""


@dataclass(frozen=True, slots=True)
class PlainForm:
    """A question in one of the forms in which a tool may be asked.

    Attributes
    ----------
    question : Plain
    form : str
        One of `forms_of`.
    """

    question: Plain
    form: str

    def digest(self, answer: Any) -> tuple[int, tuple[int, ...]]:
        """The number of an answer or of its rows, and for each column to compare the sum of its values.

        Times are microseconds, other numbers hundredths; sums are modulo 2^64.
        """
        import numpy as np
        import pyarrow as pa

        if isinstance(answer, int):
            return answer, ()
        table = answer if isinstance(answer, pa.Table) else pa.table(answer)
        sums = []
        for name in self.question.columns:
            column = table[name if name in table.column_names else OURS_NAMES[name]].combine_chunks()
            if pa.types.is_floating(column.type):
                values = np.rint(column.to_numpy(zero_copy_only=False) * 100)
            else:
                values = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
            sums.append(int(values.astype(np.int64).sum()))
        return table.num_rows, tuple(sums)


Asked = Callable[[PlainForm], Any]
"""Answers a question: with a number, or with a table."""


def forms_of(engine: str, question: Plain) -> list[str]:
    """The forms in which a tool is asked a question."""
    if question.name == VARIANTS:
        return [ONE, MANY] if engine == "cer-gpu" else []
    if engine == "cer-gpu":
        return [str(k) for k in range(len(question.texts))]
    if engine == "polars":
        return [f"{one}, {collector}" for one in _polars_forms(question.name) for collector in COLLECTORS]
    return [str(k) for k in range(len(statements(engine)[question.name]))]


def read(text: str) -> PlainForm:
    """A question from what `written` gave."""
    name, _, form = text.removeprefix(MARK).partition("|")
    return PlainForm(next(one for one in questions() if one.name == name), form)


def written(asked: PlainForm) -> str:
    """A question as a line of text."""
    return f"{MARK}{asked.question.name}|{asked.form}"


def open_ours(path: str) -> Asked:
    """Load a file into Arrow tables, with texts as dictionaries."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    import cer_gpu as cer

    events = pq.read_table(path, read_dictionary=["type", "symbol"])
    events = events.unify_dictionaries().combine_chunks()
    alike = events.drop_columns("type")
    kinds = {kind: alike.filter(pc.equal(events["type"], kind)).combine_chunks() for kind in TYPES}
    compiled = cache(cer.compile)

    def given(question: Plain) -> tuple[Any, dict[str, Any]]:
        if len(question.tables) > 1:
            return {kind: kinds[kind] for kind in question.tables}, {}
        if question.tables:
            return kinds[question.tables[0]], {"type_column": None}
        return (events, {}) if question.typed else (alike, {"type_column": None})

    def variants(question: Plain, form: str) -> int:
        [template] = question.texts
        if form == ONE:
            one = {name: some[len(some) // 2] for name, some in GRID.items()}
            return int(compiled(template).count(events, order_by="ts", params=one))
        found = cer.backtest(cer.sweep(template, **GRID), events, order_by="ts")
        return int(found.to_arrow()["matches"].to_numpy().sum())

    def asked(one: PlainForm) -> Any:
        question = one.question
        if question.name == VARIANTS:
            return variants(question, one.form)
        query = compiled(question.texts[int(one.form)])
        found, options = given(question)
        if question.kind == COUNT:
            return int(query.count(found, order_by="ts", **options))
        if question.kind == HITS or question.after == "unique":
            hits = query.hits(found, order_by="ts", **options)
            return hits.group_by("user_id").aggregate([]) if question.after else hits
        matches = query.run(found, order_by="ts", **options)
        if question.after == "top":
            [value] = question.columns
            return matches.top(TOP, by=value, per=question.key)
        return matches.to_arrow()

    return asked


def open_duckdb(path: str) -> Asked:
    """Load a file into tables of DuckDB, with texts as enumerations."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("CREATE TABLE raw AS SELECT * FROM read_parquet(?)", [path])
    for column in ("type", "symbol"):
        connection.execute(
            f"CREATE TYPE {column}_text AS ENUM (SELECT DISTINCT {column} FROM raw ORDER BY 1)"
        )
    connection.execute(
        "CREATE TABLE events AS SELECT * REPLACE (type::type_text AS type, symbol::symbol_text AS symbol), "
        "epoch_us(ts) AS t FROM raw ORDER BY ts"
    )
    connection.execute("DROP TABLE raw")
    for kind in TYPES:
        connection.execute(f"CREATE VIEW {kind}s AS SELECT * FROM events WHERE type = '{kind}'")
        connection.execute(f"CREATE TABLE {kind}_rows AS SELECT * FROM {kind}s ORDER BY ts")
    connection.execute("SET preserve_insertion_order = false")
    statement = prepared(connection)

    def answer(text: str, counted: bool) -> Any:
        found = connection.execute(statement(text))
        return int(found.fetchall()[0][0] or 0) if counted else found.to_arrow_table()

    return _in_sql("duckdb", answer)


def open_chdb(path: str) -> Asked:
    """Load a file into tables of chdb: in the order of time, and of user or symbol and time."""
    from chdb.session import Session

    session = Session()
    text = "LowCardinality(String)"
    columns = f"ts DateTime64(6), type {text}, user_id Int64, symbol {text}, price Float64, size Int64, "
    columns += "source Int64, target Int64, t Int64, s Float64"
    orders = {"events": "t", "by_user": "(user_id, t)", "by_symbol": "(symbol, t)"}
    for name, order in [*orders.items(), *((f"{kind}_rows", "t") for kind in TYPES)]:
        source = f"SELECT *, toUnixTimestamp64Micro(ts) AS t, t / 1e6 AS s FROM file('{path}', Parquet)"
        if name not in orders:
            source = f"SELECT * FROM events WHERE type = '{name.removesuffix('_rows')}'"
        session.query(f"DROP TABLE IF EXISTS {name}")  # one process has one engine, whatever its sessions
        session.query(f"CREATE TABLE {name} ({columns}) ENGINE = MergeTree ORDER BY {order}")
        session.query(f"INSERT INTO {name} {source}")
        session.query(f"OPTIMIZE TABLE {name} FINAL")
    for kind in TYPES:
        session.query(f"DROP VIEW IF EXISTS {kind}s")
        session.query(f"CREATE VIEW {kind}s AS SELECT * FROM events WHERE type = '{kind}'")

    def answer(text: str, counted: bool) -> Any:
        if counted:
            return int(str(session.query(text, "TSV")).split()[0])
        return session.query(text, "ArrowTable")

    return _in_sql("chdb", answer)


def _in_sql(engine: str, answer: Callable[[str, bool], Any]) -> Asked:
    texts = statements(engine)

    def asked(one: PlainForm) -> Any:
        return answer(texts[one.question.name][int(one.form)], one.question.kind == COUNT)

    return asked


def open_polars(path: str) -> Asked:
    """Load a file into frames of Polars, with texts as enumerations."""
    import polars as pl

    events = pl.read_parquet(path)
    texts = {name: pl.Enum(events[name].unique().sort()) for name in ("type", "symbol")}
    events = events.with_columns(pl.col(name).cast(kind) for name, kind in texts.items()).rechunk()
    frames = {"events": events.with_columns(pl.col("ts").set_sorted()).lazy()}
    for kind in TYPES:
        frames[kind] = frames["events"].filter(pl.col("type") == kind)
        frames[f"{kind} rows"] = frames[kind].collect().lazy()

    def asked(one: PlainForm) -> Any:
        name, _, collector = one.form.partition(", ")
        found = _polars_forms(one.question.name)[name](frames).collect(engine=collector)
        return int(found.item() or 0) if one.question.kind == COUNT else found

    return asked


def _polars_forms(name: str) -> dict[str, Callable[[Any], Any]]:
    from bench.rivals.plain import polars_forms, polars_windows

    return {form.__name__: form for form in (polars_forms.FORMS | polars_windows.FORMS)[name]}


OPENERS: dict[str, Callable[[str], Asked]] = {
    "cer-gpu": open_ours,
    "duckdb": open_duckdb,
    "chdb": open_chdb,
    "polars": open_polars,
}


@cache
def opened(engine: str, path: str) -> Asked:
    """Load a file into a tool, once in a process."""
    return OPENERS[engine](path)
