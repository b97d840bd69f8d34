"""Relevant events as arrays: the events that the automaton reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import accumulate, pairwise
from operator import call

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.keys import Keys
from cer_gpu.engine.read.sources.columns import single
from cer_gpu.engine.workers import Workers
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.lanes import cpu as kernels

PLAIN = (8, 16, 32, 64)
"""Bits of a value that is moved as a number of the same width."""


NO_LANES = np.empty(0, np.int32)
NO_KEYS = np.empty(0, np.int64)
ALL_KEYED = np.empty(0, np.uint8)
NO_SLOTS = np.empty((0, 0), np.int32)
"""The fields of `EventArrays` if there are no lanes, no keys, no null among the keys, and no join."""

FLAT = ("symbols", "positions", "lanes", "keys", "keyed", "places", "times")
ARRAYS = (*FLAT, "slots")
"""The fields of `EventArrays` with an entry for each event: one value, or in `slots` a column of several."""


@dataclass(frozen=True, slots=True)
class EventArrays:
    """Relevant events, in the order of the stream or grouped by lane.

    Attributes
    ----------
    symbols : ndarray, shape (n,), uint8 or uint16
    positions : ndarray, shape (n,), int64
        In the whole stream, counted from 0.
    lanes : ndarray, shape (n,) or (0,), int32
        Empty if the query has no partitions.
    keys : ndarray, shape (n,) or (0,), int64 or float64
        What the window measures; empty if that is the position, or there is no window.
    keyed : ndarray, shape (n,) or (0,), uint8
        0 where the key is null or NaN; empty if no key is.
    places : ndarray, shape (n,) or (0,), int64
        For a join that asks for neighbours: the place in the partition, or the position if there is none.
    slots : ndarray, shape (columns, n), int32
        For a join: the values to be equal, numbered column by column; -1 for a null or NaN.
    payload : pyarrow.Table or None
        The columns that results are made of, one row for each event.
    lane_keys : Keys or None
        The keys of the lanes, if these are partitions.
    times : ndarray, shape (n,) or (0,), int64 or float64
        The time of each event, if the machine or an outlook measures it, or ends are reported with it.
    """

    symbols: np.ndarray
    positions: np.ndarray
    lanes: np.ndarray = field(default_factory=lambda: NO_LANES)
    keys: np.ndarray = field(default_factory=lambda: NO_KEYS)
    keyed: np.ndarray = field(default_factory=lambda: ALL_KEYED)
    places: np.ndarray = field(default_factory=lambda: NO_KEYS)
    slots: np.ndarray = field(default_factory=lambda: NO_SLOTS)
    payload: pa.Table | None = None
    lane_keys: Keys | None = None
    times: np.ndarray = field(default_factory=lambda: NO_KEYS)

    def __len__(self) -> int:
        return len(self.symbols)

    @property
    def measured(self) -> np.ndarray:
        """What the window measures of each event, shape (n,)."""
        return self.keys if len(self.keys) else self.positions

    @property
    def moments(self) -> np.ndarray:
        """The time of each event, shape (n,), if the machine measures it."""
        return self.times if len(self.times) else self.keys

    @property
    def all_keyed(self) -> np.ndarray:
        """`keyed` with an entry for each event, even if no key is null: shape (n,), uint8."""
        return self.keyed if len(self.keyed) else np.ones(len(self), np.uint8)

    @property
    def nbytes(self) -> int:
        """The bytes that they take."""
        payload = 0 if self.payload is None else self.payload.nbytes
        return payload + sum(getattr(self, name).nbytes for name in ARRAYS)

    def slim(self) -> EventArrays:
        """The same events, with a payload of one chunk whose dictionaries hold no other texts than theirs."""
        return self if self.payload is None else replace(self, payload=_slim(self.payload))

    def slice(self, start: int) -> EventArrays:
        """A copy of the events from `start` on, so that the others can be freed."""
        payload = None if self.payload is None else self.payload.slice(start)
        return self._each(lambda values: values[..., start:].copy(), payload)

    def first(self, stop: int) -> EventArrays:
        """The events before `stop`, without a copy."""
        payload = None if self.payload is None else self.payload.slice(0, stop)
        return self._each(lambda values: values[..., :stop], payload)

    def take(self, order: np.ndarray) -> EventArrays:
        """Some of the events, in a given order: by their numbers."""
        payload = None if self.payload is None else self.payload.take(pa.array(order))
        return self._each(lambda values: values.take(order, axis=-1), payload)

    def _each(self, change: Callable[[np.ndarray], np.ndarray], payload: pa.Table | None) -> EventArrays:
        """The events with `change` applied to each array that has an entry for each event."""
        names = arrays_of([self])
        arrays = {name: change(own) if len(own := getattr(self, name)) else own for name in names}
        return EventArrays(**shared(arrays), payload=payload, lane_keys=self.lane_keys)


def arrays_of(parts: Sequence[EventArrays], names: tuple[str, ...] = ARRAYS) -> list[str]:
    """Those of `names` that lie by themselves: a window over time measures with `keys` what `times` has."""
    same = all(part.times is part.keys for part in parts)
    return [name for name in names if name != "times" or not same]


def shared(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Arrays by name, with `times` if `arrays_of` has left them out."""
    return arrays if "times" in arrays else {**arrays, "times": arrays["keys"]}


