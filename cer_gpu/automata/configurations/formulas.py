"""From a formula of any kind to its automaton, which is stepped lazily."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cer_gpu.automata.cea import Label, OutlookTest, Predicate, complement, evaluated, identity, literals
from cer_gpu.automata.configurations import binary_operators, sequences
from cer_gpu.automata.configurations import unary_operators as operators
from cer_gpu.automata.configurations.comparisons import (
    JointValue,
    conditions_in,
    is_correlated,
    patterns_in,
    read_of,
)
from cer_gpu.automata.configurations.conditions import ConditionFilter, NegatedEvent, leaves_in
from cer_gpu.automata.configurations.debts import Debts
from cer_gpu.automata.configurations.member import Member, OneEvent
from cer_gpu.automata.configurations.registers import ComparedEvents
from cer_gpu.automata.configurations.scopes import Binding, DebtKeeper, PriorIteration, ScopeMember
from cer_gpu.automata.configurations.selectors import PreferenceSelector, StrictSelector
from cer_gpu.automata.configurations.slots import EVENTS, TIME, AgeTests, Clock
from cer_gpu.automata.configurations.subset_values import SubsetValue, subset_values
from cer_gpu.automata.configurations.unary_operators import AttributeSpan
from cer_gpu.automata.construct import (
    Relabelling,
    atom,
    check_repetitions,
    excluded,
    is_atom,
    leaning_elements,
    relabelled,
)
from cer_gpu.automata.match import BEFORE, UNMARKED
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree
from cer_gpu.language.amounts import counts_events
from cer_gpu.language.printer import interval_text, operator_text
from cer_gpu.language.scope import variables
from cer_gpu.language.tree import Strategy
from cer_gpu.logic.binding import hidden, prior_reads, reads


@dataclass(frozen=True, slots=True)
class AttributeSpanWindow:
    """`(p) WITHIN n [attr]`, with the window of a query at the top of its formula."""

    pattern: tree.Pattern
    attribute: tree.Attribute
    size: int | float


def predicates_of(formula: tree.Pattern) -> tuple[Predicate, ...]:
    """The distinct predicates that the automaton of a formula in LP-normal form reads.

    Raises
    ------
    TypeError
        For a formula that is not in LP-normal form.
    """
    found: dict[tuple[object, ...], Predicate] = {}
    pending: list[object] = [formula]
    while pending:
        node = pending.pop()
        for predicate in _read(node):
            found.setdefault(identity(predicate), predicate)
        pending += reversed(_operands(node))
    return tuple(found.values())


def _read(node: object) -> list[Predicate]:
    """The predicates that a node reads by itself."""
    if is_correlated(node):
        return _read_in(node)
    match node:
        case tree.EventType():
            return [atom(node)[1]]
        case tree.Filter() if is_atom(node):
            return [atom(node)[1]]
        case tree.Filter():
            return [literal.predicate for literal in literals(node)]
        case tree.OtherEvent():
            return [complement(excluded(node))]
        case tree.Beside():
            return [OutlookTest(node.right, node.before, node.interval)]
    return []


def _read_in(node: Any) -> list[Predicate]:
    """The predicates of a condition that no single event decides, and the type that NOT excludes."""
    found: list[Predicate] = [
        leaf.predicate for leaf in leaves_in(node.condition) if isinstance(leaf, tree.Every)
    ]
    if isinstance(node, tree.OtherEvent):
        found.append(atom(node.type)[1])
    return found


def _operands(node: Any) -> tuple[Any, ...]:
    if isinstance(node, tree.Filter) and is_atom(node) and not is_correlated(node):
        return ()
    return patterns_in(node)


@dataclass(frozen=True, slots=True)
class SteppedAutomaton:
    """The automaton of a formula.

    Attributes
    ----------
    member : Member
    tests : AgeTests
        The tests of its clocks.
    idle : tuple of bool
        For each symbol whether an event with it changes nothing, wherever it comes.
    comparisons : tuple of ComparedEvents
        The comparisons that registers are kept for.
    columns : tuple of Expression
        The values of an event that these read.
    satisfied : tuple of tuple of bool
        For each comparison `x[...]` which symbols satisfy its predicate; empty for any other.
    joint : tuple of JointValue
        The expressions over several variables that are aggregated.
    subset_value : SubsetValue or None
        An aggregate that may have another value for each subset of the events, for messages.
    """

    member: Member
    tests: AgeTests
    idle: tuple[bool, ...]
    comparisons: tuple[ComparedEvents, ...] = ()
    columns: tuple[tree.Expression, ...] = ()
    satisfied: tuple[tuple[bool, ...], ...] = ()
    joint: tuple[JointValue, ...] = ()
    subset_value: SubsetValue | None = None

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels of its transitions, by number; 0 is `UNMARKED`."""
        return (UNMARKED, *sorted(self.member.labels() - {UNMARKED, BEFORE}, key=sorted))


