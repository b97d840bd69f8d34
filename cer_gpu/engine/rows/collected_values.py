"""Aggregates of measures that are no sums or extremes: lists, texts, deviations, values of a row."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cer_gpu.engine.rows.folded_rows import FoldedRows, floats, ordered_words
from cer_gpu.errors import LimitError
from cer_gpu.kernels.row_patterns import folds
from cer_gpu.lazy_modules import compute as pc

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
