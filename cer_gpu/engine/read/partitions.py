"""The lane of every row: its partition; and the place and the time of the row in the partition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.keys import Keys
from cer_gpu.engine.read.lanes import LaneEncoder, grown, moved, of_streams
from cer_gpu.engine.read.lookahead import SourceLookahead
from cer_gpu.engine.read.order import HOW_TO_SORT, LaneTies, LaneTimes
from cer_gpu.engine.read.sources import columns
from cer_gpu.engine.read.sources.columns import Values
from cer_gpu.engine.read.sources.sorting import order_shown, time_shown
from cer_gpu.engine.read.spill import NO_LANES, AwayLanes
from cer_gpu.errors import RowError
from cer_gpu.kernels.lanes import cpu as kernels

NO_ORDINALS = np.empty(0, np.int64)
"""The ordinals of rows that are not counted."""


class Partitions:
    """Tells partitions apart, and follows the order of time inside each.

    The time of the last row of each partition is known from all its rows, also from those that the query does
    not need, so that a row out of order is found however the stream is cut. As long as the whole stream is in
    order, no row can be out of order in its partition. When it falls out of order, a source that can be read
    again (`foresight`) is read once more up to there; with any other source every row is checked as it comes.

    Parameters
    ----------
    encoder : LaneEncoder or None
        Of PARTITION BY; None: there is one lane, of the streams that FROM names.
    streams : tuple of str
        The streams that FROM names; rows of other streams have no lane. Empty: all rows have one.
    stream_column : str or None
    counted : bool
        Whether the rows of each lane are counted.
    order_by : tuple of str
        The time column, then those that break ties.
    foresight : Foresight or None
    """

    def __init__(
        self,
        encoder: LaneEncoder | None,
        streams: tuple[str, ...],
        stream_column: str | None,
        counted: bool,
        order_by: tuple[str, ...],
        foresight: SourceLookahead | None,
    ) -> None:
        self.encoder = encoder
        self._streams = streams
        self._stream_column = stream_column
        self._counted = counted
        self._counters = np.zeros(1, np.int64)
        self._order_by = order_by
        self._foresight = foresight
        self._known = foresight is None
        self.follows = True
        """Whether time is checked inside each partition: the stream need not be in order as a whole."""
        self.times = LaneTimes([LaneTies() for _ in order_by[1:]])
        self.last = np.empty(0, np.int64)
        """The lane of the last row that had one and was checked, if there was one."""
        self.away: AwayLanes | None = None
        """Where lanes are while memory has no room for them."""
        self._met = 0
        self._named = np.empty(0, bool)
        self._stamps = np.empty(0, np.int64)

    @property
    def keys(self) -> Keys | None:
        """The keys of the lanes; None without PARTITION BY."""
        return None if self.encoder is None else self.encoder.keys

    @property
    def count(self) -> int:
        """How many lanes there are so far."""
        return self.encoder.count if self.encoder is not None else 1

    @property
    def nbytes(self) -> int:
        """Bytes of the keys, and of what is known of each lane."""
        away = 0 if self.away is None else self.away.nbytes
        return self.times.nbytes + away + (0 if self.encoder is None else self.encoder.keys.nbytes)

    def laned(
        self, batch: pa.RecordBatch, rows: np.ndarray, time: Values | None, in_order: bool, before: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """The lanes of some rows of the next batch, and how many rows of its lane came before each.

        Parameters
        ----------
        batch : RecordBatch
        rows : ndarray, shape (m,), int64
        time : Values or None
            Of its rows, or of the first ones, up to a row without a time.
        in_order : bool
            Whether the whole stream has been in order so far, including this batch.
        before : int
            How many rows of the stream come before it.

        Returns
        -------
        lanes : ndarray, shape (m,), int32
            -1 where a row has none.
        ordinals : ndarray, shape (m,) or (0,), int64
            Empty where rows are not counted.

        Raises
        ------
        DataError
            If a row is earlier than the row before it in its partition.
        """
        followed = self.follows and self.encoder is not None and time is not None
        followed = followed and (self._known or not in_order)
        if not followed and not self._counted:
            lanes = self._encoded(batch, rows if len(rows) < len(batch) else None)
            self._put_back(batch)
            self._note_last(lanes, before)
            return lanes, NO_ORDINALS
        if followed and not self._known:
            self._look_back(before)
        lanes, ordinals = self._counted_rows(batch) if self._counted else (self._encoded(batch), NO_ORDINALS)
        back, counts = self._put_back(batch)
        if len(back) and self._counted:
            earlier = np.zeros(self.count + 1, np.int64)
            earlier[back] = counts
            ordinals = ordinals + earlier[lanes]
        if followed and time is not None:
            self._check(lanes[: len(time.data)], time.data, batch, before)
        self._note_last(lanes, before)
        if len(rows) == len(lanes):
            return lanes, ordinals
        return lanes[rows], ordinals[rows] if self._counted else NO_ORDINALS

    def refuse(self, batches: list[tuple[pa.RecordBatch, Values | None]], before: int) -> None:
        """Raise what `laned` would raise for the next batches, and note nothing of their rows but new keys.

        Nothing is done where lanes are not checked, or some are on disk.

        Parameters
        ----------
        batches : list of (RecordBatch, Values or None)
            With their times.
        before : int
            How many rows of the stream come before them.

        Raises
        ------
        DataError
            If a row is earlier than the row before it in its partition.
        """
        if not self.follows or self.encoder is None or (self.away is not None and self.away.some):
            return
        restored: list[Callable[[], None]] = []
        try:
            for batch, time in batches:
                if time is not None:
                    lanes = self._encoded(batch)
                    restored.append(self.times.memory_of(lanes, self.count))
                    self._check(lanes[: len(time.data)], time.data, batch, before)
                before += len(batch)
        finally:
            for restore in reversed(restored):
                restore()

    def reads_singly(self, schema: pa.Schema) -> bool:
        """Whether `row` can be used for data of a schema."""
        if self.encoder is None or self._streams or not self._known or len(self._order_by) > 1:
            return False
        parts = self.encoder.keys.parts
        return all(len(part.names) == 1 and part.fits(schema.field(part.names[0]).type) for part in parts)

    def row(self, values: Sequence[Any], time: int | float | None) -> tuple[int, int] | None:
        """The lane of a single row, and how many rows of the lane came before; see `reads_singly`.

        Parameters
        ----------
        values : sequence
            The parts of its key, in the form that `Part.word` takes.
        time : int or float or None

        Returns
        -------
        tuple of int, or None
            None if `laned` has to read the row: it comes before the last one of its lane, or there are lanes
            on disk. Nothing is noted then.
        """
        if len(self._stamps) or (self.away is not None and self.away.some):
            return None
        assert self.encoder is not None
        keys = self.encoder.keys
        lane = keys.number(values)
        count = keys.count
        if self.follows and time is not None and not self.times.note(lane, time, count):
            return None
        self._met = count
        self.last = np.array([lane], np.int64)
        return lane, keys.numbers.next_ordinal(lane) if self._counted else 0

    @property
    def looks_at_all(self) -> bool:
        """Whether rows are read that the query does not need."""
        return self._counted or (self.follows and bool(self._order_by))

    def last_times(self, lanes: np.ndarray) -> np.ndarray | None:
        """The times of the last rows of some lanes, shape (k,); None if lanes are not checked."""
        if not self.follows or not self._known or len(self.times.last) < self.count:
            return None
        return self.times.last[lanes]

    def rows_of(self, lanes: np.ndarray) -> np.ndarray:
        """How many rows of some lanes there were so far, if they are counted: shape (k,), int64."""
        return self._counters[lanes] if self.encoder is None else self.encoder.keys.counts(lanes)

    def outside(self, rows: np.ndarray) -> int:
        """How many of some rows of the last batch are of streams that FROM does not name."""
        return int(np.count_nonzero(~self._named[rows])) if self._streams else 0

    def forget(self, used: np.ndarray) -> np.ndarray:
        """Forget all lanes but some.

        Parameters
        ----------
        used : ndarray, shape (k,), int64
            The lanes to keep, ascending.

        Returns
        -------
        ndarray, shape (k,), int64
            The new number of each.
        """
        assert self.encoder is not None
        numbers = self.encoder.forget(used)
        self.last = numbers[used == self.last] if len(self.last) else self.last
        self.times.keep(used, numbers, self.count)
        self._stamps = moved(self._stamps, used, numbers, self.count)
        self._met = self.count
        return numbers

    def recent(self) -> np.ndarray | None:
        """A number for each lane that is less the longer ago its last row was, shape (lanes,).

        Once lanes have been put away it is about the number of that row; before that, its time; None without
        one.
        """
        if len(self._stamps):
            return grown(self._stamps, self.count)[: self.count]
        return self.times.last[: self.count] if len(self.times.last) >= self.count else None

    def put_away(self, lanes: np.ndarray, events: EventArrays | None) -> None:
        """Write lanes to disk with their events; the caller forgets them next."""
        assert self.away is not None
        if not len(self._stamps):
            self._stamps = np.zeros(self.count, np.int64)
        self.away.put(lanes, events)

    def _put_back(self, batch: pa.RecordBatch) -> tuple[np.ndarray, np.ndarray]:
        """Put lanes back that have been away; which they are, and how many rows of each there were."""
        first, self._met = self._met, self.count
        if self.away is None:
            return NO_LANES, NO_LANES
        return self.away.meet(first, batch.schema)

    def _note_last(self, lanes: np.ndarray, before: int) -> None:
        """Note which lane had the last row, and of each when it had one."""
        there = lanes[-1:] if len(lanes) and lanes[-1] >= 0 else lanes[lanes >= 0][-1:]
        if len(there):
            self.last = there.astype(np.int64)
        if len(self._stamps):
            self._stamps = grown(self._stamps, self.count)
            self._stamps[lanes[lanes >= 0]] = before + 1

    def _look_back(self, rows: int) -> None:
        """Note the last time of every lane in the rows before, which were in order."""
        assert self.encoder is not None
        assert self._foresight is not None
        self._known = True
        for batch in self._foresight.before(rows):
            time = columns.numbers(batch.column(self._order_by[0]), self._order_by[0])
            self.times.first_broken(self._encoded(batch), time.data, self._ties(batch), self.count)

    def _ties(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """The columns that break ties."""
        return [columns.single(batch.column(name)) for name in self._order_by[1:]]

    def _check(self, lanes: np.ndarray, times: np.ndarray, batch: pa.RecordBatch, before: int) -> None:
        """Refuse rows of a batch, of which the first are given, that come before one of their lane."""
        further = [column.slice(0, len(lanes)) for column in self._ties(batch)]
        row = self.times.first_broken(lanes, times, further, self.count)
        if row >= 0:
            assert self.encoder is not None
            key = ", ".join(map(repr, self.encoder.key(int(lanes[row]))))
            names, own, last = self._fault(lanes, times, batch, row)
            raise RowError(
                before + row,
                f"{{row}} is out of order by {names} in its partition ({key}): it has {own}, and an earlier "
                f"row {last}; {HOW_TO_SORT}",
            )

    def _fault(
        self, lanes: np.ndarray, times: np.ndarray, batch: pa.RecordBatch, row: int
    ) -> tuple[str, str, str]:
        """By which columns a row comes before an earlier one of its lane, and the values of both there."""
        names = [f"`{name}`" for name in self._order_by]
        kind, time = batch.column(self._order_by[0]).type, self.times.last[lanes[row]].item()
        if times[row].item() != time:
            return names[0], time_shown(times[row].item(), kind), time_shown(time, kind)
        own = order_shown(batch, row, self._order_by)
        earlier = np.flatnonzero(lanes[:row] == lanes[row])
        if len(earlier):
            last = order_shown(batch, int(earlier[-1]), self._order_by)
        else:  # of a row of an earlier batch, what breaks ties has been overwritten
            last = f"{time_shown(time, kind)} with a later {' or '.join(names[1:])}"
        return ", ".join(names), own, last

    def _encoded(self, batch: pa.RecordBatch, rows: np.ndarray | None = None) -> np.ndarray:
        """The lanes of some rows, of all for None."""
        inside = self._inside(batch)
        if inside is not None and rows is not None:
            inside = inside[rows]
        if self.encoder is not None:
            return self.encoder.encode(batch, rows, inside)
        assert inside is not None
        return inside.astype(np.int32) - 1

    def _counted_rows(self, batch: pa.RecordBatch) -> tuple[np.ndarray, np.ndarray]:
        """The lanes of all rows, and their ordinals."""
        if self.encoder is not None:
            return self.encoder.counted(batch, self._inside(batch))
        lanes = self._encoded(batch)
        ordinals = np.empty(len(lanes), np.int64)
        kernels.ordinals(lanes, self._counters, ordinals)
        return lanes, ordinals

    def _inside(self, batch: pa.RecordBatch) -> np.ndarray | None:
        """Which rows are of the streams that FROM names; None where all are."""
        if not self._streams:
            return None
        assert self._stream_column is not None
        self._named = of_streams(batch, self._stream_column, self._streams)
        return self._named
