"""Keys: the values of PARTITION BY, and those that a join compares, numbered in order of first sight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from struct import Struct
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.numbers import TextNumbers, WordNumbers
from cer_gpu.engine.read.sources import columns
from cer_gpu.engine.read.sources.arrow_types import whole_type, without_dictionary
from cer_gpu.engine.read.sources.columns import NONE_BEYOND, Values, is_text, numbers_at, single
from cer_gpu.engine.read.sources.decimals import (
    FITTING,
    DoubleWords,
    WideWords,
    common_decimal,
    from_integers,
    from_scaled,
    unscaled,
)
from cer_gpu.errors import DataError
from cer_gpu.kernels.classify.contract import NONE_MISSING
from cer_gpu.lazy_modules import compute as pc

NAN = int(np.array(np.nan).view(np.int64))
"""The word of a NaN: all NaN are one key."""

BLOCK = 1 << 16
"""Rows whose parts are put side by side at a time: fresh memory would cost more than the numbering."""

_DOUBLE, _BITS = Struct("=d"), Struct("=q")
"""A float, and the integer with the same bits."""


class Part:
    """One part of a key.

    Its values are read as words: two values are equal iff their words are. A whole number or a time is its
    own word, a float is its bits, a text its number; the word of a null is -1 for texts, else arbitrary.
    Words are int64, those of texts int32. For decimals see
    `cer_gpu.engine.read.sources.decimals.WideWords`.

    Parameters
    ----------
    names : tuple of str
        The columns that may have the part.
    schema : pyarrow.Schema
        Of the data.

    Attributes
    ----------
    kind : pyarrow.DataType
        The type of the values.
    texts : TextNumbers or None
        The numbers of texts, for a part that is text.
    wide : WideWords or None
        For a part that is decimals which 64 bits may not hold.
    doubles : DoubleWords or None
        For a part of which some columns are whole numbers or decimals, and others floats.
    double : tuple of (str, str), or None
        Two of the columns in which one event was seen to have different values, of which the first counts.

    Raises
    ------
    DataError
        If the columns have different types.
    """

    def __init__(self, names: tuple[str, ...], schema: pa.Schema) -> None:
        self.names = names
        kinds = [without_dictionary(schema.field(name).type) for name in names]
        self.kind = _key_type(kinds, names)
        self.texts = TextNumbers() if is_text(self.kind) else None
        far = pa.types.is_decimal(self.kind) and self.kind.precision > FITTING
        wide = far or pa.types.is_uint64(self.kind)
        self.wide = WideWords() if wide else None
        exact = any(pa.types.is_integer(kind) or pa.types.is_decimal(kind) for kind in kinds)
        mixed = pa.types.is_floating(self.kind) and exact
        self.doubles = DoubleWords() if mixed else None
        self.double: tuple[str, str] | None = None

    def words(self, batch: pa.RecordBatch, rows: np.ndarray | None) -> Values:
        """The words of some rows, of all for None: of the first alternative that is not null.

        Raises
        ------
        DataError
            If a time does not fit the finest unit of the alternatives.
        """
        first, *others = self.names
        if others and self.double is None:
            self.double = _both_filled(batch, self.names)
        found = self._fitting(batch, rows, first)
        for name in others:
            if not len(found.valid):
                break
            other, present = self._fitting(batch, rows, name), found.valid.astype(bool)
            valid = found.valid | (other.valid if len(other.valid) else np.uint8(1))
            found = Values(np.where(present, found.data, other.data), valid)
        return found

    def _fitting(self, batch: pa.RecordBatch, rows: np.ndarray | None, name: str) -> Values:
        found = self.words_of(batch, rows, name)
        if found.beyond.any():
            row = int(np.argmax(found.beyond))
            value = batch.column(name)[row if rows is None else int(rows[row])]
            raise DataError(unfit(name, value, self.kind))
        return found

    def words_of(self, batch: pa.RecordBatch, rows: np.ndarray | None, name: str) -> Values:
        """The words that one of the columns has in some rows."""
        column = single(batch.column(name))
        if pa.types.is_null(column.type):
            size = len(column) if rows is None else len(rows)
            return Values(np.full(size, -1, np.int64), np.zeros(size, np.uint8))
        if self.texts is not None:
            numbers = self.texts.encode(column, rows)
            present = (numbers >= 0).view(np.uint8)
            return Values(numbers, NONE_MISSING if present.all() else present)
        beyond = NONE_BEYOND
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_temporal(self.kind) and column.type != self.kind:
            whole = column.cast(self.kind, safe=False)
            # What does not fit has wrapped around, and comes back as something else.
            far = pc.fill_null(pc.not_equal(whole.cast(column.type, safe=False), column), False)
            beyond = far.to_numpy(zero_copy_only=False) if pc.any(far).as_py() else NONE_BEYOND
            column = whole
        if pa.types.is_decimal(self.kind) and column.type != self.kind:
            column = column.cast(self.kind)
        if self.doubles is not None and pa.types.is_decimal(column.type):
            some = column if rows is None else column.take(pa.array(rows))
            present = some.is_valid().to_numpy(zero_copy_only=False).view(np.uint8)
            return Values(self.doubles.of_decimals(some), present if some.null_count else NONE_MISSING)
        values = columns.numbers(column, name)
        data, valid = values.data, values.valid
        if self.wide is not None:
            data = self._wide_words(column, values)
        if rows is not None and len(rows) < len(data):
            data, valid = numbers_at(data, rows), valid[rows] if len(valid) else valid
            beyond = beyond[rows] if len(beyond) else beyond
        if self.doubles is not None and data.dtype.kind != "f":
            return Values(self.doubles.words(data), valid, beyond)
        if data.dtype.kind == "f":
            data = data.astype(np.float64) + 0.0  # the two zeros are one key
            data[np.isnan(data)] = np.nan
            return Values(data.view(np.int64), valid)
        return Values(data.astype(np.int64, copy=False), valid, beyond)

    def _wide_words(self, column: pa.Array, values: Values) -> np.ndarray:
        """The words of decimals, shape (n,), int64."""
        assert self.wide is not None
        large = values.data >= WideWords.FIRST
        if values.data.dtype == np.uint64:
            words = values.data.astype(np.int64)
            words[large] = self.wide.words(values.data[large].astype(object))
            return words
        far = np.flatnonzero(large | values.beyond if len(values.beyond) else large)
        if not len(far):
            return values.data
        data = values.data.copy()
        data[far] = self.wide.words(unscaled(column.take(pa.array(far))))
        return data

    def fits(self, kind: pa.DataType) -> bool:
        """Whether `word` takes the values of a column of some type."""
        if self.texts is not None:
            return is_text(kind)
        if pa.types.is_null(kind) or pa.types.is_dictionary(kind):
            return False
        if pa.types.is_decimal(kind) or pa.types.is_decimal(self.kind):
            return kind == self.kind  # a single decimal comes in units of its own last digit
        return kind == self.kind or not (pa.types.is_temporal(self.kind) or pa.types.is_temporal(kind))

    def word(self, value: Any) -> int:
        """The word of a single value, as `words` gives it; the value is no null and no NaN.

        Parameters
        ----------
        value : str, int or float
            A time as a number of its unit.
        """
        if self.texts is not None:
            return self.texts.number(value)
        if self.doubles is not None and not isinstance(value, float):
            return self.doubles.word(value)
        if isinstance(value, float):
            (bits,) = _BITS.unpack(_DOUBLE.pack(value + 0.0))  # the two zeros are one key
            return int(bits)
        return int(value)

    def column(self, words: np.ndarray) -> pa.Array:
        """The values of some words, as an Arrow array."""
        if self.texts is not None:
            return self.texts.texts(words).cast(self.kind)
        if pa.types.is_floating(self.kind):
            return pa.array(words.view(np.float64)).cast(self.kind)
        if pa.types.is_temporal(self.kind):
            return pa.array(words).cast(whole_type(self.kind)).cast(self.kind)
        if pa.types.is_uint64(self.kind) and self.wide is not None:
            return pa.array(self.wide.numbers(words), self.kind)
        if self.wide is not None and (words >= WideWords.FIRST).any():
            return from_integers(self.wide.numbers(words), self.kind)
        if pa.types.is_decimal(self.kind):
            return from_scaled(words, self.kind)
        return pa.array(words).cast(self.kind)

    def kept(self, texts: TextNumbers | None) -> Part:
        """The same part with other numbers for its texts."""
        new = copy(self)
        new.texts = texts
        return new


class Keys:
    """Numbers the keys that are made of some parts.

    Numbers never change: forgetting (`kept`) makes other `Keys`, beside these.

    Parameters
    ----------
    parts : sequence of Part
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(parts)
        texts = self.parts[0].texts if len(self.parts) == 1 else None
        # The numbers of a single text are the key's.
        self.numbers: WordNumbers | TextNumbers = WordNumbers(len(self.parts)) if texts is None else texts

    @property
    def count(self) -> int:
        """How many numbers there are so far."""
        return self.numbers.count

    @property
    def nbytes(self) -> int:
        """Bytes of the keys."""
        own = self.numbers.nbytes if isinstance(self.numbers, WordNumbers) else 0
        return own + sum(part.texts.nbytes for part in self.parts if part.texts)

    def encode(self, words: Sequence[Values]) -> np.ndarray:
        """The numbers of keys, -1 where a part is null: shape (n,), int32.

        Parameters
        ----------
        words : sequence of Values
            Of each part.
        """
        if not isinstance(self.numbers, WordNumbers):
            return words[0].data.astype(np.int32, copy=False)
        parts = [self.numbers.encode(*block) for block in _together(words)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def number(self, values: Sequence[Any]) -> int:
        """The number of a single key, given the value of each part as `Part.word` takes it."""
        words = [part.word(value) for part, value in zip(self.parts, values, strict=True)]
        if not isinstance(self.numbers, WordNumbers):
            return words[0]
        key = np.array(words if len(words) == 1 else [[word] for word in words], np.int64)
        return int(self.numbers.encode(key, NONE_MISSING)[0])

    def counted(self, words: Sequence[Values]) -> tuple[np.ndarray, np.ndarray]:
        """As `encode`, and how many rows of its key came before each row, (n,), int64; -1 without a key."""
        if not isinstance(self.numbers, WordNumbers):
            numbers = self.encode(words)
            return numbers, self.numbers.ordinals(numbers)
        parts = [self.numbers.counted(*block) for block in _together(words)]
        if len(parts) == 1:
            return parts[0]
        lanes, ordinals = zip(*parts, strict=True)
        return np.concatenate(lanes), np.concatenate(ordinals)

    def counts(self, numbers: np.ndarray) -> np.ndarray:
        """How many rows of some keys there were so far if they are counted, else 0: int64."""
        counters = self.numbers.counters
        return counters[numbers] if len(counters) else np.zeros(len(numbers), np.int64)

    def count_on(self, numbers: np.ndarray, more: np.ndarray) -> None:
        """Add earlier rows to the counts of some keys, no key twice."""
        if len(self.numbers.counters):
            self.numbers.counters[numbers] += more

    def columns(self, numbers: np.ndarray) -> list[pa.Array]:
        """For each part of the key, the column of the values of some numbers."""
        return [part.column(words) for part, words in zip(self.parts, self.words(numbers), strict=True)]

    def words(self, numbers: np.ndarray) -> np.ndarray:
        """The keys of some numbers, shape (parts, n), int64."""
        found = numbers.astype(np.int64)  # a copy: who asks may write to it
        if isinstance(self.numbers, WordNumbers):
            found = self.numbers.words_of(found)
        return np.ascontiguousarray(found.reshape(len(numbers), len(self.parts)).T)

    def renewed(self, parts: Sequence[Part], words: np.ndarray, used: np.ndarray) -> Keys:
        """`Keys` of some keys alone, with new numbers: see `kept`."""
        new = Keys(parts)
        if isinstance(self.numbers, WordNumbers):
            new.numbers = self.numbers.kept(words[0] if len(parts) == 1 else words, used)
        return new


LOOKED_AT = 1 << 12
"""The first rows of a batch, so many, are looked at for events that have two alternatives of a part."""


def _both_filled(batch: pa.RecordBatch, names: Sequence[str]) -> tuple[str, str] | None:
    """Two columns in which one of the first rows of a batch has different values; None if none has."""
    some = batch.slice(0, LOOKED_AT)
    for number, first in enumerate(names):
        for other in names[number + 1 :]:
            one, two = (_whole(some.column(name)) for name in (first, other))
            if one.null_count == len(one) or two.null_count == len(two):
                continue
            try:
                differ = pc.not_equal(one, two)
            except pa.ArrowException:  # of types that do not compare
                differ = pc.and_(one.is_valid(), two.is_valid())
            if pc.any(differ).as_py():
                return first, other
    return None


def _whole(column: pa.Array) -> pa.Array:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def kept(spaces: Sequence[Keys], used: Sequence[np.ndarray]) -> list[tuple[Keys, np.ndarray]]:
    """Forget all keys but some.

    Parameters
    ----------
    spaces : sequence of Keys
        All that share a part with one of them.
    used : sequence of ndarray, shape (k,), int64
        For each, the numbers of the keys to keep, ascending.

    Returns
    -------
    list of (Keys, ndarray)
        For each, `Keys` with only these keys, and their new numbers, shape (k,), int64.
    """
    words = [keys.words(numbers) for keys, numbers in zip(spaces, used, strict=True)]
    places: dict[int, list[tuple[int, int]]] = {}
    parts: dict[int, Part] = {}
    for space, keys in enumerate(spaces):
        for k, part in enumerate(keys.parts):
            places.setdefault(id(part), []).append((space, k))
            parts[id(part)] = part
    renewed: dict[int, Part] = {}
    for name, part in parts.items():
        if part.texts is None:
            renewed[name] = part
            continue
        texts = np.unique(np.concatenate([words[space][k] for space, k in places[name]]))
        renewed[name] = part.kept(part.texts.kept(texts))
        for space, k in places[name]:
            words[space][k] = np.searchsorted(texts, words[space][k])
    found = []
    for keys, own, numbers in zip(spaces, words, used, strict=True):
        new = keys.renewed([renewed[id(part)] for part in keys.parts], own, numbers)
        words_alone = isinstance(keys.numbers, WordNumbers)
        found.append((new, np.arange(len(numbers)) if words_alone else own[0]))
    return found


def _together(words: Sequence[Values]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The words of the parts of a key side by side, and where all are there: block after block."""
    if len(words) == 1:
        yield words[0].data.astype(np.int64, copy=False), words[0].valid
        return
    for start in range(0, max(len(words[0].data), 1), BLOCK):
        parts = [part.slice(start, start + BLOCK) for part in words]
        valid = NONE_MISSING
        for part in parts:
            valid = columns.both_valid(valid, part.valid)
        together = np.empty((len(parts), len(parts[0].data)), np.int64)
        for row, part in zip(together, parts, strict=True):
            row[:] = part.data
        yield together, valid


def unfit(name: str, value: pa.Scalar, kind: pa.DataType) -> str:
    """What is wrong with a time that does not fit the type in which it is compared."""
    number = value.cast(whole_type(value.type))
    return (
        f"{number} ({value.type}) of column `{name}` does not fit {kind}, the type in which it is compared: "
        "cast the columns to one unit"
    )


def common_type(kinds: list[pa.DataType]) -> pa.DataType | None:
    """The type in which values of several types are compared; None if they cannot be compared.

    Strings of any kind are one type, and so are numbers (floats with others by value), and times of different
    units.
    """
    plain = [kind for kind in map(without_dictionary, kinds) if not pa.types.is_null(kind)] or [pa.string()]
    if all(is_text(kind) for kind in plain):
        return pa.large_string()
    if len(set(plain)) == 1:
        return plain[0]
    if all(map(pa.types.is_unsigned_integer, plain)):
        return pa.uint64() if pa.uint64() in plain else pa.int64()
    if all(pa.types.is_integer(kind) for kind in plain):
        return common_decimal(plain) if pa.uint64() in plain else pa.int64()
    if all(pa.types.is_floating(kind) or pa.types.is_integer(kind) for kind in plain):
        return pa.float64()
    if all(pa.types.is_integer(kind) or pa.types.is_decimal(kind) for kind in plain):
        return common_decimal(plain)
    if all(_is_number(kind) for kind in plain):
        return pa.float64()
    if all(pa.types.is_duration(kind) for kind in plain):
        return pa.duration(_finest(kind.unit for kind in plain))
    moments = [kind for kind in plain if pa.types.is_timestamp(kind)]
    if moments and all(pa.types.is_timestamp(kind) or pa.types.is_date(kind) for kind in plain):
        zones = {kind.tz for kind in moments}
        if len(zones) == 1:
            return pa.timestamp(_finest(kind.unit for kind in moments), zones.pop())
    return None


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_decimal(kind) or pa.types.is_floating(kind))


def _finest(units: Iterable[str]) -> str:
    return max(units, key=("s", "ms", "us", "ns").index)


def _key_type(kinds: list[pa.DataType], part: tuple[str, ...]) -> pa.DataType:
    common = common_type(kinds)
    if common is None:
        names = ", ".join(f"`{name}` ({kind})" for name, kind in zip(part, kinds, strict=True))
        raise DataError(
            "columns that are compared for equality, or are one part of a key, have different types: "
            f"{names}; cast them to one type"
        )
    return common
