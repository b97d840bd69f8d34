"""How the rows of a stream are put in order (`late`), and how far it has been told that time has come."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.read.intake import Intake
from cer_gpu.engine.read.sources.caller_times import moment_in, span_in, turned_moment
from cer_gpu.engine.read.sources.order_buffer import OrderBuffer
from cer_gpu.engine.read.sources.rows import ROW
from cer_gpu.engine.run.bound_query import BoundQuery
from cer_gpu.engine.run.options import Options
from cer_gpu.engine.run.run_notes import say_how_many_were_late
from cer_gpu.errors import ArgumentError, RowError
from cer_gpu.language.parameters import GivenAmount, plain_value
from cer_gpu.printable_text import brief

NOT_USED = "nothing of this batch was used, and the stream continues"


class StreamOrder:
    """The order of the rows of a stream.

    Parameters
    ----------
    options : Options or None
        Those of the caller; None: rows come in order.
    """

    def __init__(self, options: Options | None) -> None:
        self._options = options
        self._buffer: OrderBuffer | None = None
        self._schema: pa.Schema | None = None
        self._floor: Any = None
        """The time that the stream was advanced to before anything was pushed."""
        self._left_out = 0
        """How many rows of tables that were merged have been left out."""

    @property
    def waits(self) -> bool:
        """Whether rows wait for those that come late."""
        return self._options is not None and self._options.late is not None

    @property
    def read(self) -> tuple[str, ...]:
        """What is read besides the columns of the query: the numbers of rows, if they may come late."""
        return (ROW,) if self.waits else ()

    def begin(self, bound: BoundQuery, intake: Intake) -> None:
        """Prepare for rows with the columns of a query's events."""
        asked, self._schema = self._options, bound.arrow_schema
        if asked is not None and asked.late is not None:
            late = span_in("late", asked.late, self._schema, asked.order_by, asked.order_unit)
            self._buffer = OrderBuffer(asked.order_by, late, asked.late, asked.on_late == "drop", bound.until)
        if self._floor is not None:
            self.advance(self._floor)
            intake.advance(self.moment(self._floor))

    def put(self, bound: BoundQuery, batches: list[pa.RecordBatch], intake: Intake) -> list[pa.RecordBatch]:
        """Add rows; gives those that no later one can precede, in order. An error adds none.

        Raises
        ------
        RowError
            For a row that is out of order, or too late.
        """
        if self._buffer is None:
            intake.refuse(batches)
            return batches
        before = self._buffer.copied()
        try:
            batch = self._buffer.add(list(self._numbered(batches, self._buffer.seen)))
            given = [] if batch is None else [batch]
            intake.refuse(given)
        except RowError as error:
            self._buffer.restore(before)
            text = f"{error.text}; {NOT_USED}"
            raise RowError(error.position, text, error.kind) from None
        self._left_out += bound.left_out
        return given

    @staticmethod
    def _numbered(batches: list[pa.RecordBatch], seen: int) -> Iterator[pa.RecordBatch]:
        """Batches with the number of each row among all that have come."""
        for batch in batches:
            place = batch.schema.get_field_index(ROW)
            rows = pa.array(np.arange(seen, seen + batch.num_rows))
            yield batch.set_column(place, batch.schema.field(place), rows)
            seen += batch.num_rows

    def moment(self, time: Any) -> int | float:
        """A time in the unit of the data, once these are known."""
        assert self._schema is not None
        order = () if self._options is None else self._options.order_by
        _refuse_none(time)
        found = moment_in("time", time, self._schema, order, up=True)
        return turned_moment(found, self._schema, order)

    def wait_for(self, time: Any) -> None:
        """Note a time before which no row comes, before the data are known."""
        _refuse_none(time)
        if self._options is not None and not self._options.order_by:
            raise ArgumentError(f"advance({brief(time)}) is a time: name the column of time with order_by")
        plain = plain_value(time)  # it may be stored
        self._floor = f"{plain.value} {plain.unit}" if isinstance(plain, GivenAmount) else plain

    def advance(self, time: Any) -> list[pa.RecordBatch]:
        """Note that no row comes before a time; gives those that waited for it, which are to be read."""
        moment = self.moment(time)
        batch = None if self._buffer is None else self._buffer.advance(moment)
        return [] if batch is None else [batch]

    def rest(self) -> list[pa.RecordBatch]:
        """The rows that wait, at the end of the stream."""
        batch = None if self._buffer is None else self._buffer.rest()
        return [] if batch is None else [batch]

    @property
    def seen(self) -> int | None:
        """How many rows have come; None where rows do not wait."""
        return None if self._buffer is None else self._buffer.seen

    @property
    def waiting(self) -> int:
        """How many rows wait."""
        return 0 if self._buffer is None else self._buffer.waiting

    @property
    def late(self) -> int:
        """How many rows were left out."""
        return self._left_out + (0 if self._buffer is None else self._buffer.left_out)

    def say(self, notes: Notes) -> None:
        """Note how many rows were left out."""
        if self._options is not None:
            say_how_many_were_late(notes, self.late, self._options, aloud=False)

    def state(self) -> dict[str, Any]:
        """All that is kept."""
        rows = None if self._buffer is None else self._buffer.state()
        return {"floor": self._floor, "left_out": self._left_out, "rows": rows}

    def resume(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        self._floor, self._left_out = state["floor"], state["left_out"]
        if self._buffer is not None and state["rows"] is not None:
            self._buffer.resume(state["rows"])


def _refuse_none(time: Any) -> None:
    """Refuse None as the time of `advance`.

    Raises
    ------
    ValueError
    """
    if time is None:
        raise ArgumentError("advance needs a time: no row before it will come any more")
