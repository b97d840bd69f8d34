"""Automata with one clock on a stream: the cost of an event, and of an answer, as intervals grow."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

import cer_gpu as cer
from bench.answers import must
from bench.figures import Figure, Target, rate
from bench.measure import Times
from bench.sizes import Sizes, large

BATCH = 100_000
"""Events of one push."""

SPARSE = 4
"""B's in an interval."""

FLAT = 1.2
"""The rate of the smallest interval may be at most this many times that of the largest."""


class Clocked(NamedTuple):
    """A pattern of A's with a few B's and one C, and the number of its answers.

    Attributes
    ----------
    text : str
        With `{0}` for the interval in events; there is one event each millisecond.
    lower : bool
        Whether its intervals bound times from below.
    """

    text: str
    lower: bool = False

    def answers(self, kinds: np.ndarray, interval: int) -> int:
        """How many pairs of an A and a B end at the last event, by sums over A's."""
        a, last = np.cumsum(kinds == 0), len(kinds) - 1
        b = np.flatnonzero(kinds == 1)
        if self.lower:
            b = b[b >= last - 2 * interval]
            return int(_between(a, np.maximum(last - 2 * interval, 0), b - interval).sum())
        b = b[b >= last - interval]
        return int(_between(a, b - interval, b).sum())


PATTERNS = {
    "A ;[<= t] B ;[<= t] C": Clocked("A ;[<= {0} ms] B ;[<= {0} ms] C"),
    "A ;[>= t] B ; C within 2 t": Clocked("(A ;[>= {0} ms] B) ; C WITHIN {1} MILLISECONDS", True),
}


def clocked(sizes: Sizes) -> Iterator[Figure]:
    """Events a second that are pushed, and answers a second that are listed, at growing intervals."""
    for name, pattern in PATTERNS.items():
        pushed, listed = {}, {}
        for interval in (sizes.clocked // 400, sizes.clocked // 40, sizes.clocked // 4):
            kinds = _kinds(sizes.clocked, interval)
            wanted = pattern.answers(kinds, interval)
            pushed[interval], listed[interval] = _times(pattern, kinds, interval, wanted, sizes.runs)
            case = f"{name}, t of {large(interval)} events"
            yield rate(
                "clock: update", case, "events", len(kinds), pushed[interval], None, "see clock: answers"
            )
            note = f"{wanted:,} answers, counted by sums over A's"
            yield rate("clock: answers", case, "answers", wanted, listed[interval], None, note)
        least, most = min(pushed), max(pushed)
        yield Figure(
            "clock: update",
            f"{name}: time of an event at t of {large(most)} / at {large(least)} events",
            pushed[most].median / pushed[least].median,
            "times",
            target=Target(FLAT, most=True),
        )


def _times(pattern: Clocked, kinds: np.ndarray, interval: int, wanted: int, runs: int) -> tuple[Times, Times]:
    """The times of pushing all events, and of listing what ends at the last one; the answers are checked."""
    pushing, listing = [], []
    tables = list(_tables(kinds))
    query = cer.compile(f"SELECT * WHERE {pattern.text.format(interval, 2 * interval)}")
    for run in range(runs + 1):
        with query.stream(order_by="ts", order_unit="ms", device="cpu", engine="clock") as stream:
            begin = time.perf_counter()
            for table in tables:
                found = stream.push(table)
            middle = time.perf_counter()
            number = sum(len(batch) for batch in found.batches())
            end = time.perf_counter()
        must(number == wanted, f"{wanted:,} answers of {pattern.text}, not {number:,}")
        if run:
            pushing.append(middle - begin)
            listing.append(end - middle)
    return Times(tuple(pushing)), Times(tuple(listing))


def _kinds(count: int, interval: int) -> np.ndarray:
    """A's, a B now and then, and a C in the end: 0, 1 and 2."""
    kinds = np.zeros(count, np.int32)
    kinds[:: interval // SPARSE] = 1
    kinds[-1] = 2
    return kinds


def _tables(kinds: np.ndarray) -> Iterator[pa.Table]:
    for low in range(0, len(kinds), BATCH):
        part = kinds[low : low + BATCH]
        types = pa.DictionaryArray.from_arrays(part, pa.array(["A", "B", "C"]))
        yield pa.table({"type": types, "ts": np.arange(low, low + len(part))})


def _between(counts: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """How many A's lie from `low` to `high`, both in, where `counts` are their prefix sums."""
    low, high = np.broadcast_arrays(low, high)
    before = np.where(low > 0, counts[np.maximum(low, 1) - 1], 0)
    return np.where(high >= low, counts[np.maximum(high, 0)] - before, 0)
