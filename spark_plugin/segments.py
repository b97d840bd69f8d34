"""Segments of a stream: the times that a task reports, and the events around them that it needs."""

from __future__ import annotations

from cer_gpu.frozen_dataclass import dataclass

OWN = "__cer_"
"""What the names of our own columns begin with."""

SEGMENT = f"{OWN}segment"
"""The column that says which segment a row is of."""

STREAM = f"{OWN}stream"
"""The column that says which of the streams that are cut a row is of; -1: of none."""

ROW = f"{OWN}row"
"""The column of the number of a row in all files."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment of the events of one key, or of all events, and the events around it that it depends on.

    Attributes
    ----------
    begin : int, float or None
        The first time that it reports, in the unit of the time column: matches that end earlier are
        reported by another segment. None: no lower bound.
    offset : int
        How many events come before the first one that it gets.
    end : int, float or None
        The first time that it no longer reports: matches that end from then on are reported by another
        segment. None: it gets no events after those that it reports.
    """

    begin: int | float | None
    offset: int
    end: int | float | None = None


def partition_of(value: int, partitions: int) -> int:
    """The partition that Spark puts an `int` value into.

    Spark's hash is MurmurHash3 (32 bits, x86) of the value as one block of four bytes, with seed 42.
    """
    block = _rotated(value * 0xCC9E2D51, 15) * 0x1B873593
    state = (_rotated(42 ^ block, 13) * 5 + 0xE6546B64) & _BITS
    state ^= 4
    state = ((state ^ (state >> 16)) * 0x85EBCA6B) & _BITS
    state = ((state ^ (state >> 13)) * 0xC2B2AE35) & _BITS
    state ^= state >> 16
    signed = state - (1 << 32) if state >= 1 << 31 else state
    return signed % partitions


_BITS = 0xFFFFFFFF


def _rotated(value: int, bits: int) -> int:
    value &= _BITS
    return (value << bits | value >> (32 - bits)) & _BITS


def numbers_apart(count: int, partitions: int) -> list[int]:
    """Numbers for segments that Spark spreads evenly: no partition gets two before each has one.

    Not every version and accelerator of Spark can be told the partition of a row; but a number can be chosen
    by its hash.
    """
    waiting: list[list[int]] = [[] for _ in range(partitions)]
    found: list[int] = []
    value = 0
    while len(found) < count:
        target = len(found) % partitions
        while not waiting[target]:
            value += 1
            waiting[partition_of(value, partitions)].append(value)
        found.append(waiting[target].pop(0))
    return found
