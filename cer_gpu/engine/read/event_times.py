"""The times and positions of relevant events, by which windows and outlooks measure."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.single_events import ALL_KEYED, NO_KEYS
from cer_gpu.engine.read.sources import columns
from cer_gpu.engine.read.sources.columns import Values
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import RowError
from cer_gpu.kernels.lanes import cpu as kernels
from cer_gpu.plan.compiled_query import WindowPlan

PART = 1 << 15
"""Rows whose values one thread gathers at a time."""


class EventTimesBuilder:
    """Gathers what is measured of some rows of a batch.

    Parameters
    ----------
    window : WindowPlan or None
    workers : Workers
    """

    def __init__(self, window: WindowPlan | None, workers: Workers) -> None:
        self._window = window
        self._workers = workers

    def keys(
        self, batch: pa.RecordBatch, rows: np.ndarray, places: np.ndarray, time: Values | None, before: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """What the window measures of some rows, and where that is not null, for `EventArrays`.

        Parameters
        ----------
        batch : RecordBatch
        rows : ndarray, shape (m,), int64
        places : ndarray, shape (m,) or (0,), int64
            Their places in their lanes; empty if these are their positions.
        time : Values or None
            The times of all rows.
        before : int
            How many rows of the stream come before the batch.

        Raises
        ------
        RowError
            For a value that does not fit 64 bits.
        """
        none, window = ALL_KEYED, self._window
        if window is None:
            return NO_KEYS, none
        if window.kind == "events":
            return places, none
        assert window.attribute is not None
        values = time
        if window.kind == "attribute" or values is None:
            values = columns.turned(columns.numbers(batch.column(window.attribute), window.attribute))
            if values.beyond.any():
                row = before + int(np.argmax(values.beyond))
                name = window.attribute
                raise RowError(
                    row, f"{{row}}: `{name}`, which WITHIN measures, does not fit 64 bits: cast it to float64"
                )
        data = self._gathered(values.data, rows)
        keyed = values.valid[rows] if len(values.valid) else none
        # The greatest of values is NaN where one of them is.
        if data.dtype.kind == "f" and len(data) and np.isnan(data.max()):
            keyed = (keyed.astype(bool) if len(keyed) else True) & ~np.isnan(data)
            keyed = keyed.astype(np.uint8)
        return data, keyed

    def times(self, rows: np.ndarray, keys: np.ndarray, time: Values | None) -> np.ndarray:
        """The times of some rows, if there are any; `keys` is what the window measures of them."""
        if time is None:
            return NO_KEYS
        timed = self._window is not None and self._window.kind == "time"
        return keys if timed else self._gathered(time.data, rows)

    def _gathered(self, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The values of some rows, which ascend: int64 or float64."""
        if len(rows) == len(values) and values.dtype in (np.int64, np.float64):
            return values
        out: np.ndarray = np.empty(len(rows), np.float64 if values.dtype.kind == "f" else np.int64)

        def gather(start: int) -> None:
            part = slice(start, start + PART)
            kernels.gather(values, rows[part], out[part])

        if len(rows) <= PART:
            gather(0)
        else:
            self._workers.map("reading", gather, range(0, len(rows), PART))
        return out
