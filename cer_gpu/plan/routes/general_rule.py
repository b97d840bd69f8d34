"""A rule as a pattern, for the machine that takes every pattern: `sketched`.

`Q(x) <- A(v = x), B(v = x), C(w = y), y > x` is `(A AS "A#1" ALL B AS "B#2" ALL C AS "C#3") FILTER
"A#1".v = "B#2".v AND "C#3".w > "A#1".v`: one event for each atom, anywhere, and an event may serve several.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from cer_gpu.automata.cea import Predicate
from cer_gpu.frozen import dataclass
from cer_gpu.joins.query import Atom, ConjunctiveQuery, from_rule
from cer_gpu.language import tree
from cer_gpu.language.chains import chain_of
from cer_gpu.language.rules import resolve
from cer_gpu.language.schema import Schema
from cer_gpu.language.walk import with_attributes
from cer_gpu.plan.compiled import MarkForm
from cer_gpu.plan.outline import outline
from cer_gpu.plan.routes import general_sketch
from cer_gpu.plan.routes.general_sketch import GeneralSketch
from cer_gpu.plan.routes.route import Built
from cer_gpu.plan.routes.rule_form import tuple_form
from cer_gpu.plan.symbols import Diagram


@dataclass(frozen=True, slots=True)
class RulePatternSketch:
    """A rule as a pattern; until the schema is known, what it gives by position has made-up names.

    Attributes
    ----------
    statement : Rule
    text : str
        As it was written.
    body : ConjunctiveQuery
    pattern : GeneralSketch
    """

    statement: tree.Rule
    text: str
    body: ConjunctiveQuery
    pattern: GeneralSketch

    @property
    def tests(self) -> tuple[Predicate, ...]:
        """The distinct predicates of events that the machine asks for."""
        return self.pattern.tests

    def over(self, schema: Schema) -> RulePatternSketch:
        """The sketch with the attributes that a schema gives the atoms by position."""
        made = _sketched(self.statement, self.text, from_rule(resolve(self.statement, schema)))
        return replace(made, pattern=made.pattern.over(schema))

    def built(self, diagram: Diagram) -> Built:
        """The machines over the classes of events, whose answers have an event for each atom."""
        built = self.pattern.built(diagram)
        assert isinstance(built.form, MarkForm)
        variables = built.form.variables
        fills = np.zeros((len(built.form.label_has), len(self.body.atoms)), np.uint8)
        for atom in self.body.atoms:
            if name_of(atom) in variables:  # else no event fits it
                fills[:, atom.id] = built.form.label_has[:, variables.index(name_of(atom))]
        return replace(
            built,
            machine=replace(built.machine, label_atoms=fills),  # type: ignore[type-var]
            form=tuple_form(self.statement, self.body),
            explanation=replace(built.explanation, rule=True),  # type: ignore[type-var]
        )


def sketched(rule: tree.Rule, text: str) -> RulePatternSketch:
    """A rule as a pattern before any data is known.

    Raises
    ------
    LimitError
        When the normal form would exceed its budget.
    """
    return _sketched(rule, text, from_rule(resolve(rule, None)))


def _sketched(rule: tree.Rule, text: str, body: ConjunctiveQuery) -> RulePatternSketch:
    query = tree.SelectQuery(pattern_of(body), window=rule.window, span=rule.span)
    return RulePatternSketch(rule, text, body, general_sketch.sketched(outline(query, text)))


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
