"""Outlooks whose pattern has intervals or compares events: a machine of configurations runs the pattern."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cer_gpu.engine.machines.configurations import ConfigurationRuns
from cer_gpu.engine.machines.open_runs import FollowedEvents
from cer_gpu.engine.machines.past_outlook import OutlookReader
from cer_gpu.engine.machines.registers import RegisterRuns
from cer_gpu.engine.read.events import EventArrays, taken
from cer_gpu.engine.read.keys import Keys
from cer_gpu.engine.read.lanes import HeldLanes
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.streams.contract import LaneBounds, StreamEvents
from cer_gpu.kernels.windows.contract import comparable
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.plan.general import GeneralMachine
from cer_gpu.plan.outlook import Outlook

NOTHING = np.empty(0, np.int64)


class LookedForRuns:
    """The runs of an outlook's pattern: a `LaneState`.

    Parameters
    ----------
    outlook : Outlook
        With a machine.
    query : CompiledQuery
        The query that has the outlook.
    laned : bool
        Whether the query has partitions.
    workers : Workers
    """

    def __init__(self, outlook: Outlook, query: CompiledQuery, laned: bool, workers: Workers) -> None:
        machine = outlook.machine
        assert isinstance(machine, GeneralMachine)
        self._machine = machine
        self._heard = outlook.heard
        self._laned = laned
        self._workers = workers
        reading = replace(query.reading, window=None)
        own = replace(query, machine=machine, reading=reading, consume="NONE", suppress=None, outlooks=())
        listed = machine.registers and machine.held is None
        self.runs: RegisterRuns | ConfigurationRuns = RegisterRuns(own) if listed else ConfigurationRuns(own)

    def latest(self, events: EventArrays, lane_count: int) -> np.ndarray:
        """Read further events; gives the latest start of what ends at each, shape (n,), int64; -1: nothing.

        Starts are positions in the stream.
        """
        found = np.full(len(events), -1, np.int64)
        heard = self._heard[events.symbols]
        read = np.flatnonzero(heard)
        if not len(read):
            return found
        some = events if len(read) == len(events) else taken(events, read, self._workers)
        pushed = self.runs.push(self._following(some, heard[read], lane_count))
        if pushed is not None:
            ends = pushed(some).ends
            found[read[ends.event]] = ends.latest
        return found

    def _following(self, events: EventArrays, symbols: np.ndarray, lane_count: int) -> FollowedEvents:
        lanes = events.lanes if self._laned else events.lanes[:0]
        count = len(events)
        # An event without a place of its own has that in the stream.
        places = events.places if len(events.places) else events.positions
        measured = comparable(places, 0).keys if self._machine.placed else np.zeros(count, np.uint64)
        none = np.full(max(lane_count, 1), -1, np.int64)
        return FollowedEvents(
            StreamEvents(symbols, lanes, measured, NOTHING, events.slots, NOTHING),
            np.uint64(0),
            LaneBounds(none, none.copy(), np.zeros(len(none), np.int64), np.zeros(1, np.int64)),
            0,
            count,
            events.keyed[:0],
            events.times,
            events.positions,
            events.payload,
        )


class PastPatternOutlook(HeldLanes, OutlookReader):
    """An outlook that looks back for a pattern with intervals or comparisons of events.

    Parameters
    ----------
    outlook : Outlook
    query : CompiledQuery
    laned : bool
        Whether the query has partitions.
    workers : Workers
    """

    def __init__(self, outlook: Outlook, query: CompiledQuery, laned: bool, workers: Workers) -> None:
        super().__init__(outlook, laned, workers)
        self._found = LookedForRuns(outlook, query, laned, workers)

    def __call__(self, events: EventArrays, lane_count: int) -> EventArrays | None:
        """Read further events; gives those that are kept, with their new symbols."""
        latest = self._found.latest(events, lane_count)
        return self.known(events, (latest >= 0).astype(np.uint8))

    def held(self) -> np.ndarray:
        """The lanes in which something is open."""
        return self._found.runs.held()

    busy = held
    """Lanes that have to stay in memory: all that are held."""

    def keep(self, used: np.ndarray, numbers: np.ndarray, count: int) -> None:
        """Forget all lanes but those in `used`; these have the given numbers from now on."""
        self._found.runs.keep(used, numbers, count)

    @property
    def nbytes(self) -> int:
        """Bytes that are kept."""
        return self._found.runs.nbytes

    def state(self) -> dict[str, Any]:
        """All that is kept."""
        return {"runs": self._found.runs.arrays()}

    def resume(self, state: dict[str, Any], lane_keys: Keys | None) -> None:
        """Continue from what `state` returned."""
        self._found.runs.restore(state["runs"])
