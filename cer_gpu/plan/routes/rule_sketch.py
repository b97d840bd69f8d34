"""The automaton of a rule: `sketched`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from cer_gpu.automata.cea import Predicate
from cer_gpu.automata.pcea import PCEA, Keys
from cer_gpu.automata.symbol_pcea import gather_predicates, over_symbols
from cer_gpu.frozen import dataclass
from cer_gpu.joins.hcq import to_pcea
from cer_gpu.joins.hierarchical import diagnose
from cer_gpu.joins.query import ConjunctiveQuery, common_keys, from_rule
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.language.rules import resolve
from cer_gpu.language.schema import Schema
from cer_gpu.plan.join_arrays import join_arrays
from cer_gpu.plan.lane_atoms import lane_atoms
from cer_gpu.plan.routes.joined import built
from cer_gpu.plan.routes.joined_explained import JoinExplanation
from cer_gpu.plan.routes.route import Built, Refusal
from cer_gpu.plan.routes.rule_form import tuple_form
from cer_gpu.plan.symbols import Diagram


@dataclass(frozen=True, slots=True)
class RuleSketch:
    """A rule; until the schema is known, attributes that it gives by position have made-up names.

    Attributes
    ----------
    statement : Rule
    body : ConjunctiveQuery
    automaton : PCEA
        Unambiguous by construction.
    tests : tuple of Predicate
    lane : mapping of str to Keys, or None
        For each event type the attributes that all events of an answer share.
    """

    statement: tree.Rule
    body: ConjunctiveQuery
    automaton: PCEA
    tests: tuple[Predicate, ...]
    lane: Mapping[str, Keys] | None

    def over(self, schema: Schema) -> RuleSketch:
        """The sketch with the attributes that a schema gives the atoms by position."""
        return _sketched(self.statement, from_rule(resolve(self.statement, schema)))

    def built(self, diagram: Diagram) -> Built:
        """The machine, and what the answers are made of."""
        found = join_arrays(over_symbols(self.automaton, diagram.outcomes, self.tests), self.lane)
        explanation = JoinExplanation(
            self.statement, None, self.body, self.automaton, found.tables, self.lane
        )
        form = tuple_form(self.statement, self.body)
        filled = _filled(self.body, found.labels)
        return built(found, form, filled, explanation, lane_atoms(self.body, found, filled))


def sketched(rule: tree.Rule) -> RuleSketch | Refusal:
    """The parallelized automaton of a rule, or why it has none."""
    query = from_rule(resolve(rule, None))
    if query.comparisons:
        return Refusal(f"`{to_text(query.comparisons[0])}` compares events of different atoms")
    if (found := diagnose(query)) is not None:
        return Refusal(found.message)
    return _sketched(rule, query)


def _sketched(rule: tree.Rule, query: ConjunctiveQuery) -> RuleSketch:
    automaton = to_pcea(query)
    return RuleSketch(rule, query, automaton, gather_predicates(automaton), common_keys(query))


def _filled(body: ConjunctiveQuery, labels: Sequence[frozenset[Hashable]]) -> np.ndarray:
    """Which atoms a label fills: shape (labels, atoms), uint8."""
    fills = np.array([[atom.id in label for atom in body.atoms] for label in labels], np.uint8)
    return fills.reshape(len(labels), len(body.atoms))
