"""Complex events in flat form: one row for each, with one value in every cell: `FlatForm`."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.form import ResultForm, free_name, id_type, payload_column
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.sources.arrow_types import roomy
from cer_gpu.enumeration.blocks import AnswerBlock


class FlatForm:
    """The columns of complex events in flat form, and how a block of complex events fills them.

    =======================  ==================================================================
    `start`, `end`, ...      as in `ResultForm`: the columns of the key, the times, a rule's head
    `a`                      the position of the event that `a` marks; null where it marks none
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
        The form of the complex events.
    data : pyarrow.Schema
    """

    def __init__(self, form: ResultForm, data: pa.Schema) -> None:
        self._form = form
        whole = form.schema
        fields = [whole.field(place) for place in form.plain]
        taken = {field.name for field in fields}
        place = id_type(data, form.event_id)
        self._columns: list[list[str | None]] = []
        """For each singled event what is shown: None is its position, then come its time and attributes."""
        for event in form.singled():
            timed = [] if form.order is None else [form.order]
            self._columns.append([None, *timed, *event.attributes])
            named = [
                event.name,
                *(f"{event.name}_{what}" for what in [*["time"] * len(timed), *event.attributes]),
            ]
            kinds = [place, *(roomy(data.field(name).type) for name in [*timed, *event.attributes])]
            fields += [
                pa.field(free_name(name, taken), kind) for name, kind in zip(named, kinds, strict=True)
            ]
        self.schema = pa.schema(fields)
        self.payload = form.payload

    def batch(self, events: EventArrays, end: np.ndarray, block: AnswerBlock) -> pa.RecordBatch:
        """A block of complex events as a record batch; parameters as for `ResultForm.batch`."""
        arrays = self._form.plain_columns(events, end, block)
        for columns, (index, without) in zip(self._columns, self._form.singled_events(block), strict=True):
            for name in columns:
                if name is None:
                    arrays.append(self._form.places(events, index, without))
                else:
                    arrays.append(payload_column(events, name, index, without))
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)
