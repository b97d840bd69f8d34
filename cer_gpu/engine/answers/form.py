"""Complex events as Arrow: the columns of the result and how a block of complex events fills them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.events import Relevant
from cer_gpu.engine.read.lanes import LaneEncoder
from cer_gpu.kernels.lanes.cpu import gather
from cer_gpu.kernels.lists.cpu import list_column
from cer_gpu.plan.compiled import CompiledQuery

POSITIONS = pa.list_(pa.field("item", pa.int64(), nullable=False))


@dataclass(frozen=True, slots=True)
class Found:
    """A block of complex events, as indices of events of a chunk.

    Attributes
    ----------
    start, end : ndarray, shape (n,), int64
    first : ndarray, shape (n + 1,), int64
        The marks of complex event k are first[k] .. first[k + 1] - 1.
    event, label : ndarray, shape (marks,), int64 and int32
        Ascending by event in each complex event.
    """

    start: np.ndarray
    end: np.ndarray
    first: np.ndarray
    event: np.ndarray
    label: np.ndarray


@dataclass(frozen=True, slots=True)
class Answers:
    """A block of answers of a rule, as indices of events of a chunk.

    Attributes
    ----------
    start, end : ndarray, shape (n,), int64
    event : ndarray, shape (n, atoms), int64
    """

    start: np.ndarray
    end: np.ndarray
    event: np.ndarray


class ResultForm:
    """The columns of a query's result on data of a schema.

    Parameters
    ----------
    query : CompiledQuery
    data : pyarrow.Schema
    order : str or None
        The time column: gives `start_time` and `end_time`.
    encoder : LaneEncoder or None
    """

    def __init__(
        self, query: CompiledQuery, data: pa.Schema, order: str | None, encoder: LaneEncoder | None
    ) -> None:
        self._query = query
        self._label_has = query.shown_label_has
        self._order = order
        self._encoder = encoder
        fields = [pa.field("start", pa.int64(), nullable=False), pa.field("end", pa.int64(), nullable=False)]
        taken = {"start", "end"}
        positions = ["start", "end"]
        if encoder is not None:
            for name, kind in zip(encoder.names, encoder.types, strict=True):
                fields.append(pa.field(_free(name, taken), kind))
        times: tuple[str, ...] = ()
        if order is not None:
            kind = data.field(order).type
            times = (_free("start_time", taken), _free("end_time", taken))
            fields += [pa.field(name, kind) for name in times]
        if query.rule is not None:
            for head in query.rule.head:
                fields.append(pa.field(_free(head.name, taken), data.field(head.attribute).type))
            positions.append(_free("positions", taken))
            fields.append(pa.field(positions[-1], POSITIONS, nullable=False))
        for variable in query.variables:
            positions.append(_free(variable, taken))
            fields.append(pa.field(positions[-1], POSITIONS, nullable=False))
            if attributes := query.attributes.get(variable):
                name = _free(f"{variable}[{', '.join(attributes)}]", taken)
                members = pa.struct(
                    [pa.field(attribute, data.field(attribute).type) for attribute in attributes]
                )
                kind = pa.list_(pa.field("item", members, nullable=False))
                fields.append(pa.field(name, kind, nullable=False))
        self.schema = pa.schema(fields)
        self.positions = tuple(positions)
        """The columns of positions, or of lists of them."""
        self.times = times
        """The columns of times."""

    @property
    def payload(self) -> tuple[str, ...]:
        """The columns of the data that results are made of."""
        names = [self._order] if self._order is not None else []
        names += [name for attributes in self._query.attributes.values() for name in attributes]
        if self._query.rule is not None:
            names += [head.attribute for head in self._query.rule.head]
        return tuple(dict.fromkeys(names))

    def batch(self, events: Relevant, found: Found) -> pa.RecordBatch:
        """A block of complex events as a record batch."""
        positions = events.positions
        arrays = self._places(events, found)
        if self._encoder is not None:
            arrays[2:2] = self._encoder.key_columns(events.lanes[found.end])
        for number, variable in enumerate(self._query.variables):
            offsets, marked = list_column(found.first, found.event, found.label, self._label_has[:, number])
            bounds = pa.array(offsets)
            arrays.append(
                pa.ListArray.from_arrays(bounds, pa.array(_gathered(positions, marked)), type=POSITIONS)
            )
            if attributes := self._query.attributes.get(variable):
                members = [self._column(events, attribute, marked) for attribute in attributes]
                kind = self.schema.field(len(arrays)).type
                struct = pa.StructArray.from_arrays(members, fields=list(kind.value_type))
                arrays.append(pa.ListArray.from_arrays(bounds, struct, type=kind))
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def answers(self, events: Relevant, found: Answers) -> pa.RecordBatch:
        """A block of answers of a rule as a record batch."""
        assert self._query.rule is not None
        arrays = self._places(events, found)
        for head in self._query.rule.head:
            arrays.append(self._column(events, head.attribute, found.event[:, head.atom]))
        atoms = self._query.rule.atoms
        bounds = pa.array(np.arange(0, len(found.event) * atoms + 1, atoms, dtype=np.int32))
        positions = pa.array(_gathered(events.positions, found.event.reshape(-1)))
        arrays.append(pa.ListArray.from_arrays(bounds, positions, type=POSITIONS))
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _places(self, events: Relevant, found: Found | Answers) -> list[pa.Array]:
        """Start and end, as positions and as times."""
        ends = (found.start, found.end)
        arrays = [pa.array(_gathered(events.positions, index)) for index in ends]
        if self._order is not None:
            arrays += [self._column(events, self._order, index) for index in ends]
        return arrays

    def _column(self, events: Relevant, name: str, index: np.ndarray) -> pa.Array:
        assert events.payload is not None
        column = events.payload.column(name)
        taken = column.take(pa.array(index))
        return taken.combine_chunks() if isinstance(taken, pa.ChunkedArray) else taken


def _gathered(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    out = np.empty(len(rows), values.dtype)
    gather(values, rows, out)
    return out


def _free(name: str, taken: set[str]) -> str:
    """A column name that is not taken yet: a variable may be called `start`."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
