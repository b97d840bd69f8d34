"""A compiled query on one source: the complex events, `count`, `counts` and `hits`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar

import pyarrow as pa

from cer_gpu.caller_warnings import caller_line
from cer_gpu.compiling.loader import words
from cer_gpu.engine.answers.answer_reader import KEPT, ResultProducer, RunAccount, stopped
from cer_gpu.engine.answers.batches import Form, Lister
from cer_gpu.engine.answers.display import rendered
from cer_gpu.engine.answers.form import ResultForm
from cer_gpu.engine.answers.matches import Matches
from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.answers.results import answer_forms
from cer_gpu.engine.answers.row_origin import IN_ORDER, RowOrigin
from cer_gpu.engine.devices import tried
from cer_gpu.engine.machines.machine import runner_of
from cer_gpu.engine.machines.reported_ends import Asked, ReportedEnds, RunKind, reported, sum_exactly
from cer_gpu.engine.memory import within_memory
from cer_gpu.engine.read.intake import Intake
from cer_gpu.engine.read.lanes import LaneEncoder
from cer_gpu.engine.read.sources.caller_times import moment_in, turned_moment
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.chunks import CHUNK, Chunker
from cer_gpu.engine.run.device_choice import Place, left_device, place_of
from cer_gpu.engine.run.device_estimate import BATCH
from cer_gpu.engine.run.device_parts import DeviceParts, device_parts
from cer_gpu.engine.run.needed_columns import foresight_of, lacks_a_type, needed_columns
from cer_gpu.engine.run.options import Options
from cer_gpu.engine.run.portable_query import PortableQuery
from cer_gpu.engine.run.result_columns import ResultColumns, result_columns
from cer_gpu.engine.run.retry import going_on, in_its_place
from cer_gpu.engine.run.run_notes import LARGE, said_as_large, say_how_many_were_late, say_what_was_read
from cer_gpu.engine.run.run_parts import Run, keep_state
from cer_gpu.engine.run.value_watch import ValueWatch
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import FarDecimalError, RowError
from cer_gpu.language.sought_values import SoughtValue
from cer_gpu.plan.compiled_query import CompiledQuery, Product
from cer_gpu.progress import Watch, begun, is_shown

if TYPE_CHECKING:
    from cer_gpu.engine.answers.room import Room
    from cer_gpu.engine.machines.outlooks import Outlooks
    from cer_gpu.engine.read.derived_columns import DerivedColumns

Result = TypeVar("Result")

CARRIED_BATCH = 1 << 19
"""The same if events are run in the order of the stream: what is made of them stays in the cache."""

LEAST_BATCH = 1024
"""The least number of rows that are read at a time, however little memory is allowed."""

BYTES_OF_EVENT = 64
"""About how many bytes an event takes while it is classified."""


class BoundQuery:
    """A query on a source.

    Parameters
    ----------
    query : CompiledQuery
    source : Source
    units : dict of str to str
        The units of the source's time columns, at least of those that the query reads.
    options : Options
    workers : Workers
    halo : int, optional
        How many first events are read without reporting what ends among them: all the earlier events that a
        later complex event may contain. Only for a window, where nothing is consumed or watches a prefix.
    stop : int, optional
        Events from this position on are read only to find what follows others: none that ends is reported.
    part : bool, optional
        Whether the stream has other events elsewhere: a type that does not occur here is no surprise.
    grouped : bool, optional
        Whether the rows of each partition are neighbours, so that a partition is over where another begins.
    lists : bool, optional
        Whether matches are listed.

    Attributes
    ----------
    compiled : CompiledQuery
        The query, planned for its source.
    partition : tuple of tuple of str
        PARTITION BY.
    units : dict of str to str
        The same, derived columns included.
    arrow_schema, orders, type_column
        As for the source.
    """

    def __init__(
        self,
        query: CompiledQuery,
        source: Source,
        units: dict[str, str],
        options: Options,
        workers: Workers,
        halo: int = 0,
        part: bool = False,
        grouped: bool = False,
        stop: int | None = None,
        lists: bool = False,
    ) -> None:
        self.compiled, self._source = query, source
        self.arrow_schema, self.orders = source.arrow_schema, source.orders
        self.partition, self.type_column = query.reading.partition, options.type_column
        made = {one.name: one.measure.unit for one in query.reading.derived if one.measure.unit}
        self.units = units | made
        self._options = options
        self._workers = workers
        self.halo = halo
        self.stop = stop
        self._part = part
        self.grouped = grouped
        self.placed = partial(place_of, options.device, query, source.rows, source.device)
        self.place: Place = self.placed(lists=lists)
        """Where the query runs, and why there; `placed(members=7)`: where it would, as one of so many."""
        self.notes = Notes(aloud=not part)
        """The notes of its runs."""
        self.until: int | float | None = None
        """The time up to which the events are known, in the unit of the data; None if that is not said."""
        if (moment := options.until) is not None:
            moment = moment_in("until", moment, source.arrow_schema, options.order_by)
            self.until = turned_moment(moment, source.arrow_schema, options.order_by)
        self._moment = moment
        self.instead: Callable[[FarDecimalError], BoundQuery] | None = None
        """Makes the query that answers in its place, if numbers do not fit 64 bits."""
        self.value_watch: ValueWatch | None = None
        """Notes values whose answer may surprise."""
        self.sought: tuple[SoughtValue, ...] = ()
        """The texts of which it is noted that no event has them."""

    def over(self, source: Source, halo: int) -> BoundQuery:
        """The same query over other events of these columns; `halo` as for the class."""
        return BoundQuery(self.compiled, source, self.units, self._options, self._workers, halo, part=True)

    def count(self) -> int:
        """How many complex events there are."""
        if self.compiled.hidden:
            return sum(len(batch) for batch in self.matches().batches())
        total, limit = 0, self._options.limit
        # Under LIMIT 1 there is one at each end, whatever they are.
        asked: Literal["hits", "count"] = "hits" if self.compiled.limit == 1 else "count"
        run = self.begin(asked)
        try:
            for part in self._watched(run, partial(self._ends, run, asked)):
                total += len(part.value) if asked == "hits" else sum_exactly(part.value)
                if limit is not None and total > limit:
                    self.notes.say(stopped(limit))
                    return limit
        except FarDecimalError as error:
            return in_its_place(self, error).count()
        return total if total < LARGE else said_as_large(self.notes, total)

    def counts(self) -> pa.Table:
        """How many complex events end at each position where any do."""
        if self.compiled.hidden:
            return self.counts_of(self.matches())
        return self._where("counts")

    def hits(self) -> pa.Table:
        """The positions where complex events end, and the latest start at each."""
        return self._where("hits")

    def _where(self, asked: Literal["hits", "counts"]) -> pa.Table:
        """Where complex events end, with what is asked of each end."""
        from cer_gpu.engine.answers.end_form import capped

        parts: list[ReportedEnds] = []
        left = self._options.limit
        run = self.begin(asked)
        try:
            for part in self._watched(run, partial(self._ends, run, asked)):
                total = sum_exactly(part.value) if asked == "counts" else len(part.position)
                if left is not None and total > left:
                    parts.append(capped(part, left) if asked == "counts" else part.some(left))
                    self.notes.say(stopped(self._options.limit or 0))
                    break
                parts.append(part)
                left = None if left is None else left - total
        except FarDecimalError as error:
            return in_its_place(self, error)._where(asked)
        assert run.ends is not None
        return rendered(run.ends.table(parts, run.ids))

    def _total(self) -> int:
        """How many complex events there are, by another run, whatever the limit of the caller."""
        run = self.begin("count")
        return sum(sum_exactly(part.value) for part in self._watched(run, partial(self._ends, run, "count")))

    def counts_of(self, matches: Matches) -> pa.Table:
        """How many of some complex events end at each position where any do."""
        run = self.begin("counts")
        assert run.ends is not None
        return rendered(run.ends.counted(matches.to_arrow(), run.form))

    def matches(self) -> Matches:
        """The complex events, lazily."""
        first = self.begin("run")
        begun = iter([first])  # for the first iteration; a further one begins its own

        def produce(form: Form[Result], wanted: int | None, room: Room | None = None) -> Iterator[Result]:
            run = next(begun, None) if form is first.form else None
            run = run or self.begin("run", more=form.payload)
            return self.listed(run, run.lister.of(form, room), wanted, room)

        source, made = self._source, produce if self.instead is None else going_on(self, produce)
        origin = RowOrigin(source.ordered, source.source_column, source.index)
        total = None if first.form is None or first.form.grouped else self.count
        return self.matches_of(first, made, origin, total=total)

    def listed(
        self, run: Run, lister: Lister[Result], wanted: int | None, room: Room | None
    ) -> Iterator[Result]:
        """The complex events of a run."""

        def found_in(watch: Watch) -> Iterator[Result]:
            if run.query.traits.state == "followed":
                from cer_gpu.engine.run.event_run import SOON, followed  # few queries need it

                at_once = None if wanted is None else SOON
                for found in followed(run, watch(self.read(run)), at_once):
                    yield from lister.listed(found.events, found.ends, found.answers, wanted)
                return
            for made in run.listed(lister, lambda: watch(self.read(run)), wanted):
                yield made
                if room is not None and self._source.rows and self._source.repeats and wanted is None:
                    room.project(run.intake.rows / self._source.rows, self._total)

        return self._watched(run, found_in)

    def matches_of(
        self,
        run: Run,
        produce: ResultProducer,
        origin: RowOrigin = IN_ORDER,
        notes: Notes | None = None,
        form: ResultForm | None = None,
        total: Callable[[], int] | None = None,
    ) -> Matches:
        """Lazy complex events in the form of a run's results.

        Parameters
        ----------
        run : Run
        produce : callable
            As for `Matches`.
        origin : RowOrigin, optional
            How positions tell rows of the data; by default they are the same.
        notes : Notes, optional
            The notes of these complex events; by default those of all runs.
        form : ResultForm, optional
            By default the form of the run.
        total : callable, optional
            Counts the complex events.
        """
        form, options = form or run.form, self._options
        keep = KEPT if options.memory is None else 0
        forms = answer_forms(form, self.arrow_schema, origin)
        ran = RunAccount(self.place.name, self.place.reason, self.notes if notes is None else notes)
        return Matches(forms, produce, ran, options.limit, self._source.rewindable, keep, total)

    @property
    def left_out(self) -> int:
        """How many rows were left out, since they came too late."""
        return self._source.left_out

    def portable(self) -> PortableQuery:
        """The query without its source, to be sent to another process."""
        columns = tuple(self.columns(self.begin("run").intake.payload))
        options = replace(self._options, until=self._moment)  # a text may mean another time elsewhere
        if options.stream_column not in columns:
            options = replace(options, stream_column=None)  # the query does not read it
        return PortableQuery(self.compiled, self.arrow_schema, self.units, options, columns)

    def begin(self, product: Product, pushed: bool = False, more: tuple[str, ...] = ()) -> Run:
        """Set up a run; nothing is read yet.

        Parameters
        ----------
        product : {"run", "count", "counts", "hits"}
            The answer that is wanted.
        pushed : bool
            Whether further events come after those of the source.
        more : tuple of str
            Columns that results are made of, besides those of the query's own form.
        """
        options, workers = self._options, self._workers
        there = self._on_devices(product, pushed) if self.place.numbers else None
        # What is kept is kept by lane where memory is bounded, and where partitions follow one another.
        by_lane = options.memory is not None or self.grouped or there is not None
        query = self.compiled.asked(product, pushed, not by_lane)
        words.purpose = RunKind(query, product)
        reading, data = query.reading, self.arrow_schema
        encoder = LaneEncoder(reading.partition, data) if reading.partition else None
        made = ResultColumns()
        if product != "count":
            made = result_columns(query, product, data, options, encoder, there is not None, more)
        payload = made.payload
        if "slots" not in query.traits.columns:
            payload = tuple(dict.fromkeys([*payload, *reading.compared]))
        carries = query.carries and product != "run" if there is None else there.carries
        intake = Intake(
            query,
            encoder,
            self.units,
            options.order_by,
            options.stream_column,
            payload,
            workers,
            None if there is None else there.classifier,
            foresight_of(self._source, reading, options) if encoder is not None and not pushed else None,
            options.memory,
            self.grouped,
            options.ordered,
            self.until,
        )
        if reading.derived:
            intake.derive(self.derived_columns(), forgets=not carries)
        intake.noted = None if made.ends is None else made.ends.times
        if there is None and not pushed and self._source.type_column in self._source.orders:
            intake.hopeless = lacks_a_type(reading, self._source)
        runner = runner_of(query, workers, carries) if there is None else there.runner
        if intake.keeps or query.suppress is not None or query.traits.state == "followed":
            keep_state(query, intake, runner, data)
        outlooks = None
        if query.outlooks:
            outlooks = self._outlooks(query, intake, pushed or product == "count", whole=not pushed)
            if made.ends is not None and made.ends.keeps_times:
                intake.timed = True
                outlooks.keep_times()
        chunker = Chunker(query, intake, runner, workers, carries, options.memory)
        chunker.in_order = query.in_order and not by_lane
        # What is compared by the order of texts has other numbers once more are read, and a source of unknown
        # length may have to be waited for.
        length, listed = self._source.rows, "window" in query.traits.order and product == "run"
        texts = getattr(getattr(runner, "inner", runner), "orders_texts", False)
        fixed = not (by_lane or length is None or texts)
        several = options.memory is not None or length is None or length > CHUNK
        early = several and query.kept_by_window and (listed or fixed)
        ahead = fixed and not pushed and query.traits.state != "followed"
        ahead = ahead and (outlooks is None or not outlooks.reads_lanes)
        rows = BATCH
        if chunker.carries_ungrouped or (chunker.in_order and (product == "run" or query.window is None)):
            rows = min(BATCH, CARRIED_BATCH)
        elif (early and there is None) or (outlooks is not None and outlooks.by_next):
            rows = min(BATCH, CHUNK)
        if options.memory is not None:
            # A quarter of the memory is for a batch and what is made of it, event by event.
            rows = max(LEAST_BATCH, min(rows, options.memory // (4 * BYTES_OF_EVENT)))
        return Run(
            query, workers, intake, runner, chunker, options.memory, rows, made.shown, made.ends, made.ids,
            outlooks, None if made.ends is None else made.ends.more, self.halo, self.stop, early,
            ahead and length is not None and length > rows,
        )  # fmt: skip

    def _on_devices(self, product: Product, pushed: bool) -> DeviceParts | None:
        """What devices do of a run; None where they have no memory for the query, so that the CPU runs it."""
        query, numbers = self.compiled.asked(product, pushed), self.place.numbers
        timed = query.window is not None and query.window.kind == "time"
        lies = timed and product != "run" and len(numbers) == 1 and self._resides(query)
        also = self._options.order_by[:1] if lies else ()
        found = device_parts(query, product, self.units, self._workers, numbers, also)
        if found is None:
            self.place = left_device(self.place, self._source.device, self.notes)
        return found

    def _outlooks(self, query: CompiledQuery, intake: Intake, at_once: bool, whole: bool) -> Outlooks:
        """What looks after and before events."""
        from cer_gpu.engine.machines.outlooks import Outlooks

        times = [self.arrow_schema.field(name).type for name in self._options.order_by[:1]]
        whole = whole and all(pa.types.is_integer(kind) or pa.types.is_temporal(kind) for kind in times)
        outlooks = Outlooks(query, intake, at_once, self._options.memory, self._workers, whole, self.until)
        intake.forgetting.follow(outlooks.states)
        intake.hold(outlooks)
        return outlooks

    def derived_columns(self) -> DerivedColumns | None:
        """What computes PREV and functions; None if the query has none."""
        reading = self.compiled.reading
        if not reading.derived:
            return None
        from cer_gpu.engine.read.derived_columns import DerivedColumns

        return DerivedColumns(
            reading, self.units, self.arrow_schema, self._options.stream_column, self._workers
        )

    def _resides(self, query: CompiledQuery) -> bool:
        """Whether one device finds the ends from the columns by itself, with no copy back in between."""
        if self.halo or self._options.event_id is not None or self.until is not None:
            return False
        from cer_gpu.engine.cuda.machines.resident_query import why_not

        return why_not(query) is None

    def read(self, run: Run) -> Iterator[pa.RecordBatch]:
        """The batches that a run reads, with the columns of the source that it needs."""
        needed = needed_columns(self.compiled.reading, self._options, run.intake.payload)
        batches = self._source.batches(needed.all, run.rows, needed.classified_alone)
        if self._options.memory is None and self._source.stored > run.rows:
            batches = self._workers.early(batches)
        if self.value_watch is None:
            return batches
        self.notes.line = caller_line()  # another thread may notice something
        return self.value_watch.over(batches, self.notes)

    def _ends(self, run: Run, asked: Asked, watch: Watch) -> Iterator[ReportedEnds]:
        """Where complex events end, chunk by chunk."""
        if len(self.place.numbers) == 1 and self._resides(run.query):
            from cer_gpu.engine.cuda.machines.resident_run import ResidentRun

            names = self.columns(())
            resident = tried(lambda: ResidentRun(run, names, self.place.numbers[0]))
            if resident is not None:
                lying = () if self.compiled.reading.derived else self._source.on_device
                return resident.ends(lying or run.intake.extended(self.read(run)), asked, watch)
        batches = watch(self.read(run))
        if run.query.traits.state == "followed":
            from cer_gpu.engine.run.event_run import followed, reported_in  # few queries need it

            parts = followed(run, batches)
            return (reported_in(found, asked, run.query.limit, run.more) for found in parts)
        chunks = run.chunks(batches)
        told = partial(reported, run.runner, asked=asked, limit=run.query.limit, more=run.more)
        if run.chunker.carries_ungrouped:
            return self._workers.behind("counting", told, chunks)
        return map(told, self._workers.early(chunks) if run.reads_early else chunks)

    def _watched(self, run: Run, use: Callable[[Watch], Iterator[Result]]) -> Iterator[Result]:
        """What `use` makes of the whole source, while a progress bar counts the batches that it watches."""
        try:
            with within_memory("running the query"):
                if is_shown():
                    progress = begun(self._source.rows)
                    yield from progress.over(use(progress.watch))
                else:
                    yield from use(iter)
        except RowError as error:
            raise self._source.named(error) from error
        self.say_read(run)

    def say_read(self, run: Run) -> None:
        """Note what a run has read, when it is over."""
        if not self._part:
            if self._options.late is not None:
                say_how_many_were_late(self.notes, self.left_out, self._options)
            say_what_was_read(self.notes, self.compiled, run.intake, self._options, sought=self.sought)

    def columns(self, payload: tuple[str, ...]) -> list[str]:
        """The columns of the data that the run reads."""
        return needed_columns(self.compiled.reading, self._options, payload).all
