"""`cpu` on the device: one thread for each partition, which decides its hits one after another.

CONSUME BY ANY stays on the host: whether a hit of the stream is reported depends on the last one that was.
That is one chain of a few steps for each hit, which a second thread cannot shorten.
"""

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.geometry import LANE
from ..device.jit import device, kernel
from .contract import consume_any_body

consume_any = device(consume_any_body)


@kernel
def consume_kernel(position, latest_start, first, floors, keep, before):
    """`consume_any_body` for every partition.

    `first` int64 [partitions + 1] in: where the hits of each begin; `floors` int64 [partitions] in/out: the
    last position reported in each. The other arrays are those of the body.
    """
    for lane in range(cuda.grid(1), floors.shape[0], cuda.gridsize(1)):
        low = first[lane]
        high = first[lane + 1]
        floors[lane] = consume_any(
            position[low:high], latest_start[low:high], floors[lane], keep[low:high], before[low:high]
        )


def consume_partition(position, latest_start, first, floors, geometry=LANE):
    """Keep or drop hits, partition by partition.

    Parameters
    ----------
    position, latest_start : device array, shape (hits,), int64
        By partition, ascending by position in each.
    first : device array, shape (partitions + 1,), int64
        Partition p has the hits first[p] .. first[p + 1] - 1.
    floors : device array, shape (partitions,), int64
        In and out: the last position reported in each, -1 at first.
    geometry : Geometry

    Returns
    -------
    keep : device array, shape (hits,), uint8
        1 for the hits that are reported.
    before : device array, shape (hits,), int64
        The floor with which each was compared.
    """
    hits, lanes = position.shape[0], floors.shape[0]
    keep, before = device_array(hits, np.uint8), device_array(hits, np.int64)
    if hits:
        launch = geometry.blocks(lanes), geometry.threads
        consume_kernel[launch](position, latest_start, first, floors, keep, before)
    return keep, before
