"""Measures, such as `LAST(s.price) - FIRST(b.price) AS gain`: one value for each complex event."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.aggregates import ListedValues, aggregated
from cer_gpu.engine.answers.repetitions import choices, edges
from cer_gpu.engine.read.arithmetic import computed
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.sources.arrow_types import first_line, roomy
from cer_gpu.engine.read.sources.columns import rows_of
from cer_gpu.errors import DataError
from cer_gpu.language import tree
from cer_gpu.language.leaves import attributes
from cer_gpu.language.walk import walk
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.plan.compiled_query import MeasureColumn

Marked = Mapping[str, tuple[np.ndarray, np.ndarray]]
"""For each variable, where the events of each complex event begin, and the events (see `kernels.lists`)."""

_NOTHING = np.zeros(0, np.int64)


class Measures:
    """The measures of a query, for data of one schema.

    Parameters
    ----------
    columns : sequence of MeasureColumn
    data : pyarrow.Schema
    order : str or None
        The time column.

    Attributes
    ----------
    fields : tuple of pyarrow.Field
    payload : tuple of str
        The columns of the data that the measures read.
    """

    def __init__(self, columns: Sequence[MeasureColumn], data: pa.Schema, order: str | None) -> None:
        self._columns = tuple(columns)
        self._order = order
        nodes = [node for column in columns for node in walk(column.expression)]
        read = [node.name for node in nodes if isinstance(node, tree.Attribute)]
        if order is not None and any(isinstance(node, tree.Moment) for node in nodes):
            read.append(order)
        self.payload = tuple(dict.fromkeys(read))
        nothing = pa.table(
            [pa.nulls(0, roomy(data.field(name).type)) for name in self.payload], list(self.payload)
        )
        empty = self._values(nothing, _NOTHING, _NOTHING, {})
        self.fields = tuple(
            pa.field(column.name, values.type) for column, values in zip(self._columns, empty, strict=True)
        )

    def __bool__(self) -> bool:
        return bool(self._columns)

    def of(self, events: EventArrays, start: np.ndarray, end: np.ndarray, marked: Marked) -> list[pa.Array]:
        """The columns for some complex events.

        Parameters
        ----------
        events : EventArrays
            The events that the other arguments refer to by number.
        start, end : ndarray, shape (n,), int64
        marked : mapping of str to (offsets, event)

        Raises
        ------
        DataError
            For a number that does not fit 64 bits.
        """
        if not self._columns:
            return []
        payload = events.payload if events.payload is not None else pa.table({})
        return self._values(payload, start, end, marked)

    def numbered(
        self, first: pa.Array, last: pa.Array, number_of: Callable[[str | None], np.ndarray]
    ) -> list[pa.Array]:
        """The columns for some complex events, if no measure reads an attribute.

        Parameters
        ----------
        first, last : pyarrow.Array, length n
            The times of their first and last events.
        number_of : callable
            `number_of(variable)`: how many events the variable marks in each, shape (n,), int64.
        """

        def operand(node: Any) -> pa.Array:
            if isinstance(node, tree.Moment):
                return _moment(node.name, first, last)
            assert isinstance(node, tree.Aggregate)
            return pa.array(number_of(node.variable))

        return self._computed(operand, len(first))

    def _values(
        self, payload: pa.Table, start: np.ndarray, end: np.ndarray, marked: Marked
    ) -> list[pa.Array]:
        none = np.zeros(len(start) + 1, np.int64), _NOTHING

        def taken(name: str, rows: np.ndarray) -> pa.Array:
            values = rows_of(payload.column(name), rows)
            return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values

        def operand(node: Any) -> pa.Array:
            if isinstance(node, tree.Moment):
                return _moment(node.name, *(taken(self._order or "", rows) for rows in (start, end)))
            assert isinstance(node, tree.Aggregate)
            if node.argument is None:
                return pa.array(np.diff(marked.get(node.variable or "", none)[0]).astype(np.int64))
            names = sorted({part.variable or "" for part in attributes(node.argument)})
            own = {name: marked.get(name, none) for name in names}
            chosen = choices(own, None if node.edge is None else edges(marked, node.edge, none), node.edge)

            def value(part: Any) -> pa.Array:
                return taken(part.name, chosen.events[part.variable or ""])

            values = computed(node.argument, value, int(chosen.offsets[-1]))
            return aggregated(node.function, node.distinct, ListedValues(values, chosen.offsets), node.order)

        return self._computed(operand, len(start))

    def _computed(self, operand: Callable[[Any], pa.Array], count: int) -> list[pa.Array]:
        found = []
        for column in self._columns:
            try:
                values = computed(column.expression, operand, count)
            except pa.ArrowInvalid as error:
                raise DataError(
                    f"the measure `{column.name}` has a value that does not fit: {first_line(error)}; cast a "
                    "column that it reads to float64"
                ) from error
            found.append(values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values)
        return found


def _moment(name: str, first: pa.Array, last: pa.Array) -> pa.Array:
    if name == "START_TIME":
        return first
    return last if name == "END_TIME" else pc.subtract_checked(last, first)
