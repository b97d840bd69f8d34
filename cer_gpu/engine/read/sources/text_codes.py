"""Columns of texts as codes of a dictionary: names of types are short, and few of them differ."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.keys.cpu import number_short_texts

MANY = 1 << 12
"""From so many texts on it is worth a look whether few of them differ."""

STRETCH = 1 << 18
"""How many texts one thread encodes at a time."""

PLACES = 1 << 10
"""Of the table of the texts that are seen: twice as many as may differ."""


def encoded(array: pa.Array) -> pa.DictionaryArray:
    """Texts as codes of a dictionary; where few differ, by several threads.

    Short texts without nulls are encoded 2 to 3 times as fast as Arrow encodes them.

    Parameters
    ----------
    array : pyarrow.Array
        Of string or large_string, at least `MANY` texts.
    """
    if len(array.slice(0, MANY).unique()) > MANY // 16:
        return array.dictionary_encode()
    if len(array) < 2 * STRETCH:
        return _of_few(array)
    starts = range(0, len(array), STRETCH)
    parts = Workers().map("reading", lambda low: _of_few(array.slice(low, STRETCH)), starts)
    return pa.chunked_array(parts).unify_dictionaries().combine_chunks()


def _of_few(array: pa.Array) -> pa.DictionaryArray:
    """Texts of which few differ as codes."""
    _, bounds, data = array.buffers()
    if array.null_count or data is None or not pa.types.is_string(array.type):
        return array.dictionary_encode()
    ends = np.frombuffer(bounds, np.int32, len(array) + 1, 4 * array.offset)
    words, numbers = np.empty((PLACES, 2), np.uint64), np.full(PLACES, -1, np.int32)
    first, codes = np.empty(PLACES // 2, np.int64), np.empty(len(array), np.int32)
    count = number_short_texts(np.frombuffer(data, np.uint8), ends, words, numbers, first, codes)
    if count < 0:
        return array.dictionary_encode()
    return pa.DictionaryArray.from_arrays(pa.array(codes), array.take(pa.array(first[:count])))
