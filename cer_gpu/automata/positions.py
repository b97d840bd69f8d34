"""The position automaton of a formula with comparisons between its events.

An **equality** `x.a = y.b` of a filter speaks of the positions that mark x and of those that mark y, inside
one **instance** of the scope in which these variables are bound: each repetition of the iterations around
that scope begins a new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from cer_gpu.automata.cea import Predicate
from cer_gpu.automata.construct import check_repetitions
from cer_gpu.automata.explore import coreachable
from cer_gpu.automata.position_walk import Fragment, PositionStep, PositionWalk
from cer_gpu.diagnostics import NOT_TAKEN
from cer_gpu.errors import Diagnostic, QueryError, Span
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree as t
from cer_gpu.language.chains import flattened
from cer_gpu.language.printer import to_text
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import condition_variables, prior_variables, with_attributes
from cer_gpu.language.walk import walk as every_part
from cer_gpu.logic.binding import hidden
from cer_gpu.logic.formulas import compares_events


@dataclass(frozen=True, slots=True)
class Position:
    """An atom: the type of the event, the predicate that it satisfies, and what it is marked with."""

    event_type: str
    predicate: Predicate
    label: frozenset[str]


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: an expression over the events at some positions.

    Attributes
    ----------
    key : Expression
    positions : frozenset of int
    prior : bool
        Whether it stands for the events of the repetition before (PRIOR).
    """

    key: t.Expression
    positions: frozenset[int]
    prior: bool = False


@dataclass(frozen=True, slots=True)
class Constraint:
    """`x.a = y.b`: it holds of each event at a position of one side and each of the other, in an instance.

    Attributes
    ----------
    comparison : Comparison
        As it was written.
    left, right : Side
    resets : frozenset of int
        The iterations whose loops begin a new instance.
    repeats : int or None
        The iteration whose repetitions PRIOR speaks of; None without PRIOR.
    """

    comparison: t.Comparison
    left: Side
    right: Side
    resets: frozenset[int]
    repeats: int | None = None


@dataclass(frozen=True, slots=True)
class PositionAutomaton:
    """The position automaton of a formula with equalities."""

    positions: tuple[Position, ...]
    first: tuple[int, ...]
    last: frozenset[int]
    steps: tuple[PositionStep, ...]
    constraints: tuple[Constraint, ...]


Prospects: TypeAlias = "tuple[tuple[frozenset[int], frozenset[int]], ...]"
"""For each side of an equality from where a run may meet the other side, and from where it may avoid it."""


def prospects_of(automaton: PositionAutomaton, one: Constraint) -> Prospects:
    """For each side of an equality, from where the other side may still, or need not, mark an event.

    Then a reader guesses only where both are possible: in a plain sequence both sides always mark an event.
    """
    stays = [(step.source, step.target) for step in automaton.steps if step.loop not in one.resets]
    ends = automaton.last | {step.source for step in automaton.steps if step.loop in one.resets}
    found = []
    for other in (one.right.positions, one.left.positions):
        apart = [(source, target) for source, target in stays if target not in other]
        found.append(
            (
                coreachable(len(automaton.positions), stays, other),
                coreachable(len(automaton.positions), apart, ends),
            )
        )
    return tuple(found)


EQUALITY = frozenset({"="})
"""The comparisons of a chain of equal values."""


def position_automaton(pattern: t.Pattern, comparing: frozenset[str] = EQUALITY) -> PositionAutomaton:
    """The position automaton of a formula in LP-normal form, except for comparisons between variables.

    Parameters
    ----------
    pattern : Pattern
    comparing : frozenset of str
        The operators of comparisons that are followed; with more than `=`, PRIOR is followed too.

    Raises
    ------
    QueryError
        CER091, for a correlation that is not a comparison of two variables by such an operator, or whose
        variables are both defined outside of the filtered pattern; for NOT (T); and for filters that `to_lp`
        leaves around an iteration.
    """
    check_repetitions(pattern)
    walk = _ComparisonWalk(comparing)
    whole = walk.of(pattern)
    walk.bind(whole.marked, variables(pattern), 0)
    positions = (
        Position(kind, predicate, whole.marked[place])
        for place, (kind, predicate) in enumerate(zip(walk.types, walk.predicates))
    )
    return PositionAutomaton(
        tuple(positions), whole.first, frozenset(whole.last), whole.steps, walk.constraints()
    )


def inexpressible(comparison: t.Condition, why: str, *hints: str) -> QueryError:
    """The error that names a correlation which cannot be evaluated, and why."""
    text = f"this engine cannot evaluate `{to_text(comparison)}`: {why}"
    return _refused(text, comparison.span, *hints)


def _refused(text: str, span: Span | None, *hints: str) -> QueryError:
    return QueryError([Diagnostic(NOT_TAKEN, text, span, hints=hints)], "")


@dataclass
class _PendingComparison:
    """A comparison some of whose variables are not bound yet; `prior`: the side with PRIOR."""

    comparison: t.Comparison
    sides: list[tuple[str, t.Expression, frozenset[int] | None]]
    resets: frozenset[int]
    prior: int | None = None
    repeats: int | None = None


