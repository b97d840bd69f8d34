"""The protocol of objects that hold back events after these have been read, as the reading side sees them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from cer_gpu.engine.read.events import Relevant
from cer_gpu.engine.read.lanes import LaneState


class Holding(Protocol):
    """Holds back events that have been read: they are still to come."""

    def waiting(self) -> list[Relevant]:
        """The events that are held back."""
        ...

    def busy(self) -> list[np.ndarray]:
        """Lanes that have to stay in memory."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes that they take."""
        ...


class KeptLanes:
    """Keeps lanes in memory whose state is not put on disk; a `Holding`.

    Parameters
    ----------
    states : iterable of LaneState
    """

    nbytes = 0

    def __init__(self, states: Iterable[LaneState]) -> None:
        self._states = tuple(states)

    def waiting(self) -> list[Relevant]:
        """Nothing: no events are held back."""
        return []

    def busy(self) -> list[np.ndarray]:
        """The lanes whose state is not that of a new lane."""
        return [state.held() for state in self._states]
