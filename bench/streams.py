"""Seeded streams of events: ten types, a price, a key and a time.

A stream is made in batches of `BATCH` events, and every column of a batch has its own generator. So a stream
is the same whether it is made at once or batch by batch, and whichever columns are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

TYPES = "ABCDEFGHIJ"
PRICES = 100.0
KEYS = 1000
BATCH = 1 << 20
SEED = 20130101
COLUMNS = ("type", "price", "key", "ts", "time")


def column(name: str, first: int, count: int, seed: int = SEED) -> np.ndarray:
    """A column of the events `first` .. `first + count - 1`, where `first` is the start of a batch.

    Parameters
    ----------
    name : {"type", "price", "key", "ts", "time"}
    first, count : int
    seed : int

    Returns
    -------
    ndarray, shape (count,)
        `type`: int32 codes in `TYPES`, uniform; `price`: float64, uniform in 0 .. `PRICES`; `key`: int64,
        uniform in 0 .. `KEYS` - 1; `ts`: int64, the event's number; `time`: datetime64[ms], one event each
        millisecond of 2013.
    """
    if first % BATCH:
        raise ValueError(f"event {first} is not the start of a batch of {BATCH}")
    if name == "ts":
        return np.arange(first, first + count)
    if name == "time":
        return np.datetime64("2013-01-01T00:00:00", "ms") + np.arange(first, first + count)
    dtype = np.dtype({"type": np.int32, "price": np.float64, "key": np.int64}[name])
    values = np.empty(count, dtype)
    for low in range(0, count, BATCH):
        part = values[low : low + BATCH]
        rng = np.random.default_rng((seed, COLUMNS.index(name), (first + low) // BATCH))
        if name == "price":
            part[:] = rng.random(len(part)) * PRICES
        else:
            part[:] = rng.integers(0, len(TYPES) if name == "type" else KEYS, len(part), dtype)
    return values


def to_arrow(name: str, values: np.ndarray) -> pa.Array:
    """A column as Arrow, without a copy; `type` as dictionary<int32, string>."""
    if name == "type":
        return pa.DictionaryArray.from_arrays(pa.array(values), pa.array(list(TYPES)))
    return pa.array(values)


def make_table(count: int, columns: Sequence[str] = COLUMNS, seed: int = SEED) -> pa.Table:
    """The first `count` events of a stream, in memory."""
    return pa.table({name: to_arrow(name, column(name, 0, count, seed)) for name in columns})


def codes_of(table: pa.Table) -> np.ndarray:
    """The type column of a stream as its int32 codes, without a copy."""
    return table.column("type").chunk(0).indices.to_numpy()


def values_of(table: pa.Table, name: str) -> np.ndarray:
    """A number column of a stream, without a copy."""
    return table.column(name).chunk(0).to_numpy()


def batches(count: int, columns: Sequence[str], seed: int = SEED) -> Iterator[dict[str, np.ndarray]]:
    """The first `count` events of a stream, batch by batch."""
    for first in range(0, count, BATCH):
        size = min(BATCH, count - first)
        yield {name: column(name, first, size, seed) for name in columns}


def write_parquet(path: Path, parts: Iterator[dict[str, np.ndarray]]) -> Iterator[dict[str, np.ndarray]]:
    """Write batches to a Parquet file, one row group each, and yield them again."""
    writer: pq.ParquetWriter | None = None
    try:
        for part in parts:
            table = pa.table({name: to_arrow(name, values) for name, values in part.items()})
            if writer is None:
                writer = pq.ParquetWriter(path, table.schema, compression="zstd")
            writer.write_table(table, row_group_size=len(table))
            yield part
    finally:
        if writer is not None:
            writer.close()
