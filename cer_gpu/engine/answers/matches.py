"""What a run gives: complex events, lazily, as Python values or as Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cer_gpu.engine.memory import within_memory

if TYPE_CHECKING:
    import pandas as pd


MOST = 1 << 62
"""Complex events that are looked for at most, whatever the limit: kernels count them in 64 bits."""


class Marks(dict[str, tuple[int, ...]]):
    """The positions that each variable marks, ascending; `()` for a variable that marks none."""

    def __missing__(self, variable: str) -> tuple[int, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class ComplexEvent:
    """One complex event.

    Attributes
    ----------
    start, end : int
        Positions in the stream of the first and the last event that the pattern matched.
    marks : Marks
        For each kept variable that marks some event its positions, ascending.
    partition : tuple or None
        The key, in the order of PARTITION BY; None without one.
    positions : tuple of int, or None
        For an answer of a rule the position of the event that each atom has, in the atoms' order. Such an
        answer has no marks.
    values : mapping of str to object, or None
        For an answer of a rule the values of the variables in its head.
    """

    start: int
    end: int
    marks: Marks
    partition: tuple[Any, ...] | None = None
    positions: tuple[int, ...] | None = None
    values: Mapping[str, Any] | None = None


class Matches:
    """The complex events of a run; nothing is read or enumerated until they are asked for.

    Every iteration runs the query anew, so the events must be of a kind that can be read again (a reader
    can be read once only).

    Parameters
    ----------
    schema : pyarrow.Schema
        Of the batches: `start`, `end` (int64), the parts of the key, `start_time` and `end_time` where the
        run has an order, a `list<int64>` for each kept variable, and for `x[price]` a column of that name
        with a `list<struct<price>>`. For a rule there are instead the variables of its head and `positions`,
        a `list<int64>` with one position for each atom. A name that is taken by a column before it gets a
        `_`.
    produce : callable
        Starts a run and gives its record batches, sorted by (end, start, positions). It is told how many
        complex events are looked at, None for all, and may give more.
    variables : tuple of str
        The kept variables.
    partition : tuple of str
        The names of the key's columns.
    head : tuple of str, or None
        The variables in the head of a rule; None for a query.
    device, device_reason : str
        Where the run takes place, and why there.
    limit : int or None
        Every iteration ends after so many complex events.
    """

    def __init__(
        self,
        schema: pa.Schema,
        produce: Callable[[int | None], Iterator[pa.RecordBatch]],
        variables: tuple[str, ...],
        partition: tuple[str, ...],
        head: tuple[str, ...] | None,
        device: str,
        device_reason: str,
        limit: int | None,
    ) -> None:
        self.schema = schema
        self.variables = variables
        self.partition = partition
        self.head = head
        self.device = device
        self.device_reason = device_reason
        self._produce = produce
        self._limit = limit
        self._limited = False

    @property
    def limited(self) -> bool:
        """Whether the iteration that ended last stopped at `limit` with complex events left."""
        return self._limited

    def _batches(self) -> Iterator[pa.RecordBatch]:
        """Start a run: its record batches up to the limit."""
        # One more than the limit tells that there are more.
        return self._cut(self._produce(None if self._limit is None else min(self._limit + 1, MOST)))

    def _cut(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        left, met = self._limit, False
        for batch in batches:
            if left is not None:
                met = len(batch) > left
                batch = batch.slice(0, min(left, len(batch)))
                left -= len(batch)
            if len(batch):
                yield batch
            if met:
                break
        self._limited = met

    def batches(self) -> pa.RecordBatchReader:
        """The complex events as a reader of record batches of bounded size."""
        return pa.RecordBatchReader.from_batches(self.schema, self._batches())

    def to_arrow(self) -> pa.Table:
        """All complex events as a table."""
        with within_memory("collecting the answers"):
            return pa.Table.from_batches(list(self._batches()), self.schema)

    def to_pandas(self) -> pd.DataFrame:
        """All complex events as a DataFrame (needs pandas)."""
        with within_memory("collecting the answers"):
            return self.to_arrow().to_pandas()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The complex events through Arrow's C interface, so that other libraries take them as they are."""
        return self.batches().__arrow_c_stream__(requested_schema)

    def __iter__(self) -> Iterator[ComplexEvent]:
        for batch in self._batches():
            if self.head is None:
                yield from complex_events(batch, self.variables, self.partition)
            else:
                yield from rule_answers(batch, self.head)

    def __repr__(self) -> str:
        names = ", ".join(self.variables if self.head is None else self.head) or "no variables"
        return f"<Matches of {names} on {self.device}>"


def mark_columns(schema: pa.Schema) -> list[int]:
    """Which columns of a result hold the marks of the kept variables, in their order.

    A column may have another name than its variable, where the name was taken (a variable called `start`).
    """
    return [
        index
        for index, field in enumerate(schema)
        if pa.types.is_list(field.type) and pa.types.is_integer(field.type.value_type)
    ]


def complex_events(
    batch: pa.RecordBatch, variables: tuple[str, ...], partition: tuple[str, ...]
) -> Iterator[ComplexEvent]:
    """The rows of a result batch as Python values."""
    starts, ends = batch.column(0).to_pylist(), batch.column(1).to_pylist()
    keys: list[list[Any]] = [batch.column(2 + part).to_pylist() for part in range(len(partition))]
    columns = [batch.column(index).to_pylist() for index in mark_columns(batch.schema)]
    for row, (start, end) in enumerate(zip(starts, ends, strict=True)):
        marks = Marks(
            (name, tuple(column[row])) for name, column in zip(variables, columns, strict=True) if column[row]
        )
        key = tuple(values[row] for values in keys) if partition else None
        yield ComplexEvent(start, end, marks, key)


def rule_answers(batch: pa.RecordBatch, head: tuple[str, ...]) -> Iterator[ComplexEvent]:
    """The rows of a result batch of a rule as Python values."""
    starts, ends = batch.column(0).to_pylist(), batch.column(1).to_pylist()
    positions = batch.column(batch.num_columns - 1).to_pylist()
    columns = [column.to_pylist() for column in head_columns(batch, head)]
    for row, (start, end) in enumerate(zip(starts, ends, strict=True)):
        values = {name: column[row] for name, column in zip(head, columns, strict=True)}
        yield ComplexEvent(start, end, Marks(), None, tuple(positions[row]), values)


def head_columns(batch: pa.RecordBatch, head: tuple[str, ...]) -> list[pa.Array]:
    """The columns of the variables in a rule's head: those right before the positions."""
    last = batch.num_columns - 1
    return [batch.column(last - len(head) + number) for number in range(len(head))]
