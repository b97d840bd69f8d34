"""Tables that fit into memory, whole or partitions in groups: `table_parts`, and in order `OrderedParts`."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.free_memory import free_memory
from cer_gpu.engine.read.sources.arrow_types import convert_batch
from cer_gpu.engine.read.sources.categories import is_category
from cer_gpu.engine.read.sources.rows import ROW_FIELD, Rows, numbered
from cer_gpu.engine.read.spill_files import nameless_file, on_disk
from cer_gpu.engine.rows.ordered_rows import OrderedRows
from cer_gpu.errors import LimitError
from cer_gpu.patterns.tree import SortKey
from cer_gpu.progress import Progress

BATCH = 1 << 18
"""Rows that are read at a time."""

NEED = 4
"""A table takes so many times its size while its matches are found."""

GROUPS = 64
"""Groups that the partitions of a table are put into if it does not fit."""


def table_parts(
    rows: Rows,
    columns: Sequence[str],
    partition_by: Sequence[str],
    memory: int | None,
    progress: Progress,
    with_rows: bool = False,
) -> Iterator[pa.Table]:
    """Some columns of all rows: one table, or, where that takes too much memory, a table for each group of
    partitions, which are put into files meanwhile.

    Parameters
    ----------
    rows : Rows
    columns, partition_by : sequence of str
        The columns that are read, and those of the partition key. Where none is read, a narrow one is, since
        rows without columns cannot be counted.
    memory : int or None
        How many bytes may be taken; None: the free memory.
    progress : Progress
    with_rows : bool, default False
        Whether the tables have a column `ROW` behind the others: the number of each row as they are read.

    Raises
    ------
    LimitError
        When there is no partition key, and the rows do not fit, or a group of partitions does not.
    """
    plain = rows.subschema(columns or _narrowest(rows.schema))
    schema = plain.append(ROW_FIELD) if with_rows else plain
    allowed = memory if memory is not None else free_memory()
    given = rows.read(plain, BATCH)
    read = (convert_batch(batch, schema, rows.where) for batch in (_numbered(given) if with_rows else given))
    batches = iter(progress.watch(read))
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if allowed is not None and NEED * size > allowed:
            break
    else:
        yield pa.Table.from_batches(held, schema)
        return
    if not partition_by:
        raise _too_large(size, allowed, "add PARTITION BY, so that partitions are done one after the other")
    with ExitStack() as files:
        groups = _Groups(schema, partition_by, files)
        while held:
            groups.add(held.pop(0))
        for batch in batches:
            groups.add(batch)
        yield from groups.tables(allowed)


def _numbered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    first = 0
    for batch in batches:
        yield numbered(batch, first)
        first += batch.num_rows


def with_plain_texts(rows: Rows, schema: pa.Schema) -> pa.Schema:
    """Columns of some rows, with strings where only the reading of a file made a dictionary of texts."""
    categories = () if rows.is_text else rows.orders
    return pa.schema(
        [
            field.with_type(field.type.value_type)
            if is_category(field.type) and field.name not in categories
            else field
            for field in schema
        ]
    )


def _narrowest(schema: pa.Schema) -> list[str]:
    """The column whose values take the fewest bits; texts and lists only if there is nothing else."""
    fixed = [field for field in schema if pa.types.is_primitive(field.type)]
    return [field.name for field in sorted(fixed, key=lambda one: one.type.bit_width) or schema][:1]


class _Groups:
    """Partitions in groups by a hash of their key, each in a file without a name."""

    def __init__(self, schema: pa.Schema, partition_by: Sequence[str], files: ExitStack) -> None:
        self._schema = schema
        self._partition_by = partition_by
        with on_disk():
            self._files = [files.enter_context(nameless_file()) for _ in range(GROUPS)]
            self._writers = [pa.ipc.new_stream(file, schema) for file in self._files]
        self._sizes = np.zeros(GROUPS, np.int64)

    def add(self, batch: pa.RecordBatch) -> None:
        group = np.zeros(batch.num_rows, np.uint64)
        for name in self._partition_by:
            group = group * np.uint64(31) + _hashes(batch.column(name))
        group = (group % np.uint64(GROUPS)).astype(np.int64)
        order = np.argsort(group, kind="stable")
        bounds = np.searchsorted(group[order], np.arange(GROUPS + 1))
        sorted_ = batch.take(pa.array(order))
        with on_disk():
            for number in np.flatnonzero(np.diff(bounds)).tolist():
                part = sorted_.slice(bounds[number], bounds[number + 1] - bounds[number])
                self._writers[number].write_batch(part)
                self._sizes[number] += part.nbytes

    def tables(self, allowed: int | None) -> Iterator[pa.Table]:
        """The groups one after the other."""
        for writer, file, size in zip(self._writers, self._files, self._sizes.tolist(), strict=True):
            if allowed is not None and NEED * size > allowed:
                raise _too_large(
                    size, allowed, "add a column to PARTITION BY, since a partition is too large"
                )
            with on_disk():
                writer.close()
                file.seek(0)
                table = pa.ipc.open_stream(file).read_all()
            if table.num_rows:
                yield table


def _hashes(column: pa.Array) -> np.ndarray:
    """A hash of each value, uint64; equal values have the same."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    encoded = column.dictionary_encode(null_encoding="encode")
    hashes = np.array([_hash(value) for value in encoded.dictionary.to_pylist()], np.uint64)
    return hashes[np.asarray(encoded.indices)]


def _hash(value: Any) -> int:
    if isinstance(value, float):
        value += 0.0
    return zlib.crc32(repr(value).encode())


def _too_large(size: int, allowed: int | None, hint: str) -> LimitError:
    return LimitError(
        f"{size:,} bytes of rows do not fit: finding their matches takes about {NEED} times as much, and "
        f"{allowed:,} bytes may be taken. Allow more with `memory`, or {hint}"
    )


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
