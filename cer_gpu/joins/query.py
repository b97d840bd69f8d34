"""The conjunctive query of a rule: a bag of atoms over variables.

`Q(x) <- T(a = x), S(a = x, b = y), y > 3` has the atoms 0 and 1. A comparison that one event alone decides
becomes a test of its atom: `y > 3` is the test `b > 3` of atom 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from cer_gpu.automata.pcea import Keys
from cer_gpu.errors import Span
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree as t
from cer_gpu.language.printer import to_text
from cer_gpu.language.walk import parts, with_attributes
from cer_gpu.language.words import written


class JoinError(ValueError):
    """Base of the errors of this package: a construction cannot take a rule."""


class NotResolvedError(JoinError):
    """An atom gives its attributes by position."""


class NotLocalError(JoinError):
    """A comparison has variables of different atoms: no single event decides it."""


@dataclass(frozen=True, slots=True)
class Atom:
    """`S(a = x, b = 2)` with the comparisons that need no other atom.

    Attributes
    ----------
    id : int
        Its place in the body.
    type : EventType
    terms : tuple of (str, Term)
        Each attribute with what it is.
    tests : tuple of Comparison
        Over attributes of the event, without `variable`.
    span : Span or None
    """

    id: int
    type: t.EventType
    terms: tuple[tuple[str, t.Term], ...]
    tests: tuple[t.Comparison, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def attribute_of(self) -> Mapping[str, str]:
        """For each variable, in the order of the terms, the first attribute that it stands at."""
        found: dict[str, str] = {}
        for attribute, term in self.terms:
            if isinstance(term, t.RuleVariable):
                found.setdefault(term.name, attribute)
        return found

    @property
    def text(self) -> str:
        """The atom with its terms by position."""
        terms = (
            written(term.name) if isinstance(term, t.RuleVariable) else to_text(term)
            for _, term in self.terms
        )
        return f"{to_text(self.type)}({', '.join(terms)})"


@dataclass(frozen=True, slots=True)
class ConjunctiveQuery:
    """The body of a rule (section 4 of the paper). All its variables are in the answer: the query is full.

    Under bag semantics each choice of events is one answer, so what the head keeps changes no answer.

    Attributes
    ----------
    atoms : tuple of Atom
        `atoms[i].id == i`.
    comparisons : tuple of Comparison
        Those with variables of different atoms, which no single event decides; attributes stand for
        variables of the rule.
    """

    atoms: tuple[Atom, ...]
    comparisons: tuple[t.Comparison, ...] = ()

    @property
    def atoms_of(self) -> Mapping[str, frozenset[int]]:
        """For each variable, in the order of first occurrence, the atoms that have it."""
        found: dict[str, list[int]] = {}
        for atom in self.atoms:
            for name in atom.attribute_of:
                found.setdefault(name, []).append(atom.id)
        return {name: frozenset(atoms) for name, atoms in found.items()}


def from_rule(rule: t.Rule) -> ConjunctiveQuery:
    """The conjunctive query of a rule.

    A comparison goes to every atom that has all its variables; it stays a comparison of the query where
    there is no such atom.

    Raises
    ------
    NotResolvedError
        An atom gives its attributes by position.
    """
    bare = [_atom(number, atom) for number, atom in enumerate(rule.atoms)]
    tests: list[list[t.Comparison]] = [[] for _ in bare]
    across = []
    for comparison in rule.comparisons:
        needed = variables_of(comparison)
        owners = [atom for atom in bare if needed <= atom.attribute_of.keys()]
        for atom in owners:
            tests[atom.id].append(_comparison_over(comparison, atom.attribute_of))
        if not owners:
            across.append(comparison)
    atoms = (replace(atom, tests=tuple(tests[atom.id])) for atom in bare)
    return ConjunctiveQuery(tuple(atoms), tuple(across))


def variables_of(node: t.Comparison | t.Expression) -> frozenset[str]:
    """The variables that a comparison of a rule speaks of."""
    return frozenset(_names(node))


def common_keys(query: ConjunctiveQuery) -> Mapping[str, Keys] | None:
    """The attributes in which all events of an answer are equal: for each event type, in one order.

    They come from the variables that every atom has, at one attribute for each event type. None if there is
    no such variable, or only one atom (whose variables may be null).
    """
    if len(query.atoms) < 2:
        return None
    keys: dict[str, list[str]] = {atom.type.name: [] for atom in query.atoms}
    for variable, owners in query.atoms_of.items():
        at = {(atom.type.name, atom.attribute_of[variable]) for atom in query.atoms if atom.id in owners}
        if len(owners) == len(query.atoms) and len(at) == len(keys):
            for event_type, attribute in at:
                keys[event_type].append(attribute)
    if not all(keys.values()):
        return None
    return {name: tuple(t.Attribute(attribute) for attribute in found) for name, found in keys.items()}


def _atom(number: int, atom: t.RuleAtom) -> Atom:
    if atom.names is None:
        raise NotResolvedError(f"part {number}, of `{atom.type.name}`, gives its attributes by position")
    return Atom(number, atom.type, tuple(zip(atom.names, atom.terms, strict=True)), span=atom.span)


def _names(node: t.Condition | t.Expression) -> Iterator[str]:
    if isinstance(node, t.Attribute):
        yield node.name
    for part in parts(node):
        yield from _names(part)


def _comparison_over(comparison: t.Comparison, attribute_of: Mapping[str, str]) -> t.Comparison:
    """A comparison of variables as one of the attributes where they stand."""
    found: t.Comparison = with_attributes(comparison, lambda one: replace(one, name=attribute_of[one.name]))
    return found
