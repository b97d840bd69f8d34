"""`cpu` on the device: one thread for each start, not for each segment.

Where the admissible starts of an end are no interval of events, the runs of every start are counted by
themselves. No start needs another one, so a lane that the CPU runs in as many steps as it has pairs of events
is as many threads as it has events. What they find at an end is added up by atomic operations, the numbers in
two halves, so that a sum past 2^62 is seen and not wrapped. Neighbouring threads read neighbouring events.
"""

import numpy as np
from numba import cuda

from ..counts.cuda_long import MOST, sum_of
from ..device.geometry import LANE, STREAM, scratch_blocks
from ..device.jit import device, kernel
from ..device.scan import offsets_of
from ..windows.cuda import segment_of

HALF = 31
"""Bits of the lower half of a number."""


@device
def accepted(tables, symbol, register, thread):
    """How many runs end at an event, up to 2^62."""
    first, source, _, _, accepting = tables
    total = np.int64(0)
    for t in range(first[symbol], first[symbol + 1]):
        if accepting[t]:
            total = sum_of(total, register[source[t], thread])
    return total


@device
def advance(forward, symbol, register, thread):
    """Follow runs over an event, after which none begins: the most that are in one state, up to 2^62."""
    first, into, left, right, zero, _ = forward
    for k in range(first[symbol], first[symbol + 1]):
        register[into[k], thread] = sum_of(register[left[k], thread], register[right[k], thread])
    register[0, thread] = 0
    most = np.int64(0)
    for state in range(zero):
        most = max(most, register[state, thread])
    return most


@kernel
def by_start_kernel(
    tables, forward, symbols, keys, valid, size, lowest, begin, stop, first, register, low, high, latest,
    status,
):  # fmt: skip
    """Follow the runs of every start to the end of its segment, and add them up where they are accepted.

    ===========  ===========================  ============================================================
    `tables`     TransitionTables                    in: as a tuple, and so is the next one
    `forward`    Program                      in: `forward_program`
    `symbols`    uint8 or uint16 [padded]     in
    `keys` ...                                in: as in `cpu`, up to `lowest`
    `begin`      int64 [segments]             in
    `stop`       int64 [segments]             in
    `first`      int64 [segments + 1]         in: how many events the segments before have
    `register`   int64 [registers, threads]   scratch
    `low`        int64 [events]               in/out: zeros; the lower halves of the counts, added up
    `high`       int64 [events]               in/out: zeros; the upper halves
    `latest`     int64 [events]               in/out: -1; the latest admissible start
    `status`     uint8 [segments]             in/out: 1 where a number has reached 2**62
    ===========  ===========================  ============================================================

    The events of the last four are those of all segments, one segment after another.
    """
    thread = cuda.grid(1)
    half = (np.int64(1) << HALF) - 1
    for at in range(thread, low.shape[0], register.shape[1]):
        segment = segment_of(first, at)
        shift = first[segment] - begin[segment]
        start = at - shift
        for r in range(register.shape[0]):
            register[r, thread] = 1 if r == 0 else 0
        for event in range(start, stop[segment]):
            symbol = symbols[event]
            admissible = start >= lowest[event] and valid[start] != 0 and valid[event] != 0
            if admissible and keys[event] > keys[start]:
                admissible = keys[event] - keys[start] <= size
            if admissible:
                total = accepted(tables, symbol, register, thread)
                if total == MOST:
                    status[segment] = 1
                elif total > 0:
                    cuda.atomic.add(low, event + shift, total & half)
                    cuda.atomic.add(high, event + shift, total >> HALF)
                    cuda.atomic.max(latest, event + shift, np.int64(start))
            most = advance(forward, symbol, register, thread)
            if most == MOST:
                status[segment] = 1
            if most == 0 or most == MOST:
                break


@kernel
def sum_halves_kernel(low, high, latest, begin, report, first, found, status):
    """Put the counts of all events into `low`, and note in `found` int64 [events] which are reported hits."""
    half = (np.int64(1) << HALF) - 1
    for at in range(cuda.grid(1), low.shape[0], cuda.gridsize(1)):
        segment = segment_of(first, at)
        upper = high[at] + (low[at] >> HALF)
        if upper >> HALF:
            status[segment] = 1
        low[at] = upper << HALF | low[at] & half
        reported = at - first[segment] + begin[segment] >= report[segment]
        found[at] = 1 if reported and latest[at] >= 0 else 0


@kernel
def keep_hits_kernel(number, latest, begin, first, offsets, out_event, out_start, out_number):
    """Write the hits one after another: those whose `offsets` [events + 1] go up."""
    for at in range(cuda.grid(1), number.shape[0], cuda.gridsize(1)):
        place = offsets[at]
        if offsets[at + 1] > place:
            segment = segment_of(first, at)
            out_event[place] = at - first[segment] + begin[segment]
            out_start[place] = latest[at]
            out_number[place] = number[at]


def counts_by_start(
    machine, symbols, keys, valid, size, lowest, begin, report, stop, geometry=LANE, stream=STREAM
):
    """Hits and counts under any window: `cpu.counts_by_start` on the device.

    Parameters
    ----------
    machine : DeviceTables
    symbols : device array, shape (padded events,), uint8 or uint16
    keys : device array, shape (events,), uint64 or float64
        In their order: what `unsigned` makes of integers, and so is `size`.
    valid : device array, shape (events,), uint8
    size : uint64 or float64
    lowest : device array, shape (events,), int64
    begin, report, stop : ndarray, shape (segments,), int64
    geometry, stream : Geometry

    Returns
    -------
    first : ndarray, shape (segments + 1,), int64
        The hits of segment g are first[g] .. first[g + 1] - 1.
    hits : list of three device arrays, shape (hits,), int64
        The events, their latest admissible starts, and the numbers of complex events.
    status : device array, shape (segments,), uint8
        1 where a number has reached 2**62: the segment's hits are undefined.
    """
    lengths = stop - begin
    first = np.append(0, np.cumsum(lengths))
    events, there = int(first[-1]), cuda.to_device(first)
    bounds = [cuda.to_device(part) for part in (begin, report, stop)]
    low, high = (cuda.to_device(np.zeros(events, np.int64)) for _ in range(2))
    latest = cuda.to_device(np.full(events, -1, np.int64))
    status = cuda.to_device(np.zeros(len(begin), np.uint8))
    found = cuda.device_array(events, np.int64)
    n_registers = machine.forward[-1]
    if events:
        blocks = scratch_blocks(events, n_registers, geometry)
        register = cuda.device_array((n_registers, blocks * geometry.threads), np.int64)
        by_start_kernel[blocks, geometry.threads](
            machine.tables,
            machine.forward,
            symbols,
            keys,
            valid,
            size,
            lowest,
            bounds[0],
            bounds[2],
            there,
            register,
            low,
            high,
            latest,
            status,
        )
        launch = stream.blocks(events), stream.threads
        sum_halves_kernel[launch](low, high, latest, *bounds[:2], there, found, status)
    offsets = offsets_of(found, stream)
    hits = [cuda.device_array(int(offsets[events]), np.int64) for _ in range(3)]
    if events:
        keep_hits_kernel[launch](low, latest, bounds[0], there, offsets, *hits)
    return offsets.copy_to_host()[first], hits, status
