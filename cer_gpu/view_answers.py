"""The answers of a view, listed as they are read: `ViewAnswers`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa

from cer_gpu.engine.answers.table_result import TableResult
from cer_gpu.errors import DataError
from cer_gpu.printable_text import names_text

BATCH = 1 << 16
"""Answers in a batch."""


class ViewAnswers(TableResult):
    """Rows of a view, or changes of them; made by `JoinView.enumerate` and `JoinView.delta`.

    They are listed as they are read, and other libraries read them as an Arrow stream. Iterating over them
    gives record batches.

    Parameters
    ----------
    schema : callable
        Returns the columns, or None while some relation has never had rows.
    batches : callable
        Called with the most rows of a batch; returns the batches.
    """

    def __init__(
        self,
        schema: Callable[[], pa.Schema | None],
        batches: Callable[[int], Iterator[pa.RecordBatch]],
    ) -> None:
        self._schema_of = schema
        self._batches_of = batches

    def batches(self, rows: int = BATCH) -> pa.RecordBatchReader:
        """The rows as a reader of record batches, each of at most `rows` rows.

        Raises
        ------
        DataError
            While a relation of the rule has never been given a table: the types of its columns are not known.
        """
        schema = self._schema_of()
        if schema is None:
            raise DataError(
                "the view has no rows yet: give each of its relations a table first, which may be empty"
            )
        return pa.RecordBatchReader.from_batches(schema, self._batches_of(rows))

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return iter(self._batches_of(BATCH)) if self._schema_of() is not None else iter(())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows through Arrow's C stream interface, for other libraries."""
        return self.batches().__arrow_c_stream__(requested_schema)

    def head(self, rows: int) -> pa.Table:
        """The first `rows` rows, in no particular order."""
        found, left = [], rows
        for batch in self.batches(max(1, min(rows, BATCH))):
            found.append(batch.slice(0, left))
            left -= len(found[-1])
            if not left:
                break
        return pa.Table.from_batches(found, self.batches().schema)

    def top(self, rows: int, by: str, descending: bool = True) -> pa.Table:
        """The rows with the greatest values in a column, the greatest first: SQL's `ORDER BY ... LIMIT`.

        All rows are read, but no more than `rows` of them and one batch are in memory at a time. Nulls
        come last.

        Parameters
        ----------
        rows : int
            How many rows to return; of rows with equal values, any may be taken.
        by : str
            A column, such as `a`, `SUM(v)` or `multiplicity`.
        descending : bool, default True
            False takes the least values, the least first.

        Raises
        ------
        DataError
            When there is no such column.
        """
        reader = self.batches()
        if by not in reader.schema.names:
            raise DataError(
                f"the view has no column {names_text([by])}: they have {names_text(reader.schema.names)}"
            )
        found = reader.schema.empty_table()
        for batch in reader:
            found = pa.concat_tables([found, pa.Table.from_batches([batch])])
            order = "descending" if descending else "ascending"
            found = found.sort_by([(by, order)]).slice(0, rows)
        return found

    def to_arrow(self) -> pa.Table:
        """All rows as one table."""
        return self.batches().read_all()
