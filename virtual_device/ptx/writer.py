"""LLVM IR of one kernel, line by line: values, operands and registers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from virtual_device.ptx.syntax import TYPES, Entry, Instruction, Module, PtxVariable, UnsupportedPtxError

FLOATS = frozenset(["half", "float", "double"])
SPACES = frozenset(["global", "shared", "local", "param", "const"])
GUARD_BYTES = 64
"""Bytes between the variables in shared memory: an access behind the end of one lies in no other."""

SHAPE = ["ntid.x", "ntid.y", "ntid.z", "nctaid.x", "nctaid.y", "nctaid.z", "ctaid.x", "ctaid.y", "ctaid.z"]
SHAPE += ["dynamic_smem_size"]
"""Special registers, in the order in which the driver gives them to a block."""

Translation = Callable[["Writer", Instruction], None]
OPCODES: dict[str, Translation] = {}
"""How each opcode is translated."""


def opcode(*names: str) -> Callable[[Translation], Translation]:
    """Decorator: a function that translates these opcodes."""

    def enter(function: Translation) -> Translation:
        OPCODES.update(dict.fromkeys(names, function))
        return function

    return enter


def bits(kind: str) -> int:
    """How many bits a type of LLVM has."""
    return {"half": 16, "float": 32, "double": 64}.get(kind) or int(kind[1:])


def type_of(instruction: Instruction) -> str:
    """The type of LLVM of an instruction's last modifier."""
    return TYPES[instruction.name[-1]]


def is_signed(instruction: Instruction) -> bool:
    """Whether the type of an instruction is one of signed numbers."""
    return instruction.name[-1].startswith("s")


