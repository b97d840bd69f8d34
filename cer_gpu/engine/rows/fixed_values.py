"""Expressions of rows at fixed places, for all rows: `FixedValues`."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cer_gpu.engine.rows.expressions import evaluate
from cer_gpu.engine.rows.ordered_rows import OrderedRows
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.patterns.tree import Field, Navigation, Scalar


class FixedValues:
    """Values of expressions of the current row and of rows beside it.

    Parameters
    ----------
    rows : OrderedRows
    text : str
        The statement, for messages.
    """

    def __init__(self, rows: OrderedRows, text: str) -> None:
        self._rows = rows
        self.text = text

    def of_fields(self, expression: Scalar) -> pa.Array:
        """The values of an expression of columns, for each row."""
        if isinstance(expression, Field):
            return self._rows.column(expression.name)
        return evaluate(expression, self._field, self._rows.count)

    def of_row(self, expression: Scalar) -> pa.Array:
        """The values of an expression whose navigations are of the current row, for each row."""
        return evaluate(expression, self._beside, self._rows.count)

    def of_lying_row(self, expression: Scalar) -> pa.Array:
        """The values of an expression of the current row alone, for each row as the table has them."""

        def column(leaf: Scalar) -> pa.Array:
            assert isinstance(leaf, Field)
            return self._rows.lying(leaf.name)

        def of_navigation(leaf: Scalar) -> pa.Array:
            assert isinstance(leaf, Navigation)
            if isinstance(leaf.expression, Field):
                return column(leaf.expression)
            return evaluate(leaf.expression, column, self._rows.count)

        return evaluate(expression, of_navigation, self._rows.count)

    def _field(self, leaf: Scalar) -> pa.Array:
        assert isinstance(leaf, Field)
        return self._rows.column(leaf.name)

    def _beside(self, leaf: Scalar) -> pa.Array:
        assert isinstance(leaf, Navigation)
        values = self.of_fields(leaf.expression)
        return self._moved(values, leaf.offset) if leaf.offset else values

    def _moved(self, values: pa.Array, offset: int) -> pa.Array:
        """For each row the value so many rows behind it (before it, below 0); null outside the partition."""
        count, lanes = self._rows.count, self._rows.lanes
        size = min(abs(offset), count)
        gap = pa.nulls(size, values.type)
        if offset < 0:
            moved = pa.concat_arrays([gap, values.slice(0, count - size)])
        else:
            moved = pa.concat_arrays([values.slice(size), gap])
        if len(lanes) <= 2:
            return moved
        outside = np.zeros(count, bool)
        for step in range(min(size, int(np.diff(lanes).max()))):
            edges = lanes[:-1] + step if offset < 0 else lanes[1:] - 1 - step
            inside = edges < lanes[1:] if offset < 0 else edges >= lanes[:-1]
            outside[edges[inside]] = True
        return pc.if_else(pa.array(outside), pa.scalar(None, values.type), moved)
