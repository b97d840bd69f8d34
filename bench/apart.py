"""Sequences in which two events with others between them are compared, by key; beside self-joins in SQL."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import cer_gpu as cer
from bench.answers import must
from bench.apart_rivals import BUCKETED, FORMS
from bench.figures import Figure, duration, rate, ratio
from bench.fresh import ChildError, in_fresh_process
from bench.measure import Times, measure
from bench.sizes import Sizes, large

WINDOWS = (10_000, 50_000)
"""The window: events of the stream from the first of a match to its last."""

KEYS = 1000

GROWTH = 10
"""How many times the events the larger stream has."""

CHAIN = "A AS a ; B AS b ; C AS c FILTER c.price > a.price AND a.key = b.key AND b.key = c.key"

TARGETS = {"duckdb": 10.0, "polars": 10.0, "chdb": 3.0}
"""The least number of times our time that each rival has to take."""

TWO = "A AS a ; B AS b ; C AS c ; A AS d FILTER c.price > a.price AND d.price < b.price"

KINDS = {
    "two comparisons": f"{TWO} PARTITION BY key",
    "an aggregate": "A AS a ; B+ AS b ; C AS c FILTER c.price > AVG(b.price) PARTITION BY key",
    "three variables": "A AS a ; B AS b ; C AS c FILTER c.price > a.price + b.price - 100 PARTITION BY key",
}
"""Comparisons that the machine of configurations follows, with short windows."""

SHORT = 20
"""The window of these: events of the key from the first of a match to its last."""


def apart(sizes: Sizes) -> Iterator[Figure]:
    """Counts and hits of `c.price > a.price` across b, and of comparisons in further forms."""
    large_enough = sizes.keyed > WINDOWS[-1]
    for count in (sizes.keyed, GROWTH * sizes.keyed) if large_enough else (sizes.keyed,):
        events = priced(count)
        for within in WINDOWS if large_enough else WINDOWS[:1]:
            yield from _counted(events, within, sizes)
    few = priced(max(sizes.keyed // 10, 2000))
    for case, pattern in KINDS.items():
        query = cer.compile(f"SELECT * WHERE {pattern} WITHIN {SHORT} EVENTS")
        number = query.count(few)
        must(number == len(query.run(few).to_arrow()), f"{case}: the list has another length than the count")
        times = measure({case: partial(query.count, few)}, sizes.runs)[case]
        title = f"{large(len(few))} events, WITHIN {SHORT} EVENTS of the key, {case}, {number:,} matches"
        yield rate("apart: configurations", title, "events", len(few), times, note="as many as are listed")


def _counted(events: pa.Table, within: int, sizes: Sizes) -> Iterator[Figure]:
    """Figures for one window: ours, then the forms of each rival."""
    query = cer.compile(f"SELECT * WHERE {CHAIN} WITHIN {within} EVENTS")
    number = query.count(events)
    must(len(query.hits(events)) == len(query.counts(events)), "hits and counts end at other events")
    section = f"apart: window {within:,}, {large(len(events))} events"
    times = measure({"count": partial(query.count, events), "hits": partial(query.hits, events)}, sizes.runs)
    note = f"{number:,} matches"
    case = f"c.price > a.price across b, {KEYS:,} keys"
    for asked, taken in times.items():
        yield rate(section, f"{case}, {asked}", "events", len(events), taken, note=note)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.parquet"
        pq.write_table(events, path)
        for engine in FORMS:
            yield from _rival(section, engine, within, path, number, times["count"], sizes)


def _rival(
    section: str, engine: str, within: int, path: Path, number: int, ours: Times, sizes: Sizes
) -> Iterator[Figure]:
    """An engine's forms of the query, then the ratios to the best of them."""
    if find_spec(engine) is None:
        yield Figure(section, engine, None, "s", note="it is not installed")
        return
    found: dict[str, Times] = {}
    for form in FORMS[engine]:
        case = f"{engine}, {form}"
        try:
            arguments = (engine, form, within, path, sizes.runs)
            child = in_fresh_process("bench.apart_rivals", arguments, sizes.patience)
        except (TimeoutError, ChildError) as error:
            yield Figure(section, case, None, "s", note=str(error)[:100])
            continue
        must(child["number"] == number, f"{case}: {child['number']:,}, where we say {number:,}")
        found[form] = Times(tuple(child["seconds"]))
        yield duration(section, case, found[form], note="same count")
    for what, forms in (("plain self-join", found.keys() - {BUCKETED}), ("self-join, bucketed too,", found)):
        if forms:
            best = min(forms, key=lambda form: found[form].median)
            ends = (("ours", ours), (f"{engine}, {best}", found[best]))
            yield ratio(section, f"{engine}: best {what} / ours", *ends, TARGETS[engine], best)


def priced(count: int) -> pa.Table:
    """Random events of three types and many keys, with prices that wander."""
    rng = np.random.default_rng(17)
    prices = 100 * np.exp(np.cumsum(rng.normal(0, 0.002, count)))
    kinds = pa.array(rng.integers(0, 3, count, np.int8))
    return pa.table(
        {
            "type": pa.DictionaryArray.from_arrays(kinds, pa.array(["A", "B", "C"])),
            "key": rng.integers(0, KEYS, count, np.int32),
            "place": np.arange(count),
            "price": prices,
        }
    )