class Writer:
    """Writes the IR of one kernel.

    Parameters
    ----------
    entry : Entry
    module : Module

    Attributes
    ----------
    lines : list of str
    declared : set of str
        What the IR calls.
    shared_size : int
        Bytes of static shared memory.
    shared_ranges : list of (int, int)
        Offset and size of each static variable in it.
    local_size : int
        Bytes of local memory of a thread.
    """

    def __init__(self, entry: Entry, module: Module) -> None:
        self.entry = entry
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self._count = 0
        self._parameters = {one.name: at for at, one in enumerate(entry.parameters)}
        self._variables = {one.name for one in module.variables}
        static = [one for one in [*entry.shared, *module.shared] if one.size]
        self._shared, self.shared_size = _places(static, GUARD_BYTES)
        self.shared_size = -(-self.shared_size // 16) * 16
        self.shared_ranges = [(self._shared[one.name], one.size) for one in static]
        self._shared |= {one.name: self.shared_size for one in module.shared if not one.size}
        self._local, self.local_size = _places(entry.local, 0)

    # ------------------------------------------------------------------------------------------ lines

    def emit(self, line: str) -> None:
        """Write a line without a value."""
        self.lines.append(f"  {line}")

    def op(self, text: str) -> str:
        """Write an operation; the name of its value."""
        name = f"%t{self.number()}"
        self.emit(f"{name} = {text}")
        return name

    def number(self) -> int:
        """A number that no other name has."""
        self._count += 1
        return self._count

    def call(self, name: str, kind: str, *arguments: tuple[str, str]) -> str:
        """Write a call of a function that is declared for it; the name of its value.

        Parameters
        ----------
        name, kind : str
            The function, and the type that it returns.
        *arguments : (str, str)
            The type of each argument, and its value.
        """
        self.declared.add(f"declare {kind} @{name}({', '.join(one for one, _ in arguments)})")
        text = f"call {kind} @{name}({', '.join(f'{one} {value}' for one, value in arguments)})"
        if kind == "void":
            self.emit(text)
            return ""
        return self.op(text)

    # ------------------------------------------------------------------------------------------ values

    def converted(self, value: str, kind: str, to: str, signed: bool = False) -> str:
        """The bits of a value as another type: cut off, or extended by zeros or the sign."""
        if kind == to:
            return value
        if kind in FLOATS:
            return self.converted(
                self.op(f"bitcast {kind} {value} to i{bits(kind)}"), f"i{bits(kind)}", to, signed
            )
        if to in FLOATS:
            whole = f"i{bits(to)}"
            return self.op(f"bitcast {whole} {self.converted(value, kind, whole, signed)} to {to}")
        if bits(kind) > bits(to):
            return self.op(f"trunc {kind} {value} to {to}")
        return self.op(f"{'sext' if signed else 'zext'} {kind} {value} to {to}")

    def value(self, operand: str, kind: str) -> str:
        """An operand as a value of a type of LLVM."""
        if operand.startswith("%"):
            own = self.entry.registers.get(operand)
            if own is None:
                return self.converted(self._special(operand[1:]), "i32", kind)
            return self.converted(self.op(f'load {own}, ptr %"{operand}"'), own, kind)
        if found := re.fullmatch(r"0[fFdD]([0-9a-fA-F]+)", operand):
            own = "float" if operand[1] in "fF" else "double"
            return self.converted(self.op(f"bitcast i{bits(own)} {int(found[1], 16)} to {own}"), own, kind)
        if found := re.fullmatch(r"(-?(?:0[xX][0-9a-fA-F]+|\d+))U?", operand):
            return self._number(int(found[1], 0), kind)
        return self.converted(self._address_of(operand), "i64", kind)

    def values(self, operands: Sequence[str], kind: str) -> list[str]:
        """Several operands of one type."""
        return [self.value(one, kind) for one in operands]

    def put(self, register: str, value: str, kind: str, signed: bool = False) -> None:
        """Write a value to a register, extended where that is wider."""
        if register != "_":
            own = self.entry.registers[register]
            self.emit(f'store {own} {self.converted(value, kind, own, signed)}, ptr %"{register}"')

    def address(self, operand: str) -> str:
        """The i64 of an address: `[%rd1+8]`."""
        found = re.fullmatch(r"\[\s*([^\s+]+?)\s*(?:\+\s*(-?\w+))?\s*\]", operand)
        if found is None:
            raise UnsupportedPtxError(f"the address {operand}")
        base = self.value(found[1], "i64")
        return self.op(f"add i64 {base}, {int(found[2], 0)}") if found[2] else base

    def truth(self, instruction: Instruction) -> str:
        """The i1 of the predicate that an instruction runs under."""
        value = self.value(instruction.guard, "i1")
        return self.op(f"xor i1 {value}, true") if instruction.negated else value

    def _number(self, number: int, kind: str) -> str:
        if kind in FLOATS:
            return repr(float(number))
        if kind == "i1":
            return "true" if number else "false"
        wide = bits(kind)
        number &= (1 << wide) - 1
        return str(number - (1 << wide) if number >> (wide - 1) else number)

    def _special(self, name: str) -> str:
        if name.startswith("tid."):
            return f"%t{name[4]}"
        if name == "laneid":
            return self.op(f"and i32 {self._thread()}, 31")
        if name == "warpid":
            return self.op(f"lshr i32 {self._thread()}, 5")
        if name not in SHAPE:
            raise UnsupportedPtxError(f"the special register %{name}")
        place = self.op(f"getelementptr i32, ptr %shape, i64 {SHAPE.index(name)}")
        return self.op(f"load i32, ptr {place}")

    def _thread(self) -> str:
        """The number of the thread in its block."""
        across, down = self._special("ntid.x"), self._special("ntid.y")
        rows = self.op(f"mul i32 %tz, {down}")
        rows = self.op(f"add i32 {rows}, %ty")
        return self.op(f"add i32 {self.op(f'mul i32 {rows}, {across}')}, %tx")

    def _address_of(self, name: str) -> str:
        if name in self._shared:
            place = self.op(f"getelementptr i8, ptr %shared, i64 {self._shared[name]}")
        elif name in self._local:
            place = self.op(f"getelementptr i8, ptr %state, i64 {self._local[name]}")
        elif name in self._parameters:
            place = self.op(f"getelementptr ptr, ptr %parameters, i64 {self._parameters[name]}")
            place = self.op(f"load ptr, ptr {place}")
        elif name in self._variables:
            place = f'@"{name}"'
        else:
            raise UnsupportedPtxError(f"the symbol {name}")
        return self.op(f"ptrtoint ptr {place} to i64")


def _places(variables: Sequence[PtxVariable], between: int) -> tuple[dict[str, int], int]:
    """The offset of each variable, and where the last one ends."""
    places, at = {}, 0
    for one in variables:
        at = -(-at // one.align) * one.align
        places[one.name] = at
        at += one.size + between
    return places, at
