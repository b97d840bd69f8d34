"""The answer of a MATCH_RECOGNIZE clause over a table: `RowPatternAnswer`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.rows.expressions import evaluate
from cer_gpu.engine.rows.fixed_values import FixedValues
from cer_gpu.engine.rows.fold_values import FoldValues
from cer_gpu.engine.rows.leaf_types import LeafTypes
from cer_gpu.engine.rows.match_finder import MOST_VARIABLES, MatchFinder
from cer_gpu.engine.rows.matched_rows import MatchedRows
from cer_gpu.engine.rows.ordered_rows import OrderedRows
from cer_gpu.engine.rows.row_matches import FreeRows, RowMatches
from cer_gpu.engine.rows.shared_matches import SharedMatches, can_share
from cer_gpu.engine.rows.start_chains import EVERYWHERE, Exits, StartRange, StartRows
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.blocks import in_parts
from cer_gpu.errors import DataError, Diagnostic, LimitError, QueryError
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.patterns.choices import OrderedAutomaton, automaton_of
from cer_gpu.patterns.conditions import columns_of, leaves, parted_conditions
from cer_gpu.patterns.tree import (
    Field,
    MatchedVariable,
    MatchNumber,
    Navigation,
    RowAggregate,
    RowPatternClause,
    RowsPerMatch,
    Scalar,
)
from cer_gpu.printable_text import name_text

ELEMENTS = 1 << 18
"""Rows of matches that become answers at a time."""


class RowPatternAnswer:
    """Runs a clause over tables.

    Parameters
    ----------
    clause : RowPatternClause
        Its columns are those of the schema, by their exact names.
    schema : pyarrow.Schema
        Of the tables.
    text : str
        The statement, for messages.

    Attributes
    ----------
    schema : pyarrow.Schema
        Of the answer: the partition key, with ALL ROWS the sort keys, the measures, with ALL ROWS all other
        columns.
    columns : tuple of str
        The columns that are read.

    Raises
    ------
    QueryError
        When types do not fit.
    LimitError
        When the pattern is too large.
    """

    def __init__(self, clause: RowPatternClause, schema: pa.Schema, text: str) -> None:
        self._clause = clause
        self._text = text
        self.automaton: OrderedAutomaton = automaton_of(clause.pattern)
        self._types = LeafTypes(schema, text)
        self.conditions = parted_conditions(clause)
        if len(self.automaton.variables) > MOST_VARIABLES:
            raise LimitError(
                f"a pattern has at most {MOST_VARIABLES} variables, and this one has "
                f"{len(self.automaton.variables)}: use one variable for conditions that are alike"
            )
        self._check(schema)
        self._every_row = clause.rows is not RowsPerMatch.ONE
        before = list(clause.partition_by)
        if self._every_row:
            before += [key.column for key in clause.order_by if key.column not in before]
        self._before = before
        self._behind = [name for name in schema.names if self._every_row and name not in before]
        measures = [
            pa.field(measure.name, self._types.type_of(measure.expression)) for measure in clause.measures
        ]
        self.schema = pa.schema(
            [
                *(schema.field(name) for name in before),
                *measures,
                *(schema.field(name) for name in self._behind),
            ]
        )
        if not self.schema.names:
            what = "the result has no columns: name some with PARTITION BY or MEASURES"
            hint = "add MEASURES, for example MEASURES COUNT(*) AS n"
            raise QueryError([Diagnostic("CER117", what, clause.span, hints=(hint,))], text)
        named = set(schema.names if self._every_row else columns_of(clause))
        self.columns = tuple(name for name in schema.names if name in named)

    def _check(self, schema: pa.Schema) -> None:
        """Check the types of keys, of conditions and of WITHIN."""
        for name in self._clause.partition_by:
            if pa.types.is_nested(schema.field(name).type):
                raise DataError(
                    f"rows cannot be partitioned by the column {name_text(name)}, of type "
                    f"{schema.field(name).type}: make a column of one of its fields in a subquery"
                )
        for definition in self._clause.definitions:
            kind = self._types.type_of(definition.condition)
            if not pa.types.is_boolean(kind) and not pa.types.is_null(kind):
                what = f"DEFINE needs a condition for `{definition.variable}`, and this is of type {kind}"
                hint = "compare it with something: `price > 10`"
                raise QueryError([Diagnostic("CER117", what, definition.at, hints=(hint,))], self._text)
        if self._clause.within is not None and not self._clause.order_by:
            what = "WITHIN measures time by the first column of ORDER BY, and there is none"
            hint = "write ORDER BY with the column of time"
            raise QueryError([Diagnostic("CER117", what, self._clause.span, hints=(hint,))], self._text)
        if self._clause.within is not None:
            key = self._clause.order_by[0]
            kind = schema.field(key.column).type
            if not pa.types.is_timestamp(kind) and not pa.types.is_date(kind):
                what = f"WITHIN measures time by the first column of ORDER BY, and `{key.column}` is {kind}"
                hint = "order by a column of timestamps or dates first"
                raise QueryError([Diagnostic("CER117", what, key.at, hints=(hint,))], self._text)

    def ordered(self, table: pa.Table) -> OrderedRows:
        """The rows of a table in the order of the clause."""
        return OrderedRows(table, self._clause.partition_by, self._clause.order_by)

    def exits(self, rows: OrderedRows, starts: StartRange, entries: int, workers: Workers) -> Exits:
        """Where the search leaves a stretch of one partition; see `MatchFinder.exits`."""
        return self._finder(rows, workers, None, EVERYWHERE).exits(starts, entries)

    def _finder(
        self, rows: OrderedRows, workers: Workers, device: int | None, starts: StartRows
    ) -> MatchFinder:
        values = FixedValues(rows, self._text)
        parts = self._clause, self.automaton, self.conditions, values, rows
        return MatchFinder(*parts, workers, device, starts)

    def over(
        self,
        rows: OrderedRows,
        workers: Workers | None = None,
        device: int | None = None,
        starts: StartRange | StartRows = EVERYWHERE,
        seen: Callable[[RowMatches], None] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """The answer over rows in the order of the clause that have `columns`: batch after batch.

        With the number of a device it finds the matches where it can; with `starts` it is the answer of the
        matches that start in some rows. `seen` is told of all matches.

        Raises
        ------
        DataError, LimitError
            See `MatchFinder.found`.
        """
        clause = self._clause
        begun = starts.rows(rows.count) if isinstance(starts, StartRange) else starts
        finder = self._finder(rows, workers or Workers(), device, begun)
        shared = finder.shared() if can_share(clause) and seen is None else None
        if shared is not None:
            for part in shared:
                batch = self._row_batch(rows, part.answer_places, part)
                for first in range(0, batch.num_rows, ELEMENTS):
                    yield batch.slice(first, ELEMENTS)
            return
        numbering = _MatchCounter(rows, begun.before)
        free_rows = None
        if clause.rows is RowsPerMatch.ALL_WITH_UNMATCHED:
            free_rows = FreeRows(*(starts[:2] if isinstance(starts, StartRange) else (0, rows.count)))
        for matches in finder.found():
            if seen is not None:
                seen(matches)
            numbers = numbering.of(matches)
            free = np.zeros(0, np.int64) if free_rows is None else free_rows.before(matches)
            slots = np.append(0, np.cumsum(matches.lengths))
            for first, stop, _ in in_parts(np.maximum(matches.lengths, 1), ELEMENTS):
                some = RowMatches(
                    matches.starts[first:stop],
                    matches.lengths[first:stop],
                    matches.slots[slots[first] : slots[stop]],
                )
                matched = MatchedRows(some, numbers[first:stop], self.automaton, rows, self._every_row)
                if clause.rows is RowsPerMatch.ALL_OMIT_EMPTY:
                    matched.drop_empty()
                until = len(free)
                if stop < len(numbers):
                    until = int(np.searchsorted(free, matches.starts[stop]))
                yield from self._answered(matched, free[:until], rows)
                free = free[until:]
        if free_rows is not None:
            free = free_rows.rest()
            for first in range(0, len(free), ELEMENTS):
                yield self._row_batch(rows, free[first : first + ELEMENTS], None)

    def _answered(
        self, matched: MatchedRows, free: np.ndarray, rows: OrderedRows
    ) -> Iterator[pa.RecordBatch]:
        """The rows of some matches, and those in no match between them."""
        batch = self._row_batch(rows, matched.answer_places, matched)
        if len(free):
            both = pa.Table.from_batches([batch, self._row_batch(rows, free, None)])
            starts = np.concatenate([matched.matches.starts[matched.answered], free])
            both = both.take(pa.array(np.argsort(starts, kind="stable"))).combine_chunks()
            yield from both.to_batches()
        elif batch.num_rows:
            yield batch

    def _row_batch(
        self, rows: OrderedRows, places: np.ndarray, matched: MatchedRows | SharedMatches | None
    ) -> pa.RecordBatch:
        """Rows of the answer that lie at some places; without matches their measures are null."""
        columns = [rows.at(name, places) for name in self._before]
        kinds = self.schema.types[len(columns) : len(columns) + len(self._clause.measures)]
        if matched is None:
            columns += [pa.nulls(len(places), kind) for kind in kinds]
        else:
            values = MeasureValues(matched, self._types, self.automaton.variables)
            columns += [
                _of_type(values.of(measure.expression), kind)
                for measure, kind in zip(self._clause.measures, kinds, strict=True)
            ]
        columns += [rows.at(name, places) for name in self._behind]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


def _of_type(values: pa.Array, kind: pa.DataType) -> pa.Array:
    return values if values.type == kind else values.cast(kind)


class _MatchCounter:
    """Numbers matches in their partitions, part after part."""

    def __init__(self, rows: OrderedRows, before: np.ndarray) -> None:
        self._rows = rows
        self._before = before
        self._lane, self._count = -1, 0

    def of(self, matches: RowMatches) -> np.ndarray:
        """The number of each match in its partition, int64."""
        if not len(matches.starts):
            return np.zeros(0, np.int64)
        lanes = np.searchsorted(self._rows.lanes, matches.starts, side="right") - 1
        numbers = np.arange(len(lanes)) - np.searchsorted(lanes, lanes) + 1
        numbers[lanes == self._lane] += self._count
        self._lane, self._count = int(lanes[-1]), int(numbers[-1])
        if len(self._before):
            numbers = numbers + self._before[lanes]
        return numbers


class MeasureValues:
    """Measures of the rows of an answer.

    Parameters
    ----------
    matched : MatchedRows or SharedMatches
    types : LeafTypes
    names : sequence of str
        The variables of the pattern, by their numbers.
    """

    def __init__(
        self, matched: MatchedRows | SharedMatches, types: LeafTypes, names: tuple[str, ...]
    ) -> None:
        self._matched = matched
        self._types = types
        self._names = pa.array(names, pa.string())
        self._folds = FoldValues(matched, types, self._at_elements)

    def of(self, expression: Scalar) -> pa.Array:
        """The values of a measure."""
        return evaluate(expression, self._leaf, len(self._matched.answered))

    def _leaf(self, leaf: Scalar) -> Any:
        match leaf:
            case MatchNumber():
                return pa.array(self._matched.numbers[self._matched.answered])
            case Navigation():
                return self._navigation(leaf)
            case RowAggregate():
                return self._folds.of(leaf)
        raise AssertionError(leaf)

    def _navigation(self, navigation: Navigation) -> pa.Array:
        matched = self._matched
        elements = matched.navigated(
            navigation.variables, navigation.which, navigation.skip, navigation.final
        )
        places = matched.moved_places(elements, navigation.offset)
        inside = list(leaves(navigation.expression))
        classified = elements
        if navigation.offset and any(isinstance(leaf, MatchedVariable) for leaf in inside):
            classified = matched.moved_elements(elements, navigation.offset, navigation.final)
        values = self._at(navigation.expression, places, classified)
        if not isinstance(navigation.expression, (Field, MatchedVariable)):
            values = _where(places >= 0, values)
        return values

    def _at_elements(self, expression: Scalar, elements: np.ndarray) -> pa.Array:
        """The values of an expression of columns at some elements."""
        return self._at(expression, self._matched.places[elements], elements)

    def _at(self, expression: Scalar, places: np.ndarray, elements: np.ndarray) -> pa.Array:
        """The values of an expression of columns at some places, which are those of some elements."""

        def leaf_values(leaf: Scalar) -> pa.Array:
            if isinstance(leaf, Field):
                return self._matched.rows.at(leaf.name, places)
            return self._classified(elements)

        if isinstance(expression, (Field, MatchedVariable)):
            return leaf_values(expression)
        return evaluate(expression, leaf_values, len(places))

    def _classified(self, elements: np.ndarray) -> pa.Array:
        """CLASSIFIER() of some elements; null where there is none."""
        missing = elements < 0
        if not len(self._matched.variables):
            return pa.nulls(len(elements), pa.string())
        numbers = self._matched.variables[np.maximum(elements, 0)]
        return self._names.take(pa.array(numbers, mask=missing))


def _where(there: np.ndarray, values: pa.Array) -> pa.Array:
    """Values, null where there is no row."""
    return values if there.all() else pc.if_else(pa.array(there), values, pa.scalar(None, values.type))
