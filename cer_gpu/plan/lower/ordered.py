"""Ordered look-ups: each event is compared with the marked event before it, by order or by equality.

`X AS x ; Y AS y FILTER y.price > 1.05 * x.price` becomes a deterministic automaton of steps whose entries lie
in the order of what is compared: a look-up is a range of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cer_gpu.automata.cea import distinct
from cer_gpu.automata.compared_steps import ComparedAutomaton, determinise_compared
from cer_gpu.automata.comparisons import OPERATORS, PairAutomaton, pair_automaton
from cer_gpu.errors import LimitError, QueryError
from cer_gpu.kernels.comparisons.contract import FEW, countable_by_few, shallow
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.logic.correlations import unfolded
from cer_gpu.logic.lp import to_lp
from cer_gpu.plan.compared_choices import compared_choice
from cer_gpu.plan.comparisons import ComparedMachine, compared_arrays, look_up
from cer_gpu.plan.compiled_query import CompiledQuery
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
from cer_gpu.plan.outline import Outline, bare, listed
from cer_gpu.plan.partitioning import shared_key
from cer_gpu.plan.phrases import counted, formula_told, lanes_cut, sizes_told, widest
from cer_gpu.plan.symbols import Diagram

if TYPE_CHECKING:
    from cer_gpu.automata.pcea import Keys

COSTS: dict[Question, Cost] = {
    "hits": Cost(6, note="look-ups in order"),
    "counts": Cost(6, note="look-ups in order"),
    "lists": Cost(8, 3, "look-ups in order, nodes of a structure"),
    "pushes": Cost(10, 3, "look-ups in order, nodes of a structure"),
}


def lower(outline: Outline) -> Candidate | Refusal:
    """The automaton of a pattern that compares each event with the marked one before it."""
    query = outline.query
    try:
        formula, lane = compared_formula(query)
        automaton = pair_automaton(formula)
        for step in automaton.steps:
            look_up(step.tests)
    except (LimitError, QueryError) as error:
        return Refusal.of(error)
    tests = distinct(automaton.predicates)

    def build(diagram: Diagram) -> BuiltMachine:
        """The automaton over the classes of events."""
        found = determinise_compared(automaton, diagram.outcomes, tests)
        tables, keys = compared_arrays(found, lane)
        every = machine = ComparedMachine(tables, len(keys.columns))
        form = mark_form(found.labels, query)
        if query.strategy in tree.CHOOSING and found.final:
            choice = compared_choice(found, tables, query, form.label_has)
            machine = ComparedMachine(tables, every.slot_rows, choice)
        return BuiltMachine(
            machine=machine,
            # Where some complex event ends, a strategy leaves one: hits need no choice.
            hits_machine=every,
            form=form,
            symbol_of=found.symbol_of,
            n_symbols=found.n_symbols,
            keys=keys,
            never=not found.final,
            lane=lane,
            explained=lambda compiled: Description(
                kind=(
                    "compared: every comparison is of an event and the marked event before it, by order or "
                    "equality, so that\na partial match is a state and the event that entered it"
                ),
                engine=(
                    "deterministic automaton of steps, as tables; search trees over the values that are "
                    "compared"
                ),
                guarantee=_guarantee(compiled),
                plain=PlainWords(
                    "every comparison is between an event and the one before it in the match",
                    "partial matches are kept in search trees, by the value that the next event is compared "
                    "with",
                    _speed(compiled),
                ),
                structure=(formula_told(formula, query), *_sizes(automaton, found)),
                relevant=found.n_symbols - 1,
                cost=_cost(found, lane, compiled),
                keys=_keys(found),
            ),
            drawing=lambda: drawing.of_pairs(automaton),
        )

    return Candidate.of(COSTS, Sketch(tests, build))


def compared_formula(query: tree.SelectQuery) -> tuple[tree.Pattern, Mapping[str, Keys] | None]:
    """The formula of a query that compares events in any way, and the key of lanes that its equalities make.

    Raises
    ------
    LimitError
        When the formula is too large.
    """
    formula = to_lp(unfolded(bare(query)))
    shared = None if query.partition else shared_key(formula, OPERATORS)
    if shared is None:
        return listed(formula, query), None
    return listed(shared.pattern, query), shared.lane


def _speed(query: CompiledQuery) -> str:
    """What an event and a match cost, in the words of a user."""
    machine = query.machine
    if isinstance(machine, ComparedMachine) and machine.choice is not None:
        return (
            "O(log n) per event for n events in the window;\n"
            f"{machine.choice.strategy}: each end also reads events of its window again"
        )
    return f"O(log n) per event for n events in the window, however many matches there are;\n{LISTED}"


def _guarantee(query: CompiledQuery) -> str:
    """What an event and an answer cost, whatever the data."""
    said = (
        "log(window) time per event, whatever the number of answers; output-linear delay, times log(window)"
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
        said += "an end at which WITHIN leaves out some of the matches runs the events of its window again"
    return said


def _sizes(pairs: PairAutomaton, found: ComparedAutomaton) -> Iterator[tuple[str, str]]:
    """The sizes of the automaton before and after it is made deterministic."""
    before = f"{counted(len(pairs.labels), 'position')}, {counted(len(pairs.steps), 'step')}"
    after = f"{counted(len(found.state_label), 'state')}, {counted(len(found.moves), 'transition')}"
    return sizes_told(before, after, bool(found.final))


def _keys(found: ComparedAutomaton) -> str:
    """The comparisons, each of an event and the marked one before it."""
    told: dict[str, None] = {}
    for view in found.views:
        tests = [f"{to_text(one.old)} {one.op} {to_text(one.new)}" for one in view.tests]
        if tests:
            told[" and ".join(sorted(tests))] = None
    if not told:
        return "none"
    return "; ".join(told) + " (of the event before, then of the event itself; sorted once for a chunk)"


def _cost(found: ComparedAutomaton, lane: Mapping[str, Keys] | None, query: CompiledQuery) -> str:
    """Look-ups for a relevant event."""
    most = widest(move.symbol for move in found.moves)
    return f"at most {counted(most, 'look-up')} for a relevant event; {lanes_cut(lane, query)}"
