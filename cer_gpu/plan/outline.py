"""Checked statement -> outline: what can be compiled before any data is known, and by which theory.

- A **rule** becomes a parallelized automaton, if it is hierarchical (PCEA paper, Theorem 4.1).
- A query in which correlations make all events of a complex event equal in some attributes is **regular**
  once these are the key of its lanes: `A AS a ; B AS b FILTER a.id = b.id` is `A AS a ; B AS b` for each id.
- A query with other equalities between variables becomes a parallelized automaton, a chain.
- Any other query is **regular** as it stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cer_gpu.automata import compose, correlated
from cer_gpu.automata.cea import CEA, Predicate
from cer_gpu.automata.compose import Composed
from cer_gpu.automata.construct import construct
from cer_gpu.automata.determinise import predicates
from cer_gpu.automata.pcea import PCEA, Keys
from cer_gpu.automata.symbol_pcea import gather_predicates
from cer_gpu.automata.trim import trim
from cer_gpu.errors import QueryError
from cer_gpu.joins.hcq import to_pcea
from cer_gpu.joins.hierarchical import require_hierarchical
from cer_gpu.joins.query import ConjunctiveQuery, common_keys, from_rule
from cer_gpu.language import tree
from cer_gpu.language.rules import resolve
from cer_gpu.language.schema import Schema
from cer_gpu.language.scope import variables
from cer_gpu.logic.binding import reads
from cer_gpu.logic.correlations import unfolded
from cer_gpu.logic.formulas import correlates
from cer_gpu.logic.lifting import without
from cer_gpu.logic.lp import to_lp
from cer_gpu.plan.evaluated import beside_correlation, strategy_beside_chain, unevaluated
from cer_gpu.plan.join_tables import KeyColumn
from cer_gpu.plan.partitioning import shared_key

CHOOSING = (tree.Strategy.NEXT, tree.Strategy.LAST, tree.Strategy.MAX)
"""The strategies of SELECT that choose by the marked positions, so before the list drops marks."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What a statement is compiled to before any data is known.

    Attributes
    ----------
    statement : Query or Rule
    text : str
        As it was written.
    formula : Pattern or None
        The pattern in LP-normal form with the SELECT list as its outermost projection, unless the strategy of
        SELECT is to choose by what the list drops; None for a rule.
    automaton : CEA, Composed or PCEA
    tests : tuple of Predicate
        The distinct predicates of its transitions.
    lane : mapping of str to Keys, or None
        For each event type the attributes that all events of an answer share.
    body : ConjunctiveQuery or None
        Of a rule, with its atoms by name.
    """

    statement: tree.Statement
    text: str
    formula: tree.Pattern | None
    automaton: CEA | Composed | PCEA
    tests: tuple[Predicate, ...]
    lane: Mapping[str, Keys] | None = None
    body: ConjunctiveQuery | None = None

    def lane_columns(self) -> tuple[KeyColumn, ...]:
        """The column of a lane that has the same attributes for all event types; none without a lane."""
        return tuple(KeyColumn(0, keys) for keys in dict.fromkeys((self.lane or {}).values()))


def outline(statement: tree.Statement, text: str) -> Outline:
    """The part of compilation that needs no data.

    Parameters
    ----------
    statement : Query or Rule
        Well-formed.

    Raises
    ------
    QueryError
        For what is not evaluated yet, and what cannot be: a rule that is not hierarchical, a correlation
        that no automaton with equalities expresses.
    LimitError
        When the normal form would exceed its budget.
    """
    if found := unevaluated(statement):
        raise QueryError(found, text)
    if isinstance(statement, tree.Rule):
        return rule_outline(statement, text, None)
    # What a PROJECT drops marks nothing outside of it: a filter there holds (the checks have noted it).
    pattern = without(statement.pattern, reads(statement.pattern) - variables(statement.pattern))
    formula = to_lp(unfolded(pattern))
    if statement.strategy is tree.Strategy.STRICT:
        formula = tree.Selector(tree.Strategy.STRICT, formula)
    listed = _listed(formula, statement)
    if not correlates(formula):
        return _regular(statement, text, listed)
    if found := beside_correlation(statement):
        raise QueryError(found, text)
    # Inside PARTITION BY a further key would be a finer partition: windows and CONSUME BY mean the other.
    shared = None if statement.partition else shared_key(formula)
    lane = None if shared is None else shared.lane
    if shared is not None and shared.uniform and not correlates(shared.pattern):
        return _regular(statement, text, _listed(shared.pattern, statement), shared.lane)
    if found := strategy_beside_chain(statement):
        raise QueryError(found, text)
    try:
        try:
            automaton = correlated.to_pcea(listed)
        except QueryError:
            if shared is None:
                raise
            # what the key guarantees need not be carried from event to event
            listed = _listed(shared.pattern, statement)
            automaton = correlated.to_pcea(listed)
    except QueryError as error:
        raise QueryError(error.diagnostics, text) from None
    return Outline(statement, text, listed, automaton, gather_predicates(automaton), lane)


def _regular(
    query: tree.Query, text: str, formula: tree.Pattern, lane: Mapping[str, Keys] | None = None
) -> Outline:
    if compose.is_extended(formula):
        return Outline(query, text, formula, Composed(formula), compose.tests(formula), lane)
    automaton = trim(construct(formula))
    return Outline(query, text, formula, automaton, predicates(automaton), lane)


def rule_outline(rule: tree.Rule, text: str, schema: Schema | None) -> Outline:
    """The outline of a rule; without a schema the attributes that it gives by position have made-up names.

    Raises
    ------
    QueryError
        When the rule is not hierarchical.
    """
    query = from_rule(resolve(rule, schema))
    require_hierarchical(query, text)
    automaton = to_pcea(query)
    return Outline(rule, text, None, automaton, gather_predicates(automaton), common_keys(query), query)


def _listed(formula: tree.Pattern, query: tree.Query) -> tree.Pattern:
    """The formula with the SELECT list as its outermost projection, unless that comes after a choice."""
    return formula if query.strategy in CHOOSING else projected(formula, query.select)


def projected(formula: tree.Pattern, select: tuple[tree.SelectItem, ...] | None) -> tree.Pattern:
    """The formula with the SELECT list as its outermost projection."""
    if select is None:
        return formula
    return tree.Project(formula, tuple(item.variable for item in select))
