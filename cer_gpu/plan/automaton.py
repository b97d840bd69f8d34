"""A deterministic complex event automaton as arrays: the machine of regular queries."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cer_gpu.frozen import dataclass
from cer_gpu.kernels.monitor.contract import Monitor
from cer_gpu.kernels.runs.contract import TransitionTables
from cer_gpu.plan.compiled import Traits


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
            streams_falling=True,
            chooses=self.choice is not None,
            not_on_device=(
                *(("following the prefixes of the stream",) if self.monitor is not None else ()),
                *(("the strategy of SELECT",) if many else ()),
            ),
            not_resident=resident,
        )
