"""A deterministic complex event automaton on CUDA devices: each device runs ranges of a chunk.

Queries for which there are no kernels (windows over an attribute that is null or falls, strategies that
compare complex events) never come here. The runner on the CPU does what does not fit into a kernel (programs
with too many registers, sums past 2^62) and what is too little work for a device (the structure of few
windows).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from cer_gpu.engine.cuda.dealt_structure import DealtStructure, dealt_lists
from cer_gpu.engine.cuda.machines.one_device import (
    LISTS,
    DeviceEvents,
    EndLists,
    OneDevice,
    copied_events,
    patched,
    spans,
    worthwhile,
)
from cer_gpu.engine.cuda.pool import DevicePool
from cer_gpu.engine.devices import on
from cer_gpu.engine.machines.automaton import AutomatonRunner
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.engine.machines.ends import Ends, ends_of, first_ends
from cer_gpu.engine.read.lanes import grown
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration import structure
from cer_gpu.enumeration.blocks import numbers_joined
from cer_gpu.enumeration.structure import Structure
from cer_gpu.kernels.counts.cpu_ends import counted_ends
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry
from cer_gpu.kernels.forest.contract import CountedHits
from cer_gpu.kernels.selection import cpu as best
from cer_gpu.plan.compiled_query import CompiledQuery, WindowPlan


class DevicesAutomaton:
    """Runs the tables of a query over chunks on one device or several: `AutomatonDevices`.

    For hits, for counts and for the choice of NEXT and LAST, each device runs a range of the segments of a
    chunk, with about as many events as every other device. For the structure, a few neighbouring lists of
    hits go to each device in turn, so that the complex events to be listed next come from all devices. If a
    device has no memory for its range, it takes half of it at a time; what it cannot take at all the CPU
    does, with a warning.

    Parameters
    ----------
    window : WindowPlan or None
    workers : Workers
    devices : tuple of int
        The numbers of the devices, at least one.
    lane, stream : Geometry
        How kernels are launched with one thread for each segment, or for each hit.
    """

    chunks = 4
    """Ordinary chunks that are run at a time: a device has a hundred times the threads of a host. More would
    take gigabytes on the host."""

    def __init__(
        self,
        window: WindowPlan | None,
        workers: Workers,
        devices: tuple[int, ...],
        lane: Geometry = LANE,
        stream: Geometry = STREAM,
    ) -> None:
        self._window = window
        self._workers = workers
        self._lane, self._stream = lane, stream
        self._pool: DevicePool[DeviceEvents] = DevicePool(devices, copied_events, "what is open at once")
        self._ones: list[OneDevice] = []

    def load(self, runner: AutomatonRunner) -> None:
        """Copy the tables of a runner's automaton to all devices."""
        for number in self._pool.numbers:
            with on(number):
                self._ones.append(OneDevice(runner, self._window, number, self._lane, self._stream))

    def hits(
        self, runner: AutomatonRunner, chunk: Chunk, segments: Segments
    ) -> tuple[np.ndarray, np.ndarray]:
        """The ends in some segments and the latest start of each; as `AutomatonRunner.hits_here`."""
        if not self._ones[0].fits:
            return runner.hits_here(chunk, segments)

        def run(at: int, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
            part = segments.part(low, high)
            cut = self._pool.copied(at, chunk, int(part.begin.min()), int(part.stop.max()))
            shift = cut.low
            moved = Segments(part.begin - shift, part.report - shift, part.stop - shift, part.lane)
            if not runner.carries:
                event, latest = self._ones[at].hits(cut.there, moved)
                return event + shift, latest + shift
            # Between chunks the host holds the carried registers, a row for each lane: devices share no row.
            event, latest, left = self._ones[at].carried_hits(cut.there, moved, runner.registers[part.lane])
            runner.registers[part.lane] = left
            return event + shift, latest

        def by_host(low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
            return runner.hits_here(chunk, segments.part(low, high))

        parts = self._pool.dealt(segments.stop - segments.begin, run, by_host)
        return np.concatenate([event for event, _ in parts]), np.concatenate([start for _, start in parts])

    def counts(
        self, runner: AutomatonRunner, chunk: Chunk, first: np.ndarray, event: np.ndarray, lowest: np.ndarray
    ) -> np.ndarray:
        """How many complex events end at each of some ends; as `AutomatonRunner.counts_here`."""
        lists = EndLists(first, event, lowest)

        def run(at: int, low: int, high: int) -> np.ndarray:
            part = lists.part(low, high)
            if not len(part.event):
                return np.empty(0, np.int64)
            cut = self._pool.copied(at, chunk, int(part.lowest.min()), int(part.event.max()) + 1)
            moved = part.moved(-cut.low).finer(cut.high - cut.low)
            number, status = self._ones[at].counts(cut.there, moved)

            def again(which: int) -> np.ndarray:
                return _counted_here(runner, cut.chunk, moved.part(which, which + 1), True)

            return patched(number, moved.first, status, again)

        def by_host(low: int, high: int) -> np.ndarray:
            return _counted_here(runner, chunk, lists.part(low, high), True)

        return numbers_joined(self._pool.dealt(np.diff(first), run, by_host))

    def carried_counts(self, runner: AutomatonRunner, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """Ends and their numbers, with carried vectors; as `AutomatonRunner.carried_counts_here`."""
        before = runner.registers.copy(), runner.vectors.copy()

        def there() -> tuple[np.ndarray, np.ndarray]:
            with on(self._pool.numbers[0]):
                return self._carried_counts(runner, chunk)

        def by_host() -> tuple[np.ndarray, np.ndarray]:
            runner.registers, runner.vectors = before
            return runner.carried_counts_here(chunk)

        return self._pool.or_host(there, by_host)

    def _carried_counts(self, runner: AutomatonRunner, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        segments, events = chunk.segments, chunk.events
        runner.registers = grown(runner.registers, chunk.lanes.count, -1)
        runner.vectors = grown(runner.vectors, chunk.lanes.count)
        event, _ = self.hits(runner, chunk, segments)
        first, before = first_ends(segments, event), runner.vectors[segments.lane]
        found, after, status = self._ones[0].forward_counts(
            self._pool.copied(0, chunk).there, segments, event, before
        )

        def again(segment: int) -> np.ndarray:
            nonlocal after
            part = slice(segment, segment + 1)
            own = segments.begin[part], segments.stop[part]
            _, number, vector = counted_ends(runner.counted, events.symbols, *own, before[part])
            after = after.astype(object)
            after[part] = vector
            return number

        number = patched(found, first, status, again)
        runner.store_vectors(segments.lane, after)
        return event, number

    def structure(self, runner: AutomatonRunner, chunk: Chunk, ends: Ends) -> Structure:
        """The persistent structure of the complex events at some ends; as `structure_here`."""
        found = worthwhile(chunk, chunk.segments, ends)
        if found is None:
            return runner.structure_here(chunk, ends)
        lists = dealt_lists(found.first, found.event, found.lowest, len(self._pool))

        def by_host(low: int, high: int) -> Structure:
            return self._structure_on_host(runner, chunk, EndLists(*lists.part(low, high)))

        def run(at: int, low: int, high: int) -> Structure:
            part = EndLists(*lists.part(low, high))
            # The events before the first list are copied too, so that no event has to be renumbered.
            cut = self._pool.copied(at, chunk, 0, int(part.event.max()) + 1)
            return self._ones[at].structure(cut.chunk, cut.there, part)

        # All parts stay, so that to halve a range saves little but what its threads need: four times will do.
        least = max(LISTS, len(lists) // (16 * len(self._pool)))
        parts = self._pool.dealt(np.diff(lists.first), run, by_host, least)
        if len(self._pool) == len(parts) == 1:
            return parts[0]
        return DealtStructure(parts, lists, self._pool.dealers)

    def _structure_on_host(self, runner: AutomatonRunner, chunk: Chunk, lists: EndLists) -> Structure:
        def build(unit: tuple[int, int]) -> Structure:
            part = lists.part(*unit)
            built = Structure(runner.tables)
            count = _counted_here(runner, chunk, part, False)
            built.build(chunk.events.symbols, *spans(*part), CountedHits(*part, count))
            return built

        bounds = np.unique(np.linspace(0, len(lists), self._workers.threads + 1, dtype=np.int64))
        return structure.joined(
            self._workers.map("finding matches", build, pairwise(bounds.tolist()), len(chunk.events))
        )

    def paths(self, runner: AutomatonRunner, chunk: Chunk, ends: Ends, latest: bool) -> best.Paths:
        """What NEXT, or LAST if `latest`, leaves at ends; as `paths_here`."""
        segments = chunk.segments

        def by_host(low: int, high: int) -> best.Paths:
            own = ends_of(segments.part(low, high), ends)
            return best.best(runner.tables, chunk.events.symbols, *own, latest)

        def run(at: int, low: int, high: int) -> best.Paths:
            part = segments.part(low, high)
            lists = worthwhile(chunk, part, ends)
            if lists is None or not self._ones[at].has_room(lists):
                return by_host(low, high)
            return self._ones[at].paths(self._pool.copied(at, chunk).there, lists, latest)

        if len(self._pool) == 1 and worthwhile(chunk, segments, ends) is None:
            return runner.paths_here(chunk, ends, latest)
        return best.joined(self._pool.dealt(segments.stop - segments.begin, run, by_host))


def _counted_here(runner: AutomatonRunner, chunk: Chunk, lists: EndLists, exact: bool) -> np.ndarray:
    return runner.counts_here(chunk, lists.first, lists.event, lists.lowest, exact)


def runner(
    query: CompiledQuery, workers: Workers, carries: bool, devices: tuple[int, ...]
) -> AutomatonRunner:
    """The runner of a query's automaton on devices; parameters as in `runner_of`."""
    there = DevicesAutomaton(query.window, workers, devices)
    found = AutomatonRunner(query, workers, carries, there)
    there.load(found)
    return found
