"""Queries over columns in the memory of a CUDA device: only the answer is copied to the host."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from cer_gpu.engine.cuda.classify import CudaClassifier, ResidentBatch
from cer_gpu.engine.cuda.machines.one_device import cut_early, patched
from cer_gpu.engine.machines.chunk import Segments
from cer_gpu.engine.machines.reported_ends import Asked, ReportedEnds
from cer_gpu.errors import DeviceError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.classify import cuda as classify
from cer_gpu.kernels.counts import cpu as on_cpu
from cer_gpu.kernels.counts import cuda as counts
from cer_gpu.kernels.counts import cuda_long_segments as matrices
from cer_gpu.kernels.device.arrays import device_array
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry, lane_geometry
from cer_gpu.kernels.device.words import copied, empty
from cer_gpu.kernels.hits import cuda as hits
from cer_gpu.kernels.runs.programs import backward_program, forward_program, hits_program
from cer_gpu.kernels.windows import cuda as windows
from cer_gpu.plan.automaton import AutomatonMachine
from cer_gpu.plan.compiled_query import CompiledQuery


@dataclass(frozen=True, slots=True)
class ResidentTail:
    """Relevant events on the device, in the order of the stream.

    Attributes
    ----------
    positions : device array, shape (kept,), int64
    symbols : device array, shape (kept, padded), uint8 or uint16
    measured : device array, shape (kept,), uint64 or float64
        What the window measures, made `comparable`.
    kept : int
    """

    positions: Any
    symbols: Any
    measured: Any
    kept: int


@dataclass(frozen=True, slots=True)
class ResidentEnds:
    """Hits as the kernels give them, the units that they lie in, and the events of these."""

    events: ResidentTail
    begin: Any
    offsets: Any
    event: Any
    latest: Any


def why_not(query: CompiledQuery) -> str | None:
    """Why a query cannot run over a resident table; None if it can.

    Events are grouped by partition on the host. Without a window the units of the stream are composed state
    by state (`cuda_long_segments` of hits and counts), so a query with many states runs on the CPU.
    """
    reading, reason = query.reading, query.machine.where("resident")
    reasons = [
        (reason is not None, reason),
        (reading.makes_lanes, "the CPU assigns events to partitions and streams"),
        (query.window is not None and query.window.kind == "attribute", "its window is over an attribute"),
        (query.consume != "NONE", "the CPU applies CONSUME BY"),
        (query.suppress is not None, "the CPU applies SUPPRESS"),
        (bool(query.outlooks), "the CPU looks for what follows or precedes"),
        (query.limit is not None, "the CPU applies LIMIT"),
    ]
    return next((reason for holds, reason in reasons if holds), None) or _too_large(query)


def _too_large(query: CompiledQuery) -> str | None:
    assert isinstance(query.machine, AutomatonMachine)
    if query.window is None and query.machine.tables.n_live > matrices.MOST_STATES:
        return "it has no window, and its automaton has too many states"
    return None if lane_geometry(registers_of(query), LANE) else "its automaton has too many states"


def registers_of(query: CompiledQuery) -> int:
    """How many registers a thread has for the program of hits; without a window, also for the flows."""
    assert isinstance(query.machine, AutomatonMachine)
    return hits_program(query.machine.tables).n_registers * (2 if query.window is None else 1)


class ResidentQuery(ABC):
    """A query over columns in the memory of a device: what ends in batch after batch of one stream.

    Parameters
    ----------
    query : CompiledQuery
    classifier : CudaClassifier
        The classifier that copied the columns to the device.
    lane, stream : Geometry
        How kernels are launched.

    Attributes
    ----------
    tail : ResidentTail or None
        The relevant events so far that the window may still reach.

    Raises
    ------
    DeviceError
        For a query that `why_not` gives a reason against.
    """

    def __init__(
        self,
        query: CompiledQuery,
        classifier: CudaClassifier,
        lane: Geometry = LANE,
        stream: Geometry = STREAM,
    ) -> None:
        reason = why_not(query)
        if reason is not None:
            raise DeviceError(f"the query cannot be run on events in the memory of a device: {reason}")
        assert isinstance(query.machine, AutomatonMachine)
        self._query, self._host = query, query.machine.tables
        program = hits_program(self._host)
        fitting = lane_geometry(registers_of(query), lane)
        assert fitting is not None
        self._classifier, self._lane, self._stream, self._fitting = classifier, lane, stream, fitting
        self._program = hits.device_program(program, fitting)
        self._forward, self._backward = forward_program(self._host), backward_program(self._host)
        self._machine = counts.device_tables(self._host, self._forward, self._backward)
        self.tail: ResidentTail | None = None

    def found(self, batch: ResidentBatch, before: int, asked: Asked) -> ReportedEnds:
        """What ends in the next batch of the stream.

        Parameters
        ----------
        batch : ResidentBatch
        before : int
            How many events of the stream come before it.
        asked : {"hits", "counts", "count"}
        """
        position = np.empty(0, np.int64)
        if asked == "count":
            ends, value = self.counted(batch, before)
        else:
            ends = self.ends(batch, before)
            position = self.positions(ends, ends.event).copy_to_host()
            value = self.latest(ends).copy_to_host() if asked == "hits" else self.numbers(ends)
        # Where the memory of the device runs out before, the batch is given again.
        self._keep(ends)
        return ReportedEnds(position, value)

    @abstractmethod
    def ends(self, batch: ResidentBatch, before: int) -> Any:
        """Where complex events end in a batch, and the units that these lie in; parameters as of `found`."""

    def counted(self, batch: ResidentBatch, before: int) -> tuple[Any, np.ndarray]:
        """What `_keep` takes of a batch, and numbers whose sum is how many complex events end there."""
        ends = self.ends(batch, before)
        return ends, self.numbers(ends)

    @abstractmethod
    def latest(self, ends: Any) -> Any:
        """The latest start at each end, a position in the stream, on the device."""

    @abstractmethod
    def numbers(self, ends: Any) -> np.ndarray:
        """How many complex events end at each end: shape (ends,), on the host, objects past 2^62."""

    @abstractmethod
    def _keep(self, ends: Any) -> None:
        """Keep what later batches need."""

    def positions(self, ends: Any, event: Any) -> Any:
        """The positions of events in the stream, on the device."""
        return classify.gather(ends.events.positions, event, 0, np.int64, self._stream)


class WindowedQuery(ResidentQuery):
    """A query with a window over resident batches.

    A time that its window measures is the first of the columns that the classifier copies besides.
    """

    @property
    def _size(self) -> int | float:
        assert self._query.window is not None
        return self._query.window.size

    def ends(self, batch: ResidentBatch, before: int) -> ResidentEnds:
        """As `ResidentQuery.ends`; `latest` are events."""
        events, tail = self._events(batch, before), self.tail
        if tail is not None and tail.kept:
            events = _joined(tail, events)
        old = 0 if tail is None else tail.kept
        one = np.array([[0], [old], [events.kept], [0]], np.int64)
        lane = Segments(*(one if events.kept > old else one[:, :0]))
        cut = cut_early(lane, events.measured, self._size, self._stream) if len(lane.begin) else lane
        bounds = copied(cut.begin), copied(cut.report), copied(cut.stop)
        registers = copied(np.full((len(cut.begin), self._host.n_live), -1, np.int64))
        found = hits.hits(
            self._program,
            events.symbols,
            copied(np.empty(0, np.int64)),
            events.measured,
            self._size,
            *bounds,
            registers,
            self._fitting,
        )
        return ResidentEnds(events, bounds[0], *found)

    def latest(self, ends: ResidentEnds) -> Any:
        """As `ResidentQuery.latest`."""
        return self.positions(ends, ends.latest)

    def numbers(self, ends: ResidentEnds) -> np.ndarray:
        """As `ResidentQuery.numbers`."""
        lowest = windows.lowest_starts(
            ends.events.measured, ends.begin, ends.offsets, ends.event, self._size, self._stream
        )
        number, status = counts.counts(
            self._machine, ends.events.symbols, ends.offsets, ends.event, lowest, self._lane
        )
        whole, wrong = number.copy_to_host(), status.copy_to_host()
        return self._patched(ends, lowest, whole, wrong) if wrong.any() else whole

    def _keep(self, ends: ResidentEnds) -> None:
        """Keep the events that the windows of later events may still reach: those of the last event's."""
        events = ends.events
        if not events.kept:
            self.tail = events
            return
        last = events.kept - 1
        bounds = copied(np.zeros(1, np.int64)), copied(np.array([0, 1])), copied(np.array([last]))
        low = int(windows.lowest_starts(events.measured, *bounds, self._size, self._stream).copy_to_host()[0])
        self.tail = _copied_from(events, low)

    def _events(self, batch: ResidentBatch, before: int) -> ResidentTail:
        found = self._classifier.events(batch, before)
        measured = found.positions.view(np.uint64)
        if batch.also:
            (time,) = batch.also
            whole = time.dtype.kind != "f"
            dtype = np.int64 if whole else np.float64
            gathered = classify.gather(time, found.positions, before, dtype, self._stream)
            measured = gathered.view(np.uint64) if whole else gathered
        return ResidentTail(found.positions, found.symbols, measured, found.kept)

    def _patched(self, ends: ResidentEnds, lowest: Any, whole: np.ndarray, wrong: np.ndarray) -> np.ndarray:
        """Counts, where those of units whose sums are too large are computed again on the host."""
        first, event, symbols = (
            part.copy_to_host() for part in (ends.offsets, ends.event, ends.events.symbols)
        )
        least = lowest.copy_to_host()
        # The arrays of the device have room for more, and what lies there was never written.
        symbols = symbols[: int(event[: first[-1]].max()) + 1]

        def again(unit: int) -> np.ndarray:
            part = slice(first[unit], first[unit + 1])
            one = np.array([0, first[unit + 1] - first[unit]])
            programs = self._forward, self._backward
            return on_cpu.counts(self._host, *programs, symbols, one, event[part], least[part])

        return patched(whole, first, wrong, again)


def _joined(first: ResidentTail, then: ResidentTail) -> ResidentTail:
    """The events of both, one after another."""
    kept = first.kept + then.kept
    positions = device_array(kept, np.int64)
    symbols = empty(kept, then.symbols.dtype)
    measured = device_array(kept, then.measured.dtype)
    for part, at in ((first, 0), (then, first.kept)):
        if part.kept:
            place, own = slice(at, at + part.kept), slice(0, part.kept)
            positions[place].copy_to_device(part.positions)
            symbols[place].copy_to_device(part.symbols[own])
            measured[place].copy_to_device(part.measured)
    return ResidentTail(positions, symbols, measured, kept)


def _copied_from(events: ResidentTail, low: int) -> ResidentTail:
    """The events from `low` on, in memory of their own, so that the others can be freed; at least one."""
    kept = events.kept - low
    positions = device_array(kept, np.int64)
    symbols = empty(kept, events.symbols.dtype)
    measured = device_array(kept, events.measured.dtype)
    positions.copy_to_device(events.positions[low:])
    symbols[:kept].copy_to_device(events.symbols[low : events.kept])
    measured.copy_to_device(events.measured[low:])
    return ResidentTail(positions, symbols, measured, kept)
