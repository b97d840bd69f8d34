"""Values as words for the search of row patterns: `WordColumns`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from cer_gpu.engine.rows.wide_numbers import wide_numbers
from cer_gpu.engine.words import text_ranks
from cer_gpu.errors import DataError
from cer_gpu.kernels.row_patterns.contract import SearchColumns
from cer_gpu.lazy_modules import compute as pc


def word_type(kind: pa.DataType) -> pa.DataType:
    """The type in which values of a type are computed with: one for all texts, one for all whole numbers."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_integer(kind):
        return pa.int64()
    if pa.types.is_floating(kind):
        return pa.float64()
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_date64(kind):
        return pa.date32()
    return kind


class WordColumns:
    """Columns of words that the conditions of a search read, and the ranks of all texts in them.

    Attributes
    ----------
    arrays : list of pyarrow.Array
    texts : list of str
        Texts of the conditions that are compared with those of the columns.
    """

    def __init__(self) -> None:
        self.arrays: list[pa.Array] = []
        self.texts: list[str] = []
        self._ranked: pa.Array | None = None
        self._made: dict[int, np.ndarray] = {}
        """Words that were asked for before."""

    def add(self, values: pa.Array) -> int:
        """Take a column; gives its number."""
        self.arrays.append(values)
        return len(self.arrays) - 1

    def columns(self, count: int) -> SearchColumns:
        """All columns, each with so many rows."""
        words = np.zeros((len(self.arrays), count), np.int64)
        absent = np.zeros((len(self.arrays), count), np.uint8)
        for number, array in enumerate(self.arrays):
            if array.null_count:
                absent[number] = np.asarray(array.is_null())
            made = self._made.get(number)
            words[number] = self._words(array) if made is None else made
        return SearchColumns(words, absent)

    def may_overflow(self, number: int) -> bool:
        """Whether sums of a column's words may leave 64 bits."""
        if number not in self._made:
            self._made[number] = self._words(self.arrays[number])
        words = self._made[number]
        largest = max(-int(words.min(initial=0)), int(words.max(initial=0)))
        return largest * len(words) >> 63 > 0

    def ranks(self, texts: Sequence[str]) -> np.ndarray:
        """The words of some of `texts`, int64."""
        found = pc.index_in(pa.array(texts, pa.string()), self._distinct())
        return np.asarray(found).astype(np.int64)

    def _words(self, array: pa.Array) -> np.ndarray:
        kind = array.type
        if pa.types.is_null(kind):
            return np.zeros(len(array), np.int64)
        if pa.types.is_dictionary(kind) or word_type(kind) == pa.string():
            ranks = pc.index_in(_plain_texts(array), self._distinct())
            return np.asarray(ranks.fill_null(0)).astype(np.int64)
        if pa.types.is_decimal(kind):
            return _decimal_words(array)
        if pa.types.is_boolean(kind):
            return np.asarray(array.fill_null(False)).astype(np.int64)
        if pa.types.is_temporal(kind):
            array = array.view(pa.int32() if kind.bit_width == 32 else pa.int64())
            if pa.types.is_date64(kind):
                array = pc.divide(array, 86_400_000)
        filled = np.asarray(array.fill_null(0))
        if filled.dtype == np.uint64 and len(filled) and int(filled.max()) >> 63:
            raise DataError(
                "a value of 64 bits without a sign is too large to be computed with: cast the column to "
                "DECIMAL or DOUBLE in a subquery"
            )
        if filled.dtype.kind == "f":
            return (filled.astype(np.float64) + 0.0).view(np.int64)
        return filled.astype(np.int64)

    def _distinct(self) -> pa.Array:
        """All texts in the order of their code points."""
        if self._ranked is None:
            parts = [pc.unique(_plain_texts(array)) for array in self.arrays if _is_text(array.type)]
            distinct = pc.unique(pa.concat_arrays([*parts, pa.array(self.texts, pa.string())])).drop_null()
            self._ranked = distinct.take(pa.array(np.argsort(text_ranks(distinct))))
        return self._ranked


def _is_text(kind: pa.DataType) -> bool:
    return word_type(kind) == pa.string()


def _plain_texts(array: pa.Array) -> pa.Array:
    return array if array.type == pa.string() else array.cast(pa.string())


def _decimal_words(array: pa.Array) -> np.ndarray:
    """Decimals in units of their last place, int64.

    Raises
    ------
    DataError
        When one does not fit 64 bits.
    """
    numbers = wide_numbers(array)
    if numbers.high is not None:
        raise DataError(
            "a decimal has more than 18 digits, too many for conditions on the match so far: cast the "
            "column to a smaller DECIMAL, or to DOUBLE, in a subquery"
        )
    return numbers.low
