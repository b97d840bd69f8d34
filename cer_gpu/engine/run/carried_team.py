"""Members of a bunch without a window that go abreast: numbers of runs are carried from chunk to chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.engine.machines.machine import CarryingRunner, runner_of
from cer_gpu.engine.machines.masked_sums import carried_sums
from cer_gpu.engine.read.keys import Keys
from cer_gpu.engine.read.lanes import grown
from cer_gpu.engine.read.shared_lanes import SharedLanes
from cer_gpu.engine.run.team import Team
from cer_gpu.engine.run.team_run import GroupedEvents, TeamsRun, counted, units_of
from cer_gpu.engine.run.totals import Sums, Totals
from cer_gpu.engine.workers import Workers
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.teams.contract import AbreastEvents, no_sums
from cer_gpu.plan.automaton_masks import MaskedTeam

if TYPE_CHECKING:
    from cer_gpu.engine.cuda.machines.teams import DeviceTeams


@dataclass(frozen=True, slots=True)
class _TeamUnitResult:
    """What a team found in a unit.

    Attributes
    ----------
    lane : ndarray, shape (lanes,), int64
    before : ndarray, shape (lanes, n, members), int64
        What was carried of them before.
    wrong : ndarray, shape (members,), bool
        The members of which nothing is known.
    sums : Sums
    """

    lane: np.ndarray
    before: np.ndarray
    wrong: np.ndarray
    sums: Sums


class CarriedRun(TeamsRun):
    """Runs teams of members over chunks of new events; a member whose numbers grow too large goes alone.

    Parameters
    ----------
    teams : sequence of Team
        That are `carried`.
    lanes, workers, totals
        As for `TeamsRun`.
    devices : tuple of int, optional
        The numbers of the CUDA devices that follow the members; the CPU reads the events.
    """

    def __init__(
        self,
        teams: Sequence[Team],
        lanes: SharedLanes,
        workers: Workers,
        totals: Totals,
        devices: tuple[int, ...] = (),
    ) -> None:
        super().__init__(teams, lanes, workers, totals, teams[0].members[0].query, carries=True)
        self._there: DeviceTeams | None = None
        if devices:
            from cer_gpu.engine.cuda.machines.teams import DeviceTeams

            self._there = DeviceTeams(devices, [cast("MaskedTeam", one.edges) for one in teams])
        self._carried = [np.zeros((0, one.nodes, len(one.members)), np.int64) for one in teams]
        self._alone: list[dict[int, CarryingRunner]] = [{} for _ in teams]
        """For each team, the members that run alone, by their places."""

    def state(self) -> dict[str, Any]:
        """All that is kept for later events, once `rest` has been called."""
        alone = [[[place, one.carried()] for place, one in own.items()] for own in self._alone]
        return {"carried": self._carried, "alone": alone}

    def restore(self, state: dict[str, Any], lane_keys: Keys | None) -> None:
        """Go on with what `state` returned."""
        self._carried = [one.copy() for one in state["carried"]]
        for team, own, kept in zip(self._teams, self._alone, state["alone"], strict=True):
            for place, carried in kept:
                own[place] = self._runner(team, place)
                own[place].carry_on(carried)

    def _runner(self, team: Team, place: int) -> CarryingRunner:
        query = team.members[place].query
        return cast("CarryingRunner", runner_of(query, self._workers, True, grouped=True))

    def _run(self, chunk: Chunk, grouped: GroupedEvents) -> None:
        count = max(self._lanes.lane_count, chunk.lanes.count)
        self._carried = [grown(one, count) for one in self._carried]
        there = [self._found_there(number, chunk, grouped) for number in range(len(self._teams))]
        units = units_of(chunk.segments, grouped, self._workers.threads)
        work = [(number, unit) for unit in units for number, one in enumerate(there) if one is None]
        found = self._workers.map(
            "counting", lambda one: self._sums(chunk, grouped, *one), work, chunk.segments.events
        )
        for number, team in enumerate(self._teams):
            own = [one for (which, _), one in zip(work, found) if which == number]
            on_device = there[number]
            self._settle(number, team, chunk, own if on_device is None else [on_device])

    def _found_there(self, number: int, chunk: Chunk, grouped: GroupedEvents) -> _TeamUnitResult | None:
        """What the members of a team find in a chunk on a device; None if there is none with memory."""
        if self._there is None:
            return None
        team, carried, lane = self._teams[number], self._carried[number], chunk.segments.lane
        before = carried[lane]
        there = self._there.carried(number, chunk, grouped.at, grouped.group, before)
        if there is None:
            return None
        carried[lane] = there.carried
        wrong = np.logical_or.reduce([one.wrong for one in there.found])
        wrong[list(self._alone[number])] = True
        sums = [grouped.sums_of(one.sums, team.numbers, one.low, ~wrong) for one in there.found]
        return _TeamUnitResult(lane, before, wrong, Sums(*map(np.concatenate, zip(*sums, strict=True))))

    def _sums(self, chunk: Chunk, grouped: GroupedEvents, number: int, segments: Segments) -> _TeamUnitResult:
        """What the members of a team find in some segments."""
        team, carried = self._teams[number], self._carried[number]
        masked = team.edges
        assert isinstance(masked, MaskedTeam)
        before = carried[segments.lane]
        lows, highs = grouped.spans(segments)
        low, high = int(lows.min()), int(highs.max())
        none = np.empty(0, np.uint64)
        group = grouped.group - low if low else grouped.group
        events = AbreastEvents(chunk.events.symbols, none, grouped.at, group)
        sums = no_sums(high - low, len(team.members), grouped.at.dtype)
        wrong = carried_sums(masked, events, segments.begin, segments.stop, segments.lane, carried, sums)
        wrong[list(self._alone[number])] = True
        return _TeamUnitResult(segments.lane, before, wrong, grouped.sums_of(sums, team.numbers, low, ~wrong))

    def _settle(self, number: int, team: Team, chunk: Chunk, found: Sequence[_TeamUnitResult]) -> None:
        """Add up what a team found in a chunk, and have the members go alone of which nothing is known."""
        alone = self._alone[number]
        wrong = np.logical_or.reduce([one.wrong for one in found])
        for place in np.flatnonzero(wrong).tolist():
            if place not in alone:
                alone[place] = self._begun(number, team, place, found)
            member = team.members[place]
            events = replace(chunk.events, symbols=member.cells[chunk.events.symbols])
            ends = alone[place].counts(replace(chunk, events=events))
            self._totals.add(member.number, counted(events, *ends))
        numbers = team.numbers[wrong]
        for one in found:
            right = ~np.isin(one.sums.query, numbers)
            self._totals.take(Sums(*(column[right] for column in one.sums)))

    def _begun(self, number: int, team: Team, place: int, found: Sequence[_TeamUnitResult]) -> CarryingRunner:
        """What follows a member by itself, from what was carried before a chunk."""
        runner = self._runner(team, place)
        vectors = self._carried[number][:, :, place].copy()
        for one in found:
            vectors[one.lane] = one.before[:, :, place]
        runner.carry_on([np.full(vectors.shape, -1, np.int64), vectors])
        return runner
