"""The forms in which answers are returned: a row for each marked event, and the lines of a CSV file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

import cer_gpu as cer
from bench import answers
from bench.figures import Figure, rate
from bench.measure import measure
from bench.queries import ThreeSteps
from bench.sizes import Sizes, large
from bench.streams import make_table
from cer_gpu.output import output_file, write_matches

IN_MEMORY = "/dev/shm"
"""Where Linux keeps files in memory."""

PIECE = 8 << 20
"""Bytes that are written at a time."""


def answer_forms(sizes: Sizes) -> Iterator[Figure]:
    """`events()`, and the CSV of `cer run` with and without times: answers of three marks each."""
    events = make_table(sizes.enumerated, ("type", "price", "time"))
    steps = ThreeSteps(kept=0.2)
    _, number = answers.enumeration(steps, events)
    query = cer.compile(steps.text)
    wanted = _sums(query.run(events).batches(keep=False))

    def tidy(order: str | None) -> int:
        return sum(len(batch) for batch in query.run(events, order_by=order).event_batches())

    note = "the positions of each variable add up to those of the lists"
    case = f"{large(number)} complex events, three marks each"
    for order, what in ((None, "events()"), ("time", "events() with their times")):
        found = _sums_of_tidy(query.run(events, order_by=order).event_batches())
        answers.must(found == wanted and tidy(order) == 3 * number, f"events() of {steps.text}")
        times = measure({what: partial(tidy, order)}, sizes.runs)
        yield rate("forms", f"{what}: {case}", "rows", 3 * number, times[what], 10, note)
    for order, what in ((None, "positions alone"), ("time", "with the five times of each")):
        for place, where in _folders():
            with tempfile.TemporaryDirectory(dir=place) as folder:
                path = Path(folder) / "answers.csv"
                write = partial(_write_csv, query, events, order, str(path))
                write()
                read = pacsv.read_csv(path)
                sums = tuple(int(read[name].to_numpy().sum()) for name in "abc")
                answers.must(sums == wanted and len(read) == number, f"CSV of {steps.text}")
                size = path.stat().st_size
                same = partial(_write_bytes, path, Path(folder) / "same.csv")
                times = measure({what: write, "same": same}, sizes.runs)
            title = f"CSV of run, {what}, {where}: {case}"
            yield rate("forms", title, "rows", number, times[what], 2, note)
            yield rate("forms", f"the same bytes alone, {where}", "bytes", size, times["same"])


def _folders() -> Iterator[tuple[str | None, str]]:
    """A folder on disk, whose speed may be the bound, and one in memory, if the machine has one."""
    yield None, "to disk"
    if os.path.isdir(IN_MEMORY):
        yield IN_MEMORY, "to memory"


def _write_bytes(path: Path, copy: Path) -> None:
    """What a file of the same size costs without making it: the bytes of one written to another."""
    with path.open("rb") as source, output_file(str(copy)) as sink:
        while piece := source.read(PIECE):
            sink.write(piece)


def _write_csv(query: cer.Query, events: pa.Table, order: str | None, path: str) -> None:
    with output_file(path) as sink:
        write_matches(query.run(events, order_by=order), "csv", sink)


def _sums(batches: pa.RecordBatchReader) -> tuple[int, ...]:
    """For each variable the sum of the positions that it marks."""
    total = np.zeros(3, np.int64)
    for batch in batches:
        total += [batch.column(name).flatten().to_numpy().sum() for name in "abc"]
    return tuple(total.tolist())


def _sums_of_tidy(batches: pa.RecordBatchReader) -> tuple[int, ...]:
    """The same from tidy rows."""
    total = np.zeros(3, np.int64)
    for batch in batches:
        names = batch.column("variable")
        weights = batch.column("position").to_numpy()
        codes = names.indices.to_numpy()
        order = [names.dictionary.to_pylist().index(name) for name in "abc"]
        total += [weights[codes == code].sum() for code in order]
    return tuple(total.tolist())
