"""Events that are compared with the one before: pairs of rising prices, and rising runs; beside SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import cer_gpu as cer
from bench.answers import must
from bench.figures import Figure, rate, ratio
from bench.measure import measure
from bench.sizes import Sizes, large

WINDOW = 10_000
"""Events from the first of a pair to the second."""

PART = 100
"""The share of the events that a rival joins: the pairs of all events are too many for it."""

KEYS = 1000

RISEN = "Ticks AS x ; Ticks AS y FILTER y.price > 1.05 * x.price"

PAIRS = f"SELECT * FROM Ticks WHERE {RISEN} WITHIN {WINDOW} EVENTS"

JOIN = f"""
SELECT count(*) FROM ticks AS x JOIN ticks AS y
ON y.place > x.place AND y.place <= x.place + {WINDOW} AND y.price > 1.05 * x.price
"""

RISING = "(Ticks AS x FILTER x.price > PRIOR(x).price)"

RUNS = """
WITH steps AS (SELECT key, place, CASE WHEN price > lag(price) OVER keyed THEN 0 ELSE 1 END AS falls
  FROM ticks WINDOW keyed AS (PARTITION BY key ORDER BY place)),
numbered AS (SELECT key, sum(falls) OVER (PARTITION BY key ORDER BY place ROWS UNBOUNDED PRECEDING) AS run
  FROM steps),
