"""Loads, stores and atomics, each behind a call that checks the access."""

from __future__ import annotations

from virtual_device.ptx.syntax import Instruction, UnsupportedPtxError, split
from virtual_device.ptx.writer import FLOATS, SPACES, Writer, bits, is_signed, opcode, type_of

WRITES, ATOMIC, VOLATILE, IN_SHARED, IN_LOCAL, HAS_VALUE = 1, 2, 4, 8, 16, 32
"""What an access is, as `launch.c` reads it."""

ORDERED = frozenset(["volatile", "relaxed", "acquire", "release", "mmio"])
"""Modifiers of accesses that other threads may see at once."""


def _space(instruction: Instruction) -> str:
    return next((one.partition("::")[0] for one in instruction.name if one.partition("::")[0] in SPACES), "")


def _pointer(
    writer: Writer, instruction: Instruction, operand: str, size: int, kind: int, value: str = "0"
) -> str:
    """The pointer to a place that was checked."""
    address, space = writer.address(operand), _space(instruction)
    if space != "param":
        kind |= {"shared": IN_SHARED, "local": IN_LOCAL}.get(space, 0)
        kind |= VOLATILE if ORDERED.intersection(instruction.name) else 0
        address = writer.call(
            "virtual_access",
            "i64",
            ("i64", address),
            ("i32", str(size)),
            ("i32", str(kind)),
            ("i32", str(instruction.line)),
            ("i64", value),
        )
    return writer.op(f"inttoptr i64 {address} to ptr")


def _parts(instruction: Instruction, operand: str) -> tuple[str, ...]:
    """The registers of an operand, one or those of a vector."""
    many = next((int(one[1]) for one in instruction.name if one in ("v2", "v4")), 1)
    parts = split(operand.strip("{}")) if many > 1 else (operand,)
    if len(parts) != many:
        raise UnsupportedPtxError(instruction.form)
    return parts


@opcode("ld", "ldu")
def load(writer: Writer, instruction: Instruction) -> None:
    """`ld.global.v2.u64 {d, e}, [a]`, extended to the width of the register."""
    kind, (target, operand) = type_of(instruction), instruction.operands
    parts, size = _parts(instruction, target), bits(kind) // 8
    place = _pointer(writer, instruction, operand, size * len(parts), 0)
    align = 1 if _space(instruction) == "param" else size
    for at, part in enumerate(parts):
        one = writer.op(f"getelementptr i8, ptr {place}, i64 {at * size}") if at else place
        writer.put(part, writer.op(f"load {kind}, ptr {one}, align {align}"), kind, is_signed(instruction))


@opcode("st")
def store(writer: Writer, instruction: Instruction) -> None:
    """`st.global.u64 [a], b`."""
    kind, (operand, source) = type_of(instruction), instruction.operands
    parts, size = _parts(instruction, source), bits(kind) // 8
    values = writer.values(parts, kind)
    if len(parts) == 1:
        known = writer.converted(values[0], kind, "i64")
        place = _pointer(writer, instruction, operand, size, WRITES | HAS_VALUE, known)
    else:
        place = _pointer(writer, instruction, operand, size * len(parts), WRITES)
    for at, value in enumerate(values):
        one = writer.op(f"getelementptr i8, ptr {place}, i64 {at * size}") if at else place
        writer.emit(f"store {kind} {value}, ptr {one}, align {size}")


ATOMICS = {
    "add": "add", "and": "and", "or": "or", "xor": "xor", "exch": "xchg", "min": "min", "max": "max",
    "inc": "uinc_wrap", "dec": "udec_wrap", "cas": "cas",
}  # fmt: skip
"""The operation of LLVM for each one of PTX."""


@opcode("atom", "red")
def atomic(writer: Writer, instruction: Instruction) -> None:
    """`atom.global.add.u64 d, [a], b`; `red` gives no old value."""
    kind, operands = type_of(instruction), list(instruction.operands)
    target = operands.pop(0) if instruction.name[0] == "atom" else "_"
    name = next((ATOMICS[one] for one in instruction.name[1:] if one in ATOMICS), None)
    if name is None or ORDERED.intersection(instruction.name) - {"relaxed"} or kind == "half":
        raise UnsupportedPtxError(instruction.form)
    place = _pointer(writer, instruction, operands[0], bits(kind) // 8, WRITES | ATOMIC)
    values = writer.values(operands[1:], kind)
    if name == "cas":
        pair = writer.op(f"cmpxchg ptr {place}, {kind} {values[0]}, {kind} {values[1]} seq_cst seq_cst")
        found = writer.op(f"extractvalue {{ {kind}, i1 }} {pair}, 0")
    else:
        if name in ("min", "max") and not is_signed(instruction):
            name = f"u{name}"
        if kind in FLOATS:
            if name not in ("add", "xchg"):
                raise UnsupportedPtxError(instruction.form)
            name = {"add": "fadd"}.get(name, name)
        found = writer.op(f"atomicrmw {name} ptr {place}, {kind} {values[0]} seq_cst")
    writer.put(target, found, kind, is_signed(instruction))


@opcode("cvta")
def generic(writer: Writer, instruction: Instruction) -> None:
    """An address of one space as one of all, or back: they are the same here."""
    target, operand = instruction.operands
    writer.put(target, writer.value(operand, "i64"), "i64")


@opcode("membar", "fence")
def fence(writer: Writer, instruction: Instruction) -> None:
    """Threads run one after another: each sees all that those before it have written."""


@opcode("trap", "brkpt")
def trap(writer: Writer, instruction: Instruction) -> None:
    """An error that ends the use of the device."""
    writer.call("virtual_trap", "void", ("i32", str(instruction.line)))
