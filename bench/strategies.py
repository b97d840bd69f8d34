"""The same pattern under every selection strategy, side by side: hits, counts and complex events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pyarrow as pa

import cer_gpu as cer
from bench import formula
from bench.answers import must
from bench.figures import Figure, rate, ratio
from bench.measure import Times, measure
from bench.queries import Positions, ThreeSteps
from bench.sizes import Sizes, large
from bench.streams import codes_of, make_table, values_of

STRATEGIES = ("ALL", "NEXT", "LAST", "MAX", "STRICT")
WITHIN = (100, 1000, 10_000)
ANSWERS = 20_000_000
"""The most complex events that are listed: ALL has more in a long window."""


def strategies(sizes: Sizes) -> Iterator[Figure]:
    """`A ; B ; C` with three filters that keep 3 % of the events, in windows of three lengths."""
    events = make_table(sizes.enumerated, ("type", "price"))
    codes, prices = codes_of(events), values_of(events, "price")
    for within in WITHIN:
        steps = ThreeSteps(within=within)
        positions = steps.positions(codes, prices)
        found = {name: chosen(name, positions, within) for name in STRATEGIES}
        section = f"strategies, window {within:,}"
        for product, functions in _runs(steps, events, positions, found).items():
            times = measure(functions, sizes.runs)
            for name, taken in times.items():
                number = f"{int(found[name][1].sum()):,} complex events at {len(found[name][0]):,} ends"
                case = f"{product}, {name}, {large(sizes.enumerated)} events"
                yield rate(section, case, "events", sizes.enumerated, taken, note=number)
            if product == "hits":
                yield _half(section, times)


def _half(section: str, times: dict[str, Times]) -> Figure:
    return ratio(section, "hits: time of ALL / NEXT", ("NEXT", times["NEXT"]), ("ALL", times["ALL"]), 0.5)


def _runs(
    steps: ThreeSteps,
    events: pa.Table,
    positions: Positions,
    found: dict[str, tuple[np.ndarray, np.ndarray]],
) -> dict[str, dict[str, Callable[[], object]]]:
    """What is timed, checked against the second method: for each product the strategies."""
    runs: dict[str, dict[str, Callable[[], object]]] = {"hits": {}, "count": {}, "run": {}}
    for name, (ends, number) in found.items():
        query = cer.compile(steps.text.replace("SELECT", f"SELECT {name}", 1))
        hits = query.hits(events).column("position").to_numpy()
        must(np.array_equal(hits, ends), f"hits under {name}")
        counts = query.counts(events)
        must(
            np.array_equal(counts.column("position").to_numpy(), ends)
            and np.array_equal(counts.column("count").to_numpy(), number),
            f"counts under {name}",
        )
        runs["hits"][name] = partial(query.hits, events)
        runs["count"][name] = partial(query.count, events)
        if number.sum() <= ANSWERS:
            rows = query.run(events).to_arrow()
            must(len(rows) == number.sum(), f"complex events under {name}")
            for variable, wanted in one_each(name, positions, ends, steps.within).items():
                marked = rows.column(variable).combine_chunks().flatten().to_numpy()
                must(np.array_equal(marked, wanted), f"events of {variable} under {name}")
            runs["run"][name] = partial(_listed, query, events)
    return runs


def _listed(query: cer.Query, events: pa.Table) -> int:
    return sum(len(batch) for batch in query.run(events).batches())


def chosen(name: str, positions: Positions, within: int) -> tuple[np.ndarray, np.ndarray]:
    """The ends of `A ; B ; C` under a strategy, and how many complex events are left at each.

    NEXT and LAST leave one wherever there is any; MAX leaves all, because all have three events; STRICT
    leaves those of three neighbouring events.

    Returns
    -------
    ends, number : ndarray of int64
    """
    a, b, c = positions
    if name == "STRICT":
        ends = c[np.isin(c - 1, b) & np.isin(c - 2, a)] if within >= 2 else c[:0]
        return ends, np.ones(len(ends), np.int64)
    number = formula.counts(a, b, c, within)
    ends, number = c[number > 0], number[number > 0]
    return ends, number if name in ("ALL", "MAX") else np.ones(len(ends), np.int64)


def one_each(name: str, positions: Positions, ends: np.ndarray, within: int) -> dict[str, np.ndarray]:
    """The events of the one complex event at each end; empty if a strategy leaves several.

    NEXT takes the first a in the window and the first b after it, LAST the last b and the last a before it.
    """
    a, b, _ = positions
    if name == "NEXT":
        first = a[np.searchsorted(a, ends - within)]
        return {"a": first, "b": b[np.searchsorted(b, first)], "c": ends}
    if name == "LAST":
        last = b[np.searchsorted(b, ends) - 1]
        return {"a": a[np.searchsorted(a, last) - 1], "b": last, "c": ends}
    return {"a": ends - 2, "b": ends - 1, "c": ends} if name == "STRICT" else {}
