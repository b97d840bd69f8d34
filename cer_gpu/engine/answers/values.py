"""Matches as Python values, from the batches of a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.lazy_modules import compute as pc


class Marks(dict[str, tuple[int, ...]]):
    """A dict from each variable to the positions that it marks, ascending; `()` for one that marks none."""

    def __missing__(self, variable: str) -> tuple[int, ...]:
        return ()


class BatchValues:
    """Times and attributes of the matches of a batch of results, read when they are first asked for.

    Parameters
    ----------
    times : sequence of pyarrow.Array
        `start_time` and `end_time`; empty where the run has no order.
    events : mapping of str to pyarrow.Array
        For each variable whose attributes were asked for, a column of lists of structs.
    """

    __slots__ = ("_events", "_times", "_values")

    def __init__(self, times: Sequence[pa.Array], events: Mapping[str, pa.Array]) -> None:
        self._times = times
        self._events = events
        self._values: dict[int, list[Any]] = {}

    def time(self, which: int, row: int) -> Any:
        """The time of the start (`which` is 0) or of the end (1); None without an order."""
        if not self._times:
            return None
        if which not in self._values:
            self._values[which] = _or_scalars(self._times[which])
        return self._values[which][row]

    def events(self, variable: str, row: int) -> list[dict[str, Any]] | None:
        """The attributes of the events that a variable marks; None where none were asked for."""
        column = self._events.get(variable)
        if column is None:
            return None
        found: list[dict[str, Any]] = _or_scalars(column.slice(row, 1))[0]
        return found

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables whose attributes were asked for."""
        return tuple(self._events)

    def only(self, row: int) -> BatchValues:
        """The same for one match, which does not keep the memory of the others."""
        one = pa.array([row])
        return BatchValues(
            [column.take(one) for column in self._times],
            {name: column.take(one) for name, column in self._events.items()},
        )


@dataclass(frozen=True, slots=True)
class ComplexEvent:
    """One match of a query.

    Attributes
    ----------
    start, end : int
        The positions of its first and its last event in the stream, counted from 0. With `event_id`, ids of
        events stand in place of all positions.
    marks : Marks
        A dict from each variable that SELECT keeps to the positions of the events that it marks, ascending.
        A variable that marks no event is left out; asking for it gives `()`.
    partition : tuple or None
        The values of the columns of PARTITION BY; None without PARTITION BY.
    positions : tuple of int, or None
        For a match of a rule, the position of each event, in the order of the rule's body. Such a match has
        no marks.
    values : mapping of str to object, or None
        For a match of a rule, the values of the variables in its head.
    measures : mapping of str to object
        The measures of the SELECT list, by their names.

    Examples
    --------
    >>> query = cer_gpu.compile("SELECT a[price], b FROM S WHERE A AS a ; B AS b")
    >>> found = query.run(events, order_by="ts").first()
    >>> found.start_time, found.duration
    (datetime.datetime(2024, 1, 1, 9, 0), datetime.timedelta(seconds=40))
    >>> found["a"]
    [{'price': 10.5}]
    """

    start: int
    end: int
    marks: Marks
    partition: tuple[Any, ...] | None = None
    positions: tuple[int, ...] | None = None
    values: Mapping[str, Any] | None = None
    measures: Mapping[str, Any] = field(default_factory=dict)
    _columns: BatchValues | None = field(default=None, repr=False, compare=False)
    _row: int = field(default=0, repr=False, compare=False)

    @property
    def start_time(self) -> Any:
        """The time of the first event, in the type of the `order_by` column; None without `order_by`.

        A time that Python cannot represent is given as an Arrow scalar.
        """
        return None if self._columns is None else self._columns.time(0, self._row)

    @property
    def end_time(self) -> Any:
        """The time of the last event, as for `start_time`."""
        return None if self._columns is None else self._columns.time(1, self._row)

    @property
    def duration(self) -> Any:
        """The time from `start_time` to `end_time`, such as a timedelta; None without `order_by`.

        Where `order_by` holds plain numbers, it is a number.
        """
        start, end = self.start_time, self.end_time
        if isinstance(start, datetime) and start.tzinfo is not None:
            # Between two times of one zone Python takes the difference of what its clocks show.
            return end.astimezone(UTC) - start.astimezone(UTC)
        if isinstance(start, pa.Scalar):
            return pc.subtract(end, start)
        return None if start is None else end - start

    def __getitem__(self, variable: str) -> list[dict[str, Any]]:
        """The events that a variable marks, in their order, each with the attributes asked for.

        Parameters
        ----------
        variable : str

        Returns
        -------
        list of dict
            Empty where the variable marks no event.

        Raises
        ------
        KeyError
            When the SELECT list asks for no attribute of the variable.
        """
        found = None if self._columns is None else self._columns.events(variable, self._row)
        if found is None:
            asked = () if self._columns is None else self._columns.variables
            known = f", only of {', '.join(f'`{one}`' for one in asked)}" if asked else ""
            raise KeyError(
                f"SELECT asks for no attribute of `{variable}`{known}: write SELECT {variable}[price], for "
                f'example; its positions are in .marks["{variable}"]'
            )
        return found

    def __repr__(self) -> str:
        # What an answer does not have is left out: an answer of a rule has no marks, others no positions.
        parts = {
            name: getattr(self, name) for name in ("marks", "partition", "positions", "values", "measures")
        }
        shown = "".join(f", {name}={value!r}" for name, value in parts.items() if value)
        return f"ComplexEvent(start={self.start}, end={self.end}{shown})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the other matches of the batch.
        columns = self._columns
        alone = None if columns is None else columns.only(self._row)
        place = (self.start, self.end, self.marks, self.partition)
        plain = (*place, self.positions, self.values, self.measures)
        return ComplexEvent, (*plain, alone, 0)


