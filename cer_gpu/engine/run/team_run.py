"""The run of teams over chunks of the events that their members read, and the sums of what they find."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.engine.machines.machine import runner_of
from cer_gpu.engine.machines.masked_sums import masked_sums
from cer_gpu.engine.machines.numbers import sums_may_pass
from cer_gpu.engine.read.events import EventArrays, relevant_of, state_of
from cer_gpu.engine.read.keys import Keys
from cer_gpu.engine.read.shared_lanes import SharedLanes
from cer_gpu.engine.run.chunks import Chunker
from cer_gpu.engine.run.team import Team, size_of
from cer_gpu.engine.run.totals import CountedEnds, Sums, Totals
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.teams.contract import AbreastEvents, GroupSums, ListedEdges, Spans, no_sums
from cer_gpu.kernels.teams.cpu import abreast
from cer_gpu.kernels.teams.cpu_edge_lists import listed_abreast
from cer_gpu.kernels.teams.cpu_levels import grid_sums, levels_abreast, no_level_sums
from cer_gpu.kernels.windows.contract import comparable
from cer_gpu.plan.automaton_levels import LevelGrid
from cer_gpu.plan.automaton_masks import MaskedTeam
from cer_gpu.plan.compiled_query import CompiledQuery

if TYPE_CHECKING:
    from cer_gpu.engine.cuda.machines.teams import DeviceTeams
    from cer_gpu.kernels.teams.contract import Edges

GROUPS = 1 << 10
"""The most groups of a unit of work that has more than one segment."""


class TeamsRun(ABC):
    """Runs teams of members over chunks of the events that they read.

    Parameters
    ----------
    teams : sequence of Team
    lanes : SharedLanes
    workers : Workers
    totals : Totals
        Where sums are added.
    query : CompiledQuery
        The member by which the events are cut.
    carries : bool
        Whether numbers of runs are carried from chunk to chunk.
    """

    def __init__(
        self,
        teams: Sequence[Team],
        lanes: SharedLanes,
        workers: Workers,
        totals: Totals,
        query: CompiledQuery,
        carries: bool,
    ) -> None:
        self._teams, self._lanes, self._workers, self._totals = teams, lanes, workers, totals
        runner = runner_of(query, workers, carries, grouped=carries)
        self._chunker = Chunker(query, lanes, runner, workers, carries, None)

    def add(self, part: EventArrays) -> None:
        """Add the next relevant events."""
        self._take(self._chunker.add(part))

    def resume(self, tail: EventArrays) -> None:
        """Continue after events that are not reported, but may be part of what is."""
        self._chunker.resume(tail)

    def rest(self) -> None:
        """Run the events that are left."""
        self._take(self._chunker.rest())

    def _take(self, chunk: Chunk | None) -> None:
        if chunk is not None:
            self._run(chunk, grouped_by(chunk, self._totals))

    @abstractmethod
    def _run(self, chunk: Chunk, grouped: GroupedEvents) -> None:
        """Add what the members find in a chunk to the totals."""


class AbreastRun(TeamsRun):
    """Runs teams of members over chunks that reach back as far as the widest window.

    Parameters
    ----------
    teams, lanes, workers, totals
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
        widest = max((member for team in teams for member in team.members), key=size_of).query
        super().__init__(teams, lanes, workers, totals, widest, carries=False)
        self._there: DeviceTeams | None = None
        if devices:
            from cer_gpu.engine.cuda.machines.teams import DeviceTeams, LadderTeam

            self._there = DeviceTeams(
                devices,
                [
                    one.edges
                    if isinstance(one.edges, MaskedTeam)
                    else LadderTeam(cast("Edges", one.edges), one.begin, one.nodes)
                    for one in teams
                ],
            )

    def state(self) -> dict[str, Any] | None:
        """The events that later ones may need, once `rest` has been called."""
        held = self._chunker.held()
        return None if held is None else state_of(held)

    def restore(self, state: dict[str, Any] | None, lane_keys: Keys | None) -> None:
        """Go on with what `state` returned; `lane_keys` is what lanes stand for."""
        if state is not None:
            self._chunker.resume(relevant_of(state, lane_keys))

    def _run(self, chunk: Chunk, grouped: GroupedEvents) -> None:
        here = [
            team for place, team in enumerate(self._teams) if not self._added_there(place, chunk, grouped)
        ]
        units = units_of(chunk.segments, grouped, self._workers.threads)
        work = [(team, unit) for unit in units for team in here]
        found = self._workers.map(
            "counting", lambda one: self._sums(chunk, grouped, *one), work, chunk.segments.events
        )
        for sums in found:
            for one in sums:
                self._totals.take(one)

    def _added_there(self, place: int, chunk: Chunk, grouped: GroupedEvents) -> bool:
        """Whether there is a device with memory for a team; what it has found has then been added."""
        if self._there is None:
            return False
        team = self._teams[place]
        found = self._there.found(place, chunk, team.sizes, grouped.at, grouped.group)
        if found is None:
            return False
        wrong = np.logical_or.reduce([one.wrong for one in found])
        for one in found:
            self._totals.take(grouped.sums_of(one.sums, team.numbers, one.low, ~wrong))
        if wrong.any():
            self._totals.take(self._one_by_one(chunk, team, wrong, chunk.segments))
        return True

    def _sums(self, chunk: Chunk, grouped: GroupedEvents, team: Team, segments: Segments) -> list[Sums]:
        """What the members of a team find in some segments."""
        events = chunk.events
        windows = [comparable(chunk.measured, size) for size in team.sizes]
        lows, highs = grouped.spans(segments)
        low, high = int(lows.min()), int(highs.max())
        read = AbreastEvents(
            events.symbols, windows[0].keys, grouped.at, grouped.group - low if low else grouped.group
        )
        spans = Spans(team.begin, np.array([one.size for one in windows], windows[0].keys.dtype))
        many = len(team.members)
        place = segments.begin, segments.report, segments.stop
        wrong = np.zeros(many, bool)
        if not isinstance(team.edges, LevelGrid):
            sums = no_sums(high - low, many, grouped.at.dtype)
        if isinstance(team.edges, MaskedTeam):
            # The kernel has looked at each sum.
            widest, wrong = 0, masked_sums(team.edges, spans.size[0], read, *place, sums)
        elif isinstance(team.edges, LevelGrid):
            grid = team.edges
            levels = no_level_sums(high - low, grid.tables.widths, grouped.at.dtype)
            widest = levels_abreast(grid.tables, spans.size, read, *place, levels)
            sums = GroupSums(*(each[:, grid.members] for each in grid_sums(levels, grid.tables.widths)))
        elif isinstance(team.edges, ListedEdges):
            widest = listed_abreast(team.edges, many, spans, team.nodes, read, *place, sums)
        else:
            widest = abreast(team.edges, spans, team.nodes, read, *place, sums)
        wrong |= sums_may_pass(widest, team.nodes, segments.events)
        found = [grouped.sums_of(sums, team.numbers, low, ~wrong)]
        if wrong.any():
            found.append(self._one_by_one(chunk, team, wrong, segments))
        return found

    def _one_by_one(self, chunk: Chunk, team: Team, which: np.ndarray, segments: Segments) -> Sums:
        """The same, each of some members by itself: where a number may be past 64 bits."""
        totals = Totals(self._totals.cut, self._totals.keyed)
        for place in np.flatnonzero(which).tolist():
            member = team.members[place]
            runner = runner_of(member.query, self._workers, False)
            events = replace(chunk.events, symbols=member.cells[chunk.events.symbols])
            own = replace(chunk, events=events, segments=segments)
            totals.add(member.number, counted(events, *runner.counts(own)))
        return totals.groups()


