"""The CPU backend of the automaton: hits and counts of chunks, with what is carried from chunk to chunk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.engine.machines.consume import Consumption
from cer_gpu.engine.machines.ends import Ends, counts_joined, ends_of, first_ends, no_ends
from cer_gpu.engine.machines.ends import joined as ends_joined
from cer_gpu.engine.machines.numbers import WindowNumbers, check_open
from cer_gpu.engine.machines.open_runs import OpenRuns
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.lanes import LaneState, grown
from cer_gpu.engine.workers import QUICK, Workers
from cer_gpu.kernels.counts.cpu_ends import counted_ends
from cer_gpu.kernels.forest.contract import CountedHits
from cer_gpu.kernels.hits.cpu import hits
from cer_gpu.kernels.lanes.cpu import gather
from cer_gpu.kernels.runs.barriers import barred, bars_of, with_bars
from cer_gpu.kernels.runs.contract import Program, SegmentHits, SequenceSteps
from cer_gpu.kernels.runs.cpu import first_open
from cer_gpu.kernels.runs.edge_runs import undropped
from cer_gpu.kernels.runs.forced_runs import is_forced
from cer_gpu.kernels.runs.programs import counts_program, edge_steps, sequence_steps
from cer_gpu.plan.automaton import AutomatonMachine, programs_of
from cer_gpu.plan.compiled_query import CompiledQuery

# Listing, streams, strategies and windows over attributes are loaded where they are wanted: a count starts
# sooner without them.
if TYPE_CHECKING:
    from cer_gpu.engine.machines.attribute_windows import AttributeWindowRuns
    from cer_gpu.engine.machines.chooser import Chooser
    from cer_gpu.enumeration.sequences import ChosenSequences, SequenceAnswers
    from cer_gpu.enumeration.structure import Structure
    from cer_gpu.kernels.selection.cpu import Paths

Result = TypeVar("Result")


class AutomatonDevices(Protocol):
    """Runs an automaton on devices, and has the CPU do what they cannot.

    Every function is given the runner on the CPU, whose functions `..._here` do the same, and a chunk.

    Attributes
    ----------
    chunks : int
        How many ordinary chunks (`cer_gpu.engine.run.chunks.CHUNK` events each) it is given at a time.
    """

    chunks: int

    def hits(
        self, runner: AutomatonRunner, chunk: Chunk, segments: Segments
    ) -> tuple[np.ndarray, np.ndarray]:
        """As `AutomatonRunner.hits_in`."""
        ...

    def counts(
        self, runner: AutomatonRunner, chunk: Chunk, first: np.ndarray, event: np.ndarray, lowest: np.ndarray
    ) -> np.ndarray:
        """As `AutomatonRunner.counts_here`, exactly."""
        ...

    def carried_counts(self, runner: AutomatonRunner, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """As `AutomatonRunner.carried_counts_here`."""
        ...


class AutomatonRunner:
    """Runs a deterministic complex event automaton over chunks on the CPU; a `MachineRunner`.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers
    carries : bool
        For a query without a window and without CONSUME BY: chunks hold new events only, and registers carry
        what the partial matches before them amount to.
    devices : AutomatonDevices or None
        Finds ends, numbers and complex events elsewhere than on the CPU.

    Attributes
    ----------
    tables : TransitionTables
    program : Program
        What an event does to the registers of hits.
    counting : AutomatonPrograms
        What it does to those of counts.
    carries : bool
    registers, vectors : ndarray, shape (lanes, n_live), int64
        For each lane, what is carried: the latest starts of partial matches, and how many there are;
        `vectors` holds Python integers past 2^62.
    """

    ungrouped = False

    def __init__(
        self,
        query: CompiledQuery,
        workers: Workers,
        carries: bool,
        devices: AutomatonDevices | None = None,
    ) -> None:
        machine = query.machine
        assert isinstance(machine, AutomatonMachine)
        self.tables, programs = machine.tables, machine.programs
        self._n_symbols = len(machine.tables.first) - 1
        self._barred_dtype = np.min_scalar_type(4 * self._n_symbols - 1)
        self._by_attribute = query.window is not None and query.window.kind == "attribute"
        if self._by_attribute:
            self.tables = barred(self.tables)
            programs = programs_of(self.tables)
        self._choice, self._chosen = machine.choice, None if self._by_attribute else machine.chosen
        self._prefixes = None
        self._monitor = machine.monitor
        if machine.monitor is not None:
            from cer_gpu.engine.machines.prefix import Prefixes

            self._prefixes = Prefixes(query, machine.tables, machine.monitor)
        self._query = query
        self._workers = workers
        self._devices = devices
        self.chunks = 1 if devices is None else devices.chunks
        self.carries = carries
        self.program, self.counting, self._longest = programs
        self._numbers = WindowNumbers(self.counting, query.text)
        self.registers = np.empty((0, self.program.zero), np.int64)
        self.vectors = np.empty((0, self.program.zero), np.int64)
        self.consumption = Consumption(query)

    @cached_property
    def counted(self) -> Program:
        """What an event does to the numbers of open partial matches."""
        return counts_program(self.tables)

    @cached_property
    def _forced(self) -> bool:
        """Whether the start and the end of a complex event tell all of it."""
        return not self._by_attribute and is_forced(self.tables, self._monitor)

    @cached_property
    def _steps(self) -> tuple[SequenceSteps, np.ndarray | None] | None:
        """What complex events are rows of, and which symbols end open runs, if any does."""
        if self._by_attribute:
            return None
        steps = sequence_steps(self.tables)
        return edge_steps(self.tables) if steps is None else (steps, None)

    @cached_property
    def _falling(self) -> AttributeWindowRuns:
        from cer_gpu.engine.machines.attribute_windows import AttributeWindowRuns

        return AttributeWindowRuns(self.counting, self._workers, self._query.text)

    @property
    def states(self) -> tuple[LaneState, ...]:
        """The state that the runner keeps for each lane, beside registers that are carried."""
        return (self.consumption,) if self._prefixes is None else (self.consumption, self._prefixes)

    def read(self, events: EventArrays) -> EventArrays:
        """New events, with the symbols that the monitor of the prefix gives them, and with barred symbols."""
        if self._prefixes is not None:
            events = self._prefixes(events)
        if not self._by_attribute:
            return events
        # One type whatever is barred: a stream puts them into one array.
        symbols = events.symbols
        if len(events.keyed) or events.keys.dtype.kind == "f":
            symbols = with_bars(symbols, bars_of(events.keys, events.keyed), self._n_symbols)
        symbols = symbols.astype(self._barred_dtype, copy=False)
        return events if symbols is events.symbols else replace(events, symbols=symbols)

    def ends(self, chunk: Chunk, bounded: bool = True) -> Ends:
        """The ends of a chunk that are reported; `lowest` may be empty unless `bounded`."""
        if not len(chunk.lanes.begin) or self._query.limit == 0:
            return no_ends()
        bounded = bounded or self._query.consume != "NONE" or len(chunk.falling.begin) > 0
        return self.consumption.left(chunk, self._found(chunk, bounded))

    def counts(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a chunk that are reported and how many complex events end at each, before LIMIT.

        Returns
        -------
        event : ndarray, shape (h,), int64
            Ascending.
        number : ndarray, shape (h,), int64, or object past 2^62
        """
        if not len(chunk.lanes.begin) or self._query.limit == 0:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        if self._choice is not None:
            ends = self.ends(chunk)
            if self._choice.single:
                return ends.event, np.ones(len(ends), np.int64)
            return ends.event, self._chooser.of_chunk(chunk, ends, self._paths).count
        if self.carries:
            there = self._devices
            return self.carried_counts_here(chunk) if there is None else there.carried_counts(self, chunk)
        return self.count_ends(chunk, None if self._query.consume == "NONE" else self.ends(chunk))

    def count_ends(self, chunk: Chunk, ends: Ends | None) -> tuple[np.ndarray, np.ndarray]:
        """How many complex events end at ends; None: at all.

        In falling lanes each of given ends drops the partial matches before it.
        """
        rising, falling = (None, None) if ends is None else ends.parted(chunk.falls(ends.event))

        def run(segments: Segments) -> tuple[np.ndarray, np.ndarray]:
            if rising is None:
                event, _ = self.hits_in(chunk, segments)
                first = first_ends(segments, event)
                lowest = chunk.lowest_starts(segments, first, event, self._query.window, self._longest)
            else:
                first, event, lowest = ends_of(segments, rising)
            if self._devices is not None and len(event) and not self._numbers.repeat:
                return event, self._devices.counts(self, chunk, first, event, lowest)
            hits = SegmentHits(first, event, lowest)
            return event, self._numbers.at(chunk.events.symbols, hits, exact=True)

        parts = self._over_units("counting", chunk, run)
        if falling is None and len(chunk.falling.begin):
            parts.append(self._falling.counts(chunk, chunk.falling, exact=True))
        elif falling is not None and len(falling):
            from cer_gpu.engine.machines.attribute_windows import alone

            parts.append(self._falling.counts(chunk, alone(falling), exact=True))
        return counts_joined(parts)

    def carried_counts_here(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The ends and their counts by the CPU, with what is carried."""
        self.vectors = grown(self.vectors, chunk.lanes.count)
        program, symbols = self.counted, chunk.events.symbols

        def run(segments: Segments) -> tuple[np.ndarray, np.ndarray, Segments, np.ndarray]:
            before, own = self.vectors[segments.lane], (segments.begin, segments.stop)
            event, number, after = counted_ends(program, symbols, *own, before)
            return event, number, segments, after

        parts = self._over_units("counting", chunk, run, here=True)
        for _, _, segments, after in parts:
            # Not by the threads: large numbers put another array in place of the one that all share.
            self.store_vectors(segments.lane, after)
        return counts_joined([(event, number) for event, number, _, _ in parts])

    def needed(self, chunk: Chunk) -> np.ndarray:
        """As `MachineRunner.needed`: where the first run that is still open has begun."""
        lanes, symbols = chunk.lanes, chunk.events.symbols

        def run(segments: Segments) -> np.ndarray:
            return first_open(self.tables, symbols, segments.begin, segments.stop)

        units = lanes.units(self._workers.threads)
        parts = self._workers.map("finding open matches", run, units, lanes.events)
        return np.concatenate([np.empty(0, np.int64), *parts])

    def answers(self, chunk: Chunk, ends: Ends) -> Answers:
        """The complex events at some ends of a chunk."""
        if (chosen := self._chosen_sequences(chunk, ends)) is not None:
            return chosen
        if self._choice is not None:
            return self._chooser.of_chunk(chunk, ends, self._paths)
        if self._forced and not len(chunk.falling.begin):
            from cer_gpu.enumeration.forced_runs import ForcedRuns

            events = chunk.events
            given = events.symbols, events.positions, chunk.lanes.begin
            return ForcedRuns(self.tables, *given, ends.event, ends.latest)
        if (answers := self._sequences(chunk, ends)) is not None:
            return answers
        return self.structure(chunk, ends)

    def _chosen_sequences(self, chunk: Chunk, found: Ends) -> ChosenSequences | None:
        """What NEXT or LAST leaves at some ends, if complex events are rows of single events."""
        from cer_gpu.engine.machines.sequences import entries_of, pays
        from cer_gpu.enumeration.sequences import ChosenSequences

        chosen = self._chosen
        if chosen is None or not pays(len(chunk.events), len(found)):
            return None
        entries = entries_of(chunk.events.symbols, chosen.steps, self._workers)
        return ChosenSequences(entries, chosen.steps.labels, found.event, found.lowest, chosen.latest)

    def _sequences(self, chunk: Chunk, found: Ends) -> SequenceAnswers | None:
        """The complex events at some ends, if they are rows of single events and the structure costs more."""
        from cer_gpu.engine.machines.sequences import entries_of, pays
        from cer_gpu.enumeration.sequences import SequenceAnswers

        if self._steps is None or not pays(len(chunk.events), len(found)):
            return None
        (steps, drops), symbols = self._steps, chunk.events.symbols
        entries, number, lowest = entries_of(symbols, steps, self._workers), None, found.lowest
        if drops is not None:
            lowest = undropped(drops, symbols, found.event, lowest)
        if len(steps.labels) > 2:

            def run(segments: Segments) -> tuple[np.ndarray, np.ndarray]:
                first, event, lowest = ends_of(segments, found)
                return event, self.counts_here(chunk, first, event, lowest, exact=False)

            _, number = counts_joined(self._over_units("counting", chunk, run))
        return SequenceAnswers(entries, steps.labels, found.event, lowest, number)

    def open_runs(self) -> OpenRuns:
        """The runs that a stream keeps between pushes."""
        choice = self._choice
        if choice is not None and choice.single and not self._query.pushed_runs_again:
            from cer_gpu.engine.machines.selection_stream import BestRuns

            return BestRuns(self.tables, choice.strategy == "LAST", choice.shown)
        choose = None if choice is None else self._chooser.of_open
        if self._by_attribute:
            from cer_gpu.engine.machines.keyed_stream import KeyedRuns

            return KeyedRuns(self.tables, self._query.consume, choose)
        from cer_gpu.engine.machines.automaton_stream import AutomatonRuns

        return AutomatonRuns(self.tables, self._query.consume, choose)

    @cached_property
    def _chooser(self) -> Chooser:
        """What the strategy of SELECT leaves; only where there is one."""
        from cer_gpu.engine.machines.chooser import Chooser

        assert self._choice is not None
        return Chooser(self.tables, self._choice, self._query, self._n_symbols, self._workers)

    def _paths(self, chunk: Chunk, ends: Ends, latest: bool) -> Paths:
        """The complex events that NEXT, or LAST if `latest`, leaves at ends in segments."""
        from cer_gpu.engine.machines.strategies import best_in_segments
        from cer_gpu.kernels.selection import cpu as best

        return best.joined(best_in_segments(self.tables, chunk, ends, latest, self._workers))

    def structure(self, chunk: Chunk, found: Ends) -> Structure:
        """The persistent structure of the complex events at some ends, built by several threads."""
        if not len(chunk.falling.begin):
            from cer_gpu.enumeration.structure import joined

            return joined(self._structures(chunk, found))
        from cer_gpu.engine.machines.attribute_windows import alone
        from cer_gpu.enumeration.ranked_structure import AdmittedStarts, joined_by_event

        assert chunk.ranks is not None
        rising, falling = found.parted(chunk.falls(found.event))
        segments = alone(falling) if self._query.consume != "NONE" else chunk.falling
        parts = self._structures(chunk, rising)
        parts += self._falling.structures(chunk, segments, falling)
        return joined_by_event(parts, AdmittedStarts(chunk.ranks.rank, found.lowest))

    def _structures(self, chunk: Chunk, found: Ends) -> list[Structure]:
        """The persistent structure of hits in segments, in parts."""
        from cer_gpu.enumeration.structure import Structure

        def build(segments: Segments) -> Structure:
            part = Structure(self.tables)
            first, event, lowest = ends_of(segments, found)
            # 2^62 for all hits of a segment where one exceeds it
            count = self.counts_here(chunk, first, event, lowest, exact=False)
            ends = CountedHits(first, event, lowest, count)
            part.build(chunk.events.symbols, segments.begin, segments.stop, ends)
            return part

        units = chunk.segments.units(self._workers.threads)
        return self._workers.map("finding matches", build, units, chunk.segments.events)

    def counts_here(
        self, chunk: Chunk, first: np.ndarray, event: np.ndarray, lowest: np.ndarray, exact: bool
    ) -> np.ndarray:
        """How many complex events end at each of some ends, by the CPU.

        Unless `exact`, all ends of a list get 2^62 if one number exceeds it.

        Parameters
        ----------
        chunk : Chunk
        first : ndarray, shape (lists + 1,), int64
            The ends of list g are first[g] .. first[g + 1] - 1.
        event, lowest : ndarray, shape (ends,), int64
        exact : bool

        Raises
        ------
        LimitError
            If the numbers have no practical meaning, or take too long.
        """
        return self._numbers.at(chunk.events.symbols, SegmentHits(first, event, lowest), exact)

    def _over_units(
        self,
        phase: str,
        chunk: Chunk,
        run: Callable[[Segments], Result],
        here: bool = False,
        quick: int = 0,
    ) -> list[Result]:
        segments = chunk.segments
        if self._devices is not None and not here:
            return [run(segments)] if len(segments.begin) else []  # one launch takes all of them
        units = segments.units(self._workers.threads)
        return self._workers.map(phase, run, units, len(chunk.events) >> quick)

    def _found(self, chunk: Chunk, bounded: bool) -> Ends:
        """The ends of a chunk, before CONSUME BY."""
        if self.carries:
            self.registers = grown(self.registers, chunk.lanes.count, -1)

        def run(segments: Segments) -> Ends:
            event, latest = self.hits_in(chunk, segments)
            if not self.carries:
                gather(chunk.events.positions, latest, latest)
            if not bounded:
                return Ends(event, latest, event[:0])
            first = first_ends(segments, event)
            lowest = chunk.lowest_starts(segments, first, event, self._query.window, self._longest)
            return Ends(event, latest, lowest)

        parts = self._over_units("finding hits", chunk, run, quick=QUICK)
        if len(chunk.falling.begin):
            parts.append(self._falling.ends(chunk))
        return ends_joined(parts)

    def hits_in(self, chunk: Chunk, segments: Segments, here: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """The ends in some segments and the latest start of each: an event, or carried a stream position.

        Parameters
        ----------
        chunk : Chunk
        segments : Segments
        here : bool
            Whether the CPU finds them even if there are devices.
        """
        if self._devices is not None and not here:
            return self._devices.hits(self, chunk, segments)
        events, window, none = chunk.events, self._query.window, np.empty(0, np.int64)
        if self.carries:
            registers = self.registers[segments.lane]
        else:
            registers = np.full((len(segments.begin), self.program.zero), -1, np.int64)
        found = hits(
            self.program,
            events.symbols,
            # Carried registers hold stream positions, since the events of earlier chunks are gone.
            events.positions if self.carries else none,
            chunk.measured if window is not None else none,
            window.size if window is not None else 0,
            segments.begin,
            segments.report,
            segments.stop,
            registers,
        )
        if self.carries:
            self.registers[segments.lane] = registers
        return found

    def carried(self) -> list[np.ndarray]:
        """What is carried of each lane."""
        return [self.registers, self.vectors]

    def carry_on(self, carried: Sequence[np.ndarray]) -> None:
        """Continue from what `carried` returned."""
        self.registers, self.vectors = carried

    def store_vectors(self, lanes: np.ndarray, vectors: np.ndarray) -> None:
        """Carry the numbers of partial matches, shape (lanes given, n_live).

        Raises
        ------
        LimitError
            If the numbers have no practical meaning.
        """
        check_open(vectors, self._query.text)
        if vectors.dtype == object and self.vectors.dtype != object:
            self.vectors = self.vectors.astype(object)
        self.vectors[lanes] = vectors


runner = AutomatonRunner
"""What runs the automaton of a query on the CPU; parameters as in `runner_of`."""
