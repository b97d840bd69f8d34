"""Chains: each event is compared by equality with the one before it in the complex event.

`Login AS l ; Download AS d ; Connect AS c FILTER l.user = d.user AND d.host = c.host` becomes a parallelized
complex event automaton in which every transition gathers one run (a CCEA).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cer_gpu.automata import correlated
from cer_gpu.automata.cea import Predicate
from cer_gpu.automata.pcea import PCEA, Keys
from cer_gpu.automata.symbol_pcea import gather_predicates
from cer_gpu.automata.unambiguous import disambiguate
from cer_gpu.errors import QueryError
from cer_gpu.frozen import dataclass
from cer_gpu.language import tree
from cer_gpu.language.schema import Schema
from cer_gpu.plan.compiled import MarkForm
from cer_gpu.plan.deterministic import mark_columns
from cer_gpu.plan.evaluated import beside_correlation, strategy_beside_chain
from cer_gpu.plan.join_arrays import join_arrays
from cer_gpu.plan.outline import Outline, listed
from cer_gpu.plan.routes.joined import built
from cer_gpu.plan.routes.joined_explained import JoinExplanation
from cer_gpu.plan.routes.route import Built, Refusal
from cer_gpu.plan.symbols import Diagram

NAME = "chain"

NO_ATOMS = np.zeros((0, 0), np.uint8)
"""The labels of a query that is no rule: they fill no atoms."""


@dataclass(frozen=True, slots=True)
class ChainSketch:
    """A chain before any data is known.

    Attributes
    ----------
    statement : Query
    formula : Pattern
        In LP-normal form, with the SELECT list as its outermost projection.
    automaton : PCEA
    tests : tuple of Predicate
    lane : mapping of str to Keys, or None
        For each event type the attributes that all events of an answer share.
    """

    statement: tree.SelectQuery
    formula: tree.Pattern
    automaton: PCEA
    tests: tuple[Predicate, ...]
    lane: Mapping[str, Keys] | None

    def over(self, schema: Schema) -> ChainSketch:
        """The same: its predicates name the attributes."""
        return self

    def built(self, diagram: Diagram) -> Built:
        """The machine; a chain is made unambiguous first."""
        found = join_arrays(disambiguate(self.automaton, diagram.outcomes, self.tests), self.lane)
        query = self.statement
        variables, label_has = mark_columns(found.labels, query.select)
        attributes = {item.variable: item.attributes for item in query.select or () if item.attributes}
        form = MarkForm(variables, label_has, attributes)
        explanation = JoinExplanation(query, self.formula, None, self.automaton, found.tables, self.lane)
        return built(found, form, NO_ATOMS, explanation)


def sketch(outline: Outline) -> ChainSketch | Refusal:
    """The parallelized automaton of a query that compares events by equality."""
    query, formula, shared = outline.statement, outline.formula, outline.shared
    if outline.unevaluated:
        return Refusal(outline.unevaluated[0].message, outline.unevaluated)
    if isinstance(query, tree.Rule) or formula is None:
        return Refusal("a rule has no pattern")
    if not outline.correlates:
        return Refusal("no filter compares two events")
    if found := beside_correlation(query) or strategy_beside_chain(query):
        return Refusal(found[0].message, tuple(found))
    formula = listed(formula, query)
    try:
        try:
            automaton = correlated.to_pcea(formula)
        except QueryError:
            if shared is None:
                raise
            # What the key guarantees need not be carried from event to event.
            formula = listed(shared.pattern, query)
            automaton = correlated.to_pcea(formula)
    except QueryError as error:
        return Refusal(error.diagnostics[0].message, error.diagnostics)
    lane = None if shared is None else shared.lane
    return ChainSketch(query, formula, automaton, gather_predicates(automaton), lane)
