"""Aggregates of measures: `FoldValues`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from cer_gpu.engine.rows.leaf_types import LeafTypes
from cer_gpu.engine.rows.matched_rows import MatchedRows
from cer_gpu.engine.rows.wide_numbers import DIGITS, WideNumbers, sums_at, wide_numbers
from cer_gpu.engine.words import text_ranks, unsigned_of, unsigned_words
from cer_gpu.errors import DataError
from cer_gpu.kernels.row_patterns import folds
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.patterns.tree import Field, RowAggregate, Scalar
from cer_gpu.printable_text import name_text

Back: TypeAlias = Callable[[np.ndarray, np.ndarray], pa.Array]
"""Makes values of numbers, and of where they are missing."""


class _FoldedRows(NamedTuple):
    """The values of an aggregate, one at least, and where its answers stand among them.

    Attributes
    ----------
    values : pyarrow.Array
    valid : ndarray of uint8
        0 where a value does not count.
    bounds : ndarray, shape (matches + 1,), int64
        Match k has the values bounds[k] .. bounds[k + 1] - 1.
    last : ndarray of int64
        For each row of the answer the last value that it looks at.
    none : ndarray of bool
        Where it looks at no value.
    """

    values: pa.Array
    valid: np.ndarray
    bounds: np.ndarray
    last: np.ndarray
    none: np.ndarray


class FoldValues:
    """Aggregates of matches at the rows of an answer.

    Parameters
    ----------
    matched : MatchedRows
    types : LeafTypes
    values : callable
        Gives the values of an expression of columns at some elements of the matches.
    """

    def __init__(
        self,
        matched: MatchedRows,
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
        matched = self._matched
        first, stop = matched.stretches(aggregate.variables, aggregate.final)
        if aggregate.expression is None:
            return pa.array(stop - first)
        kind = self._types.type_of(aggregate)
        chosen = matched.chosen(aggregate.variables)
        if not len(chosen):
            return pa.array(stop - first) if aggregate.function == "count" else pa.nulls(len(stop), kind)
        # What is computed of rows of other variables may be an error.
        values = self._values(aggregate.expression, chosen)
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        if pa.types.is_string_view(values.type):
            values = values.cast(pa.large_string())
        valid = np.asarray(values.is_valid()).astype(np.uint8)
        none = stop == first
        bounds = matched.chosen_before(aggregate.variables)[matched.bounds]
        rows = _FoldedRows(values, valid, bounds, np.where(none, 0, stop - 1), none)
        if aggregate.distinct and aggregate.function not in ("min", "max") and not pa.types.is_null(kind):
            _leave_first(rows)
        return _folded(aggregate, rows, kind)


def _leave_first(rows: _FoldedRows) -> None:
    """Let only the first of equal values of a match count."""
    values = rows.values
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0.0, values.type))  # -0.0 is 0.0
    codes = values.dictionary_encode()
    places = np.asarray(codes.indices.fill_null(0)).astype(np.int32)
    seen = np.zeros(max(len(codes.dictionary), 1), np.int64)
    folds.first_of_each(places, rows.valid, rows.bounds, seen)


def _folded(aggregate: RowAggregate, rows: _FoldedRows, kind: pa.DataType) -> pa.Array:
    function = aggregate.function
    if pa.types.is_null(kind):
        return pa.nulls(len(rows.last), kind)
    if function == "count":
        counts = np.empty(len(rows.valid), np.int64)
        folds.running(folds.COUNT, counts, rows.valid, rows.bounds, counts[:0], counts)
        return pa.array(np.where(rows.none, 0, counts[rows.last]))
    if function in ("min", "max"):
        words, back = _ordered_words(rows.values)
        found, counts = _running(folds.LEAST if function == "min" else folds.GREATEST, words, rows)
        return back(found, rows.none | (counts == 0)).cast(kind)
    if pa.types.is_floating(rows.values.type):
        found, counts = _running(folds.SUM, _floats(rows.values), rows)
        missing = rows.none | (counts == 0)
        return pa.array(found if function == "sum" else found / np.maximum(counts, 1), mask=missing)
    return _whole_sum(aggregate, rows, kind)


def _running(number: int, words: np.ndarray, rows: _FoldedRows) -> tuple[np.ndarray, np.ndarray]:
    """Aggregates of words at the rows of the answer, and of how many values they are."""
    totals, counts = np.empty_like(words), np.empty(len(words), np.int64)
    folds.running(number, words, rows.valid, rows.bounds, totals, counts)
    return totals[rows.last], counts[rows.last]


def _whole_sum(aggregate: RowAggregate, rows: _FoldedRows, kind: pa.DataType) -> pa.Array:
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
    sums, counts = sums_at(numbers, rows.valid, rows.bounds, rows.last)
    missing = rows.none | (counts == 0)
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
    if aggregate.function == "avg":
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


def _floats(values: pa.Array) -> np.ndarray:
    return np.asarray(values.cast(pa.float64()).fill_null(0.0))


def _ordered_words(values: pa.Array) -> tuple[np.ndarray, Back]:
    """Values as numbers of the same order, int64 or float64, and the way back."""
    kind, types = values.type, pa.types
    if types.is_floating(kind):
        return _floats(values), _plain
    if types.is_boolean(kind):
        return np.asarray(values.fill_null(False)).astype(np.int64), _plain
    if types.is_uint64(kind):
        words = unsigned_words(np.asarray(values.fill_null(0)))
        return words, lambda found, missing: pa.array(unsigned_of(found), mask=missing)
    if types.is_integer(kind):
        return np.asarray(values.fill_null(0)).astype(np.int64, copy=False), _plain
    if types.is_temporal(kind):
        whole = pa.int32() if kind.bit_width == 32 else pa.int64()
        words = np.asarray(values.view(whole).fill_null(0)).astype(np.int64, copy=False)
        return words, lambda found, missing: pa.array(found, mask=missing).cast(whole).view(kind)
    if types.is_decimal(kind) and kind.bit_width <= 128:
        numbers = wide_numbers(values)
        if numbers.high is None:
            return numbers.low, lambda found, missing: WideNumbers(found, None).decimals(kind.scale, missing)
    return _ranks(values)


def _plain(found: np.ndarray, missing: np.ndarray) -> pa.Array:
    return pa.array(found, mask=missing)


def _ranks(values: pa.Array) -> tuple[np.ndarray, Back]:
    """The places of values among those that differ, in their order."""
    codes = values.dictionary_encode()
    distinct = codes.dictionary
    if not len(distinct):
        return np.zeros(len(values), np.int64), lambda found, missing: pa.nulls(len(found), values.type)
    ranks = text_ranks(distinct)
    ordered = distinct.take(pa.array(np.argsort(ranks)))
    words = ranks[np.asarray(codes.indices.fill_null(0))]
    return words, lambda found, missing: ordered.take(pa.array(found, mask=missing))
