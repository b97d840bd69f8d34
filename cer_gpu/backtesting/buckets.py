"""Buckets of time, `by="1d"`: where the bucket of a time begins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.end_form import times
from cer_gpu.engine.read.sources.arrow_types import whole_type
from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.units import NANOSECONDS, unit_named
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.printable_text import brief

FORMS = '"5 min", "1 h", "1 d", "1 week", "1 month", "1 quarter" or "1 year"'
"""Buckets as a message shows them."""

_SPAN = re.compile(r"\s*(\d+)\s*([A-Za-z]+)\s*")

_CALENDAR = {"w": "week", "week": "week", "month": "month", "quarter": "quarter", "year": "year"}

_ARROW = {
    "ns": "nanosecond",
    "us": "microsecond",
    "ms": "millisecond",
    "s": "second",
    "min": "minute",
    "h": "hour",
    "d": "day",
}
"""The units of the language as pyarrow's `floor_temporal` names them."""

_OF_ARROW = {name: unit for unit, name in _ARROW.items()}

_WHOLE = frozenset({"day", *_CALENDAR.values()})
"""The units of which no day has several buckets."""

_HOUR = NANOSECONDS["h"]

_DAYS = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}

_LONGEST = {name: NANOSECONDS[unit] for name, unit in _OF_ARROW.items()} | {
    name: days * NANOSECONDS["d"] for name, days in _DAYS.items()
}
"""The nanoseconds of a unit, the most that it can have but for clocks that are set back."""

_DATES = {pa.date32(): "d", pa.date64(): "ms"}
"""The unit of dates, which have none of their own."""


