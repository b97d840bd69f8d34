"""Batches with their derived columns: PREV, and functions of one event (`cer_gpu.plan.derived_columns`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from sys import maxsize
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.derive import Reader, evaluate, in_one_unit, read_wide
from cer_gpu.engine.read.functions import (
    OF_TEXT,
    Texts,
    arrow_type,
    chosen_text,
    in_sign,
    of_numbers,
    of_text,
    places_of,
)
from cer_gpu.engine.read.lanes import LaneEncoder, of_streams
from cer_gpu.engine.read.previous_values import InLanes, PreviousColumn, StreamPreviousValues
from cer_gpu.engine.read.sources import columns
from cer_gpu.engine.read.sources.columns import NONE_BEYOND, Values, array_of, either_beyond
from cer_gpu.engine.read.sources.decimals import MOST_DECIMAL, from_integers, from_scaled, widened
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import DataError
from cer_gpu.language import tree
from cer_gpu.language.functions import OUTERMOST
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import ValueType
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.plan.compiled_query import UNFIT, RowReading
from cer_gpu.plan.derived_columns import PLACE, DerivedColumn

BLOCK = 1 << 17
"""Rows for which a thread computes a function at a time."""


class DerivedColumns:
    """Adds the derived columns to the batches of a run, one batch after another.

    Parameters
    ----------
    reading : Reading
    units : dict of str to str
        The units of the columns, derived columns included.
    schema : pyarrow.Schema
        Of the data.
    stream_column : str or None
    workers : Workers
    """

    def __init__(
        self,
        reading: RowReading,
        units: dict[str, str],
        schema: pa.Schema,
        stream_column: str | None,
        workers: Workers,
    ) -> None:
        self.again: pa.RecordBatch | None = None
        """The next batch, if it has its derived columns already."""
        self._units = units
        self._workers = workers
        self._calls = [one for one in reading.derived if isinstance(one.expression, tree.Call)]
        wanted = [
            PreviousColumn(one.name, one.expression.attribute.name, one.expression.distance)
            for one in reading.derived
            if isinstance(one.expression, tree.Previous)
        ]
        self._later: frozenset[str] = frozenset()
        self._whole = maxsize
        self._streams = list(reading.streams)
        self._stream_column = stream_column
        self._shifted = (
            StreamPreviousValues(wanted) if wanted and not reading.partition and not reading.streams else None
        )
        self._in_lanes: InLanes | None = None
        if wanted and self._shifted is None:
            encoder = LaneEncoder(reading.partition, schema) if reading.partition else None
            self._in_lanes = InLanes(wanted, encoder, schema)

    def extended(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches of a stream, with the derived columns behind the others."""
        for batch in batches:
            again, self.again = self.again, None
            yield self._extended(batch) if again is None else again

    def share(self, encoder: LaneEncoder) -> None:
        """Look up the events before by the lanes of an encoder that forgets none, as `InLanes.share`."""
        if self._in_lanes is not None and not self._streams:
            self._in_lanes.share(encoder)

    def leave(self, later: frozenset[str], whole: int) -> None:
        """Leave out some functions, which the reader of a batch computes itself.

        Parameters
        ----------
        later : frozenset of str
            Their columns: no other derived column reads them.
        whole : int
            The reader does so for batches with more rows.
        """
        self._later, self._whole = later, whole

    def completed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch with the functions that `leave` has left out of it."""
        there = frozenset(batch.schema.names)
        for one in self._calls:
            if one.name not in there:
                batch = _with(batch, self._called(one, batch))
        return batch

    @property
    def nbytes(self) -> int:
        """Bytes that PREV keeps of earlier batches."""
        kept = self._shifted or self._in_lanes
        return 0 if kept is None else kept.nbytes

    def schema_of(self, schema: pa.Schema) -> pa.Schema:
        """The columns of the batches that `extended` gives for batches of a schema."""
        # `empty_table` does not know all types.
        none = pa.RecordBatch.from_arrays([pa.nulls(0, kind) for kind in schema.types], schema=schema)
        (batch,) = self.extended([none])
        return batch.schema

    def _extended(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        added: dict[str, pa.Array] = {}
        if self._shifted is not None:
            added = self._shifted.of(batch)
        elif self._in_lanes is not None:
            added = self._in_lanes.of(batch, self._inside(batch))
        whole = _with(batch, added)
        later = self._later if len(batch) > self._whole else frozenset()
        for one in self._calls:
            if one.name not in later:
                whole = _with(whole, self._called(one, whole))
        return whole

    def _inside(self, batch: pa.RecordBatch) -> np.ndarray | None:
        """Which rows are of the streams that FROM names; None where all are."""
        if not self._streams or self._stream_column is None:
            return None
        return of_streams(batch, self._stream_column, self._streams)

    def _called(self, derived: DerivedColumn, batch: pa.RecordBatch) -> dict[str, pa.Array]:
        """The column of a function, and the one that says where it does not fit 64 bits, if it is needed."""
        call = derived.expression
        assert isinstance(call, tree.Call)
        function, first = call.function, call.arguments[0]
        if derived.measure.type is ValueType.STRING and function not in OF_TEXT:
            texts = [self._given(one, batch) for one in call.arguments]
            return {derived.name: chosen_text(function, texts, len(batch))}
        if function == PLACE:
            assert isinstance(first, tree.Attribute)
            texts = columns.single(batch.column(first.name))
            return {derived.name: places_of(texts, derived.categories, first.name)}
        if function in OF_TEXT:
            return {derived.name: of_text(function, [self._given(one, batch) for one in call.arguments])}
        values = self._in_blocks(derived, batch)
        kind = arrow_type(derived.measure)
        if pa.types.is_decimal(kind):
            kind = widened(kind, call, batch.schema)
        array = _array(values, kind)
        if values.beyond.any() and pa.types.is_decimal(kind):
            array, values = self._exactly(derived, batch, array, values)
        found = {derived.name: array}
        if len(values.beyond):
            found[UNFIT + derived.name] = pa.array(values.beyond)
        return found

    def _given(self, argument: tree.Expression, batch: pa.RecordBatch) -> Texts:
        """A text, or a whole number beside one.

        Raises
        ------
        DataError
            If the number does not fit 64 bits.
        """
        match argument:
            case tree.Attribute(name=name):
                return columns.single(batch.column(name))
            case tree.Text(value=value) | tree.Number(value=int(value)):
                return value
        values, _ = evaluate(argument, lambda name: read_numbers(batch, name, self._units), len(batch))
        if values.beyond.any():
            raise DataError(f"integer overflow: `{to_text(argument)}` does not fit 64 bits")
        return pa.array(values.data.astype(np.int64), mask=~values.present)

    def _exactly(
        self, derived: DerivedColumn, batch: pa.RecordBatch, array: pa.Array, values: Values
    ) -> tuple[pa.Array, Values]:
        """A column of decimals with those beyond 64 bits, and its values as 64 bits have them."""
        rows = np.flatnonzero(values.beyond)
        some = value_of_call(derived, read_wide(batch.take(pa.array(rows)), self._units), len(rows))
        numbers = np.where(some.present, some.data, 0).tolist()
        fits = np.array([abs(number) < MOST_DECIMAL for number in numbers], bool)
        exact = from_integers([number if fit else 0 for number, fit in zip(numbers, fits)], array.type)
        exact = pc.if_else(pa.array(some.present), exact, pa.scalar(None, array.type))
        where = values.beyond.copy()
        array = pc.replace_with_mask(array, pa.array(where), exact)
        beyond = values.beyond.copy()
        beyond[rows] = ~fits | some.beyond if len(some.beyond) else ~fits
        return array, Values(values.data, values.valid, beyond if beyond.any() else NONE_BEYOND)

    def _in_blocks(self, derived: DerivedColumn, batch: pa.RecordBatch) -> Values:
        known: dict[str, tuple[Values, str | None]] = {}
        for name in derived.read:
            known[name] = read_numbers(batch, name, self._units)
        rows = len(batch)

        def block(start: int) -> Values:
            stop = min(start + BLOCK, rows)

            def read(name: str) -> tuple[Values, str | None]:
                values, unit = known[name]
                return values.slice(start, stop), unit

            return value_of_call(derived, read, stop - start)

        parts = self._workers.map("reading", block, range(0, max(rows, 1), BLOCK), rows)
        return parts[0] if len(parts) == 1 else _together(parts)


def read_numbers(batch: pa.RecordBatch, name: str, units: dict[str, str]) -> tuple[Values, str | None]:
    """A column of numbers and its unit; for a derived column also where it does not fit 64 bits."""
    found = columns.numbers(batch.column(name), name)
    if name.startswith("\0") and UNFIT + name in batch.schema.names:
        beyond = batch.column(UNFIT + name).to_numpy(zero_copy_only=False)
        found = Values(found.data, found.valid, either_beyond(beyond, found.beyond))
    return found, units.get(name)


def value_of_call(derived: DerivedColumn, read: Reader, rows: int) -> Values:
    """The values of a function of numbers and times."""
    call = derived.expression
    assert isinstance(call, tree.Call)
    arguments = [evaluate(one, read, rows) for one in call.arguments]
    if call.function == "COALESCE" or call.function in OUTERMOST:
        arguments = in_one_unit(call.arguments, arguments, derived.measure.unit)
        if derived.measure.type is ValueType.INT64 and any(
            one.data.dtype == np.uint64 for one, _ in arguments
        ):
            negative = any(isinstance(one, tree.Number) and one.value < 0 for one in call.arguments)
            arguments = [(in_sign(one, negative), unit) for one, unit in arguments]
    return of_numbers(call.function, arguments, derived.zone)


def _together(parts: list[Values]) -> Values:
    def masks(name: str, fill: Any) -> np.ndarray:
        own = [getattr(part, name) for part in parts]
        if not any(map(len, own)):
            return own[0]
        return np.concatenate(
            [mask if len(mask) else np.full(len(part.data), fill) for mask, part in zip(own, parts)]
        )

    data = np.concatenate([part.data for part in parts])
    return Values(data, masks("valid", np.uint8(1)), masks("beyond", False))


def _array(values: Values, kind: pa.DataType) -> pa.Array:
    """Values as an array of the type of their column."""
    data = values.data
    if pa.types.is_decimal(kind):
        whole = from_scaled(data.astype(np.int64, copy=False), kind).buffers()[1]
        return array_of(kind, np.frombuffer(whole, f"V{kind.bit_width // 8}"), values.valid)
    if pa.types.is_boolean(kind):
        return array_of(kind, data, values.valid)
    dtype: np.dtype = np.dtype(np.float64 if pa.types.is_floating(kind) else np.int64)
    if pa.types.is_date32(kind):
        dtype = np.dtype(np.int32)
    elif pa.types.is_integer(kind) and (data.dtype.kind == "i" or data.dtype == np.uint64):
        dtype, kind = data.dtype, pa.from_numpy_dtype(data.dtype)  # parts of times are narrow
    return array_of(kind, np.ascontiguousarray(data.astype(dtype, copy=False)), values.valid)


def _with(batch: pa.RecordBatch, added: dict[str, pa.Array]) -> pa.RecordBatch:
    if not added:
        return batch
    names = [*batch.schema.names, *added]
    return pa.RecordBatch.from_arrays([*batch.columns, *added.values()], names)
