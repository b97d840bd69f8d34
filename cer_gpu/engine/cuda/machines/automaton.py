"""A deterministic complex event automaton on CUDA devices: each device runs ranges of a chunk.

The runner on the CPU lists complex events, chooses among them, and does what does not fit into a kernel:
lanes in which the attribute of a window falls, programs with too many registers, sums past 2^62.
"""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.cuda.machines.one_device import (
    DeviceEvents,
    EndLists,
    OneDevice,
    copied_events,
    patched,
)
from cer_gpu.engine.cuda.pool import DevicePool
from cer_gpu.engine.devices import on
from cer_gpu.engine.machines.automaton import AutomatonRunner
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.engine.machines.ends import first_ends
from cer_gpu.engine.read.lanes import grown
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.blocks import numbers_joined
from cer_gpu.kernels.counts.cpu_ends import counted_ends
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry
from cer_gpu.plan.compiled_query import CompiledQuery, WindowPlan


class DevicesAutomaton:
    """Runs the tables of a query over chunks on one device or several: `AutomatonDevices`.

    Each device runs a range of the segments of a chunk, with about as many events as every other device. If
    it has no memory for its range, it takes half of it at a time; what it cannot take at all the CPU does,
    with a warning.

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
        """The ends in some segments and the latest start of each; as `AutomatonRunner.hits_in`."""
        if not self._ones[0].fits:
            return runner.hits_in(chunk, segments, here=True)

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
            return runner.hits_in(chunk, segments.part(low, high), here=True)

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
                return _counted_here(runner, cut.chunk, moved.part(which, which + 1))

            return patched(number, moved.first, status, again)

        def by_host(low: int, high: int) -> np.ndarray:
            return _counted_here(runner, chunk, lists.part(low, high))

        return numbers_joined(self._pool.dealt(np.diff(first), run, by_host))

    def carried_counts(self, runner: AutomatonRunner, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """Ends and their numbers, with carried vectors; as `AutomatonRunner.carried_counts_here`."""
        if not self._ones[0].counts_carried:
            return runner.carried_counts_here(chunk)
        before = runner.vectors.copy()

        def by_host() -> tuple[np.ndarray, np.ndarray]:
            runner.vectors = before
            return runner.carried_counts_here(chunk)

        return self._pool.or_host(lambda: self._carried_counts(runner, chunk), by_host)

    def _carried_counts(self, runner: AutomatonRunner, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        segments, events = chunk.segments, chunk.events
        runner.vectors = grown(runner.vectors, chunk.lanes.count)
        before = runner.vectors[segments.lane]
        event, found, after, status = self._ones[0].counted_ends(
            self._pool.copied(0, chunk).there, segments, before
        )

        def again(segment: int) -> np.ndarray:
            nonlocal after
            part = slice(segment, segment + 1)
            own = segments.begin[part], segments.stop[part]
            _, number, vector = counted_ends(runner.counted, events.symbols, *own, before[part])
            after = after.astype(object)
            after[part] = vector
            return number

        number = patched(found, first_ends(segments, event), status, again)
        runner.store_vectors(segments.lane, after)
        return event, number


def _counted_here(runner: AutomatonRunner, chunk: Chunk, lists: EndLists) -> np.ndarray:
    return runner.counts_here(chunk, lists.first, lists.event, lists.lowest, exact=True)


def runner(
    query: CompiledQuery, workers: Workers, carries: bool, devices: tuple[int, ...]
) -> AutomatonRunner:
    """The runner of a query's automaton on devices; parameters as in `runner_of`."""
    there = DevicesAutomaton(query.window, workers, devices)
    found = AutomatonRunner(query, workers, carries, there)
    there.load(found)
    return found
