"""A rule as a pattern: one event for each atom, anywhere, and an event may serve several.

`Q(x) <- A(v = x), B(v = x), C(w = y), y > x` is `(A AS "A#1" ALL B AS "B#2" ALL C AS "C#3") FILTER
"A#1".v = "B#2".v AND "C#3".w > "A#1".v`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from cer_gpu.joins.query import Atom, ConjunctiveQuery
from cer_gpu.language import tree
from cer_gpu.language.chains import chain_of
from cer_gpu.language.walk import with_attributes


def name_of(atom: Atom) -> str:
    """The variable that marks the event of an atom."""
    return f"{atom.type.name}#{atom.id + 1}"


def pattern_of(body: ConjunctiveQuery) -> tree.Pattern:
    """One event for each atom, in any order, such that what the rule compares holds."""
    made = chain_of(tree.All, [_event(atom) for atom in body.atoms])
    conditions = [*_equalities(body), *_comparisons(body)]
    return tree.Filter(made, chain_of(tree.Both, conditions)) if conditions else made


def _event(atom: Atom) -> tree.Pattern:
    """An event that fits an atom."""
    event = tree.As(atom.type, name_of(atom))
    tests = [*_own_equalities(atom), *atom.tests]
    return tree.Filter(event, tree.Every(name_of(atom), chain_of(tree.Both, tests))) if tests else event


def _own_equalities(atom: Atom) -> Iterator[tree.Condition]:
    """What the terms of an atom say of its event: attributes that are a constant, or one variable."""
    for attribute, term in atom.terms:
        if not isinstance(term, tree.RuleVariable):
            yield tree.Comparison("=", tree.Attribute(attribute), term)
        elif (first := atom.attribute_of[term.name]) != attribute:
            yield tree.Comparison("=", tree.Attribute(first), tree.Attribute(attribute))


def _equalities(body: ConjunctiveQuery) -> Iterator[tree.Condition]:
    """The variables that several atoms have."""
    for name, owners in body.atoms_of.items():
        for one, other in pairwise(sorted(owners)):
            yield tree.Comparison("=", _value(body.atoms[one], name), _value(body.atoms[other], name))


def _comparisons(body: ConjunctiveQuery) -> Iterator[tree.Condition]:
    """The comparisons that no single event decides."""
    owner = {name: min(owners) for name, owners in body.atoms_of.items()}
    for comparison in body.comparisons:
        yield with_attributes(comparison, lambda one: _value(body.atoms[owner[one.name]], one.name))


def _value(atom: Atom, name: str) -> tree.Attribute:
    """The value of a variable of the rule at the event of an atom."""
    return tree.Attribute(atom.attribute_of[name], name_of(atom))
