"""A run of sessions that are reported once nothing can follow them: from batches to answers in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.session_batches import ClosedForm
from cer_gpu.engine.machines.closed_sessions import (
    NOT_KNOWN,
    ClosedSessions,
    closed_reach,
    label_of_sessions,
)
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.intake import Intake
from cer_gpu.engine.read.keys import Keys
from cer_gpu.engine.workers import Workers
from cer_gpu.plan.compiled_query import CompiledQuery

if TYPE_CHECKING:
    from cer_gpu.engine.answers.room import Room


class _ReadEvents(NamedTuple):
    """Events that were read, and what was known then; without events, nothing more comes."""

    events: EventArrays | None
    lane_count: int
    passed: np.ndarray
    lane_keys: Keys | None


class SessionRun:
    """Lists the closed sessions of a stream, in the order of their ends.

    Parameters
    ----------
    intake : Intake
    workers : Workers
    form : ClosedForm
    sessions : ClosedSessions
    room : Room or None
        Is told how many complex events are listed next.
    """

    def __init__(
        self,
        intake: Intake,
        workers: Workers,
        form: ClosedForm,
        sessions: ClosedSessions,
        room: Room | None,
    ) -> None:
        self._intake, self._workers = intake, workers
        self._form, self._sessions, self._room = form, sessions, room
        intake.forgetting.follow([sessions])
        intake.without_payload()

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The sessions of a stream; those of one part of it are found while the next is read."""
        for found in self._workers.behind("listing", self._listed, self._read(batches)):
            yield from found

    def _read(self, batches: Iterator[pa.RecordBatch]) -> Iterator[_ReadEvents | None]:
        intake = self._intake
        for events in intake.relevant(batches):
            now = intake.watermark
            # Times are integers here, and so is what none is before.
            known = None if now is None else int(now)
            passed = self._sessions.passed(events.times, known, intake.in_order)
            yield _ReadEvents(events, intake.lane_count, passed, intake.lane_keys)
            if intake.forgets(0):
                yield None  # by the time that more is asked for, all before has been listed
                intake.forget([])
        yield _ReadEvents(None, intake.lane_count, NOT_KNOWN, intake.lane_keys)

    def _listed(self, read: _ReadEvents | None) -> Iterable[pa.RecordBatch]:
        if read is None:
            return []
        if read.events is None:
            closed = self._sessions.rest()
        else:
            events = read.events
            closed = self._sessions.add(
                events.lanes, events.times, events.positions, read.lane_count, read.passed
            )
        if self._room is not None:
            self._room.expect(len(closed.event))
        made = self._form.batches(closed, read.lane_keys)
        # The events of sessions are read before others take their place; all else is made by who asks for it,
        # as listing takes longer than reading.
        return list(made) if self._form.listed else made


def closing_of(
    query: CompiledQuery, intake: Intake, workers: Workers, form: Any, room: Room | None
) -> SessionRun | None:
    """Makes what lists the complex events of a query without chunks, in a form; None if chunks are needed.

    Parameters
    ----------
    query : CompiledQuery
        A query whose events are in the order of the stream, with integer times.
    intake : Intake
    workers : Workers
    form : Form
    room : Room or None
    """
    reach = closed_reach(query)
    if reach is None or not ClosedForm.fits(form):
        return None
    made = ClosedForm(form, label_of_sessions(query))
    return SessionRun(intake, workers, made, ClosedSessions(reach, made.listed), room)