runs AS (SELECT count(*) AS length FROM numbered GROUP BY key, run)
SELECT coalesce(sum({number}), 0) FROM runs WHERE length >= 5
"""

EVERY = "(length - 4) * (length - 3) // 2"
"""How many runs of five events and more lie in a longest one."""

LONGEST = "length - 4"
"""How many events end one, of which MAX leaves the longest."""


def compared(sizes: Sizes) -> Iterator[Figure]:
    """Pairs by price without a key, and rising runs of at least five by key."""
    yield from _pairs(sizes)
    yield from _runs(sizes)


def _pairs(sizes: Sizes) -> Iterator[Figure]:
    count, part = sizes.numbered, max(sizes.numbered // PART, 2000)
    query, ticks = cer.compile(PAIRS), _ticks(count)
    times = measure({"ours": partial(query.count, ticks)}, sizes.runs)
    note = f"{query.count(ticks):,} pairs"
    case = f"y.price > 1.05 * x.price, WITHIN {large(WINDOW)} EVENTS"
    yield rate("compared: pairs", f"{case}, {large(count)} events", "events", count, times["ours"], 2, note)
    few = ticks.slice(0, part)
    functions = {"ours": partial(query.count, few), "DuckDB": _duckdb(few, JOIN)}
    answers = {name: function() for name, function in functions.items()}
    must(len(set(answers.values())) == 1, f"pairs: {answers}")
    beside = measure(functions, sizes.runs)
    for name, taken in beside.items():
        title = f"{case}, {large(part)} events, {name}"
        yield rate("compared: pairs", title, "events", part, taken, note="both agree")
    yield ratio(
        "compared: pairs",
        f"{large(part)} events: time of DuckDB's join / ours",
        ("ours", beside["ours"]),
        ("DuckDB", beside["DuckDB"]),
        1.0,
    )


def _runs(sizes: Sizes) -> Iterator[Figure]:
    ticks = _ticks(sizes.numbered)
    near = f"FROM Ticks WHERE {RISING} :{{5,}} PARTITION BY key"
    yield from _neighbours(ticks, "counted", cer.compile(f"SELECT * {near}"), EVERY, sizes.runs)
    most = cer.compile(f"SELECT MAX * {near}")
    yield from _neighbours(ticks, "MAX counted", most, LONGEST, sizes.runs)
    case = f"rising runs of 5 and more by key, {large(len(ticks))} events"
    strict = cer.compile(f"SELECT STRICT * FROM Ticks WHERE {RISING} {{5,}} PARTITION BY key")
    number = most.count(ticks)
    for title, function in {
        "hits": lambda: len(most.hits(ticks)),
        "STRICT, hits": lambda: len(strict.hits(ticks)),
        "MAX listed": lambda: sum(map(len, most.run(ticks).batches())),
    }.items():
        must(function() == number, f"rising runs, {title}: {number}")
        alone = measure({"ours": function}, sizes.runs)["ours"]
        note = f"{number:,} ends, as MAX has"
        yield rate("compared: runs", f"{case}, neighbours, {title}", "events", len(ticks), alone, note=note)
    within = 60
    gaps = f"FROM Ticks WHERE {RISING} {{5,}} PARTITION BY key WITHIN {within} EVENTS"
    alone = measure({"ours": partial(cer.compile(f"SELECT * {gaps}").hits, ticks)}, sizes.runs)
    title = f"{case}, with gaps, WITHIN {within} EVENTS"
    yield rate("compared: runs", f"{title}, hits", "events", len(ticks), alone["ours"])
    chosen, few = cer.compile(f"SELECT MAX * {gaps}"), ticks.slice(0, max(len(ticks) // 10, 1000))
    alone = measure({"ours": partial(chosen.count, few)}, sizes.runs)
    note = f"{chosen.count(few):,} runs that no event can be put into"
    title = f"rising runs by key, {large(len(few))} events, with gaps, WITHIN {within} EVENTS, MAX counted"
    yield rate("compared: runs", title, "events", len(few), alone["ours"], note=note)


def _neighbours(ticks: pa.Table, asked: str, query: cer.Query, number: str, runs: int) -> Iterator[Figure]:
    """Runs of neighbours, beside window functions, and Polars' groups with run lengths.

    Parameters
    ----------
    ticks : Table
    asked : str
        What is counted.
    query : Query
    number : str
        How many of these lie in a longest run of `length` events, in SQL.
    runs : int
        Runs that are timed.
    """
    functions: dict[str, Callable[[], Any]] = {
        "ours": partial(query.count, ticks),
        "DuckDB": _duckdb(ticks, RUNS.format(number=number)),
        "Polars": _polars(ticks, number),
        "Polars, runs of each group": _polars_groups(ticks, number),
    }
    answers = {name: function() for name, function in functions.items()}
    must(len(set(answers.values())) == 1, f"rising runs, {asked}: {answers}")
    times = measure(functions, runs)
    case = f"rising runs of 5 and more by key, {large(len(ticks))} events, neighbours, {asked}"
    for name, taken in times.items():
        yield rate("compared: runs", f"{case}, {name}", "events", len(ticks), taken, note="all agree")
    ours = "ours", times["ours"]
    for name, its in (("DuckDB", "DuckDB's"), ("Polars", "Polars'")):
        title = f"{case}: time of {its} window functions / ours"
        yield ratio("compared: runs", title, ours, (name, times[name]), 5.0)
    other = "Polars, runs of each group"
    title = f"{case}: time of Polars' groups with run lengths / ours"
    yield ratio("compared: runs", title, ours, (other, times[other]))


def _ticks(count: int) -> pa.Table:
    """Prices that wander, of some keys in turn by chance."""
    rng = np.random.default_rng(17)
    prices = 100 * np.exp(np.cumsum(rng.normal(0, 0.002, count)))
    return pa.table(
        {"place": np.arange(count), "price": prices, "key": rng.integers(0, KEYS, count, np.int32)}
    )


def _duckdb(ticks: pa.Table, text: str) -> Callable[[], int]:
    """A query of DuckDB that gives one number, on a table in memory."""
    import duckdb

    connection = duckdb.connect()
    connection.register("given", ticks)
    connection.execute("CREATE TABLE ticks AS SELECT * FROM given")

    def count() -> int:
        return int(connection.sql(text).fetchall()[0][0])

    return count


def _polars(ticks: pa.Table, number: str) -> Callable[[], int]:
    """Rising runs by Polars' window functions."""
    import polars

    falls = ~(polars.col("price").diff().over("key") > 0).fill_null(False)
    runs = (
        polars.DataFrame(ticks)
        .lazy()
        .with_columns(falls.cast(polars.Int32).cum_sum().over("key").alias("run"))
        .group_by("key", "run")
        .agg(polars.len().cast(polars.Int64).alias("length"))
    )
    return _summed(runs, number)


def _polars_groups(ticks: pa.Table, number: str) -> Callable[[], int]:
    """Rising runs by the run lengths that Polars finds in the group of each key."""
    import polars

    falls = ~(polars.col("price").diff() > 0).fill_null(False)
    lengths = falls.cum_sum().rle().struct.field("len").cast(polars.Int64).alias("length")
    return _summed(polars.DataFrame(ticks).lazy().group_by("key").agg(lengths).explode("length"), number)


def _summed(runs: Any, number: str) -> Callable[[], int]:
    """The sum of a number over the runs of five events and more."""
    import polars

    long = runs.filter(polars.col("length") >= 5).select(polars.sql_expr(number).sum())
    return lambda: int(long.collect().item())
