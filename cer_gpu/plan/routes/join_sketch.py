"""How the atoms of a rule are looked up: `sketched`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from cer_gpu.automata.cea import Predicate, identity
from cer_gpu.automata.pcea import Keys
from cer_gpu.frozen import dataclass
from cer_gpu.joins.lookups import LookupPlan, lookup_plan
from cer_gpu.joins.query import ConjunctiveQuery, common_keys, from_rule
from cer_gpu.joins.unify import self_join
from cer_gpu.language import tree
from cer_gpu.language.leaves import attributes_of
from cer_gpu.language.rules import resolve
from cer_gpu.language.schema import Schema
from cer_gpu.plan.compiled import KeyPlan
from cer_gpu.plan.join_arrays import SlotColumns, lane_keys
from cer_gpu.plan.routes.join_explained import LookupExplanation
from cer_gpu.plan.routes.route import Built
from cer_gpu.plan.routes.rule_form import tuple_form
from cer_gpu.plan.symbols import Diagram
from cer_gpu.plan.tuples import TupleMachine


@dataclass(frozen=True, slots=True)
class LookupSketch:
    """A rule; until the schema is known, attributes that it gives by position have made-up names.

    Attributes
    ----------
    statement : Rule
    body : ConjunctiveQuery
    lookups : LookupPlan
    tests : tuple of Predicate
        The predicate that an event must satisfy to fit an atom, for each atom that some event can fit.
    fitting : tuple of (int or None)
        For each atom the number of its test; None if no event fits.
    lane : mapping of str to Keys, or None
        For each event type the attributes that all events of an answer share.
    units : mapping of str to str
        The units of attributes.
    """

    statement: tree.Rule
    body: ConjunctiveQuery
    lookups: LookupPlan
    tests: tuple[Predicate, ...]
    fitting: tuple[int | None, ...]
    lane: Mapping[str, Keys] | None
    units: Mapping[str, str]

    def over(self, schema: Schema) -> LookupSketch:
        """The sketch with the attributes that a schema gives the atoms by position."""
        return _sketched(self.statement, from_rule(resolve(self.statement, schema)), schema.units)

    def built(self, diagram: Diagram) -> Built:
        """The machine, and what the answers are made of."""
        fitting = [
            frozenset(atom for atom, test in enumerate(self.fitting) if test is not None and test in outcome)
            for outcome in diagram.outcomes
        ]
        numbers = {frozenset[int](): 0}
        symbol_of = [numbers.setdefault(atoms, len(numbers)) for atoms in fitting]
        fits = np.array([[atom.id in atoms for atom in self.body.atoms] for atoms in numbers], bool)
        columns = SlotColumns()
        if self.lane is not None:
            lane_keys(columns, self.lane)
        number_of = _columns_of(columns, self.lookups)
        built, _ = columns.built()
        asked = np.zeros((len(numbers), len(built)), bool)
        for (_, atom), column in number_of.items():
            asked[fits[:, atom], column] = True
        lane_column = np.empty(0, np.int32)
        if self.lane is not None:
            types = [self.body.atoms[min(atoms)].type.name if atoms else None for atoms in numbers]
            lane_column = np.array(
                [-1 if name is None else columns.number(self.lane[name]) for name in types], np.int32
            )
            asked[np.arange(1, len(numbers)), lane_column[1:]] = True
        units = {name: unit for name, unit in self.units.items() if name in _compared(self.lookups)}
        machine = TupleMachine("run", self.lookups, fits, number_of, units)
        return Built(
            machine=machine,
            hits_machine=replace(machine, product="hits"),
            counts_machine=replace(machine, product="counts"),
            form=tuple_form(self.statement, self.body),
            symbol_of=symbol_of,
            n_symbols=len(numbers),
            keys=KeyPlan(built, lane_column, asked),
            never=not fits.any(axis=0).all(),
            explanation=LookupExplanation(self.statement, self.body, self.lookups, len(numbers), self.lane),
            compared=_compared(self.lookups),
        )


def sketched(rule: tree.Rule) -> LookupSketch:
    """How the atoms of a rule are looked up, before any data is known."""
    return _sketched(rule, from_rule(resolve(rule, None)), {})


def _sketched(rule: tree.Rule, body: ConjunctiveQuery, units: Mapping[str, str]) -> LookupSketch:
    tests: dict[object, Predicate] = {}
    fitting: list[int | None] = []
    for atom in body.atoms:
        found = self_join([atom])
        if found is None:
            fitting.append(None)
            continue
        tests.setdefault(identity(found.predicate), found.predicate)
        fitting.append(list(tests).index(identity(found.predicate)))
    return LookupSketch(
        rule, body, lookup_plan(body), tuple(tests.values()), tuple(fitting), common_keys(body), units
    )


def _columns_of(columns: SlotColumns, lookups: LookupPlan) -> Mapping[tuple[int, int], int]:
    """The column of each joined variable at each atom that has it; those of one variable share a space."""
    found: dict[tuple[int, int], int] = {}
    for number, joined in enumerate(lookups.joined):
        keys = {atom: (tree.Attribute(name),) for atom, name in joined.attribute_of.items()}
        first = next(iter(keys.values()))
        for atom, key in keys.items():
            found[number, atom] = columns.number(key)
            columns.link(first, key)
    return found


def _compared(lookups: LookupPlan) -> tuple[str, ...]:
    """The attributes whose values are compared."""
    sides = [side for one in lookups.compared for side in one.sides]
    names: Sequence[str] = [name for side in sides for name in sorted(attributes_of(side))]
    checked = [name for one in lookups.checked for _, name in one.place_of.values()]
    return tuple(dict.fromkeys([*names, *checked]))
