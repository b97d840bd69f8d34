"""`A {200,}` beside `A+`: a counted repetition should cost an event no more than an uncounted one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa

import cer_gpu as cer
from bench.answers import must
from bench.figures import Figure, duration, rate, ratio
from bench.measure import measure
from bench.sizes import Sizes, large
from bench.streams import PRICES, codes_of, make_table, values_of

SHARES = (0.01, 0.1, 1.0)
"""The share of the A that the filter keeps."""

LEAST = 200


def counted(sizes: Sizes) -> Iterator[Figure]:
    """Hits of both, and the time to compile the counted one."""
    events = make_table(sizes.events, ("type", "price"))
    codes, prices = codes_of(events), values_of(events, "price")
    for share in SHARES:
        above = round(PRICES * (1 - share), 6) if share < 1 else -1.0
        plain, counting = (text(sign, above) for sign in ("+", f"{{{LEAST},}}"))
        places = np.flatnonzero((codes == 0) & (prices > above))
        functions = {
            "counted": partial(hits, cer.compile(counting), events),
            "plain": partial(hits, cer.compile(plain), events),
        }
        for name, least in (("counted", LEAST), ("plain", 1)):
            told = functions[name]()
            ends = places[least - 1 :]
            right = np.array_equal(told.column("position").to_numpy(), ends) and np.array_equal(
                told.column("latest_start").to_numpy(), places[: len(ends)]
            )
            must(right, f"hits of A, {least} or more")
        times = measure(functions, sizes.runs)
        case = f"{large(sizes.events)} events, the filter keeps {share:.0%} of A"
        note = "checked by the places of the A that are kept"
        yield rate("counted", f"`{{{LEAST},}}`, {case}", "events", sizes.events, times["counted"], note=note)
        yield rate("counted", f"`+`, {case}", "events", sizes.events, times["plain"], note=note)
        yield ratio(
            "counted",
            f"{case}: time of `+` / time of `{{{LEAST},}}`",
            ("counted", times["counted"]),
            ("plain", times["plain"]),
            1.0,
        )
    compiled = measure({"compiled": partial(planned, text(f"{{{LEAST},}}", 50.0))}, sizes.runs)
    yield duration("counted", f"compile `A {{{LEAST},}}`", compiled["compiled"])


def text(sign: str, above: float) -> str:
    """The query with a repetition."""
    return f"SELECT * WHERE A {sign} AS a FILTER a[price > {above}] WITHIN 100000000 EVENTS"


def hits(query: cer.Query, events: pa.Table) -> pa.Table:
    """The hits of the query: what is timed."""
    return query.hits(events)


def planned(query: str) -> str:
    """Compile a query, with its automaton."""
    return cer.compile(query).explain()
