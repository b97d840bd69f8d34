"""Timed patterns whose intervals speak of two marked events of which one follows the other.

`A ;[<= 5 s] B ;[<= 3 s] C` and `Click+[<= 30 min]` become a deterministic automaton of steps: a partial match
is a state and the event that entered it, and the next event reads how long ago that was.
"""

from __future__ import annotations

from collections.abc import Iterator

from cer_gpu.automata.cea import distinct
from cer_gpu.automata.step_positions import PlaceAutomaton, beyond, place_automaton, repeated_step
from cer_gpu.automata.steps import StepAutomaton, determinise_steps
from cer_gpu.errors import QueryError
from cer_gpu.kernels.steps.contract import chain_tables, short_tables
from cer_gpu.language import tree
from cer_gpu.language.schema import Schema
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
from cer_gpu.plan.phrases import counted, formula_told, sizes_told, widest
from cer_gpu.plan.reaches import ASSUMED, ROUNDED, reach_of
from cer_gpu.plan.refusals import beside_correlation
from cer_gpu.plan.step_machine import StepMachine, gaps_in, reach_in, sessions_of, step_tables
from cer_gpu.plan.symbols import Diagram

COSTS: dict[Question, Cost] = {
    "hits": Cost(3, note="queues of entries"),
    "counts": Cost(3, note="queues of entries"),
    "lists": Cost(6, 3, "queues of entries, nodes of a structure"),
    "pushes": Cost(8, 3, "queues of entries, nodes of a structure"),
}


def lower(outline: Outline) -> Candidate | Refusal:
    """The automaton of steps of a timed query."""
    query = outline.query
    try:
        if (found := outline.by_key()) is None:
            raise beyond("a comparison between variables", None, query.span)
        if outline.correlates and (refused := beside_correlation(query)):
            raise QueryError(refused, "")
        formula, lane = found
        lasting: list[tree.Interval] = []
        while isinstance(formula, tree.Timed) and _is_window(formula.interval, query.window):
            lasting.append(formula.interval)
            formula = formula.pattern
        formula = listed(formula, query)
        automaton = place_automaton(formula)
        if query.strategy in tree.CHOOSING and (_over_attribute(query) or repeated_step(automaton) is None):
            raise beyond(f"the strategy `{query.strategy.value}`", None, query.span)
    except QueryError as error:
        return Refusal.of(error)
    tests = distinct(place.predicate for place in automaton.places)

    def sketch(schema: Schema | None) -> Sketch:
        """The automaton with its intervals in the unit of the data."""
        known = ASSUMED if schema is None else schema

        def build(diagram: Diagram) -> BuiltMachine:
            """The automaton over the classes of events and the regions of gaps."""
            intervals = dict.fromkeys(gap for step in automaton.steps for gap in step.gaps)
            gaps = gaps_in(intervals, known)
            found = determinise_steps(automaton, diagram.outcomes, tests, gaps)
            longest = [reach_of(interval, known).high for interval in lasting]
            span = found.span
            if gaps.floating and span is not None:
                span *= 1 + ROUNDED
            tables = step_tables(found, gaps.floating)
            every = machine = StepMachine(tables, span, reach_in(found, gaps.floating))
            form = mark_form(found.labels, query)
            if query.strategy in tree.CHOOSING and found.final:
                label = found.state_label[0] if form.label_has[found.state_label[0]].any() else 0
                sessions = sessions_of(found.views, label, gaps.floating)
                machine = StepMachine(tables, span, every.reach, sessions)
            return BuiltMachine(
                machine=machine,
                hits_machine=every,
                form=form,
                symbol_of=found.symbol_of,
                n_symbols=found.n_symbols,
                keys=KeyPlan.of_lane(lane, found.n_symbols),
                never=not found.final,
                lane=lane,
                explained=lambda compiled: Description(
                    kind=(
                        "timed: every interval measures the time from one marked event to the next, so that "
                        "one clock is reset\nby every event and the automaton is deterministic"
                    ),
                    engine=(
                        "deterministic automaton of steps, as tables; queues of the events that entered its "
                        "states"
                    ),
                    guarantee=_guarantee(found, compiled),
                    plain=PlainWords(
                        "each bound of time is between one event of the match and the next",
                        "each step keeps a queue of the events that reached it",
                        _speed(found, compiled),
                    ),
                    structure=(formula_told(formula, query), *_sizes(automaton, found)),
                    relevant=found.n_symbols - 1,
                    cost=_cost(found, compiled),
                ),
                drawing=lambda: drawing.of_places(automaton),
                span=min([most for most in (span, *longest) if most is not None], default=None),
            )

        return Sketch(tests, build)

    return Candidate(COSTS, sketch)


def _is_window(interval: tree.Interval, window: tree.Window | None) -> bool:
    """Whether `(p) WITHIN [I]` around the whole pattern says what WITHIN says, and both can be one window."""
    low, high = interval.low, interval.high
    from_nothing = low is None or (low.value == 0 and not low.open)
    return from_nothing and high is not None and (window is None or window.kind == "time")


def _over_attribute(query: tree.SelectQuery) -> bool:
    return query.window is not None and query.window.kind == "attribute"


def _speed(found: StepAutomaton, query: CompiledQuery) -> str:
    """What an event and a match cost, in the words of a user."""
    said = f"constant time per event, whatever the bounds;\n{LISTED}"
    machine = query.machine
    if isinstance(machine, StepMachine) and _counts_again(machine, found, query):
        said += ";\ncounts: an end costs more where WITHIN leaves out some of its matches"
    return said


def _guarantee(found: StepAutomaton, query: CompiledQuery) -> str:
    """What an event and an answer cost, whatever the data."""
    said = "constant time per event, whatever the intervals; output-linear delay"
    machine = query.machine
    if not isinstance(machine, StepMachine) or not _counts_again(machine, found, query):
        return said
    said += ";\ncounts: an end at which WITHIN leaves out some of the matches "
    chain = chain_tables(machine.tables)
    if chain is None:
        return f"{said}runs the events of its window again"
    return (
        f"{said}costs at most {chain.of_hit:,} sums,\nand a relevant event {chain.of_event:,}, however "
        "long the window is (on a CUDA device it is run again)"
    )


def _counts_again(machine: StepMachine, found: StepAutomaton, query: CompiledQuery) -> bool:
    """Whether counts look at the events of a window that leaves out some of the matches."""
    window = query.window
    if window is None or short_tables(machine.tables) is not None:
        return False
    return window.kind != "time" or found.span is None or found.span > window.size


def _sizes(places: PlaceAutomaton, found: StepAutomaton) -> Iterator[tuple[str, str]]:
    """The sizes of the automaton before and after it is made deterministic."""
    before = f"{counted(len(places.places), 'position')}, {counted(len(places.steps), 'step')}"
    after = (
        f"{counted(len(found.state_label), 'state')}, {counted(len(found.moves), 'transition')}, "
        f"{counted(len(found.views), 'sliding range')} of events"
    )
    return sizes_told(before, after, bool(found.final))


def _cost(found: StepAutomaton, query: CompiledQuery) -> str:
    """Transitions for a relevant event."""
    most = widest(move.symbol for move in found.moves)
    cut = "a lane runs as a whole"
    if query.carries:
        cut = (
            "each leads to the event right after, so that\n"
            "hits and counts keep only the last event of each lane, and do not group events by lane"
        )
    if query.window is not None:
        cut = "segments of a long lane run in parallel, each from one window early on"
    return f"at most {counted(most, 'transition')} for a relevant event; {cut}"
