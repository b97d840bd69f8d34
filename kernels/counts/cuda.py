"""`cpu` on the device: the same bodies, one thread for each segment.

What a thread keeps lies thread beside thread, so that the accesses of a warp fall together: the rows of a
prefix and of a suffix in shared memory, where a block has room for them. Where a sum has reached 2**62 the
segment's status is 1, its counts are undefined, and the caller counts it on the CPU.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int64, uint64

from ..device.arrays import device_array
from ..device.geometry import LANE, SHARED, lane_geometry, scratch_blocks
from ..device.jit import device, kernel
from ..device.memory import table_in
from ..device.words import copied, words
from ..hits.cuda import REACHED, SUMS, TOTAL
from ..hits.cuda_blocks import TILE, load_words
from ..runs.contract import Program, SegmentHits, TransitionTables
from .cpu import WindowCountRoom, counts_segment_body

LOW = (1 << 32) - 1
"""The low bits of a number: so many of them are summed up apart that no sum is too large."""

counts_segment = device(counts_segment_body)


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
        *(_copied_program(program) for program in (forward, backward)),
        tables.n_live,
    )


def _copied_program(program):
    """A program on the device, whose operations are read by each event: in half of the bytes."""
    return Program(*map(_copied, program._replace(moves=program.moves.astype(np.uint32))))


def _copied(part):
    if not isinstance(part, np.ndarray):
        return part
    return copied(part if part.size else np.zeros((1, *part.shape[1:]), part.dtype))


class DeviceCountRoom(NamedTuple):
    """Scratch of `counts_kernel`.

    =========  ===========================  =============================================================
    `words`    int64                        words of shared memory for symbols
    `scratch`  int64 [rows, n_live, slots]  of the threads, thread beside thread; [.., 0]: there is room for
                                            it in shared memory, behind the symbols
    `front`    int64 [hits, n_live]
    =========  ===========================  =============================================================
    """

    words: Any
    scratch: Any
    front: Any


@kernel
def counts_kernel(tables, forward, backward, symbols, symbol_words, hits, places, head, room, out, status):
    """`counts_segment_body` for every segment, one after another; only windows reach back into earlier ones.

    ==============  ===========================  =========================================================
    `symbols`       uint8 or uint16 [padded]     in
    `symbol_words`  uint64 [padded]              in: the same
    `hits`          ListedHits                   in; where there is a `head`, also out: position and number
                                                 of each hit, but where the status is 1
    `places`        int64 [events] or [0]        in: the positions of events
    `head`          int64 [HEAD or 0, 2]         in/out: as in `hits.cuda`, of as many hits as there are; if
                                                 they are more than `room` has room for, nothing is counted
    `room`          DeviceCountRoom              scratch
    `out`           int64 [hits]                 out
    `status`        uint8 [segments]             out
    ==============  ===========================  =========================================================
    """
    shared = cuda.shared.array(0, int64)
    scratch = room.scratch
    front = room.front
    near_words = cuda.shared.array(0, uint64)[: room.words]
    each = symbols.shape[0] // symbol_words.shape[0]
    near = near_words.view(symbols.dtype)
    segments = hits.segments[0] if hits.segments.shape[0] else status.shape[0]
    if head.shape[0] > 0 and head[TOTAL, 0] > front.shape[0]:
        return
    slot, rows = cuda.grid(1), forward.n_registers
    thread, threads, n = int64(cuda.threadIdx.x), int64(cuda.blockDim.x), scratch.shape[1]
    if scratch.shape[2] > 0:
        prefix, suffix = scratch[:rows, :, slot], scratch[rows:, :, slot]
    else:
        prefix = table_in(shared, room.words + thread, rows, n, threads)
        behind = room.words + thread + rows * n * threads
        suffix = table_in(shared, behind, backward.n_registers, n, threads)
    low_sum, high_sum = int64(0), int64(0)
    for tile in range(cuda.blockIdx.x * threads, segments, cuda.gridDim.x * threads):
        # Each event and lowest start is read before its thread writes something else there.
        begin, end = hits.first[tile], hits.first[min(tile + threads, segments)]
        low, high = int64(0), int64(0)
        if begin < end:
            last = hits.pairs[end - 1, 0] + 1
            least = hits.pairs[begin, 0] + 1
            low, high = load_words(symbol_words, each, hits.pairs[begin, 1], last, least, near_words)
        cuda.syncthreads()
        segment = tile + thread
        if segment < segments:
            h0, h1 = hits.first[segment], hits.first[segment + 1]
            here = symbols
            base = int64(0)
            if h0 < h1 and low * each <= hits.pairs[h0, 1] and hits.pairs[h1 - 1, 0] < high * each:
                here = near
                base = low * each
            status[segment] = counts_segment(
                tables,
                forward,
                backward,
                here,
                base,
                SegmentHits(hits.first, hits.pairs[:, 0], hits.pairs[:, 1]),
                h0,
                h1,
                WindowCountRoom(prefix, suffix, front[h0:h1]),
                out,
                status[:0],
            )
            if head.shape[0] > 0:
                if status[segment] != 0:
                    head[REACHED, 1] = 1
                else:
                    for h in range(h0, h1):
                        low_sum += out[h] & LOW
                        high_sum += out[h] >> 32
                        hits.pairs[h, 0] = places[hits.pairs[h, 0]]
                        hits.pairs[h, 1] = out[h]
        cuda.syncthreads()  # other symbols are copied
    if low_sum > 0 or high_sum > 0:
        cuda.atomic.add(head, (SUMS, 0), low_sum)
        cuda.atomic.add(head, (SUMS, 1), high_sum)


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
        fitting = lane_geometry(rows * n, geometry)
        if fitting is not None:
            blocks, threads, slots = fitting.blocks(segments), fitting.threads, 0
        else:
            blocks, threads = scratch_blocks(segments, rows * n, geometry), geometry.threads
            slots = blocks * threads
        taken = 0 if slots else rows * n * threads
        near_words = min(TILE // 8, SHARED // 8 - taken)
        counts_kernel[blocks, threads, 0, 8 * (near_words + taken)](
            machine.tables,
            machine.forward,
            machine.backward,
            symbols,
            words(symbols),
            hits,
            places,
            head,
            DeviceCountRoom(
                near_words, device_array((rows, n, slots), np.int64), device_array((room, n), np.int64)
            ),
            out,
            status,
        )
    return out, status
