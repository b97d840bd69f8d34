"""A run: batches in, chunks out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from cer_gpu.engine.answers.batches import Lister
from cer_gpu.engine.answers.form import ResultForm
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.machine import MachineRunner
from cer_gpu.engine.machines.reported_ends import More
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.eviction import KeptLanes
from cer_gpu.engine.read.intake import Intake
from cer_gpu.engine.run.chunks import Chunker
from cer_gpu.engine.run.halo import Halo
from cer_gpu.engine.workers import Workers
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.plan.compiled_query import CompiledQuery

if TYPE_CHECKING:
    from cer_gpu.engine.answers.end_form import EndForm, EventIds
    from cer_gpu.engine.machines.outlooks import Outlooks

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Run:
    """The parts of a run in progress.

    `memory` is the bytes that it may take, `rows` the most that are read at a time. `shown`, the columns of
    complex events, is not for `hits` and a sum of counts; `ends`, what gives their further columns, `more`,
    and `ids` are for `hits` and `counts` alone, and `ids` only with `event_id`. Of the first `halo` events,
    and of those from the position `stop` on, no ends are reported: the first may be part of later complex
    events, the last tell what follows others. `reads_early` says whether a chunk may be made while the one
    before is run, `reads_ahead` whether events may be read while those before are made a chunk.
    """

    query: CompiledQuery
    workers: Workers
    intake: Intake
    runner: MachineRunner
    chunker: Chunker
    memory: int | None
    rows: int
    shown: ResultForm | None = None
    ends: EndForm | None = None
    ids: EventIds | None = None
    outlooks: Outlooks | None = None
    more: More | None = None
    halo: int = 0
    stop: int | None = None
    reads_early: bool = False
    reads_ahead: bool = False

    @property
    def form(self) -> ResultForm:
        """The columns of the complex events."""
        assert self.shown is not None
        return self.shown

    @property
    def lister(self) -> Lister[pa.RecordBatch]:
        """Lists the complex events."""
        return Lister(self.runner, self.form, self.workers, self.query.limit, self.memory)

    def relevant(self, batches: Iterable[pa.RecordBatch], pushed: bool = False) -> Iterator[EventArrays]:
        """The relevant events of a stream, as the machine reads them.

        Parameters
        ----------
        batches : iterable of RecordBatch
        pushed : bool, optional
            Whether further batches follow later: then what is not decided yet is held back.
        """
        read = self.intake.ahead if self.reads_ahead and not pushed else self.intake.relevant
        for part in read(batches):
            if self.ids is not None:
                self.ids.note(part)
            if self.outlooks is None:
                yield self.runner.read(part)
            else:
                yield from self.known(part)
        if self.outlooks is not None and not pushed:
            yield from self.rest()

    def known(self, part: EventArrays) -> Iterator[EventArrays]:
        """The events whose bits are known now that some events have been read, as the machine reads them."""
        for known in [part] if self.outlooks is None else self.outlooks(part):
            yield self.runner.read(known)

    def advanced(self, time: int | float) -> Iterator[EventArrays]:
        """The events whose bits are known now that no event to come is before a time."""
        for known in () if self.outlooks is None else self.outlooks.advance(time):
            yield self.runner.read(known)

    def rest(self) -> Iterator[EventArrays]:
        """The relevant events that are held back, at the end of the stream."""
        for known in () if self.outlooks is None else self.outlooks.rest():
            yield self.runner.read(known)

    def chunks(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Chunk]:
        """The chunks of a stream; each must be run before the next is asked for, unless a window alone says
        what is kept of it.

        Parameters
        ----------
        batches : iterator of RecordBatch
        """
        halo, stop = self.halo, self.stop
        inside = Halo(self.chunker.resume, halo, stop) if halo or stop is not None else None
        for part in self.relevant(batches):
            reported = part if inside is None else inside(part)
            chunk = None if reported is None else self.chunker.add(reported)
            if chunk is not None:
                yield chunk
        rest = self.chunker.rest()
        if rest is not None:
            yield rest

    def listed(
        self,
        lister: Lister[Made],
        batches: Callable[[], Iterator[pa.RecordBatch]],
        wanted: int | None = None,
    ) -> Iterator[Made]:
        """The results that a form makes of the complex events of a stream.

        Parameters
        ----------
        lister : Lister
        batches : callable
            Reads the stream.
        wanted : int, optional
            As for `Lister.batches`.
        """
        closes = self.outlooks is not None and self.outlooks.by_next and self.outlooks.until is None
        if self.chunker.in_order and closes and not self.halo and self.stop is None:
            from cer_gpu.engine.run.session_run import closing_of  # few queries need it

            closing = closing_of(self.query, self.intake, self.workers, lister.form, lister.room)
            if closing is not None:
                yield from closing(batches())
                return
        chunks = self.chunks(batches())
        if self.reads_early and wanted is None:
            chunks = self.workers.early(chunks)
        for chunk in chunks:
            yield from lister.batches(chunk, self.runner.ends(chunk), wanted)


def keep_state(query: CompiledQuery, intake: Intake, runner: MachineRunner, data: pa.Schema) -> None:
    """Let intake and runner of a run know what each keeps by values and by lanes; `data`: its columns."""
    if query.reading.keys.values and intake.values_in_order is not None:
        inner: Any = getattr(runner, "inner", runner)
        inner.values = intake.values_in_order
        inner.orders_texts = intake.values_in_order.orders_texts(data, query.reading.derived)
    if query.suppress is not None:
        from cer_gpu.engine.machines.suppress import suppression_of  # few queries need it

        suppression_of(runner).follow(intake)
    if intake.laned:
        intake.forgetting.follow(runner.states)
    if query.traits.state == "followed":
        intake.hold(KeptLanes(runner.states))
