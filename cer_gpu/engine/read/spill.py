"""Partitions that are away: what is kept of them is on disk until one of their rows comes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.join_keys import JoinKeys
from cer_gpu.engine.read.keys import Keys
from cer_gpu.engine.read.lanes import LaneEncoder, LaneState
from cer_gpu.engine.read.order import LaneTimes
from cer_gpu.engine.read.sources.arrow_types import roomy_schema, without_dictionary
from cer_gpu.engine.read.sources.columns import single
from cer_gpu.engine.read.spill_files import SpilledLanes, SpilledPartitions
from cer_gpu.kernels.sorting.order import ascending

WRITTEN = 1 << 14
"""How many partitions are written at a time: their events are copied for it."""

NO_LANES = np.empty(0, np.int64)

_ARRAYS = {
    "symbols": np.uint16,
    "positions": np.int64,
    "keys": np.int64,
    "keyed": np.uint8,
    "places": np.int64,
    "times": np.int64,
}
"""The arrays of `EventArrays` that are stored as they are."""

_PAYLOAD = "payload."


class AwayLanes:
    """The partitions of a run that memory has no room for.

    When a key is numbered for the first time, its partition may be one of these. Then all is put back as if
    it had never been away: the states that are kept for the lane, its last time and number of rows, and its
    events.

    Parameters
    ----------
    encoder : LaneEncoder
    times : LaneTimes
    joins : JoinKeys or None
    payload : tuple of str
        The columns that results are made of.

    Attributes
    ----------
    states : list of LaneState
        The other states that are kept for each lane.
    returned : list of EventArrays
        Events that have come back, those of each lane together, until they are fetched.
    """

    def __init__(
        self, encoder: LaneEncoder, times: LaneTimes, joins: JoinKeys | None, payload: tuple[str, ...]
    ) -> None:
        self._payload = payload
        self._encoder = encoder
        self._times = times
        self._joins = joins
        self._stored = SpilledPartitions()
        self.states: list[LaneState] = []
        self.returned: list[EventArrays] = []

    @property
    def some(self) -> bool:
        """Whether any partition is away."""
        return len(self._stored) > 0

    @property
    def nbytes(self) -> int:
        """The bytes that they take in memory."""
        return self._stored.nbytes

    def put(self, lanes: np.ndarray, events: EventArrays | None) -> None:
        """Write some lanes to disk; the caller forgets them next.

        Parameters
        ----------
        lanes : ndarray, shape (k,), int64
            Ascending.
        events : EventArrays or None
            All events that are kept for them, in the order of the stream inside each lane.

        Raises
        ------
        LimitError
            If there is no room on the disk.
        """
        self._stored.put(self._parts(lanes, events))

    def __len__(self) -> int:
        return len(self._stored)

    def meet(self, first: int, schema: pa.Schema) -> tuple[np.ndarray, np.ndarray]:
        """Put back those lanes, of the new ones from `first` on, that have been away.

        Parameters
        ----------
        first : int
        schema : pyarrow.Schema
            The schema of the batch that they occur in.

        Returns
        -------
        lanes, counts : ndarray, shape (k,), int64
            The lanes that have been away, and how many rows each of them has had.
        """
        keys = self._encoder.keys
        lanes = np.arange(first, keys.count)
        if not len(self._stored) or not len(lanes):
            return NO_LANES, NO_LANES
        back, counts = [NO_LANES], [NO_LANES]
        named = _names(keys, lanes)
        payload = roomy_schema(pa.schema([schema.field(name) for name in self._payload]))
        for which, part in self._stored.take(_hashes(named), named):
            back.append(lanes[which])
            counts.append(part.lanes.column("count").to_numpy())
            self._put_back(lanes[which], part, payload)
        return np.concatenate(back), np.concatenate(counts)

    def everything(self) -> list[dict[str, Any]]:
        """All that is away, to be stored with a stream; for `resume`."""
        return [
            {"lanes": part.lanes, "events": part.events, "sizes": part.sizes} for part in self._stored.parts()
        ]

    def resume(self, stored: list[dict[str, Any]]) -> None:
        """Continue with what `everything` returned."""
        keys = self._encoder.keys
        self._stored.put(
            SpilledLanes(
                _hashes(_named_in(keys, part["lanes"])), part["lanes"], part["events"], part["sizes"]
            )
            for part in stored
        )

    def _parts(self, lanes: np.ndarray, events: EventArrays | None) -> Iterator[SpilledLanes]:
        keys = self._encoder.keys
        events = events if events is not None and len(events) else None
        own = np.empty(0, np.int64) if events is None else events.lanes
        order = ascending(own)
        sizes = np.bincount(own, minlength=keys.count)[lanes]
        ends = np.cumsum(sizes)
        for start in range(0, len(lanes), WRITTEN):
            some = slice(start, start + WRITTEN)
            there = order[int(ends[start - 1]) if start else 0 : int(ends[some][-1])]
            named = _names(keys, lanes[some])
            rows = pa.table(dict(named + self._known(lanes[some])))
            yield SpilledLanes(_hashes(named), rows, self._rows(events, there), sizes[some])

    def _known(self, lanes: np.ndarray) -> list[tuple[str, Any]]:
        """What is known of some lanes, beside their keys and events."""
        found: list[tuple[str, Any]] = [("count", self._encoder.keys.counts(lanes))]
        found += self._times.rows(lanes)
        for number, state in enumerate(self.states):
            for name, values in state.rows(lanes).items():
                found.append((f"state {number} {name}", _flat(values)))
        return found

    def _rows(self, events: EventArrays | None, order: np.ndarray) -> pa.Table:
        """Some events as rows, with values in the place of numbers that are forgotten."""
        if events is None:
            return pa.table({})
        own = events.take(order)
        columns = {name: getattr(own, name) for name in _ARRAYS if len(getattr(events, name))}
        if len(events.keys):
            columns["keyed"] = own.all_keyed
        if self._joins is not None:
            columns |= self._joins.values(own.slots)
        if own.payload is not None:
            for field, column in zip(own.payload.schema, own.payload.columns, strict=True):
                columns[_PAYLOAD + field.name] = column.cast(without_dictionary(field.type))
        return pa.table(columns)

    def _put_back(self, lanes: np.ndarray, part: SpilledLanes, payload: pa.Schema) -> None:
        """Put back what is known of some lanes, and their events."""
        count = self._encoder.count
        self._times.put(lanes, part.lanes, count)
        self._encoder.keys.count_on(lanes, part.lanes.column("count").to_numpy())
        for number, state in enumerate(self.states):
            prefix = f"state {number} "
            names = [name for name in part.lanes.schema.names if name.startswith(prefix)]
            values = {name.removeprefix(prefix): _array(part.lanes.column(name)) for name in names}
            state.put(lanes, values, count)
        if not len(part.events):
            return
        arrays = {
            name: part.events.column(name).to_numpy()
            if name in part.events.schema.names
            else np.empty(0, kind)
            for name, kind in _ARRAYS.items()
        }
        if len(arrays["keyed"]) and arrays["keyed"].all():
            arrays["keyed"] = arrays["keyed"][:0]
        slots = np.empty((0, 0), np.int32) if self._joins is None else self._joins.numbered(part.events)
        rows = None
        if len(payload):
            rows = pa.table(
                [_as(part.events.column(_PAYLOAD + field.name), field.type) for field in payload],
                schema=payload,
            )
        own = np.repeat(lanes, part.sizes).astype(np.int32)
        self.returned.append(
            EventArrays(**arrays, lanes=own, slots=slots, payload=rows, lane_keys=self._encoder.keys)
        )


def _names(keys: Keys, lanes: np.ndarray) -> list[tuple[str, Any]]:
    """The keys of some lanes as columns that tell them apart, whatever numbers texts have."""
    words = keys.words(lanes)
    return [
        (f"key {number}", own if part.texts is None else part.texts.texts(own))
        for number, (part, own) in enumerate(zip(keys.parts, words, strict=True))
    ]


def _named_in(keys: Keys, lanes: pa.Table) -> list[tuple[str, Any]]:
    """The same of lanes that were stored."""
    names = [f"key {number}" for number in range(len(keys.parts))]
    columns = [single(lanes.column(name)) for name in names]
    return [
        (name, column.to_numpy() if part.texts is None else column)
        for name, column, part in zip(names, columns, keys.parts, strict=True)
    ]


def _hashes(named: Sequence[tuple[str, Any]]) -> np.ndarray:
    """A hash of each key, shape (n,), uint64."""
    found = np.zeros(1, np.uint64)
    for _, values in named:
        if not isinstance(values, np.ndarray):
            values = np.fromiter(map(hash, values.to_pylist()), np.int64, len(values))
        found = _mixed(found ^ values.view(np.uint64))
    return found


def _mixed(words: np.ndarray) -> np.ndarray:
    """Words of which all bits have a say in each bit."""
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        words = (words ^ (words >> np.uint64(33))) * np.uint64(factor)
    return words ^ (words >> np.uint64(33))


def _flat(values: np.ndarray) -> pa.Array:
    """An entry for each lane, of one value or of several."""
    if values.ndim == 1:
        return pa.array(values)
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])


def _array(column: pa.ChunkedArray) -> np.ndarray:
    whole = single(column)
    if pa.types.is_fixed_size_list(whole.type):
        return whole.flatten().to_numpy().reshape(len(whole), whole.type.list_size)
    return whole.to_numpy()


def _as(column: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    """A column as the results have it."""
    whole = single(column)
    return whole.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else whole.cast(kind)
