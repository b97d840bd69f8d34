"""Formulas whose automata are composed over symbols, operator by operator, and what they read."""

from __future__ import annotations

from collections.abc import Sequence

from cer_gpu.automata.cea import CEA, OutlookTest, Predicate, identity, literals
from cer_gpu.automata.construct import construct, trim
from cer_gpu.automata.determinise import predicates
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree
from cer_gpu.language.tree import Truth
from cer_gpu.language.walk import own_children, own_nodes


@dataclass(frozen=True, slots=True)
class FormulaAutomaton:
    """A formula whose automaton is built over symbols, once these are known.

    Attributes
    ----------
    formula : Pattern
        In LP-normal form.
    """

    formula: tree.Pattern


@dataclass(frozen=True, slots=True)
class OperatorSizes:
    """An operator of a formula, with the sizes of the automata of its operands and of its own.

    Attributes
    ----------
    operator : str
        As it is written.
    before : tuple of int
        The states of its operands' automata.
    after : int
        The states of its own.
    """

    operator: str
    before: tuple[int, ...]
    after: int


EXTENDED = (tree.And, tree.All, tree.Unless, tree.Selector)


def is_extended(pattern: tree.Pattern) -> bool:
    """Whether a formula needs match automata: it has AND, ALL, UNLESS, a selector, or a filter around one."""
    return any(isinstance(node, EXTENDED) for node in own_nodes(pattern))


def tests_of(formula: tree.Pattern) -> tuple[Predicate, ...]:
    """The distinct predicates that the match automaton of a formula reads.

    Raises
    ------
    TypeError
        For a formula that is not in LP-normal form.
    """
    found: dict[tuple[object, ...], Predicate] = {identity(Truth(True)): Truth(True)}
    pending = [formula]
    while pending:
        node = pending.pop()
        read: Sequence[Predicate]
        if is_extended(node):
            read = own_predicates(node)
            pending += reversed(own_children(node))
        else:
            read = predicates(core(node))
        for predicate in read:
            found.setdefault(identity(predicate), predicate)
    return tuple(found.values())


def core(pattern: tree.Pattern) -> CEA:
    """The CEA of a formula that is not extended."""
    return trim(construct(pattern))


def own_predicates(node: tree.Pattern) -> list[Predicate]:
    """The predicates that an operator reads by itself."""
    if isinstance(node, tree.Beside):
        return [OutlookTest(node.right, node.before, node.interval)]
    return [literal.predicate for literal in literals(node)]
