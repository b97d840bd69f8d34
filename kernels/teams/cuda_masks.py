"""`cpu_masks` on the device: the same bodies, one thread for each member and unit of the events.

As in `cuda`, neighbouring threads follow neighbouring members over the same events. Sums are looked at as
they are added: of several threads that add to one sum, the one that takes it past 2^62 sees that.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.bodies import on_device
from ..device.geometry import LANE, SCRATCH, WARP, scratch_blocks
from ..device.jit import device, kernel
from ..device.words import copied
from . import cpu_masks
from .contract import GroupSums, MaskedEnds, MaskedProgram, MaskedWork, no_sums
from .cuda import own_sums

EXACT = 62
"""A number with a bit from here on is not exact."""


def summed_there(number, at, group, sums, over):
    """`cpu_masks.summed` where other threads add to the same sums."""
    hits, matches, first, last = sums.hits[group], sums.matches[group], sums.first[group], sums.last[group]
    for v in range(number.shape[0]):
        if number[v] != 0:
            cuda.atomic.add(hits, v, 1)
            before = cuda.atomic.add(matches, v, number[v])
            over[v] |= before + number[v]
            cuda.atomic.min(first, v, at)
            cuda.atomic.max(last, v, at)


_summed = device(summed_there)
masked_of = on_device(cpu_masks.masked_kernel, summed=_summed)
carried_of = on_device(cpu_masks.carried_kernel, summed=_summed)


class MaskedRooms(NamedTuple):
    """Scratch of threads: the arrays of `MaskedWork`, whose last axis are the threads.

    ==========  ==============================
    `prefix`    int64 [registers, n, threads]
    `suffix`    int64 [registers, n, threads]
    `front`     int64 [snapshots, n, threads]
    `place`     int64 [snapshots, threads]
    `number`    int64 [threads]
    `over`      int64 [threads]
    ==========  ==============================
    """

    prefix: Any
    suffix: Any
    front: Any
    place: Any
    number: Any
    over: Any


class DeviceMaskedTeam(NamedTuple):
    """Members on the device.

    ===========  ==============  ==============================
    `forward`    MaskedProgram   of device arrays
    `backward`   MaskedProgram   of device arrays
    `ends`       MaskedEnds      of device arrays
    `members`    int
    `nodes`      int
    `registers`  tuple of int    of the two programs
    ===========  ==============  ==============================
    """

    forward: Any
    backward: Any
    ends: Any
    members: int
    nodes: int
    registers: tuple[int, int]


@device
def _own_ends(ends, v):
    """The ends of one member."""
    return MaskedEnds(ends.first, ends.source, ends.row, ends.begins, ends.masks[:, v : v + 1])


@device
def _own_work(rooms, thread):
    """The scratch of one thread."""
    return MaskedWork(
        rooms.prefix[:, :, thread : thread + 1],
        rooms.suffix[:, :, thread : thread + 1],
        rooms.front[:, :, thread : thread + 1],
        rooms.place[:, thread],
        rooms.number[thread : thread + 1],
        rooms.over[thread : thread + 1],
    )


@kernel
def abreast_masked_kernel(forward, backward, ends, events, size, units, rooms, wrong, sums):
    """Run `masked_body` for each member and unit.

    ==========  ===================  ====================================================================
    `forward`   MaskedProgram        in
    `backward`  MaskedProgram        in
    `ends`      MaskedEnds           in
    `events`    AbreastEvents        in: `cells` are uint16
    `size`      dtype of keys [1]    in: the longest difference of keys that the window keeps
    `units`     AbreastUnits         in
    `rooms`     MaskedRooms          scratch: as many threads as it has run
    `wrong`     uint8 [members]      in/out: 1: a number was past 2^62, nothing found of the member is right
    `sums`      GroupSums            in/out
    ==========  ===================  ====================================================================
    """
    thread = cuda.grid(1)
    members = wrong.shape[0]
    if thread < rooms.over.shape[0]:
        for k in range(thread, members * units.begin.shape[0], rooms.over.shape[0]):
            v = k % members
            g = k // members
            rooms.over[thread] = 0
            masked_of(
                forward,
                backward,
                _own_ends(ends, v),
                events,
                size[0],
                units.begin[g : g + 1],
                units.report[g : g + 1],
                units.stop[g : g + 1],
                _own_work(rooms, thread),
                own_sums(sums, v),
                ends.begins[:0],
            )
            if rooms.over[thread] >> EXACT:
                wrong[v] = 1


@kernel
def abreast_carried_kernel(forward, ends, events, begin, stop, carried, rooms, wrong, sums):
    """Run `carried_body` for each member and lane.

    ==========  ===========================  ==================================
    `forward`   MaskedProgram                in
    `ends`      MaskedEnds                   in
    `events`    AbreastEvents                in: `cells` are uint16
    `begin`     int64 [lanes]                in: the events of each lane
    `stop`      int64 [lanes]                in
    `carried`   int64 [lanes, n, members]    in/out: the runs in each node
    `rooms`     MaskedRooms                  scratch, as before
    `wrong`     uint8 [members]              in/out, as before
    `sums`      GroupSums                    in/out
    ==========  ===========================  ==================================
    """
    thread = cuda.grid(1)
    members = wrong.shape[0]
    if thread < rooms.over.shape[0]:
        for k in range(thread, members * begin.shape[0], rooms.over.shape[0]):
            v = k % members
            g = k // members
            rooms.over[thread] = 0
            rooms.place[0, thread] = 0
            carried_of(
                forward,
                _own_ends(ends, v),
                events,
                begin[g : g + 1],
                stop[g : g + 1],
                rooms.place[:1, thread],
                carried[g : g + 1, :, v : v + 1],
                _own_work(rooms, thread),
                own_sums(sums, v),
                ends.begins[:0],
            )
            if rooms.over[thread] >> EXACT:
                wrong[v] = 1


def device_masked(forward, backward, ends, nodes, registers):
    """Copy members to the current device."""
    programs = (MaskedProgram(*map(copied, one)) for one in (forward, backward))
    members = ends.masks.shape[1]
    return DeviceMaskedTeam(*programs, MaskedEnds(*map(copied, ends)), members, nodes, registers)


def has_room(members, snapshots):
    """Whether a warp has scratch for the starts of a window, `snapshots` of them."""
    return _numbers(members, members.nodes, snapshots) * 8 * WARP <= SCRATCH


def abreast_masked(members, size, events, units, snapshots, groups, geometry=LANE):
    """Add up what members with one window find in units of events: `masked_body` on the device.

    Parameters
    ----------
    members : DeviceMaskedTeam
    size : ndarray, shape (1,)
        The size of the window, in the dtype of the keys.
    events : AbreastEvents
        Of device arrays.
    units : AbreastUnits
        Of arrays on the host.
    snapshots : int
        The most events of one window at which a run may begin, and one more.
    groups : int
    geometry : Geometry

    Returns
    -------
    wrong : ndarray, shape (members,), bool
        The members of which nothing is known.
    sums : GroupSums
        On the host.
    """
    work = len(units.begin) * members.members
    blocks, rooms = _rooms(members, work, members.nodes, snapshots, geometry)
    wrong = copied(np.zeros(members.members, np.uint8))
    sums = GroupSums(*map(copied, no_sums(groups, members.members, events.at.dtype)))
    there = type(units)(*map(copied, units))
    abreast_masked_kernel[blocks, geometry.threads](
        members.forward, members.backward, members.ends, events, copied(size), there, rooms, wrong, sums
    )
    return wrong.copy_to_host() != 0, GroupSums(*(one.copy_to_host() for one in sums))


def abreast_carried(members, events, begin, stop, carried, groups, geometry=LANE):
    """Add up what members without a window find in lanes of events: `carried_body` on the device.

    Parameters
    ----------
    members : DeviceMaskedTeam
    events : AbreastEvents
        Of device arrays.
    begin, stop : ndarray, shape (lanes,), int64
    carried : ndarray, shape (lanes, n, members), int64
        The runs in each node before these events.
    groups : int
    geometry : Geometry

    Returns
    -------
    wrong : ndarray, shape (members,), bool
        The members of which nothing is known.
    carried : ndarray, shape (lanes, n, members), int64
        The runs after the events.
    sums : GroupSums
        On the host.
    """
    work = len(begin) * members.members
    blocks, rooms = _rooms(members, work, 1, 1, geometry)
    wrong = copied(np.zeros(members.members, np.uint8))
    sums = GroupSums(*map(copied, no_sums(groups, members.members, events.at.dtype)))
    runs = copied(carried)
    abreast_carried_kernel[blocks, geometry.threads](
        members.forward, members.ends, events, copied(begin), copied(stop), runs, rooms, wrong, sums
    )
    found = GroupSums(*(one.copy_to_host() for one in sums))
    return wrong.copy_to_host() != 0, runs.copy_to_host(), found


def _numbers(members, width, snapshots):
    """How many numbers of scratch a thread needs."""
    return sum(members.registers) * width + snapshots * max(width, 2) + 2


def _rooms(members, work, width, snapshots, geometry):
    """The blocks of a launch, and the scratch of its threads."""
    blocks = scratch_blocks(work, _numbers(members, width, snapshots), geometry)
    threads = min(blocks * geometry.threads, work)
    threads = max(1, min(threads, SCRATCH // (8 * _numbers(members, width, snapshots))))
    forward, backward = members.registers
    rooms = MaskedRooms(
        device_array((forward, width, threads), np.int64),
        device_array((backward, width, threads), np.int64),
        device_array((snapshots, max(width - 1, 1), threads), np.int64),
        device_array((snapshots, threads), np.int64),
        device_array(threads, np.int64),
        device_array(threads, np.int64),
    )
    return blocks, rooms
