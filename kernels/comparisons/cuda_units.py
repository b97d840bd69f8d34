"""Compared steps on the device: what is copied there, and the forms of the bodies that read it.

The host sorts the events into the orders and copies these. Each thread runs whole segments, which share no
rows of the trees over ranks.
"""

from typing import Any, NamedTuple

import numpy as np

from ..device.arrays import device_array
from ..device.geometry import scratch_blocks
from ..device.jit import inlined
from ..device.words import copied
from ..loop.cuda import progress_for
from .contract import ArrangedEntries, ComparedSegments, ComparedTables, PairedEvents, PairRuns, whole
from .index import HERE


class DevicePairs(NamedTuple):
    """Segments of events on the device, with their automaton.

    ============  =================  =======================================
    `tables`      ComparedTables     of device arrays, as the next three
    `events`      PairedEvents       `symbols` are uint16
    `segments`    ComparedSegments
    `arranged`    Arranged
    `runs`        PairRuns           the segments, to run whole
    `host`        ComparedTables     of arrays on the host, as the next one
    `bounds`      ComparedSegments
    ============  =================  =======================================
    """

    tables: Any
    events: Any
    segments: Any
    arranged: Any
    runs: Any
    host: ComparedTables
    bounds: ComparedSegments

    @property
    def capacity(self):
        """Where each segment writes what it finds, int64 [segments + 1]: sums of `stop - report`."""
        return np.append(0, np.cumsum(self.bounds.stop - self.bounds.report)).astype(np.int64)


class PairRooms(NamedTuple):
    """Scratch of segments and of threads.

    =========  =================================  =====================================================
    `best`     int64 or int32 [orders, ranks]     trees over ranks: two numbers for each row, or one
    `near`     float64 [orders, ranks] or [1, 1]  for counts: the same, rounded
    `last`     int64 [threads, states, 2]         the last event that has entered, and its number
    `entered`  int64 [threads, groups]            what an event enters
    `here`     int64 [threads, HERE]              where its segment lies
    `progress` int64 [segments, WORDS]            of the loop
    =========  =================================  =====================================================
    """

    best: Any
    near: Any
    last: Any
    entered: Any
    here: Any
    progress: Any


@inlined
def run_of(runs, g):
    """One of the `PairRuns`."""
    return PairRuns(runs.begin[g : g + 1], runs.report[g : g + 1], runs.stop[g : g + 1], runs.of[g : g + 1])


def device_pairs(tables, events, segments, arranged):
    """Copy segments of events to the device: `DevicePairs`."""
    symbols = copied(events.symbols.astype(np.uint16))
    pairs = PairedEvents(symbols, copied(events.places), *(copied(_some(part)) for part in events[2:]))
    return DevicePairs(
        ComparedTables(*map(copied, tables)),
        pairs,
        ComparedSegments(*map(copied, segments)),
        ArrangedEntries(*(copied(_some(part)) for part in arranged)),
        PairRuns(*map(copied, whole(segments))),
        tables,
        segments,
    )


def bytes_of_pairs(tables, rows):
    """Bytes of device memory that segments with `rows` rows take at most, with what is found in them."""
    slots, values = int(tables.order_slot.max(initial=0)) + 1, int(tables.test_value.max(initial=0)) + 1
    return rows * (48 + 4 * slots + 12 * values + 52 * len(tables.order_slot))


def rooms_of(pairs, trees, dtype, counts, geometry):
    """Scratch with `trees` ranks for each row: `PairRooms`, and the number of blocks to launch."""
    tables, rows = pairs.host, int(pairs.bounds.base[-1])
    states, orders = len(tables.accepting), max(len(tables.order_slot), 1)
    groups = max(int(np.diff(tables.first).max(initial=0)), 1)
    blocks = scratch_blocks(len(pairs.bounds.begin), 2 * states + groups + HERE, geometry)
    threads = blocks * geometry.threads
    near = (orders, max(trees * rows, 1)) if counts else (1, 1)
    return PairRooms(
        device_array((orders, max(trees * rows, 1)), dtype),
        device_array(near, np.float64),
        device_array((threads, states, 2), np.int64),
        device_array((threads, groups), np.int64),
        device_array((threads, HERE), np.int64),
        progress_for(len(pairs.bounds.begin)),
    ), blocks


def _some(array):
    """An array, or in place of an empty one a single row: a device has no empty arrays of two dimensions."""
    return array if array.size else np.zeros((1, 1), array.dtype)
