"""Values as whole numbers in their order, and back: `ValueCodes`.

An int is itself, a float its bits turned into the order of the floats, a time its nanoseconds, a bool 0 or 1.
Decimals are numbered in their order (`FixedLabels`), and so are texts if a rule compares them by order;
otherwise texts are numbered as they come, which is faster. `NULL` stands for no value, `NAN` for a float that
is no number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.labels import FixedLabels, SeenLabels
from cer_gpu.engine.read.sources.arrow_types import first_line, value_type, zone_of
from cer_gpu.engine.words import Domain, float_words, floats_of, in_domain
from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.comparisons.contract import ABOVE
from cer_gpu.kernels.views.contract import NULL, TOP
from cer_gpu.language.schema import ValueType
from cer_gpu.language.units import NANOSECONDS
from cer_gpu.lazy_modules import compute as pc

NAN = int(np.float64(np.nan).view(np.int64)) & TOP
"""The code of every NaN, above all other floats."""

BEYOND = TOP - 1
"""The code of floats above all whole numbers; those of a view are below it."""

FEW = 4
"""Up to so many values are looked at as Python's numbers: the methods of arrays take longer than they do."""


@dataclass(frozen=True, slots=True)
class ValueKind:
    """The kind of the values of a column.

    Attributes
    ----------
    value : ValueType
    arrow : pyarrow.DataType
        The type that the values have when they leave the view.
    """

    value: ValueType
    arrow: pa.DataType

    def joins(self, other: ValueKind) -> bool:
        """Whether values of both kinds may be equal: times only if both or neither have a time zone."""
        if self.value is not other.value:
            return False
        return self.value is not ValueType.TIMESTAMP or (zone_of(self.arrow) is None) == (
            zone_of(other.arrow) is None
        )


def kind_of(arrow: pa.DataType, where: str) -> ValueKind:
    """The kind of a column.

    Raises
    ------
    DataError
        If a view cannot hold such values.
    """
    while pa.types.is_dictionary(arrow) or pa.types.is_run_end_encoded(arrow):
        arrow = arrow.value_type
    value = value_type(arrow)
    if value is None:
        cast = "give it a type: cast the column, or insert a table whose columns have types first"
        hint = cast if pa.types.is_null(arrow) else "cast it, or leave it out"
        raise DataError(f"{where} is of type {arrow}, which a view cannot hold: {hint}")
    plain = {
        ValueType.INT64: pa.int64(),
        ValueType.FLOAT64: pa.float64(),
        ValueType.STRING: pa.string(),
        ValueType.BOOL: pa.bool_(),
    }
    return ValueKind(value, arrow if pa.types.is_uint64(arrow) else plain.get(value, arrow))


class WideValuesError(Exception):
    """Whole numbers beyond int64: the columns of the relations that have to be numbered in their order.

    Attributes
    ----------
    columns : frozenset of (str, str)
        Relations and their attributes.
    """

    def __init__(self, columns: Iterable[tuple[str, str]]) -> None:
        super().__init__()
        self.columns = frozenset(columns)


def is_wide(column: pa.ChunkedArray) -> bool:
    """Whether a column has whole numbers that no view holds as themselves."""
    if not pa.types.is_uint64(column.type):
        return False
    most = pc.max(column).as_py()
    return most is not None and most >= BEYOND


def wide(kind: ValueKind) -> ValueKind:
    """Whole numbers that are numbered in their order, as decimals are."""
    return ValueKind(ValueType.DECIMAL, kind.arrow) if kind.value is ValueType.INT64 else kind


