"""One lane cut into units on the device, of which the host need not know how many events it has.

With a window each unit begins one window early, and reports at least as many events as the windows of some
events, evenly apart, reach back on average, so that at most about half of the work is done twice. Every block
finds that out by itself: with one event for each of its threads it takes no longer than to wait for another
launch.
"""

import numpy as np
from numba import cuda, int64

from ..device.arrays import device_array
from ..device.geometry import STREAM
from ..device.jit import kernel
from ..device.scan import SUM, block_scan
from ..windows.contract import MeasuredWindow, comparable
from ..windows.cuda import lowest_start
from .cuda import REACHED, SUMS, TOTAL
from .cuda_blocks import HitUnits


@kernel
def cut_units_kernel(window, tiles, old, least, most, units, found):
    """Cut the events of a lane after the first ones, which are old, into units.

    ========  =======================  ================================================================
    `window`  MeasuredWindow           in: keys with room for more events than there are; none: no window
    `tiles`   int64 [1 + tiles]        in: how many new events there are, as `classify.cuda.classified`
                                       gives it
    `old`     int64                    in: the events before, of which none is reported
    `least`   int64                    in: the least number of events that a unit reports
    `most`    int64                    in: about the most units
    `units`   HitUnits                 out
    `found`   int64 [HEAD or more, 2]  out: the rows before those of the hits
    ========  =======================  ================================================================
    """
    sums = cuda.shared.array(0, int64)
    thread, threads = cuda.threadIdx.x, cuda.blockDim.x
    windowed = window.keys.shape[0] > 0
    reported = tiles[tiles.shape[0] - 1] & SUM
    events = old + reported
    length = max(least, -(-reported // most))
    if cuda.blockIdx.x > 0 and cuda.blockIdx.x * threads * length >= reported:
        return
    reach = int64(0)
    if windowed and reported > 0:
        event = old + reported * thread // threads
        reach = event - lowest_start(window.keys, 0, event, window.size)
    block_scan(reach, sums)
    mean = sums[threads - 1] // threads
    if mean > length:
        length = 2 * mean
    number = -(-reported // length)
    if cuda.grid(1) == 0:
        units.number[0] = number
        found[TOTAL, 1] = events
        found[REACHED, 0] = 0
        if windowed and events > 0:
            found[REACHED, 0] = lowest_start(window.keys, 0, events - 1, window.size)
        found[REACHED, 1] = 0
        found[SUMS, 0] = 0
        found[SUMS, 1] = 0
    for unit in range(cuda.grid(1), number, cuda.gridsize(1)):
        report = old + unit * length
        units.begin[unit] = lowest_start(window.keys, 0, report, window.size) if windowed else report
        units.report[unit] = report
        units.stop[unit] = min(report + length, events)


def cut_units(keys, size, tiles, rows, old, least, most, found, geometry=STREAM):
    """The units of a lane, of which the host need not know how many events it has.

    Parameters
    ----------
    keys : device array, shape (old + rows,) or (0,), uint64 or float64
        Made `comparable`; (0,): there is no window, and no event is old.
    size : int or float
    tiles : device array
    rows : int
        The most new events.
    old, least, most, found
        As in `cut_units_kernel`.
    geometry : Geometry

    Returns
    -------
    HitUnits
    """
    room = max(1, min(-(-rows // least), most))
    units = HitUnits(*(device_array(many, np.int64) for many in (room, room, room, 1)))
    _, size = comparable(np.empty(0, keys.dtype), size)
    window, threads = MeasuredWindow(keys, size), geometry.threads
    cut_units_kernel[geometry.blocks(room), threads, 0, 8 * threads](
        window, tiles, old, least, most, units, found
    )
    return units
