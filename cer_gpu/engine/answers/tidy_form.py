"""Complex events in tidy form: one row for each marked event, `EventForm`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.form import ResultForm, free_name, gathered_rows, id_type, payload_column
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.sources.rows import ROW
from cer_gpu.enumeration.blocks import AnswerBlock

NAMES = pa.dictionary(pa.int32(), pa.string())


class EventRows(NamedTuple):
    """The marked events of `matches` complex events; the column `match` numbers these from 0."""

    matches: int
    batch: pa.RecordBatch


class EventForm:
    """The columns of the marked events of complex events, and how a block of complex events fills them.

    ============  ==================  ===================================================================
    `match`       int64               the row of the complex event in the results
    `variable`    dictionary<string>  the variable that marks the event; for a rule, the type of its atom
    `position`    int64               the position of the event in the stream; or its id (`event_id=`)
    `row`         int64               the row of the event in the data as it was given
    `source`      dictionary<string>  for a dict of tables, the table that has the row
    `time`        as in the data      the time of the event, where the run has an order
    ...           as in the data      attributes; null where they were not asked for of the variable
    ...           as computed         the measures of the complex event
    ============  ==================  ===================================================================

    If an earlier column has the name already, a `_` is appended.

    Parameters
    ----------
    form : ResultForm
        The form of the complex events.
    data : pyarrow.Schema
    moved : bool
        Whether the rows were sorted, so that the position of an event is not its row.
    source : str or None
        The column that names the table of a row, if there are several tables.
    """

    def __init__(self, form: ResultForm, data: pa.Schema, moved: bool, source: str | None) -> None:
        self._form, self._moved, self._source = form, moved, source
        self._names = pa.array(form.marking, pa.string())
        attributes = [name for names in form.attributes.values() for name in names]
        self._attributes = tuple(dict.fromkeys(attributes))
        self._asked = np.array(
            [[one in form.attributes.get(name, ()) for one in self._attributes] for name in form.marking]
        ).reshape(len(form.marking), len(self._attributes))
        taken: set[str] = set()
        fields = [
            ("match", pa.int64()),
            ("variable", NAMES),
            ("position", id_type(data, form.event_id)),
            ("row", pa.int64()),
            *([("source", data.field(source).type)] if source is not None else []),
            *([("time", data.field(form.order).type)] if form.order is not None else []),
            *((name, data.field(name).type) for name in self._attributes),
        ]
        fields += (
            [
                (name, whole.type)
                for name, whole in zip(form.measures, list(form.schema)[-len(form.measures) :], strict=True)
            ]
            if form.measures
            else []
        )
        self.schema = pa.schema([pa.field(free_name(name, taken), kind) for name, kind in fields])
        more = [*([ROW] if moved else []), *([source] if source is not None else [])]
        self.payload = tuple(dict.fromkeys([*form.payload, *more]))

    def batch(self, events: EventArrays, end: np.ndarray, block: AnswerBlock) -> EventRows:
        """The marked events of a block of complex events; parameters as for `ResultForm.batch`."""
        match, event, variable = self._form.marked(block)
        position = self._form.places(events, event)
        row = position
        if self._moved:
            row = payload_column(events, ROW, event)
        elif self._form.event_id is not None:
            row = pa.array(gathered_rows(events.positions, event))
        arrays = [
            pa.array(match),
            pa.DictionaryArray.from_arrays(pa.array(variable), self._names),
            position,
            row,
        ]
        arrays += [
            payload_column(events, name, event)
            for name in (self._source, self._form.order)
            if name is not None
        ]
        for column, name in enumerate(self._attributes):
            asked = self._asked[:, column][variable]
            arrays.append(payload_column(events, name, event, None if asked.all() else ~asked))
        own = pa.array(match)
        arrays += [values.take(own) for values in self._form.measured(events, end, block)]
        return EventRows(len(end), pa.RecordBatch.from_arrays(arrays, schema=self.schema))
