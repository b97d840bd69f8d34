"""Whole queries on a device, over data in its memory, in page-locked memory of the host, and in a file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from cer_gpu.kernels.device.geometry import STREAM
from cer_gpu.kernels.device.scan import offsets_of
from cer_gpu.kernels.device.words import copied
from cer_gpu.kernels.hits import cuda_long_segments as flows
from numba import cuda

import cer_gpu as cer
from bench.answers import must
from bench.device_kernels import timed
from bench.queries import KeyedSteps, ThreeSteps
from bench.streams import KEYS, TYPES, column, to_arrow
from cer_gpu.engine.cuda.classify import CudaClassifier, ResidentBatch
from cer_gpu.engine.cuda.machines import carried_query as cuda_carried
from cer_gpu.engine.cuda.machines import comparisons as cuda_compared
from cer_gpu.engine.cuda.machines import general as cuda_general
from cer_gpu.engine.cuda.machines import one_device as cuda_execute
from cer_gpu.engine.cuda.machines import resident_query
from cer_gpu.engine.cuda.machines import units as cuda_units
from cer_gpu.engine.cuda.machines.carried_query import CarriedQuery
from cer_gpu.engine.cuda.machines.resident_query import ResidentQuery, WindowedQuery
from cer_gpu.engine.machines.reported_ends import sum_exactly
from cer_gpu.engine.run.options import read_options
from cer_gpu.engine.workers import Workers
from cer_gpu.plan import symbols


@dataclass(frozen=True, slots=True)
class Sizes:
    """Events of each kind of run.

    Attributes
    ----------
    resident, filed, listed, cut, keyed, joined, gapped, attribute, carried, equal : int
        Events: on the device and in page-locked memory; in a file; whose complex events are listed; with so
        many complex events at an end that threads share them; with partitions; that are joined; with a gap
        between steps; in a window of an attribute that is out of order, so that each event is compared with
        all later ones; without a window; for which only the answers of device and CPU are compared.
    keys : int
        How many values a key has.
    within : int
        The window, in events, of those with many complex events at an end.
    copied : int
        Bytes of a copy whose bandwidth is measured.
    runs : int
        How many runs of a kind are timed.
    swept : int
        Events over which the variants of a template go abreast.
    """

    resident: int = 400_000_000
    filed: int = 200_000_000
    listed: int = 4_000_000
    cut: int = 300_000
    keyed: int = 50_000_000
    joined: int = 20_000_000
    gapped: int = 50_000_000
    attribute: int = 60_000
    carried: int = 50_000_000
    equal: int = 1_000_000_000
    keys: int = KEYS
    within: int = 70
    copied: int = 4 << 30
    runs: int = 7
    swept: int = 10_000_000

    def scaled(self, share: float) -> Sizes:
        """The same sizes for a share of the events; those that would be too few for the device stay."""
        names = "resident", "filed", "keyed", "joined", "gapped", "carried", "equal", "swept"
        return replace(self, **{name: int(getattr(self, name) * share) for name in names})


TINY = Sizes(
    600,
    300,
    400,
    200,
    200,
    200,
    200,
    60,
    500,
    500,
    keys=4,
    within=40,
    copied=1 << 16,
    runs=1,
    swept=200,
)
"""Sizes for the simulator."""


def shrink() -> None:
    """Make the engine cut tiny data as it cuts large data, so that every kernel is launched."""
    cuda_execute.LEAST_UNIT = cuda_carried.LEAST = 2
    resident_query.LEAST_CUT = 2
    cuda_execute.LIST = 2
    cuda_units.LEAST_UNIT, cuda_units.LEAST = 2, 1
    cuda_compared.LEAST = cuda_general.LEAST = 1
    flows.GROUP = 2


KEPT = 0.1
"""The share of the events of A, B and C that their filters keep."""

WINDOWLESS = ThreeSteps(KEPT).text.split(" WITHIN")[0]

CONSUMED = KeyedSteps(100_000).text + " CONSUME BY PARTITION"

STAR = "Q(x) <- A(key = x), B(key = x), C(key = x) WITHIN 20000 EVENTS"

GAPS = "SELECT * WHERE A ;[<= 400] B ;[<= 400] C"

GENERAL = (
    "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER c.price > a.price AND b.price != a.price "
    "PARTITION BY key WITHIN 60 EVENTS"
)

PRICED = ("type", "price")

KEYED_PRICES = ("type", "key", "price", "ts")

RISEN = "SELECT * WHERE A AS a ; B AS b FILTER b.price > a.price PARTITION BY key WITHIN 100000 [ts]"

RISEN_TWICE = (
    "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER b.price > a.price AND c.price > b.price PARTITION BY key"
)

VARIANTS = 64
"""How many variants of a template go abreast."""

TEMPLATE = (
    "SELECT * FROM S WHERE A AS a ; B AS b ; C AS c FILTER a[price > $p] PARTITION BY key WITHIN 20000 [ts]"
)

NEIGHBOURS = TEMPLATE.replace("; B", ": B")

ROW_PATTERN = """SELECT * FROM events MATCH_RECOGNIZE (PARTITION BY key ORDER BY ts
MEASURES COUNT(*) AS rows PATTERN (down+ up*)
DEFINE down AS price < PREV(price), up AS price > PREV(price))"""

KINDS = {
    "abreast: backtest": (TEMPLATE, KEYED_PRICES, "swept", "backtest"),
    "abreast, neighbours: backtest": (NEIGHBOURS, KEYED_PRICES, "swept", "backtest"),
    "abreast, no window: backtest": (NEIGHBOURS.split(" WITHIN")[0], KEYED_PRICES, "swept", "backtest"),
    "keyed: count": (KeyedSteps(100_000).text, ("type", "key", "ts"), "keyed", "count"),
    "consumed: count": (CONSUMED, ("type", "key", "ts"), "keyed", "count"),
    "join: hits": (STAR, ("type", "key"), "joined", "hits"),
    "join: count": (STAR, ("type", "key"), "joined", "count"),
    "gaps: hits": (GAPS, ("type", "ts"), "gapped", "hits"),
    "gaps: count": (GAPS, ("type", "ts"), "gapped", "count"),
    "gaps, window: count": (GAPS + " WITHIN 500 EVENTS", ("type", "ts"), "gapped", "count"),
    "gaps: batches": (GAPS.replace("400", "40"), ("type", "ts"), "listed", "run"),
    "general: hits": (GENERAL, KEYED_PRICES, "keyed", "hits"),
    "general: count": (GENERAL, KEYED_PRICES, "keyed", "count"),
    "risen: hits": (RISEN, KEYED_PRICES, "keyed", "hits"),
    "risen: count": (RISEN, KEYED_PRICES, "keyed", "count"),
    "risen twice: count": (RISEN_TWICE, KEYED_PRICES, "keyed", "count"),
    "no window: hits": (WINDOWLESS, PRICED, "carried", "hits"),
    "no window: count": (WINDOWLESS, PRICED, "carried", "count"),
    "attribute: count": (
        "SELECT * WHERE A ; B ; C WITHIN 10 [price]",
        PRICED,
        "attribute",
        "count",
    ),
    "listed: batches": (ThreeSteps(2 * KEPT).text, PRICED, "listed", "run"),
    "cut: batches": ("SELECT * WHERE A+ ; B WITHIN {within} EVENTS LIMIT 10", ("type",), "cut", "run"),
    "next: batches": (ThreeSteps(2 * KEPT).text.replace("SELECT", "SELECT NEXT"), PRICED, "listed", "run"),
    "row pattern: rows": (ROW_PATTERN, KEYED_PRICES, "keyed", "match_recognize"),
}
"""Runs through the host: query, columns, field of `Sizes`, and what is asked, by what they measure."""


@dataclass(frozen=True, slots=True)
class OnDevice:
    """A query over columns that lie on the device."""

    query: ResidentQuery
    batch: ResidentBatch

    def hits(self) -> Any:
        """Where complex events end, and the latest start of each: positions that stay on the device."""
        return self.query.hits_there(self.batch, 0)

    def count(self) -> int:
        """How many complex events there are."""
        return sum_exactly(self.query.answer(self.batch, 0, "count")[1].value)


def exercise(sizes: Sizes) -> None:
    """Launch each kernel that the runs need, on data as large as theirs."""
    there = on_device(ThreeSteps(KEPT).text, page_locked_table(sizes.resident, PRICED))
    there.hits()
    there.count()
    del there
    timed_window = cer.compile(f"{WINDOWLESS} WITHIN 1000 [ts]")
    timed_window.hits(page_locked_table(sizes.carried, (*PRICED, "ts")), device="cuda", order_by="ts")
    for kind in KINDS:
        answer_of(kind, sizes)("cuda")
    offsets_of(
        copied(np.ones(STREAM.threads + 1, np.int64))
    )  # more than small streams have, in several blocks
    # As if there were no room for large tables, so that a query has several stages.
    budget, symbols.TABLE_BUDGET = symbols.TABLE_BUDGET, 4
    answer_of("listed: batches", sizes)("cuda")
    symbols.TABLE_BUDGET = budget


def on_device(text: str, table: pa.Table) -> OnDevice:
    """Bring the columns that a query reads to the device."""
    bound = cer.compile(text).bound_to(table, read_options(device="cuda"), "hits")
    classifier = CudaClassifier(bound.compiled.reading, bound.units, Workers())
    kind = CarriedQuery if bound.compiled.window is None else WindowedQuery
    (batch,) = table.combine_chunks().to_batches()
    return OnDevice(kind(bound.compiled, classifier), classifier.resident(batch, 0))


def runs(sizes: Sizes, bandwidth: dict[str, float], folder: Path) -> Iterator[dict[str, Any]]:
    """The figures of each kind of run; each answer is compared with the CPU's before it is timed."""
    steps = ThreeSteps(KEPT, within=1000)
    table = page_locked_table(sizes.resident, PRICED)
    yield from resident("resident", steps.text, table, sizes, bandwidth["device"])
    yield from resident("resident, no window", WINDOWLESS, table, sizes, bandwidth["device"])
    yield from pinned(steps, table, sizes, bandwidth["to_device"])
    del table
    yield filed(steps, sizes, folder)
    yield from others(sizes)


