"""The configurations of many lanes, dealt to the threads of the process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from weakref import ref

import numpy as np

from cer_gpu.engine.machines.configuration_arrays import ReachedEnds, in_one, pushed_of
from cer_gpu.engine.machines.configurations import ConfigurationRuns
from cer_gpu.engine.machines.open_runs import FollowedEvents, PushResult, Renumbering
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.lanes import HeldLanes, grown
from cer_gpu.engine.workers import FEW, Workers
from cer_gpu.kernels.streams.contract import LaneBounds, StreamEvents
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.plan.general import GeneralMachine

LEAST = 1 << 13
"""From this many events of a push on, lanes are dealt to several threads."""


class DealtConfigurations(HeldLanes):
    """The configurations of a query: `OpenRuns` and `LaneState`; each thread follows lanes of its own.

    A lane stays where it is as long as something is open in it. In a push with many events all other lanes
    are dealt out, those with most events first. What a thread learns of shapes it knows for itself. The
    budget of configurations is that of all threads together; as none waits for another, they may be at
    different events of a push when they ask how many the others have.

    Parameters
    ----------
    query : CompiledQuery
        One whose lanes are independent: a report consumes nothing, or what is open in its own lane.
    workers : Workers
    """

    def __init__(self, query: CompiledQuery, workers: Workers) -> None:
        assert isinstance(query.machine, GeneralMachine)
        self._query, self._machine = query, query.machine
        self._workers = workers
        self._shares: list[ConfigurationRuns] = []
        # What a share asks for others with: no circle, which would keep their memory for a while.
        self._known: list[ref[ConfigurationRuns]] = []
        self._owner = np.zeros(0, np.int64)
        """The share of each lane."""
        self._have(1)

    def _have(self, count: int) -> None:
        """Have at least so many shares."""
        while len(self._shares) < count:
            one = ConfigurationRuns(self._query)
            one.others = partial(_besides, self._known, len(self._shares))
            self._shares.append(one)
            self._known.append(ref(one))

    def push(self, following: FollowedEvents) -> Callable[[EventArrays], PushResult] | None:
        """Follow the configurations over further events; as `OpenRuns.push`."""
        lanes = following.events.lanes[following.first : following.stop]
        if len(lanes):
            self._deal(lanes, len(following.bounds.low))
        if len(self._shares) == 1:
            return self._shares[0].push(following)
        owner = self._owner[lanes]
        parts = [(share, np.flatnonzero(owner == number)) for number, share in enumerate(self._shares)]
        parts = [(share, which) for share, which in parts if len(which)]
        for share in self._shares:
            share.count = following.stop
        if len(lanes) <= FEW:
            found = [_reached(following, part) for part in parts]
        else:
            found = self._workers.map(
                "following partial matches", partial(_reached, following), parts, len(lanes)
            )
        reached = [one for one in found if one is not None]
        return partial(pushed_of, self._machine, in_one(reached)) if reached else None

    def _deal(self, lanes: np.ndarray, count: int) -> None:
        """Deal the lanes of new events out, as far as nothing is open in them."""
        if count > len(self._owner):
            self._owner = grown(self._owner, count, 0)
        threads = self._workers.threads
        if threads < 2 or len(lanes) < LEAST:
            return
        events = np.bincount(lanes, minlength=len(self._owner))
        free = events > 0
        free[self.held()] = False
        dealt = np.flatnonzero(free)
        if len(dealt) < 2:
            return
        most_first = dealt[np.argsort(-events[dealt], kind="stable")]
        turn = np.arange(len(dealt)) % (2 * threads)
        self._owner[most_first] = np.minimum(turn, 2 * threads - 1 - turn)  # there and back again
        self._have(int(self._owner.max()) + 1)

    # -------------------------------------------------------------------------- of the stream's state

    def bound(self, events: StreamEvents, bounds: LaneBounds) -> None:
        """As `OpenRuns.bound`."""
        found = []
        for share in self._shares:
            share.bound(events, bounds)
            found.append(bounds.least.copy())
        bounds.least[:] = np.min(found, axis=0)

    def drop(self, dropped: Renumbering) -> None:
        """As `OpenRuns.drop`."""
        for share in self._shares:
            share.drop(dropped)

    @property
    def nbytes(self) -> int:
        """Bytes that the configurations take."""
        return sum(share.nbytes for share in self._shares)

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that are stored with a stream, by name: those of each share behind its number."""
        if len(self._shares) == 1:
            return self._shares[0].arrays()
        found = {
            f"{number}/{name}": array
            for number, share in enumerate(self._shares)
            for name, array in share.arrays().items()
        }
        return found | {"owner": self._owner}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what `arrays` returned, also if that had other threads."""
        if "owner" not in arrays:
            self._shares[0].restore(arrays)
            return
        self._owner = arrays["owner"].copy()
        self._have(int(self._owner.max(initial=0)) + 1)
        for number, share in enumerate(self._shares):
            own = {name: array for name, array in arrays.items() if name.startswith(f"{number}/")}
            share.restore({name.partition("/")[2]: array for name, array in own.items()})

    # --------------------------------------------------------------------------------------- of lanes

    def held(self) -> np.ndarray:
        """The lanes in which something is open, ascending."""
        return np.unique(np.concatenate([share.held() for share in self._shares]))

    def keep(self, used: np.ndarray, numbers: np.ndarray, count: int) -> None:
        """Forget all lanes but those in `used`; these have the given numbers from now on."""
        for share in self._shares:
            share.keep(used, numbers, count)
        known = used < len(self._owner)
        owner = np.zeros(count, np.int64)
        owner[numbers[known]] = self._owner[used[known]]
        self._owner = owner


def _besides(shares: list[ref[ConfigurationRuns]], number: int) -> int:
    """How many configurations all shares but one have."""
    found = [share() for place, share in enumerate(shares) if place != number]
    return sum(other.open_count for other in found if other is not None)


def _reached(following: FollowedEvents, part: tuple[ConfigurationRuns, np.ndarray]) -> ReachedEnds | None:
    """What ends at the events of a share."""
    share, which = part
    return share.reached(following.some(which))
