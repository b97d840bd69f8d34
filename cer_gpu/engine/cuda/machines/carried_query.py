"""Queries without a window over columns in the memory of a CUDA device: one lane, cut into units.

Without a window no unit of the lane can begin a window early. So a scan over the units of a batch composes
what each does to the registers (`cer_gpu.kernels.hits.cuda_long_segments`) and to the numbers of open partial
matches (`cer_gpu.kernels.counts.cuda_long_segments`). From batch to batch the host keeps these few numbers.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from cer_gpu.engine.cuda.classify import CudaClassifier, ResidentBatch, ResidentEvents
from cer_gpu.engine.cuda.machines.one_device import LEAST_UNIT, ROOM, fetched
from cer_gpu.engine.cuda.machines.resident_query import ResidentQuery, found_there
from cer_gpu.engine.machines.numbers import check_open
from cer_gpu.engine.machines.reported_ends import Asked, ReportedEnds
from cer_gpu.kernels.counts import cuda_long_segments as matrices
from cer_gpu.kernels.counts.cpu_ends import counted_ends
from cer_gpu.kernels.device.arrays import device_array, zeros
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
        bounds, units = self._units(events)
        if asked == "count":
            return self.registers, ReportedEnds(np.empty(0, np.int64), self._sum(events, bounds, units))
        left, offsets, found = self._ends(events, units)
        position, value = fetched(found)
        if asked == "counts":
            counted = self._numbers(events, units, offsets, len(position), 0)
            value = self._by_host(events) if counted is None else counted[0].copy_to_host()
        return left.copy_to_host(), ReportedEnds(position, value)

    def hits_there(self, batch: ResidentBatch, before: int) -> Any:
        """As `ResidentQuery.hits_there`."""
        events = self._classifier.events(batch, before)
        return found_there(self._ends(events, self._units(events)[1])[2])

    def _ends(self, events: ResidentEvents, units: Units) -> tuple[Any, Any, Any]:
        """The registers after a batch, where the ends of units begin, and the ends, on the device."""
        left, fitting = copied(self.registers), self._fitting
        found = flows.long_hits(
            self._program, events.symbols, events.positions, *units, left, fitting, placed=True
        )
        return left, *found

    def _sum(self, events: ResidentEvents, bounds: Any, units: Units) -> np.ndarray:
        """How many complex events end in a batch: no unit is asked where its hits are."""
        counted = self._numbers(events, units, bounds, events.kept, units[0].shape[0])
        if counted is None:
            return self._by_host(events)
        low, high = counted[1].sum(axis=0).tolist()
        return np.array([low + (high << 32)], object)

    def _units(self, events: ResidentEvents) -> tuple[Any, Units]:
        """The bounds of the units of a batch, and the units."""
        most = min(ROOM, matrices.most_units(self._host.n_live))
        length = max(LEAST_UNIT, -(-events.kept // most))
        bounds = copied(np.append(np.arange(0, events.kept, length), events.kept))
        return bounds, (bounds[:-1], bounds[1:], zeros(bounds.shape[0] - 1))

    def _numbers(
        self, events: ResidentEvents, units: Units, first: Any, hits: int, summed: int
    ) -> tuple[Any, np.ndarray] | None:
        """As `long_forward_counts`, for one segment, and the totals of `summed` units.

        None where its numbers are too large for a kernel.
        """
        if (self.vectors >= 1 << 62).any():
            return None
        # One array, so that the host waits once: vectors, status, totals.
        n = self._host.n_live
        whole = device_array(n + 1 + 2 * summed, np.int64)
        whole[: n + 1].copy_to_device(np.append(self.vectors.astype(np.int64), 0))
        vectors, status = whole[:n].reshape(1, n), whole[n : n + 1].view(np.uint8)
        totals = whole[n + 1 :].reshape(summed, 2) if summed else None
        number = matrices.long_forward_counts(
            self._machine, events.symbols, *units, first, hits, vectors, status, self._lane, totals
        )
        told = whole.copy_to_host()
        if told[n]:
            return None
        self._after = told[:n].reshape(1, n)
        return number, told[n + 1 :].reshape(summed, 2)

    def _keep(self, kept: np.ndarray) -> None:
        self.registers, self.vectors = kept, self._after

    def _by_host(self, events: ResidentEvents) -> np.ndarray:
        """Counts of a batch whose numbers are too large for a kernel."""
        symbols, bounds = events.symbols.copy_to_host(), np.array([[0], [events.kept]])
        _, number, self._after = counted_ends(counts_program(self._host), symbols, *bounds, self.vectors)
        check_open(self._after, self._query.text)
        return number
