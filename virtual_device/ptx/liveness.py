"""Which registers are still needed behind each barrier: a thread that waits there keeps them in memory."""

from __future__ import annotations

import re

from virtual_device.ptx.syntax import Entry, Instruction

WITHOUT_RESULT = frozenset(
    ["st", "bra", "bar", "barrier", "ret", "red", "exit", "membar", "fence", "trap", "brx"]
)
"""Opcodes whose first operand is none that they write."""

BARRIERS = frozenset(["bar", "barrier"])


def is_barrier(item: Instruction | str) -> bool:
    """Whether something in the body of a kernel is a barrier of the block."""
    return isinstance(item, Instruction) and item.name[0] in BARRIERS and "warp" not in item.name


def live_behind_barriers(entry: Entry) -> dict[int, list[str]]:
    """For the place of each barrier in the body, the registers that are read behind it, in a fixed order."""
    places = [at for at, item in enumerate(entry.body) if is_barrier(item)]
    if not places:
        return {}
    registers = _Registers(entry)
    labels = {item: at for at, item in enumerate(entry.body) if isinstance(item, str)}
    used = [registers.used(item) for item in entry.body]
    following = [_following(entry, labels, at) for at in range(len(entry.body))]
    before = [0] * (len(entry.body) + 1)
    changed = True
    while changed:
        changed = False
        for at in reversed(range(len(entry.body))):
            behind = 0
            for one in following[at]:
                behind |= before[one]
            read, kept = used[at]
            found = read | behind & kept
            if found != before[at]:
                before[at], changed = found, True
    live = {}
    for at in places:
        behind = 0
        for one in following[at]:
            behind |= before[one]
        live[at] = registers.named(behind)
    return live


class _Registers:
    """Sets of the registers of a kernel, as bits of a number."""

    def __init__(self, entry: Entry) -> None:
        self._names = sorted(entry.registers)
        self._bits = {name: 1 << at for at, name in enumerate(self._names)}

    def named(self, bits: int) -> list[str]:
        """The registers of a set."""
        return [name for at, name in enumerate(self._names) if bits >> at & 1]

    def used(self, item: Instruction | str) -> tuple[int, int]:
        """The registers that an instruction reads, and all but those that it writes whatever happens."""
        if isinstance(item, str):
            return 0, -1
        written, read = 0, self._bits.get(item.guard, 0)
        for at, operand in enumerate(item.operands):
            if at == 0 and item.name[0] not in WITHOUT_RESULT:
                written = self._of(operand)
            else:
                read |= self._of(operand)
        # Where the predicate is false, the old value stays.
        return (read | written, -1) if item.guard else (read, ~written)

    def _of(self, operand: str) -> int:
        bits = 0
        for name in re.findall(r"%[A-Za-z_]\w*", operand):
            bits |= self._bits.get(name, 0)
        return bits


def _following(entry: Entry, labels: dict[str, int], at: int) -> list[int]:
    item = entry.body[at]
    behind = [at + 1] if at + 1 < len(entry.body) else []
    if isinstance(item, str):
        return behind
    if item.name[0] == "bra":
        return [labels[item.operands[0]], *(behind if item.guard else [])]
    if item.name[0] in ("ret", "exit") and not item.guard:
        return []
    return behind
