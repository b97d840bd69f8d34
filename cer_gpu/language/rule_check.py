"""Checking a rule: its atoms against the schema, and its variables against one another (section 7)."""

from __future__ import annotations

from collections import Counter

from cer_gpu.errors import Span
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.leaves import attributes
from cer_gpu.language.names import NameChecker, some_of
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import ValueType
from cer_gpu.language.types import WITH_ARTICLE, TypeChecker
from cer_gpu.language.words import written


@dataclass(frozen=True, slots=True)
class _Use:
    # Where a variable gets values: an attribute of an atom, with its type.
    atom: t.RuleAtom
    attribute: str
    kind: ValueType

    def __str__(self) -> str:
        return f"{WITH_ARTICLE[self.kind]} in `{written(self.atom.type.name)}({written(self.attribute)})`"


class RuleChecker:
    """Checks everything in a rule except its window.

    Parameters
    ----------
    names : NameChecker
        Knows the schema.
    findings : Findings
    """

    def __init__(self, names: NameChecker, findings: Findings) -> None:
        self._names = names
        self._findings = findings
        self._uses: dict[str, _Use] = {}
        self._mixed: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._free: frozenset[str] = frozenset()

    def check(self, rule: t.Rule) -> None:
        """Report what is wrong with the atoms, the comparisons and the head."""
        self._count(rule)
        sizes: dict[str, int] = {}
        for atom in rule.atoms:
            self._check_atom(atom, sizes)
        types = TypeChecker(lambda variable: self._kind(variable.name), self._findings)
        for comparison in rule.comparisons:
            if self._check_known(comparison.left, comparison.right):
                types.check(comparison)
        for variable in rule.head:
            self._check_variable(variable.name, variable.span)
        for aggregate in rule.aggregates:
            self._check_aggregate(aggregate, types)

    def _count(self, rule: t.Rule) -> None:
        places = [term for atom in rule.atoms for term in atom.terms if isinstance(term, t.RuleVariable)]
        self._counts = Counter(variable.name for variable in places)
        compared = {one.name for part in rule.comparisons for one in attributes(part.left, part.right)}
        summed = {one.name for part in rule.aggregates if part.argument for one in attributes(part.argument)}
        self._free = frozenset(
            name for name, count in self._counts.items() if count == 1 and name not in compared | summed
        )
        underscores = [variable for variable in places if variable.name == "_"]
        if len(underscores) > 1:
            self._findings.note(
                "CER108",
                f"`_` is a variable like any other: its {len(underscores)} places must have equal values",
                underscores[1].span,
                "give each its own name, or name only the attributes that matter: `T(a = x)`",
            )

    # -------------------------------------------------------------------------------- atoms

    def _check_atom(self, atom: t.RuleAtom, sizes: dict[str, int]) -> None:
        self._names.check_type(atom.type)
        if atom.type.stream is not None:
            self._names.check_stream(atom.type.stream, (), atom.type.span)
        if atom.names is None:
            self._check_positions(atom, sizes)
        else:
            seen: set[str] = set()
            for index, name in enumerate(atom.names):
                place = atom.places[index] if atom.places else atom.terms[index].span
                if name in seen:
                    what = f"`{written(atom.type.name)}(...)` gives the attribute `{written(name)}` twice"
                    self._findings.error(
                        "CER025", what, place, "an attribute has one value: give it one term"
                    )
                seen.add(name)
                self._check_term(atom, name, atom.terms[index], place)

    def _check_positions(self, atom: t.RuleAtom, sizes: dict[str, int]) -> None:
        schema = self._names.schema
        if schema is None:
            self._check_size(atom, sizes)
            return
        if schema.types is not None and atom.type.name not in schema.types:
            return
        names = schema.attributes_in_order(atom.type.name)
        if len(names) != len(atom.terms):
            self._wrong_size(atom, names, any_type=schema.types is None)
            return
        for name, term in zip(names, atom.terms):
            self._check_term(atom, name, term, term.span)

    def _check_size(self, atom: t.RuleAtom, sizes: dict[str, int]) -> None:
        # Without a schema, atoms of one type must at least agree.
        size = sizes.setdefault(atom.type.name, len(atom.terms))
        if size != len(atom.terms):
            shown = written(atom.type.name)
            self._findings.error(
                "CER049",
                f"`{shown}` has {_counted(len(atom.terms), 'term')} here and {size} the time before",
                atom.span,
                f"give a term for each attribute, or name only those that matter: `{shown}(a = x)`",
            )

    def _wrong_size(self, atom: t.RuleAtom, names: tuple[str, ...], *, any_type: bool) -> None:
        shown = written(atom.type.name)
        listed = some_of(names)
        owner = "every event type" if any_type else f"`{shown}`"
        message = (
            f"{owner} has {_counted(len(names), 'attribute')} ({listed}), and there"
            f" {'is' if len(atom.terms) == 1 else 'are'} {_counted(len(atom.terms), 'term')} here"
        )
        hints = ["leave out the columns of the event type, of the stream and of the time"]
        if 0 < len(atom.terms) < len(names):
            by_name = t.RuleAtom(atom.type, atom.terms, names[: len(atom.terms)])
            hints = [f"name the attributes that matter: `{to_text(by_name)}`"]
        self._findings.error("CER049", message, atom.span, *hints)

    def _check_term(self, atom: t.RuleAtom, name: str, term: t.Term, place: Span | None) -> None:
        schema = self._names.schema
        unread = isinstance(term, t.RuleVariable) and term.name in self._free
        if schema is None or (unread and name in schema.unsupported):
            return
        kind = self._names.check_attribute(name, atom.type.name, (atom.type,), place)
        if kind is None:
            return
        if isinstance(term, t.RuleVariable):
            self._use(term, _Use(atom, name, kind))
        else:
            constant = t.Comparison("=", t.Attribute(name), term, span=term.span)
            TypeChecker(lambda _: kind, self._findings).check(constant)

    def _use(self, variable: t.RuleVariable, use: _Use) -> None:
        first = self._uses.setdefault(variable.name, use)
        alike = first.kind is use.kind or (first.kind.numeric and use.kind.numeric)
        if alike or variable.name in self._mixed:  # numbers are equal by value
            return
        self._mixed.add(variable.name)
        self._findings.error(
            "CER050",
            f"`{written(variable.name)}` is {first} and {use}: these cannot be equal",
            variable.span,
            "a variable stands for one value: cast one of the columns, so that both have the same type",
        )

    # ---------------------------------------------------------------------------- variables

    def _kind(self, variable: str) -> ValueType | None:
        use = self._uses.get(variable)
        return None if use is None or variable in self._mixed else use.kind

    def _check_variable(self, variable: str, place: Span | None) -> bool:
        if variable in self._counts:
            return True
        self._names.unknown_in_rule(variable, self._counts, place)
        return False

    def _check_known(self, *expressions: t.Expression) -> bool:
        # Every unknown one is reported, so no short cut.
        known = [self._check_variable(one.name, one.span) for one in attributes(*expressions)]
        return all(known)

    def _check_aggregate(self, aggregate: t.Aggregate, types: TypeChecker) -> None:
        if aggregate.argument is None or not self._check_known(aggregate.argument):
            return
        kind = types.type_of(aggregate.argument)
        function = aggregate.function
        if kind is None or kind.numeric or kind is ValueType.DURATION:
            return
        if function in ("SUM", "AVG"):
            message = f"{function} cannot be applied to {WITH_ARTICLE[kind]}"
            self._findings.error("CER030", message, aggregate.span)
        elif kind is ValueType.BOOL:
            self._findings.error("CER031", "bools have no order", aggregate.span)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
