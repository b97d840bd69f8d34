"""The position automaton of a formula with comparisons between its events (Glushkov's construction).

A **position** is an atom of the formula: a place where an event is matched. `A AS a ; (B AS b)+` has two, and
the steps 0 -> 1 and 1 -> 1, the second of which takes the iteration's loop. An **equality** `x.a = y.b` of a
filter speaks of the positions that mark x and of those that mark y, inside one **instance** of the scope in
which these variables are bound: each repetition of the iterations around that scope begins a new one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TypeAlias

from cer_gpu.automata.cea import Predicate, both, outlook
from cer_gpu.automata.construct import atom, check_repetitions, leaning_elements, relabelled
from cer_gpu.automata.explore import coreachable
from cer_gpu.diagnostics import NOT_TAKEN
from cer_gpu.errors import Diagnostic, QueryError, Span
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree as t
from cer_gpu.language.chains import flattened
from cer_gpu.language.printer import to_text
from cer_gpu.language.repetitions import has_optional
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import condition_variables, prior_variables, with_attributes
from cer_gpu.language.walk import walk as every_part
from cer_gpu.logic.binding import hidden
from cer_gpu.logic.formulas import correlates


@dataclass(frozen=True, slots=True)
class Position:
    """An atom: the type of the event, the predicate that it satisfies, and what it is marked with."""

    event_type: str
    predicate: Predicate
    label: frozenset[str]


@dataclass(frozen=True, slots=True)
class PositionStep:
    """From the event of one position to that of the next.

    Attributes
    ----------
    source, target : int
    contiguous : bool
        Whether the events are neighbours in the stream.
    loop : int or None
        The iteration whose next repetition begins.
    """

    source: int
    target: int
    contiguous: bool
    loop: int | None


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
    walk = _PositionWalk(comparing)
    whole = walk.of(pattern, None)
    walk.bind(whole.marked, variables(pattern), 0)
    return PositionAutomaton(
        tuple(walk.positions), whole.first, frozenset(whole.last), tuple(walk.steps), walk.constraints()
    )


def inexpressible(comparison: t.Condition, why: str, *hints: str) -> QueryError:
    """The error that names a correlation which cannot be evaluated, and why."""
    text = f"this engine cannot evaluate `{to_text(comparison)}`: {why}"
    return _refused(text, comparison.span, *hints)


def _refused(text: str, span: Span | None, *hints: str) -> QueryError:
    return QueryError([Diagnostic(NOT_TAKEN, text, span, hints=hints)], "")


@dataclass(frozen=True, slots=True)
class _Fragment:
    """A subformula: its first and last positions, and the variables that mark each position at this level."""

    first: tuple[int, ...]
    last: tuple[int, ...]
    marked: Mapping[int, frozenset[str]]

    def with_name(self, name: str) -> _Fragment:
        named = {p: names | {name} if names else names for p, names in self.marked.items()}
        return replace(self, marked=named)


@dataclass
class _PendingComparison:
    """A comparison some of whose variables are not bound yet; `prior`: the side with PRIOR."""

    comparison: t.Comparison
    sides: list[tuple[str, t.Expression, frozenset[int] | None]]
    resets: frozenset[int]
    prior: int | None = None
    repeats: int | None = None


Around = tuple["t.As | t.Project", "Around"] | None


@dataclass
class _PositionWalk:
    comparing: frozenset[str]
    positions: list[Position] = field(default_factory=list)
    steps: list[PositionStep] = field(default_factory=list)
    pending: list[_PendingComparison] = field(default_factory=list)
    loops: list[int] = field(default_factory=list)
    n_loops: int = 0

    def of(self, node: t.Pattern, around: Around) -> _Fragment:
        match node:
            case t.OtherEvent():
                raise _refused(
                    "`NOT (...)` marks no event, and beside a comparison between events this engine needs a "
                    "mark on every event",
                    node.span,
                    "if all events have the same value, PARTITION BY it and leave the comparison out",
                )
            case t.Filter(pattern=inner, condition=condition) if correlates(t.Filter(_ANY, condition)):
                part = self.of(inner, around)
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
            case t.EventType() | t.Filter():
                event_type, predicate = atom(node)
                number = len(self.positions)
                own = frozenset(event_type.variables)
                self.positions.append(Position(event_type.name, predicate, relabelled(own, around)))
                return _Fragment((number,), (number,), {number: own})
            case t.As(pattern=inner, variable=name):
                return self.of(inner, (node, around)).with_name(name)
            case t.Project(pattern=inner, variables=kept):
                before = len(self.pending)
                part = self.of(inner, (node, around))
                self.bind(part.marked, hidden(node), before)
                return replace(part, marked={p: names.intersection(kept) for p, names in part.marked.items()})
            case t.Or(left=left, right=right):
                one, other = self.of(left, around), self.of(right, around)
                return _Fragment(
                    one.first + other.first, one.last + other.last, {**one.marked, **other.marked}
                )
            case t.And():
                raise _refused(
                    "this engine cannot evaluate a filter that asks for one event of any of the repetitions "
                    "counted here, together with a comparison between events",
                    node.span,
                    "write the filter inside the repetition, or `+` in place of the count",
                )
            case t.Beside(left=left):
                before = len(self.pending)
                return self._restricted(self.of(left, around), outlook(node), node.before, before)
            case t.Optional(pattern=inner):
                return self.of(inner, around)
            case t.Sequence() if has_optional(node):
                return self._elements(node, around)
            case t.Sequence(left=left, right=right, contiguous=contiguous, gap=None):
                one, other = self.of(left, around), self.of(right, around)
                self._follow(one.last, other.first, contiguous, None)
                return _Fragment(one.first, other.last, {**one.marked, **other.marked})
            case t.Iteration(pattern=body, contiguous=contiguous, gap=None):
                number = self.n_loops
                self.n_loops += 1
                self.loops.append(number)
                parts: list[_Fragment] = []
                begin = len(self.pending)
                for _ in range(node.most or node.least):
                    before = len(self.pending)
                    part = self.of(body, around)
                    self.bind(part.marked, variables(body), before)
                    if parts:
                        self._follow(parts[-1].last, part.first, contiguous, number)
                    parts.append(part)
                self.loops.pop()
                if node.most is None:
                    self._follow(part.last, part.first, contiguous, number)
                last = tuple(place for one in parts[node.least - 1 :] for place in one.last)
                marked = _all_marked(parts)
                self._repeated(marked, variables(body), begin, number)
                return _Fragment(parts[0].first, last, marked)
        raise TypeError(f"no automaton is built for {type(node).__name__} beside a correlation")

    def _elements(self, node: t.Sequence, around: Around) -> _Fragment:
        """A sequence with optional elements: each follows the last ones that may stand before it."""
        first: tuple[int, ...] = ()
        last: tuple[int, ...] = ()
        parts = []
        empty = True
        for element, joint in leaning_elements(node):
            part = self.of(element, around)
            if joint is not None:
                self._follow(last, part.first, joint.contiguous, None)
            optional = isinstance(element, t.Optional)
            first += part.first if empty else ()
            last = last + part.last if optional else part.last
            empty = empty and optional
            parts.append(part)
        return _Fragment(first, last, _all_marked(parts))

    def _restricted(self, part: _Fragment, predicate: Predicate, first: bool, pending: int) -> _Fragment:
        """Where the last event satisfies a predicate; where the first does, if `first`.

        The positions of these events are there once more, with the predicate, and end (begin) the part. The
        equalities from `pending` on, which stand inside it, speak of both.
        """
        copy: dict[int, int] = {}
        for place in dict.fromkeys(part.first if first else part.last):
            copy[place] = len(self.positions)
            own = self.positions[place]
            self.positions.append(replace(own, predicate=both(own.predicate, predicate)))
        for step in tuple(self.steps):
            if first and step.source in copy:
                self.steps.append(replace(step, source=copy[step.source]))
            elif not first and step.target in copy:
                self.steps.append(replace(step, target=copy[step.target]))
        for one in self.pending[pending:]:
            one.sides = [
                (name, key, places and places | {copy[place] for place in places if place in copy})
                for name, key, places in one.sides
            ]
        marked = {**part.marked, **{new: part.marked[old] for old, new in copy.items()}}
        ends = tuple(copy.values())
        alone = tuple(copy[place] for place in (part.last if first else part.first) if place in copy)
        if first:
            return _Fragment(ends, part.last + alone, marked)
        return _Fragment(part.first + alone, ends, marked)

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

    def _comparison(self, condition: t.Condition, inner: t.Pattern, part: _Fragment) -> None:
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

    def _follow(
        self, sources: tuple[int, ...], targets: tuple[int, ...], contiguous: bool, loop: int | None
    ) -> None:
        self.steps += [
            PositionStep(source, target, contiguous, loop) for source in sources for target in targets
        ]


_ANY = t.EventType("")
"""Stands for a pattern where only a condition is looked at."""


def _all_marked(parts: Sequence[_Fragment]) -> dict[int, frozenset[str]]:
    return {place: names for part in parts for place, names in part.marked.items()}


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
