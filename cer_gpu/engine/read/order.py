"""Checks, batch after batch, that time does not run backwards (language section 8)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read import columns
from cer_gpu.engine.read.columns import Values
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import RowError
from cer_gpu.kernels.classify.cpu import first_decrease
from cer_gpu.late import compute as pc

PART = 1 << 17
"""Rows that one thread looks at at a time."""

HOW_TO_SORT = "sort the data, or ask for it: sort=True (--sort)"


class OrderCheck:
    """Follows the order columns of a run from batch to batch.

    Time may not decrease; where it ties, the further columns may not. With PARTITION BY this is asked
    inside every partition only: once the whole stream is out of order, `in_order` turns false and the
    caller checks the time of the events of each lane (and no longer what breaks ties).

    Parameters
    ----------
    order_by : tuple of str
        The time, then what breaks ties. Empty: nothing is checked.
    partitioned : bool
    workers : Workers
    """

    def __init__(self, order_by: tuple[str, ...], partitioned: bool, workers: Workers) -> None:
        self._workers = workers
        self._order_by = order_by
        self._partitioned = partitioned
        self._before: pa.RecordBatch | None = None
        self._rows = 0
        self.in_order = True

    def time(self, batch: pa.RecordBatch) -> Values | None:
        """The time column of the next batch, checked; None without one.

        Raises
        ------
        DataError
            At a null or NaN time, and where an unpartitioned stream runs backwards.
        """
        if not self._order_by:
            return None
        name = self._order_by[0]
        values = columns.numbers(batch.column(name), name)
        self._refuse_missing(values, name)
        if self.in_order:
            self._check(batch, values, name)
        self._before = batch.select(list(self._order_by)).slice(len(batch) - 1, 1)
        self._rows += len(batch)
        return values

    def skip(self, rows: int) -> None:
        """Count rows that have been looked at elsewhere."""
        self._rows += rows

    def _refuse_missing(self, values: Values, name: str) -> None:
        missing = ~values.present if len(values.valid) else None
        if values.data.dtype.kind == "f":
            # Between infinite times there is no difference that a window could measure.
            endless = ~np.isfinite(values.data)
            missing = endless if missing is None else missing | endless
        if missing is not None and missing.any():
            row = int(np.argmax(missing))
            what = "null" if not values.present[row] else _named(values.data[row])
            raise RowError(
                self._rows + row,
                f"{{row}}: the time `{name}` is {what}, and every event needs one: remove such rows, or give "
                "them a value",
            )

    def _check(self, batch: pa.RecordBatch, values: Values, name: str) -> None:
        before = values.data[0]
        if self._before is not None:
            before = columns.numbers(self._before.column(name), name).data[0]
        row = self._first_decrease(values.data, before)
        if row < 0 and len(self._order_by) > 1:
            row = self._first_tie_broken(batch)
        if row < 0:
            return
        if self._partitioned:
            self.in_order = False
            return
        names = ", ".join(f"`{column}`" for column in self._order_by)
        raise RowError(self._rows + row, f"{{row}} comes before the row above it by {names}: {HOW_TO_SORT}")

    def _first_decrease(self, times: np.ndarray, before: np.generic) -> int:
        """The first row whose time is less than the one before it, or -1."""

        def search(start: int) -> int:
            row = int(first_decrease(times[start : start + PART], times[start - 1] if start else before))
            return row if row < 0 else start + row

        found = self._workers.map("reading", search, range(0, len(times), PART))
        return next((row for row in found if row >= 0), -1)

    def _first_tie_broken(self, batch: pa.RecordBatch) -> int:
        """The first row that ties with the one before it in time and comes before it by what breaks ties."""
        own = batch.select(list(self._order_by))
        rows = [own] if self._before is None else [self._before, own]
        both = pa.concat_tables([pa.Table.from_batches([part]) for part in rows])
        shift = len(both) - len(batch)
        tied = np.ones(len(both) - 1, bool)
        wrong = np.zeros(len(both) - 1, bool)
        for name in self._order_by:
            column = columns.single(both.column(name).unify_dictionaries())
            if pa.types.is_dictionary(column.type):
                column = column.dictionary_decode()
            before, after = column.slice(0, len(column) - 1), column.slice(1)
            less = pc.fill_null(pc.less(after, before), False).to_numpy(zero_copy_only=False)
            same = pc.fill_null(pc.equal(after, before), False).to_numpy(zero_copy_only=False)
            wrong |= tied & less
            tied &= same
        return int(np.argmax(wrong)) + 1 - shift if wrong.any() else -1


def _named(time: np.generic) -> str:
    return "NaN" if np.isnan(time) else "infinite"
