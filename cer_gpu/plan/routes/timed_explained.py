"""The lines of `explain` about a timed pattern."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cer_gpu.automata.step_positions import PlaceAutomaton
from cer_gpu.automata.steps import StepAutomaton
from cer_gpu.frozen import dataclass
from cer_gpu.kernels.steps.contract import short_tables
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.plan.compiled import CompiledQuery
from cer_gpu.plan.outline import unlisted
from cer_gpu.plan.step_machine import StepMachine
from cer_gpu.plan.wording import counted, lanes_told

if TYPE_CHECKING:
    from cer_gpu.automata.pcea import Keys
    from cer_gpu.plan.drawing import Drawing


@dataclass(frozen=True, slots=True)
class TimedExplanation:
    """An `Explanation` of a timed pattern.

    Attributes
    ----------
    statement : Query
    formula : Pattern
        In LP-normal form.
    places : PlaceAutomaton
    automaton : StepAutomaton
    lane : mapping of str to Keys, or None
        For each event type the attributes that all events of an answer share.
    """

    statement: tree.SelectQuery
    formula: tree.Pattern
    places: PlaceAutomaton
    automaton: StepAutomaton
    lane: Mapping[str, Keys] | None

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
        if self._counts_again(query):
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
            f"{counted(len(self.places.places), 'position')}, {counted(len(self.places.steps), 'step')}; "
            f"deterministic: {counted(len(found.state_label), 'state')}, "
            f"{counted(len(found.moves), 'transition')}, "
            f"{counted(len(found.views), 'sliding range')} of events",
        )
        if not found.final:
            yield "answers", "none: no complex event is possible, whatever the events"

    def relevant(self) -> int:
        """How many kinds of events the automaton reads."""
        return self.automaton.n_symbols - 1

    def keys(self, query: CompiledQuery) -> None:
        """Nothing is compared."""
        return

    def lanes(self) -> str | None:
        """The key that all events of an answer share."""
        return lanes_told(self.lane)

    def cost(self, query: CompiledQuery) -> str:
        """Transitions for a relevant event."""
        found = self.automaton
        by_symbol: dict[int, int] = {}
        for move in found.moves:
            by_symbol[move.symbol] = by_symbol.get(move.symbol, 0) + 1
        widest = max(by_symbol.values(), default=0)
        cut = "a lane runs as a whole"
        if query.carries:
            cut = (
                "each leads to the event right after, so that\n"
                "hits and counts keep of each lane its last event alone, and group no events by lane"
            )
        if query.window is not None:
            cut = "segments of a long lane run in parallel, each from one window early on"
            if self.statement.window is None:
                cut += "\n(the upper bounds of the intervals add up to a window)"
        return f"at most {counted(widest, 'transition')} for a relevant event; {cut}"

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
