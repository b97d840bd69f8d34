"""The answers of rules of three atoms, bucket by bucket: as `expanded_lanes`, but in fewer steps.

The arrays are those of `cer_gpu.kernels.joins.cpu_triples`. This module calls the kernels and
gives them room.
"""

from __future__ import annotations

import numpy as np

from cer_gpu.enumeration import expanded_lanes as shared
from cer_gpu.enumeration.expanded_lanes import Buckets, LanePart, Map, dealt
from cer_gpu.kernels.joins import cpu_lanes as lanes_kernel
from cer_gpu.kernels.joins import cpu_triples as kernel
from cer_gpu.kernels.joins.contract import (
    COMPARED,
    DEALT,
    FEW,
    LOOKED,
    LaneAtoms,
    LaneLists,
    LaneTriples,
    PlacedEnds,
)
from cer_gpu.kernels.windows.contract import MeasuredWindow


class TripleRows:
    """The events of a chunk, dealt into buckets of lanes.

    Parameters
    ----------
    tables : LaneAtoms
        Of three atoms.
    symbols : ndarray, shape (n,), uint8 or uint16
    lanes : ndarray, shape (n,), int32
        At least 0.
    slots : ndarray, shape (columns, n), int32
    window : MeasuredWindow
        With keys.
    threads : int
    share : callable
        As `Map`.
    """

    def __init__(
        self,
        tables: LaneAtoms,
        symbols: np.ndarray,
        lanes: np.ndarray,
        slots: np.ndarray,
        window: MeasuredWindow,
        threads: int,
        share: Map,
    ) -> None:
        self._dealt = dealt(tables, symbols, lanes, slots, window, threads, share)
        self._buckets: Buckets = [both for both in self._dealt.buckets if both[0] < both[1]]
        self._pair = np.maximum(tables.place.astype(np.int64) - COMPARED + 1, 0)
        self._threads, self._share = threads, share

    def listed(self, bounds: list[tuple[int, int]]) -> list[LanePart] | None:
        """The answers at the events in some bounds, which follow each other; None: another form is better.

        It is where more rows are looked at than `LOOKED` for each event and answer, or where there are more
        answers than `FEW` for each event.

        Parameters
        ----------
        bounds : list of (int, int)
        """
        report = bounds[0][0]
        count = max(min(self._threads, len(self._buckets)), 1)
        some = [self._buckets[number::count] for number in range(count)]
        new = max((bounds[-1][1] - report) // count, 1)
        most = min(FEW * new, np.iinfo(np.int32).max // count)
        room = min(shared.ROWS_OF_EVENT * new + shared.SOME, most)
        of_row = np.empty((len(self._dealt.rows) + 1, 3), np.int32)
        of_row[-1] = 0  # that of all events without a row
        while True:
            # What is never written takes no memory.
            found = LaneTriples(of_row, np.empty((count * room, 3), np.int32))
            given = [(buckets, number * room, room) for number, buckets in enumerate(some)]

            def made(one: tuple[Buckets, int, int], found: LaneTriples = found) -> int:
                return self._made(one, report, new, found)

            statuses = self._share(made, given)
            if kernel.TOO_SLOW in statuses or (kernel.ROWS_FULL in statuses and room == most):
                return None
            if kernel.ROWS_FULL not in statuses:
                break
            room = min(2 * room, most)
        parts: list[LanePart] = self._share(lambda edges: self._part(edges, found), bounds)
        return parts

    def _made(self, given: tuple[Buckets, int, int], report: int, new: int, found: LaneTriples) -> int:
        """Make the answers of some buckets, from a row on, with so much room; the status of the kernel."""
        buckets, first, room = given
        rows, shift, passes = self._dealt.rows, self._dealt.shift, self._dealt.passes
        widest = max((stop - begin for begin, stop in buckets), default=0)
        near = LaneLists(
            np.empty((3, widest), np.int32),
            np.zeros((3, rows.shape[1] - DEALT + 1, widest), np.int32),
            *np.zeros((2, 3), np.int64),
            np.empty((3, widest), np.int32),
        )
        counter = np.empty((1 << kernel.DIGIT) + 1, np.int64)
        one, other = np.empty((2, widest), np.int32)
        progress = np.zeros(lanes_kernel.WORDS, np.int64)
        progress[kernel.ROWS] = first
        budget = np.array([LOOKED * (new - first) + lanes_kernel.FREE, LOOKED, first + room], np.int64)
        for begin, stop in buckets:
            kernel.sort(rows, begin, stop, shift, passes, counter, one, other)
            order = (other if passes % 2 else one)[: stop - begin]
            status = kernel.walk(self._pair, rows, order, report, near, found, progress, budget)
            if status != kernel.DONE:
                return int(status)
        return int(kernel.DONE)

    def _part(self, bounds: tuple[int, int], found: LaneTriples) -> LanePart:
        """The ends among some events."""
        ends = PlacedEnds(*(np.empty(bounds[1] - bounds[0] + 1, np.int64) for _ in range(5)))
        progress = np.zeros(lanes_kernel.WORDS, np.int64)
        edges = np.array(bounds, np.int64)
        kernel.in_order(self._dealt.place, found.of_row, self._dealt.least, edges, ends, progress)
        n = int(progress[kernel.ENDS])
        end, latest, lowest, first, count = (one[:n] for one in ends)
        return LanePart(end, latest, lowest, first, count, found.event)
