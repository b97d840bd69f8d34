"""From a formula with AND, ALL, UNLESS and selectors to its match automaton.

Subformulas without these become one CEA each, of linear size; the operators around them are built over
symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cer_gpu.automata import operators, selectors
from cer_gpu.automata.cea import CEA, Label, OutlookTest, Predicate, identity
from cer_gpu.automata.construct import (
    Relabelling,
    check_repetitions,
    construct,
    relabelled,
    with_optional,
)
from cer_gpu.automata.determinise import predicates
from cer_gpu.automata.match import Budget, MatchAutomaton, of_cea
from cer_gpu.automata.trim import trim
from cer_gpu.errors import LimitError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree
from cer_gpu.language.chains import linked, links
from cer_gpu.language.printer import abridged, times_text
from cer_gpu.language.repetitions import has_optional
from cer_gpu.language.tree import Strategy, Truth
from cer_gpu.language.walk import children


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


@dataclass(frozen=True, slots=True)
class Composition:
    """The automaton of a formula, and the operators that built it, the inner ones first."""

    match: MatchAutomaton
    applied: tuple[OperatorSizes, ...]


EXTENDED = (tree.And, tree.All, tree.Unless, tree.Selector)

CHAINED = (tree.Sequence, tree.Or, tree.And, tree.All)


def is_extended(pattern: tree.Pattern) -> bool:
    """Whether a formula needs match automata: it has AND, ALL, UNLESS, a selector, or a filter around one."""
    return any(isinstance(node, EXTENDED) for node in own_nodes(pattern))


def own_nodes(pattern: tree.Pattern) -> Iterator[tree.Pattern]:
    """The pattern and all patterns inside it, without the right sides of FOLLOWED BY and PRECEDED BY."""
    pending = [pattern]
    while pending:
        node = pending.pop()
        yield node
        pending += operands(node)


def operands(node: tree.Pattern) -> tuple[tree.Pattern, ...]:
    """The operands whose automata make that of a node."""
    return (node.left,) if isinstance(node, tree.Beside) else children(node)


def tests(formula: tree.Pattern) -> tuple[Predicate, ...]:
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
            read = [literal.predicate for literal in literals(node)]
            if isinstance(node, tree.Beside):
                read = [OutlookTest(node.right, node.before, node.interval)]
            pending += reversed(operands(node))
        else:
            read = predicates(core(node))
        for predicate in read:
            found.setdefault(identity(predicate), predicate)
    return tuple(found.values())


def core(pattern: tree.Pattern) -> CEA:
    """The CEA of a formula that is not extended."""
    return trim(construct(pattern))


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
        return self.put_together(node, *(self.of(operand) for operand in operands(node)))

    def elements(self, node: tree.Sequence) -> MatchAutomaton:
        """The automaton of a sequence with optional elements: leaving one out is an alternative."""

        def either(left: MatchAutomaton, right: MatchAutomaton) -> MatchAutomaton:
            return self.put_together(tree.Or(node, node), left, right, written=lambda: node)

        return with_optional(node, self.of, self.put_together, either)

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
        self.done.append(OperatorSizes(operator(node), before, found.automaton.n_states))
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
            raise LimitError(f"{error}\nThis comes from {operator(node)} in\n  {shown}") from None

    def applied(self, node: tree.Pattern, *inner: MatchAutomaton) -> MatchAutomaton:
        budget, what = self.budget, f"the automaton of {operator(node)}"
        match node, inner:
            case tree.Sequence(contiguous=contiguous), (left, right):
                return operators.sequence(left, right, contiguous, budget, what)
            case tree.Or(), (left, right):
                return operators.either(left, right, budget, what)
            case tree.And(), (left, right):
                return operators.conjunction(left, right, budget, what)
            case tree.All(), (left, right):
                return operators.both_anywhere(left, right, budget, what)
            case tree.Unless(), (left, right):
                return operators.unless(left, right, budget, what)
            case tree.Beside(right=right, before=before, interval=interval), (operand,):
                place = self.index[identity(OutlookTest(right, before, interval))]
                holds = [(place in symbol) != node.negated for symbol in self.symbols]
                return operators.beside(operand, holds, before, budget, what)
            case tree.Iteration(), (body,):
                check_repetitions(node)
                return operators.iteration(body, node, budget, what)
            case tree.Optional(), (operand,):
                return operand
            case tree.As() | tree.Project(), (operand,):
                around: Relabelling = (node, None)

                def relabel(label: Label) -> Label:
                    return relabelled(label, around)

                return operators.relabelled(operand, relabel, budget, what)
            case tree.Filter(), (operand,):
                return self.filtered(node, operand, what)
            case tree.Selector(strategy=Strategy.ALL), (operand,):
                return operand
            case tree.Selector(strategy=Strategy.STRICT), (operand,):
                return selectors.strict(operand, budget, what)
            case tree.Selector(strategy=strategy), (operand,):
                return selectors.select(strategy, operand, budget, what)
        raise TypeError(f"no automaton is built for {type(node).__name__}")

    def filtered(self, node: tree.Filter, operand: MatchAutomaton, what: str) -> MatchAutomaton:
        found = literals(node)
        place = {identity(literal): number for number, literal in enumerate(found)}
        read = [
            (literal.variable, [self.index[identity(literal.predicate)] in symbol for symbol in self.symbols])
            for literal in found
        ]

        def holds(held: Sequence[bool]) -> bool:
            return evaluated(node.condition, place, held)

        return operators.filtered(operand, read, holds, self.budget, what)


def literals(node: tree.Pattern) -> list[tree.Every]:
    """The distinct conditions `x[p]` of a filter; empty for any other node."""
    if not isinstance(node, tree.Filter):
        return []
    found: dict[tuple[object, ...], tree.Every] = {}
    pending = [node.condition]
    while pending:
        match condition := pending.pop():
            case tree.Every():
                found.setdefault(identity(condition), condition)
            case tree.Both(left, right) | tree.Either(left, right):
                pending += [right, left]
            case tree.Not(operand):
                pending.append(operand)
            case tree.Truth():
                pass
            case _:
                raise TypeError(f"no automaton is built for a filter on {type(condition).__name__}")
    return list(found.values())


def evaluated(condition: tree.Condition, place: dict[tuple[object, ...], int], held: Sequence[bool]) -> bool:
    match condition:
        case tree.Every():
            return held[place[identity(condition)]]
        case tree.Both(left, right):
            return evaluated(left, place, held) and evaluated(right, place, held)
        case tree.Either(left, right):
            return evaluated(left, place, held) or evaluated(right, place, held)
        case tree.Not(operand):
            return not evaluated(operand, place, held)
        case tree.Truth(value):
            return value
    raise TypeError(f"no automaton is built for a filter on {type(condition).__name__}")


def operator(node: tree.Pattern) -> str:
    """The operator at the top of a formula, as it is written."""
    match node:
        case tree.Sequence(contiguous=contiguous):
            return "`:`" if contiguous else "`;`"
        case tree.Iteration(contiguous=contiguous, times=tree.Times() as times):
            return f"`{':' if contiguous else ''}{times_text(times)}`"
        case tree.Iteration(contiguous=contiguous):
            return "`:+`" if contiguous else "`+`"
        case tree.Selector(strategy=strategy):
            return f"`{strategy.selector}`"
        case tree.Beside():
            return f"`{node.words}`"
        case _:
            return f"`{type(node).__name__.upper()}`"
