"""The answers of rules of three atoms, bucket by bucket: as `expanded_lanes`, but in fewer steps.

The arrays are those of `cer_gpu.kernels.joins.cpu_triples`. This module calls the kernels and
gives them room.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from cer_gpu.enumeration import expanded_lanes as shared
from cer_gpu.enumeration.expanded_lanes import Buckets, LanePart, bucketed, passes_of
from cer_gpu.kernels.joins import cpu_lanes as lanes_kernel
from cer_gpu.kernels.joins import cpu_triples as kernel
from cer_gpu.kernels.joins.contract import (
    COMPARED,
    DEALT,
    FEW,
    LOOKED,
    LaneAtoms,
    LaneTriples,
    LaneWords,
    PlacedEnds,
)
from cer_gpu.kernels.windows.contract import MeasuredWindow

Map = Callable[[Callable[[Any], Any], list[Any]], list[Any]]
"""Calls a function for each item of a list, in threads."""


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
        Less than `MOST_SLOTS`.
    window : MeasuredWindow
        With keys.
    """

    def __init__(
        self,
        tables: LaneAtoms,
        symbols: np.ndarray,
        lanes: np.ndarray,
        slots: np.ndarray,
        window: MeasuredWindow,
    ) -> None:
        n, compared = len(symbols), tables.column.shape[1]
        self._rows = np.empty((n, DEALT + compared), np.int32)
        self._least, self._place = np.empty(n, np.int32), np.empty(n, np.int32)
        self._shift, first = bucketed(n)
        slots, lanes = np.ascontiguousarray(slots), np.ascontiguousarray(lanes)
        lanes_kernel.deal(
            tables, symbols, lanes, slots, window, (1 << self._shift) - 1, first, self._rows, self._least,
            self._place,
        )  # fmt: skip
        self._passes = passes_of(lanes, self._shift)
        self._buckets: Buckets = [both for both in pairwise(first[:-1].tolist()) if both[0] < both[1]]
        self._pair = np.maximum(tables.place.astype(np.int64) - COMPARED + 1, 0)

    def listed(self, bounds: list[tuple[int, int]], threads: int, share: Map) -> list[LanePart] | None:
        """The answers at the events in some bounds, which follow each other; None: another form is better.

        It is where more rows are looked at than `LOOKED` for each event and answer, or where there are more
        answers than `FEW` for each event.

        Parameters
        ----------
        bounds : list of (int, int)
        threads : int
        share : callable
            As `Map`.
        """
        report = bounds[0][0]
        count = max(min(threads, len(self._buckets)), 1)
        some = [self._buckets[number::count] for number in range(count)]
        new = max((bounds[-1][1] - report) // count, 1)
        most = min(FEW * new, np.iinfo(np.int32).max // count)
        room = min(shared.ROWS_OF_EVENT * new + shared.SOME, most)
        of_row = np.empty((len(self._rows) + 1, 3), np.int32)
        of_row[-1] = 0  # that of all events without a row
        while True:
            # What is never written takes no memory.
            found = LaneTriples(of_row, np.empty((count * room, 3), np.int32))
            given = [(buckets, number * room, room) for number, buckets in enumerate(some)]

            def made(one: tuple[Buckets, int, int], found: LaneTriples = found) -> int:
                return self._made(one, report, new, found)

            statuses = share(made, given)
            if kernel.TOO_SLOW in statuses or (kernel.ROWS_FULL in statuses and room == most):
                return None
            if kernel.ROWS_FULL not in statuses:
                break
            room = min(2 * room, most)
        parts: list[LanePart] = share(lambda edges: self._part(edges, found), bounds)
        return parts

    def _made(self, given: tuple[Buckets, int, int], report: int, new: int, found: LaneTriples) -> int:
        """Make the answers of some buckets, from a row on, with so much room; the status of the kernel."""
        buckets, first, room = given
        widest = max((stop - begin for begin, stop in buckets), default=0)
        near = LaneWords(
            np.empty(widest, np.int32),
            np.empty((self._rows.shape[1] - DEALT + 1, widest), np.int32),
            *np.empty((2, widest), np.int32),
            np.empty((3, widest), np.int32),
        )
        counter = np.empty((1 << kernel.DIGIT) + 1, np.int64)
        one, other = np.empty((2, widest), np.int32)
        progress = np.zeros(lanes_kernel.WORDS, np.int64)
        progress[kernel.ROWS] = first
        budget = np.array([LOOKED * (new - first) + lanes_kernel.FREE, LOOKED, first + room], np.int64)
        for begin, stop in buckets:
            kernel.sort(self._rows, begin, stop, self._shift, self._passes, counter, one, other)
            order = (other if self._passes % 2 else one)[: stop - begin]
            kernel.arrange(self._rows, order, begin, near)
            status = kernel.walk(self._pair, stop - begin, begin, report, near, found, progress, budget)
            if status != kernel.DONE:
                return int(status)
        return kernel.DONE

    def _part(self, bounds: tuple[int, int], found: LaneTriples) -> LanePart:
        """The ends among some events."""
        ends = PlacedEnds(*(np.empty(bounds[1] - bounds[0] + 1, np.int64) for _ in range(5)))
        progress = np.zeros(lanes_kernel.WORDS, np.int64)
        edges = np.array(bounds, np.int64)
        kernel.in_order(self._place, found.of_row, self._least, edges, ends, progress)
        n = int(progress[kernel.ENDS])
        end, latest, lowest, first, count = (one[:n] for one in ends)
        return LanePart(end, latest, lowest, first, count, found.event)
