"""Queries without a window over columns in the memory of a CUDA device: one lane, cut into units.

Without a window no unit of the lane can begin a window early. So a scan over the units of a batch composes
what each does to the registers (`cer_gpu.kernels.hits.cuda_long_segments`) and to the numbers of open partial
matches (`cer_gpu.kernels.counts.cuda_long_segments`). From batch to batch the host keeps these few numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cer_gpu.engine.cuda.classify import CudaClassifier, ResidentBatch, ResidentEvents
from cer_gpu.engine.cuda.machines.one_device import LEAST_UNIT, ROOM, cut_evenly
from cer_gpu.engine.cuda.machines.resident_query import ResidentQuery
from cer_gpu.engine.machines.chunk import Segments
from cer_gpu.engine.machines.numbers import check_open
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.counts import cuda_long_segments as matrices
from cer_gpu.kernels.counts.cpu_ends import counted_ends
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry
from cer_gpu.kernels.device.words import copied
from cer_gpu.kernels.hits import cuda_long_segments as flows
from cer_gpu.kernels.runs.programs import counts_program
from cer_gpu.plan.compiled_query import CompiledQuery


@dataclass(frozen=True, slots=True)
class CarriedEnds:
    """The ends in a batch, the units that they lie in, the events of these, and the registers after them."""

    events: ResidentEvents
    units: tuple[Any, Any, Any]
    offsets: Any
    event: Any
    latest: Any
    registers: np.ndarray


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

    def ends(self, batch: ResidentBatch, before: int) -> CarriedEnds:
        """As `ResidentQuery.ends`; `latest` are positions in the stream."""
        events = self._classifier.events(batch, before)
        most = min(ROOM, matrices.most_units(self._host.n_live))
        whole = np.array([[0], [0], [events.kept], [0]], np.int64)
        cut = cut_evenly(
            Segments(*(whole if events.kept else whole[:, :0])), max(LEAST_UNIT, -(-events.kept // most))
        )
        units = copied(cut.report), copied(cut.stop), copied(cut.lane)
        left = copied(self.registers)
        found = flows.long_hits(self._program, events.symbols, events.positions, *units, left, self._fitting)
        offsets, event, latest = found
        return CarriedEnds(events, units, offsets, event, latest, left.copy_to_host())

    def latest(self, ends: CarriedEnds) -> Any:
        """As `ResidentQuery.latest`."""
        return ends.latest

    def numbers(self, ends: CarriedEnds) -> np.ndarray:
        """As `ResidentQuery.numbers`.

        Raises
        ------
        LimitError
            For numbers too large to have a practical meaning.
        """
        if not ends.events.kept:
            return np.empty(0, np.int64)
        large = bool((self.vectors >= 1 << 62).any())
        if not large:
            vectors, status = copied(self.vectors.astype(np.int64)), copied(np.zeros(1, np.uint8))
            number = matrices.long_forward_counts(
                self._machine,
                ends.events.symbols,
                *ends.units,
                ends.offsets,
                ends.event,
                vectors,
                status,
                self._lane,
            )
            large = bool(status.copy_to_host()[0])
        if large:
            found, self._after = self._by_host(ends, self.vectors)
        else:
            found, self._after = number.copy_to_host(), vectors.copy_to_host()
        return found

    def _keep(self, ends: CarriedEnds) -> None:
        self.registers, self.vectors = ends.registers, self._after

    def _by_host(self, ends: CarriedEnds, before: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same for numbers that are too large for a kernel."""
        symbols, bounds = ends.events.symbols.copy_to_host(), np.array([[0], [ends.events.kept]])
        _, number, after = counted_ends(counts_program(self._host), symbols, *bounds, before)
        check_open(after, self._query.text)
        return number, after
