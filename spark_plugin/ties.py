"""Rows whose times tie: a shuffle loses their order, which may decide what a query answers.

The tasks sort their rows and count those that tie; `tie_reports` takes the counts to the driver.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from cer_gpu.spark.task import TIE_RULES, Task

from cer_gpu.engine.read.sources import columns
from cer_gpu.errors import DataError
from cer_gpu.printable_text import brief


def checked_ties(ties: Any) -> str:
    """The value of the keyword `ties`.

    Raises
    ------
    ValueError
        When it is none of the three.
    """
    if not isinstance(ties, str) or ties not in TIE_RULES:
        raise ValueError(f"ties must be one of {', '.join(map(repr, TIE_RULES))}, not {brief(ties)}")
    return ties


def refuse_ties(keywords: Mapping[str, Any]) -> None:
    """Refuse the keyword `ties` where rows keep their order.

    Raises
    ------
    TypeError
        When it is given.
    """
    if "ties" in keywords:
        raise TypeError(
            "there is no keyword 'ties' for files: leave it out, tied rows keep the order of the files"
        )


class TiedRows(NamedTuple):
    """Rows of a task whose order is not known.

    Attributes
    ----------
    query : str
        What tells the query from others.
    keys : tuple of str
        The columns of PARTITION BY.
    order_by : tuple of str
        The columns of the order.
    rows : int
        How many rows have the same values there as another row that is not alike.
    """

    query: str
    keys: tuple[str, ...]
    order_by: tuple[str, ...]
    rows: int

    @classmethod
    def of(cls, task: Task, rows: int) -> TiedRows:
        """The tied rows of a task."""
        options = task.query.options
        parts = task.query.query.reading.partition if task.keyed else ()
        keys = tuple(name for part in parts for name in part)
        return cls(sha256(task.dumped()).hexdigest(), keys, options.order_by, rows)

    @property
    def warning(self) -> str:
        """The text of the warning."""
        many = f"at least {self.rows:,} rows have" if self.rows else "some rows may have"
        return (
            f"{many} the same {self._same} as another row, and the result depends on their order, which "
            f"Spark does not keep: {self._remedy}"
            + ("" if self.rows else "; ties='error' stops the query if there are such rows")
        )

    def error(self, row: str) -> DataError:
        """The error about them; `row` shows one of them."""
        many = "1 row has" if self.rows == 1 else f"{self.rows:,} rows of a task have"
        return DataError(
            f"{many} the same {self._same} as another row ({row}), and the result depends on their order, "
            f"which Spark does not keep: {self._remedy}"
        )

    @property
    def _same(self) -> str:
        *names, last = (f"`{name}`" for name in dict.fromkeys([*self.keys, *self.order_by]))
        return f"{', '.join(names)} and {last}" if names else last

    @property
    def _remedy(self) -> str:
        named = ", ".join(repr(name) for name in self.order_by)
        return (
            f"name a column that orders them, order_by=[{named}, tie], or pass ties='any' to take any order"
        )


def tied_in(
    batch: pa.RecordBatch, same: np.ndarray, order_by: tuple[str, ...], others: tuple[str, ...]
) -> np.ndarray:
    """The rows of a sorted batch whose order no column of `order_by` tells.

    Rows that are alike in all columns do not count: the answer is the same in any order of them.

    Parameters
    ----------
    batch : RecordBatch
        Sorted by key, `order_by` and `others`.
    same : ndarray, shape (n,), bool
        Whether a row has the key and the time of the row before it; False for the first one.
    order_by : tuple of str
        The columns of the order; the first is the time.
    others : tuple of str
        The other columns that are read.

    Returns
    -------
    ndarray, shape (tied,), int64
    """
    at = np.flatnonzero(same)
    for name in order_by[1:]:
        at = at[~_differ(batch.column(name), at)]
    if not len(at):
        return at
    unlike = np.zeros(len(at), bool)
    for name in others:
        unlike |= _differ(batch.column(name), at)
    # A group of ties begins at the row before the first of them.
    group = np.cumsum(np.diff(at, prepend=-2) != 1) - 1
    counted = np.zeros(group[-1] + 1, bool)
    counted[group[unlike]] = True
    rows = at[counted[group]]
    return np.union1d(rows, rows - 1)


def _differ(column: pa.Array, at: np.ndarray) -> np.ndarray:
    """Whether rows differ from the row before them in a column; nested values count as alike."""
    if pa.types.is_nested(column.type) or pa.types.is_null(column.type):
        return np.zeros(len(at), bool)
    own, before = (columns.single(column.take(pa.array(rows))) for rows in (at, at - 1))
    if pa.types.is_dictionary(column.type):
        own, before = own.dictionary_decode(), before.dictionary_decode()
    unequal = pc.not_equal(own, before)
    if pa.types.is_floating(own.type):
        unequal = pc.and_(unequal, pc.invert(pc.and_(pc.is_nan(own), pc.is_nan(before))))
    null = pc.xor(pc.is_null(own), pc.is_null(before))
    return pc.or_(null, unequal.fill_null(False)).to_numpy(zero_copy_only=False)
