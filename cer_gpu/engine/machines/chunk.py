"""A chunk of relevant events, grouped by lane and cut into segments that run on their own."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from cer_gpu.engine.read.events import EventArrays, grouped, joined
from cer_gpu.engine.read.lanes import SPARSE
from cer_gpu.engine.workers import Workers
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.attribute_windows import cpu_order as ranking
from cer_gpu.kernels.attribute_windows.contract import Ranks
from cer_gpu.kernels.lanes import cpu as lane_kernels
from cer_gpu.kernels.runs.barriers import bars_of
from cer_gpu.kernels.windows import cpu as windows
from cer_gpu.plan.compiled_query import WindowPlan

SEGMENT = 1 << 16
"""The least number of events that a segment reports where a lane is cut: enough work for a thread."""


@dataclass(frozen=True, slots=True)
class Segments:
    """Ranges of lanes that run on their own: all int64, shape (segments,).

    Attributes
    ----------
    begin, report, stop : ndarray
        Events begin .. stop - 1 are run; the segment reports the ends from `report` on.
    lane : ndarray
    """

    begin: np.ndarray
    report: np.ndarray
    stop: np.ndarray
    lane: np.ndarray

    @property
    def count(self) -> int:
        """A bound of the lane numbers: one more than the greatest that occurs."""
        return int(self.lane.max(initial=-1)) + 1

    @property
    def events(self) -> int:
        """How many events the segments run; an event that several segments run counts once for each."""
        return int((self.stop - self.begin).sum())

    def take(self, which: np.ndarray) -> Segments:
        """Some of the segments, by their numbers or by a mask."""
        return Segments(self.begin[which], self.report[which], self.stop[which], self.lane[which])

    def part(self, first: int, last: int) -> Segments:
        """The segments `first .. last - 1`."""
        return Segments(
            self.begin[first:last], self.report[first:last], self.stop[first:last], self.lane[first:last]
        )

    def units(self, threads: int) -> list[Segments]:
        """The segments in parts; each is the work of one thread at a time.

        A unit has about `SEGMENT` events; fewer if some threads would have no unit.
        """
        if len(self.begin) < 2:
            return [self] if len(self.begin) else []
        work = np.cumsum(self.stop - self.begin)
        size = min(SEGMENT, max(int(work[-1]) // (8 * threads), SEGMENT // 16, 1))
        # They ascend; `np.unique` would import a part of NumPy that takes longer than a small count.
        edges = dict.fromkeys((np.searchsorted(work, np.arange(size, int(work[-1]), size)) + 1).tolist())
        bounds = [0, *(edge for edge in edges if edge < len(self.begin)), len(self.begin)]
        return [self.part(first, last) for first, last in pairwise(bounds)]


NO_SEGMENTS = Segments(*np.empty((4, 0), np.int64))


@dataclass(frozen=True, slots=True)
class Chunk:
    """Events to be run together: those of earlier chunks that are still in the window, and new ones.

    Attributes
    ----------
    events : EventArrays
        Grouped by lane, in the order of the stream inside each.
    measured : ndarray, shape (events,)
        What the window of `segments` measures of each event; ascends in each segment. For a join every event
        of a lane whose keys fall has the same value, and such lanes are in `segments` too.
    lanes : Segments
        The lanes with new events, uncut.
    segments : Segments
        The lanes in which what the window measures ascends, so that an end admits an interval of events. Long
        ones are cut where the window allows it.
    falling : Segments
        The other lanes, uncut, in which an end admits the starts with the greatest keys.
    ranks : Ranks or None
        The events in the order of their keys, if a lane is falling.
    held : bool
        For a join: whether the answers that `segments` admit have to be checked against the keys.
    in_order : bool
        Whether events of several lanes are in the order of the stream, not grouped by lane: `lanes` and
        `segments` then have one element that stands for all.
    """

    events: EventArrays
    measured: np.ndarray
    lanes: Segments
    segments: Segments
    falling: Segments = NO_SEGMENTS
    ranks: Ranks | None = None
    held: bool = False
    in_order: bool = False

    def falls(self, event: np.ndarray) -> np.ndarray:
        """Which of some events are in a falling lane, shape (events,), bool."""
        if not len(self.falling.begin):
            return np.zeros(len(event), bool)
        lane = np.searchsorted(self.falling.begin, event, side="right") - 1
        return (lane >= 0) & (event < self.falling.stop[lane])

    def lowest_starts(
        self,
        segments: Segments,
        first: np.ndarray,
        event: np.ndarray,
        window: WindowPlan | None,
        longest: int | None = None,
    ) -> np.ndarray:
        """For each end the least event that its window admits as a start.

        Parameters
        ----------
        segments : Segments
            In which what the window measures ascends.
        first : ndarray, shape (segments + 1,), int64
            The ends in segment g are first[g] .. first[g + 1] - 1.
        event : ndarray, shape (ends,), int64
        window : WindowPlan or None
        longest : int, optional
            The most events of a run: no run begins further back, whatever the window.
        """
        if window is None:
            lowest = np.repeat(segments.begin, np.diff(first))
        else:
            lowest = windows.lowest_starts(self.measured, segments.begin, first, event, window.size)
        return lowest if longest is None else np.maximum(lowest, event - (longest - 1), out=lowest)

    def admitted_by_last(self, window: WindowPlan) -> np.ndarray:
        """For each lane the least event that its last event's window admits, shape (lanes,), int64."""
        count = np.arange(len(self.lanes.begin) + 1)
        return self.lowest_starts(self.lanes, count, self.lanes.stop - 1, window)


