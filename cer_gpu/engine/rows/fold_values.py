"""Aggregates of measures: `FoldValues`."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pyarrow as pa

from cer_gpu.engine.rows.leaf_types import LeafTypes
from cer_gpu.engine.rows.matched_rows import MatchedRows
from cer_gpu.engine.words import text_ranks
from cer_gpu.errors import DataError
from cer_gpu.kernels.row_patterns import folds
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.patterns.tree import RowAggregate, Scalar


class FoldValues:
    """Aggregates of matches at the rows of an answer.

    Parameters
    ----------
    matched : MatchedRows
    types : LeafTypes
    values : callable
        Gives the values of an expression of columns at all elements of the matches.
    """

    def __init__(self, matched: MatchedRows, types: LeafTypes, values: Callable[[Scalar], pa.Array]) -> None:
        self._matched = matched
        self._types = types
        self._values = values

    def of(self, aggregate: RowAggregate) -> pa.Array:
        """The values of an aggregate at the rows of the answer."""
        matched = self._matched
        valid = np.zeros(len(matched.places), np.uint8)
        valid[matched.chosen(aggregate.variables)] = 1
        stop = matched.until(aggregate.final)
        none = stop == matched.bounds[matched.answered]
        last = np.where(none, 0, stop - 1)
        if not len(valid):
            return self._empty(aggregate, len(last))
        if aggregate.expression is None:
            counts = np.empty(len(valid), np.int64)
            folds.running(folds.COUNT, counts, valid, matched.bounds, counts[:0], counts)
            return pa.array(np.where(none, 0, counts[last]))
        values = self._values(aggregate.expression)
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        valid &= np.asarray(values.is_valid()).astype(np.uint8)
        if aggregate.distinct and aggregate.function not in ("min", "max"):
            codes = values.dictionary_encode()
            places = np.asarray(codes.indices.fill_null(0)).astype(np.int32)
            seen = np.zeros(max(len(codes.dictionary), 1), np.int64)
            folds.first_of_each(places, valid, matched.bounds, seen)
        return self._folded(aggregate, values, valid, last, none)

    def _empty(self, aggregate: RowAggregate, size: int) -> pa.Array:
        if aggregate.function == "count":
            return pa.array(np.zeros(size, np.int64))
        return pa.nulls(size, self._types.type_of(aggregate))

    def _folded(
        self, aggregate: RowAggregate, values: pa.Array, valid: np.ndarray, last: np.ndarray, none: np.ndarray
    ) -> pa.Array:
        kind = self._types.type_of(aggregate)
        function = aggregate.function
        counts = np.empty(len(valid), np.int64)
        if function == "count" or pa.types.is_null(kind):
            folds.running(folds.COUNT, counts, valid, self._matched.bounds, counts[:0], counts)
            found = np.where(none, 0, counts[last])
            return pa.array(found) if function == "count" else pa.nulls(len(last), kind)
        words, back = _words(values)
        totals = np.empty_like(words)
        number = {"sum": folds.SUM, "avg": folds.SUM, "min": folds.LEAST, "max": folds.GREATEST}[function]
        if folds.running(number, words, valid, self._matched.bounds, totals, counts) >= 0:
            raise DataError(
                f"{function.upper()} in MEASURES does not fit 64 bits: compute it as a float, with "
                "CAST(... AS DOUBLE)"
            )
        missing = none | (counts[last] == 0)
        found = totals[last]
        if function != "avg":
            return back(found, missing, kind)
        several = np.maximum(counts[last], 1)
        if pa.types.is_duration(kind):
            cut = np.where(found < 0, -(-found // several), found // several)
            return back(cut, missing, kind)
        scale = values.type.scale if pa.types.is_decimal(values.type) else 0
        return pa.array(found / 10.0**scale / several, mask=missing)


def _words(values: pa.Array) -> tuple[np.ndarray, Callable[[np.ndarray, np.ndarray, pa.DataType], pa.Array]]:
    """Values as numbers of the same order, and the way back: of numbers, and of where they are missing."""
    kind = values.type
    types = pa.types
    if types.is_floating(kind):
        data = np.asarray(values.cast(pa.float64()).fill_null(0.0))
        return data, lambda found, missing, kind: pa.array(found, mask=missing).cast(kind)
    if types.is_boolean(kind):
        data = np.asarray(values.fill_null(False)).astype(np.int64)
        return data, lambda found, missing, kind: pa.array(found, mask=missing).cast(kind)
    if types.is_integer(kind):
        data = np.asarray(values.cast(pa.int64()).fill_null(0))
        return data, lambda found, missing, kind: pa.array(found, mask=missing).cast(kind)
    if types.is_temporal(kind):
        whole = pa.int32() if kind.bit_width == 32 else pa.int64()
        data = np.asarray(values.view(whole).fill_null(0)).astype(np.int64)
        return data, lambda found, missing, kind: pa.array(found, mask=missing).cast(whole).view(kind)
    if types.is_decimal(kind):
        return _decimal_words(values)
    distinct = pc.unique(values).drop_null()
    sorted_ = distinct.take(pa.array(np.argsort(text_ranks(distinct.cast(pa.string())))))
    data = np.asarray(pc.index_in(values, sorted_).fill_null(0)).astype(np.int64)
    if not len(sorted_):
        return data, lambda found, missing, kind: pa.nulls(len(found), kind)
    return data, lambda found, missing, kind: sorted_.take(pa.array(found, mask=missing)).cast(kind)


def _decimal_words(
    values: pa.Array,
) -> tuple[np.ndarray, Callable[[np.ndarray, np.ndarray, pa.DataType], pa.Array]]:
    scale = values.type.scale
    from cer_gpu.engine.rows.search_columns import decimal_words

    def back(found: np.ndarray, missing: np.ndarray, kind: pa.DataType) -> pa.Array:
        whole = [
            None if gone else Decimal(number).scaleb(-scale)
            for number, gone in zip(found.tolist(), missing.tolist(), strict=True)
        ]
        return pa.array(whole, kind)

    return decimal_words(values), back
