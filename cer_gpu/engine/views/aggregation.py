"""COUNT, SUM, MIN, MAX and AVG over the answers of a view, for each value of the head: `GroupFold`.

The tree sums over all variables but those of the head and of the aggregates. So the rows that are folded here
are the different values of these, each with its multiplicity, and not single answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.views.codes import ValueCodes, ValueKind
from cer_gpu.engine.views.levels import MOST
from cer_gpu.engine.views.node_lookup import stacked
from cer_gpu.engine.views.terms import ComparedSide
from cer_gpu.engine.words import floats_of
from cer_gpu.errors import LimitError
from cer_gpu.joins.query import variables_of
from cer_gpu.kernels.views.contract import NULL
from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import ValueType
from cer_gpu.language.types import WITH_ARTICLE, TypeChecker

DIGITS = 120
"""More digits than a sum of decimals has."""


class HeadAggregate(NamedTuple):
    """One aggregate of a head.

    Attributes
    ----------
    function : str
    side : ComparedSide or None
        What it is computed from; None for `COUNT(*)`.
    kind : ValueKind
        The kind of the values; any for COUNT.
    name : str
        The name of its column: `SUM(v)`.
    order : tuple of str
        For MIN and MAX of ordered categories: these, ascending.
    """

    function: str
    side: ComparedSide | None
    kind: ValueKind
    name: str
    order: tuple[str, ...] = ()

    @property
    def arrow(self) -> pa.DataType:
        """The type of its column."""
        if self.function == "COUNT":
            return pa.int64()
        if self.kind.value is ValueType.DECIMAL and self.function == "SUM":
            return pa.decimal256(76, getattr(self.kind.arrow, "scale", 0))
        if self.function == "AVG":
            return self.kind.arrow if self.kind.value is ValueType.DURATION else pa.float64()
        return self.kind.arrow


class FoldedGroups(NamedTuple):
    """Groups with their aggregates.

    Attributes
    ----------
    keys : ndarray of int64, shape (groups, head variables)
        In order.
    values : list of pyarrow.Array
        A column for each aggregate.
    """

    keys: np.ndarray
    values: list[pa.Array]


class GroupFold:
    """Folds answers into groups.

    Parameters
    ----------
    head : sequence of str
        The variables that name a group.
    aggregates : sequence of Aggregate
    kinds : mapping of str to ValueKind
    codes : ValueCodes
    """

    def __init__(
        self,
        head: Sequence[str],
        aggregates: Sequence[t.Aggregate],
        kinds: Mapping[str, ValueKind],
        codes: ValueCodes,
    ) -> None:
        self._head = tuple(dict.fromkeys(head))
        self._kinds = kinds
        self._codes = codes
        self.folded = tuple(self._of(one) for one in aggregates)

    def _of(self, aggregate: t.Aggregate) -> HeadAggregate:
        name = to_text(aggregate)
        whole = ValueKind(ValueType.INT64, pa.int64())
        if aggregate.argument is None:
            return HeadAggregate(aggregate.function, None, whole, name)
        side = ComparedSide(aggregate.argument, variables_of(aggregate.argument))
        if side.plain is not None:
            return HeadAggregate(aggregate.function, side, self._kinds[side.plain], name, aggregate.order)
        checker = TypeChecker(lambda one: self._kinds[one.name].value, Findings())
        value = checker.type_of(aggregate.argument) or ValueType.INT64
        arrow = {
            ValueType.FLOAT64: pa.float64(),
            ValueType.DURATION: pa.duration("ns"),
            ValueType.TIMESTAMP: pa.timestamp("ns", self._zone(side)),
            ValueType.DECIMAL: pa.decimal256(76, 18),
        }
        return HeadAggregate(aggregate.function, side, ValueKind(value, arrow.get(value, pa.int64())), name)

    def _zone(self, side: ComparedSide) -> str | None:
        types = [self._kinds[name].arrow for name in side.variables]
        return next((kind.tz for kind in types if pa.types.is_timestamp(kind)), None)

    def groups(self, columns: Mapping[str, np.ndarray], counts: np.ndarray) -> FoldedGroups:
        """Fold answers.

        Parameters
        ----------
        columns : mapping of str to ndarray of int64, shape (n,)
            The variables of the head and of the aggregates.
        counts : ndarray of int64, shape (n,)
            Multiplicities, above 0.

        Raises
        ------
        LimitError
            If a sum does not fit.
        """
        rows = len(counts)
        keys = stacked(columns, self._head, rows)
        if self._head:
            distinct, group = np.unique(keys, axis=0, return_inverse=True)
            group = group.reshape(-1)
        else:
            distinct, group = np.empty((1, 0), np.int64), np.zeros(rows, np.int64)
        found = [self._values(one, columns, (group, counts), len(distinct)) for one in self.folded]
        return FoldedGroups(distinct, found)

    def _values(
        self,
        one: HeadAggregate,
        columns: Mapping[str, np.ndarray],
        answers: tuple[np.ndarray, np.ndarray],
        groups: int,
    ) -> pa.Array:
        group, counts = answers
        if one.side is None:
            return pa.array(_added(group, counts, groups))
        codes = one.side.codes(columns, self._kinds, self._codes, len(counts))
        there = codes != NULL
        group, counts, codes = group[there], counts[there], codes[there]
        many = _added(group, counts, groups)
        none = many == 0
        if one.kind.value is ValueType.DECIMAL and one.function in ("SUM", "AVG"):
            return self._decimals(one, (group, counts, codes), many)
        if one.function in ("MIN", "MAX"):
            return self._codes.decode(self._extreme(one, group, codes, groups), one.kind)
        if one.kind.value is ValueType.FLOAT64:
            sums = np.zeros(groups)
            np.add.at(sums, group, floats_of(codes) * counts)
        else:
            high = np.zeros(groups)
            np.add.at(high, group, np.abs(codes.astype(np.float64)) * counts)
            if len(high) and high.max() > MOST:
                return self._wide(one, (group, counts, codes), many)
            sums = _added(group, codes * counts, groups)
        if one.function == "AVG":
            mean = sums / np.where(none, 1, many)
            if one.kind.value is ValueType.DURATION:
                return self._codes.decode(np.where(none, NULL, mean.astype(np.int64)), one.kind)
            return pa.array(mean, pa.float64(), mask=none)
        if one.kind.value is ValueType.FLOAT64:
            return pa.array(sums, pa.float64(), mask=none)
        return self._codes.decode(np.where(none, NULL, sums), one.kind)

    def _wide(
        self, one: HeadAggregate, rows: tuple[np.ndarray, np.ndarray, np.ndarray], many: np.ndarray
    ) -> pa.Array:
        """Sums and means of whole numbers and durations, the parts of which 64 bits may not hold."""
        group, counts, codes = rows
        sums = np.zeros(len(many), object)
        np.add.at(sums, group, codes.astype(object) * counts.astype(object))
        there = [(total, n) for total, n in zip(sums.tolist(), many.tolist())]
        if one.function == "AVG":
            means = [total / n if n else None for total, n in there]
            if one.kind.value is not ValueType.DURATION:
                return pa.array(means, pa.float64())
            whole = [NULL if mean is None else int(mean) for mean in means]
            return self._codes.decode(np.array(whole, np.int64), one.kind)
        for total, n in there:
            if n and not NULL < total < -NULL:
                raise LimitError(
                    f"`{one.name}` is {total}, which 64 bits do not hold: cast the column to float64"
                )
        return self._codes.decode(np.where(many == 0, NULL, sums).astype(np.int64), one.kind)

    def _decimals(
        self, one: HeadAggregate, rows: tuple[np.ndarray, np.ndarray, np.ndarray], many: np.ndarray
    ) -> pa.Array:
        """Sums of decimals, exactly, or the floats next to their means; null for no value."""
        sums: list[Decimal | None] = [None] * len(many)
        with localcontext() as context:
            context.prec = DIGITS
            for group, count, code in zip(*(values.tolist() for values in rows)):
                sums[group] = (sums[group] or Decimal(0)) + self._codes.decimals.value(code) * count
        if one.function == "SUM":
            return pa.array(sums, one.arrow)
        means = [None if total is None else float(total / n) for total, n in zip(sums, many.tolist())]
        return pa.array(means, pa.float64())

    def _extreme(self, one: HeadAggregate, group: np.ndarray, codes: np.ndarray, groups: int) -> np.ndarray:
        """The code of the least or greatest value of each group, `NULL` for none."""
        values = codes
        ranked = np.empty(0, np.int64)
        if one.kind.value is ValueType.STRING:
            used, places = np.unique(codes, return_inverse=True)
            texts = self._codes.decode(used, one.kind).to_pylist()
            place = {text: number for number, text in enumerate(one.order)}
            order = sorted(range(len(used)), key=lambda n: place[texts[n]] if place else texts[n])
            ranked = used[order]
            rank = np.empty(len(used), np.int64)
            rank[order] = np.arange(len(used))
            values = rank[places.reshape(-1)]
        largest = one.function == "MAX"
        found = np.full(groups, NULL if largest else np.iinfo(np.int64).max)
        (np.maximum if largest else np.minimum).at(found, group, values)
        none = np.ones(groups, bool)
        none[group] = False
        if len(ranked):
            found = ranked[np.where(none, 0, found)]
        return np.where(none, NULL, found)


def changed(old: FoldedGroups, new: FoldedGroups) -> tuple[np.ndarray, np.ndarray]:
    """The groups that differ between both: their places in `old`, and in `new`."""
    before = {tuple(key): place for place, key in enumerate(old.keys.tolist())}
    rows = [list(zip(*(column.to_pylist() for column in one.values))) for one in (old, new)]
    same = [
        (before[tuple(key)], place)
        for place, key in enumerate(new.keys.tolist())
        if tuple(key) in before and _same(rows[0][before[tuple(key)]], rows[1][place])
    ]
    kept = [np.ones(len(old.keys), bool), np.ones(len(new.keys), bool)]
    for one, other in same:
        kept[0][one] = kept[1][other] = False
    return np.flatnonzero(kept[0]), np.flatnonzero(kept[1])


def _same(one: Sequence[object], other: Sequence[object]) -> bool:
    return all(a == b or (a != a and b != b) for a, b in zip(one, other))


def _added(group: np.ndarray, amounts: np.ndarray, groups: int) -> np.ndarray:
    found = np.zeros(groups, np.int64)
    np.add.at(found, group, amounts)
    return found


def check_folded(aggregate: t.Aggregate, checker: TypeChecker, findings: Findings) -> None:
    """Find whether an aggregate is of values that it can be applied to."""
    if aggregate.argument is None:
        return
    kind = checker.type_of(aggregate.argument)
    if kind is None or kind.numeric or kind is ValueType.DURATION:
        return
    if aggregate.function in ("SUM", "AVG"):
        what = f"{aggregate.function} cannot be applied to {WITH_ARTICLE[kind]}"
        findings.error("CER030", what, aggregate.span)
    elif kind is ValueType.BOOL:
        findings.error("CER031", "bools have no order", aggregate.span)