class _ComparisonWalk(PositionWalk):
    def __init__(self, comparing: frozenset[str]) -> None:
        super().__init__()
        self.comparing = comparing
        self.pending: list[_PendingComparison] = []

    def of(self, node: t.Pattern) -> Fragment:
        match node:
            case t.OtherEvent():
                raise _refused(
                    "`NOT (...)` marks no event, and beside a comparison between events this engine needs a "
                    "mark on every event",
                    node.span,
                    "if all events have the same value, PARTITION BY it and leave the comparison out",
                )
            case t.Filter(pattern=inner, condition=condition) if compares_events(condition):
                part = self.of(inner)
                for one in flattened(t.Both, condition):
                    self._comparison(one, inner, part)
                return part
            case t.Filter(pattern=t.Iteration(), condition=condition):
                raise _refused(
                    f"this engine cannot evaluate `{to_text(condition)}`, which asks for one event of any "
                    "repetition, together with a comparison inside the repetition that reads a variable from "
                    "outside",
                    condition.span or node.span,
                )
            case t.And():
                raise _refused(
                    "this engine cannot evaluate a filter that asks for one event of any of the repetitions "
                    "counted here, together with a comparison between events",
                    node.span,
                    "write the filter inside the repetition, or `+` in place of the count",
                )
            case t.Sequence(gap=t.Interval()) | t.Iteration(gap=t.Interval()):
                raise TypeError(f"no automaton is built for {type(node).__name__} beside a correlation")
        return super().of(node)

    def scope(self, node: t.Project | t.Iteration, body: t.Pattern) -> Fragment:
        before = len(self.pending)
        part = super().scope(node, body)
        self.bind(part.marked, hidden(node) if isinstance(node, t.Project) else variables(body), before)
        return part

    def iteration(self, node: t.Iteration) -> Fragment:
        number, before = self.n_loops, len(self.pending)
        part = super().iteration(node)
        self._repeated(part.marked, variables(node.pattern), before, number)
        return part

    def stricter(self, places: Iterable[int], predicate: Predicate) -> dict[int, int]:
        copy = super().stricter(places, predicate)
        for one in self.pending:
            one.sides = [
                (name, key, own and own | {copy[place] for place in own if place in copy})
                for name, key, own in one.sides
            ]
        return copy

    def bind(self, marked: Mapping[int, frozenset[str]], names: frozenset[str], before: int) -> None:
        """Give the variables that a scope binds their positions, in the equalities inside the scope.

        The first `before` equalities stand to the left of the scope.
        """
        for one in self.pending[before:]:
            for number, (name, key, positions) in enumerate(one.sides):
                if positions is None and name in names and number != one.prior:
                    one.sides[number] = (name, key, _marking(marked, name))
                    one.resets &= frozenset(self.loops)

    def _repeated(
        self, marked: Mapping[int, frozenset[str]], names: frozenset[str], before: int, loop: int
    ) -> None:
        """Bind PRIOR to an iteration that defines its variable, in the comparisons from `before` on."""
        for one in self.pending[before:]:
            if one.prior is not None and one.repeats is None and one.sides[one.prior][0] in names:
                name, key, _ = one.sides[one.prior]
                one.sides[one.prior] = (name, key, _marking(marked, name))
                one.repeats = loop
                one.resets = frozenset(self.loops)

    def constraints(self) -> tuple[Constraint, ...]:
        found = []
        for one in self.pending:
            left, right = (
                Side(key, positions or frozenset(), number == one.prior)
                for number, (_, key, positions) in enumerate(one.sides)
            )
            found.append(Constraint(one.comparison, left, right, one.resets, one.repeats))
        return tuple(found)

    def _comparison(self, condition: t.Condition, inner: t.Pattern, part: Fragment) -> None:
        if isinstance(condition, t.Not):
            raise inexpressible(
                condition.operand,
                "it is negated, and the engine finds equal values only",
            )
        if not isinstance(condition, t.Comparison):
            raise inexpressible(condition, "it is more than an equality")
        if condition.op not in self.comparing:
            raise inexpressible(condition, "it is not an equality")
        if any(isinstance(part, t.Aggregate) for part in every_part(condition)):
            raise inexpressible(condition, "it has an aggregate")
        local = variables(inner)
        sides: list[tuple[str, t.Expression, frozenset[int] | None]] = []
        prior: int | None = None
        if any(getattr(part, "prior", "") == "BEFORE" for part in every_part(condition)):
            raise inexpressible(condition, "it speaks of BEFORE")
        for number, side in enumerate((condition.left, condition.right)):
            names, before = condition_variables(side), prior_variables(side)
            if len(names) + len(before) != 1:
                raise inexpressible(condition, "each side must have exactly one variable")
            if before and (prior is not None or len(self.comparing) == 1):
                raise inexpressible(
                    condition, "PRIOR can be compared only with an event of the same repetition"
                )
            prior = number if before else prior
            [name] = names | before
            there = name in local and not before
            sides.append((name, bare(side), _marking(part.marked, name) if there else None))
        if all(positions is None for _, _, positions in sides):
            raise inexpressible(
                condition, "both of its variables are defined outside the pattern that it filters",
                "write the filter around the pattern that defines one of them",
            )  # fmt: skip
        self.pending.append(_PendingComparison(condition, sides, frozenset(self.loops), prior))


def _marking(marked: Mapping[int, frozenset[str]], name: str) -> frozenset[int]:
    return frozenset(position for position, names in marked.items() if name in names)


def bare(expression: t.Expression) -> t.Expression:
    """An expression over the attributes of one variable as one over those of an event."""
    found: t.Expression = with_attributes(expression, lambda attribute: t.Attribute(attribute.name))
    return found


def loses_its_marks(event_type: str) -> QueryError:
    """The error for an event in the middle that keeps no mark."""
    return QueryError(
        [
            Diagnostic(
                NOT_TAKEN,
                f"the SELECT list or a PROJECT drops the mark of `{event_type}`, and beside a comparison "
                "between events this engine needs a mark on every event but the first and the last",
                None,
                hints=(f"add its variable, or `{event_type}`, to the list",),
            )
        ],
        "",
    )
