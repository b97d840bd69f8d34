"""PREV, functions and parameters, beside the same query over columns and constants that hold their values."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import cer_gpu as cer
from bench.answers import must
from bench.figures import Figure, rate, ratio
from bench.measure import measure
from bench.sizes import Sizes, large
from bench.streams import make_table, values_of

KEYS = 500
LATE = 20
"""The first hour that counts as late."""

CASES = (
    ("`PREV(price)`", "A : A AS a FILTER a[price > PREV(price)]", "A : A AS a FILTER a[price > lag]"),
    (
        f"`PREV(price)` in {KEYS} partitions",
        "A : A AS a FILTER a[price > PREV(price)] PARTITION BY [k]",
        "A : A AS a FILTER a[price > lag_in_k] PARTITION BY [k]",
    ),
    ("a rising run", "A AS a :{3,} FILTER a[price > PREV(price)]", "A AS a :{3,} FILTER a[price > lag]"),
    ("`ABS(change)`", "A ; B AS b FILTER b[ABS(change) > 45]", "A ; B AS b FILTER b[size_of_change > 45]"),
    (
        "`ABS(price - 50)`",
        "A ; B AS b FILTER b[ABS(price - 50) > 30]",
        "A ; B AS b FILTER b[price - 50 > 30 OR price - 50 < -30]",
    ),
    ("`HOUR(at)`", f"A ; B AS b FILTER b[HOUR(at) >= {LATE}]", f"A ; B AS b FILTER b[hour >= {LATE}]"),
    (
        "`HOUR(there)`, in a time zone",
        f"A ; B AS b FILTER b[HOUR(there) >= {LATE}]",
        f"A ; B AS b FILTER b[hour_there >= {LATE}]",
    ),
    ("`$p`", "A ; B AS b FILTER b[price > $p]", "A ; B AS b FILTER b[price > 90]"),
)  # fmt: skip
"""Each with the query over a value, and the query over a column that has the value."""


def values(sizes: Sizes) -> Iterator[Figure]:
    """Hits of both."""
    events = _table(sizes)
    for name, text, by_hand in CASES:
        given: dict[str, Any] = {"params": {"p": 90}} if "$" in text else {}
        one, two = (cer.compile(f"SELECT * WHERE {pattern} WITHIN 10 EVENTS") for pattern in (text, by_hand))
        functions = {"value": partial(one.hits, events, **given), "column": partial(two.hits, events)}
        must(functions["value"]().equals(functions["column"]()), name)
        times = measure(functions, sizes.runs)
        case = f"{name}, {large(sizes.events)} events"
        note = "checked by the hits of the query over a column"
        yield rate("values", case, "events", sizes.events, times["value"], note=note)
        yield rate("values", f"a column in the place of {case}", "events", sizes.events, times["column"])
        yield ratio(
            "values",
            f"{case}: time with a column / time",
            ("value", times["value"]),
            ("column", times["column"]),
            1 / 1.5,
        )


def _table(sizes: Sizes) -> pa.Table:
    """Events with the values of PREV and of functions as columns."""
    events = make_table(sizes.events, ("type", "price"))
    price = values_of(events, "price")
    rng = np.random.default_rng(3)
    keys = rng.integers(0, KEYS, len(price))
    at = np.cumsum(rng.integers(0, 2_000_000, len(price)))
    order = np.argsort(keys, kind="stable")
    lag = np.concatenate([[np.nan], price[:-1]])
    within = np.concatenate([[np.nan], price[order][:-1]])
    within[np.flatnonzero(np.diff(keys[order], prepend=-1))] = np.nan
    lag_in_k = np.empty(len(price))
    lag_in_k[order] = within
    more = {
        "k": pa.array(keys, pa.int32()),
        "at": pa.array(at, pa.timestamp("us")),
        "hour": pa.array((at // 3_600_000_000) % 24),
        "there": pa.array(at, pa.timestamp("us", "+05:30")),
        "hour_there": pa.array((at + 19_800_000_000) // 3_600_000_000 % 24),
        "change": pa.array(price - 50),
        "size_of_change": pa.array(np.abs(price - 50)),
        "lag": pa.array(lag, from_pandas=True),
        "lag_in_k": pa.array(lag_in_k, from_pandas=True),
    }
    for name, column in more.items():
        events = events.append_column(name, column)
    return events
