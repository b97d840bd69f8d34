"""Several queries over one source in one pass: events are read, keyed and classified once for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import pyarrow as pa

from cer_gpu.compiling.loader import words
from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.machine import CarryingRunner, runner_of
from cer_gpu.engine.read.classify import Classifier
from cer_gpu.engine.read.events import EventArrays, relevant_of, state_of
from cer_gpu.engine.read.intake import Intake
from cer_gpu.engine.read.keys import Keys
from cer_gpu.engine.read.lanes import LaneEncoder
from cer_gpu.engine.read.shared_lanes import SharedLanes
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound_query import BoundQuery
from cer_gpu.engine.run.carried_team import CarriedRun
from cer_gpu.engine.run.chunks import CHUNK, Chunker
from cer_gpu.engine.run.components import (
    intake_state,
    resume_intake,
    resume_runner,
    runner_state,
)
from cer_gpu.engine.run.halo import Halo
from cer_gpu.engine.run.needed_columns import needed_columns
from cer_gpu.engine.run.options import Options
from cer_gpu.engine.run.run_notes import say_what_was_read
from cer_gpu.engine.run.team import LEAST_ABREAST, BunchMember, Team, device_teams_of, kind_there, teams_of
from cer_gpu.engine.run.team_run import AbreastRun, counted
from cer_gpu.engine.run.totals import CountedEnds, Totals
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.classify import cpu as kernels
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.plan.shared_reading import SharedReading, bunches

WAITING = 1 << 24
"""The most relevant events that wait for a chunk, of all queries together."""

PURPOSE = "backtest"
"""The purpose of a pass, which decides the kernels that it needs."""

LEAST_CHUNK = 1 << 12
"""The least number of new events of a chunk of one of many queries."""

Place: TypeAlias = tuple[Any, ...]


def shared_by(query: CompiledQuery) -> Place | None:
    """What queries must have in common to be read together; None for a query that is read by itself.

    A query is read by itself if its machine goes from event to event, looks at what follows or precedes,
    compares events by keys of its own, or has answers that differ only by their measures.
    """
    reading, window = query.reading, query.window
    if query.traits.state == "followed" or query.outlooks or query.hidden or reading.keys or reading.compared:
        return None
    measured = None if window is None else (window.kind, window.attribute)
    traits = query.traits
    return (
        reading.partition,
        reading.streams,
        reading.derived,
        measured,
        "place" in traits.columns,
        "time" in traits.columns,
    )


class Bunch:
    """Queries that are read together.

    Parameters
    ----------
    bound : sequence of BoundQuery
        Queries with the same `shared_by`, over one source.
    source : Source
    options : Options
    workers : Workers
    members : int
        How many queries all bunches of the pass have together.
    numbers : sequence of int
        The numbers of these queries in the pass, as `totals` uses them.
    totals : Totals
        Gets what they find.
    made : Together or None
        Their readings, merged to one.

    Attributes
    ----------
    columns : tuple of str
        The columns of the data that they read.
    """

    def __init__(
        self,
        bound: Sequence[BoundQuery],
        source: Source,
        options: Options,
        workers: Workers,
        members: int,
        numbers: Sequence[int],
        totals: Totals,
        made: SharedReading | None,
    ) -> None:
        words.purpose = PURPOSE
        asked = [one.compiled.asked("counts") for one in bound]
        reading = asked[0].reading if made is None else made.reading
        own = [np.empty(0, np.uint8)] if made is None else list(made.symbols)
        self._alone = made is None
        self._totals = totals
        self._inside = Halo(self._resume, bound[0].halo, bound[0].stop)
        self._first = replace(asked[0], reading=reading)
        self._workers = workers
        self._only_types = {one.reading.only_type for one in asked}
        self.encoder = LaneEncoder(reading.partition, source.arrow_schema) if reading.partition else None
        units = {name: unit for one in bound for name, unit in one.units.items()}
        self._intake = Intake(
            self._first,
            self.encoder,
            units,
            options.order_by,
            options.stream_column,
            (),
            workers,
            Classifier(reading, units, workers),
            grouped=bound[0].grouped,
            ordered=options.ordered,
            until=bound[0].until,
        )
        self._intake.derive(bound[0].derived_columns())
        window = reading.window
        # A window over time has the times already: `EventArrays.moments`.
        self._intake.timed = bool(options.order_by) and (window is None or window.kind != "time")
        least = least_chunk(members)
        found = [BunchMember(*one) for one in zip(numbers, asked, own, strict=True)]
        devices = bound[0].place.numbers
        teams: list[Team] = []
        self._members = found
        if devices:
            teams, self._members = device_teams_of(found), []  # see `abreast_there`
        elif made is not None:
            teams, self._members = teams_of(found)
        lanes = SharedLanes(self._intake)
        self._runs = [SharedRun(member.query, lanes, workers, least) for member in self._members]
        self._abreast: list[AbreastRun | CarriedRun] = []
        if windowed := [one for one in teams if not one.carried]:
            self._abreast.append(AbreastRun(windowed, lanes, workers, totals, devices))
        if carried := [one for one in teams if one.carried]:
            self._abreast.append(CarriedRun(carried, lanes, workers, totals, devices))
        windows = (one.window.attribute for one in asked if one.window is not None)
        read = needed_columns(reading, options, ()).all
        self.columns = tuple(dict.fromkeys([*read, *(name for name in windows if name is not None)]))
        self._schema = source.arrow_schema

    def read(self, batch: pa.RecordBatch) -> None:
        """Read the next batch of the stream, and add to the totals what ends there, some of it later."""
        for part in self._intake.relevant([batch.select(self.columns)]):
            self._go_on(self._inside(part))

    def _go_on(self, part: EventArrays | None) -> None:
        if part is None or not len(part):
            return
        self._each(partial(self._take, part))
        for run in self._abreast:
            run.add(part)

    def _resume(self, tail: EventArrays) -> None:
        """Go on after events that are not reported, but may be part of what is."""
        for member, run in zip(self._members, self._runs, strict=True):
            run.resume(self._read_by(member, tail))
        for together in self._abreast:
            together.resume(tail)

    def rest(self) -> None:
        """Add what ends at the events that are left; further events may follow."""
        self._each(lambda number: self._runs[number].rest())
        for run in self._abreast:
            run.rest()

    def state(self) -> dict[str, Any]:
        """All that is kept for later events, after `rest` was called, and what was found so far."""
        return {
            "intake": intake_state(self._intake),
            "runs": [run.state() for run in self._runs],
            "abreast": [run.state() for run in self._abreast],
            "totals": self._totals.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned, for the same queries over the same columns."""
        resume_intake(self._intake, state["intake"], self._schema)
        keys = self._intake.lane_keys
        for run, its in zip(self._runs, state["runs"], strict=True):
            run.restore(its, keys)
        for together, its in zip(self._abreast, state["abreast"], strict=True):
            together.restore(its, keys)
        self._totals.resume(state["totals"])

    def _each(self, function: Callable[[int], list[CountedEnds]]) -> None:
        found = self._workers.map("counting", function, range(len(self._members)))
        for member, parts in zip(self._members, found, strict=True):
            for ends in parts:
                self._totals.add(member.number, ends)

    def _take(self, part: EventArrays, number: int) -> list[CountedEnds]:
        return self._runs[number].add(self._read_by(self._members[number], part))

    def _read_by(self, member: BunchMember, part: EventArrays) -> EventArrays:
        """Events with the symbols of a member."""
        return part if self._alone else recoded(part, member.cells)

    def lane_keys_of(self, lanes: np.ndarray) -> list[pa.Array]:
        """For each part of the key, the column of the values of some lanes."""
        keys = self._intake.lane_keys
        return [] if keys is None else keys.columns(lanes)

    def say(self, notes: Notes, options: Options) -> None:
        """Note which types and streams no event had, and what was skipped."""
        say_what_was_read(notes, self._first, self._intake, options, self._only_types)


