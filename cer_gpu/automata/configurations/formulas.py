"""From a formula with windows and gaps to its automaton, which is stepped lazily."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from cer_gpu.automata.cea import Label, OutlookTest, Predicate, complement, identity
from cer_gpu.automata.compose import evaluated, literals, operator
from cer_gpu.automata.configurations import members
from cer_gpu.automata.configurations.choices import Preferred, Strict
from cer_gpu.automata.configurations.members import Joint, Member
from cer_gpu.automata.configurations.slots import EVENTS, TIME, AgeTests, Clock
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
from cer_gpu.frozen import dataclass
from cer_gpu.language import tree
from cer_gpu.language.printer import abridged, interval_text
from cer_gpu.language.tree import Strategy
from cer_gpu.language.walk import children


@dataclass(frozen=True, slots=True)
class Counted:
    """`(p) WITHIN n EVENTS`, with the window of a query at the top of its formula."""

    pattern: tree.Pattern
    interval: tree.Interval


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


PATTERNS = get_args(tree.Pattern)


def _operands(node: object) -> tuple[object, ...]:
    match node:
        case Counted():
            return (node.pattern,)
        case tree.Beside():
            return (node.left,)
        case tree.EventType() | tree.OtherEvent():
            return ()
        case tree.Filter() if is_atom(node):
            return ()
    return children(node) if isinstance(node, PATTERNS) else ()


@dataclass(frozen=True, slots=True)
class Stepped:
    """The automaton of a formula.

    Attributes
    ----------
    member : Member
    tests : AgeTests
        What it asks of its clocks.
    idle : tuple of bool
        For each symbol whether an event with it changes nothing, wherever it comes.
    """

    member: Member
    tests: AgeTests
    idle: tuple[bool, ...]

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels of its transitions, by number; 0 is `UNMARKED`."""
        return (UNMARKED, *sorted(self.member.labels() - {UNMARKED, BEFORE}, key=sorted))


def stepped(
    formula: tree.Pattern | Counted | tree.Project,
    symbols: Sequence[frozenset[int]],
    predicates: Sequence[Predicate],
) -> Stepped:
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
    builder = _MemberBuilder(symbols, predicates)
    member = builder.of(formula)
    idle = tuple(not builder.reads_all and not any(atom[one] for atom in builder.atoms)
                 for one in range(len(symbols)))  # fmt: skip
    return Stepped(member, builder.tests, idle)


class _MemberBuilder:
    def __init__(self, symbols: Sequence[frozenset[int]], predicates: Sequence[Predicate]) -> None:
        self._symbols = symbols
        self._index = {identity(predicate): number for number, predicate in enumerate(predicates)}
        self.tests = AgeTests()
        self.atoms: list[list[bool]] = []
        self.reads_all = False

    def of(self, node: object) -> Member:
        match node:
            case tree.EventType():
                return self._atom(*atom(node))
            case tree.Filter() if is_atom(node):
                return self._atom(*atom(node))
            case tree.OtherEvent():
                self.atoms.append(self._holds(complement(excluded(node))))
                return members.OneEvent(self.atoms[-1], frozenset())
            case tree.Filter(pattern=inner):
                return self._filtered(node, self.of(inner))
            case tree.As(pattern=inner) | tree.Project(pattern=inner):
                around: Relabelling = (node, None)

                def relabel(label: Label) -> Label:
                    return relabelled(label, around)

                return members.Relabelled(self.of(inner), relabel)
            case tree.Optional(pattern=inner):
                return self.of(inner)
            case tree.Sequence():
                return self._sequence(node)
            case tree.Iteration(pattern=body):
                check_repetitions(node)
                return members.Repeated(self.of(body), self._joint(node), node.least, node.most)
            case tree.Or():
                return members.OneOf([self.of(side) for side in _sides(node)])
            case tree.And(left=left, right=right):
                return members.Conjoined(self.of(left), self.of(right))
            case tree.All(left=left, right=right):
                return members.Anywhere(self.of(left), self.of(right))
            case tree.Unless(left=left, right=right):
                return members.Without(self.of(left), self.of(right))
            case tree.Beside(left=left, right=right, before=before, interval=interval):
                held = self._holds(OutlookTest(right, before, interval))
                return members.Standing(self.of(left), [one != node.negated for one in held], before)
            case tree.Timed(pattern=inner, interval=interval):
                about = f"`WITHIN {interval_text(interval)}` of `{abridged(inner)}`"
                return members.Within(self.of(inner), Clock(interval, TIME, self.tests, about))
            case Counted(pattern=inner, interval=interval):
                clock = Clock(interval, EVENTS, self.tests, "the window of the query")
                return members.Within(self.of(inner), clock)
            case tree.Selector(strategy=Strategy.ALL, pattern=inner):
                return self.of(inner)
            case tree.Selector(strategy=Strategy.STRICT, pattern=inner):
                self.reads_all = True
                return Strict(self.of(inner))
            case tree.Selector(strategy=strategy, pattern=inner):
                return Preferred(self.of(inner), strategy)
        raise TypeError(f"no automaton is built for {type(node).__name__}")

    def _holds(self, predicate: Predicate) -> list[bool]:
        number = self._index[identity(predicate)]
        return [number in symbol for symbol in self._symbols]

    def _atom(self, event_type: tree.EventType, predicate: Predicate) -> Member:
        self.atoms.append(self._holds(predicate))
        return members.OneEvent(self.atoms[-1], frozenset(event_type.variables))

    def _joint(self, node: tree.Sequence | tree.Iteration) -> Joint:
        self.reads_all |= node.contiguous
        clock = None
        if node.gap is not None:
            sign = f"{operator(node)[1:-1]}{interval_text(node.gap)}"
            clock = Clock(node.gap, TIME, self.tests, f"`{sign}` in `{abridged(node)}`")
        return Joint(node.contiguous, clock)

    def _sequence(self, node: tree.Sequence) -> Member:
        elements = leaning_elements(node)
        return members.Elements(
            [self.of(element) for element, _ in elements],
            [None if joint is None else self._joint(joint) for _, joint in elements],
            [isinstance(element, tree.Optional) for element, _ in elements],
        )

    def _filtered(self, node: tree.Filter, operand: Member) -> Member:
        found = literals(node)
        place = {identity(literal): number for number, literal in enumerate(found)}
        read = [(literal.variable, self._holds(literal.predicate)) for literal in found]
        return members.Filtered(operand, read, lambda held: evaluated(node.condition, place, held))


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
