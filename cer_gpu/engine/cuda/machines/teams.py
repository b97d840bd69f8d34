"""Queries that run abreast on CUDA devices: a thread follows one query over one unit of the events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cer_gpu.engine.cuda.machines.one_device import cut_early
from cer_gpu.engine.devices import on, say_no_memory, with_memory
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry
from cer_gpu.kernels.device.words import copied
from cer_gpu.kernels.teams.contract import AbreastEvents, Edges, GroupSums
from cer_gpu.kernels.teams.cuda import AbreastUnits, DeviceTeam, abreast, device_events, device_team
from cer_gpu.kernels.windows.contract import comparable

SUMS = 1 << 24
"""The most sums of members and groups of a launch: half a gigabyte."""


class TeamResult(NamedTuple):
    """What the members of a team find in some units.

    Attributes
    ----------
    low : int
        The group of the first row of `sums`.
    widest : ndarray, shape (members,), int64
        The most events that a window of each held, without the last one.
    sums : GroupSums
    """

    low: int
    widest: np.ndarray
    sums: GroupSums


class DeviceTeams:
    """Runs teams of members on devices, each team on one of them.

    Parameters
    ----------
    devices : sequence of int
        The numbers of the devices, at least one.
    edges : sequence of (Edges, ndarray, int)
        Of each team its edges, where the members of each window begin, and how many nodes it has.
    lane, stream : Geometry
        How kernels are launched with one thread for each member and unit, or for each row.
    """

    def __init__(
        self,
        devices: Sequence[int],
        edges: Sequence[tuple[Edges, np.ndarray, int]],
        lane: Geometry = LANE,
        stream: Geometry = STREAM,
    ) -> None:
        self._lane, self._stream = lane, stream
        self._numbers = [devices[place % len(devices)] for place in range(len(edges))]
        self._edges = list(edges)
        self._teams: list[DeviceTeam | None] = [None] * len(edges)
        self._warned = False

    def found(
        self, place: int, chunk: Chunk, sizes: Sequence[int | float], at: np.ndarray, group: np.ndarray
    ) -> list[TeamResult] | None:
        """What the members of a team find in a chunk.

        Parameters
        ----------
        place : int
            Which team.
        chunk : Chunk
        sizes : sequence of int or float
            The sizes of its windows, ascending.
        at, group : ndarray
            As in `AbreastEvents`.

        Returns
        -------
        list of TeamResult or None
            None if the device has no memory for it; the first time, this is also a warning.
        """
        number = self._numbers[place]

        def there() -> list[TeamResult]:
            with on(number):
                return self._found(place, chunk, sizes, at, group)

        found = with_memory(there)
        if found is None and not self._warned:
            self._warned = True
            say_no_memory(number, "the sums of a backtest")
        return found

    def _found(
        self, place: int, chunk: Chunk, sizes: Sequence[int | float], at: np.ndarray, group: np.ndarray
    ) -> list[TeamResult]:
        team = self._teams[place]
        if team is None:
            team = self._teams[place] = device_team(*self._edges[place])
        windows = [comparable(chunk.measured, size) for size in sizes]
        keys = windows[0].keys
        lengths = np.array([one.size for one in windows], keys.dtype)
        read = AbreastEvents(chunk.events.symbols, keys, at, group)
        events = device_events(read)
        units = cut_early(chunk.segments, events.keys, windows[-1].size, self._stream)
        found = []
        for part, low, high in parts_of(units, group, max(1, SUMS // team.members)):
            own = events if not low else events._replace(group=copied(group - low))
            bounds = AbreastUnits(part.begin, part.report, part.stop)
            widest, sums = abreast(team, lengths, own, bounds, high - low, self._lane)
            found.append(TeamResult(low, widest, sums))
        return found


def parts_of(units: Segments, group: np.ndarray, most: int) -> list[tuple[Segments, int, int]]:
    """Units in ranges of at most so many groups, or of one unit, with their first and last groups."""
    if not len(group):
        return [(units, 0, 1)]
    # Times ascend in a unit, and so do its groups.
    lows, highs = group[units.report], group[units.stop - 1] + 1
    found, first = [], 0
    while first < len(units):
        least, end = np.minimum.accumulate(lows[first:]), np.maximum.accumulate(highs[first:])
        fitting = max(1, int(np.searchsorted(end - least, most, side="right")))
        part = units.part(first, first + fitting)
        found.append((part, int(least[fitting - 1]), int(end[fitting - 1])))
        first += fitting
    return found
