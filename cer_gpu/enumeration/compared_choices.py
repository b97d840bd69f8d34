"""The complex events of compared steps that a strategy leaves, for the hits of some segments."""

from __future__ import annotations

import numpy as np

from cer_gpu.enumeration.comparisons import ComparedUnit
from cer_gpu.enumeration.products import FEW
from cer_gpu.enumeration.rows import FoundRows, found_rows
from cer_gpu.kernels.arena.contract import AnswerRows
from cer_gpu.kernels.comparisons import cpu_climb_counts, cpu_climbs, cpu_selection, cpu_trace
from cer_gpu.kernels.comparisons.contract import LARGEST, Climb
from cer_gpu.kernels.forest.contract import CountedHits
from cer_gpu.kernels.runs.contract import SegmentHits
from cer_gpu.plan.comparisons import ComparedChoice


class ChosenPositions:
    """The one complex event that NEXT or LAST leaves at each hit; a `ListedUnit`.

    Parameters
    ----------
    unit : ComparedUnit
    ends : SegmentHits
        The hits of its segments.
    choice : ComparedChoice
    """

    def __init__(self, unit: ComparedUnit, ends: SegmentHits, choice: ComparedChoice) -> None:
        one = np.ones(len(ends.event), np.int64)
        self.hits = CountedHits(ends.first, ends.event, ends.lowest, one)
        parts = unit.tables, unit.events, unit.segments, unit.arranged
        self._first, self._event, self._label = cpu_selection.chosen(
            *parts, cpu_trace.trace(*parts), ends, choice.strategy == "NEXT"
        )
        self._start = self._event[self._first[:-1]]
        kept = choice.shown[self._label]
        if not kept.all():
            before = np.append(0, np.cumsum(kept))
            self._first = before[self._first]
            self._event, self._label = self._event[kept], self._label[kept]
        self.rows: FoundRows | None = self.found(np.empty((0, 0), np.uint8), np.arange(len(one)), len(one))

    def found(self, label_atoms: np.ndarray, hits: np.ndarray, room: int) -> FoundRows | None:
        """The complex events of all hits, which have been found already; as `ListedUnit.found`."""
        number = len(self.hits.event)
        rows = AnswerRows(self._first, self._event, self._label, self._start)
        return FoundRows(rows, np.arange(number, dtype=np.int32), np.arange(number + 1))

    def exact_counts(self) -> np.ndarray:
        """One complex event for each hit."""
        return self.hits.counts


class MaximalChains:
    """The maximal chains that end at each hit; a `ListedUnit`.

    Parameters
    ----------
    unit : ComparedUnit
    ends : SegmentHits
        The hits of its segments.
    climb : Climb
    listed : bool
        Whether the chains are to be listed: few are then found at once; many are counted first.
    """

    def __init__(self, unit: ComparedUnit, ends: SegmentHits, climb: Climb, listed: bool) -> None:
        parts = unit.tables, unit.events, unit.segments, unit.arranged
        segment = np.repeat(np.arange(len(unit.segments.begin)), np.diff(ends.first))
        order = int(unit.tables.view_order[climb.shows])
        self._parts = *parts, cpu_trace.trace(*parts, order), climb
        self._ends = cpu_climbs.ClimbedHits(segment, ends.event, ends.lowest)
        every = np.arange(len(segment))
        self.rows = self.found(np.empty((0, 0), np.uint8), every, FEW * len(every)) if listed else None
        if self.rows is None:
            self._exact = cpu_climb_counts.climbs_counted(*self._parts, self._ends)
        else:
            self._exact = np.diff(self.rows.begin)
        counts = np.minimum(self._exact, LARGEST).astype(np.int64)
        self.hits = CountedHits(ends.first, ends.event, ends.lowest, counts)

    def found(self, label_atoms: np.ndarray, hits: np.ndarray, room: int) -> FoundRows | None:
        """The maximal chains of some hits; as `ListedUnit.found`."""
        some = cpu_climbs.ClimbedHits(*(column[hits] for column in self._ends))
        steps, every = cpu_climbs.ClimbedSteps(*self._parts, some), np.arange(len(hits))
        return found_rows(cpu_climbs.fill, steps, every, some.lowest, room, _path_room)

    def exact_counts(self) -> np.ndarray:
        """How many chains each hit has, as Python integers if some numbers do not fit."""
        return self._exact


def _path_room(depth: int) -> np.ndarray:
    return np.empty((depth, cpu_climbs.COLUMNS), np.int64)
