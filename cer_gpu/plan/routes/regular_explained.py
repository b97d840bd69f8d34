"""The lines of `explain` about a regular query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cer_gpu.automata.cea import CEA, Predicate
from cer_gpu.automata.compose import Applied, Composed
from cer_gpu.frozen import dataclass
from cer_gpu.kernels.monitor.contract import Monitor
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.plan.automaton import AutomatonMachine
from cer_gpu.plan.compiled import CompiledQuery
from cer_gpu.plan.deterministic import Deterministic, Selected
from cer_gpu.plan.outline import unlisted
from cer_gpu.plan.symbols import Diagram
from cer_gpu.plan.wording import counted, lanes_told

if TYPE_CHECKING:
    from cer_gpu.automata.pcea import Keys
    from cer_gpu.plan.drawing import Drawing

BOUNDS = {
    "`AND`": "at most |p| * |q| (Theorem 7.2)",
    "`ALL`": "a product of (|p| + 1) * (|q| + 1) (Theorem 7.2), made deterministic",
    "`UNLESS`": "at most |p| * |q| * 2^|q| (Theorem 7.2)",
    "`STRICT`": "at most 3 * |p| (Theorem 7.4)",
    "`NXT`": "at most |p| * 3^|p| (Theorem 7.3); 1-ambiguous: one run for each complex event",
    "`LAST`": "at most |p| * 4^|p| (as Theorem 7.3); 1-ambiguous: one run for each complex event",
    "`MAX`": "at most |p| * 3^|p| (Theorem 7.5); 1-ambiguous: one run for each complex event",
}
"""What the thesis says of the size of an operator's automaton, |p| being that of its operand."""

NEVER = "none: no complex event is possible, whatever the events"


@dataclass(frozen=True, slots=True)
class RegularExplanation:
    """An `Explanation` of a regular query.

    Attributes
    ----------
    statement : Query
    formula : Pattern
        As in the sketch; so are `automaton`, `tests` and `lane`.
    automaton : CEA or Composed
    tests : tuple of Predicate
    lane : mapping of str to Keys, or None
    diagram : Diagram
    found : Deterministic
    machine : AutomatonMachine
        The machine of all complex events, before the strategy chooses.
    selected : Selected or None
        The automaton after the strategy of SELECT has chosen.
    """

    statement: tree.SelectQuery
    formula: tree.Pattern
    automaton: CEA | Composed
    tests: tuple[Predicate, ...]
    lane: Mapping[str, Keys] | None
    diagram: Diagram
    found: Deterministic
    machine: AutomatonMachine
    selected: Selected | None

    def kind(self) -> str:
        """The class of the query."""
        if self.lane is not None:
            return (
                "regular: its comparisons make all events of a complex event share a key, which divides the "
                "stream"
            )
        of = "CEL with unary filters"
        if isinstance(self.automaton, Composed):
            of = "CEPL: operators and selectors, made one automaton"
        return f"regular: every filter speaks of one event ({of})"

    def engine(self) -> str:
        """The kind of automaton that runs."""
        return "deterministic complex event automaton, as tables"

    def guarantee(self, query: CompiledQuery) -> str:
        """What an event and an answer cost, whatever the data."""
        window = query.window
        time = "constant time per event in the length of the stream"
        if window is not None and window.kind == "attribute":
            time = (
                f"constant time per event in partitions in which `{window.attribute}` ascends, "
                "log(their events) in others"
            )
        if query.traits.keeps == "chosen again":
            return f"{time}, for hits;\ncounts and complex events run the window of each end again"
        return f"{time}, output-linear delay"

    def structure(self, query: CompiledQuery) -> Iterator[tuple[str, str]]:
        """The formula, the automaton, and how it was put together."""
        yield "formula", to_text(unlisted(self.formula, self.statement))
        yield "automaton", self._automaton()
        if not self.found.automaton.final:
            yield "answers", NEVER
        if sized := [one for one in self.found.applied if one.operator in BOUNDS]:
            yield "operators", "\n".join(map(_applied, sized))
        if self.machine.monitor is not None and self.found.automaton.final:
            yield "prefix", _prefix(self.machine.monitor)
        if self.selected is not None:
            yield "strategy", _strategy(self.selected)

    def relevant(self) -> int:
        """How many kinds of events the automaton reads."""
        return self.machine.tables.n_symbols - 1

    def keys(self, query: CompiledQuery) -> None:
        """Nothing is compared."""
        return

    def lanes(self) -> str | None:
        """The key that all events of an answer share."""
        return lanes_told(self.lane)

    def cost(self, query: CompiledQuery) -> str:
        """Steps for a relevant event."""
        tables, window = self.machine.tables, query.window
        widest = int(np.diff(tables.first).max(initial=0))
        states = tables.n_live - 1
        cut = (
            "segments of a long lane run in parallel, each from one window early on"
            if window is not None
            else "a lane runs as a whole"
        )
        counts = f"at most {2 * widest * (states + 1)}, whatever the window"
        if tables.n_symbols == 2 and window is not None and window.kind != "attribute":
            counts = f"one step, and at most {widest} for each number of relevant events that a window has"
        if self.selected is not None and self.selected.later:
            counts = (
                f"and the choice at most {(states + 1) ** 2} more, whatever the window"
                if self.selected.single
                else "as many as the windows of all ends have, together"
            )
        falls = ""
        if window is not None and window.kind == "attribute":
            falls = _falls(window.attribute, self.selected)
        return (
            f"hits: at most {widest} steps for a relevant event; counts: {counts};\n"
            f"complex events: as many steps as they have marks; {cut}{falls}"
        )

    def drawing(self) -> Drawing:
        """A plain formula's nondeterministic automaton; that of operators as it runs.

        The former has no epsilon transitions, and every transition has a predicate of the query, where the
        deterministic one that runs has combinations of these. The latter describes sets of symbols by
        predicates. Neither has the choice of the strategy of SELECT.
        """
        from cer_gpu.plan.drawing import of_composed, of_nondeterministic

        if isinstance(self.automaton, CEA):
            return of_nondeterministic(self.automaton)
        monitor = self.found.monitor
        rows = [[*range(self.found.automaton.n_symbols)]] if monitor is None else monitor.symbol.tolist()
        return of_composed(
            self.found.automaton, rows, self.found.symbol_of, self.diagram.outcomes, self.tests
        )

    def _automaton(self) -> str:
        machine, before = self.found.automaton, ""
        if isinstance(self.automaton, CEA):
            before = f"{self.automaton.n_states} states, {len(self.automaton.transitions)} transitions; "
        return (
            f"{before}deterministic: "
            f"{counted(machine.n_states, 'state')}, {counted(len(machine.transitions), 'transition')}, "
            f"{len(machine.labels) - 1} sets of marks"
        )


