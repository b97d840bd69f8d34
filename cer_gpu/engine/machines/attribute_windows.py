"""The lanes of a chunk in which the attribute of WITHIN falls: hits, counts and structure, on the CPU."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.engine.machines.ends import Ends, ends_of, first_ends
from cer_gpu.engine.machines.numbers import COUNT_STEPS, too_many
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.ranked_structure import AdmittedStarts, RankedStructure
from cer_gpu.enumeration.structure import Structure
from cer_gpu.kernels.attribute_windows.contract import AutomatonPrograms
from cer_gpu.kernels.attribute_windows.cpu_counts import counts
from cer_gpu.kernels.attribute_windows.cpu_hits import latest_starts
from cer_gpu.kernels.forest.contract import CountedHits


class AttributeWindowRuns:
    """Runs falling lanes, in which an end admits the starts with the greatest keys, wherever they lie.

    Parameters
    ----------
    machine : AutomatonPrograms
    workers : Workers
    text : str
        The query as written.
    """

    def __init__(self, machine: AutomatonPrograms, workers: Workers, text: str) -> None:
        self._text = text
        self._machine = machine
        self._workers = workers

    def ends(self, chunk: Chunk) -> Ends:
        """The ends in the falling lanes of a chunk; any start in the lane may be admitted."""
        lanes = chunk.falling
        assert chunk.ranks is not None
        bounds = lanes.begin, lanes.report, lanes.stop
        event, latest = latest_starts(
            self._machine, chunk.events.symbols, chunk.ranks, *bounds, self._workers.map
        )
        lowest = np.repeat(lanes.begin, np.diff(first_ends(lanes, event)))
        return Ends(event, chunk.events.positions[latest], lowest)

    def counts(self, chunk: Chunk, segments: Segments, exact: bool) -> tuple[np.ndarray, np.ndarray]:
        """The ends in some segments of falling lanes, and how many complex events end at each.

        Parameters
        ----------
        chunk : Chunk
        segments : Segments
            `falling` of the chunk, or `alone` of its hits.
        exact : bool
            If false, a number above 2^62 - 1 is given as 2^62.

        Returns
        -------
        event : ndarray, shape (h,), int64
            Ascending.
        number : ndarray, shape (h,), int64, or object past 2^62

        Raises
        ------
        LimitError
            If the numbers take too long.
        """
        assert chunk.ranks is not None
        bounds = segments.begin, segments.report, segments.stop
        symbols = chunk.events.symbols
        try:
            return counts(self._machine, symbols, chunk.ranks, *bounds, self._workers.map, exact, COUNT_STEPS)
        except OverflowError as error:
            raise too_many(self._text, int((segments.stop - segments.begin).max()), error) from None

    def structures(self, chunk: Chunk, segments: Segments, found: Ends) -> list[Structure]:
        """The persistent structures of the hits of some segments, one for each unit.

        Parameters
        ----------
        chunk : Chunk
        segments : Segments
            As for `counts`.
        found : Ends
            The ends in the segments.
        """
        assert chunk.ranks is not None
        ranks = chunk.ranks
        counted, number = self.counts(chunk, segments, exact=False)
        number = number[np.searchsorted(counted, found.event)]

        def build(part: Segments) -> Structure:
            first, event, lowest = ends_of(part, found)
            low = int(np.searchsorted(found.event, part.report[0]))
            built = RankedStructure(self._machine.tables, AdmittedStarts(ranks.rank, lowest))
            ends = CountedHits(first, event, ranks.least[event], number[low : low + len(event)])
            built.build(chunk.events.symbols, part.begin, part.stop, ends)
            return built

        units = segments.units(self._workers.threads)
        return self._workers.map("finding matches", build, units, segments.events)


def alone(found: Ends) -> Segments:
    """For each of some ends a segment, from the least event at which its complex events may start to the end.

    For ends under CONSUME BY: their segments do not overlap.
    """
    return Segments(found.lowest, found.event, found.event + 1, np.zeros(len(found), np.int64))
