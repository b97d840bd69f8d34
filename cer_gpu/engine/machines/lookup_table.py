"""The look-up table of a stream: the newest node under each key, of every lane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cer_gpu.engine.machines.open_runs import Renumbering
from cer_gpu.engine.machines.open_state import Column
from cer_gpu.kernels.joins.cpu_stream import FIELDS, PLACE, kept_records

ROOM = 1 << 10
"""Room for records at first."""

RECORDS = Column("record", width=(FIELDS,), fill=-1)
"""The records of a machine's state: 2 ** k rows."""


class NodeRecords(NamedTuple):
    """`table` int64 [records, FIELDS]: as in `cer_gpu.kernels.joins.cpu_stream.OpenTable`."""

    table: np.ndarray


def moved_records(
    table: np.ndarray,
    columns: Sequence[Sequence[int]],
    node_of: np.ndarray,
    dropped: Renumbering | None,
    rows: int,
) -> tuple[np.ndarray, int]:
    """A table with the records that are left, and how many these are.

    Parameters
    ----------
    table : ndarray, shape (records, FIELDS), int64
    columns : sequence of sequence of int
        For each entry the columns of slots from which its slots come.
    node_of : ndarray, shape (nodes,), int64
        The new number of each node; -1 for one that is dropped.
    dropped : Dropped or None
        None: lanes and slots keep their numbers.
    rows : int
        How many rows the table has at least.
    """
    entries = len(columns)
    if dropped is None:
        lane_of = np.arange(int(table[:, PLACE].max(initial=0)) // max(entries, 1) + 1)
        first, slot_of = np.full(entries, -1, np.int64), np.empty(0, np.int64)
    else:
        lane_of, (first, slot_of) = dropped.lane_of, _slots(columns, *dropped.slots)
    moved = RECORDS.rows(1 << max(rows - 1, 1).bit_length())
    return moved, int(kept_records(table, entries, node_of, lane_of, first, slot_of, moved))


def _slots(
    columns: Sequence[Sequence[int]], old: np.ndarray, new: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each entry where the new numbers of its slots begin, -1 where they stay; and these."""
    first = np.full(len(columns), -1, np.int64)
    numbers, begin, count = [np.empty(0, np.int64)], dict[tuple[int, ...], int](), 0
    if old is not new:
        for entry, own in enumerate(map(tuple, columns)):
            if own not in begin and own:
                before, after = old[list(own)].ravel(), new[list(own)].ravel()
                there = before >= 0
                moved = np.full(int(before.max(initial=-1)) + 1, -1, np.int64)
                moved[before[there]] = after[there]
                numbers.append(moved)
                begin[own], count = count, count + len(moved)
            first[entry] = begin.get(own, -1)
    return first, np.concatenate(numbers)
