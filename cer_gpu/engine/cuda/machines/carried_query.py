"""Queries without a window over columns in the memory of a CUDA device: one lane, cut into units.

Without a window no unit of the lane can begin a window early. So a scan over the units of a batch composes
what each does to the registers (`cer_gpu.kernels.hits.cuda_long_segments`) and to the numbers of open partial
matches (`cer_gpu.kernels.counts.cuda_ends`). From batch to batch the host keeps these few numbers.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cer_gpu.engine.cuda.classify import CudaClassifier, ResidentBatch, ResidentEvents
from cer_gpu.engine.cuda.machines.one_device import GUESSED, LEAST_UNIT, ROOM, columns_of, fetched, hits_in
from cer_gpu.engine.cuda.machines.resident_query import ResidentQuery, found_there
from cer_gpu.engine.machines.numbers import check_open
from cer_gpu.engine.machines.reported_ends import Asked, ReportedEnds
from cer_gpu.kernels.counts.cpu_ends import counted_ends
from cer_gpu.kernels.counts.cuda_ends import SUM, WRITTEN, count_ends, ends_geometry, most_units
from cer_gpu.kernels.device.arrays import device_array, zeros
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry
from cer_gpu.kernels.device.scan import new_tiles
from cer_gpu.kernels.device.words import copied, empty, words
from cer_gpu.kernels.hits import cuda as hits
from cer_gpu.kernels.hits import cuda_long_segments as flows
from cer_gpu.kernels.hits.cuda_blocks import DeviceProgram, SymbolWords, device_program
from cer_gpu.kernels.hits.cuda_units import cut_units
from cer_gpu.kernels.loop.contract import LARGEST
from cer_gpu.kernels.runs.programs import counts_program
from cer_gpu.plan.compiled_query import CompiledQuery

Units: TypeAlias = tuple[Any, Any, Any]
"""Where the units of a batch begin and stop, and their segment: device arrays of int64."""

LEAST = 128
"""The least number of events of a unit that the device cuts: so many have room in shared memory."""


class CarriedState(NamedTuple):
    """What a batch begins with: `registers` and `vectors` of `CarriedQuery`, these also on the device.

    `there` is None if they are not there. Where matches are counted, `registers` stay as they were at first.
    """

    registers: np.ndarray
    vectors: np.ndarray
    there: Any


class CarriedQuery(ResidentQuery):
    """A query without a window over resident batches.

    Attributes
    ----------
    registers : ndarray, shape (1, n), int64
        For each state the position of the latest start of a partial match in it; -1 where there is none.
    vectors : ndarray, shape (1, n), int64, or object past 2^62
        How many partial matches are in each state.
    """

    def __init__(
        self,
        query: CompiledQuery,
        classifier: CudaClassifier,
        lane: Geometry = LANE,
        stream: Geometry = STREAM,
    ) -> None:
        super().__init__(query, classifier, lane, stream)
        n = self._host.n_live
        self.registers, self.vectors = np.full((1, n), -1, np.int64), np.zeros((1, n), np.int64)
        self._there: Any = None
        """The numbers of open partial matches on the device; None where they are not there."""

    @cached_property
    def _counting(self) -> tuple[DeviceProgram, Geometry]:
        program = counts_program(self._host)
        fitting = ends_geometry(program.n_registers, self._host.n_live, self._lane)
        assert fitting is not None
        return device_program(program, fitting), fitting

    def answer(self, batch: ResidentBatch, before: int, asked: Asked) -> tuple[CarriedState, ReportedEnds]:
        """As `ResidentQuery.answer`; what `_keep` takes is what the next batch begins with."""
        if asked != "hits":
            return self._counted(batch, before, asked)
        events = self._classifier.events(batch, before)
        left, _, found = self._ends(events, self._units(events))
        ends = ReportedEnds(*fetched(found))
        return CarriedState(left.copy_to_host(), self.vectors, None), ends

    def hits_there(self, batch: ResidentBatch, before: int) -> Any:
        """As `ResidentQuery.hits_there`."""
        events = self._classifier.events(batch, before)
        return found_there(self._ends(events, self._units(events))[2])

    def _ends(self, events: ResidentEvents, units: Units) -> tuple[Any, Any, Any]:
        """The registers after a batch, where the ends of units begin, and the ends, on the device."""
        left, fitting = copied(self.registers), self._fitting
        found = flows.long_hits(
            self._program, events.symbols, events.positions, *units, left, fitting, placed=True
        )
        return left, *found

    def _units(self, events: ResidentEvents) -> Units:
        """The units of a batch."""
        length = max(LEAST_UNIT, -(-events.kept // ROOM))
        bounds = copied(np.append(np.arange(0, events.kept, length), events.kept))
        return bounds[:-1], bounds[1:], zeros(bounds.shape[0] - 1)

    def _counted(self, batch: ResidentBatch, before: int, asked: Asked) -> tuple[CarriedState, ReportedEnds]:
        """What `answer` gives: how many complex events end at each end, or the sum.

        The device alone knows how many events are relevant and how many ends there are; the host waits for
        the answer.
        """
        rows, n = batch.rows, self._host.n_live
        program, fitting = self._counting
        positions, symbols = device_array(rows, np.int64), empty(rows, self._classifier.dtype)
        tiles = self._classifier.into(batch, before, positions, symbols) if rows else new_tiles(0)
        listed = asked == "counts"
        # One array, so that the host waits once: the numbers that are open, in some rows; the ends.
        lead = -(-n // 2)
        size = lead + hits.HEAD + (rows if listed else 0)
        whole = device_array(2 * size, np.int64)
        told = whole.reshape(size, 2)
        none, keys = device_array(0, np.int64), device_array(0, np.uint64)
        most = min(ROOM, most_units(n))
        units = cut_units(keys, 0, tiles, rows, 0, LEAST, most, told[lead:], self._stream)
        events = SymbolWords(words(symbols), symbols.dtype.itemsize, none, positions)
        vectors, after = self._vectors(), device_array((1, n), np.int64)
        count_ends(
            program, events, units, none, vectors, after, zeros(1, np.uint8), WRITTEN if listed else SUM,
            told[lead:], fitting, self._stream,
        )  # fmt: skip
        whole[:n].copy_to_device(after.reshape(n))
        found = hits_in(told, GUESSED, lead) if listed else told.copy_to_host()
        opened, ends = found[:lead].reshape(-1)[:n].reshape(1, n), found[lead:]
        if ends[hits.REACHED, 1]:
            return self._by_host(symbols, positions, int(ends[hits.TOTAL, 1]), asked)
        carried = CarriedState(self.registers, opened, after)
        if not ends[hits.TOTAL, 1]:  # on the device, what is open may be cut off at 2^62
            carried = CarriedState(self.registers, self.vectors, vectors)
        if listed:
            return carried, ReportedEnds(*columns_of(ends))
        low, high = ends[hits.SUMS].tolist()
        return carried, ReportedEnds(ends[:0, 0], np.array([low + (high << 32)], object))

    def _vectors(self) -> Any:
        """The numbers of open partial matches, on the device, at most 2^62."""
        if self._there is None:
            self._there = copied(np.minimum(self.vectors, LARGEST).astype(np.int64))
        return self._there

    def _by_host(
        self, symbols: Any, positions: Any, kept: int, asked: Asked
    ) -> tuple[CarriedState, ReportedEnds]:
        """What `answer` gives of a batch whose numbers are too large for a kernel."""
        program, bounds = counts_program(self._host), np.array([[0], [kept]])
        event, number, after = counted_ends(program, symbols.copy_to_host(), *bounds, self.vectors)
        check_open(after, self._query.text)
        position = positions.copy_to_host()[event] if asked == "counts" else event[:0]
        return CarriedState(self.registers, after, None), ReportedEnds(position, number)

    def _keep(self, kept: CarriedState) -> None:
        self.registers, self.vectors, self._there = kept
