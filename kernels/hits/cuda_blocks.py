"""What the kernels share that run register programs over units: tables and symbols in shared memory.

A thread runs over a unit of its own, so it would read a few bytes at a time, far from those of the other
threads. So a block takes a tile of neighbouring units and copies their symbols to shared memory, neighbouring
threads reading neighbouring words, where there is room for them, as are the tables.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ..device.geometry import LANE, SHARED
from ..device.jit import device, inlined
from ..device.words import copied

TILE = 16 << 10
"""Bytes of symbols in shared memory at most: 128 threads have 128 events each there."""


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
    `places`   int64 [events] or [0]   their positions, for `PLACES`; if there are `starts`, the same
    =========  ======================  =============================================================
    """

    words: Any
    width: int
    starts: Any
    places: Any


class HitUnits(NamedTuple):
    """The segments that threads run over.

    ==========  =================  ==================================================================
    `begin`     int64 [room]       the first event
    `report`    int64 [room]       the first event whose hit is reported
    `stop`      int64 [room]       one past the last event
    `number`    int64 [1] or [0]   how many there are; [0]: as many as there is room for
    ==========  =================  ==================================================================
    """

    begin: Any
    report: Any
    stop: Any
    number: Any


@device
def units_of(units):
    """How many units there are."""
    return units.number[0] if units.number.shape[0] else units.begin.shape[0]


@inlined
def near_program(program, shared, at, room):
    """The program with its tables in shared memory, if they fit, and what is left of it for symbols.

    The words of `shared`, uint64, from `at` on are used, `room` at most. `load_tables` copies the tables.
    """
    n_spans, n_operations = program.spans.shape[0], program.operations.shape[0]
    end = at + room
    held = at + n_spans + n_operations <= end
    spans = shared[at : at + n_spans] if held else program.spans
    operations = shared[at + n_spans : at + n_spans + n_operations] if held else program.operations
    at += n_spans + n_operations if held else 0
    own = DeviceProgram(spans, operations, program.accepted, program.n_registers)
    return own, shared[at:end], held


@device
def load_tables(program, own):
    """Copy the tables of a program to those of `own`, which can be read after the next barrier.

    All threads of the block call it, if it has work: most blocks of a launch may have none.
    """
    for i in range(cuda.threadIdx.x, program.spans.shape[0], cuda.blockDim.x):
        own.spans[i] = program.spans[i]
    for i in range(cuda.threadIdx.x, program.operations.shape[0], cuda.blockDim.x):
        own.operations[i] = program.operations[i]


@device
def load_words(words, each, begin, end, least, near):
    """Copy the symbols of events begin .. end - 1 to `near`, uint64, in shared memory, as far as they fit.

    A word has `each` symbols. Where those before `least` do not fit, none are copied. All threads of the
    block call it, and none of them may still read what was there; the symbols can be read after the next
    barrier.

    Returns
    -------
    low, high : int
        The words that are there: low .. high - 1.
    """
    low = begin // each
    high = min(-(-end // each), low + near.shape[0])
    if least > high * each:
        high = low
    for i in range(low + cuda.threadIdx.x, high, cuda.blockDim.x):
        near[i - low] = words[i]
    return low, high


@device
def load_symbols(events, units, first, stop, near):
    """As `load_words`, the symbols of the units first .. stop - 1."""
    begin, end = units.begin[first], units.stop[stop - 1]
    return load_words(events.words, 8 // events.width, begin, end, units.stop[first], near)


@inlined
def nearest(events, near, low, high, begin, stop):
    """The symbols of a unit in shared memory, if it is whole there, and the number of their first word.

    `near`, `low` and `high` as in `load_words`.
    """
    each = 8 // events.width
    here = events
    base = np.uint64(0)
    if low * each <= begin and stop <= high * each:
        here = SymbolWords(near, events.width, events.starts, events.places)
        base = np.uint64(low)
    return here, base


def shared_room(program, threads, besides=0):
    """Words of shared memory behind the registers of a block: for the tables, and for symbols.

    `besides`: so many other words lie there too.
    """
    tables = program.spans.shape[0] + program.operations.shape[0]
    return max(0, min(SHARED // 8 - program.n_registers * threads - besides, tables + TILE // 8))
