"""The part that each column of a batch adds to the index by which the symbol of an event is looked up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from cer_gpu.engine.read.derive import Reader, evaluate, relation
from cer_gpu.engine.read.sources.columns import Codes, Values
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.classify import cpu as kernels
from cer_gpu.kernels.classify.contract import NONE_MISSING
from cer_gpu.plan.axes import CutAxis, NullAxis, RelationAxis

NumberAxis: TypeAlias = CutAxis | NullAxis | RelationAxis
"""The axes that read numbers and times."""


def axis_values(axis: NumberAxis, read: Reader, rows: int) -> Values:
    """The values of an axis: of a comparison and of IS NULL 1 where it holds."""
    if isinstance(axis, RelationAxis):
        return relation(axis.op, axis.left, axis.right, read, rows)
    values, _ = evaluate(axis.operand, read, rows)
    if isinstance(axis, NullAxis):
        return Values((~values.present).view(np.uint8), NONE_MISSING, values.beyond)
    return values


class UnfitError(Exception):
    """A value of a block does not fit 64 bits: the batch has to be read as a whole."""


@dataclass(frozen=True, slots=True)
class EvaluatedColumn:
    """A column that is computed when a block of it is read.

    Attributes
    ----------
    rows : callable
        Given the first row and the one behind the last, the values.
    """

    rows: Callable[[int, int], Values]

    def slice(self, start: int, stop: int) -> Values:
        """The values of the rows `start <= row < stop`.

        Raises
        ------
        UnfitError
            If one does not fit 64 bits.
        """
        values = self.rows(start, stop)
        if len(values.beyond) and values.beyond.any():
            raise UnfitError
        data = np.ascontiguousarray(values.data)
        data.flags.writeable = False  # as those of columns: kernels are compiled for these
        return Values(data, values.valid)

    @property
    def dtype(self) -> np.dtype:
        """The type of the values, whichever rows are read."""
        return self.rows(0, 0).data.dtype


@dataclass(frozen=True, slots=True)
class Adder:
    """What a column adds to the index of a stage, in one pass over a block."""

    column: Values | Codes | EvaluatedColumn
    shares: np.ndarray
    bounds: np.ndarray | None
    absent: Any

    @classmethod
    def of_axis(
        cls,
        axis: NumberAxis,
        column: Values | EvaluatedColumn,
        stride: int,
        dtype: np.dtype,
        classed: bool = False,
    ) -> Adder:
        """What the values of an axis add.

        Parameters
        ----------
        axis : CutAxis, NullAxis or RelationAxis
        column : Values or Evaluated
        stride : int
            What each class counts in the index.
        dtype : dtype
            Of the index.
        classed : bool
            Whether the values are classes already.
        """
        if isinstance(axis, CutAxis) and not classed:
            bounds, classes = axis.thresholds(column.dtype)
            return cls(column, (classes.astype(np.int64) * stride).astype(dtype), bounds, None)
        return cls(column, (np.arange(axis.size) * stride).astype(dtype), None, dtype.type(0))

    def add(self, index: np.ndarray, start: int, stop: int) -> None:
        part = self.column.slice(start, stop)
        if self.bounds is None:
            kernels.add_codes(index, part.data, part.valid, self.shares, self.absent)
        else:
            kernels.add_cuts(index, part.data, part.valid, self.bounds, self.shares)
