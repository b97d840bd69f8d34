"""Joins whose answers are listed: expanded from groups, chunk by chunk, in the order of the stream.

A chunk has the events of all lanes in their order, and is cut into segments that begin one window early, one
for each thread. Where a segment has very many answers, or looks at many runs that lead to none, the chunk is
listed from the structure (`cer_gpu.engine.machines.joins`).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from cer_gpu.engine.machines.chunk import SEGMENT, Chunk, cut_lanes, halo_begin
from cer_gpu.engine.machines.ends import Ends, no_ends
from cer_gpu.engine.machines.found import Answers
from cer_gpu.engine.machines.joins import JoinRunner
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.expanded import Expanded, ExpandedAnswers, expanded, grouped_slots
from cer_gpu.kernels.joins.contract import SlottedEvents
from cer_gpu.kernels.windows.contract import comparable
from cer_gpu.plan.compiled import CompiledQuery
from cer_gpu.plan.join_tables import ListedJoinMachine

SPARSE = 4
"""Slots are numbered anew where there are more than so many times those that occur."""


class ListedJoinRunner(JoinRunner):
    """Lists the answers of a join over chunks in the order of the stream; a `MachineRunner`.

    Parameters
    ----------
    query : CompiledQuery
        With a window that admits an interval of events.
    workers : Workers
    """

    def __init__(self, query: CompiledQuery, workers: Workers) -> None:
        machine = query.machine
        assert isinstance(machine, ListedJoinMachine)
        super().__init__(replace(query, machine=machine.joins), workers)
        self._parts: list[Expanded] | None = None

    def ends(self, chunk: Chunk, bounded: bool = True) -> Ends:
        """The ends of a chunk that are reported; their answers are expanded at once."""
        self._parts = None
        if not len(chunk.segments) or self._query.limit == 0:
            return no_ends()
        parts = self._workers.map(
            "listing", lambda bounds: self._expanded(chunk, bounds), self._bounds(chunk), len(chunk.events)
        )
        found = [part for part in parts if part is not None]
        if len(found) < len(parts):
            return super().ends(self._cut(chunk), bounded)
        self._parts = found
        event = np.concatenate([part.event + part.low for part in found])
        latest = np.concatenate([part.start + part.low for part in found])
        lowest = np.concatenate([part.lowest + part.low for part in found])
        return Ends(event, chunk.events.positions[latest], lowest)

    def answers(self, chunk: Chunk, ends: Ends) -> Answers:
        """The answers at some of the ends that `ends` returned last, for this chunk."""
        if self._parts is None:
            return super().answers(self._cut(chunk), ends)
        event = np.concatenate([part.event + part.low for part in self._parts])
        which = np.searchsorted(event, ends.event)
        return ExpandedAnswers(self._parts, which, self._label_atoms.shape[1])

    def needed(self, chunk: Chunk) -> np.ndarray:
        """All events that the window of the last one admits."""
        assert self._query.window is not None
        (first,) = chunk.admitted_by_last(self._query.window).tolist()
        return np.arange(first, len(chunk.events))

    def _cut(self, chunk: Chunk) -> Chunk:
        """The same chunk with segments for threads: the structure looks events up by their slots alone."""
        assert self._query.window is not None
        segments = cut_lanes(chunk.lanes, chunk.events.measured, self._query.window.size)
        return replace(chunk, segments=segments)

    def _bounds(self, chunk: Chunk) -> list[tuple[int, int, int]]:
        """For each thread where its segment begins, reports and stops: one window early, if not the first.

        A segment reports at least as many events as its window has, so that at most half of the work is done
        twice.
        """
        assert self._query.window is not None
        report, stop = int(chunk.lanes.report[0]), int(chunk.lanes.stop[0])
        new = stop - report
        count = max(min(self._workers.threads, new // max(SEGMENT, report)), 1)
        edges = [report + new * number // count for number in range(count + 1)]
        keys, size = chunk.events.measured, self._query.window.size
        return [(halo_begin(keys, 0, at, size) if at < end else 0, at, end) for at, end in pairwise(edges)]

    def _expanded(self, chunk: Chunk, bounds: tuple[int, int, int]) -> Expanded | None:
        """The answers of a segment; None where the structure is to list them."""
        assert self._query.window is not None
        low, report, stop = bounds
        events = chunk.events
        slots = events.slots[:, low:stop]
        counts = np.array([slots[columns].max(initial=-1) + 1 for columns in self.columns_of], np.int64)
        far = np.flatnonzero(counts > SPARSE * slots.size)
        if len(far):
            slots = slots.copy()
            counts[far] = [self._localised(slots, self.columns_of[space]) for space in far.tolist()]
        offset, stride, groups = grouped_slots(self.tables, counts)
        keyed = SlottedEvents(events.symbols[low:stop], slots, offset, stride)
        window = comparable(events.measured[low:stop], self._query.window.size)
        inside = 0, report - low, stop - low
        return expanded(self.tables, keyed, window, inside, groups, self._label_atoms, low)


def runner(query: CompiledQuery, workers: Workers, carries: bool) -> ListedJoinRunner:
    """What lists the answers of a query's join on the CPU; it carries nothing."""
    return ListedJoinRunner(query, workers)
