"""The formulas of a pattern that is made deterministic as it runs: `sketched`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cer_gpu.automata.cea import Predicate
from cer_gpu.automata.configurations.formulas import Counted, Spanned, predicates_of, stepped
from cer_gpu.automata.configurations.slots import TIME
from cer_gpu.frozen import dataclass
from cer_gpu.language import tree
from cer_gpu.language.chains import chain_of, flattened
from cer_gpu.language.leaves import aggregates, attributes, operands
from cer_gpu.language.schema import Schema
from cer_gpu.language.walk import nodes
from cer_gpu.logic.formulas import compares_events, rebuild, without_besides
from cer_gpu.logic.lp import to_lp
from cer_gpu.plan.compiled import KeyPlan, MarkForm
from cer_gpu.plan.configured import machine_of, remembers
from cer_gpu.plan.deterministic import shown_labels
from cer_gpu.plan.general import GeneralMachine, StrategyChoice
from cer_gpu.plan.marked import mark_form
from cer_gpu.plan.outline import CHOOSING, Outline, bare, chosen, in_time, listed
from cer_gpu.plan.reaches import ASSUMED, longest
from cer_gpu.plan.routes.general_explained import GeneralExplanation
from cer_gpu.plan.routes.route import Built
from cer_gpu.plan.symbols import Diagram

if TYPE_CHECKING:
    from cer_gpu.automata.pcea import Keys


@dataclass(frozen=True, slots=True)
class GeneralSketch:
    """A pattern before any data is known.

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
        """The sketch with its intervals in the unit of the data; a window over the order is one of time."""
        window = in_time(self.statement.window, schema.order)
        return replace(self, statement=replace(self.statement, window=window), schema=schema)

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
        whole = _within(listed(self.formula, query), query.window)
        machine = self._machine("run", whole, symbols)
        automaton = stepped(whole, symbols, self.tests)
        form = mark_form(automaton.labels, query)
        if query.strategy in CHOOSING:
            chosen, label_has = _chosen(query.strategy, form)
            machine, form = replace(machine, chosen=chosen), replace(form, label_has=label_has)
        return Built(
            machine=machine,
            hits_machine=self._machine(
                "hits", _spanned(tree.Project(self.formula, ()), query.window), symbols
            ),
            form=form,
            symbol_of=symbol_of,
            n_symbols=len(symbols),
            keys=KeyPlan.of_lane(self.lane, len(symbols)),
            never=len(symbols) == 1,
            explanation=GeneralExplanation(query, self.formula, machine, self.lane, automaton.columns),
            counts_machine=replace(machine, product="counts"),
            values=automaton.columns,
            windowed=query.window is not None and query.window.kind == "attribute",
            span=longest(self.formula, self.schema),
        )

    def _machine(
        self, product: Literal["run", "hits"], formula: Any, symbols: tuple[frozenset[int], ...]
    ) -> GeneralMachine:
        found = stepped(formula, symbols, self.tests)
        window = self.statement.window
        measured, over_attribute = set(), window is not None and window.kind == "attribute"
        if window is not None and product == "hits" and not over_attribute:
            measured.add(TIME if window.kind == "time" else 1 - TIME)
        machine = machine_of(found, formula, symbols, self.tests, self.schema)
        return replace(
            machine,
            product=product,
            timed=machine.timed or TIME in measured,
            placed=machine.placed or 1 - TIME in measured,
            prefix=remembers(self.formula),
        )


def _chosen(strategy: tree.Strategy, form: MarkForm) -> tuple[StrategyChoice, np.ndarray]:
    """How a strategy chooses, and which variables the labels mark that are shown of what it leaves.

    Labels are in the order of the names that they mark, as everywhere: answers that mark the same positions
    come in this order.
    """
    names = np.array(form.variables, object)
    rows = np.unique(form.label_has, axis=0)
    marking = sorted(rows[rows.any(1)], key=lambda row: sorted(names[row != 0]))
    shown = np.array([np.zeros(len(names)), *marking], np.uint8)
    return StrategyChoice(strategy.name, shown_labels(form.label_has, shown)), shown


def _within(formula: Any, window: tree.Window | None) -> Any:
    """A formula with the window of the query as an operator."""
    if window is None:
        return formula
    if window.kind == "time":
        return tree.Timed(formula, tree.Interval(None, tree.Bound(window.size, window.unit)))
    if window.kind == "attribute":
        return _spanned(formula, window)
    return Counted(formula, tree.Interval(None, tree.Bound(window.size)))


def _spanned(formula: Any, window: tree.Window | None) -> Any:
    """A formula with a window over an attribute as an operator."""
    if window is None or window.kind != "attribute" or window.attribute is None:
        return formula
    return Spanned(formula, tree.Attribute(window.attribute), window.size)


def sketched(outline: Outline) -> GeneralSketch:
    """The formulas of a query with a pattern.

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

    Only equalities that hold on their own count. Without its other comparisons the formula has more complex
    events, and even the events of each of these share the key.
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
    for node in nodes(without_besides(formula)):
        if isinstance(node, tree.Filter):
            yield from filter(_is_equality, flattened(tree.Both, node.condition))


def _conditions_changed(
    formula: tree.Pattern, change: Callable[[tree.Condition], list[tree.Condition]]
) -> tree.Pattern:
    """The formula with some parts of its filters that compare events left out."""
    if isinstance(formula, tree.Beside):
        return replace(formula, left=_conditions_changed(formula.left, change))
    made = rebuild(formula, lambda inner: _conditions_changed(inner, change))
    if not isinstance(made, tree.Filter) or not compares_events(made.condition):
        return made
    left = change(made.condition)
    return replace(made, condition=chain_of(tree.Both, left)) if left else made.pattern
