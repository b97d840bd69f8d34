"""`cpu` on the device: one thread for each segment, counted and written in one launch.

A block takes the segments of one tile after another. Its threads run over their segments to count their hits;
the tiles before it tell where these go (`device.scan.look_back`); then those that have some run again and
write them. So no memory is read for hits that do not exist, and the host waits for nothing between. The
symbols of the tile are copied to shared memory, neighbouring threads reading neighbouring words, where there
is room for them, as are the tables.

Only the contract is shared with the CPU's kernel. Here the registers of a block are interleaved in shared
memory (register q of all threads, then register q + 1), so that the accesses of a warp never collide,
whatever registers its threads use; symbols are read in words, and an operation is one number.
"""

import numpy as np
from numba import cuda, int64, uint64

from ..device.arrays import device_array
from ..device.geometry import LANE
from ..device.jit import device, kernel
from ..device.scan import NOTED, new_tiles, next_tile, place_of
from ..device.words import words
from ..windows.contract import MeasuredWindow, comparable
from .cuda_blocks import (
    HitUnits,
    SymbolWords,
    load_symbols,
    load_tables,
    near_program,
    nearest,
    shared_room,
    units_of,
)

TOTAL, REACHED, SUMS, HEAD = range(4)
"""The rows of `found` before those of the hits.

How many hits and how many events there are; the first event that the window of a later event may reach, and
whether some counts are not known; the sums of the low 32 bits of all counts, and of the others.
"""

NOTHING, EVENTS, PLACES, ADMITTED = range(4)
"""What is written of a hit: nothing; event and latest start; the positions of both; event and lowest start
that the window admits."""


@device
def run_segment(program, events, window, begin, report, stop, register, base, out, n, wanted, flows):
    """The loop of registers (`loop.registers`) for those of this thread; writes what is `wanted` of hits.

    The words of `events` are those from number `base` on. A hit is a row of `out`.

    If `flows`, behind the registers of the block stand as many sets of states, and what an event does to the
    registers it does to the sets, with their union for the maximum (`cuda_long_segments`).

    Numbers are unsigned: an index that may be negative costs three more operations at every access.
    """
    symbol_words = events.words
    width = events.width
    starts = events.starts
    keys = window.keys
    accepted = program.accepted
    sets = np.uint64(program.n_registers * cuda.blockDim.x) + np.uint64(cuda.threadIdx.x)
    thread = np.uint64(cuda.threadIdx.x)
    numbered = starts.shape[0] > 0
    windowed = keys.shape[0] > 0
    sixteen = np.uint64(0xFFFF)
    bits = np.uint64(8 * width)
    mask = (np.uint64(1) << bits) - np.uint64(1)
    # A word has eight symbols, or four.
    shift = np.uint64(4 - width)
    last = (np.uint64(1) << shift) - np.uint64(1)
    first = np.uint64(begin)
    lowest = np.uint64(begin)
    word = np.uint64(0)
    if begin < stop:
        word = symbol_words[(first >> shift) - base] >> ((first & last) * bits)
    for i in range(first, np.uint64(stop)):
        if i & last == 0:
            word = symbol_words[(i >> shift) - base]
        span = program.spans[word & mask]
        word >>= bits
        register[thread] = starts[i] if numbered else np.int64(i)
        if flows:
            register[sets] = 0
        for k in range(span & np.uint64(0xFFFFFFFF), span >> np.uint64(32)):
            operation = program.operations[k]
            one = register[((operation >> np.uint64(16)) & sixteen) + thread]
            other = register[(operation >> np.uint64(32)) + thread]
            register[(operation & sixteen) + thread] = one if one > other else other
            if flows:
                one = register[((operation >> np.uint64(16)) & sixteen) + sets]
                other = register[(operation >> np.uint64(32)) + sets]
                register[(operation & sixteen) + sets] = one | other
        if i >= report:
            latest = register[np.uint64(accepted) + thread]
            if latest >= 0 and (not windowed or keys[i] - keys[np.uint64(latest)] <= window.size):
                if wanted == ADMITTED:
                    while keys[i] - keys[lowest] > window.size:
                        lowest += np.uint64(1)
                    out[np.uint64(n), 0] = np.int64(i)
                    out[np.uint64(n), 1] = np.int64(lowest)
                elif wanted == PLACES:
                    out[np.uint64(n), 0] = events.places[i]
                    out[np.uint64(n), 1] = latest if numbered else events.places[np.uint64(latest)]
                elif wanted == EVENTS:
                    out[np.uint64(n), 0] = np.int64(i)
                    out[np.uint64(n), 1] = latest
                n += 1
    return n


@device
def load(register, n_registers, registers, segment):
    """Load the registers of a segment into those of this thread; -1 into those that hold no state."""
    for q in range(n_registers):
        live = q < registers.shape[1] and segment < registers.shape[0]
        value = registers[segment, q] if live else np.int64(-1)
        register[q * cuda.blockDim.x + cuda.threadIdx.x] = value


