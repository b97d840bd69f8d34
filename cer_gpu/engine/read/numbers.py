"""Small numbers for the keys that occur, in order of first sight: the tables of `kernels.keys`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import prod

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.sources.columns import numbers as numbers_of
from cer_gpu.engine.read.sources.columns import same_memory, validity
from cer_gpu.engine.read.sources.text_codes import bytes_of, fixed
from cer_gpu.kernels.classify.contract import NONE_MISSING
from cer_gpu.kernels.keys import cpu as kernels
from cer_gpu.kernels.keys.contract import SMALL, UNKNOWN, TextTable, WordTable, room_of
from cer_gpu.kernels.lanes.cpu import gather, ordinals

LEAST = 1 << 8
"""How many places the smallest table has."""

DENSE = 4
"""Keys are near if the box around them has at most this many times what the table has room for."""

FORESEEN = 1 << 10
"""Of a batch with so many rows the range of its keys is looked at before they are numbered."""

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


class CountedNumbers(ABC):
    """Numbers of keys, and how many rows of each key there were so far.

    Attributes
    ----------
    counters : ndarray, int64
        With an entry for each key, and room for more; empty if rows are not counted.
    """

    counters: np.ndarray = UNCOUNTED

    @property
    @abstractmethod
    def count(self) -> int:
        """How many numbers there are so far."""

    @property
    @abstractmethod
    def _room(self) -> int:
        """How many numbers there are room for."""

    def next_ordinal(self, number: int) -> int:
        """How many rows of a key there were so far; counts one more."""
        self._widen_counters()
        ordinal = int(self.counters[number])
        self.counters[number] = ordinal + 1
        return ordinal

    def ordinals(self, numbers: np.ndarray) -> np.ndarray:
        """How many rows of its key came before each row, int64; -1 where it has none. Counts them."""
        self._widen_counters()
        found = np.empty(len(numbers), np.int64)
        ordinals(numbers, self.counters, found)
        return found

    def _widen_counters(self) -> None:
        if len(self.counters) < self._room:
            more = np.zeros(self._room, np.int64)
            more[: len(self.counters)] = self.counters
            self.counters = more

    def _count_as(self, before: CountedNumbers, used: np.ndarray) -> None:
        """Go on counting the rows of some keys, which had the numbers `used` before."""
        if len(before.counters):
            before._widen_counters()
            self.counters = before.counters[used]
            self._widen_counters()


class WordNumbers(CountedNumbers):
    """Numbers keys of one or several 64-bit words.

    Parameters
    ----------
    parts : int
        Words of a key.
    """

    def __init__(self, parts: int) -> None:
        self._parts = parts
        self._shape = () if parts == 1 else (parts,)
        places = np.zeros((LEAST, 2), np.int64)
        words = np.empty((room_of(len(places)), *self._shape), np.int64)
        self._table = WordTable(places, words, np.zeros(2, np.int64), *_no_box(parts))
        self.counters = UNCOUNTED

    @property
    def count(self) -> int:
        """How many numbers there are so far."""
        return int(self._table.held[0])

    @property
    def _room(self) -> int:
        return len(self._table.words)

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
    def nbytes(self) -> int:
        """The bytes that it takes."""
        table = self._table
        return table.places.nbytes + table.words.nbytes + table.near.nbytes + self.counters.nbytes

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

    def counted(self, words: np.ndarray, valid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As `encode`, and how many rows of its key came before each row, shape (n,), int64."""
        places = np.empty(words.shape[-1], np.int64)
        return self._numbered(words, valid, places), places

    def kept(self, words: np.ndarray, used: np.ndarray) -> WordNumbers:
        """Numbers from 0 on for only some keys, all different.

        Parameters
        ----------
        words : ndarray, shape (k,) or (parts, k), int64
        used : ndarray, shape (k,), int64
            The number that each key has had.
        """
        new = WordNumbers(self._parts)
        new.encode(words, NONE_MISSING)
        new._count_as(self, used)
        return new

    def _numbered(self, words: np.ndarray, valid: np.ndarray, ordinals: np.ndarray) -> np.ndarray:
        rows = words.shape[-1]
        numbers = np.empty(rows, np.int32)
        words, valid = fixed(words), fixed(valid)
        row, before = 0, self.count
        ends = None
        if rows >= FORESEEN and not before:
            ends = self._ends_of(words, valid)
            self._grow(rows, ends, 0)
        while True:
            if len(ordinals):
                self._widen_counters()
            row = kernels.number_words(self._table, words, valid, self.counters, row, numbers, ordinals)
            if row == rows:
                return numbers
            if ends is None:
                ends = self._ends_of(words, valid)
            self._grow(rows - row, ends, (self.count - before) / max(row, 1))

    def _ends_of(self, words: np.ndarray, valid: np.ndarray) -> np.ndarray:
        """The least and the greatest word of each part: shape (2, parts), or (2, 0) of no rows."""
        some = words[..., valid.astype(bool)] if len(valid) else words
        some = some.reshape(self._parts, some.shape[-1])
        return np.array([some.min(axis=1), some.max(axis=1)]) if some.shape[1] else np.empty((2, 0))

    def _grow(self, coming: int, ends: np.ndarray, new: float) -> None:
        """Make room for more keys.

        All known keys are in the box, if there is one: the places are then for those that come from outside
        before the next time.

        Parameters
        ----------
        coming : int
            The number of the next rows.
        ends : ndarray
            What `_ends_of` gave for these, or for others with them.
        new : float
            The share of the rows before them that had a new key.
        """
        count = self.count
        coming = coming if coming >= FORESEEN else 0
        # Where most rows bring a new key, room is made for those to come, but in steps.
        room = max(LEAST // 4, (4 if count < SMALL // 4 else 2) * count)
        room = max(room, min(16 * count, count + int(new * coming)))
        box = self._box(ends, max(DENSE * room, count + coming)) if coming else _no_box(self._parts)
        if not len(box[0]):
            box = self._box(np.empty((2, 0)), DENSE * room)
        boxed = len(box[0]) > 0
        outside = max(LEAST // 4, count // 8) if boxed else room
        places = np.zeros((_enough(outside), 2), np.int64)
        room = min(room, len(box[0]) + outside) if boxed else room_of(len(places))
        known = np.empty((room, *self._shape), np.int64)
        known[:count] = self.words
        before, self._table = self._table, WordTable(places, known, np.array([count, 0]), *box)
        if boxed and box[0] is before.near:
            return
        if boxed or len(before.near):
            kernels.place_words(self._table, fixed(np.ascontiguousarray(known[:count].T)))
        else:  # by their old places, which are in the order of the new ones
            kernels.rehash(before.places, places)
            self._table.held[1] = count

    def _box(self, ends: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`near`, `least` and `span` of a table that has its own keys and others; no box if it is too large.

        If the box stays as it is, all known keys are in `near`, which is then the one of the table.

        Parameters
        ----------
        ends : ndarray, shape (2, parts) or (2, 0), int64
            The least and the greatest words of the other keys.
        most : int
            How many keys a box may have.
        """
        own = self._ends_of(self.words.reshape(-1, self._parts).T, NONE_MISSING)
        some = [part for part in (own, ends) if part.shape[1]]
        if not some:
            return _no_box(self._parts)
        least, last = np.min([low for low, _ in some], axis=0), np.max([high for _, high in some], axis=0)
        spans = [int(high) - int(low) + 1 for high, low in zip(last, least, strict=True)]
        size = prod(spans)
        if size > most:
            return _no_box(self._parts)
        span, table = np.array(spans, np.int64), self._table
        if np.array_equal(span, table.span) and np.array_equal(least, table.least):
            return table.near, least, span
        return np.zeros(size, np.int32), least, span


def _no_box(parts: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return NOT_NEAR, np.zeros(parts, np.int64), np.zeros(parts, np.int64)


class TextNumbers(CountedNumbers):
    """Numbers texts."""

    def __init__(self) -> None:
        places = np.zeros((LEAST, 2), np.int64)
        self._table = TextTable(
            places,
            np.zeros(room_of(len(places)) + 1, np.int64),
            np.empty(1 << 12, np.uint8),
            np.zeros(1, np.int64),
        )
        self.counters = UNCOUNTED
        self._dictionary: pa.Array | None = None
        self._of_dictionary = np.empty(0, np.int32)

    @property
    def count(self) -> int:
        """How many numbers there are so far."""
        return int(self._table.held[0])

    @property
    def _room(self) -> int:
        return len(self._table.ends) - 1

    @property
    def nbytes(self) -> int:
        """The bytes that it takes."""
        table, more = self._table, self._of_dictionary.nbytes + self.counters.nbytes
        return table.places.nbytes + table.ends.nbytes + table.data.nbytes + more

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
        data, bounds = bytes_of(texts)
        begins, ends, valid = bounds[:-1], bounds[1:], validity(texts)
        if rows is not None:
            begins, ends, valid = begins[rows], ends[rows], valid[rows] if len(valid) else valid
        begins, ends, valid = fixed(begins), fixed(ends), fixed(valid)
        return self._numbered(data, begins, ends, valid)

    def number(self, text: str) -> int:
        """The number of a single text."""
        data = np.frombuffer(text.encode() or b" ", np.uint8)
        ends = np.array([len(data) if text else 0], np.int32)
        return int(self._numbered(data, _FROM_HERE, fixed(ends), NONE_MISSING)[0])

    def _numbered(
        self, data: np.ndarray, begins: np.ndarray, ends: np.ndarray, valid: np.ndarray
    ) -> np.ndarray:
        numbers = np.empty(len(begins), np.int32)
        row = 0
        while True:
            row = kernels.number_texts(self._table, data, begins, ends, fixed(valid), row, numbers)
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
        # In this order: another thread may number texts meanwhile, and a table never has fewer than before.
        count, table = self.count, self._table
        bounds, data = pa.py_buffer(table.ends[: count + 1]), pa.py_buffer(table.data)
        return pa.LargeStringArray.from_buffers(count, bounds, data).slice(first)

    def kept(self, used: np.ndarray) -> TextNumbers:
        """Numbers from 0 on for only some texts; `used` holds their old numbers, ascending."""
        new = TextNumbers()
        new.encode(self.texts(used))
        new._count_as(self, used)
        return new

    def _coded(self, texts: pa.DictionaryArray, rows: np.ndarray | None) -> np.ndarray:
        """The numbers of the values of a dictionary, each looked up once for all batches that share it."""
        dictionary = texts.dictionary
        if self._dictionary is None or not same_memory(dictionary, self._dictionary):
            # Held on to, so that no other dictionary comes to lie where this one does.
            self._dictionary = dictionary
            self._of_dictionary = np.full(len(dictionary), UNKNOWN, np.int32)
            if len(dictionary) <= max(len(texts), ALL_OF_FEW):
                self._of_dictionary[:] = self.encode(dictionary)
        indices = numbers_of(texts.indices, "")
        codes = fixed(indices.data.astype(np.int32, copy=False))
        rows = np.arange(len(codes)) if rows is None else rows
        numbers = np.empty(len(rows), np.int32)
        given = self._of_dictionary, codes, fixed(indices.valid), rows, numbers
        if kernels.number_codes(*given):  # of a large dictionary only what occurs is numbered
            missing = np.unique(codes[rows[numbers == UNKNOWN]])
            self._of_dictionary[missing] = self.encode(dictionary.take(pa.array(missing)))
            kernels.number_codes(*given)
        return numbers

    def _grow(self, size: int) -> None:
        """Make room for one more text of `size` bytes, and others."""
        table, count = self._table, self.count
        if count + 1 >= len(table.ends):
            places = np.zeros((_more(table.places), 2), np.int64)
            kernels.rehash(table.places, places)
            ends = np.zeros(room_of(len(places)) + 1, np.int64)
            ends[: count + 1] = table.ends[: count + 1]
            table = table._replace(places=places, ends=ends)
        held = int(table.ends[count])
        if held + size > len(table.data):
            data = np.empty(2 * (held + size), np.uint8)
            data[:held] = table.data[:held]
            table = table._replace(data=data)
        self._table = table


def _enough(keys: int) -> int:
    """How many places a table has that takes so many keys."""
    places = LEAST
    while room_of(places) < keys:
        places *= 2
    return places


def _more(places: np.ndarray) -> int:
    """How many places a table has next: one that has `SMALL` then takes four times as many keys, too."""
    return (4 if len(places) < SMALL else 2) * len(places)
