"""How results say which row of the data an event is: `RowOrigin`."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.form import payload_column
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.sources.columns import gathered_rows
from cer_gpu.engine.read.sources.frame_index import FrameIndex
from cer_gpu.engine.read.sources.rows import ROW


class RowOrigin(NamedTuple):
    """Where the events of a run come from.

    Attributes
    ----------
    moved : bool
        Whether the rows were put in order, so that the position of an event is not its row.
    source : str or None
        The column that names the table of a row, if there are several tables.
    frame : FrameIndex or None
        The index of the DataFrame that was given, where it says more than the numbers of the rows.
    """

    moved: bool = False
    source: str | None = None
    frame: FrameIndex | None = None

    @property
    def payload(self) -> tuple[str, ...]:
        """The columns of the data that are read to tell rows."""
        return (*([ROW] if self.moved else []), *([self.source] if self.source is not None else []))

    def rows(self, events: EventArrays, index: np.ndarray) -> pa.Array:
        """The rows of the data as it was given that some events are, int64."""
        if self.moved:
            return payload_column(events, ROW, index)
        return pa.array(gathered_rows(events.positions, index))

    def label_fields(self, order: str | None) -> list[pa.Field]:
        """The labels of the frame's index, but for those of the order column, which is shown as a time."""
        return [] if self.frame is None else [one for one in self.frame.fields() if one.name != order]

    def labels(
        self,
        events: EventArrays,
        index: np.ndarray,
        names: Collection[str],
        without: np.ndarray | None = None,
    ) -> list[pa.Array]:
        """The labels that some events have in levels of the index; null where `without` is true."""
        assert self.frame is not None
        rows = self.rows(events, index).to_numpy()
        labels = zip(self.frame.names, self.frame.labels(rows, without), strict=True)
        return [column for name, column in labels if name in names]


IN_ORDER = RowOrigin()
"""The rows of one table, as they are."""
