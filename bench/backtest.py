"""Many queries in one pass: a thousand variants of a template, a hundred other queries, and DuckDB beside."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa

import cer_gpu as cer
from bench.answers import must
from bench.figures import Figure, Target, rate, ratio
from bench.measure import Times, measure
from bench.sizes import Sizes, large

TEMPLATE = (
    "SELECT * FROM S WHERE (T0 AS a FILTER a[price > $p]) ; (T1 AS b FILTER b[size > $s]) ; "
    "(T2 AS c FILTER c[price > 90]) WITHIN $w"
)

WINDOWS = ("1 s", "2 s", "5 s", "10 s")

TYPES = 15

FEW = 100_000
"""With fewer events there are sixty-four variants: then the section only shows that it runs."""

OTHERS = 100
"""How many queries have nothing to do with one another."""

PART = 5
"""The share of the events that DuckDB joins."""

JOIN = """
SELECT count(*) FROM ticks AS a JOIN ticks AS b ON b.place > a.place AND b.ts <= a.ts + {w}
JOIN ticks AS c ON c.place > b.place AND c.ts <= a.ts + {w}
WHERE a.type = '{a}' AND a.price > {p} AND b.type = '{b}' AND b.size > {s} AND c.type = '{c}'
"""


def backtest(sizes: Sizes) -> Iterator[Figure]:
    """A thousand variants against one, and a hundred queries against one and against DuckDB."""
    events = _ticks(sizes.numbered)
    run = partial(cer.backtest, events=events, order_by="ts", device="cpu")
    each = 16 if len(events) >= FEW else 4
    thresholds = np.linspace(90, 120, each).round(2).tolist(), np.linspace(100, 900, each).round().tolist()
    variants = cer.sweep(TEMPLATE, p=thresholds[0], s=thresholds[1], w=WINDOWS)
    one = cer.sweep(TEMPLATE, p=thresholds[0][each // 3], s=thresholds[1][each // 2], w=WINDOWS[2])
    rng = np.random.default_rng(3)
    asked = [_Query(rng) for _ in range(OTHERS)]
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
    part = events.slice(0, max(len(events) // PART, 2000))
    counts = _duckdb(part, asked)
    ours = partial(cer.backtest, texts, part, order_by="ts", device="cpu")
    must(ours().to_arrow().column("matches").to_pylist() == counts(), f"{OTHERS} queries: DuckDB")
    beside = measure({"ours": ours, "DuckDB": counts}, sizes.runs)
    yield ratio(
        "backtest",
        f"{OTHERS} queries, {large(len(part))} events: time of {OTHERS} DuckDB joins / ours",
        ("ours", beside["ours"]),
        ("DuckDB", beside["DuckDB"]),
        20.0,
    )


class _Query:
    """A sequence of three steps, and the same question for a join."""

    def __init__(self, rng: np.random.Generator) -> None:
        a, b, c = (f"T{number}" for number in rng.choice(TYPES, 3, replace=False))
        p, s = round(float(rng.uniform(90, 110)), 2), int(rng.integers(100, 900))
        w = int(rng.choice([1000, 2000, 5000]))
        self.text = (
            f"SELECT * FROM S WHERE ({a} AS a FILTER a[price > {p}]) ; ({b} AS b FILTER b[size > {s}]) ; {c} "
            f"WITHIN {w} ms"
        )
        self.join = JOIN.format(a=a, b=b, c=c, p=p, s=s, w=w)


def _ticks(count: int) -> pa.Table:
    """Events of fifteen types with a price and a size, 10 ms apart on average."""
    rng = np.random.default_rng(1)
    types = pa.array([f"T{number}" for number in range(TYPES)])
    return pa.table(
        {
            "type": pa.DictionaryArray.from_arrays(rng.choice(TYPES, count).astype(np.int8), types),
            "ts": pa.array(np.cumsum(rng.integers(0, 20, count)).astype("datetime64[ms]")),
            "price": rng.normal(100, 10, count),
            "size": rng.integers(1, 1000, count),
        }
    )


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


def _duckdb(events: pa.Table, asked: list[_Query]) -> partial[list[int]]:
    """The joins in DuckDB, one after another, on a table in memory."""
    import duckdb

    connection = duckdb.connect()
    given = events.append_column("place", pa.array(np.arange(len(events))))
    moments = given.column("ts").cast(pa.int64())
    connection.register("given", given.set_column(1, "ts", moments))
    connection.execute("CREATE TABLE ticks AS SELECT * FROM given")

    def counts() -> list[int]:
        return [int(connection.sql(one.join).fetchall()[0][0]) for one in asked]

    return partial(counts)


def _times_of(section: str, case: str, many: Times, few: Times, most: float) -> Figure:
    """How many times as long the one takes as the other."""
    value = many.median / few.median
    low, high = many.least / few.most, many.most / few.least
    seconds = (("many", many), ("one", few))
    return Figure(section, case, value, "times", low, high, Target(most, most=True), "", seconds)
