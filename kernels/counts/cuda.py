"""`cpu` on the device: the same bodies, one thread for each segment.

What a thread keeps (the rows of a prefix and of a suffix, the registers of a forward count) is in global
memory, thread beside thread, so that the accesses of a warp fall together. Where a sum has reached 2**61 the
segment's status is 1, its counts are undefined, and the caller counts it on the CPU.
"""

from typing import NamedTuple

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.bodies import on_device
from ..device.geometry import LANE, scratch_blocks
from ..device.jit import device, kernel
from ..device.words import copied
from ..loop.contract import MOST_RUNS, FoundEnds, LoopSegments
from ..loop.cuda import no_window, segment_of
from ..loop.registers import RegisterEvents
from ..runs.contract import Program, SegmentHits, TransitionTables
from ..runs.programs import counts_program
from .cpu import counts_segment_body
from .cpu_ends import NO_LANES, NO_STARTS, count_ends

LOW = (1 << 32) - 1
"""The low bits of a number: so many of them are summed up apart that no sum is too large."""

counts_segment = device(counts_segment_body)


@device
def note_known(registers, out, found, event, stop, own):
    """Write the number of a hit that is known: other places belong to other threads."""
    if own != 0 and found < out.start.shape[0]:
        out.start[found] = own
    return found + 1


counted_ends = on_device(count_ends, note=note_known)


class DeviceTables(NamedTuple):
    """Tables and their programs for counting, on the device: tuples of arrays and numbers.

    Attributes
    ----------
    tables : TransitionTables
    forward, backward, ends : Program
        From `forward_program`, `backward_program` and `counts_program`.
    n_live : int
    """

    tables: TransitionTables
    forward: Program
    backward: Program
    ends: Program
    n_live: int


def device_tables(tables, forward, backward):
    """Copy tables and programs to the device; an empty array gets one element, which is not read."""
    return DeviceTables(
        TransitionTables(*(_copied(part) for part in tables)),
        *(_copied_program(program) for program in (forward, backward, counts_program(tables))),
        tables.n_live,
    )


def _copied_program(program):
    """A program on the device, whose operations are read by each event: in half of the bytes."""
    return Program(*map(_copied, program._replace(moves=program.moves.astype(np.uint32))))


def _copied(part):
    if not isinstance(part, np.ndarray):
        return part
    return copied(part if part.size else np.zeros((1, *part.shape[1:]), part.dtype))


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
def forward_counts_kernel(program, events, window, segments, first, vectors, registers, out, status, totals):
    """Count the ends of every segment whose status is 0, by the loop of the CPU.

    ============  ============================  ===========================================================
    `program`     Program                       in: `counts_program`
    `events`      RegisterEvents                in: `symbols` alone
    `window`      MeasuredWindow                in: `no_window`
    `segments`    LoopSegments                  in
    `first`       int64 [segments + 1]          in: the hits of each segment, or places for more
    `vectors`     int64 [segments, n_live]      in/out: changed where the status is 0 afterwards
    `registers`   int64 [registers, threads]    scratch, thread beside thread
    `out`         int64 [hits]                  out: how many complex events end at each
    `status`      uint8 [segments]              in/out: 1 where a sum has reached 2**61
    `totals`      int64 [segments or 0, 2]      out: how many end in each, the sums of the low 32 bits and of
                                                the others
    ============  ============================  ===========================================================
    """
    thread = cuda.grid(1)
    n_states = vectors.shape[1]
    for segment in range(thread, status.shape[0], registers.shape[1]):
        if status[segment] == 0:
            mine = registers[:, thread : thread + 1].T
            for q in range(mine.shape[1]):
                mine[0, q] = vectors[segment, q] if q < n_states else 0
            number = out[first[segment] : first[segment + 1]]
            found = FoundEnds(number, number)
            ends = counted_ends(
                program, events, window, segment_of(segments, segment), mine, found, status[:0]
            )
            large = False
            low, high = np.int64(0), np.int64(0)
            for h in range(min(ends, number.shape[0])):
                large = large or number[h] < 0 or number[h] >= MOST_RUNS
                low += number[h] & LOW
                high += number[h] >> 32
            if totals.shape[0] > 0:
                totals[segment, 0] = low
                totals[segment, 1] = high
            for q in range(n_states):
                large = large or mine[0, q] >= MOST_RUNS
            if large:
                status[segment] = 1
            else:
                for q in range(n_states):
                    vectors[segment, q] = mine[0, q]


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


def forward_counts(machine, symbols, begin, stop, first, hits, vectors, status, geometry=LANE, totals=None):
    """Counts without a window at hits that are known, on the device.

    Parameters
    ----------
    machine : DeviceTables
    symbols : device array, shape (events,), uint8 or uint16
    begin, stop : device array, shape (segments,), int64
    first : device array, shape (segments + 1,), int64
        The hits of each segment.
    hits : int
        How many hits there are.
    vectors : device array, shape (segments, n_live), int64
        In and out: number of runs in each state before the segment, and after it.
    status : device array, shape (segments,), uint8
        In and out: segments with a 1 are left out; it becomes 1 where a sum has reached 2**61, the
        segment's counts are undefined, and its vector is what it was.
    geometry : Geometry
    totals : device array, shape (segments, 2), int64, optional
        Out: for each segment the sum of the low 32 bits of its counts, and that of the others. Hits need not
        be known then: `first` leaves each segment room for as many as it has events.

    Returns
    -------
    device array, shape (hits,), int64
    """
    segments = begin.shape[0]
    out = device_array(hits, np.int64)
    if segments:
        rows = machine.ends.n_registers
        blocks = scratch_blocks(segments, rows, geometry)
        registers = device_array((rows, blocks * geometry.threads), np.int64)
        forward_counts_kernel[blocks, geometry.threads](
            machine.ends,
            RegisterEvents(symbols, copied(NO_STARTS), copied(NO_LANES)),
            no_window(),
            LoopSegments(begin, begin, stop),
            first,
            vectors,
            registers,
            out,
            status,
            device_array((0, 2), np.int64) if totals is None else totals,
        )
    return out
