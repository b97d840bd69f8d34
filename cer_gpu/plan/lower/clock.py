"""Timed patterns for which one clock is enough, with bounds in one direction only.

`(A ; B+ ; C) WITHIN [<= 5 s] ; D` becomes a deterministic automaton with one clock, which the A resets and
the C asks. Open partial matches stay between the pushes of a stream, and an event costs the same however many
there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from cer_gpu.automata.cea import Predicate
from cer_gpu.automata.timed.agreement import merged_clocks
from cer_gpu.automata.timed.clocks import in_nanoseconds
from cer_gpu.automata.timed.construction import timed_cea
from cer_gpu.automata.timed.monotonicity import MonotonicCEA, NotMonotonicError, monotonic
from cer_gpu.automata.timed.parts import BeyondTimedCELError
from cer_gpu.automata.timed.subsets import NotSynchronousError, determinise_timed
from cer_gpu.automata.timed.timed_cea import EventClasses, TimedCEA, timed_predicates
from cer_gpu.errors import LimitError, QueryError
from cer_gpu.kernels.clock.contract import ClockTables
from cer_gpu.language import tree
from cer_gpu.language.scalar_functions import nearest_float
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.units import NANOSECONDS, exact, one_in
from cer_gpu.language.walk import nodes, walk
from cer_gpu.plan.assumed_types import assumed_schema
from cer_gpu.plan.clock_arrays import ClockArrays, clock_arrays
from cer_gpu.plan.compiled_query import CompiledQuery, KeyPlan
from cer_gpu.plan.constants import ConstantReader
from cer_gpu.plan.cost import Cost, Question
from cer_gpu.plan.leaves import AxisBuilder, RoleColumns
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
from cer_gpu.plan.reaches import ASSUMED, longest
from cer_gpu.plan.symbols import Diagram, fold

if TYPE_CHECKING:
    from cer_gpu.plan.drawing import Drawing

COSTS: dict[Question, Cost] = {
    "hits": Cost(12, note="nodes with resets and checks"),
    "counts": Cost(12, 20, "each match by a walk through the nodes"),
    "lists": Cost(15, 5, "nodes with resets and checks"),
    "pushes": Cost(15, 5, "nodes with resets and checks"),
}

ENDLESS: dict[Question, Cost] = {**COSTS, "lists": COSTS["counts"]}
"""Without WITHIN, matches are listed as they are counted: most nodes of a walk lead to none."""


def lower(outline: Outline) -> Candidate | Refusal:
    """The automaton with one clock of a timed query."""
    query = outline.query
    if outline.derives:
        return Refusal("a filter uses PREV or a function")
    if (found := outline.by_key()) is None:
        return Refusal("its comparisons do not make all events of a match share one key")
    formula, lane = found
    if outline.correlates and any(isinstance(node, tree.Selector) for node in nodes(outline.pattern)):
        return Refusal("a selector also depends on events with another key")
    formula = listed(formula, query)
    try:
        automaton = _of_one_clock(formula, None)
        tests = timed_predicates(automaton)
        known = assumed_schema(tests, query.window)
        axes, formulas = AxisBuilder(ConstantReader(known), RoleColumns(stream="stream")).build(tests)
        _monotonic(automaton, tests, fold(axes, formulas))
    except (BeyondTimedCELError, NotSynchronousError, NotMonotonicError) as error:
        return Refusal(str(error))
    except (LimitError, QueryError) as error:
        return Refusal.of(error)

    def sketch(schema: Schema | None) -> Sketch:
        """The automaton with its intervals in the unit of the data."""
        timed = automaton if schema is None else _of_one_clock(formula, schema)

        def build(diagram: Diagram) -> BuiltMachine:
            """The monotonic automaton over the classes of events."""
            floats = schema is not None and schema.attributes[schema.order or ""] is ValueType.FLOAT64
            found = _monotonic(timed, tests, diagram)
            arrays = clock_arrays(found, floats)
            tables = arrays.machine.tables
            return BuiltMachine(
                machine=arrays.machine,
                hits_machine=arrays.machine,
                form=mark_form(arrays.labels, query),
                symbol_of=arrays.symbol_of,
                n_symbols=arrays.n_symbols,
                keys=KeyPlan.of_lane(lane, arrays.n_symbols),
                never=not arrays.automaton.final,
                lane=lane,
                explained=lambda compiled: Description(
                    kind=(
                        "timed: deterministic with one clock, which is compared by "
                        f"`{'<=' if found.upper else '>='}` only (Theorem 6.1)"
                    ),
                    engine=(
                        "timed complex event automaton, as tables; persistent nodes with reset and check "
                        "gadgets"
                    ),
                    guarantee=_guarantee(found, tables, compiled),
                    plain=PlainWords(
                        "a partial match has to remember the time of one event",
                        "partial matches are kept in the order of that time",
                        f"{_per_event(found)};\n{LISTED}",
                    ),
                    structure=(formula_told(formula, query), *_sizes(timed, arrays)),
                    relevant=arrays.n_symbols - 1,
                    cost=_cost(found, tables),
                ),
                drawing=lambda: _drawing(formula),
                span=longest(formula, ASSUMED if schema is None else schema),
            )

        return Sketch(tests, build)

    return Candidate(ENDLESS if query.window is None else COSTS, sketch, cuda=False)


def _of_one_clock(formula: tree.Pattern, schema: Schema | None) -> TimedCEA:
    """The timed automaton of a formula, its clocks merged.

    Raises
    ------
    NotMonotonicError
        If several are left.
    """
    terms = in_nanoseconds if schema is None else _Terms(schema)
    found = merged_clocks(timed_cea(formula, terms)).timed
    if found.n_clocks != 1:
        raise NotMonotonicError(f"it needs {found.n_clocks} clocks")
    return found


class _Terms:
    """Bounds of intervals in the unit of the order attribute: exact; for floats the nearest one."""

    def __init__(self, schema: Schema) -> None:
        assert schema.order is not None
        self._kind = schema.attributes[schema.order]
        self._unit = schema.units.get(schema.order, schema.order_unit)

    def __call__(self, bound: tree.Bound) -> Fraction:
        size = exact(bound.value)
        if self._kind is ValueType.DECIMAL and self._unit is not None:
            size /= one_in(self._unit)
        elif bound.unit is not None:
            assert self._unit is not None
            size = size * NANOSECONDS[bound.unit] / NANOSECONDS[self._unit]
        return Fraction(nearest_float(size)) if self._kind is ValueType.FLOAT64 else size


def _monotonic(automaton: TimedCEA, tests: tuple[Predicate, ...], diagram: Diagram) -> MonotonicCEA:
    """The monotonic form of an automaton over the classes of events that a diagram tells apart.

    Raises
    ------
    NotSynchronousError, NotMonotonicError
        If it has none.
    LimitError
    """
    classes = EventClasses(tests, diagram.outcomes)
    try:
        return monotonic(determinise_timed(automaton, classes))
    except NotSynchronousError as error:
        reason = "two partial matches with the same marks measure time from different events"
        raise NotSynchronousError(reason) from error
    except NotMonotonicError as error:
        raise NotMonotonicError(str(error)) from error


def _per_event(found: MonotonicCEA) -> str:
    """What an event costs, in the words of a user."""
    return "constant time per event" if found.upper else "O(log n) per event for n open partial matches"


def _guarantee(found: MonotonicCEA, tables: ClockTables, query: CompiledQuery) -> str:
    """What an event and an answer cost, whatever the data."""
    time = "constant time per event" if found.upper else "log(open runs) steps per event"
    said = f"{time}; output-linear delay"
    resets_at_starts = found.upper and not (tables.resets[tables.source != 0] != 0).any()
    if query.window is not None and not resets_at_starts:
        said += " while later resets go with later starts, as in a chain of steps"
    return said


def _sizes(timed: TimedCEA, arrays: ClockArrays) -> Iterator[tuple[str, str]]:
    """The sizes of the automaton before and after it is made deterministic."""
    found = arrays.automaton
    after = (
        f"{counted(found.n_states, 'state')}, {counted(len(found.transitions), 'transition')}, "
        f"{counted(len(arrays.machine.constants), 'constant')}"
    )
    before = f"{timed.n_states} states, {len(timed.transitions)} transitions"
    return sizes_told(before, after, bool(found.final))


def _cost(found: MonotonicCEA, tables: ClockTables) -> str:
    """Steps for a relevant event."""
    widest = int(np.diff(tables.first).max(initial=0))
    lists = f"union-lists of at most {tables.n_live + 2} nodes" if found.upper else "a heap for each state"
    return f"at most {counted(widest, 'transition')} for a relevant event, on {lists}; a lane runs as a whole"


def _drawing(formula: tree.Pattern) -> Drawing:
    """The automaton before it is made deterministic."""
    units = any(isinstance(node, tree.Bound) and node.unit is not None for node in walk(formula))
    return drawing.of_timed(merged_clocks(timed_cea(formula)).timed, units)
