"""The values by which events are compared, as words that have an order.

A text becomes its number, and so does a decimal of any size, written as a text of the same order
(`cer_gpu.engine.words`); a chunk puts the numbers in the order of the texts that there are by then. Any other
value becomes a word of the domain of what it is compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.derive import Reader, evaluate, overflow, read_columns, read_wide
from cer_gpu.engine.read.numbers import TextNumbers
from cer_gpu.engine.read.single_values import NOTHING, Row, single_row
from cer_gpu.engine.read.sources import columns
from cer_gpu.engine.read.sources.columns import Values
from cer_gpu.engine.read.sources.decimals import halves
from cer_gpu.engine.words import (
    Domain,
    domain_of,
    halves_of,
    in_domain,
    of_halves,
    text_ranks,
    texts_of_halves,
    texts_of_numbers,
)
from cer_gpu.errors import DataError, FarDecimalError, RowError
from cer_gpu.kernels.comparisons.contract import AT, NO_VALUE
from cer_gpu.kernels.comparisons.cpu_rows import value_rows
from cer_gpu.language import tree
from cer_gpu.language.leaves import attributes_of
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import ValueType
from cer_gpu.language.units import digits_of
from cer_gpu.plan.compiled_query import UNFIT, VALUE_ROWS, KeyPlan, ValueColumn

if TYPE_CHECKING:
    from cer_gpu.plan.derived_columns import DerivedColumn


class OrderedValues:
    """Words of the values that a query compares by order.

    Parameters
    ----------
    keys : KeyPlan
    units : dict of str to str
        The units of the time columns.
    """

    def __init__(self, keys: KeyPlan, units: dict[str, str]) -> None:
        self._values = keys.values
        self._asked = keys.asked[:, len(keys.columns) :]
        self._units = units
        self._exact = keys.exact
        self._digits: int | None = None
        self._domains: dict[tree.Expression, Domain] = {}
        self.texts = TextNumbers()
        self._by_texts = np.zeros(len(self._values), np.uint8)
        self._ranks = np.empty(0, np.int64)
        self._single: list[Callable[[Mapping[str, Any]], Row]] = []

    @property
    def count(self) -> int:
        """How many rows of slots the values take."""
        return VALUE_ROWS * len(self._values)

    @property
    def size(self) -> int:
        """How many texts are remembered."""
        return self.texts.count

    @property
    def by_texts(self) -> list[int]:
        """The values that are numbers of `texts`, once some have been read."""
        return np.flatnonzero(self._by_texts).tolist()

    def kind(self, number: int) -> str:
        """The kind of the words of a value, as `Domain.kind`, once some have been read."""
        return self._domains[self._values[number].among].kind

    def ordered(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The sides and the words of some events, with the words of texts in the order of the texts.

        Parameters
        ----------
        rows : ndarray, shape (count, n), int32

        Returns
        -------
        sides : ndarray, shape (values, n), int32
        words : ndarray, shape (values, n), int64
        """
        sides, words = words_of(rows)
        if self._by_texts.any():
            if len(self._ranks) != self.texts.count:
                self._ranks = text_ranks(self.texts.texts_from(0).cast(pa.large_binary()))
            for number in self.by_texts:
                there = sides[number] != NO_VALUE
                words[number, there] = self._ranks[words[number, there]]
        return sides, words

    def forget(self, rows: np.ndarray) -> np.ndarray:
        """Remember only the texts of some events; gives their rows of slots with the texts renumbered."""
        out = rows.copy()
        places = [VALUE_ROWS * number for number in self.by_texts]
        used = np.unique(np.concatenate([np.empty(0, np.int32), *(_numbers(rows, at) for at in places)]))
        self.texts = self.texts.kept(used.astype(np.int64))
        self._ranks = self._ranks[:0]
        for at in places:
            there = rows[at] != NO_VALUE
            out[at + 2, there] = np.searchsorted(used, rows[at + 2, there])
        return out

    def values(self, rows: np.ndarray) -> dict[str, Any]:
        """The values of some events' rows of slots, as columns, for `numbered`."""
        found: dict[str, Any] = {}
        for at, row in enumerate(rows):
            number, place = divmod(at, VALUE_ROWS)
            column = pa.array(row)
            if self._by_texts[number] and place == VALUE_ROWS - 1:
                there = rows[at - place] != NO_VALUE
                numbers = pa.array(np.where(there, row, 0), mask=~there)
                column = self.texts.texts_from(0).cast(pa.large_binary()).take(numbers)
            found[f"value {at}"] = column
        return found

    def numbered(self, values: pa.Table) -> np.ndarray:
        """The rows of slots of events, from the columns that `values` gave, as texts are numbered now."""
        rows = np.empty((self.count, len(values)), np.int32)
        for at in range(self.count):
            column = columns.single(values.column(f"value {at}"))
            if pa.types.is_large_binary(column.type):
                rows[at] = np.maximum(self.texts.encode(column), 0)
            else:
                rows[at] = column.to_numpy()
        return rows

    def write_rows(
        self, batch: pa.RecordBatch, rows: np.ndarray, symbols: np.ndarray, before: int, out: np.ndarray
    ) -> None:
        """Write the rows of slots of some events, as for `JoinKeys.slots`, into `out`: (count, m), int32.

        Raises
        ------
        RowError
            If a value by which an event is compared does not fit 64 bits.
        """
        some = self._rows_of(batch, rows)
        read = self._reader(some)
        known: dict[tree.Expression, tuple[Values, str | None]] = {}
        for number, column in enumerate(self._values):
            at = VALUE_ROWS * number
            if number in self._exact or self._is_text(column.value, batch.schema):
                self._by_texts[number] = 1
                if number in self._exact:
                    numbers = self._exactly(number, batch, rows, some, symbols, before)
                else:
                    assert isinstance(column.value, tree.Attribute)
                    numbers = self.texts.encode(columns.single(batch.column(column.value.name)), rows)
                out[at : at + VALUE_ROWS] = np.where(numbers < 0, NO_VALUE, AT), 0 * numbers, numbers
                continue
            domain = self._domain(column, batch)
            if column.value not in known:
                known[column.value] = evaluate(column.value, read, len(rows))
            values, unit = known[column.value]
            beyond = self._beyond(column.value, values, some)
            own = domain_of(values.data, unit)
            if own == domain and own.kind != "u" and not len(beyond):
                value_rows(values.data, values.valid, out[at : at + VALUE_ROWS])
                continue
            there = values.present
            if values.data.dtype.kind == "f":
                there &= ~np.isnan(values.data)
            if len(beyond):
                far = beyond & there
                self._check(number, batch, rows, far & self._asked[symbols, number], before)
                there &= ~far
            words, sides = in_domain(values.data, own, domain, there)
            sides[~there] = NO_VALUE
            out[at] = sides
            out[at + 1], out[at + 2] = halves_of(words)

    def _rows_of(self, batch: pa.RecordBatch, rows: np.ndarray) -> pa.RecordBatch:
        """Some rows of a batch, with the columns that values are computed from; texts are not computed."""
        if len(rows) == len(batch):
            return batch
        computed = [
            each.value
            for number, each in enumerate(self._values)
            if number in self._exact or not self._is_text(each.value, batch.schema)
        ]
        read = {name for value in computed for name in attributes_of(value)}
        names = [name for name in batch.schema.names if name.removeprefix(UNFIT) in read]
        return batch.select(names).take(pa.array(rows)) if names else batch.slice(0, len(rows))

    def _exactly(
        self,
        number: int,
        batch: pa.RecordBatch,
        rows: np.ndarray,
        some: pa.RecordBatch,
        symbols: np.ndarray,
        before: int,
    ) -> np.ndarray:
        """The numbers of the texts of a value that may be a decimal of any size, -1 where there is none.

        `some` has the rows of the batch that are asked for; the rest is as for `write_rows`.
        """
        value = self._values[number].value
        digits, wide = self._most_digits(batch), self._wide(some)
        kind = some.schema.field(value.name).type if isinstance(value, tree.Attribute) else None
        halved = kind is not None and pa.types.is_decimal128(kind) and kind.scale == digits
        if halved:
            array = columns.single(some.column(value.name))  # type: ignore[union-attr]
            upper, lower = halves(array)
            values = Values(lower, columns.validity(array))
        else:
            values, unit = evaluate(value, wide, len(rows))
        there, beyond = values.present, self._beyond(value, values, some)
        if values.data.dtype.kind == "f":
            there &= ~np.isnan(values.data)
        if len(beyond):
            self._check(number, batch, rows, beyond & there & self._asked[symbols, number], before)
            there &= ~beyond
        found = np.full(len(rows), -1, np.int32)
        if not there.any():
            return found
        if halved:
            texts = texts_of_halves(upper[there], lower[there])
        else:
            texts = texts_of_numbers(values.data[there], 10 ** (digits - (digits_of(unit) or 0)))
        found[there] = self.texts.encode(texts)
        return found

    def _check(
        self, number: int, batch: pa.RecordBatch, rows: np.ndarray, wrong: np.ndarray, before: int
    ) -> None:
        """Raise an error where a value does not fit that an event is compared by."""
        if not wrong.any():
            return
        value, row = self._values[number].value, int(rows[np.argmax(wrong)])
        one = batch.slice(row, 1)
        read = self._wide(one) if number in self._exact else self._reader(one)
        step = overflow(value, read) or to_text(value)
        far = number not in self._exact and self._decimal(value, batch)
        raise RowError(
            before + row,
            f"{{row}}: integer overflow: {step} does not fit 64 bits; cast one of the columns to float64",
            FarDecimalError if far else DataError,
        )

    def _most_digits(self, batch: pa.RecordBatch) -> int:
        """The most digits after the point of the values that may be decimals of any size."""
        if self._digits is None:
            read = self._wide(batch.slice(0, 0))
            units = [evaluate(self._values[one].value, read, 0)[1] for one in sorted(self._exact)]
            self._digits = max(digits_of(unit) or 0 for unit in units)
        return self._digits

    @property
    def names(self) -> list[str]:
        """The columns of the data from which values are computed."""
        return sorted({name for column in self._values for name in attributes_of(column.value)})

    def reads_singly(self, schema: pa.Schema) -> bool:
        """Whether `row_of` can be asked, for data of a schema."""
        if self._exact or any(f"{UNFIT}{name}" in schema.names for name in self.names):
            return False
        none = pa.RecordBatch.from_pylist([], schema=schema)
        self._single = []
        for number, column in enumerate(self._values):
            if self._is_text(column.value, schema):
                assert isinstance(column.value, tree.Attribute)
                self._by_texts[number] = 1
                self._single.append(partial(self._text_row, column.value.name))
                continue
            own = self._domain_of(column.value, none)
            single = single_row(column.value, own, self._domain(column, none))
            if single is None:
                return False
            self._single.append(single)
        return True

    def row_of(self, values: Mapping[str, Any]) -> list[int]:
        """The rows of slots of a single event, one after another; see `reads_singly`."""
        return [number for single in self._single for number in single(values)]

    def _domain(self, column: ValueColumn, batch: pa.RecordBatch) -> Domain:
        if column.among not in self._domains:
            self._domains[column.among] = self._domain_of(column.among, batch.slice(0, 0))
        return self._domains[column.among]

    def _domain_of(self, value: tree.Expression, none: pa.RecordBatch) -> Domain:
        values, unit = evaluate(value, self._reader(none), 0)
        return domain_of(values.data, unit)

    def orders_texts(self, schema: pa.Schema, derived: Iterable[DerivedColumn]) -> bool:
        """Whether some values become numbers of texts, in events of a schema and with its derived columns."""
        texts = {one.name for one in derived if one.measure.type is ValueType.STRING}
        values = [column.value for column in self._values]
        return bool(self._exact) or any(
            self._is_text(value, schema) or (isinstance(value, tree.Attribute) and value.name in texts)
            for value in values
        )

    def _text_row(self, name: str, values: Mapping[str, Any]) -> Row:
        """The row of a text of a single event."""
        text = values[name]
        return NOTHING if text is None else (AT, 0, self.texts.number(text))

    @staticmethod
    def _decimal(value: tree.Expression, batch: pa.RecordBatch) -> bool:
        """Whether a value is made of decimals."""
        names = set(attributes_of(value)) & set(batch.schema.names)
        return any(f"{UNFIT}{name}" in batch.schema.names for name in names) or any(
            pa.types.is_decimal(batch.schema.field(name).type) for name in names
        )

    @staticmethod
    def _is_text(value: tree.Expression, schema: pa.Schema) -> bool:
        """Whether a value is a text: an attribute that is one; nothing else makes one."""
        if not isinstance(value, tree.Attribute) or value.name not in schema.names:
            return False
        return columns.is_text(schema.field(value.name).type)

    @staticmethod
    def _beyond(value: tree.Expression, values: Values, batch: pa.RecordBatch) -> np.ndarray:
        """Where a value does not fit 64 bits, shape (rows,) or (0,), bool."""
        beyond = values.beyond
        for name in attributes_of(value):
            if f"{UNFIT}{name}" in batch.schema.names:
                more = batch.column(f"{UNFIT}{name}").to_numpy(zero_copy_only=False)
                beyond = columns.either_beyond(beyond, more)
        return beyond

    def _wide(self, batch: pa.RecordBatch) -> Reader:
        """As `_reader`, with decimals of any size as Python's integers."""
        return read_wide(batch, self._units, whole=True)

    def _reader(self, batch: pa.RecordBatch) -> Reader:
        return read_columns(batch, self._units, whole=True)


def _numbers(rows: np.ndarray, at: int) -> np.ndarray:
    """The numbers of the texts in a column whose rows begin at `at`."""
    return rows[at + 2][rows[at] != NO_VALUE]


def words_of(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sides and the words of events, from their rows of slots.

    Parameters
    ----------
    rows : ndarray, shape (3 * values, n), int32

    Returns
    -------
    sides : ndarray, shape (values, n), int32
    words : ndarray, shape (values, n), int64
    """
    return np.ascontiguousarray(rows[::VALUE_ROWS]), of_halves(rows[1::VALUE_ROWS], rows[2::VALUE_ROWS])
