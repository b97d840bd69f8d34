"""A kernel as a function of the host that runs one thread from its start, or a barrier, to the next one."""

from __future__ import annotations

from dataclasses import dataclass

from virtual_device.ptx import floats, integers, memory
from virtual_device.ptx.liveness import is_barrier, live_behind_barriers
from virtual_device.ptx.syntax import Instruction, UnsupportedPtxError, parse
from virtual_device.ptx.writer import OPCODES, Writer

SLOT = 8
"""Bytes that a register takes which is kept while a thread waits."""

PLAIN_BARRIERS = {
    ("bar", "sync"), ("barrier", "sync"), ("barrier", "sync", "aligned"), ("bar", "cta", "sync"),
    ("barrier", "cta", "sync", "aligned"), ("barrier", "cta", "sync"),
}  # fmt: skip
"""Barriers for all threads of a block."""

__all__ = ["KernelLayout", "TranslatedModule", "floats", "integers", "memory", "translate"]


@dataclass(frozen=True, slots=True)
class KernelLayout:
    """What a launch of a kernel needs to know.

    Attributes
    ----------
    parameters : tuple of int
        The size of each parameter in bytes.
    shared : int
        Bytes of static shared memory.
    state : int
        Bytes that a thread keeps from barrier to barrier, with its local memory, which comes first.
    local : int
        Bytes of local memory.
    ranges : tuple of (int, int)
        Offset and size of each variable in static shared memory.
    """

    parameters: tuple[int, ...]
    shared: int
    state: int
    local: int
    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class TranslatedModule:
    """A PTX module for the host.

    Attributes
    ----------
    text : str
        LLVM IR: for each kernel a function of its name.
    layouts : dict of str to KernelLayout
    variables : dict of str to int
        The size of each variable in global and constant memory.
    forms : frozenset of str
        The opcodes with their modifiers that occur.
    """

    text: str
    layouts: dict[str, KernelLayout]
    variables: dict[str, int]
    forms: frozenset[str]


def translate(ptx: str) -> TranslatedModule:
    """Translate a PTX module.

    Raises
    ------
    UnsupportedPtxError
        For what is not translated.
    """
    module = parse(ptx)
    functions, declared, layouts = [], set(), {}
    for entry in module.entries:
        writer = Writer(entry, module)
        text, layouts[entry.name] = _function(writer)
        functions.append(text)
        declared |= writer.declared
    variables = [
        f'@"{one.name}" = global [{max(one.size, 1)} x i8] {_bytes(one.values, one.element, one.size)},'
        f" align {one.align}"
        for one in module.variables
    ]
    return TranslatedModule(
        "\n".join([*sorted(declared), *variables, *functions]),
        layouts,
        {one.name: one.size for one in module.variables},
        frozenset(
            item.form for entry in module.entries for item in entry.body if isinstance(item, Instruction)
        ),
    )


def _bytes(values: tuple[int, ...] | None, element: str, size: int) -> str:
    if values is None:
        return "zeroinitializer"
    wide = int(element[1:]) // 8
    content = b"".join((one & ((1 << 8 * wide) - 1)).to_bytes(wide, "little") for one in values)
    return "c" + '"' + "".join(f"\\{byte:02X}" for byte in content.ljust(size, b"\0")) + '"'


def _function(writer: Writer) -> tuple[str, KernelLayout]:
    entry = writer.entry
    live = live_behind_barriers(entry)
    kept = sorted(set().union(*live.values()))
    first = -(-writer.local_size // SLOT) * SLOT
    slots = {register: first + SLOT * at for at, register in enumerate(kept)}
    resumes = _Body(writer, live, slots).write()
    head = [
        f'define i64 @"{entry.name}"(ptr %parameters, ptr %shape, ptr %shared, ptr %state,'
        " i32 %tx, i32 %ty, i32 %tz, i64 %resume) {",
        "entry:",
        *(f'  %"{register}" = alloca {kind}' for register, kind in entry.registers.items()),
        *(f'  store {kind} zeroinitializer, ptr %"{register}"' for register, kind in entry.registers.items()),
        "  switch i64 %resume, label %start [",
        *(f"    i64 {number}, label %resume{number}" for number in range(1, resumes + 1)),
        "  ]",
        "start:",
    ]
    state = -(-(first + SLOT * len(kept) + SLOT) // 16) * 16
    parameters = tuple(one.size for one in entry.parameters)
    layout = KernelLayout(
        parameters, writer.shared_size, state, writer.local_size, tuple(writer.shared_ranges)
    )
    return "\n".join([*head, *writer.lines, "}"]), layout


class _Body:
    """The control flow of a kernel.

    Attributes
    ----------
    open : bool
        Whether the present basic block has no end yet.
    barriers : int
        How many barriers were written.
    """

    def __init__(self, writer: Writer, live: dict[int, list[str]], slots: dict[str, int]) -> None:
        self.writer, self._live, self._slots = writer, live, slots
        self.open, self.barriers = True, 0

    def write(self) -> int:
        """Write all of it; how many barriers there are."""
        for at, item in enumerate(self.writer.entry.body):
            if isinstance(item, str):
                if self.open:
                    self.writer.emit(f'br label %"{item}"')
                self._begin(f'"{item}"')
                continue
            if not self.open:
                self._begin(f"dead{self.writer.number()}")
            if item.guard and item.name[0] != "bra":
                number = self.writer.number()
                self.writer.emit(f"br i1 {self.writer.truth(item)}, label %do{number}, label %skip{number}")
                self._begin(f"do{number}")
                self._instruction(at, item)
                if self.open:
                    self.writer.emit(f"br label %skip{number}")
                self._begin(f"skip{number}")
            else:
                self._instruction(at, item)
        if self.open:
            self.writer.emit("ret i64 0")
        return self.barriers

    def _begin(self, label: str) -> None:
        self.writer.lines.append(f"{label}:")
        self.open = True

    def _instruction(self, at: int, item: Instruction) -> None:
        name = item.name[0]
        if name == "bra":
            self._branch(item)
        elif name in ("ret", "exit"):
            self.writer.emit("ret i64 0")
            self.open = False
        elif is_barrier(item):
            self._barrier(at, item)
        elif name not in OPCODES:
            raise UnsupportedPtxError(item.form)
        else:
            OPCODES[name](self.writer, item)
            if name == "trap":
                self.writer.emit("ret i64 0")
                self.open = False

    def _branch(self, item: Instruction) -> None:
        target = item.operands[0]
        if not item.guard:
            self.writer.emit(f'br label %"{target}"')
            self.open = False
            return
        number = self.writer.number()
        self.writer.emit(f'br i1 {self.writer.truth(item)}, label %"{target}", label %next{number}')
        self._begin(f"next{number}")

    def _barrier(self, at: int, item: Instruction) -> None:
        """Keep what is needed behind it, return its number, and begin there again."""
        if item.name not in PLAIN_BARRIERS or len(item.operands) > 1:
            raise UnsupportedPtxError(item.form)
        self.barriers += 1
        number, writer = self.barriers, self.writer
        for register in self._live[at]:
            kind = writer.entry.registers[register]
            value = writer.value(register, kind)
            writer.emit(f"store {kind} {value}, ptr {self._slot(register)}")
        writer.emit(f"ret i64 {number}")
        self._begin(f"resume{number}")
        for register in self._live[at]:
            kind = writer.entry.registers[register]
            writer.put(register, writer.op(f"load {kind}, ptr {self._slot(register)}"), kind)

    def _slot(self, register: str) -> str:
        return self.writer.op(f"getelementptr i8, ptr %state, i64 {self._slots[register]}")
