"""Checking patterns: types, scoping, filters, and iterations around PRIOR and BEFORE (sections 4 and 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from cer_gpu.errors import Span
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import leaves
from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.mark_counts import count_marked
from cer_gpu.language.names import NameChecker
from cer_gpu.language.printer import operator_text, to_text
from cer_gpu.language.repetition_edges import UnknownRepetitionError, edge_of, names_of, places, scope_of
from cer_gpu.language.schema import ValueType
from cer_gpu.language.scope import Marks, Scope, dropped, marks
from cer_gpu.language.times import TimeChecker
from cer_gpu.language.types import TypeChecker
from cer_gpu.language.walk import children, marking, with_aggregates, with_attributes
from cer_gpu.language.words import leading, trailing, written, written_variable


@dataclass(frozen=True, slots=True)
class Loops:
    """The iterations around a place, and the operators between them that PRIOR and BEFORE do not cross.

    Attributes
    ----------
    marks : Marks or None
        The marks of the pattern that the innermost iteration repeats; None if this is an operator.
    repeated : Pattern or None
        This pattern.
    barrier : str
        The operator, if this is one.
    around : Loops or None
        What is around it; None at the top.
    """

    marks: Marks | None = None
    repeated: t.Pattern | None = None
    barrier: str = ""
    around: Loops | None = None

    def inside(self, repeated: t.Pattern, marks: Marks) -> Loops:
        """A place inside an iteration of a pattern with these marks."""
        return Loops(marks, repeated, "", self)

    def beyond(self, operator: str) -> Loops:
        """A place inside an operator that PRIOR and BEFORE do not cross."""
        return Loops(None, None, operator, self)

    def types(self, variable: str) -> frozenset[t.EventType]:
        """The event types that a variable marks in the smallest iteration that defines it, if any."""
        found = self._defining(variable)[0]
        return frozenset() if found is None or found.marks is None else found.marks[variable]

    def once(self, variable: str) -> bool:
        """Whether a variable marks one event at most in each repetition of the iteration right around."""
        return self.repeated is not None and count_marked(self.repeated, frozenset((variable,))).most == 1

    def check(self, variable: str, word: t.Earlier, place: Span | None, findings: Findings) -> None:
        """Report PRIOR or BEFORE of a variable where there is no repetition before."""
        found, barriers = self._defining(variable)
        shown = written_variable(variable)
        if found is None:
            message = f"{word} needs an iteration around it that repeats `{shown}`, and there is none"
            hint = (
                f"write the filter inside the iteration: `(A AS {shown} FILTER {shown}.v > "
                f"{word}({shown}).v)+`"
            )
            findings.error("CER027", message, place, hint)
        elif barriers:
            message = f"`{barriers[0]}` stands between {word} and the iteration that repeats `{shown}`"
            findings.error(
                "CER027",
                message,
                place,
                f"write {word} directly inside the iteration, not inside `{barriers[0]}`",
            )

    def _defining(self, variable: str) -> tuple[Loops | None, list[str]]:
        barriers: list[str] = []
        loop: Loops | None = self
        while loop is not None:
            if loop.marks is not None and variable in loop.marks:
                return loop, barriers
            if loop.barrier:
                barriers.append(loop.barrier)
            loop = loop.around
        return None, barriers


class _Owner(NamedTuple):
    # Whose events a part of a condition speaks of: a variable, or PRIOR or BEFORE of one; and where.
    name: str
    prior: t.Earlier
    place: Span | None


class PatternChecker:
    """Checks a whole pattern.

    Parameters
    ----------
    names : NameChecker
    times : TimeChecker
    findings : Findings
    """

    def __init__(self, names: NameChecker, times: TimeChecker, findings: Findings) -> None:
        self._names = names
        self._times = times
        self._findings = findings
        self._whole: t.Pattern | None = None
        # What is known of patterns, by their identity: the whole keeps them.
        self._dropped_by: dict[int, frozenset[str]] = {}
        self._known_marks: dict[int, Marks] = {}
        self._known_names: dict[int, Mapping[str, Span | None]] = {}

    def check(self, pattern: t.Pattern) -> None:
        """Report what is wrong or suspicious about a pattern."""
        self._whole = pattern
        errors = self._findings.errors
        self._visit(pattern, Scope({}), Loops())
        if self._findings.errors > errors:
            return  # what is defined where is not known
        for place in places(pattern):
            try:
                edge_of(scope_of(place), names_of(place.aggregate))
            except UnknownRepetitionError as error:
                self._findings.error("CER037", str(error), place.aggregate.span, error.hint)

    def _visit(self, pattern: t.Pattern, around: Scope, loops: Loops) -> None:
        # `around` is what the patterns around define: a filter may speak of it too (section 4).
        inside = around if isinstance(pattern, t.EventType) else Scope(self._marks(pattern), around)
        if isinstance(pattern, t.Sequence | t.And | t.All):
            self._note_common(pattern)
        for part in children(pattern):
            if isinstance(pattern, t.Beside) and part is pattern.right:
                # It reads nothing of the patterns around it.
                self._visit(part, Scope({}), Loops())
            else:
                self._visit(part, inside, self._loops_inside(pattern, loops))
        match pattern:
            case t.EventType():
                self._names.check_type(pattern)
            case t.OtherEvent(type=event, condition=condition):
                self._names.check_type(event)
                if condition is not None:
                    self._check_condition(condition, event, around, loops.beyond("NOT (T ...)"))
            case t.As(pattern=inner, variable=name):
                if not any(self._marks(inner).values()):
                    self._findings.note(
                        "CER102",
                        f"the name `{written(name)}` marks no event",
                        trailing(pattern.span, pattern.variable),
                        "leave `AS` out, or name a part of the pattern that marks events",
                    )
            case t.Filter(pattern=inner, condition=condition):
                self._check_condition(condition, inner, around, loops)
            case t.Project():
                self._check_project(pattern)
            case t.Timed(interval=interval) | t.Sequence(gap=t.Interval() as interval):
                self._times.check_interval(interval)
            case t.Iteration(gap=gap, times=times):
                if gap is not None:
                    self._times.check_interval(gap)
                if times is not None and times.unsaid:
                    self._findings.note(
                        "CER109",
                        "at least one repetition is needed: `{,m}` is `{1,m}`",
                        times.span,
                        "to allow none write `{0,m}`",
                    )
            case t.Beside(interval=t.Interval() as interval):
                self._times.check_reach(interval)

    def _loops_inside(self, pattern: t.Pattern, loops: Loops) -> Loops:
        """The iterations around the operands of a pattern."""
        match pattern:
            case t.Iteration(pattern=inner):
                return loops.inside(inner, self._marks(inner))
            case t.Selector(strategy=strategy):
                return loops.beyond(f"{strategy.selector}(...)")
            case t.Unless():
                return loops.beyond("UNLESS")
            case t.Beside():
                return loops.beyond(pattern.words)
        return loops

    def _note_common(self, pattern: t.Sequence | t.And | t.All) -> None:
        operator = operator_text(pattern)[1:-1]
        there, here = self._named(pattern.left), self._named(pattern.right)
        for name in sorted(there.keys() & here.keys()):
            shown = written(name)
            message = (
                f"`{shown}` is on both sides of AND, which keeps a match only if both mark the same events"
                if operator == "AND"
                else f"`{shown}` is on both sides of `{operator}`: it marks events on both sides"
            )
            hint = "to tell them apart use two names"
            self._findings.note("CER101", message, here[name], hint)

    def _marks(self, pattern: t.Pattern) -> Marks:
        return marks(pattern, self._known_marks)

    def _named(self, pattern: t.Pattern) -> Mapping[str, Span | None]:
        # The names that AS gives in a pattern and that are visible outside, each with one place.
        found = self._known_names.get(id(pattern))
        if found is None:
            found = self._known_names[id(pattern)] = self._names_in(pattern)
        return found

    def _names_in(self, pattern: t.Pattern) -> Mapping[str, Span | None]:
        found: dict[str, Span | None] = {}
        for part in reversed(marking(pattern)):
            found |= self._named(part)
        if isinstance(pattern, t.As):
            found[pattern.variable] = trailing(pattern.span, pattern.variable)
        if isinstance(pattern, t.Project):
            return {name: place for name, place in found.items() if name in pattern.variables}
        return found

    def _check_project(self, project: t.Project) -> None:
        known = self._marks(project.pattern)
        places = project.places or (None,) * len(project.variables)
        seen: set[str] = set()
        for variable, place in zip(project.variables, places):
            if variable not in known:
                assert self._whole is not None
                self._names.unknown_variable(variable, known, self._whole, place)
            if variable in seen:
                message = f"`{written_variable(variable)}` is listed twice"
                self._findings.error("CER025", message, place)
            seen.add(variable)

    # -------------------------------------------------------------------------- conditions

    def _check_condition(
        self, condition: t.Condition, filtered: t.Pattern, around: Scope, loops: Loops
    ) -> None:
        # A variable of the filtered pattern speaks of its events there, also where one around has its name.
        scope = Scope(self._marks(filtered), around, alone=True)
        for leaf in leaves.leaves_of(condition):
            match leaf:
                case t.Every(variable=variable, predicate=predicate, prior=prior):
                    owner = _Owner(variable, prior, _variable_place(leaf))
                    self._check_owner(owner, scope, loops, filtered)
                    self._check_predicate(predicate, owner, scope, loops)
                case t.Comparison() | t.Like() | t.InSet() | t.InRange() | t.IsNull():
                    for attribute in leaves.attributes(leaf):
                        if attribute.variable is not None:
                            self._check_owner(_owner_of(attribute), scope, loops, filtered)
                    for aggregate in leaves.aggregates(leaf):
                        for one in _spoken_of(aggregate):
                            self._check_owner(_owner_of(one), scope, loops, filtered)
                        self._note_own_repetition(aggregate, leaf, loops)
                    self._check_leaf(leaf, None, scope, loops)

    def _note_own_repetition(self, aggregate: t.Aggregate, leaf: leaves.Leaf, loops: Loops) -> None:
        name = aggregate.variable
        if name is None or aggregate.prior or aggregate.span is None or not loops.once(name):
            return
        corrected = to_text(_of_earlier(leaf, name))
        self._findings.note(
            "CER114",
            f"`{to_text(aggregate)}` is a value of one event: `{written_variable(name)}` marks one event in "
            "each repetition",
            aggregate.span,
            f"for the events of all earlier repetitions write `{corrected}`",
        )

    def _check_predicate(self, predicate: t.Condition, owner: _Owner, scope: Scope, loops: Loops) -> None:
        for leaf in leaves.leaves_of(predicate):
            if not isinstance(leaf, t.Every | t.Truth):
                self._check_leaf(leaf, owner, scope, loops)

    def _check_leaf(self, leaf: leaves.Leaf, owner: _Owner | None, scope: Scope, loops: Loops) -> None:
        def attribute_type(attribute: t.Attribute) -> ValueType | None:
            place = trailing(attribute.span, attribute.name)
            name, prior = (
                (attribute.variable, attribute.prior)
                if owner is None or attribute.variable is not None
                else (owner.name, owner.prior)
            )
            types = loops.types(name or "") if prior else scope.types(name or "")
            value = isinstance(leaf, t.Comparison) and attribute is leaf.right
            return self._names.check_attribute(attribute.name, name or "", types, place, value=value)

        TypeChecker(attribute_type, self._findings, self._names.type_before).check(leaf)

    def _check_owner(self, owner: _Owner, scope: Scope, loops: Loops, filtered: t.Pattern) -> None:
        if owner.prior:
            loops.check(owner.name, owner.prior, owner.place, self._findings)
        else:
            self._check_variable(owner.name, scope, owner.place, filtered)

    def _check_variable(self, variable: str, scope: Scope, place: Span | None, filtered: t.Pattern) -> None:
        if variable in scope:
            return
        assert self._whole is not None
        if variable in self._dropped(self._whole) or variable in self._dropped(filtered):
            self._findings.note(
                "CER103",
                f"PROJECT drops `{written_variable(variable)}`: it marks nothing here",
                place,
                "filter inside PROJECT(...), or keep the variable",
            )
            return
        self._names.unknown_variable(variable, scope, self._whole, place)

    def _dropped(self, pattern: t.Pattern) -> frozenset[str]:
        known = self._dropped_by.get(id(pattern))
        if known is None:
            known = self._dropped_by[id(pattern)] = dropped(pattern)
        return known


def _spoken_of(aggregate: t.Aggregate) -> list[t.Attribute | t.Aggregate]:
    """What of an aggregate names its variables."""
    if aggregate.variable is not None or aggregate.argument is None:
        return [aggregate]
    return list(leaves.attributes(aggregate.argument))


def _of_earlier(leaf: leaves.Leaf, name: str) -> leaves.Leaf:
    """A comparison with its aggregates of a variable as aggregates of BEFORE."""

    def earlier(one: t.Aggregate) -> t.Aggregate:
        if one.variable != name or one.prior:
            return one
        made: t.Aggregate = with_attributes(one, lambda read: replace(read, prior="BEFORE"))
        return replace(made, prior="BEFORE")

    found: leaves.Leaf = with_aggregates(leaf, earlier)
    return found


def _owner_of(node: t.Attribute | t.Aggregate) -> _Owner:
    name = node.variable or ""
    place = leading(node.span, name) if isinstance(node, t.Attribute) and not node.prior else node.span
    return _Owner(name, node.prior, place)


def _variable_place(every: t.Every) -> Span | None:
    if every.prior:
        return every.span
    # `x[...]` begins with the variable; in `5 < x.a`, which is `x[5 < a]`, an attribute does.
    if every.span is not None and every.predicate.span == every.span:
        predicate = every.predicate.operand if isinstance(every.predicate, t.Not) else every.predicate
        if not isinstance(predicate, t.Every | t.Truth | t.Both | t.Either | t.Not):
            first = next(leaves.attributes(predicate), None)
            return leading(None if first is None else first.span, every.variable)
    return leading(every.span, every.variable)
