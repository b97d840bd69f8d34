"""`cpu_counts` on the device: the same bodies, one thread for each list of hits.

From the nodes, as on the CPU: what the window cuts is counted once for each hit, and all that it does not cut
is counted once. Counting runs without nodes would take every event of the window again for each hit.
"""

import numpy as np
from numba import cuda

from ..device.bodies import form_of
from ..device.geometry import LANE, STREAM
from ..device.jit import kernel
from . import cpu_counts as join_counts
from .cpu_counts import LARGEST
from .cuda_nodes import bytes_of_nodes, nodes

FULL = 1
"""A list found too little room for its nodes."""

TOO_LARGE = 2
"""A list has a count that has reached 2**62."""

_FORM = form_of(
    [
        join_counts._product,
        join_counts._sum,
        join_counts._jump,
        join_counts._inside,
        join_counts.weigh,
        join_counts._known,
        join_counts.count_hits,
    ]
)
weigh, count_hits = _FORM["weigh"], _FORM["count_hits"]


@kernel
def join_counts_kernel(
    deep, first, lowest, node_first, arena, link_first, children, root_start, root_first, root_node, number,
    total, earliest, jump, memo_hit, memo, stack, status, out,
):  # fmt: skip
    """Count the answers of each hit, in the lists whose status is 0.

    ===============  =========================  ==========================================================
    `deep`           int64                      in: cells of the stack for each node
    `first`, ...     `lowest`                   in: as in `cuda_nodes`
    `node_first` ..  up to `number`             in: the fields of `Nodes`
    `total`          int64 [nodes]              scratch, and so are `earliest` and `jump`, int32 [nodes],
    `memo_hit`       int32 [nodes]
    `memo`           int64 [nodes]
    `stack`          int32 [cells]              scratch: `deep` for each node, and one for each list
    `status`         uint8 [lists]              in/out: `TOO_LARGE` where a count has reached 2**62
    `out`            int64 [hits]               out
    ===============  =========================  ==========================================================
    """
    for g in range(cuda.grid(1), status.shape[0], cuda.gridsize(1)):
        if status[g] != 0:
            status[g] = FULL
            continue
        low = node_first[g]
        high = low + number[g]
        own = arena[low:high]
        links = children[link_first[g] : link_first[g + 1]]
        weigh(own, links, total[low:high], earliest[low:high], jump[low:high])
        for node in range(low, high):
            memo_hit[node] = -1
        h0 = first[g]
        h1 = first[g + 1]
        count_hits(
            own, links, total[low:high], earliest[low:high], jump[low:high], memo_hit[low:high],
            memo[low:high], stack[deep * low + g : deep * node_first[g + 1] + g + 1],
            root_first[h0 + g : h1 + g + 1], root_node[root_start[g] : root_start[g + 1]], lowest[h0:h1],
            out[h0:h1],
        )  # fmt: skip
        for h in range(h0, h1):
            if out[h] == LARGEST:
                status[g] = TOO_LARGE


def bytes_of_counts(join, rooms):
    """What lists of hits take on the device while they are counted: shape (lists,), int64."""
    return bytes_of_nodes(join, rooms) + 4 * (7 + _deep(join)) * rooms.nodes


def _deep(join):
    """Cells of the stack for a node: all that it refers to."""
    return 2 + join.n_children


def counts(
    join, symbols, slots, places, begin, stop, first, event, lowest, rooms, geometry=LANE, stream=STREAM
):
    """How many answers end at each hit, from nodes that are not kept.

    Parameters
    ----------
    join, symbols, slots, places, rooms, geometry, stream
        As in `cuda_nodes.nodes`.
    begin, stop : ndarray, shape (lists,), int64
        At least one list.
    first : ndarray, shape (lists + 1,), int64
        List g has the hits first[g] .. first[g + 1] - 1.
    event, lowest : ndarray, shape (hits,), int64
        Where each ends, ascending in a list, and the least admissible start, which does not decrease in one.

    Returns
    -------
    counts : device array, shape (hits,), int64
    status : device array, shape (lists,), uint8
        `FULL` or `TOO_LARGE` where the counts of a list are undefined.
    """
    out = cuda.device_array(len(event), np.int64)
    bounds = [cuda.to_device(part) for part in (begin, stop, first, event, lowest)]
    made = nodes(join, symbols, slots, places, *bounds, rooms, geometry, stream)
    size = made.arena.shape[0]
    total, memo = cuda.device_array(size, np.int64), cuda.device_array(size, np.int64)
    earliest, jump, memo_hit = (cuda.device_array(size, np.int32) for _ in range(3))
    stack = cuda.device_array(_deep(join) * size + len(begin), np.int32)
    join_counts_kernel[geometry.blocks(len(begin)), geometry.threads](
        _deep(join),
        bounds[2],
        bounds[4],
        *made[:-1],
        total,
        earliest,
        jump,
        memo_hit,
        memo,
        stack,
        made.status,
        out,
    )
    return out, made.status
