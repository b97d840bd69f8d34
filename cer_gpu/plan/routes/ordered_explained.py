"""The lines of `explain` about ordered look-ups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cer_gpu.automata.compared import PairAutomaton
from cer_gpu.automata.compared_steps import ComparedAutomaton
from cer_gpu.frozen import dataclass
from cer_gpu.kernels.compared.contract import shallow
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.plan.compared import ComparedMachine
from cer_gpu.plan.compiled import CompiledQuery
from cer_gpu.plan.outline import unlisted
from cer_gpu.plan.wording import counted, lanes_told

if TYPE_CHECKING:
    from cer_gpu.automata.pcea import Keys
    from cer_gpu.plan.drawing import Drawing


@dataclass(frozen=True, slots=True)
class OrderedExplanation:
    """An `Explanation` of a pattern of compared steps.

    Attributes
    ----------
    statement : Query
    formula : Pattern
        In LP-normal form.
    pairs : PairAutomaton
    automaton : ComparedAutomaton
    lane : mapping of str to Keys, or None
        For each event type the attributes that all events of an answer share.
    """

    statement: tree.SelectQuery
    formula: tree.Pattern
    pairs: PairAutomaton
    automaton: ComparedAutomaton
    lane: Mapping[str, Keys] | None

    def kind(self) -> str:
        """The class of the query."""
        return (
            "compared: every comparison is of an event and the marked event before it, by order or equality, "
            "so that\na state and the event that entered it are all there is to know"
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
            said += (
                ";\ncounts: an end at which WITHIN leaves out some of the matches runs the events of its "
                "window again"
            )
        return said

    def structure(self, query: CompiledQuery) -> Iterator[tuple[str, str]]:
        """The formula and the automaton."""
        found = self.automaton
        yield "formula", to_text(unlisted(self.formula, self.statement))
        yield (
            "automaton",
            f"{counted(len(self.pairs.labels), 'position')}, {counted(len(self.pairs.steps), 'step')}; "
            f"deterministic: {counted(len(found.state_label), 'state')}, "
            f"{counted(len(found.moves), 'transition')}",
        )
        if not found.final:
            yield "answers", "none: no complex event is possible, whatever the events"

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

    def lanes(self) -> str | None:
        """The key that all events of an answer share."""
        return lanes_told(self.lane)

    def cost(self, query: CompiledQuery) -> str:
        """Look-ups for a relevant event."""
        by_symbol: dict[int, int] = {}
        for _, symbol, _ in self.automaton.moves:
            by_symbol[symbol] = by_symbol.get(symbol, 0) + 1
        widest = max(by_symbol.values(), default=0)
        cut = "each lane runs on its own" if self.lane or query.reading.partition else "one lane"
        if query.window is not None:
            cut += ", long ones in segments that start one window early"
        return f"at most {counted(widest, 'look-up')} for a relevant event; {cut}"

    def drawing(self) -> Drawing:
        """The automaton of steps; an edge says what is compared."""
        from cer_gpu.plan.drawing import of_pairs

        return of_pairs(self.pairs)
