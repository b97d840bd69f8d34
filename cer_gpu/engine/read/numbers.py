"""Small numbers for the keys that occur, in order of first sight: the tables of `kernels.keys`."""

from __future__ import annotations

from math import prod

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.sources.columns import numbers as numbers_of
from cer_gpu.engine.read.sources.columns import validity
from cer_gpu.kernels.classify.contract import NONE_MISSING
from cer_gpu.kernels.keys import cpu as kernels
from cer_gpu.kernels.keys.contract import TextTable, WordTable
from cer_gpu.kernels.lanes.cpu import gather

LEAST = 1 << 8
"""How many places the smallest table has."""

SMALL = 1 << 16
"""Up to this many places a table is filled to a quarter: it stays in the cache, where a longer search costs
more than memory. Larger tables are filled to a half."""

DENSE = 4
"""Keys are near if the box around them has at most this many times what the table has room for."""

NOT_NEAR = np.empty(0, np.int32)

UNCOUNTED = np.empty(0, np.int64)
"""The counters and the ordinals of keys whose rows are not counted."""

ALL_OF_FEW = 1 << 10
"""A dictionary of up to this many texts is numbered as a whole."""

FEW = 1 << 5
"""Up to so many texts are given one by one."""

_FROM_HERE = np.zeros(1, np.int32)
"""Where a single text begins."""

_FROM_HERE.flags.writeable = False

_UNKNOWN = -2
"""The number of a text that has not been looked up."""


