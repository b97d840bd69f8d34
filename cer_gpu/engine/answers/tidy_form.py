"""Matches in tidy form: one row for each marked event, `EventForm`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.form import ResultForm, free_name, id_type, payload_column
from cer_gpu.engine.answers.row_origin import RowOrigin
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.sources.columns import gathered_rows
from cer_gpu.enumeration.blocks import AnswerBlock

NAMES = pa.dictionary(pa.int32(), pa.string())


class EventRows(NamedTuple):
    """The marked events of `matches` matches; the column `match` numbers these from 0."""

    matches: int
    batch: pa.RecordBatch


class EventForm:
    """The columns of the marked events of matches, and how a block of matches fills them.

    ============  ==================  ===================================================================
    `match`       int64               the row of the match in the results
    ...           as in the data      the columns of the key
    `variable`    dictionary<string>  the variable that marks the event; for a rule, the type of its atom
    `position`    int64               the position of the event in the stream; or its id (`event_id=`)
    `row`         int64               the row of the event in the data as it was given
    `source`      dictionary<string>  for a dict of tables, the table that has the row
    `index`, ...  as in the data      the labels of the row, for a DataFrame with an index of its own
    `time`        as in the data      the time of the event, where the run has an order
    ...           as in the data      attributes; null where they were not asked for of the variable
    ...           as computed         the measures of the match
    ============  ==================  ===================================================================

    If an earlier column has the name already, a `_` is appended. A column of the key or of the index is not
    shown again as an attribute.

    Parameters
    ----------
    form : ResultForm
        The form of the matches.
    data : pyarrow.Schema
    origin : RowOrigin
    whole : bool
        Whether all columns of the data are shown of each event, whatever SELECT asks for.
    """

    def __init__(self, form: ResultForm, data: pa.Schema, origin: RowOrigin, whole: bool = False) -> None:
        self._form, self._origin = form, origin
        self._names = pa.array(form.marking, pa.string())
        key = list(form.schema)[2 : 2 + len(form.partition)]
        labels = origin.label_fields(form.order)
        self._labelled = frozenset(one.name for one in labels)
        shown = {*self._labelled, *form.partition}
        named = [name for names in form.attributes.values() for name in names]
        named = data.names if whole else named
        self._attributes = tuple(name for name in dict.fromkeys(named) if name not in shown)
        self._asked = np.array(
            [
                [whole or one in form.attributes.get(name, ()) for one in self._attributes]
                for name in form.marking
            ]
        ).reshape(len(form.marking), len(self._attributes))
        taken: set[str] = set()
        fields = [
            ("match", pa.int64()),
            *((name, one.type) for name, one in zip(form.partition, key, strict=True)),
            ("variable", NAMES),
            ("position", id_type(data, form.event_id)),
            ("row", pa.int64()),
            *([("source", data.field(origin.source).type)] if origin.source is not None else []),
            *((one.name, one.type) for one in labels),
            *([("time", data.field(form.order).type)] if form.order is not None else []),
            *((name, data.field(name).type) for name in self._attributes),
        ]
        fields += (
            [
                (name, measure.type)
                for name, measure in zip(form.measures, list(form.schema)[-len(form.measures) :], strict=True)
            ]
            if form.measures
            else []
        )
        self.schema = pa.schema([pa.field(free_name(name, taken), kind) for name, kind in fields])
        self.payload = tuple(dict.fromkeys([*form.payload, *self._attributes, *origin.payload]))

    def batch(self, events: EventArrays, end: np.ndarray, block: AnswerBlock) -> EventRows:
        """The marked events of a block of matches; parameters as for `ResultForm.batch`."""
        match, event, variable = self._form.marked(block)
        position = self._form.places(events, event)
        same = not self._origin.moved and self._form.event_id is None
        arrays = [pa.array(match)]
        if events.lane_keys is not None:
            arrays += events.lane_keys.columns(gathered_rows(events.lanes, event, np.int64))
        arrays += [
            pa.DictionaryArray.from_arrays(pa.array(variable), self._names),
            position,
            position if same else self._origin.rows(events, event),
        ]
        if self._origin.source is not None:
            arrays.append(payload_column(events, self._origin.source, event))
        if self._labelled:
            arrays += self._origin.labels(events, event, self._labelled)
        if self._form.order is not None:
            arrays.append(payload_column(events, self._form.order, event))
        for column, name in enumerate(self._attributes):
            asked = self._asked[:, column][variable]
            arrays.append(payload_column(events, name, event, None if asked.all() else ~asked))
        own = pa.array(match)
        arrays += [values.take(own) for values in self._form.measured(events, end, block)]
        return EventRows(len(end), pa.RecordBatch.from_arrays(arrays, schema=self.schema))
