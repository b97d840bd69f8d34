"""CONSUME BY on the CPU: the bodies of the contract, compiled."""

from ..jit import jit
from .contract import consume_any_body, consume_partition_body

consume_any = jit(consume_any_body)
consume_partition = jit(consume_partition_body)
