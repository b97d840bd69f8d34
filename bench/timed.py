"""Patterns with intervals of time: three steps with a gap each, and sessions beside window functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import cer_gpu as cer
from bench.answers import must
from bench.figures import Figure, Target, rate, ratio
from bench.measure import measure
from bench.sizes import Sizes, large
from bench.streams import TYPES, codes_of, make_table, values_of

GAP = 20
"""The longest gap between two steps, in events of a key on average."""

SCALES = {"1 ms": 1_000, "1 s": 1_000_000, "1 min": 60_000_000, "1 h": 3_600_000_000, "1 d": 86_400_000_000}
"""Gaps in microseconds: the same events at other times."""


def timed(sizes: Sizes) -> Iterator[Figure]:
    """Gaps beside one window, growing gaps, and sessions."""
    yield from _steps(sizes)
    yield from _scales(sizes)
    yield from _sessions(sizes)


def _steps(sizes: Sizes) -> Iterator[Figure]:
    events = make_table(sizes.looked, ("type", "key", "ts"))
    codes, keys, times = codes_of(events), values_of(events, "key"), values_of(events, "ts")
    for case, group, by, gap in (
        ("no key", keys * 0, "", GAP),
        ("1,000 keys", keys, "PARTITION BY key", 1000 * GAP),
    ):
        wide, narrow = 2 * gap, 3 * gap // 2
        chain = f"A ;[<= {gap}] B ;[<= {gap}] C {by}"
        forms = {
            "one WITHIN": f"A ; B ; C {by} WITHIN {wide} [ts]",
            "gaps": chain,
            "gaps, WITHIN that leaves matches out": f"{chain} WITHIN {narrow} [ts]",
        }
        for name, within in (("gaps", wide), ("gaps, WITHIN that leaves matches out", narrow)):
            query = cer.compile(f"SELECT * WHERE {forms[name]}")
            ends, number = chained(codes, group, times, gap, within)
            must(np.array_equal(_positions(query.hits(events, order_by="ts")), ends), f"hits of {name}")
            must(query.count(events, order_by="ts") == number, f"count of {name}")
        for ask in ("hits", "count"):
            functions = {name: _asking(ask, text, events) for name, text in forms.items()}
            taken = measure(functions, sizes.runs)
            for name in forms:
                title = f"{ask}, {name}, {case}, {large(sizes.looked)} events"
                yield rate("timed", title, "events", sizes.looked, taken[name], note="checked by prefix sums")
            for name in list(forms)[1:]:
                title = f"{ask}, {case}: events/s of {name} / of one WITHIN"
                ours, theirs = (name, taken[name]), ("one WITHIN", taken["one WITHIN"])
                yield ratio("timed", title, ours, theirs, 0.5)
                own, other = (times.on_processor for _, times in (ours, theirs))
                title = f"{ask}, {case}: CPU seconds of one WITHIN / of {name}"
                yield ratio("timed", title, (name, own), ("one WITHIN", other))
        for longer in (1, 7):
            # Less than one complex event for an event, and some twenty: there to list them takes the time.
            count, long = sizes.enumerated // 5, longer * gap
            some = events.slice(0, count)
            dense = f"A ;[<= {long}] B ;[<= {long}] C {by}"
            listed = partial(_listed, cer.compile(f"SELECT * WHERE {dense}"), some)
            number = chained(codes[:count], group[:count], times[:count], long, 2 * long)[1]
            must(listed() == number, f"complex events of {dense}")
            taken = measure({"run": listed}, sizes.runs)
            title = f"complex events to Arrow, {number / count:.1f} for an event, {case}"
            target = 20 if longer > 1 else None
            yield rate("timed", title, "complex events", number, taken["run"], target)


def _scales(sizes: Sizes) -> Iterator[Figure]:
    """The same events and answers, their times and gaps from 1 ms to 1 day."""
    events = make_table(sizes.looked, ("type", "ts"))
    wanted = chained(codes_of(events), 0, values_of(events, "ts"), GAP, 2 * GAP)[1]
    functions: dict[str, Callable[[], Any]] = {}
    for name, size in SCALES.items():
        moments = pa.array(values_of(events, "ts") * (size // GAP)).cast(pa.timestamp("us"))
        table = pa.table({"type": events.column("type"), "ts": moments})
        functions[name] = _asking("count", f"A ;[<= {name}] B ;[<= {name}] C", table)
        must(functions[name]() == wanted, f"count with gaps of {name}")
    taken = measure(functions, sizes.runs)
    for name in SCALES:
        yield rate("timed: sizes of gaps", f"count, gaps of {name}", "events", sizes.looked, taken[name])
    medians = [one.median for one in taken.values()]
    slowest = min(medians) / max(medians)
    yield Figure("timed: sizes of gaps", "slowest / fastest", slowest, "of 1", target=Target(0.8))


def _sessions(sizes: Sizes) -> Iterator[Figure]:
    """Runs of neighbouring clicks counted, and sessions listed, beside DuckDB and Polars."""
    from bench.session_rivals import Asked, duckdb_rival, polars_rival

    clicks = make_table(sizes.looked, ("key", "ts"))
    gap = 1500
    runs = f"SELECT STRICT * FROM Clicks WHERE Clicks+[<= {gap}] PARTITION BY key"
    session = f"FROM Clicks WHERE Clicks+[<= {gap}] NOT FOLLOWED BY [<= {gap}] Clicks PARTITION BY key"
    sized, whole = (
        cer.compile(f"SELECT {what} {session}") for what in ("MAX NONE, COUNT(Clicks) AS clicks", "MAX *")
    )
    ours: dict[Asked, Callable[[], int]] = {
        "runs": partial(cer.compile(runs).count, clicks, order_by="ts"),
        "sizes": partial(_listed, sized, clicks),
        "positions": partial(_listed, whole, clicks),
    }
    titles = {
        "runs": "runs of clicks counted (STRICT)",
        "sizes": "sessions listed with their sizes (MAX NONE, COUNT)",
        "positions": "sessions listed with their clicks (MAX)",
    }
    for asked, function in ours.items():
        what = titles[asked]
        functions = {
            "ours": function,
            "DuckDB": duckdb_rival(clicks, gap, asked),
            "Polars": polars_rival(clicks, gap, asked),
        }
        answers = {function() for function in functions.values()}
        must(len(answers) == 1, f"{what}: {answers}")
        taken = measure(functions, sizes.runs)
        for name, times in taken.items():
            title = f"{what}, {name}, {large(sizes.looked)} events"
            yield rate("timed: sessions", title, "events", sizes.looked, times, note="all three agree")
        for name in ("DuckDB", "Polars"):
            title = f"{what}: time of {name} / ours"
            yield ratio("timed: sessions", title, ("ours", taken["ours"]), (name, taken[name]), 5.0)
            own, other = taken["ours"].on_processor, taken[name].on_processor
            title = f"{what}: CPU seconds of {name} / ours"
            yield ratio("timed: sessions", title, ("ours", own), (name, other))


def _asking(ask: str, pattern: str, events: pa.Table) -> Callable[[], Any]:
    return partial(getattr(cer.compile(f"SELECT * WHERE {pattern}"), ask), events, order_by="ts")


def _positions(hits: Any) -> np.ndarray:
    found: np.ndarray = hits.column("position").to_numpy()
    return found


def _listed(query: cer.Query, events: pa.Table) -> int:
    return sum(len(batch) for batch in query.run(events, order_by="ts").batches())


def chained(
    codes: np.ndarray, keys: np.ndarray | int, times: np.ndarray, gap: int, within: int
) -> tuple[np.ndarray, int]:
    """Where `A ;[<= gap] B ;[<= gap] C WITHIN within` ends, and how many complex events there are.

    For each C the B's at most `gap` before it are in two groups: for the later ones only the gap decides
    which A's come before, for the earlier ones the window does.

    Parameters
    ----------
    codes, keys, times : ndarray, shape (n,)
        `times` ascends, without ties.
    """
    span = int(times.max(initial=0)) + 2 * within + 2
    moments = keys * span + times
    a, b, c = (np.sort(moments[codes == TYPES.index(name)]) for name in "ABC")
    before = np.searchsorted(a, b)
    all_of_b = np.append(0, np.cumsum(before - np.searchsorted(a, b - gap)))
    sums = np.append(0, np.cumsum(before))
    first, last = np.searchsorted(b, c - min(gap, within)), np.searchsorted(b, c)
    middle = np.clip(np.searchsorted(b, c - within + gap), first, last)
    number = all_of_b[last] - all_of_b[middle]
    number += sums[middle] - sums[first] - (middle - first) * np.searchsorted(a, c - within)
    ends = np.flatnonzero(codes == TYPES.index("C"))
    order = np.argsort(moments[ends], kind="stable")
    return np.sort(ends[order][number > 0]), int(number.sum())
