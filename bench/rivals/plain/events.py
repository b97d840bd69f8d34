"""The events of the plain questions: a shop, its log-ins, its prices and its network, in one table."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

SEED = 38

TYPES = ("view", "cart", "buy", "fail", "login", "tick")

USERS, SYMBOLS, SOURCES, TARGETS = 50_000, 500, 20_000, 1000

GAP = 69_120
"""Microseconds between two events on average: 5 million events are four days."""

SCAN, SCANNED = 16, 0.02
"""Events in a row that one source may send, and the share of such rows."""


def made(number: int, share: float = 1.0) -> pa.Table:
    """Random events in the order of time; no two have the same time.

    Parameters
    ----------
    number : int
        How many.
    share : float
        The share of users, symbols and sources; events are so much rarer that each key has as many an hour.

    Returns
    -------
    pyarrow.Table
        `ts` (timestamp[us]), `type` and `symbol` (text), `user_id`, `source`, `target` and `size` (int64),
        `price` (float64). Sizes are 1 to 100; prices are normal around 100 with a deviation of 5. Types,
        users, symbols, sources and targets are equally likely, but for rows of `SCAN` events that come from
        one source.
    """
    random = np.random.default_rng(SEED)
    times = np.int64(1_700_000_000_000_000) + np.cumsum(random.integers(1, int(2 * GAP / share), number))
    source = random.integers(0, int(SOURCES * share), number)
    scans = np.flatnonzero(random.random(number // SCAN) < SCANNED)
    for begin in (scans * SCAN).tolist():
        source[begin : begin + SCAN] = source[begin]
    symbols = [f"S{one:03d}" for one in range(int(SYMBOLS * share))]
    return pa.table(
        {
            "ts": pa.array(times).cast(pa.timestamp("us")),
            "type": _texts(random.integers(0, len(TYPES), number), TYPES),
            "user_id": random.integers(0, int(USERS * share), number),
            "symbol": _texts(random.integers(0, len(symbols), number), symbols),
            "price": random.normal(100, 5, number).round(2),
            "size": random.integers(1, 101, number),
            "source": source,
            "target": random.integers(0, TARGETS, number),
        }
    )


def _texts(codes: np.ndarray, texts: tuple[str, ...] | list[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype("int32")), list(texts)).dictionary_decode()
