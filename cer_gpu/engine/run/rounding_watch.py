"""Notes comparisons whose two sides floats may round apart: `RoundingWatch`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.notes import Notes
from cer_gpu.language.rounded_comparisons import RoundedComparison
from cer_gpu.printable_text import name_text

SAMPLE = 4_096
"""Values of a comparison's columns that are looked at; in a batch, of each column."""

FINER = 2
"""How many more digits than the threshold the values may have. Of finer ones few differ by just as much."""

MOST_PLACES = 9
"""Digits after the point that a threshold has at most to be watched."""


class RoundingWatch:
    """Notes comparisons of differences of decimals with a decimal threshold.

    Both sides are often equal only if the values have no more digits after the point than prices have, and
    not fewer than the threshold: `price - PREV(price) >= 0.03` over prices in cents.

    Parameters
    ----------
    watched : mapping of RoundedComparison to set of float
        The comparisons, and the thresholds that each has.
    """

    def __init__(self, watched: Mapping[RoundedComparison, set[float]]) -> None:
        self._watched = {one: set(thresholds) for one, thresholds in watched.items()}
        self._seen = dict.fromkeys(watched, 0)
        self._digits = dict.fromkeys(watched, 0)

    @staticmethod
    def of(
        differences: Iterable[RoundedComparison], given: Mapping[str, Any], schema: pa.Schema
    ) -> RoundingWatch | None:
        """One for the comparisons of a query, with values of its parameters; None if none can be wrong."""
        watched: dict[RoundedComparison, set[float]] = {}
        for one in differences:
            value = given.get(one.threshold) if isinstance(one.threshold, str) else one.threshold
            threshold = float(value) if isinstance(value, float | Decimal) else 0.0
            types = [schema.field(name).type for name in one.columns if schema.get_field_index(name) >= 0]
            numbers = all(pa.types.is_floating(each) or pa.types.is_integer(each) for each in types)
            if numbers and any(map(pa.types.is_floating, types)) and 0 < _places(threshold) <= MOST_PLACES:
                watched[one] = {threshold}
        return RoundingWatch(watched) if watched else None

    @staticmethod
    def of_all(watches: Sequence[RoundingWatch]) -> RoundingWatch | None:
        """One for the comparisons of several queries; None if there are none."""
        watched: dict[RoundedComparison, set[float]] = {}
        for watch in watches:
            for one, thresholds in watch._watched.items():
                watched.setdefault(one, set()).update(thresholds)
        return RoundingWatch(watched) if watched else None

    def look(self, batch: pa.RecordBatch, notes: Notes) -> None:
        """Look at the values of a batch, and note the comparisons that may be wrong for them."""
        for one in [*self._watched]:
            values = _sample([batch.column(name) for name in batch.schema.names if name in one.columns])
            places = sorted(map(_places, self._watched[one]))
            self._seen[one] += len(values)
            self._digits[one] = digits = max(self._digits[one], _digits(values, places[-1] + FINER))
            if any(few <= digits <= few + FINER for few in places):
                notes.say(_said(one, min(self._watched[one])))
                del self._watched[one]
            elif digits > places[-1] + FINER or self._seen[one] >= SAMPLE:
                del self._watched[one]


def _places(threshold: float) -> int:
    """How many digits a number has after the point; 0 for one that is whole or not finite."""
    return -int(Decimal(repr(threshold)).as_tuple().exponent) if threshold % 1 > 0 else 0


def _sample(columns: Sequence[pa.Array]) -> np.ndarray:
    """Some finite values of columns."""
    shown = [column.drop_null().slice(0, SAMPLE) for column in columns]
    parts = [part.to_numpy(zero_copy_only=False) for part in shown if pa.types.is_floating(part.type)]
    values = np.concatenate(parts, dtype=np.float64) if parts else np.empty(0)
    return values[np.isfinite(values)]


def _digits(values: np.ndarray, most: int) -> int:
    """How many digits after the point all values have at most; one more than `most` if that is not enough."""
    with np.errstate(over="ignore", invalid="ignore"):
        for digits in range(most + 1):
            scale = 10.0**digits
            if (np.rint(values * scale) / scale == values).all():
                return digits
    return most + 1


def _said(one: RoundedComparison, threshold: float) -> str:
    names = ", ".join(f"`{name_text(name)}`" for name in sorted(one.columns))
    written = f"${one.threshold}" if isinstance(one.threshold, str) else f"{threshold}"
    return (
        f"`{one.text}` may be wrong where its two sides are equal: floats round sums and differences of "
        f"decimals, such as those in {names}. Compare with a small tolerance (`{written} - 0.000001` for at "
        f"least {written}), or use whole numbers (cents) or a column of decimals"
    )
