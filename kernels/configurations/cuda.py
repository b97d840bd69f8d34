"""`cpu.follow` on the device: hits and counts of many units, one thread for each.

A unit first writes its ends as if complex events ended at every event; then the ends and the open
configurations of all units are moved together. So a unit runs only once.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.geometry import LANE as LANES
from ..device.jit import kernel
from ..device.words import copied
from .contract import (
    AHEAD_AT,
    COUNT,
    DONE,
    EVENT,
    HIT,
    MISSING,
    NEEDED,
    SWEEP_AT,
    TOP,
    Groups,
    OldRows,
    Programs,
    StateEnds,
)
from .cuda_units import (
    ABOVE,
    BEFORE,
    CHAIN,
    LANE,
    NEXT,
    PEER,
    PEERED,
    SHAPE,
    UnitRows,
    arrange,
    follow,
    slab_of,
)

NEVER = 1 << 62
"""On the device no late configurations are searched, and the kernel does not look ahead."""

STATUS, ENDS, OPEN, MOST, FAULT, SAYS = range(6)
"""What a unit reports: `DONE` or what was missing; how many ends and open configurations it has; a bound of
the configurations that it held at once; the instruction that failed. `SAYS` is their number."""

BEGIN, REPORT, STOP, PLACE, UNIT_COLUMNS = range(5)
"""Columns of units: the first event, the first event whose ends are reported, one past the last event, and
the place where the unit writes its ends."""


class OpenRows(NamedTuple):
    """Open configurations of units: unit u has the rows first[u] .. first[u + 1] - 1.

    ==========  ===================================  ===============================================
    `first`     int64 [units + 1]
    `shape`     int32 [rows]
    `bits`      int64 [rows, most slots]
    `began`     int64 [rows, 2]
    `since`     dtype of slots [rows]
    `number`    int64 [rows, limbs]
    `begun`     int64 [units]                        whether the unit's lane has begun
    `now`       dtype of slots [units, 2]            the time and the place of its last event
    ==========  ===================================  ===============================================
    """

    first: Any
    shape: Any
    bits: Any
    began: Any
    since: Any
    number: Any
    begun: Any
    now: Any


class UnitEnds(NamedTuple):
    """What ends in units.

    ==========  ====================  =========================================
    `event`     int64 [ends]          numbered in the order of the units
    `lowest`    int64 [ends]
    `latest`    int64 [ends]
    `number`    int64 [ends, limbs]
    ==========  ====================  =========================================
    """

    event: Any
    lowest: Any
    latest: Any
    number: Any


@kernel
def configurations_kernel(steps, first, code, texts, events, rules, units, given, slab, limbs, found, says):
    """Follow the configurations of each unit.

    ============  =======================  ===============================================================
    `steps`       Steps                    in
    `first`       int32 [programs + 1]     in: as `code` in `Programs`
    `code`        int64 [instructions, 2]  in
    `texts`       HeldTexts                in
    `events`      UnitEvents               in
    `rules`       Rules                    in: consumes nothing, or what is open in its own lane
    `units`       int64 [units, 4]         in
    `given`       OpenRows                 in: what is open before the units
    `slab`        Slab                     out: what is open behind them
    `limbs`       int64                    in: digits of numbers; 0: complex events are not counted
    `found`       UnitEnds                 out: from `PLACE` of each unit on
    `says`        int64 [units, SAYS]      out
    ============  =======================  ===============================================================
    """
    for unit in range(cuda.grid(1), units.shape[0], cuda.gridsize(1)):
        links = slab.links[unit]
        number = slab.number[unit, 0]
        progress = slab.progress[unit]
        kept = UnitRows(
            links[SHAPE], links[LANE], links[NEXT], links[BEFORE], links[CHAIN], slab.hashes[unit, 0],
            links[PEER], links[PEERED], links[ABOVE], slab.hashes[unit, 1], slab.slots[unit, 0],
            slab.bits[unit, 0], slab.reals[unit, 0], slab.began[unit, 0], slab.since[unit, 0], progress[:0],
            number, limbs,
        )  # fmt: skip
        groups = Groups(slab.lane[unit], slab.now[unit], slab.group[unit])
        touched = OldRows(
            slab.leaf[unit], slab.slots[unit, 1], slab.bits[unit, 1], slab.began[unit, 1],
            slab.since[unit, 1], progress[:0], slab.number[unit, 1],
        )  # fmt: skip
        own = Programs(first, code, slab.stack[unit], slab.stack_reals[unit], slab.stack_known[unit], texts)
        for word in range(progress.shape[0]):
            progress[word] = 0
        progress[SWEEP_AT] = NEVER
        progress[AHEAD_AT] = NEVER
        progress[EVENT] = units[unit, BEGIN]
        begin = given.first[unit]
        count = given.first[unit + 1] - begin
        for row in range(count):
            kept.shape[row] = given.shape[begin + row]
            kept.lane[row] = 0
            for s in range(steps.slots[kept.shape[row]]):
                kept.bits[row, s] = given.bits[begin + row, s]
            kept.began[row, 0] = given.began[begin + row, 0]
            kept.began[row, 1] = given.began[begin + row, 1]
            kept.since[row] = given.since[begin + row]
            for limb in range(limbs):
                number[row, limb] = given.number[begin + row, limb]
            if limbs > 0:
                progress[TOP] = max(progress[TOP], number[row, limbs - 1])
        groups.lane[0, 1] = 0
        groups.lane[0, 2] = given.begun[unit]
        groups.now[0, 0] = given.now[unit, 0]
        groups.now[0, 1] = given.now[unit, 1]
        arrange(kept, groups, count, steps.slots, steps.indexed, progress)
        low = units[unit, PLACE]
        high = low + units[unit, STOP] - units[unit, BEGIN]
        ends = StateEnds(
            found.event[low:high], found.lowest[low:high], found.latest[low:high], found.number[low:high],
            progress, links[LANE], progress,
        )  # fmt: skip
        most = count
        status = DONE
        for event in range(units[unit, BEGIN], units[unit, STOP]):
            if event == units[unit, REPORT]:
                progress[HIT] = 0
            before = progress[COUNT]
            status = follow(
                steps, own, events, event + 1, rules, kept, groups, touched, slab.leaf[unit], ends,
                progress, slab.never,
            )  # fmt: skip
            most = max(most, before + 1 + progress[NEEDED])
            if status != DONE:
                break
        says[unit, STATUS] = status
        says[unit, ENDS] = progress[HIT]
        says[unit, OPEN] = progress[COUNT]
        says[unit, MOST] = most
        says[unit, FAULT] = progress[MISSING]


@kernel
def collect_configurations_kernel(steps, slab, limbs, units, which, wide, ends_first, out, rows):
    """Move the ends of some units, and the configurations that they leave open, together.

    ============  =======================  ===============================================================
    `steps`       Steps                    in
    `slab`        Slab                     in
    `limbs`       int64                    in
    `units`       int64 [units, 4]         in: all of them
    `which`       int64 [some]             in: the units to collect
    `wide`        UnitEnds                 in
    `ends_first`  int64 [some + 1]         in: where the ends of each of them go
    `out`         UnitEnds                 out
    `rows`        OpenRows                 out, but `first` is in
    ============  =======================  ===============================================================
    """
    for u in range(cuda.grid(1), which.shape[0], cuda.gridsize(1)):
        unit = which[u]
        begin = units[unit, PLACE]
        at = ends_first[u]
        for end in range(ends_first[u + 1] - at):
            out.event[at + end] = wide.event[begin + end]
            out.lowest[at + end] = wide.lowest[begin + end]
            out.latest[at + end] = wide.latest[begin + end]
            for limb in range(limbs):
                out.number[at + end, limb] = wide.number[begin + end, limb]
        rows.begun[u] = slab.lane[unit, 0, 2]
        rows.now[u, 0] = slab.now[unit, 0, 0]
        rows.now[u, 1] = slab.now[unit, 0, 1]
        to = rows.first[u]
        for row in range(slab.began.shape[2]):
            shape = slab.links[unit, SHAPE, row]
            if shape < 0:
                continue
            rows.shape[to] = shape
            for s in range(steps.slots[shape]):
                rows.bits[to, s] = slab.bits[unit, 0, row, s]
            rows.began[to, 0] = slab.began[unit, 0, row, 0]
            rows.began[to, 1] = slab.began[unit, 0, row, 1]
            rows.since[to] = slab.since[unit, 0, row]
            for limb in range(limbs):
                rows.number[to, limb] = slab.number[unit, 0, row, limb]
            to += 1


def followed(there, events, rules, units, given, rows, limbs, geometry=LANES):
    """Follow the configurations of units, each in a slab with room for `rows` configurations.

    Parameters
    ----------
    there : DeviceShapes
    events : UnitEvents
    rules : Rules
    units : ndarray, shape (units, UNIT_COLUMNS), int64
        Out: `PLACE`.
    given : OpenRows
        Of arrays on the host; a unit may have at most `rows` of them.
    rows : int
    limbs : int
        Digits of numbers; 0: complex events are not counted.
    geometry : Geometry

    Returns
    -------
    says : ndarray, shape (units, SAYS), int64
    which : ndarray, int64
        The units that are done.
    ends : UnitEnds
        Of arrays on the host: what ends in those that are done.
    open_rows : OpenRows
        Of arrays on the host: what these leave open.
    """
    count, dtype = len(units), given.since.dtype
    length = units[:, STOP] - units[:, BEGIN]
    units[:, PLACE] = np.cumsum(length) - length
    slab = slab_of(count, rows, limbs, dtype, there)
    wide = _ends(int(length.sum()), max(limbs, 1))
    says = device_array((count, SAYS), np.int64)
    own = copied(units)
    configurations_kernel[geometry.blocks(count), geometry.threads](
        there.steps, there.first, there.code, there.texts, events, rules, own,
        OpenRows(*map(_copied, given)), slab, limbs, wide, says,
    )  # fmt: skip
    said = says.copy_to_host()
    which = np.flatnonzero(said[:, STATUS] == DONE)
    ends_first, first = (np.append(0, np.cumsum(said[which, each])).astype(np.int64) for each in (ENDS, OPEN))
    left = max(int(first[-1]), 1)
    out = _ends(int(ends_first[-1]), max(limbs, 1))
    left_open = OpenRows(
        copied(first), device_array(left, np.int32), device_array((left, there.most_slots), np.int64),
        device_array((left, 2), np.int64), device_array(left, dtype),
        device_array((left, max(limbs, 1)), np.int64), device_array(max(len(which), 1), np.int64),
        device_array((max(len(which), 1), 2), dtype),
    )  # fmt: skip
    if len(which):
        collect_configurations_kernel[geometry.blocks(len(which)), geometry.threads](
            there.steps, slab, limbs, own, copied(which), wide, copied(ends_first), out, left_open
        )
    ends = UnitEnds(*(each.copy_to_host()[: ends_first[-1]] for each in out))
    here = [each.copy_to_host() for each in left_open]
    open_rows = OpenRows(
        first, *(each[: first[-1]] for each in here[1:6]), *(each[: len(which)] for each in here[6:])
    )
    return said, which, ends, open_rows


def _ends(count, limbs):
    count = max(count, 1)
    return UnitEnds(
        *(device_array(count, np.int64) for _ in range(3)), device_array((count, limbs), np.int64)
    )


def _copied(array):
    return copied(array if array.size else np.zeros((1,) * array.ndim, array.dtype))
