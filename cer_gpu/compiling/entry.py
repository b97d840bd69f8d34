"""The machine code of a kernel for one signature, made by Numba: `translated`.

Numba makes not the kernel alone but an **entry** to it,

    int entry(void *result, void **trouble, PyObject *arguments, PyTypeObject **classes, int64 *words)

which checks that the tuple `arguments` has the kinds that the kernel was compiled for, reads the arrays and
numbers out of it, and calls the kernel. It holds no reference and needs no lock, since the caller keeps the
tuple and nobody changes the shape of an array that others read. `loaded` describes `words`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array
from numba.np.numpy_support import from_dtype

from cer_gpu.compiling import layout
from cer_gpu.compiling.draft import DRAFT, optimised
from cer_gpu.compiling.kinds import ALIGNED, CONTIGUOUS, Kind, class_named
from cer_gpu.compiling.loader import FITS, HALT, RESULT, target_machine

I8, I32, I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
POINTER = I8.as_pointer()

LEAN: dict[str, Any] = {"nogil": True, "_nrt": False}
"""How kernels are compiled: without the interpreter's lock, and without counting references.

No kernel makes an array: all scratch is passed in. Counting would cost two atomic operations each time an
array is handed to a helper; building and enumeration take a quarter of the time without it. A slice
assignment from an array makes a copy and needs it: write a loop.
"""


class MachineCode(NamedTuple):
    """Machine code.

    Attributes
    ----------
    symbol : str
        The name of the entry in the object.
    result : str or list of str
        What it returns: `none`, `int`, `float`, `bool`, or a list of these.
    code : bytes
        An object file.
    """

    symbol: str
    result: str | list[str]
    code: bytes


def translated(dispatcher: Any, kinds: tuple[Kind, ...], halts: bool, symbol: str) -> MachineCode:
    """Compile a kernel for some kinds of arguments.

    Parameters
    ----------
    dispatcher : Dispatcher
        The kernel, from `njit`.
    kinds : tuple of kinds
    halts : bool
        Whether it has one more parameter, `halt`: the thread's byte that tells it to end at once.
    symbol : str
        The name for the entry.
    """
    arguments = tuple(type_of(kind) for kind in kinds)
    if halts:
        arguments = (*arguments, HALT_TYPE)
    dispatcher.compile(arguments)
    results = dispatcher.overloads[arguments].signature.return_type
    entry = njit(**LEAN, **DRAFT)(_entry(dispatcher, kinds, halts, results))
    entry.compile((types.voidptr,) * 3)
    (made,) = entry.overloads.values()
    own, machine = made.fndesc.llvm_func_name, target_machine()
    module = optimised(made.library, own, machine)
    module.get_function(own).name = symbol
    return MachineCode(symbol, result_of(results), machine.emit_object(module))


HALT_TYPE = types.Array(types.uint8, 1, "C")
"""The word that says to end, as kernels see it: one byte."""


def type_of(kind: Kind) -> Any:
    """The type that Numba has for a kind."""
    if isinstance(kind, tuple):
        items = [type_of(item) for item in kind[1:]]
        return types.NamedTuple(items, class_named(kind[0])) if kind[0] else types.Tuple(items)
    plain = {"int": types.int64, "bool": types.boolean, "float": types.float64, "none": types.none}
    if kind in plain:
        return plain[kind]
    if kind.startswith("!"):
        return from_dtype(np.dtype(kind[1:]))
    dtype, _, rest = kind.partition(":")
    return types.Array(from_dtype(np.dtype(dtype)), int(rest[:-1]), "C" if rest[-1] == "C" else "A")


def result_of(found: Any) -> str | list[str]:
    """The Python type for a result of a Numba type."""
    if isinstance(found, (types.Tuple, types.UniTuple)):
        return [str(result_of(item)) for item in found.types]
    for kind, name in ((types.NoneType, "none"), (types.Boolean, "bool"), (types.Integer, "int")):
        if isinstance(found, kind):
            return name
    if isinstance(found, types.Float):
        return "float"
    raise TypeError(f"a kernel returns numbers, not {found}")


def _entry(dispatcher: Any, kinds: tuple[Kind, ...], halts: bool, results: Any) -> Callable[..., None]:
    """The entry in Python, of functions that become LLVM's code."""
    scope: dict[str, Any] = {"kernel": dispatcher, "fits": _fits(kinds), "put": put, "FITS": FITS}
    read = []
    for number, kind in enumerate(kinds):
        scope[f"read_{number}"] = _reader(number, kind)
        read.append(f"read_{number}(arguments)")
    if halts:
        scope["halt"] = _halt
        read.append("halt(words)")
    call = f"kernel({', '.join(read)})"
    lines = ["def entry(arguments, classes, words):", "    if fits(arguments, classes):"]
    if isinstance(results, types.BaseTuple):
        lines += [f"        found = {call}"]
        lines += [f"        put(words, {RESULT + k}, found[{k}])" for k in range(len(results))]
    elif results == types.none:
        lines += [f"        {call}"]
    else:
        lines += [f"        put(words, {RESULT}, {call})"]
    lines += ["        put(words, FITS, 1)"]
    exec("\n".join(lines), scope)
    return scope["entry"]


