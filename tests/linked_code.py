"""The code of a kernel as it is linked for a device: its registers, stack and operations."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

FRAME_SIZE, REGISTERS = 0x11, 0x2F
"""EIATTR_FRAME_SIZE and EIATTR_REGCOUNT: the bytes of stack and the registers of a function."""

BY_SYMBOL = 0x04
"""The form of an attribute whose value is a symbol and a number: EIFMT_SVAL."""

DFMA = 0x02B
"""A multiplication and an addition of doubles, rounded once: the lowest nine bits of an instruction."""

DFMA_OF_DIVISION = 7
"""How many of them a division of doubles has where it is put in place, and the result is exact with them."""

DFMA_OF_RARE_DIVISION = 10
"""How many a kernel has once, for divisions whose operands or quotient are very small or very large."""

LOCAL = (0x187, 0x183)
"""STL and LDL: registers that spill are written and read."""

OF_LIBRARY = b".text.__cuda_"
"""How the sections of functions begin that the linker adds: divisions, for example."""


class LinkedKernel(NamedTuple):
    """A kernel in a cubin.

    ============  =============================================================================
    `registers`   of each thread
    `stack`       bytes of stack of each thread
    `operations`  how often each operation, by the lowest nine bits of its instruction, occurs;
                  functions of the linker are left out
    ============  =============================================================================
    """

    registers: int
    stack: int
    operations: Counter[int]


def linked_kernel(cubin: bytes) -> LinkedKernel:
    """The only kernel of a cubin, with the functions that it calls.

    A cubin is an ELF file. Its section `.nv.info` has the stack and the registers of each function; an
    instruction has 16 bytes.
    """
    start = struct.unpack_from("<Q", cubin, 0x28)[0]
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, start + size * at) for at in range(count)]
    texts = headers[names][4]
    found, operations = {FRAME_SIZE: 0, REGISTERS: 0}, Counter[int]()
    for name, _, _, _, offset, length, *_ in headers:
        title = cubin[texts + name : cubin.index(b"\0", texts + name)]
        body = cubin[offset : offset + length]
        if title.startswith(b".text.") and not title.startswith(OF_LIBRARY):
            operations.update(word & 0x1FF for (word,) in struct.iter_unpack("<H14x", body))
        elif title == b".nv.info":
            for kind, number in _attributes(body):
                found[kind] = max(found.get(kind, 0), number)
    return LinkedKernel(found[REGISTERS], found[FRAME_SIZE], operations)


def _attributes(section: bytes) -> Iterator[tuple[int, int]]:
    """The kinds and the numbers of a section of attributes of functions."""
    at = 0
    while at + 4 <= len(section):
        form, kind, length = struct.unpack_from("<BBH", section, at)
        at += 4
        if form == BY_SYMBOL:
            yield kind, struct.unpack_from("<II", section, at)[1]
            at += length
