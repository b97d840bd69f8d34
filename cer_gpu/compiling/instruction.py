"""Instructions of the processor that kernels name: `prefetch` fetches memory before it is needed."""

from __future__ import annotations

from types import FunctionType
from typing import Any, cast

from cer_gpu.compiling.kernel import Kernel


class Instruction(Kernel):
    """A helper of kernels whose code is one instruction of the processor, which Numba has no name for."""

    def __call__(self, *arguments: Any) -> None:
        """Do nothing: a body that runs as plain Python has no use for it."""

    @property
    def dispatcher(self) -> Any:
        """Numba's intrinsic of it."""
        if self._dispatcher is None:
            self._dispatcher = _intrinsic()
        return self._dispatcher


HINTS = 0, 3, 1
"""What `llvm.prefetch` is told: to read, since other threads may read the same; to keep it; data."""


def _prefetch(values: Any, index: Any) -> Any:
    """Fetch the place of `values[index]` to the cache, which is read or changed soon; nothing changes.

    `values` is an array, and `index` one of its indices, not negative: a number, or a tuple of numbers.

    The hints are named here, since the identity of kernels is made from their bodies.

    A store to memory that is not in the cache waits until its line is there, and those after it wait too; so
    a kernel that scatters 833,000 numbers over 500 lanes takes less than half of the time if it prefetches.
    """
    return HINTS


prefetch = Instruction(cast(FunctionType, _prefetch), inline=True)


def _intrinsic() -> Any:
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
    hints = [number(hint) for hint in HINTS]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, index = signature.args
        own = context.make_array(array)(context, builder, arguments[0])
        several = isinstance(index, types.BaseTuple)
        places = cgutils.unpack_tuple(builder, arguments[1]) if several else [arguments[1]]
        place = cgutils.get_item_pointer(context, builder, array, own, places)
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(fetch, [builder.bitcast(place, byte), *hints])
        return context.get_dummy_value()

    @intrinsic
    def prefetch(typing: Any, values: Any, index: Any) -> Any:
        return types.void(values, index), generate

    return prefetch
