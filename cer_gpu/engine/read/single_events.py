"""Batches of one event, which many streams get, read value by value and without arrays of columns.

Arrow and NumPy take about a microsecond for each step, whatever the number of rows, and the general way has a
hundred steps. One event is a handful of numbers and texts: here they are compared as Python objects. Where
that cannot decide, the batch is left to the general way, and nothing has been noted of it before.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.classify import Classifier
from cer_gpu.engine.read.comparisons import comparison_of, named_number
from cer_gpu.engine.read.events import (
    ALL_KEYED,
    NO_KEYS,
    NO_LANES,
    NO_SLOTS,
    EventArrays,
)
from cer_gpu.engine.read.join_keys import JoinKeys
from cer_gpu.engine.read.order import OrderCheck
from cer_gpu.engine.read.partitions import Partitions
from cer_gpu.engine.read.payload import Payload, RowValues, numbers_only, table_of
from cer_gpu.engine.read.sources.columns import storage_of, value_reader
from cer_gpu.language import tree
from cer_gpu.plan.axes import Axis, CutAxis, NullAxis, RelationAxis
from cer_gpu.plan.compiled_query import CompiledQuery

FEW = 1 << 10
"""How many combinations of texts are remembered before all are dropped."""

LONG = 1 << 8
"""The most characters of a text that is remembered."""

ONLY_ROW = np.zeros(1, np.int64)

NO_EVENTS = EventArrays(np.empty(0, np.uint8), NO_KEYS)


class SingleEvent(NamedTuple):
    """A single relevant event.

    Attributes
    ----------
    event : EventArrays
    row : RowValues or None
        Its payload, if it is not in `event`.
    """

    event: EventArrays
    row: RowValues | None


class ReadingParts(NamedTuple):
    """The parts of a run that follow a stream while it is read."""

    classifier: Classifier
    order: OrderCheck | None
    partitions: Partitions | None
    joins: JoinKeys | None
    payload: Payload | None


class _Share(NamedTuple):
    """What an axis adds to the index of a stage.

    Attributes
    ----------
    names : tuple of str
        The columns that it reads.
    of : callable
        Gives it, from the values of columns.
    """

    names: tuple[str, ...]
    of: Callable[[Mapping[str, Any]], int]


class SingleSymbols:
    """The symbols of single events.

    Parameters
    ----------
    classifier : Classifier
    schema : pyarrow.Schema
        Of the batches.

    Attributes
    ----------
    names : list of str
        The columns whose values `of` takes.
    """

    def __init__(self, classifier: Classifier, schema: pa.Schema) -> None:
        self._classifier = classifier
        self._dtype = np.dtype(classifier.reading.symbol_dtype)
        self._texts = list(classifier.reading.texts)
        self._of_texts: dict[tuple[str | None, ...], list[int]] = {}
        self._symbols: dict[int, np.ndarray] = {}
        reading, numbers = classifier.reading, []
        for stage in reading.stages:
            own = [
                _share(reading.axes[axis], stride, schema)
                for axis, stride in zip(stage.axes, stage.strides, strict=True)
                if reading.axes[axis].text_column is None
            ]
            numbers.append((stage.state_stride, stage.table, own))
        self._stages = numbers
        self.whole = all(one is not None for _, _, own in numbers for one in own)
        """Whether the values of an event are enough; otherwise use `in_batch`."""
        self.names = [
            *self._texts,
            *(name for _, _, own in numbers for one in own if one is not None for name in one.names),
        ]

    def of(self, values: Mapping[str, Any]) -> int:
        """The symbol of an event; 0 if it is not relevant."""
        texts = tuple([values[name] for name in self._texts])
        begun = self._of_texts.get(texts)
        if begun is None:
            begun = self._begun(texts)
        symbol = 0
        for (stride, table, numbers), index in zip(self._stages, begun, strict=True):
            index += symbol * stride
            for one in numbers:
                index += one.of(values)  # type: ignore[union-attr]
            symbol = int(table[index])
        return symbol

    def in_batch(self, batch: pa.RecordBatch, before: int) -> int:
        """The symbol of the one event of a batch; `before` events of the stream come before it."""
        _, symbols = self._classifier.relevant(batch, before)[0]
        return int(symbols[0]) if len(symbols) else 0

    def array(self, symbol: int) -> np.ndarray:
        """An array of one symbol."""
        found = self._symbols.get(symbol)
        if found is None:
            found = self._symbols[symbol] = np.full(1, symbol, self._dtype)
        return found

    def _begun(self, texts: tuple[str | None, ...]) -> list[int]:
        """What the texts of an event add to the index of each stage."""
        found = self._classifier.shares_of(texts)
        if len(self._of_texts) >= FEW:
            self._of_texts.clear()
        if all(text is None or len(text) <= LONG for text in texts):
            self._of_texts[texts] = found
        return found


def _share(axis: Axis, stride: int, schema: pa.Schema) -> _Share | None:
    """What an axis that reads no text adds, given a value; None where it reads more than a value."""
    if isinstance(axis, RelationAxis):
        return _share_of_relation(axis, stride, schema)
    operand = axis.operand if isinstance(axis, (CutAxis, NullAxis)) else None
    if not isinstance(operand, tree.Attribute):
        return None
    name, kind = operand.name, schema.field(operand.name).type
    if value_reader(kind) is None:
        return None
    if isinstance(axis, NullAxis):
        return _Share((name,), lambda values: stride if values[name] is None else 0)
    assert isinstance(axis, CutAxis)
    bounds, classes = axis.thresholds(storage_of(kind) or np.dtype(np.uint8))
    cuts: list[Any] = bounds.tolist()
    shares: list[int] = (classes.astype(np.int64) * stride).tolist()

    def of_class(values: Mapping[str, Any]) -> int:
        value = values[name]
        # A NaN belongs to the class of a null, the first.
        return shares[0] if value is None or value != value else shares[bisect_right(cuts, value)]

    return _Share((name,), of_class)


def _share_of_relation(axis: RelationAxis, stride: int, schema: pa.Schema) -> _Share | None:
    """What a comparison adds: of two columns of one type, or of two of plain numbers."""
    sides = axis.left, axis.right
    if not all(isinstance(side, tree.Attribute) for side in sides):
        return None
    left, right = (side.name for side in sides if isinstance(side, tree.Attribute))
    kinds = [schema.field(name).type for name in (left, right)]
    numbers = all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds)
    if value_reader(kinds[0]) is None or not (numbers or kinds[0] == kinds[1]):
        return None
    holds = comparison_of(tree.Comparison(axis.op, *sides), named_number)
    return _Share((left, right), lambda values: stride if holds(values) else 0)


class SingleEvents:
    """Reads batches of one event, for a machine that keeps its state between pushes.

    Parameters
    ----------
    query : CompiledQuery
    parts : ReadingParts
    order_by : tuple of str
    payload : tuple of str
        The columns that results are made of.
    schema : pyarrow.Schema
        Of the stream, in normal types (`cer_gpu.engine.read.sources.arrow_types`).
    given : pyarrow.Schema
        The schema of the batches: they may lack columns.
    known : mapping of str to str
        Columns that have one value in all these batches: their type.

    Attributes
    ----------
    able : bool
        Whether it can read any batch at all.
    """

    def __init__(
        self,
        query: CompiledQuery,
        parts: ReadingParts,
        order_by: tuple[str, ...],
        payload: tuple[str, ...],
        schema: pa.Schema,
        given: pa.Schema,
        known: Mapping[str, str],
    ) -> None:
        classifier, self._order, self._partitions, self._joins, self._payload = parts
        self._symbols = SingleSymbols(classifier, schema)
        self._time = order_by[0] if order_by else None
        self._key = [part[0] for part in query.reading.partition]
        measured = {one for outlook in query.outlooks for one in outlook.measures}
        self._contiguous = "place" in query.traits.columns or "events" in measured
        timed = query.keeps_times or "time" in measured or "time" in query.traits.columns
        self._timed = timed and self._time is not None
        self._apart = not query.outlooks  # those keep events with their rows
        window = query.window
        self._counts = window is not None and window.kind == "events"
        self._measured: str | None = None
        if window is not None and window.kind != "events":
            timed = window.kind == "time" and self._time is not None
            self._measured = self._time if timed else window.attribute
        self._finite = [name for name in {self._time, self._measured} if name is not None]
        self._numbered = [*self._key, *([] if self._joins is None else self._joins.names)]
        columns = [schema.field(name) for name in payload]
        self._rows = pa.schema(columns) if numbers_only(field.type for field in columns) else None
        self._kept = payload
        compared = [] if self._joins is None else self._joins.compared
        names = dict.fromkeys([*self._symbols.names, *self._finite, *self._numbered, *compared])
        if self._rows is not None:
            names.update(dict.fromkeys(payload))
        self._known = {name: known.get(name) for name in names if name in known or name not in given.names}
        self._whole = not self._known
        self._columns = len(given)
        readers = {name: value_reader(given.field(name).type) for name in names if name not in self._known}
        self._fields = [(name, given.get_field_index(name), read) for name, read in readers.items() if read]
        self.able = (
            len(order_by) <= 1
            and len(self._fields) == len(readers)
            and (self._whole or (self._symbols.whole and self._rows is not None))
            and numbers_only(schema.field(name).type for name in self._finite)
            and (self._partitions is None or self._partitions.reads_singly(schema))
            and (self._joins is None or self._joins.reads_singly(schema))
        )

    def read(self, batch: pa.RecordBatch, before: int) -> SingleEvent | bool:
        """Read a batch of one event.

        Parameters
        ----------
        batch : RecordBatch
        before : int
            How many events of the stream come before it.

        Returns
        -------
        SingleEvent or bool
            True if the event is not relevant; False if the batch is left to the general way.
        """
        if batch.num_columns != self._columns:
            return False  # some derived value does not fit 64 bits
        values = {name: value_of(batch.column(place)[0]) for name, place, value_of in self._fields}
        if self._known:
            values.update(self._known)
        for name in self._finite:
            value = values[name]
            if value is None or value - value != 0:  # infinite, or a NaN
                return False
        for name in self._numbered:
            value = values[name]
            if value is None or value != value:
                return False
        time = None if self._time is None else values[self._time]
        if self._order is not None and time is not None and not self._order.follows(time):
            return False
        kept = tuple([values[name] for name in self._kept]) if self._rows is not None else ()
        if None in kept and not self._whole:
            return False
        symbols = self._symbols
        symbol = symbols.of(values) if symbols.whole else symbols.in_batch(batch, before)
        lane, ordinal, slots = 0, 0, NO_SLOTS
        lanes, keys, places = NO_LANES, NO_KEYS, NO_KEYS
        laned = self._partitions is not None
        if self._partitions is not None and (symbol or self._partitions.looks_at_all):
            found = self._partitions.row([values[name] for name in self._key], time)
            if found is None:
                return False
            lane, ordinal = found
            lanes = np.array([lane], np.int32)
        if self._order is not None and time is not None:
            self._order.note(time)
        if not symbol:
            return True
        if self._joins is not None:
            own = self._joins.slots_of(values)
            slots = np.array([own], np.int32).T
            if self._joins.has_lanes:
                lanes = np.array([self._joins.lane_of(own, symbol)], np.int32)
        if self._measured is not None:
            keys = _numbers(values[self._measured])
        elif self._counts and laned:
            keys = np.array([ordinal])
        positions = np.array([before])
        if self._contiguous:
            places = np.array([ordinal]) if laned else positions
        payload, row = None, None
        if self._kept:
            if self._rows is not None and None not in kept:
                row = RowValues(self._rows, kept)
                if not self._apart:
                    payload, row = table_of(self._rows, [kept]), None
            elif self._payload is not None:
                payload = self._payload.of(batch, ONLY_ROW)
        event = EventArrays(
            symbols.array(symbol), positions, lanes, keys, ALL_KEYED, places, slots, payload,
            None if self._partitions is None else self._partitions.keys,
            _numbers(time) if self._timed else NO_KEYS,
        )  # fmt: skip
        return SingleEvent(event, row)


def _numbers(value: Any) -> np.ndarray:
    """An array of one number, float64 or int64."""
    return np.array([value], np.float64 if isinstance(value, float) else np.int64)
