"""Trades whose prices wander, and the number and checksum of answers about them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

KEYS = 1000
NULL = -7
"""What a checksum adds for a null."""


class Found(NamedTuple):
    """Answers in short.

    Attributes
    ----------
    rows : int
    checksum : int
        The sum over all rows of each value times 1, 3, 5, ... by its column, modulo 2**64. The order of rows
        does not matter.
    """

    rows: int
    checksum: int


class Trades(NamedTuple):
    """The columns of trades, sorted by key and time; each of shape (n,) and int64.

    Attributes
    ----------
    keys, times, prices, volumes : ndarray
        Times in milliseconds.
    begins : ndarray of bool
        Whether it is the first trade of its key.
    """

    keys: np.ndarray
    times: np.ndarray
    prices: np.ndarray
    volumes: np.ndarray
    begins: np.ndarray


def make_trades(count: int) -> pa.Table:
    """A trade each millisecond, of a thousand keys by chance.

    The price is a whole number, at most 4 above or below that of the trade before it of the key. The volume
    is 1 to 99.
    """
    rng = np.random.default_rng(40)
    keys, steps = rng.integers(0, KEYS, count), rng.integers(-4, 5, count)
    order = np.argsort(keys, kind="stable")
    begins = _begins(keys[order])
    sums = np.cumsum(steps[order])
    sums -= sums[np.maximum.accumulate(np.where(begins, np.arange(count), 0))]
    prices = np.empty(count, np.int64)
    prices[order] = 10_000 + sums
    return pa.table(
        {
            "key": keys,
            "ts": pa.array(np.arange(count)).cast(pa.timestamp("ms")),
            "price": prices,
            "volume": rng.integers(1, 100, count),
        }
    )


def sorted_trades(table: pa.Table) -> Trades:
    """Trades by key and time."""
    keys, times, prices, volumes = (column.cast(pa.int64()).to_numpy() for column in table.columns)
    order = np.argsort(keys, kind="stable")
    return Trades(keys[order], times[order], prices[order], volumes[order], _begins(keys[order]))


def found_in(columns: pa.Table | list[np.ndarray]) -> Found:
    """The number and the checksum of rows; an array has `NULL` for a null."""
    if isinstance(columns, pa.Table):
        columns = [pc.fill_null(column.cast(pa.int64()), NULL).to_numpy() for column in columns.columns]
    with np.errstate(over="ignore"):
        total = sum(int((column * (2 * place + 1)).sum()) for place, column in enumerate(columns))
    return Found(len(columns[0]), (total + (1 << 63)) % (1 << 64) - (1 << 63))


def _begins(keys: np.ndarray) -> np.ndarray:
    return np.diff(keys, prepend=-1) != 0
