"""Which events of a stream are reported: those between a halo before them and others that only follow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cer_gpu.engine.read.events import EventArrays, joined


class Halo:
    """Picks the events that are reported out of the parts of a stream.

    Parameters
    ----------
    resume : callable
        Called with the events before the reported ones, which may be part of what is reported, when the first
        reported one comes.
    halo, stop
        As for `Run.chunks`.
    """

    def __init__(self, resume: Callable[[EventArrays], None], halo: int = 0, stop: int | None = None) -> None:
        self._resume, self._halo, self._stop = resume, halo, stop
        self._before: list[EventArrays] = []

    def __call__(self, part: EventArrays) -> EventArrays | None:
        """The events of the next part that are reported; None if all come before these."""
        if self._stop is not None and (at := int(np.searchsorted(part.positions, self._stop))) < len(part):
            part = part.take(np.arange(at))
        if not self._halo:
            return part
        at = int(np.searchsorted(part.positions, self._halo))
        if at:
            self._before.append(part if at == len(part) else part.take(np.arange(at)))
        if at == len(part):
            return None
        if self._before:
            self._resume(joined(self._before))
            self._before = []
        return part.slice(at)
