"""Queries without a window over columns in the memory of a CUDA device: one lane, cut into units.

Without a window no unit of the lane can begin a window early. So a scan over the units of a batch composes
what each does to the registers (`cer_gpu.kernels.hits.cuda_long_segments`) and to the numbers of open partial
matches (`cer_gpu.kernels.counts.cuda_long_segments`). From batch to batch the host keeps these few numbers.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from cer_gpu.engine.cuda.classify import CudaClassifier, ResidentBatch, ResidentEvents
from cer_gpu.engine.cuda.machines.one_device import LEAST_UNIT, ROOM, cut_evenly, fetched
from cer_gpu.engine.cuda.machines.resident_query import ResidentQuery, found_there
from cer_gpu.engine.machines.chunk import Segments
from cer_gpu.engine.machines.numbers import check_open
from cer_gpu.engine.machines.reported_ends import Asked, ReportedEnds
from cer_gpu.kernels.counts import cuda_long_segments as matrices
from cer_gpu.kernels.counts.cpu_ends import counted_ends
from cer_gpu.kernels.device.arrays import device_array
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry
from cer_gpu.kernels.device.words import copied
from cer_gpu.kernels.hits import cuda_long_segments as flows
from cer_gpu.kernels.runs.programs import counts_program
from cer_gpu.plan.compiled_query import CompiledQuery

Units: TypeAlias = tuple[Any, Any, Any]
"""Where the units of a batch begin and stop, and their segment: device arrays of int64."""


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
        self._after = self.vectors
        """The numbers of open partial matches after the batch whose ends were counted last."""

    def answer(self, batch: ResidentBatch, before: int, asked: Asked) -> tuple[np.ndarray, ReportedEnds]:
        """As `ResidentQuery.answer`; what `_keep` takes are the registers after the batch."""
        events = self._classifier.events(batch, before)
        cut = self._cut(events)
        units = copied(cut.report), copied(cut.stop), copied(cut.lane)
        if asked == "count":
            return self.registers, ReportedEnds(np.empty(0, np.int64), self._sum(events, units, cut))
        left, offsets, found = self._ends(events, units)
        position, value = fetched(found)
        if asked == "counts":
            number = self._numbers(events, units, offsets, len(position), None)
            value = self._by_host(events) if number is None else number.copy_to_host()
        return left.copy_to_host(), ReportedEnds(position, value)

    def hits_there(self, batch: ResidentBatch, before: int) -> Any:
        """As `ResidentQuery.hits_there`."""
        events = self._classifier.events(batch, before)
        cut = self._cut(events)
        return found_there(self._ends(events, (copied(cut.report), copied(cut.stop), copied(cut.lane)))[2])

    def _ends(self, events: ResidentEvents, units: Units) -> tuple[Any, Any, Any]:
        """The registers after a batch, where the ends of units begin, and the ends, on the device."""
        left, fitting = copied(self.registers), self._fitting
        found = flows.long_hits(
            self._program, events.symbols, events.positions, *units, left, fitting, placed=True
        )
        return left, *found

    def _sum(self, events: ResidentEvents, units: Units, cut: Segments) -> np.ndarray:
        """How many complex events end in a batch: no unit is asked where its hits are."""
        room, totals = copied(np.append(cut.report, events.kept)), device_array((len(cut.begin), 2), np.int64)
        if self._numbers(events, units, room, events.kept, totals) is None:
            return self._by_host(events)
        low, high = totals.copy_to_host().sum(axis=0).tolist()
        return np.array([low + (high << 32)], object)

    def _cut(self, events: ResidentEvents) -> Segments:
        """The units of a batch."""
        most = min(ROOM, matrices.most_units(self._host.n_live))
        whole = np.array([[0], [0], [events.kept], [0]], np.int64)
        length = max(LEAST_UNIT, -(-events.kept // most))
        return cut_evenly(Segments(*(whole if events.kept else whole[:, :0])), length)

    def _numbers(self, events: ResidentEvents, units: Units, first: Any, hits: int, totals: Any) -> Any:
        """As `long_forward_counts`, for one segment; None where its numbers are too large for a kernel."""
        if (self.vectors >= 1 << 62).any():
            return None
        vectors, status = copied(self.vectors.astype(np.int64)), copied(np.zeros(1, np.uint8))
        number = matrices.long_forward_counts(
            self._machine, events.symbols, *units, first, hits, vectors, status, self._lane, totals
        )
        if status.copy_to_host()[0]:
            return None
        self._after = vectors.copy_to_host()
        return number

    def _keep(self, kept: np.ndarray) -> None:
        self.registers, self.vectors = kept, self._after

    def _by_host(self, events: ResidentEvents) -> np.ndarray:
        """Counts of a batch whose numbers are too large for a kernel."""
        symbols, bounds = events.symbols.copy_to_host(), np.array([[0], [events.kept]])
        _, number, self._after = counted_ends(counts_program(self._host), symbols, *bounds, self.vectors)
        check_open(self._after, self._query.text)
        return number
