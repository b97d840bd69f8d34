"""Where complex events end, as a table: the columns of `hits` and `counts`."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

import numpy as np
import pyarrow as pa

from cer_gpu.digits import digits
from cer_gpu.engine.answers.form import ResultForm, free_name, id_type, identities, payload_column
from cer_gpu.engine.answers.stream_times import StreamTimes
from cer_gpu.engine.machines.reported_ends import ReportedEnds
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.lanes import LaneEncoder
from cer_gpu.engine.read.sources.arrow_types import whole_type
from cer_gpu.engine.read.sources.columns import gathered_rows, numbers_at
from cer_gpu.engine.words import unsigned_of
from cer_gpu.errors import LimitError
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.plan.compiled_query import WindowPlan

DECIMAL_DIGITS = 76
"""Digits of Arrow's widest exact number."""

VALUES = {"hits": "latest_start", "counts": "count"}
"""The column with the answer for each end."""


def end_names(product: str, keys: Sequence[str]) -> list[str]:
    """The columns of `hits` or `counts` before the value: the position, the keys, and the time."""
    taken = {"position", VALUES[product]}
    return ["position", *(free_name(name, taken) for name in keys), free_name("time", taken)]


class EndForm:
    """The columns of `hits` and `counts`, and how they are filled for the ends of a chunk.

    ==============  ==============  =====================================================================
    `position`      int64           the position where complex events end; with `event_id`, that event's id
    ...             as in the data  the columns of the key
    `time`          as in the data  the time of the end, where the run has an order
    `latest_start`  int64           only `hits`: the latest start of those that end there, or its id
    `count`         int64, decimal  only `counts`: how many complex events end there
    ==============  ==============  =====================================================================

    If an earlier column has the name already, or the value's column has, a `_` is appended.

    Parameters
    ----------
    product : {"hits", "counts"}
    data : pyarrow.Schema
    order : str or None
        The time column.
    encoder : LaneEncoder or None
        The encoder of the keys of PARTITION BY.
    window : WindowPlan or None
        The window of the query: one over time has read the time of every event already.
    event_id : str or None
        The column whose values take the place of positions.
    timed : {"batches", "events"} or None, optional
        Where the times come from if not from the window: the run notes its batches in `times`, or every
        relevant event comes with its time. By default they are in the payload.

    Attributes
    ----------
    fields : tuple of pyarrow.Field
        The columns before the value.
    value : str
        The column of the answer.
    time : str or None
        The column of times.
    times : StreamTimes or None
        Where the times are looked up; None if there are none, or they come from elsewhere.
    keeps_times : bool
        Whether events have to keep their times.
    payload : tuple of str
        The columns of the data that events have to keep.
    """

    def __init__(
        self,
        product: str,
        data: pa.Schema,
        order: str | None,
        encoder: LaneEncoder | None,
        window: WindowPlan | None,
        event_id: str | None,
        timed: Literal["batches", "events"] | None = None,
    ) -> None:
        self.value = VALUES[product]
        names = () if encoder is None else encoder.names
        place, *heads, time = end_names(product, names)
        fields = [pa.field(place, id_type(data, event_id))]
        if encoder is not None:
            fields += [pa.field(name, kind) for name, kind in zip(heads, encoder.types, strict=True)]
        self.time = None
        if order is not None:
            self.time = time
            fields.append(pa.field(self.time, data.field(order).type))
        self.fields = tuple(fields)
        self._more = fields[1:]
        self._order = order
        # A window keeps nothing of a null, and not all of what is more than 64 bits.
        kind = fields[-1].type
        kept = order is not None and not pa.types.is_decimal(kind) and not pa.types.is_null(kind)
        self._measured = kept and window is not None and window.kind == "time"
        self.keeps_times = kept and timed == "events" and not self._measured
        self.times: StreamTimes | None = None
        if timed == "batches" and order is not None and not self._measured:
            self.times = StreamTimes(order, fields[-1].type)
        found = self._measured or self.keeps_times or self.times is not None
        read = [] if order is None or found else [order]
        self.payload = tuple(dict.fromkeys([*read, *([] if event_id is None else [event_id])]))

    def more(self, events: EventArrays, event: np.ndarray) -> tuple[pa.Array, ...]:
        """The columns between the position and the value, for some events.

        Parameters
        ----------
        events : EventArrays
            Of a chunk.
        event : ndarray, shape (n,), int64
        """
        found: list[pa.Array] = []
        if events.lane_keys is not None:
            found += events.lane_keys.columns(gathered_rows(events.lanes, event, np.int64))
        if self._order is not None and self._measured:
            found.append(times(numbers_at(events.keys, event), self._more[-1].type))
        elif self.times is not None:
            found.append(self.times.at(events.positions[event], int(events.positions.max(initial=-1))))
        elif self.keeps_times:
            found.append(times(numbers_at(events.times, event), self._more[-1].type))
        elif self._order is not None:
            found.append(payload_column(events, self._order, event))
        return tuple(found)

    def counted(self, answers: pa.Table, form: ResultForm) -> pa.Table:
        """Count the answers that end at each position; `answers` has all of them, in their order."""
        ends = answers.column(1).combine_chunks()
        changes = pc.fill_null(pc.not_equal(ends.slice(1), ends.slice(0, max(len(ends) - 1, 0))), True)
        first = np.append(np.zeros(min(len(ends), 1), np.int64), np.flatnonzero(changes) + 1)
        rows = answers.take(pa.array(first))
        keys = [rows.column(2 + number) for number in range(len(form.partition))]
        time = [] if not form.times else [rows.column(rows.schema.get_field_index(form.times[1]))]
        number = pa.array(np.diff(np.append(first, len(ends))))
        names = [*(field.name for field in self.fields), self.value]
        return pa.table([rows.column(1), *keys, *time, number], names)

    def table(self, parts: Sequence[ReportedEnds], ids: EventIds | None) -> pa.Table:
        """The table of all that was reported, chunk after chunk."""
        positions, numbers = [part.position for part in parts], [part.value for part in parts]
        columns = [whole_numbers(positions) if ids is None else ids.of(_joined(positions))]
        for index, field in enumerate(self._more):
            columns.append(pa.chunked_array([part.more[index] for part in parts], field.type))
        exact = any(one.dtype == object for one in numbers)
        value = exact_column(_joined(numbers)) if exact else whole_numbers(numbers)
        if ids is not None and self.value == VALUES["hits"]:
            value = ids.of(_joined(numbers))
        names = [*(field.name for field in self.fields), self.value]
        return pa.table([*columns, value], names)


