"""Batches -> relevant events on a CUDA device: the tables of `cer_gpu.engine.classify`, read there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.classify import Classifier
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.cuda import classify as kernels
from cer_gpu.kernels.cuda.geometry import STREAM, Geometry
from cer_gpu.kernels.cuda.words import copied
from cer_gpu.plan.compiled import CompiledQuery


@dataclass(frozen=True, slots=True)
class ResidentAdder:
    """What a column adds to the index of a stage: as on the host, with arrays on the device."""

    data: Any
    valid: Any
    shares: Any
    bounds: Any
    absent: Any


@dataclass(frozen=True, slots=True)
class ResidentBatch:
    """The columns of a batch that the classification of a query reads, on the device.

    Attributes
    ----------
    rows : int
    adders : tuple of tuple of ResidentAdder
        For each stage.
    """

    rows: int
    adders: tuple[tuple[ResidentAdder, ...], ...]


@dataclass(frozen=True, slots=True)
class ResidentEvents:
    """The relevant events of a batch, on the device.

    Attributes
    ----------
    positions : device array, shape (kept,), int64
    symbols : device array, shape (kept, padded), uint8 or uint16
    kept : int
    """

    positions: Any
    symbols: Any
    kept: int


class CudaClassifier(Classifier):
    """Finds the relevant events of batches on a device; strings and arithmetic are read by the host.

    Parameters
    ----------
    query : CompiledQuery
    units : mapping of str to str
    workers : Workers
    geometry : Geometry
    """

    def __init__(
        self, query: CompiledQuery, units: dict[str, str], workers: Workers, geometry: Geometry = STREAM
    ) -> None:
        super().__init__(query, units, workers)
        self._geometry = geometry
        self._tables = [copied(stage.table) for stage in query.stages]

    def resident(self, batch: pa.RecordBatch) -> ResidentBatch:
        """Copy to the device what the classification reads of a batch."""
        there: dict[tuple[int, int, str], Any] = {}
        # Kept while the addresses in `there` are looked at: memory that is freed is used again.
        host = self._adders(batch)
        stages = tuple(tuple(_resident(adder, there) for adder in stage) for stage in host)
        return ResidentBatch(len(batch), stages)

    def events(self, batch: ResidentBatch, before: int) -> ResidentEvents:
        """The relevant events of a resident batch, which stay on the device.

        Parameters
        ----------
        batch : ResidentBatch
        before : int
            How many events of the stream come before it.
        """
        geometry = self._geometry
        index = kernels.new_index(batch.rows, self._dtypes[0], geometry)
        for number, stage in enumerate(self._query.stages):
            if number:
                following = kernels.new_index(batch.rows, self._dtypes[number], geometry)
                kernels.restate(
                    index, batch.rows, self._tables[number - 1], stage.state_stride, following, geometry
                )
                index = following
            for adder in batch.adders[number]:
                if adder.bounds is None:
                    kernels.add_codes(index, adder.data, adder.valid, adder.shares, adder.absent, geometry)
                else:
                    kernels.add_cuts(index, adder.data, adder.valid, adder.bounds, adder.shares, geometry)
        found = kernels.compact(index, batch.rows, self._tables[-1], before, geometry)
        return ResidentEvents(*found)

    def relevant(self, batch: pa.RecordBatch, before: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """As on the CPU: positions and symbols, as host arrays."""
        found = self.events(self.resident(batch), before)
        return [(found.positions.copy_to_host(), found.symbols.copy_to_host()[: found.kept])]


def _resident(adder: Any, there: dict[tuple[int, int, str], Any]) -> ResidentAdder:
    """An adder with its arrays on the device; several axes of one column read one copy of it."""

    def once(values: np.ndarray) -> Any:
        place = (values.ctypes.data, len(values), values.dtype.str)
        if place not in there:
            there[place] = copied(values)
        return there[place]

    column = adder.column
    bounds = None if adder.bounds is None else copied(adder.bounds)
    return ResidentAdder(once(column.data), once(column.valid), copied(adder.shares), bounds, adder.absent)
