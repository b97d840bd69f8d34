"""How kernels are launched: blocks and threads, chosen in one place."""

from typing import NamedTuple


class Geometry(NamedTuple):
    """Threads of a block, and blocks of a launch at most; the loops of the kernels do the rest."""

    threads: int
    most: int

    def blocks(self, units):
        """Blocks for so many units of work, one for each thread; at least 1."""
        return max(1, min(-(-units // self.threads), self.most))


STREAM = Geometry(256, 1 << 15)
"""For kernels that do the same for each row.

Eight blocks of 256 threads fill a multiprocessor of 2048 threads, and a barrier waits for eight warps only.
So many blocks are some thirty rounds of the largest device: the last one, half empty, costs little.
"""

LANE = Geometry(128, 1 << 12)
"""For kernels with a segment for each thread.

Smaller blocks, since a block keeps its place until its longest segment is done. The grid holds at most 2^19
threads, twice what the largest device has at once: scratch memory is made for as many.
"""

SHARED = 48 << 10
"""Bytes of shared memory that a block gets without being asked for more."""

WARP = 32

SCRATCH = 1 << 30
"""Bytes of scratch memory at most: a launch has fewer threads where each needs more."""


def scratch_blocks(units, numbers, geometry=LANE):
    """Blocks for so many units of work whose threads need so many numbers of eight bytes as scratch each."""
    room = SCRATCH // (8 * numbers * geometry.threads)
    return max(1, min(geometry.blocks(units), room))


def lane_geometry(n_registers, geometry=LANE):
    """`geometry` with as many threads as have room for their registers in shared memory.

    Registers are indexed by what the events are, so they cannot lie in those of the processor; local memory
    is as near as shared memory only while the first-level cache holds it, which the symbols of 2048 threads
    contest. Eight bytes each for a warp of 32: up to 192 registers.

    Returns
    -------
    Geometry or None
        None where not even a warp has room: such a program runs on the CPU.
    """
    room = SHARED // (8 * n_registers)
    if room >= geometry.threads:
        return geometry
    threads = room // WARP * WARP
    return Geometry(threads, geometry.most) if threads else None
