"""Whole numbers and bits: arithmetic, shifts, fields, comparisons, selection."""

from __future__ import annotations

from virtual_device.ptx import floats
from virtual_device.ptx.syntax import Instruction, UnsupportedPtxError
from virtual_device.ptx.writer import FLOATS, Writer, bits, is_signed, opcode, type_of


@opcode("add", "sub")
def add(writer: Writer, instruction: Instruction) -> None:
    """`add.s64 d, a, b`, and of floating numbers."""
    kind = type_of(instruction)
    if kind in FLOATS:
        return floats.arithmetic(writer, instruction)
    _only(instruction, {"add", "sub", instruction.name[-1]})
    target, left, right = instruction.operands
    found = f"{instruction.name[0]} {kind} {writer.value(left, kind)}, {writer.value(right, kind)}"
    return writer.put(target, writer.op(found), kind, is_signed(instruction))


@opcode("mul", "mad")
def mul(writer: Writer, instruction: Instruction) -> None:
    """`mul.lo`, `mul.hi`, `mul.wide`, and `mad`, which adds a third number."""
    kind, signed = type_of(instruction), is_signed(instruction)
    if kind in FLOATS:
        return floats.arithmetic(writer, instruction)
    _only(instruction, {"mul", "mad", "lo", "hi", "wide", instruction.name[-1]})
    target, *operands = instruction.operands
    left, right = writer.values(operands[:2], kind)
    if "lo" in instruction.name:
        found = writer.op(f"mul {kind} {left}, {right}")
    else:
        wide, extend = f"i{2 * bits(kind)}", "sext" if signed else "zext"
        left, right = (writer.op(f"{extend} {kind} {one} to {wide}") for one in (left, right))
        found = writer.op(f"mul {wide} {left}, {right}")
        if "hi" in instruction.name:
            found = writer.op(f"trunc {wide} {writer.op(f'lshr {wide} {found}, {bits(kind)}')} to {kind}")
        else:
            kind = wide
    if instruction.name[0] == "mad":
        found = writer.op(f"add {kind} {found}, {writer.value(operands[2], kind)}")
    return writer.put(target, found, kind, signed)


@opcode("div", "rem")
def div(writer: Writer, instruction: Instruction) -> None:
    """Division towards zero. What a division by zero gives is not specified: here all bits, as on a GPU."""
    kind, signed, name = type_of(instruction), is_signed(instruction), instruction.name[0]
    if kind in FLOATS:
        return floats.arithmetic(writer, instruction)
    target, *operands = instruction.operands
    left, right = writer.values(operands, kind)
    zero = writer.op(f"icmp eq {kind} {right}, 0")
    if signed:  # the least number divided by -1 is itself, which would trap on the host
        minus = writer.op(f"icmp eq {kind} {right}, -1")
        safe = writer.op(f"select i1 {writer.op(f'or i1 {zero}, {minus}')}, {kind} 1, {kind} {right}")
        found = writer.op(f"s{name} {kind} {left}, {safe}")
        negated = writer.op(f"sub {kind} 0, {left}") if name == "div" else "0"
        found = writer.op(f"select i1 {minus}, {kind} {negated}, {kind} {found}")
    else:
        safe = writer.op(f"select i1 {zero}, {kind} 1, {kind} {right}")
        found = writer.op(f"u{name} {kind} {left}, {safe}")
    instead = "-1" if name == "div" else left
    return writer.put(target, writer.op(f"select i1 {zero}, {kind} {instead}, {kind} {found}"), kind, signed)


@opcode("neg", "abs")
def neg(writer: Writer, instruction: Instruction) -> None:
    """The least number stays itself."""
    kind, (target, operand) = type_of(instruction), instruction.operands
    if kind in FLOATS:
        return floats.sign(writer, instruction)
    value = writer.value(operand, kind)
    found = writer.op(f"sub {kind} 0, {value}")
    if instruction.name[0] == "abs":
        below = writer.op(f"icmp slt {kind} {value}, 0")
        found = writer.op(f"select i1 {below}, {kind} {found}, {kind} {value}")
    return writer.put(target, found, kind, True)