def counted(events: EventArrays, event: np.ndarray, number: np.ndarray) -> CountedEnds:
    """Ends among the events of a chunk, with their positions, times and partitions."""
    moments, lanes = events.moments, events.lanes
    return CountedEnds(
        events.positions[event],
        moments[event] if len(moments) else moments,
        lanes[event] if len(lanes) else lanes,
        number,
    )


class GroupedEvents(NamedTuple):
    """Which group of sums each event of a chunk adds to.

    Attributes
    ----------
    at : ndarray, shape (events,), int64 or float64
        The time, or the position.
    group : ndarray, shape (events,) or (0,), int64
        Empty where there is one group.
    bucket, lane : ndarray, shape (groups,)
    """

    at: np.ndarray
    group: np.ndarray
    bucket: np.ndarray
    lane: np.ndarray

    def spans(self, segments: Segments) -> tuple[np.ndarray, np.ndarray]:
        """Between which groups the ends of each segment are: first .. last - 1, both of shape (segments,)."""
        if not len(self.group):
            return np.zeros(len(segments.begin), np.int64), np.ones(len(segments.begin), np.int64)
        # Times ascend in a segment, and so do its groups.
        return self.group[segments.report], self.group[segments.stop - 1] + 1

    def sums_of(self, found: GroupSums, numbers: np.ndarray, low: int, which: np.ndarray) -> Sums:
        """What some members found in the groups from `low` on, with their numbers."""
        group, member = np.nonzero(found.hits * which)
        hits, matches, first, last = (column[group, member] for column in found)
        group += low
        return Sums(numbers[member], self.bucket[group], self.lane[group], hits, matches, first, last)


def grouped_by(chunk: Chunk, totals: Totals) -> GroupedEvents:
    """The groups of the events of a chunk."""
    events = chunk.events
    at = events.moments if len(events.moments) else events.positions
    zero = np.zeros(1, np.int64)
    if totals.cut is None and not totals.keyed:
        return GroupedEvents(at, zero[:0], zero, zero)
    none = np.zeros(len(at), np.int64)
    bucket = none if totals.cut is None else totals.cut.of(events.moments)
    lane = events.lanes.astype(np.int64) if totals.keyed else none
    begin = np.append(0, np.flatnonzero((bucket[1:] != bucket[:-1]) | (lane[1:] != lane[:-1])) + 1)
    heads = np.stack([bucket[begin], lane[begin]])
    order = np.lexsort(heads)  # by lane, as the events are
    heads = heads[:, order]
    fresh = np.append(True, (heads[:, 1:] != heads[:, :-1]).any(axis=0))
    number = np.empty(len(begin), np.int64)
    number[order] = np.cumsum(fresh) - 1
    group = np.repeat(number, np.diff(np.append(begin, len(at))))
    return GroupedEvents(at, group, bucket[begin][order][fresh], lane[begin][order][fresh])


def units_of(segments: Segments, grouped: GroupedEvents, threads: int) -> list[Segments]:
    """Segments in units of work, which do not have many groups each."""
    units, found = segments.units(threads), []
    if len(grouped.bucket) <= GROUPS:
        return units
    for unit in units:
        low, high = grouped.spans(unit)
        groups, first = np.cumsum(high - low), 0
        while first < len(unit.begin):
            before = groups[first - 1] if first else 0
            last = max(int(np.searchsorted(groups, before + GROUPS, side="right")), first + 1)
            found.append(unit.part(first, last))
            first = last
    return found
