"""The answers of rules of three atoms, bucket by bucket: as `expanded_lanes`, but in fewer steps.

The arrays are those of `cer_gpu.kernels.joins.cpu_triples`. This module calls the kernels and
gives them room.
"""

from __future__ import annotations

import numpy as np

from cer_gpu.enumeration.expanded_lanes import (
    Buckets,
    LanePart,
    Map,
    Range,
    dealt,
    in_enough_room,
    shares_of,
)
from cer_gpu.kernels.joins import cpu_lanes as lanes_kernel
from cer_gpu.kernels.joins import cpu_triples as kernel
from cer_gpu.kernels.joins.contract import COMPARED, DEALT, FEW, LOOKED, LaneAtoms
from cer_gpu.kernels.joins.laned import LaneLists, LaneTriples, PlacedEnds
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

    def listed(self, bounds: list[Range]) -> list[LanePart] | None:
        """The answers at the events in some bounds, which follow each other; None: another form is better.

        It is where more rows are looked at than `LOOKED` for each event and answer, or where there are more
        answers than `FEW` for each event.

        Parameters
        ----------
        bounds : list of (int, int)
        """
        report, shares = bounds[0][0], shares_of(self._buckets, self._threads)
        of_row = np.empty((len(self._dealt.rows) + 1, 3), np.int32)
        of_row[-1] = 0  # that of all events without a row

        def room_for(answers: int) -> LaneTriples:
            return LaneTriples(of_row, np.empty((answers, 3), np.int32))

        def made(buckets: Buckets, first: int, room: int, new: int, found: LaneTriples) -> int:
            return self._made(buckets, first, room, new, report, found)

        found = in_enough_room(shares, bounds[-1][1] - report, FEW, room_for, made, self._share)
        if found is None:
            return None
        parts: list[LanePart] = self._share(lambda edges: self._part(edges, found), bounds)
        return parts

    def _made(
        self, buckets: Buckets, first: int, room: int, new: int, report: int, found: LaneTriples
    ) -> int:
        """Make the answers of some buckets, from a row on, with so much room; the status of the kernel."""
        rows = self._dealt.rows
        ordered = BucketOrder(rows, buckets, self._dealt.shift, self._dealt.passes)
        near = LaneLists(
            np.empty((3, ordered.widest), np.int32),
            np.zeros((3, rows.shape[1] - DEALT + 1, ordered.widest), np.int32),
            *np.zeros((2, 3), np.int64),
            np.empty((3, ordered.widest), np.int32),
        )
        progress = np.zeros(lanes_kernel.WORDS, np.int64)
        progress[kernel.ROWS] = first
        budget = np.array([LOOKED * (new - first) + lanes_kernel.FREE, LOOKED, first + room], np.int64)
        for begin, stop in buckets:
            order = ordered(begin, stop)
            status = kernel.walk(self._pair, rows, order, report, near, found, progress, budget)
            if status != kernel.DONE:
                return int(status)
        return int(kernel.DONE)

    def _part(self, bounds: Range, found: LaneTriples) -> LanePart:
        """The ends among some events."""
        end, latest, lowest, first, count = ends_among(
            bounds, self._dealt.place, found.of_row, self._dealt.least
        )
        return LanePart(end, latest, lowest, first, count, found.event)


def ends_among(bounds: Range, place: np.ndarray, of_row: np.ndarray, least: np.ndarray) -> PlacedEnds:
    """The ends among some events, in their order, of answers that were made bucket by bucket.

    Parameters
    ----------
    bounds : (int, int)
    place, of_row, least : ndarray
        As `cpu_triples.in_order` reads them.
    """
    ends = PlacedEnds(*(np.empty(bounds[1] - bounds[0] + 1, np.int64) for _ in range(5)))
    progress = np.zeros(lanes_kernel.WORDS, np.int64)
    kernel.in_order(place, of_row, least, np.array(bounds, np.int64), ends, progress)
    return PlacedEnds(*(one[: int(progress[kernel.ENDS])] for one in ends))


class BucketOrder:
    """Sorts the rows of buckets by lane or slot, one bucket after another, in the same scratch.

    Parameters
    ----------
    rows : ndarray, shape (m, columns), int32
    buckets : list of (int, int)
    shift : int
        The lower bits of a lane, which its bucket has in common.
    passes : int
        So many digits tell the lanes of a bucket apart.

    Attributes
    ----------
    widest : int
        How many rows the largest bucket has.
    """

    def __init__(self, rows: np.ndarray, buckets: Buckets, shift: int, passes: int) -> None:
        self._rows, self._shift, self._passes = rows, shift, passes
        self.widest = max((stop - begin for begin, stop in buckets), default=0)
        self._counter = np.empty((1 << kernel.DIGIT) + 1, np.int64)
        self._one, self._other = np.empty((2, self.widest), np.int32)

    def __call__(self, begin: int, stop: int) -> np.ndarray:
        """The numbers of the rows begin .. stop - 1, shape (stop - begin,), int32: until the next call."""
        kernel.sort(self._rows, begin, stop, self._shift, self._passes, self._counter, self._one, self._other)
        return (self._other if self._passes % 2 else self._one)[: stop - begin]
