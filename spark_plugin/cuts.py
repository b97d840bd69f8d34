"""Finds the times at which a stream is cut into segments, and where the halo of each segment begins."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
from cer_gpu.spark.segments import STREAM
from cer_gpu.spark.sorting import time_of

from cer_gpu.frozen_dataclass import dataclass

VALUES = 256
"""Times of each task and stream that the sketch keeps: its bounds are off by one in so many rows at most."""

FINE = 16
"""Cells of a histogram for each segment: the halo of a count window is longer than needed by one at most."""

MEASURED = pa.schema(
    [
        pa.field("stream", pa.int32(), nullable=False),
        pa.field("whole", pa.bool_(), nullable=False),
        pa.field("rows", pa.int64(), nullable=False),
        pa.field("integers", pa.list_(pa.int64())),
        pa.field("floats", pa.list_(pa.float64())),
    ]
)
"""What a measuring task gives for each stream: how many rows, and numbers about them."""


class TimeSketch:
    """A function for `mapInArrow`: an approximate distribution of the times of each stream.

    Parameters
    ----------
    time : str
        The column.
    """

    def __init__(self, time: str) -> None:
        self._time = time

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for stream, time in _times(batches, self._time):
            time = np.sort(time)
            ranks = np.linspace(0, len(time) - 1, min(VALUES, len(time))).astype(np.int64)
            yield _measured(stream, len(time), time[ranks])


class Histogram:
    """A function for `mapInArrow`: the exact number of events of each stream between given times.

    Parameters
    ----------
    time : str
        The column.
    cells : dict of int to ndarray
        For each stream the times at which cells begin, ascending; events before the first of them are in cell
        0.
    """

    def __init__(self, time: str, cells: dict[int, np.ndarray]) -> None:
        self._time = time
        self._cells = cells

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = {stream: np.zeros(len(cells) + 1, np.int64) for stream, cells in self._cells.items()}
        for batch in batches:
            for stream, time in _times([batch], self._time):
                at = np.searchsorted(self._cells[stream], time, side="right")
                found[stream] += np.bincount(at, minlength=len(found[stream]))
        for stream, counts in found.items():
            yield _measured(stream, int(counts.sum()), counts)


def _times(batches: Iterable[pa.RecordBatch], name: str) -> Iterator[tuple[int, np.ndarray]]:
    """The times of each stream in some batches."""
    streams, times = [np.empty(0, np.int32)], []
    for batch in batches:
        if batch.num_rows:
            streams.append(batch.column(STREAM).to_numpy(zero_copy_only=False))
            times.append(time_of(batch, name))
    if not times:
        return
    stream, time = np.concatenate(streams), np.concatenate(times)
    for number in np.unique(stream).tolist():
        yield number, time[stream == number]


def _measured(stream: int, rows: int, values: np.ndarray) -> pa.RecordBatch:
    whole = values.dtype.kind != "f"
    lists = [values.tolist() if whole else None, None if whole else values.tolist()]
    columns = [[stream], [whole], [rows], *([each] for each in lists)]
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, MEASURED)], schema=MEASURED
    )


@dataclass(frozen=True, slots=True)
class Distribution:
    """Times of a stream in ascending order, and how many events each stands for."""

    values: np.ndarray
    weights: np.ndarray

    @property
    def rows(self) -> int:
        """How many events there are."""
        return round(float(self.weights.sum()))

    def bounds(self, segments: int) -> np.ndarray:
        """Ascending times that cut the stream into at most `segments` segments of about equal size."""
        done = np.cumsum(self.weights)
        shares = done[-1] * np.arange(1, segments) / segments
        found = np.unique(self.values[np.searchsorted(done, shares)])
        return found[found > self.values[0]]

    def before(self, times: np.ndarray) -> np.ndarray:
        """About how many events come before some times."""
        done = np.concatenate([[0.0], np.cumsum(self.weights)])
        return done[np.searchsorted(self.values, times, side="left")]


def distribution(parts: Sequence[tuple[int, np.ndarray]]) -> Distribution:
    """The distribution of a stream from several sketches, each a number of rows and sample values."""
    values = np.concatenate([part for _, part in parts])
    weights = np.concatenate([np.full(len(part), rows / len(part)) for rows, part in parts])
    order = np.argsort(values, kind="stable")
    return Distribution(values[order], weights[order])


def worth_cutting(bounds: np.ndarray, halos: np.ndarray, found: Distribution) -> np.ndarray:
    """The bounds of segments that have at least as many events of their own as their halo has.

    More segments would do most of the work twice.

    Parameters
    ----------
    bounds, halos : ndarray, shape (n,)
        Where segments begin, and their halos.
    found : Distribution
    """
    kept: list[int] = []
    own, halo = found.before(bounds), found.before(halos)
    last = 0.0
    for number in range(len(bounds)):
        if own[number] - last >= own[number] - halo[number]:
            kept.append(number)
            last = own[number]
    return bounds[kept]


def earlier(bounds: np.ndarray, size: float) -> np.ndarray:
    """Times earlier by a window's size: at or before every event that a window which ends there admits.

    For floats a step more, since a difference is rounded.
    """
    if bounds.dtype.kind != "f":
        least = np.iinfo(np.int64).min
        whole = math.floor(size)
        return np.array([max(least, bound - whole) for bound in bounds.tolist()], np.int64)
    return np.nextafter(bounds - size - np.abs(bounds) * 1e-15, -np.inf)


def later(bounds: np.ndarray, size: float) -> np.ndarray:
    """Times later by a size: after every event that is at most so far from one before a bound.

    For floats a step more, since a difference is rounded.
    """
    if bounds.dtype.kind != "f":
        most = np.iinfo(np.int64).max
        whole = math.floor(size)
        return np.array([min(most, bound + whole) for bound in bounds.tolist()], np.int64)
    return np.nextafter(bounds + size + np.abs(bounds + size) * 1e-15, np.inf)


def by_count_behind(cells: np.ndarray, counts: np.ndarray, bounds: np.ndarray, size: int) -> np.ndarray:
    """For each bound the earliest cell up to which `size` events lie behind it; the greatest time if none.

    Parameters as of `by_count`.
    """
    before = np.cumsum(counts)[:-1]
    wanted = before[np.searchsorted(cells, bounds)] + size
    last = np.searchsorted(before, wanted, side="left")
    most = np.inf if cells.dtype.kind == "f" else np.iinfo(np.int64).max
    return np.where(last < len(cells), cells[np.minimum(last, len(cells) - 1)], np.array(most, cells.dtype))


def by_count(cells: np.ndarray, counts: np.ndarray, bounds: np.ndarray, size: int) -> np.ndarray:
    """For each bound the latest cell before which `size` events lie in between; the least time if none.

    Parameters
    ----------
    cells : ndarray, shape (n,)
        Where cells begin; every bound is one of them.
    counts : ndarray, shape (n + 1,), int64
        Of the events in them, the first before all.
    """
    before = np.cumsum(counts)[:-1]
    at = np.searchsorted(cells, bounds)
    first = np.searchsorted(before, before[at] - size, side="right") - 1
    least = -np.inf if cells.dtype.kind == "f" else np.iinfo(np.int64).min
    return np.where(first >= 0, cells[np.maximum(first, 0)], np.array(least, cells.dtype))
