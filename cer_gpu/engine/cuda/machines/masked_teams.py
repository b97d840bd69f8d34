"""Queries of any automaton that run abreast on CUDA devices: as `teams`, for runs that may do anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from cer_gpu.engine.cuda.machines.one_device import cut_early
from cer_gpu.engine.cuda.machines.teams import SUMS, parts_of
from cer_gpu.engine.devices import on, say_no_memory, with_memory
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry
from cer_gpu.kernels.device.words import copied
from cer_gpu.kernels.teams.contract import AbreastEvents, GroupSums
from cer_gpu.kernels.teams.cpu_masks import beginnings
from cer_gpu.kernels.teams.cuda import AbreastUnits, device_events
from cer_gpu.kernels.teams.cuda_masks import (
    DeviceMaskedTeam,
    abreast_carried,
    abreast_masked,
    device_masked,
    has_room,
)
from cer_gpu.kernels.windows.contract import comparable
from cer_gpu.plan.automaton_masks import MaskedTeam

Result = TypeVar("Result")


class MaskedTeamResult(NamedTuple):
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
    found : list of MaskedTeamResult
    carried : ndarray, shape (lanes, n, members), int64
        The runs in each node after the events.
    """

    found: list[MaskedTeamResult]
    carried: np.ndarray


class DeviceMaskedTeams:
    """Runs teams of members on devices, each team on one of them.

    Parameters
    ----------
    devices : sequence of int
        The numbers of the devices, at least one.
    teams : sequence of Masked
    lane, stream : Geometry
        How kernels are launched with one thread for each member and unit, or for each row.
    """

    def __init__(
        self,
        devices: Sequence[int],
        teams: Sequence[MaskedTeam],
        lane: Geometry = LANE,
        stream: Geometry = STREAM,
    ) -> None:
        self._lane, self._stream = lane, stream
        self._numbers = [devices[place % len(devices)] for place in range(len(teams))]
        self._given = list(teams)
        self._teams: list[DeviceMaskedTeam | None] = [None] * len(teams)
        self._warned = False

    def found(
        self, place: int, chunk: Chunk, size: float, at: np.ndarray, group: np.ndarray
    ) -> list[MaskedTeamResult] | None:
        """What the members of a team with a window find in a chunk.

        Parameters
        ----------
        place : int
            Which team.
        chunk : Chunk
        size : int or float
            The size of the window.
        at, group : ndarray
            As in `AbreastEvents`.

        Returns
        -------
        list of MaskedTeamResult or None
            None if the device has no memory for it; the first time, this is also a warning.
        """
        return self._with_memory(place, lambda: self._found(place, chunk, size, at, group))

    def carried(
        self, place: int, chunk: Chunk, at: np.ndarray, group: np.ndarray, carried: np.ndarray
    ) -> CarriedTeamResult | None:
        """What the members of a team without a window find in a chunk.

        Parameters
        ----------
        place, chunk, at, group
            As for `found`.
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
                before = carried[first : first + len(part)]
                first += len(part)
                bounds = part.begin, part.stop
                wrong, runs, sums = abreast_carried(team, own, *bounds, before, high - low, self._lane)
                found.append(MaskedTeamResult(low, wrong, sums))
                after.append(runs)
            return CarriedTeamResult(found, np.concatenate(after))

        return self._with_memory(place, there)

    def _with_memory(self, place: int, action: Callable[[], Result]) -> Result | None:
        number = self._numbers[place]

        def there() -> tuple[Result]:
            with on(number):
                return (action(),)

        found = with_memory(there)
        if found is None and not self._warned:
            self._warned = True
            say_no_memory(number, "the sums of a backtest")
        return None if found is None else found[0]

    def _team(self, place: int) -> DeviceMaskedTeam:
        """A team on the current device."""
        team = self._teams[place]
        if team is None:
            own = self._given[place]
            team = device_masked(own.forward, own.backward, own.ends, own.nodes, own.registers)
            self._teams[place] = team
        return team

    def _found(
        self, place: int, chunk: Chunk, size: float, at: np.ndarray, group: np.ndarray
    ) -> list[MaskedTeamResult] | None:
        team, segments = self._team(place), chunk.segments
        window = comparable(chunk.measured, size)
        begins = self._given[place].ends.begins
        length = np.array([window.size], window.keys.dtype)
        bounds = segments.begin, segments.stop
        most = int(beginnings(begins, chunk.events.symbols, window.keys, length[0], *bounds)) + 1
        if not has_room(team, most):
            return None
        events = device_events(AbreastEvents(chunk.events.symbols, window.keys, at, group))
        units = cut_early(segments, events.keys, window.size, self._stream)
        found = []
        for part, low, high in parts_of(units, group, max(1, SUMS // team.members)):
            own = events if not low else events._replace(group=copied(group - low))
            cut = AbreastUnits(part.begin, part.report, part.stop)
            told = abreast_masked(team, length, own, cut, most, high - low, self._lane)
            found.append(MaskedTeamResult(low, *told))
        return found
