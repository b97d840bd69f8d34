"""The kernels of lanes for the CPU: the bodies of the contract, compiled."""

from ..jit import jit
from .contract import (
    events_before_body,
    gather_body,
    group_body,
    lane_decrease_body,
    last_values_body,
    mark_body,
    ordinals_body,
    scatter_body,
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
scatter = jit(scatter_body)
