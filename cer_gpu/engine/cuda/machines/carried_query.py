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
from cer_gpu.engine.cuda.machines.resident_query import run_tables, why_not
from cer_gpu.engine.machines.chunk import Segments
from cer_gpu.engine.machines.numbers import check_open
from cer_gpu.engine.machines.reported_ends import sum_exactly
from cer_gpu.errors import DeviceError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.classify import cuda as classify
from cer_gpu.kernels.counts import cuda as counts
from cer_gpu.kernels.counts import cuda_long_segments as matrices
from cer_gpu.kernels.counts.cpu_ends import counted_ends
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry, lane_geometry
from cer_gpu.kernels.device.words import copied
from cer_gpu.kernels.hits import cuda_long_segments as flows
from cer_gpu.kernels.hits.cuda import device_program
from cer_gpu.kernels.runs.programs import backward_program, counts_program, forward_program, hits_program
from cer_gpu.plan.compiled_query import CompiledQuery


@dataclass(frozen=True, slots=True)
class CarriedRegisters:
    """What is carried from the events so far.

    Attributes
    ----------
    registers : ndarray, shape (1, n), int64
        For each state the position of the latest start of a partial match in it; -1 where there is none.
    vectors : ndarray, shape (1, n), int64, or object past 2^62
        How many partial matches are in each state.
    """

    registers: np.ndarray
    vectors: np.ndarray


@dataclass(frozen=True, slots=True)
class CarriedEnds:
    """The ends in a batch of a stream, the units that they lie in, and the events of these."""

    events: ResidentEvents
    units: tuple[Any, Any, Any]
    offsets: Any
    event: Any
    latest: Any


class CarriedQuery:
    """A query without a window over resident batches: hits and counts.

    Parameters
    ----------
    query : CompiledQuery
        Without a window.
    classifier : CudaClassifier
        The classifier that copied the columns to the device.
    lane, stream : Geometry
        How kernels are launched.

    Raises
    ------
    DeviceError
        For a query that `cer_gpu.engine.cuda.machines.resident_query.why_not` gives a reason against.
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
        assert query.window is None
        self._host = run_tables(query)
        self._text = query.text
        program = hits_program(self._host)
        long = lane_geometry(2 * program.n_registers, lane)
        assert long is not None
        self._classifier, self._lane, self._stream, self._long = classifier, lane, stream, long
        self._program = device_program(program, long)
        programs = forward_program(self._host), backward_program(self._host)
        self._machine = counts.device_tables(self._host, *programs)

    @property
    def nothing(self) -> CarriedRegisters:
        """The state before the first event."""
        n = self._host.n_live
        return CarriedRegisters(np.full((1, n), -1, np.int64), np.zeros((1, n), np.int64))

    def hits(self, batch: ResidentBatch) -> tuple[Any, Any]:
        """Positions and latest starts of the hits of a whole stream, on the device."""
        ends, _ = self.ends(batch, 0, self.nothing)
        return self.positions(ends), ends.latest

    def count(self, batch: ResidentBatch) -> int:
        """How many complex events a whole stream has, exactly."""
        ends, _ = self.ends(batch, 0, self.nothing)
        return sum_exactly(self.numbers(ends, self.nothing)[0])

    def ends(
        self, batch: ResidentBatch, before: int, carried: CarriedRegisters
    ) -> tuple[CarriedEnds, np.ndarray]:
        """Where complex events end in a batch of a stream, and the registers after it.

        Parameters
        ----------
        batch : ResidentBatch
        before : int
            How many events of the stream come before it.
        carried : Carried
            What is carried from these.

        Returns
        -------
        ends : CarriedEnds
            `latest` are positions in the stream.
        registers : ndarray, shape (1, n), int64
        """
        events = self._classifier.events(batch, before)
        most = min(ROOM, matrices.most_units(self._host.n_live))
        whole = np.array([[0], [0], [events.kept], [0]], np.int64)
        cut = cut_evenly(
            Segments(*(whole if events.kept else whole[:, :0])), max(LEAST_UNIT, -(-events.kept // most))
        )
        units = copied(cut.report), copied(cut.stop), copied(cut.lane)
        left = copied(carried.registers)
        found = flows.long_hits(self._program, events.symbols, events.positions, *units, left, self._long)
        return CarriedEnds(events, units, *found), left.copy_to_host()

    def positions(self, ends: CarriedEnds) -> Any:
        """The positions of ends in the stream, on the device."""
        return classify.gather(ends.events.positions, ends.event, 0, np.int64, self._stream)

    def numbers(self, ends: CarriedEnds, carried: CarriedRegisters) -> tuple[np.ndarray, np.ndarray]:
        """How many complex events end at each end, and the numbers of open partial matches after the ends.

        Parameters
        ----------
        ends : CarriedEnds
        carried : Carried
            What is carried from the events before.

        Returns
        -------
        number : ndarray, shape (ends,), int64, or object past 2^62
        vectors : ndarray, shape (1, n), int64, or object past 2^62

        Raises
        ------
        LimitError
            For numbers too large to have a practical meaning.
        """
        if not ends.events.kept:
            return np.empty(0, np.int64), carried.vectors
        large = bool((carried.vectors >= 1 << 62).any())
        if not large:
            vectors, status = copied(carried.vectors.astype(np.int64)), copied(np.zeros(1, np.uint8))
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
            return self._by_host(ends, carried.vectors)
        return number.copy_to_host(), vectors.copy_to_host()

    def _by_host(self, ends: CarriedEnds, before: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same for numbers that are too large for a kernel."""
        symbols, bounds = ends.events.symbols.copy_to_host(), np.array([[0], [ends.events.kept]])
        _, number, after = counted_ends(counts_program(self._host), symbols, *bounds, before)
        check_open(after, self._text)
        return number, after
