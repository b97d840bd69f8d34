"""A chunk of relevant events, grouped by lane and cut into segments that run on their own."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cer_gpu.engine.read.events import Relevant, grouped, joined
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.lanes import cpu as lane_kernels
from cer_gpu.kernels.windows import cpu as windows
from cer_gpu.plan.compiled import WindowPlan

SEGMENT = 1 << 16
"""Events that a segment reports at least, where a lane is cut: enough to pay for a thread's turn."""


@dataclass(frozen=True, slots=True)
class Segments:
    """Ranges of lanes that run on their own: all int64, shape (segments,).

    Attributes
    ----------
    begin, report, stop : ndarray
        Events begin .. stop - 1 are run; the ends from `report` on are this segment's to report.
    lane : ndarray
    """

    begin: np.ndarray
    report: np.ndarray
    stop: np.ndarray
    lane: np.ndarray

    def __len__(self) -> int:
        return len(self.begin)

    @property
    def count(self) -> int:
        """How many lanes there are at least: one more than the greatest that occurs."""
        return int(self.lane.max(initial=-1)) + 1

    @property
    def events(self) -> int:
        """How many events they run, those that several segments run counted for each."""
        return int((self.stop - self.begin).sum())

    def part(self, first: int, last: int) -> Segments:
        """The segments `first .. last - 1`."""
        return Segments(
            self.begin[first:last], self.report[first:last], self.stop[first:last], self.lane[first:last]
        )

    def units(self, threads: int) -> list[tuple[int, int]]:
        """Ranges of segments: what one thread takes at a time.

        About `SEGMENT` events each, fewer where there would not be some for every thread.
        """
        if len(self) == 0:
            return []
        work = np.cumsum(self.stop - self.begin)
        size = min(SEGMENT, max(int(work[-1]) // (8 * threads), SEGMENT // 16, 1))
        # They ascend; `np.unique` would import a part of NumPy that takes longer than a small count.
        edges = dict.fromkeys((np.searchsorted(work, np.arange(size, int(work[-1]), size)) + 1).tolist())
        bounds = [0, *(edge for edge in edges if edge < len(self)), len(self)]
        return list(pairwise(bounds))


@dataclass(frozen=True, slots=True)
class Chunk:
    """Events of the tail of the chunks before, and new ones.

    Attributes
    ----------
    events : Relevant
        Grouped by lane, in the order of the stream inside each.
    lanes : Segments
        Whole lanes, those with new events only.
    segments : Segments
        The same, long lanes cut where the window allows it.
    monotone : bool
        Whether the window's keys ascend in every lane and none is null: then what it admits is an interval
        of events, and lanes can be cut.
    """

    events: Relevant
    lanes: Segments
    segments: Segments
    monotone: bool

    def lowest_starts(
        self, segments: Segments, first: np.ndarray, event: np.ndarray, window: WindowPlan | None
    ) -> np.ndarray:
        """For each end the least event that may start a complex event, if the window is monotone.

        Parameters
        ----------
        segments : Segments
        first : ndarray, shape (segments + 1,), int64
            The ends in segment g are first[g] .. first[g + 1] - 1.
        event : ndarray, shape (ends,), int64
        window : WindowPlan or None
        """
        if window is None or not self.monotone:
            return np.repeat(segments.begin, np.diff(first))
        return windows.lowest_starts(self.events.measured, segments.begin, first, event, window.size)

    def admitted_by_last(self, window: WindowPlan) -> np.ndarray:
        """For each lane the least event that its last event's window admits, shape (lanes,), int64."""
        count = np.arange(len(self.lanes) + 1)
        return self.lowest_starts(self.lanes, count, self.lanes.stop - 1, window)


def by_lane(
    tail: Relevant | None, new: Relevant, lane_count: int, workers: Workers
) -> tuple[Relevant, Segments]:
    """The events of a tail and new ones by lane; lanes without new events are run by no segment."""
    everything = new if tail is None or not len(tail) else joined([tail, new])
    old = len(everything) - len(new)
    if not len(everything.lanes):
        whole = np.array([[0], [old], [len(everything)], [0]], np.int64)
        return everything, Segments(*(whole if len(new) else whole[:, :0]))
    starts = np.zeros(lane_count + 1, np.int64)
    place = np.empty(len(everything), np.int32)
    lane_kernels.group(everything.lanes, starts, place)
    kept = np.bincount(everything.lanes[:old], minlength=lane_count)
    begin, stop = starts[:-1], starts[1:]
    report = begin + kept
    used = np.flatnonzero(report < stop)
    events = grouped(everything, place, starts, workers)
    return events, Segments(begin[used], report[used], stop[used], used)


def make_chunk(
    window: WindowPlan | None, tail: Relevant | None, new: Relevant, lane_count: int, workers: Workers
) -> Chunk:
    """Group events, and cut long lanes.

    Parameters
    ----------
    window : WindowPlan or None
    tail : Relevant or None
        What earlier chunks left inside the window.
    new : Relevant
        In the order of the stream.
    """
    events, lanes = by_lane(tail, new, lane_count, workers)
    monotone = window is None or window.kind != "attribute" or is_monotone(events, lanes)
    if window is None or not monotone:
        return Chunk(events, lanes, lanes, monotone)
    return Chunk(events, lanes, cut_lanes(lanes, events.measured, window.size), True)


def is_monotone(events: Relevant, lanes: Segments) -> bool:
    """Whether the window's keys ascend in every lane, and none is null."""
    if len(events.keyed) and not events.keyed.all():
        return False
    falls = np.flatnonzero(events.keys[1:] < events.keys[:-1]) + 1
    return bool(np.isin(falls, lanes.begin).all())


def cut_lanes(lanes: Segments, keys: np.ndarray, size: int | float) -> Segments:
    """Cut long lanes into segments that each start one window early (their halo).

    There are as few segments of a lane as if each but the last reported as many events as its halo has, so
    that about half of the work is done twice at most; and they report equally many.
    """
    if not len(lanes) or int((lanes.stop - lanes.report).max()) < 2 * SEGMENT:
        return lanes
    rows: list[tuple[int, int, int, int]] = []
    for begin, report, stop, lane in zip(
        lanes.begin.tolist(), lanes.report.tolist(), lanes.stop.tolist(), lanes.lane.tolist(), strict=True
    ):
        low, at, count = begin, report, 1
        while stop - at >= 2 * SEGMENT:
            low = halo_begin(keys, low, at, size)
            at += max(SEGMENT, at - low)
            if at >= stop - SEGMENT:
                break
            count += 1
        low = begin
        for at, end in pairwise(report + (stop - report) * part // count for part in range(count + 1)):
            low = halo_begin(keys, low, at, size) if count > 1 else begin
            rows.append((low, at, end, lane))
    return Segments(*np.array(rows, np.int64).T.copy())


def halo_begin(keys: np.ndarray, low: int, at: int, size: int | float) -> int:
    """The least event from `low` on that a window of an end at `at` reaches; keys ascend."""
    end = keys[at].item()
    high = at
    while low < high:
        middle = (low + high) // 2
        if end - keys[middle].item() <= size:
            high = middle
        else:
            low = middle + 1
    return low
