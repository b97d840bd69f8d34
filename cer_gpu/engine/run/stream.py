"""A query over batches that arrive one after another; matches may span batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pyarrow as pa

from cer_gpu.engine.answers.batches import Form, Other
from cer_gpu.engine.answers.matches import Matches
from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.answers.row_origin import RowOrigin
from cer_gpu.engine.machines.open_runs import PushResult
from cer_gpu.engine.machines.stream_state import StreamState
from cer_gpu.engine.memory import within_memory
from cer_gpu.engine.read.events import EventArrays, joined
from cer_gpu.engine.read.order import HOW_TO_SORT
from cer_gpu.engine.read.single_events import NO_EVENTS, SingleEvent
from cer_gpu.engine.read.sources.categories import check_alike
from cer_gpu.engine.read.sources.open_source import open_source
from cer_gpu.engine.read.sources.rows import ROW, NoRows
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.alike_batches import AlikeBatches, AlikeTables, is_arrow
from cer_gpu.engine.run.bound_query import BoundQuery
from cer_gpu.engine.run.components import begin_intake, resume_run, run_state
from cer_gpu.engine.run.options import Options
from cer_gpu.engine.run.run_notes import say_how_many_had_no_key
from cer_gpu.engine.run.snapshot import StoredState, from_bytes, to_bytes, unshared
from cer_gpu.engine.run.stream_identity import OF_READING, OtherStreamError
from cer_gpu.engine.run.stream_metrics import StreamMetrics
from cer_gpu.engine.run.stream_order import NOT_USED, StreamOrder
from cer_gpu.engine.run.window_rerun import open_part_of
from cer_gpu.errors import ArgumentError, DataError, RowError
from cer_gpu.printable_text import names_text
from cer_gpu.progress import begun, shown_together

Given = TypeVar("Given")
Taken = TypeVar("Taken")

if TYPE_CHECKING:
    from cer_gpu.engine.answers.groups import AnswerFold
    from cer_gpu.engine.answers.room import Room


class Stream:
    """Takes batches, and gives the matches that end in each; made by `Query.stream`.

    Some matches are decided only by the end of the stream (those of NOT FOLLOWED BY); `close` returns
    them. A `with` block closes the stream at its end too, but drops what `close` returns: call `close` inside
    the block if you need it.

    Parameters
    ----------
    bind : callable
        Checks and plans the query for a batch.
    about : dict
        What identifies the stream: the query, and the keywords by which events are read.
    state : bytes, optional
        From `snapshot`: the stream continues where that was called.
    options : Options, optional
        Those of the caller, who may let rows come late.

    Raises
    ------
    DataError
        For a state that is damaged, of another query, or stored by another version.
    """

    def __init__(
        self,
        bind: Callable[[Any], BoundQuery],
        about: dict[str, Any],
        state: bytes | None = None,
        options: Options | None = None,
    ) -> None:
        self._open = bind
        self._order = StreamOrder(options)
        self._about = about
        self._first: BoundQuery | None = None
        self._run: Any = None
        self._state: Any = None
        self._alike: AlikeBatches | AlikeTables | None = None
        self._pushed: BoundQuery | None = None
        """The query on the last batch."""
        self._closed = False
        self._broken: str | None = None
        """The kind of the error that closed the stream."""
        self._groups: pa.Table | None = None
        """For a rule with aggregates, the groups so far."""
        self._pushes = 0
        self._handed = False
        """Whether the first batch may have other columns than the state, beside those that are read."""
        self._hits = 0
        """At how many events matches have ended."""
        if state is not None:
            self._resume(from_bytes(state))

    def push(self, batch: Any) -> Matches:
        """Run the query over the next events.

        Parameters
        ----------
        batch : object
            Anything that `Query.run` takes, with the same columns and types as the batches before it.

        Returns
        -------
        Matches
            The matches that end in this batch. Positions count from the first event of the first
            batch. When `push` returns, the batch has been read; the result may be read later. A match
            of a query with FOLLOWED BY comes from the push that decides it, which may be a later one than
            that with its last event.

        Raises
        ------
        DataError
            If an event is out of order or has no time, or the batch has other columns than the batches before
            it. Nothing of this batch has then been taken, and the stream goes on. Any other error closes the
            stream, since part of the batch has been read by then: for example a sum in the query that does
            not fit 64 bits. Also if the stream is closed.
        """
        self._refuse_closed()
        alike = self._alike
        if alike is not None and not alike.holds(batch):
            alike = None
        taken, found = (False, None) if alike is None else self._taking(self._singly, batch)
        if not taken:
            # An error in the batch as a whole is found here, and leaves the stream as it is.
            given = self._batches(batch) if alike is None or alike.batches is None else alike.batches(batch)
            batches = self._in_order(list(given))
            found = self._taking(self._found, self._run.relevant(batches, pushed=True))
        return self._ended(found)

    def advance(self, time: Any) -> Matches | None:
        """Say that no event before a time will come any more; what waits for this is decided.

        Parameters
        ----------
        time : str, datetime, number, ...
            As `until` of `Query.run`.

        Returns
        -------
        Matches or None
            The matches that end in rows that waited for later ones (`late`), and those of FOLLOWED BY
            and NOT FOLLOWED BY whose interval is over. None if nothing has been pushed yet.

        Raises
        ------
        DataError
            If the stream is closed. A later push of an earlier row is an error, too.
        ValueError
            When it is no time of the column of `order_by`.
        """
        self._refuse_closed()
        if self._first is None:
            self._order.wait_for(time)
            return None
        self._order.moment(time)  # what is no time leaves the stream as it is
        return self._ended(self._taking(self._advanced, time))

    def _advanced(self, time: Any) -> PushResult | None:
        run = self._run
        batches = self._order.advance(time)
        parts = list(run.relevant(batches, pushed=True))
        run.intake.advance(self._order.moment(time))
        return self._found(iter([*parts, *run.advanced(self._order.moment(time))]))

    def _refuse_closed(self) -> None:
        if self._closed:
            why = "" if self._broken is None else f" by an error in a batch ({self._broken})"
            raise DataError(
                f"the stream is closed{why}: start another with stream(), or continue from a snapshot() with "
                "stream(state=...)"
            )

    def _in_order(self, batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
        """The rows to read now, in order; the error of the first event that is not, and nothing is taken."""
        assert self._pushed is not None
        try:
            return self._order.put(self._pushed, batches, self._run.intake)
        except RowError as error:
            text = error.text.replace(
                HOW_TO_SORT,
                f"{NOT_USED}: sort each batch before you push it, and leave out events that are older than "
                "those before, or accept them with late=",
            )
            raise RowError(error.position, text, error.kind) from None

    def _ended(self, found: PushResult | None) -> Matches:
        """The matches of what was found."""
        run = self._run
        self._hits += 0 if found is None else len(found.ends)
        if run.form.folding is not None:
            return self._grouped(run.form.folding, found)

        kept = {*run.intake.payload, ROW}

        def produce(form: Form[Other], wanted: int | None, room: Room | None = None) -> Iterator[Other]:
            if found is not None:
                _refuse_further(form, kept)
                lister = run.lister.of(form, room)
                listed = lister.listed(found.events, found.ends, found.answers, wanted)
                yield from begun(None).over(listed)

        assert self._first is not None
        return self._first.matches_of(run, produce, RowOrigin(self._order.waits), notes=self._notes())

    def _notes(self) -> Notes:
        """What there is to say so far."""
        assert self._first is not None
        notes = self._first.notes.copy()
        self._order.say(notes)
        if keyless := self._run.intake.keyless:
            say_how_many_had_no_key(notes, self._run.query, keyless, aloud=False)
        return notes

    def _grouped(self, folding: AnswerFold, found: PushResult | None) -> Matches:
        """The groups that the answers of a push have changed, as they are now."""
        run = self._run
        listed: Iterator[Any] = iter(())
        if found is not None:
            lister = run.lister.of(folding.answers, None)
            listed = lister.listed(found.events, found.ends, found.answers, None)
        self._pushes += 1
        self._groups = folding.added(self._groups, listed, self._pushes)
        batches = list(folding.shown(self._groups, self._pushes))

        def produce(form: Form[Other], wanted: int | None, room: Room | None = None) -> Iterator[Other]:
            yield from cast("list[Other]", batches)

        assert self._first is not None
        return self._first.matches_of(run, produce, notes=self._notes(), form=run.form.settled())

    def _found(self, relevant: Iterator[EventArrays], rows: int | None = None) -> PushResult | None:
        """What ends at some events, of so many rows; None: of many."""
        with shown_together():
            new = [part for part in relevant if len(part)]
            if new and self._run.query.limit != 0:
                found: PushResult | None = self._state.push(joined(new))
                return found
            self._state.relieve(rows)
            return None

    def _singly(self, given: Any) -> tuple[bool, PushResult | None]:
        """Whether the given events are a single one that is read by its values, and what ends at it."""
        assert self._alike is not None
        single = self._alike.singly(given)
        if single is False:
            return False, None
        run = self._run
        if run.outlooks is not None:
            event = single.event if isinstance(single, SingleEvent) else NO_EVENTS
            return True, self._found(run.known(event), 1)
        if isinstance(single, SingleEvent) and run.query.limit != 0:
            event = run.runner.read(single.event)
            if len(event):
                return True, self._state.push(event, single.row)
        self._state.relieve(1)
        return True, None

    def _taking(self, take: Callable[[Given], Taken], given: Given) -> Taken:
        """Take events in; an error closes the stream."""
        try:
            with within_memory("running a batch of the stream"):
                return take(given)
        except BaseException as error:
            # Part of the batch has been read: later answers could not be exact.
            self._end()
            self._broken = type(error).__name__
            raise

    def _batches(self, given: Any) -> Iterator[pa.RecordBatch]:
        """The given events as record batches, with the columns of them that the run reads."""
        bound = self._open(given)
        if self._first is None:
            self._begin(bound)
        elif bound.arrow_schema != self._first.arrow_schema and self._handed:
            self._read_anew(bound)
        elif bound.arrow_schema != self._first.arrow_schema:
            raise DataError(
                "the batch has other columns than the batches before it: "
                f"{_difference(bound.arrow_schema, self._first.arrow_schema)}; where types are guessed, as "
                "in CSV files and where values are missing, pass them as column_types={'name': 'type'} in "
                "stream(), or cast the columns of each batch"
            )
        assert self._first is not None
        check_alike(bound.orders, self._first.orders, "the batch")
        self._handed = False
        keeps = isinstance(self._state, StreamState)
        self._pushed = bound
        if self._order.waits or self._about.get("nan_is_null"):
            pass  # rows are read together with those that wait, or their NaN become nulls
        elif isinstance(given, (pa.RecordBatch, pa.Table)):
            self._alike = AlikeBatches(given.schema, bound, self._run, keeps)
        elif keeps and isinstance(given, dict) and all(map(is_arrow, given.values())):
            self._alike = AlikeTables(given, bound, self._run)
        return bound.read(self._run)

    def _begin(self, bound: BoundQuery) -> None:
        """Set up the run of the stream."""
        run = bound.begin("run", pushed=True, more=self._order.read)
        self._order.begin(bound, run.intake)  # which refuses a wrong `late`, or a wrong time of `advance`
        self._first, self._run, self._state = bound, run, open_part_of(run)

    @property
    def metrics(self) -> StreamMetrics:
        """What the stream holds and has done so far; all zero before the first push."""
        if self._closed or self._first is None:
            return StreamMetrics()
        read, order = self._run.intake.rows, self._order
        return StreamMetrics(
            read if order.seen is None else order.seen,
            self._hits,
            order.waiting,
            order.late,
            self._run.intake.keyless,
            self._state.count,
            self._state.nbytes,
        )

    def snapshot(self) -> bytes:
        """Everything that the stream keeps, as bytes from which another process can continue the stream.

        Returns
        -------
        bytes
            Pass them to `Query.stream(..., state=...)` of the same query, with the same keywords and the
            same version of this package. They hold the events that later matches may still use, with the
            attributes that the query returns, and no code.

        Raises
        ------
        DataError
            If the stream is closed.
        """
        return self._stored(False)

    def hand_over(self) -> bytes:
        """As `snapshot`, for a stream of the same query that reads its rows in another way.

        Returns
        -------
        bytes
            The stream that continues may have another `late`, and its batches other columns that the query
            does not read. This stream must have been started with `late`, if only `late="0 s"`, and so must
            that one.

        Raises
        ------
        DataError
            If the stream is closed.
        ValueError
            If it was started without `late`.
        """
        if not self._order.waits:
            raise ArgumentError("hand_over() needs rows that wait: start the stream with late='0 s' or more")
        return self._stored(True)

    def _stored(self, handed: bool) -> bytes:
        """All that is kept; `handed`: for a stream that may read its rows in another way."""
        if self._closed:
            raise DataError("the stream is closed: take a snapshot() before close()")
        state: dict[str, Any] = {"order": self._order.state(), "handed": handed or self._handed}
        if self._first is not None:
            state |= self._kept()
        return to_bytes(StoredState(self._about, state))

    def _kept(self) -> dict[str, Any]:
        """What is kept once the columns are known."""
        assert self._first is not None
        run, schema = self._run, self._first.arrow_schema
        begin_intake(run.intake, schema)
        # First of all, events that are no longer open are dropped, and their keys with them.
        state = self._state.state()
        return {
            "schema": schema.empty_table(),
            "orders": {name: one.stored() for name, one in self._first.orders.items()},
            **run_state(run),
            "open": state,
            "groups": self._groups,
            "pushes": self._pushes,
            "hits": self._hits,
            "order": self._order.state(),
        }

    def _resume(self, stored: StoredState) -> None:
        """Continue from a stored state."""
        state = stored.state
        self._handed = state is not None and state["handed"]
        for what in dict.fromkeys([*self._about, *stored.about]):
            own = self._about.get(what)
            other = stored.about.get(what)
            if other != own and not (self._handed and what in OF_READING):
                raise OtherStreamError(what, other, own)
        if state is None:
            return
        if self._handed and not self._order.waits:
            raise ArgumentError("the state was handed over: continue it with late='0 s' or more")
        self._order.resume(state["order"])
        if "schema" in state:
            self._continue(self._open(NoRows.stored(state["schema"], state["orders"])), state)

    def _continue(self, bound: BoundQuery, state: dict[str, Any]) -> None:
        """Continue from what `_kept` returned, with batches that have the columns of a bound query."""
        self._begin(bound)
        self._order.resume(state["order"])
        assert self._first is not None
        resume_run(self._run, state, self._first.arrow_schema)
        self._state.resume(state["open"])
        self._groups, self._pushes, self._hits = state["groups"], state["pushes"], state["hits"]

    def _read_anew(self, bound: BoundQuery) -> None:
        """Continue a state that was handed over, with batches that have other columns beside those read."""
        assert self._first is not None
        before, now = self._first.arrow_schema, bound.arrow_schema
        read = [name for name in bound.columns(self._run.intake.payload) if name != ROW]
        fields = [before.field(name) for name in read]
        if any(field.name not in now.names or now.field(field.name).type != field.type for field in fields):
            raise DataError(
                "the batch has other columns than those of the state that was handed over: "
                f"{_difference(now, pa.schema(fields))}; cast the columns of each batch"
            )
        self._continue(bound, unshared(self._kept()))

    def close(self) -> Matches | None:
        """End the stream and free what it holds.

        Returns
        -------
        Matches or None
            The matches that only the end of the stream decides: for `A NOT FOLLOWED BY B`, those A
            that no B has followed so far. None if nothing was pushed, or the stream was closed before.
        """
        try:
            return None if self._run is None else self._ended(self._taking(self._found, self._rest()))
        finally:
            self._end()

    def _rest(self) -> Iterator[EventArrays]:
        """The events that are held back, at the end of the stream."""
        yield from self._run.relevant(self._order.rest(), pushed=True)
        yield from self._run.rest()

    def _end(self) -> None:
        self._closed = True
        self._run = self._state = None

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def stream_over(bound: BoundQuery, source: Source, options: Options, state: bytes | None) -> Stream:
    """The stream of a query; it takes tables with columns of the source.

    Parameters
    ----------
    bound : BoundQuery
    source : Source
    options : Options
    state : bytes or None
        From `Stream.snapshot`, to go on.
    """
    there = options.stream_column in source.arrow_schema.names
    stream_column = options.stream_column if there else None

    def bind(given: pa.Table) -> BoundQuery:
        opened = open_source(
            given,
            order_by=options.order_by,
            type_column=options.type_column,
            stream_column=stream_column,
        )
        return bound.over(opened, 0)

    return Stream(bind, {}, state)


def _difference(found: pa.Schema, wanted: pa.Schema) -> str:
    for field in wanted:
        if field.name not in found.names:
            return f"`{field.name}` is missing"
        if found.field(field.name).type != field.type:
            return f"`{field.name}` is {found.field(field.name).type}, and was {field.type}"
    return f"`{next(name for name in found.names if name not in wanted.names)}` is new"


def _refuse_further(form: Form[Any], kept: set[str]) -> None:
    """Refuse a form that shows columns which a stream has not kept of its events."""
    if further := [name for name in form.payload if name not in kept]:
        raise DataError(
            "a stream keeps only the columns that SELECT asks for, and it does not ask for "
            f"{names_text(further)}: to keep all columns of the events that `a` marks write SELECT a[*]"
        )
