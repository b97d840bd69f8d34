"""`cpu` on the device: the same bodies, one thread for each segment, run twice.

How many marks the answers of a segment have is known when they are chosen, so the first run counts them and
the second one copies them behind those of the segments before. While it chooses, a thread keeps the marks of
all paths that may still be the best; for these it has as much room as its segment could need.
"""

import numpy as np
from numba import cuda

from ..device.bodies import form_of
from ..device.geometry import LANE, SCRATCH
from ..device.jit import device, kernel
from ..device.scan import offsets_of
from . import cpu as on_cpu
from .contract import DONE, EVENT, LABEL, NEXT, NODES, WIDTH, WORDS, Paths

_FORM = form_of([on_cpu._advance, on_cpu._identity, on_cpu._compact, on_cpu.best_segment])
_best_segment = _FORM["best_segment"]


@device
def choose(
    tables, symbols, hit_first, event, lowest, latest, segment, thread, small, wide, place_of, rows, arena,
    place, out_start, out_early, out_late, out_label, progress,
):  # fmt: skip
    """Choose the answers of a segment's hits; `DONE` or what went wrong."""
    first, source, label, target, accepting = tables
    h0 = hit_first[segment]
    h1 = hit_first[segment + 1]
    for word in range(WORDS):
        progress[word, thread] = 0
    return _best_segment(
        first, source, label, target, accepting, symbols, event, lowest, h0, h1, latest,
        small[:, :, :, thread], wide[0:2, :, :, thread], wide[2:4, :, :, thread], wide[4, :, :, thread],
        wide[5, :, :, thread], place_of[:, thread], rows[0, h0:h1], rows[1, h0:h1], rows[2, h0:h1],
        arena[:, :, thread], place[:, thread], out_start, out_early, out_late, out_label,
        progress[:, thread],
    )  # fmt: skip


@kernel
def count_best_kernel(
    tables, symbols, hit_first, event, lowest, latest, small, wide, place_of, rows, arena, place, out_start,
    out_early, out_late, out_label, progress, n_nodes, status,
):  # fmt: skip
    """How many marks the answers of each segment keep.

    ============  ============================  =========================================================
    `tables`      TransitionTables                     in: as a tuple
    `symbols`     uint8 or uint16 [padded]      in
    `hit_first`   int64 [segments + 1]          in
    `event`       int64 [hits]                  in
    `lowest`      int64 [hits]                  in
    `latest`      bool                          in: LAST in place of NEXT
    `small`       int32 [2, n, n, threads]      scratch: the ranks, as in `best_segment`
    `wide`        int64 [6, n, n, threads]      scratch: nodes, starts, keys and transitions, likewise
    `place_of`    int32 [2 n ** 2, threads]     scratch
    `rows`        int64 [3, hits, n]            scratch
    `arena`       int64 [room, 3, threads]      scratch: the marks of all paths
    `place`       int64 [room, threads]         scratch
    `out_...`     int64 and int32 [hits]        out: as in `Paths`; the lists begin with the thread's nodes
    `progress`    int64 [words, threads]        scratch
    `n_nodes`     int64 [segments]              out
    `status`      uint8 [segments]              out: `DONE`, or what went wrong
    ============  ============================  =========================================================
    """
    thread = cuda.grid(1)
    for segment in range(thread, status.shape[0], place.shape[1]):
        status[segment] = choose(
            tables, symbols, hit_first, event, lowest, latest, segment, thread, small, wide, place_of, rows,
            arena, place, out_start, out_early, out_late, out_label, progress,
        )  # fmt: skip
        n_nodes[segment] = progress[NODES, thread]


@kernel
def fill_best_kernel(
    tables, symbols, hit_first, event, lowest, latest, small, wide, place_of, rows, arena, place, out_start,
    out_early, out_late, out_label, progress, node_first, out_arena,
):  # fmt: skip
    """Write the answers of each segment behind those before.

    `node_first` int64 [segments + 1] in: where the nodes of each begin; `out_arena` int64 [nodes, 3] out. The
    rest as in `count_best_kernel`.
    """
    thread = cuda.grid(1)
    for segment in range(thread, hit_first.shape[0] - 1, place.shape[1]):
        choose(
            tables, symbols, hit_first, event, lowest, latest, segment, thread, small, wide, place_of, rows,
            arena, place, out_start, out_early, out_late, out_label, progress,
        )  # fmt: skip
        base = node_first[segment]
        for node in range(progress[NODES, thread]):
            following = arena[node, NEXT, thread]
            out_arena[base + node, EVENT] = arena[node, EVENT, thread]
            out_arena[base + node, LABEL] = arena[node, LABEL, thread]
            out_arena[base + node, NEXT] = following + base if following >= 0 else -1
        for h in range(hit_first[segment], hit_first[segment + 1]):
            if out_early[h] >= 0:
                out_early[h] += base
            if out_late[h] >= 0:
                out_late[h] += base


def room_of(n_live, span):
    """Nodes that a segment of `span` events makes at most, and threads that have room for as many.

    Every event is once in a back part and once in a front part, and lengthens a path for each two states.
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
        Events of a segment at most, from the lowest start of its first hit to its last one.
    geometry : Geometry
        Of blocks that find room (`room_of`).

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
    out = (*(cuda.device_array(hits, np.int64) for _ in range(3)), cuda.device_array(hits, np.int32))
    common = (
        machine.tables,
        symbols,
        hit_first,
        hit_event,
        hit_lowest,
        latest,
        cuda.device_array((2, n, n, threads), np.int32),
        cuda.device_array((6, n, n, threads), np.int64),
        cuda.device_array((2 * n * n, threads), np.int32),
        cuda.device_array((3, hits, n), np.int64),
        cuda.device_array((room, WIDTH, threads), np.int64),
        cuda.device_array((room, threads), np.int64),
        *out,
        cuda.device_array((WORDS, threads), np.int64),
    )
    n_nodes = cuda.to_device(np.zeros(segments, np.int64))
    status = cuda.to_device(np.full(segments, DONE, np.uint8))
    if segments:
        count_best_kernel[launch](*common, n_nodes, status)
    node_first = offsets_of(n_nodes, geometry)
    arena = cuda.device_array((int(node_first[segments]), WIDTH), np.int64)
    if segments:
        fill_best_kernel[launch](*common, node_first, arena)
    return Paths(arena, *out), status
