"""Regular queries: every filter speaks of one event, at least after the stream is partitioned by a key.

`A AS a ; B AS b FILTER a[price > 3]` becomes a deterministic complex event automaton. So does
`A AS a ; B AS b FILTER a.id = b.id`, since it is `A AS a ; B AS b` on the events of each id.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cer_gpu.automata.cea import CEA, DeterministicCEA, Predicate
from cer_gpu.automata.construct import construct, trim
from cer_gpu.automata.determinise import predicates
from cer_gpu.automata.operators.formula import FormulaAutomaton, OperatorSizes, is_extended, tests_of
from cer_gpu.kernels.monitor.contract import Monitor
from cer_gpu.kernels.runs.contract import TransitionTables
from cer_gpu.language import tree
from cer_gpu.plan.automaton import AutomatonMachine, Choice, programs_of
from cer_gpu.plan.compiled_query import CompiledQuery, KeyPlan
from cer_gpu.plan.cost import Cost, Question
from cer_gpu.plan.lower.lowering import (
    LISTED,
    BuiltMachine,
    Candidate,
    Description,
    PlainWords,
    Refusal,
    Sketch,
    drawing,
)
from cer_gpu.plan.marks import mark_form
from cer_gpu.plan.outline import Outline, listed
from cer_gpu.plan.phrases import counted, formula_told, sizes_told
from cer_gpu.plan.regular_automata import (
    RegularAutomata,
    SelectedAutomaton,
    chosen_sequence,
    deterministic,
    select_machine,
    shown_labels,
    tables,
)
from cer_gpu.plan.symbols import Diagram

if TYPE_CHECKING:
    from cer_gpu.plan.drawing import Drawing

COSTS: dict[Question, Cost] = {
    "hits": Cost(1, note="a state for each lane"),
    "counts": Cost(2, note="a state for each lane"),
    "lists": Cost(3, 3, "nodes of a structure"),
    "pushes": Cost(4, 3, "nodes of a structure"),
}

KEYED: dict[Question, Cost] = {
    "hits": Cost(2, note="sorted by key"),
    "counts": Cost(3, note="sorted by key"),
    "lists": Cost(5, 3, "sorted by key, nodes of a structure"),
    "pushes": Cost(5, 3, "sorted by key, nodes of a structure"),
}
"""The same if comparisons make the key."""

SEQUENCE = Cost(3, 1, "rows of single events")
"""To list matches that are rows of single events."""

KEYED_SEQUENCE = Cost(5, 1, "sorted by key, rows of single events")
"""The same if comparisons make the key."""


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


def lower(outline: Outline) -> Candidate | Refusal:
    """The automaton of a query whose filters speak of one event each, after partitioning by a shared key."""
    if (found := outline.by_key()) is None:
        return Refusal("its comparisons do not make all events of a match share one key")
    query, (pattern, lane) = outline.query, found
    formula = listed(pattern, query)
    automaton: CEA | FormulaAutomaton
    if is_extended(formula):
        automaton, tests = FormulaAutomaton(formula), tests_of(formula)
    else:
        automaton = trim(construct(formula))
        tests = predicates(automaton)

    def build(diagram: Diagram) -> BuiltMachine:
        """The automaton over the classes of events, and the choice of the strategy."""
        found = deterministic(formula, automaton, tests, diagram)
        n_symbols = max(found.automaton.n_symbols, 1 + max(found.symbol_of, default=0))
        arrays = tables(found.automaton)
        every = AutomatonMachine(arrays, programs_of(arrays), found.monitor)
        form = mark_form(found.automaton.labels, query)
        machine, selected = every, None
        if query.strategy in tree.CHOOSING:
            selected = select_machine(found.automaton, query)
            n_symbols = max(n_symbols, selected.n_symbols)
            machine, label_has = _choosing(every, selected, form.label_has)
            form = replace(form, label_has=label_has)
        return BuiltMachine(
            machine=machine,
            # Where some complex event ends, a strategy leaves one: hits need no choice.
            hits_machine=every,
            form=form,
            symbol_of=found.symbol_of,
            n_symbols=n_symbols,
            keys=KeyPlan.of_lane(lane, n_symbols),
            never=not found.automaton.final,
            lane=lane,
            explained=lambda compiled: Description(
                kind=_kind(automaton, lane is not None),
                engine="deterministic complex event automaton, as tables",
                guarantee=_guarantee(compiled),
                plain=_plain(compiled, lane is not None),
                structure=(
                    formula_told(formula, query),
                    *_sizes(automaton, found.automaton),
                    *_operators(found, selected),
                ),
                relevant=arrays.n_symbols - 1,
                cost=_cost(arrays, selected, compiled),
            ),
            drawing=lambda: _drawing(automaton, found, diagram, tests),
        )

    costs = COSTS if lane is None else KEYED
    if _is_sequence(query, formula):
        costs = costs | {"lists": SEQUENCE if lane is None else KEYED_SEQUENCE}
    return Candidate.of(costs, Sketch(tests, build))


def _is_sequence(query: tree.SelectQuery, pattern: tree.Pattern) -> bool:
    """Whether a match is a row of single events, as `kernels.runs.sequences.sequence_steps` has it.

    Each step is marked in one way, and other events may lie between. A window over an attribute may fall.
    """
    kept = None
    if isinstance(pattern, tree.Project):
        kept, pattern = frozenset(pattern.variables), pattern.pattern
    if query.strategy is tree.Strategy.STRICT or (query.window and query.window.kind == "attribute"):
        return False
    marks = _step_marks(pattern, kept, frozenset())
    # The start and the end of a match tell its first and its last event.
    return marks is not None and len(marks) > 1 and (query.strategy in tree.CHOOSING or all(marks[1:-1]))


def _step_marks(
    pattern: tree.Pattern, kept: frozenset[str] | None, outer: frozenset[str]
) -> list[frozenset[str]] | None:
    """What marks the event of each step; None where a match is no row of single events.

    `kept` are the variables of the SELECT list, None for all; those of `outer` mark the whole pattern.
    """
    match pattern:
        case tree.Filter():
            return _step_marks(pattern.pattern, kept, outer)
        case tree.As():
            return _step_marks(pattern.pattern, kept, outer | {pattern.variable})
        case tree.EventType():
            own = outer.union(pattern.variables)
            return [own if kept is None else own & kept]
        case tree.Sequence(contiguous=False) | tree.Or():
            left, right = (_step_marks(one, kept, outer) for one in (pattern.left, pattern.right))
            if left is None or right is None:
                return None
            if isinstance(pattern, tree.Sequence):
                return left + right
            return left if left == right and len(left) == 1 else None
    return None


def _choosing(
    every: AutomatonMachine, selected: SelectedAutomaton, label_has: np.ndarray
) -> tuple[AutomatonMachine, np.ndarray]:
    """The machine of what a strategy leaves, and the variables that its labels mark in results."""
    after = label_has if selected.tables is None else selected.label_has
    shown = shown_labels(label_has, after)
    chosen = None if every.monitor else chosen_sequence(every.tables, selected, shown)
    if not selected.later:
        assert selected.tables is not None
        monitor = every.monitor
        if selected.monitor is not None:
            monitor = selected.monitor if monitor is None else monitor.then(selected.monitor)
        programs = programs_of(selected.tables)
        return AutomatonMachine(selected.tables, programs, monitor, chosen=chosen), after
    choice = Choice(selected.strategy, selected.single, selected.tables, selected.monitor, shown)
    return replace(every, choice=choice, chosen=chosen), after


def _kind(automaton: CEA | FormulaAutomaton, keyed: bool) -> str:
    """The class of the query."""
    if keyed:
        return (
            "regular: its comparisons make all events of a complex event share a key, which divides the "
            "stream"
        )
    of = "CEL with unary filters"
    if isinstance(automaton, FormulaAutomaton):
        of = "CEPL: operators and selectors, made one automaton"
    return f"regular: every filter speaks of one event ({of})"


def _guarantee(query: CompiledQuery) -> str:
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


def _plain(query: CompiledQuery, keyed: bool) -> PlainWords:
    """The same in the words of a user."""
    window = query.window
    why = "every filter is about one event"
    if keyed:
        why = "all events of a match share a value, and every other filter is about one event"
    speed = f"constant time per event, however many matches there are;\n{LISTED}"
    if window is not None and window.kind == "attribute":
        speed = (
            f"constant time per event while `{window.attribute}` rises, otherwise O(log n) for the n events "
            f"of the partition;\n{LISTED}"
        )
    if query.traits.keeps == "chosen again":
        speed = "hits: constant time per event; counts and matches: each end reads its window again"
    how = "each event moves the pattern from one state to the next, by a small table"
    return PlainWords(why, how, speed)


def _sizes(automaton: CEA | FormulaAutomaton, found: DeterministicCEA) -> Iterator[tuple[str, str]]:
    """The sizes of the automaton before and after it is made deterministic."""
    before = ""
    if isinstance(automaton, CEA):
        before = f"{automaton.n_states} states, {len(automaton.transitions)} transitions"
    after = (
        f"{counted(found.n_states, 'state')}, {counted(len(found.transitions), 'transition')}, "
        f"{len(found.labels) - 1} sets of marks"
    )
    return sizes_told(before, after, bool(found.final))


def _operators(found: RegularAutomata, selected: SelectedAutomaton | None) -> Iterator[tuple[str, str]]:
    """How the automaton was put together."""
    if sized := [one for one in found.applied if one.operator in BOUNDS]:
        yield "operators", "\n".join(map(_applied, sized))
    if found.monitor is not None and found.automaton.final:
        yield "prefix", _prefix(found.monitor)
    if selected is not None:
        yield "strategy", _strategy(selected)


def _cost(tables: TransitionTables, selected: SelectedAutomaton | None, query: CompiledQuery) -> str:
    """Steps for a relevant event."""
    window = query.window
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
    if selected is not None and selected.later:
        counts = (
            f"and the choice at most {(states + 1) ** 2} more, whatever the window"
            if selected.single
            else "as many as the windows of all ends have, together"
        )
    falls = ""
    if window is not None and window.kind == "attribute":
        falls = _falls(window.attribute, selected)
    return (
        f"hits: at most {widest} steps for a relevant event; counts: {counts};\n"
        f"complex events: as many steps as they have marks; {cut}{falls}"
    )


def _drawing(
    automaton: CEA | FormulaAutomaton, found: RegularAutomata, diagram: Diagram, tests: tuple[Predicate, ...]
) -> Drawing:
    """A plain formula's nondeterministic automaton; that of operators as it runs.

    The former has no epsilon transitions, and every transition has a predicate of the query, where the
    deterministic one that runs has combinations of these. The latter describes sets of symbols by
    predicates. Neither has the choice of the strategy of SELECT.
    """
    if isinstance(automaton, CEA):
        return drawing.of_nondeterministic(automaton)
    monitor = found.monitor
    rows = [[*range(found.automaton.n_symbols)]] if monitor is None else monitor.symbol.tolist()
    return drawing.of_composed(found.automaton, rows, found.symbol_of, diagram.outcomes, tests)


def _applied(one: OperatorSizes) -> str:
    before = " and ".join(f"{states:,}" for states in one.before)
    return f"{one.operator}: {before} states before, {one.after:,} after; {BOUNDS[one.operator]}"


def _prefix(monitor: Monitor) -> str:
    return (
        f"what a selector chooses depends on all events before: a monitor of {len(monitor.follow):,} states "
        "reads them\nonce, one state for each lane"
    )


def _falls(attribute: str | None, selected: SelectedAutomaton | None) -> str:
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


def _strategy(selected: SelectedAutomaton) -> str:
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
