"""Floating numbers: arithmetic, signs, extremes, and conversions from and to them."""

from __future__ import annotations

from virtual_device.ptx.syntax import TYPES, Instruction, UnsupportedPtxError
from virtual_device.ptx.writer import FLOATS, Writer, bits, opcode, type_of

ROUNDED = {"rzi": "trunc", "rmi": "floor", "rpi": "ceil", "rni": "roundeven"}
"""Rounding to whole numbers, by the modifier."""


def arithmetic(writer: Writer, instruction: Instruction) -> None:
    """`add`, `sub`, `mul`, `div`, `fma`, `mad`: rounded to nearest, ties to even."""
    kind, name = type_of(instruction), instruction.name[0]
    if name == "rem" or set(instruction.name) & {"sat", "ftz", "rz", "rm", "rp", "approx", "full"}:
        raise UnsupportedPtxError(instruction.form)
    target, *operands = instruction.operands
    values = writer.values(operands, kind)
    if name in ("fma", "mad"):
        found = writer.call(f"llvm.fma.f{bits(kind)}", kind, *((kind, one) for one in values))
    else:
        found = writer.op(f"f{name} {kind} {values[0]}, {values[1]}")
    writer.put(target, found, kind)


@opcode("fma")
def fma(writer: Writer, instruction: Instruction) -> None:
    """One rounding of a product and a sum."""
    arithmetic(writer, instruction)


def sign(writer: Writer, instruction: Instruction) -> None:
    """`neg` and `abs`."""
    kind, (target, operand) = type_of(instruction), instruction.operands
    value = writer.value(operand, kind)
    if instruction.name[0] == "neg":
        writer.put(target, writer.op(f"fneg {kind} {value}"), kind)
    else:
        writer.put(target, writer.call(f"llvm.fabs.f{bits(kind)}", kind, (kind, value)), kind)


@opcode("copysign")
def copysign(writer: Writer, instruction: Instruction) -> None:
    """`copysign.f64 d, a, b`: b with the sign of a."""
    kind, (target, *operands) = type_of(instruction), instruction.operands
    signed, value = writer.values(operands, kind)
    found = writer.call(f"llvm.copysign.f{bits(kind)}", kind, (kind, value), (kind, signed))
    writer.put(target, found, kind)


def least(writer: Writer, instruction: Instruction) -> None:
    """`min` and `max`: the other number where one is NaN, and -0.0 is less than +0.0."""
    if set(instruction.name) & {"NaN", "xorsign", "abs", "ftz"}:
        raise UnsupportedPtxError(instruction.form)
    kind, (target, *operands) = type_of(instruction), instruction.operands
    left, right = writer.values(operands, kind)
    whole = f"i{bits(kind)}"
    minimum = instruction.name[0] == "min"
    first = writer.op(f"fcmp {'olt' if minimum else 'ogt'} {kind} {left}, {right}")
    chosen = writer.op(f"select i1 {first}, {kind} {left}, {kind} {right}")
    # Where they are equal, their bits differ at most in the sign.
    pair = [writer.converted(one, kind, whole) for one in (left, right)]
    joined = writer.op(f"{'or' if minimum else 'and'} {whole} {pair[0]}, {pair[1]}")
    equal = writer.op(f"fcmp oeq {kind} {left}, {right}")
    joined = writer.converted(joined, whole, kind)
    chosen = writer.op(f"select i1 {equal}, {kind} {joined}, {kind} {chosen}")
    for nan, other in ((right, left), (left, right)):
        unordered = writer.op(f"fcmp uno {kind} {nan}, {nan}")
        chosen = writer.op(f"select i1 {unordered}, {kind} {other}, {kind} {chosen}")
    writer.put(target, chosen, kind)


@opcode("sqrt", "rcp")
def root(writer: Writer, instruction: Instruction) -> None:
    """`sqrt.rn` and `rcp.rn`, both rounded to nearest."""
    kind, (target, operand) = type_of(instruction), instruction.operands
    if "rn" not in instruction.name or "ftz" in instruction.name:
        raise UnsupportedPtxError(instruction.form)
    value = writer.value(operand, kind)
    if instruction.name[0] == "sqrt":
        return writer.put(target, writer.call(f"llvm.sqrt.f{bits(kind)}", kind, (kind, value)), kind)
    return writer.put(target, writer.op(f"fdiv {kind} 1.0, {value}"), kind)


@opcode("cvt")
def convert(writer: Writer, instruction: Instruction) -> None:
    """`cvt.rzi.s64.f64 d, a`: from the last type to the one before it."""
    if set(instruction.name) & {"sat", "ftz", "relu", "rna"}:
        raise UnsupportedPtxError(instruction.form)
    to, of = instruction.name[-2:]
    kind, source = TYPES[to], TYPES[of]
    target, operand = instruction.operands
    value = writer.value(operand, source)
    mode = next((ROUNDED[one] for one in instruction.name if one in ROUNDED), None)
    if source not in FLOATS and kind not in FLOATS:
        found = writer.converted(value, source, kind, of.startswith("s"))
    elif source not in FLOATS:
        _nearest(instruction)
        found = writer.op(f"{'sitofp' if of.startswith('s') else 'uitofp'} {source} {value} to {kind}")
    elif kind in FLOATS:
        found = _between_floats(writer, instruction, value, mode)
    else:
        found = _to_integer(writer, value, mode, source, to)
    writer.put(target, found, kind, to.startswith("s"))


def _nearest(instruction: Instruction) -> None:
    if set(instruction.name) & {"rz", "rm", "rp"}:
        raise UnsupportedPtxError(instruction.form)


def _between_floats(writer: Writer, instruction: Instruction, value: str, mode: str | None) -> str:
    kind, source = (TYPES[one] for one in instruction.name[-2:])
    _nearest(instruction)
    if kind == source:
        return value if mode is None else writer.call(f"llvm.{mode}.f{bits(kind)}", kind, (kind, value))
    name = "fptrunc" if bits(source) > bits(kind) else "fpext"
    return writer.op(f"{name} {source} {value} to {kind}")


def _to_integer(writer: Writer, value: str, mode: str | None, source: str, to: str) -> str:
    """Numbers beyond the type become its extremes.

    NaN becomes zero where neither type has 64 bits, and otherwise the highest bit alone.
    """
    kind = TYPES[to]
    if mode not in (None, "trunc"):
        value = writer.call(f"llvm.{mode}.f{bits(source)}", source, (source, value))
    name = f"llvm.fpto{'si' if to.startswith('s') else 'ui'}.sat.{kind}.f{bits(source)}"
    found = writer.call(name, kind, (source, value))
    if source == "double" or bits(kind) == 64:
        unordered = writer.op(f"fcmp uno {source} {value}, {value}")
        found = writer.op(f"select i1 {unordered}, {kind} {-(1 << (bits(kind) - 1))}, {kind} {found}")
    return found