def _stored(held: EventArrays | None) -> dict[str, Any] | None:
    return None if held is None else state_of(held)


def recoded(part: EventArrays, table: np.ndarray) -> EventArrays:
    """The events to which a table gives a symbol other than 0, with these symbols."""
    kept, symbols = np.empty(len(part), np.int64), np.empty(len(part), table.dtype)
    count = kernels.compact(part.symbols, table, 0, kept, symbols)
    return replace(part.take(kept[:count]), symbols=symbols[:count].copy())


class SharedRun:
    """A query of a bunch: its chunks, and their runner.

    Parameters
    ----------
    query : CompiledQuery
    lanes : SharedLanes
    workers : Workers
    least : int
        The least number of new events of a chunk.
    """

    def __init__(self, query: CompiledQuery, lanes: SharedLanes, workers: Workers, least: int) -> None:
        self._limit = query.limit
        carries = query.carries
        self._runner = runner_of(query, workers, carries)
        self._carrying = cast("CarryingRunner", self._runner) if carries else None
        self._chunker = Chunker(query, lanes, self._runner, workers, carries, None, least)

    def add(self, part: EventArrays) -> list[CountedEnds]:
        """Add the next relevant events of the query; gives what ends at those that were run."""
        return self._run(self._chunker.add(self._runner.read(part)))

    def resume(self, tail: EventArrays) -> None:
        """Continue after events that are not reported, but may be part of what is."""
        self._chunker.resume(self._runner.read(tail))

    def rest(self) -> list[CountedEnds]:
        """Run the events that are left."""
        return self._run(self._chunker.rest())

    def state(self) -> dict[str, Any]:
        """All that is kept for later events, after `rest` was called."""
        return {
            "held": _stored(self._chunker.held()),
            "parts": runner_state(self._runner),
            "carried": self._carrying.carried() if self._carrying is not None else None,
        }

    def restore(self, state: dict[str, Any], lane_keys: Keys | None) -> None:
        """Restore what `state` returned; `lane_keys` has the keys of the lanes."""
        resume_runner(self._runner, state["parts"])
        if self._carrying is not None:
            self._carrying.carry_on(state["carried"])
        if state["held"] is not None:
            self._chunker.resume(relevant_of(state["held"], lane_keys))

    def _run(self, chunk: Chunk | None) -> list[CountedEnds]:
        if chunk is None:
            return []
        event, number = self._runner.counts(chunk)
        if self._limit is not None:
            number = np.minimum(number, self._limit)
        return [counted(chunk.events, event, number)]