class EventIds:
    """The ids of events, which take the place of positions: their values in a column.

    Parameters
    ----------
    name : str
        The column.
    kind : pyarrow.DataType
        The type of the values in the data.
    """

    def __init__(self, name: str, kind: pa.DataType) -> None:
        self._name, self._kind = name, kind
        self._positions: list[np.ndarray] = []
        self._ids: list[pa.Array] = []

    def note(self, events: EventArrays) -> None:
        """Remember the ids of further events of the stream."""
        if len(events):
            assert events.payload is not None
            self._positions.append(events.positions)
            self._ids += [identities(chunk) for chunk in events.payload.column(self._name).chunks]

    def of(self, positions: np.ndarray) -> pa.ChunkedArray:
        """The ids of the events at some positions; each of these events has been noted."""
        at = np.concatenate([np.empty(0, np.int64), *self._positions])
        ids = pa.chunked_array(self._ids, self._kind)
        return ids.take(pa.array(np.searchsorted(at, positions)))


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.empty(0, np.int64), *parts])


def whole_numbers(parts: Sequence[np.ndarray]) -> pa.ChunkedArray:
    """Numbers of 64 bits as a column of a table, without a copy."""
    return pa.chunked_array([pa.array(part) for part in parts], pa.int64())


def times(values: np.ndarray, kind: pa.DataType) -> pa.Array:
    """Times as an Arrow array, from the numbers that the window measures: int64 or float64."""
    if pa.types.is_uint64(kind):
        return pa.array(unsigned_of(values))
    plain = pa.array(values)
    if not pa.types.is_temporal(kind):
        return plain.cast(kind)
    return plain.cast(whole_type(kind)).view(kind)


def capped(part: ReportedEnds, limit: int) -> ReportedEnds:
    """The ends of the first `limit` complex events, of a part that has more of them."""
    if limit == 0:
        return part.some(0)
    running = np.cumsum(part.value.astype(object))
    last = int(np.searchsorted(running, limit))
    some = part.some(last + 1)
    number = some.value.copy()
    number[last] -= running[last] - limit
    return some._replace(value=number)


def exact_column(number: np.ndarray) -> pa.Array:
    """Counts as an Arrow column that holds them exactly.

    Raises
    ------
    LimitError
        If a count has more digits than Arrow's widest number.
    """
    largest = max(number.tolist(), default=0) if number.dtype == object else 0
    if largest < 1 << 63:
        return pa.array(number.astype(np.int64))
    if digits(largest) > DECIMAL_DIGITS:
        raise LimitError(
            f"a count has {digits(largest):,} digits, and a column can hold at most "
            f"{DECIMAL_DIGITS}: ask for `count`, which has no such limit, or narrow the query"
        )
    return pa.array([Decimal(value) for value in number.tolist()], pa.decimal256(DECIMAL_DIGITS, 0))
