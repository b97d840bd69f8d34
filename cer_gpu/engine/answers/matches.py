"""The result of a run: complex events, lazily, as Python values or as Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from cer_gpu.engine.answers.form import ResultForm
from cer_gpu.engine.answers.values import ComplexEvent
from cer_gpu.engine.memory import within_memory
from cer_gpu.engine.read.sources.arrow_types import first_line
from cer_gpu.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


MOST = 1 << 62
"""At most so many complex events are looked for, whatever the limit: kernels count them in 64 bits."""


class Matches:
    """The complex events of a run; nothing is read or enumerated until they are asked for.

    Every iteration runs the query again, so the events must be of a kind that can be read again (a reader
    can be read only once).

    Parameters
    ----------
    form : ResultForm
        The columns of the result: `start` and `end` (int64), the columns of the key, `start_time` and
        `end_time` where the run has an order, a `list<int64>` of positions for each kept variable, and for
        `x[price]` a column of that name with a `list<struct<price>>`. A rule has instead the variables of
        its head and `positions`, a `list<int64>` with one position for each atom. Where a name is taken by
        an earlier column, a `_` is appended.
    produce : callable
        Starts a run and yields its record batches, sorted by (end, start, positions). Its argument is how
        many complex events are needed, None for all; it may yield more.
    device, device_reason : str
        Where the run takes place, and why.
    limit : int or None
        Every iteration ends after so many complex events.
    """

    def __init__(
        self,
        form: ResultForm,
        produce: Callable[[int | None], Iterator[pa.RecordBatch]],
        device: str,
        device_reason: str,
        limit: int | None,
    ) -> None:
        self.schema = form.schema
        self.variables = form.variables
        self.partition = form.partition
        self.head = form.head
        self._form = form
        self.device = device
        self.device_reason = device_reason
        self._produce = produce
        self._limit = limit
        self._limited = False

    @property
    def limited(self) -> bool:
        """Whether the iteration that ended last stopped at `limit` although there are more complex events."""
        return self._limited

    def _batches(self) -> Iterator[pa.RecordBatch]:
        """Start a run: its record batches up to the limit."""
        # One more than the limit tells that there are more.
        return self._cut(self._produce(None if self._limit is None else min(self._limit + 1, MOST)))

    def _cut(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        left, met = self._limit, False
        for batch in batches:
            if left is not None:
                met = len(batch) > left
                batch = batch.slice(0, min(left, len(batch)))
                left -= len(batch)
            if len(batch):
                yield batch
            if met:
                break
        self._limited = met

    def batches(self) -> pa.RecordBatchReader:
        """The complex events as a reader of record batches of bounded size."""
        return pa.RecordBatchReader.from_batches(self.schema, self._batches())

    def to_arrow(self) -> pa.Table:
        """All complex events as a table."""
        with within_memory("collecting the answers"):
            return pa.Table.from_batches(list(self._batches()), self.schema)

    def to_pandas(self) -> pd.DataFrame:
        """All complex events as a DataFrame (needs pandas).

        Raises
        ------
        DataError
            For a time that pandas cannot represent.
        """
        answers = self.to_arrow()
        try:
            with within_memory("collecting the answers"):
                return answers.to_pandas()
        except (ValueError, OverflowError) as error:  # of which ArrowInvalid is one
            raise DataError(
                f"the answers do not fit pandas: {first_line(error)}; take them as Arrow, with to_arrow()"
            ) from error

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The complex events through Arrow's C stream interface, for other libraries."""
        return self.batches().__arrow_c_stream__(requested_schema)

    def __iter__(self) -> Iterator[ComplexEvent]:
        for batch in self._batches():
            yield from self._form.complex_events(batch)

    def __repr__(self) -> str:
        names = ", ".join(self.variables if self.head is None else self.head) or "no variables"
        return f"<Matches of {names} on {self.device}>"
