"""The reading side of a run: batches in, relevant events out, in the order of the stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read import columns
from cer_gpu.engine.read.classify import Classifier
from cer_gpu.engine.read.columns import Values
from cer_gpu.engine.read.events import Relevant
from cer_gpu.engine.read.join_keys import JoinKeys
from cer_gpu.engine.read.lanes import LaneEncoder, grown
from cer_gpu.engine.read.order import HOW_TO_SORT, OrderCheck
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import RowError
from cer_gpu.kernels.lanes import cpu as kernels
from cer_gpu.late import compute as pc
from cer_gpu.plan.compiled import CompiledQuery

NO_LANES = np.empty(0, np.int32)
NO_KEYS = np.empty(0, np.int64)
ALL_KEYED = np.empty(0, np.uint8)
NO_SLOTS = np.empty((0, 0), np.int32)
"""What `Relevant` has where there are no lanes, no keys, no null among the keys, and no join."""

REMEMBERED = 1 << 20
"""Keys that are remembered at least, before those that no event in the window has are forgotten."""

PART = 1 << 15
"""Rows whose values one thread gathers at a time."""


class Intake:
    """Turns batches into relevant events, carrying what must be known across batches.

    Parameters
    ----------
    query : CompiledQuery
    encoder : LaneEncoder or None
        Of a query with partitions.
    units : dict of str to str
        The units of the time columns.
    order_by : tuple of str
    stream_column : str or None
    payload : tuple of str
        The columns to keep for the results.
    workers : Workers
    classifier : Classifier or None
        One that finds relevant events elsewhere than on the CPU.
    """

    def __init__(
        self,
        query: CompiledQuery,
        encoder: LaneEncoder | None,
        units: dict[str, str],
        order_by: tuple[str, ...],
        stream_column: str | None,
        payload: tuple[str, ...],
        workers: Workers,
        classifier: Classifier | None = None,
    ) -> None:
        self._query = query
        self.classifier = classifier or Classifier(query.reading, units, workers)
        self._order = OrderCheck(order_by, bool(query.reading.partition), workers)
        self._workers = workers
        self.order_by = order_by
        self._stream_column = stream_column
        self.payload = payload
        self.encoder = encoder
        self._skips = bool(query.reading.streams)
        keys = query.reading.keys
        self._joins = JoinKeys(keys, units) if keys.columns else None
        self._contiguous = query.traits.reads_places
        self._counters = np.zeros(1, np.int64)
        self._last = np.zeros(0, np.float64)
        self._seen = np.zeros(0, np.uint8)
        self.rows = 0
        """How many events have been read."""

    @property
    def in_order(self) -> bool:
        """Whether the whole stream has been in the order of time so far."""
        return self._order.in_order

    @property
    def laned(self) -> bool:
        """Whether events belong to lanes: partitions, or the part of the stream that FROM names."""
        return self.encoder is not None or self._skips

    @property
    def lane_count(self) -> int:
        """How many lanes there are by now: partitions, or keys that all events of an answer share."""
        if self._joins is not None and self._joins.has_lanes:
            return self._joins.lane_count
        return self._partitions

    @property
    def _partitions(self) -> int:
        return self.encoder.count if self.encoder is not None else 1

    @property
    def slot_counts(self) -> np.ndarray:
        """For a join how many slots each space of keys has by now, shape (spaces,), int64."""
        assert self._joins is not None
        return self._joins.slot_counts

    def forget(self, kept: Relevant | None, new: Relevant) -> tuple[Relevant | None, Relevant]:
        """Forget the keys of all events but some, once they are many more than these need.

        Parameters
        ----------
        kept : Relevant or None
            What the window still needs.
        new : Relevant
            All events that have been read since.

        Returns
        -------
        kept, new : Relevant
            The same with their keys numbered anew.
        """
        joins = self._joins
        old = 0 if kept is None else len(kept)
        if self._query.traits.reads_prefix:  # there is a state for each lane, also of those without events
            return kept, new
        if joins is None or joins.size < max(REMEMBERED, 8 * (old + len(new))):
            return kept, new
        parts = [new] if kept is None else [kept, new]
        slots = joins.forget(np.concatenate([part.slots for part in parts], axis=1))
        if kept is not None:
            kept = replace(
                kept, slots=slots[:, :old], lanes=joins.lanes(slots[:, :old], kept.symbols, kept.lanes)
            )
        return kept, replace(
            new, slots=slots[:, old:], lanes=joins.lanes(slots[:, old:], new.symbols, new.lanes)
        )

    def unseen(self) -> list[tuple[str, str, list[str]]]:
        """The types and streams of the query that no event had: their column, name, and what there was."""
        if not self.rows:
            return []
        return [
            (column, name, sorted(self.classifier.seen[column]))
            for column, names in self.classifier.unseen.items()
            for name in sorted(names)
        ]

    def relevant(self, batch: pa.RecordBatch) -> list[Relevant]:
        """The relevant events of the next batch, which is not empty: one part after another.

        Raises
        ------
        DataError
            Where the data breaks the order of time.
        """
        return self.classified(batch, self.time(batch))

    def time(self, batch: pa.RecordBatch) -> Values | None:
        """The time of the next batch; None without one.

        Raises
        ------
        DataError
            Where the data breaks the order of time.
        """
        return self._order.time(batch)

    def skip(self, rows: int) -> None:
        """Leave out rows whose order was looked at elsewhere: those between two that `time` was given."""
        self._order.skip(rows)

    def classified(self, batch: pa.RecordBatch, time: Values | None) -> list[Relevant]:
        """The relevant events of the next batch, whose order has been looked at, or of a first part of it.

        Parameters
        ----------
        batch : RecordBatch
        time : Values or None
            Of its rows.
        """
        blocks = self.classifier.relevant(batch, self.rows)
        if not self._reads_rows:
            self.rows += len(batch)
            return [
                Relevant(symbols, positions, NO_LANES, NO_KEYS, ALL_KEYED, NO_KEYS, NO_SLOTS, None)
                for positions, symbols in blocks
            ]
        positions = np.concatenate([positions for positions, _ in blocks])
        symbols = np.concatenate([symbols for _, symbols in blocks])
        rows = positions - self.rows
        lanes, ordinals = self._lanes(batch, rows, time)
        if self.encoder is not None and time is not None and self.in_order:
            self._remember(lanes, time.data[rows])
        slots = NO_SLOTS
        if self._joins is not None:
            slots = self._joins.slots(batch, rows, symbols, self.rows)
            lanes = self._joins.lanes(slots, symbols, lanes)
        if len(lanes) and not (lanes >= 0).all():
            inside = lanes >= 0
            positions, rows, symbols, lanes = positions[inside], rows[inside], symbols[inside], lanes[inside]
            ordinals = ordinals[inside] if len(ordinals) else ordinals
            slots = slots[:, inside] if len(slots) else slots
        keys, keyed = self._keys(batch, rows, ordinals, time)
        places = NO_KEYS
        if self._contiguous:
            places = ordinals if self.laned else positions
        payload = None
        if self.payload:
            taken = batch.select(list(self.payload)).take(pa.array(rows))
            payload = pa.Table.from_batches([taken])
        self.rows += len(batch)
        return [Relevant(symbols, positions, lanes, keys, keyed, places, slots, payload)]

    @property
    def _reads_rows(self) -> bool:
        """Whether anything but the symbol is read of the relevant events."""
        window = self._query.window
        return (
            self.laned
            or self._contiguous
            or self._joins is not None
            or bool(self.payload)
            or (window is not None and window.kind != "events")
        )

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Relevant]:
        """The relevant events of every batch."""
        for batch in self.classifier.ahead(batches):
            if len(batch):
                yield from self.relevant(batch)

    # -------------------------------------------------------------------------------------- lanes

    def _lanes(
        self, batch: pa.RecordBatch, rows: np.ndarray, time: Values | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The lanes of the relevant rows, and their ordinals where the window counts them."""
        none = NO_KEYS
        if not self.laned:
            return NO_LANES, none
        window = self._query.window
        counted = self._contiguous or (window is not None and window.kind == "events")
        checked = not self._order.in_order and time is not None
        if not counted and not checked:
            return self._encode(batch, rows), none
        lanes, ordinals = self._counted(batch) if counted else (self._encode(batch, None), none)
        if checked:
            assert time is not None
            self._check_lanes(lanes, time)
        return lanes[rows], ordinals[rows] if counted else none

    def _encode(self, batch: pa.RecordBatch, rows: np.ndarray | None) -> np.ndarray:
        """The lanes of some rows, of all for None."""
        inside = self._inside(batch)
        if inside is not None and rows is not None:
            inside = inside[rows]
        if self.encoder is not None:
            return self.encoder.encode(batch, rows, inside)
        assert inside is not None
        return inside.astype(np.int32) - 1

    def _counted(self, batch: pa.RecordBatch) -> tuple[np.ndarray, np.ndarray]:
        """The lanes of all rows, and their ordinals."""
        if self.encoder is not None:
            return self.encoder.counted(batch, self._inside(batch))
        lanes = self._encode(batch, None)
        ordinals = np.empty(len(lanes), np.int64)
        kernels.ordinals(lanes, self._counters, ordinals)
        return lanes, ordinals

    def _inside(self, batch: pa.RecordBatch) -> np.ndarray | None:
        """Which rows are of the streams that FROM names; None where all are."""
        if not self._skips:
            return None
        assert self._stream_column is not None
        column = columns.single(batch.column(self._stream_column))
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        named = pc.is_in(column, pa.array(list(self._query.reading.streams), column.type))
        return named.to_numpy(zero_copy_only=False)

    def _remember(self, lanes: np.ndarray, times: np.ndarray) -> None:
        """Note the last time of each lane, for when the stream as a whole falls out of order."""
        self._room(times.dtype)
        kernels.remember(lanes, times, self._last, self._seen)

    def _room(self, dtype: np.dtype) -> None:
        self._last = grown(self._last.astype(dtype, copy=False), self._partitions)
        self._seen = grown(self._seen, self._partitions)

    def _check_lanes(self, lanes: np.ndarray, time: Values) -> None:
        self._room(time.data.dtype)
        row = int(kernels.lane_decrease(lanes, time.data, self._last, self._seen))
        if row >= 0:
            assert self.encoder is not None
            key = ", ".join(map(repr, self.encoder.key(int(lanes[row]))))
            raise RowError(
                self.rows + row,
                f"{{row}} comes before an earlier row of its partition ({key}) by `{self.order_by[0]}`: "
                f"{HOW_TO_SORT}",
            )

    # --------------------------------------------------------------------------------------- keys

    def _keys(
        self, batch: pa.RecordBatch, rows: np.ndarray, ordinals: np.ndarray, time: Values | None
    ) -> tuple[np.ndarray, np.ndarray]:
        none = ALL_KEYED
        window = self._query.window
        if window is None:
            return NO_KEYS, none
        if window.kind == "events":
            return (ordinals if self.laned else NO_KEYS), none
        assert window.attribute is not None
        values = time
        if window.kind == "attribute" or values is None:
            values = columns.numbers(batch.column(window.attribute), window.attribute)
        whole = values.data.dtype.kind != "f"
        data = self._gathered(values.data, rows, np.int64 if whole else np.float64)
        keyed = values.valid[rows] if len(values.valid) else none
        if not whole:
            missing = np.isnan(data)
            if missing.any():
                keyed = (keyed.astype(bool) if len(keyed) else True) & ~missing
                keyed = keyed.astype(np.uint8)
            return data, keyed
        return data, keyed

    def _gathered(self, values: np.ndarray, rows: np.ndarray, dtype: type) -> np.ndarray:
        """The values of some rows."""
        out: np.ndarray = np.empty(len(rows), dtype)

        def gather(start: int) -> None:
            part = slice(start, start + PART)
            kernels.gather(values, rows[part], out[part])

        self._workers.map("reading", gather, range(0, len(rows), PART))
        return out
