"""Which registers are still needed behind each barrier: a thread that waits there keeps them in memory."""

from __future__ import annotations

import re
from typing import NamedTuple

from virtual_device.ptx.syntax import Entry, Instruction

WITHOUT_RESULT = frozenset(
    ["st", "bra", "bar", "barrier", "ret", "red", "exit", "membar", "fence", "trap", "brx"]
)
"""Opcodes whose first operand is none that they write."""

BARRIERS = frozenset(["bar", "barrier"])


class _Registers(NamedTuple):
    """The registers that an instruction reads, and those that it writes whatever its predicate says."""

    read: frozenset[str]
    written: frozenset[str]


def is_barrier(item: Instruction | str) -> bool:
    """Whether something in the body of a kernel is a barrier of the block."""
    return isinstance(item, Instruction) and item.name[0] in BARRIERS and "warp" not in item.name


def live_behind_barriers(entry: Entry) -> dict[int, list[str]]:
    """For the place of each barrier in the body, the registers that are read behind it, in a fixed order."""
    places = [at for at, item in enumerate(entry.body) if is_barrier(item)]
    if not places:
        return {}
    labels = {item: at for at, item in enumerate(entry.body) if isinstance(item, str)}
    used = [_used(entry, item) for item in entry.body]
    following = [_following(entry, labels, at) for at in range(len(entry.body))]
    before: list[frozenset[str]] = [frozenset()] * len(entry.body)
    changed = True
    while changed:
        changed = False
        for at in reversed(range(len(entry.body))):
            behind = frozenset().union(*(before[one] for one in following[at]))
            found = used[at].read | (behind - used[at].written)
            if found != before[at]:
                before[at], changed = found, True
    return {at: sorted(frozenset().union(*(before[one] for one in following[at]))) for at in places}


def _used(entry: Entry, item: Instruction | str) -> _Registers:
    if isinstance(item, str):
        return _Registers(frozenset(), frozenset())
    named = [
        frozenset(one for one in re.findall(r"%[A-Za-z_]\w*", operand) if one in entry.registers)
        for operand in item.operands
    ]
    read = frozenset().union(*named)
    written: frozenset[str] = frozenset()
    if item.name[0] not in WITHOUT_RESULT and named:
        written, read = named[0], frozenset().union(*named[1:])
    if item.guard:  # where it does not run, the old value stays
        return _Registers(read | written | {item.guard}, frozenset())
    return _Registers(read, written)


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
