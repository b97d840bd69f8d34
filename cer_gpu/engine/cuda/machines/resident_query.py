"""Queries over columns in the memory of a CUDA device: only the answer is copied to the host."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from cer_gpu.engine.cuda.classify import CudaClassifier, ResidentBatch
from cer_gpu.engine.cuda.machines.one_device import GUESSED, ROOM, columns_of, hits_in, patched
from cer_gpu.engine.machines.reported_ends import Asked, ReportedEnds
from cer_gpu.errors import DeviceError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.classify import cuda as classify
from cer_gpu.kernels.counts import cpu as on_cpu
from cer_gpu.kernels.counts import cuda as counts
from cer_gpu.kernels.counts.cuda_ends import MOST_STATES, ends_geometry
from cer_gpu.kernels.device.arrays import device_array
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry, lane_geometry
from cer_gpu.kernels.device.scan import new_tiles
from cer_gpu.kernels.device.words import empty, words
from cer_gpu.kernels.hits import cuda as hits
from cer_gpu.kernels.hits.cuda_blocks import HitUnits, SymbolWords, device_program
from cer_gpu.kernels.hits.cuda_units import cut_units
from cer_gpu.kernels.runs.programs import backward_program, counts_program, forward_program, hits_program
from cer_gpu.plan.automaton import AutomatonMachine
from cer_gpu.plan.compiled_query import CompiledQuery

LEAST_CUT = 64
"""The least number of events of a unit that the device cuts: a few steps find where it begins."""


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
    """Ends on the device, which alone knows how many there are.

    Attributes
    ----------
    events : ResidentTail
        The events, with room for more; `kept` is that room.
    units : HitUnits
    offsets, found : device array
        As `cer_gpu.kernels.hits.cuda.find_hits` gives them.
    """

    events: ResidentTail
    units: HitUnits
    offsets: Any
    found: Any


def why_not(query: CompiledQuery) -> str | None:
    """Why a query cannot run over a resident table; None if it can.

    Events are grouped by partition on the host. Without a window the units of the stream are composed state
    by state (`cuda_long_segments` of hits, `cuda_ends` of counts), so a query with many states runs on the
    CPU.
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
    tables, fits = query.machine.tables, lane_geometry(registers_of(query), LANE) is not None
    if query.window is None:
        if tables.n_live > MOST_STATES:
            return "it has no window, and its automaton has too many states"
        fits = fits and ends_geometry(counts_program(tables).n_registers, tables.n_live) is not None
    return None if fits else "its automaton has too many states"


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
        self._program = device_program(program, fitting)
        self._forward, self._backward = forward_program(self._host), backward_program(self._host)
        self.tail: ResidentTail | None = None

    @cached_property
    def _machine(self) -> counts.DeviceTables:
        return counts.device_tables(self._host, self._forward, self._backward)

    def found(self, batch: ResidentBatch, before: int, asked: Asked) -> ReportedEnds:
        """What ends in the next batch of the stream.

        Parameters
        ----------
        batch : ResidentBatch
        before : int
            How many events of the stream come before it.
        asked : {"hits", "counts", "count"}
        """
        kept, answer = self.answer(batch, before, asked)
        # Where the memory of the device runs out before, the batch is given again.
        self._keep(kept)
        return answer

    @abstractmethod
    def answer(self, batch: ResidentBatch, before: int, asked: Asked) -> tuple[Any, ReportedEnds]:
        """What `_keep` takes of a batch, and what `found` gives; parameters as of `found`.

        Raises
        ------
        LimitError
            For numbers too large to have a practical meaning.
        """

    @abstractmethod
    def hits_there(self, batch: ResidentBatch, before: int) -> Any:
        """The position and the latest start of each hit of a batch: device array, shape (hits, 2)."""

    @abstractmethod
    def _keep(self, kept: Any) -> None:
        """Keep what later batches need."""


def found_there(found: Any) -> Any:
    """The rows of hits in what `cer_gpu.kernels.hits.cuda` has found, on the device."""
    return found[hits.HEAD : hits.HEAD + int(found[hits.TOTAL, 0])]


