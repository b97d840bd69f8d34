"""The functions of one event over whole columns (language section 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.functions import of_text
from cer_gpu.language.units import NANOSECONDS
from cer_gpu.late import compute as pc


def called(function: str, arguments: Sequence[pa.Array]) -> pa.Array:
    """A function of columns; a null gives a null, but for COALESCE, which gives the first that is none.

    Parameters
    ----------
    function : str
        In capitals.
    arguments : sequence of Array
        Of types that the checks of the language allow.
    """
    if function == "COALESCE":
        kinds = {one.type for one in arguments}
        if len(kinds) > 1 and any(pa.types.is_floating(kind) for kind in kinds):
            arguments = [one.cast(pa.float64()) for one in arguments]
        return pc.coalesce(*arguments)
    (values,) = arguments
    if function in ("LOWER", "UPPER", "LENGTH"):
        return of_text(function, values)
    return _FUNCTIONS[function](values)


def _absolute(values: pa.Array) -> pa.Array:
    if not pa.types.is_duration(values.type):
        return pc.abs_checked(values)
    return pc.abs_checked(values.cast(pa.int64())).cast(values.type)


def _rounded(name: str) -> Callable[[pa.Array], pa.Array]:
    """A function that gives whole numbers; null where they do not fit 64 bits."""

    def rounded(values: pa.Array) -> pa.Array:
        if pa.types.is_integer(values.type):
            return values.cast(pa.int64())
        if pa.types.is_decimal(values.type):
            return getattr(pc, name)(values, **_MODE.get(name, {})).cast(pa.int64())
        found = getattr(pc, name)(values.cast(pa.float64()), **_MODE.get(name, {}))
        fits = pc.and_(pc.greater_equal(found, -(2.0**63)), pc.less(found, 2.0**63))
        return pc.if_else(fits, found, None).cast(pa.int64())

    return rounded


_MODE = {"round": {"round_mode": "half_to_even"}}


def _whole(name: str) -> Callable[[pa.Array], pa.Array]:
    def part(values: pa.Array) -> pa.Array:
        return getattr(pc, name)(values).cast(pa.int64())

    return part


def _clock(name: str) -> Callable[[pa.Array], pa.Array]:
    """A part of the time of day: of a date it is 0."""

    def part(values: pa.Array) -> pa.Array:
        if pa.types.is_date(values.type):
            values = values.cast(pa.timestamp("s"))
        elif name == "second" and values.type.tz is not None:  # of old offsets Arrow leaves the seconds out
            values = pc.local_timestamp(values)
        return getattr(pc, name)(values).cast(pa.int64())

    return part


def _weekday(values: pa.Array) -> pa.Array:
    return pc.day_of_week(values, count_from_zero=False, week_start=1).cast(pa.int64())


def _date(values: pa.Array) -> pa.Array:
    if pa.types.is_timestamp(values.type) and values.type.tz is not None:
        values = pc.local_timestamp(values)
    if not pa.types.is_timestamp(values.type):
        return values.cast(pa.date32())
    # A cast cuts off what is before 1970 towards it: days are counted downwards here.
    day = NANOSECONDS["d"] // NANOSECONDS[values.type.unit]
    counts = values.cast(pa.int64())
    days = np.floor_divide(counts.fill_null(0).to_numpy(), day).astype(np.int32)
    missing = counts.is_null().to_numpy(zero_copy_only=False) if counts.null_count else None
    return pa.array(days, mask=missing).cast(pa.date32())


_FUNCTIONS: Mapping[str, Callable[[pa.Array], pa.Array]] = {
    "ABS": _absolute,
    "FLOOR": _rounded("floor"),
    "CEIL": _rounded("ceil"),
    "ROUND": _rounded("round"),
    "YEAR": _whole("year"),
    "MONTH": _whole("month"),
    "DAY": _whole("day"),
    "HOUR": _clock("hour"),
    "MINUTE": _clock("minute"),
    "SECOND": _clock("second"),
    "WEEKDAY": _weekday,
    "DATE": _date,
}
