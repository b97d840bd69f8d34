"""`cpu_hits` on the device: the same body, one thread for each piece.

The hits of a piece are written where they would be if every event of it were one, and then moved together:
joins run once, since running them twice would cost more than the memory for hits that are not there.
"""

import numpy as np
from numba import cuda

from ..device.bodies import form_of
from ..device.geometry import LANE, STREAM, scratch_blocks
from ..device.jit import device, kernel
from ..device.scan import offsets_of
from ..windows.contract import MeasuredWindow, comparable
from . import cpu_hits as join_hits
from .contract import HeldStarts, KeyedEvents
from .cuda_cells import BYTES, KEY, VALUE, claimed, cleared, first_of, found


@device
def _found(owner, offset, entry, slot, segment):
    return found(owner, entry, slot)


@device
def _claimed(owner, offset, entry, slot, segment):
    return claimed(owner, entry, slot)


hits_segment = form_of([join_hits.hits_segment], _found=_found, _claimed=_claimed)["hits_segment"]


@kernel
def join_hits_kernel(
    tables, events, window, begin, report, stop, cells, out_first, fired, out_event, out_start, number
):
    """Find the hits of each piece, and write them from `out_first` of the piece on.

    ============  =================================  =====================================================
    `tables`      JoinTables                         in
    `events`      KeyedEvents                        in: `symbols` are padded, and `offset` int64 [pieces + 1]
                                                     is where the cells of each piece begin
    `window`      MeasuredWindow                     in
    `begin` ...   int64 [pieces]                     in: `begin`, `report` and `stop`
    `cells`       int64 [cells, words]               in/out: empty at first
    `out_first`   int64 [pieces + 1]                 in: sums of `stop - report`
    `fired`       int64 [transitions, 2, threads]    scratch
    `out_event`   int64 [events]                     out
    `out_start`   int64 [events]                     out
    `number`      int64 [pieces]                     out: how many hits each has
    ============  =================================  =====================================================
    """
    thread = cuda.grid(1)
    last = cells.shape[1] - 1
    for piece in range(thread, begin.shape[0], fired.shape[2]):
        own = cells[events.offset[piece] : events.offset[piece + 1]]
        held = HeldStarts(own[:, VALUE], own[:, KEY], own[:, last])
        n = hits_segment(
            tables, events, window, piece, begin[piece], report[piece], stop[piece], held,
            fired[:, :, thread], out_event, out_start, out_first[piece],
        )  # fmt: skip
        number[piece] = n - out_first[piece]


@kernel
def move_hits_kernel(event, start, out_first, offsets, out_event, out_start):
    """Move the hits of each piece from `out_first` to `offsets`, both int64 [pieces + 1]."""
    for piece in range(cuda.grid(1), out_first.shape[0] - 1, cuda.gridsize(1)):
        shift = out_first[piece] - offsets[piece]
        for at in range(offsets[piece], offsets[piece + 1]):
            out_event[at] = event[at + shift]
            out_start[at] = start[at + shift]


def bytes_of_hits(join, cells, reported):
    """What pieces take on the device, each: shape (pieces,), int64.

    Parameters
    ----------
    join : DeviceJoin
    cells : ndarray, shape (pieces,), int64
        From `cells_of`.
    reported : ndarray, shape (pieces,), int64
        Events that each reports.
    """
    return BYTES * (join.words * cells + 4 * reported)


def hits(join, symbols, slots, places, keys, size, begin, report, stop, cells, geometry=LANE, stream=STREAM):
    """The hits of many pieces, in their order: `cpu_hits.hits` on the device.

    Parameters
    ----------
    join : DeviceJoin
    symbols : device array, shape (padded events,), uint8 or uint16
    slots : device array, shape (columns, events), int32
    places : device array, shape (events,) or (0,), int64
    keys : device array, shape (events,) or (0,), uint64 or float64
        Made `comparable`.
    size : int or float
    begin, report, stop : ndarray, shape (pieces,), int64
        At least one piece.
    cells : ndarray, shape (pieces,), int64
        From `cells_of`.
    geometry, stream : Geometry

    Returns
    -------
    offsets : device array, shape (pieces + 1,), int64
        The hits of piece g are offsets[g] .. offsets[g + 1] - 1.
    event, latest_start : device array, shape (hits,), int64
    """
    pieces = len(begin)
    cell_first, out_first = first_of(cells), first_of(stop - report)
    blocks = scratch_blocks(pieces, 2 * max(join.n_fired, 1), geometry)
    fired = cuda.device_array((max(join.n_fired, 1), 2, blocks * geometry.threads), np.int64)
    _, size = comparable(np.empty(0, keys.dtype), size)
    bounds = [cuda.to_device(part) for part in (begin, report, stop)]
    events = KeyedEvents(symbols, slots, places, cuda.to_device(cell_first))
    before, number = cuda.to_device(out_first), cuda.device_array(pieces, np.int64)
    wide = [cuda.device_array(int(out_first[-1]), np.int64) for _ in range(2)]
    join_hits_kernel[blocks, geometry.threads](
        join.tables, events, MeasuredWindow(keys, size), *bounds,
        cleared(int(cell_first[-1]), join.words, stream), before, fired, *wide, number,
    )  # fmt: skip
    offsets = offsets_of(number, stream)
    total = int(offsets[pieces])
    out = [cuda.device_array(total, np.int64) for _ in range(2)]
    move_hits_kernel[geometry.blocks(pieces), geometry.threads](*wide, before, offsets, *out)
    return offsets, *out
