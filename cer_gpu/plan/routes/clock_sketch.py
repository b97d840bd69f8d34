"""The automaton with one clock of a timed pattern: `sketched`."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from cer_gpu.automata.cea import Predicate
from cer_gpu.automata.timed.agreement import merged_clocks
from cer_gpu.automata.timed.clocks import in_nanoseconds
from cer_gpu.automata.timed.construction import ClockUse, timed_cea
from cer_gpu.automata.timed.monotonic import MonotonicCEA, NotMonotonicError, monotonic
from cer_gpu.automata.timed.parts import BeyondTimedCELError
from cer_gpu.automata.timed.subsets import NotSynchronousError, determinise_timed
from cer_gpu.automata.timed.timed_cea import EventClasses, TimedCEA, timed_predicates
from cer_gpu.diagnostics import NOT_TAKEN
from cer_gpu.errors import Diagnostic, QueryError
from cer_gpu.frozen import dataclass
from cer_gpu.language import tree
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.units import NANOSECONDS, exact, one_in
from cer_gpu.language.walk import nodes
from cer_gpu.logic.formulas import correlates
from cer_gpu.plan.assumed import assumed_schema
from cer_gpu.plan.clock_arrays import clock_arrays
from cer_gpu.plan.compiled import KeyPlan
from cer_gpu.plan.constants import ConstantReader, nearest_float
from cer_gpu.plan.leaves import AxisBuilder, RoleColumns
from cer_gpu.plan.marked import mark_form
from cer_gpu.plan.outline import CHOOSING, Outline, listed
from cer_gpu.plan.reaches import ASSUMED, longest
from cer_gpu.plan.routes.clock_explained import ClockExplanation
from cer_gpu.plan.routes.route import Built, Refusal
from cer_gpu.plan.symbols import Diagram, fold

if TYPE_CHECKING:
    from cer_gpu.automata.pcea import Keys


@dataclass(frozen=True, slots=True)
class ClockSketch:
    """A timed pattern of one clock, before any data is known.

    Attributes
    ----------
    statement : Query
    formula : Pattern
        In LP-normal form, with the SELECT list as its outermost projection.
    automaton : TimedCEA
        With one clock and synchronous resets.
    tests : tuple of Predicate
        The distinct predicates of its transitions.
    lane : mapping of str to Keys, or None
        For each event type the attributes that all events of an answer share.
    schema : Schema or None
        None: not known yet, intervals are in nanoseconds.
    """

    statement: tree.SelectQuery
    formula: tree.Pattern
    automaton: TimedCEA
    tests: tuple[Predicate, ...]
    lane: Mapping[str, Keys] | None
    schema: Schema | None = None

    def over(self, schema: Schema) -> ClockSketch:
        """The sketch with its intervals in the unit of the data."""
        automaton = _of_one_clock(self.formula, schema)
        return ClockSketch(self.statement, self.formula, automaton, self.tests, self.lane, schema)

    def built(self, diagram: Diagram) -> Built:
        """The monotonic automaton over the classes of events."""
        query, schema = self.statement, self.schema
        floats = schema is not None and schema.attributes[schema.order or ""] is ValueType.FLOAT64
        found = _monotonic(self.automaton, self.tests, diagram)
        arrays = clock_arrays(found, floats)
        form = mark_form(arrays.labels, query)
        return Built(
            machine=arrays.machine,
            hits_machine=arrays.machine,
            form=form,
            symbol_of=arrays.symbol_of,
            n_symbols=arrays.n_symbols,
            keys=KeyPlan.of_lane(self.lane, arrays.n_symbols),
            never=not arrays.automaton.final,
            explanation=ClockExplanation(query, self.formula, self.lane, self.automaton, found, arrays),
            span=longest(self.formula, ASSUMED if schema is None else schema),
        )


def sketched(outline: Outline, query: tree.SelectQuery, formula: tree.Pattern) -> ClockSketch | Refusal:
    """The automaton of a timed query, or why it is not one of this kind.

    Raises
    ------
    QueryError, LimitError
        When there is none, or it is too large.
    """
    if query.strategy in CHOOSING:
        return Refusal(f"the strategy `{query.strategy.value}` chooses among complex events")
    if query.window is not None and query.window.kind == "attribute":
        return Refusal("its window is over an attribute, whose values may fall", by_window=True)
    if any(isinstance(node, tree.Beside) for node in nodes(formula)):
        return Refusal("it looks for what follows or precedes")
    if outline.derives:
        return Refusal("a filter uses PREV or a function")
    lane = None
    if outline.correlates:
        shared = outline.shared
        if shared is None or not shared.uniform or correlates(shared.pattern):
            return Refusal("its comparisons do not make all events of an answer share one key")
        if any(isinstance(node, tree.Selector) for node in nodes(formula)):
            return Refusal("a selector also depends on events with another key")
        formula, lane = shared.pattern, shared.lane
    formula = listed(formula, query)
    try:
        automaton = _of_one_clock(formula, None)
        tests = timed_predicates(automaton)
        known = assumed_schema(tests, query.window)
        axes, formulas = AxisBuilder(ConstantReader(known), RoleColumns(stream="stream")).build(tests)
        _monotonic(automaton, tests, fold(axes, formulas))
    except (BeyondTimedCELError, NotSynchronousError, NotMonotonicError) as error:
        return Refusal(str(error))
    return ClockSketch(query, formula, automaton, tests, lane)


def _of_one_clock(formula: tree.Pattern, schema: Schema | None) -> TimedCEA:
    """The timed automaton of a formula, its clocks merged.

    Raises
    ------
    NotMonotonicError
        If several are left.
    """
    terms = in_nanoseconds if schema is None else _Terms(schema)
    found = merged_clocks(timed_cea(formula, ClockUse(terms))).timed
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
        reason = "runs with the same marks reset the clock at different events"
        raise NotSynchronousError(reason) from error
    except NotMonotonicError as error:
        raise NotMonotonicError(str(error)) from error


def beyond(reason: str) -> QueryError:
    """The error for a query that turns out, once the data is known, not to be of this kind."""
    return QueryError([Diagnostic(NOT_TAKEN, reason, None)], "")