def by_lane(
    parts: list[EventArrays], old: int, lane_count: int, workers: Workers
) -> tuple[EventArrays, Segments]:
    """Events by lane, of which the first `old` are a tail; a lane without new ones has no segment."""
    total = sum(map(len, parts))
    numbers = parts[0].lanes if len(parts) == 1 else np.concatenate([part.lanes for part in parts])
    lanes = np.arange(lane_count, dtype=np.int32)
    if lane_count > SPARSE * total:
        lanes, numbers = np.unique(numbers, return_inverse=True)
    starts = np.zeros(len(lanes) + 1, np.int64)
    place = np.empty(total, np.int32)
    lane_kernels.group(numbers, starts, place)
    kept = np.bincount(numbers[:old], minlength=len(lanes))
    begin, stop = starts[:-1], starts[1:]
    report = begin + kept
    used = np.flatnonzero(report < stop)
    events = grouped(parts, place, np.repeat(lanes, np.diff(starts)), workers)
    return events, Segments(begin[used], report[used], stop[used], lanes[used].astype(np.int64))


def chunk_in_order(tail: EventArrays | None, new: list[EventArrays]) -> Chunk:
    """Events of earlier chunks and new ones as a chunk in the order of the stream."""
    events = joined(new if tail is None else [tail, *new])
    if events.payload is not None and len(events.payload):
        events = replace(events, payload=events.payload.combine_chunks())
    old = 0 if tail is None else len(tail)
    whole = Segments(*np.array([[0], [old], [len(events)], [0]], np.int64))
    return Chunk(events, events.measured, whole, whole, in_order=True)


