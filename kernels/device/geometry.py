"""How kernels are launched: blocks and threads, chosen in one place."""

from typing import NamedTuple


class Geometry(NamedTuple):
    """The threads of a block, and the most blocks of a launch; the loops of the kernels cover the rest."""

    threads: int
    most: int

    def blocks(self, units):
        """Blocks for `units` units of work, one for each thread; at least 1."""
        return max(1, min(-(-units // self.threads), self.most))


STREAM = Geometry(256, 1 << 15)
"""For kernels that do the same for each row.

Eight blocks of 256 threads fill a multiprocessor of 2048 threads, and a barrier waits for only eight warps. A
grid of this many blocks takes some thirty rounds on the largest device, so the last round, half empty, costs
little.
"""

LANE = Geometry(128, 1 << 12)
"""For kernels with a segment for each thread.

Blocks are smaller, since a block keeps its place until its longest segment is done. The grid has at most 2^19
threads, twice as many as the largest device runs at once: scratch memory is made for that many.
"""

SHARED = (48 << 10) - 128
"""Bytes of shared memory that every block gets without asking for more, less those that kernels declare: the
kernel of hits declares 96."""

WARP = 32

SCRATCH = 1 << 30
"""The most bytes of scratch memory of a launch: where a thread needs more, the launch has fewer threads."""


def scratch_blocks(units, numbers, geometry=LANE):
    """Blocks for `units` units of work whose threads each need `numbers` scratch numbers of eight bytes."""
    room = SCRATCH // (8 * numbers * geometry.threads)
    return max(1, min(geometry.blocks(units), room))


def lane_geometry(n_registers, geometry=LANE, besides=0):
    """`geometry` with as many threads as have room for their registers in shared memory.

    `besides`: so many other numbers of eight bytes lie there too.

    Which register is read depends on the events, so they cannot be registers of the processor. Local memory
    is as fast as shared memory only while the first-level cache holds it, but the symbols of 2048 threads
    fill that cache. With eight bytes each, a warp of 32 threads has room for up to 191 registers.

    Returns
    -------
    Geometry or None
        None where not even a warp has room: then the program runs on the CPU.
    """
    room = (SHARED // 8 - besides) // n_registers
    if room >= geometry.threads:
        return geometry
    threads = room // WARP * WARP
    return Geometry(threads, geometry.most) if threads else None
