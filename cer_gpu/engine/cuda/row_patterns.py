"""Row patterns on a device: `matches_on_device`."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.devices import say_by_cpu, tried_on
from cer_gpu.kernels.device.geometry import LANE, Geometry
from cer_gpu.kernels.row_patterns import cpu, cuda
from cer_gpu.kernels.row_patterns.contract import ChoiceLists, MatchRoom
from cer_gpu.patterns.live_states import LiveStates


def matches_on_device(
    device: int,
    choices: ChoiceLists,
    live: LiveStates,
    symbols: np.ndarray,
    lanes: np.ndarray,
    geometry: Geometry = LANE,
) -> MatchRoom | None:
    """The preferred matches of all partitions, past the last row of each match.

    Parameters
    ----------
    device : int
    choices : ChoiceLists
    live : LiveStates
    symbols : ndarray, shape (rows,), int32
    lanes : ndarray, shape (partitions + 1,), int64
    geometry : Geometry

    Returns
    -------
    MatchRoom or None
        The matches without gaps; None, with a warning, where the device has no memory for them, or was lost.
    """

    def there() -> tuple[MatchRoom, np.ndarray, np.ndarray]:
        states = cuda.row_states(symbols, lanes, live, geometry)
        member = live.members()
        begins = np.empty((2, len(member)), np.int32)
        follows = np.empty((member.shape[1], len(member)), np.int32)
        cpu.choose(choices, member, begins, follows)
        return cuda.row_matches(choices, begins, follows, states, lanes, geometry)

    found = tried_on(device, there)
    if found is None:
        say_by_cpu(device, f"{len(symbols):,} rows")
        return None
    room, number, taken = found
    matches, slots = (first_of_each(lanes, many) for many in (number, taken))
    return MatchRoom(room.starts[matches], room.lengths[matches], room.slots[slots])


def first_of_each(lanes: np.ndarray, many: np.ndarray) -> np.ndarray:
    """The places of the first so many entries of each partition."""
    ends = np.cumsum(many)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(lanes[:-1] - (ends - many), many)
