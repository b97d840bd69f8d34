"""Reads the matches of a run, up to a limit, and keeps what was read: `AnswerReader`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from cer_gpu.digits import shown
from cer_gpu.engine.answers.batches import Form, Other
from cer_gpu.engine.answers.form import ResultForm
from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.memory import within_memory
from cer_gpu.lazy_modules import compute as pc

if TYPE_CHECKING:
    from cer_gpu.engine.answers.flat_form import FlatForm, WideForm
    from cer_gpu.engine.answers.room import Room
    from cer_gpu.engine.answers.tidy_form import EventForm

MOST = 1 << 62
"""The most matches that are looked for, whatever the limit: kernels count them in 64 bits."""

KEPT = 1 << 26
"""The most bytes of answers that an iteration keeps, so that the next one need not run the query again."""


class ResultProducer(Protocol):
    """Starts a run and yields the results that a form makes of its matches."""

    def __call__(self, form: Form[Other], wanted: int | None, room: Room | None = None) -> Iterator[Other]:
        """The results for the first `wanted` matches, or for more; for all if `wanted` is None.

        `room` is told how many matches come next, and ends the run if they do not fit into memory.
        """


class RunAccount(NamedTuple):
    """Where a run takes place, why there, and its notes."""

    device: str
    reason: str
    notes: Notes


class AnswerForms(NamedTuple):
    """The forms of the answers of a run.

    Attributes
    ----------
    nested : ResultForm
        A row for each match, with lists.
    events, flat : callable
        Make the forms with a row for each marked event, and with one value in each cell; called only when
        one of these is asked for. The argument says whether all columns of the data are shown.
    """

    nested: ResultForm
    events: Callable[[bool], EventForm]
    flat: Callable[[bool], FlatForm]


def stopped(limit: int) -> str:
    """The note of an answer that stopped at a limit."""
    return f"stopped at limit={shown(limit)}: there are more matches"


class AnswerReader:
    """Reads the matches of a run, up to a limit.

    Parameters
    ----------
    forms : AnswerForms
    produce : callable
        Starts a run and yields what a form makes of its matches, sorted by (end, start, positions).
        Its arguments are the form, and how many matches are needed (None for all); it may yield more.
    ran : RunAccount
    limit : int or None
        Every iteration ends after this many matches.
    again : bool
        Whether the events can be read more than once.
    keep : int
        The most bytes of answers that an iteration keeps.
    total : callable, optional
        Counts the matches up to the limit without listing them.
    """

    def __init__(
        self,
        forms: AnswerForms,
        produce: ResultProducer,
        ran: RunAccount,
        limit: int | None,
        again: bool,
        keep: int,
        total: Callable[[], int] | None = None,
    ) -> None:
        self.device, self.device_reason, self._notes = ran
        self._says = True
        self._forms, self._form = forms, forms.nested
        self._produce = produce
        self._limit = limit
        self._again = again
        self._keep = keep
        self._total = total
        self._limited = False
        self._kept: pa.Table | None = None
        self._flat: pa.Table | None = None

    @property
    def limited(self) -> bool:
        """Whether the last iteration stopped at `limit` while there were more matches."""
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
        """The record batches of all matches up to the limit, from memory or from a new run."""
        if self._kept is not None:
            yield from self._kept.to_batches()
            return
        kept: list[pa.RecordBatch] = []
        left = self._keep
        wide = self._wide()
        for batch in self._run(wide, room):
            left -= batch.nbytes
            if left >= 0:
                kept.append(batch)
            else:
                kept.clear()
            yield batch if wide is None else wide.nested(batch)
        if left >= 0:
            self._store(kept, wide)

    def _wide(self) -> WideForm | None:
        """The form of a pass that makes both tables; None where the events can be read again."""
        if self._again or self._form.grouped or not self._form.marking:
            return None
        from cer_gpu.engine.answers.flat_form import WideForm

        return WideForm(self._form, self._forms.flat(False))

    def _store(self, batches: list[pa.RecordBatch], wide: WideForm | None) -> None:
        """Keep all matches, in the form in which they were read."""
        if wide is None:
            self._kept = pa.Table.from_batches(batches, self._form.schema)
            return
        rows = pa.Table.from_batches(batches, wide.schema)
        self._kept, self._flat = wide.nested_table(rows), wide.flat_table(rows)

    def _collected(self, flat: bool, room: Room) -> pa.Table:
        """All matches as a table, which is kept."""
        flat = flat and bool(self._form.marking)  # otherwise all columns are flat
        with within_memory("collecting the matches"):
            if self._kept is None and (not flat or not self._again):
                wide = self._wide()
                self._store(list(self._run(wide, room)), wide)
            if flat and self._flat is None:
                form = self._forms.flat(False)
                self._flat = pa.Table.from_batches(list(self._run(form, room)), form.schema)
        found = self._flat if flat else self._kept
        assert found is not None
        return found

    def _run(
        self, form: Form[pa.RecordBatch] | None = None, room: Room | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Start a run: its batches up to the limit, in a form that has a row for each match."""
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