class ValueCodes:
    """Encodes columns and decodes them; numbers the texts and decimals that occur.

    Attributes
    ----------
    texts : FixedLabels or SeenLabels
        The numbers of texts; fixed ones are in the order of the texts.
    decimals : FixedLabels
    """

    def __init__(self, ordered: bool = False) -> None:
        self.texts: FixedLabels | SeenLabels = FixedLabels() if ordered else SeenLabels()
        self.decimals = FixedLabels()

    @property
    def ordered(self) -> bool:
        """Whether the numbers of texts are in their order."""
        return isinstance(self.texts, FixedLabels)

    def _labels(self, kind: ValueKind) -> FixedLabels | SeenLabels:
        return self.decimals if kind.value is ValueType.DECIMAL else self.texts

    def encode(self, column: pa.ChunkedArray, kind: ValueKind, where: str) -> np.ndarray:
        """The codes of a column: int64 [rows].

        Raises
        ------
        DataError
            If a value has no code.
        """
        if isinstance(column, pa.ChunkedArray) and column.num_chunks == 1:
            column = column.chunk(0)
        if isinstance(column, pa.Int64Array) and kind.value is ValueType.INT64 and not column.null_count:
            if len(column) > FEW:
                return _held(column.to_numpy(), kind, where)
            listed = column.to_pylist()
            _check(listed, where)
            return np.array(listed, np.int64)
        if pa.types.is_dictionary(column.type) or pa.types.is_run_end_encoded(column.type):
            column = pc.cast(column, column.type.value_type)
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if kind.value in (ValueType.STRING, ValueType.DECIMAL):
            return self._encode_values(array, kind)
        try:
            codes = _numbers(array, kind)
        except pa.ArrowInvalid as error:
            raise DataError(f"{where} has a value that a view cannot hold: {first_line(error)}") from None
        if not array.null_count:
            return _held(codes, kind, where)
        _held(codes[array.is_valid().to_numpy(zero_copy_only=False)], kind, where)
        return np.where(array.is_null().to_numpy(zero_copy_only=False), NULL, codes)

    def encode_listed(self, values: Sequence[Any], kind: ValueKind) -> np.ndarray:
        """The codes of numbers or texts of Python, each of which has one (`has_code`)."""
        if kind.value is ValueType.STRING:
            return np.array(self.number(values, kind), np.int64)
        if kind.value is ValueType.FLOAT64:
            return float_codes(np.array(values, np.float64))
        return np.array(values, np.int64)

    def decode(self, codes: np.ndarray, kind: ValueKind, given: bool = False) -> pa.Array:
        """The values of codes; `given` says that none of them is `NULL`."""
        if given and kind.value is ValueType.INT64:
            # `pa.array` takes several times as long, which counts in a listing of small batches.
            return pa.Array.from_buffers(kind.arrow, len(codes), [None, pa.py_buffer(codes)])
        absent = codes == NULL
        mask = absent if absent.any() else None
        if kind.value in (ValueType.STRING, ValueType.DECIMAL):
            used, places = np.unique(codes[~absent], return_inverse=True)
            values = [*map(self._labels(kind).value, used.tolist())]
            if pa.types.is_integer(kind.arrow):
                values = [*map(int, values)]
            spread = np.zeros(len(codes), np.int64)
            spread[~absent] = places.reshape(-1)
            return pa.array(values, kind.arrow).take(pa.array(spread, mask=mask))
        if kind.value is ValueType.BOOL:
            return pa.array(codes == 1, pa.bool_(), mask=mask)
        if kind.value is ValueType.FLOAT64:
            return pa.array(floats_of(np.where(absent, 0, codes)), pa.float64(), mask=mask)
        whole = pa.array(codes, pa.int64(), mask=mask)
        if kind.value is ValueType.INT64:
            return whole if kind.arrow == whole.type else whole.cast(kind.arrow)
        return whole.cast(_finest(kind.arrow)).cast(kind.arrow)

    def number(self, values: Iterable[Any], kind: ValueKind) -> list[int]:
        """The numbers of texts or decimals.

        Raises
        ------
        NoRoomError
        """
        return self._labels(kind).labels(values)

    def in_order(self, kind: ValueKind) -> bool:
        """Whether values of a kind are numbered in their order."""
        return kind.value is ValueType.DECIMAL or (kind.value is ValueType.STRING and self.ordered)

    def order_texts(self) -> np.ndarray:
        """Number texts in their order from here on; gives the new numbers by the old ones, int64 [texts]."""
        seen, self.texts = self.texts.values, FixedLabels()
        return np.array(self.texts.labels(seen), np.int64)

    def anew(self, new: Mapping[ValueKind, Iterable[Any]]) -> ValueCodes:
        """`ValueCodes` with other numbers for the same values and for new ones, far from each other."""
        made = ValueCodes(self.ordered)
        texts, decimals = set(self.texts.values), set(self.decimals.values)
        for kind, values in new.items():
            (decimals if kind.value is ValueType.DECIMAL else texts).update(values)
        made.decimals.labels(decimals)
        if made.ordered:
            made.texts.labels(texts)
        return made

    def _encode_values(self, array: pa.Array, kind: ValueKind) -> np.ndarray:
        found = array.dictionary_encode()
        numbers = self.number(found.dictionary.to_pylist(), kind)
        table = np.array([*numbers, NULL], np.int64)
        places = found.indices.fill_null(len(numbers)).to_numpy(zero_copy_only=False)
        return table[places]


