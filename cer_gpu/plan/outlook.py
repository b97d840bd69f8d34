"""Outlooks of a compiled query: one bit for each event that says whether q follows, or precedes, it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.monitor.contract import Monitor
from cer_gpu.kernels.runs.contract import TransitionTables


@dataclass(frozen=True, slots=True)
class Reach:
    """How far an outlook looks.

    Attributes
    ----------
    kind : {"time", "events"} or None
        What is measured: the order attribute, or places in the partition; None: any distance is in reach.
    low, high : int or float, or None
        The least and the greatest distance, in the units of the data; None: no greatest one.
    """

    kind: str | None
    low: int | float = 0
    high: int | float | None = None


class LookingMachine(Protocol):
    """A `GeneralMachine` that finds where complex events of a pattern end."""

    @property
    def symbols(self) -> tuple[frozenset[int], ...]:
        """The predicates that hold for each of its symbols."""

    @property
    def timed(self) -> bool:
        """Whether it reads the time of events."""

    @property
    def placed(self) -> bool:
        """Whether it reads their places in the partition."""

    @property
    def prefix(self) -> bool:
        """Whether the complex events that end at an event depend on all events before it."""

    @property
    def registers(self) -> bool:
        """Whether partial matches keep values of events."""

    @property
    def held(self) -> Any:
        """As in `GeneralMachine`."""

    @property
    def columns(self) -> tuple[Any, ...]:
        """The values of events that are compared."""


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
        The automaton of q, without marks.
    monitor : Monitor or None
        Renames the symbols of q before `tables` read them.
    heard : ndarray, shape (symbols,), uint16
        The symbol of q for each symbol of the query.
    becomes : ndarray, shape (symbols, 2), uint8 or uint16
        The symbol of an event for the bit 0 and for the bit 1.
    machine : LookingMachine or None
        Finds where complex events of q end, if q has intervals or compares events; `tables` are then empty.
        If the outlook looks back, it finds the events whose bit is 1: its pattern is q followed by any event,
        within reach from start to end.
    doubt : int or None
        The bit of an event of which it is not known, at the end of what is known (`until`); None: an answer
        may rest on either, so that the event ends its lane.
    """

    written: str
    before: bool
    reach: Reach
    tables: TransitionTables
    monitor: Monitor | None
    heard: np.ndarray
    becomes: np.ndarray
    machine: LookingMachine | None = None
    doubt: int | None = None

    @property
    def measures(self) -> frozenset[str | None]:
        """Whether it reads the times of events ("time"), or their places in the partition ("events")."""
        own: set[str | None] = {self.reach.kind}
        if self.machine is not None:
            read = {"time": self.machine.timed, "events": self.machine.placed}
            own |= {name for name, asked in read.items() if asked}
        return frozenset(own)

    @property
    def reads_prefix(self) -> bool:
        """Whether the ends of q depend on all events before them, whatever the reach."""
        return self.monitor is not None or (self.machine is not None and self.machine.prefix)

    @property
    def by_next(self) -> bool:
        """Whether the first event of the lane within reach that matches q decides: q is one event."""
        return not self.before and self.reach.kind != "events" and self._single

    @property
    def by_last(self) -> bool:
        """Whether the last event of the lane that matches q decides: q is one event, possibly just before."""
        return self.before and self.reach.low == 0 and self._single

    @property
    def _single(self) -> bool:
        """Whether q is one event."""
        if self.machine is not None or self.monitor is not None:
            return False
        tables, read = self.tables, np.unique(self.heard[self.heard > 0])
        single = not tables.source.any() and (tables.target < 0).all() and tables.accepting.all()
        return bool(single and (tables.first[read + 1] > tables.first[read]).all())

    @property
    def waits(self) -> bool:
        """Whether an event is held back until the bit is known."""
        return not self.before
