"""The sections of joins by equality: beside rivals that list the same answers, and over growing windows."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import cer_gpu as cer
from bench import answers
from bench.figures import Figure, Target, duration, rate
from bench.fresh import ChildError, in_fresh_process
from bench.join_rivals import BUCKETED, FORMS
from bench.joined import (
    CHAIN,
    EVENTS_PER_KEY,
    Q0,
    STAR,
    Join,
    Listed,
    by_sorted_arrays,
    key_shares,
    make_stream,
    of_batches,
    rows_for_sql,
)
from bench.measure import Times, measure
from bench.sizes import Sizes, large
from cer_gpu.engine.machines.joins import JoinRunner
from cer_gpu.enumeration.products import JoinAnswers
from tests.products_walk import longest_walk

LOADING_S = 40.0
"""Seconds that a rival may take to load its tables, besides its runs."""
WALKED = 200
"""Hits, and answers of each, on which the delay is measured."""


def join_rivals(sizes: Sizes) -> Iterator[Figure]:
    """All answers of joins listed to Arrow, beside self-joins in SQL that list the same answers."""
    for join, skewed in ((STAR, False), (STAR, True), (Q0, False), (CHAIN, False)):
        shares = key_shares(max(sizes.joined // EVENTS_PER_KEY, 1), skewed)
        events = make_stream(join, sizes.joined, shares)
        within = join.within(shares)
        section = f"join {join.name}, {'skewed' if skewed else 'uniform'} keys"
        query = cer.compile(join.text.format(w=within))
        expected = by_sorted_arrays(join, events, within)
        found = of_batches(join, iter(query.run(events).batches()))
        answers.must(found == expected, f"{section}: {found}, by sorted arrays {expected}")
        times = measure(
            {
                "list": partial(_drained, query, events),
                "count": partial(query.count, events),
                "hits": partial(query.hits, events),
            },
            sizes.runs,
        )
        case = f"{large(sizes.joined)} events, {len(shares):,} keys, window {within:,}"
        note = f"{expected.number:,} answers, checked by sorted arrays"
        target = 5 if not skewed else None
        yield rate(section, case, "events", sizes.joined, times["list"], target, note)
        for name in ("count", "hits"):
            yield rate(section, name, "events", sizes.joined, times[name])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            pq.write_table(rows_for_sql(join, events), path)
            for engine in FORMS:
                yield from _rival(section, engine, join, within, path, expected, times["list"], sizes)


def _drained(query: cer.Query, events: pa.Table) -> int:
    """List all answers, and drop them."""
    return sum(len(batch) for batch in query.run(events).batches())


def _rival(
    section: str,
    engine: str,
    join: Join,
    within: int,
    path: Path,
    expected: Listed,
    ours: Times,
    sizes: Sizes,
) -> Iterator[Figure]:
    """An engine's forms of the join, then the ratios to the best of them."""
    if find_spec(engine) is None:
        yield Figure(section, engine, None, "s", note="it is not installed")
        return
    found: dict[str, Times] = {}
    for form in FORMS[engine]:
        case = f"{engine}, {form}"
        asked = (engine, form, join.name, within, path, sizes.runs, sizes.patience)
        try:
            child = in_fresh_process("bench.join_rivals", asked, sizes.patience + LOADING_S)
        except (TimeoutError, ChildError) as error:
            yield Figure(section, case, None, "s", note=str(error))
            continue
        listed = Listed(child["number"], child["checksum"])
        answers.must(listed == expected, f"{section}, {case}: {listed}, ours {expected}")
        found[form] = Times(tuple(child["seconds"]))
        yield duration(section, case, found[form], note="same answers")
    plain = [times.median for form, times in found.items() if form != BUCKETED]
    for what, medians in (("plain", plain), ("any", [times.median for times in found.values()])):
        if medians:
            value = min(medians) / ours.median
            yield Figure(section, f"{engine}, best {what} self-join / ours", value, "times", target=Target(2))


def join_update(sizes: Sizes) -> Iterator[Figure]:
    """Time for an event, and steps between two answers, for windows of 10^2 to 10^7 events."""
    shares = key_shares(max(sizes.updated // EVENTS_PER_KEY, 1), False)
    events = make_stream(Q0, sizes.updated, shares)
    windows = [10**power for power in range(2, 8) if 10**power <= sizes.updated]
    for within in windows:
        query = cer.compile(Q0.text.format(w=within))
        built: list[JoinAnswers] = []
        times = measure(
            {"hits": partial(query.hits, events), "count": partial(query.count, events)}, sizes.runs
        )
        with Noted(built):
            number = query.count(events)
        answers.must(number == count_q0(events, within), f"window {within}: {number:,} answers")
        nodes = sum(len(unit.arena) for found in built for unit in found._units)
        for name in ("hits", "count"):
            taken = Times(tuple(seconds * 1e9 / sizes.updated for seconds in times[name].seconds))
            note = f"{number:,} answers" if name == "hits" else f"{nodes / sizes.updated:.2f} nodes an event"
            yield Figure(
                "join update", f"{name}, window {within:,}", taken.median, "ns an event", taken.least,
                taken.most, note=note, seconds=((name, times[name]),),
            )  # fmt: skip
        walks = (
            longest_walk(unit, hit, WALKED)
            for found in built[-1:]
            for unit in found._units[-1:]
            for hit in islice(range(len(unit.hits.event) - 1, -1, -1), WALKED)
        )
        yield Figure("join update", f"delay, window {within:,}", max(walks, default=0.0), "steps an event")


class Noted:
    """Notes the structures that are built inside a `with` block."""

    def __init__(self, built: list[JoinAnswers]) -> None:
        self._built = built
        self._original = JoinRunner.structure

    def __enter__(self) -> None:
        original, built = self._original, self._built

        def structure(executor: JoinRunner, chunk: object, hits: object) -> JoinAnswers:
            found = original(executor, chunk, hits)  # type: ignore[arg-type]
            built.append(found)
            return found

        JoinRunner.structure = structure  # type: ignore[method-assign, assignment]

    def __exit__(self, *_: object) -> None:
        JoinRunner.structure = self._original  # type: ignore[method-assign]


def count_q0(events: pa.Table, within: int) -> int:
    """The number of answers of Q_0: for each pair of S and R, two binary searches count the T's."""
    codes = events.column("type").chunk(0).indices.to_numpy()
    x = events.column("x").chunk(0).to_numpy()
    y = events.column("y").chunk(0).to_numpy()
    span = 4 * len(codes) + 4 * within
    place = np.arange(len(codes))
    t, s, r = (np.flatnonzero(codes == Q0.atoms.index(name)) for name in "TSR")
    thirds = np.sort(x[t] * span + t)
    order = np.argsort((x[r] * 4 + y[r]) * span + r)
    keys = ((x[r] * 4 + y[r]) * span + r)[order]
    total = 0
    for low in range(0, len(s), 1 << 16):
        one = s[low : low + (1 << 16)]
        base = (x[one] * 4 + y[one]) * span
        begin = np.searchsorted(keys, base + one - within)
        stop = np.searchsorted(keys, base + one + within, side="right")
        number = stop - begin
        rows = np.repeat(np.arange(len(one)), number)
        at = np.repeat(begin, number) + np.arange(len(rows)) - np.repeat(np.cumsum(number) - number, number)
        first, second = place[one][rows], r[order][at]
        key = x[first] * span
        found = np.searchsorted(thirds, key + np.minimum(first, second) + within, side="right")
        total += int((found - np.searchsorted(thirds, key + np.maximum(first, second) - within)).sum())
    return total