def _applied(one: Applied) -> str:
    before = " and ".join(f"{states:,}" for states in one.before)
    return f"{one.operator}: {before} states before, {one.after:,} after; {BOUNDS[one.operator]}"


def _prefix(monitor: Monitor) -> str:
    return (
        f"what a selector chooses depends on all events before: a monitor of {len(monitor.follow):,} states "
        "reads them\nonce, one state for each lane"
    )


def _falls(attribute: str | None, selected: Selected | None) -> str:
    """How a window over an attribute is run where the attribute falls."""
    lists = "and so does listing"
    if selected is not None and selected.later:
        lists = (
            "choosing takes |Q| * log2(its events) times as many"
            if selected.single
            else "choosing runs the partition again for each end,\n"
            "since what is kept depends on the starts in the window"
        )
    return (
        f"\nwhere `{attribute}` falls in a partition, starts are sorted by it: hits and counts take "
        f"log2(its events) times as many steps, {lists};\n"
        f"events are kept from the first open start on, since `{attribute}` may fall: "
        f"order_by='{attribute}' promises that it does not"
    )


def _strategy(selected: Selected) -> str:
    left = "one complex event" if selected.single else "those with the chosen positions"
    if selected.strategy == "MAX":
        left = "those that are part of no other"
    name = selected.strategy
    if not selected.later:
        sized = _applied(replace(selected.applied, operator=f"`{'NXT' if name == 'NEXT' else name}`"))
        if selected.monitor is None:
            return f"{name} leaves {left} at each end, by an automaton, whatever the window\n{sized}"
        return f"{name} leaves {left} at each end, by an automaton without a window\n{sized}"
    if selected.single:
        how = "paths are ranked along the window: at most |Q|^2 steps for a relevant event"
    else:
        how = "each end runs its window again: the relevant events in it, for every end"
    return f"{name} leaves {left} at each end, chosen inside the window\n{how}; for hits nothing is chosen"
