"""Outcomes that go on with new files: hits and events whose outcome is settled are not looked at again.

A value is *settled* once no later event can change it: an event of its partition has come after the end of
its time, or the events that it counts have. Of the other events the columns that outcomes read are kept, in
each partition from the first unsettled one on, with the last one before it that has a value. So are events at
which a query may fire that looks at what follows: a hit there may be decided later than its outcome. What
only the end of the events decides is told, and not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.api import Query
from cer_gpu.backtesting.outcomes.expression import AskedOutcome
from cer_gpu.backtesting.outcomes.summary import summary
from cer_gpu.backtesting.outcomes.table import OutcomeQuery, Outcomes, ends_query, samples_of, values_query
from cer_gpu.backtesting.outcomes.time_blocks import BaseSums, BlockSums, TimeSpan, block_sums, joined
from cer_gpu.backtesting.outcomes.values import OutcomeValues, aggregates_of, of_complex_events
from cer_gpu.engine.answers.future_values import EventColumns
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound_query import BATCH, BoundQuery
from cer_gpu.engine.run.chunks import CHUNK
from cer_gpu.engine.run.options import Options
from cer_gpu.engine.run.separate_run import SeparateRun
from cer_gpu.engine.run.snapshot import unshared
from cer_gpu.engine.run.stream import Stream, stream_over
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.progress import begun

VALUE, LATE = "value {}", "late"
"""The columns of the outcomes of hits that are settled, beside those of the hits."""

BoundTo = Callable[[Query, Mapping[str, Any]], BoundQuery]


def kept_outcomes(
    made: Outcomes,
    wanted: Sequence[AskedOutcome],
    firing: Sequence[OutcomeQuery],
    bound_to: BoundTo,
    source: Source,
    options: Options,
) -> KeptOutcomes | None:
    """What goes on with new files; None where a query runs on a device, or the end of a pattern that outcomes
    look for may be decided later.
    """
    ends = {
        (partition, pattern): bound_to(ends_query(partition, pattern, source.has_type_column), {})
        for partition in dict.fromkeys(one.partition for one in firing)
        for pattern in dict.fromkeys(pattern for one in wanted for pattern in one.patterns)
    }
    every = [*(one.compiled for one in firing), *ends.values()]
    if any(one.place.numbers for one in every) or any(one.compiled.looks_ahead for one in ends.values()):
        return None
    return KeptOutcomes(made, wanted, firing, ends, bound_to, source, options)


class NewFileColumns(NamedTuple):
    """What new files have: the columns of the outcomes, new ends of patterns, and new hits of queries.

    Attributes
    ----------
    events : Table
    ends : dict of (partition, pattern) to ndarray
        Positions.
    hits : list of Table
    matches : list of Table
        What outcomes read of the matches at the hits.
    waiting : list of ndarray
        Of each query the positions at which it may fire, which later events decide.
    last : list of Table
        The hits among these if no later events come.
    last_matches : list of Table
    """

    events: pa.Table
    ends: dict[tuple[Any, str], np.ndarray]
    hits: list[pa.Table]
    matches: list[pa.Table]
    waiting: list[np.ndarray]
    last: list[pa.Table]
    last_matches: list[pa.Table]


class KeptOutcomes:
    """Works out outcomes file by file.

    Parameters
    ----------
    made : Outcomes
        Gets the summaries and the hits.
    wanted : sequence of AskedOutcome
    firing : sequence of Firing
    ends : dict of (partition, pattern) to BoundQuery
        The patterns that outcomes look for.
    bound_to : callable
        As for `Outcomes`.
    source : Source
        All files.
    options : Options
    """

    def __init__(
        self,
        made: Outcomes,
        wanted: Sequence[AskedOutcome],
        firing: Sequence[OutcomeQuery],
        ends: Mapping[tuple[Any, str], BoundQuery],
        bound_to: BoundTo,
        source: Source,
        options: Options,
    ) -> None:
        self._made, self._wanted, self._firing = made, wanted, firing
        self._source, self._options = source, options
        self._partitions = list(dict.fromkeys(one.partition for one in firing))
        self._names = list(dict.fromkeys([*source.order_by[:1], *made.read_of(self._partitions)]))
        self._aggregates = aggregates_of(wanted)
        self._hits = [SeparateRun(one.compiled, CHUNK, True, "hits") for one in firing]
        self._ends = {key: SeparateRun(one, CHUNK, True, "hits") for key, one in ends.items()}
        self._bound = [self._values_of(one, bound_to) for one in firing] if self._aggregates else []

    def _values_of(self, firing: OutcomeQuery, bound_to: BoundTo) -> BoundQuery:
        """The query for what outcomes read of the match at each hit."""
        query = values_query(firing.name, firing.tree, self._aggregates)
        given = {name: value for name, value in firing.values.items() if name in query.parameters}
        return bound_to(query, given)

    def tables(self, state: dict[str, Any] | None, files: int) -> tuple[list[pa.Table], dict[str, Any]]:
        """The summary, the values at each hit, if they are kept, and the state; see `GoOn`."""
        streams = [self._stream(place, state) for place in range(len(self._bound))]
        if state is not None:
            for run, own in zip(self._hits, state["firing"], strict=True):
                run.restore(own["run"])
            for run, own in zip(self._ends.values(), state["ends"], strict=True):
                run.restore(own["run"])
        new, runs = self._read(files, streams)
        told = self._told(state, new)
        for own, kept in zip(told["firing"], runs, strict=True):
            own |= kept
        for own, run in zip(told["ends"], self._ends.values(), strict=True):
            own["run"] = run.state()
        hits = self._made.hits()
        return [self._made.summaries(), *([] if hits is None else [hits])], told

    def _stream(self, place: int, state: dict[str, Any] | None) -> Stream:
        before = None if state is None else state["firing"][place]["stream"].tobytes()
        return stream_over(self._bound[place], self._source, self._options, before)

    def _read(self, files: int, streams: Sequence[Stream]) -> tuple[NewFileColumns, list[dict[str, Any]]]:
        """Read the files behind the first ones; also gives the state of each query after them."""
        runs = [*self._hits, *self._ends.values()]
        names = [*self._names, *(name for run in runs for name in run.columns)]
        for bound in self._bound:
            names += bound.columns(bound.begin("run").intake.payload)
        names = list(dict.fromkeys(names))
        found: list[list[pa.Table]] = [[run.nothing()] for run in runs]
        schema = pa.schema([self._source.arrow_schema.field(name) for name in self._names])
        events = [schema.empty_table()]
        matches: list[list[pa.Table]] = [[] for _ in streams]
        progress = begun(None)

        def batches() -> Iterable[pa.RecordBatch]:
            for part in self._source.parts()[files:]:
                yield from progress.watch(part.batches(names, BATCH, set()))

        for batch in progress.over(iter(batches())):
            events.append(pa.Table.from_batches([batch.select(self._names)]))
            for run, own in zip(runs, found):
                own += run.read(batch)
            for stream, listed in zip(streams, matches):
                listed.append(stream.push(pa.Table.from_batches([batch])).to_arrow())
        nothing = pa.schema([self._source.arrow_schema.field(name) for name in names]).empty_table()
        for stream, listed in zip(streams, matches):
            listed.append(stream.push(nothing).to_arrow())
        for run, own in zip(runs, found):
            own += run.settle()
        whole = [pa.concat_tables(own) for own in found]
        count = len(self._hits)
        ends = [own.column("position").to_numpy() for own in whole[count:]]
        states: list[dict[str, Any]] = []
        waiting, last, closed = [], [], []
        for place, run in enumerate(self._hits):
            waiting.append(run.waiting())
            # At the end of the events the run changes what it holds, which is not to be kept.
            states.append({"run": unshared(run.state())})
            last.append(pa.concat_tables([run.nothing(), *run.rest()]))
            if streams:
                states[-1]["stream"] = np.frombuffer(streams[place].snapshot(), np.uint8)
                rest = streams[place].close()
                closed.append(matches[place][0].slice(0, 0) if rest is None else rest.to_arrow())
        new = NewFileColumns(
            pa.concat_tables(events, promote_options="permissive"),
            dict(zip(self._ends, ends)),
            whole[:count],
            [pa.concat_tables(own, promote_options="permissive") for own in matches],
            waiting,
            last,
            closed,
        )
        return new, states

    def _told(self, state: dict[str, Any] | None, new: NewFileColumns) -> dict[str, Any]:
        """Work out what is not settled yet, and give what is kept of it."""
        rows, events, ends = 0, new.events, new.ends
        places = np.arange(len(events))
        done = [np.zeros(len(events), bool) for _ in self._partitions]
        if state is not None:
            rows = state["rows"]
            places = np.append(state["places"], places + rows)
            events = pa.concat_tables([state["tail"], events], promote_options="permissive")
            done = [np.append(old, own) for old, own in zip(state["done"], done, strict=True)]
            before = [own["at"] for own in state["ends"]]
            ends = {key: np.append(old, own) for old, (key, own) in zip(before, ends.items(), strict=True)}

        def ends_of(partition: Any, pattern: str) -> np.ndarray:
            positions = ends[partition, pattern]
            at = np.searchsorted(places, positions)
            there = at < len(places)
            there[there] = places[at[there]] == positions[there]
            return at[there]

        columns = EventColumns.of(events, self._source.order_by, places)
        values = OutcomeValues(columns, self._options.order_unit, self._made.split, ends_of)
        settled = [self._settled(values, partition) for partition in self._partitions]
        base, spans = [], []
        for place, partition in enumerate(self._partitions):
            old, span = None, values.span_of(partition)
            if state is not None:
                old, span = state["base"][place], span.with_span(TimeSpan(*state["spans"][place]))
            spans.append(span)
            keys = columns.keys(partition)
            base.append(self._base(values, partition, keys, span, old, settled[place], done[place]))
        kept = []
        for place, firing in enumerate(self._firing):
            at = self._partitions.index(firing.partition)
            old = None if state is None else state["firing"][place]
            keys = columns.keys(firing.partition)
            kept.append(self._fired(firing, values, keys, places, settled[at], base[at], old, new, place))
        done = [one | own for one, own in zip(done, settled)]
        needed = np.zeros(len(places), bool)
        held = {look.column for one in self._wanted for look in one.looks.values() if look.kind == "after"}
        for partition, own in zip(self._partitions, done):
            waiting = [
                positions
                for firing, positions in zip(self._firing, new.waiting, strict=True)
                if firing.partition == partition
            ]
            open_here = np.isin(places, np.concatenate([np.empty(0, np.int64), *waiting]))
            needed |= open_here | values.around_of(partition).kept(~own | open_here, held)
        which = np.flatnonzero(needed)
        return {
            "rows": rows + len(new.events),
            "tail": events.take(pa.array(which)),
            "places": places[which],
            "done": [own[which] for own in done],
            "base": [
                [[{"level": one[0].level, "table": one[0].table} for one in own] for own in each]
                for each in base
            ],
            "spans": [list(span) for span in spans],
            "firing": kept,
            "ends": [{"at": own[np.isin(own, places[which])]} for own in ends.values()],
        }

    def _settled(self, values: OutcomeValues, partition: Any) -> np.ndarray:
        """At which events all outcomes are settled."""
        around = values.around_of(partition)
        looks = dict.fromkeys(look for one in self._wanted for look in one.looks.values())
        found: np.ndarray = np.logical_and.reduce(
            [np.ones(len(around.placed), bool), *map(around.settled, looks)]
        )
        return found

    def _base(
        self,
        values: OutcomeValues,
        partition: Any,
        keys: Sequence[pa.ChunkedArray],
        span: TimeSpan,
        before: Any,
        settled: np.ndarray,
        done: np.ndarray,
    ) -> list[list[tuple[KeyedSums, KeyedSums]]]:
        """For each outcome and sample the sums of the settled events, and those of all events."""
        lanes, found = values.around_of(partition).lanes, []
        for place, one in enumerate(self._wanted):
            own = []
            for number, (_, inside) in enumerate(samples_of(values.late)):
                mask = np.zeros(len(lanes), bool)
                mask[inside] = True
                fresh, rest = (
                    KeyedSums.of(values.base_of(one, partition, mask & which & ~done), lanes, keys)
                    for which in (settled, ~settled)
                )
                if before is not None:
                    fresh = KeyedSums(**before[place][number]).with_base(fresh, span.level)
                own.append((fresh, fresh.with_base(rest, span.level)))
            found.append(own)
        return found

    def _fired(
        self,
        firing: OutcomeQuery,
        values: OutcomeValues,
        keys: Sequence[pa.ChunkedArray],
        places: np.ndarray,
        settled: np.ndarray,
        base: list[list[tuple[KeyedSums, KeyedSums]]],
        before: Any,
        new: NewFileColumns,
        number: int,
    ) -> dict[str, Any]:
        """Tell the outcomes of a query, by its number, and give what is kept of it."""
        hits, last = new.hits[number], new.last[number]
        read: dict[Any, np.ndarray] = {}
        if new.matches:
            read = self._read_of(new.matches[number], hits)
        elif self._aggregates:
            read = {node: np.empty(0) for node in self._aggregates}
        if before is not None:
            hits = pa.concat_tables([before["hits"], hits], promote_options="permissive")
            read = {node: np.append(old, own) for old, (node, own) in zip(before["read"], read.items())}
        decided = np.arange(len(hits) + len(last)) < len(hits)
        if len(last):
            ended = self._read_of(new.last_matches[number], last) if self._aggregates else {}
            hits = pa.concat_tables([hits, last], promote_options="permissive")
            read = {node: np.append(own, ended[node]) for node, own in read.items()}
        at = np.searchsorted(places, hits.column("position").to_numpy())
        found = [values.at_hits(one, firing.partition, at, read) for one in self._wanted]
        now, late = hits, values.late
        for place, own in enumerate(found):
            now = now.append_column(VALUE.format(place), pa.array(own))
        for place, key in enumerate(keys):
            now = now.append_column(KEY.format(place), key.take(pa.array(at)))
        now = now.append_column(MOMENT, pa.array(values.moments[at]))
        if late is not None:
            now = now.append_column(LATE, pa.array(late[at]))
        sure = settled[at] & decided
        past = now.filter(pa.array(sure))
        if before is not None:
            past = pa.concat_tables([before["past"], past], promote_options="permissive")
        whole = pa.concat_tables([past, now.filter(pa.array(~sure))], promote_options="permissive")
        whole = whole.sort_by("position")
        lateness = None if late is None else whole.column(LATE).to_numpy()
        every = {
            one.name: whole.column(VALUE.format(place)).to_numpy() for place, one in enumerate(self._wanted)
        }
        for place, one in enumerate(self._wanted):
            for (sample, inside), (_, of_all) in zip(samples_of(lateness), base[place], strict=True):
                own, taken = every[one.name][inside], whole
                if not isinstance(inside, slice):
                    taken = whole.filter(pa.array(inside))
                self._made.say(firing, one.name, sample, summary(own), of_all.sums(taken, own))
        self._made.keep(firing, whole.select(hits.schema.names), every)
        open_here = ~settled[at] & decided
        kept = [own[open_here] for own in read.values()]
        return {"hits": hits.filter(pa.array(open_here)), "read": kept, "past": past}

    def _read_of(self, matches: pa.Table, hits: pa.Table) -> dict[Any, np.ndarray]:
        """What outcomes read of the matches at some hits."""
        return of_complex_events(matches, self._aggregates, hits.column("position").to_numpy())


KEY, MOMENT, BLOCK, SUM = "key {}", "moment", "block", "sum {}"
"""The columns of keys, of when hits happened, and of the sums of a key and block."""


@dataclass(frozen=True, slots=True)
class KeyedSums:
    """The values of an outcome at events, summed up by key and block: `BaseSums` as a table.

    Attributes
    ----------
    level : int
    table : pyarrow.Table
        One row for each key and block.
    """

    level: int
    table: pa.Table

    @classmethod
    def of(cls, base: BaseSums, lanes: np.ndarray, keys: Sequence[pa.ChunkedArray]) -> KeyedSums:
        """The sums of events, whose lanes and keys are given."""
        numbers, first = np.unique(lanes, return_index=True)
        at = pa.array(first[np.searchsorted(numbers, base.lane)])
        columns = {KEY.format(place): key.take(at) for place, key in enumerate(keys)}
        return cls(base.level, pa.table(columns | _columns(base)))

    def with_base(self, other: KeyedSums, level: int) -> KeyedSums:
        """The sums of the events of both, by blocks of a level that neither exceeds."""
        whole = pa.concat_tables([self.table, other.table], promote_options="permissive")
        lanes, many = _lanes(whole), len(self.table)
        both = self._sums(self.table, lanes[:many]), other._sums(other.table, lanes[many:])
        added = joined(*both, level)
        return KeyedSums.of(added, lanes, [whole.column(name) for name in _keys(whole)])

    def sums(self, hits: pa.Table, values: np.ndarray) -> BlockSums:
        """The sums of hits, given their table with keys and moments, and their values."""
        own = self.table.select([*_keys(self.table), BLOCK])
        # With a column in any case, as without keys a table has no length.
        placed = hits.select(_keys(hits)).append_column(BLOCK, pa.nulls(len(hits), pa.int64()))
        whole = pa.concat_tables([own, placed], promote_options="permissive")
        lanes, many = _lanes(whole), len(self.table)
        moments = hits.column(MOMENT).to_numpy()
        return block_sums(values, lanes[many:], moments, self._sums(self.table, lanes[:many]))

    def _sums(self, table: pa.Table, lanes: np.ndarray) -> BaseSums:
        names = [name for name in table.schema.names if name.startswith(SUM.format(""))]
        sums = np.stack([table.column(name).to_numpy() for name in names], axis=1)
        return BaseSums(self.level, lanes, table.column(BLOCK).to_numpy(), sums)


def _columns(base: BaseSums) -> dict[str, pa.Array]:
    sums = {SUM.format(place): pa.array(column) for place, column in enumerate(base.sums.T)}
    return {BLOCK: pa.array(base.block), **sums}


def _keys(table: pa.Table) -> list[str]:
    """The columns of keys."""
    return [name for name in table.schema.names if name.startswith(KEY.format(""))]


def _lanes(table: pa.Table) -> np.ndarray:
    """The numbers of the keys of a table."""
    return EventColumns.of(table, ()).lanes([[name] for name in _keys(table)])