def mark_columns(schema: pa.Schema) -> list[int]:
    """The numbers of the columns that hold the marks of the kept variables, in the order of the variables.

    A column may have another name than its variable, where the name was taken (a variable called `start`).
    """
    return [
        index
        for index, field in enumerate(schema)
        if pa.types.is_list(field.type) and not pa.types.is_struct(field.type.value_type)
    ]


def complex_events(
    batch: pa.RecordBatch,
    variables: tuple[str, ...],
    partition: tuple[str, ...],
    measures: tuple[str, ...],
    values_of: BatchValues,
) -> Iterator[ComplexEvent]:
    """The rows of a result batch as Python values."""
    starts, ends = (_in_python(batch.column(place), batch.schema.names[place]) for place in range(2))
    keys = [_in_python(batch.column(2 + part), name) for part, name in enumerate(partition)]
    columns = [batch.column(index).to_pylist() for index in mark_columns(batch.schema)[: len(variables)]]
    first = batch.num_columns - len(measures)
    measured = [_in_python(batch.column(first + number), name) for number, name in enumerate(measures)]
    for row, (start, end) in enumerate(zip(starts, ends, strict=True)):
        marks = Marks(
            (name, tuple(column[row])) for name, column in zip(variables, columns, strict=True) if column[row]
        )
        key = tuple(values[row] for values in keys) if partition else None
        values = {name: column[row] for name, column in zip(measures, measured, strict=True)}
        yield ComplexEvent(start, end, marks, key, None, None, values, values_of, row)


def rule_answers(
    batch: pa.RecordBatch, head: tuple[str, ...], values_of: BatchValues
) -> Iterator[ComplexEvent]:
    """The rows of a result batch of a rule as Python values; those of groups have no positions."""
    starts, ends = (_in_python(batch.column(place), batch.schema.names[place]) for place in range(2))
    positions = batch.column(batch.num_columns - 1).to_pylist() if has_positions(batch) else None
    columns = [_in_python(column, name) for column, name in zip(head_columns(batch, head), head, strict=True)]
    for row, (start, end) in enumerate(zip(starts, ends, strict=True)):
        values = {name: column[row] for name, column in zip(head, columns, strict=True)}
        place = None if positions is None else tuple(positions[row])
        yield ComplexEvent(start, end, Marks(), None, place, values, {}, values_of, row)


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
            f"`{name}` ({column.type}) has a time that Python cannot represent: take the matches as Arrow, "
            "with to_arrow() or batches()"
        ) from error
    return values


def _or_scalars(column: pa.Array) -> list[Any]:
    """The values of a column; Arrow scalars where Python cannot represent some time."""
    try:
        values: list[Any] = column.to_pylist()
    except (OverflowError, ValueError):
        return list(column)
    return values


def has_positions(batch: pa.RecordBatch) -> bool:
    """Whether the answers of a rule have positions: answers that stand for groups have none."""
    return pa.types.is_list(batch.schema.types[-1])


def head_columns(batch: pa.RecordBatch, head: tuple[str, ...]) -> list[pa.Array]:
    """The columns of a rule's head: those right before the positions, or the last ones if there are none."""
    last = batch.num_columns - has_positions(batch)
    return [batch.column(last - len(head) + number) for number in range(len(head))]