# ------------------------------------------------------------------------------ reading, in LLVM's code


def _load(builder: ir.IRBuilder, at: ir.Value, offset: int, kind: ir.Type = I64) -> ir.Value:
    place = builder.gep(at, [I64(offset)])
    return builder.load(builder.bitcast(place, kind.as_pointer()))


def _item(builder: ir.IRBuilder, parent: ir.Value, number: int) -> ir.Value:
    return _load(builder, parent, layout.ITEMS + 8 * number, POINTER)


def _fits(kinds: tuple[Kind, ...]) -> Any:
    @intrinsic
    def fits(context: Any, arguments: Any, classes: Any) -> Any:
        def code(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            arguments, classes = values
            answer = cgutils.alloca_once_value(builder, ir.IntType(1)(0))
            end = builder.append_basic_block("fits.end")
            number = 0

            def need(fact: ir.Value) -> None:
                further = builder.append_basic_block("fits")
                builder.cbranch(fact, further, end)
                builder.position_at_end(further)

            def equal(found: ir.Value, wanted: int | ir.Value) -> None:
                need(
                    builder.icmp_signed(
                        "==", found, found.type(wanted) if isinstance(wanted, int) else wanted
                    )
                )

            def look(value: ir.Value, kind: Kind) -> None:
                nonlocal number
                equal(_load(builder, value, layout.TYPE), _load(builder, classes, 8 * number))
                number += 1
                if isinstance(kind, tuple):
                    equal(_load(builder, value, layout.LENGTH), len(kind) - 1)
                    for k, item in enumerate(kind[1:]):
                        look(_item(builder, value, k), item)
                elif kind == "int":
                    need(_fits_a_word(builder, value))
                elif ":" in kind:
                    name, _, rest = kind.partition(":")
                    dtype = np.dtype(name)
                    equal(_load(builder, value, layout.DIMENSIONS, I32), int(rest[:-1]))
                    flags = builder.and_(_load(builder, value, layout.FLAGS, I32), I32(CONTIGUOUS | ALIGNED))
                    equal(flags, ALIGNED | (CONTIGUOUS if rest[-1] == "C" else 0))
                    description = _load(builder, value, layout.DTYPE, POINTER)
                    equal(_load(builder, description, layout.NUMBER, I32), dtype.num)
                    equal(_load(builder, description, layout.BYTE_ORDER, I8), ord(dtype.byteorder))

            equal(_load(builder, arguments, layout.LENGTH), len(kinds))
            for k, kind in enumerate(kinds):
                look(_item(builder, arguments, k), kind)
            builder.store(ir.IntType(1)(1), answer)
            builder.branch(end)
            builder.position_at_end(end)
            return builder.load(answer)

        return types.boolean(types.voidptr, types.voidptr), code

    return fits


def _digits(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    tag = _load(builder, value, layout.TAG)
    if layout.TAGGED:
        return builder.lshr(tag, I64(3))
    return builder.select(builder.icmp_signed("<", tag, I64(0)), builder.neg(tag), tag)


def _digit(builder: ir.IRBuilder, value: ir.Value, k: int) -> ir.Value:
    """A digit of an integer; 0 where it has no such digit, since the memory behind is not its own."""
    there = builder.icmp_unsigned(">", _digits(builder, value), I64(k))
    place = builder.select(there, I64(layout.DIGITS + 4 * k), I64(layout.TYPE))
    word = builder.gep(value, [place])
    found = builder.zext(builder.load(builder.bitcast(word, I32.as_pointer())), I64)
    return builder.select(there, found, I64(0))


def _negative(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    tag = _load(builder, value, layout.TAG)
    if layout.TAGGED:
        return builder.icmp_signed("!=", builder.and_(tag, I64(2)), I64(0))
    return builder.icmp_signed("<", tag, I64(0))


def _size(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """The absolute value of an integer, modulo 2^64."""
    digits = [builder.shl(_digit(builder, value, k), I64(30 * k)) for k in range(3)]
    return builder.or_(builder.or_(digits[0], digits[1]), digits[2])


def _fits_a_word(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """Whether an integer has at most 64 bits, with its sign."""
    short = builder.icmp_unsigned("<=", _digits(builder, value), I64(3))
    high = builder.icmp_unsigned("<", _digit(builder, value, 2), I64(8))
    least = builder.and_(
        _negative(builder, value), builder.icmp_unsigned("==", _size(builder, value), I64(1 << 63))
    )
    least = builder.and_(least, builder.icmp_unsigned("==", _digit(builder, value, 2), I64(8)))
    return builder.and_(short, builder.or_(high, least))


def _whole(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """An integer of at most 64 bits."""
    size = _size(builder, value)
    return builder.select(_negative(builder, value), builder.neg(size), size)


def _reader(number: int, kind: Kind) -> Any:
    found = type_of(kind)

    @intrinsic
    def read(context: Any, arguments: Any) -> Any:
        def code(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            return _read(context, builder, _item(builder, values[0], number), kind)

        return found(types.voidptr), code

    return read


def _read(context: Any, builder: ir.IRBuilder, value: ir.Value, kind: Kind) -> ir.Value:
    found = type_of(kind)
    if isinstance(kind, tuple):
        items = [_read(context, builder, _item(builder, value, k), item) for k, item in enumerate(kind[1:])]
        return context.make_tuple(builder, found, items)
    if kind == "int":
        return _whole(builder, value)
    if kind == "bool":
        return builder.icmp_unsigned("!=", _load(builder, value, layout.DIGITS, I32), I32(0))
    if kind == "float":
        return _load(builder, value, layout.FLOAT, ir.DoubleType())
    if kind == "none":
        return context.get_dummy_value()
    if kind == "!bool":
        return builder.icmp_unsigned("!=", _load(builder, value, layout.SCALAR, I8), I8(0))
    if kind.startswith("!"):
        return _load(builder, value, layout.SCALAR, context.get_value_type(found))
    data = _load(builder, value, layout.DATA, POINTER)
    shape, strides = (_load(builder, value, at, I64.as_pointer()) for at in (layout.SHAPE, layout.STRIDES))

    def words(at: ir.Value) -> list[ir.Value]:
        return [builder.load(builder.gep(at, [I64(k)])) for k in range(found.ndim)]

    return _array(context, builder, found, data, words(shape), words(strides))


def _array(
    context: Any,
    builder: ir.IRBuilder,
    kind: Any,
    data: ir.Value,
    shape: list[ir.Value],
    strides: list[ir.Value],
) -> ir.Value:
    item = context.get_data_type(kind.dtype)
    made = make_array(kind)(context, builder)
    size = context.get_constant(types.intp, context.get_abi_sizeof(item))
    populate_array(
        made,
        data=builder.bitcast(data, item.as_pointer()),
        shape=shape,
        strides=strides,
        itemsize=size,
        meminfo=None,
    )
    return made._getvalue()


@intrinsic
def _halt(context: Any, words: Any) -> Any:
    """The thread's word that says to end."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        data = _load(builder, values[0], 8 * HALT, POINTER)
        return _array(context, builder, HALT_TYPE, data, [I64(1)], [I64(1)])

    return HALT_TYPE(types.voidptr), code


@intrinsic
def put(context: Any, words: Any, at: Any, value: Any) -> Any:
    """Store a number in a word."""
    wide = types.float64 if isinstance(value, types.Float) else types.int64

    def code(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        found = context.cast(builder, values[2], signature.args[2], wide)
        place = builder.gep(values[0], [builder.mul(values[1], I64(8))])
        builder.store(found, builder.bitcast(place, found.type.as_pointer()))
        return context.get_dummy_value()

    return types.none(types.voidptr, types.int64, value), code
