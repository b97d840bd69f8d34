"""`cpu` on the device: a thread for each partition, the same bodies.

Matches must not overlap: a partition then has at most as many matches and slots as rows, and writes them
where its rows lie.
"""

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.bodies import on_device
from ..device.geometry import LANE
from ..device.jit import inlined, kernel
from ..device.words import copied
from . import cpu
from .contract import MATCHES, MISSING, ROW, SLOTS, MatchRoom, SkipRule, TabledChoices

_live = on_device(cpu.live)
_matches = on_device(cpu.matches)


@inlined
def _room_of(room, low, high):
    """The part of a room that belongs to the rows of a partition."""
    return MatchRoom(room.starts[low:high], room.lengths[low:high], room.slots[low:high])


@kernel
def row_states_kernel(symbols, lanes, table, states, at, status):
    """`cpu.live` for every partition that is not done.

    =========  =======================  ==========================================================
    `symbols`  int32 [rows]             in
    `lanes`    int64 [partitions + 1]   in
    `table`    int32 [states, symbols]  in
    `states`   int32 [rows]             out
    `at`       int64 [partitions, 5]    in/out
    `status`   int64 [partitions]       in/out: `MISSING` is to be gone on with
    =========  =======================  ==========================================================
    """
    for lane in range(cuda.grid(1), status.shape[0], cuda.gridsize(1)):
        if status[lane] == MISSING:
            bounds = lanes[lane : lane + 2]
            status[lane] = _live(symbols, bounds, table, states, at[lane], symbols[:0])


@kernel
def row_matches_kernel(choices, lanes, takes, room, at):
    """`cpu.matches` for every partition, past the last row of each match.

    =========  =======================  ============================================================
    `choices`  `TabledChoices`          in
    `lanes`    int64 [partitions + 1]   in
    `takes`    uint8 [variables]        in
    `room`     `MatchRoom`, of rows     out: the matches of a partition begin where its rows do
    `at`       int64 [partitions, 5]    in/out
    =========  =======================  ============================================================
    """
    for lane in range(cuda.grid(1), at.shape[0], cuda.gridsize(1)):
        bounds = lanes[lane : lane + 2]
        own = _room_of(room, bounds[0], bounds[1])
        _matches(choices, bounds, SkipRule(0, takes, takes[:0]), own, at[lane], choices.states[:0])


def row_states(symbols, lanes, live, geometry=LANE):
    """The state of each row.

    Parameters
    ----------
    symbols : ndarray, shape (rows,), int32
    lanes : ndarray, shape (partitions + 1,), int64
    live : LiveStates
        Gives `table`, and fills it.
    geometry : Geometry

    Returns
    -------
    device array, shape (rows,), int32
    """
    count = len(lanes) - 1
    at = np.zeros((count, 5), np.int64)
    at[:, ROW] = lanes[1:] - 1
    status = np.full(count, MISSING, np.int64)
    there, bounds = copied(symbols), copied(lanes)
    states, places, left = device_array(len(symbols), np.int32), copied(at), copied(status)
    launch = geometry.blocks(count), geometry.threads
    while True:
        row_states_kernel[launch](there, bounds, copied(live.table), states, places, left)
        missing = np.flatnonzero(left.copy_to_host() == MISSING)
        if not len(missing):
            return states
        rows = places.copy_to_host()[missing, ROW]
        behind = states.copy_to_host()
        last = rows == lanes[missing + 1] - 1
        before = np.where(last, 0, behind[np.minimum(rows + 1, len(behind) - 1)])
        wanted = np.stack([before, symbols[rows]], axis=1)
        for state, symbol in np.unique(wanted, axis=0).tolist():
            live.fill(state, symbol)


def row_matches(choices, begins, follows, states, lanes, geometry=LANE):
    """The preferred matches of all partitions, past the last row of each match.

    Parameters
    ----------
    choices : ChoiceLists
    begins, follows : ndarray, int32
        From `cpu.choose`.
    states : device array, shape (rows,), int32
    lanes : ndarray, shape (partitions + 1,), int64
    geometry : Geometry

    Returns
    -------
    room : MatchRoom
        On the host.
    number, taken : ndarray, shape (partitions,), int64
        The matches and the slots of each partition.
    """
    count, rows = len(lanes) - 1, states.shape[0]
    at = np.zeros((count, 5), np.int64)
    at[:, ROW] = lanes[:-1]
    room = MatchRoom(*(device_array(rows, dtype) for dtype in (np.int64, np.int64, np.int32)))
    places = copied(at)
    tabled = TabledChoices(copied(choices.variable_of), copied(begins), copied(follows), states)
    takes = copied(np.zeros(1, np.uint8))
    row_matches_kernel[geometry.blocks(count), geometry.threads](tabled, copied(lanes), takes, room, places)
    found = places.copy_to_host()
    return MatchRoom(*(part.copy_to_host() for part in room)), found[:, MATCHES], found[:, SLOTS]
