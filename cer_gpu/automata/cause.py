"""Finds the subformula that makes a deterministic automaton large."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cer_gpu.automata.cea import Predicate, distinct
from cer_gpu.automata.construct import construct
from cer_gpu.automata.determinise import DEFAULT_BUDGET, determinise
from cer_gpu.automata.trim import trim
from cer_gpu.errors import LimitError
from cer_gpu.language import tree
from cer_gpu.language.walk import own_children

SHARE = 16
"""An operand whose automaton takes more than 1 / SHARE of the budget is to blame."""

_STATES = 8_000
"""States of the nondeterministic automata that a search may build: a quarter of a second."""


def cause(
    formula: tree.Pattern,
    symbols: Sequence[frozenset[int]],
    predicates: Sequence[Predicate],
    budget: int = DEFAULT_BUDGET,
) -> tree.Pattern:
    """The smallest subformula to blame for an automaton over the budget.

    Descends from `formula` as long as an operand alone, with the AS and PROJECT around it, takes more than
    a sixteenth of the budget. An exploding automaton passes that soon, so this costs little; in a very large
    formula the search ends early.

    Parameters
    ----------
    formula : Pattern
        In LP-normal form; its deterministic automaton is over the budget.
    symbols, predicates
        Those of the whole formula, as given to `determinise`, each predicate once.
    budget : int

    Returns
    -------
    Pattern
        A node of `formula`.
    """
    threshold = budget // SHARE
    left = _STATES
    around: list[tree.As | tree.Project] = []
    while True:
        if isinstance(formula, tree.As | tree.Project):
            around.append(formula)
        for operand in () if isinstance(formula, tree.Filter) else own_children(formula):
            cea = trim(construct(_wrapped(operand, around)))
            left -= cea.n_states
            if left < 0:
                return formula
            if len(distinct((*predicates, *(move.predicate for move in cea.transitions)))) > len(predicates):
                continue  # alone, an operand may look ahead or back in another way than in the whole formula
            try:
                determinise(cea, symbols, predicates, threshold)
            except LimitError:
                formula = operand
                break
        else:
            return formula


def _wrapped(operand: tree.Pattern, around: Sequence[tree.As | tree.Project]) -> tree.Pattern:
    for node in reversed(around):
        operand = replace(node, pattern=operand)
    return operand
