"""The lines of `explain` about ordered look-ups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cer_gpu.automata.compared import PairAutomaton
from cer_gpu.automata.compared_steps import ComparedAutomaton
from cer_gpu.frozen import dataclass
from cer_gpu.kernels.compared.contract import FEW, countable_by_few, shallow
from cer_gpu.language.printer import to_text
from cer_gpu.plan.compared import ComparedMachine
from cer_gpu.plan.compiled import CompiledQuery
from cer_gpu.plan.routes.stepped_explained import SteppedExplanation, widest
from cer_gpu.plan.wording import counted, lanes_cut

if TYPE_CHECKING:
    from cer_gpu.plan.drawing import Drawing


@dataclass(frozen=True, slots=True)
class OrderedExplanation(SteppedExplanation):
    """An `Explanation` of a pattern of compared steps.

    Attributes
    ----------
    pairs : PairAutomaton
    automaton : ComparedAutomaton
    """

    pairs: PairAutomaton
    automaton: ComparedAutomaton

    def kind(self) -> str:
        """The class of the query."""
        return (
            "compared: every comparison is of an event and the marked event before it, by order or equality, "
            "so that\na partial match is a state and the event that entered it"
        )

    def engine(self) -> str:
        """The kind of automaton that runs."""
        return "deterministic automaton of steps, as tables; search trees over the values that are compared"

    def guarantee(self, query: CompiledQuery) -> str:
        """What an event and an answer cost, whatever the data."""
        said = (
            "log(window) time per event, whatever the number of answers; output-linear delay, times "
            "log(window)"
        )
        machine = query.machine
        if isinstance(machine, ComparedMachine) and machine.choice is not None:
            strategy = machine.choice.strategy
            if strategy == "MAX":
                cost = "an end costs the events of its window that maximal runs to it have, times log(window)"
            elif strategy == "LAST":
                cost = "an end costs log(window) for each event of what it leaves"
            else:
                cost = "an end costs the events of its window, times log(window)"
            return f"log(window) time per event for hits; {strategy}: {cost}"
        if query.window is None or not isinstance(machine, ComparedMachine):
            return said
        if not shallow(machine.tables):
            said += ";\ncounts: "
            if countable_by_few(machine.tables):
                said += (
                    f"while the window holds at most {FEW} entries of a lane, each event is compared with "
                    "all of them; else "
                )
            said += (
                "an end at which WITHIN leaves out some of the matches runs the events of its window again"
            )
        return said

    def _sizes(self) -> str:
        found = self.automaton
        return (
            f"{counted(len(self.pairs.labels), 'position')}, {counted(len(self.pairs.steps), 'step')}; "
            f"deterministic: {counted(len(found.state_label), 'state')}, "
            f"{counted(len(found.moves), 'transition')}"
        )

    def _ends(self) -> bool:
        return bool(self.automaton.final)

    def relevant(self) -> int:
        """How many kinds of events the automaton reads."""
        return self.automaton.n_symbols - 1

    def keys(self, query: CompiledQuery) -> str:
        """The comparisons, each of an event and the marked one before it."""
        told: dict[str, None] = {}
        for view in self.automaton.views:
            tests = [f"{to_text(one.old)} {one.op} {to_text(one.new)}" for one in view.tests]
            if tests:
                told[" and ".join(sorted(tests))] = None
        if not told:
            return "none"
        return "; ".join(told) + " (of the event before, then of the event itself; sorted once for a chunk)"

    def cost(self, query: CompiledQuery) -> str:
        """Look-ups for a relevant event."""
        most = widest(symbol for _, symbol, _ in self.automaton.moves)
        cut = lanes_cut(self.lane, query)
        return f"at most {counted(most, 'look-up')} for a relevant event; {cut}"

    def drawing(self) -> Drawing:
        """The automaton of steps; an edge says what is compared."""
        from cer_gpu.plan.drawing import of_pairs

        return of_pairs(self.pairs)
