"""The matches that may be among the first of their key, while others are still read: `CandidateMatches`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.compiling import loader
from cer_gpu.engine.read.keys import Keys, Part
from cer_gpu.engine.read.numbers import TextNumbers, WordNumbers
from cer_gpu.engine.read.sources import columns
from cer_gpu.engine.read.sources.arrow_types import value_type, without_dictionary
from cer_gpu.engine.read.sources.columns import Values
from cer_gpu.engine.words import float_words, text_ranks, unsigned_words
from cer_gpu.kernels.classify.contract import NONE_MISSING
from cer_gpu.kernels.heaps.cpu import first_rows
from cer_gpu.kernels.sorting.order import ascending

ROOM = 1 << 26
"""Bytes that candidates take before those that are no longer among the first of their key are dropped."""

GROWTH = 3
"""They are dropped once they have grown to so many times what was last kept, if that is more."""

NO_GROUPS = np.empty(0, np.int32)
"""The keys of matches where all have one."""

NAN, MISSING = 1, 2
"""What comes behind all values, and what comes behind that."""


def can_be_key(kind: pa.DataType) -> bool:
    """Whether `MatchKeys` takes the values of a type."""
    plain = without_dictionary(kind)
    return value_type(plain) is not None or pa.types.is_null(plain) or _is_binary(plain)


class MatchKeys:
    """Numbers the keys that some columns hold; a null is a value as others are.

    Parameters
    ----------
    names : sequence of str
        At least one.
    schema : pyarrow.Schema
    """

    def __init__(self, names: Sequence[str], schema: pa.Schema) -> None:
        self._names = tuple(names)
        self._parts: list[Keys | TextNumbers] = [
            TextNumbers()
            if _is_binary(without_dictionary(schema.field(name).type))
            else Keys([Part((name,), schema)])
            for name in names
        ]
        self._together = WordNumbers(len(self._parts)) if len(self._parts) > 1 else None

    @property
    def count(self) -> int:
        """A number above those given so far."""
        return self._parts[0].count + 1 if self._together is None else self._together.count

    def encode(self, batch: pa.RecordBatch) -> np.ndarray:
        """The numbers of the keys of all rows, shape (n,), int32."""
        found = [self._encoded(batch, place) for place in range(len(self._parts))]
        if self._together is None:
            return found[0]
        return self._together.encode(np.stack(found).astype(np.int64), NONE_MISSING)

    def _encoded(self, batch: pa.RecordBatch, place: int) -> np.ndarray:
        """The numbers of the values of a column, those of nulls 0."""
        part = self._parts[place]
        if isinstance(part, Keys):
            return part.encode([part.parts[0].words(batch, None)]) + np.int32(1)
        name = self._names[place]
        return part.encode(_plain(batch.column(name)).cast(pa.large_binary())) + np.int32(1)


class OrderWords(NamedTuple):
    """The values by which matches are ordered, so that the first one has the least.

    Attributes
    ----------
    words : ndarray, shape (n,), int64
    late : ndarray, shape (n,) or (0,), uint8
        `NAN` or `MISSING` where there is no other value, 0 elsewhere; empty: there is one everywhere.
    """

    words: np.ndarray
    late: np.ndarray


def order_words(column: pa.Array, descending: bool) -> OrderWords:
    """Values as words that have their order, or the opposite one; only words of one call compare."""
    kind = column.type
    if columns.storage_of(kind) is not None or pa.types.is_boolean(kind):
        values = columns.numbers(column, "")
    else:
        encoded = column.dictionary_encode()
        places, ranks = columns.numbers(encoded.indices, ""), text_ranks(encoded.dictionary)
        values = Values(np.append(ranks, 0)[np.where(places.present, places.data, -1)], places.valid)
    data, late = values.data, np.empty(0, np.uint8)
    if len(values.valid):
        late = np.where(values.valid, np.uint8(0), np.uint8(MISSING))
    if data.dtype.kind == "f":
        nan = np.isnan(data)
        if nan.any():
            late = np.maximum(late, nan * np.uint8(NAN)) if len(late) else nan * np.uint8(NAN)
        words = float_words(data.astype(np.float64, copy=False))
    else:
        words = unsigned_words(data) if data.dtype == np.uint64 else data.astype(np.int64)
    words = ~words if descending else words
    # What has no value has no order either.
    return OrderWords(np.where(late, 0, words) if len(late) else words, late)


class CandidateMatches:
    """The matches read so far of which each may be among the first of its key.

    They are looked through when they take much memory, not as they come: so each match is looked at a few
    times at most, and they never take more than `ROOM` bytes, or a few times what is chosen, and a batch.

    Parameters
    ----------
    number : int
        How many matches of a key are chosen at most.
    descending : bool
        Whether the greatest values come first.
    keys : MatchKeys or None
        None: all matches have one key.
    schema : pyarrow.Schema
        Of what is kept of a match.
    """

    def __init__(self, number: int, descending: bool, keys: MatchKeys | None, schema: pa.Schema) -> None:
        self._number, self._descending, self._keys = number, descending, keys
        self._values: list[pa.Array] = []
        self._groups: list[np.ndarray] = []
        self._matches: list[np.ndarray] = []
        self._rows: list[pa.RecordBatch] = []
        self._schema = schema
        self._read = 0
        self._bytes, self._room = 0, ROOM

    def add(self, value: pa.Array, flat: pa.RecordBatch, rows: pa.RecordBatch) -> None:
        """Read further matches.

        Parameters
        ----------
        value : pyarrow.Array
            What they are ordered by.
        flat : pyarrow.RecordBatch
            The columns of their keys, and others.
        rows : pyarrow.RecordBatch
            What is kept of them.
        """
        self._values.append(_plain(value))
        self._groups.append(NO_GROUPS if self._keys is None else self._keys.encode(flat))
        self._matches.append(np.arange(self._read, self._read + len(rows)))
        self._rows.append(rows)
        self._read += len(rows)
        self._bytes += value.nbytes + rows.nbytes + self._groups[-1].nbytes + self._matches[-1].nbytes
        if self._bytes > self._room:
            self._prune()

    def chosen(self) -> tuple[np.ndarray, pa.Table]:
        """The numbers of the chosen matches among all, and what is kept of them; the first one in front."""
        if not self._rows:
            return np.empty(0, np.int64), self._schema.empty_table()
        loader.words.purpose = "first matches"
        words, late = self._prune()
        order = np.lexsort((words, late)) if len(late) else ascending(words)
        rows = pa.Table.from_batches(self._rows, self._schema).combine_chunks()
        return self._matches[0][order], rows.take(pa.array(order))

    def _prune(self) -> OrderWords:
        """Drop what is not among the first of its key; gives the words of the others, in the order read."""
        value = columns.single(pa.chunked_array(self._values))
        groups, matches = np.concatenate(self._groups), np.concatenate(self._matches)
        words, late = order_words(value, self._descending)
        kept = self._first(groups, words, late)
        if len(kept) < len(matches):
            value = columns.rows_of(value, kept)
            # One batch after another: to look for the batch of each row takes most of the time.
            edges = np.cumsum([0, *map(len, self._rows)])
            bounds = np.searchsorted(kept, edges)
            parts = [
                batch.take(pa.array(kept[low:high] - edge))
                for batch, edge, low, high in zip(self._rows, edges[:-1], bounds, bounds[1:], strict=False)
                if low < high
            ]
            self._rows = pa.Table.from_batches(parts, self._schema).combine_chunks().to_batches()
            matches, words = matches[kept], words[kept]
            groups, late = (each[kept] if len(each) else each for each in (groups, late))
        self._values, self._groups, self._matches = [value], [groups], [matches]
        self._bytes = value.nbytes + groups.nbytes + matches.nbytes + sum(rows.nbytes for rows in self._rows)
        self._room = max(ROOM, GROWTH * self._bytes)
        return OrderWords(words, late)

    def _first(self, groups: np.ndarray, words: np.ndarray, late: np.ndarray) -> np.ndarray:
        """The places of the candidates that are among the first of their key, ascending."""
        if self._keys is None:
            counts = np.array([len(words)])
        else:
            counts = np.bincount(groups, minlength=self._keys.count)
        rooms = np.minimum(counts, min(self._number, len(words)))
        begins = np.concatenate([[0], np.cumsum(rooms)])
        if begins[-1] == len(words):
            return np.arange(len(words))
        heaps, tops = np.empty((2, begins[-1]), np.int64)
        first_rows(groups, words, late, begins, np.zeros(len(counts), np.int64), heaps, tops)
        heaps.sort()
        return heaps


def _plain(column: pa.Array) -> pa.Array:
    """A column whose values are its own, not those of a dictionary."""
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _is_binary(kind: pa.DataType) -> bool:
    """Whether a type is of bytes that are no text."""
    return any(
        test(kind) for test in (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    )
