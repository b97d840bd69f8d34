"""The values that a join compares, as numbers: slots of its look-up table, and lanes.

Every value becomes a small number once, when it is read (equal values of all columns that are compared with
each other the same one); from then on a join compares numbers and its look-up table is an array.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read import columns
from cer_gpu.engine.read.derive import evaluate
from cer_gpu.engine.read.keys import PartEncoder
from cer_gpu.engine.read.pairs import PairNumbers
from cer_gpu.language import tree
from cer_gpu.language.leaves import attributes_of
from cer_gpu.language.printer import to_text
from cer_gpu.plan.compiled import KeyColumn, KeyPlan


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
        self._spaces = _spaces(self._columns)
        self._lane_space = self._columns[self._lane_column.max()].space if self.has_lanes else -1
        self._domain_of = _domains(self._columns)
        self._encoders: dict[tree.Expression, PartEncoder] = {}
        self._wholes: dict[int, list[PairNumbers]] = {
            number: [PairNumbers() for _ in range(width - 1)] for number, width in enumerate(self._spaces)
        }

    @property
    def has_lanes(self) -> bool:
        """Whether a key is the lane."""
        return len(self._lane_column) > 0

    @property
    def lane_count(self) -> int:
        """How many lanes there are by now."""
        return int(self.slot_counts[self._lane_space])

    @property
    def slot_counts(self) -> np.ndarray:
        """How many slots each space has by now, shape (spaces,), int64."""
        return np.array([self._slot_count(space) for space in range(len(self._spaces))], np.int64)

    def slots(self, batch: pa.RecordBatch, rows: np.ndarray) -> np.ndarray:
        """The slot of some rows in every column.

        Returns
        -------
        ndarray, shape (columns, m), int32
            -1 where a value is null or NaN.
        """
        codes: dict[tree.Expression, np.ndarray] = {}
        out = np.empty((len(self._columns), len(rows)), np.int32)
        for number, column in enumerate(self._columns):
            first, *others = column.keys
            whole = self._codes(first, batch, rows, codes)
            for pairs, key in zip(self._wholes[column.space], others, strict=True):
                whole = pairs.encode(whole, self._codes(key, batch, rows, codes))
            out[number] = whole
        return out

    def lanes(self, slots: np.ndarray, symbols: np.ndarray, partitions: np.ndarray) -> np.ndarray:
        """The lanes of events, -1 where an event has none; `partitions` where no key is a lane.

        Parameters
        ----------
        slots : ndarray, shape (columns, m), int32
        symbols : ndarray, shape (m,), uint8 or uint16
        partitions : ndarray, shape (m,) or (0,), int32
            Of FROM: -1 for the events of other streams. (With PARTITION BY no key is a lane.)
        """
        if not self.has_lanes:
            return partitions
        used = np.unique(self._lane_column[1:])
        if len(used) == 1:
            lanes = slots[used[0]]
        else:
            lanes = np.take_along_axis(slots, self._lane_column[symbols][None, :].astype(np.int64), 0)[0]
        return np.where(partitions < 0, np.int32(-1), lanes) if len(partitions) else lanes

    @property
    def size(self) -> int:
        """How many values and tuples are remembered."""
        return int(self.slot_counts.sum()) + sum(len(encoder.values) for encoder in self._encoders.values())

    def forget(self, slots: np.ndarray) -> np.ndarray:
        """Remember only what some events have: what has left the window need not be told apart any more.

        Parameters
        ----------
        slots : ndarray, shape (columns, n), int32
            Of the events that are kept.

        Returns
        -------
        ndarray, shape (columns, n), int32
            The same with the values numbered anew.
        """
        # From the tuples down to the values that they are made of: which are still needed.
        levels: list[list[tuple[np.ndarray, np.ndarray, np.ndarray]]] = []
        values: dict[tree.Expression, list[np.ndarray]] = {domain: [] for domain in self._encoders}
        for space, pairs_of in self._wholes.items():
            whole = _used(slots[self._rows(space)])
            keys = self._keys_of(space)
            levels.append([])
            for pairs, key in zip(reversed(pairs_of), reversed(keys[1:]), strict=True):
                left, right = pairs.halves(whole)
                levels[space].insert(0, (whole, left, right))
                values[self._domain_of[key]].append(right)
                whole = _used(left)
            values[self._domain_of[keys[0]]].append(whole)
        kept = {domain: _used(np.concatenate(parts)) for domain, parts in values.items()}
        for domain, numbers in kept.items():
            self._encoders[domain].keep(numbers)
        out = np.full_like(slots, -1)
        for space, pairs_of in self._wholes.items():
            keys = self._keys_of(space)
            below = kept[self._domain_of[keys[0]]]
            for pairs, key, (whole, left, right) in zip(pairs_of, keys[1:], levels[space], strict=True):
                pairs.reset(np.searchsorted(below, left), np.searchsorted(kept[self._domain_of[key]], right))
                below = whole
            rows = self._rows(space)
            out[rows] = np.where(slots[rows] < 0, -1, np.searchsorted(below, slots[rows]))
        return out

    def _keys_of(self, space: int) -> tuple[tree.Expression, ...]:
        return next(column.keys for column in self._columns if column.space == space)

    def _rows(self, space: int) -> list[int]:
        return [number for number, column in enumerate(self._columns) if column.space == space]

    def _slot_count(self, space: int) -> int:
        if self._wholes[space]:
            return self._wholes[space][-1].count
        domain = self._domain_of[self._keys_of(space)[0]]
        return len(self._encoders[domain].values) if domain in self._encoders else 0

    def _codes(
        self,
        key: tree.Expression,
        batch: pa.RecordBatch,
        rows: np.ndarray,
        known: dict[tree.Expression, np.ndarray],
    ) -> np.ndarray:
        """The numbers of the values of an expression, each expression evaluated once for a batch."""
        if key not in known:
            domain = self._domain_of[key]
            members = [member for member, of in self._domain_of.items() if of == domain]
            table, names = _with_derived(batch, members, self._units)
            if domain not in self._encoders:
                self._encoders[domain] = PartEncoder(tuple(names.values()), table.schema)
            known[key] = self._encoders[domain].encode_one(table, rows, names[key])
        return known[key]


def _used(numbers: np.ndarray) -> np.ndarray:
    """The distinct numbers, ascending, without -1."""
    found = np.unique(numbers).astype(np.int64)
    return found[found >= 0]


def columns_read(keys: Iterable[KeyColumn]) -> list[str]:
    """The columns of the data that keys are made of."""
    return sorted({name for column in keys for key in column.keys for name in attributes_of(key)})


def _spaces(keys: tuple[KeyColumn, ...]) -> list[int]:
    """How many values the keys of each space have."""
    width = {column.space: len(column.keys) for column in keys}
    return [width[space] for space in range(len(width))]


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


def _with_derived(
    batch: pa.RecordBatch, keys: list[tree.Expression], units: dict[str, str]
) -> tuple[pa.RecordBatch, dict[tree.Expression, str]]:
    """A batch with columns for the keys that are arithmetic, and the name of each key's column."""

    def read(name: str) -> tuple[columns.Values, str | None]:
        plain = pa.types.is_integer(batch.schema.field(name).type)  # of which sums are numbers, too
        return columns.numbers(batch.column(name), name), None if plain else units.get(name)

    names: dict[tree.Expression, str] = {}
    for key in keys:
        if isinstance(key, tree.Attribute):
            names[key] = key.name
            continue
        names[key] = f"\0{to_text(key)}"  # a name that no column has
        values, unit = evaluate(key, read, len(batch))
        array = pa.array(values.data, mask=~values.present if len(values.valid) else None)
        if unit is not None:
            array = array.cast(_time_type(key, unit, batch.schema))
        batch = batch.append_column(names[key], array)
    return batch, names


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