def make_chunk(
    window: WindowPlan | None,
    ranks: bool,
    tail: EventArrays | None,
    new: list[EventArrays],
    lane_count: int,
    workers: Workers,
) -> Chunk:
    """Group events by lane, and cut long lanes.

    Parameters
    ----------
    window : WindowPlan or None
    ranks : bool
        Whether the runner admits starts by their ranks where the attribute of the window falls.
    tail : EventArrays or None
        The events of earlier chunks that are still in the window.
    new : list of EventArrays
        In the order of the stream.
    """
    old = 0 if tail is None else len(tail)
    parts = [tail, *new] if tail is not None and old else new
    if any(len(part.lanes) for part in new):
        events, lanes = by_lane(parts, old, lane_count, workers)
    else:
        events = parts[0] if len(parts) == 1 else joined(parts)
        whole = np.array([[0], [old], [len(events)], [0]], np.int64)
        lanes = Segments(*(whole if len(events) > old else whole[:, :0]))
    if window is None or window.kind != "attribute":
        measured = events.measured
        cut = lanes if window is None else cut_lanes(lanes, measured, window.size)
        return Chunk(events, measured, lanes, cut)
    keys, falls = events.keys, np.empty(len(lanes.begin), np.uint8)
    if len(events.keyed):
        keys = keys.copy()
    windows.settle(keys, events.keyed, lanes.begin, lanes.stop, falls)
    falling = lanes.take(falls != 0)
    if not ranks:
        held = bool(falls.any() or bars_of(events.keys, events.keyed).any())
        if len(falling.begin) and keys is events.keys:
            keys = keys.copy()
        for begin, stop in zip(falling.begin.tolist(), falling.stop.tolist(), strict=True):
            keys[begin:stop] = 0
        return Chunk(events, keys, lanes, cut_lanes(lanes, keys, window.size), held=held)
    rising = cut_lanes(lanes.take(falls == 0), keys, window.size)
    found = _ranked(keys, window.size, falling, workers) if len(falling.begin) else None
    return Chunk(replace(events, keys=keys), keys, lanes, rising, falling, found)


def _ranked(keys: np.ndarray, size: int | float, lanes: Segments, workers: Workers) -> Ranks:
    """The events in the order of their keys, lane by lane, where lanes are falling."""
    ranks, spare = ranking.unranked(len(keys)), np.empty(len(keys), np.int64)
    signless, size = ranking.unsigned(keys, size)

    def rank(part: Segments) -> None:
        ranking.rank_lanes(signless, size, part.begin, part.stop, ranks, spare)

    workers.map("sorting", rank, lanes.units(workers.threads), lanes.events)
    return ranks


def cut_lanes(lanes: Segments, keys: np.ndarray, size: int | float) -> Segments:
    """Cut long lanes into segments that each begin one window early (their halo).

    A lane gets as many segments as if each but the last reported as many events as its halo has: so at most
    about half of the work is done twice. All segments of a lane report equally many events.
    """
    if not len(lanes.begin) or int((lanes.stop - lanes.report).max()) < 2 * SEGMENT:
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


def pieces_in_order(
    chunk: Chunk, size: int | float, threads: int, least: int = 0
) -> list[tuple[int, int, int]]:
    """A chunk in the order of the stream, cut for threads where what the window measures ascends.

    Parameters
    ----------
    chunk : Chunk
    size : int or float
        Of the window.
    threads : int
    least : int, optional
        The least number of events that a piece reports, if that is more than `SEGMENT`.

    Returns
    -------
    list of (begin, report, stop)
        Where a piece begins, one window early if it is not the first, what it reports first, and where it
        stops. Each reports at least as many events as it runs before them, so that at most half of the work
        is done twice.
    """
    keys, report, stop = chunk.measured, int(chunk.lanes.report[0]), int(chunk.lanes.stop[0])
    new = stop - report
    count = max(min(threads, new // max(SEGMENT, least, report)), 1)
    edges = [report + new * number // count for number in range(count + 1)]
    if count == 1 or not (keys[1:] >= keys[:-1]).all():
        return [(0, report, stop)]
    pieces = [(halo_begin(keys, 0, at, size), at, end) for at, end in pairwise(edges)]
    short = all(at - begin <= end - at for begin, at, end in pieces)
    return pieces if short else [(0, report, stop)]


def halo_begin(keys: np.ndarray, low: int, at: int, size: int | float) -> int:
    """The least event from `low` on that the window of an end at `at` reaches; keys ascend."""
    end = keys[at].item()
    high = at
    while low < high:
        middle = (low + high) // 2
        if end - keys[middle].item() <= size:
            high = middle
        else:
            low = middle + 1
    return low
