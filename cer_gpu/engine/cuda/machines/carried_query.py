"""Queries without a window over columns in the memory of a CUDA device: one lane, cut into units.

Without a window no unit of the lane can begin a window early. So a scan over the units of a batch composes
what each does to the registers (`cer_gpu.kernels.hits.cuda_long_segments`) and to the numbers of open partial
matches (`cer_gpu.kernels.counts.cuda_ends`). From batch to batch the host keeps these few numbers.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cer_gpu.engine.cuda.classify import CudaClassifier, ResidentBatch
from cer_gpu.engine.cuda.machines.one_device import GUESSED, ROOM, columns_of, hits_in
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
from cer_gpu.kernels.hits.cuda_blocks import DeviceProgram, HitUnits, SymbolWords, device_program
from cer_gpu.kernels.hits.cuda_units import cut_units
from cer_gpu.kernels.loop.contract import LARGEST
from cer_gpu.kernels.runs.programs import counts_program
from cer_gpu.plan.compiled_query import CompiledQuery

LEAST = 128
"""The least number of events of a unit that the device cuts: 128 units of so many symbols of one byte have
room in shared memory."""


class CarriedState(NamedTuple):
    """What a batch begins with: `registers` and `vectors` of `CarriedQuery`.

    `latest` and `opened` are the same on the device; None where they are not there. Where hits are asked for,
    the numbers stay as they were at first, and where matches are counted, the registers.
    """

    registers: np.ndarray
    vectors: np.ndarray
    latest: Any = None
    opened: Any = None


class CutBatch(NamedTuple):
    """A batch of which the device alone knows how many events are relevant.

    Attributes
    ----------
    events : SymbolWords
        For hits, runs start at their positions.
    units : HitUnits
    symbols : device array
        Of the relevant events, with room for all.
    answer : device array
        The answer, so that the host waits once.
    lead : int
        The first rows of `answer` have what the next batch begins with.
    found : device array
        The rows behind them, as of `cer_gpu.kernels.hits.cuda`.
    """

    events: SymbolWords
    units: HitUnits
    symbols: Any
    answer: Any
    lead: int
    found: Any

    def told(self, carried: Any, listed: bool) -> tuple[np.ndarray, np.ndarray]:
        """What the next batch begins with, and what was found, on the host, which waits for them."""
        n = carried.shape[1]
        self.answer.reshape(self.answer.size)[:n].copy_to_device(carried.reshape(n))
        rows = hits_in(self.answer, GUESSED, self.lead) if listed else self.answer.copy_to_host()
        carried_on = rows[: self.lead].reshape(-1)[:n].reshape(1, n).copy()  # the rows can be given back
        return carried_on, rows[self.lead :]


class CarriedQuery(ResidentQuery):
    """A query without a window over resident batches.

    The device alone knows how many events are relevant and how many ends there are; the host waits for the
    answer.
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
        self._carried = CarriedState(np.full((1, n), -1, np.int64), np.zeros((1, n), np.int64))

    @property
    def registers(self) -> np.ndarray:
        """The position of the latest start of a partial match in each state; -1: none. Of hits only."""
        return self._carried.registers

    @property
    def vectors(self) -> np.ndarray:
        """How many partial matches are in each state, (1, n): int64, or object past 2^62. Of counts only."""
        return self._carried.vectors

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
        left, cut = self._ends(batch, before)
        registers, found = cut.told(left, True)
        return CarriedState(registers, self.vectors, left), ReportedEnds(*columns_of(found))

    def hits_there(self, batch: ResidentBatch, before: int) -> Any:
        """As `ResidentQuery.hits_there`."""
        return found_there(self._ends(batch, before)[1].found)

    def _cut(self, batch: ResidentBatch, before: int, most: int, listed: bool) -> CutBatch:
        """The relevant events of a batch, cut into about `most` units at most."""
        rows = batch.rows
        positions, symbols = device_array(rows, np.int64), empty(rows, self._classifier.dtype)
        tiles = self._classifier.into(batch, before, positions, symbols) if rows else new_tiles(0)
        lead = -(-self._host.n_live // 2)
        answer = device_array((lead + hits.HEAD + (rows if listed else 0), 2), np.int64)
        found, keys = answer[lead:], device_array(0, np.uint64)
        units = cut_units(keys, 0, tiles, rows, 0, LEAST, most, found, self._stream)
        events = SymbolWords(words(symbols), symbols.dtype.itemsize, positions, positions)
        return CutBatch(events, units, symbols, answer, lead, found)

    def _ends(self, batch: ResidentBatch, before: int) -> tuple[Any, CutBatch]:
        """The registers after a batch, and the ends, on the device."""
        cut = self._cut(batch, before, min(ROOM, flows.most_units(self._host.n_live)), True)
        there = self._carried.latest
        left = copied(self.registers) if there is None else device_array(there.shape, np.int64)
        if there is not None:
            left.copy_to_device(there)
        flows.find_long_hits(
            self._program, cut.events, cut.units, device_array(0, np.int64), left, hits.PLACES, cut.found,
            self._fitting, self._stream,
        )  # fmt: skip
        return left, cut

    def _counted(self, batch: ResidentBatch, before: int, asked: Asked) -> tuple[CarriedState, ReportedEnds]:
        """What `answer` gives: how many complex events end at each end, or the sum."""
        program, fitting = self._counting
        listed, n = asked == "counts", self._host.n_live
        cut = self._cut(batch, before, min(ROOM, most_units(n)), listed)
        vectors, after = self._carried.opened, device_array((1, n), np.int64)
        if vectors is None:
            vectors = copied(np.minimum(self.vectors, LARGEST).astype(np.int64))
        count_ends(
            program, cut.events, cut.units, device_array(0, np.int64), vectors, after, zeros(1, np.uint8),
            WRITTEN if listed else SUM, cut.found, fitting, self._stream,
        )  # fmt: skip
        opened, found = cut.told(after, listed)
        if found[hits.REACHED, 1]:
            return self._by_host(cut, int(found[hits.TOTAL, 1]), asked)
        carried = CarriedState(self.registers, opened, opened=after)
        if not found[hits.TOTAL, 1]:  # on the device, what is open may be cut off at 2^62
            carried = CarriedState(self.registers, self.vectors, opened=vectors)
        if listed:
            return carried, ReportedEnds(*columns_of(found))
        low, high = found[hits.SUMS].tolist()
        return carried, ReportedEnds(found[:0, 0], np.array([low + (high << 32)], object))

    def _by_host(self, cut: CutBatch, kept: int, asked: Asked) -> tuple[CarriedState, ReportedEnds]:
        """What `answer` gives of a batch whose numbers are too large for a kernel."""
        program, bounds = counts_program(self._host), np.array([[0], [kept]])
        event, number, after = counted_ends(program, cut.symbols.copy_to_host(), *bounds, self.vectors)
        check_open(after, self._query.text)
        position = cut.events.places.copy_to_host()[event] if asked == "counts" else event[:0]
        return CarriedState(self.registers, after), ReportedEnds(position, number)

    def _keep(self, kept: CarriedState) -> None:
        self._carried = kept
