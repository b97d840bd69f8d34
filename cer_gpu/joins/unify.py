"""Self-joins: the predicate of events that fit several atoms at once (Lemmas B.3 and B.4 of the PCEA paper).

One event for `S(a = x, b = y)` and `S(a = y, b = 3)` has a = b = 3: attributes that are the same variable, or
the same constant, in one of the atoms are equal, and so on transitively.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cer_gpu.automata.cea import Predicate, TypeTest, both, identity
from cer_gpu.automata.pcea import Equality
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.joins.query import Atom
from cer_gpu.language import tree as t
from cer_gpu.language.units import has_offset, timestamp_nanoseconds

Constant = t.Number | t.Text | t.Boolean


@dataclass(frozen=True, slots=True)
class SelfJoin:
    """A set A of atoms of one event type that one event can match: the paper's A in SJ_Q, with t_A.

    Attributes
    ----------
    atoms : tuple of int
        Ascending.
    event_type : str
    predicate : Predicate
        U_A: the type, what is equal to what in t_A, and the tests of the atoms.
    attribute_of : mapping of str to str
        For each variable of the atoms an attribute where it stands. Attributes of one class of t_A are
        represented by the first of them, so that two variables of one class have one attribute.
    """

    atoms: tuple[int, ...]
    event_type: str
    predicate: Predicate
    attribute_of: Mapping[str, str]


def self_join(atoms: Sequence[Atom]) -> SelfJoin | None:
    """The self-join of some atoms, in the order of their numbers; None where no event matches them all.

    The classes of t_A are those of the relation H of Lemma B.3, closed transitively. A variable that two of
    the atoms share may not be null, as anywhere else where it is joined: if nothing else excludes null, the
    attribute is compared with itself.
    """
    event_type = atoms[0].type.name
    streams = {atom.type.stream for atom in atoms} - {None}
    if len(streams) > 1 or any(atom.type.name != event_type for atom in atoms):
        return None
    classes = _classes(atoms)
    predicate: Predicate = TypeTest(event_type, min(streams, default=None, key=str))
    for attributes, terms in classes:
        tests = _class_tests(attributes, terms)
        if tests is None:
            return None
        for test in tests:
            predicate = both(predicate, test)
    tests_of_atoms = {identity(test): test for atom in atoms for test in atom.tests}
    for test in tests_of_atoms.values():
        predicate = both(predicate, test)
    attribute_of = {
        term.name: attributes[0]
        for attributes, terms in classes
        for term in terms
        if isinstance(term, t.RuleVariable)
    }
    return SelfJoin(tuple(atom.id for atom in atoms), event_type, predicate, attribute_of)


def equality(earlier: Sequence[SelfJoin], later: SelfJoin, shared: Sequence[str]) -> Equality:
    """B_{A', A}, for each A' that may have read the earlier event: equal in the shared variables.

    The classes of Lemma B.4 are those of t_A' and of t_A, which the unary predicates ask for, joined where a
    variable is shared: one equality for each shared variable says the rest.

    Parameters
    ----------
    earlier : sequence of SelfJoin
        Those of one event type have equal attributes at the shared variables.
    later : SelfJoin
    shared : sequence of str
        The variables that both sides have; if there are none, the key is empty, and empty keys are equal.
    """
    by_type = {one.event_type: one for one in sorted(earlier, key=lambda one: one.event_type)}
    columns = dict.fromkeys(
        (later.attribute_of[name], *(one.attribute_of[name] for one in by_type.values())) for name in shared
    )
    left = tuple(
        (event_type, tuple(t.Attribute(column[place]) for column in columns))
        for place, event_type in enumerate(by_type, start=1)
    )
    return Equality(left, tuple(t.Attribute(column[0]) for column in columns))


def _classes(atoms: Sequence[Atom]) -> list[tuple[list[str], list[t.Term]]]:
    """The classes of attributes of t_A, each with the terms that stand there, in the order of the atoms."""
    classes: list[tuple[list[str], list[t.Term]]] = []
    for atom in atoms:
        for attribute, term in atom.terms:
            touched = [one for one in classes if attribute in one[0] or _has_variable(one[1], term)]
            merged: tuple[list[str], list[t.Term]] = ([], [])
            for attributes, terms in touched:
                merged[0].extend(attributes)
                merged[1].extend(terms)
            if attribute not in merged[0]:
                merged[0].append(attribute)
            merged[1].append(term)
            place = min((classes.index(one) for one in touched), default=len(classes))
            classes = [one for one in classes if one not in touched]
            classes.insert(place, merged)
    return classes


def _has_variable(terms: Sequence[t.Term], term: t.Term) -> bool:
    return isinstance(term, t.RuleVariable) and term in terms


def _class_tests(attributes: Sequence[str], terms: Sequence[t.Term]) -> list[t.Comparison] | None:
    """What the attributes of a class satisfy; None where two constants cannot be equal."""
    columns = [t.Attribute(attribute) for attribute in attributes]
    constants = [term for term in terms if not isinstance(term, t.RuleVariable)]
    variables = [term for term in terms if isinstance(term, t.RuleVariable)]
    if constants:
        if not all(_may_equal(constants[0], other) for other in constants[1:]):
            return None
        distinct = list({(type(one), type(one.value), one.value): one for one in constants}.values())
        tests = [t.Comparison("=", column, distinct[0]) for column in columns]
        return tests + [t.Comparison("=", columns[0], constant) for constant in distinct[1:]]
    if len(columns) > 1:
        return [t.Comparison("=", columns[0], column) for column in columns[1:]]
    joined = len(variables) > len(set(variables))
    return [t.Comparison("=", columns[0], columns[0])] if joined else []


def _may_equal(left: Constant, right: Constant) -> bool:
    if isinstance(left, t.Text) and isinstance(right, t.Text) and left.value != right.value:
        # Two texts may be one instant, in the time zone of a column.
        try:
            same = timestamp_nanoseconds(left.value) == timestamp_nanoseconds(right.value)
            return same or has_offset(left.value) != has_offset(right.value)
        except ValueError:
            return False
    return type(left) is type(right) and left.value == right.value
