"""Decimals beyond 64 bits: arithmetic and functions over them, in Python integers.

A decimal(38, 18) of 12.5 is 12,500,000,000,000,000,000 units of its last digit, which no 64-bit integer
holds. Most values do fit, so everything is computed in 64 bits first, and again for the rows that do not fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.adders import NumberAxis, axis_values
from cer_gpu.engine.read.derived_columns import read_numbers, value_of_call
from cer_gpu.engine.read.sources import columns
from cer_gpu.engine.read.sources.columns import NONE_BEYOND, Values
from cer_gpu.engine.read.sources.decimals import unscaled
from cer_gpu.kernels.classify.contract import NONE_MISSING
from cer_gpu.language import tree
from cer_gpu.language.leaves import attributes_of
from cer_gpu.plan.axes import CutAxis
from cer_gpu.plan.derived_columns import DerivedColumn, columns_behind


class WideColumns(NamedTuple):
    """The columns of a batch, with decimals as Python integers in units of their last digit.

    Attributes
    ----------
    batch : RecordBatch
    units : mapping of str to str
    derived : sequence of DerivedColumn
        Functions over decimals, which are computed again.
    """

    batch: pa.RecordBatch
    units: Mapping[str, str]
    derived: Sequence[DerivedColumn]

    def concern(self, *expressions: tree.Expression) -> bool:
        """Whether expressions read decimals, directly or in functions."""
        read = [name for expression in expressions for name in attributes_of(expression)]
        kinds = [self.batch.schema.field(name).type for name in columns_behind(read, self.derived)]
        return any(map(pa.types.is_decimal, kinds))

    def at(self, rows: np.ndarray) -> WideColumns:
        """The same columns for some rows."""
        return self._replace(batch=self.batch.take(pa.array(rows)))

    def read(self, name: str) -> tuple[Values, str | None]:
        """A column, as a `Reader` gives it."""
        column, unit = self.batch.column(name), self.units.get(name)
        if self.concern(tree.Attribute(name)):
            for one in self.derived:
                if one.name == name and isinstance(one.expression, tree.Call):
                    return value_of_call(one, self.read, len(self.batch)), unit
        if pa.types.is_decimal(column.type):
            array = columns.single(column)
            return Values(unscaled(array), columns.validity(array)), unit
        return read_numbers(self.batch, name, dict(self.units))


def corrected(axis: NumberAxis, found: Values, wide: WideColumns) -> Values:
    """The class of each value of an axis, of which some do not fit 64 bits.

    Parameters
    ----------
    axis : CutAxis, NullAxis or RelationAxis
    found : Values
        As computed in 64 bits.
    wide : WideColumns
    """
    rows = np.flatnonzero(found.beyond)
    some = axis_values(axis, wide.at(rows).read, len(rows))
    classes = _classes(axis, found)
    classes[rows] = _classes(axis, some)
    beyond = NONE_BEYOND
    if some.beyond.any():  # arithmetic on integers, which are no decimals
        beyond = np.zeros_like(found.beyond)
        beyond[rows] = some.beyond
    return Values(classes, NONE_MISSING, beyond)


def _classes(axis: NumberAxis, values: Values) -> np.ndarray:
    """The classes of values: of an axis of truth they are the values."""
    data = values.data
    if not isinstance(axis, CutAxis):
        return data.copy()
    if data.dtype == object:
        classes = axis.classes_of_numbers(data.tolist()).astype(np.uint16)
    else:
        bounds, of_range = axis.thresholds(data.dtype)
        classes = of_range[np.searchsorted(bounds, data, side="right")]
    classes[~values.present | (data != data).astype(bool)] = axis.numbers[0]
    return classes