FEW = 1 << 15
"""Up to this many events are taken by the caller itself."""


def taken(events: EventArrays, order: np.ndarray, workers: Workers) -> EventArrays:
    """Some of the events, in a given order, as `EventArrays.take`; threads share the columns of many
    events."""
    if len(order) <= FEW:
        return events.take(order)

    def pick(values: np.ndarray) -> np.ndarray:
        out = np.empty(len(order) if len(values) else 0, values.dtype)
        if len(values):
            kernels.gather(values, order, out)
        return out

    def column(values: np.ndarray | pa.ChunkedArray) -> np.ndarray | pa.ChunkedArray:
        return pick(values) if isinstance(values, np.ndarray) else values.take(pa.array(order))

    names = arrays_of([events], FLAT)
    given = [*(getattr(events, name) for name in names), *events.slots]
    rows = [] if events.payload is None else events.payload.columns
    done = workers.map("reading", column, [*given, *rows])
    payload = None if events.payload is None else pa.table(done[len(given) :], schema=events.payload.schema)
    slots = np.stack(done[len(names) : len(given)]) if len(events.slots) else events.slots
    arrays = shared(dict(zip(names, done)))
    return EventArrays(**arrays, slots=slots, payload=payload, lane_keys=events.lane_keys)


def grouped(
    parts: Sequence[EventArrays], place: np.ndarray, lanes: np.ndarray, workers: Workers
) -> EventArrays:
    """Join several sequences of events to one, grouped by lane.

    Parameters
    ----------
    parts : sequence of EventArrays
        One after another, n events in all.
    place : ndarray, shape (n,), int32
        The new index of each event.
    lanes : ndarray, shape (n,), int32
        The lane of each event, by its new index.
    """
    edges = list(accumulate(map(len, parts), initial=0))

    def moved(values: Sequence[np.ndarray], out: np.ndarray | None = None) -> np.ndarray:
        if not len(values[0]):
            return values[0]
        if out is None:
            out = np.empty(edges[-1], np.result_type(*values))
        if _alike(values):
            out.fill(values[0][0])
            return out
        for own, (low, high) in zip(values, pairwise(edges), strict=True):
            kernels.scatter(own, place[low:high], out)
        return out

    whole = {name: _parts_of(parts, name) for name in arrays_of(parts, FLAT) if name != "lanes"}
    slots = np.empty((len(parts[0].slots), edges[-1]), parts[0].slots.dtype)
    columns = [partial(moved, values) for values in whole.values()]
    columns += [
        partial(moved, own, slots[row])
        for row, own in enumerate(zip(*(part.slots for part in parts), strict=True))
    ]
    done = workers.map("grouping events", call, columns)
    payload = None
    if parts[0].payload is not None:
        payload = _payload_grouped(_tables_joined(parts), place, workers)
    arrays = shared(dict(zip(whole, done)))
    return EventArrays(**arrays, lanes=lanes, slots=slots, payload=payload, lane_keys=parts[-1].lane_keys)


