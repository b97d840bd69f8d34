"""Complex events as Python values, from the batches of a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from cer_gpu.errors import DataError


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
        For each kept variable that marks an event, the positions of the events that it marks, ascending.
    partition : tuple or None
        The key, in the order of PARTITION BY; None without one.
    positions : tuple of int, or None
        For an answer of a rule, the position of each atom's event, in the order of the atoms. Such an answer
        has no marks.
    values : mapping of str to object, or None
        For an answer of a rule, the values of the variables in its head.
    """

    start: int
    end: int
    marks: Marks
    partition: tuple[Any, ...] | None = None
    positions: tuple[int, ...] | None = None
    values: Mapping[str, Any] | None = None


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
    keys = [_in_python(batch.column(2 + part), name) for part, name in enumerate(partition)]
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
    columns = [_in_python(column, name) for column, name in zip(head_columns(batch, head), head, strict=True)]
    for row, (start, end) in enumerate(zip(starts, ends, strict=True)):
        values = {name: column[row] for name, column in zip(head, columns, strict=True)}
        yield ComplexEvent(start, end, Marks(), None, tuple(positions[row]), values)


def _in_python(column: pa.Array, name: str) -> list[Any]:
    """The values of a column.

    Raises
    ------
    DataError
        For a time that Python cannot represent.
    """
    try:
        values: list[Any] = column.to_pylist()
    except (OverflowError, ValueError) as error:
        raise DataError(
            f"`{name}` ({column.type}) has a time that Python cannot represent: take the answers as Arrow, "
            "with to_arrow() or batches()"
        ) from error
    return values


def head_columns(batch: pa.RecordBatch, head: tuple[str, ...]) -> list[pa.Array]:
    """The columns of the variables in a rule's head: those right before the positions."""
    last = batch.num_columns - 1
    return [batch.column(last - len(head) + number) for number in range(len(head))]
