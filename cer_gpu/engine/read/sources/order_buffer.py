"""Rows that come late: they wait until no earlier one can come, and are put in order (`late`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.sources.arrow_types import convert_batch, roomy_schema
from cer_gpu.engine.read.sources.rows import ROW, ROW_FIELD, Rows, numbered, one_batch
from cer_gpu.engine.read.sources.sorting import PLACED, key_columns, order_shown, stable_order, time_shown
from cer_gpu.errors import RowError
from cer_gpu.printable_text import brief

INT64 = np.iinfo(np.int64)


class OrderBuffer:
    """Rows that wait for earlier ones.

    A row may be so much earlier than the latest one before it. So what is that much earlier than the latest
    one is known for good: it is given, in the order of time; ties keep the order in which they came.

    Rows that come are appended to a tail. Those that wait in order are given from the front; once they have
    run out, or a row of the tail is due, all are put in order. So a row is sorted a few times at most where
    few rows come late.

    Parameters
    ----------
    order_by : sequence of str
        The time, then the columns that break ties.
    late : int or float
        In the unit of the time.
    given : object
        `late` as it was given, for messages.
    drops : bool
        Whether rows that are later are left out; otherwise they are an error.
    until : int or float, optional
        A time after which there may be no row.

    Attributes
    ----------
    left_out : int
        How many rows were left out.
    greatest : int or float or None
        The greatest time so far.
    floor : int or float or None
        A time before which no further row may be.
    seen : int
        How many rows have come.
    """

    def __init__(
        self,
        order_by: Sequence[str],
        late: int | float,
        given: Any,
        drops: bool,
        until: int | float | None = None,
    ) -> None:
        self._order_by = tuple(order_by)
        self._late, self._said, self._drops, self._until = late, brief(given), drops, until
        self._sorted: pa.RecordBatch | None = None
        """Rows that wait, in order."""
        self._times = np.empty(0, np.int64)
        """Their times."""
        self._tail: list[pa.RecordBatch] = []
        """Rows that came after these, as they came."""
        self._least: int | float | None = None
        """The least time in the tail."""
        self.left_out = 0
        self.greatest: int | float | None = None
        self.floor: int | float | None = None
        self.seen = 0

    def add(self, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch | None:
        """Add further rows; gives those that no later one can precede, in order.

        Raises
        ------
        RowError
            For a row that is later than allowed, and for one without a time: nothing is added then.
        """
        kept, seen, greatest, left_out, least = [], self.seen, self.greatest, 0, self._least
        for batch in batches:
            if not batch.num_rows:
                continue
            own, times, greatest = self._in_time(batch, seen, greatest)
            seen += batch.num_rows
            left_out += batch.num_rows - own.num_rows
            if own.num_rows:
                kept.append(own)
                first = times.min().item()
                least = first if least is None else min(least, first)
        self.seen, self.greatest, self._least = seen, greatest, least
        self.left_out += left_out
        self._tail += kept
        return self._given()

    def advance(self, time: int | float) -> pa.RecordBatch | None:
        """Note that no further row is before a time; gives the rows that this decides."""
        self.floor = time if self.floor is None else max(time, self.floor)
        return self._given()

    def rest(self) -> pa.RecordBatch | None:
        """The rows that wait, in order: no other comes."""
        self._put_in_order()
        given, self._sorted = self._sorted, None
        return given

    @property
    def waiting(self) -> int:
        """How many rows wait."""
        rows = 0 if self._sorted is None else self._sorted.num_rows
        return rows + sum(batch.num_rows for batch in self._tail)

    def copied(self) -> tuple[dict[str, Any], int]:
        """What `restore` needs to undo what is added from now on."""
        return vars(self).copy(), len(self._tail)

    def restore(self, copied: tuple[dict[str, Any], int]) -> None:
        """Undo what was added since `copied`."""
        kept, length = copied
        vars(self).update(kept)
        del self._tail[length:]

    def state(self) -> dict[str, Any]:
        """All that is kept."""
        waiting = [*([] if self._sorted is None else [self._sorted]), *self._tail]
        return {
            "held": pa.Table.from_batches(waiting).unify_dictionaries() if waiting else None,
            "left_out": self.left_out, "greatest": self.greatest, "floor": self.floor, "seen": self.seen,
        }  # fmt: skip

    def resume(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        self.left_out, self.seen = state["left_out"], state["seen"]
        self.greatest, self.floor = state["greatest"], state["floor"]
        self._sorted, self._tail = None, [] if state["held"] is None else [one_batch(state["held"])]
        self._put_in_order()

    def _kind(self, batch: pa.RecordBatch) -> pa.DataType:
        return batch.column(self._order_by[0]).type

    def _keys(self, batch: pa.RecordBatch, first: int) -> list[pa.Array]:
        return key_columns(batch, self._order_by, lambda row: f"row {row} (counted from 0)", first)

    def _in_time(
        self, batch: pa.RecordBatch, seen: int, greatest: int | float | None
    ) -> tuple[pa.RecordBatch, np.ndarray, int | float]:
        """The rows of a batch that are not too late, their times, and the greatest time after them."""
        times = self._keys(batch, seen)[0].to_numpy(zero_copy_only=False)
        if self._until is not None and (times > self._until).any():
            row = int(np.argmax(times > self._until))
            own, until = (
                order_shown(batch, row, self._order_by[:1]),
                time_shown(self._until, self._kind(batch)),
            )
            raise RowError(seen + row, AFTER_UNTIL.format(until=until, own=own))
        most = np.maximum.accumulate(times)
        if greatest is not None:
            most = np.maximum(most, most.dtype.type(greatest))
        if times.dtype.kind == "f":
            behind = most - times > self._late
        else:  # what does not fit int64 does fit here
            behind = most.view(np.uint64) - times.view(np.uint64) > np.uint64(min(self._late, 2**64 - 1))
        before = np.zeros(len(times), bool) if self.floor is None else times < self.floor
        out = behind | before
        if not out.any():
            return batch, times, most[-1].item()
        if not self._drops:
            row = int(np.argmax(out))
            self._refuse(batch, row, seen, None if before[row] else most[row].item())
        return batch.filter(pa.array(~out)), times[~out], most[-1].item()

    def _refuse(self, batch: pa.RecordBatch, row: int, seen: int, most: int | float | None) -> None:
        own, kind = order_shown(batch, row, self._order_by[:1]), self._kind(batch)
        if most is None:
            raise RowError(
                seen + row,
                f"{{row}} is before {time_shown(self.floor, kind)}, to which the stream was advanced: it has "
                f"{own}; {LEAVE_OUT}",
            )
        raise RowError(
            seen + row,
            f"{{row}} comes too late: it has {own}, and {time_shown(most, kind)} came before, which is more "
            f"than late={self._said} after it; allow more, or {LEAVE_OUT}",
        )

    def _given(self) -> pa.RecordBatch | None:
        """The rows that no later one can precede, in order; the others wait."""
        mark = None if self.greatest is None else self.greatest - self._late
        if self.floor is not None:
            mark = self.floor if mark is None else max(mark, self.floor)
        if mark is None or (isinstance(mark, int) and mark < INT64.min):
            return None
        # Where further columns break ties, one that ties may come and be the first of them.
        side: Literal["left", "right"] = "left" if len(self._order_by) > 1 else "right"
        least = self._least
        due = least is not None and (least < mark or (least == mark and side == "right"))
        if due or self._sorted is None:
            self._put_in_order()
        if self._sorted is None:
            return None
        count = int(np.searchsorted(self._times, mark, side))
        given, self._sorted = self._sorted.slice(0, count), self._sorted.slice(count)
        self._times = self._times[count:]
        if not self._sorted.num_rows:
            self._sorted = None
        return given if count else None

    def _put_in_order(self) -> None:
        """Put the rows of the tail among those that are in order."""
        parts = [*([] if self._sorted is None else [self._sorted]), *self._tail]
        self._sorted, self._tail, self._least = None, [], None
        self._times = self._times[:0]
        if not parts:
            return
        held = parts[0] if len(parts) == 1 else one_batch(pa.Table.from_batches(parts))
        keys = self._keys(held, 0)
        order = stable_order([pa.chunked_array([one]) for one in keys])
        self._times = keys[0].to_numpy(zero_copy_only=False)[order]
        self._sorted = held.take(pa.array(order))


AFTER_UNTIL = (
    "{{row}} is after until={until}: it has {own}; leave such rows out, or give a later time as until "
    "(--until)"
)
"""The text of the error of a row that is after `until`."""

LEAVE_OUT = "pass on_late='drop' (--on-late drop) to leave such rows out"


class LateRows(Rows):
    """Rows that may be out of order by so much time, in order.

    Parameters
    ----------
    rows : Rows
    order_by : sequence of str
    buffer : callable
        Makes an empty buffer.
    drops : bool
        Whether it leaves rows out.
    """

    def __init__(
        self, rows: Rows, order_by: Sequence[str], buffer: Callable[[], OrderBuffer], drops: bool
    ) -> None:
        self._rows = rows
        self._order_by = tuple(order_by)
        self._buffer = buffer
        self.schema = roomy_schema(rows.schema)
        self._made_of(rows)
        self.ordered = True
        if drops:
            self.rows = None

    def read_numbered(self, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        """See `Rows.read_numbered`: the rows before they were put in order."""
        return self.read(wanted.append(ROW_FIELD), rows)

    def read(self, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        needed = list(dict.fromkeys(name for name in [*wanted.names, *self._order_by] if name != ROW))
        target, buffer = self.subschema(needed), self._buffer()

        def put(batch: pa.RecordBatch | None) -> Iterator[pa.RecordBatch]:
            if batch is None:
                return
            for start in range(0, batch.num_rows, rows):
                yield batch.slice(start, rows).select(wanted.names)

        for whole in self._rows.read(self._rows.subschema(needed), rows):
            batch = convert_batch(whole, target, self.where)
            try:
                yield from put(buffer.add([numbered(batch, buffer.seen)]))
            except RowError as error:
                raise error.naming(self._rows.place(error.position)) from None
        yield from put(buffer.rest())
        self.left_out = buffer.left_out

    def place_given(self, row: int) -> str:
        """See `Rows.place_given`: rows were numbered before they were put in order."""
        return self._rows.place_given(row)

    def place(self, row: int) -> str:
        """See `Rows.place`: the row before it was put in order; the order columns are read again."""
        if not self.rewindable:
            return f"row {row} of {self.where} once put in order (counted from 0)"
        for batch in self.read(pa.schema([ROW_FIELD]), PLACED):
            if row < batch.num_rows:
                return self._rows.place(batch.column(ROW)[row].as_py())
            row -= batch.num_rows
        raise AssertionError
