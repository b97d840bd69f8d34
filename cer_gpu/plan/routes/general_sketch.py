"""The formulas of a timed pattern that is made deterministic as it runs: `sketched`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cer_gpu.automata.cea import Predicate
from cer_gpu.automata.configurations.formulas import Counted, predicates_of, stepped
from cer_gpu.automata.configurations.slots import TIME
from cer_gpu.errors import Diagnostic, QueryError, Span
from cer_gpu.frozen import dataclass
from cer_gpu.language import tree
from cer_gpu.language.amounts import EVENTS
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.walk import nodes
from cer_gpu.logic.formulas import compares_events, correlates
from cer_gpu.plan.compiled import KeyColumn, KeyPlan, MarkForm
from cer_gpu.plan.deterministic import mark_columns
from cer_gpu.plan.general import GeneralMachine
from cer_gpu.plan.looks import reach_of
from cer_gpu.plan.marked import marking_several
from cer_gpu.plan.outline import CHOOSING, Outline, listed
from cer_gpu.plan.routes.general_explained import GeneralExplanation
from cer_gpu.plan.routes.route import Built
from cer_gpu.plan.symbols import Diagram

if TYPE_CHECKING:
    from cer_gpu.automata.pcea import Keys

ASSUMED = Schema({"time": ValueType.TIMESTAMP}, None, frozenset(), order="time", units={"time": "ns"})
"""In whose unit intervals are measured while the data is not known."""

REMEMBERING = (tree.Strategy.NEXT, tree.Strategy.LAST, tree.Strategy.MAX)
"""The selectors of which what they choose depends on events before the start."""


@dataclass(frozen=True, slots=True)
class GeneralSketch:
    """A timed pattern before any data is known.

    Attributes
    ----------
    statement : Query
    formula : Pattern
        In LP-normal form, without WITHIN, the strategy and the list of SELECT.
    tests : tuple of Predicate
    lane : mapping of str to Keys, or None
        For each event type the attributes that all events of an answer share.
    schema : Schema
    """

    statement: tree.SelectQuery
    formula: tree.Pattern
    tests: tuple[Predicate, ...]
    lane: Mapping[str, Keys] | None
    schema: Schema = ASSUMED

    def over(self, schema: Schema) -> GeneralSketch:
        """The sketch with its intervals in the unit of the data."""
        return replace(self, schema=schema)

    def built(self, diagram: Diagram) -> Built:
        """The machines over the classes of events."""
        query = self.statement
        numbers: dict[frozenset[int], int] = {}
        idle = stepped(self.formula, diagram.outcomes, self.tests).idle
        symbol_of = [
            0 if still else numbers.setdefault(outcome, len(numbers) + 1)
            for outcome, still in zip(diagram.outcomes, idle, strict=True)
        ]
        symbols = (frozenset[int](), *numbers)
        inside = _within(self.formula, query.window)
        if query.strategy in CHOOSING:
            chosen: Any = tree.Selector(query.strategy, inside)
            if query.select is not None:
                chosen = tree.Project(chosen, tuple(item.variable for item in query.select))
        else:
            chosen = _within(listed(self.formula, query), query.window)
        machine = self._machine("run", chosen, symbols)
        labels = stepped(chosen, symbols, self.tests).labels
        variables, label_has = mark_columns(labels, query.select)
        attributes = {item.variable: item.attributes for item in query.select or () if item.attributes}
        keys = KeyPlan()
        if self.lane is not None:
            columns = tuple(KeyColumn(0, names) for names in dict.fromkeys(self.lane.values()))
            asked = np.tile(np.arange(len(columns)) == 0, (len(symbols), 1))
            keys = KeyPlan(columns, np.zeros(len(symbols), np.int32), asked)
        return Built(
            machine=machine,
            hits_machine=self._machine("hits", tree.Project(self.formula, ()), symbols),
            form=MarkForm(variables, label_has, attributes, marking_several(query, variables)),
            symbol_of=symbol_of,
            n_symbols=len(symbols),
            keys=keys,
            never=len(symbols) == 1,
            explanation=GeneralExplanation(query, self.formula, machine, self.lane),
            counts_machine=replace(machine, product="counts"),
        )

    def _machine(
        self, product: Literal["run", "hits"], formula: Any, symbols: tuple[frozenset[int], ...]
    ) -> GeneralMachine:
        found = stepped(formula, symbols, self.tests)
        reaches = tuple(
            None if test.interval is None else reach_of(_in_units(test.interval, test.measure), self.schema)
            for test in found.tests.all
        )
        measures = {test.measure for test in found.tests.all if test.interval is not None}
        window = self.statement.window
        if window is not None and product == "hits":
            measures.add(TIME if window.kind == "time" else 1 - TIME)
        prefix = any(
            isinstance(node, tree.Selector) and node.strategy in REMEMBERING for node in nodes(self.formula)
        )
        timed, placed = TIME in measures, (1 - TIME) in measures
        return GeneralMachine(product, formula, symbols, self.tests, reaches, timed, placed, prefix)


def _in_units(interval: tree.Interval, measure: int) -> tree.Interval:
    """An interval of events as one that says so."""
    if measure == TIME:
        return interval
    low, high = (None if one is None else replace(one, unit=EVENTS) for one in (interval.low, interval.high))
    return tree.Interval(low, high)


def _within(formula: Any, window: tree.Window | None) -> Any:
    """A formula with the window of the query as an operator."""
    if window is None:
        return formula
    if window.kind == "time":
        return tree.Timed(formula, tree.Interval(None, tree.Bound(window.size, window.unit)))
    return Counted(formula, tree.Interval(None, tree.Bound(window.size)))


def sketched(outline: Outline, query: tree.SelectQuery, formula: tree.Pattern) -> GeneralSketch:
    """The formulas of a timed query.

    Raises
    ------
    QueryError
        CER090: for what is not evaluated beside intervals.
    """
    lane = None
    if outline.correlates:
        shared = outline.shared
        if shared is None or not shared.uniform or correlates(shared.pattern):
            raise _beyond(
                "a comparison between variables beside an interval of time",
                _compared(query),
                "where all events of a match share the value, write PARTITION BY with its attribute; else "
                "compare with constants, or leave the interval out",
            )
        formula, lane = shared.pattern, shared.lane
    if query.window is not None and query.window.kind == "attribute":
        what = "`WITHIN` over an attribute beside an interval of time"
        raise _beyond(what, query.span, "bound the time or the number of events, or leave the interval out")
    return GeneralSketch(query, formula, predicates_of(formula), lane)


def _compared(query: tree.SelectQuery) -> Span | None:
    """Where the first comparison between events stands."""
    filters = (node for node in nodes(query.pattern) if isinstance(node, tree.Filter))
    return next((node.condition.span for node in filters if compares_events(node.condition)), query.span)


def _beyond(what: str, span: Span | None, hint: str) -> QueryError:
    return QueryError([Diagnostic("CER090", f"{what} is not evaluated yet", span, hints=(hint,))])
