"""The values that a join compares, as numbers: slots of its look-up table, and lanes.

Every value becomes a small number once, when it is read; equal values get the same number in all columns that
are compared with each other. From then on a join compares numbers, and its look-up table is an array.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.derive import evaluate, overflow, read_columns, read_wide
from cer_gpu.engine.read.keys import NAN, Keys, Part, kept, unfit
from cer_gpu.engine.read.sources import columns
from cer_gpu.engine.read.sources.decimals import decimal_with, from_scaled
from cer_gpu.errors import RowError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.classify.contract import NONE_MISSING
from cer_gpu.language import tree
from cer_gpu.language.leaves import attributes_of
from cer_gpu.language.printer import to_text
from cer_gpu.language.units import digits_of
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.plan.compiled_query import UNFIT, KeyColumn, KeyPlan

if TYPE_CHECKING:
    from cer_gpu.engine.read.ordered_values import OrderedValues


class JoinKeys:
    """Numbers the keys of a query's events.

    Parameters
    ----------
    keys : KeyPlan
    units : dict of str to str
        The units of the time columns.
    """

    def __init__(self, keys: KeyPlan, units: dict[str, str]) -> None:
        self._columns = keys.columns
        self._units = units
        self._lane_column = keys.lane_column
        self._lane_columns = np.unique(keys.lane_column[1:])
        self._asked = keys.asked
        self._keys_of = {column.space: column.keys for column in self._columns}
        self._lane_space = self._columns[self._lane_column.max()].space if self.has_lanes else -1
        self._domain_of = _domains(self._columns)
        self._parts: dict[tree.Expression, Part] = {}
        self._keys: list[Keys] = []
        self.values_in_order: OrderedValues | None = None
        if keys.values:
            from cer_gpu.engine.read.ordered_values import OrderedValues  # most queries compare no values

            self.values_in_order = OrderedValues(keys, units)

    @property
    def has_lanes(self) -> bool:
        """Whether a key is the lane."""
        return len(self._lane_column) > 0

    @property
    def names(self) -> list[str]:
        """The columns of the data from which keys are made."""
        return names_in(key for column in self._columns for key in column.keys)

    @property
    def compared(self) -> list[str]:
        """The columns of the data from which values compared by order are made."""
        return [] if self.values_in_order is None else self.values_in_order.names

    @property
    def lane_count(self) -> int:
        """How many lanes there are so far."""
        return self._keys[self._lane_space].count if self._keys else 0

    def slots(self, batch: pa.RecordBatch, rows: np.ndarray, symbols: np.ndarray, before: int) -> np.ndarray:
        """The slot of some rows, for every column of slots.

        Parameters
        ----------
        batch : RecordBatch
        rows : ndarray, shape (m,), int64
        symbols : ndarray, shape (m,), uint8 or uint16
        before : int
            How many events of the stream come before the batch.

        Returns
        -------
        ndarray, shape (columns, m), int32
            -1 where a value is null or NaN.

        Raises
        ------
        RowError
            If a value by which an event is compared does not fit 64 bits.
        """
        derived = _with_derived(batch, list(self._domain_of), self._units)
        words = {key: self._words(key, derived, rows) for key in self._domain_of}
        for number, column in enumerate(self._columns):
            for key in column.keys:
                wrong = words[key].beyond
                wrong = wrong & self._asked[symbols, number] if len(wrong) else wrong
                if wrong.any():
                    row = int(rows[np.argmax(wrong)])
                    raise RowError(before + row, f"{{row}}: {self._unfit(key, batch.slice(row, 1))}")
        if not self._keys:
            self._keys = [
                Keys([self._parts[self._domain_of[key]] for key in self._keys_of[space]])
                for space in range(len(self._keys_of))
            ]
        ordered = self.values_in_order
        count = len(self._columns)
        out = np.empty((count + (0 if ordered is None else ordered.count), len(rows)), np.int32)
        for number, column in enumerate(self._columns):
            out[number] = self._keys[column.space].encode([words[key] for key in column.keys])
        if ordered is not None:
            ordered.write_rows(batch, rows, symbols, before, out[count:])
        return out

    def reads_singly(self, schema: pa.Schema) -> bool:
        """Whether `slots_of` can be used for data of a schema."""
        keys = [key for column in self._columns for key in column.keys]
        return (
            len(self._keys) == len(self._keys_of)
            and (self.values_in_order is None or self.values_in_order.reads_singly(schema))
            and all(
                isinstance(key, tree.Attribute)
                and self._parts[self._domain_of[key]].fits(schema.field(key.name).type)
                for key in keys
            )
        )

    def slots_of(self, values: Mapping[str, Any]) -> list[int]:
        """The slot of a single row, for every column of slots, as from `slots`; see `reads_singly`.

        Parameters
        ----------
        values : mapping
            By the names of columns, in the form that `Part.word` takes.
        """
        slots = [
            self._keys[column.space].number([values[key.name] for key in column.keys])  # type: ignore[union-attr]
            for column in self._columns
        ]
        return slots if self.values_in_order is None else slots + self.values_in_order.row_of(values)

    def lane_of(self, slots: list[int], symbol: int) -> int:
        """The lane of a single row, if a key is the lane."""
        return slots[self._lane_column[symbol]]

    def lanes(self, slots: np.ndarray, symbols: np.ndarray, partitions: np.ndarray) -> np.ndarray:
        """The lanes of events, -1 where an event has none; `partitions` is returned if no key is a lane.

        Parameters
        ----------
        slots : ndarray, shape (columns, m), int32
        symbols : ndarray, shape (m,), uint8 or uint16
        partitions : ndarray, shape (m,) or (0,), int32
            From FROM: -1 for the events of other streams. (With PARTITION BY no key is a lane.)
        """
        if not self.has_lanes:
            return partitions
        if len(self._lane_columns) == 1:
            lanes = slots[self._lane_columns[0]]
        else:
            lanes = np.take_along_axis(slots, self._lane_column[symbols][None, :].astype(np.int64), 0)[0]
        return np.where(partitions < 0, np.int32(-1), lanes) if len(partitions) else lanes

    @property
    def size(self) -> int:
        """How many values and tuples are remembered."""
        texts = {id(part.texts): part.texts.count for part in self._parts.values() if part.texts is not None}
        ordered = 0 if self.values_in_order is None else self.values_in_order.size
        return sum(keys.count for keys in self._keys) + sum(texts.values()) + ordered

    def forget(self, slots: np.ndarray) -> np.ndarray:
        """Remember only the values of some events: values that have left the window need no numbers.

        Parameters
        ----------
        slots : ndarray, shape (columns, n), int32
            Of the events that are kept.

        Returns
        -------
        ndarray, shape (columns, n), int32
            The slots of these events, with the values renumbered.
        """
        used = [np.unique(slots[self._rows(space)]) for space in range(len(self._keys_of))]
        used = [numbers[numbers >= 0].astype(np.int64) for numbers in used]
        out = np.full_like(slots, -1)
        if self.values_in_order is not None:
            out[len(self._columns) :] = self.values_in_order.forget(slots[len(self._columns) :])
        found = kept(self._keys, used)
        for space, (keys, numbers) in enumerate(found):
            rows = self._rows(space)
            old = slots[rows]
            out[rows] = np.where(old < 0, -1, np.append(numbers, -1)[np.searchsorted(used[space], old)])
            for key, part in zip(self._keys_of[space], keys.parts, strict=True):
                self._parts[self._domain_of[key]] = part
        self._keys = [keys for keys, _ in found]
        return out

    def values(self, slots: np.ndarray) -> dict[str, Any]:
        """The values of the slots of some events, as columns, for `numbered`.

        Parameters
        ----------
        slots : ndarray, shape (columns, n), int32
        """
        found: dict[str, Any] = {}
        if self.values_in_order is not None:
            found |= self.values_in_order.values(slots[len(self._columns) :])
        for number, (column, own) in enumerate(zip(self._columns, slots)):
            keys, there = self._keys[column.space], own >= 0
            words = np.zeros((len(keys.parts), len(own)), np.int64)
            words[:, there] = keys.words(own[there])
            for place, (part, values) in enumerate(zip(keys.parts, words, strict=True)):
                if part.wide is not None:
                    numbers = list(map(str, part.wide.numbers(values)))
                    found[f"slot {number} {place}"] = pa.array(numbers, pa.large_string(), mask=~there)
                elif part.texts is None:
                    found[f"slot {number} {place}"] = pa.array(values, mask=~there)
                else:
                    texts = part.texts.texts_from(0)
                    found[f"slot {number} {place}"] = texts.take(pa.array(values, mask=~there))
        return found

    def numbered(self, values: pa.Table) -> np.ndarray:
        """The slots of events, from the columns that `values` has given, as values are numbered now."""
        slots = np.empty((len(self._columns), len(values)), np.int32)
        for number, column in enumerate(self._columns):
            words = []
            for place, part in enumerate(self._keys[column.space].parts):
                whole = columns.single(values.column(f"slot {number} {place}"))
                if part.wide is not None:
                    numbers = np.array(list(map(int, whole.fill_null("0").to_pylist())), object)
                    words.append(columns.Values(part.wide.words(numbers), columns.validity(whole)))
                elif part.texts is None:
                    words.append(columns.Values(whole.fill_null(0).to_numpy(), columns.validity(whole)))
                else:
                    texts = part.texts.encode(whole)
                    words.append(columns.Values(texts, (texts >= 0).view(np.uint8)))
            slots[number] = self._keys[column.space].encode(words)
        if self.values_in_order is not None:
            slots = np.concatenate([slots, self.values_in_order.numbered(values)])
        return slots

    def _rows(self, space: int) -> list[int]:
        return [number for number, column in enumerate(self._columns) if column.space == space]

    def _words(self, key: tree.Expression, derived: _KeyBatch, rows: np.ndarray) -> columns.Values:
        """The values of an expression; a NaN equals nothing, as a null does."""
        domain = self._domain_of[key]
        if domain not in self._parts:
            members = (member for member, of in self._domain_of.items() if of == domain)
            names = tuple(derived.names[member] for member in members)
            self._parts[domain] = Part(names, derived.batch.schema)
        part = self._parts[domain]
        found = part.words_of(derived.batch, rows, derived.names[key])
        if key in derived.wide:
            assert part.wide is not None
            place, numbers = derived.wide[key]
            data, there = found.data.copy(), place[rows] >= 0
            shift = 10 ** (part.kind.scale - derived.batch.schema.field(derived.names[key]).type.scale)
            data[there] = part.wide.words(numbers[place[rows[there]]] * shift)
            found = columns.Values(data, found.valid)
        valid, beyond = found.valid, found.beyond
        if key in derived.beyond:
            beyond = columns.either_beyond(derived.beyond[key][rows], beyond)
        if pa.types.is_floating(part.kind):
            valid = columns.both_valid(valid, (found.data != NAN).view(np.uint8))
        if len(beyond):
            valid = columns.both_valid(valid, (~beyond).view(np.uint8))
            beyond = beyond & (found.valid != 0) if len(found.valid) else beyond
        return columns.Values(found.data, valid, beyond)

    def _unfit(self, key: tree.Expression, event: pa.RecordBatch) -> str:
        """What is wrong with the value of an expression over one event."""
        step = overflow(key, read_columns(event, self._units, whole=True))
        if step is not None:
            return f"integer overflow: {step} does not fit 64 bits; cast one of the columns to float64"
        derived = _with_derived(event, [key], self._units)
        time = derived.batch.column(derived.names[key])[0]
        return unfit(to_text(key), time, self._parts[self._domain_of[key]].kind)


def columns_read(plan: KeyPlan) -> list[str]:
    """The columns of the data from which keys and compared values are made."""
    keys = [key for column in plan.columns for key in column.keys]
    return names_in([*keys, *(value for one in plan.values for value in (one.value, one.among))])


def names_in(keys: Iterable[tree.Expression]) -> list[str]:
    """The attributes that some expressions read, in their order."""
    return sorted({name for key in keys for name in attributes_of(key)})


def _domains(keys: tuple[KeyColumn, ...]) -> dict[tree.Expression, tree.Expression]:
    """For each expression the one that stands for all whose values are numbered together."""
    above: dict[tree.Expression, tree.Expression] = {}

    def top(key: tree.Expression) -> tree.Expression:
        while above[key] != key:
            key = above[key]
        return key

    first: dict[tuple[int, int], tree.Expression] = {}
    for column in keys:
        for place, key in enumerate(column.keys):
            above.setdefault(key, key)
            above[top(key)] = top(first.setdefault((column.space, place), key))
    return {key: top(key) for key in above}


@dataclass(frozen=True, slots=True)
class _KeyBatch:
    """A batch with columns for the keys that are arithmetic.

    Attributes
    ----------
    batch : RecordBatch
    names : dict of Expression to str
        The column of each key.
    beyond : dict of Expression to ndarray, shape (n,), bool
        Where a key does not fit 64 bits, for those that somewhere do not.
    wide : dict of Expression to (ndarray, ndarray)
        Of keys that are decimals beyond 64 bits: for each row its place among these, int64, -1 where it fits;
        and these as Python integers, in units of the last digit of the key's column.
    """

    batch: pa.RecordBatch
    names: dict[tree.Expression, str]
    beyond: dict[tree.Expression, np.ndarray]
    wide: dict[tree.Expression, tuple[np.ndarray, np.ndarray]]


def _with_derived(batch: pa.RecordBatch, keys: list[tree.Expression], units: dict[str, str]) -> _KeyBatch:
    read = read_columns(batch, units, whole=True)
    whole = (batch, units)
    wide: dict[tree.Expression, tuple[np.ndarray, np.ndarray]] = {}
    names: dict[tree.Expression, str] = {}
    beyond: dict[tree.Expression, np.ndarray] = {}
    for key in keys:
        if isinstance(key, tree.Attribute):
            names[key] = key.name
            if f"{UNFIT}{key.name}" in batch.schema.names:
                beyond[key] = batch.column(f"{UNFIT}{key.name}").to_numpy(zero_copy_only=False)
            continue
        names[key] = f"\0{to_text(key)}"  # a name that no column has
        values, unit = evaluate(key, read, len(batch))
        if len(values.beyond):
            values = _farther(key, values, whole, wide)
            if values.beyond.any():
                beyond[key] = values.beyond
        array = pa.array(values.data, mask=~values.present if len(values.valid) else None)
        digits = digits_of(unit)
        if digits is not None:
            kind = decimal_with(digits)
            array = pc.if_else(array.is_valid(), from_scaled(values.data, kind), pa.scalar(None, kind))
        elif unit is not None:
            array = array.cast(_time_type(key, unit, batch.schema))
        batch = batch.append_column(names[key], array)
    return _KeyBatch(batch, names, beyond, wide)


def _farther(
    key: tree.Expression,
    values: columns.Values,
    source: tuple[pa.RecordBatch, dict[str, str]],
    wide: dict[tree.Expression, tuple[np.ndarray, np.ndarray]],
) -> columns.Values:
    """The values of a key with those that do not fit 64 bits worked out once more, if it reads decimals.

    Those that are decimals go to `wide`, as `_KeyBatch` has them.
    """
    if not values.beyond.any():
        return values
    batch, units = source
    rows = np.flatnonzero(values.beyond)
    some, _ = evaluate(key, read_wide(batch.take(pa.array(rows)), units, whole=True), len(rows))
    data, beyond, present = values.data.copy(), values.beyond.copy(), values.present
    beyond[rows] = some.beyond if len(some.beyond) else False
    present[rows] = some.present
    if some.data.dtype == object:
        place = np.full(len(data), -1, np.int64)
        place[rows] = np.where(some.present & ~beyond[rows], np.arange(len(rows)), -1)
        data[rows] = 0
        wide[key] = place, some.data
    else:
        data[rows] = some.data
    return columns.Values(data, NONE_MISSING if present.all() else present.view(np.uint8), beyond)


def _time_type(key: tree.Expression, unit: str, schema: pa.Schema) -> pa.DataType:
    """The type of a key that is a time: a moment where one of the times in it is left over, or a span."""
    zone, moments = None, 0
    pending = [(key, 1)]
    while pending:
        match pending.pop():
            case tree.Attribute(name), sign:
                kind = schema.field(name).type
                if pa.types.is_timestamp(kind):
                    zone, moments = kind.tz, moments + sign
            case tree.Arithmetic(op, left, right), sign:
                pending += [(left, sign), (right, -sign if op == "-" else sign)]
            case tree.Negation(operand), sign:
                pending.append((operand, -sign))
    return pa.timestamp(unit, zone) if moments else pa.duration(unit)
