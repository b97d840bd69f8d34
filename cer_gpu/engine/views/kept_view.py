"""A view with its data: `KeptView`. It is built when the columns of all its relations are known.

Until then there is no answer, because a relation without rows joins nothing; the relations hold their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cer_gpu.compiling.loader import words
from cer_gpu.engine.labels import NoRoomError
from cer_gpu.engine.views.aggregation import GroupFold, check_folded
from cer_gpu.engine.views.answer_columns import ListedAnswers, ListedState
from cer_gpu.engine.views.attributes import attributes_of, variable_kinds
from cer_gpu.engine.views.body import Body, body_of, positioned
from cer_gpu.engine.views.category_order import by_places, orders_of
from cer_gpu.engine.views.codes import ValueCodes, ValueKind, WideValuesError
from cer_gpu.engine.views.enumeration import answers, changes, differing, merged
from cer_gpu.engine.views.kept_groups import FoldedPart, KeptGroups
from cer_gpu.engine.views.layout import layout_of
from cer_gpu.engine.views.levels import Levels, collapsed
from cer_gpu.engine.views.node_lookup import stacked
from cer_gpu.engine.views.reducts import Change, together
from cer_gpu.engine.views.relations import GivenTable, Relation, without_value
from cer_gpu.engine.views.snapshots import HeldRows
from cer_gpu.engine.views.terms import asks_for_order, compared
from cer_gpu.engine.views.trees import PIECE, SHARED, Input, KeptTree, statistics
from cer_gpu.engine.views.waiting_rows import FEW, WaitingRow, WaitingRows, never_fails
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import CerError, DataError, QueryError
from cer_gpu.joins.theta.bags import stages
from cer_gpu.joins.theta.cost import cheapest
from cer_gpu.joins.theta.reduction import decide
from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.printer import to_text
from cer_gpu.language.types import TypeChecker

Batch = Sequence[tuple[str, GivenTable, int]]
"""A batch: the relation, the rows, and 1 for inserts, -1 for deletes."""


class KeptView:
    """A rule, and the data by which its answers are kept up to date.

    Parameters
    ----------
    rule : Rule
        Checked without a schema.
    text : str
        The rule as written, for errors.
    most_kept : int
        The most rows of a bag.

    Attributes
    ----------
    version : int
        Grows with every update.
    chains : list of list of KeptTree
        For each part of the aggregates a tree for each bag, and last the one with the answers; none before
        all relations are known.
    """

    def __init__(self, rule: t.Rule, text: str, most_kept: int) -> None:
        self._rule = rule
        self._text = text
        self._most_kept = most_kept
        self.codes = ValueCodes()
        self.relations: dict[str, Relation] = {}
        self.wanted = tuple(dict.fromkeys(atom.type.name for atom in rule.atoms))
        self.version = 0
        self.body = body_of(positioned(rule, {}))
        self.kinds: dict[str, ValueKind] = {}
        self.chains: list[list[KeptTree]] = []
        self._shared = False
        self._groups: KeptGroups | None = None
        self._untaken = False
        """Whether the kept groups have not taken the last batch yet."""
        self._wide: frozenset[tuple[str, str]] = frozenset()
        """The columns of relations whose whole numbers are numbered in their order."""
        self._waiting = WaitingRows()
        self._settling = False
        """Whether rows that waited are being taken in: what is read meanwhile is without them."""
        self._patient = False
        """Whether what is done with rows that are inserted cannot fail, but for too many answers."""
        left = sorted(decide(self.body.query).second.hyperedges, key=sorted)
        self._circle = ", ".join("{" + ", ".join(sorted(edge)) + "}" for edge in left)

    @property
    def trees(self) -> list[KeptTree]:
        """The trees of all chains, with all rows."""
        self.settle()
        return [tree for trees in self.chains for tree in trees]

    # ------------------------------------------------------------------------------ updates

    def update(self, batch: Batch) -> None:
        """Insert and delete rows: all of them, or none if there is an error.

        Raises
        ------
        DataError, LimitError, QueryError
        """
        words.purpose = "view update"
        self.settle()
        try:
            self._update(batch)
        except WideValuesError as error:
            self._widen(error)
            self.update(batch)

    def _update(self, batch: Batch) -> None:
        self._catch_up()
        self._number(batch)
        relations = dict(self.relations)
        drafts: dict[str, list[tuple[np.ndarray, int]]] = {}
        for name, given, sign in batch:
            if name not in relations:
                relations[name] = self._opened(name, given)
            table = relations[name].with_places(given)
            drafts.setdefault(name, []).append((relations[name].encoded(table), sign))
        self._apply(relations, drafts)
        self.version += 1

    def waits(self, inserts: Mapping[str, Any]) -> bool:
        """Let rows wait, if they are few and taking them in cannot fail; False if they are to be read now."""
        if not self._patient:
            return False
        update: list[WaitingRow] = []
        for name, rows in inserts.items():
            relation = self.relations.get(name)
            listed = None if relation is None else relation.listed(rows, FEW - len(update))
            if listed is None:
                return False
            update += listed
        if not self._waiting.fit(self._totals):
            return False
        self._waiting.put(update)
        self.version += 1
        if self._waiting.full:
            words.purpose = "view update"
            self.settle(1)
        return True

    def _totals(self) -> list[int]:
        """How many rows the relation of each atom has."""
        return [self.relations[one.relation].total for one in self.body.readings]

    def settle(self, least: int = 0) -> None:
        """Take in the rows that wait, those of the last update alone: `delta` lists what it changed.

        The last `least` updates go on waiting.
        """
        if self._settling:
            return
        self._settling = True
        try:
            while (many := len(self._waiting.updates)) > least:
                many = max(1, many - 1)
                self._catch_up()
                drafts = {
                    name: [(self.relations[name].joined(rows), 1)]
                    for name, rows in self._waiting.first(many).items()
                }
                self._apply(self.relations, drafts)
                self._waiting.drop(many)
        finally:
            self._settling = False

    def _apply(
        self, relations: dict[str, Relation], drafts: Mapping[str, Sequence[tuple[np.ndarray, int]]]
    ) -> None:
        """Take rows of relations in, each array inserted (1) or deleted (-1): all of them, or none."""

        def ordered(name: str) -> Change:
            one = relations[name]
            return together([one.ordered(k, np.full(len(k), sign, np.int64)) for k, sign in drafts[name]])

        many = sum(len(keys) for found in drafts.values() for keys, _ in found) >= SHARED
        made = Workers().map("updating", ordered, drafts) if many else map(ordered, drafts)
        self._take(relations, dict(zip(drafts, made)))

    def _number(self, batch: Batch) -> None:
        """Number the texts and decimals of a batch before anything is made of them.

        Where there is no room between two of them the view is made again from its rows, with new numbers.
        """
        new: dict[ValueKind, set[object]] = {}
        for name, (table, _), _ in batch:
            known = self.relations[name].attributes if name in self.relations else {}
            for column, kind in known.items():
                if self.codes.in_order(kind) and column in table.column_names:
                    values = table.column(column).unique().to_pylist()
                    new.setdefault(kind, set()).update(value for value in values if value is not None)
        try:
            for kind, values in new.items():
                self.codes.number(values, kind)
        except NoRoomError:
            self._make_again(lambda: self.codes.anew(new))

    def _make_again(self, codes: Callable[[], ValueCodes]) -> None:
        """Make the view again from its rows."""
        held, version, self.codes = self.held(), self.version, codes()
        self._forget()
        self.restore(held)
        self.version = version

    def _forget(self) -> None:
        self.relations, self.chains, self._shared, self._groups = {}, [], False, None
        self._patient = False

    def _widen(self, error: WideValuesError) -> None:
        """Number the whole numbers of some columns in their order, from here on."""
        self._wide |= error.columns
        self._make_again(lambda: ValueCodes(self.codes.ordered))

    def held(self) -> dict[str, HeldRows]:
        """The rows of all relations that are known."""
        self.settle()
        return {name: HeldRows(one.columns, one.rows()) for name, one in self.relations.items()}

    def restore(self, held: Mapping[str, HeldRows]) -> None:
        """Insert what `held` gave, as the first and only update; it counts as no change."""
        try:
            self._restore(held)
        except WideValuesError as error:
            self._wide |= error.columns
            self._forget()
            self.restore(held)

    def _restore(self, held: Mapping[str, HeldRows]) -> None:
        relations, net = {}, {}
        for name, (columns, rows) in held.items():
            last = rows.num_columns - 1
            own = rows.select(range(last))  # an attribute may be named `multiplicity` too
            relations[name] = self._opened(name, GivenTable(own, orders_of(rows.schema)), columns)
            net[name] = relations[name].change(own, rows.column(last).to_numpy())
        self._take(relations, net)
        self.version += 1
        for tree in self.trees:
            tree.changes = [None] * len(tree.stores)

    def _take(self, relations: dict[str, Relation], net: Mapping[str, Change]) -> None:
        for name, change in net.items():
            relations[name].check(change)
        if self.chains:
            self._climb(self.chains, self._inputs(relations, net))
        elif all(name in relations for name in self.wanted):
            net = self._build(relations, net)
        self.relations = relations
        for name, change in net.items():
            relations[name].take(change)
        self._untaken = True
        if self.chains and not self._shared:
            self._share()

    def _climb(self, chains: Sequence[Sequence[KeptTree]], inputs: Mapping[int, Input]) -> None:
        """Take a batch into the trees, one after another: into all of them, or into none."""
        done = []
        try:
            for trees in chains:
                given = dict(inputs)
                for number, tree in enumerate(trees):
                    found, before = tree.climb(given), (tree.changes, tree.held)
                    tree.commit(found)
                    done.append((tree, found, before))
                    if number < len(trees) - 1:
                        given[len(self.body.readings) + number] = tree.output(self._most_kept, self._circle)
        except BaseException:
            for tree, found, before in reversed(done):
                tree.undo(found, *before)
            raise

    def _build(self, relations: Mapping[str, Relation], net: Mapping[str, Change]) -> Mapping[str, Change]:
        """Lay the trees out and bring all rows in, those of the relations and those of a first batch.

        Returns the batch, whose texts may have other numbers now.
        """
        before = (self.body, self.kinds)
        try:
            self.body, self.kinds = self._typed(relations)
            rules = [*self.body.comparisons, *(one for atom in self.body.readings for one in atom.tests)]
            if not self.codes.ordered and any(asks_for_order(one, self.kinds) for one in rules):
                renumber = self.codes.order_texts()
                for relation in {**relations, **self.relations}.values():
                    relation.renumber(renumber)
                net = {name: relations[name].renumbered(one, renumber) for name, one in net.items()}
            comparisons = {to_text(c): compared(c, self.kinds) for c in self.body.comparisons}
            chains: list[list[KeptTree]] = []
            held = {name: Change(*relations[name].all_rows()) for name in self.wanted}
            whole = {name: together([one, net[name]]) if name in net else one for name, one in held.items()}
            inputs = self._inputs(relations, whole)
            for query in self.body.queries:
                chains.append([])
                for stage in stages(query):
                    chosen = cheapest(stage.query, statistics(stage, inputs))
                    layout = layout_of(chosen.plan.tree, comparisons, self.kinds, self.codes)
                    chains[-1].append(KeptTree(stage, chosen, layout))
            self._climb(chains, inputs)
        except BaseException:
            self.body, self.kinds = before
            raise
        self.chains = chains
        found = [kind for one in relations.values() for kind in one.attributes.values()]
        self._patient = not self._circle and never_fails(rules, found, self.codes)
        return net

    def _share(self) -> None:
        """Leave the rows of a relation to a leaf of the last tree, where that has all of them."""
        self._shared = True
        body, tree = self.body, self.chains[0][-1]
        for place, store in zip(tree.layout.places, tree.stores):
            source = len(body.readings) if place.atom is None else tree.stage.sources[place.atom]
            if source >= len(body.readings):
                continue
            reading = body.readings[source]
            named = [reading.attributes.get(name, "") for name in place.columns]
            relation = self.relations[reading.relation]
            alone = sum(one.relation == reading.relation for one in body.readings) == 1
            strict = body.strict.issuperset(reading.variables)
            if alone and strict and not reading.tests and sorted(named) == sorted(relation.attributes):
                relation.share(tuple(named), store)

    def _opened(self, name: str, given: GivenTable, columns: tuple[str, ...] | None = None) -> Relation:
        """A relation that is met for the first time.

        Parameters
        ----------
        name : str
        given : GivenTable
        columns : tuple of str, optional
            All columns of the relation, where the table has not all.

        Raises
        ------
        DataError
        """
        if name not in self.wanted:
            listed = ", ".join(self.wanted)
            raise DataError(f"the rule has no relation `{name}`: its relations are {listed}")
        columns = tuple(given.table.column_names) if columns is None else columns
        rule = positioned(self._rule, {name: columns}, self._text)
        attributes = attributes_of(rule, name, given, self._wide)
        own = {attribute: order for attribute, order in given.orders.items() if attribute in attributes}
        return Relation(name, attributes, columns, self.codes, own)

    def _typed(self, relations: Mapping[str, Relation]) -> tuple[Body, dict[str, ValueKind]]:
        """The body over the columns that the relations have, and the kinds of its variables.

        Raises
        ------
        QueryError
            Values of different types are joined or compared.
        """
        rule = positioned(self._rule, {name: one.columns for name, one in relations.items()}, self._text)
        rule = by_places(rule, lambda name, one: relations[name].orders.get(one), self._text)
        plain = variable_kinds(rule, lambda name, one: relations[name].attributes[one], self._text)
        findings = Findings()
        checker = TypeChecker(lambda one: plain[one.name].value if one.name in plain else None, findings)
        apart = set()
        for comparison in rule.comparisons:
            checker.check(comparison)
            left, right = comparison.left, comparison.right
            match left, right:
                case t.Attribute(name=one), t.Attribute(name=other) if not plain[one].joins(plain[other]):
                    apart |= {one, other}
        for aggregate in rule.aggregates:
            check_folded(aggregate, checker, findings)
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

    def _inputs(self, relations: Mapping[str, Relation], net: Mapping[str, Change]) -> dict[int, Input]:
        """What a change of the relations does to the atoms."""
        found = {}
        for number, reading in enumerate(self.body.readings):
            if reading.relation not in net:
                continue
            change = net[reading.relation]
            columns = relations[reading.relation].columns_of(change)
            values = {name: columns[attribute] for name, attribute in reading.attributes.items()}
            kept = change.amounts != 0
            for test in reading.tests:
                one = compared(test, self.kinds)
                kept &= one.holds(values, self.kinds, self.codes, len(kept))
            for name in reading.variables:
                if name in self.body.strict:
                    kept &= ~without_value(values[name], self.kinds[name])
            some = {name: values[name][kept] for name in reading.variables}
            found[number] = Input(some, change.amounts[kept])
        return found

    # ------------------------------------------------------------------------------ answers

    def count(self) -> int:
        """The number of answers, with their multiplicities."""
        self.settle()
        return self.chains[0][-1].stores[-1].total if self.chains else 0

    def answers(self, most: int, part: int = 0) -> Iterator[ListedAnswers]:
        """All answers over the output variables of a part, at most `most` in a `ListedAnswers`."""
        if not self.chains:
            return iter(())
        state = self._state(part)
        return self._over_output(state, answers(state, most), most, part)

    def changes(self, most: int, part: int = 0) -> Iterator[ListedAnswers]:
        """The answers that the last batch changed, over the output variables of a part."""
        if not self.chains:
            return iter(())
        state = self._state(part)
        return differing(self._over_output(state, changes(state, most), most, part))

    def groups(self) -> KeptGroups:
        """The groups of a rule with aggregates; from the first call on they are kept."""
        self.settle()
        if self._groups is None:
            body = self.body
            head = tuple(dict.fromkeys(variable for _, variable in body.head))
            parts = []
            for number, members in enumerate(body.parts):
                grouping = GroupFold(head, [body.aggregates[n] for n in members], self.kinds, self.codes)
                others = sorted(body.output_of(members).difference(head))
                parts.append(FoldedPart(members, grouping, head, others))
                parts[-1].add(self._answers_before(PIECE, number), whole=True)
            made = KeptGroups(parts, len(head))
            self._untaken = True
            self._take_into(made)
            self._groups = made
        self._catch_up()
        return self._groups

    def _catch_up(self) -> None:
        """Let the kept groups take the last batch. Where that fails they are made again."""
        groups, self._groups = self._groups, None
        if groups is not None and self._untaken:
            self._take_into(groups)
        self._groups = groups

    def _take_into(self, groups: KeptGroups) -> None:
        groups.take([self.changes(PIECE, part) for part in range(len(self.chains))])
        self._untaken = False

    def _answers_before(self, most: int, part: int) -> Iterator[ListedAnswers]:
        """All answers as they were before the last batch: their multiplicities are in `after`.

        They are collected in memory.
        """
        names = sorted(self.body.output_of(self.body.parts[part]))
        before = Levels(len(names))
        for pieces, past in ((self.answers(most, part), False), (self.changes(most, part), True)):
            for piece in pieces:
                keys = stacked(piece.columns, names, len(piece.before))
                before.add(*collapsed(keys, piece.before - piece.after if past else piece.after))
        keys, counts = before.ordered()
        columns = {name: keys[:, number] for number, name in enumerate(names)}
        yield ListedAnswers(columns, counts, counts)

    def unchanged(self) -> Callable[[], None]:
        """What raises once the view has been updated."""
        version = self.version

        def check() -> None:
            if self.version != version:
                raise CerError("the view was updated while its rows were listed: list them again")

        return check

    def _state(self, part: int) -> ListedState:
        words.purpose = "view answers"
        self.settle()
        check = self.unchanged()
        return self.chains[part][-1].listed(check)

    def _over_output(
        self, state: ListedState, pieces: Iterable[ListedAnswers], most: int, part: int
    ) -> Iterator[ListedAnswers]:
        if self.chains[part][-1].plan.free_connex:
            yield from pieces
            return
        # The tree lists answers with more variables, several of which may be one answer.
        names = sorted(self.body.output_of(self.body.parts[part]))
        before, after = Levels(len(names)), Levels(len(names))
        for piece in pieces:
            keys = stacked(piece.columns, names, len(piece.before))
            for sums, counts in ((before, piece.before), (after, piece.after)):
                sums.add(*collapsed(keys, counts))
        for piece in merged(names, before, after, most):
            state.check()
            yield piece
