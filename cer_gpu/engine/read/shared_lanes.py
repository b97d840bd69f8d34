"""The lanes that several queries read together, as one of these queries sees them."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.intake import Intake


class SharedLanes:
    """The lanes of an intake from which several queries read.

    No query forgets a lane, because another one may still have events of it: the methods by which an intake
    gets rid of lanes do nothing here.

    Parameters
    ----------
    intake : Intake
    """

    grouped = False
    away = None
    keeps = True
    nbytes = 0
    """Bytes that the query itself keeps; the keys of the lanes are the intake's."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake

    @property
    def lane_count(self) -> int:
        """How many lanes there are so far."""
        return self._intake.lane_count

    @property
    def shows_time(self) -> bool:
        """As `Intake.shows_time`."""
        return self._intake.shows_time

    def least_measured(self, new: list[EventArrays]) -> int | float | None:
        """As `Intake.least_measured`."""
        return self._intake.least_measured(new)

    def returned(self) -> list[EventArrays]:
        """Nothing: no lane is ever put on disk."""
        return []

    def put_away(
        self, kept: EventArrays | None, new: list[EventArrays], nbytes: int, excess: int
    ) -> np.ndarray | None:
        """None: no lane is put on disk."""
        return None

    def forget(
        self, parts: list[EventArrays], pressed: bool = False, away: np.ndarray | None = None
    ) -> list[EventArrays]:
        """The same events with the same lanes."""
        return parts

    def forgets(self, events: int, pressed: bool = False) -> bool:
        """False: no lane is forgotten."""
        return False
