"""The values of an aggregate of a measure, and aggregates of their words: `FoldedRows`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from cer_gpu.engine.rows.value_chain import ValueChain
from cer_gpu.engine.rows.wide_numbers import WideNumbers, wide_numbers
from cer_gpu.engine.words import text_ranks, unsigned_of, unsigned_words
from cer_gpu.kernels.row_patterns import folds

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