def page_locked_table(count: int, columns: tuple[str, ...]) -> pa.Table:
    """A stream of `bench.streams` in page-locked memory, as one batch."""
    arrays = {}
    for name in columns:
        values = column(name, 0, count)
        locked = cuda.pinned_array(count, values.dtype)
        locked[:] = values
        kind = pa.int32() if name == "type" else pa.from_numpy_dtype(values.dtype)
        array = pa.Array.from_buffers(kind, count, [None, pa.py_buffer(locked)])
        if name == "type":
            array = pa.DictionaryArray.from_arrays(array, pa.array(list(TYPES)))
        arrays[name] = array
    return pa.table(arrays)


def resident(
    name: str, text: str, table: pa.Table, sizes: Sizes, bandwidth: float
) -> Iterator[dict[str, Any]]:
    """Hits and counts of columns that lie on the device; without a window one lane is cut into units."""
    planned = cer.compile(text)
    there = on_device(text, table)
    hits = planned.hits(table, device="cpu")
    for found, which in zip(there.hits().copy_to_host().T, ("position", "latest_start")):
        must(np.array_equal(found, hits[which].to_numpy()), f"{which} of {name}")
    must(there.count() == planned.count(table, device="cpu"), f"count of {name}")
    columns = (8 + 4) * len(table)  # price and code of the type
    for what, run, out in (("hits", there.hits, 16 * len(hits)), ("count", there.count, 8 * len(hits))):
        taken = tuple(timed(run) for _ in range(sizes.runs + 1))[1:]
        yield figure(f"{name}: {what}", len(table), taken, columns + out, bandwidth)