class ReadingBunch(NamedTuple):
    """Queries by their numbers that are read together, and their readings merged to one: see `bunched`."""

    numbers: list[int]
    made: SharedReading | None


def bunched(queries: Sequence[CompiledQuery]) -> tuple[list[ReadingBunch], list[int]]:
    """The queries that are read together, bunch by bunch, and the numbers of those read by themselves."""
    alike: dict[Place, list[int]] = {}
    alone = []
    for number, query in enumerate(queries):
        place = shared_by(query)
        if place is None:
            alone.append(number)
        else:
            alike.setdefault(place, []).append(number)
    found = []
    for numbers in alike.values():
        readings = [queries[number].reading for number in numbers]
        found += [ReadingBunch([numbers[one] for one in bunch], made) for bunch, made in bunches(readings)]
    return found, alone


def abreast_there(queries: Sequence[CompiledQuery]) -> list[ReadingBunch]:
    """The queries of a device that go abreast there, bunch by bunch; the others run by themselves."""
    kinds: dict[Any, list[int]] = {}
    for number, one in enumerate(queries):
        kinds.setdefault(kind_there(one.asked("counts")), []).append(number)
    alike = [some for kind, some in kinds.items() if kind == () or (kind and len(some) >= LEAST_ABREAST)]
    able = sorted(number for some in alike for number in some)
    found, _ = bunched([queries[number] for number in able])
    return [
        ReadingBunch([able[one] for one in each.numbers], each.made)
        for each in found
        if each.made is not None and len(each.numbers) >= LEAST_ABREAST
    ]


def least_chunk(members: int) -> int:
    """The least number of new events of a chunk, for one of `members` queries."""
    return max(LEAST_CHUNK, min(CHUNK, WAITING // members))
