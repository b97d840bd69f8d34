"""The kernels of lanes for the CPU: the bodies of the contract, compiled."""

from ..jit import jit
from .contract import (
    dense_codes_body,
    gather_body,
    group_body,
    key_range_body,
    lane_decrease_body,
    ordinals_body,
    remember_body,
    scatter_body,
)

ordinals = jit(ordinals_body)
lane_decrease = jit(lane_decrease_body)
remember = jit(remember_body)
key_range = jit(key_range_body)
dense_codes = jit(dense_codes_body)
group = jit(group_body)
gather = jit(gather_body)
scatter = jit(scatter_body)
