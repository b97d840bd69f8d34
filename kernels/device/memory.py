"""Memory as Numba does not give it: at an address, 16 bytes at a time, what other blocks publish, as a table.

An address takes the place of an array where a kernel reads columns of any type: an array of each type would
be one more form of the kernel. The caller keeps the array until the kernel is done.
"""

import numpy as np
from numba import types

from .availability import simulated

if simulated():

    class _AddressedArray:
        """Two words, or a byte, at an address, as NumPy takes what lies in memory."""

        def __init__(self, address, shape, kind):
            self.__array_interface__ = {
                "data": (int(address), True),
                "shape": shape,
                "typestr": kind,
                "version": 3,
            }

    def words_at(address):
        """The 16 bytes at an address, a multiple of 16, as two uint64."""
        return tuple(np.asarray(_AddressedArray(address, (2,), "<u8")))

    def byte_at(address):
        """The byte at an address as uint64."""
        return types.uint64(np.asarray(_AddressedArray(address, (), "|u1")))

    def newest(numbers, at):
        """`numbers[at]` of an int64 array as it is in memory now, whatever this thread has read before."""
        return numbers[at]

    def table_in(numbers, first, rows, columns, stride):
        """Numbers of an int64 array, one in `stride` from the first, as rows and columns."""
        return numbers[first : first + (rows * columns - 1) * stride + 1 : stride].reshape(rows, columns)

else:
    from llvmlite import ir
    from numba.cuda.extending import intrinsic
    from numba.cuda.np.arrayobj import populate_array

    _GLOBAL = 1
    """The address space of global memory."""

    @intrinsic
    def words_at(typing, address):
        """The 16 bytes at an address, a multiple of 16, as two uint64."""

        def code(context, builder, signature, arguments):
            pair = ir.VectorType(ir.IntType(64), 2)
            found = builder.load(builder.inttoptr(arguments[0], ir.PointerType(pair, _GLOBAL)), align=16)
            words = [builder.extract_element(found, ir.IntType(32)(part)) for part in range(2)]
            return context.make_tuple(builder, signature.return_type, words)

        return types.UniTuple(types.uint64, 2)(types.int64), code

    @intrinsic
    def byte_at(typing, address):
        """The byte at an address as uint64."""

        def code(context, builder, signature, arguments):
            found = builder.load(builder.inttoptr(arguments[0], ir.PointerType(ir.IntType(8), _GLOBAL)))
            return builder.zext(found, ir.IntType(64))

        return types.uint64(types.int64), code

    @intrinsic
    def newest(typing, numbers, at):
        """`numbers[at]` of an int64 array as it is in memory now, whatever this thread has read before."""

        def code(context, builder, signature, arguments):
            array = context.make_array(signature.args[0])(context, builder, value=arguments[0])
            place = builder.gep(array.data, [arguments[1]])
            kind = ir.FunctionType(ir.IntType(64), [place.type])
            load = ir.InlineAsm(kind, "ld.volatile.global.b64 $0, [$1];", "=l,l,~{memory}", side_effect=True)
            return builder.call(load, [place])

        return types.int64(numbers, types.int64), code

    @intrinsic
    def table_in(typing, numbers, first, rows, columns, stride):
        """Numbers of an int64 array, one in `stride` from the first, as rows and columns."""
        table = types.Array(types.int64, 2, "A")

        def code(context, builder, signature, arguments):
            whole = context.make_array(signature.args[0])(context, builder, value=arguments[0])
            _, first, rows, columns, stride = arguments
            found = context.make_array(table)(context, builder)
            size = ir.IntType(64)(8)
            step = builder.mul(stride, size)
            populate_array(
                found,
                data=builder.gep(whole.data, [first]),
                shape=[rows, columns],
                strides=[builder.mul(columns, step), step],
                itemsize=size,
                meminfo=None,
            )
            return found._getvalue()

        return table(numbers, *[types.int64] * 4), code


def address_of(array):
    """Where an array of the device begins, for kernels that read at addresses; 0 where it has no elements."""
    if not array.size:
        return 0
    return array.ctypes.data if simulated() else array.device_ctypes_pointer.value