@dataclass(frozen=True, slots=True)
class Buckets:
    """How times are cut into buckets, all of one length or of one kind of calendar unit.

    Buckets are counted from 1970, in the time zone of the column; of plain numbers from 0. Weeks begin on
    Monday.

    Attributes
    ----------
    kind : pyarrow.DataType
        Of the times, and of where buckets begin.
    size : int or float
        The length of a bucket, in `unit`, or in the column's own unit.
    unit : str
        As pyarrow's `floor_temporal` names it; empty for numbers and durations.
    """

    kind: pa.DataType
    size: int | float
    unit: str = ""

    def of(self, moments: np.ndarray) -> np.ndarray:
        """Where the buckets of some times begin.

        Parameters
        ----------
        moments : ndarray, shape (n,), int64 or float64
            In the unit of the column.

        Returns
        -------
        ndarray, shape (n,), int64 or float64

        Raises
        ------
        DataError
            When the clock of the time zone changes inside a bucket whose length is neither whole hours nor
            divides an hour.
        """
        if not self.unit:
            return np.floor_divide(moments, self.size) * self.size
        at = times(moments, self.kind)
        try:
            begins = pc.floor_temporal(at, int(self.size), self.unit)
        except pa.ArrowInvalid:  # a bucket begins at a time that the clock shows twice, or never
            begins = self._on_clock(at)
        begins = begins.cast(self.kind)
        number = whole_type(self.kind)
        found: np.ndarray = begins.view(number).to_numpy(zero_copy_only=False).astype(np.int64)
        return found

    def _on_clock(self, at: pa.Array) -> pa.Array:
        """Where buckets begin, if the clock is set back or forward there.

        A time that the clock shows twice begins two buckets, the second one where it shows it again; a day
        and what is longer begin once. One that it never shows is the time at which it is set forward.
        """
        whole = self.unit in _WHOLE
        if not whole and _HOUR % (size := self.size * NANOSECONDS[_OF_ARROW[self.unit]]) and size % _HOUR:
            raise DataError(
                f"by: in a bucket of {self.size:g} {self.unit}s the clocks of {self.kind.tz} are set back or "
                "forward: give a length that divides an hour, or whole hours"
            )
        shown = pc.floor_temporal(pc.local_timestamp(at), int(self.size), self.unit)
        first, second = (
            pc.assume_timezone(shown, self.kind.tz, ambiguous=which, nonexistent="latest")
            for which in ("earliest", "latest")
        )
        return first if whole else pc.if_else(pc.less_equal(second, at), second, first)

    def before(self, begins: np.ndarray) -> np.ndarray:
        """Where the buckets before some begin; parameters as of `of`."""
        if not self.unit:
            return begins - self.size if self._whole else self.of(begins - self.size / 2)
        return self._near(begins - 1)

    def after(self, begins: np.ndarray) -> np.ndarray:
        """Where the buckets after some begin; parameters as of `of`."""
        if not self.unit:
            return begins + self.size if self._whole else self.of(begins + 1.5 * self.size)
        tick = NANOSECONDS[_DATES.get(self.kind) or self.kind.unit]
        step, hour = (max(1, -(-length // tick)) for length in (int(self.size) * _LONGEST[self.unit], _HOUR))
        at = begins + step
        found = self._near(at)
        for _ in range(4):  # where clocks are set back, a bucket is longer
            late = found <= begins
            if not late.any():
                break
            at = np.where(late, at + hour, at)
            found = self._near(at)
        return found

    @property
    def _whole(self) -> bool:
        return isinstance(self.size, int) and not pa.types.is_floating(self.kind)

    def _near(self, at: np.ndarray) -> np.ndarray:
        """The buckets of some times; the times themselves where clocks are set inside an odd length."""
        try:
            return self.of(at)
        except DataError:
            return at

    def column(self, begins: np.ndarray) -> pa.Array:
        """Where buckets begin, in the type of the times."""
        return times(begins, self.kind)


def is_span(by: Any) -> bool:
    """Whether `by` is written as a length of time, and not as the name of a column."""
    return isinstance(by, (int, float)) or (isinstance(by, str) and _SPAN.fullmatch(by) is not None)


def buckets(by: Any, order_by: Sequence[str], schema: pa.Schema, order_unit: str | None) -> Buckets:
    """The buckets that `by` asks for, for the time column of some events.

    Parameters
    ----------
    by : str, int or float
        A number and a unit; a number alone for an order column of plain numbers, in its own unit.
    order_by : sequence of str
    schema : pyarrow.Schema
        Of the events.
    order_unit : str or None
        The unit of plain numbers.

    Raises
    ------
    ValueError
        When `by` cannot cut the times of these events: no time column, no unit, or a wrong one.
    """
    if not order_by:
        raise ValueError(f"by={brief(by)} divides time into buckets: name the column of time with order_by")
    name = order_by[0]
    kind = schema.field(name).type
    plain = not pa.types.is_temporal(kind)
    if not isinstance(by, str):
        if not plain:
            raise ValueError(
                f"by={brief(by)}: `{name}` holds {kind}: write the length of a bucket with a unit: {FORMS}"
            )
        if not by > 0:
            raise ValueError(f"by={brief(by)}: a bucket must be longer than 0")
        return Buckets(kind, by)
    match = _SPAN.fullmatch(by)
    size = 0 if match is None else int(match[1])
    word = "" if match is None else match[2].lower()
    unit = unit_named(word)
    calendar = _CALENDAR.get(word.removesuffix("s") if len(word) > 1 else word)
    if size == 0 or (unit is None and calendar is None):
        raise ValueError(f"by={brief(by)} is not a length of time: write {FORMS}")
    if not plain and not pa.types.is_duration(kind):
        return Buckets(kind, size, calendar or _ARROW[unit or ""])
    if unit is None:
        raise ValueError(f"by={brief(by)}: `{name}` holds {kind}, which has no {calendar}s: write it in days")
    own = order_unit if plain else kind.unit
    if own is None:
        raise ValueError(
            f"by={brief(by)}: `{name}` holds plain numbers: give their unit with order_unit, or give a "
            "number as by"
        )
    length, rest = divmod(size * NANOSECONDS[unit], NANOSECONDS[own])
    if rest or not length:
        raise ValueError(f"by={brief(by)} is not a whole number of {own}, the unit of `{name}`")
    return Buckets(kind, length)
