"""The rows of a source in the order of MATCH_RECOGNIZE, part after part: `OrderedParts`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from cer_gpu.engine.read.sources.rows import Rows
from cer_gpu.engine.rows.ordered_rows import OrderedRows
from cer_gpu.engine.rows.table_parts import table_parts
from cer_gpu.patterns.tree import SortKey
from cer_gpu.progress import Progress


class OrderedParts:
    """Reads rows and puts them in order: all at once, or, where memory is short, partitions in groups.

    Parameters
    ----------
    rows : Rows
    columns, partition_by : sequence of str
        The columns that are read, and those of the partition key.
    order_by : sequence of SortKey
    memory : int or None
        How many bytes may be taken; None: the free memory.
    numbered : bool, default False
        Whether there is a column `ROW` of the numbers of the rows.
    """

    def __init__(
        self,
        rows: Rows,
        columns: Iterable[str],
        partition_by: Sequence[str],
        order_by: Sequence[SortKey],
        memory: int | None,
        numbered: bool = False,
    ) -> None:
        self.rows = rows
        self._columns = dict.fromkeys(columns)
        self._partition_by = tuple(partition_by)
        self._order_by = tuple(order_by)
        self._memory = memory
        self._numbered = numbered
        self._keeps = False
        self._kept: OrderedRows | None = None

    def absorb(self, other: OrderedParts) -> bool:
        """Serve those who use `other`, too, if it has the same rows in the same order."""
        alike = (
            self.rows is other.rows
            and self._partition_by == other._partition_by
            and self._order_by == other._order_by
            and self._numbered == other._numbered
        )
        if alike:
            self._columns |= other._columns
        return alike

    @contextmanager
    def kept(self) -> Iterator[None]:
        """A `with` block in which rows that fit into memory are read once."""
        self._keeps = True
        try:
            yield
        finally:
            self._keeps, self._kept = False, None

    def read(self, progress: Progress) -> Iterator[OrderedRows]:
        """The rows, part after part; a partition lies in one of them."""
        if self._kept is not None:
            yield self._kept
            return
        tables = table_parts(
            self.rows, tuple(self._columns), self._partition_by, self._memory, progress, self._numbered
        )
        parts = (OrderedRows(table, self._partition_by, self._order_by) for table in tables)
        if self._keeps:
            first, second = next(parts, None), next(parts, None)
            if second is None:
                self._kept = first
            yield from (one for one in (first, second) if one is not None)
        yield from parts
