"""`A ; B WITHIN n [x]` where x ascends, is sometimes null, falls now and then, or goes up and down."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa

import cer_gpu as cer
from bench.answers import must
from bench.figures import Figure, rate
from bench.measure import measure
from bench.sizes import Sizes, large
from bench.streams import codes_of, make_table

WITHIN = 30
"""The window; an attribute that ascends does so by one with each event."""

BLOCK = 1024
"""Ends that the second method checks at once."""

LATEST = 1000
"""Ends of which the latest start is checked."""

LISTED = 3
"""Complex events of each end that are listed."""

KEYS = ("ascends", "ascends, one in 100 is null", "begins anew every 10,000 events", "goes up and down")


def attributes(sizes: Sizes) -> Iterator[Figure]:
    """Hits, counts and complex events, in one partition."""
    events = make_table(sizes.measured, ("type",))
    for name in KEYS:
        keys, valid = keys_of(name, sizes.measured)
        table = events.append_column("x", pa.array(keys, mask=~valid))
        query = cer.compile(f"SELECT * WHERE A ; B WITHIN {WITHIN} [x]")
        some = cer.compile(f"SELECT * WHERE A ; B WITHIN {WITHIN} [x] LIMIT {LISTED}")
        starts, ends, number = pairs(codes_of(events), keys, valid)
        _check(query, table, keys, starts, ends, number)
        listed = int(np.minimum(number, LISTED).sum())
        rows = some.run(table).to_arrow()
        start, end = (rows.column(side).to_numpy() for side in ("start", "end"))
        inside = (start < end) & (keys[end] - keys[start] <= WITHIN) & valid[start] & valid[end]
        must(bool(inside.all()) and len(rows) == listed, f"complex events where x {name}")
        functions = {
            "hits": partial(query.hits, table),
            "count": partial(query.count, table),
            f"at most {LISTED} complex events of each end": partial(_listed, some, table),
        }
        for product, taken in measure(functions, sizes.runs).items():
            case = f"{product}, x {name}, {large(sizes.measured)} events"
            note = f"{int(number.sum()):,} complex events at {len(ends):,} ends"
            yield rate("attributes", case, "events", sizes.measured, taken, note=note)


def _check(
    query: cer.Query,
    table: pa.Table,
    keys: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    number: np.ndarray,
) -> None:
    counts = query.counts(table)
    must(
        np.array_equal(counts.column("position").to_numpy(), ends)
        and np.array_equal(counts.column("count").to_numpy(), number),
        f"counts of {query.text}",
    )
    hits = query.hits(table)
    must(np.array_equal(hits.column("position").to_numpy(), ends), f"hits of {query.text}")
    latest = hits.column("latest_start").to_numpy()
    for place in np.linspace(0, len(ends) - 1, min(LATEST, len(ends)), dtype=np.int64).tolist():
        before = starts[: np.searchsorted(starts, ends[place])]
        admitted = before[keys[ends[place]] - keys[before] <= WITHIN]
        must(latest[place] == admitted[-1], f"latest starts of {query.text}")


def _listed(query: cer.Query, events: pa.Table) -> int:
    return sum(len(batch) for batch in query.run(events).batches())


def keys_of(name: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """An attribute of `count` events, and whether each event has one."""
    numbers, valid = np.arange(count), np.ones(count, bool)
    rng = np.random.default_rng(20130101)
    if name == KEYS[1]:
        valid = rng.random(count) >= 0.01
    elif name == KEYS[2]:
        numbers = numbers % 10_000
    elif name == KEYS[3]:
        numbers = rng.integers(0, 100, count)
    return numbers, valid


def pairs(
    codes: np.ndarray, keys: np.ndarray, valid: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The second method: for each B, how many earlier A's are at most `WITHIN` below it, by sorted keys.

    Returns
    -------
    starts, ends, number : ndarray of int64
        All A's, and those B's that have some, without events that have no key; and how many each B has.
    """
    starts, ends = (np.flatnonzero((codes == code) & valid) for code in (0, 1))
    number = np.zeros(len(ends), np.int64)
    seen, done = np.empty(0, np.int64), 0
    for low in range(0, len(ends), BLOCK):
        part = ends[low : low + BLOCK]
        new = int(np.searchsorted(starts, part[0]))
        seen, done = np.sort(np.concatenate([seen, keys[starts[done:new]]]), kind="stable"), new
        near = starts[new : np.searchsorted(starts, part[-1])]
        among = (near[None, :] < part[:, None]) & (keys[part][:, None] - keys[near][None, :] <= WITHIN)
        number[low : low + BLOCK] = len(seen) - np.searchsorted(seen, keys[part] - WITHIN) + among.sum(axis=1)
    return starts, ends[number > 0], number[number > 0]
