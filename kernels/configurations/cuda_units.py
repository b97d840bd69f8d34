"""Configurations on the device: the bodies of the CPU, and a slab of memory for each unit.

A **unit** is a sequence of events of one lane, which one thread follows. It keeps its configurations in a
slab of its own, which has a fixed size. Where the slab is full, the host runs the unit again in a larger one,
or on the CPU. The tables of steps do not grow on the device either: where a step is missing, the unit says
so, the host works it out, and the unit runs again. For that the host keeps what was open in the lane before
the unit, until the unit has run to its end.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ..device.arrays import device_array
from ..device.bodies import on_device
from ..device.jit import device
from ..device.words import copied
from . import cpu, cpu_groups
from .contract import GROUP_COLUMNS, NO_TEXTS, WORDS, HeldTexts, Steps

SHAPE, LANE, NEXT, BEFORE, CHAIN, PEER, PEERED, ABOVE, LINK_ROWS = range(9)
"""Rows of `links` in a slab, by their names in `StateRows`."""


class UnitRows(NamedTuple):
    """`StateRows` of a unit, whose `node` is empty; `limbs`: how many digits the numbers have."""

    shape: Any
    lane: Any
    next: Any
    before: Any
    chain: Any
    bucket: Any
    peer: Any
    peered: Any
    above: Any
    heads: Any
    slots: Any
    bits: Any
    reals: Any
    began: Any
    since: Any
    node: Any
    number: Any
    limbs: int


class UnitEvents(NamedTuple):
    """`TimedEvents` in the order of the units, without lanes; `columns` is the number of columns of values.

    A device has no empty arrays of two dimensions.
    """

    symbols: Any
    lanes: Any
    times: Any
    places: Any
    number: Any
    values: Any
    reals: Any
    known: Any
    columns: int


class Slab(NamedTuple):
    """The configurations of units, and their scratch; the first axis of each array numbers the units.

    =============  ============================================  =============================================
    `links`        int32 [units, LINK_ROWS, rows]
    `hashes`       int32 [units, 2, 2 ** k]                      `bucket` and `heads` of `StateRows`
    `slots`        uint64, float64 [units, 2, rows, most slots]
    `bits`         int64, the same memory                        of configurations, and of changed ones;
    `reals`        float64, the same memory                      so are the next ones but `leaf`
    `began`        int64 [units, 2, rows, 2]
    `since`        dtype of slots [units, 2, rows]
    `number`       int64 [units, 2, rows, limbs]
    `leaf`         int64 [units, rows, 2]                        as in `OldRows`
    `lane`         int64 [units, 1, 3]                           as the next two in `Groups`
    `now`          dtype of slots [units, 1, 2]
    `group`        int32 [units, rows, 4]
    `progress`     int64 [units, WORDS]
    `stack`        int64 [units, depth]                          of programs
    `stack_reals`  float64, the same memory
    `stack_known`  uint8 [units, depth]
    `never`        uint8 [1]                                     0
    =============  ============================================  =============================================
    """

    links: Any
    hashes: Any
    slots: Any
    bits: Any
    reals: Any
    began: Any
    since: Any
    number: Any
    leaf: Any
    lane: Any
    now: Any
    group: Any
    progress: Any
    stack: Any
    stack_reals: Any
    stack_known: Any
    never: Any


@device
def _rest_of_reals(one, other):
    return math.fmod(one, other)


@device
def _limbs_of(kept):
    return kept.limbs


@device
def _columns_of(events):
    return events.columns


@device
def _hopeful(steps, rules, events, event, shape, since):
    """On the device it is not looked ahead."""
    return False


@device
def _no_node(arena, progress, label, left, right, latest):
    """On the device no complex events are listed."""
    return 0


@device
def _no_union(arena, progress, one, other):
    return 0


@device
def _consumes_at(events, event, lane):
    """On the device no end is suppressed, if ends consume."""
    return True


follow = on_device(
    cpu.follow,
    consumes_at=_consumes_at,
    rest_of_reals=_rest_of_reals,
    limbs_of=_limbs_of,
    columns_of=_columns_of,
    hopeless=_hopeful,
    union=_no_union,
    new_node=_no_node,
)
arrange = on_device(cpu_groups.arrange)


class DeviceShapes(NamedTuple):
    """What events do to shapes: the tables on the device.

    ============  ==================================  =========================================
    `steps`       Steps of device arrays
    `first`       device array, as of `Programs`
    `code`        device array, as of `Programs`
    `texts`       HeldTexts of device arrays
    `depth`       int                                 the deepest stack of a program
    `most_slots`  int
    ============  ==================================  =========================================
    """

    steps: Any
    first: Any
    code: Any
    texts: Any
    depth: int
    most_slots: int


def device_steps(steps, programs):
    """Copy what events do to shapes to the device.

    Parameters
    ----------
    steps : Steps
    programs : Programs or None

    Returns
    -------
    DeviceShapes
    """
    first, code, texts, depth = np.zeros(1, np.int32), np.zeros((1, 2), np.int64), NO_TEXTS, 1
    if programs is not None:
        first, texts, depth = programs.first, programs.texts, len(programs.stack)
        code = programs.code if len(programs.code) else code
    there = Steps(*(copied(each if each.size else np.zeros((1,) * each.ndim, each.dtype)) for each in steps))
    most_slots = max(int(steps.slots.max(initial=0)), 1)
    return DeviceShapes(there, copied(first), copied(code), HeldTexts(*map(copied, texts)), depth, most_slots)


def device_events(events, order, dtype):
    """Copy events to the device in the order of the units: `UnitEvents`.

    Parameters
    ----------
    events : TimedEvents
    order : ndarray, shape (events,), int64
    dtype : dtype
        Of slots.
    """

    def some(each):
        return copied(each[order].astype(dtype, copy=False)) if each.size else device_array(0, dtype)

    columns = len(events.values)
    values = events.values[:, order] if columns else np.zeros((1, 1), np.int64)
    there = copied(values)
    known = events.known[:, order] if columns else np.zeros((1, 1), np.uint8)
    return UnitEvents(
        copied(events.symbols[order].astype(np.uint16)), device_array(0, np.int32), some(events.times),
        some(events.places), copied(events.number[order]), there, there.view(np.float64), copied(known),
        columns,
    )  # fmt: skip


def buckets_of(rows):
    """How many hashes a slab with `rows` rows has."""
    return 2 << max(rows - 1, 1).bit_length()


def bytes_of_unit(rows, most_slots, limbs, depth):
    """Bytes that the slab of a unit takes."""
    row = 4 * LINK_ROWS + 16 * (most_slots + max(limbs, 1)) + 80
    return rows * row + 8 * buckets_of(rows) + 8 * WORDS + 17 * depth + 64


def slab_of(units, rows, limbs, dtype, tables):
    """Make room for units with `rows` configurations each: `Slab`.

    Parameters
    ----------
    units, rows, limbs : int
    dtype : dtype
        Of slots.
    tables : DeviceShapes
    """
    limbs, most = max(limbs, 1), tables.most_slots
    buckets = buckets_of(rows)

    def room(*shape, of=np.int64):
        return device_array((units, *shape), of)

    slots, stack = room(2, rows, most), room(tables.depth)
    return Slab(
        room(LINK_ROWS, rows, of=np.int32), room(2, buckets, of=np.int32), slots.view(dtype), slots,
        slots.view(np.float64), room(2, rows, 2), room(2, rows, of=dtype), room(2, rows, limbs),
        room(rows, 2), room(1, 3), room(1, 2, of=dtype), room(rows, GROUP_COLUMNS, of=np.int32),
        room(WORDS), stack, stack.view(np.float64), room(tables.depth, of=np.uint8),
        copied(np.zeros(1, np.uint8)),
    )  # fmt: skip