@kernel
def find_hits_kernel(program, events, window, units, registers, tiles, room, wanted, offsets, found):
    """The hits of each unit, and where they begin.

    ============  =======================  ==============================================================
    `program`     DeviceProgram            in
    `events`      SymbolWords              in
    `window`      MeasuredWindow           in
    `units`       HitUnits                 in
    `registers`   int64 [units or 0, n]    in/out: what the units begin with and leave; [0, n]: no state
    `tiles`       int64 [1 + tiles]        in/out: as `scan.new_tiles` gives it; a tile has a unit for each
                                           thread of a block
    `room`        int64                    in: words of shared memory behind the registers
    `wanted`      int                      in: what is written of a hit
    `offsets`     int64 [units + 1]        out: the hits of each unit
    `found`       int64 [HEAD + hits, 2]   out: how many hits there are, and what is wanted of each
    ============  =======================  ==============================================================
    """
    register = cuda.shared.array(0, int64)
    unsigned = cuda.shared.array(0, uint64)
    noted = cuda.shared.array(NOTED, int64)
    thread, threads = cuda.threadIdx.x, cuda.blockDim.x
    n_units = units_of(units)
    # Shared memory: registers, of which the first one of each thread is also its sum; tables; symbols.
    own, near, missing = near_program(program, unsigned, program.n_registers * threads, room)
    while True:
        tile = next_tile(tiles, noted)
        first = tile * threads
        if first >= n_units:
            if n_units == 0 and tile == 0 and thread == 0:
                offsets[0] = 0
                found[TOTAL, 0] = 0
            break
        if missing:
            load_tables(program, own)
            missing = False
        low, high = load_symbols(events, units, first, min(first + threads, n_units), near)
        cuda.syncthreads()
        unit = first + thread
        n = int64(0)
        begin, report, stop = int64(0), np.uint64(0), int64(0)
        if unit < n_units:
            begin, report, stop = units.begin[unit], np.uint64(units.report[unit]), units.stop[unit]
            load(register, program.n_registers, registers, unit)
        here, base = nearest(events, near, low, high, begin, stop)
        if unit < n_units:
            n = run_segment(own, here, window, begin, report, stop, register, base, found, n, NOTHING, False)
        before = place_of(n, tiles, tile, register, noted)
        if unit < n_units:
            offsets[unit] = before
            if unit == n_units - 1:
                offsets[n_units] = before + n
                found[TOTAL, 0] = before + n
            if n > 0 or registers.shape[0] > 0:
                load(register, program.n_registers, registers, unit)
                run_segment(
                    own,
                    here,
                    window,
                    begin,
                    report,
                    stop,
                    register,
                    base,
                    found,
                    HEAD + before,
                    wanted,
                    False,
                )
            if registers.shape[0] > 0:
                for q in range(registers.shape[1]):
                    registers[unit, q] = register[q * threads + thread]


def hits(program, symbols, starts, keys, size, begin, report, stop, registers, geometry=LANE, placed=False):
    """The hits of many segments, in the order of the segments: `cpu.hits` on the device.

    Parameters
    ----------
    program : DeviceProgram
        Made for `geometry`.
    symbols : device array, shape (padded events,), uint8 or uint16
    starts : device array, shape (events,) or (0,), int64
    keys : device array, shape (events,) or (0,), uint64 or float64
        Made `comparable`.
    size : int or float
    begin, report, stop : device array, shape (segments,), int64
        No event is reported by two segments.
    registers : device array, shape (segments, n_live), int64
        In and out; (0, n_live) if the segments begin with no state, and what they leave is not needed.
    geometry : Geometry
        From `lane_geometry(program.n_registers)`, which is not None.
    placed : bool
        Whether events are given by their positions, which are `starts`.

    Returns
    -------
    offsets : device array, shape (segments + 1,), int64
        The hits of segment g are offsets[g] .. offsets[g + 1] - 1.
    found : device array, shape (HEAD + events, 2), int64
        As in `find_hits_kernel`: event and latest start of each hit.
    """
    none = device_array(0, np.int64)
    events = SymbolWords(words(symbols), symbols.dtype.itemsize, starts, starts if placed else none)
    found = device_array((HEAD + symbols.shape[0], 2), np.int64)
    units, wanted = HitUnits(begin, report, stop, none), PLACES if placed else EVENTS
    return find_hits(program, events, keys, size, units, registers, wanted, found, geometry), found


def find_hits(program, events, keys, size, units, registers, wanted, found, geometry=LANE):
    """As `hits`, of units that the host need not know.

    Parameters
    ----------
    events : SymbolWords
    units : HitUnits
        Of device arrays.
    wanted : {EVENTS, PLACES, ADMITTED}
    found : device array, shape (HEAD + hits or more, 2), int64
        Out; as in `find_hits_kernel`.

    Returns
    -------
    offsets : device array, shape (room of units + 1,), int64
    """
    room = units.begin.shape[0]
    offsets = device_array(room + 1, np.int64)
    _, size = comparable(np.empty(0, keys.dtype), size)
    blocks, shared = geometry.blocks(room), shared_room(program, geometry.threads)
    bytes_of_block = 8 * (program.n_registers * geometry.threads + shared)
    find_hits_kernel[blocks, geometry.threads, 0, bytes_of_block](
        program, events, MeasuredWindow(keys, size), units, registers,
        new_tiles(-(-room // geometry.threads)), shared, wanted, offsets, found,
    )  # fmt: skip
    return offsets
