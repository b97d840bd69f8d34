"""A view with its data: `KeptView`. It is built when the columns of all its relations are known.

Until then there is no answer, since a relation without rows joins nothing: rows are held by the relations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from cer_gpu.engine.views.body import Body, body_of
from cer_gpu.engine.views.codes import ValueCodes, ValueKind, kind_of
from cer_gpu.engine.views.layout import ViewLayout, layout_of
from cer_gpu.engine.views.levels import Levels, collapsed
from cer_gpu.engine.views.listing import ListedState, Piece, answers, changes
from cer_gpu.engine.views.reducts import Change, change_of, climbed
from cer_gpu.engine.views.relations import Relation, without_value
from cer_gpu.engine.views.terms import compared, refused
from cer_gpu.errors import CerError, DataError, QueryError
from cer_gpu.joins.theta.construct import CyclicError, Planned, planned
from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.printer import to_text
from cer_gpu.language.types import TypeChecker

Batch = Sequence[tuple[str, pa.Table, int]]
"""What a batch does: the relation, the rows, and 1 for inserts, -1 for deletes."""


class KeptView:
    """A rule, and what it is kept up to date by.

    Parameters
    ----------
    rule : Rule
        Checked without a schema.
    text : str
        For errors.

    Attributes
    ----------
    version : int
        Grows with every update.
    layout : ViewLayout or None
        None before all relations are known.
    """

    def __init__(self, rule: t.Rule, text: str) -> None:
        self._rule = rule
        self._text = text
        self.codes = ValueCodes()
        self.relations: dict[str, Relation] = {}
        self.wanted = tuple(dict.fromkeys(atom.type.name for atom in rule.atoms))
        self.version = 0
        self.body = body_of(_positioned(rule, {}))
        self.plan = _planned(self.body, rule, text)
        self.kinds: dict[str, ValueKind] = {}
        self.layout: ViewLayout | None = None
        self.stores: list[Levels] = []
        self._changes: list[Change | None] = []

    # ------------------------------------------------------------------------------ updates

    def update(self, batch: Batch) -> None:
        """Insert and delete rows: all of them, or none if something is wrong.

        Raises
        ------
        DataError, LimitError, QueryError
        """
        relations = dict(self.relations)
        drafts: dict[str, list[Change]] = {}
        for name, table, sign in batch:
            if name not in relations:
                relations[name] = self._opened(name, table)
            drafts.setdefault(name, []).append(relations[name].change(table, sign))
        net = {name: _together(found) for name, found in drafts.items()}
        for name, change in net.items():
            relations[name].check(change)
        if self.layout is not None:
            found = climbed(self.layout, self.stores, self._leaves(self.layout, relations, net))
            self._commit(relations, net, found)
            return
        if any(name not in relations for name in self.wanted):
            self._commit(relations, net, [])
            return
        self._build(relations, net)

    def _commit(
        self, relations: dict[str, Relation], net: Mapping[str, Change], found: Sequence[Change | None]
    ) -> None:
        self.version += 1
        self.relations = relations
        for name, change in net.items():
            relations[name].store.add(*change)
        for store, one in zip(self.stores, found):
            if one is not None:
                store.add(*one)
        self._changes = list(found)

    def _build(self, relations: dict[str, Relation], net: Mapping[str, Change]) -> None:
        """Lay the tree out and bring all rows into it, those of the relations and those of a first batch."""
        body, kinds = self._typed(relations)
        plan = _planned(body, self._rule, self._text)
        comparisons = {to_text(one): compared(one, kinds, self._text) for one in body.comparisons}
        layout = layout_of(plan.tree, comparisons, kinds, self.codes)
        before = (self.body, self.plan, self.kinds, self.stores)
        self.body, self.plan, self.kinds = body, plan, kinds
        try:
            held = {name: Change(*relations[name].store.ordered()) for name in self.wanted}
            whole = {name: _together([one, net[name]]) if name in net else one for name, one in held.items()}
            stores = [Levels(len(place.columns)) for place in layout.places]
            found = climbed(layout, stores, self._leaves(layout, relations, whole))
        except CerError:
            self.body, self.plan, self.kinds, self.stores = before
            raise
        self.layout, self.stores = layout, stores
        self._commit(relations, net, found)

    def _opened(self, name: str, table: pa.Table) -> Relation:
        """A relation that is met for the first time.

        Raises
        ------
        DataError
        """
        if name not in self.wanted:
            listed = ", ".join(self.wanted)
            raise DataError(f"the rule has no relation `{name}`: it has {listed}")
        columns = tuple(table.column_names)
        attributes: dict[str, ValueKind] = {}
        for atom in _positioned(self._rule, {name: columns}, self._text).atoms:
            if atom.type.name != name:
                continue
            for attribute in atom.names or ():
                where = f"column `{attribute}` of {name}"
                if attribute not in columns:
                    raise DataError(f"{where} is missing: the table has {', '.join(columns)}")
                attributes[attribute] = kind_of(table.schema.field(attribute).type, where)
        return Relation(name, attributes, columns, self.codes)

    def _typed(self, relations: Mapping[str, Relation]) -> tuple[Body, dict[str, ValueKind]]:
        """The body over the columns that the relations have, and the kinds of its variables.

        Raises
        ------
        QueryError
            Values of different types are joined or compared.
        """
        rule = _positioned(self._rule, {name: one.columns for name, one in relations.items()}, self._text)
        plain: dict[str, ValueKind] = {}
        for atom in rule.atoms:
            for attribute, term in zip(atom.names or (), atom.terms):
                kind = relations[atom.type.name].attributes[attribute]
                if isinstance(term, t.RuleVariable):
                    first = plain.setdefault(term.name, kind)
                    if not first.joins(kind):
                        what = f"`{term.name}` is of type {first.arrow} and of type {kind.arrow}"
                        raise refused(
                            f"{what}: they do not join", atom, self._text, "cast one of the columns"
                        )
        findings = Findings()
        checker = TypeChecker(lambda one: plain[one.name].value if one.name in plain else None, findings)
        apart = set()
        for comparison in rule.comparisons:
            checker.check(comparison)
            left, right = comparison.left, comparison.right
            match left, right:
                case t.Attribute(name=one), t.Attribute(name=other) if not plain[one].joins(plain[other]):
                    apart |= {one, other}
        body = body_of(rule, apart)
        kinds = {}
        for reading in body.readings:
            for variable, attribute in reading.attributes.items():
                kinds[variable] = relations[reading.relation].attributes[attribute]
        for reading in body.readings:
            inner = TypeChecker(lambda one: kinds[one.name].value, findings)
            for test in reading.tests:
                inner.check(test)
        wrong = [one for one in findings.sorted() if one.severity == "error"]
        if wrong:
            raise QueryError(wrong, self._text)
        return body, kinds

    def _leaves(
        self, layout: ViewLayout, relations: Mapping[str, Relation], net: Mapping[str, Change]
    ) -> dict[int, Change]:
        """What a change of the relations does to the leaves."""
        found = {}
        for place in layout.places:
            if place.atom is None:
                continue
            reading = self.body.readings[place.atom]
            if reading.relation not in net:
                continue
            change = net[reading.relation]
            columns = relations[reading.relation].columns_of(change)
            values = {name: columns[attribute] for name, attribute in reading.attributes.items()}
            kept = change.amounts != 0
            for test in reading.tests:
                one = compared(test, self.kinds, self._text)
                kept &= one.holds(values, self.kinds, self.codes, len(kept))
            for name in reading.variables:
                if name in self.body.strict:
                    kept &= ~without_value(values[name], self.kinds[name])
            some = {name: values[name][kept] for name in reading.variables}
            found[place.atom] = change_of(layout, place, some, change.amounts[kept])
        return found

    # ------------------------------------------------------------------------------ answers

    def count(self) -> int:
        """The number of answers, each counted as often as it is there."""
        return self.stores[-1].total if self.layout is not None else 0

    def answers(self, most: int) -> Iterator[Piece]:
        """All answers over the output variables, in pieces of at most `most`."""
        state = self._state()
        return iter(()) if state is None else self._over_output(state, answers(state, most), most)

    def changes(self, most: int) -> Iterator[Piece]:
        """What the last batch changed, over the output variables."""
        state = self._state()
        if state is None or not self._changes:
            return iter(())
        return _differing(self._over_output(state, changes(state, most), most))

    def _state(self) -> ListedState | None:
        if self.layout is None:
            return None
        version = self.version

        def check() -> None:
            if self.version != version:
                raise CerError("the view was updated while its answers were listed: list them again")

        return ListedState(self.layout, self.stores, self._changes, check)

    def _over_output(self, state: ListedState, pieces: Iterable[Piece], most: int) -> Iterator[Piece]:
        if self.plan.free_connex:
            yield from pieces
            return
        # The tree lists answers with more variables, several of which may be one answer.
        names = sorted(self.body.output)
        before, after = Levels(len(names)), Levels(len(names))
        for piece in pieces:
            keys = np.empty((len(piece.before), len(names)), np.int64)
            for number, name in enumerate(names):
                keys[:, number] = piece.columns[name]
            for sums, counts in ((before, piece.before), (after, piece.after)):
                sums.add(*collapsed(keys, counts))
        for piece in _merged(names, before, after, most):
            state.check()
            yield piece


def _differing(pieces: Iterable[Piece]) -> Iterator[Piece]:
    for piece in pieces:
        differs = piece.before != piece.after
        if differs.any():
            columns = {name: values[differs] for name, values in piece.columns.items()}
            yield Piece(columns, piece.before[differs], piece.after[differs])


def _merged(names: Sequence[str], before: Levels, after: Levels, most: int) -> Iterator[Piece]:
    """The rows of two multisets, those whose multiplicities differ or, where both are one, all."""
    old_keys, old = before.ordered()
    new_keys, new = after.ordered()
    keys, _ = collapsed(np.concatenate([old_keys, new_keys]), np.concatenate([old, new]))
    was, is_now = before.counts_of(keys), after.counts_of(keys)
    for low in range(0, len(keys), most):
        part = keys[low : low + most]
        columns = {name: part[:, number] for number, name in enumerate(names)}
        yield Piece(columns, was[low : low + most], is_now[low : low + most])


def _together(found: Sequence[Change]) -> Change:
    if len(found) == 1:
        return found[0]
    keys = np.concatenate([one.keys for one in found])
    return Change(*collapsed(keys, np.concatenate([one.amounts for one in found])))


def _planned(body: Body, rule: t.Rule, text: str) -> Planned:
    try:
        return planned(body.query)
    except CyclicError as error:
        hint = "name another set of comparisons and atoms: a join tree needs one that is not in a circle"
        raise refused(f"{error}", rule, text, hint) from None


def _positioned(rule: t.Rule, columns: Mapping[str, Sequence[str]], text: str = "") -> t.Rule:
    """The rule with names for attributes that are given by position: the columns, or `$1`, `$2`, ..."""
    atoms = []
    for atom in rule.atoms:
        if atom.names is None:
            names = columns.get(atom.type.name) or [f"${n}" for n in range(1, len(atom.terms) + 1)]
            if len(names) != len(atom.terms):
                raise refused(
                    f"the table of {atom.type.name} has {len(names)} columns ({', '.join(names)}), and this "
                    f"atom {len(atom.terms)} terms",
                    atom,
                    text,
                    "name the attributes that matter: `R(a = x)`",
                )
            atom = replace(atom, names=tuple(names))
        atoms.append(atom)
    return replace(rule, atoms=tuple(atoms))
