"""Turns cuts between exact numbers into the least value of a dtype above each cut."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from cer_gpu.language.scalar_functions import nearest_float

INFINITY = math.inf

_WHOLE = 2**53
"""Integers up to here are float64 values, and so is each float64 up to here whole or has a fraction."""


def exact_array(values: Sequence[Any]) -> np.ndarray:
    """Constants as an array that holds each of them exactly: int64, float64, or objects if neither does."""
    # A float that keeps its digits for decimals is one of 64 bits here.
    values = [float(value) if isinstance(value, float) else value for value in values]
    kinds = set(map(type, values))
    if kinds == {int} and min(values) >= -(2**63) and max(values) < 2**63:
        return np.array(values, np.int64)
    if kinds == {float}:
        return np.array(values, np.float64)
    if kinds == {int, float}:
        whole = [value for value in values if type(value) is int]
        if min(whole) >= -_WHOLE and max(whole) <= _WHOLE:
            return np.array(values, np.float64)
    found = np.empty(len(values), object)
    found[:] = values
    return found


def joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """The constants of several such arrays as one: what `exact_array` makes of all of them."""
    kinds = {one.dtype.kind for one in arrays}
    if kinds == {"i", "f"}:
        whole = [one for one in arrays if one.dtype.kind == "i"]
        if all(one.min() >= -_WHOLE and one.max() <= _WHOLE for one in whole):
            return np.concatenate(arrays)  # float64
    if len(kinds) > 1:
        return exact_array([value for one in arrays for value in one.tolist()])
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int64)


def least_above(values: np.ndarray, after: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """The least value of a dtype above each cut.

    Parameters
    ----------
    values : ndarray, shape (m,), int64, float64, or object (int, float or Fraction)
    after : ndarray, shape (m,), bool
        Whether the value itself lies below its cut.
    dtype : dtype
        Of integers or floats.

    Returns
    -------
    bounds : ndarray, shape (m,), `dtype`
        The least value v of the dtype with v >= value (v > value where `after`).
    exists : ndarray, shape (m,), bool
        Whether there is such a value; if not, the bound is meaningless.
    """
    if dtype.kind == "f":
        if values.dtype.kind == "f":
            return _of_floats(values, after, dtype)
        if values.dtype.kind == "i" and (np.abs(values) <= _WHOLE).all():
            return _of_floats(values.astype(np.float64), after, dtype)
    elif values.dtype.kind == "i" and (values < 2**63 - 1).all():
        return _of_integers(values, after, dtype)
    elif values.dtype.kind == "f" and (np.abs(values) <= _WHOLE).all():
        # The least integer that is not below 2.5 is the least one above 2.
        floors = np.floor(values)
        return _of_integers(floors.astype(np.int64), after | (floors < values), dtype)
    found = [least_above_one(value, behind, dtype) for value, behind in zip(values.tolist(), after.tolist())]
    exists = np.array([bound is not None for bound in found], bool)
    return np.array([0 if bound is None else bound for bound in found], dtype), exists


def _of_integers(values: np.ndarray, after: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    info = np.iinfo(dtype)
    most = min(int(info.max), 2**63 - 1)
    exists = np.where(after, values < most, values <= most)
    bounds = np.where(exists, values, 0) + (after & exists)
    return np.maximum(bounds, max(int(info.min), -(2**63))).astype(dtype), exists


def _of_floats(values: np.ndarray, after: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    with np.errstate(over="ignore"):
        near = values.astype(dtype)
        up = np.nextafter(near, dtype.type(INFINITY))
        down = np.nextafter(near, dtype.type(-INFINITY))

    def above(candidates: np.ndarray) -> np.ndarray:
        exact = candidates.astype(np.float64)
        return np.where(after, exact > values, exact >= values)

    bounds = np.where(above(near), np.where(above(down), down, near), up)
    return bounds, ~(after & (values == INFINITY))


def least_above_one(cut: int | float | Fraction, after: bool, dtype: np.dtype) -> int | float | None:
    """As `least_above`, for one cut at any number, step by step; None if there is no such value."""
    if dtype.kind != "f":
        info = np.iinfo(dtype)
        if cut in (INFINITY, -INFINITY):
            return None if cut > 0 else int(info.min)
        exact = Fraction(cut)
        bound = math.floor(exact) + 1 if after else math.ceil(exact)
        return None if bound > info.max else max(bound, int(info.min))
    with np.errstate(over="ignore"):
        near, above = dtype.type(nearest_float(cut)), dtype.type(INFINITY)
        if not _is_above(near, cut, after):
            if near == above:
                return None
            near = np.nextafter(near, above)
        elif near != -above and _is_above(np.nextafter(near, -above), cut, after):
            near = np.nextafter(near, -above)
    return float(near)


def _is_above(candidate: np.floating, cut: Fraction | float, after: bool) -> bool:
    number = float(candidate)
    exact: Fraction | float = number if math.isinf(number) else Fraction(number)
    return exact > cut if after else exact >= cut
