"""Aggregates of measures: `FoldValues`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from cer_gpu.engine.rows import collected_values
from cer_gpu.engine.rows.folded_rows import FoldedRows, floats, ordered_words, running
from cer_gpu.engine.rows.leaf_types import LeafTypes
from cer_gpu.engine.rows.matched_rows import MatchedRows
from cer_gpu.engine.rows.shared_matches import SharedMatches
from cer_gpu.engine.rows.wide_numbers import DIGITS, sums_at, wide_numbers
from cer_gpu.errors import DataError
from cer_gpu.kernels.row_patterns import folds
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.patterns.tree import AGGREGATES, Field, Operation, RowAggregate, Scalar
from cer_gpu.printable_text import name_text

COLLECTED = frozenset(AGGREGATES) - {"count", "sum", "min", "max", "avg", "whole avg"}
"""Aggregates that are no folds of words."""


class FoldValues:
    """Aggregates of matches at the rows of an answer.

    Parameters
    ----------
    matched : MatchedRows or SharedMatches
    types : LeafTypes
    values : callable
        Gives the values of an expression of columns at some elements of the matches.
    """

    def __init__(
        self,
        matched: MatchedRows | SharedMatches,
        types: LeafTypes,
        values: Callable[[Scalar, np.ndarray], pa.Array],
    ) -> None:
        self._matched = matched
        self._types = types
        self._values = values

    def of(self, aggregate: RowAggregate) -> pa.Array:
        """The values of an aggregate at the rows of the answer.

        Raises
        ------
        DataError
            When a sum does not fit its type.
        """
        chain = self._matched.chain(aggregate.variables, aggregate.final)
        if aggregate.expression is None or self._counts_all(aggregate):
            return pa.array(chain.counts)
        kind = self._types.type_of(aggregate)
        chosen = self._matched.chosen(aggregate.variables)
        if not len(chosen):
            none = aggregate.function == "count"
            return pa.array(chain.counts) if none else pa.nulls(len(chain.counts), kind)
        # What is computed of rows of other variables may be an error.
        values, others = self._plain(aggregate.expression, chosen)
        valid = np.asarray(values.is_valid()).astype(np.uint8)
        rows = FoldedRows(values, valid, chain)
        if aggregate.distinct and aggregate.function not in ("min", "max") and not pa.types.is_null(kind):
            _leave_first(rows)
        if aggregate.function in COLLECTED:
            return _collected(aggregate, rows, others).cast(kind)
        return _folded(aggregate, rows, kind)

    def _counts_all(self, aggregate: RowAggregate) -> bool:
        """Whether this is the number of values of a column that has no nulls."""
        expression = aggregate.expression
        plain = aggregate.function == "count" and not aggregate.distinct
        if not plain or not isinstance(expression, Field):
            return False
        return self._matched.rows.lying(expression.name).null_count == 0

    def _plain(self, expression: Scalar, chosen: np.ndarray) -> tuple[pa.Array, pa.Array]:
        """The values of an expression, or of the two of a pair, without dictionaries."""
        if isinstance(expression, Operation) and expression.name == "pair":
            first, second = (self._plain(one, chosen)[0] for one in expression.operands)
            return first, second
        values = self._values(expression, chosen)
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        if pa.types.is_string_view(values.type):
            values = values.cast(pa.large_string())
        return values, values


def _collected(aggregate: RowAggregate, rows: FoldedRows, others: pa.Array) -> pa.Array:
    """What is no number: see `collected_values`."""
    match aggregate.function:
        case "array" | "values":
            whole = aggregate.function == "array" and not aggregate.distinct
            return collected_values.lists(rows, np.ones_like(rows.valid) if whole else rows.valid)
        case "text":
            return collected_values.joined(rows, others[0].as_py() or "")
        case "any":
            return collected_values.first_values(rows)
        case "min by" | "max by":
            return collected_values.values_by(rows, others, aggregate.function == "max by")
    return collected_values.deviations(aggregate.function, rows)


def _leave_first(rows: FoldedRows) -> None:
    """Let only the first of equal values of a match count."""
    values = rows.values
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0.0, values.type))  # -0.0 is 0.0
    codes = values.dictionary_encode()
    places = np.asarray(codes.indices.fill_null(0)).astype(np.int32)
    seen = np.zeros(max(len(codes.dictionary), 1), np.int64)
    folds.first_of_each(places, rows.valid, rows.chain.bounds, seen)


def _folded(aggregate: RowAggregate, rows: FoldedRows, kind: pa.DataType) -> pa.Array:
    function = aggregate.function
    if pa.types.is_null(kind):
        return pa.nulls(len(rows.chain.last), kind)
    if function == "count":
        counts = np.empty(len(rows.valid), np.int64)
        folds.running(folds.COUNT, counts, rows.valid, rows.chain.before, counts[:0], counts)
        return pa.array(np.where(rows.chain.none, 0, counts[rows.chain.last]))
    if function in ("min", "max"):
        words, back = ordered_words(rows.values)
        found, counts = running(folds.LEAST if function == "min" else folds.GREATEST, words, rows)
        return back(found, rows.chain.none | (counts == 0)).cast(kind)
    if pa.types.is_floating(rows.values.type):
        found, counts = running(folds.SUM, floats(rows.values), rows)
        missing = rows.chain.none | (counts == 0)
        return pa.array(found if function == "sum" else found / np.maximum(counts, 1), mask=missing)
    return _whole_sum(aggregate, rows, kind)


def _whole_sum(aggregate: RowAggregate, rows: FoldedRows, kind: pa.DataType) -> pa.Array:
    """SUM or AVG of whole numbers, decimals or intervals.

    Raises
    ------
    DataError
        When a sum does not fit its type.
    """
    try:
        numbers = wide_numbers(rows.values)
    except pa.ArrowInvalid:
        raise _too_large(aggregate, rows.values.type) from None
    sums, counts = sums_at(numbers, rows.valid, rows.chain)
    missing = rows.chain.none | (counts == 0)
    decimal = pa.types.is_decimal(rows.values.type)
    fits = sums.fit_digits() if decimal or pa.types.is_floating(kind) else sums.fit_words()
    if not (fits | missing).all():
        raise _too_large(aggregate, rows.values.type)
    several = np.maximum(counts, 1)
    if pa.types.is_floating(kind):
        scale = rows.values.type.scale if decimal else 0
        return pa.array(sums.floats() / 10.0**scale / several, mask=missing)
    if decimal:
        return sums.decimals(kind.scale, missing)
    found = sums.low
    if aggregate.function != "sum":
        found = np.where(found < 0, -(-found // several), found // several)
    return pa.array(found, mask=missing).cast(kind)


def _too_large(aggregate: RowAggregate, kind: pa.DataType) -> DataError:
    """The error that a sum does not fit its type."""
    expression, of = aggregate.expression, ""
    if isinstance(expression, Field):
        of = f" of the column {name_text(expression.name)}"
    if pa.types.is_decimal(kind):
        size, advice = f"{DIGITS} digits", "compute it as a float, with CAST(... AS DOUBLE)"
    elif pa.types.is_duration(kind):
        size, advice = "64 bits", "sum up their seconds, EXTRACT(EPOCH FROM ...)"
    else:
        size, advice = "64 bits", "compute it as a float, with CAST(... AS DOUBLE)"
    return DataError(f"{aggregate.function.upper()}{of} in MEASURES does not fit {size}: {advice}")
