"""Aggregates of measures: `FoldValues`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from cer_gpu.engine.rows.leaf_types import LeafTypes
from cer_gpu.engine.rows.matched_rows import MatchedRows
from cer_gpu.engine.rows.row_matches import ValueChain
from cer_gpu.engine.rows.shared_matches import SharedMatches
from cer_gpu.engine.rows.wide_numbers import DIGITS, WideNumbers, sums_at, wide_numbers
from cer_gpu.engine.words import text_ranks, unsigned_of, unsigned_words
from cer_gpu.errors import DataError, LimitError
from cer_gpu.kernels.row_patterns import folds
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.patterns.tree import AGGREGATES, Field, Operation, RowAggregate, Scalar
from cer_gpu.printable_text import name_text

Back: TypeAlias = Callable[[np.ndarray, np.ndarray], pa.Array]
"""Makes values of numbers, and of where they are missing."""


class FoldedRows(NamedTuple):
    """The values of an aggregate, one at least, and where its answers stand among them.

    Attributes
    ----------
    values : pyarrow.Array
    valid : ndarray of uint8
        0 where a value does not count.
    chain : ValueChain
    """

    values: pa.Array
    valid: np.ndarray
    chain: ValueChain


def running(number: int, words: np.ndarray, rows: FoldedRows) -> tuple[np.ndarray, np.ndarray]:
    """Aggregates of words at the rows of the answer, and of how many values they are."""
    totals, counts = np.empty_like(words), np.empty(len(words), np.int64)
    folds.running(number, words, rows.valid, rows.chain.before, totals, counts)
    return totals[rows.chain.last], counts[rows.chain.last]


def floats(values: pa.Array) -> np.ndarray:
    return np.asarray(values.cast(pa.float64()).fill_null(0.0))


def ordered_words(values: pa.Array) -> tuple[np.ndarray, Back]:
    """Values as numbers of the same order, int64 or float64, and the way back."""
    kind, types = values.type, pa.types
    if types.is_floating(kind):
        return floats(values), _plain
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
    """What is no number: a list, a text, a value of a row, or a deviation."""
    match aggregate.function:
        case "array" | "values":
            whole = aggregate.function == "array" and not aggregate.distinct
            return lists(rows, np.ones_like(rows.valid) if whole else rows.valid)
        case "text":
            return joined(rows, others[0].as_py() or "")
        case "any":
            return first_values(rows)
        case "min by" | "max by":
            return values_by(rows, others, aggregate.function == "max by")
    return deviations(aggregate.function, rows)


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


MOST_VALUES = 1 << 28
"""Values of all lists of one part of an answer, at most."""


def lists(rows: FoldedRows, kept: np.ndarray) -> pa.Array:
    """A list of the kept values that each row of the answer looks at; null where there is none.

    Raises
    ------
    LimitError
        When they have too many values.
    """
    offsets, taken = _gathered(rows, kept)
    none = rows.chain.none | (np.diff(offsets) == 0)
    values = rows.values.take(pa.array(taken))
    large = len(taken) >= 1 << 31
    made = pa.LargeListArray if large else pa.ListArray
    bounds = pa.array(offsets, pa.int64() if large else pa.int32())
    return made.from_arrays(bounds, values, mask=pa.array(none))


def joined(rows: FoldedRows, between: str) -> pa.Array:
    """The texts that each row of the answer looks at as one; null where there is none."""
    found = lists(rows, rows.valid)
    if not pa.types.is_string(rows.values.type):
        found = found.cast(pa.list_(pa.string()))
    return pc.binary_join(found, between)


def first_values(rows: FoldedRows) -> pa.Array:
    """The first value that each row of the answer looks at."""
    before = np.concatenate([[0], np.cumsum(rows.valid, dtype=np.int64)])
    places = np.flatnonzero(rows.valid)
    number = before[rows.chain.first]
    missing = rows.chain.none | (before[rows.chain.last + 1] == number)
    if not len(places):
        return pa.nulls(len(rows.chain.last), rows.values.type)
    return rows.values.take(pa.array(places[np.minimum(number, len(places) - 1)], mask=missing))


def deviations(function: str, rows: FoldedRows) -> pa.Array:
    """Variances or deviations, float64, of the values that each row of the answer looks at."""
    values, last = floats(rows.values), rows.chain.last
    means, totals, counts = np.empty_like(values), np.empty_like(values), np.empty(len(values), np.int64)
    folds.squares(values, rows.valid, rows.chain.before, means, totals, counts)
    several = counts[last] - 1 if function.startswith("sample") else counts[last]
    found = totals[last] / np.maximum(several, 1)
    if function.endswith("deviation"):
        found = np.sqrt(found)
    return pa.array(found, mask=rows.chain.none | (several <= 0))


def values_by(rows: FoldedRows, by: pa.Array, greatest: bool) -> pa.Array:
    """The value of the first row with the least or greatest of other values, among those looked at."""
    counted = rows._replace(values=by, valid=np.asarray(by.is_valid()).astype(np.uint8))
    words, _ = ordered_words(by)
    totals, counts = np.empty_like(words), np.empty(len(words), np.int64)
    number = folds.GREATEST if greatest else folds.LEAST
    folds.running(number, words, counted.valid, rows.chain.before, totals, counts)
    bits = totals.view(np.int64)
    changed = np.concatenate([[True], bits[1:] != bits[:-1]])
    places = np.where((counted.valid > 0) & (changed | (counts == 1)), np.arange(len(words)), -1)
    best = np.maximum.accumulate(places)[rows.chain.last]
    return rows.values.take(
        pa.array(np.maximum(best, 0), mask=rows.chain.none | (counts[rows.chain.last] == 0))
    )


def _gathered(rows: FoldedRows, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the list of each row of the answer begins, and the values of all lists."""
    before = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
    first = before[rows.chain.first]
    lengths = np.where(rows.chain.none, 0, before[rows.chain.last + 1] - first)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    if offsets[-1] > MOST_VALUES:
        raise LimitError(
            f"the lists of a measure would have {offsets[-1]:,} values together: write FINAL before the "
            "aggregate, or ONE ROW PER MATCH"
        )
    places = np.flatnonzero(kept)
    if not len(places):
        return offsets, places
    return offsets, places[np.arange(offsets[-1]) + np.repeat(first - offsets[:-1], lengths)]
