"""Regular queries: every filter speaks of one event, at least after the stream is partitioned by a key.

`A AS a ; B AS b FILTER a[price > 3]` becomes a deterministic complex event automaton. So does
`A AS a ; B AS b FILTER a.id = b.id`, since it is `A AS a ; B AS b` on the events of each id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cer_gpu.automata import compose
from cer_gpu.automata.cea import CEA, Predicate
from cer_gpu.automata.compose import Composed
from cer_gpu.automata.construct import construct
from cer_gpu.automata.determinise import predicates
from cer_gpu.automata.trim import trim
from cer_gpu.frozen import dataclass
from cer_gpu.language import tree
from cer_gpu.language.schema import Schema
from cer_gpu.logic.formulas import correlates
from cer_gpu.plan.automaton import AutomatonMachine, Choice, programs_of
from cer_gpu.plan.compiled import KeyPlan
from cer_gpu.plan.cost import Cost, Question
from cer_gpu.plan.deterministic import (
    Deterministic,
    Selected,
    deterministic,
    select_machine,
    shown_labels,
    tables,
)
from cer_gpu.plan.evaluated import beside_correlation
from cer_gpu.plan.marked import mark_form
from cer_gpu.plan.outline import CHOOSING, Outline, listed
from cer_gpu.plan.routes.regular_explained import RegularExplanation
from cer_gpu.plan.routes.route import Built, Refusal
from cer_gpu.plan.symbols import Diagram

if TYPE_CHECKING:
    from cer_gpu.automata.pcea import Keys

NAME = "regular"

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


@dataclass(frozen=True, slots=True)
class RegularSketch:
    """A regular query before any data is known.

    Attributes
    ----------
    statement : Query
    formula : Pattern
        In LP-normal form, with the SELECT list as its outermost projection, unless the strategy of SELECT
        chooses by marks that the list drops.
    automaton : CEA or Composed
    tests : tuple of Predicate
        The distinct predicates of its transitions.
    lane : mapping of str to Keys, or None
        For each event type the attributes that all events of an answer share, the same for all types.
    """

    statement: tree.SelectQuery
    formula: tree.Pattern
    automaton: CEA | Composed
    tests: tuple[Predicate, ...]
    lane: Mapping[str, Keys] | None

    def over(self, schema: Schema) -> RegularSketch:
        """The same: its predicates name the attributes."""
        return self

    def built(self, diagram: Diagram) -> Built:
        """The automaton over the classes of events, and the choice of the strategy."""
        query = self.statement
        found = deterministic(self.formula, self.automaton, self.tests, diagram)
        n_symbols = max(found.automaton.n_symbols, 1 + max(found.symbol_of, default=0))
        arrays = tables(found.automaton)
        every = AutomatonMachine(arrays, programs_of(arrays), found.monitor)
        form = mark_form(found.automaton.labels, query)
        machine, selected = every, None
        if query.strategy in CHOOSING:
            selected = select_machine(found.automaton, query)
            n_symbols = max(n_symbols, selected.n_symbols)
            machine, label_has = _choosing(every, selected, form.label_has)
            form = replace(form, label_has=label_has)
        return Built(
            machine=machine,
            # Where some complex event ends, a strategy leaves one: hits need no choice.
            hits_machine=every,
            form=form,
            symbol_of=found.symbol_of,
            n_symbols=n_symbols,
            keys=KeyPlan.of_lane(self.lane, n_symbols),
            never=not found.automaton.final,
            explanation=self._explained(found, every, selected, diagram),
        )

    def _explained(
        self, found: Deterministic, machine: AutomatonMachine, selected: Selected | None, diagram: Diagram
    ) -> RegularExplanation:
        sketched = self.statement, self.formula, self.automaton, self.tests, self.lane
        return RegularExplanation(*sketched, diagram, found, machine, selected)


def _choosing(
    every: AutomatonMachine, selected: Selected, label_has: np.ndarray
) -> tuple[AutomatonMachine, np.ndarray]:
    """The machine of what a strategy leaves, and the variables that its labels mark in results."""
    if not selected.later:
        assert selected.tables is not None
        monitor = every.monitor
        if selected.monitor is not None:
            monitor = selected.monitor if monitor is None else monitor.then(selected.monitor)
        return AutomatonMachine(selected.tables, programs_of(selected.tables), monitor), selected.label_has
    after = label_has if selected.tables is None else selected.label_has
    shown = shown_labels(label_has, after)
    choice = Choice(selected.strategy, selected.single, selected.tables, selected.monitor, shown)
    return replace(every, choice=choice), after


def sketch(outline: Outline) -> RegularSketch | Refusal:
    """The automaton of a query whose filters speak of one event each, after partitioning by a shared key."""
    query, formula = outline.statement, outline.formula
    if isinstance(query, tree.Rule) or formula is None:
        return Refusal("a rule has no pattern")
    if outline.timed:
        return Refusal("its pattern has intervals of time")
    if outline.beyond:
        return Refusal(f"it has {outline.beyond}, which is not an equality of two events")
    if not outline.correlates:
        return _sketched(query, formula, None)
    if found := beside_correlation(query):
        return Refusal(found[0].message, tuple(found))
    shared = outline.shared
    if shared is None or not shared.uniform or correlates(shared.pattern):
        return Refusal("its comparisons do not make all events of an answer share one key")
    return _sketched(query, shared.pattern, shared.lane)


def _sketched(
    query: tree.SelectQuery, formula: tree.Pattern, lane: Mapping[str, Keys] | None
) -> RegularSketch:
    formula = listed(formula, query)
    if compose.is_extended(formula):
        return RegularSketch(query, formula, Composed(formula), compose.tests(formula), lane)
    automaton = trim(construct(formula))
    return RegularSketch(query, formula, automaton, predicates(automaton), lane)


def cost(sketch: RegularSketch, question: Question) -> Cost:
    """What it costs to answer a question."""
    return (COSTS if sketch.lane is None else KEYED)[question]
