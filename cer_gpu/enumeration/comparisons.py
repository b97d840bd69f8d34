"""The structure of compared steps on the host: built for the hits of a chunk, counted and enumerated."""

from __future__ import annotations

from typing import Any

import numpy as np

from cer_gpu.enumeration.products import FEW
from cer_gpu.enumeration.rows import FoundRows, found_rows
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.comparisons import cpu_counts, cpu_nodes, cpu_walk
from cer_gpu.kernels.comparisons.contract import (
    LARGEST,
    ArrangedEntries,
    ComparedNodes,
    ComparedSegments,
    ComparedTables,
    PairedEvents,
)
from cer_gpu.kernels.forest.contract import CountedHits
from cer_gpu.kernels.runs.contract import SegmentHits


@dataclass(frozen=True, slots=True)
class ComparedUnit:
    """Neighbouring segments of a chunk that one thread runs, with their events numbered from 0 on.

    Attributes
    ----------
    tables : ComparedTables
    segments : ComparedSegments
    events : PairedEvents
    arranged : Arranged
    measured : ndarray, shape (n,) or (0,), int64 or float64
        What the window measures; empty without a window.
    size : int or float
        The size of the window.
    low : int
        The number of the first event in the chunk.
    """

    tables: ComparedTables
    segments: ComparedSegments
    events: PairedEvents
    arranged: ArrangedEntries
    measured: np.ndarray
    size: int | float
    low: int

    @property
    def given(self) -> tuple[Any, ...]:
        """What kernels of hits and counts are given."""
        return self.tables, self.events, self.measured, self.size, self.segments, self.arranged


class ComparedStructure:
    """The entries of some segments of a chunk, and the complex events of their hits; a `ListedUnit`.

    Parameters
    ----------
    unit : ComparedUnit
    ends : SegmentHits
        The hits of its segments.
    listed : bool
        Whether the complex events are to be listed: few are then found at once; many are counted first.

    Attributes
    ----------
    hits : CountedHits
        `counts` is at most `LARGEST`.
    rows : FoundRows or None
        All complex events of all hits, if they are few.
    """

    def __init__(self, unit: ComparedUnit, ends: SegmentHits, listed: bool = True) -> None:
        first, event, lowest = ends
        self.hits = CountedHits(first, event, lowest, lowest)
        self.rows: FoundRows | None = None
        self._nodes: ComparedNodes | None = None
        if listed:
            self._nodes = cpu_nodes.build(
                unit.tables, unit.events, unit.measured, unit.size, unit.segments, unit.arranged, ends
            )
            self.rows = self.found(np.empty((0, 0), np.uint8), np.arange(len(event)), FEW * len(event))
        if self.rows is not None:
            self._exact = np.diff(self.rows.begin)
            self._nodes = None
        else:
            self._exact = cpu_counts.counts(
                unit.tables, unit.events, unit.segments, unit.arranged, first, event, lowest
            )
        self.hits = self.hits._replace(counts=np.minimum(self._exact, LARGEST).astype(np.int64))

    def exact_counts(self) -> np.ndarray:
        """How many complex events each hit has, as Python integers where some do not fit."""
        return self._exact

    def found(self, label_atoms: np.ndarray, hits: np.ndarray, room: int) -> FoundRows | None:
        """The complex events of some hits, in the order in which they are found; as `ListedUnit.found`."""
        assert self._nodes is not None
        return found_rows(cpu_walk.fill, self._nodes, hits, self.hits.lowest, room, path_room)


def path_room(depth: int) -> np.ndarray:
    """Scratch of a walk along paths of so many entries."""
    return np.empty((depth, 3), np.int64)
