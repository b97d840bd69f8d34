"""What one of several queries knows of the lanes that they read together."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.read.events import Relevant
from cer_gpu.engine.read.intake import Intake


class SharedLanes:
    """The lanes of an intake that several queries read from.

    No query forgets a lane, since another one may still have events of it: what an intake does to be rid of
    lanes does nothing here.

    Parameters
    ----------
    intake : Intake
    """

    grouped = False
    away = None
    nbytes = 0
    """Of what the query keeps by itself; the keys of the lanes are the intake's."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake

    @property
    def lane_count(self) -> int:
        """How many lanes there are by now."""
        return self._intake.lane_count

    def least_measured(self, new: list[Relevant]) -> int | float | None:
        """As `Intake.least_measured`."""
        return self._intake.least_measured(new)

    def returned(self) -> list[Relevant]:
        """Nothing is ever put on disk."""
        return []

    def put_away(
        self, kept: Relevant | None, new: list[Relevant], nbytes: int, excess: int
    ) -> np.ndarray | None:
        """Nothing is put on disk."""
        return None

    def forget(
        self, parts: list[Relevant], pressed: bool = False, away: np.ndarray | None = None
    ) -> list[Relevant]:
        """The events with the lanes that they have."""
        return parts

    def forgets(self, events: int, pressed: bool = False) -> bool:
        """No lane is forgotten."""
        return False
