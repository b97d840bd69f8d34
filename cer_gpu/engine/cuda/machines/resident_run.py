"""A stream on a device, batch after batch: the columns are copied there, and only the ends come back.

Events of earlier batches that the window still reaches stay on the device. Where the rows came from the host,
these rows are kept too: the CPU reads them again if it goes on in the place of the device.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.end_form import times
from cer_gpu.engine.cuda.classify import CudaClassifier, Events
from cer_gpu.engine.cuda.machines.carried_query import CarriedQuery
from cer_gpu.engine.cuda.machines.resident_query import ResidentQuery, WindowedQuery
from cer_gpu.engine.devices import on
from cer_gpu.engine.machines.automaton import AutomatonRunner
from cer_gpu.engine.machines.machine import RunState
from cer_gpu.engine.machines.reported_ends import Asked, ReportedEnds, reported
from cer_gpu.engine.read.events import NO_KEYS, EventArrays, joined
from cer_gpu.engine.read.sources.columns import Values
from cer_gpu.engine.read.sources.device_rows import DeviceTable, ascends
from cer_gpu.kernels.classify.cuda import gather
from cer_gpu.kernels.device.arrays import device_array
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry
from cer_gpu.kernels.device.words import copied
from cer_gpu.progress import Watch


class ReachedRows(NamedTuple):
    """Rows of the host that the window of a later event may still reach.

    ========  ================================================================
    `rows`    RecordBatch
    `first`   the position of the first row in the stream
    `time`    Values, one for each row; None where there is none
    ========  ================================================================
    """

    rows: pa.RecordBatch
    first: int
    time: Values | None

    def place(self, kind: str) -> int | float:
        """What the window measures of the last row."""
        if kind != "time" or self.time is None:
            return self.first + len(self.rows) - 1
        last: int | float = self.time.data[-1].item()
        return last


class ResidentRun:
    """Finds the ends of a run on a device; the host only reads the columns.

    Parameters
    ----------
    run : RunState
        Its intake has a `CudaClassifier`, which also copies the time if the window measures it. If the device
        has no memory left, or was lost, its chunker and its runner continue on the CPU.
    names : list of str
        The columns that the run reads.
    device : int
        The number of the device.
    lane, stream : Geometry
        As for `ResidentQuery`.

    Raises
    ------
    DeviceError
        As `ResidentQuery`.
    """

    def __init__(
        self,
        run: RunState,
        names: list[str],
        device: int,
        lane: Geometry = LANE,
        stream: Geometry = STREAM,
    ) -> None:
        classifier = run.intake.classifier
        assert isinstance(classifier, CudaClassifier)
        self._run, self._classifier, self._device = run, classifier, device
        self._names = names
        self._stream = stream
        kind = CarriedQuery if run.query.window is None else WindowedQuery
        with on(device):
            self._query: ResidentQuery = kind(run.query, classifier, lane, stream)
        self._held: deque[ReachedRows] = deque()
        self._on_host = False

    def ends(self, batches: Iterable[Events], asked: Asked, watch: Watch = iter) -> Iterator[ReportedEnds]:
        """The ends in the batches of a stream, batch after batch.

        Parameters
        ----------
        batches : iterable of RecordBatch, or tuple of DeviceTable
            Tables in the memory of the device are read there.
        asked : {"hits", "counts", "count"}
        watch : callable
            Passes on the batches as they were cut, and counts the events that are done.
        """
        intake, memory = self._run.intake, self._classifier.memory
        if isinstance(batches, tuple):
            with on(self._device):
                memory.widen()
        for batch in watch(self._classifier.ahead(batches)):
            time = self._time(batch)
            before = intake.rows

            def time_of(part: Events, first: int) -> Values | None:
                low = first - before  # noqa: B023
                return None if time is None else time.slice(low, low + len(part))  # noqa: B023

            def there(part: Events, first: int) -> ReportedEnds:
                found = self._there(part, first, asked)
                found = found._replace(more=self._more(part, found.position - first, asked))
                self._hold(part, first, time_of(part, first))
                return found

            def by_host(part: Events, first: int) -> ReportedEnds:
                return self._by_host(part, time_of(part, first), asked)

            yield from memory.halving(batch, before, there, by_host, self._classifier.clear)

    def _time(self, batch: Events) -> Values | None:
        """The time of a batch, whose order it checks; None where there is none, or it stays on the device."""
        intake = self._run.intake
        if not isinstance(batch, DeviceTable):
            return intake.time(batch)
        if not intake.order_by:
            return None
        order = list(intake.order_by)
        column = batch.columns[order[0]]
        with on(self._device):
            lying = len(order) == 1 and not len(column.valid) and len(batch) > 2 and ascends(column.data)
            if not lying:
                return intake.time(batch.on_host(order))
            # The rows between the first and the last are known to be in order.
            parts = [
                pa.Table.from_batches([batch.slice(row, 1).on_host(order)]) for row in (0, len(batch) - 1)
            ]
        (both,) = pa.concat_tables(parts).combine_chunks().to_batches()
        intake.time(both)
        intake.skip(len(batch) - 2)
        return None

    def _more(self, part: Events, rows: np.ndarray, asked: Asked) -> tuple[pa.Array, ...]:
        """The time of some rows of a batch, where it is asked for; there are no partitions here."""
        order = self._run.intake.order_by[:1]
        if asked == "count" or not order:
            return ()
        if not isinstance(part, DeviceTable):
            return (part.column(order[0]).take(pa.array(rows)),)
        column = part.columns[order[0]]
        if not len(rows):
            return (pa.nulls(0, column.kind),)
        dtype = np.float64 if column.data.dtype.kind == "f" else np.int64
        with on(self._device):
            there = device_array(len(rows), dtype)
            gather(column.data, copied(rows), 0, there, geometry=self._stream)
            return (times(there.copy_to_host(), column.kind),)

    def _there(self, part: Events, first: int, asked: Asked) -> ReportedEnds:
        found = self._query.found(self._classifier.taken(part, first), first, asked)
        self._run.intake.rows = first + len(part)
        return found

    def _hold(self, part: Events, first: int, time: Values | None) -> None:
        """Keep some rows that the device has run, and none that no later window reaches."""
        window, held = self._run.query.window, self._held
        if window is None or isinstance(part, DeviceTable) or not len(part):
            return
        held.append(ReachedRows(part, first, time))
        latest = held[-1].place(window.kind)
        while latest - held[0].place(window.kind) > window.size:
            held.popleft()

    def _by_host(self, part: Events, time: Values | None, asked: Asked) -> ReportedEnds:
        run = self._run
        rows = part
        if isinstance(part, DeviceTable):
            with on(self._device):
                rows = part.on_host(self._names)
        new = joined(list(run.intake.classified(rows, time)))
        if not self._on_host:
            lies = isinstance(part, DeviceTable)
            run.chunker.resume(self._fetched(new.payload) if lies else self._read_again(new.payload))
            if isinstance(self._query, CarriedQuery):
                assert isinstance(run.runner, AutomatonRunner)
                run.runner.registers = self._query.registers
                run.runner.vectors = self._query.vectors
            self._on_host, self._query.tail = True, None
            self._held.clear()
        if not len(new):
            none = np.empty(0, np.int64)
            more = () if run.more is None else run.more(new, none)
            return ReportedEnds(none, none, more)
        return reported(run.runner, run.chunker.chunk([new]), asked, run.query.limit, run.more)

    def _fetched(self, like: pa.Table | None) -> EventArrays | None:
        """The events that the window still needs, copied to the host; `like` as for `_over`."""
        tail = self._query.tail
        if tail is None or not tail.kept:
            return None
        keys = NO_KEYS
        with on(self._device):
            if self._timed:
                keys = tail.measured.copy_to_host()
                keys = keys.view(np.int64) if keys.dtype.kind == "u" else keys
            return _over(tail.positions.copy_to_host(), tail.symbols.copy_to_host()[: tail.kept], keys, like)

    def _read_again(self, like: pa.Table | None) -> EventArrays | None:
        """The same from the rows that are held, which the CPU classifies."""
        found, keys = [], []
        for rows, first, time in self._held:
            for positions, symbols in self._classifier.relevant_here(rows, first):
                found.append((positions, symbols))
                if self._timed and time is not None:
                    keys.append(time.data[positions - first])
        if not found:
            return None
        positions, symbols = (np.concatenate(part) for part in zip(*found))
        return _over(positions, symbols, np.concatenate(keys) if keys else NO_KEYS, like)

    @property
    def _timed(self) -> bool:
        window = self._run.query.window
        return window is not None and window.kind == "time"


def _over(
    positions: np.ndarray, symbols: np.ndarray, keys: np.ndarray, like: pa.Table | None
) -> EventArrays | None:
    """Events that were run already; None if there are none.

    Nothing ends at them any more: what results are made of is null for them, in the columns of `like`.
    """
    if not len(positions):
        return None
    payload = None
    if like is not None:
        nulls = [pa.nulls(len(positions), field.type) for field in like.schema]
        payload = pa.table(nulls, schema=like.schema)
    return EventArrays(symbols, positions, keys=keys, payload=payload)
