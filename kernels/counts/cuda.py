"""`cpu` on the device: the same bodies, one thread for each segment.

What a thread keeps lies thread beside thread, so that the accesses of a warp fall together: the rows of a
prefix and of a suffix in shared memory, where a block has room for them, the registers of a forward count in
global memory. Where a sum has reached 2**61 the
segment's status is 1, its counts are undefined, and the caller counts it on the CPU.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int64

from ..device.arrays import device_array
from ..device.bodies import on_device
from ..device.geometry import LANE, lane_geometry, scratch_blocks
from ..device.jit import device, kernel
from ..device.memory import table_in
from ..device.words import copied
from ..hits.cuda import REACHED, SUMS, TOTAL
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


class ListedHits(NamedTuple):
    """Hits of segments.

    ==========  =====================  ==============================================================
    `first`     int64 [segments + 1]   the hits of each segment
    `pairs`     int64 [hits, 2]        event and lowest start of each
    `segments`  int64 [1] or [0]       how many there are; [0]: as many as there is room for
    ==========  =====================  ==============================================================
    """

    first: Any
    pairs: Any
    segments: Any


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
def counts_kernel(tables, forward, backward, symbols, hits, places, head, scratch, front, out, status):
    """`counts_segment_body` for every segment.

    ===========  ===========================  ============================================================
    `hits`       ListedHits                   in; where there is a `head`, also out: position and number of
                                              each hit, but where the status is 1
    `places`     int64 [events] or [0]        in: the positions of events
    `head`       int64 [HEAD or 0, 2]         in/out: as in `hits.cuda`, of as many hits as there are; if they
                                              are more than `front` has room for, nothing is counted
    `scratch`    int64 [rows, n_live, slots]  scratch of the threads, thread beside thread; [.., 0]: there is
                                              room for it in shared memory
    `front`      int64 [hits, n_live]         scratch
    `out`        int64 [hits]                 out
    `status`     uint8 [segments]             out
    ===========  ===========================  ============================================================
    """
    near = cuda.shared.array(0, int64)
    segments = hits.segments[0] if hits.segments.shape[0] else status.shape[0]
    if head.shape[0] > 0 and head[TOTAL, 0] > front.shape[0]:
        return
    slot, rows = cuda.grid(1), forward.n_registers
    if scratch.shape[2] > 0:
        prefix, suffix = scratch[:rows, :, slot], scratch[rows:, :, slot]
    else:
        thread, threads, n = int64(cuda.threadIdx.x), int64(cuda.blockDim.x), scratch.shape[1]
        prefix = table_in(near, thread, rows, n, threads)
        suffix = table_in(near, thread + rows * n * threads, backward.n_registers, n, threads)
    low, high = int64(0), int64(0)
    for segment in range(cuda.grid(1), segments, cuda.gridsize(1)):
        h0 = hits.first[segment]
        h1 = hits.first[segment + 1]
        status[segment] = counts_segment(
            tables,
            forward,
            backward,
            symbols,
            SegmentHits(hits.first, hits.pairs[:, 0], hits.pairs[:, 1]),
            h0,
            h1,
            prefix,
            suffix,
            front[h0:h1],
            out,
            status[:0],
        )
        if head.shape[0] > 0:
            if status[segment] != 0:
                head[REACHED, 1] = 1
            else:
                for h in range(h0, h1):
                    low += out[h] & LOW
                    high += out[h] >> 32
                    hits.pairs[h, 0] = places[hits.pairs[h, 0]]
                    hits.pairs[h, 1] = out[h]
    if low > 0 or high > 0:
        cuda.atomic.add(head, (SUMS, 0), low)
        cuda.atomic.add(head, (SUMS, 1), high)


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


def counts(machine, symbols, first, pairs, geometry=LANE):
    """How many complex events end at each hit: `cpu.counts` on the device.

    Parameters
    ----------
    machine : DeviceTables
    symbols : device array, shape (events,), uint8 or uint16
    first : device array, shape (segments + 1,), int64
    pairs : device array, shape (hits, 2), int64
        Event and lowest start of each hit.
    geometry : Geometry

    Returns
    -------
    counts : device array, shape (hits,), int64
    status : device array, shape (segments,), uint8
        1 where a sum has reached 2**62 and the counts of the segment are undefined.
    """
    none, head = device_array(0, np.int64), device_array((0, 2), np.int64)
    listed = ListedHits(first, pairs, none)
    return count_listed(machine, symbols, listed, none, head, pairs.shape[0], geometry)


def count_listed(machine, symbols, hits, places, head, room, geometry=LANE):
    """As `counts`, of hits that the host need not know.

    Parameters
    ----------
    hits : ListedHits
    places, head : device array
        As in `counts_kernel`.
    room : int
        How many hits are counted at most.
    """
    n, segments = machine.n_live, hits.first.shape[0] - 1
    out, status = device_array(room, np.int64), device_array(segments, np.uint8)
    if segments:
        rows = machine.forward.n_registers + machine.backward.n_registers
        near = lane_geometry(rows * n, geometry)
        if near is not None:
            blocks, threads, slots = near.blocks(segments), near.threads, 0
        else:
            blocks, threads = scratch_blocks(segments, rows * n, geometry), geometry.threads
            slots = blocks * threads
        counts_kernel[blocks, threads, 0, 0 if slots else 8 * rows * n * threads](
            machine.tables,
            machine.forward,
            machine.backward,
            symbols,
            hits,
            places,
            head,
            device_array((rows, n, slots), np.int64),
            device_array((room, n), np.int64),
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
