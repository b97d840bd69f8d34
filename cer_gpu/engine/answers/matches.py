"""The result of a run: complex events, lazily, as Python values or as Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from cer_gpu.digits import shown
from cer_gpu.engine.answers.batches import Form, Other
from cer_gpu.engine.answers.display import as_html, as_text
from cer_gpu.engine.answers.form import ResultForm
from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.answers.values import ComplexEvent
from cer_gpu.engine.memory import within_memory
from cer_gpu.engine.read.sources.arrow_types import first_line
from cer_gpu.errors import CerError, DataError
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.printable_text import brief

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from cer_gpu.engine.answers.flat_form import FlatForm
    from cer_gpu.engine.answers.room import Room
    from cer_gpu.engine.answers.tidy_form import EventForm


MOST = 1 << 62
"""The most complex events that are looked for, whatever the limit: kernels count them in 64 bits."""

KEPT = 1 << 26
"""The most bytes of answers that an iteration keeps, so that the next one need not run the query again."""

BYTES_OF_LIST, BYTES_OF_COMPLEX_EVENT = 120, 700
"""About how many bytes a list takes in a DataFrame, and a complex event as a Python value."""

SHOWN = 10
"""How many complex events a printed `Matches` shows."""


class ResultProducer(Protocol):
    """Starts a run and yields the results that a form makes of its complex events."""

    def __call__(self, form: Form[Other], wanted: int | None, room: Room | None = None) -> Iterator[Other]:
        """The results for the first `wanted` complex events, or for more; for all if `wanted` is None.

        `room` is told how many complex events come next, and ends the run if they do not fit into memory.
        """


class RunAccount(NamedTuple):
    """Where a run takes place, why there, and its notes."""

    device: str
    reason: str
    notes: Notes


def stopped(limit: int) -> str:
    """The note of an answer that stopped at a limit."""
    return f"stopped at limit={shown(limit)}: there are more complex events"


class Matches:
    """The complex events of a run; made by `Query.run`. Nothing is read or listed until you ask for it.

    A table of them has one row for each complex event, sorted by end, start and positions. Its columns are
    `start` and `end` (int64 positions), the columns of PARTITION BY, `start_time` and `end_time` if
    `order_by` is given, for each of `variables` a `list<int64>` of the positions that it marks, for
    `x[price]` a column of that name with a `list<struct<price>>`, and last the measures. A rule has the
    variables of its head in place of lists, and `positions`, a `list<int64>` with one position for each atom.
    If an earlier column has the same name, a `_` is appended.

    `to_arrow`, `to_pandas` and `to_polars` keep their table, and an iteration that goes to the end keeps what
    it read, up to 64 MB; later calls are answered from there. Otherwise each call runs the query again, which
    needs events that can be read again: a table or files, but not a RecordBatchReader.

    Parameters
    ----------
    form : ResultForm
        The columns of the result.
    event_form, flat_form : callable
        Make the forms of `events()` and of `flat_batches()`; called only when one of these is.
    produce : callable
        Starts a run and yields what a form makes of its complex events, sorted by (end, start, positions).
        Its arguments are the form, and how many complex events are needed (None for all); it may yield more.
    ran : Ran
    limit : int or None
        Every iteration ends after this many complex events.
    again : bool
        Whether the events can be read more than once.
    keep : int
        The most bytes of answers that an iteration keeps.

    Attributes
    ----------
    schema : pyarrow.Schema
        The columns of the table.
    variables : tuple of str
        The variables that SELECT keeps; `SELECT *` also keeps event types, by name. Empty for a rule.
    head_variables : tuple of str, or None
        The variables in the head of a rule, and its aggregates; None for a query.
    partition : tuple of str
        The columns of PARTITION BY.
    measures : tuple of str
        The names of the measures, such as `gain` in `LAST(s.price) - FIRST(b.price) AS gain`.
    device : str
        Where the query runs: "cpu", or a device such as "cuda:0".
    device_reason : str
        Why it runs there.
    """

    def __init__(
        self,
        form: ResultForm,
        event_form: Callable[[], EventForm],
        flat_form: Callable[[], FlatForm],
        produce: ResultProducer,
        ran: RunAccount,
        limit: int | None,
        again: bool,
        keep: int,
    ) -> None:
        self.schema = form.schema
        self.variables = form.variables
        self.partition = form.partition
        self.head_variables = form.head
        self.measures = form.measures
        self.device, self.device_reason, self._notes = ran
        self._says = True
        self._listed = False
        self._form = form
        self._event_form = event_form
        self._flat_form = flat_form
        self._produce = produce
        self._limit = limit
        self._again = again
        self._keep = keep
        self._limited = False
        self._kept: pa.Table | None = None

    @property
    def limited(self) -> bool:
        """Whether the last iteration stopped at `limit` while there were more complex events."""
        return self._limited

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of the runs so far: results of checks, events that were skipped, limits that were reached.

        Notes about something unexpected were also shown as warnings. The last note says where the runs took
        place.
        """
        return (*self._notes.texts, f"ran on {self.device}: {self.device_reason}")

    def _end_at_limit(self, met: bool) -> None:
        self._limited = met
        if met and self._says and self._limit is not None:
            self._notes.say(stopped(self._limit))

    def _batches(self, room: Room | None = None) -> Iterator[pa.RecordBatch]:
        """The record batches of all complex events up to the limit, from memory or from a new run."""
        if self._kept is not None:
            yield from self._kept.to_batches()
            return
        kept: list[pa.RecordBatch] = []
        left = self._keep
        for batch in self._run(room=room):
            left -= batch.nbytes
            if left >= 0:
                kept.append(batch)
            else:
                kept.clear()
            yield batch
        if left >= 0:
            self._kept = pa.Table.from_batches(kept, self.schema)

    def _run(
        self, form: Form[pa.RecordBatch] | None = None, room: Room | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Start a run: its batches up to the limit, in a form that has a row for each complex event."""
        left, met = self._limit, False
        made = self._form if form is None else form
        if self._form.folding is not None:
            folding = self._form.folding
            produced = folding.groups(self._produce(folding.answers, None))
        elif self._form.hidden is None:
            produced = self._produce(made, self._looked_at, room)
        else:  # how many answers are wanted says nothing: one of them may come many times
            produced = self._form.hidden.distinct(self._produce(made, None))
        for batch in produced:
            if left is not None:
                met = len(batch) > left
                batch = batch.slice(0, min(left, len(batch)))
                left -= len(batch)
            if len(batch):
                if room is not None:
                    room.note(len(batch), batch.nbytes)
                yield batch
            if met:
                break
        self._end_at_limit(met)

    @property
    def _looked_at(self) -> int | None:
        # One more than the limit tells that there are more.
        return None if self._limit is None else min(self._limit + 1, MOST)

    def head(self, number: int = 5) -> Matches:
        """The first complex events, in the order (end, start, positions).

        Parameters
        ----------
        number : int
            At most this many; the run stops soon after it has found them.

        Raises
        ------
        ValueError
            For a negative number.
        """
        if number < 0:
            raise ValueError(f"head() takes a number of complex events, 0 or more, not {brief(number)}")
        most = number if self._limit is None else min(number, self._limit)
        forms = self._form, self._event_form, self._flat_form
        made = *forms, self._produce, RunAccount(self.device, self.device_reason, self._notes)
        first = Matches(*made, most, self._again, self._keep)
        first._says = self._says and number > most
        if self._kept is not None:
            first._kept = self._kept.slice(0, most)
        return first

    def first(self) -> ComplexEvent | None:
        """The first complex event, or None if there is none."""
        return next(iter(self.head(1)), None)

    def batches(self, keep: bool = True) -> pa.RecordBatchReader:
        """The complex events as a reader of record batches of bounded size.

        Parameters
        ----------
        keep : bool, default True
            Keep what is read, up to 64 MB, so that later calls need not run the query again.
        """
        batches = self._batches() if keep or self._kept is not None else self._run()
        return pa.RecordBatchReader.from_batches(self.schema, batches)

    def to_arrow(self) -> pa.Table:
        """All complex events as a table, which is kept for later calls.

        Raises
        ------
        LimitError
            If the table would not fit into the free memory; raised before it is made.
        """
        if self._kept is None:
            with within_memory("collecting the answers"):
                self._kept = pa.Table.from_batches(list(self._run(room=self._room(0))), self.schema)
        return self._kept

    def _room(self, beside: int, schema: pa.Schema | None = None) -> Room:
        """What watches that all answers fit into memory, each with `beside` further bytes in the table."""
        from cer_gpu.engine.answers.room import Room

        return Room(self.schema if schema is None else schema, beside)

    def to_pandas(self) -> pd.DataFrame:
        """All complex events as a pandas DataFrame (needs pandas).

        Raises
        ------
        LimitError
            If the answers would not fit into the free memory; raised before they are listed.
        DataError
            For a time that pandas cannot represent.
        """
        lists = sum(pa.types.is_list(kind) for kind in self.schema.types)
        if self._kept is None:
            with within_memory("collecting the answers"):
                room = self._room(8 * len(self.schema) + BYTES_OF_LIST * lists)
                self._kept = pa.Table.from_batches(list(self._run(room=room)), self.schema)
        try:
            with within_memory("collecting the answers"):
                return self._kept.to_pandas()
        except (ValueError, OverflowError) as error:  # of which ArrowInvalid is one
            raise DataError(
                f"pandas cannot hold the answers: {first_line(error)}; take them as Arrow, with to_arrow()"
            ) from error

    def to_polars(self) -> pl.DataFrame:
        """All complex events as a polars DataFrame (needs polars)."""
        from polars import DataFrame

        return DataFrame(self.to_arrow())

    def events(self) -> pa.Table:
        """The marked events in tidy form: a row for each event and each variable that marks it.

        Returns
        -------
        pyarrow.Table
            `match` (int64: the row of the complex event in `to_arrow()`), `variable`, `position` (int64),
            `row` (int64: the row in the data as it was given, also after `sort=True`), `source` (for a dict
            of tables, the name of the table that has the row), `time` if `order_by` is given, the attributes
            that SELECT asks for (null where the variable was not asked for them), and the measures. Rows are
            sorted by match, then by position. A rule has a row for each atom, with the atom's event type as
            `variable`.

        Raises
        ------
        LimitError
            If the table would not fit into the free memory.
        DataError
            For a rule with aggregates: a row of its answer stands for many complex events.
        """
        self._refuse_groups()
        with within_memory("collecting the events of the answers"):
            form = self._event_form()
            room = None if self._form.hidden is not None else self._room(0, form.schema)
            return pa.Table.from_batches(list(self._event_rows(form, room)), form.schema)

    def _refuse_groups(self) -> None:
        if self._form.grouped:
            raise DataError(
                "each row of a rule with aggregates stands for many answers, and their events are not "
                "listed: leave the aggregates out of the rule"
            )

    def event_batches(self) -> pa.RecordBatchReader:
        """The rows of `events()` as a reader of record batches of bounded size."""
        self._refuse_groups()
        form = self._event_form()
        return pa.RecordBatchReader.from_batches(form.schema, self._event_rows(form))

    def flat_batches(self) -> pa.RecordBatchReader:
        """The complex events in flat form, as a reader of record batches of bounded size.

        Returns
        -------
        pyarrow.RecordBatchReader
            A row for each complex event, with one value in every cell: `start`, `end`, the columns of
            PARTITION BY, `start_time` and `end_time`, then the position, time and attributes of the event
            that each variable marks (`a`, `a_time`, `a_price`). A variable that may mark several events has
            these columns for its first and its last event (`b_first`, `b_first_time`, `b_last`, ...).
        """
        if self._form.grouped:
            return self.batches()
        form = self._flat_form()
        return pa.RecordBatchReader.from_batches(form.schema, self._run(form))

    def _event_rows(self, form: EventForm, room: Room | None = None) -> Iterator[pa.RecordBatch]:
        left, before, met = self._limit, 0, False
        for matches, batch in self._produce(form, self._looked_at, room):
            own = batch.column(0)
            met = left is not None and matches > left
            if left is not None and met:
                batch = batch.slice(0, int(np.searchsorted(own.to_numpy(), left)))
                own = batch.column(0)
            if before:
                batch = batch.set_column(0, batch.schema.field(0), pc.add(own, before))
            if len(batch):
                if room is not None:
                    room.note(matches, batch.nbytes)
                yield batch
            if met:
                break
            before += matches
            left = None if left is None else left - matches
        self._end_at_limit(met)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The complex events through Arrow's C stream interface, for other libraries."""
        return self.batches().__arrow_c_stream__(requested_schema)

    def __iter__(self) -> Iterator[ComplexEvent]:
        # `list` asks for a hint once it has an iterator: only then are all complex events there at once.
        room = self._room(BYTES_OF_COMPLEX_EVENT) if self._listed else None
        self._listed = False
        for batch in self._batches(room):
            yield from self._form.complex_events(batch)

    def __length_hint__(self) -> int:
        self._listed = True
        return NotImplemented

    def __repr__(self) -> str:
        shown = self._shown()
        return self._heading() if shown is None else f"{self._heading()}\n{as_text(shown, SHOWN)}"

    def _repr_html_(self) -> str:
        return as_html(self._heading(), self._shown(), SHOWN)

    def _shown(self) -> pa.Table | None:
        """The answers to show and one more; None where reading them now would lose them for later."""
        if self._kept is None and not self._again:
            return None
        try:
            looked_at = self.head(SHOWN + 1)
            looked_at._says = False  # of what only a look has met
            return looked_at.to_arrow()
        except CerError:  # it comes again when the answers are asked for
            return None

    def _heading(self) -> str:
        names = (
            ", ".join(self.variables if self.head_variables is None else self.head_variables)
            or "no variables"
        )
        return f"<Matches of {names} on {self.device}>"
