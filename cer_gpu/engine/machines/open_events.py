"""The relevant events of a stream that later complex events may still contain: appended, read, dropped."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.keys import Keys
from cer_gpu.engine.read.payload import RowValues, table_of

LEAST = 1 << 10
"""The least number of events that there is room for."""

FEW = 64
"""How many tables of rows are joined to one: each row is copied once for every power of this number."""


class OpenEvents:
    """Events in the order of the stream, with room for more.

    The events that `seen` has given stay as they are: rows are written once, and those that are kept when
    others are dropped are copied.

    Parameters
    ----------
    linked : bool
        Whether the events of a lane are linked, where there are lanes.
    keyed : bool
        Whether it is noted which keys are null or NaN.

    Attributes
    ----------
    count : int
    following : ndarray, shape (room,) or (0,), int64
        The next event of the lane of each, if they are linked.
    """

    def __init__(self, linked: bool, keyed: bool = False) -> None:
        self.count = 0
        self.following = np.empty(0, np.int64)
        self._linked = linked
        self._names = (*_NONE, "keyed") if keyed else tuple(_NONE)
        self._arrays: dict[str, np.ndarray] = {}
        self._rows: list[list[pa.Table]] | None = None
        self._single: list[tuple[int | float, ...]] = []
        self._schema: pa.Schema | None = None
        self._row_bytes = 0
        self._each = 0
        self._lane_keys: Keys | None = None

    def room(self, more: int) -> bool:
        """Whether further events can be appended without copying those that are there."""
        return bool(self._arrays) and self.count + more <= len(self._arrays["symbols"])

    def append(self, events: EventArrays, row: RowValues | None = None) -> None:
        """Append the next events of the stream; at least one.

        Parameters
        ----------
        events : EventArrays
        row : RowValues, optional
            The payload of a single event, if it is not in `events`.
        """
        low, high = self.count, self.count + len(events)
        if not self.room(len(events)):
            self._grow(events, max(LEAST, 2 * high))
        for name, array in self._arrays.items():
            values = getattr(events, name)
            if name == "keyed" and not len(values):
                array[low:high] = 1
            elif values.ndim == 2:
                array[:, low:high] = values
            else:
                array[low:high] = values
        if row is not None:
            self._append_row(row)
        elif events.payload is not None:
            self._append_rows(events.payload)
        self._lane_keys = events.lane_keys
        self.count = high

    def array(self, name: str) -> np.ndarray:
        """A field of `EventArrays` with room for more: the first `count` entries are in use.

        Empty if `EventArrays` has it empty. It is a new array after there was no room.
        """
        return self._arrays.get(name, _NONE.get(name, _ALL_KEYED))

    def seen(self) -> EventArrays:
        """All events so far; later ones do not change it."""
        arrays = {name: self._used(name) for name in _NONE}
        payload = None
        self._tabulate()
        if self._rows is not None:
            payload = _together([table for level in self._rows for table in level])
        keyed = self._used("keyed")
        return EventArrays(**arrays, keyed=keyed, payload=payload, lane_keys=self._lane_keys)

    def renumber(self, number: np.ndarray) -> None:
        """Give the lanes other numbers: `number[lane]`; what `seen` has given keeps its own."""
        if "lanes" in self._arrays:
            lanes = self._arrays["lanes"] = self._arrays["lanes"].copy()
            lanes[: self.count] = number[lanes[: self.count]]

    def keep(self, kept: EventArrays) -> None:
        """Keep some of the events only, with room for twice as many."""
        self.count = 0
        self.following = np.empty(0, np.int64)
        self._arrays, self._rows, self._row_bytes = {}, None, 0
        self._single = []
        if len(kept):
            self.append(kept.slim())

    @property
    def nbytes(self) -> int:
        """Bytes that the events take."""
        return self._each * self.count + self._row_bytes

    def _used(self, name: str) -> np.ndarray:
        array = self.array(name)
        if array.ndim == 2:
            return array[:, : self.count]
        return array[: self.count]

    def _grow(self, events: EventArrays, room: int) -> None:
        grown = {}
        for name in self._names:
            values = events.all_keyed if name == "keyed" else getattr(events, name)
            if not values.size:
                continue
            grown[name] = np.empty((*values.shape[:-1], room), values.dtype)
            if self.count:
                grown[name][..., : self.count] = self._used(name)
        self._arrays = grown
        self._each = sum(array.itemsize * array[..., :1].size for array in grown.values())
        if self._linked and "lanes" in grown:
            following = np.empty(room, np.int64)
            following[: self.count] = self.following[: self.count]
            self.following = following

    def _append_row(self, row: RowValues) -> None:
        """Put a row behind the others."""
        self._schema = row.schema
        self._single.append(row.values)
        self._row_bytes += 8 * len(row.values)
        if len(self._single) == FEW:
            self._tabulate()

    def _tabulate(self) -> None:
        """Make a table of the rows that have come singly."""
        if self._single:
            assert self._schema is not None
            rows, self._single = self._single, []
            self._row_bytes -= 8 * len(rows) * len(self._schema)
            self._append_rows(table_of(self._schema, rows))

    def _append_rows(self, rows: pa.Table) -> None:
        """Put rows behind the others; as few tables as there are digits of their number, times `FEW`."""
        self._tabulate()
        if self._rows is None:
            self._rows = [[]]
        self._rows[-1].append(rows)
        self._row_bytes += rows.get_total_buffer_size()
        level = len(self._rows) - 1
        while len(self._rows[level]) == FEW:
            whole = _together(self._rows[level]).combine_chunks()
            self._rows[level] = []
            if level == 0:
                self._rows.insert(0, [])
                level = 1
            level -= 1
            self._rows[level].append(whole)


_NONE: dict[str, np.ndarray] = {
    "symbols": np.empty(0, np.uint8),
    "positions": np.empty(0, np.int64),
    "lanes": np.empty(0, np.int32),
    "keys": np.empty(0, np.int64),
    "places": np.empty(0, np.int64),
    "slots": np.empty((0, 0), np.int32),
    "times": np.empty(0, np.int64),
}
"""The fields of `EventArrays` that are kept as arrays, or empty."""


_ALL_KEYED = np.empty(0, np.uint8)


def _together(tables: list[pa.Table]) -> pa.Table:
    if len(tables) == 1:
        return tables[0]
    return pa.concat_tables([table.unify_dictionaries() for table in tables])
