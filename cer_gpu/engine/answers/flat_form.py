"""Matches in flat form: one row for each, with one value in every cell: `FlatForm`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.form import ResultForm, free_name, id_type, payload_column
from cer_gpu.engine.answers.row_origin import RowOrigin
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.sources.arrow_types import roomy
from cer_gpu.enumeration.blocks import AnswerBlock


class FlatForm:
    """The columns of matches in flat form, and how a block of matches fills them.

    =======================  ==================================================================
    `start`, `end`, ...      as in `ResultForm`: the columns of the key, the times, a rule's head
    `a`                      the position of the event that `a` marks; null where it marks none
    `a_index`, ...           the labels of its row, for a DataFrame with an index of its own
    `a_time`                 its time, where the run has an order
    `a_price`                an attribute that SELECT asks for
    `b_first`, `b_last`      the positions of the first and the last event of a variable that may mark several
    `b_first_time`, ...      their times and attributes
    =======================  ==================================================================

    If an earlier column has the same name, a `_` is appended. The columns of a rule's atoms have the names of
    their types.

    Parameters
    ----------
    form : ResultForm
        The form of the matches.
    data : pyarrow.Schema
    origin : RowOrigin
    whole : bool
        Whether all columns of the data are shown of each marked event, in place of its time and of what
        SELECT asks for.
    """

    def __init__(self, form: ResultForm, data: pa.Schema, origin: RowOrigin, whole: bool = False) -> None:
        self._form, self._origin = form, origin
        fields = [form.schema.field(place) for place in form.plain]
        taken = {field.name for field in fields}
        place = id_type(data, form.event_id)
        self._timed = form.order if not whole else None
        """The column that is shown as the time of each event, in place of the label of that name."""
        columns = data.names if whole else []
        labels = [one for one in origin.label_fields(self._timed) if one.name not in columns]
        self._labelled = frozenset(one.name for one in labels)
        self._columns: list[list[str]] = []
        """For each singled event the columns of the data that are shown behind its position and labels."""
        for event in form.singled():
            shown = columns if whole else [*([] if form.order is None else [form.order]), *event.attributes]
            self._columns.append(list(shown))
            said = [
                pa.field(event.name, place),
                *(one.with_name(f"{event.name}_{one.name}") for one in labels),
            ]
            for number, name in enumerate(shown):
                what = "time" if not whole and form.order is not None and number == 0 else name
                said.append(pa.field(f"{event.name}_{what}", roomy(data.field(name).type)))
            fields += [pa.field(free_name(one.name, taken), one.type) for one in said]
        self.schema = pa.schema(fields)
        read = [*(origin.payload if labels else ()), *columns]
        self.payload = tuple(dict.fromkeys([*form.payload, *read]))

    def batch(self, events: EventArrays, end: np.ndarray, block: AnswerBlock) -> pa.RecordBatch:
        """A block of matches as a record batch; parameters as for `ResultForm.batch`."""
        arrays = self._form.plain_columns(events, end, block)
        for columns, (index, without) in zip(self._columns, self._form.singled_events(block), strict=True):
            arrays.append(self._form.places(events, index, without))
            if self._labelled:
                arrays += self._origin.labels(events, index, self._labelled, without)
            arrays += [payload_column(events, name, index, without) for name in columns]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


class WideForm:
    """The columns of a query's result and, behind them, those that its flat form has besides.

    One pass over events that can be read only once makes both tables of it.

    Parameters
    ----------
    form : ResultForm
    flat : FlatForm
    """

    def __init__(self, form: ResultForm, flat: FlatForm) -> None:
        self._form, self._flat = form, flat
        self._width = len(form.schema)
        self._further = list(flat.schema)[len(form.plain) :]
        self.schema = pa.schema([*form.schema, *self._further])
        self.payload = tuple(dict.fromkeys([*form.payload, *flat.payload]))

    def batch(self, events: EventArrays, end: np.ndarray, block: AnswerBlock) -> pa.RecordBatch:
        """A block of matches as a record batch; parameters as for `ResultForm.batch`."""
        nested = self._form.batch(events, end, block)
        flat = self._flat.batch(events, end, block)
        further = flat.columns[len(self._form.plain) :]
        return pa.RecordBatch.from_arrays([*nested.columns, *further], schema=self.schema)

    def nested(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The columns of the result."""
        return pa.RecordBatch.from_arrays(rows.columns[: self._width], schema=self._form.schema)

    def flat(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The columns of the flat form."""
        return pa.RecordBatch.from_arrays(self._flat_columns(rows), schema=self._flat.schema)

    def nested_table(self, rows: pa.Table) -> pa.Table:
        """As `nested`."""
        return pa.Table.from_arrays(rows.columns[: self._width], schema=self._form.schema)

    def flat_table(self, rows: pa.Table) -> pa.Table:
        """As `flat`."""
        return pa.Table.from_arrays(self._flat_columns(rows), schema=self._flat.schema)

    def _flat_columns(self, rows: pa.RecordBatch | pa.Table) -> list[Any]:
        return [*(rows.column(place) for place in self._form.plain), *rows.columns[self._width :]]
