"""Outlooks of a compiled query: derived columns of bits that say what follows an event, or precedes it."""

from __future__ import annotations

import numpy as np

from cer_gpu.frozen import dataclass
from cer_gpu.kernels.monitor.contract import Monitor
from cer_gpu.kernels.runs.contract import TransitionTables


@dataclass(frozen=True, slots=True)
class Reach:
    """How far an outlook looks.

    Attributes
    ----------
    kind : {"time", "events"} or None
        What is measured: the order attribute, or places in the partition; None: nothing, at any distance.
    low, high : int or float, or None
        The least and the greatest distance, in the units of the data; None: no greatest one.
    """

    kind: str | None
    low: int | float = 0
    high: int | float | None = None


@dataclass(frozen=True, slots=True)
class Outlook:
    """Whether a complex event of a pattern q lies within reach of an event.

    `Logon NOT FOLLOWED BY [<= 8 h] Logoff` has one, of which q is `Logoff`: the symbols say whether an event
    is a Logon or a Logoff, and those of Logoffs become neutral.

    Attributes
    ----------
    written : str
        `FOLLOWED BY [<= 8 h] Logoff`.
    before : bool
        Whether it looks back.
    reach : Reach
    tables : TransitionTables
        Of q, whose complex events are not marked.
    monitor : Monitor or None
        Renames the symbols of q before `tables` read them.
    heard : ndarray, shape (symbols,), uint16
        What q reads of an event with each symbol.
    becomes : ndarray, shape (symbols, 2), uint8 or uint16
        The symbol of an event once the bit is known: where it is 0, where it is 1.
    """

    written: str
    before: bool
    reach: Reach
    tables: TransitionTables
    monitor: Monitor | None
    heard: np.ndarray
    becomes: np.ndarray

    @property
    def waits(self) -> bool:
        """Whether an event is held back until the bit is known."""
        return not self.before
