"""Many queries in one pass: a thousand variants of a template, and a hundred other queries; beside rivals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec

import numpy as np
import pyarrow as pa

import cer_gpu as cer
from bench.answers import must
from bench.backtest_files import backtest_files
from bench.backtest_queries import TEMPLATE, WINDOWS, ThreeOthers, sweep_of, three_others, ticks
from bench.figures import Figure, Target, rate, ratio
from bench.measure import Times, measure
from bench.sizes import Sizes, large

FEW = 100_000
"""With fewer events there are sixty-four variants: then the section only shows that it runs."""

OTHERS = 100
"""How many queries have nothing to do with one another."""

THRESHOLDS = 50
"""Thresholds of each of two columns: with four windows they make ten thousand variants, which run once."""

PART = 5
"""The share of the events that rivals join."""

JOIN = """
SELECT count(*) FROM ticks AS a JOIN ticks AS b ON b.place > a.place AND b.ts <= a.ts + {w}
JOIN ticks AS c ON c.place > b.place AND c.ts <= a.ts + {w}
WHERE a.type = '{a}' AND a.price > {p} AND b.type = '{b}' AND b.size > {s} AND c.type = '{c}'
"""


def backtest(sizes: Sizes) -> Iterator[Figure]:
    """A thousand variants against one, a hundred queries against one and against rivals, and over files."""
    events = ticks(sizes.numbered)
    run = partial(cer.backtest, events=events, order_by="ts", device="cpu")
    each = 16 if len(events) >= FEW else 4
    variants = sweep_of(each)
    chosen = variants.variants[(each // 3 * each + each // 2) * len(WINDOWS) + 2]
    one = cer.sweep(TEMPLATE, [chosen])
    asked = three_others(OTHERS)
    texts = [each.text for each in asked]
    _check(variants, events, run(variants))
    _check(texts, events, run(texts))
    functions = {
        "one variant": partial(run, one),
        f"{len(variants):,} variants": partial(run, variants),
        "one query": partial(run, texts[:1]),
        f"{OTHERS} queries": partial(run, texts),
    }
    times = measure(functions, sizes.runs)
    names = list(functions)
    for name, taken in times.items():
        title = f"three steps, hits and counts, {large(len(events))} events: {name}"
        yield rate("backtest", title, "events", len(events), taken, note="some checked by count and hits")
    for few, many, most in ((names[0], names[1], 30), (names[2], names[3], 15)):
        yield _times_of("backtest", f"time of {many} / of {few}", times[many], times[few], most)
    most = sweep_of(THRESHOLDS if len(events) >= FEW else each + 1)
    found: list[cer.Backtest] = []
    taken = measure({"most": lambda: found.append(run(most))}, 1, warm=0)["most"]
    _check(most, events, found[0])
    title = f"three steps, hits and counts, {large(len(events))} events: {len(most):,} variants"
    yield rate("backtest", title, "events", len(events), taken, note="run once; some checked")
    yield from _rivals(events.slice(0, max(len(events) // PART, 2000)), asked, sizes.runs)
    yield from backtest_files(sizes, OTHERS)


def _rivals(part: pa.Table, asked: list[ThreeOthers], runs: int) -> Iterator[Figure]:
    """The same questions as joins of rivals; each has to give the same counts."""
    texts = [one.text for one in asked]
    ours = partial(cer.backtest, texts, part, order_by="ts", device="cpu")
    wanted = ours().to_arrow().column("matches").to_pylist()
    for name, made in (("DuckDB", _duckdb), ("Polars", _polars)):
        case = f"{len(asked)} queries, {large(len(part))} events: time of {len(asked)} {name} joins / ours"
        if find_spec(name.lower()) is None:
            yield Figure("backtest", case, None, "times", note="it is not installed")
            continue
        counts = made(part, asked)
        must(wanted == counts(), f"{len(asked)} queries: {name}")
        # Again for each rival: what a ratio is made of is measured as close together as can be.
        beside = measure({"ours": ours, name: counts}, runs)
        yield ratio("backtest", case, ("ours", beside["ours"]), (name, beside[name]), 20.0)


def _check(queries: object, events: pa.Table, found: cer.Backtest) -> None:
    """Some of the rows are what `count` and `hits` say of a query by itself."""
    rows = found.to_arrow().to_pylist()
    for number in range(0, len(rows), max(1, len(rows) // 5)):
        if isinstance(queries, cer.Variants):
            query, params = queries.query, queries.variants[number]
        else:
            assert isinstance(queries, list)
            query, params = cer.compile(queries[number]), {}
        own = {"order_by": "ts", "params": params, "device": "cpu"}
        must(query.count(events, **own) == rows[number]["matches"], f"matches of {number}")
        must(len(query.hits(events, **own)) == rows[number]["hits"], f"hits of {number}")


def _numbered(events: pa.Table) -> pa.Table:
    """Events with their places, and times as numbers."""
    given = events.append_column("place", pa.array(np.arange(len(events))))
    return given.set_column(1, "ts", given.column("ts").cast(pa.int64()))


def _duckdb(events: pa.Table, asked: list[ThreeOthers]) -> Callable[[], list[int]]:
    """The joins in DuckDB, one after another, on a table in memory."""
    import duckdb

    connection = duckdb.connect()
    connection.register("given", _numbered(events))
    connection.execute("CREATE TABLE ticks AS SELECT * FROM given")

    def counts() -> list[int]:
        found = []
        for one in asked:
            a, b, c = one.types
            join = JOIN.format(a=a, b=b, c=c, p=one.price, s=one.size, w=one.within)
            found.append(int(connection.sql(join).fetchall()[0][0]))
        return found

    return counts


def _polars(events: pa.Table, asked: list[ThreeOthers]) -> Callable[[], list[int]]:
    """The joins in Polars, lazily, one after another."""
    import polars
    from polars import col

    whole = polars.DataFrame(_numbered(events)).with_columns(col("type").cast(polars.String)).lazy()

    def count(one: ThreeOthers) -> int:
        a, b, c = one.types
        first = whole.filter(col("type") == a, col("price") > one.price)
        first = first.select(a="place", last=col("ts") + one.within)
        second = whole.filter(col("type") == b, col("size") > one.size).select(b="place", b_ts="ts")
        third = whole.filter(col("type") == c).select(c="place", c_ts="ts")
        pairs = first.join_where(second, col("b") > col("a"), col("b_ts") <= col("last"))
        triples = pairs.join_where(third, col("c") > col("b"), col("c_ts") <= col("last"))
        return int(triples.select(polars.len()).collect().item())

    return lambda: [count(one) for one in asked]


def _times_of(section: str, case: str, many: Times, few: Times, most: float) -> Figure:
    """How many times as long the one takes as the other."""
    value = many.median / few.median
    low, high = many.least / few.most, many.most / few.least
    seconds = (("many", many), ("one", few))
    return Figure(section, case, value, "times", low, high, Target(most, most=True), "", seconds)
