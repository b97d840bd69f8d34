"""Record batches of closed sessions, made without reading their events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.form import MarkResults
from cer_gpu.engine.machines.closed_sessions import ClosedEnds
from cer_gpu.engine.read.keys import Keys
from cer_gpu.engine.read.sources.columns import is_word
from cer_gpu.enumeration.sessions import marks_at_once
from cer_gpu.language import tree
from cer_gpu.language.walk import walk

ROWS = 1 << 16
"""The most sessions of a record batch."""


class ClosedForm:
    """Makes the record batches of closed sessions in a query's form.

    Parameters
    ----------
    form : MarkResults
        A form that `fits`.
    label : int
        The label of every event of a session.
    """

    def __init__(self, form: MarkResults, label: int) -> None:
        self._form = form
        self.schema = form.schema
        self._marked = frozenset(form.marked_by(label))
        self._time = form.schema.field(form.times[0]).type

    @property
    def listed(self) -> bool:
        """Whether the events of sessions are shown."""
        return not self._marked.isdisjoint(self._form.variables)

    @staticmethod
    def fits(form: Any) -> TypeGuard[MarkResults]:
        """Whether a form shows nothing of the events of a session but their number, positions and times."""
        if not isinstance(form, MarkResults) or form.event_id is not None or form.order is None:
            return False
        time = form.schema.field(form.times[0]).type
        if not is_word(time) or time == pa.uint64():
            return False
        nodes = [node for one in form.expressions for node in walk(one)]
        return not form.attributes and not any(isinstance(node, tree.Attribute) for node in nodes)

    def batches(self, closed: ClosedEnds, lane_keys: Keys | None) -> Iterator[pa.RecordBatch]:
        """The record batches of sessions that have just been closed."""
        count = len(closed.event)
        bounds = [(low, min(low + ROWS, count)) for low in range(0, count, ROWS)]
        if self.listed:
            some = marks_at_once(np.arange(count), closed.number, ROWS)
            bounds = [(int(one[0]), int(one[-1]) + 1) for one in some]
        for low, high in bounds:
            yield self._batch(closed, low, high, lane_keys)

    def _batch(self, closed: ClosedEnds, low: int, high: int, lane_keys: Keys | None) -> pa.RecordBatch:
        count, rows = high - low, closed.rows(low, high)
        start_time, end_time = (pa.array(one).view(self._time) for one in (rows.start_time, rows.end_time))
        arrays = [pa.array(rows.start), pa.array(rows.end)]
        arrays += [] if lane_keys is None else lane_keys.columns(rows.lane)
        arrays += [start_time, end_time]
        if self._form.variables:
            none = pa.array(np.zeros(count + 1, np.int32)), pa.array(np.empty(0, np.int64))
            bounds, positions = none
            if self.listed:
                first, position = closed.positions(low, high)
                bounds, positions = pa.array(first.astype(np.int32)), pa.array(position)
            for variable in self._form.variables:
                own = (bounds, positions) if variable in self._marked else none
                arrays.append(pa.ListArray.from_arrays(*own, type=self._form.list_type))

        def number_of(variable: str | None) -> np.ndarray:
            return rows.number.copy() if variable in self._marked else np.zeros(count, np.int64)

        arrays += self._form.numbered(start_time, end_time, number_of)
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)
