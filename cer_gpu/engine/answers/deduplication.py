"""Answers that differ only by start, end and measures: `SELECT NONE, expression AS name`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.sources.columns import single
from cer_gpu.lazy_modules import compute as pc


class AnswerDeduplication(NamedTuple):
    """Drops answers whose start, end and measures repeat those of an earlier answer.

    Attributes
    ----------
    measures : int
        How many measures there are; the columns are the start, the end, ..., the measures.
    limit : int or None
        The most answers of one end.
    """

    measures: int
    limit: int | None

    def distinct(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of record batches without repetitions; sorted by (end, start), as the batches are.

        The measures are the last columns: no variable is shown.
        """
        before: pa.Table | None = None  # the rows of the last start and end, for those that follow
        given = 0  # how many rows of the last end there were
        for batch in batches:
            if not len(batch):
                continue
            names = [*batch.schema.names[:2], *batch.schema.names[-self.measures :]]
            new = pa.Table.from_batches([batch.select(names)])
            if self.limit is None and _apart(new, before):
                yield batch
                before = new.slice(len(new) - 1)
                continue
            joined = new if before is None else pa.concat_tables([before, new]).combine_chunks()
            old = len(joined) - len(new)
            numbered = joined.append_column(_ROW, pa.array(np.arange(len(joined))))
            first = numbered.group_by(names, use_threads=False).aggregate([(_ROW, "min")])
            rows = np.sort(first[f"{_ROW}_min"].to_numpy())
            if self.limit is not None:
                last_end = None if before is None else before.column(1)[-1]
                rows, given = _limited(joined.column(1), rows, old, last_end, given, self.limit)
            yield batch.take(pa.array(rows[rows >= old] - old))
            start, end = (joined.column(place)[len(joined) - 1] for place in range(2))
            same = pc.and_(pc.equal(joined.column(0), start), pc.equal(joined.column(1), end))
            before = joined.filter(same)


def _apart(new: pa.Table, before: pa.Table | None) -> bool:
    """Whether no two neighbouring rows have one start and end, the row before the first one among them."""
    columns = [single(new.column(place)) for place in (1, 0)]  # ends differ more often than starts
    if before is not None:
        last = [before.column(place)[len(before) - 1] for place in (1, 0)]
        if all(pc.equal(column[0], one).as_py() for column, one in zip(columns, last, strict=True)):
            return False
    same = pa.scalar(True)
    for column in columns:
        same = pc.and_(same, pc.equal(column.slice(0, len(column) - 1), column.slice(1)))
        if not pc.any(same, skip_nulls=False, min_count=0).as_py():
            return True
    return False


_ROW = "\0row"


def _limited(
    ends: pa.ChunkedArray, rows: np.ndarray, old: int, last_end: pa.Scalar | None, given: int, limit: int
) -> tuple[np.ndarray, int]:
    """The rows among the first `limit` of their end, and how many of the last end there are so far."""
    own = ends.take(pa.array(rows))
    edges = pc.fill_null(pc.not_equal(own.slice(1), own.slice(0, len(own) - 1)), True)
    begins = np.append(0, np.flatnonzero(edges.to_numpy()) + 1)
    rank = np.arange(len(rows)) - np.repeat(begins, np.diff(np.append(begins, len(rows))))
    if last_end is not None and own[0] == last_end:
        # Of the rows before, those of the last start stand here too.
        there = int((rows < old).sum())
        first = begins[1] if len(begins) > 1 else len(rows)
        rank[:first] += given - there
    last = int(rank[-1]) + 1
    return rows[(rank < limit) | (rows < old)], last
