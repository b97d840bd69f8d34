"""What backtests are measured with: variants of a template, a hundred other queries, and their events."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import cer_gpu as cer

TEMPLATE = (
    "SELECT * FROM S WHERE (T0 AS a FILTER a[price > $p]) ; (T1 AS b FILTER b[size > $s]) ; "
    "(T2 AS c FILTER c[price > 90]) WITHIN $w"
)

WINDOWS = ("1 s", "2 s", "5 s", "10 s")

TYPES = 15

APART = 10
"""Milliseconds between two events, on average."""


class ThreeOthers:
    """A sequence of three steps as a query, and what other engines make their joins of."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.types = tuple(f"T{number}" for number in rng.choice(TYPES, 3, replace=False))
        self.price, self.size = round(float(rng.uniform(90, 110)), 2), int(rng.integers(100, 900))
        self.within = int(rng.choice([1000, 2000, 5000]))
        a, b, c = self.types
        self.text = (
            f"SELECT * FROM S WHERE ({a} AS a FILTER a[price > {self.price}]) ; "
            f"({b} AS b FILTER b[size > {self.size}]) ; {c} WITHIN {self.within} ms"
        )


def three_others(count: int) -> list[ThreeOthers]:
    """Queries that have nothing to do with one another."""
    rng = np.random.default_rng(3)
    return [ThreeOthers(rng) for _ in range(count)]


def others(count: int) -> list[str]:
    """Their texts."""
    return [one.text for one in three_others(count)]


def sweep_of(thresholds: int) -> cer.Variants:
    """The template with so many thresholds of each of two columns, and four windows."""
    prices = np.linspace(90, 120, thresholds).round(2).tolist()
    sizes = np.linspace(100, 900, thresholds).round().tolist()
    return cer.sweep(TEMPLATE, p=prices, s=sizes, w=WINDOWS)


def ticks(count: int, part: int = 0) -> pa.Table:
    """Events of fifteen types with a price and a size; part after part they follow one another in time."""
    rng = np.random.default_rng(1 + part)
    types = pa.array([f"T{number}" for number in range(TYPES)])
    begin = part * 2 * APART * count
    return pa.table(
        {
            "type": pa.DictionaryArray.from_arrays(rng.choice(TYPES, count).astype(np.int8), types),
            "ts": pa.array((begin + np.cumsum(rng.integers(0, 2 * APART, count))).astype("datetime64[ms]")),
            "price": rng.normal(100, 10, count),
            "size": rng.integers(1, 1000, count),
        }
    )
