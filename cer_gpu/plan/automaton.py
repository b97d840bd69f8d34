"""A deterministic complex event automaton as arrays: the machine of regular queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cer_gpu.kernels.runs.contract import TransitionTables
from cer_gpu.plan.compiled import Traits


@dataclass(frozen=True, slots=True)
class Monitor:
    """A finite automaton that reads the events of a lane from its beginning and renames their symbols.

    What a selector at the beginning of a pattern chooses depends on all events before it: the monitor's state
    is what must be known of them.

    Attributes
    ----------
    follow : ndarray, shape (states, symbols), int32
        The state after an event. State 0 is the one at the beginning of the lane.
    symbol : ndarray, shape (states, symbols), uint16
        What the event's symbol becomes; 0 where it can be dropped.
    """

    follow: np.ndarray
    symbol: np.ndarray

    def then(self, after: Monitor) -> Monitor:
        """One monitor that does what this one does and then another on the symbols that it gives."""
        n_after = len(after.follow)
        first = np.repeat(np.arange(len(self.follow)), n_after)
        second = np.tile(np.arange(n_after), len(self.follow))[:, None]
        given = self.symbol[first]
        return Monitor(
            (self.follow[first] * n_after + after.follow[second, given]).astype(np.int32),
            after.symbol[second, given],
        )


@dataclass(frozen=True, slots=True)
class Choice:
    """How the strategy of SELECT chooses among the complex events that end at one event.

    For a query with a window, or with CONSUME BY: these say which complex events it may choose from.

    Attributes
    ----------
    strategy : {"NEXT", "LAST", "MAX"}
    single : bool
        Whether no two complex events with one end have the same marked positions, so that NEXT and LAST
        leave exactly one.
    tables : TransitionTables or None
        The automaton of what the strategy leaves of a stream, over the symbols that `monitor` gives; None
        where `single` is all that is needed.
    monitor : Monitor or None
        Over the symbols of the query; begins anew with each window. None where `tables` is. Under a window
        over an attribute it knows each symbol twice: s + n_symbols is that of an event at which none starts.
    shown : ndarray, shape (labels,), int32
        What each label of the automaton that it chooses from becomes once the SELECT list has dropped marks;
        0 for no mark.
    """

    strategy: str
    single: bool
    tables: TransitionTables | None
    monitor: Monitor | None
    shown: np.ndarray


@dataclass(frozen=True, slots=True)
class AutomatonMachine:
    """A deterministic complex event automaton over symbols.

    Attributes
    ----------
    tables : TransitionTables
    monitor : Monitor or None
        Renames the symbols before `tables` read them; what the classification gives is its alphabet.
    choice : Choice or None
        The strategy of SELECT, where it is not in `tables`; these are then those of ALL, before the SELECT
        list.
    """

    tables: TransitionTables
    monitor: Monitor | None = None
    choice: Choice | None = None

    engine: ClassVar[str] = "automaton"

    @property
    def traits(self) -> Traits:
        many = self.choice is not None and not self.choice.single
        resident = ""
        if self.monitor is not None:
            resident = "the CPU follows the prefixes of the stream"
        elif self.choice is not None:
            resident = "the CPU applies the strategy of SELECT"
        return Traits(
            reads_prefix=self.monitor is not None,
            carries=True,
            ranks=True,
            lists_runs_again=many,
            not_on_device=(
                *(("following the prefixes of the stream",) if self.monitor is not None else ()),
                *(("the strategy of SELECT",) if many else ()),
            ),
            not_resident=resident,
        )
