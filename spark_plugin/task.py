"""The work of a Spark task in the form that is sent to workers, which need no parser and no automata."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from cer_gpu.engine.run.portable_query import PortableQuery
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.plan.axes import ColumnAxis
from cer_gpu.plan.symbols import classes_that_matter

PRODUCTS = ("run", "count", "counts", "hits")
"""What may be asked of a query."""

ERROR, WARN, ANY = "error", "warn", "any"

TIE_RULES = (WARN, ERROR, ANY)
"""What to do about rows whose order is not known."""

UNCUT = "the query has neither PARTITION BY nor a window by which the events can be divided"

DIGITS = 38
"""Counts are exact up to so many digits: Spark has no wider number."""


@dataclass(frozen=True, slots=True)
class Task:
    """The work of a task on its events; picklable.

    Attributes
    ----------
    query : PortableQuery
    product : {"run", "count", "counts", "hits"}
    event_id : str or None
        The column whose values are returned in place of positions; None: the place in the sorted partition.
    ties : tuple of str
        The columns that break ties after those of `order_by`.
    result : pyarrow.Schema
        The columns of the result, in types that Spark has; counts as text.
    gpu : {"auto", "required", "off"}
    limit : int or None
        The most matches.
    timed : bool
        Whether results have columns of times.
    tie_rule : {"any", "warn", "error"}
        What to do about rows whose order is not known; "any" also where the answer does not depend on it.
    """

    query: PortableQuery
    product: str
    event_id: str | None
    ties: tuple[str, ...]
    result: pa.Schema
    gpu: str
    limit: int | None
    timed: bool = True
    tie_rule: str = ANY

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        return (*self.query.options.order_by, *self.ties)

    @property
    def engines(self) -> frozenset[str]:
        """What runs its queries."""
        return frozenset({self.query.query.machine.engine})

    @property
    def keyed(self) -> bool:
        """Whether keys are independent: no match has events of two keys, or drops another key's."""
        return self.query.query.keyed

    @property
    def counts_all(self) -> bool:
        """Whether events of types that the query does not use change its answer.

        They do if they count in a window of events, break contiguity, or count in positions.
        """
        query = self.query.query
        if query.reading.reads_before:
            return True  # PREV is of the event before, whatever its type
        return query.counts_all or (self.event_id is None and self.product != "count")

    @property
    def types(self) -> tuple[str | int | bool, ...] | None:
        """The event types that the query uses, as values of the type column; None if others may matter."""
        reading = self.query.query.reading
        for number, axis in enumerate(reading.axes):
            if isinstance(axis, ColumnAxis) and axis.column == self.query.options.type_column:
                classes = classes_that_matter(reading.axes, reading.stages, number)
                return None if 0 in classes else tuple(axis.values[one - 1] for one in classes)
        return None

    @property
    def cuttable(self) -> bool:
        """Whether a stream can be cut by time: the answers at an event depend on one window before it."""
        return self.query.query.cuttable

    @property
    def uncut(self) -> str:
        """Why a stream cannot be divided among several tasks; empty if it can."""
        if self.query.query.suppress is not None:
            return "SUPPRESS looks at the ends of the whole stream"
        return UNCUT

    @property
    def sees_some(self) -> bool:
        """Whether the filters of its query tell which events it does not need."""
        return not self.counts_all and not self.query.query.reading.derived

    def giving(self, other: Task) -> Task:
        """This task with the result columns of another one, whose data may have had no time."""
        return replace(self, result=other.result, timed=bool(other.query.options.order_by))

    def dumped(self) -> bytes:
        """The task as bytes, which a worker keeps from task to task."""
        return pickle.dumps(self, protocol=5)


class RenamedColumns:
    """A function for `mapInArrow` whose columns were renamed on the way.

    Parameters
    ----------
    function : callable
    names : sequence of str
        The names that the function expects, in the order of the columns.
    """

    def __init__(self, function: Any, names: Sequence[str]) -> None:
        self._function = function
        self._names = list(names)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return self._function(batch.rename_columns(self._names) for batch in batches)


class RestoredTimes:
    """A function for `mapInArrow` whose times come as the numbers that Arrow stores for them.

    Parameters
    ----------
    function : callable
    types : dict of str to pyarrow.DataType
        The types of the columns of times.
    """

    def __init__(self, function: Any, types: dict[str, pa.DataType]) -> None:
        self._function = function
        self._types = types

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return self._function(self._restored(batch) for batch in batches)

    def _restored(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = [
            column.cast(self._types[name]) if name in self._types else column
            for name, column in zip(batch.schema.names, batch.columns)
        ]
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
