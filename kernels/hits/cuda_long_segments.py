"""Hits of long segments without a window: their events are cut into units that run side by side.

What a unit does to the registers is a **map**: after it the register of state q is the greatest of the latest
start inside the unit (`inside`) and of those registers before it that flow into q (a set of states, `flow`,
one bit for each). One run finds both. Maps compose: a set becomes the union of the sets of its members, a
start the greatest of the members' starts. So a scan over the units gives the registers before each unit, and
with these the units are segments like any other.

The first unit of a segment runs with the segment's registers and lets nothing flow through: so maps are
composed across the ends of segments without knowing of them, and after a scan nothing flows at all.

The maps of a tile of neighbouring units are composed in shared memory, in the launch that runs them; those of
the tiles in one block.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int64, uint64

from ..device.arrays import device_array
from ..device.geometry import LANE, STREAM
from ..device.jit import device, kernel
from ..device.scan import neighbours
from ..device.words import words
from ..windows.contract import MeasuredWindow
from .cuda import EVENTS, HEAD, NOTHING, PLACES, find_hits, run_segment
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

GROUP = 8
"""How many neighbouring maps of a tile are composed one after another, before the groups are: with 128 units
7 and 15 steps."""

MOST_STATES = 63
"""The most states of a set: the bits of a signed word without its sign."""


MOST_FLOWS = 1 << 20
"""About how many sets of states are composed for the maps of all units."""


class Maps(NamedTuple):
    """What units do to the registers; that of state q by unit t at q * stride + t.

    Where only registers are asked for, behind those of one unit, `inside` has these, `stride` is 1, and
    `flow` is not read.

    ========  =====================  ===================================================================
    `flow`    uint64 [n * stride]    bit p is set if register p flows into the state; int64 in shared memory
    `inside`  int64 [n * stride]     the latest start inside the unit, -1 if there is none
    `stride`  int                    how many units there is room for
    ========  =====================  ===================================================================
    """

    flow: Any
    inside: Any
    stride: Any


@device
def begins_segment(segment, unit):
    """Whether a unit is the first one of its segment; `segment` as in `maps_kernel`."""
    return unit == 0 or (segment.shape[0] > 0 and segment[unit - 1] != segment[unit])


@device
def latest_behind(maps, at, q, n, before, last):
    """The register of state q after map `at`, with those after map `last` of `before` before it."""
    members = np.uint64(maps.flow[q * maps.stride + at])
    latest = maps.inside[q * maps.stride + at]
    for p in range(n):
        if (members >> np.uint64(p)) & np.uint64(1):
            latest = max(latest, before.inside[p * before.stride + last])
    return latest


@device
def compose(maps, at, q, n, before, last, out, into):
    """Write what map `last` of `before` and then map `at` do to state q, as map `into` of `out`."""
    members = np.uint64(maps.flow[q * maps.stride + at])
    through = np.uint64(0)
    for p in range(n):
        if (members >> np.uint64(p)) & np.uint64(1):
            through |= np.uint64(before.flow[p * before.stride + last])
    out.inside[q * out.stride + into] = latest_behind(maps, at, q, n, before, last)
    out.flow[q * out.stride + into] = through


@kernel
def maps_kernel(program, events, units, segment, registers, room, maps):
    """The map of every unit behind those before it in the tile of the block, of a unit for each thread.

    ===========  =====================  ===============================================================
    `program`    DeviceProgram          in
    `events`     SymbolWords            in
    `units`      HitUnits               in
    `segment`    int64 [units] or [0]   in: the segment of each unit, ascending; [0]: there is one
    `registers`  int64 [segments, n]    in: what the segments begin with
    `room`       int64                  in: words of shared memory behind the registers and the flows
    `maps`       Maps                   out
    ===========  =====================  ===============================================================
    """
    register = cuda.shared.array(0, int64)
    unsigned = cuda.shared.array(0, uint64)
    thread, threads = cuda.threadIdx.x, cuda.blockDim.x
    n_registers, n = program.n_registers, registers.shape[1]
    n_units = units_of(units)
    none = MeasuredWindow(events.words[:0], np.uint64(0))
    # Shared memory: registers; what flows into them; tables; symbols.
    end = n_registers * threads
    here = Maps(register[end:], register, threads)
    own, near, missing = near_program(program, unsigned, 2 * end, room)
    for first in range(cuda.blockIdx.x * threads, n_units, cuda.gridDim.x * threads):
        stop = min(first + threads, n_units)
        if missing:
            load_tables(program, own)
            missing = False
        low, high = load_symbols(events, units, first, stop, near)
        cuda.syncthreads()
        unit = first + thread
        if unit < stop:
            fresh = begins_segment(segment, unit)
            of = segment[unit] if segment.shape[0] else 0
            for q in range(n_registers):
                live = q < n
                register[q * threads + thread] = registers[of, q] if live and fresh else -1
                register[end + q * threads + thread] = 1 << q if live and not fresh else 0
            begin, last = units.begin[unit], units.stop[unit]
            its, base = nearest(events, near, low, high, begin, last)
            run_segment(
                own, its, none, begin, np.uint64(last), last, register, base, registers, np.int64(0),
                NOTHING, True,
            )  # fmt: skip
        cuda.syncthreads()
        for step in range(1, GROUP):
            for at in range(thread, -(-(stop - first) // GROUP) * n, threads):
                behind, q = at // n * GROUP + step, at % n
                if first + behind < stop:
                    compose(here, behind, q, n, here, behind - 1, here, behind)
            cuda.syncthreads()
        for begun in range(GROUP, stop - first, GROUP):
            for at in range(thread, min(GROUP, stop - first - begun) * n, threads):
                compose(here, begun + at // n, at % n, n, here, begun - 1, here, begun + at // n)
            cuda.syncthreads()
        if unit < stop:
            for q in range(n):
                maps.inside[q * maps.stride + unit] = register[q * threads + thread]
                maps.flow[q * maps.stride + unit] = register[end + q * threads + thread]
        cuda.syncthreads()


@kernel
def scan_maps_kernel(units, size, each, maps, whole, before):
    """The registers before each tile of units; of one block.

    Its threads compose the maps of `each` neighbouring tiles, one state for each thread; then those of all of
    these are applied one after another.

    ========  ===================  =====================================================================
    `units`   HitUnits             in
    `size`    int                  in: the units of a tile
    `each`    int                  in: from `scan.neighbours`
    `maps`    Maps                 in: as `maps_kernel` gives them
    `whole`   Maps                 scratch, for the tiles
    `before`  int64 [tiles, n]     out; before the first tile there is no start
    ========  ===================  =====================================================================
    """
    vector = cuda.shared.array(0, int64)
    thread, threads, n = cuda.threadIdx.x, cuda.blockDim.x, before.shape[1]
    n_units = units_of(units)
    tiles = -(-n_units // size)
    first, q = thread // n * each, thread % n
    for step in range(each):
        tile = first + step
        if thread < threads // n * n and tile < tiles:
            last = min((tile + 1) * size, n_units) - 1
            if step > 0:
                compose(maps, last, q, n, whole, tile - 1, whole, tile)
            else:
                whole.flow[q * whole.stride + tile] = maps.flow[q * maps.stride + last]
                whole.inside[q * whole.stride + tile] = maps.inside[q * maps.stride + last]
        cuda.syncthreads()
    if thread < n and tiles > 0:
        vector[thread] = -1
        before[0, thread] = -1
    cuda.syncthreads()
    carried = Maps(whole.flow, vector, 1)
    for tile in range(each, tiles, each):
        latest = int64(-1)
        if thread < n:
            latest = latest_behind(whole, tile - 1, thread, n, carried, 0)
        cuda.syncthreads()
        if thread < n:
            vector[thread] = latest
            before[tile, thread] = latest
        cuda.syncthreads()
    for at in range(thread, tiles * n, threads):
        tile, q = at // n, at % n
        if tile % each > 0:
            carried = Maps(whole.flow, before[tile // each * each], 1)
            before[tile, q] = latest_behind(whole, tile - 1, q, n, carried, 0)


@kernel
def begin_units_kernel(units, segment, registers, maps, size, before, begun):
    """Write the registers that each unit begins with: its segment's, or those after the unit before it.

    `begun` int64 [units, n]: out; others as in `maps_kernel` and `scan_maps_kernel`.
    """
    n = begun.shape[1]
    for at in range(cuda.grid(1), units_of(units) * n, cuda.gridsize(1)):
        unit, q = at // n, at % n
        if begins_segment(segment, unit):
            begun[unit, q] = registers[segment[unit] if segment.shape[0] else 0, q]
        elif unit % size == 0:
            begun[unit, q] = before[unit // size, q]
        else:
            carried = Maps(maps.flow, before[unit // size], 1)
            begun[unit, q] = latest_behind(maps, unit - 1, q, n, carried, 0)


@kernel
def end_segments_kernel(units, segment, after, registers):
    """Copy the registers after the last unit of each segment, int64 [units, n], to the segment."""
    n = after.shape[1]
    n_units = units_of(units)
    for at in range(cuda.grid(1), n_units * n, cuda.gridsize(1)):
        unit, q = at // n, at % n
        if unit == n_units - 1 or begins_segment(segment, unit + 1):
            registers[segment[unit] if segment.shape[0] else 0, q] = after[unit, q]


def most_units(n):
    """The most units of a launch: so few that one block can compose the maps of their tiles."""
    return max(1, MOST_FLOWS // n)


def new_maps(n, units):
    """`Maps` of so many units over n states, with no values yet."""
    return Maps(device_array(n * units, np.uint64), device_array(n * units, np.int64), units)


def find_long_hits(program, events, units, segment, registers, wanted, found, geometry=LANE, stream=STREAM):
    """As `long_hits`, of units that the host need not know.

    Parameters
    ----------
    events : SymbolWords
    units : HitUnits
        In the order of their segments; each begins where the one before it stops, and reports all.
    segment : device array, shape (units,) or (0,), int64
        As in `maps_kernel`; every segment has a unit.
    wanted, found
        As for `cuda.find_hits`.
    """
    room, n, threads = units.begin.shape[0], registers.shape[1], geometry.threads
    begun, keys = device_array((room, n), np.int64), device_array(0, np.uint64)
    launch = geometry.blocks(room * n), threads
    if room:
        maps, tiles = new_maps(n, room), -(-room // threads)
        taken = 2 * program.n_registers * threads
        shared = shared_room(program, threads, program.n_registers * threads)
        maps_kernel[geometry.blocks(room), threads, 0, 8 * (taken + shared)](
            program, events, units, segment, registers, shared, maps
        )
        before = device_array((tiles, n), np.int64)
        scanning = max(stream.threads, n)
        each = neighbours(tiles, scanning // n)
        scan_maps_kernel[1, scanning, 0, 8 * n](units, threads, each, maps, new_maps(n, tiles), before)
        begin_units_kernel[launch](units, segment, registers, maps, threads, before, begun)
    offsets = find_hits(program, events, keys, 0, units, begun, wanted, found, geometry)
    if room:
        end_segments_kernel[launch](units, segment, begun, registers)
    return offsets


def long_hits(
    program, symbols, starts, begin, stop, segment, registers, geometry=LANE, stream=STREAM, placed=False
):
    """The hits of segments without a window, cut into units: those of `cpu.hits`.

    Parameters
    ----------
    program : DeviceProgram
        Made for `geometry`; of at most `MOST_STATES` states.
    symbols, starts : device array
        As in `cuda.hits`.
    begin, stop : device array, shape (units,), int64
        The units in the order of their segments; each begins where the one before it stops.
    segment : device array, shape (units,), int64
        The segment of each unit: ascending, and every segment has a unit.
    registers : device array, shape (segments, n_live), int64
        In and out.
    geometry, stream : Geometry
        `geometry` from `lane_geometry(2 * program.n_registers)`, which is not None.
    placed : bool
        As for `cuda.hits`.

    Returns
    -------
    offsets : device array, shape (units + 1,), int64
        The hits of unit t are offsets[t] .. offsets[t + 1] - 1.
    found : device array, shape (HEAD + events, 2), int64
        As `cuda.hits` gives it.
    """
    none = device_array(0, np.int64)
    events = SymbolWords(words(symbols), symbols.dtype.itemsize, starts, starts if placed else none)
    found = device_array((HEAD + symbols.shape[0], 2), np.int64)
    units, wanted = HitUnits(begin, begin, stop, none), PLACES if placed else EVENTS
    return find_long_hits(program, events, units, segment, registers, wanted, found, geometry, stream), found
