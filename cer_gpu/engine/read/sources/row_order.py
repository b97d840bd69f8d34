"""The order of rows by their keys: parts are sorted, and threads merge them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from cer_gpu.engine.words import float_words, text_ranks
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.sorting.contract import SortedRuns
from cer_gpu.kernels.sorting.cpu import merge
from cer_gpu.late import compute as pc

PART = 1 << 20
"""Rows that one thread sorts at a time: some tenths of a second, after which Ctrl-C takes effect."""

PHASE = "sorting"


def stable_order(keys: Sequence[pa.ChunkedArray]) -> np.ndarray:
    """The numbers of rows in ascending order of their keys, equal keys in the order of their rows.

    Parameters
    ----------
    keys : sequence of ChunkedArray
        The first decides, then the next: int64, float64 without NaN, or strings; without nulls.

    Returns
    -------
    ndarray, shape (rows,), int64
    """
    if len(keys[0]) <= PART:
        return _sorted(keys)
    workers = Workers()
    columns = np.stack([_numbers(column, workers) for column in keys])
    count = columns.shape[1]
    runs, spare = (SortedRuns(np.empty(count, np.int64), np.empty(count, np.int64)) for _ in range(2))

    def sort(low: int) -> None:
        part = columns[:, low : low + PART]
        found = _sorted([pa.array(column) for column in part])
        runs.order[low : low + PART] = low + found
        runs.first[low : low + PART] = part[0][found]

    def join(low: int) -> None:
        merge(columns, runs, spare, low, low + width, min(low + 2 * width, count))

    workers.map(PHASE, sort, range(0, count, PART), count)
    width = PART
    while width < count:
        workers.map(PHASE, join, range(0, count - width, 2 * width), count)
        width *= 2
    return runs.order


def _sorted(keys: Sequence[pa.Array | pa.ChunkedArray]) -> np.ndarray:
    """The order of some rows by their keys, found by one thread."""
    if len(keys) == 1 and not pa.types.is_string(keys[0].type) and not pa.types.is_large_string(keys[0].type):
        return np.argsort(keys[0].to_numpy(), kind="stable")
    names = [str(number) for number in range(len(keys))]
    sort_keys = [(name, "ascending") for name in names]
    return pc.sort_indices(pa.table(list(keys), names=names), sort_keys=sort_keys).to_numpy()


def _numbers(column: pa.ChunkedArray, workers: Workers) -> np.ndarray:
    """Whole numbers in the same order as the values of a column, shape (rows,), int64."""
    if pa.types.is_integer(column.type):
        return column.to_numpy()
    if pa.types.is_floating(column.type):
        return float_words(column.to_numpy())
    parts = workers.map(PHASE, lambda chunk: chunk.dictionary_encode(), column.chunks, len(column))
    encoded = pa.chunked_array(parts, parts[0].type if parts else None).unify_dictionaries()
    if not encoded.num_chunks:
        return np.empty(0, np.int64)
    rank = text_ranks(encoded.chunk(0).dictionary)
    return np.concatenate([rank[chunk.indices.to_numpy()] for chunk in encoded.chunks])