def pinned(steps: ThreeSteps, table: pa.Table, sizes: Sizes, bandwidth: float) -> Iterator[dict[str, Any]]:
    """Hits and counts through the public interface, with the columns in page-locked memory of the host."""
    query = cer.compile(steps.text)
    columns = (8 + 4) * len(table)
    for what, ask in (("hits", query.hits), ("count", query.count)):
        must(ask(table, device="cuda") == ask(table, device="cpu"), f"{what} from the host")
        there, here = (
            _clock(lambda: ask(table, device=device), sizes.runs)  # noqa: B023
            for device in ("cuda", "cpu")
        )
        found = figure(f"pinned: {what}", len(table), there, columns, bandwidth)
        yield {**found, "cpu_seconds": list(here)}


def filed(steps: ThreeSteps, sizes: Sizes, folder: Path) -> dict[str, Any]:
    """Count over a Parquet file."""
    path = folder / "events.parquet"
    table = events_of(PRICED, sizes.filed)
    pq.write_table(table, path, compression="zstd", row_group_size=1 << 20)
    query = cer.compile(steps.text)
    must(query.count(path, device="cuda") == query.count(table, device="cpu"), "count of a file")
    taken = _clock(lambda: query.count(path, device="cuda"), max(sizes.runs // 2, 1))
    size = path.stat().st_size
    path.unlink()
    return figure("parquet: count", sizes.filed, taken, size, None)


def others(sizes: Sizes) -> Iterator[dict[str, Any]]:
    """Partitions, a query without a window, and complex events that are listed, on the device and the CPU."""
    for kind, (*_, field, ask) in KINDS.items():
        answer = answer_of(kind, sizes)
        wanted = answer("cpu")
        must(answer("cuda") == wanted, kind)
        number = max(sizes.runs // 2, 1)
        there, here = (_clock(partial(answer, device), number) for device in ("cuda", "cpu"))
        made = {}
        if ask == "run":
            made = {
                "complex_events": len(wanted),
                "complex_events_per_second": len(wanted) / median(there),
            }
        yield {**figure(kind, getattr(sizes, field), there, None, None), "cpu_seconds": list(here), **made}


def answer_of(kind: str, sizes: Sizes) -> Callable[[str], Any]:
    """The answer of a kind of run, as a function of the device."""
    text, names, field, ask = KINDS[kind]
    count = getattr(sizes, field)
    table = events_of(names, count, sizes.keys)
    options = {"order_by": "ts"} if "ts" in names else {}
    if ask == "backtest":
        prices = np.linspace(0, 100, VARIANTS, endpoint=False).tolist()
        swept = cer.sweep(text, p=prices)
        return lambda device: cer.backtest(swept, table, device=device, **options).to_arrow()
    if ask == "match_recognize":
        return lambda device: cer.match_recognize(text, device=device, events=table).to_arrow()
    query = cer.compile(text.format(within=sizes.within))

    def answer(device: str) -> Any:
        found = getattr(query, ask)(table, device=device, **options)
        return found.to_arrow() if ask == "run" else found

    return answer


def events_of(names: tuple[str, ...], count: int, keys: int = KEYS) -> pa.Table:
    """Some columns of the first events of the stream, with `keys` different keys."""
    found = {name: column(name, 0, count) for name in names}
    return pa.table(
        {name: to_arrow(name, part % keys if name == "key" else part) for name, part in found.items()}
    )


def equal(sizes: Sizes) -> dict[str, Any]:
    """Whether the device has the CPU's answers over a long stream, read batch by batch."""
    steps = ThreeSteps(KEPT)
    query = cer.compile(steps.text)

    def reader() -> pa.RecordBatchReader:
        size = 1 << 24
        schema = pa.table({name: to_arrow(name, column(name, 0, 0)) for name in PRICED}).schema

        def batches() -> Iterator[pa.RecordBatch]:
            for first in range(0, sizes.equal, size):
                count = min(size, sizes.equal - first)
                arrays = [to_arrow(name, column(name, first, count)) for name in schema.names]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)

        return pa.RecordBatchReader.from_batches(schema, batches())

    there, here = (query.counts(reader(), device=device) for device in ("cuda", "cpu"))
    must(there == here, f"counts of {sizes.equal:,} events")
    return {"events": sizes.equal, "ends": len(there), "complex_events": sum(there["count"].to_pylist())}


def figure(
    case: str, events: int | None, taken: tuple[float, ...], moved: int | None, bandwidth: float | None
) -> dict[str, Any]:
    """A measured run or kernel as JSON: bytes that it has to move, seconds, share of a copy's bandwidth."""
    middle = median(taken)
    rate = None if moved is None else moved / middle
    return {
        "case": case,
        "events": events,
        "bytes": moved,
        "seconds": list(taken),
        "median": middle,
        "spread": max(taken) - min(taken),
        "events_per_second": None if events is None else events / middle,
        "bytes_per_second": rate,
        "share_of_copy": None if rate is None or bandwidth is None else rate / bandwidth,
    }


def _clock(action: Callable[[], Any], number: int) -> tuple[float, ...]:
    """Wall-clock seconds of runs, after one that is not timed."""
    taken = []
    for _ in range(number + 1):
        begin = time.perf_counter()
        action()
        taken.append(time.perf_counter() - begin)
    return tuple(taken[1:])
