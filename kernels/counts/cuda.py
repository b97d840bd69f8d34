"""`cpu` on the device: the same bodies, one thread for each segment.

What a thread keeps (the rows of a prefix and of a suffix, the register of a forward count) is in global
memory, thread beside thread, so that the accesses of a warp fall together. Where a sum has reached 2**62 the
segment's status is 1, its counts are undefined, and the caller counts it on the CPU.
"""

from typing import NamedTuple

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.geometry import LANE, scratch_blocks
from ..device.jit import device, kernel
from ..device.words import copied
from ..runs.contract import Program, SegmentHits, TransitionTables
from .cpu import counts_segment_body, forward_counts_segment_body

counts_segment = device(counts_segment_body)
forward_counts_segment = device(forward_counts_segment_body)


class DeviceTables(NamedTuple):
    """Tables and their programs for counting, on the device: tuples of arrays and numbers.

    Attributes
    ----------
    tables : TransitionTables
    forward, backward : Program
        From `forward_program` and `backward_program`.
    n_live : int
    """

    tables: TransitionTables
    forward: Program
    backward: Program
    n_live: int


def device_tables(tables, forward, backward):
    """Copy tables and programs to the device; an empty array gets one element, which is not read."""
    return DeviceTables(
        TransitionTables(*(_copied(part) for part in tables)),
        Program(*(_copied(part) for part in forward)),
        Program(*(_copied(part) for part in backward)),
        tables.n_live,
    )


def _copied(part):
    if not isinstance(part, np.ndarray):
        return part
    return copied(part if part.size else np.zeros(1, part.dtype))


@kernel
def counts_kernel(tables, forward, backward, symbols, hits, prefix, suffix, front, out, status):
    """`counts_segment_body` for every segment.

    `prefix` and `suffix` are [registers, n_live, threads], `front` is [hits, n_live]; `status` uint8
    [segments] out. The rest as in `cpu.counts`.
    """
    thread = cuda.grid(1)
    for segment in range(thread, status.shape[0], prefix.shape[2]):
        h0 = hits.first[segment]
        h1 = hits.first[segment + 1]
        status[segment] = counts_segment(
            tables,
            forward,
            backward,
            symbols,
            hits,
            h0,
            h1,
            prefix[:, :, thread],
            suffix[:, :, thread],
            front[h0:h1],
            out,
            status[:0],
        )


@kernel
def forward_counts_kernel(
    tables, forward, symbols, begin, stop, first, event, vectors, register, out, status
):
    """`forward_counts_segment_body` for every segment whose status is 0.

    `vectors` int64 [segments, n_live] in/out: changed where the status is 0 afterwards; `register` int64
    [registers, threads] scratch. The rest as in `cpu.forward_counts`.
    """
    thread = cuda.grid(1)
    n_states = vectors.shape[1]
    for segment in range(thread, status.shape[0], register.shape[1]):
        if status[segment] == 0:
            mine = register[:, thread]
            for q in range(mine.shape[0]):
                mine[q] = vectors[segment, q] if q < n_states else 0
            status[segment] = forward_counts_segment(
                tables,
                forward,
                symbols,
                begin[segment],
                stop[segment],
                event,
                first[segment],
                first[segment + 1],
                mine,
                out,
            )
            if status[segment] == 0:
                for q in range(n_states):
                    vectors[segment, q] = mine[q]


def counts(machine, symbols, first, event, lowest, geometry=LANE):
    """How many complex events end at each hit: `cpu.counts` on the device.

    Parameters
    ----------
    machine : DeviceTables
    symbols : device array, shape (events,), uint8 or uint16
    first : device array, shape (segments + 1,), int64
    event, lowest : device array, shape (hits,), int64
    geometry : Geometry

    Returns
    -------
    counts : device array, shape (hits,), int64
    status : device array, shape (segments,), uint8
        1 where a sum has reached 2**62 and the counts of the segment are undefined.
    """
    n, segments, hits = machine.n_live, first.shape[0] - 1, event.shape[0]
    out = device_array(hits, np.int64)
    status = copied(np.zeros(segments, np.uint8))
    if segments and hits:
        rows = machine.forward[-1] + machine.backward[-1]
        blocks = scratch_blocks(segments, rows * n, geometry)
        slots = blocks * geometry.threads
        counts_kernel[blocks, geometry.threads](
            machine.tables,
            machine.forward,
            machine.backward,
            symbols,
            SegmentHits(first, event, lowest),
            device_array((machine.forward[-1], n, slots), np.int64),
            device_array((machine.backward[-1], n, slots), np.int64),
            device_array((hits, n), np.int64),
            out,
            status,
        )
    return out, status


def forward_counts(machine, symbols, begin, stop, first, event, vectors, status, geometry=LANE):
    """Counts without a window: `cpu.forward_counts` on the device.

    Parameters
    ----------
    machine : DeviceTables
    symbols, begin, stop, first, event
        As for `cpu.forward_counts`, but device arrays.
    vectors : device array, shape (segments, n_live), int64
        In and out: number of runs in each state before the segment, and after it.
    status : device array, shape (segments,), uint8
        In and out: segments with a 1 are left out; it becomes 1 where a sum has reached 2**62, the
        segment's counts are undefined, and its vector is what it was.

    Returns
    -------
    device array, shape (hits,), int64
    """
    segments = begin.shape[0]
    out = device_array(event.shape[0], np.int64)
    if segments:
        rows = machine.forward[-1]
        blocks = scratch_blocks(segments, rows, geometry)
        register = device_array((rows, blocks * geometry.threads), np.int64)
        forward_counts_kernel[blocks, geometry.threads](
            machine.tables,
            machine.forward,
            symbols,
            begin,
            stop,
            first,
            event,
            vectors,
            register,
            out,
            status,
        )
    return out