@opcode("min", "max")
def least(writer: Writer, instruction: Instruction) -> None:
    """`min` and `max`."""
    kind, signed = type_of(instruction), is_signed(instruction)
    if kind in FLOATS:
        return floats.least(writer, instruction)
    target, *operands = instruction.operands
    left, right = writer.values(operands, kind)
    order = ("s" if signed else "u") + ("lt" if instruction.name[0] == "min" else "gt")
    first = writer.op(f"icmp {order} {kind} {left}, {right}")
    return writer.put(target, writer.op(f"select i1 {first}, {kind} {left}, {kind} {right}"), kind, signed)


@opcode("and", "or", "xor", "not")
def bitwise(writer: Writer, instruction: Instruction) -> None:
    """Bits, and predicates."""
    kind, name = type_of(instruction), instruction.name[0]
    target, *operands = instruction.operands
    values = writer.values(operands, kind)
    if name == "not":
        name, values = "xor", [*values, "true" if kind == "i1" else "-1"]
    writer.put(target, writer.op(f"{name} {kind} {values[0]}, {values[1]}"), kind)


@opcode("shl", "shr")
def shift(writer: Writer, instruction: Instruction) -> None:
    """The second operand has 32 bits without a sign; more than the width is as much as the width."""
    kind, signed = type_of(instruction), is_signed(instruction)
    target, operand, by = instruction.operands
    value, many = writer.value(operand, kind), writer.value(by, "i32")
    wide = bits(kind)
    beyond = writer.op(f"icmp ugt i32 {many}, {wide - 1}")
    arithmetic = instruction.name[0] == "shr" and signed
    within = writer.op(f"select i1 {beyond}, i32 {wide - 1 if arithmetic else 0}, i32 {many}")
    name = "shl" if instruction.name[0] == "shl" else "ashr" if arithmetic else "lshr"
    found = writer.op(f"{name} {kind} {value}, {writer.converted(within, 'i32', kind)}")
    if not arithmetic:
        found = writer.op(f"select i1 {beyond}, {kind} 0, {kind} {found}")
    writer.put(target, found, kind, signed)


@opcode("shf")
def funnel(writer: Writer, instruction: Instruction) -> None:
    """`shf.l.wrap.b32 d, low, high, by`: 32 bits of 64 that were shifted."""
    target, *operands = instruction.operands
    low, high, by = writer.values(operands, "i32")
    name = "llvm.fshl.i32" if "l" in instruction.name else "llvm.fshr.i32"
    found = writer.call(name, "i32", ("i32", high), ("i32", low), ("i32", by))
    if "clamp" in instruction.name:
        beyond = writer.op(f"icmp ugt i32 {by}, 31")
        found = writer.op(f"select i1 {beyond}, i32 {low if 'l' in instruction.name else high}, i32 {found}")
    writer.put(target, found, "i32")


@opcode("popc", "clz", "brev")
def count(writer: Writer, instruction: Instruction) -> None:
    """How many bits are set, how many zeros lead, and bits in reverse."""
    kind, name = type_of(instruction), instruction.name[0]
    target, operand = instruction.operands
    intrinsic = {"popc": "ctpop", "clz": "ctlz", "brev": "bitreverse"}[name]
    more = [("i1", "false")] if name == "clz" else []
    found = writer.call(f"llvm.{intrinsic}.{kind}", kind, (kind, writer.value(operand, kind)), *more)
    if name == "brev":
        return writer.put(target, found, kind)
    return writer.put(target, writer.converted(found, kind, "i32"), "i32")


@opcode("bfe")
def field(writer: Writer, instruction: Instruction) -> None:
    """`bfe.u32 d, a, at, length`: a field of bits, extended by zeros or its sign."""
    kind, signed = type_of(instruction), is_signed(instruction)
    target, operand, *place = instruction.operands
    at, length = _constants(instruction, place, bits(kind))
    left = writer.op(f"shl {kind} {writer.value(operand, kind)}, {bits(kind) - at - length}")
    found = writer.op(f"{'ashr' if signed else 'lshr'} {kind} {left}, {bits(kind) - length}")
    writer.put(target, found, kind, signed)


