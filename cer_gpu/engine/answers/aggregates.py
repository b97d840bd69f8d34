"""Aggregates: one value for each complex event over the values of the events that a variable marks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.arithmetic import as_floats
from cer_gpu.engine.read.functions import places_of
from cer_gpu.engine.read.sources.decimals import WIDEST
from cer_gpu.errors import DataError
from cer_gpu.lazy_modules import compute as pc

LARGEST = np.iinfo(np.int64).max


class ListedValues(NamedTuple):
    """Values of complex events, one complex event after another.

    Attributes
    ----------
    values : pyarrow.Array, length m
    offsets : ndarray, shape (n + 1,), int64
        Complex event k has the values `offsets[k]` .. `offsets[k + 1] - 1`.
    """

    values: pa.Array
    offsets: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """How many values each complex event has, shape (n,), int64."""
        return np.diff(self.offsets)

    def known(self) -> ListedValues:
        """The same values without nulls and NaN."""
        if all_known(self.values):
            return self
        there = is_known(self.values)
        kept = there.to_numpy(zero_copy_only=False)
        before = np.append(0, np.cumsum(kept))
        return ListedValues(self.values.filter(there), before[self.offsets])


def all_known(values: pa.Array) -> bool:
    """Whether no value is null or NaN: the least of floats is NaN where one of them is."""
    if values.null_count:
        return False
    floats = pa.types.is_floating(values.type) and len(values)
    return not floats or not np.isnan(values.to_numpy().min())


def is_known(values: pa.Array) -> pa.Array:
    """Which values are neither null nor NaN."""
    there = values.is_valid()
    if pa.types.is_floating(values.type):
        there = pc.and_(there, pc.invert(pc.fill_null(pc.is_nan(values), False)))
    return there


def aggregated(
    function: str, distinct: bool, given: ListedValues, categories: Sequence[str] = ()
) -> pa.Array:
    """One value for each complex event: null where it has no values, but COUNT gives 0.

    Parameters
    ----------
    function : {"COUNT", "SUM", "MIN", "MAX", "AVG", "FIRST", "LAST"}
    distinct : bool
        Whether COUNT counts different values only.
    given : Grouped
    categories : sequence of str, optional
        The order of texts, for MIN and MAX; without them they are compared by code point.

    Raises
    ------
    DataError
        For a sum of integers that does not fit 64 bits, or of decimals that does not fit 38 digits.
    """
    group = given.known()
    if function == "COUNT":
        return pa.array(_different(group) if distinct else group.sizes)
    if function in ("FIRST", "LAST"):
        return _at(group, 0 if function == "FIRST" else -1)
    if function in ("MIN", "MAX"):
        return _extreme(group, np.minimum if function == "MIN" else np.maximum, categories)
    total = _sum(group)
    if function == "SUM":
        return total
    sizes = pa.array(group.sizes.astype(np.float64))
    return pc.divide(as_floats(total), pc.if_else(pc.equal(sizes, 0.0), None, sizes))


def _at(group: ListedValues, which: int) -> pa.Array:
    """The first value of each complex event, or the last one."""
    empty = group.sizes == 0
    place = group.offsets[:-1] if which == 0 else group.offsets[1:] - 1
    if not empty.any():
        return group.values if len(group.values) == len(place) else group.values.take(pa.array(place))
    return group.values.take(pa.array(place, mask=empty))


def _codes(values: pa.Array) -> tuple[np.ndarray, pa.Array]:
    """Values as numbers in their order, and the values in that order."""
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0, values.type))  # the two zeros are one value
    encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return rank[codes] if len(codes) else np.empty(0, np.int64), encoded.dictionary.take(pa.array(order))


def _different(group: ListedValues) -> np.ndarray:
    """How many different values each complex event has, shape (n,), int64."""
    codes, values = _codes(group.values)
    owner = np.repeat(np.arange(len(group.offsets) - 1), group.sizes)
    pairs = np.unique(owner * max(len(values), 1) + codes)
    return np.bincount(pairs // max(len(values), 1), minlength=len(group.offsets) - 1).astype(np.int64)


def _extreme(group: ListedValues, least: np.ufunc, categories: Sequence[str] = ()) -> pa.Array:
    kind = group.values.type
    if categories:
        places = places_of(group.values, categories, "MIN or MAX")
        texts = pa.array(categories, kind.value_type if pa.types.is_dictionary(kind) else kind)
        return texts.take(_reduced(places.to_numpy(), group, least))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _reduced(group.values.to_numpy(zero_copy_only=False), group, least).cast(kind)
    codes, values = _codes(group.values)
    return values.take(_reduced(codes, group, least).cast(pa.int64()))


def _reduced(values: np.ndarray, group: ListedValues, combine: np.ufunc) -> pa.Array:
    """What `combine` makes of the values of each complex event; null where there are none."""
    empty = group.sizes == 0
    found = np.zeros(len(empty), values.dtype)
    if not empty.all():
        # What has no values is left out: the others follow one another without gaps.
        found[~empty] = combine.reduceat(values, group.offsets[:-1][~empty])
    return pa.array(found, mask=empty)


def _sum(group: ListedValues) -> pa.Array:
    kind = group.values.type
    if pa.types.is_decimal(kind):
        owner = pa.array(np.repeat(np.arange(len(group.offsets) - 1), group.sizes))
        room = pa.decimal128(min(kind.precision + 19, 38), kind.scale)
        # Arrow's sum of decimals wraps: it is made where it fits, and then narrowed.
        table = pa.table({"owner": owner, "value": group.values.cast(pa.decimal256(WIDEST, kind.scale))})
        found = table.group_by("owner").aggregate([("value", "sum")])
        at = pc.index_in(pa.array(np.arange(len(group.offsets) - 1)), found["owner"].combine_chunks())
        try:
            return found["value_sum"].combine_chunks().take(at).cast(room)
        except pa.ArrowInvalid as error:
            raise DataError(
                f"the sum of a measure does not fit {room.precision} digits: cast the column to float64"
            ) from error
    if pa.types.is_duration(kind):
        return _sum(group._replace(values=group.values.cast(pa.int64()))).cast(kind)
    values = group.values.to_numpy(zero_copy_only=False)
    if pa.types.is_floating(kind):
        return _reduced(values.astype(np.float64), group, np.add)
    if values.dtype == np.uint64 and len(values) and int(values.max()) > LARGEST:
        _refuse_overflow(values, group)
        sums = [sum(values[low:high].tolist()) for low, high in pairwise(group.offsets.tolist())]
        return pa.array([None if not size else one for one, size in zip(sums, group.sizes)], pa.int64())
    values = values.astype(np.int64)
    largest = max(abs(int(values.max(initial=0))), abs(int(values.min(initial=0))))
    if largest * int(group.sizes.max(initial=0)) > LARGEST:
        _refuse_overflow(values, group)
    return _reduced(values, group, np.add)


def _refuse_overflow(values: np.ndarray, group: ListedValues) -> None:
    for low, high in zip(group.offsets[:-1].tolist(), group.offsets[1:].tolist(), strict=True):
        total = sum(values[low:high].tolist())
        if not -LARGEST - 1 <= total <= LARGEST:
            raise DataError(f"the sum {total} of a measure does not fit 64 bits: cast the column to float64")
