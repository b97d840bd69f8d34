"""Hits of long segments without a window: their events are cut into units that run side by side.

What a unit does to the registers is a **map**: after it the register of state q is the greatest of the latest
start inside the unit (`inside`) and of those registers before it that flow into q (a set of states, `flow`,
one bit for each). One run finds both. Maps compose: a set becomes the union of the sets of its members, a
start the greatest of the members' starts. So a scan over the units gives the registers before each unit, and
with these the units are segments like any other.

The first unit of a segment runs with the segment's registers and lets nothing flow through: so maps are
composed across the ends of segments without knowing of them, and after a scan nothing flows at all.

The scan goes in levels. A thread composes the maps of a group of `GROUP` units one after another, the last
maps of the groups are scanned in the same way, and then every unit adds what came before its group. One block
that passes over all units would need no levels but as many steps as there are units, each waiting for memory:
2^18 such steps take longer than the runs, while `GROUP` steps on each of four levels do not show.
"""

import numpy as np
from numba import cuda, int64

from ..device.arrays import device_array, zeros
from ..device.geometry import LANE
from ..device.jit import kernel
from ..device.words import words
from ..windows.contract import MeasuredWindow
from .cuda import NOTHING, hits, run_segment
from .cuda_blocks import SymbolWords

GROUP = 32
"""How many maps one thread composes."""

MOST_STATES = 63
"""The most states of a set: the bits of a signed word without its sign."""


@kernel
def maps_kernel(program, events, begin, stop, segment, registers, flow, inside):
    """The map of every unit.

    ===========  =======================  ===============================================================
    `program`    DeviceProgram            in
    `events`     SymbolWords              in
    `begin`      int64 [units]            in
    `stop`       int64 [units]            in
    `segment`    int64 [units]            in: the segment of each unit, ascending
    `registers`  int64 [segments, n]      in: what the segments begin with
    `flow`       uint64 [units, n]        out: bit p of flow[t, q] is set if register p flows into q
    `inside`     int64 [units, n]         out: the latest start inside the unit, -1 if there is none
    ===========  =======================  ===============================================================
    """
    register = cuda.shared.array(0, int64)
    thread, threads = cuda.threadIdx.x, cuda.blockDim.x
    n_registers, n = program.n_registers, registers.shape[1]
    none = MeasuredWindow(events.words[:0], np.uint64(0))
    for unit in range(cuda.grid(1), begin.shape[0], cuda.gridsize(1)):
        fresh = unit == 0 or segment[unit - 1] != segment[unit]
        for q in range(n_registers):
            live = q < n
            register[q * threads + thread] = registers[segment[unit], q] if live and fresh else -1
            register[(n_registers + q) * threads + thread] = 1 << q if live and not fresh else 0
        run_segment(
            program, events, none, begin[unit], np.uint64(stop[unit]), stop[unit], register, np.uint64(0),
            inside, np.int64(0), NOTHING, True,
        )  # fmt: skip
        for q in range(n):
            inside[unit, q] = register[q * threads + thread]
            flow[unit, q] = register[(n_registers + q) * threads + thread]