class WindowedQuery(ResidentQuery):
    """A query with a window over resident batches.

    The device alone knows how many events are relevant and how many units and hits there are; the host waits
    for the answer. A time that its window measures is the first of the columns that the classifier copies
    besides.
    """

    _room = GUESSED
    """How many hits are counted at most, unless it turns out that there are more."""

    @property
    def _size(self) -> int | float:
        assert self._query.window is not None
        return self._query.window.size

    def answer(
        self, batch: ResidentBatch, before: int, asked: Asked
    ) -> tuple[tuple[ResidentTail, np.ndarray], ReportedEnds]:
        """As `ResidentQuery.answer`."""
        if asked != "hits":
            return self._counted(self._ends(batch, before, hits.ADMITTED), batch.rows, asked)
        ends = self._ends(batch, before, hits.PLACES)
        rows = hits_in(ends.found, GUESSED)
        return (ends.events, rows), ReportedEnds(*columns_of(rows))

    def hits_there(self, batch: ResidentBatch, before: int) -> Any:
        """As `ResidentQuery.hits_there`."""
        return found_there(self._ends(batch, before, hits.PLACES).found)

    def _ends(self, batch: ResidentBatch, before: int, wanted: int) -> ResidentEnds:
        """The ends in a batch, of each what is wanted of those of `cer_gpu.kernels.hits.cuda`."""
        tail = self.tail
        old = 0 if tail is None else tail.kept
        room = old + batch.rows
        positions, symbols = device_array(room, np.int64), empty(room, self._classifier.dtype)
        tiles = new_tiles(0)
        if batch.rows:
            tiles = self._classifier.into(batch, before, positions[old:], symbols[old:])
        measured = positions.view(np.uint64)
        if batch.also:
            (time,) = batch.also
            whole = time.dtype.kind != "f"
            gathered = device_array(room, np.int64 if whole else np.float64)
            if batch.rows:
                classify.gather(time, positions[old:], before, gathered[old:], tiles, self._stream)
            measured = gathered.view(np.uint64) if whole else gathered
        if tail is not None and old:
            positions[:old].copy_to_device(tail.positions)
            symbols[:old].copy_to_device(tail.symbols[:old])
            if batch.also:
                measured[:old].copy_to_device(tail.measured)
        found = device_array((hits.HEAD + batch.rows, 2), np.int64)
        units = cut_units(measured, self._size, tiles, batch.rows, old, LEAST_CUT, ROOM, found, self._stream)
        none = device_array(0, np.int64)
        events = SymbolWords(words(symbols), symbols.dtype.itemsize, none, positions)
        fresh = device_array((0, self._host.n_live), np.int64)
        offsets = hits.find_hits(
            self._program, events, measured, self._size, units, fresh, wanted, found, self._fitting
        )
        return ResidentEnds(ResidentTail(positions, symbols, measured, room), units, offsets, found)

    def _counted(
        self, ends: ResidentEnds, rows: int, asked: Asked
    ) -> tuple[tuple[ResidentTail, np.ndarray], ReportedEnds]:
        """What `answer` gives: how many complex events end at each end, or the sum."""
        events, found = ends.events, ends.found
        listed = counts.ListedHits(ends.offsets, found[hits.HEAD :], ends.units.number)
        room = min(max(self._room, rows // 16), rows)
        while True:
            _, status = counts.count_listed(
                self._machine, events.symbols, listed, events.positions, found[: hits.HEAD], room, self._lane
            )
            told = hits_in(found, GUESSED) if asked == "counts" else found[: hits.HEAD].copy_to_host()
            if told[hits.TOTAL, 0] <= room:
                break
            room = self._room = int(told[hits.TOTAL, 0])
        if told[hits.REACHED, 1]:
            position, value = self._patched(ends, hits_in(found, rows), status)
        elif asked == "counts":
            position, value = columns_of(told)
        else:
            low, high = told[hits.SUMS].tolist()
            position, value = told[:0, 0], np.array([low + (high << 32)], object)
        return (events, told), ReportedEnds(position[: len(position) * (asked == "counts")], value)

    def _keep(self, kept: tuple[ResidentTail, np.ndarray]) -> None:
        """Keep the events that the windows of later events may still reach: those of the last event's."""
        events, told = kept
        self.tail = _copied_from(events, int(told[hits.REACHED, 0]), int(told[hits.TOTAL, 1]))

    def _patched(self, ends: ResidentEnds, told: np.ndarray, status: Any) -> tuple[np.ndarray, np.ndarray]:
        """Positions and counts, where those of units whose sums are too large are computed on the host."""
        units = int(ends.units.number.copy_to_host()[0])
        first, wrong = ends.offsets.copy_to_host(), status.copy_to_host()[:units]
        kept = int(told[hits.TOTAL, 1])
        symbols, positions = ends.events.symbols.copy_to_host()[:kept], ends.events.positions.copy_to_host()
        position, value = columns_of(told)
        event, least = position.copy(), value.copy()
        for unit in np.flatnonzero(wrong):
            part = slice(first[unit], first[unit + 1])
            position[part] = positions[event[part]]

        def again(unit: int) -> np.ndarray:
            part = slice(first[unit], first[unit + 1])
            one = np.array([0, first[unit + 1] - first[unit]])
            programs = self._forward, self._backward
            return on_cpu.counts(self._host, *programs, symbols, one, event[part], least[part])

        return position, patched(value, first, wrong, again)


def _copied_from(events: ResidentTail, low: int, high: int) -> ResidentTail:
    """The events from `low` on, in memory of their own, so that the others can be freed."""
    kept = high - low
    positions = device_array(kept, np.int64)
    symbols = empty(kept, events.symbols.dtype)
    measured = device_array(kept, events.measured.dtype)
    if kept:
        positions.copy_to_device(events.positions[low:high])
        symbols[:kept].copy_to_device(events.symbols[low:high])
        measured.copy_to_device(events.measured[low:high])
    return ResidentTail(positions, symbols, measured, kept)
