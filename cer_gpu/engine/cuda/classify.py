"""From batches to relevant events on a CUDA device, by the tables of `cer_gpu.engine.read.classify`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from sys import maxsize
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from cer_gpu.engine.cuda.memory import BatchRows
from cer_gpu.engine.cuda.staging import Staging, Upload
from cer_gpu.engine.devices import on, tried_on
from cer_gpu.engine.read.adders import Adder
from cer_gpu.engine.read.classify import Classifier
from cer_gpu.engine.read.sources import columns
from cer_gpu.engine.read.sources.columns import Codes, Values
from cer_gpu.engine.read.sources.device_rows import DeviceTable
from cer_gpu.engine.workers import Workers
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.classify import cuda as kernels
from cer_gpu.kernels.device.geometry import Geometry
from cer_gpu.kernels.device.memory import address_of
from cer_gpu.kernels.device.words import copied
from cer_gpu.language import tree
from cer_gpu.plan.axes import Axis, ColumnAxis, CutAxis
from cer_gpu.plan.compiled_query import RowReading

Events: TypeAlias = "pa.RecordBatch | DeviceTable"
"""A batch on the host, or in the memory of the device."""


@dataclass(frozen=True, slots=True)
class ResidentBatch:
    """The columns of a batch that the classification of a query reads, on the device.

    Attributes
    ----------
    rows : int
    reading : ReadingPlan
        Where the columns lie, and the tables by which symbols are made of them.
    arrays : tuple of device array
        What `reading` points to, which lives as long as this.
    also : tuple of device array
        Further columns that were copied with them.
    upload : Upload or None
        The copy to wait for before the arrays are read.
    """

    rows: int
    reading: kernels.ReadingPlan
    arrays: tuple[Any, ...]
    also: tuple[Any, ...] = ()
    upload: Upload | None = None


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


@dataclass(frozen=True, slots=True)
class _StagedBatch:
    """A batch whose columns are being copied; `resident` is None where there was no memory for them."""

    batch: Events
    resident: ResidentBatch | None


class CudaClassifier(Classifier):
    """Finds the relevant events of batches on a device; the host does texts and arithmetic.

    Batches are cut to fit the memory of the device, and the columns of the next one are copied while the
    kernels run over this one (`ahead`). If memory runs out, the batch is halved; if that does not help, the
    CPU continues, with a warning.

    Parameters
    ----------
    reading : Reading
    units : mapping of str to str
    workers : Workers
    geometry : Geometry
    device : int
        The number of the device.
    also : tuple of str
        Columns of numbers that are copied to the device with the columns that the classification reads.
    """

    def __init__(
        self,
        reading: RowReading,
        units: dict[str, str],
        workers: Workers,
        geometry: Geometry = kernels.TILES,
        device: int = 0,
        also: tuple[str, ...] = (),
    ) -> None:
        super().__init__(reading, units, workers)
        self.whole = maxsize  # what is copied to a device are whole columns
        self.device = device
        self._geometry = geometry
        sizes = [len(stage.table) for stage in reading.stages]
        self._strides = [stage.state_stride for stage in reading.stages]
        self._offsets = np.cumsum([0, *sizes[:-1]]).tolist()
        self._also = also
        with on(device):
            self._cells = copied(np.concatenate([stage.table.astype(np.int32) for stage in reading.stages]))
            self._staging = Staging(workers)
            self.memory = BatchRows(device)
        self._staged: list[_StagedBatch] = []
        self._passed = 0
        """How many events of the stream come before those that `ahead` copies to the device next."""

    # ------------------------------------------------------------------------------ bring them there

    def ahead(self, batches: Iterable[Events]) -> Iterator[Events]:
        """The batches, cut to size. While the caller works on one, the next is copied to the device."""
        coming = self.memory.cut(batches)
        following = next(coming, None)
        while following is not None:
            waiting = following
            if not self._staged:
                # The first batch; or memory ran out, so that what was staged is gone and may be too large.
                if len(waiting) > self.memory.rows:
                    coming = chain(self.memory.cut([waiting]), coming)
                    waiting = next(coming)
                self._stage(waiting)
            self._passed += len(waiting)
            following = next(coming, None)
            if following is not None:
                self._stage(following)
            yield waiting

    def _stage(self, batch: Events) -> None:
        """Begin to copy the columns of a batch, unless the device is out of memory for good."""
        if not self.memory.exhausted:
            there = tried_on(self.device, lambda: self.resident(batch, self._passed, staged=True))
            self._staged.append(_StagedBatch(batch, there))

    def taken(self, batch: Events, before: int) -> ResidentBatch:
        """The columns of a batch on the device: copied ahead if `ahead` yielded the batch, else now."""
        for number, staged in enumerate(self._staged):
            if staged.batch is batch:
                del self._staged[: number + 1]
                if staged.resident is not None:
                    return staged.resident
                break
        return self.resident(batch, before, staged=True)

    def resident(self, batch: Events, before: int, staged: bool = False) -> ResidentBatch:
        """Copy to the device the columns of a batch that the classification reads.

        Parameters
        ----------
        batch : RecordBatch
        before : int
            How many events of the stream come before it.
        staged : bool
            Whether the copy runs beside kernels; the arrays are overwritten by the call after the next one.
        """
        host = self._adders(batch, before)
        arrays: list[np.ndarray] = []
        lying: list[Any] = []
        # Several axes of one column read one copy of it. Arrays are kept while their addresses are compared.
        index: dict[tuple[int, int, str], int] = {}

        def place(values: Any) -> int:
            if not isinstance(values, np.ndarray):  # it is on the device already
                lying.append(values)
                return -len(lying)
            key = (values.ctypes.data, len(values), values.dtype.str)
            if key not in index:
                index[key] = len(arrays)
                arrays.append(values)
            return index[key]

        places = [(place(one.column.data), place(one.column.valid)) for stage in host for one in stage]  # type: ignore[union-attr]
        also = [place(self._numbers(batch, name)) for name in self._also]
        words, head = kernels.words_of_plan(host, self._strides, self._offsets)

        def placed(addresses: list[int]) -> None:
            own = [*addresses[: len(arrays)], *map(address_of, reversed(lying))]
            kernels.address_columns(words, [(own[data], own[valid]) for data, valid in places])

        if staged:
            upload = self._staging.upload([*arrays, words], placed)
            there = upload.arrays
        else:
            upload, there = None, tuple(map(copied, arrays))
            placed(list(map(address_of, there)))
            there += (copied(words),)
        own = [*there[: len(arrays)], *reversed(lying)]
        reading = kernels.reading_plan(there[-1], head, self._cells)
        return ResidentBatch(len(batch), reading, tuple(own), tuple(own[number] for number in also), upload)

    def _numbers(self, batch: Events, name: str) -> Any:
        if isinstance(batch, pa.RecordBatch):
            return columns.numbers(batch.column(name), name).data
        return batch.columns[name].data

    def _codes(self, batch: Events, name: str) -> Codes:
        if isinstance(batch, pa.RecordBatch):
            return super()._codes(batch, name)
        column = batch.columns[name]
        if column.texts is None or not len(column.texts):  # nothing but nulls
            return columns.no_codes(len(batch))
        return Codes(column.data, column.valid, column.texts)

    def _on_host(self, batch: Events, rows: np.ndarray) -> pa.RecordBatch:
        if not isinstance(batch, pa.RecordBatch):
            names = dict.fromkeys(name for axis in self._reading.axes for name in axis.columns)
            batch = batch.on_host(list(names))
        return super()._on_host(batch, rows)

    def _number_adder(self, batch: Events, axis: Axis, stride: int, dtype: np.dtype) -> Adder:
        if isinstance(batch, pa.RecordBatch):
            return super()._number_adder(batch, axis, stride, dtype)
        plain = isinstance(axis, CutAxis) and isinstance(axis.operand, tree.Attribute)
        if plain or isinstance(axis, ColumnAxis):
            assert isinstance(axis, ColumnAxis | CutAxis)
            column = batch.columns[axis.columns[0]]
            bounds, classes = axis.thresholds(column.data.dtype)
            shares = (classes.astype(np.int64) * stride).astype(dtype)
            return Adder(Values(column.data, column.valid), shares, bounds, None)
        # The host does arithmetic, comparisons of columns and IS NULL.
        names = list(dict.fromkeys(axis.columns)) or list(batch.columns)[:1]
        return super()._number_adder(batch.on_host(names), axis, stride, dtype)

    # ------------------------------------------------------------------------------------ classify

    def events(self, batch: ResidentBatch, before: int) -> ResidentEvents:
        """The relevant events of a resident batch, which stay on the device.

        Parameters
        ----------
        batch : ResidentBatch
        before : int
            How many events of the stream come before it.
        """
        if batch.upload is not None:
            batch.upload.wait()
        return ResidentEvents(
            *kernels.classify(batch.reading, batch.rows, before, self.dtype, self._geometry)
        )

    def into(self, batch: ResidentBatch, before: int, positions: Any, symbols: Any) -> Any:
        """As `events`, into arrays with room for all rows; how many there are is known to the device alone.

        Returns
        -------
        device array
            As `cer_gpu.kernels.classify.cuda.classified` gives it.
        """
        if batch.upload is not None:
            batch.upload.wait()
        return kernels.classified(batch.reading, batch.rows, before, positions, symbols, self._geometry)

    @property
    def dtype(self) -> np.dtype:
        """The dtype of symbols."""
        return self._reading.stages[-1].table.dtype

    def relevant(self, batch: Events, before: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Positions and symbols of the relevant events, as arrays on the host; as `Classifier.relevant`."""

        def classify(part: Events, first: int) -> list[tuple[np.ndarray, np.ndarray]]:
            found = self.events(self.taken(part, first), first)
            return [(found.positions.copy_to_host(), found.symbols.copy_to_host()[: found.kept])]

        parts = self.memory.halving(batch, before, classify, self.relevant_here, self.clear)
        return [found for part in parts for found in part]

    def relevant_here(self, batch: Events, before: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """As `relevant`, on the CPU."""
        return [block for _, found in super().in_groups(batch, before) for block in found]

    def in_groups(
        self, batch: Events, before: int
    ) -> Iterator[tuple[int, list[tuple[np.ndarray, np.ndarray]]]]:
        """As `relevant`, all blocks in one group."""
        yield len(batch), self.relevant(batch, before)

    def clear(self) -> None:
        """Free the memory of what was copied to the device ahead."""
        self._staged.clear()
        tried_on(self.device, self._staging.clear)
