"""Enumeration of steps on the device: one thread for each hit, by count, scan and fill.

A hit is walked twice: first to count the marks of its complex events, then, when it is known where these go,
to write and to sort them. The number of its complex events is known from its count.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.geometry import LANE, STREAM, scratch_blocks
from ..device.jit import device, kernel
from ..device.scan import offsets_of
from ..device.words import copied
from ..forest.contract import SortScratch, UnsortedAnswers
from ..forest.cuda_enumerate import MOST, written
from ..forest.cuda_walks import canonical
from ..windows.cuda import segment_of
from .cuda_nodes import nodes_of

DEPTH = 64
"""Room of a thread for the events of a complex event."""

ENTRY, LINK, AT, FRAME = range(4)
"""Columns of a frame: an entry, the link that is followed from it, and the entry of that link to try next.
`FRAME` is their number."""

TOO_DEEP, MISMATCH = -1, -2
"""In place of a number of marks: a complex event has more than `DEPTH` events; the walk has found more or
fewer complex events than were counted."""


@device
def walk_hit(nodes, hit, lowest, count, frames, last, mark, found, records):
    """Find the complex events of a hit, and write them as items `last`, `last - 1` ... if `records`.

    Gives the number behind that of the last mark, or what is wrong.
    """
    n = np.int64(0)
    for r in range(nodes.root_first[hit], nodes.root_first[hit + 1]):
        entry = np.int64(nodes.root_entry[r])
        frames[0, ENTRY] = entry
        frames[0, LINK] = nodes.link_first[entry]
        frames[0, AT] = nodes.link_high[nodes.link_first[entry]] - 1
        depth = 0
        while depth >= 0:
            entry = frames[depth, ENTRY]
            link = frames[depth, LINK]
            if link == nodes.link_last[entry]:
                depth -= 1
                continue
            low = nodes.link_low[link]
            at = frames[depth, AT]
            if low >= 0 and at >= low:
                frames[depth, AT] = at - 1
                if nodes.latest[at] >= lowest:
                    depth += 1
                    if depth == frames.shape[0]:
                        return np.int64(TOO_DEEP)
                    frames[depth, ENTRY] = at
                    frames[depth, LINK] = nodes.link_first[at]
                    frames[depth, AT] = nodes.link_high[nodes.link_first[at]] - 1
                continue
            frames[depth, LINK] = link + 1
            if link + 1 < nodes.link_last[entry]:
                frames[depth, AT] = nodes.link_high[link + 1] - 1
            if low >= 0 or nodes.event[entry] < lowest:
                continue
            if n == count:
                return np.int64(MISMATCH)
            if records:
                item = last - n
                found.start[item] = nodes.event[entry] - lowest
                found.first[item] = mark
                found.length[item] = depth + 1
                for d in range(depth + 1):
                    found.event[mark + d] = nodes.event[frames[depth - d, ENTRY]] - lowest
                    found.label[mark + d] = nodes.label[frames[depth - d, ENTRY]]
            n += 1
            mark += depth + 1
    return mark if n == count else np.int64(MISMATCH)


@kernel
def step_measure_kernel(made, hits, lowest, row_first, frames, marks, worst):
    """Count the marks of the complex events of each hit; a status in `marks` where the walk fails.

    ===========  =============================  ====================================================
    `made`       UnitNodes                      in
    `hits`       int64 [m]                      in: their numbers
    `lowest`     int64 [all hits]               in: the least admissible start of each
    `row_first`  int64 [m + 1]                  in: where the complex events of each go
    `frames`     int64 [DEPTH, FRAME, threads]  scratch
    `marks`      int64 [m]                      out
    `worst`      int64 [1]                      in/out: the least number in `marks`, if it is less
    ===========  =============================  ====================================================
    """
    thread = cuda.grid(1)
    # nothing is recorded, so any arrays do
    none = made.nodes.event
    found = UnsortedAnswers(none, none, none, none, none)
    for k in range(thread, hits.shape[0], frames.shape[2]):
        unit = segment_of(made.hit_first, hits[k])
        count = row_first[k + 1] - row_first[k]
        marks[k] = walk_hit(
            nodes_of(made, unit), hits[k] - made.hit_first[unit], lowest[hits[k]], count,
            frames[:, :, thread], np.int64(0), np.int64(0), found, False,
        )  # fmt: skip
        if marks[k] < 0:
            cuda.atomic.min(worst, 0, marks[k])


@kernel
def step_walk_kernel(made, hits, lowest, row_first, frames, mark_first, found, sorting):
    """Write the complex events of each hit, and their canonical order.

    ============  ===============  ===========================================================================
    `mark_first`  int64 [m + 1]    in: where the marks of each hit begin
    `found`       Unsorted         out: events from the lowest start of the hit on
    `sorting`     SortScratch      out: in `order` the complex events of each hit in canonical order; `tally`
                                   has a column for each thread
    ============  ===============  ===========================================================================

    The other arguments are those of `step_measure_kernel`.
    """
    thread = cuda.grid(1)
    for k in range(thread, hits.shape[0], frames.shape[2]):
        unit = segment_of(made.hit_first, hits[k])
        low = row_first[k]
        high = row_first[k + 1]
        walk_hit(
            nodes_of(made, unit), hits[k] - made.hit_first[unit], lowest[hits[k]], high - low,
            frames[:, :, thread], high - 1, mark_first[k], found, True,
        )  # fmt: skip
        own = UnsortedAnswers(
            found.start[low:high], found.first[low:high], found.length[low:high], found.event, found.label
        )
        order = sorting.order[low:high]
        canonical(high - low, own, SortScratch(order, sorting.spare[low:high], sorting.tally[:, thread]))
        for place in range(low, high):
            sorting.order[place] += low


class WalkedHits(NamedTuple):
    """Hits whose marks are counted, with the scratch of their walks.

    ==============  ================  ==========================================================
    `marks`         int64 [m]         on the device
    `worst`         int               the least of them that is negative, or 0
    `hits`          int64 [m]         as for `measure`, on the device
    `lowest`        int64 [all hits]
    `row_first`     int64 [m + 1]
    `wanted_first`  int64 [m + 1]     where those of each hit go that are wanted
    `frames`        int64             scratch
    `launch`        (int, int)        blocks, and threads of a block
    ==============  ================  ==========================================================
    """

    marks: Any
    worst: int
    hits: Any
    lowest: Any
    row_first: Any
    wanted_first: Any
    frames: Any
    launch: tuple[int, int]


def measure(made, hits, counts, lowest, limit=None, geometry=LANE):
    """Count the marks of the complex events of hits: `WalkedHits`.

    Parameters
    ----------
    made : UnitNodes
    hits, counts : ndarray, shape (m,), int64
        Their numbers, and how many complex events each has; at least one, and fewer than 2**31 in all.
    lowest : device array, shape (all hits,), int64
    limit : int, optional
        The most complex events of a hit that are wanted.
    geometry : Geometry
    """
    wanted = counts if limit is None else np.minimum(counts, limit)
    there, row_first, wanted_first = (
        copied(part) for part in (hits, np.append(0, np.cumsum(counts)), np.append(0, np.cumsum(wanted)))
    )
    blocks = scratch_blocks(len(hits), DEPTH * FRAME + 256, geometry)
    frames = device_array((DEPTH, FRAME, blocks * geometry.threads), np.int64)
    marks, worst = device_array(len(hits), np.int64), copied(np.zeros(1, np.int64))
    launch = blocks, geometry.threads
    step_measure_kernel[launch](made, there, lowest, row_first, frames, marks, worst)
    return WalkedHits(marks, int(worst[0]), there, lowest, row_first, wanted_first, frames, launch)


def fill(made, walked, most=MOST, stream=STREAM):
    """The complex events of hits in canonical order, hit after hit: a `Block` of device arrays.

    Parameters
    ----------
    made : UnitNodes
    walked : WalkedHits
        With `worst` 0.
    most : int
        The most marks, fewer than 2**31.
    stream : Geometry

    Returns
    -------
    Block or None
        None where there are more than `most` marks.
    """
    mark_first = offsets_of(walked.marks, stream)
    n_marks = int(mark_first[walked.marks.shape[0]])
    if n_marks > most:
        return None
    total = int(walked.row_first[walked.marks.shape[0]])
    start, first, length, order, spare = (device_array(total, np.int32) for _ in range(5))
    event, label = (device_array(n_marks, np.int32) for _ in range(2))
    found = UnsortedAnswers(start, first, length, event, label)
    tally = device_array((256, walked.frames.shape[2]), np.int64)
    step_walk_kernel[walked.launch](
        made, walked.hits, walked.lowest, walked.row_first, walked.frames, mark_first, found,
        SortScratch(order, spare, tally),
    )  # fmt: skip
    bounds = walked.wanted_first, walked.row_first
    return written(walked.hits, walked.lowest, bounds, found, order, stream)
