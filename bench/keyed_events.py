"""Keyed windows that count events: three steps for each key, whatever the key is made of."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import cer_gpu as cer
from bench import formula
from bench.answers import must
from bench.figures import Figure, duration, rate, ratio
from bench.fresh import ChildError, in_fresh_process
from bench.keyed_rivals import NUMBERED
from bench.measure import Times, measure
from bench.queries import Positions
from bench.sizes import Sizes, large
from bench.streams import TYPES, codes_of, make_table, values_of

WITHIN = 100
"""The window, in events of the key."""

LIMIT_S = 120.0
"""Seconds that a rival may take with all its runs."""

MANY = 200
"""How many keys of `many` there are for each of `key`."""


@dataclass(frozen=True, slots=True)
class NumberedSteps:
    """`A AS a ; B AS b ; C AS c` for each key, in a window of its events.

    Attributes
    ----------
    key : tuple of str
        The columns that are the key.
    within : int
        The window in events.
    """

    key: tuple[str, ...]
    within: int = WITHIN

    @property
    def text(self) -> str:
        """The query in CEQL."""
        return (
            "SELECT a, b, c FROM S WHERE A AS a ; B AS b ; C AS c "
            f"PARTITION BY {', '.join(self.key)} WITHIN {self.within} EVENTS"
        )

    def positions(self, events: pa.Table) -> Positions:
        """For A, B and C each, the key of an event and its number there as one number, ascending.

        No window holds events of two keys.
        """
        keys = keys_of(events, self.key)
        order = np.argsort(keys, kind="stable")
        begin = np.searchsorted(keys[order], keys[order])
        numbers = np.empty(len(keys), np.int64)
        numbers[order] = np.arange(len(keys)) - begin
        whole = keys * (len(keys) + self.within + 1) + numbers
        codes = codes_of(events)
        a, b, c = (np.sort(whole[codes == TYPES.index(name)]) for name in "ABC")
        return a, b, c


def keys_of(events: pa.Table, names: tuple[str, ...]) -> np.ndarray:
    """A number for the key of each event, different for different keys: as the columns were made."""
    number = {"text": "key", "coded": "key"}
    found = np.zeros(len(events), np.int64)
    for name in names:
        found = found * (1 << 24) + values_of(events, number.get(name, name))
    return found


def keyed_table(count: int) -> pa.Table:
    """Events with keys of several kinds.

    Returns
    -------
    pyarrow.Table
        `type`, `key` (1,000 numbers) and `ts` as of `streams.make_table`; `many` (200,000 numbers), `side` (7
        numbers), `text` and `coded` (`key` as plain and as dictionary-encoded strings).
    """
    events = make_table(count, ("type", "key", "ts"))
    keys, times = values_of(events, "key"), values_of(events, "ts")
    names = pa.array([f"symbol {number}" for number in range(int(keys.max(initial=0)) + 1)])
    coded = pa.DictionaryArray.from_arrays(pa.array(keys.astype(np.int32)), names)
    # A prime, so that neighbours in time differ.
    columns = {"many": keys * MANY + times * 7919 % MANY, "side": times * 7919 % 7}
    for name, values in columns.items():
        events = events.append_column(name, pa.array(values))
    return events.append_column("coded", coded).append_column("text", names.take(pa.array(keys)))


KEYS: dict[str, tuple[str, ...]] = {
    "1,000 numbers": ("key",),
    "200,000 numbers": ("many",),
    "1,000 texts": ("text",),
    "1,000 texts in a dictionary": ("coded",),
    "two numbers, 7,000 keys": ("key", "side"),
    "a text and a number, 7,000 keys": ("text", "side"),
}


def keyed_events(sizes: Sizes) -> Iterator[Figure]:
    """`count` of three steps in a window of events of their key, beside window functions in SQL."""
    events = keyed_table(sizes.numbered)
    section = "keyed_events"
    for case, names in KEYS.items():
        steps = NumberedSteps(names)
        query = cer.compile(steps.text)
        wanted = int(formula.counts(*steps.positions(events), steps.within).sum())
        found = query.count(events)
        must(found == wanted, f"{found:,} complex events of {steps.text}, where there are {wanted:,}")
        times = measure({case: partial(query.count, events)}, sizes.runs)[case]
        note = "checked by prefix sums over (key, number in the key)"
        yield rate(
            section, f"{large(sizes.numbered)} events, {case}", "events", sizes.numbered, times, note=note
        )
        if case == next(iter(KEYS)):
            yield from _rival(section, events, wanted, times, sizes.runs)


def _rival(section: str, events: pa.Table, number: int, ours: Times, runs: int) -> Iterator[Figure]:
    """DuckDB's window functions: numbers of rows in their key, then prefix sums in ranges of them."""
    case = f"duckdb, {NUMBERED}"
    if find_spec("duckdb") is None:
        yield Figure(section, case, None, "s", note="it is not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.parquet"
        pq.write_table(events.select(["type", "key", "ts"]), path)
        try:
            child = in_fresh_process("bench.keyed_rivals", ("duckdb", NUMBERED, WITHIN, path, runs), LIMIT_S)
        except (TimeoutError, ChildError) as error:
            yield Figure(section, case, None, "s", note=str(error))
            return
    must(child["number"] == number, f"{case}: {child['number']:,}, where we say {number:,}")
    times = Times(tuple(child["seconds"]))
    yield duration(section, case, times, note="same count")
    yield ratio(section, f"{case} / ours", ("ours", ours), (case, times), None, NUMBERED)
