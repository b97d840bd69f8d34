"""PREV: the values of the event before each event, or of an event some events before, in stream or partition.

All events count, whether they are relevant to the query or not, so this comes before anything is dropped.
Without partitions a column is shifted by some rows. With partitions a kernel looks up the event before each
one in a ring of the last events of every partition, and the values that may be needed of earlier batches are
kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from sys import getsizeof
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.lanes import LaneEncoder, grown
from cer_gpu.engine.read.sources.arrow_types import (
    DICTIONARY,
    LARGE_DICTIONARY,
    convert,
    decoded,
    normal_type,
)
from cer_gpu.engine.read.sources.columns import addresses, array_of, is_text, numbers, single, validity
from cer_gpu.kernels.classify.contract import NONE_MISSING
from cer_gpu.kernels.lanes import cpu as kernels

NONE, CARRIED = -1, -2
"""The entries of a ring that are no event of the batch: none, and an event of an earlier batch."""


class PreviousColumn(NamedTuple):
    """A column of PREV: its name, the column whose values it has, and how many events before."""

    name: str
    column: str
    distance: int


class StreamPreviousValues:
    """PREV in a stream without partitions.

    Parameters
    ----------
    wanted : sequence of Wanted
    """

    def __init__(self, wanted: Sequence[PreviousColumn]) -> None:
        self._wanted = list(wanted)
        self._names = list(dict.fromkeys(one.column for one in wanted))
        self._depth = max(one.distance for one in wanted)
        self._tail: pa.RecordBatch | None = None
        """The last rows of the stream, as many as the greatest distance."""
        self._memory: dict[str, _LastColumn] = {}

    @property
    def nbytes(self) -> int:
        """Bytes of the last rows."""
        return 0 if self._tail is None else self._tail.nbytes

    def of(self, batch: pa.RecordBatch) -> dict[str, pa.Array]:
        """The columns of PREV for the next batch, by name."""
        columns = {name: single(batch.column(name)) for name in self._names}
        found = {one.name: self._moved(columns[one.column], one) for one in self._wanted}
        if len(batch):
            self._remember(columns, len(batch))
        return found

    def _moved(self, column: pa.Array, one: PreviousColumn) -> pa.Array:
        rows, distance = len(column), one.distance
        if not rows:
            return column
        memory = self._memory.get(one.column)
        if memory is not None and memory.goes_on(column, distance):
            return _earlier(column, distance)
        held = len(self._tail) if self._tail is not None else 0
        parts = []
        missing = min(max(distance - held, 0), rows)
        if missing:
            parts.append(pa.nulls(missing, column.type))
        if self._tail is not None and held and rows > missing:
            tail = single(self._tail.column(one.column)).slice(max(held - distance, 0), rows - missing)
            parts.append(_of_type(tail, column.type))
        if rows > distance:
            parts.append(column.slice(0, rows - distance))
        return _joined(parts)

    def _remember(self, columns: dict[str, pa.Array], rows: int) -> None:
        for name, column in columns.items():
            before = self._memory.get(name)
            more = before.rows if before is not None and before.goes_on(column, 0) else 0
            self._memory[name] = _LastColumn(column, len(column) + more)
        last = {name: _plain(column.slice(max(rows - self._depth, 0))) for name, column in columns.items()}
        new = pa.RecordBatch.from_arrays(list(last.values()), list(last))
        if rows < self._depth and self._tail is not None:
            both = pa.Table.from_batches([self._tail, new]).combine_chunks().to_batches()[0]
            new = both.slice(max(len(both) - self._depth, 0))
        self._tail = new


class _LastColumn(NamedTuple):
    """Where a column of the last batch lies, to tell whether the next one follows it there.

    Attributes
    ----------
    column : pyarrow.Array
        Held on to, so that nothing else comes to lie there.
    rows : int
        How many rows of the stream end with it that lie one after another.
    """

    column: pa.Array
    rows: int

    def goes_on(self, column: pa.Array, distance: int) -> bool:
        """Whether a column begins in memory where this one ends, with at least `distance` rows before it."""
        own = self.column
        return (
            self.rows >= distance
            and pa.types.is_primitive(column.type)
            and column.type == own.type
            and column.offset == own.offset + len(own)
            and addresses(column) == addresses(own)
        )


def _earlier(column: pa.Array, distance: int) -> pa.Array:
    """As many values that lie some places before a column, without copying."""
    return pa.Array.from_buffers(column.type, len(column), column.buffers(), offset=column.offset - distance)


class InLanes:
    """PREV inside partitions, or among the events of the streams that FROM names.

    Parameters
    ----------
    wanted : sequence of Wanted
    encoder : LaneEncoder or None
        Of PARTITION BY; None: all events that belong to the stream are in one lane.
    schema : pyarrow.Schema
        Of the data.
    """

    def __init__(
        self, wanted: Sequence[PreviousColumn], encoder: LaneEncoder | None, schema: pa.Schema
    ) -> None:
        self._wanted = list(wanted)
        self._distances = np.array(sorted({one.distance for one in wanted}), np.int64)
        self._depth = int(self._distances[-1])
        self._encoder = encoder
        self._recent = np.empty(0, np.int64)
        self._place = np.empty(0, np.int32)
        names = dict.fromkeys(one.column for one in wanted)
        self._carried = {name: RingValues(schema.field(name).type) for name in names}
        self._last_alone = self._depth == 1 and all(one.of_numbers for one in self._carried.values())
        """Whether the last value of each lane is all that is kept."""
        self._shares = False

    def share(self, encoder: LaneEncoder) -> None:
        """Number the keys by an encoder that forgets none, and gives the lanes of a batch once more."""
        self._encoder, self._shares = encoder, True

    @property
    def nbytes(self) -> int:
        """The bytes of the rings, of the values in them, and of the keys of partitions."""
        keys = 0 if self._encoder is None else self._encoder.keys.nbytes
        values = sum(carried.nbytes for carried in self._carried.values())
        return self._recent.nbytes + self._place.nbytes + keys + values

    def of(self, batch: pa.RecordBatch, inside: np.ndarray | None) -> dict[str, pa.Array]:
        """The columns of PREV for the next batch, by name.

        Parameters
        ----------
        batch : RecordBatch
        inside : ndarray, shape (n,), bool, or None
            Which events belong to the stream; None: all.
        """
        if self._encoder is not None:
            own = self._encoder
            lanes = own.noted(batch) if self._shares and inside is None else own.encode(batch, None, inside)
            count = own.count
        else:
            assert inside is not None
            lanes, count = inside.astype(np.int32) - 1, 1
        if self._last_alone:
            columns = {name: single(batch.column(name)) for name in self._carried}
            found = {
                name: carried.last(columns[name], lanes, count) for name, carried in self._carried.items()
            }
            return {one.name: found[one.column] for one in self._wanted}
        self._recent = grown(self._recent, count * self._depth, NONE)
        self._place = grown(self._place, count)
        events = np.empty((len(self._distances), len(batch)), np.int64)
        kernels.events_before(lanes, self._distances, self._depth, self._recent, self._place, events)
        columns = {name: single(batch.column(name)) for name in self._carried}
        found = {}
        for one in self._wanted:
            row = int(np.searchsorted(self._distances, one.distance))
            found[one.name] = self._carried[one.column].before(columns[one.column], events[row])
        slots = self._renewed(lanes, count)
        rows = self._recent[slots]
        for name, carried in self._carried.items():
            carried.keep(columns[name], rows, slots, len(self._recent))
        self._recent[slots] = CARRIED
        return found

    def _renewed(self, lanes: np.ndarray, count: int) -> np.ndarray:
        """The slots that hold an event of the batch, ascending."""
        if count * self._depth <= 4 * len(lanes):
            return np.flatnonzero(self._recent[: count * self._depth] >= 0)
        there = np.unique(lanes[lanes >= 0]).astype(np.int64)
        slots = (there[:, None] * self._depth + np.arange(self._depth)).reshape(-1)
        return slots[self._recent[slots] >= 0]


class RingValues:
    """The values of a column for the events in the rings.

    Parameters
    ----------
    kind : pyarrow.DataType
    """

    def __init__(self, kind: pa.DataType) -> None:
        self._width = _width(kind)
        self._values: np.ndarray = np.empty(0, f"u{self._width}" if self._width else object)
        self._there = np.empty(0, np.uint8)
        self._texts = 0
        """Bytes of the values that are Python objects."""

    @property
    def nbytes(self) -> int:
        """The bytes of the values."""
        return self._values.nbytes + self._there.nbytes + self._texts

    @property
    def of_numbers(self) -> bool:
        """Whether values are moved as numbers."""
        return self._width > 0

    def last(self, column: pa.Array, lanes: np.ndarray, count: int) -> pa.Array:
        """For each event the value of the one before it in its lane; slots are lanes here.

        Parameters
        ----------
        column : pyarrow.Array
            Of numbers.
        lanes : ndarray, shape (n,), int32
        count : int
            The number of all lanes.
        """
        self._values = grown(self._values, count)
        self._there = grown(self._there, count)
        values, valid = _words(column, self._width)
        out = np.empty(len(lanes), values.dtype)
        there = np.empty(len(lanes), np.uint8)
        none = kernels.last_values(lanes, values, valid, self._values, self._there, out, there)
        return array_of(column.type, out, there if none else NONE_MISSING)

    def before(self, column: pa.Array, events: np.ndarray) -> pa.Array:
        """The values of the events that the kernel has found: `events`, shape (n,), int64."""
        if not self._width:
            return self._taken(column, events)
        values, valid = _words(column, self._width)
        out = np.empty(len(events), values.dtype)
        there = np.empty(len(events), np.uint8)
        kernels.values_before(values, valid, events, self._values, self._there, out, there)
        return array_of(column.type, out, there)

    def _taken(self, column: pa.Array, events: np.ndarray) -> pa.Array:
        """The same for values that are no numbers."""
        earlier = np.flatnonzero(events < NONE)
        rows = events.copy()
        parts = [column]
        if len(earlier):
            slots = CARRIED - events[earlier]
            texts = [value if ok else None for value, ok in zip(self._values[slots], self._there[slots])]
            kind = pa.large_string() if is_text(column.type) else column.type
            parts.append(_of_type(pa.array(texts, kind), column.type))
            rows[earlier] = len(column) + np.arange(len(earlier))
        return _joined(parts).take(pa.array(rows, mask=rows == NONE))

    def keep(self, column: pa.Array, rows: np.ndarray, slots: np.ndarray, count: int) -> None:
        """Store the values of some rows in some slots; `count` is the number of all slots."""
        self._values = grown(self._values, count, 0 if self._width else None)
        self._there = grown(self._there, count)
        if self._width:
            values, valid = _words(column, self._width)
            self._values[slots] = values[rows]
            self._there[slots] = valid[rows] if len(valid) else 1
            return
        kept = _plain(column.take(pa.array(rows)))
        some = np.empty(len(rows), object)
        some[:] = kept.to_pylist()
        self._texts += _size_of(some) - _size_of(self._values[slots])
        self._values[slots] = some
        self._there[slots] = kept.is_valid().to_numpy(zero_copy_only=False)


def _size_of(values: np.ndarray) -> int:
    return sum(map(getsizeof, filter(None, values)))


def _width(kind: pa.DataType) -> int:
    """The bytes of a value that is moved as a number; 0 for others."""
    if pa.types.is_boolean(kind):
        return 1
    return kind.bit_width // 8 if pa.types.is_primitive(kind) and kind.bit_width in (8, 16, 32, 64) else 0


def _words(column: pa.Array, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The values as unsigned numbers, and their validity."""
    if pa.types.is_boolean(column.type):
        found = numbers(column, "")
        return found.data, found.valid
    if not len(column):
        return np.empty(0, f"u{width}"), NONE_MISSING
    data = np.frombuffer(column.buffers()[1], f"u{width}", len(column), column.offset * width)
    data.flags.writeable = False
    return data, validity(column)


def _plain(column: pa.Array) -> pa.Array:
    """A copy of a column that holds on to no other rows, and to no dictionary."""
    if is_text(column.type):
        column = decoded(column)
    return column.take(pa.array(np.arange(len(column))))


def _of_type(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return convert(column, kind, "the events before")


def _joined(parts: Sequence[pa.Array]) -> pa.Array:
    parts = [part for part in parts if len(part)] or [parts[0]]
    if len(parts) == 1:
        return parts[0]
    if pa.types.is_dictionary(parts[0].type):
        large = any(normal_type(part.type) == LARGE_DICTIONARY for part in parts)
        kind = LARGE_DICTIONARY if large else DICTIONARY
        return single(pa.chunked_array([_of_type(part, kind) for part in parts]).unify_dictionaries())
    return pa.concat_arrays(parts)
