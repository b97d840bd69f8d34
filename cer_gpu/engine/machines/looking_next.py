"""An outlook that looks ahead for a single event, of which the next one in the lane decides each bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cer_gpu.engine.machines.looking import Listening
from cer_gpu.engine.read.events import Relevant, joined
from cer_gpu.engine.read.lanes import grown
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.outlook.cpu_next import UNKNOWN, NextLanes, look_next
from cer_gpu.plan.outlook import Outlook

NOT_KNOWN = np.empty(0, np.uint64)
"""What no event to come is before, where that is not known."""


class LookingNext(Listening):
    """An outlook that is decided `by_next`, over events of integer times, given in the order of the stream.

    The events behind the first one that is not decided are held back. Those that come are looked at once they
    are as many: so events are looked at again a few times at most.

    Parameters
    ----------
    outlook : Outlook
    laned : bool
        Whether the query has partitions.
    workers : Workers
    """

    def __init__(self, outlook: Outlook, laned: bool, workers: Workers) -> None:
        super().__init__(outlook, laned, workers)
        self._held: list[Relevant] = []
        self._looked = 0
        """So many of the events that are held back have been looked at."""
        self._turn = 0
        self._nearest = NextLanes(np.zeros(0, np.uint64), np.zeros(0, np.int64))

    @property
    def waits(self) -> int:
        """How many events are held back."""
        return sum(map(len, self._held))

    def decided(self, events: Relevant, lane_count: int, now: int | None) -> list[Relevant]:
        """Read further events; those that are known by now, with the symbols that they become.

        Parameters
        ----------
        events : Relevant
        lane_count : int
        now : int or None
            What no event to come is before; None: that is not known.
        """
        self._held.append(events)
        if self.waits < 2 * self._looked:
            return []
        return self._decide(lane_count, now, False)

    def rest(self, lane_count: int) -> list[Relevant]:
        """The events that are held back, now that nothing comes after them."""
        return self._decide(lane_count, None, True)

    def _decide(self, lane_count: int, now: int | None, over: bool) -> list[Relevant]:
        count = max(lane_count, 1)
        self._nearest = NextLanes(*(grown(one, count) for one in self._nearest))
        self._turn += 1
        mark = NOT_KNOWN if now is None else self.mark(np.array([now]))
        held = [events for events in self._held if len(events)]
        bits = [np.empty(len(events), np.uint8) for events in held]
        edge = len(held), 0  # the first event that is not decided
        for number in reversed(range(len(held))):
            read = self.read(held[number], lane_count)
            first = look_next(read, self.high, mark, self._turn, self._nearest, bits[number])
            if first < len(held[number]):
                edge = number, int(first)
        given, self._held = [], []
        for number, (events, own) in enumerate(zip(held, bits, strict=True)):
            stop = len(events) if over or number < edge[0] else edge[1] if number == edge[0] else 0
            if stop:
                own = np.where(own[:stop] == UNKNOWN, np.uint8(0), own[:stop]) if over else own[:stop]
                known = self.known(events if stop == len(events) else events.first(stop), own)
                given += [] if known is None else [known]
            if stop < len(events):
                self._held.append(events.slice(stop) if stop else events)
        self._held = [joined(self._held)] if self._held else []
        self._looked = self.waits
        # As one: once a part is run, lanes may be renumbered, which the other parts would not know.
        return [joined(given)] if len(given) > 1 else given

    # ------------------------------------------------------------------------------------------ lanes

    def waiting(self) -> Relevant:
        """The events that are held back, of which there is one at least."""
        self._held = [joined(self._held)]
        return self._held[0]

    def held(self) -> np.ndarray:
        """The lanes of events that are held back, shape (k,), int64."""
        return self.busy()

    def busy(self) -> np.ndarray:
        """The same: they have to stay in memory."""
        if not self.laned or not self.waits:
            return np.empty(0, np.int64)
        return np.unique(self.waiting().lanes).astype(np.int64)

    def keep(self, used: np.ndarray, numbers: np.ndarray, count: int) -> None:
        """Forget all lanes but those in `used`, which have the given numbers from now on."""
        if not self.laned or not self.waits:
            return
        events = self.waiting()
        number = np.full(int(used.max(initial=-1)) + 1, -1, np.int32)
        number[used] = numbers
        self._held = [replace(events, lanes=number[events.lanes])]

    def rows(self, lanes: np.ndarray) -> dict[str, np.ndarray]:
        """Nothing is kept of lanes without events that are held back."""
        return {}

    def put(self, lanes: np.ndarray, rows: dict[str, np.ndarray], count: int) -> None:
        """Nothing was kept."""

    @property
    def nbytes(self) -> int:
        """The bytes that are kept."""
        return sum(events.nbytes for events in self._held) + sum(one.nbytes for one in self._nearest)
