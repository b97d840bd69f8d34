"""The automaton of a chain: `sketched`."""

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
from cer_gpu.plan.join_arrays import join_arrays
from cer_gpu.plan.marked import mark_form
from cer_gpu.plan.outline import listed
from cer_gpu.plan.partitioning import SharedKey
from cer_gpu.plan.routes.joined import built
from cer_gpu.plan.routes.joined_explained import JoinExplanation
from cer_gpu.plan.routes.route import Built, Refusal
from cer_gpu.plan.symbols import Diagram

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
        form = mark_form(found.labels, query)
        explanation = JoinExplanation(query, self.formula, None, self.automaton, found.tables, self.lane)
        return built(found, form, NO_ATOMS, explanation)


def sketched(
    query: tree.SelectQuery, formula: tree.Pattern, shared: SharedKey | None
) -> ChainSketch | Refusal:
    """The parallelized automaton of a query that compares events by equality.

    Parameters
    ----------
    query : SelectQuery
    formula : Pattern
        Its pattern in LP-normal form.
    shared : SharedKey or None
        As in `Outline`.
    """
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
