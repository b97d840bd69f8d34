"""The automaton of steps of a timed pattern: `sketched`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from cer_gpu.automata.cea import Identities, Predicate
from cer_gpu.automata.step_positions import PlaceAutomaton, beyond, place_automaton, repeated_step
from cer_gpu.automata.steps import determinise_steps
from cer_gpu.errors import QueryError
from cer_gpu.frozen import dataclass
from cer_gpu.language import tree
from cer_gpu.language.schema import Schema
from cer_gpu.logic.formulas import correlates
from cer_gpu.plan.compiled import KeyPlan
from cer_gpu.plan.evaluated import beside_correlation
from cer_gpu.plan.marked import mark_form
from cer_gpu.plan.outline import CHOOSING, Outline, listed
from cer_gpu.plan.reaches import ASSUMED, ROUNDED, reach_of
from cer_gpu.plan.routes.route import Built
from cer_gpu.plan.routes.timed_explained import TimedExplanation
from cer_gpu.plan.step_machine import StepMachine, gaps_in, reach_in, sessions_of, step_tables
from cer_gpu.plan.symbols import Diagram

if TYPE_CHECKING:
    from cer_gpu.automata.pcea import Keys


@dataclass(frozen=True, slots=True)
class TimedSketch:
    """A timed pattern before any data is known.

    Attributes
    ----------
    statement : Query
    formula : Pattern
        In LP-normal form, with the SELECT list as its outermost projection.
    automaton : PlaceAutomaton
    tests : tuple of Predicate
    lane : mapping of str to Keys, or None
        For each event type the attributes that all events of an answer share.
    lasting : tuple of Interval
        Upper bounds of the time from start to end.
    schema : Schema
    """

    statement: tree.SelectQuery
    formula: tree.Pattern
    automaton: PlaceAutomaton
    tests: tuple[Predicate, ...]
    lane: Mapping[str, Keys] | None
    lasting: tuple[tree.Interval, ...] = ()
    schema: Schema = ASSUMED

    def over(self, schema: Schema) -> TimedSketch:
        """The sketch with its intervals in the unit of the data."""
        return replace(self, schema=schema)

    def built(self, diagram: Diagram) -> Built:
        """The automaton over the classes of events and the regions of gaps."""
        query, schema = self.statement, self.schema
        intervals = dict.fromkeys(gap for step in self.automaton.steps for gap in step.gaps)
        gaps = gaps_in(intervals, schema)
        found = determinise_steps(self.automaton, diagram.outcomes, self.tests, gaps)
        lasting = [reach_of(interval, schema).high for interval in self.lasting]
        span = found.span
        if gaps.floating and span is not None:
            span *= 1 + ROUNDED
        hits_machine = machine = StepMachine(
            step_tables(found, gaps.floating), span, reach_in(found, gaps.floating)
        )
        form = mark_form(found.labels, query)
        if query.strategy in CHOOSING and found.final:
            label = found.state_label[0] if form.label_has[found.state_label[0]].any() else 0
            sessions = sessions_of(found.views, label, gaps.floating)
            machine = StepMachine(machine.tables, span, machine.reach, sessions)
        return Built(
            machine=machine,
            hits_machine=hits_machine,
            form=form,
            symbol_of=found.symbol_of,
            n_symbols=found.n_symbols,
            keys=KeyPlan.of_lane(self.lane, found.n_symbols),
            never=not found.final,
            explanation=TimedExplanation(query, self.formula, self.lane, self.automaton, found),
            span=min([most for most in (span, *lasting) if most is not None], default=None),
        )


def sketched(outline: Outline, query: tree.SelectQuery, formula: tree.Pattern) -> TimedSketch:
    """The automaton of a timed query.

    Raises
    ------
    QueryError
        CER091, when the automaton of steps does not express the pattern.
    LimitError
        When the automaton is too large.
    """
    lane = None
    if outline.correlates:
        shared = outline.shared
        if shared is None or not shared.uniform or correlates(shared.pattern):
            raise beyond("a comparison between variables", None, query.span)
        if found := beside_correlation(query):
            raise QueryError(found, "")
        formula, lane = shared.pattern, shared.lane
    lasting: list[tree.Interval] = []
    while isinstance(formula, tree.Timed) and _is_window(formula.interval, query.window):
        lasting.append(formula.interval)
        formula = formula.pattern
    formula = listed(formula, query)
    automaton = place_automaton(formula)
    if query.strategy in CHOOSING and (_over_attribute(query) or repeated_step(automaton) is None):
        raise beyond(f"the strategy `{query.strategy.value}`", None, query.span)
    known = Identities()
    tests = {known.of(place.predicate): place.predicate for place in automaton.places}
    return TimedSketch(query, formula, automaton, tuple(tests.values()), lane, tuple(lasting))


def _is_window(interval: tree.Interval, window: tree.Window | None) -> bool:
    """Whether `(p) WITHIN [I]` around the whole pattern says what WITHIN says, and both can be one window."""
    low, high = interval.low, interval.high
    from_nothing = low is None or (low.value == 0 and not low.open)
    return from_nothing and high is not None and (window is None or window.kind == "time")


def _over_attribute(query: tree.SelectQuery) -> bool:
    return query.window is not None and query.window.kind == "attribute"
