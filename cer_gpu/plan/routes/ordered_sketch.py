"""The automaton of compared steps of a pattern: `sketched`."""

from __future__ import annotations

from collections.abc import Mapping

from cer_gpu.automata.cea import Identities, Predicate
from cer_gpu.automata.compared import OPERATORS, PairAutomaton, pair_automaton
from cer_gpu.automata.compared_steps import determinise_compared
from cer_gpu.automata.pcea import Keys
from cer_gpu.frozen import dataclass
from cer_gpu.language import tree
from cer_gpu.language.schema import Schema
from cer_gpu.logic.correlations import unfolded
from cer_gpu.logic.lp import to_lp
from cer_gpu.plan.compared import ComparedMachine, compared_arrays, look_up
from cer_gpu.plan.compared_choices import compared_choice
from cer_gpu.plan.marked import mark_form
from cer_gpu.plan.outline import CHOOSING, bare, listed
from cer_gpu.plan.partitioning import shared_key
from cer_gpu.plan.routes.ordered_explained import OrderedExplanation
from cer_gpu.plan.routes.route import Built
from cer_gpu.plan.symbols import Diagram


@dataclass(frozen=True, slots=True)
class OrderedSketch:
    """A pattern of compared steps before any data is known.

    Attributes
    ----------
    statement : Query
    formula : Pattern
        In LP-normal form, with the SELECT list as its outermost projection.
    automaton : PairAutomaton
    tests : tuple of Predicate
    lane : mapping of str to Keys, or None
        For each event type the attributes that all events of an answer share.
    """

    statement: tree.SelectQuery
    formula: tree.Pattern
    automaton: PairAutomaton
    tests: tuple[Predicate, ...]
    lane: Mapping[str, Keys] | None

    def over(self, schema: Schema) -> OrderedSketch:
        """The same: its predicates name the attributes."""
        return self

    def built(self, diagram: Diagram) -> Built:
        """The automaton over the classes of events."""
        query = self.statement
        found = determinise_compared(self.automaton, diagram.outcomes, self.tests)
        arrays = compared_arrays(found, self.lane)
        every = machine = ComparedMachine(arrays.tables, len(arrays.keys.columns))
        form = mark_form(found.labels, query)
        if query.strategy in CHOOSING and found.final:
            choice = compared_choice(found, arrays.tables, query, form.label_has)
            machine = ComparedMachine(every.tables, every.slot_rows, choice)
        return Built(
            machine=machine,
            # Where some complex event ends, a strategy leaves one: hits need no choice.
            hits_machine=every,
            form=form,
            symbol_of=found.symbol_of,
            n_symbols=found.n_symbols,
            keys=arrays.keys,
            never=not found.final,
            explanation=OrderedExplanation(query, self.formula, self.lane, self.automaton, found),
        )


def sketched(query: tree.SelectQuery) -> OrderedSketch:
    """The automaton of a pattern that compares each event with the marked one before it.

    Raises
    ------
    QueryError
        CER091, when the automaton does not express the pattern.
    LimitError
        When the formula or the automaton is too large.
    """
    formula = to_lp(unfolded(bare(query)))
    shared = None if query.partition else shared_key(formula, OPERATORS)
    formula = listed(formula if shared is None else shared.pattern, query)
    automaton = pair_automaton(formula)
    for step in automaton.steps:
        look_up(step.tests)
    known = Identities()
    tests = {known.of(predicate): predicate for predicate in automaton.predicates}
    lane = None if shared is None else shared.lane
    return OrderedSketch(query, formula, automaton, tuple(tests.values()), lane)
