"""Reads batches of a stream that have the schema of an earlier one: nothing is checked or planned again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from cer_gpu.engine.read.intake import Intake
from cer_gpu.engine.read.single_events import SingleEvent, SingleEvents
from cer_gpu.engine.read.sources.arrow_types import convert, dictionaries, has_null_texts
from cer_gpu.engine.read.sources.categories import Orders, check_orders
from cer_gpu.engine.read.sources.columns import is_text
from cer_gpu.engine.read.sources.fields import field_of, path_to
from cer_gpu.engine.run.bound_query import BATCH, BoundQuery
from cer_gpu.engine.run.run_parts import Run


class AlikeBatches:
    """Reads Arrow data with the schema of an earlier batch: nothing has to be checked or planned again.

    Parameters
    ----------
    schema : pyarrow.Schema
        As the user gave it.
    bound : BoundQuery
        The query over data of that schema.
    run : Run
    keeps : bool
        Whether the stream keeps its state between pushes.
    """

    def __init__(self, schema: pa.Schema, bound: BoundQuery, run: Run, keeps: bool) -> None:
        self._schema = schema
        self._intake = run.intake
        self._names = bound.columns(run.intake.payload)
        paths = [path_to(name, schema) or (name,) for name in self._names]
        self._places = [(schema.get_field_index(first), inside) for first, *inside in paths]
        self._target = pa.schema([bound.arrow_schema.field(name) for name in self._names])
        self._normal = all(
            schema.get_field_index(field.name) >= 0 and schema.field(field.name).type == field.type
            for field in self._target
        )
        self._orders = {name: one for name, one in bound.orders.items() if name in self._names}
        read = {first for first, *_ in paths}
        self._encoded = [place for place in dictionaries(schema) if schema.names[place] in read]
        self._reader = _reader(schema, {}, bound, run) if keeps else None

    def holds(self, given: Any) -> bool:
        """Whether it can read the given data."""
        return is_arrow(given) and given.schema.equals(self._schema)

    def singly(self, given: pa.RecordBatch | pa.Table) -> SingleEvent | bool:
        """Read the given data, if it is one event; as `SingleEvents.read`."""
        if self._reader is None or given.num_rows != 1:
            return False
        return _single_event(self._intake, self._reader, given, self._orders, self._encoded)

    def batches(self, given: pa.RecordBatch | pa.Table) -> Iterator[pa.RecordBatch]:
        """The given data as `BoundQuery.given` gives it."""
        parts = [given] if isinstance(given, pa.RecordBatch) else given.to_batches(max_chunksize=BATCH)
        for part in parts:
            check_orders(part, self._orders, "the batch")
            if self._normal and not has_null_texts(part, self._encoded):
                yield part
                continue
            arrays = [
                convert(field_of(part.column(place), path), field.type, f"column `{field.name}` of the table")
                for (place, path), field in zip(self._places, self._target, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=self._target)


class AlikeTables:
    """Reads single events out of dicts with a table for each event type.

    Parameters
    ----------
    tables : dict of str to pyarrow.Table or RecordBatch
    bound : BoundQuery
        The query over these tables.
    run : Run
    """

    batches = None
    """Several events are merged by a source."""

    def __init__(self, tables: dict[str, Any], bound: BoundQuery, run: Run) -> None:
        self._schemas = {name: table.schema for name, table in tables.items()}
        self._intake = run.intake
        column = bound.type_column
        assert column is not None  # tables of several types cannot be opened without it
        self._orders = bound.orders
        self._readers = {
            name: _reader(schema, {column: name}, bound, run) for name, schema in self._schemas.items()
        }
        self._encoded = {name: dictionaries(schema) for name, schema in self._schemas.items()}

    def holds(self, given: Any) -> bool:
        """Whether it can read the given data."""
        return (
            isinstance(given, dict)
            and given.keys() == self._schemas.keys()
            and all(
                is_arrow(table) and table.schema.equals(self._schemas[name]) for name, table in given.items()
            )
        )

    def singly(self, given: dict[str, Any]) -> SingleEvent | bool:
        """Read the given data, if it is one event; as `SingleEvents.read`."""
        found = [(name, table) for name, table in given.items() if table.num_rows]
        if len(found) != 1 or found[0][1].num_rows != 1:
            return False
        ((name, table),) = found
        reader = self._readers[name]
        if reader is None:
            return False
        return _single_event(self._intake, reader, table, self._orders, self._encoded[name])


def is_arrow(given: Any) -> bool:
    return isinstance(given, (pa.RecordBatch, pa.Table))


def _single_event(
    intake: Intake,
    reader: SingleEvents,
    given: pa.RecordBatch | pa.Table,
    orders: Orders,
    encoded: Sequence[int],
) -> SingleEvent | bool:
    """Read data with one row, unless one of its dictionaries has a code for null."""
    batch = check_orders(_only_batch(given), orders, "the batch")
    return not has_null_texts(batch, encoded) and intake.singly(reader, batch)


def _only_batch(given: pa.RecordBatch | pa.Table) -> pa.RecordBatch:
    """The batch with the only row of some data."""
    if isinstance(given, pa.RecordBatch):
        return given
    return next(batch for batch in given.to_batches() if batch.num_rows)


def _reader(given: pa.Schema, known: dict[str, str], bound: BoundQuery, run: Run) -> SingleEvents | None:
    """What reads batches of one event that have a schema; None where types must be converted."""
    schema = bound.arrow_schema
    for name in bound.columns(run.intake.payload):
        if name in known:
            continue
        if name not in given.names:
            if path_to(name, given) is not None:
                return None  # a field of a struct
            continue
        own, kind = given.field(name).type, schema.field(name).type
        # A text is a text, unless it is kept.
        if own != kind and (name in run.intake.payload or not (is_text(own) and is_text(kind))):
            return None
    return run.intake.single_events(schema, given, known)
