"""`cpu_counts` on the device: the same bodies, one thread for each list of hits.

Answers are counted from nodes, as on the CPU: a node that the window cuts is counted once for each hit, and
all other nodes once. Without nodes, counting would run every event of the window again for each hit.
"""

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.bodies import on_device
from ..device.geometry import LANE
from ..device.jit import kernel
from ..device.words import copied
from ..runs.contract import SegmentHits
from . import cpu_counts as join_counts
from .contract import NodeWeights
from .cpu_counts import LARGEST
from .cuda_nodes import bytes_of_nodes, nodes

FULL = 1
"""Status of a list that had too little room for its nodes."""

TOO_LARGE = 2
"""Status of a list with a count that has reached 2**62."""

weigh, count_hits = on_device(join_counts.weigh), on_device(join_counts.count_hits)


@kernel
def join_counts_kernel(deep, hits, made, weights, out):
    """Count the answers of each hit, in the lists whose status is 0.

    ===============  =========================  ==========================================================
    `deep`           int64                      in: cells of the stack for each node
    `hits`           SegmentHits                in: of lists in place of segments
    `made`           ListNodes                  in; `status` is `TOO_LARGE` afterwards where a count has
                                                reached 2**62, and `FULL` where it was not 0
    `weights`        NodeWeights                scratch: `stack` has `deep` cells for each node, and one
                                                for each list
    `out`            int64 [hits]               out
    ===============  =========================  ==========================================================
    """
    status = made.status
    for g in range(cuda.grid(1), status.shape[0], cuda.gridsize(1)):
        if status[g] != 0:
            status[g] = FULL
            continue
        low = made.node_first[g]
        high = low + made.number[g]
        own = made.arena[low:high]
        links = made.children[made.link_first[g] : made.link_first[g + 1]]
        mine = NodeWeights(
            weights.total[low:high],
            weights.earliest[low:high],
            weights.jump[low:high],
            weights.memo_hit[low:high],
            weights.memo[low:high],
            weights.stack[deep * low + g : deep * made.node_first[g + 1] + g + 1],
        )
        weigh(own, links, mine)
        for node in range(low, high):
            weights.memo_hit[node] = -1
        h0 = hits.first[g]
        h1 = hits.first[g + 1]
        count_hits(
            own, links, mine, made.root_first[h0 + g : h1 + g + 1],
            made.root_node[made.root_start[g] : made.root_start[g + 1]], hits.lowest[h0:h1], out[h0:h1],
            status[:0],
        )  # fmt: skip
        for h in range(h0, h1):
            if out[h] == LARGEST:
                status[g] = TOO_LARGE


def bytes_of_counts(join, rooms):
    """Bytes of device memory that each list of hits takes while it is counted: shape (lists,), int64."""
    return bytes_of_nodes(join, rooms) + 4 * (7 + _deep(join)) * rooms.nodes


def _deep(join):
    """Cells of the stack for a node: all that it refers to."""
    return 2 + join.n_children


def counts(join, symbols, slots, places, begin, stop, first, event, lowest, rooms, geometry=LANE):
    """How many answers end at each hit, from nodes that are not kept.

    Parameters
    ----------
    join, symbols, slots, places, rooms, geometry
        As in `cuda_nodes.nodes`.
    begin, stop : ndarray, shape (lists,), int64
        At least one list.
    first : ndarray, shape (lists + 1,), int64
        List g has the hits first[g] .. first[g + 1] - 1.
    event, lowest : ndarray, shape (hits,), int64
        The event of each hit, ascending in a list, and its least admissible start, non-decreasing in a list.

    Returns
    -------
    counts : device array, shape (hits,), int64
    status : device array, shape (lists,), uint8
        `FULL` or `TOO_LARGE` where the counts of a list are undefined.
    """
    out = device_array(len(event), np.int64)
    spans = [copied(part) for part in (begin, stop)]
    hits = SegmentHits(*(copied(part) for part in (first, event, lowest)))
    made = nodes(join, symbols, slots, places, *spans, hits, rooms, geometry)
    size = made.arena.shape[0]
    total, memo = device_array(size, np.int64), device_array(size, np.int64)
    earliest, jump, memo_hit = (device_array(size, np.int32) for _ in range(3))
    stack = device_array(_deep(join) * size + len(begin), np.int32)
    weights = NodeWeights(total, earliest, jump, memo_hit, memo, stack)
    join_counts_kernel[geometry.blocks(len(begin)), geometry.threads](_deep(join), hits, made, weights, out)
    return out, made.status
