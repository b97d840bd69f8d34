"""What holds back events that have been read, as the reading side sees it."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from cer_gpu.engine.read.events import Relevant


class Holding(Protocol):
    """Holds back events that have been read, so that they are still to come."""

    def waiting(self) -> list[Relevant]:
        """The events."""
        ...

    def busy(self) -> list[np.ndarray]:
        """Lanes that have to stay in memory."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes that they take."""
        ...
