"""The CUDA backend over the devices that were named: lanes are dealt out, and memory that runs out is met."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np

from cer_gpu.engine.cuda.dealt_structure import DealtStructure, dealt_lists
from cer_gpu.engine.cuda.machines.one_device import LISTS, OneDeviceRunner, spans
from cer_gpu.engine.devices import on, say_no_memory, with_memory
from cer_gpu.engine.machines.automaton import AutomatonRunner
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.engine.machines.ends import Ends, ends_of
from cer_gpu.engine.machines.strategies import Single
from cer_gpu.engine.read.events import Relevant
from cer_gpu.engine.read.intake import ALL_KEYED, NO_KEYS, NO_LANES, NO_SLOTS
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration import structure
from cer_gpu.enumeration.structure import Structure
from cer_gpu.kernels.best import cpu as best
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry
from cer_gpu.kernels.device.usable import simulated
from cer_gpu.kernels.forest.contract import CountedHits
from cer_gpu.plan.automaton import Choice
from cer_gpu.plan.compiled import CompiledQuery

Result = TypeVar("Result")
Counted = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True)
class _Cut:
    """The events `low <= event < high` of the chunk `of`, as a chunk of their own."""

    of: Chunk
    low: int
    high: int
    chunk: Chunk


class DevicesRunner(OneDeviceRunner):
    """Runs the tables of a query over chunks on one device or several.

    The segments of a chunk are dealt out in ranges of about as many events, for hits, for counts and for the
    choice of NEXT and LAST; for the structure lists of hits are, in stripes, so that the complex events that
    are put out next come from all devices. Where a device has no memory for its range, it takes half of it at
    a time; what it cannot take at all the CPU does, with a warning.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers
    carries : bool
        As for `AutomatonRunner`.
    devices : tuple of int
        Their numbers, at least one.
    lane, stream : Geometry
        As for `OneDeviceRunner`.
    """

    def __init__(
        self,
        query: CompiledQuery,
        workers: Workers,
        carries: bool,
        devices: tuple[int, ...],
        lane: Geometry = LANE,
        stream: Geometry = STREAM,
    ) -> None:
        with on(devices[0]):
            super().__init__(query, workers, carries, lane, stream)
        self._devices = devices
        self._executors: list[OneDeviceRunner] = [self]
        for number in devices[1:]:
            with on(number):
                self._executors.append(OneDeviceRunner(query, workers, carries, lane, stream))
        self._cuts: list[_Cut | None] = [None] * len(devices)
        # A thread works on one device at a time; the simulator runs one launch at a time.
        self._dealers = Workers(1 if simulated() else len(devices))
        self._warned = False

    def ends(self, chunk: Chunk, bounded: bool = True) -> Ends:
        with on(self._devices[0]):
            return super().ends(chunk, bounded)

    def counts(self, chunk: Chunk) -> Counted:
        with on(self._devices[0]):
            return super().counts(chunk)

    def structure(self, chunk: Chunk, found: Ends) -> Structure:
        ends = self._worthwhile(chunk, chunk.segments, found)
        if ends is None:
            return AutomatonRunner.structure(self, chunk, found)
        lists = dealt_lists(*ends, len(self._devices))

        def by_host(low: int, high: int) -> Structure:
            return self._structure_on_host(chunk, *lists.part(low, high))

        def run(number: int, low: int, high: int) -> Structure:
            part = lists.part(low, high)
            # The events in front of the first list are left, so that no number has to be moved.
            cut = self._cut(number, chunk, 0, int(part[1].max()) + 1)
            return self._executors[number]._structure_of(cut.chunk, *part)

        # All parts stay, so that to halve a range saves little but what its threads need: four times will do.
        least = max(LISTS, len(lists) // (16 * len(self._devices)))
        parts = self._dealt(np.diff(lists.first), run, by_host, least)
        if len(self._devices) == len(parts) == 1:
            return parts[0]
        return DealtStructure(parts, lists, self._dealers)

    def _structure_on_host(
        self, chunk: Chunk, first: np.ndarray, event: np.ndarray, lowest: np.ndarray
    ) -> Structure:
        def build(unit: tuple[int, int]) -> Structure:
            low, high = unit
            part = slice(first[low], first[high])
            ends = first[low : high + 1] - first[low], event[part], lowest[part]
            built = Structure(self.tables)
            count = AutomatonRunner._counts_at(self, chunk, *ends, exact=False)
            built.build(chunk.events.symbols, *spans(*ends), CountedHits(*ends, count))
            return built

        bounds = np.unique(np.linspace(0, len(first) - 1, self._workers.threads + 1, dtype=np.int64))
        return structure.joined(
            self._workers.map("building", build, pairwise(bounds.tolist()), len(chunk.events))
        )

    def _single(self, chunk: Chunk, ends: Ends, choice: Choice) -> Single:
        segments, latest = chunk.segments, choice.strategy == "LAST"

        def by_host(low: int, high: int) -> best.Paths:
            own = ends_of(segments.part(low, high), ends)
            return best.best(self.tables, chunk.events.symbols, *own, latest)

        def run(number: int, low: int, high: int) -> best.Paths:
            self._cut(number, chunk, 0, len(chunk.events))
            part = segments.part(low, high)
            paths = self._executors[number]._paths_in(chunk, part, ends, choice)
            return by_host(low, high) if paths is None else paths

        if len(self._devices) > 1:
            parts = self._dealt(segments.stop - segments.begin, run, by_host)
            return Single(best.joined(parts), ends.event, choice.shown)

        def there() -> Single:
            return super(DevicesRunner, self)._single(chunk, ends, choice)

        return self._or_on_host(there, lambda: AutomatonRunner._single(self, chunk, ends, choice))

    # --------------------------------------------------------------------------- ranges of segments

    def _hits_in(self, chunk: Chunk, segments: Segments) -> Counted:
        def run(number: int, low: int, high: int) -> Counted:
            part = segments.part(low, high)
            cut = self._cut(number, chunk, int(part.begin.min()), int(part.stop.max()))
            executor, shift = self._executors[number], cut.low
            # Carried registers are the host's between chunks, a row for each lane: no two devices share one.
            executor._registers = self._registers
            moved = Segments(part.begin - shift, part.report - shift, part.stop - shift, part.lane)
            event, latest = OneDeviceRunner._hits_in(executor, cut.chunk, moved)
            return event + shift, latest if self._carries else latest + shift

        def by_host(low: int, high: int) -> Counted:
            return AutomatonRunner._hits_in(self, chunk, segments.part(low, high))

        parts = self._dealt(segments.stop - segments.begin, run, by_host)
        return np.concatenate([event for event, _ in parts]), np.concatenate([start for _, start in parts])

    def _counts_at(
        self, chunk: Chunk, first: np.ndarray, event: np.ndarray, lowest: np.ndarray, exact: bool
    ) -> np.ndarray:
        # Inexact counts are asked for by the threads that build the structure, each for its own segments.
        if not exact or not len(event):
            return AutomatonRunner._counts_at(self, chunk, first, event, lowest, exact)

        def lists(low: int, high: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            part = slice(first[low], first[high])
            return first[low : high + 1] - first[low], event[part], lowest[part]

        def run(number: int, low: int, high: int) -> np.ndarray:
            bounds, ends, starts = lists(low, high)
            if not len(ends):
                return np.empty(0, np.int64)
            cut = self._cut(number, chunk, int(starts.min()), int(ends.max()) + 1)
            executor, shift = self._executors[number], cut.low
            return OneDeviceRunner._counts_at(executor, cut.chunk, bounds, ends - shift, starts - shift, True)

        def by_host(low: int, high: int) -> np.ndarray:
            return AutomatonRunner._counts_at(self, chunk, *lists(low, high), True)

        parts = self._dealt(np.diff(first), run, by_host)
        if any(part.dtype == object for part in parts):
            parts = [part.astype(object) for part in parts]
        return np.concatenate(parts)

    def _count_carried(self, chunk: Chunk) -> Counted:
        before = self._registers.copy(), self._vectors.copy()

        def there() -> Counted:
            return super(DevicesRunner, self)._count_carried(chunk)

        def by_host() -> Counted:
            self._registers, self._vectors = before
            return AutomatonRunner._count_carried(self, chunk)

        return self._or_on_host(there, by_host)

    # --------------------------------------------------------------------------------- deal and retry

    def _dealt(
        self,
        work: np.ndarray,
        run: Callable[[int, int, int], Result],
        by_host: Callable[[int, int], Result],
        least: int = 1,
    ) -> list[Result]:
        """Results for ranges of items, in their order, each from the device that the range was dealt to.

        Parameters
        ----------
        work : ndarray, shape (items,)
            How much there is to do for each.
        run : callable
            For the number of an executor, the first item and one past the last.
        by_host : callable
            The same on the CPU.
        least : int
            A range of so many items is not halved any more.
        """
        bounds = dealt(work, len(self._devices))

        def share(number: int) -> list[Result]:
            parts = []
            with on(self._devices[number]):
                ranges = [(bounds[number], bounds[number + 1])]
                while ranges:
                    low, high = ranges.pop()
                    found = with_memory(lambda: (run(number, low, high),))  # noqa: B023
                    if found is not None:
                        parts.append(found[0])
                        continue
                    self._forget(number)
                    if high - low > least:
                        middle = (low + high) // 2
                        ranges += [(middle, high), (low, middle)]
                    else:
                        self._warn(number)
                        parts.append(by_host(low, high))
            return parts

        numbers = [number for number in range(len(self._devices)) if bounds[number] < bounds[number + 1]] or [
            0
        ]
        if len(numbers) == 1:
            return share(numbers[0])
        return [part for parts in self._dealers.map("running on devices", share, numbers) for part in parts]

    def _or_on_host(self, action: Callable[[], Result], by_host: Callable[[], Result]) -> Result:
        found = with_memory(lambda: (action(),))
        if found is not None:
            return found[0]
        self._forget(0)
        self._warn(0)
        return by_host()

    def _cut(self, number: int, chunk: Chunk, low: int, high: int) -> _Cut:
        """The events `low <= event < high` of a chunk, or more, if these are on the device already."""
        cut = self._cuts[number]
        if cut is None or cut.of is not chunk or low < cut.low or high > cut.high:
            self._forget(number)
            whole = low == 0 and high == len(chunk.events)
            part = chunk if whole else _part_of(chunk, low, high)
            cut = self._cuts[number] = _Cut(chunk, low, high, part)
        return cut

    def _forget(self, number: int) -> None:
        """Give back the memory that the events of a chunk take."""
        self._cuts[number] = self._executors[number]._there = None

    def _warn(self, number: int) -> None:
        if not self._warned:
            self._warned = True
            say_no_memory(self._devices[number], "the events that are held at once")


def _part_of(chunk: Chunk, low: int, high: int) -> Chunk:
    """Some events of a chunk, with what a device reads of them."""
    events, part = chunk.events, slice(low, high)
    keys = events.keys[part] if len(events.keys) else events.keys
    symbols, positions = events.symbols[part], events.positions[part]
    own = Relevant(symbols, positions, NO_LANES, keys, ALL_KEYED, NO_KEYS, NO_SLOTS, None)
    return replace(chunk, events=own)


def dealt(work: np.ndarray, devices: int) -> list[int]:
    """Bounds of as many ranges of items as there are devices, with about as much to do in each.

    Parameters
    ----------
    work : ndarray, shape (items,)

    Returns
    -------
    list of int
        Of devices + 1 items, ascending from 0 to the number of items.
    """
    done = np.cumsum(work)
    total = int(done[-1]) if len(done) else 0
    shares = [total * number / devices for number in range(1, devices)]
    return [0, *np.searchsorted(done, shares, side="left").tolist(), len(work)]


def runner(query: CompiledQuery, workers: Workers, carries: bool, devices: tuple[int, ...]) -> DevicesRunner:
    """What runs the automaton of a query on devices; parameters as in `runner_of`."""
    return DevicesRunner(query, workers, carries, devices)
