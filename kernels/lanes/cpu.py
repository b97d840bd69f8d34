"""The kernels of lanes for the CPU: the bodies of the contract, compiled."""

import numpy as np

from ..jit import ahead, jit, prefetch
from .contract import (
    events_before_body,
    gather_body,
    group_body,
    lane_decrease_body,
    last_values_body,
    mark_body,
    ordinals_body,
    values_before_body,
)

ordinals = jit(ordinals_body)
events_before = jit(events_before_body)
values_before = jit(values_before_body)
last_values = jit(last_values_body)
lane_decrease = jit(lane_decrease_body)
group = jit(group_body)
mark = jit(mark_body)
gather = jit(gather_body)


@jit
def scatter(values, place, out):
    """`out[place[i]] = values[i]`: `values` and `out` of any dtype [n], `place` int32 [n], no two alike."""
    for i in range(values.shape[0]):
        prefetch(out, np.uint64(place[ahead(i, values.shape[0])]))
        out[np.uint64(place[i])] = values[i]
