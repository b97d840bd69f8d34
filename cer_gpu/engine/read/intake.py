"""The reading side of a run: batches in, relevant events out, in the order of the stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.classify import Classifier
from cer_gpu.engine.read.early_reader import EarlyReader, ReadMark
from cer_gpu.engine.read.event_times import EventTimesBuilder
from cer_gpu.engine.read.events import NO_KEYS, NO_LANES, NO_SLOTS, EventArrays
from cer_gpu.engine.read.eviction import EventBuffer, Eviction
from cer_gpu.engine.read.join_keys import JoinKeys, columns_read
from cer_gpu.engine.read.keys import Keys
from cer_gpu.engine.read.lanes import LaneEncoder
from cer_gpu.engine.read.lookahead import SourceLookahead
from cer_gpu.engine.read.order import OrderCheck
from cer_gpu.engine.read.partitions import Partitions
from cer_gpu.engine.read.payload import Payload
from cer_gpu.engine.read.single_events import ReadingParts, SingleEvent, SingleEvents
from cer_gpu.engine.read.sources.columns import Values
from cer_gpu.engine.read.spill import AwayLanes
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import RowError
from cer_gpu.plan.compiled_query import CompiledQuery

if TYPE_CHECKING:
    from cer_gpu.engine.read.derived_columns import DerivedColumns
    from cer_gpu.engine.read.ordered_values import OrderedValues


class NotesBatches(Protocol):
    """Remembers something of each batch."""

    def note(self, batch: pa.RecordBatch, relevant: list[tuple[np.ndarray, np.ndarray]], before: int) -> None:
        """Remember the next batch, with its relevant events and how many rows come before it."""
        ...


class Intake:
    """Turns batches into relevant events, and carries what is needed from batch to batch.

    Parameters
    ----------
    query : CompiledQuery
    encoder : LaneEncoder or None
        The encoder of the keys of PARTITION BY; None for a query without partitions.
    units : dict of str to str
        The units of the time columns.
    order_by : tuple of str
    stream_column : str or None
    payload : tuple of str
        The columns to keep for the results.
    workers : Workers
    classifier : Classifier or None
        Finds relevant events elsewhere than on the CPU.
    foresight : Foresight or None
        For a source that can be read again; None: later rows are not known.
    memory : int or None
        Bytes that the run may take.
    grouped : bool
        Whether the rows of each partition come together.
    ordered : bool
        Whether the caller promised that the stream as a whole is in the order of time.
    until : int or float, optional
        A time after which there may be no row.
    """

    derived: DerivedColumns | None = None  # PREV and functions
    noted: NotesBatches | None = None  # what looks up times of ends

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
        foresight: SourceLookahead | None = None,
        memory: int | None = None,
        grouped: bool = False,
        ordered: bool = False,
        until: int | float | None = None,
    ) -> None:
        self._query = query
        self.classifier = classifier or Classifier(query.reading, units, workers)
        self._workers = workers
        self._order: OrderCheck | None = None
        if order_by:
            self._order = OrderCheck(order_by, bool(query.reading.partition), workers, ordered, until)
        self._foresight = foresight
        self._ordered = ordered
        self.order_by = order_by
        self.hopeless = False
        """Whether no row can be part of a match."""
        self.payload = payload
        self._payload = Payload(payload) if payload else None
        keys = query.reading.keys
        self._joins = JoinKeys(keys, units) if keys.columns or keys.values else None
        measured = {one for outlook in query.outlooks for one in outlook.measures}
        self.timed = query.keeps_times or "time" in query.traits.columns or "time" in measured
        """Whether the times of events are kept: the machine or an outlook measures them, or ends are reported
        with them or suppressed by them."""
        self._contiguous = "place" in query.traits.columns or "events" in measured
        counted = self._contiguous or (query.window is not None and query.window.kind == "events")
        # What is put on disk cannot be read once more with all rows before: then each row is looked at.
        again = foresight if memory is None else None
        self._partitions: Partitions | None = None
        streams = query.reading.streams
        if encoder is not None or streams:
            self._partitions = Partitions(encoder, streams, stream_column, counted, order_by, again)
            self._partitions.follows = not (ordered or (foresight is not None and foresight.ordered))
        self.laned = self._partitions is not None
        """Whether events belong to lanes: partitions, or the part of the stream that FROM names."""
        self.grouped = grouped and encoder is not None
        """Whether a partition is over where another begins."""
        self.away: AwayLanes | None = None
        """The partitions that memory has no room for; None if none is ever put on disk."""
        if self._partitions is not None and encoder is not None and again is None and not self.grouped:
            self.away = AwayLanes(encoder, self._partitions.times, self._joins, payload)
            self._partitions.away = self.away
        self._memory = memory
        self._holding: list[EventBuffer] = []
        self.keeps = self.laned or self._joins is not None
        """Whether there are lanes, compared values, derived columns or events that are held back."""
        self.rows = 0
        """How many events have been read."""
        self._ahead: EarlyReader | None = None
        # In a list, which is not stored with a stream: an array would be.
        self._numbers = [np.empty(0, np.int64)]
        self.keyless = self.of_others = 0
        """How many events that might matter had no key, and how many were left out by FROM."""

    @cached_property
    def forgetting(self) -> Eviction:
        """What forgets keys, or puts partitions on disk."""
        held, timed = self._holding, self._order is not None
        return Eviction(self._query, self._partitions, self._joins, timed, self.grouped, self._memory, held)

    @cached_property
    def _measuring(self) -> EventTimesBuilder:
        return EventTimesBuilder(self._query.window, self._workers)

    @property
    def _encoder(self) -> LaneEncoder | None:
        return None if self._partitions is None else self._partitions.encoder

    def hold(self, buffer: EventBuffer) -> None:
        """Note what holds back events that have been read, or lanes."""
        self._holding.append(buffer)
        self.keeps = True

    def without_payload(self) -> None:
        """Keep no columns for the results: these are made of positions, times and keys alone."""
        self.payload, self._payload = (), None

    def derive(self, derived: DerivedColumns | None, forgets: bool = True) -> None:
        """Compute PREV and functions by `derived`; `forgets`: whether keys of partitions may be forgotten."""
        self.derived = derived
        if derived is None:
            return
        self.keeps = True
        if not forgets and self._encoder is not None:
            derived.share(self._encoder)
        if type(self.classifier) is not Classifier:
            return
        from cer_gpu.engine.read.block_evaluation import (
            classified_alone,  # only a query with functions needs it
        )

        reading = self._query.reading
        others = [*self.payload, *self.order_by, *columns_read(reading.keys), *chain(*reading.partition)]
        if reading.window is not None and reading.window.attribute is not None:
            others.append(reading.window.attribute)
        derived.leave(classified_alone(reading, others), self.classifier.whole)
        self.classifier.completed = derived.completed

    @property
    def lane_count(self) -> int:
        """How many lanes there are so far: partitions, or keys that all events of an answer share."""
        if self._joins is not None and self._joins.has_lanes:
            return self._joins.lane_count
        return 1 if self._partitions is None else self._partitions.count

    @property
    def in_order(self) -> bool:
        """Whether all events read so far are in the order of time, whatever their lanes."""
        return self._order is None or self._order.in_order

    @property
    def values_in_order(self) -> OrderedValues | None:
        """Orders the values by which events are compared; None if no values are."""
        return None if self._joins is None else self._joins.values_in_order

    @property
    def nbytes(self) -> int:
        """Bytes of the keys of partitions, of what is known of each, and of events that are held back."""
        held = sum(holding.nbytes for holding in self._holding)
        before = 0 if self.derived is None else self.derived.nbytes
        return held + before + (0 if self._partitions is None else self._partitions.nbytes)

    @property
    def watermark(self) -> int | float | None:
        """A time that no later row is before; None if that is not known.

        Partitions are ordered one by one, so one says nothing of another. So the time is known only from the
        source (it is sorted or merged by time, or can be read ahead), or from a promise of the caller.
        """
        if self._order is None:
            return None
        mark = self._mark() if self._ahead is None else self._ahead.mark
        found, floor = self._seen_watermark(mark), mark.floor
        return found if floor is None else floor if found is None else max(floor, found)

    def _seen_watermark(self, mark: ReadMark) -> int | float | None:
        if self._encoder is None or self._ordered or mark.greatest is None:
            return mark.greatest
        if self._foresight is None:
            return None
        if self._foresight.ordered:
            return mark.greatest
        with nullcontext() if self._ahead is None or self._foresight.looked else self._ahead.reading:
            least = self._foresight.least_from(mark.rows)
        return mark.greatest if least is None else least

    def _mark(self) -> ReadMark:
        if self._order is None:
            return ReadMark(self.rows, None, None)
        return ReadMark(self.rows, self._order.greatest, self._order.floor)

    def advance(self, time: int | float) -> None:
        """Note that no row to come is before a time."""
        assert self._order is not None
        self._order.advance(time)

    @property
    def shows_time(self) -> bool:
        """Whether `watermark` costs nothing: no row is read for it."""
        ahead = self._foresight is not None and self._foresight.ordered
        return self._encoder is None or self._ordered or ahead

    @property
    def doubled(self) -> list[tuple[str, str]]:
        """Alternatives of parts of the key of which an event was seen to have both."""
        encoder = self._encoder
        return [] if encoder is None else [one.double for one in encoder.keys.parts if one.double is not None]

    @property
    def last_lane(self) -> int | None:
        """The partition of the last row that had one; None if there was none, or it is not known."""
        last = None if self._partitions is None else self._partitions.last
        return int(last[0]) if last is not None and len(last) else None

    def passed_in(self, lanes: np.ndarray, kind: str) -> np.ndarray | None:
        """For each of some lanes, what no later row of it is before; None if it is not known.

        Parameters
        ----------
        lanes : ndarray, shape (k,), int64
        kind : {"time", "events"}
            A time, or a place in the partition.
        """
        partitions = self._partitions
        if partitions is None:
            return None
        return partitions.rows_of(lanes) if kind == "events" else partitions.last_times(lanes)

    def least_measured(self, new: list[EventArrays]) -> int | float | None:
        """The least that the window may measure of later events and of `new`; None if it is not known."""
        window = self._query.window
        if window is None or window.kind == "attribute":
            return None
        events = window.kind == "events"
        for holding in self._holding:
            new = [*new, *holding.waiting()]
        least = [part.measured.min().item() for part in new if len(part)]
        if events:
            # They are counted in the whole stream; inside a partition only its own count.
            return None if self._query.reading.partition else min(least, default=None)
        mark = self.watermark
        return None if mark is None else min([mark, *least])

    def returned(self) -> list[EventArrays]:
        """As `Eviction.returned`."""
        return self.forgetting.returned()

    def put_away(
        self, kept: EventArrays | None, new: list[EventArrays], nbytes: int, excess: int
    ) -> np.ndarray | None:
        """Write the partitions that had no row for the longest time to disk; as `Eviction.put_away`."""
        if not self._read_no_further():
            return None
        return self.forgetting.put_away(kept, new, nbytes, excess)

    def forget(
        self, parts: list[EventArrays], pressed: bool = False, away: np.ndarray | None = None
    ) -> list[EventArrays]:
        """Forget the keys that no given event has; as `Eviction.forget`."""
        return self.forgetting.forget(self, parts, pressed, away)

    def forgets(self, events: int, pressed: bool = False) -> bool:
        """Whether there are keys to forget, if `events` events are kept or new."""
        return self.forgetting.forgets(self, events, pressed) and self._read_no_further()

    def _read_no_further(self) -> bool:
        """Read nothing ahead from now on; whether the caller knows all events that have been read."""
        return self._ahead is None or self._ahead.ends()

    @property
    def lane_keys(self) -> Keys | None:
        """The keys of the lanes so far, if these are partitions."""
        return None if self._encoder is None else self._encoder.keys

    def single_events(
        self, schema: pa.Schema, given: pa.Schema, known: Mapping[str, str]
    ) -> SingleEvents | None:
        """A reader of batches of one event, for `singly`; None if none can read them.

        Parameters
        ----------
        schema, given, known
            As for `SingleEvents`.
        """
        if type(self.classifier) is not Classifier or (self.derived is not None and known):
            return None
        self.begin(pa.RecordBatch.from_pylist([], schema=schema))
        if self.derived is not None:
            schema, given = (self.derived.schema_of(one) for one in (schema, given))
        parts = ReadingParts(self.classifier, self._order, self._partitions, self._joins, self._payload)
        found = SingleEvents(self._query, parts, self.order_by, self.payload, schema, given, known)
        return found if found.able else None

    def singly(self, reader: SingleEvents, batch: pa.RecordBatch) -> SingleEvent | bool:
        """Read a batch of one event; as `SingleEvents.read`."""
        if self.derived is not None:
            try:
                self.refuse([batch])
            except RowError:
                return False  # PREV notes no row that is refused
            (batch,) = self.derived.extended([batch])
        found = reader.read(batch, self.rows)
        if found is False and self.derived is not None:
            self.derived.again = batch
        self.rows += found is not False
        return found

    def refuse(self, batches: list[pa.RecordBatch]) -> None:
        """Raise the error of the first row of the next batches that is out of order; note nothing of them.

        Raises
        ------
        DataError
            If the data breaks the order of time.
        """
        if self._order is None:
            return
        with self._order.trial():
            timed = self._order.times(batch for batch in batches if len(batch))
            if self._partitions is not None and not self._order.in_order:
                self._partitions.refuse(timed, self.rows)
            self._order.refuse_missing()

    def begin(self, batch: pa.RecordBatch) -> None:
        """Prepare for batches like this one, which has no rows, as the first batch would."""
        (batch,) = self.extended([batch])
        if self._joins is not None:
            symbols = np.empty(0, self._query.reading.symbol_dtype)
            self._joins.slots(batch, np.empty(0, np.int64), symbols, 0)

    def extended(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches of the stream, with their derived columns."""
        return iter(batches) if self.derived is None else self.derived.extended(batches)

    def relevant(self, batches: Iterable[pa.RecordBatch]) -> Iterator[EventArrays]:
        """The relevant events of the next batches of the stream, each in one part or several.

        Raises
        ------
        DataError
            If the data breaks the order of time.
        """
        given = batches if self.derived is None else self.derived.extended(batches)
        for batch in self.classifier.ahead(given):
            if len(batch):
                yield from self.classified(batch, None if self._order is None else self._order.time(batch))

    def ahead(self, batches: Iterable[pa.RecordBatch]) -> Iterator[EventArrays]:
        """As `relevant`; another thread reads the next part while the caller uses one.

        `watermark` is that of the part which the caller has, and no key is forgotten while a further part has
        been read. All else that is known of the stream is ahead: `rows`, `lane_count`, `passed_in`.
        """
        self._ahead = EarlyReader(self.relevant(batches), self._mark)
        return self._ahead.read(self._workers)

    def time(self, batch: pa.RecordBatch) -> Values | None:
        """The time column of the next batch; None if there is none.

        Raises
        ------
        DataError
            If the data breaks the order of time.
        """
        return None if self._order is None else self._order.time(batch)

    def skip(self, rows: int) -> None:
        """Leave out rows whose order was checked elsewhere: those between two that `time` was given."""
        if self._order is not None:
            self._order.skip(rows)

    def classified(self, batch: pa.RecordBatch, time: Values | None) -> Iterator[EventArrays]:
        """The relevant events of the next batch, whose order has been checked, in one part or several.

        Parameters
        ----------
        batch : RecordBatch
        time : Values or None
            The times of its rows.
        """
        if self.hopeless:
            self.classifier.look(batch)
            self.rows += len(batch)
            return
        window = self._query.window
        beside = self.laned or self._contiguous or self._joins is not None or self.timed
        if beside or self.payload or (window is not None and window.kind != "events"):
            yield self._read(batch, time)
            return
        before = self.rows
        for rows, blocks in self.classifier.in_groups(batch, before):
            if self.noted is not None:
                self.noted.note(batch.slice(self.rows - before, rows), blocks, self.rows)
            self.rows += rows
            for positions, symbols in blocks:
                yield EventArrays(symbols, positions)

    def _read(self, batch: pa.RecordBatch, time: Values | None) -> EventArrays:
        """The relevant events of the next batch, with what else is read of them."""
        blocks = self.classifier.relevant(batch, self.rows)
        if self.noted is not None:
            self.noted.note(batch, blocks, self.rows)
        positions, symbols = blocks[0]
        if len(blocks) > 1:
            positions = np.concatenate([positions for positions, _ in blocks])
            symbols = np.concatenate([symbols for _, symbols in blocks])
        rows = positions - self.rows if len(positions) < len(batch) else self._every(len(batch))
        lanes, ordinals = NO_LANES, NO_KEYS
        if self._partitions is not None:
            own, ordinals = self._partitions.laned(batch, rows, time, self.in_order, self.rows)
            lanes = own
            if self._order is not None:
                self._order.refuse_missing()
        slots = NO_SLOTS
        if self._joins is not None:
            slots = self._joins.slots(batch, rows, symbols, self.rows)
            lanes = self._joins.lanes(slots, symbols, lanes)
        if len(lanes) and not (lanes >= 0).all():
            if self._partitions is not None:
                counts = symbols != self._query.reading.idle
                others = self._partitions.outside(rows[counts])
                self.of_others += others
                self.keyless += int(np.count_nonzero(own[counts] < 0)) - others
            inside = lanes >= 0
            positions, rows, symbols, lanes = positions[inside], rows[inside], symbols[inside], lanes[inside]
            ordinals = ordinals[inside] if len(ordinals) else ordinals
            slots = slots[:, inside] if len(slots) else slots
        places = ordinals if self.laned else NO_KEYS
        keys, keyed = self._measuring.keys(batch, rows, places, time, self.rows)
        places = NO_KEYS
        if self._contiguous:
            places = ordinals if self.laned else positions
        payload = None if self._payload is None else self._payload.of(batch, rows)
        times = self._measuring.times(rows, keys, time) if self.timed else NO_KEYS
        self.rows += len(batch)
        return EventArrays(
            symbols, positions, lanes, keys, keyed, places, slots, payload, self.lane_keys, times
        )

    def _every(self, count: int) -> np.ndarray:
        """The numbers of all rows of a batch, which are not to be written."""
        if len(self._numbers[0]) < count:
            self._numbers[0] = np.arange(count)
        return self._numbers[0][:count]
