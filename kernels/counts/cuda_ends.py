"""`cpu_ends` on the device: where complex events end without a window, and how many end there.

The events of a segment are cut into units that run side by side. What a unit does to the numbers of runs in
the states is a matrix, and matrices are multiplied by a scan over the units: inside tiles of units, in shared
memory, in the launch that runs the units; over the tiles in one block. With its true numbers each unit then
runs again. State 0 always has one run, so its column can hold a constant: the first unit of a segment maps
everything to what it makes of the segment's own numbers, and matrices are multiplied across the ends of
segments without knowing of them.

A unit is run once for each state, and again with its true numbers: that is n + 1 times the work of one thread
that runs the whole segment, done by n times as many threads as there are units. With few states the device
has enough threads for this; with more than `MOST_STATES` it is not worth it.

Sums and products stop at 2^62, so a number below 2^62 is exact, and one of 2^62 stands for itself and all
greater ones.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int64, uint64

from ..device.arrays import device_array, zeros
from ..device.geometry import LANE, STREAM, Geometry, lane_geometry
from ..device.jit import device, kernel
from ..device.scan import NOTED, neighbours, new_tiles, next_tile, place_of
from ..device.words import words
from ..hits.cuda import HEAD, REACHED, SUMS, TOTAL
from ..hits.cuda_blocks import (
    HitUnits,
    SymbolWords,
    load_symbols,
    load_tables,
    near_program,
    nearest,
    shared_room,
    units_of,
)
from ..hits.cuda_long_segments import begins_segment
from ..loop.contract import LARGEST, MOST_RUNS
from .cuda import LOW

MOST_STATES = 32
"""The most states: with more, the units are run so often that the few threads of a CPU are as fast."""

MOST_PRODUCTS = 1 << 26
"""About how many numbers are multiplied for the matrices of all units, each with one other."""

SUM, WRITTEN = range(2)
"""What is wanted of the ends: the sum of their numbers; also event and number of each."""


@device
def sum_of(one, other):
    """The sum of two numbers of at most 2^62, or 2^62 if it is greater."""
    total = one + other
    return total if 0 <= total < LARGEST else LARGEST


@device
def product_of(one, other):
    """The product of two numbers of at most 2^62, or 2^62 if it is greater."""
    large = (one | other) >> 31 != 0 and other > 0 and one > LARGEST // other
    return LARGEST if large else min(one * other, LARGEST)


@device
def run_unit(program, events, begin, stop, register, base, out, n, wanted):
    """Follow the runs through a unit, in the registers of this thread; gives what its ends are.

    The words of `events` are those from number `base` on. If `wanted`, the ends are rows of `out` from n on.

    Returns
    -------
    n : int
        One past the row of the last end.
    low, high, most : int
        The sums of the low 32 bits of all numbers, and of the others; the greatest number.
    """
    thread = np.uint64(cuda.threadIdx.x)
    numbered = events.places.shape[0] > 0
    sixteen = np.uint64(0xFFFF)
    bits = np.uint64(8 * events.width)
    mask = (np.uint64(1) << bits) - np.uint64(1)
    shift = np.uint64(4 - events.width)  # a word has eight symbols, or four
    last = (np.uint64(1) << shift) - np.uint64(1)
    first = np.uint64(begin)
    accepted = np.uint64(program.accepted)
    low, high, most = int64(0), int64(0), int64(0)
    word = np.uint64(0)
    if begin < stop:
        word = events.words[(first >> shift) - base] >> ((first & last) * bits)
    for i in range(first, np.uint64(stop)):
        if i & last == 0:
            word = events.words[(i >> shift) - base]
        span = program.spans[word & mask]
        word >>= bits
        for k in range(span & np.uint64(0xFFFFFFFF), span >> np.uint64(32)):
            operation = program.operations[k]
            one = register[((operation >> np.uint64(16)) & sixteen) + thread]
            other = register[(operation >> np.uint64(32)) + thread]
            register[(operation & sixteen) + thread] = sum_of(one, other)
        number = register[accepted + thread]
        if number > 0:
            if wanted:
                out[np.uint64(n), 0] = events.places[i] if numbered else np.int64(i)
                out[np.uint64(n), 1] = number
            n += 1
            low += number & LOW
            high += number >> 32
            most = max(most, number)
    return n, low, high, most


@kernel
def unit_matrices_kernel(program, events, units, segment, vectors, room, product):
    """The matrix of every unit, one column for each thread, times those before it in the tile of the block.

    ===========  =====================  ===================================================================
    `program`    DeviceProgram          in: `counts_program`
    `events`     SymbolWords            in
    `units`      HitUnits               in
    `segment`    int64 [units] or [0]   in: the segment of each unit, ascending; [0]: there is one
    `vectors`    int64 [segments, n]    in: runs in each state before the segment
    `room`       int64                  in: words of shared memory behind the registers and the products
    `product`    int64 [units, n, n]    out: what a run in state c before the tile becomes, at [t, q, c]; a
                                        tile has as many units as a block has threads for all their columns
    ===========  =====================  ===================================================================
    """
    register = cuda.shared.array(0, int64)
    unsigned = cuda.shared.array(0, uint64)
    thread, threads = cuda.threadIdx.x, cuda.blockDim.x
    n = vectors.shape[1]
    size, square = threads // n, n * n
    n_units = units_of(units)
    # Shared memory: registers; the last two products; tables; symbols.
    at = program.n_registers * threads
    products = register[at : at + 2 * square]
    own, near, missing = near_program(program, unsigned, at + 2 * square, room)
    for first in range(cuda.blockIdx.x * size, n_units, cuda.gridDim.x * size):
        stop = min(first + size, n_units)
        if missing:
            load_tables(program, own)
            missing = False
        low, high = load_symbols(events, units, first, stop, near)
        cuda.syncthreads()
        unit, column = first + thread // n, thread % n
        if thread < (stop - first) * n:
            fresh = begins_segment(segment, unit)
            of = segment[unit] if segment.shape[0] else 0
            for q in range(program.n_registers):
                value = np.int64(0)
                if q < n and (q == column if not fresh or q == 0 else column == 0):
                    value = vectors[of, q] if fresh and q > 0 else np.int64(1)
                register[q * threads + thread] = value
            begin, end = units.begin[unit], units.stop[unit]
            here, base = nearest(events, near, low, high, begin, end)
            run_unit(own, here, begin, end, register, base, vectors, int64(0), SUM)
        cuda.syncthreads()
        for t in range(stop - first):
            into, other = t % 2 * square, (t + 1) % 2 * square
            for entry in range(thread, square, threads):
                q, c = entry // n, entry % n
                total = register[q * threads + c]
                if t > 0:
                    total = np.int64(0)
                    for p in range(n):
                        one = register[q * threads + t * n + p]
                        total = sum_of(total, product_of(one, products[other + p * n + c]))
                products[into + entry] = total
                product[first + t, q, c] = total
            cuda.syncthreads()


@kernel
def scan_tiles_kernel(units, size, each, product, whole, before):
    """The numbers of runs before each tile of units; of one block.

    Its threads multiply the matrices of `each` neighbouring tiles, one column for each thread; then those of
    all of these are applied one after another.

    ===========  =====================  ===================================================================
    `units`      HitUnits               in
    `size`       int                    in: the units of a tile
    `each`       int                    in: from `scan.neighbours`
    `product`    int64 [units, n, n]    in: as `unit_matrices_kernel` gives it
    `whole`      int64 [tiles, n, n]    scratch
    `before`     int64 [tiles, n]       out; before the first tile there is a run in state 0 alone
    ===========  =====================  ===================================================================
    """
    vector = cuda.shared.array(0, int64)
    thread, threads, n = cuda.threadIdx.x, cuda.blockDim.x, before.shape[1]
    n_units = units_of(units)
    tiles = -(-n_units // size)
    group, column = thread // n, thread % n
    if group < threads // n:
        for tile in range(group * each, min((group + 1) * each, tiles)):
            unit = min((tile + 1) * size, n_units) - 1
            for q in range(n):
                total = product[unit, q, column]
                if tile > group * each:
                    total = np.int64(0)
                    for p in range(n):
                        total = sum_of(total, product_of(product[unit, q, p], whole[tile - 1, p, column]))
                whole[tile, q, column] = total
    if thread < n and tiles > 0:
        vector[thread] = 1 if thread == 0 else 0
        before[0, thread] = vector[thread]
    cuda.syncthreads()
    for tile in range(each, tiles, each):
        total = np.int64(0)
        if thread < n:
            for p in range(n):
                total = sum_of(total, product_of(whole[tile - 1, thread, p], vector[p]))
        cuda.syncthreads()
        if thread < n:
            vector[thread] = total
            before[tile, thread] = total
        cuda.syncthreads()
    for at in range(thread, tiles * n, threads):
        tile, q = at // n, at % n
        if tile % each > 0:
            total = np.int64(0)
            for p in range(n):
                total = sum_of(total, product_of(whole[tile - 1, q, p], before[tile // each * each, p]))
            before[tile, q] = total


class UnitMatrices(NamedTuple):
    """What units do to the numbers of runs.

    =========  ====================  =======================================================================
    `product`  int64 [units, n, n]   as `unit_matrices_kernel` gives it; not read where each unit is a segment
    `before`   int64 [tiles, n]      as `scan_tiles_kernel` gives it
    `size`     int                   the units of one of those tiles
    =========  ====================  =======================================================================
    """

    product: Any
    before: Any
    size: Any


@device
def load_numbers(program, segment, vectors, matrices, unit, register):
    """Load what a unit begins with into the registers of this thread; arrays as in `count_ends_kernel`."""
    n = vectors.shape[1]
    product, before, size = matrices.product, matrices.before, matrices.size
    fresh = begins_segment(segment, unit)
    of = segment[unit] if segment.shape[0] else 0
    for q in range(program.n_registers):
        value = np.int64(0)
        if q == 0:
            value = np.int64(1)
        elif q < n and fresh:
            value = vectors[of, q]
        elif q < n and unit % size == 0:
            value = before[unit // size, q]
        elif q < n:
            for p in range(n):
                value = sum_of(value, product_of(product[unit - 1, q, p], before[unit // size, p]))
        register[q * cuda.blockDim.x + cuda.threadIdx.x] = value


@kernel
def count_ends_kernel(
    program, events, units, segment, vectors, matrices, tiles, room, wanted, after, status, found
):
    """The ends of each unit, and how many complex events end there.

    ==========  =======================  ================================================================
    `program`   DeviceProgram            in: `counts_program`
    `events`    SymbolWords              in
    `units`     HitUnits                 in
    `segment`   int64 [units] or [0]     in: as in `unit_matrices_kernel`
    `vectors`   int64 [segments, n]      in
    `matrices`  UnitMatrices             in
    `tiles`     int64 [1 + tiles]        in/out: as `scan.new_tiles` gives it; a tile here has a unit for each
                                         thread of a block
    `room`      int64                    in: words of shared memory behind the registers
    `wanted`    int                      in: `SUM` or `WRITTEN`
    `after`     int64 [segments, n]      out: runs in each state after the segment, if it has events
    `status`    uint8 [segments]         in/out: 1 where a number has reached 2**61: those of the segment are
                                         undefined
    `found`     int64 [HEAD + ends, 2]   out: as in `hits.cuda`, with position and number of each end; what is
                                         in the rows before them is added to
    ==========  =======================  ================================================================
    """
    register = cuda.shared.array(0, int64)
    unsigned = cuda.shared.array(0, uint64)
    noted = cuda.shared.array(NOTED, int64)
    thread, threads = cuda.threadIdx.x, cuda.blockDim.x
    n_units = units_of(units)
    # Shared memory: registers, of which the first one of each thread is also its sum; tables; symbols.
    own, near, missing = near_program(program, unsigned, program.n_registers * threads, room)
    low_sum, high_sum = int64(0), int64(0)
    while True:
        tile = next_tile(tiles, noted)
        first = tile * threads
        if first >= n_units:
            if n_units == 0 and tile == 0 and thread == 0:
                found[TOTAL, 0] = 0
            break
        if missing:
            load_tables(program, own)
            missing = False
        low, high = load_symbols(events, units, first, min(first + threads, n_units), near)
        cuda.syncthreads()
        unit = first + thread
        n = int64(0)
        begin, stop = int64(0), int64(0)
        if unit < n_units:
            begin, stop = units.begin[unit], units.stop[unit]
            load_numbers(program, segment, vectors, matrices, unit, register)
        here, base = nearest(events, near, low, high, begin, stop)
        if unit < n_units:
            n, low_part, high_part, most = run_unit(own, here, begin, stop, register, base, found, n, SUM)
            low_sum += low_part
            high_sum += high_part
            of = segment[unit] if segment.shape[0] else 0
            if begin < stop and (unit == n_units - 1 or begins_segment(segment, unit + 1)):
                for q in range(vectors.shape[1]):
                    number = register[q * threads + thread]
                    after[of, q] = number
                    most = max(most, number)
            if most >= MOST_RUNS:
                status[of] = 1
                found[REACHED, 1] = 1
        if wanted:
            place = place_of(n, tiles, tile, register, noted)
            if unit == n_units - 1:
                found[TOTAL, 0] = place + n
            if n > 0:
                load_numbers(program, segment, vectors, matrices, unit, register)
                run_unit(own, here, begin, stop, register, base, found, HEAD + place, WRITTEN)
    if low_sum > 0 or high_sum > 0:
        cuda.atomic.add(found, (SUMS, 0), low_sum)
        cuda.atomic.add(found, (SUMS, 1), high_sum)


def ends_geometry(n_registers, n, geometry=LANE):
    """The blocks for a program of so many registers over n states, which have room for them in shared memory.

    Returns
    -------
    Geometry or None
        None where not even a warp has room.
    """
    if n > MOST_STATES:
        return lane_geometry(n_registers, geometry)
    fitting = lane_geometry(n_registers, geometry, 2 * n * n)
    return fitting and Geometry(max(fitting.threads, n), fitting.most)


def most_units(n):
    """The most units of a launch: so few that one block can multiply the matrices of their tiles."""
    return max(1, MOST_PRODUCTS // n**3)


def count_ends(
    program, events, units, segment, vectors, after, status, wanted, found, geometry=LANE, stream=STREAM
):
    """Where complex events end in segments that are cut into units, and how many end there.

    Parameters
    ----------
    program : DeviceProgram
        From `counts_program`, made for `geometry`.
    events : SymbolWords
    units : HitUnits
        In the order of their segments; each begins where the one before it stops.
    segment : device array, shape (units,) or (0,), int64
        Ascending; if there are as many segments as units, each is one. More units than segments are for at
        most `MOST_STATES` states.
    vectors : device array, shape (segments, n), int64
        Number of runs in each state before a segment, at most 2**62.
    after : device array, shape (segments, n), int64
        Out: the numbers after it; those before where it has no event.
    status, wanted, found
        As in `count_ends_kernel`.
    geometry, stream : Geometry
        `geometry` from `ends_geometry`.
    """
    room, (segments, n) = units.begin.shape[0], vectors.shape
    after.copy_to_device(vectors)
    if not room:
        return
    threads, cut = geometry.threads, segments < room
    size = threads // n if cut else 1
    tiles = -(-room // size) if cut else 0
    product = device_array((room if cut else 0, n, n), np.int64)
    before = device_array((tiles, n), np.int64)
    taken = program.n_registers * threads
    if cut:
        square = 2 * n * n
        besides = shared_room(program, threads, square)
        unit_matrices_kernel[min(tiles, geometry.most), threads, 0, 8 * (taken + square + besides)](
            program, events, units, segment, vectors, besides, product
        )
        whole = device_array((tiles, n, n), np.int64)
        scanning = max(stream.threads, n)
        each = neighbours(tiles, scanning // n)
        scan_tiles_kernel[1, scanning, 0, 8 * n](units, size, each, product, whole, before)
    besides = shared_room(program, threads)
    count_ends_kernel[geometry.blocks(room), threads, 0, 8 * (taken + besides)](
        program, events, units, segment, vectors, UnitMatrices(product, before, size),
        new_tiles(-(-room // threads)), besides, wanted, after, status, found,
    )  # fmt: skip


def counted_ends(program, symbols, begin, stop, segment, vectors, geometry=LANE, stream=STREAM):
    """`cpu_ends.counted_ends` on the device, of segments that are cut into units.

    Parameters
    ----------
    program, segment, vectors, geometry, stream
        As for `count_ends`.
    symbols : device array, shape (padded events,), uint8 or uint16
    begin, stop : device array, shape (units,), int64

    Returns
    -------
    found : device array, shape (HEAD + events, 2), int64
        Event and number of each end, as in `count_ends_kernel`.
    after : device array, shape (segments, n), int64
    status : device array, shape (segments,), uint8
    """
    none, segments = device_array(0, np.int64), vectors.shape[0]
    found = device_array((HEAD + symbols.shape[0], 2), np.int64)
    found[:HEAD].copy_to_device(zeros(2 * HEAD).reshape(HEAD, 2))
    after, status = device_array(vectors.shape, np.int64), zeros(segments, np.uint8)
    events = SymbolWords(words(symbols), symbols.dtype.itemsize, none, none)
    units = HitUnits(begin, begin, stop, none)
    count_ends(program, events, units, segment, vectors, after, status, WRITTEN, found, geometry, stream)
    return found, after, status
