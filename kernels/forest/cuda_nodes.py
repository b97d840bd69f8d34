"""`cpu_nodes` on the device: the same bodies, one thread for each segment, run twice.

The first run only **counts** the nodes and roots of each segment. Building reads only two things of a node:
its latest start and whether it is a union. So in the first run a node is one number made of these two, and
nothing is written. The counts are scanned, and in the second run each thread **fills** its range of the
arena: the nodes get the numbers that one thread would give them.

The lists of a thread lie in global memory, thread beside thread.
"""

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.bodies import on_device
from ..device.geometry import LANE, scratch_blocks
from ..device.jit import device, kernel
from ..device.scan import offsets_of
from ..device.words import copied
from ..runs.contract import SegmentHits
from . import cpu_nodes as nodes
from .contract import UNION, Roots
from .cpu_nodes import DONE, ITEM, NODES, ROOTS, ROWS, WORDS


@device
def _counted(arena, progress, label, left, right, latest):
    progress[NODES] += 1
    return latest << 1 | (1 if label == UNION else 0)


@device
def _counted_root(roots, progress, label, node):
    progress[ROOTS] += 1


@device
def _latest_counted(arena, node):
    return node >> 1


@device
def _counted_is_union(arena, node):
    return node & 1 != 0


@device
def _counted_child(arena, node):
    """Any node will do: a union has the latest start of its left child, and the right one is not asked."""
    return node


@device
def _always_room(arena, roots, progress, block):
    return DONE


build_counted = on_device(
    nodes.build,
    made_node=_counted,
    made_root=_counted_root,
    latest_of=_latest_counted,
    is_union=_counted_is_union,
    left_of=_counted_child,
    right_of=_counted_child,
    room_left=_always_room,
)
build_filled = on_device(nodes.build, room_left=_always_room)


@kernel
def count_nodes_kernel(
    tables, symbols, begin, stop, hits, root_first, slots, states, progress, n_nodes, n_roots
):
    """Count the nodes and roots of each segment.

    ============  ================================  ====================================================
    `tables`      TransitionTables                  in
    `symbols`     uint8 or uint16 [padded]          in
    `begin`       int64 [segments]                  in: first event of each segment
    `stop`        int64 [segments]                  in: one past the last event
    `hits`        SegmentHits                       in
    `root_first`  int64 [hits + 1]                  scratch
    `slots`       int64 [slots, columns, threads]   scratch, and so are the next two
    `states`      int64 [rows, slots, threads]
    `progress`    int64 [words, threads]
    `n_nodes`     int64 [segments]                  out
    `n_roots`     int64 [segments]                  out
    ============  ================================  ====================================================
    """
    # Only the number of roots is needed: no label and no node is written.
    roots = Roots(root_first, tables.label, n_roots)
    thread = cuda.grid(1)
    for segment in range(thread, begin.shape[0], progress.shape[1]):
        for word in range(progress.shape[0]):
            progress[word, thread] = 0
        build_counted(
            tables,
            symbols,
            begin[segment : segment + 1],
            stop[segment : segment + 1],
            SegmentHits(hits.first[segment : segment + 2], hits.event, hits.lowest),
            slots[:, :, thread],
            roots,
            slots[:, :, thread],
            states[:, :, thread],
            progress[:, thread],
            tables.accepting[:0],
        )
        n_nodes[segment] = progress[NODES, thread]
        n_roots[segment] = progress[ROOTS, thread]


@kernel
def fill_nodes_kernel(
    tables, symbols, begin, stop, hits, arena, roots, slots, states, progress, nodes_before, roots_before
):
    """Write the nodes and roots of each segment behind those of the segments before.

    `arena` and `roots` out as in `cpu_nodes.build`, of exactly as many rows as are written; `nodes_before`
    and `roots_before` int64 [segments + 1] in. The rest as in `count_nodes_kernel`.
    """
    thread = cuda.grid(1)
    for segment in range(thread, begin.shape[0], progress.shape[1]):
        for word in range(progress.shape[0]):
            progress[word, thread] = 0
        progress[NODES, thread] = nodes_before[segment]
        progress[ROOTS, thread] = roots_before[segment]
        build_filled(
            tables,
            symbols,
            begin[segment : segment + 1],
            stop[segment : segment + 1],
            SegmentHits(hits.first[segment : segment + 2], hits.event, hits.lowest),
            arena,
            roots,
            slots[:, :, thread],
            states[:, :, thread],
            progress[:, thread],
            tables.accepting[:0],
        )


def build(machine, symbols, begin, stop, hits, geometry=LANE):
    """The nodes of segments and the roots of their hits: `cpu_nodes.build` on the device.

    Parameters
    ----------
    machine : DeviceTables
    symbols : device array, shape (padded events,), uint8 or uint16
    begin, stop : device array, shape (segments,), int64
    hits : SegmentHits
        Of device arrays.
    geometry : Geometry

    Returns
    -------
    arena : device array, shape (nodes, 4), int64
    roots : Roots
        Of device arrays.
    node_first : device array, shape (segments + 1,), int64
        The first node of each segment.
    """
    segments, n = begin.shape[0], machine.n_live
    n_slots, columns = 2 * n + 2, ITEM + n + 2
    blocks = scratch_blocks(segments, n_slots * (columns + ROWS) + WORDS, geometry)
    launch, threads = (blocks, geometry.threads), blocks * geometry.threads
    shapes = (n_slots, columns, threads), (ROWS, n_slots, threads), (WORDS, threads)
    scratch = [device_array(shape, np.int64) for shape in shapes]
    n_nodes, n_roots = device_array(segments, np.int64), device_array(segments, np.int64)
    root_first = copied(np.zeros(hits.event.shape[0] + 1, np.int64))
    common = machine.tables, symbols, begin, stop, hits
    if segments:
        count_nodes_kernel[launch](*common, root_first, *scratch, n_nodes, n_roots)
    before = offsets_of(n_nodes, geometry), offsets_of(n_roots, geometry)
    total, total_roots = (int(offsets[segments]) for offsets in before)
    arena = device_array((total, 4), np.int64)
    label, node = device_array(total_roots, np.int32), device_array(total_roots, np.int64)
    roots = Roots(root_first, label, node)
    if segments:
        fill_nodes_kernel[launch](*common, arena, roots, *scratch, *before)
    return arena, roots, before[0]
