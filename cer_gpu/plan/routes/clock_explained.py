"""The lines of `explain` about a timed pattern of one clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cer_gpu.automata.timed.agreement import merged_clocks
from cer_gpu.automata.timed.monotonic import MonotonicCEA
from cer_gpu.automata.timed.timed_cea import TimedCEA
from cer_gpu.frozen import dataclass
from cer_gpu.language import tree
from cer_gpu.language.walk import walk
from cer_gpu.plan.clock_arrays import ClockArrays
from cer_gpu.plan.compiled import CompiledQuery
from cer_gpu.plan.routes.stepped_explained import SteppedExplanation
from cer_gpu.plan.wording import counted

if TYPE_CHECKING:
    from cer_gpu.plan.drawing import Drawing


@dataclass(frozen=True, slots=True)
class ClockExplanation(SteppedExplanation):
    """An `Explanation` of a timed pattern of one clock.

    Attributes
    ----------
    timed : TimedCEA
        Before it is made deterministic.
    found : MonotonicCEA
    arrays : ClockArrays
    """

    timed: TimedCEA
    found: MonotonicCEA
    arrays: ClockArrays

    def kind(self) -> str:
        """The class of the query."""
        asked = "<=" if self.found.upper else ">="
        return f"timed: deterministic with one clock, which is compared by `{asked}` only (Theorem 6.1)"

    def engine(self) -> str:
        """The kind of automaton that runs."""
        return "timed complex event automaton, as tables; persistent nodes with reset and check gadgets"

    def guarantee(self, query: CompiledQuery) -> str:
        """What an event and an answer cost, whatever the data."""
        time = "constant time per event" if self.found.upper else "log(open runs) steps per event"
        said = f"{time}; output-linear delay"
        if query.window is not None and not self._resets_at_starts:
            said += " while later resets go with later starts, as in a chain of steps"
        return said

    def _sizes(self) -> str:
        found = self.arrays.automaton
        return (
            f"{self.timed.n_states} states, {len(self.timed.transitions)} transitions; deterministic: "
            f"{counted(found.n_states, 'state')}, {counted(len(found.transitions), 'transition')}, "
            f"{counted(len(self.arrays.machine.constants), 'constant')}"
        )

    def _ends(self) -> bool:
        return bool(self.arrays.automaton.final)

    def relevant(self) -> int:
        """How many kinds of events the automaton reads."""
        return self.arrays.n_symbols - 1

    def cost(self, query: CompiledQuery) -> str:
        """Steps for a relevant event."""
        tables = self.arrays.machine.tables
        widest = int(np.diff(tables.first).max(initial=0))
        lists = "a heap for each state"
        if self.found.upper:
            lists = f"union-lists of at most {tables.n_live + 2} nodes"
        return (
            f"at most {counted(widest, 'transition')} for a relevant event, on {lists}; "
            "a lane runs as a whole"
        )

    def drawing(self) -> Drawing:
        """The automaton before it is made deterministic."""
        from cer_gpu.automata.timed.construction import timed_cea
        from cer_gpu.plan.drawing import of_timed

        units = any(isinstance(node, tree.Bound) and node.unit is not None for node in walk(self.formula))
        return of_timed(merged_clocks(timed_cea(self.formula)).timed, units)

    @property
    def _resets_at_starts(self) -> bool:
        tables = self.arrays.machine.tables
        return self.found.upper and not (tables.resets[tables.source != 0] != 0).any()
