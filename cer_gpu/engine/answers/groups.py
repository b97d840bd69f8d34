"""The answers of a rule with aggregates: `Q(x; COUNT(*), SUM(v)) <- ...` has a row for each value of `x`.

The rows that are folded are the different values of the variables in the head and in the aggregates, each
with the number of answers that have it. The aggregates are those of measures
(`cer_gpu.engine.answers.aggregates`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.aggregates import ListedValues, aggregated, is_known
from cer_gpu.engine.read.arithmetic import MOST_DIGITS, as_floats, computed
from cer_gpu.engine.read.sources.decimals import DIGITS_OF_INT64
from cer_gpu.errors import DataError
from cer_gpu.kernels.sorting.order import ascending
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.lazy_modules import compute as pc

if TYPE_CHECKING:
    from cer_gpu.engine.answers.form import TupleResults

MOST_PARTS = 1 << 16
"""The most rows that wait before they are folded together."""

_MANY, _PUSH = "\0many", "\0push"
"""Columns of partial groups: the number of answers, and the latest push that added one."""


class AnswerFold:
    """Folds the answers of a rule into groups.

    Parameters
    ----------
    answers : TupleResults
        The form of the answers, whose head has the variables of the groups, then those of the aggregates.
    shown : int
        How many of the variables name a group.
    aggregates : tuple of Aggregate
    names : tuple of str
        The columns of `schema` after the times.

    Attributes
    ----------
    schema : pyarrow.Schema
        Of groups: `start` and `end` (the earliest start and the latest end of the answers), their times, the
        variables, the aggregates.
    """

    def __init__(
        self,
        answers: TupleResults,
        shown: int,
        aggregates: tuple[tree.Aggregate, ...],
        names: tuple[str, ...],
    ) -> None:
        self.answers = answers
        self._shown = shown
        self._timed = len(answers.times)
        first = 2 + self._timed
        self._variables = tuple(answers.head or ())
        self._columns = answers.schema.names[first : first + len(self._variables)]
        self._aggregates = aggregates
        empty = self._nothing()
        kinds = [empty.schema.field(name).type for name in self._columns[:shown]]
        none = np.zeros(1, np.int64)
        kinds += [self._value(one, empty, np.empty(0, np.int64), none).type for one in aggregates]
        places = [pa.field(name, answers.schema.field(name).type) for name in ("start", "end")]
        times = [answers.schema.field(name) for name in answers.times]
        self.schema = pa.schema([*places, *times, *map(pa.field, names, kinds)])

    def groups(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The groups of all answers."""
        yield from self.shown(self.added(None, batches, 0), None)

    def added(self, parts: pa.Table | None, batches: Iterable[pa.RecordBatch], push: int) -> pa.Table:
        """Add answers to partial groups.

        Parameters
        ----------
        parts : Table or None
            The result of the last call; None: no groups yet.
        batches : iterable of RecordBatch
            Further answers, with the columns of `answers`.
        push : int
            The number of the push that the answers are of.
        """
        waiting = [self._nothing() if parts is None else parts]
        for batch in batches:
            waiting.append(self._partial(batch, push))
            if sum(map(len, waiting[1:])) > max(MOST_PARTS, len(waiting[0])):
                waiting = [self._together(waiting)]
        return self._together(waiting)

    def _nothing(self) -> pa.Table:
        return self._partial(pa.RecordBatch.from_pylist([], schema=self.answers.schema), 0)

    def _partial(self, batch: pa.RecordBatch, push: int) -> pa.Table:
        columns = {}
        for name in self._columns:
            column = batch.column(name)
            if pa.types.is_dictionary(column.type) or pa.types.is_run_end_encoded(column.type):
                column = pc.cast(column, column.type.value_type)
            if pa.types.is_floating(column.type):
                column = pc.add(pc.cast(column, pa.float64()), 0.0)  # the two zeros are one value
            columns[name] = column
        for name in ("start", "end", *self.answers.times):
            columns[name] = batch.column(name)
        count = len(batch)
        columns[_MANY] = pa.array(np.ones(count, np.int64))
        columns[_PUSH] = pa.array(np.full(count, push, np.int64))
        return self._together([pa.table(columns)])

    def _together(self, tables: list[pa.Table]) -> pa.Table:
        """One row for each value of the variables."""
        table = pa.concat_tables(tables) if len(tables) > 1 else tables[0]
        asked = [("start", "min"), ("end", "max"), (_MANY, "sum"), (_PUSH, "max")]
        asked += list(zip(self.answers.times, ("min", "max")))
        names = [*self._columns, *(name for name, _ in asked)]
        if not len(table):
            return table.select(names)
        found = table.group_by(list(self._columns), use_threads=False).aggregate(asked)
        folded = [*self._columns, *(f"{name}_{how}" for name, how in asked)]
        return found.select(folded).rename_columns(names)

    def shown(self, parts: pa.Table, push: int | None) -> Iterator[pa.RecordBatch]:
        """The groups, from partial ones, in the order of their ends and starts.

        Parameters
        ----------
        parts : Table
            From `added`.
        push : int or None
            Only groups to which this push has added an answer; None: all.
        """
        group, groups = self._numbered(parts)
        order = ascending(group)
        offsets = np.searchsorted(group[order], np.arange(groups + 1))
        rows = parts.take(pa.array(order)).combine_chunks()
        first = pa.array(offsets[:-1])
        named = [rows.column(name).take(first).combine_chunks() for name in self._columns[: self._shown]]
        folded = [self._value(one, rows, group[order], offsets) for one in self._aggregates]
        timed = list(zip(self.answers.times, ("MIN", "MAX")))
        asked = [("start", "MIN"), ("end", "MAX"), *timed, (_PUSH, "MAX")]
        *places, latest = (self._folded(how, rows.column(name), offsets) for name, how in asked)
        table = pa.table([*places, *named, *folded], schema=self.schema)
        if push is not None:
            table = table.filter(pc.fill_null(pc.equal(latest, push), False))
        keys = [("end", "ascending"), ("start", "ascending")]
        yield from table.take(pc.sort_indices(table, sort_keys=keys)).combine_chunks().to_batches()

    def _numbered(self, parts: pa.Table) -> tuple[np.ndarray, int]:
        """The group of each row, and how many there are: one, whatever the rows, without variables."""
        if not self._shown:
            return np.zeros(len(parts), np.int64), 1
        if not len(parts):
            return np.empty(0, np.int64), 0
        codes = [
            parts.column(name).combine_chunks().dictionary_encode("encode").indices.to_numpy()
            for name in self._columns[: self._shown]
        ]
        distinct, group = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)
        return group.reshape(-1), len(distinct)

    def _value(self, one: tree.Aggregate, rows: pa.Table, group: np.ndarray, offsets: np.ndarray) -> pa.Array:
        """An aggregate of each group, whose rows follow one another."""
        many = rows.column(_MANY).combine_chunks()
        if one.argument is None:
            found = np.zeros(len(offsets) - 1, np.int64)
            np.add.at(found, group, many.to_numpy())
            return pa.array(found)

        def operand(part: tree.Expression) -> pa.Array:
            name = part.name if isinstance(part, tree.Attribute) else ""
            return rows.column(self._columns[self._variables.index(name)]).combine_chunks()

        try:
            values = computed(one.argument, operand, len(rows))
            if one.function in ("MIN", "MAX"):
                return self._folded(one.function, values, offsets, one.order)
            whole = pa.types.is_integer(values.type) or pa.types.is_duration(values.type)
            if one.function == "AVG" and not whole:
                values = as_floats(values)
            total = self._folded("SUM", _repeated(values, many), offsets)
            if whole and (one.function == "SUM" or pa.types.is_duration(values.type)):
                total = total.cast(pa.int64())
        except pa.ArrowInvalid as error:
            raise DataError(
                f"`{to_text(one)}` has a value that does not fit: {error}; cast the column to float64"
            ) from error
        if one.function == "AVG":
            there = pc.if_else(is_known(values), many, 0)
            count = self._folded("SUM", there, offsets)
            mean = pc.divide(as_floats(total), pc.if_else(pc.equal(count, 0), None, as_floats(count)))
            if not pa.types.is_duration(values.type):
                return mean
            total = pc.trunc(mean).cast(pa.int64())
        return total.cast(values.type) if pa.types.is_duration(values.type) else total

    def _folded(
        self,
        function: str,
        values: pa.Array | pa.ChunkedArray,
        offsets: np.ndarray,
        order: tuple[str, ...] = (),
    ) -> pa.Array:
        """One value of each group; as `aggregated`."""
        plain = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        found = aggregated(function, False, ListedValues(plain, offsets), order)
        return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _repeated(values: pa.Array, many: pa.Array) -> pa.Array:
    """Values times how often they are there; whole numbers as decimals where 64 bits are too few."""
    kind = values.type
    if pa.types.is_duration(kind) or pa.types.is_integer(kind):
        values = values.cast(pa.int64())
        try:
            return pc.multiply_checked(values, many)
        except pa.ArrowInvalid:  # the sum may fit again
            wide = pa.decimal256(DIGITS_OF_INT64, 0)
            return pc.multiply(values.cast(wide), many.cast(wide))
    if pa.types.is_decimal(kind) and kind.precision + DIGITS_OF_INT64 >= MOST_DIGITS:
        # The product has the digits of both and one more, for which there is room in 256 bits.
        values = values.cast(pa.decimal256(min(kind.precision, MOST_DIGITS), kind.scale))
        many = many.cast(pa.decimal256(DIGITS_OF_INT64, 0))
    return pc.multiply_checked(values, many)
