"""What follows each event in its partition, looked up for all events of a source at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.sources.arrow_types import unit_of, whole_numbers
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.words import unsigned_words
from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.outcomes.cpu import greatest, reach
from cer_gpu.kernels.sorting.order import ascending
from cer_gpu.language.units import NANOSECONDS
from cer_gpu.lazy_modules import compute as pc

BATCH = 1 << 20
"""The most rows that are read at a time."""


@dataclass(frozen=True, slots=True)
class LookLength:
    """How far an outcome looks: `5 min`, or `3 EVENTS`."""

    size: int | float
    unit: str
    """A unit of `cer_gpu.language.units`, EVENTS, or empty for the unit of the order column."""


@dataclass(frozen=True, slots=True)
class FutureValue:
    """A value that an outcome takes from the events after an event.

    Attributes
    ----------
    kind : {"at", "after", "max", "min", "time to"}
    column : str
        The column whose values are taken; for "time to" the pattern.
    span : LookLength or None
        None for "at" and "time to".
    fresh : LookLength or None
        How old the value of "after" may be at the time that it is taken for; None for any age.
    """

    kind: Literal["at", "after", "max", "min", "time to"]
    column: str
    span: LookLength | None = None
    fresh: LookLength | None = None


class EventColumns:
    """Columns of all events of a source, in their order.

    Parameters
    ----------
    source : Source
    columns : sequence of str
    watch : callable
        Passes batches on and counts their rows, for the progress bar.

    Raises
    ------
    DataError
        If a column is missing, or holds no numbers where numbers are needed.
    """

    def __init__(
        self, source: Source, columns: Sequence[str], watch: Callable[[Iterable[Any]], Iterable[Any]]
    ) -> None:
        for name in columns:
            source.require(name)
        read = list(dict.fromkeys([*source.order_by[:1], *columns]))
        batches = [batch.select(read) for batch in watch(source.batches(read, BATCH))]
        empty = pa.schema([source.arrow_schema.field(name) for name in read]).empty_table()
        self._hold(pa.Table.from_batches(batches) if batches else empty, source.order_by)

    @classmethod
    def of(cls, table: pa.Table, order_by: Sequence[str], places: np.ndarray | None = None) -> EventColumns:
        """The columns of a table of events, in their order; `places` are theirs among all events."""
        found = cls.__new__(cls)
        found._hold(table, order_by)
        found._places = places
        return found

    def _hold(self, table: pa.Table, order_by: Sequence[str]) -> None:
        self._table = table
        self._places: np.ndarray | None = None
        self.rows = len(self._table)
        self.times: np.ndarray | None = None
        self.unit = ""
        if order_by:
            kind = table.schema.field(order_by[0]).type
            column = self._table.column(order_by[0]).combine_chunks()
            if pa.types.is_temporal(kind):
                column, self.unit = whole_numbers(column), unit_of(kind) or ""
            self.times = column.to_numpy(zero_copy_only=False)
        self._numbers: dict[str, np.ndarray] = {}

    @property
    def moments(self) -> np.ndarray:
        """When each event happened, shape (rows,), int64 or float64; its place where there is no time."""
        if self.times is None:
            return np.arange(self.rows) if self._places is None else self._places
        if self.times.dtype == np.uint64:  # in the same order, and with the same differences
            return unsigned_words(self.times)
        # Differences of narrow integers would wrap.
        return self.times.astype(np.float64 if self.times.dtype.kind == "f" else np.int64, copy=False)

    def number(self, name: str, what: str = "an outcome") -> np.ndarray:
        """A column as numbers, shape (rows,), float64; NaN for a null. A message says what needs them."""
        if name not in self._numbers:
            column = self._table.column(name)
            kind = column.type
            if pa.types.is_dictionary(kind):
                kind = kind.value_type
            if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
                raise DataError(
                    f"the column `{name}` holds {kind}, and {what} needs numbers: cast it, or name "
                    "another column"
                )
            found = column.cast(pa.float64(), safe=False).to_numpy()
            self._numbers[name] = found
        return self._numbers[name]

    def keys(self, partition: Sequence[Sequence[str]]) -> list[pa.ChunkedArray]:
        """The key of each event: a column for each part of PARTITION BY."""
        parts = [[self._plain(name) for name in names] for names in partition]
        return [part[0] if len(part) == 1 else pc.coalesce(*part) for part in parts]

    def lanes(self, partition: Sequence[Sequence[str]]) -> np.ndarray:
        """The partition of each event as a number, shape (rows,), int64; -1 where it has none."""
        found = np.zeros(self.rows, np.int64)
        for column in self.keys(partition):
            coded = column.combine_chunks().dictionary_encode()
            codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
            width = len(coded.dictionary)
            both = np.where((found < 0) | (codes < 0), -1, found * max(width, 1) + codes)
            found = np.unique(both, return_inverse=True)[1] - (1 if (both < 0).any() else 0)
        return found

    def _plain(self, name: str) -> pa.ChunkedArray:
        """A column of keys, without dictionaries; the two zeros are one value."""
        column = self._table.column(name)
        column = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        return pc.add(column, pa.scalar(0, column.type)) if pa.types.is_floating(column.type) else column


class FutureValues:
    """Values that follow each event in its partition.

    Parameters
    ----------
    events : EventColumns
    partition : sequence of sequence of str
        As PARTITION BY of a query has it.
    unit : str or None
        The unit of times that are plain numbers.
    ends_of : callable
        Given a pattern, the positions at which it ends, in the same partitions.

    Attributes
    ----------
    lanes : ndarray, shape (events,), int64
        The partition of each event; -1 where it has none.
    order : ndarray, shape (events,)
        The events by partition, inside each in the order of the stream.
    """

    def __init__(
        self,
        events: EventColumns,
        partition: Sequence[Sequence[str]],
        unit: str | None,
        ends_of: Callable[[str], np.ndarray],
    ) -> None:
        self._events = events
        self._unit = events.unit or unit or ""
        self._ends_of = ends_of
        self.lanes = events.lanes(partition)
        self.order = ascending(self.lanes)
        ranked = self.lanes[self.order]
        edges = np.append(0, np.flatnonzero(ranked[1:] != ranked[:-1]) + 1)
        if not len(ranked):
            edges = edges[:0]
        self._begin, self._stop = edges, np.append(edges[1:], len(ranked))[: len(edges)]
        if len(edges) and ranked[0] < 0:  # events without a partition: nothing follows them
            self._begin, self._stop = self._begin[1:], self._stop[1:]
        self._lane_stop = np.zeros(len(ranked), np.int64)
        """Where the lane of each event stops; 0 where it has none."""
        if len(self._begin):
            self._lane_stop[self._begin[0] :] = np.repeat(self._stop, self._stop - self._begin)
        self._known: dict[FutureValue, np.ndarray] = {}
        self._ends: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def look(self, look: FutureValue) -> np.ndarray:
        """The value of an outcome for each event, shape (events,), float64; NaN where there is none."""
        if look.kind == "at":
            return self._events.number(look.column)
        self._check(look)
        if look not in self._known:
            found = np.full(self._events.rows, np.nan)
            if len(self._begin):
                found[self.order] = self._looked(look)
            self._known[look] = found
        return self._known[look]

    def ahead(self, look: FutureValue) -> np.ndarray:
        """How much time passes until the value is known, shape (events,), float64; 0 where there is none.

        In the unit of the order column, or in places without one.
        """
        found = np.zeros(self._events.rows)
        if look.kind == "at" or not len(self._begin):
            return found
        if look.span is not None and look.span.unit != "EVENTS":
            return found + float(self._size(look.span))
        own = self._events.moments[self.order]
        if look.span is None:
            at, known = self._next_end(look.column)
        else:
            at, known = self._counted(look.span, self._events.number(look.column)[self.order])
        found[self.order] = np.where(known, own[at] - own, 0)
        return found

    @property
    def placed(self) -> np.ndarray:
        """Which events are in a partition, shape (events,), bool."""
        found = np.empty(len(self.order), bool)
        found[self.order] = self._lane_stop > 0
        return found

    def settled(self, look: FutureValue) -> np.ndarray:
        """At which events the value stays what it is, whatever events come later; shape (events,), bool."""
        found = np.ones(self._events.rows, bool)
        if look.kind != "at" and len(self._begin):
            found[self.order] = self._settled(look) | (self._lane_stop == 0)
        return found

    def _settled(self, look: FutureValue) -> np.ndarray:
        """The same in the order of the lanes."""
        if look.kind == "time to":
            return ~np.isnan(self._time_to(look.column))
        assert look.span is not None
        if look.span.unit == "EVENTS":
            return self._counted(look.span, self._events.number(look.column)[self.order])[1]
        times, exact = self._times(), self._size(look.span)
        size = float(exact) if times.dtype.kind == "f" else min(floor(exact), np.iinfo(np.int64).max)
        found = np.zeros(len(times), bool)
        inside, last = slice(self._begin[0], None), np.repeat(self._stop - 1, self._stop - self._begin)
        # Events at the very end of the time may still follow.
        found[inside] = times[last] - times[inside] > size
        return found

    def kept(self, unsettled: np.ndarray, columns: Iterable[str]) -> np.ndarray:
        """Which events are needed for the values at some events and at all later ones.

        Parameters
        ----------
        unsettled : ndarray, shape (events,), bool
        columns : iterable of str
            Whose latest value may hold for a later event.

        Returns
        -------
        ndarray, shape (events,), bool
            In each partition those from the first unsettled one on, and the latest with a value before it.
        """
        found = np.zeros(self._events.rows, bool)
        if not len(self._begin):
            return found
        count, begin = len(self.order), self._begin
        at = np.where(unsettled[self.order], np.arange(count), count)[begin[0] :]
        first = np.minimum(np.minimum.reduceat(at, begin - begin[0]), self._stop)
        needed = np.zeros(count, bool)
        needed[begin[0] :] = np.arange(begin[0], count) >= np.repeat(first, self._stop - begin)
        for name in columns:
            held = _latest(self._events.number(name)[self.order], begin)[np.maximum(first - 1, 0)]
            needed[held[(held >= begin) & (first > begin)]] = True
        found[self.order] = needed
        return found

    def _check(self, look: FutureValue) -> None:
        """Refuse what does not fit the columns, also where there are no events."""
        if look.kind == "time to":
            self._times()
            return
        self._events.number(look.column)
        assert look.span is not None
        if look.span.unit != "EVENTS":
            self._times()
            for length in (look.span, look.fresh):
                if length is not None:
                    self._size(length)

    def _looked(self, look: FutureValue) -> np.ndarray:
        """The same in the order of the lanes."""
        if look.kind == "time to":
            return self._time_to(look.column)
        assert look.span is not None
        values = self._events.number(look.column)[self.order]
        if look.span.unit == "EVENTS":
            return self._by_events(look, values)
        times = self._times()
        exact = self._size(look.span)
        whole = times.dtype.kind != "f"
        most = np.iinfo(np.int64).max
        size, least = (
            (min(floor(exact), most), min(ceil(exact), most)) if whole else (float(exact), float(exact))
        )
        last = self._stop - 1
        begin, stop = self._begin, self._stop
        reached = reach(times, begin, stop, size)
        # From events before the first lane nothing is reached but themselves.
        reached[: begin[0]] = np.arange(begin[0])
        lane_last = np.repeat(last, stop - begin)
        inside = slice(begin[0], None)
        known = np.zeros(len(values), bool)
        known[inside] = times[lane_last] - times[inside] >= least
        if look.kind == "after":
            held = _latest(values, self._begin)[reached]
            found = np.where(held >= 0, values[np.maximum(held, 0)], np.nan)
            if look.fresh is not None:  # the value is so old: what was looked ahead, less what it came after
                age = size - (times[np.maximum(held, 0)] - times)
                found[age > float(self._size(look.fresh))] = np.nan
        else:
            found = self._extreme(look, values, reached)
        return np.where(known, found, np.nan)

    def _by_events(self, look: FutureValue, values: np.ndarray) -> np.ndarray:
        """A value of the next events that have one, up to the given number of such events."""
        assert look.span is not None
        at, known = self._counted(look.span, values)
        if look.kind == "after":
            return np.where(known, values[at], np.nan)
        reached = np.maximum(np.where(known, at, np.arange(len(values))), np.arange(len(values)))
        return np.where(known, self._extreme(look, values, np.maximum.accumulate(reached)), np.nan)

    def _counted(self, span: LookLength, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each event, the `span.size`-th later event that has a value, and whether there is one."""
        there = np.flatnonzero(~np.isnan(values))
        place = np.searchsorted(there, np.arange(len(values)), side="right") - 1 + int(span.size)
        at = _taken(there, place)
        return at, (place < len(there)) & (at < self._lane_stop)

    def _extreme(self, look: FutureValue, values: np.ndarray, reached: np.ndarray) -> np.ndarray:
        if look.kind == "max":
            return greatest(values, reached)
        return -greatest(-values, reached)

    def _time_to(self, pattern: str) -> np.ndarray:
        """Seconds, or the numbers of the order column, up to the next end of a pattern."""
        times = self._times()
        at, known = self._next_end(pattern)
        passed = (times[at] - times).astype(np.float64)
        if self._unit:
            passed = passed * (NANOSECONDS[self._unit] / 1e9)
        return np.where(known, passed, np.nan)

    def _next_end(self, pattern: str) -> tuple[np.ndarray, np.ndarray]:
        """For each event, the next one of its lane at which a pattern ends, and whether there is one."""
        if pattern not in self._ends:
            ends = np.zeros(self._events.rows, bool)
            ends[self._ends_of(pattern)] = True
            there = np.flatnonzero(ends[self.order])
            place = np.searchsorted(there, np.arange(len(ends)), side="right")
            at = _taken(there, place)
            self._ends[pattern] = at, (place < len(there)) & (at < self._lane_stop)
        return self._ends[pattern]

    def _times(self) -> np.ndarray:
        if self._events.times is None:
            raise ValueError("an outcome over time needs the column of time: name it with order_by")
        own: np.ndarray = self._events.moments[self.order]
        return own

    def _size(self, span: LookLength) -> Fraction:
        """A length in the unit of the order column, exactly."""
        if not span.unit:
            if self._events.unit:
                raise ValueError(
                    f"{span.size} has no unit, and the order column holds times: write `5 MINUTES`"
                )
            return Fraction(span.size)
        if not self._unit:
            raise ValueError(
                f"{span.size} {span.unit}: the order column holds plain numbers: give their unit with "
                "order_unit"
            )
        return Fraction(span.size) * Fraction(NANOSECONDS[span.unit], NANOSECONDS[self._unit])


def _taken(there: np.ndarray, place: np.ndarray) -> np.ndarray:
    """The entries at some places; any at all for places past the end."""
    return there[np.minimum(place, len(there) - 1)] if len(there) else np.zeros(len(place), np.int64)


def _latest(values: np.ndarray, begin: np.ndarray) -> np.ndarray:
    """For each event the latest one of its lane, up to itself, that has a value; -1 where there is none."""
    at = np.where(np.isnan(values), -1, np.arange(len(values)))
    # Lanes ascend, so that what an earlier lane leaves is below where a lane begins.
    latest: np.ndarray = np.maximum.accumulate(at)
    lane_begin = np.zeros(len(values), np.int64)
    lane_begin[begin] = begin
    lane_begin = np.maximum.accumulate(lane_begin)
    return np.where(latest >= lane_begin, latest, -1)
