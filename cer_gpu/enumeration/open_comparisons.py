"""The complex events of compared steps that end in a push to a stream."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cer_gpu.enumeration.comparisons import path_room
from cer_gpu.enumeration.products import FEW, ListedUnit
from cer_gpu.enumeration.rows import FoundRows, found_rows
from cer_gpu.kernels.comparisons import cpu_walk
from cer_gpu.kernels.comparisons.contract import LARGEST, Versions
from cer_gpu.kernels.forest.contract import CountedHits

NO_ATOMS = np.zeros((0, 0), np.uint8)
"""The labels of a query that is no rule: they fill no atoms."""


class OpenChains:
    """The complex events at some ends of a push, read from the versions that the push left; a `ListedUnit`.

    Parameters
    ----------
    versions : Versions
        With the roots of the ends.
    event, lowest : ndarray, shape (ends,), int64
        The event of each end, and its least admissible start.
    most : int
        Up to this many complex events in all are listed at once, without being counted first.
    count : callable
        Counts the complex events of each end, in as many steps as there are events.
    """

    def __init__(
        self,
        versions: Versions,
        event: np.ndarray,
        lowest: np.ndarray,
        most: int,
        count: Callable[[], np.ndarray],
    ) -> None:
        first = np.array([0, len(event)], np.int64)
        self._versions = versions
        self.hits = CountedHits(first, event, lowest, lowest)
        self.rows: FoundRows | None = None
        room = FEW * len(event)
        while self.rows is None and room < 4 * max(most, FEW * len(event)):
            self.rows = self.found(NO_ATOMS, np.arange(len(event)), room)
            room *= 4
        self._exact = count() if self.rows is None else np.diff(self.rows.begin)
        self.hits = self.hits._replace(counts=np.minimum(self._exact, LARGEST).astype(np.int64))

    def found(self, label_atoms: np.ndarray, hits: np.ndarray, room: int) -> FoundRows | None:
        """The complex events of some ends, in the order in which they are found; as `Products.found`."""
        return found_rows(cpu_walk.fill_open, self._versions, hits, self.hits.lowest, room, path_room)

    def exact_counts(self) -> np.ndarray:
        """How many complex events each end has, as Python integers where some do not fit."""
        return self._exact


class RenumberedUnit:
    """A unit with other numbers for its events and hits; a `ListedUnit`.

    Parameters
    ----------
    unit : ListedUnit
    own : ndarray, shape (events,), int64
        The number of each event of the unit.
    hit : ndarray, shape (ends,), int64
        The unit's hit of each end.
    """

    def __init__(self, unit: ListedUnit, own: np.ndarray, hit: np.ndarray) -> None:
        self._unit = unit
        self._own = own
        self._hit = hit
        of_unit = unit.hits
        event, lowest, counts = own[of_unit.event[hit]], own[of_unit.lowest[hit]], of_unit.counts[hit]
        self.hits = CountedHits(np.array([0, len(hit)], np.int64), event, lowest, counts)
        self.rows: FoundRows | None = None

    def found(self, label_atoms: np.ndarray, hits: np.ndarray, room: int) -> FoundRows | None:
        """The complex events of some ends; as `Products.found`."""
        wanted, unit = self._hit[hits], self._unit
        # Some units have found all of them already.
        every = unit.found(label_atoms, wanted, room) if unit.rows is None else unit.rows
        if every is None:
            return None
        used = int(every.begin[-1])
        rows = every.rows._replace(
            event=self._own[every.rows.event[: every.rows.first[used]]],
            start=self._own[every.rows.start[:used]],
        )
        found = every._replace(rows=rows)
        return found if unit.rows is None else _part(found, wanted)

    def exact_counts(self) -> np.ndarray:
        """How many complex events each end has, as Python integers where some do not fit."""
        return self._unit.exact_counts()[self._hit]


def _part(found: FoundRows, hits: np.ndarray) -> FoundRows:
    """The rows of some hits."""
    length = np.diff(found.begin)[hits]
    begin = np.append(0, np.cumsum(length))
    which = np.arange(begin[-1]) + np.repeat(found.begin[hits] - begin[:-1], length)
    return FoundRows(found.rows, found.order[which], begin)
