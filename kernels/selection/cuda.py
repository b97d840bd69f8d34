"""`cpu` on the device: the same bodies, one thread for each segment, run twice.

How many marks the answers of a segment have is known when they are chosen, so the first run counts them and
the second one copies them behind those of the segments before. While it chooses, a thread keeps the marks of
all paths that may still be the best; for these it has as much room as its segment could need.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.bodies import on_device
from ..device.geometry import LANE, SCRATCH
from ..device.jit import device, kernel
from ..device.scan import offsets_of
from ..device.words import copied
from ..runs.contract import SegmentHits
from . import cpu as on_cpu
from .contract import DONE, EVENT, LABEL, NEXT, NODES, WIDTH, WORDS, BackRows, PathMatrices, Paths

_best_segment = on_device(on_cpu.best_segment)


class BestScratch(NamedTuple):
    """Scratch of the threads that choose answers; the last axis of all arrays but `rows` numbers the threads.

    ============  ============================  =========================================================
    `small`       int32 [2, n, n, threads]      the ranks of `PathMatrices`
    `wide`        int64 [6, n, n, threads]      its nodes, starts, keys and transitions
    `place_of`    int32 [2 n ** 2, threads]     likewise
    `rows`        int64 [3, hits, n]            the arrays of `BackRows`
    `arena`       int64 [room, 3, threads]      the marks of all paths
    `place`       int64 [room, threads]
    `progress`    int64 [words, threads]
    ============  ============================  =========================================================
    """

    small: Any
    wide: Any
    place_of: Any
    rows: Any
    arena: Any
    place: Any
    progress: Any


@device
def choose(tables, symbols, hits, latest, segment, thread, scratch, out):
    """Choose the answers of a segment's hits; `DONE` or what went wrong."""
    small = scratch.small
    wide = scratch.wide
    progress = scratch.progress
    h0 = hits.first[segment]
    h1 = hits.first[segment + 1]
    for word in range(WORDS):
        progress[word, thread] = 0
    matrices = PathMatrices(
        small[:, :, :, thread],
        wide[0:2, :, :, thread],
        wide[2:4, :, :, thread],
        wide[4, :, :, thread],
        wide[5, :, :, thread],
        scratch.place_of[:, thread],
    )
    rows = BackRows(scratch.rows[0, h0:h1], scratch.rows[1, h0:h1], scratch.rows[2, h0:h1])
    paths = Paths(scratch.arena[:, :, thread], out.start, out.early, out.late, out.label)
    return _best_segment(
        tables, symbols, hits, h0, h1, latest, matrices, rows, paths, scratch.place[:, thread],
        progress[:, thread], tables.accepting[:0],
    )  # fmt: skip


@kernel
def count_best_kernel(tables, symbols, hits, latest, scratch, out, n_nodes, status):
    """Count the marks that the answers of each segment keep.

    ============  ========================  =============================================================
    `tables`      TransitionTables          in
    `symbols`     uint8 or uint16 [padded]  in
    `hits`        SegmentHits               in
    `latest`      bool                      in: LAST in place of NEXT
    `scratch`     BestScratch               scratch
    `out`         Paths                     out: all but `arena`; the lists begin with the thread's nodes
    `n_nodes`     int64 [segments]          out
    `status`      uint8 [segments]          out: `DONE`, or what went wrong
    ============  ========================  =============================================================
    """
    thread = cuda.grid(1)
    for segment in range(thread, status.shape[0], scratch.place.shape[1]):
        status[segment] = choose(tables, symbols, hits, latest, segment, thread, scratch, out)
        n_nodes[segment] = scratch.progress[NODES, thread]


@kernel
def fill_best_kernel(tables, symbols, hits, latest, scratch, out, node_first):
    """Write the answers of each segment behind those of the segments before.

    `node_first` int64 [segments + 1] in: where the nodes of each begin. The rest as in `count_best_kernel`,
    with `arena` of `out`.
    """
    thread = cuda.grid(1)
    for segment in range(thread, hits.first.shape[0] - 1, scratch.place.shape[1]):
        choose(tables, symbols, hits, latest, segment, thread, scratch, out)
        base = node_first[segment]
        for node in range(scratch.progress[NODES, thread]):
            following = scratch.arena[node, NEXT, thread]
            out.arena[base + node, EVENT] = scratch.arena[node, EVENT, thread]
            out.arena[base + node, LABEL] = scratch.arena[node, LABEL, thread]
            out.arena[base + node, NEXT] = following + base if following >= 0 else -1
        for h in range(hits.first[segment], hits.first[segment + 1]):
            if out.early[h] >= 0:
                out.early[h] += base
            if out.late[h] >= 0:
                out.late[h] += base


def room_of(n_live, span):
    """How many nodes a segment of `span` events makes at most, and how many threads have room for that many.

    Every event is once in a back part and once in a front part, and lengthens one path for each two states.
    """
    room = n_live * n_live * (2 * span + 1)
    each = 8 * ((WIDTH + 1) * room + 8 * n_live * n_live)
    return room, SCRATCH // each


def best(machine, symbols, hit_first, hit_event, hit_lowest, latest, span, geometry=LANE):
    """The complex event that NEXT or LAST leaves at each hit: `cpu.best` on the device.

    Parameters
    ----------
    machine : DeviceTables
    symbols : device array, shape (padded events,), uint8 or uint16
    hit_first : device array, shape (segments + 1,), int64
    hit_event, hit_lowest : device array, shape (hits,), int64
    latest : bool
        LAST in place of NEXT.
    span : int
        The most events of a segment, from the lowest start of its first hit to its last hit.
    geometry : Geometry
        With as many threads as there is room for (`room_of`).

    Returns
    -------
    Paths
        Of device arrays.
    status : device array, shape (segments,), uint8
        `DONE`, or `NO_ANSWER` where no complex event ends at a hit.
    """
    n, segments, hits = machine.n_live, hit_first.shape[0] - 1, hit_event.shape[0]
    room, most = room_of(n, span)
    blocks = max(1, min(geometry.blocks(segments), most // geometry.threads))
    launch, threads = (blocks, geometry.threads), blocks * geometry.threads
    ends = SegmentHits(hit_first, hit_event, hit_lowest)
    answers = (*(device_array(hits, np.int64) for _ in range(3)), device_array(hits, np.int32))
    scratch = BestScratch(
        device_array((2, n, n, threads), np.int32),
        device_array((6, n, n, threads), np.int64),
        device_array((2 * n * n, threads), np.int32),
        device_array((3, hits, n), np.int64),
        device_array((room, WIDTH, threads), np.int64),
        device_array((room, threads), np.int64),
        device_array((WORDS, threads), np.int64),
    )
    common = machine.tables, symbols, ends, latest, scratch
    n_nodes = copied(np.zeros(segments, np.int64))
    status = copied(np.full(segments, DONE, np.uint8))
    if segments:
        # how many marks are kept is not known yet: the first run writes none
        unwritten = Paths(device_array((1, WIDTH), np.int64), *answers)
        count_best_kernel[launch](*common, unwritten, n_nodes, status)
    node_first = offsets_of(n_nodes, geometry)
    found = Paths(device_array((int(node_first[segments]), WIDTH), np.int64), *answers)
    if segments:
        fill_best_kernel[launch](*common, found, node_first)
    return found, status
