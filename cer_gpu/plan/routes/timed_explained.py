"""The lines of `explain` about a timed pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cer_gpu.automata.step_positions import PlaceAutomaton
from cer_gpu.automata.steps import StepAutomaton
from cer_gpu.frozen import dataclass
from cer_gpu.kernels.steps.contract import chain_tables, short_tables
from cer_gpu.plan.compiled import CompiledQuery
from cer_gpu.plan.routes.stepped_explained import SteppedExplanation, widest
from cer_gpu.plan.step_machine import StepMachine
from cer_gpu.plan.wording import counted

if TYPE_CHECKING:
    from cer_gpu.plan.drawing import Drawing


@dataclass(frozen=True, slots=True)
class TimedExplanation(SteppedExplanation):
    """An `Explanation` of a timed pattern.

    Attributes
    ----------
    places : PlaceAutomaton
    automaton : StepAutomaton
    """

    places: PlaceAutomaton
    automaton: StepAutomaton

    def kind(self) -> str:
        """The class of the query."""
        return (
            "timed: every interval measures the time from one marked event to the next, so that one clock is "
            "reset\nby every event and the automaton is deterministic"
        )

    def engine(self) -> str:
        """The kind of automaton that runs."""
        return "deterministic automaton of steps, as tables; queues of the events that entered its states"

    def guarantee(self, query: CompiledQuery) -> str:
        """What an event and an answer cost, whatever the data."""
        said = "constant time per event, whatever the intervals; output-linear delay"
        if not self._counts_again(query):
            return said
        assert isinstance(query.machine, StepMachine)
        said += ";\ncounts: an end at which WITHIN leaves out some of the matches "
        chain = chain_tables(query.machine.tables)
        if chain is None:
            return f"{said}runs the events of its window again"
        return (
            f"{said}costs at most {chain.of_hit:,} sums,\nand a relevant event {chain.of_event:,}, however "
            "long the window is (on a CUDA device it is run again)"
        )

    def _sizes(self) -> str:
        found = self.automaton
        return (
            f"{counted(len(self.places.places), 'position')}, {counted(len(self.places.steps), 'step')}; "
            f"deterministic: {counted(len(found.state_label), 'state')}, "
            f"{counted(len(found.moves), 'transition')}, "
            f"{counted(len(found.views), 'sliding range')} of events"
        )

    def _ends(self) -> bool:
        return bool(self.automaton.final)

    def relevant(self) -> int:
        """How many kinds of events the automaton reads."""
        return self.automaton.n_symbols - 1

    def cost(self, query: CompiledQuery) -> str:
        """Transitions for a relevant event."""
        most = widest(move.symbol for move in self.automaton.moves)
        cut = "a lane runs as a whole"
        if query.carries:
            cut = (
                "each leads to the event right after, so that\n"
                "hits and counts keep only the last event of each lane, and do not group events by lane"
            )
        if query.window is not None:
            cut = "segments of a long lane run in parallel, each from one window early on"
        return f"at most {counted(most, 'transition')} for a relevant event; {cut}"

    def drawing(self) -> Drawing:
        """The automaton of steps; gaps are written in the intervals of the query."""
        from cer_gpu.plan.drawing import of_places

        return of_places(self.places)

    def _counts_again(self, query: CompiledQuery) -> bool:
        window, span = query.window, self.automaton.span
        if window is None or not isinstance(query.machine, StepMachine):
            return False
        if short_tables(query.machine.tables) is not None:
            return False
        return window.kind != "time" or span is None or span > window.size
