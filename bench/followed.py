"""FOLLOWED BY and PRECEDED BY beside a sequence over the same events, with and without a key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

import cer_gpu as cer
from bench.answers import must
from bench.figures import Figure, Target, rate, ratio
from bench.measure import measure
from bench.sizes import Sizes, large
from bench.streams import TYPES, codes_of, make_table, values_of

REACH = 10_000
"""The interval, in units of time: there is one event each."""

MOST = 1.5
"""The most times the time of the sequence that it may take."""

WITHOUT = "A ; B"

FORMS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    f"A NOT FOLLOWED BY [<= {REACH}] B": lambda gap: gap > REACH,
    f"A FOLLOWED BY [<= {REACH}] B": lambda gap: gap <= REACH,
    "A FOLLOWED BY B": lambda gap: gap < np.inf,
    f"A PRECEDED BY [<= {REACH}] B": lambda gap: gap <= REACH,
    f"A NOT PRECEDED BY [{REACH // 10}, {REACH}] B": lambda gap: gap > REACH,
}
"""The queries, and the condition of each on the time to the nearest B that is far enough."""


def followed(sizes: Sizes) -> Iterator[Figure]:
    """`hits` of each form, and of the sequence that reads the same events."""
    events = make_table(sizes.looked, ("type", "key", "ts"))
    codes, keys, times = codes_of(events), values_of(events, "key"), values_of(events, "ts")
    for case, group, by in (("1,000 keys", keys, "PARTITION BY key"), ("no key", keys * 0, "")):
        window = f"WITHIN {REACH} [ts]"
        functions = {WITHOUT: _hits(f"{WITHOUT} {by} {window}", events)}
        for text, holds in FORMS.items():
            gap = gaps(codes, group, times, "PRECEDED" in text, REACH // 10 if "," in text else 0)
            wanted = times[codes == TYPES.index("A")][holds(gap)]
            functions[text] = _hits(f"{text} {by}", events)
            found = functions[text]().column("position").to_numpy()
            must(np.array_equal(found, wanted), f"hits of {text} {by}")
        taken = measure(functions, sizes.runs)
        for text in functions:
            title = f"{text}, {case}, {large(sizes.looked)} events"
            yield rate("followed", title, "events", sizes.looked, taken[text], note="checked by searches")
        for text in FORMS:
            title = f"{text}, {case}: its time / that of `{WITHOUT}` in a window"
            found = ratio("followed", title, (WITHOUT, taken[WITHOUT]), (text, taken[text]))
            yield replace(found, target=Target(MOST, most=True))


def _hits(text: str, events: pa.Table) -> Callable[[], pa.Table]:
    return partial(cer.compile(f"SELECT * WHERE {text}").hits, events, order_by="ts")


def gaps(codes: np.ndarray, keys: np.ndarray, times: np.ndarray, before: bool, low: int) -> np.ndarray:
    """For each A the time to the nearest B of its key after it, or before it, at least `low` away.

    Parameters
    ----------
    codes, keys, times : ndarray, shape (n,)
        `times` ascends, without ties.

    Returns
    -------
    ndarray, shape (number of A,), float64
        Infinite if there is none.
    """
    width = int(times.max(initial=0)) + 1
    asks, others = (np.flatnonzero(codes == TYPES.index(name)) for name in "AB")
    there = np.sort(keys[others] * width + times[others])
    own = keys[asks] * width + times[asks]
    at = np.searchsorted(there, own - low, "right") - 1 if before else np.searchsorted(there, own + low)
    found = (at >= 0) & (at < len(there))
    nearest = there[np.where(found, at, 0)] if len(there) else own
    same = found & (nearest // width == keys[asks])
    return np.where(same, np.abs(own - nearest), np.inf)
