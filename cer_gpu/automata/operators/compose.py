"""From a formula with AND, ALL, UNLESS and selectors to its match automaton.

Subformulas without these become one CEA each, of linear size; the operators around them are built over
symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from cer_gpu.automata.cea import Label, Predicate, evaluated, identity, literals
from cer_gpu.automata.configurations.binary_operators import (
    Alternative,
    PatternConjunction,
    UnlessOperator,
    UnorderedPair,
)
from cer_gpu.automata.configurations.debts import NOTHING_OWED
from cer_gpu.automata.configurations.member import END, Member, PlainSymbol, Step
from cer_gpu.automata.configurations.registers import EventFacts
from cer_gpu.automata.configurations.selectors import StrictSelector
from cer_gpu.automata.configurations.sequences import Elements, Joint, PatternRepetition
from cer_gpu.automata.configurations.slots import State
from cer_gpu.automata.configurations.unary_operators import ContextOperator, LabelOperator, VariableFilter
from cer_gpu.automata.construct import check_repetitions, leaning_elements, relabelled
from cer_gpu.automata.match import Budget, MatchAutomaton, build, of_cea, refined
from cer_gpu.automata.operators.formula import OperatorSizes, core, is_extended, own_predicates
from cer_gpu.automata.operators.selectors import select
from cer_gpu.errors import LimitError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree
from cer_gpu.language.chains import linked, links
from cer_gpu.language.printer import abridged, operator_text
from cer_gpu.language.repetitions import has_optional
from cer_gpu.language.tree import Strategy
from cer_gpu.language.walk import own_children


@dataclass(frozen=True, slots=True)
class Composition:
    """The automaton of a formula, and the operators that built it, the inner ones first."""

    match: MatchAutomaton
    applied: tuple[OperatorSizes, ...]


CHAINED = (tree.Sequence, tree.Or, tree.And, tree.All)


def compose(
    formula: tree.Pattern,
    symbols: Sequence[frozenset[int]],
    predicates: Sequence[Predicate],
    budget: Budget,
) -> Composition:
    """The match automaton of a formula in LP-normal form.

    Parameters
    ----------
    formula : Pattern
    symbols : sequence of frozenset of int
        For each symbol the indices of the predicates that hold for its events.
    predicates : sequence of Predicate
        `tests(formula)`.
    budget : Budget
        For all operators together.

    Raises
    ------
    LimitError
        When the budget is exceeded; the message names the operator.
    TypeError
        For a formula that is not in LP-normal form.
    """
    walk = _Walk(symbols, predicates, budget)
    match = walk.of(formula)
    return Composition(match, tuple(walk.done))


class _Walk:
    def __init__(
        self, symbols: Sequence[frozenset[int]], predicates: Sequence[Predicate], budget: Budget
    ) -> None:
        self.symbols = symbols
        self.predicates = predicates
        self.index = {identity(predicate): number for number, predicate in enumerate(predicates)}
        self.budget = budget
        self.done: list[OperatorSizes] = []

    def of(self, node: tree.Pattern) -> MatchAutomaton:
        if not is_extended(node):
            return self.named(node, lambda: of_cea(core(node), self.symbols, self.predicates, self.budget))
        if isinstance(node, tree.Sequence) and has_optional(node):
            return self.elements(node)
        if isinstance(node, CHAINED):
            return self.chain(node)
        return self.put_together(node, *(self.of(operand) for operand in own_children(node)))

    def elements(self, node: tree.Sequence) -> MatchAutomaton:
        """The automaton of a sequence with optional elements."""
        return self.put_together(node, *(self.of(element) for element, _ in leaning_elements(node)))

    def chain(self, node: tree.Sequence | tree.Or | tree.And | tree.All) -> MatchAutomaton:
        """The automaton of `p AND q AND r`, built from the left.

        One side of each operator is then an operand alone, which is small. Neighbours in `;`, `:` and OR that
        are not extended are one operand.
        """
        operands, joints = links(node, has_optional)
        runs: list[list[tree.Pattern]] = [operands[:1]]
        inside: list[list[tree.Pattern]] = [[]]  # the joints of each run
        between: list[tree.Pattern] = []
        for joint, operand in zip(joints, operands[1:]):
            plain = not is_extended(operand) and not is_extended(runs[-1][-1])
            if plain and isinstance(node, tree.Sequence | tree.Or):
                runs[-1].append(operand)
                inside[-1].append(joint)
            else:
                runs.append([operand])
                inside.append([])
                between.append(joint)
        first, *others = (linked(run, joined) for run, joined in zip(runs, inside))
        found = self.of(first)
        so_far = [first]
        for joint, operand in zip(between, others):
            right = self.of(operand)
            so_far.append(operand)
            found = self.put_together(
                joint, found, right, written=lambda: linked(so_far, between[: len(so_far) - 1])
            )
        return found

    def put_together(
        self,
        node: tree.Pattern,
        *inner: MatchAutomaton,
        written: Callable[[], tree.Pattern] | None = None,
    ) -> MatchAutomaton:
        """The automaton of a node from those of its operands; `written` gives what an error shows for it."""
        found = self.named(node, lambda: self.applied(node, *inner), written)
        before = tuple(operand.automaton.n_states for operand in inner)
        self.done.append(OperatorSizes(operator_text(node), before, found.automaton.n_states))
        return found

    def named(
        self,
        node: tree.Pattern,
        build: Callable[[], MatchAutomaton],
        written: Callable[[], tree.Pattern] | None = None,
    ) -> MatchAutomaton:
        """What `build` gives; an error names the operator."""
        try:
            return build()
        except LimitError as error:
            shown = abridged(node if written is None else written())
            raise LimitError(f"{error}\nThis comes from {operator_text(node)} in\n  {shown}") from None

    def applied(self, node: tree.Pattern, *inner: MatchAutomaton) -> MatchAutomaton:
        budget, what = self.budget, f"the automaton of {operator_text(node)}"
        if isinstance(node, tree.Optional):
            return inner[0]
        if isinstance(node, tree.Selector) and node.strategy is not Strategy.STRICT:
            strategy, (operand,) = node.strategy, inner
            return operand if strategy is Strategy.ALL else select(strategy, operand, budget, what)
        read = [self.holds(predicate) for predicate in own_predicates(node)]
        return combined(lambda *members: _member(node, members, read), inner, budget, what, read)

    def holds(self, predicate: Predicate) -> list[bool]:
        """For each symbol whether a predicate holds."""
        place = self.index[identity(predicate)]
        return [place in symbol for symbol in self.symbols]


class OperandMember(Member):
    """A match automaton that is followed as an operand of an operator."""

    def __init__(self, match: MatchAutomaton) -> None:
        self._labels = match.automaton.labels
        self._class_of = match.class_of
        self._leaving = match.leaving()
        self._final = match.automaton.final

    def begin(self) -> list[State]:
        return [0]

    def follow(self, state: State, event: EventFacts) -> Iterator[Step]:
        for label, target in self._leaving[state][self._class_of[event.symbol]]:
            yield label, target, NOTHING_OWED
            if target in self._final:
                yield label, END, NOTHING_OWED

    def labels(self) -> frozenset[Label]:
        return frozenset(self._labels)


def combined(
    make: Callable[..., Member],
    operands: Sequence[MatchAutomaton],
    budget: Budget,
    what: str,
    read: Sequence[Sequence[bool]] = (),
) -> MatchAutomaton:
    """The match automaton of an operator on match automata (thesis, Theorems 7.1, 7.2 and 7.4).

    Parameters
    ----------
    make : callable
        Returns the operator, as it is stepped, on its operands.
    operands : sequence of MatchAutomaton
    budget : Budget
    what : str
        The operator, for messages.
    read : sequence of sequence of bool
        What the operator itself reads of an event: for each symbol whether it holds.
    """
    member = make(*map(OperandMember, operands))
    class_of, parts = refined(*(one.class_of for one in operands), *(tuple(map(int, one)) for one in read))
    events: list[Any] = [PlainSymbol(class_of.index(number)) for number in range(len(parts))]

    def follow(state: State, symbol: int) -> Iterator[tuple[Label, State]]:
        if state != END:
            for label, target, _ in member.follow(state, events[symbol]):
                yield label, target

    return build(member.begin(), follow, lambda state: state == END, class_of, len(parts), budget, what)


def _member(node: tree.Pattern, inner: Sequence[Member], read: Sequence[Sequence[bool]]) -> Member:
    """An operator as it is stepped, on its operands; `read` as `own_predicates` says it."""
    match node:
        case tree.Sequence():
            elements = leaning_elements(node) if has_optional(node) else [(node, None), (node, node)]
            between = [None if own is None else Joint(own.contiguous, None) for _, own in elements]
            return Elements(inner, between, [isinstance(one, tree.Optional) for one, _ in elements])
        case tree.Or():
            return Alternative(inner)
        case tree.And():
            return PatternConjunction(inner[0], inner[1])
        case tree.All():
            return UnorderedPair(inner[0], inner[1])
        case tree.Unless():
            return UnlessOperator(inner[0], inner[1])
        case tree.Beside(before=before, negated=negated):
            return ContextOperator(inner[0], [holds != negated for holds in read[0]], before)
        case tree.Iteration(contiguous=contiguous):
            check_repetitions(node)
            return PatternRepetition(inner[0], Joint(contiguous, None), node.least, node.most)
        case tree.As() | tree.Project():
            return LabelOperator(inner[0], lambda label: relabelled(label, (node, None)))
        case tree.Filter(condition=condition):
            found = literals(node)
            place = {identity(literal): number for number, literal in enumerate(found)}
            asked = [(literal.variable, holds) for literal, holds in zip(found, read, strict=True)]
            return VariableFilter(inner[0], asked, lambda held: evaluated(condition, place, held))
        case tree.Selector():
            return StrictSelector(inner[0])
    raise TypeError(f"no automaton is built for {type(node).__name__}")
