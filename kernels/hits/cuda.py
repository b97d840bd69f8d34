"""`cpu` on the device: one thread for each segment.

The segments are run twice: first to count their hits, then, when it is known where these go, to write them.
So no memory is needed for hits that do not exist, and a run costs little more than reading a byte or two per
event. Only the contract is shared with the CPU's kernel. Here the registers of a block are interleaved in
shared memory (register q of all threads, then register q + 1), so that the accesses of a warp never collide,
whatever registers its threads use; symbols are read in words, and an operation is one number.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int64

from ..device.arrays import device_array
from ..device.geometry import LANE
from ..device.jit import device, kernel
from ..device.scan import offsets_of
from ..device.words import copied, words
from ..windows.contract import MeasuredWindow, comparable


class DeviceProgram(NamedTuple):
    """A `cer_gpu.kernels.runs.contract.Program` on the device, for blocks of one size.

    The registers of a block are one array, register q of thread t at q * threads + t.

    ==============  ====================  ==========================================================
    `spans`         uint64 [symbols]      its operations: the first, one past the last << 32
    `operations`    uint64 [operations]   `into | left << 16 | right << 32`, each times the threads
    `accepted`      int                   the register of the accepted start, times the threads
    `n_registers`   int                   times the threads less than 2**16
    ==============  ====================  ==========================================================
    """

    spans: Any
    operations: Any
    accepted: int
    n_registers: int


def device_program(program, geometry=LANE):
    """Copy a program to the device.

    Parameters
    ----------
    program : Program
        From `hits_program`.
    geometry : Geometry
        From `lane_geometry(program.n_registers)`; the kernels are launched with it.
    """
    first = program.first.astype(np.uint64)
    into, left, right = (part.astype(np.uint64) * np.uint64(geometry.threads) for part in program.moves.T)
    operations = into | left << np.uint64(16) | right << np.uint64(32)
    return DeviceProgram(
        copied(first[:-1] | first[1:] << np.uint64(32)),
        copied(operations),
        (program.zero + 1) * geometry.threads,
        program.n_registers,
    )


class SymbolWords(NamedTuple):
    """The symbols of events in words, and what is recorded of a run that starts at each.

    =========  ======================  =============================================================
    `words`    uint64 [padded]         the symbols, `width` bytes each
    `width`    int                     1 or 2
    `starts`   int64 [events] or [0]   as in `RegisterEvents`
    =========  ======================  =============================================================
    """

    words: Any
    width: int
    starts: Any


@device
def run_segment(
    program, events, window, begin, report, stop, register, out_event, out_start, n, writes, flows
):
    """The loop of registers (`loop.registers`) for those of this thread; writes hits if `writes`.

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
    word = np.uint64(0)
    if begin < stop:
        word = symbol_words[first >> shift] >> ((first & last) * bits)
    for i in range(first, np.uint64(stop)):
        if i & last == 0:
            word = symbol_words[i >> shift]
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
                if writes:
                    out_event[np.uint64(n)] = np.int64(i)
                    out_start[np.uint64(n)] = latest
                n += 1
    return n


@device
def load(register, n_registers, registers, segment):
    """Load the registers of a segment into those of this thread; -1 into those that hold no state."""
    for q in range(n_registers):
        value = registers[segment, q] if q < registers.shape[1] else np.int64(-1)
        register[q * cuda.blockDim.x + cuda.threadIdx.x] = value


@kernel
def count_hits_kernel(program, events, window, begin, report, stop, registers, found):
    """How many hits each segment has: `found` int64 [segments] out; the rest as in `hits`."""
    register = cuda.shared.array(0, int64)
    for segment in range(cuda.grid(1), begin.shape[0], cuda.gridsize(1)):
        load(register, program.n_registers, registers, segment)
        found[segment] = run_segment(
            program, events, window, begin[segment], np.uint64(report[segment]), stop[segment], register,
            found, found, np.int64(0), False, False,
        )  # fmt: skip


@kernel
def fill_hits_kernel(program, events, window, begin, report, stop, registers, offsets, out_event, out_start):
    """Write the hits of each segment from its offset on, and the registers that it leaves."""
    register = cuda.shared.array(0, int64)
    for segment in range(cuda.grid(1), begin.shape[0], cuda.gridsize(1)):
        load(register, program.n_registers, registers, segment)
        run_segment(
            program, events, window, begin[segment], np.uint64(report[segment]), stop[segment], register,
            out_event, out_start, offsets[segment], True, False,
        )  # fmt: skip
        for q in range(registers.shape[1]):
            registers[segment, q] = register[q * cuda.blockDim.x + cuda.threadIdx.x]


def hits(program, symbols, starts, keys, size, begin, report, stop, registers, geometry=LANE):
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
    registers : device array, shape (segments, n_live), int64
        In and out.
    geometry : Geometry
        From `lane_geometry(program.n_registers)`, which is not None.

    Returns
    -------
    offsets : device array, shape (segments + 1,), int64
        The hits of segment g are offsets[g] .. offsets[g + 1] - 1.
    event, latest_start : device array, shape (hits,), int64
    """
    segments = begin.shape[0]
    launch = geometry.blocks(segments), geometry.threads, 0, 8 * program.n_registers * geometry.threads
    _, size = comparable(np.empty(0, keys.dtype), size)
    events = SymbolWords(words(symbols), symbols.dtype.itemsize, starts)
    common = program, events, MeasuredWindow(keys, size), begin, report, stop, registers
    found = device_array(segments, np.int64)
    if segments:
        count_hits_kernel[launch](*common, found)
    offsets = offsets_of(found, geometry)
    total = int(offsets[segments])
    event, latest = device_array(total, np.int64), device_array(total, np.int64)
    if segments:
        fill_hits_kernel[launch](*common, offsets, event, latest)
    return offsets, event, latest