@kernel
def compose_kernel(flow, inside, size):
    """Compose the maps of each group of `size`, so that each map covers its group from the first unit on."""
    units, n = inside.shape
    for group in range(cuda.grid(1), -(-units // size), cuda.gridsize(1)):
        for unit in range(group * size + 1, min((group + 1) * size, units)):
            for q in range(n):
                latest = inside[unit, q]
                through = np.uint64(0)
                members = flow[unit, q]
                for p in range(n):
                    if (members >> np.uint64(p)) & np.uint64(1):
                        through |= flow[unit - 1, p]
                        latest = max(latest, inside[unit - 1, p])
                flow[unit, q] = through
                inside[unit, q] = latest


@kernel
def last_maps_kernel(flow, inside, size, last_flow, last_inside):
    """Copy the last map of each group of `size`."""
    units, n = inside.shape
    for at in range(cuda.grid(1), last_inside.shape[0] * n, cuda.gridsize(1)):
        group, q = at // n, at % n
        unit = min((group + 1) * size, units) - 1
        last_flow[group, q] = flow[unit, q]
        last_inside[group, q] = inside[unit, q]


@kernel
def add_maps_kernel(flow, inside, size, before):
    """Let the registers after the group before a unit's own (`before` [groups, n]) flow into `inside`."""
    units, n = inside.shape
    for at in range(size * n + cuda.grid(1), units * n, cuda.gridsize(1)):
        unit, q = at // n, at % n
        group = unit // size - 1
        latest = inside[unit, q]
        members = flow[unit, q]
        for p in range(n):
            if (members >> np.uint64(p)) & np.uint64(1):
                latest = max(latest, before[group, p])
        inside[unit, q] = latest


@kernel
def begin_units_kernel(segment, registers, after, before):
    """Write the registers that each unit begins with: its segment's, or those `after` the unit before it."""
    units, n = before.shape
    for at in range(cuda.grid(1), units * n, cuda.gridsize(1)):
        unit, q = at // n, at % n
        fresh = unit == 0 or segment[unit - 1] != segment[unit]
        before[unit, q] = registers[segment[unit], q] if fresh else after[unit - 1, q]


@kernel
def end_segments_kernel(segment, after, status, registers):
    """Copy the registers after the last unit of each segment to the segment, if its status is 0."""
    units, n = after.shape
    for at in range(cuda.grid(1), units * n, cuda.gridsize(1)):
        unit, q = at // n, at % n
        last = unit == units - 1 or segment[unit] != segment[unit + 1]
        if last and status[segment[unit]] == 0:
            registers[segment[unit], q] = after[unit, q]


def scan_maps(flow, inside, size, geometry=LANE):
    """Compose every map with all before it: afterwards `inside` has the registers after each unit.

    Parameters
    ----------
    flow : device array, shape (units, n), uint64
        In and out; nothing flows through the first map, as `maps_kernel` makes it.
    inside : device array, shape (units, n), int64
        In and out.
    size : int
        Maps of a group.
    geometry : Geometry
    """
    units, n = inside.shape
    groups = -(-units // size)
    compose_kernel[geometry.blocks(groups), geometry.threads](flow, inside, size)
    if groups > 1:
        last = device_array((groups, n), np.uint64), device_array((groups, n), np.int64)
        last_maps_kernel[geometry.blocks(groups * n), geometry.threads](flow, inside, size, *last)
        scan_maps(*last, size, geometry)
        add_maps_kernel[geometry.blocks(units * n), geometry.threads](flow, inside, size, last[1])


def long_hits(program, symbols, starts, begin, stop, segment, registers, geometry=LANE, placed=False):
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
    geometry : Geometry
        From `lane_geometry(2 * program.n_registers)`, which is not None.
    placed : bool
        As for `cuda.hits`.

    Returns
    -------
    offsets : device array, shape (units + 1,), int64
        The hits of unit t are offsets[t] .. offsets[t + 1] - 1.
    found : device array, shape (HEAD + events, 2), int64
        As `cuda.hits` gives it.
    """
    units, n = begin.shape[0], registers.shape[1]
    before = device_array((units, n), np.int64)
    launch = geometry.blocks(units * n), geometry.threads
    if units:
        flow, inside = device_array((units, n), np.uint64), device_array((units, n), np.int64)
        shared = 2 * 8 * program.n_registers * geometry.threads
        places = device_array(0, np.int64)
        events = SymbolWords(words(symbols), symbols.dtype.itemsize, starts, places)
        maps_kernel[geometry.blocks(units), geometry.threads, 0, shared](
            program, events, begin, stop, segment, registers, flow, inside
        )
        scan_maps(flow, inside, GROUP, geometry)
        begin_units_kernel[launch](segment, registers, inside, before)
    none = device_array(0, np.uint64)
    found = hits(program, symbols, starts, none, 0, begin, begin, stop, before, geometry, placed)
    if units:
        right = zeros(registers.shape[0], np.uint8)
        end_segments_kernel[launch](segment, before, right, registers)
    return found
