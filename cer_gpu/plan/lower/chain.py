"""Chains: each event is compared by equality with the one before it in the complex event.

`Login AS l ; Download AS d ; Connect AS c FILTER l.user = d.user AND d.host = c.host` becomes a parallelized
complex event automaton in which every transition gathers one run (a CCEA).
"""

from __future__ import annotations

import numpy as np

from cer_gpu.automata import chains
from cer_gpu.automata.disambiguation import disambiguate
from cer_gpu.automata.symbol_pcea import gather_predicates
from cer_gpu.errors import QueryError
from cer_gpu.plan.join_arrays import join_arrays
from cer_gpu.plan.join_tables import JoinMachine
from cer_gpu.plan.lower.join_machine import COSTS, Join, built
from cer_gpu.plan.lower.lowering import BuiltMachine, Candidate, Refusal, Sketch
from cer_gpu.plan.marks import mark_form
from cer_gpu.plan.outline import Outline, listed
from cer_gpu.plan.phrases import formula_told
from cer_gpu.plan.symbols import Diagram

NO_ATOMS = np.zeros((0, 0), np.uint8)
"""The labels of a query that is no rule: they fill no atoms."""


def lower(outline: Outline) -> Candidate | Refusal:
    """The parallelized automaton of a query that compares events by equality."""
    query, shared = outline.query, outline.shared
    formula = listed(outline.pattern, query)
    try:
        try:
            automaton = chains.to_pcea(formula)
        except QueryError:
            if shared is None:
                raise
            # What the key guarantees need not be carried from event to event.
            formula = listed(shared.pattern, query)
            automaton = chains.to_pcea(formula)
    except QueryError as error:
        return Refusal.of(error)
    tests = gather_predicates(automaton)
    join = Join(
        "joined by equality: a chain of events, each compared with the one before it (CCEA)",
        "each event is equal to the one before it in some attribute",
        "partial matches are looked up by the value that the next event must have",
        automaton,
        None if shared is None else shared.lane,
        lambda: (formula_told(formula, query),),
    )

    def build(diagram: Diagram) -> BuiltMachine:
        """The machine of the chain, which is made unambiguous first."""
        found = join_arrays(disambiguate(automaton, diagram.outcomes, tests), join.lane)
        machine = JoinMachine(found.tables, found.spaces, NO_ATOMS)
        return built(join, found, mark_form(found.labels, query), machine)

    return Candidate.of(COSTS, Sketch(tests, build))
