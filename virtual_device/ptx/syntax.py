"""What a PTX module says: its kernels, their registers, variables and instructions."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

TYPES = {
    "pred": "i1",
    "f16": "half",
    "f32": "float",
    "f64": "double",
    **{f"{kind}{bits}": f"i{bits}" for kind in "bsu" for bits in (8, 16, 32, 64)},
}
"""The type of LLVM for each type of PTX."""


class UnsupportedPtxError(Exception):
    """A module uses something of PTX that is not translated."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction.

    Attributes
    ----------
    name : tuple of str
        The opcode and its modifiers: ("setp", "lt", "s32").
    operands : tuple of str
    guard : str
        The register of its predicate; "" without one.
    negated : bool
        Whether it runs where the predicate is false.
    line : int
        The line of the PTX, from 1.
    """

    name: tuple[str, ...]
    operands: tuple[str, ...]
    guard: str
    negated: bool
    line: int

    @property
    def form(self) -> str:
        """The opcode with its modifiers, as PTX writes it."""
        return ".".join(self.name)


@dataclass(frozen=True, slots=True)
class PtxVariable:
    """A parameter, or a variable in memory.

    Attributes
    ----------
    name : str
    size, align : int
        In bytes; a size of 0 for dynamic shared memory.
    element : str
        The type of its elements in PTX.
    values : tuple of int or None
        What it holds at first; None for nothing.
    """

    name: str
    size: int
    align: int
    element: str
    values: tuple[int, ...] | None = None


@dataclass(slots=True)
class Entry:
    """A kernel.

    Attributes
    ----------
    name : str
    parameters : list of PtxVariable
    registers : dict of str to str
        The type of LLVM of each register.
    local, shared : list of PtxVariable
    body : list of Instruction or str
        A string is a label.
    """

    name: str
    parameters: list[PtxVariable] = field(default_factory=list)
    registers: dict[str, str] = field(default_factory=dict)
    local: list[PtxVariable] = field(default_factory=list)
    shared: list[PtxVariable] = field(default_factory=list)
    body: list[Instruction | str] = field(default_factory=list)


@dataclass(slots=True)
class Module:
    """A module: its kernels, and the variables that they share.

    Attributes
    ----------
    entries : list of Entry
    shared : list of PtxVariable
    variables : list of PtxVariable
        In global and constant memory.
    """

    entries: list[Entry] = field(default_factory=list)
    shared: list[PtxVariable] = field(default_factory=list)
    variables: list[PtxVariable] = field(default_factory=list)


_TOP = re.compile(r"\.(entry|func|shared|global|const)\b")
_STATEMENT = re.compile(r"\s*([\w$]+:(?!:)|[^;]*;)")
_GUARD = re.compile(r"@(!?)(%\w+)\s+")


def parse(text: str) -> Module:
    """The module of a text.

    Raises
    ------
    UnsupportedPtxError
        For functions that are called, and for directives that are not known.
    """
    # Comments become blanks: places in the text keep their lines.
    text = re.sub(r"//[^\n]*|/\*.*?\*/", lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.DOTALL)
    ends = [found.start() for found in re.finditer("\n", text)]
    module, at = Module(), 0
    while found := _TOP.search(text, at):
        kind, at = found[1], found.end()
        if kind in ("shared", "global", "const"):
            end = text.index(";", at)
            (module.shared if kind == "shared" else module.variables).append(_variable(text[at:end]))
            at = end + 1
            continue
        brace, semicolon = text.find("{", at), text.find(";", at)
        if kind == "func":
            if brace == -1 or -1 < semicolon < brace:  # declared only
                at = semicolon + 1
                continue
            raise UnsupportedPtxError("functions that are called, which the linker has not put in place")
        entry = _entry(text[at:brace])
        at = _body(entry, text, brace + 1, ends)
        module.entries.append(entry)
    return module


def split(text: str) -> tuple[str, ...]:
    """The operands of a list, whose vectors and addresses stay whole."""
    return tuple(part.strip() for part in re.findall(r"(?:\[[^]]*\]|\{[^}]*\}|[^,])+", text) if part.strip())


def _variable(text: str) -> PtxVariable:
    """The variable that `.align 8 .b8 name[16] = {1, 2}` declares."""
    head, _, values = text.partition("=")
    found = re.search(r"\.([bsuf]\d+)\s+([\w$%]+)((?:\[\d*\])*)", head)
    if found is None:
        raise UnsupportedPtxError(text.strip())
    width = int(found[1][1:]) // 8
    size = width
    for extent in re.findall(r"\[(\d*)\]", found[3]):
        size *= int(extent or 0)
    aligned = re.search(r"\.align\s+(\d+)", head)
    if re.search(r"[A-Za-z_$]", re.sub(r"0[xX][0-9a-fA-F]+", "", values)):
        raise UnsupportedPtxError(f"the value of {found[2]}")
    numbers = tuple(int(one, 0) for one in re.findall(r"-?(?:0[xX][0-9a-fA-F]+|\d+)", values))
    return PtxVariable(found[2], size, int(aligned[1]) if aligned else width, found[1], numbers or None)


def _entry(head: str) -> Entry:
    found = re.match(r"\s*([\w$]+)", head)
    assert found is not None
    entry = Entry(found[1])
    if "(" in head:
        declared = head[head.index("(") + 1 : head.rindex(")")]
        entry.parameters = [_variable(one) for one in split(declared)]
    return entry


def _body(entry: Entry, text: str, at: int, ends: list[int]) -> int:
    """Read the statements behind the brace of an entry; the place behind its end."""
    depth = 1
    while True:
        at += len(text[at:]) - len(text[at:].lstrip()) if text[at].isspace() else 0
        if text[at] in "{}":  # of a scope: vectors stand inside of statements
            depth += 1 if text[at] == "{" else -1
            at += 1
            if not depth:
                return at
            continue
        found = _STATEMENT.match(text, at)
        assert found is not None
        line = bisect_right(ends, found.start(1)) + 1
        at = found.end()
        if found[1].endswith(":"):
            entry.body.append(found[1][:-1])
        else:
            _statement(entry, " ".join(found[1][:-1].split()), line)


def _statement(entry: Entry, text: str, line: int) -> None:
    kind, _, rest = text.partition(" ")
    if kind == ".reg":
        _registers(entry, rest)
    elif kind == ".local":
        entry.local.append(_variable(rest))
    elif kind == ".shared":
        entry.shared.append(_variable(rest))
    elif kind.startswith("."):
        if kind not in (".pragma", ".loc", ".file"):
            raise UnsupportedPtxError(text)
    elif text:
        guard = _GUARD.match(text)
        if guard is not None:
            text = text[guard.end() :]
        name, _, operands = text.partition(" ")
        entry.body.append(
            Instruction(
                tuple(name.split(".")),
                split(operands),
                guard[2] if guard else "",
                bool(guard and guard[1]),
                line,
            )
        )


def _registers(entry: Entry, text: str) -> None:
    kind, _, names = text.partition(" ")
    for name in split(names):
        many = re.fullmatch(r"(%\w+)<(\d+)>", name)
        for one in [f"{many[1]}{at}" for at in range(int(many[2]))] if many else [name]:
            if entry.registers.setdefault(one, TYPES[kind[1:]]) != TYPES[kind[1:]]:
                raise UnsupportedPtxError(f"register {one} of two types")
