"""The events at which complex events of a push may begin, among all that a stream keeps."""

from __future__ import annotations

from typing import Any

import numpy as np

from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.strategies import HitSpans
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.attribute_windows.cpu_order import unsigned
from cer_gpu.kernels.sorting.order import ascending


@dataclass(frozen=True, slots=True)
class OpenEnds:
    """Some ends of a push to a stream.

    Attributes
    ----------
    seen : EventArrays
        All events so far, in the order of the stream.
    ends : Ends
    size : number or None
        The size of a window over an attribute that may fall, so that an end does not admit all starts from
        `lowest` on; None for other windows.
    """

    seen: EventArrays
    ends: Ends
    size: Any = None

    def span(self, hit: int) -> np.ndarray:
        """The events of the lane of an end, from its lowest start to itself, shape (m,), int64."""
        low, end, lanes = int(self.ends.lowest[hit]), int(self.ends.event[hit]), self.seen.lanes
        if not len(lanes):
            return np.arange(low, end + 1)
        own: np.ndarray = np.flatnonzero(lanes[low : end + 1] == lanes[end]) + low
        return own

    def admitted(self, starts: np.ndarray, end: np.ndarray) -> np.ndarray:
        """The starts that the window of an end admits, by their keys: a mask, shape (starts,), bool."""
        keys, size = unsigned(self.seen.keys, self.size)
        with np.errstate(invalid="ignore", over="ignore"):  # infinite differences are within no window
            found: np.ndarray = (keys[starts] >= keys[end]) | (keys[end] - keys[starts] <= size)
        return found


class OpenSpans(HitSpans):
    """The spans of ends of a push.

    Parameters
    ----------
    ends : OpenEnds
    n_symbols : int
        As for `HitSpans`.
    """

    def __init__(self, ends: OpenEnds, n_symbols: int) -> None:
        self._ends = ends
        seen, found = ends.seen, ends.ends
        if not len(seen.lanes):
            super().__init__(seen.symbols, n_symbols, found.lowest, found.event - found.lowest + 1)
            return
        # The events of the lanes in which something ends, lane by lane.
        wanted = np.zeros(int(seen.lanes.max(initial=-1)) + 1, bool)
        wanted[seen.lanes[found.event]] = True
        low = int(found.lowest.min(initial=len(seen)))
        events = np.flatnonzero(wanted[seen.lanes[low:]]) + low
        events = events[ascending(seen.lanes[events])]
        lanes = seen.lanes.astype(np.int64) * len(seen)
        places = lanes[events] + events
        begin = np.searchsorted(places, lanes[found.event] + found.lowest)
        stop = np.searchsorted(places, lanes[found.event] + found.event) + 1
        super().__init__(seen.symbols, n_symbols, begin, stop - begin, events)

    @property
    def falls(self) -> bool:
        """Whether what the window measures may fall."""
        return self._ends.size is not None

    def outside(self, event: np.ndarray, hit: np.ndarray) -> np.ndarray:
        """As `HitSpans.outside`, by their keys."""
        return ~self._ends.admitted(event, self._ends.ends.event[hit])