@opcode("bfi")
def insert(writer: Writer, instruction: Instruction) -> None:
    """`bfi.b32 d, a, b, at, length`: b with the low bits of a in a field."""
    kind = type_of(instruction)
    target, inserted, whole, *place = instruction.operands
    at, length = _constants(instruction, place, bits(kind))
    mask = ((1 << length) - 1) << at
    rest = writer.op(f"and {kind} {writer.value(whole, kind)}, {writer.value(str(~mask), kind)}")
    moved = writer.op(f"shl {kind} {writer.value(inserted, kind)}, {at}")
    moved = writer.op(f"and {kind} {moved}, {writer.value(str(mask), kind)}")
    writer.put(target, writer.op(f"or {kind} {rest}, {moved}"), kind)


def _constants(instruction: Instruction, place: list[str], wide: int) -> tuple[int, int]:
    if not all(one.isdigit() for one in place):
        raise UnsupportedPtxError(f"{instruction.form} at a place that is not constant")
    at, length = map(int, place)
    if not 0 < length <= wide - at:
        raise UnsupportedPtxError(f"{instruction.form} of {length} bits at {at}")
    return at, length


@opcode("selp")
def select(writer: Writer, instruction: Instruction) -> None:
    """`selp.b32 d, a, b, p`: a where p is true."""
    kind, (target, left, right, chosen) = type_of(instruction), instruction.operands
    truth = writer.value(chosen, "i1")
    left, right = writer.value(left, kind), writer.value(right, kind)
    writer.put(
        target,
        writer.op(f"select i1 {truth}, {kind} {left}, {kind} {right}"),
        kind,
        is_signed(instruction),
    )


ORDERED = {"eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "num": "ord"}
UNORDERED = {"equ": "ueq", "neu": "une", "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge", "nan": "uno"}
WITHOUT_SIGN = {"lo": "ult", "ls": "ule", "hi": "ugt", "hs": "uge"}


@opcode("setp")
def compare(writer: Writer, instruction: Instruction) -> None:
    """`setp.lt.and.s32 p|q, a, b, c`: a comparison and its negation, each with a third predicate."""
    kind, order = type_of(instruction), instruction.name[1]
    targets, left, right, *third = instruction.operands
    left, right = writer.value(left, kind), writer.value(right, kind)
    if kind in FLOATS:
        found = writer.op(f"fcmp {(ORDERED | UNORDERED)[order]} {kind} {left}, {right}")
    else:
        signed = "s" if is_signed(instruction) else "u"
        condition = WITHOUT_SIGN.get(order) or (order if order in ("eq", "ne") else signed + order)
        found = writer.op(f"icmp {condition} {kind} {left}, {right}")
    results = [found, writer.op(f"xor i1 {found}, true")]
    joined = next((one for one in instruction.name if one in ("and", "or", "xor")), None)
    if joined:
        other = writer.value(third[0], "i1")
        results = [writer.op(f"{joined} i1 {one}, {other}") for one in results]
    for target, one in zip(targets.split("|"), results):
        writer.put(target, one, "i1")


@opcode("mov")
def move(writer: Writer, instruction: Instruction) -> None:
    """A copy; two halves become a whole, and a whole two halves."""
    kind, (target, source) = type_of(instruction), instruction.operands
    if target.startswith("{"):
        parts = [one.strip() for one in target.strip("{}").split(",")]
        part = bits(kind) // len(parts)
        whole = writer.value(source, f"i{bits(kind)}")
        for at, one in enumerate(parts):
            moved = writer.op(f"lshr i{bits(kind)} {whole}, {at * part}")
            writer.put(one, writer.converted(moved, f"i{bits(kind)}", f"i{part}"), f"i{part}")
        return None
    if source.startswith("{"):
        parts = [one.strip() for one in source.strip("{}").split(",")]
        part, whole = bits(kind) // len(parts), "0"
        for at, one in enumerate(parts):
            value = writer.converted(writer.value(one, f"i{part}"), f"i{part}", f"i{bits(kind)}")
            value = writer.op(f"shl i{bits(kind)} {value}, {at * part}")
            whole = writer.op(f"or i{bits(kind)} {whole}, {value}")
        return writer.put(target, whole, f"i{bits(kind)}")
    return writer.put(target, writer.value(source, kind), kind, is_signed(instruction))


def _only(instruction: Instruction, known: set[str]) -> None:
    """Carries, saturation and what else changes a result."""
    if set(instruction.name) - known:
        raise UnsupportedPtxError(instruction.form)
