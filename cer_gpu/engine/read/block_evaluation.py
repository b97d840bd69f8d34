"""Arithmetic and functions of a batch, evaluated for a block of its rows at a time.

`ABS(price - 50) > 3` over 20 million rows as whole columns writes 320 MB and reads them again, which takes
longer than all that the query does besides. For a block the values stay in a core's second-level cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.adders import Adder, EvaluatedColumn, NumberAxis, axis_values
from cer_gpu.engine.read.derive import Reader
from cer_gpu.engine.read.derived_columns import value_of_call
from cer_gpu.engine.read.functions import OF_TEXT
from cer_gpu.engine.read.sources import columns
from cer_gpu.engine.read.sources.columns import Values
from cer_gpu.language import tree
from cer_gpu.language.leaves import attributes_of
from cer_gpu.language.schema import ValueType
from cer_gpu.plan.axes import Axis, CutAxis, operands_of
from cer_gpu.plan.compiled_query import RowReading
from cer_gpu.plan.derived_columns import PLACE, DerivedColumn, columns_behind

WHOLE = OF_TEXT | {PLACE}
"""Functions of texts, which are computed for whole columns."""


class BlockReader:
    """Reads the columns of a batch for some of its rows; those that are not there yet are computed.

    Parameters
    ----------
    batch : RecordBatch
    read : Reader
        Reads a whole column of the batch.
    derived : sequence of DerivedColumn
        All columns that are derived from those of the data.
    """

    def __init__(self, batch: pa.RecordBatch, read: Reader, derived: Sequence[DerivedColumn]) -> None:
        self._batch = batch
        self._there = frozenset(batch.schema.names)
        self._read = read
        self._absent = {one.name: one for one in derived if one.name not in self._there}
        self._known: dict[str, tuple[Values, str | None]] = {}

    def adder(self, axis: Axis, stride: int, dtype: np.dtype) -> Adder | None:
        """What an axis of numbers adds; None if it reads a column as it is.

        Parameters
        ----------
        axis : Axis
        stride : int
            What each of its classes counts in the index.
        dtype : dtype
            Of the index.
        """
        if not isinstance(axis, NumberAxis):
            return None
        found = self._evaluated(axis)
        return None if found is None else Adder.of_axis(axis, found, stride, dtype)

    def _evaluated(self, axis: NumberAxis) -> EvaluatedColumn | None:
        """The values of an axis, as `axis_values` gives them; None where it reads a column as it is."""
        sides = operands_of(axis)
        names = {name for side in sides for name in attributes_of(side)}
        plain = len(sides) == 1 and isinstance(sides[0], tree.Attribute)
        if plain and names <= self._there:
            return None
        behind = [name for name in names if name in self._there]
        behind += columns_behind(sorted(names - self._there), list(self._absent.values()))
        for name in behind:
            if name not in self._known:
                if columns.is_text(self._batch.column(name).type):
                    return None
                self._known[name] = self._read(name)

        return EvaluatedColumn(
            lambda start, stop: axis_values(axis, self._of_rows(start, stop), stop - start)
        )

    def _of_rows(self, start: int, stop: int) -> Reader:
        def read(name: str) -> tuple[Values, str | None]:
            absent = self._absent.get(name)
            if absent is not None:
                return value_of_call(absent, read, stop - start), absent.measure.unit
            values, unit = self._known[name]
            return values.slice(start, stop), unit

        return read


def classified_alone(reading: RowReading, others: Iterable[str]) -> frozenset[str]:
    """The functions of numbers and times that are only read to tell which class an event is of.

    Parameters
    ----------
    reading : Reading
    others : iterable of str
        The columns that are read for something else.
    """
    needed = set(others)
    for axis in reading.axes:
        # The column of an event's type is one of the data, and those of texts are read as a whole.
        if isinstance(axis, CutAxis) and axis.textual:
            needed |= attributes_of(axis.operand)
    found: set[str] = set()
    for one in reversed(reading.derived):
        if one.name not in needed and _of_numbers(one):
            found.add(one.name)
        else:
            needed |= one.read
    return frozenset(found)


def _of_numbers(derived: DerivedColumn) -> bool:
    call = derived.expression
    return (
        isinstance(call, tree.Call)
        and call.function not in WHOLE
        and derived.measure.type is not ValueType.STRING
    )