def stepped(
    formula: tree.Pattern | AttributeSpanWindow,
    symbols: Sequence[frozenset[int]],
    predicates: Sequence[Predicate],
) -> SteppedAutomaton:
    """The automaton of a formula in LP-normal form.

    Parameters
    ----------
    formula : Pattern
    symbols : sequence of frozenset of int
        For each symbol the numbers of the predicates that hold for its events.
    predicates : sequence of Predicate
        `predicates_of(formula)`.

    Raises
    ------
    TypeError
        For a formula that is not in LP-normal form.
    LimitError
        When it counts too many repetitions.
    """
    builder = _MemberBuilder(symbols, predicates, formula)
    member = builder.bound(formula)
    idle = tuple(not builder.reads_all and not any(atom[one] for atom in builder.atoms)
                 for one in range(len(symbols)))  # fmt: skip
    return SteppedAutomaton(
        member,
        builder.tests,
        idle,
        builder.comparisons.all,
        builder.columns,
        tuple(
            tuple(builder.holds(one.condition.predicate)) if isinstance(one.condition, tree.Every) else ()
            for one in builder.comparisons.all
        ),
        builder.joint,
        next(subset_values(formula), None),
    )


class _MemberBuilder:
    def __init__(
        self, symbols: Sequence[frozenset[int]], predicates: Sequence[Predicate], formula: object
    ) -> None:
        self.comparisons, self.columns, self.joint = read_of(formula)
        self._debts = Debts(self.comparisons.all)
        self._formula = formula
        self._symbols = symbols
        self._index = {identity(predicate): number for number, predicate in enumerate(predicates)}
        self.tests = AgeTests()
        self.atoms: list[list[bool]] = []
        self.reads_all = False

    def of(self, node: object) -> Member:
        match node:
            case tree.EventType():
                return self._atom(*atom(node))
            case tree.Filter(pattern=inner, condition=condition) if is_correlated(node):
                return ConditionFilter(self.of(inner), condition, variables(inner), self.comparisons)
            case tree.Filter() if is_atom(node):
                return self._atom(*atom(node))
            case tree.OtherEvent(type=kind, condition=condition) if is_correlated(node):
                self.atoms.append([True] * len(self._symbols))
                own = self.holds(atom(kind)[1])
                assert condition is not None
                return NegatedEvent(own, condition, frozenset(kind.variables), self.comparisons)
            case tree.OtherEvent():
                self.atoms.append(self.holds(complement(excluded(node))))
                return OneEvent(self.atoms[-1], frozenset())
            case tree.Filter(pattern=inner):
                return self._filtered(node, self.of(inner))
            case tree.As(pattern=inner) | tree.Project(pattern=inner):
                around: Relabelling = (node, None)

                def relabel(label: Label) -> Label:
                    return relabelled(label, around)

                names = reads(inner) & hidden(node) if isinstance(node, tree.Project) else frozenset[str]()
                return operators.LabelOperator(self._scope(inner, names), relabel)
            case tree.Optional(pattern=inner):
                return self.of(inner)
            case tree.Sequence():
                return self._sequence(node)
            case tree.Iteration(pattern=body):
                check_repetitions(node)
                return self._repeated(node, body)
            case tree.Or():
                return binary_operators.Alternative([self.of(side) for side in _sides(node)])
            case tree.And(left=left, right=right):
                return binary_operators.PatternConjunction(self.of(left), self.of(right))
            case tree.All(left=left, right=right):
                return binary_operators.UnorderedPair(self.of(left), self.of(right))
            case tree.Unless(left=left, right=right):
                return binary_operators.UnlessOperator(self.of(left), self._apart(right))
            case tree.Beside(left=left, right=right, before=before, interval=interval):
                held = self.holds(OutlookTest(right, before, interval))
                return operators.ContextOperator(self.of(left), [one != node.negated for one in held], before)
            case tree.Timed(pattern=inner, interval=interval):
                measure = EVENTS if counts_events(interval) else TIME
                about = f"`WITHIN {interval_text(interval)}`"
                if measure == EVENTS or node is self._formula:
                    about = "the window of the query"
                return operators.DurationWindow(self.of(inner), Clock(interval, measure, self.tests, about))
            case AttributeSpanWindow(pattern=inner, attribute=attribute, size=size):
                return AttributeSpan(self.of(inner), self.columns.index(attribute), size)
            case tree.Selector(strategy=Strategy.ALL, pattern=inner):
                return self.bound(inner)
            case tree.Selector(strategy=Strategy.STRICT, pattern=inner):
                self.reads_all = True
                return StrictSelector(self.bound(inner))
            case tree.Selector(strategy=strategy, pattern=inner):
                return PreferenceSelector(self._apart(inner), strategy)
        raise TypeError(f"no automaton is built for {type(node).__name__}")

    def bound(self, body: Any) -> Member:
        """The automaton of a scope, which binds the variables that it defines."""
        if not self.comparisons.all:
            return self.of(body)
        return self._scope(body, reads(body) & variables(body))

    def _apart(self, body: tree.Pattern) -> Member:
        """The automaton of a scope whose runs are compared with those of others."""
        member = self.bound(body)
        if self.comparisons.all and (reads(body) - variables(body) or prior_reads(body)):
            return DebtKeeper(member)
        return member

    def _scope(self, body: object, names: frozenset[str]) -> Member:
        if not names or not self.comparisons.all:
            return self.of(body)
        inside = [self.comparisons.number[leaf] for one in conditions_in(body) for leaf in leaves_in(one)]
        return ScopeMember(self.of(body), self._debts, Binding(self.comparisons, inside, names, False))

    def _repeated(self, node: tree.Iteration, body: tree.Pattern) -> Member:
        joint = self._joint(node)
        compared = prior_reads(body) & variables(body) if self.comparisons.all else frozenset()
        if not compared:
            return sequences.PatternRepetition(self.bound(body), joint, node.least, node.most)
        inside = [self.comparisons.number[leaf] for one in conditions_in(body) for leaf in leaves_in(one)]
        names = reads(body) & variables(body)
        scope = ScopeMember(
            self.of(body),
            self._debts,
            Binding(self.comparisons, inside, names, False),
            Binding(self.comparisons, inside, compared, True),
        )
        return PriorIteration(scope, joint, node.least, node.most)

    def holds(self, predicate: Predicate) -> list[bool]:
        number = self._index[identity(predicate)]
        return [number in symbol for symbol in self._symbols]

    def _atom(self, event_type: tree.EventType, predicate: Predicate) -> Member:
        self.atoms.append(self.holds(predicate))
        return OneEvent(self.atoms[-1], frozenset(event_type.variables))

    def _joint(self, node: tree.Sequence | tree.Iteration) -> sequences.Joint:
        self.reads_all |= node.contiguous
        clock = None
        if node.gap is not None:
            sign = f"{operator_text(node)[1:-1]}{interval_text(node.gap)}"
            clock = Clock(node.gap, TIME, self.tests, f"`{sign}`")
        return sequences.Joint(node.contiguous, clock)

    def _sequence(self, node: tree.Sequence) -> Member:
        elements = leaning_elements(node)
        return sequences.Elements(
            [self.of(element) for element, _ in elements],
            [None if joint is None else self._joint(joint) for _, joint in elements],
            [isinstance(element, tree.Optional) for element, _ in elements],
        )

    def _filtered(self, node: tree.Filter, operand: Member) -> Member:
        found = literals(node)
        place = {identity(literal): number for number, literal in enumerate(found)}
        read = [(literal.variable, self.holds(literal.predicate)) for literal in found]
        return operators.VariableFilter(operand, read, lambda held: evaluated(node.condition, place, held))


def _sides(node: tree.Or) -> list[tree.Pattern]:
    """The operands of `p OR q OR r`."""
    found: list[tree.Pattern] = []
    pending: list[tree.Pattern] = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, tree.Or):
            pending += [one.right, one.left]
        else:
            found.append(one)
    return found
