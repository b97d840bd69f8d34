"""Checks, batch after batch, that time does not run backwards (language section 8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.lanes import at, grown, moved
from cer_gpu.engine.read.sources import columns
from cer_gpu.engine.read.sources.arrow_types import decoded
from cer_gpu.engine.read.sources.columns import Values
from cer_gpu.engine.read.sources.order_buffer import AFTER_UNTIL
from cer_gpu.engine.read.sources.sorting import order_shown, time_shown
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import RowError
from cer_gpu.kernels.classify.cpu import first_decrease
from cer_gpu.kernels.lanes import cpu as kernels
from cer_gpu.kernels.sorting.order import ascending
from cer_gpu.lazy_modules import compute as pc

PART = 1 << 19
"""Rows that one thread checks at a time. So few are checked by the caller itself: to hand them over takes as
long, and longer where the other thread waits for a core."""

HOW_TO_SORT = "sort the data, or pass sort=True (--sort)"


ADVANCE_LESS = "leave such rows out, or call advance() with an earlier time"

SUNDAY, MORNING = 6, 4

CLOCKS = (
    "; if a clock was set back here, sorting mixes the hour that it showed twice: give the column its time "
    "zone (in CSV column_types and ambiguous='infer', in pandas tz_localize)"
)

LEAVE_OUT = "; if only each partition is in order, leave out ordered=True (--ordered)"


class OrderCheck:
    """Follows the order columns of a run from batch to batch.

    Time may not decrease; where it ties, the further columns may not. With PARTITION BY this holds only
    inside every partition: `in_order` becomes false when the whole stream falls out of order, and the caller
    then checks the rows of each lane. The row that an error names is the first of the stream that breaks a
    rule, however the stream is cut into batches.

    Parameters
    ----------
    order_by : tuple of str
        The time, then the columns that break ties. Empty: nothing is checked.
    partitioned : bool
    workers : Workers
    promised : bool, optional
        Whether the stream has to be in order as a whole, even with PARTITION BY.
    until : int or float, optional
        A time after which there may be no row.

    Attributes
    ----------
    in_order : bool
        Whether the whole stream has been in order so far.
    greatest : int or float or None
        The greatest time so far.
    floor : int or float or None
        A time before which there may be no further row.
    """

    def __init__(
        self,
        order_by: tuple[str, ...],
        partitioned: bool,
        workers: Workers,
        promised: bool = False,
        until: int | float | None = None,
    ) -> None:
        self._workers = workers
        self._order_by = order_by
        self._partitioned = partitioned and not promised
        self._promised = partitioned and promised
        self._before: pa.RecordBatch | None = None
        """The last row, if further columns break ties."""
        self._last: int | float | None = None
        """The last time."""
        self._rows = 0
        self._missing: RowError | None = None
        self.in_order = True
        self.greatest: int | float | None = None
        self.floor: int | float | None = None
        self._until = until

    def time(self, batch: pa.RecordBatch) -> Values | None:
        """The time column of the next batch, checked; None if there is none.

        With PARTITION BY it ends before a row without a time: `refuse_missing` raises the error for it, after
        the rows before it have been checked lane by lane.

        Raises
        ------
        DataError
            At a null or NaN time, or if an unpartitioned stream runs backwards.
        """
        if not self._order_by:
            return None
        name = self._order_by[0]
        values = columns.turned(columns.numbers(batch.column(name), name))
        missing = self._first_missing(values)
        whole = batch if missing < 0 else batch.slice(0, missing)
        timed = values if missing < 0 else values.slice(0, missing)
        if len(whole):
            self._check(whole, timed)
            self._last = timed.data[-1].item()
            if len(self._order_by) > 1:
                self._before = whole.select(list(self._order_by)).slice(len(whole) - 1, 1)
        if missing >= 0:
            what = "NaN" if np.isnan(values.data[missing]) else "infinite"
            what = what if values.present[missing] else "null"
            self._missing = RowError(
                self._rows + missing,
                f"{{row}} has no time: `{name}` is {what}; remove such rows, or give them a time",
            )
            if not self._partitioned:
                self.refuse_missing()
        self._rows += len(batch)
        return timed

    def times(self, batches: Iterable[pa.RecordBatch]) -> list[tuple[pa.RecordBatch, Values | None]]:
        """The next batches with what `time` gives for each, up to the first one with a row without a time."""
        found = []
        for batch in batches:
            found.append((batch, self.time(batch)))
            if self._missing is not None:
                break
        return found

    @contextmanager
    def trial(self) -> Iterator[None]:
        """What is noted inside the block is forgotten at its end."""
        kept = vars(self).copy()
        try:
            yield
        finally:
            vars(self).update(kept)

    def follows(self, time: int | float) -> bool:
        """Whether a single row with this time needs no further check; then call `note`.

        Parameters
        ----------
        time : int or float
            Finite.
        """
        if len(self._order_by) > 1 or not self._may_come(time):
            return False
        return not self.in_order or self._last is None or time >= self._last

    def advance(self, time: int | float) -> None:
        """Note that no row to come is before a time."""
        self.floor = time if self.floor is None else max(time, self.floor)

    def _may_come(self, time: int | float) -> bool:
        return (self._until is None or time <= self._until) and (self.floor is None or time >= self.floor)

    def note(self, time: int | float) -> None:
        """Note the time of a single row, which `follows`."""
        self._last = time
        self._rows += 1
        if self.greatest is None or time > self.greatest:
            self.greatest = time

    def refuse_missing(self) -> None:
        """Raise the error for a row without a time, if there was one."""
        if self._missing is not None:
            raise self._missing

    def skip(self, rows: int) -> None:
        """Count rows that have been checked elsewhere."""
        self._rows += rows

    def _first_missing(self, values: Values) -> int:
        """The first row without a time, or -1."""
        missing = ~values.present if len(values.valid) else None
        if values.data.dtype.kind == "f":
            # Between infinite times there is no difference that a window could measure.
            endless = ~np.isfinite(values.data)
            missing = endless if missing is None else missing | endless
        return int(np.argmax(missing)) if missing is not None and missing.any() else -1

    def _check(self, batch: pa.RecordBatch, values: Values) -> None:
        times = values.data
        if self._until is not None or self.floor is not None:
            self._refuse_outside(batch, times)
        if self.in_order:
            before = times[0] if self._last is None else times.dtype.type(self._last)
            row = self._first_decrease(times, before)
            if len(self._order_by) > 1 and row != 0:
                tied = self._first_tie_broken(batch if row < 0 else batch.slice(0, row))
                row = tied if tied >= 0 else row
            if row >= 0:
                self._fall_out_of_order(batch, row)
        greatest = times[-1] if self.in_order else times.max()
        if self.greatest is None or greatest.item() > self.greatest:
            self.greatest = greatest.item()

    def _refuse_outside(self, batch: pa.RecordBatch, times: np.ndarray) -> None:
        """Raise the error of the first row that is after `until`, or before the time that was advanced to."""
        inside = np.ones(len(times), bool)
        if self._until is not None:
            inside &= times <= self._until
        if self.floor is not None:
            inside &= times >= self.floor
        if inside.all():
            return
        row, kind = int(np.argmin(inside)), batch.column(self._order_by[0]).type
        own = order_shown(batch, row, self._order_by[:1])
        if self._until is not None and times[row] > self._until:
            raise RowError(
                self._rows + row,
                AFTER_UNTIL.format(until=time_shown(self._until, kind), own=own),
            )
        raise RowError(
            self._rows + row,
            f"{{row}} is before {time_shown(self.floor, kind)}, to which the stream was advanced: it has "
            f"{own}; {ADVANCE_LESS}",
        )

    def _fall_out_of_order(self, batch: pa.RecordBatch, row: int) -> None:
        if self._partitioned:
            self.in_order = False
            return
        names = ", ".join(f"`{column}`" for column in self._order_by)
        instead = HOW_TO_SORT + (LEAVE_OUT if self._promised else "") + self._set_back(batch, row)
        own = order_shown(batch, row, self._order_by)
        if row:
            above = order_shown(batch, row - 1, self._order_by)
        elif self._before is not None:
            above = order_shown(self._before, 0, self._order_by)
        else:
            above = time_shown(self._last, batch.column(self._order_by[0]).type)
        raise RowError(
            self._rows + row,
            f"{{row}} is out of order by {names}: it has {own}, and the row above it {above}; {instead}",
        )

    def _set_back(self, batch: pa.RecordBatch, row: int) -> str:
        """What to do where a clock may have been set back: by at most an hour, in a night before a Sunday."""
        column = batch.column(self._order_by[0])
        if not pa.types.is_timestamp(column.type) or column.type.tz is not None:
            return ""
        before = column[row - 1] if row else pa.scalar(self._last, column.type)
        own, last = (one.cast(pa.timestamp("s"), safe=False).as_py() for one in (column[row], before))
        night = own.weekday() == SUNDAY and own.hour < MORNING and last - own <= timedelta(hours=1)
        return CLOCKS if night else ""

    def _first_decrease(self, times: np.ndarray, before: np.generic) -> int:
        """The first row whose time is less than the one before it, or -1."""

        def search(start: int) -> int:
            row = int(first_decrease(times[start : start + PART], times[start - 1] if start else before))
            return row if row < 0 else start + row

        if len(times) == 1:
            return 0 if times[0] < before else -1
        if len(times) <= PART:
            return search(0)
        found = self._workers.map("reading", search, range(0, len(times), PART))
        return next((row for row in found if row >= 0), -1)

    def _first_tie_broken(self, batch: pa.RecordBatch) -> int:
        """The first row that ties with the one before it in time and comes before it by what breaks ties."""
        batches = [batch] if self._before is None else [self._before, batch]
        shift = len(batches) - 1
        tied = np.ones(len(batch) + shift - 1, bool)
        wrong = np.zeros(len(batch) + shift - 1, bool)
        for name in self._order_by:
            parts = [part.column(name) for part in batches]
            column = pa.concat_arrays([decoded(one) if columns.is_text(one.type) else one for one in parts])
            if pa.types.is_null(column.type):
                break  # a null says nothing of the order, and what comes after it does not either
            before, after = column.slice(0, len(column) - 1), column.slice(1)
            less = pc.fill_null(pc.less(after, before), False).to_numpy(zero_copy_only=False)
            same = pc.fill_null(pc.equal(after, before), False).to_numpy(zero_copy_only=False)
            wrong |= tied & less
            tied &= same
        return int(np.argmax(wrong)) + 1 - shift if wrong.any() else -1


@dataclass(eq=False)
class LaneTimes:
    """The time of the last row of every lane: later rows of the lane may not be earlier.

    Attributes
    ----------
    last : ndarray, shape (lanes,), int64 or float64
    seen : ndarray, shape (lanes,), uint8
        Whether the lane had a row; there may be room for more lanes than there are.
    ties : list of LaneTies
        The same for each column that breaks ties.
    """

    ties: list[LaneTies]
    last: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    seen: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint8))

    @property
    def nbytes(self) -> int:
        """The bytes that they take."""
        return self.last.nbytes + self.seen.nbytes + sum(tie.nbytes for tie in self.ties)

    def first_broken(self, lanes: np.ndarray, times: np.ndarray, further: list[pa.Array], count: int) -> int:
        """The first row that comes before the row before it in its lane, or -1; notes the rows before it.

        Parameters
        ----------
        lanes, times, count
            As for `first_decrease`.
        further : list of Array, n rows each
            The columns that break ties.
        """
        row = -1
        if self.ties and len(lanes):
            row = self._first_tie_broken(lanes, times, further, count)
        stop = row if row >= 0 else len(lanes)
        earlier = self.first_decrease(lanes[:stop], times[:stop], count)
        return earlier if earlier >= 0 else row

    def _first_tie_broken(
        self, lanes: np.ndarray, times: np.ndarray, further: list[pa.Array], count: int
    ) -> int:
        """The first row that is, by what breaks ties, before the one that it ties with in its lane, or -1."""
        rows = np.flatnonzero(lanes >= 0)
        rows = rows[ascending(lanes[rows])]
        own = lanes[rows]
        begins = np.append(True, own[1:] != own[:-1])[: len(own)]
        ends = np.append(begins[1:], True)[: len(own)]
        last, seen = grown(self.last, count), grown(self.seen, count)
        tied = times[rows] == _before(times[rows], last[own[begins]], begins)
        tied[begins] &= seen[own[begins]] != 0
        wrong = np.zeros(len(rows), bool)
        for ties, column in zip(self.ties, further, strict=True):
            values, there = ties.read(column)
            values, there = values[rows], there[rows]
            before, was = ties.of(own[begins], count)
            before, was = _before(values, before, begins), _before(there, was, begins)
            both = np.flatnonzero(tied & there & was)
            wrong[both] |= (values[both] < before[both]).astype(bool)
            tied[:] = False
            tied[both] = values[both] == before[both]
            ties.note(own[ends], values[ends], there[ends])
        return int(rows[wrong].min()) if wrong.any() else -1

    def first_decrease(self, lanes: np.ndarray, times: np.ndarray, count: int) -> int:
        """The first row that is earlier than the row before it in its lane, or -1; notes the rows before it.

        Parameters
        ----------
        lanes : ndarray, shape (n,), int32
            -1 where a row has none.
        times : ndarray, shape (n,), any number
        count : int
            How many lanes there are so far.
        """
        dtype = np.dtype(np.float64 if times.dtype.kind == "f" else np.int64)
        self.last = grown(self.last.astype(dtype, copy=False), count)
        self.seen = grown(self.seen, count)
        return int(kernels.lane_decrease(lanes, times, self.last, self.seen))

    def note(self, lane: int, time: int | float, count: int) -> bool:
        """Note the time of a single row, if no further columns break ties; there are `count` lanes so far.

        Gives False, and notes nothing, if the row comes before the last one of its lane.
        """
        if len(self.seen) < count:
            dtype = np.dtype(np.float64 if isinstance(time, float) else np.int64)
            self.last = grown(self.last.astype(dtype, copy=False), count)
            self.seen = grown(self.seen, count)
        if self.seen[lane] and time < self.last[lane]:
            return False
        self.last[lane], self.seen[lane] = time, 1
        return True

    def since(self, mark: int | float | None) -> np.ndarray:
        """The lanes whose last row is not before a time; for None all lanes that had rows."""
        return np.flatnonzero(self.seen if mark is None else (self.seen != 0) & (self.last >= mark))

    def rows(self, lanes: np.ndarray) -> list[tuple[str, Any]]:
        """What is known of some lanes, as columns, for `put`."""
        found: list[tuple[str, Any]] = [("last", at(self.last, lanes)), ("seen", at(self.seen, lanes))]
        for number, ties in enumerate(self.ties):
            values, there = ties.of(lanes, int(lanes.max(initial=-1)) + 1)
            found += [(f"tie {number}", pa.array(values)), (f"tied {number}", there)]
        return found

    def put(self, lanes: np.ndarray, rows: pa.Table, count: int) -> None:
        """Restore what `rows` has given, for lanes with new numbers; there are `count` lanes."""
        last, seen = (rows.column(name).to_numpy() for name in ("last", "seen"))
        self.last = grown(self.last.astype(last.dtype, copy=False), count)
        self.seen = grown(self.seen, count)
        self.last[lanes], self.seen[lanes] = last, seen
        for number, ties in enumerate(self.ties):
            values, there = ties.read(columns.single(rows.column(f"tie {number}")))
            ties.of(lanes, count)
            ties.note(lanes, values, there & rows.column(f"tied {number}").to_numpy())

    def memory_of(self, lanes: np.ndarray, count: int) -> Callable[[], None]:
        """Gives what restores all that is known now of some lanes; there are `count` lanes."""
        used = np.unique(lanes[lanes >= 0]).astype(np.int64)
        last, seen = at(self.last, used), at(self.seen, used)
        ties = [tie.of(used, count) for tie in self.ties]

        def restore() -> None:
            self.last, self.seen = grown(self.last, count), grown(self.seen, count)
            self.last[used], self.seen[used] = last, seen
            for tie, (values, there) in zip(self.ties, ties, strict=True):
                tie.note(used, values, there)

        return restore

    def keep(self, used: np.ndarray, numbers: np.ndarray, count: int) -> None:
        """Forget all lanes but those in `used`; these have the given numbers from now on."""
        self.last = moved(self.last, used, numbers, count)
        self.seen = moved(self.seen, used, numbers, count)
        for ties in self.ties:
            ties.keep(used, numbers, count)


_NUMBERS = (
    pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_temporal, pa.types.is_null
)  # fmt: skip
"""Types whose values are compared as numbers; others are compared as Python objects."""


class LaneTies:
    """The values of the last row of every lane in a column that breaks ties.

    Attributes
    ----------
    values : ndarray, shape (lanes,), a number or object
        Texts are objects; the value at a null is arbitrary.
    there : ndarray, shape (lanes,), bool
        Whether there is a value.
    """

    def __init__(self) -> None:
        self.values = np.empty(0, np.int64)
        self.there = np.empty(0, bool)

    @property
    def nbytes(self) -> int:
        """The bytes that they take, about."""
        return self.values.nbytes + self.there.nbytes

    @property
    def _fill(self) -> Any:
        return None if self.values.dtype == object else 0

    def read(self, column: pa.Array) -> tuple[np.ndarray, np.ndarray]:
        """The values of a column, and where there are any, in the form that is kept."""
        if any(test(column.type) for test in _NUMBERS):
            found = columns.turned(columns.numbers(column, ""))
            kind = np.float64 if found.data.dtype.kind == "f" else np.int64
            return found.data.astype(kind, copy=False), found.present
        values = np.empty(len(column), object)
        values[:] = column.to_pylist()
        return values, column.is_valid().to_numpy(zero_copy_only=False)

    def of(self, lanes: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The values of the last rows of some lanes, and where there are any; there are `count` lanes."""
        self.values, self.there = grown(self.values, count, self._fill), grown(self.there, count)
        return self.values[lanes], self.there[lanes]

    def note(self, lanes: np.ndarray, values: np.ndarray, there: np.ndarray) -> None:
        """Note the last rows of some lanes, no lane twice."""
        if not there.any():  # the type of the values, which may be all nulls, says nothing
            self.there[lanes] = False
            return
        if self.values.dtype != values.dtype:  # the first ones
            self.values = np.full(len(self.values), None if values.dtype == object else 0, values.dtype)
        self.values[lanes], self.there[lanes] = values, there

    def keep(self, used: np.ndarray, numbers: np.ndarray, count: int) -> None:
        """Forget all lanes but those in `used`; these have the given numbers from now on."""
        self.values = moved(self.values, used, numbers, count, self._fill)
        self.there = moved(self.there, used, numbers, count)


def _before(values: np.ndarray, first: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """The value before each one, where those of a lane lie together; `first` is before the first of each."""
    found = np.empty(len(values), np.result_type(values, first) if values.dtype != object else object)
    found[1:] = values[:-1]
    found[begins] = first
    return found
