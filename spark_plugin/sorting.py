"""In a worker: the events of a task in the order of (key, time, tie-breakers)."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cer_gpu.engine.read.lanes import LaneEncoder, order_by_lane
from cer_gpu.engine.read.sources import columns
from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.printable_text import brief


@dataclass(frozen=True, slots=True)
class SortedEvents:
    """Events with those of each key together, in order.

    Attributes
    ----------
    batch : RecordBatch
    begins : ndarray, shape (keys,), int64
        Where each key begins.
    same : ndarray, shape (n,), bool
        Whether an event has the key and the time of the one before it.
    """

    batch: pa.RecordBatch
    begins: np.ndarray
    same: np.ndarray


def time_of(batch: pa.RecordBatch, name: str) -> np.ndarray:
    """The time of events, as numbers, in the unit of the column.

    Returns
    -------
    ndarray, shape (n,), any integer or float dtype

    Raises
    ------
    DataError
        When a time is null, NaN or infinite.
    """
    values = columns.numbers(batch.column(name), name)
    missing = ~values.present
    if values.data.dtype.kind == "f":
        missing |= ~np.isfinite(values.data)
    if missing.any():
        raise DataError(
            f"an event has no time: `{name}` is null, NaN or infinite in "
            f"({row_text(batch, int(np.argmax(missing)))}); "
            "remove such rows, or give them a time"
        )
    return values.data


def row_text(batch: pa.RecordBatch, at: int) -> str:
    """The first values of a row, for a message."""
    row = batch.slice(at, 1).to_pylist()[0]
    return ", ".join(f"{key}={brief(value)}" for key, value in list(row.items())[:6])


def in_order(
    batch: pa.RecordBatch, order_by: Sequence[str], ties: Sequence[str], encoder: LaneEncoder | None
) -> SortedEvents:
    """Sort the events of a task, those without a key left out.

    Parameters
    ----------
    batch : RecordBatch
    order_by : sequence of str
        The time, then the columns that break ties.
    ties : sequence of str
        Columns that break the ties that are left.
    encoder : LaneEncoder or None
        Numbers the keys; None: all events have the same key.

    Raises
    ------
    DataError
        When an event has no time.
    """
    time = time_of(batch, order_by[0])
    order = np.argsort(time, kind="stable") if (time[1:] < time[:-1]).any() else np.arange(len(time))
    begins = np.zeros(1, np.int64)
    if encoder is not None:
        lanes = encoder.encode(batch, np.arange(len(batch)))[order]
        if (lanes < 0).any():  # events without a whole key are of no partition
            order, lanes = order[lanes >= 0], lanes[lanes >= 0]
        grouped, starts = order_by_lane(lanes, encoder.count)
        order, begins = order[grouped], starts[:-1]
    moved = time[order]
    same = np.zeros(len(order), bool)
    same[1:] = moved[1:] == moved[:-1]
    same[begins[begins < len(same)]] = False
    if same.any():
        order = _without_ties(batch, order, same, [*order_by[1:], *ties])
    if len(order) == len(batch) and (order[1:] > order[:-1]).all():
        return SortedEvents(batch, begins, same)
    return SortedEvents(batch.take(pa.array(order)), begins, same)


def _without_ties(
    batch: pa.RecordBatch, order: np.ndarray, same: np.ndarray, names: Sequence[str]
) -> np.ndarray:
    """The order with each group of equal times in the order of some columns.

    Parameters
    ----------
    same : ndarray, shape (n,), bool
        Whether an event, in this order, has the key and time of the one before it.
    """
    inside = same.copy()
    inside[:-1] |= same[1:]
    places = np.flatnonzero(inside)
    group = np.cumsum(~same)[places]
    rows = batch.take(pa.array(order[places]))
    table = {"": pa.array(group)}
    for name in names:
        column = columns.single(rows.column(name))
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if not (pa.types.is_nested(column.type) or pa.types.is_null(column.type)):
            table[name] = column
    keys = [(name, "ascending") for name in table]
    sorted_places = pc.sort_indices(pa.table(table), sort_keys=keys).to_numpy()
    out = order.copy()
    out[places] = order[places][sorted_places]
    return out


_warned: set[str] = set()
"""What this process has said once."""


def say_once(text: str) -> None:
    """Write a line to the log of this process, once."""
    if text not in _warned:
        _warned.add(text)
        sys.stderr.write(f"cer_gpu: {text}\n")


def forget_what_was_said() -> None:
    """Let every line be written once more."""
    _warned.clear()
