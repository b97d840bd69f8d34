"""Queries that run abreast on CUDA devices: a thread follows one query over one unit of the events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from cer_gpu.engine.cuda.machines.one_device import cut_early
from cer_gpu.engine.devices import say_by_cpu, tried_on
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.engine.machines.numbers import sums_may_pass
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry
from cer_gpu.kernels.device.words import copied
from cer_gpu.kernels.teams.contract import AbreastEvents, Edges, GroupSums
from cer_gpu.kernels.teams.cpu_masks import beginnings
from cer_gpu.kernels.teams.cuda import AbreastUnits, DeviceTeam, abreast, device_events, device_team
from cer_gpu.kernels.teams.cuda_masks import (
    DeviceMaskedTeam,
    abreast_carried,
    abreast_masked,
    device_masked,
    has_room,
)
from cer_gpu.kernels.windows.contract import comparable
from cer_gpu.plan.automaton_masks import MaskedTeam

SUMS = 1 << 24
"""The most sums of members and groups of a launch: half a gigabyte."""

Result = TypeVar("Result")


class LadderTeam(NamedTuple):
    """Members that are sequences.

    Attributes
    ----------
    edges : Edges
    begin : ndarray
        Where the members of each window begin.
    nodes : int
    """

    edges: Edges
    begin: np.ndarray
    nodes: int


Members: TypeAlias = LadderTeam | MaskedTeam
"""The members of a team; those of a `MaskedTeam` may do anything, and have one window, or none."""


class TeamResult(NamedTuple):
    """What the members of a team find in some units.

    Attributes
    ----------
    low : int
        The group of the first row of `sums`.
    wrong : ndarray, shape (members,), bool
        The members of which nothing is known.
    sums : GroupSums
    """

    low: int
    wrong: np.ndarray
    sums: GroupSums


class CarriedTeamResult(NamedTuple):
    """What the members of a team without a window find in some lanes.

    Attributes
    ----------
    found : list of TeamResult
    carried : ndarray, shape (lanes, n, members), int64
        The runs in each node after the events.
    """

    found: list[TeamResult]
    carried: np.ndarray


class DeviceTeams:
    """Runs teams of members on devices, each team on one of them.

    Parameters
    ----------
    devices : sequence of int
        The numbers of the devices, at least one.
    teams : sequence of LadderTeam or MaskedTeam
    lane, stream : Geometry
        How kernels are launched with one thread for each member and unit, or for each row.
    """

    def __init__(
        self,
        devices: Sequence[int],
        teams: Sequence[Members],
        lane: Geometry = LANE,
        stream: Geometry = STREAM,
    ) -> None:
        self._lane, self._stream = lane, stream
        self._numbers = [devices[place % len(devices)] for place in range(len(teams))]
        self._given = list(teams)
        self._teams: list[DeviceTeam | DeviceMaskedTeam | None] = [None] * len(teams)
        self._warned = False

    def found(
        self, place: int, chunk: Chunk, sizes: Sequence[int | float], at: np.ndarray, group: np.ndarray
    ) -> list[TeamResult] | None:
        """What the members of a team with windows find in a chunk.

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
            None if the device has no memory for it, or was lost; the first time, this is also a warning.
        """
        return self._there(place, lambda: self._found(place, chunk, sizes, at, group))

    def carried(
        self, place: int, chunk: Chunk, at: np.ndarray, group: np.ndarray, carried: np.ndarray
    ) -> CarriedTeamResult | None:
        """What the members of a team without a window find in a chunk.

        Parameters
        ----------
        place, chunk, at, group
            As for `found`; the team is a `MaskedTeam`.
        carried : ndarray, shape (segments, n, members), int64
            The runs in each node before the events of each segment.

        Returns
        -------
        CarriedTeamResult or None
            None if the device has no memory for it; the first time, this is also a warning.
        """

        def there() -> CarriedTeamResult:
            team, found, after, first = self._team(place), [], [carried[:0]], 0
            keys = np.empty(0, np.uint64)
            events = device_events(AbreastEvents(chunk.events.symbols, keys, at, group))
            for part, low, high in parts_of(chunk.segments, group, max(1, SUMS // team.members)):
                own = events if not low else events._replace(group=copied(group - low))
                before = carried[first : first + len(part.begin)]
                first += len(part.begin)
                bounds = part.begin, part.stop
                wrong, runs, sums = abreast_carried(team, own, *bounds, before, high - low, self._lane)
                found.append(TeamResult(low, wrong, sums))
                after.append(runs)
            return CarriedTeamResult(found, np.concatenate(after))

        return self._there(place, there)

    def _there(self, place: int, action: Callable[[], Result]) -> Result | None:
        number = self._numbers[place]
        found = tried_on(number, action)
        if found is None and not self._warned:
            self._warned = True
            say_by_cpu(number, "the sums of a backtest")
        return found

    def _team(self, place: int) -> Any:
        """A team on the current device."""
        team = self._teams[place]
        if team is None:
            own = self._given[place]
            if isinstance(own, MaskedTeam):
                team = device_masked(own.forward, own.backward, own.ends, own.nodes, own.registers)
            else:
                team = device_team(*own)
            self._teams[place] = team
        return team

    def _found(
        self, place: int, chunk: Chunk, sizes: Sequence[int | float], at: np.ndarray, group: np.ndarray
    ) -> list[TeamResult] | None:
        given, team, segments = self._given[place], self._team(place), chunk.segments
        windows = [comparable(chunk.measured, size) for size in sizes]
        keys = windows[0].keys
        lengths = np.array([one.size for one in windows], keys.dtype)
        most = 0
        if isinstance(given, MaskedTeam):
            bounds = segments.begin, segments.stop
            most = int(beginnings(given.ends.begins, chunk.events.symbols, keys, lengths[0], *bounds)) + 1
            if not has_room(team, most):
                return None
        events = device_events(AbreastEvents(chunk.events.symbols, keys, at, group))
        units = cut_early(segments, events.keys, windows[-1].size, self._stream)
        found = []
        for part, low, high in parts_of(units, group, max(1, SUMS // team.members)):
            own = events if not low else events._replace(group=copied(group - low))
            cut = AbreastUnits(part.begin, part.report, part.stop)
            if isinstance(given, MaskedTeam):
                told = abreast_masked(team, lengths, own, cut, most, high - low, self._lane)
            else:
                widest, sums = abreast(team, lengths, own, cut, high - low, self._lane)
                past = [sums_may_pass(one, team.nodes, segments.events) for one in widest.tolist()]
                told = np.array(past), sums
            found.append(TeamResult(low, *told))
        return found


def parts_of(units: Segments, group: np.ndarray, most: int) -> list[tuple[Segments, int, int]]:
    """Units in ranges of at most so many groups, or of one unit, with their first and last groups."""
    if not len(group):
        return [(units, 0, 1)]
    # Times ascend in a unit, and so do its groups.
    lows, highs = group[units.report], group[units.stop - 1] + 1
    found, first = [], 0
    while first < len(units.begin):
        least, end = np.minimum.accumulate(lows[first:]), np.maximum.accumulate(highs[first:])
        fitting = max(1, int(np.searchsorted(end - least, most, side="right")))
        part = units.part(first, first + fitting)
        found.append((part, int(least[fitting - 1]), int(end[fitting - 1])))
        first += fitting
    return found