def _payload_grouped(table: pa.Table, place: np.ndarray, workers: Workers) -> pa.Table:
    """The rows of events, each at its new index."""

    def plain(column: pa.ChunkedArray) -> bool:
        kind = column.type
        return not column.null_count and pa.types.is_primitive(kind) and kind.bit_width in PLAIN

    order = np.empty(0, np.int64)
    if not all(map(plain, table.columns)):
        order = np.empty(len(place), np.int64)
        kernels.scatter(np.arange(len(place)), place, order)

    def rearranged(column: pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
        if not plain(column):
            return column.take(pa.array(order))
        bits = single(column).view(f"uint{column.type.bit_width}").to_numpy()
        out = np.empty_like(bits)
        kernels.scatter(bits, place, out)
        return pa.array(out).view(column.type)

    return pa.table(workers.map("grouping events", rearranged, table.columns), schema=table.schema)


def _slim(rows: pa.Table) -> pa.Table:
    columns = []
    for column in rows.unify_dictionaries().combine_chunks().columns:
        if pa.types.is_dictionary(column.type) and column.num_chunks:
            whole = single(column)
            if len(whole.dictionary) > len(whole):
                used = whole.cast(whole.type.value_type).dictionary_encode()
                column = used.cast(whole.type)
        columns.append(column)
    return pa.table(columns, schema=rows.schema)


def _tables_joined(parts: Sequence[EventArrays]) -> pa.Table:
    """The payload of several runs of events, which have one, one after another."""
    tables = [part.payload for part in parts if part.payload is not None]
    return tables[0] if len(tables) == 1 else pa.concat_tables([one.unify_dictionaries() for one in tables])


def joined(parts: list[EventArrays]) -> EventArrays:
    """Join several sequences of relevant events, one after another."""
    if len(parts) == 1:
        return parts[0]
    arrays = {name: np.concatenate(_parts_of(parts, name), axis=-1) for name in arrays_of(parts)}
    payload = None if parts[0].payload is None else _tables_joined(parts)
    return EventArrays(**shared(arrays), payload=payload, lane_keys=parts[0].lane_keys)


def _alike(values: Sequence[np.ndarray]) -> bool:
    """Whether several arrays, of which the first is not empty, hold one value alone: a single type, say."""
    first = values[0][0]
    # Nearly all that differ do so in a few places that lie far from each other.
    some = all((own[:: max(len(own) // 8, 1)] == first).all() for own in values)
    return some and all((own == first).all() for own in values)


def _parts_of(parts: Sequence[EventArrays], name: str) -> list[np.ndarray]:
    """An array of several sequences of events; whether there are keys is told of all, if of some."""
    if name == "keyed" and any(len(part.keyed) for part in parts):
        return [part.all_keyed for part in parts]
    return [getattr(part, name) for part in parts]


def state_of(events: EventArrays) -> dict[str, np.ndarray | pa.Table | None]:
    """Events as arrays and a table, by name."""
    return {name: getattr(events, name) for name in (*ARRAYS, "payload")}


def relevant_of(state: dict[str, np.ndarray | pa.Table | None], lane_keys: Keys | None) -> EventArrays:
    """The events that `state_of` has stored; `lane_keys` has the keys of their lanes."""
    return EventArrays(**state, lane_keys=lane_keys)  # type: ignore[arg-type]