class WordNumbers:
    """Numbers keys of one or several 64-bit words.

    Parameters
    ----------
    parts : int
        Words of a key.
    """

    def __init__(self, parts: int) -> None:
        self._shape = () if parts == 1 else (parts,)
        places = np.zeros((LEAST, 2), np.int64)
        words = np.empty((_room(places), *self._shape), np.int64)
        self._table = WordTable(places, words, np.zeros(1, np.int64), *_no_box(parts))
        self._counters = UNCOUNTED

    @property
    def count(self) -> int:
        """How many numbers there are so far."""
        return int(self._table.held[0])

    @property
    def words(self) -> np.ndarray:
        """The key of each number, shape (count,) or (count, parts), int64."""
        return self._table.words[: self.count]

    def words_of(self, numbers: np.ndarray) -> np.ndarray:
        """The keys of some numbers, int64, shape (n,) or (n, parts)."""
        if self._shape:
            return self.words[numbers]
        found = np.empty(len(numbers), np.int64)
        gather(self.words, numbers, found)
        return found

    @property
    def counters(self) -> np.ndarray:
        """How many rows of each key there were so far, int64; empty if they are not counted."""
        return self._counters

    @property
    def nbytes(self) -> int:
        """The bytes that it takes."""
        table = self._table
        return table.places.nbytes + table.words.nbytes + table.near.nbytes + self._counters.nbytes

    def encode(self, words: np.ndarray, valid: np.ndarray) -> np.ndarray:
        """The numbers of some keys, -1 where `valid` is 0.

        Parameters
        ----------
        words : ndarray, shape (n,) or (parts, n), int64
        valid : ndarray, shape (n,) or (0,), uint8

        Returns
        -------
        ndarray, shape (n,), int32
        """
        return self._numbered(words, valid, UNCOUNTED)

    def next_ordinal(self, number: int) -> int:
        """How many rows of a key there were so far; counts one more."""
        self._widen_counters()
        ordinal = int(self._counters[number])
        self._counters[number] = ordinal + 1
        return ordinal

    def counted(self, words: np.ndarray, valid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As `encode`, and how many rows of its key came before each row, shape (n,), int64."""
        ordinals = np.empty(words.shape[-1], np.int64)
        self._widen_counters()
        return self._numbered(words, valid, ordinals), ordinals

    def kept(self, words: np.ndarray, used: np.ndarray) -> WordNumbers:
        """Numbers from 0 on for only some keys, all different.

        Parameters
        ----------
        words : ndarray, shape (k,) or (parts, k), int64
        used : ndarray, shape (k,), int64
            The number that each key has had.
        """
        new = WordNumbers(1 if not self._shape else self._shape[0])
        new.encode(words, NONE_MISSING)
        if len(self._counters):
            new._counters = self._counters[used]
            new._widen_counters()
        return new

    def _numbered(self, words: np.ndarray, valid: np.ndarray, ordinals: np.ndarray) -> np.ndarray:
        numbers = np.empty(words.shape[-1], np.int32)
        words = _fixed(words)
        row = 0
        while True:
            row = kernels.number_words(
                self._table, words, _fixed(valid), self._counters, row, numbers, ordinals
            )
            if row == words.shape[-1]:
                return numbers
            self._grow()
            if len(ordinals):
                self._widen_counters()

    def _grow(self) -> None:
        table = self._table
        places = np.zeros((_more(table.places), 2), np.int64)
        kernels.rehash(table.places, places)
        words = np.empty((_room(places), *self._shape), np.int64)
        words[: self.count] = self.words
        self._table = WordTable(places, words, table.held, *self._near(len(words)))

    def _near(self, room: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`near`, `least` and `span` of a table with room for `room` keys; no box if they lie far apart."""
        words = self.words.reshape(self.count, -1)
        least = words.min(axis=0)
        spans = [int(most) - int(low) + 1 for most, low in zip(words.max(axis=0), least, strict=True)]
        size = prod(spans)
        if size > DENSE * room:
            return _no_box(len(spans))
        place = np.zeros(len(words), np.int64)
        for part, span in enumerate(spans):
            place *= span
            place += words[:, part] - least[part]
        near = np.zeros(size, np.int32)
        near[place] = np.arange(1, len(words) + 1, dtype=np.int32)
        return near, least, np.array(spans, np.int64)

    def _widen_counters(self) -> None:
        if len(self._counters) < len(self._table.words):
            more = np.zeros(len(self._table.words), np.int64)
            more[: len(self._counters)] = self._counters
            self._counters = more


def _no_box(parts: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return NOT_NEAR, np.zeros(parts, np.int64), np.zeros(parts, np.int64)


class TextNumbers:
    """Numbers texts."""

    def __init__(self) -> None:
        places = np.zeros((LEAST, 2), np.int64)
        self._table = TextTable(
            places, np.zeros(_room(places) + 1, np.int64), np.empty(1 << 12, np.uint8), np.zeros(1, np.int64)
        )
        self._dictionary: pa.Array | None = None
        self._of_dictionary = np.empty(0, np.int32)

    @property
    def count(self) -> int:
        """How many numbers there are so far."""
        return int(self._table.held[0])

    @property
    def nbytes(self) -> int:
        """The bytes that it takes."""
        table = self._table
        return table.places.nbytes + table.ends.nbytes + table.data.nbytes + self._of_dictionary.nbytes

    def encode(self, texts: pa.Array, rows: np.ndarray | None = None) -> np.ndarray:
        """The numbers of some texts, -1 for a null.

        Parameters
        ----------
        texts : pyarrow.Array
            Of strings, or of a dictionary of them; or large_binary.
        rows : ndarray, shape (n,), int64, or None
            The rows to number; None: all.

        Returns
        -------
        ndarray, shape (n,), int32
        """
        if pa.types.is_dictionary(texts.type):
            return self._coded(texts, rows)
        data, bounds = _bytes_of(texts)
        begins, ends, valid = bounds[:-1], bounds[1:], validity(texts)
        if rows is not None:
            begins, ends, valid = begins[rows], ends[rows], valid[rows] if len(valid) else valid
        begins, ends, valid = _fixed(begins), _fixed(ends), _fixed(valid)
        return self._numbered(data, begins, ends, valid)

    def number(self, text: str) -> int:
        """The number of a single text."""
        data = np.frombuffer(text.encode() or b" ", np.uint8)
        ends = np.array([len(data) if text else 0], np.int32)
        return int(self._numbered(data, _FROM_HERE, _fixed(ends), NONE_MISSING)[0])

    def _numbered(
        self, data: np.ndarray, begins: np.ndarray, ends: np.ndarray, valid: np.ndarray
    ) -> np.ndarray:
        numbers = np.empty(len(begins), np.int32)
        row = 0
        while True:
            row = kernels.number_texts(self._table, data, begins, ends, _fixed(valid), row, numbers)
            if row == len(begins):
                return numbers
            self._grow(int(ends[row]) - int(begins[row]))

    def texts(self, numbers: np.ndarray) -> pa.Array:
        """The texts of some numbers, as large_string."""
        return self.texts_from(0).take(pa.array(numbers))

    def bytes_of(self, numbers: np.ndarray) -> list[bytes]:
        """The texts of some numbers as bytes, whose order is that of code points."""
        if len(numbers) > FEW:
            found: list[bytes] = self.texts(numbers).cast(pa.large_binary()).to_pylist()
            return found
        ends, data = self._table.ends, self._table.data
        return [data[ends[number] : ends[number + 1]].tobytes() for number in numbers.tolist()]

    def texts_from(self, first: int) -> pa.Array:
        """The texts from some number on, as large_string."""
        table, count = self._table, self.count
        bounds, data = pa.py_buffer(table.ends[: count + 1]), pa.py_buffer(table.data)
        return pa.LargeStringArray.from_buffers(count, bounds, data).slice(first)

    def kept(self, used: np.ndarray) -> TextNumbers:
        """Numbers from 0 on for only some texts; `used` holds their old numbers, ascending."""
        new = TextNumbers()
        new.encode(self.texts(used))
        return new

    def _coded(self, texts: pa.DictionaryArray, rows: np.ndarray | None) -> np.ndarray:
        """The numbers of the values of a dictionary, each looked up once for all batches that share it."""
        dictionary = texts.dictionary
        if self._dictionary is None or not same_memory(dictionary, self._dictionary):
            # Held on to, so that no other dictionary comes to lie where this one does.
            self._dictionary = dictionary
            self._of_dictionary = np.full(len(dictionary) + 1, _UNKNOWN, np.int32)
            self._of_dictionary[-1] = -1
            if len(dictionary) <= max(len(texts), ALL_OF_FEW):
                self._of_dictionary[:-1] = self.encode(dictionary)
        indices = numbers_of(texts.indices, "")
        codes, valid = indices.data, indices.valid
        if rows is not None:
            codes, valid = codes[rows], valid[rows] if len(valid) else valid
        if len(valid):
            codes = np.where(valid, codes, len(dictionary))
        numbers = self._of_dictionary[codes]
        unknown = numbers == _UNKNOWN
        if unknown.any():  # of a large dictionary only what occurs is numbered
            missing = np.unique(codes[unknown])
            self._of_dictionary[missing] = self.encode(dictionary.take(pa.array(missing)))
            numbers = self._of_dictionary[codes]
        return numbers

    def _grow(self, size: int) -> None:
        """Make room for one more text of `size` bytes, and others."""
        table, count = self._table, self.count
        if count + 1 >= len(table.ends):
            places = np.zeros((_more(table.places), 2), np.int64)
            kernels.rehash(table.places, places)
            ends = np.zeros(_room(places) + 1, np.int64)
            ends[: count + 1] = table.ends[: count + 1]
            table = table._replace(places=places, ends=ends)
        held = int(table.ends[count])
        if held + size > len(table.data):
            data = np.empty(2 * (held + size), np.uint8)
            data[:held] = table.data[:held]
            table = table._replace(data=data)
        self._table = table


def _more(places: np.ndarray) -> int:
    """How many places a table has next: one that has `SMALL` then takes four times as many keys, too."""
    return (4 if len(places) < SMALL else 2) * len(places)


def _room(places: np.ndarray) -> int:
    """How many keys a table with these places takes."""
    return len(places) // (4 if len(places) <= SMALL else 2)


def _fixed(values: np.ndarray) -> np.ndarray:
    """The same array, made read-only: kernels would be compiled again for arrays that may be written."""
    if not values.flags.writeable:
        return values
    view = values.view()
    view.flags.writeable = False
    return view


def _bytes_of(texts: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """The bytes of an array of strings, and where each ends, after where the first begins."""
    wide = pa.types.is_large_string(texts.type) or pa.types.is_large_binary(texts.type)
    dtype = np.dtype(np.int64 if wide else np.int32)
    _, offsets, data = texts.buffers()
    if offsets is None or not offsets.size:
        return _fixed(np.empty(0, np.uint8)), _fixed(np.zeros(1, dtype))
    ends = np.frombuffer(offsets, dtype, len(texts) + 1, texts.offset * dtype.itemsize)
    held = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return _fixed(held), _fixed(ends)


def same_memory(left: pa.Array, right: pa.Array) -> bool:
    """Whether two arrays lie in the same memory."""
    return (
        len(left) == len(right)
        and left.offset == right.offset
        and left.type == right.type
        and _addresses(left) == _addresses(right)
    )


def _addresses(array: pa.Array) -> list[int]:
    return [0 if buffer is None else buffer.address for buffer in array.buffers()]
