"""The first event that each end admits, where the attribute of the window may fall on a stream."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.machines.keyed_stream import key_numbers
from cer_gpu.engine.machines.open_runs import FollowedEvents
from cer_gpu.engine.read.lanes import grown
from cer_gpu.enumeration.blocks import ranges
from cer_gpu.kernels.streams import cpu_records as records
from cer_gpu.kernels.streams.contract import StreamEnds

ROOM = 1 << 10
"""Room for events at first."""


class FirstStarts:
    """Finds the first event whose key each end admits, where the attribute of the window may fall."""

    def __init__(self) -> None:
        self._known = 0
        self._last = np.empty(0, np.int64)
        self._records = np.empty((0, records.FIELDS), np.int64)

    def of(self, following: FollowedEvents) -> np.ndarray:
        """The first event that an end at each new event admits, shape (new,), int64; one past it for none."""
        first, stop = self._known, following.stop
        self._last = grown(self._last, len(following.bounds.low), -1)
        if len(self._records) < stop:
            room = np.empty((max(2 * stop, ROOM), records.FIELDS), np.int64)
            room[:first] = self._records[:first]
            self._records = room
        numbers = key_numbers(following.events.measured, first, stop, following.size)
        admitted = np.empty(stop - first, np.int64)
        records.first_admitted(
            following.events.lanes, following.keyed, numbers, first, stop, self._last, self._records, admitted
        )
        self._known = stop
        return admitted[following.first - first :]

    @property
    def nbytes(self) -> int:
        """The bytes that it takes."""
        return self._records.nbytes


class RootedEnds:
    """The ends of a push, and the roots of each.

    Parameters
    ----------
    ends : StreamEnds
    first : ndarray, shape (ends + 1,), int64
        End e has the roots first[e] .. first[e + 1] - 1.
    root : ndarray, shape (roots,), int32
    """

    def __init__(self, ends: StreamEnds, first: np.ndarray, root: np.ndarray) -> None:
        self.ends, self._first, self._root = ends, first, root

    def admitted(self, lowest: np.ndarray, latest: np.ndarray) -> RootedEnds:
        """Those that admit a start.

        Parameters
        ----------
        lowest : ndarray, shape (ends,), int64
            The first event that each end admits.
        latest : ndarray, shape (roots,), int64 or int32
            The latest start of each root.
        """
        event, _, last = self.ends
        end = np.repeat(np.arange(len(event)), np.diff(self._first))
        inside = latest >= lowest[end]
        some = np.flatnonzero(last >= lowest)
        count = np.bincount(end[inside], minlength=len(event))[some]
        ends = StreamEnds(event[some], lowest[some], last[some])
        return RootedEnds(ends, np.append(0, np.cumsum(count)), self._root[inside])

    def roots_of(self, event: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The roots of the ends at some events: where those of each end begin, and these."""
        which = np.searchsorted(self.ends.event, event)
        length = np.diff(self._first)[which]
        return np.append(0, np.cumsum(length)), self._root[ranges(self._first[which], length)]