def _held(codes: np.ndarray, kind: ValueKind, where: str) -> np.ndarray:
    """The codes of values, none of which is null, once it is known that a view can hold them.

    Raises
    ------
    DataError
    """
    _check([int(codes.min()), int(codes.max())] if len(codes) else [], where)
    if kind.value in (ValueType.TIMESTAMP, ValueType.DURATION) and (codes % _nanoseconds(kind.arrow)).any():
        raise DataError(
            f"{where} was of type {kind.arrow} before, and has a finer time now: round it, or begin with a "
            "table whose column is of a finer type"
        )
    return codes


def _nanoseconds(arrow: pa.DataType) -> int:
    """The nanoseconds between two neighbouring times of a type."""
    return NANOSECONDS["d" if pa.types.is_date(arrow) else str(arrow.unit)]


def has_code(value: object) -> bool:
    """Whether a whole number, float or text can be held."""
    if type(value) is int:
        return NULL < value < BEYOND
    if type(value) is str and not value.isascii():
        try:
            value.encode()
        except UnicodeError:
            return False
    return True


def _check(values: Sequence[int], where: str) -> None:
    """Check that a view can hold values, none of which is null.

    Raises
    ------
    DataError
    """
    if values and not (has_code(min(values)) and has_code(max(values))):
        what = "the smallest or one of the two largest int64"
        raise DataError(f"{where} holds {what}, which a view cannot hold: leave such rows out")


def _numbers(array: pa.Array, kind: ValueKind) -> np.ndarray:
    value = kind.value
    if value is ValueType.BOOL:
        return array.fill_null(False).to_numpy(zero_copy_only=False).astype(np.int64)
    if value is ValueType.FLOAT64:
        return float_codes(pc.cast(array, pa.float64()).fill_null(0.0).to_numpy())
    if value in (ValueType.TIMESTAMP, ValueType.DURATION):
        array = array.cast(_finest(array.type))
    return array.cast(pa.int64()).fill_null(0).to_numpy()


def _finest(arrow: pa.DataType) -> pa.DataType:
    """The type of times of the same sort in nanoseconds."""
    if pa.types.is_duration(arrow):
        return pa.duration("ns")
    return pa.time64("ns") if pa.types.is_time(arrow) else pa.timestamp("ns", zone_of(arrow))


def float_codes(values: np.ndarray) -> np.ndarray:
    """The codes of float64 values: in their order, one for both zeros, `NAN` for each NaN."""
    return np.where(np.isnan(values), NAN, float_words(values))


def rounded(codes: np.ndarray, up: bool) -> np.ndarray:
    """The least whole number that is not below each float; if `up`, the least one above it: as codes.

    Those outside int64 become `NULL + 1` and `BEYOND`; `NULL` stays for what is no number.
    """
    absent = (codes == NULL) | (codes == NAN)
    real, whole = Domain("f", None), Domain("i", None)
    words, sides = in_domain(floats_of(np.where(absent, 0, codes)), real, whole, ~absent)
    found = np.clip(words, NULL, BEYOND - 1) + (up | (sides == ABOVE))
    return np.where(absent, NULL, np.maximum(found, NULL + 1))
