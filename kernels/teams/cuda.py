"""`cpu` on the device: the same bodies, one thread for each member and unit of the events.

Neighbouring threads follow neighbouring members over the same events, so that a warp reads each event once
and the numbers of its members side by side. Threads of several units add to the same sums: atomically.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.bodies import on_device
from ..device.geometry import LANE, scratch_blocks
from ..device.jit import device, kernel
from ..device.words import copied
from . import cpu
from .contract import AbreastEvents, Edges, GroupSums, Spans, no_sums


def tally_there(number, at, hits, matches, first, last):
    """`cpu.tally` where other threads add to the same sums."""
    for v in range(number.shape[0]):
        if number[v] != 0:
            cuda.atomic.add(hits, v, 1)
            cuda.atomic.add(matches, v, number[v])
            cuda.atomic.min(first, v, at)
            cuda.atomic.max(last, v, at)


member_of = on_device(cpu.abreast_kernel, tally=device(tally_there))


class AbreastUnits(NamedTuple):
    """Ranges of events that run on their own: int64 [units], as the arguments of `abreast_body`."""

    begin: Any
    report: Any
    stop: Any


class AbreastRooms(NamedTuple):
    """Scratch of threads, as the arguments of `abreast_body`.

    ==========  =======================
    `matrices`  int64 [n * n, threads]
    `low`       int64 [threads]
    `number`    int64 [threads]
    ==========  =======================
    """

    matrices: Any
    low: Any
    number: Any


class DeviceTeam(NamedTuple):
    """Members on the device.

    =========  ===============  ===============================================
    `edges`    Edges            of device arrays
    `span`     int64 [members]  which window each has, on the device
    `members`  int
    `nodes`    int
    =========  ===============  ===============================================
    """

    edges: Any
    span: Any
    members: int
    nodes: int


@device
def own_sums(sums, v):
    """The sums of one member."""
    return GroupSums(
        sums.hits[:, v : v + 1],
        sums.matches[:, v : v + 1],
        sums.first[:, v : v + 1],
        sums.last[:, v : v + 1],
    )


@kernel
def abreast_kernel(edges, spans, span, events, units, rooms, widest, sums):
    """Run `abreast_body` for each member and unit.

    ==========  =================  ================================================================
    `edges`     Edges              in
    `spans`     Spans              in: `begin` is 0, 1: those of one member with one window
    `span`      int64 [members]    in: which window each member has
    `events`    AbreastEvents      in: `cells` are uint16
    `units`     AbreastUnits       in
    `rooms`     AbreastRooms       scratch: as many threads as it has run
    `widest`    int64 [members]    in/out: the most events that a window held
    `sums`      GroupSums          in/out
    ==========  =================  ================================================================
    """
    thread = cuda.grid(1)
    members = span.shape[0]
    if thread < rooms.low.shape[0]:
        for k in range(thread, members * units.begin.shape[0], rooms.low.shape[0]):
            v = k % members
            g = k // members
            d = span[v]
            most = member_of(
                Edges(
                    edges.first, edges.source, edges.target, edges.row, edges.back, edges.masks[:, v : v + 1]
                ),
                Spans(spans.begin, spans.size[d : d + 1]),
                events,
                units.begin[g : g + 1],
                units.report[g : g + 1],
                units.stop[g : g + 1],
                rooms.low[thread : thread + 1],
                rooms.matrices[:, thread : thread + 1],
                rooms.number[thread : thread + 1],
                own_sums(sums, v),
                edges.first[:0],
            )
            cuda.atomic.max(widest, v, most)


def device_team(edges, begin, nodes):
    """Copy members to the current device; `begin` is that of their `Spans`."""
    members = edges.masks.shape[1]
    span = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
    return DeviceTeam(Edges(*map(copied, edges)), copied(span), members, nodes)


def device_events(events):
    """Copy events to the current device."""
    return AbreastEvents(copied(events.cells.astype(np.uint16)), *map(copied, events[1:]))


def abreast(team, sizes, events, units, groups, geometry=LANE):
    """Add up what members find in units of events: `cpu.abreast` on the device.

    Parameters
    ----------
    team : DeviceTeam
    sizes : ndarray, shape (spans,)
        The sizes of the windows, in the dtype of the keys.
    events : AbreastEvents
        From `device_events`.
    units : AbreastUnits
        Of arrays on the host.
    groups : int
    geometry : Geometry

    Returns
    -------
    widest : ndarray, shape (members,), int64
        The most events that a window of each held, without the last one.
    sums : GroupSums
        On the host.
    """
    work = len(units.begin) * team.members
    blocks = scratch_blocks(work, team.nodes**2 + 2, geometry)
    threads = min(blocks * geometry.threads, work)
    rooms = AbreastRooms(
        device_array((team.nodes**2, threads), np.int64),
        device_array(threads, np.int64),
        device_array(threads, np.int64),
    )
    widest = copied(np.zeros(team.members, np.int64))
    sums = GroupSums(*map(copied, no_sums(groups, team.members, events.at.dtype)))
    spans = Spans(copied(np.array([0, 1])), copied(sizes))
    there = AbreastUnits(*map(copied, units))
    abreast_kernel[blocks, geometry.threads](team.edges, spans, team.span, events, there, rooms, widest, sums)
    return widest.copy_to_host(), GroupSums(*(one.copy_to_host() for one in sums))
