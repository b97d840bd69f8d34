"""The formulas of a pattern that is made deterministic as it runs: `sketched`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cer_gpu.automata.cea import Predicate
from cer_gpu.automata.configurations.formulas import Counted, Spanned, Stepped, predicates_of, stepped
from cer_gpu.automata.configurations.slots import TIME
from cer_gpu.frozen import dataclass
from cer_gpu.language import tree
from cer_gpu.language.amounts import EVENTS
from cer_gpu.language.chains import chain_of, flattened
from cer_gpu.language.leaves import aggregates, attributes, operands
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.walk import nodes
from cer_gpu.logic.formulas import compares_events, rebuild
from cer_gpu.logic.lp import to_lp
from cer_gpu.plan.compiled import KeyColumn, KeyPlan, MarkForm
from cer_gpu.plan.constants import ConstantReader, Measure
from cer_gpu.plan.deterministic import mark_columns
from cer_gpu.plan.general import GeneralMachine
from cer_gpu.plan.looks import reach_of
from cer_gpu.plan.marked import marking_several
from cer_gpu.plan.outline import CHOOSING, Outline, bare, chosen, listed
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
    """A pattern with intervals or comparisons before any data is known.

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
            whole: Any = tree.Selector(query.strategy, inside)
            if query.select is not None:
                whole = tree.Project(whole, tuple(item.variable for item in query.select))
        else:
            whole = _within(listed(self.formula, query), query.window)
        machine = self._machine("run", whole, symbols)
        automaton = stepped(whole, symbols, self.tests)
        labels = automaton.labels
        variables, label_has = mark_columns(labels, query.select)
        attributes = {item.variable: item.attributes for item in query.select or () if item.attributes}
        keys = KeyPlan()
        if self.lane is not None:
            columns = tuple(KeyColumn(0, names) for names in dict.fromkeys(self.lane.values()))
            asked = np.tile(np.arange(len(columns)) == 0, (len(symbols), 1))
            keys = KeyPlan(columns, np.zeros(len(symbols), np.int32), asked)
        return Built(
            machine=machine,
            hits_machine=self._machine(
                "hits", _spanned(tree.Project(self.formula, ()), query.window), symbols
            ),
            form=MarkForm(variables, label_has, attributes, marking_several(query, variables)),
            symbol_of=symbol_of,
            n_symbols=len(symbols),
            keys=keys,
            never=len(symbols) == 1,
            explanation=GeneralExplanation(query, self.formula, machine, self.lane, automaton.columns),
            counts_machine=replace(machine, product="counts"),
            values=automaton.columns,
            windowed=query.window is not None and query.window.kind == "attribute",
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
        if window is not None and product == "hits" and window.kind != "attribute":
            measures.add(TIME if window.kind == "time" else 1 - TIME)
        prefix = any(
            isinstance(node, tree.Selector) and node.strategy in REMEMBERING for node in nodes(self.formula)
        )
        timed, placed = TIME in measures, (1 - TIME) in measures
        registers = bool(found.comparisons or found.columns)
        reals = None if window is not None and window.kind == "attribute" else reals_of(found, self.schema)
        return GeneralMachine(
            product, formula, symbols, self.tests, reaches, timed, placed, prefix, registers, (), reals
        )


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
    if window.kind == "attribute":
        return _spanned(formula, window)
    return Counted(formula, tree.Interval(None, tree.Bound(window.size)))


def reals_of(automaton: Stepped, schema: Schema) -> tuple[bool, ...] | None:
    """Which values are floats, where all comparisons are of two numbers of one type; else None."""
    reader = ConstantReader(schema)
    found: dict[int, bool] = {}
    for one in automaton.comparisons:
        if isinstance(one.condition, tree.Every):
            continue
        if not one.is_of_two:
            return None
        columns = [own for (own,) in one.columns]
        try:
            kinds = [reader.type_of(automaton.columns[column]) for column in columns]
        except KeyError:
            kinds = [Measure(ValueType.FLOAT64)] * 2  # nothing is known of the data yet
        if kinds[0][:2] != kinds[1][:2] or kinds[0].type not in NUMBERS:
            return None
        found |= dict.fromkeys(columns, kinds[0].type is ValueType.FLOAT64)
    return tuple(found.get(column, False) for column in range(len(automaton.columns)))


NUMBERS = (ValueType.INT64, ValueType.FLOAT64, ValueType.TIMESTAMP, ValueType.DURATION)
"""The types whose values are numbers of 64 bits."""


def _spanned(formula: Any, window: tree.Window | None) -> Any:
    """A formula with a window over an attribute as an operator."""
    if window is None or window.kind != "attribute" or window.attribute is None:
        return formula
    return Spanned(formula, tree.Attribute(window.attribute), window.size)


def sketched(outline: Outline) -> GeneralSketch:
    """The formulas of a query with intervals or comparisons.

    Raises
    ------
    LimitError
        When the normal form would exceed its budget.
    """
    query, formula, lane = outline.statement, outline.formula, None
    assert isinstance(query, tree.SelectQuery)
    assert formula is not None
    if outline.correlates:
        if not outline.beyond:
            formula = chosen(to_lp(bare(query)), query)
        if not query.partition:
            formula, lane = keyed(formula)
    return GeneralSketch(query, formula, predicates_of(formula), lane)


def keyed(formula: tree.Pattern) -> tuple[tree.Pattern, Mapping[str, Keys] | None]:
    """The key of lanes that the equalities of a formula give, and the formula without these.

    Only equalities count that hold by themselves. What is left of a formula without its other comparisons has
    more complex events, all events of each of which share the key.
    """
    from cer_gpu.plan.partitioning import shared_key

    relaxed = _conditions_changed(formula, _equalities)
    shared = shared_key(relaxed)
    if shared is None or not shared.uniform:
        return formula, None
    left = set(_equalities_in(shared.pattern))
    removed = frozenset(one for one in _equalities_in(relaxed) if one not in left)
    kept = _conditions_changed(
        formula, lambda condition: [one for one in flattened(tree.Both, condition) if one not in removed]
    )
    return kept, shared.lane


def _equalities(condition: tree.Condition) -> list[tree.Condition]:
    """The equalities of two variables among the parts of a conjunction, and its unary predicates."""
    return [one for one in flattened(tree.Both, condition) if _is_equality(one) or not compares_events(one)]


def _is_equality(condition: tree.Condition) -> bool:
    if not isinstance(condition, tree.Comparison) or condition.op != "=":
        return False
    sides = [{(one.variable, one.prior) for one in attributes(side)} for side in operands(condition)]
    if any(aggregates(*operands(condition))) or any(len(side) != 1 for side in sides):
        return False
    return sides[0] != sides[1] and not any(prior for side in sides for _, prior in side)


def _equalities_in(formula: tree.Pattern) -> Iterator[tree.Condition]:
    for node in nodes(formula):
        if isinstance(node, tree.Filter):
            yield from filter(_is_equality, flattened(tree.Both, node.condition))


def _conditions_changed(
    formula: tree.Pattern, change: Callable[[tree.Condition], list[tree.Condition]]
) -> tree.Pattern:
    """The formula with some parts of its filters that compare events left out."""
    made = rebuild(formula, lambda inner: _conditions_changed(inner, change))
    if not isinstance(made, tree.Filter) or not compares_events(made.condition):
        return made
    left = change(made.condition)
    return replace(made, condition=chain_of(tree.Both, left)) if left else made.pattern
