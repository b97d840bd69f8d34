"""The functions of one event over columns (language section 4), by pyarrow.compute where it has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.derive import as_floats
from cer_gpu.engine.read.sources.arrow_types import decoded
from cer_gpu.engine.read.sources.columns import NONE_BEYOND, Values, both_valid, either_beyond
from cer_gpu.engine.read.sources.decimals import decimal_with
from cer_gpu.engine.read.zones import offsets_between
from cer_gpu.errors import DataError
from cer_gpu.kernels.classify.contract import NONE_MISSING
from cer_gpu.kernels.times import cpu as kernels
from cer_gpu.kernels.times.contract import PARTS
from cer_gpu.language.functions import FLOATS, JOINED, OUTERMOST, PREDICATES, TEXTS
from cer_gpu.language.scalar_functions import value_of
from cer_gpu.language.schema import CategoryOrder, ValueType
from cer_gpu.language.units import NANOSECONDS, digits_of
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.plan.constants import Measure

INT64 = np.iinfo(np.int64)

Texts: TypeAlias = "pa.Array | str | int"
"""A value of a function of texts: a column, or a constant."""

OF_TEXT = TEXTS | PREDICATES | {"LENGTH"}
"""Functions of a text."""

_OF_TIME: dict[str, Callable[[pa.Array], pa.Array]] = {
    "YEAR": lambda times: pc.year(times),
    "MONTH": lambda times: pc.month(times),
    "DAY": lambda times: pc.day(times),
    "HOUR": lambda times: pc.hour(times),
    "MINUTE": lambda times: pc.minute(times),
    "SECOND": lambda times: pc.second(times),
    "WEEKDAY": lambda times: pc.day_of_week(times, count_from_zero=False, week_start=1),
}


TIMES = frozenset({*_OF_TIME, "DATE"})
"""Functions of a time."""


def of_time(function: str, times: pa.Array) -> pa.Array:
    """A part of dates, or of timestamps in their time zone, as int64; DATE gives date32.

    Of a date the time of day is 0.
    """
    if pa.types.is_date(times.type):
        if function == "DATE":
            return times.cast(pa.date32())
        times = times.cast(pa.timestamp("s"))
    elif times.type.tz is not None and function in ("DATE", "SECOND"):
        times = pc.local_timestamp(times)  # of old offsets Arrow leaves the seconds out
    return _days(times) if function == "DATE" else _OF_TIME[function](times).cast(pa.int64())


def _days(times: pa.Array) -> pa.Array:
    """The days of timestamps, counted downwards before 1970, where a cast would cut towards it."""
    counts = times.cast(pa.int64())
    day = NANOSECONDS["d"] // NANOSECONDS[times.type.unit]
    days = np.floor_divide(counts.fill_null(0).to_numpy(), day).astype(np.int32)
    missing = counts.is_null().to_numpy(zero_copy_only=False) if counts.null_count else None
    return pa.array(days, mask=missing).cast(pa.date32())


def of_text(function: str, arguments: Sequence[Texts]) -> pa.Array:
    """A function of texts; of a dictionary's values each once, where what stands beside it is constant.

    Parameters
    ----------
    function : str
        One of `OF_TEXT`.
    arguments : sequence of Array, str or int
        At least one is a column.

    Returns
    -------
    Array of large_string, or of the dictionary's type; int64 for LENGTH, bool for `PREDICATES`
    """
    kind = _KINDS.get(function, pa.large_string())
    rows = next(len(one) for one in arguments if isinstance(one, pa.Array))
    if any(isinstance(one, pa.Array) and pa.types.is_null(one.type) for one in arguments):
        return pa.nulls(rows, kind)
    if function == JOINED:
        plain = [decoded(one) if isinstance(one, pa.Array) else pa.scalar(one, kind) for one in arguments]
        return pc.binary_join_element_wise(*plain, pa.scalar("", kind))
    texts, constants = arguments[0], arguments[1:]
    if not isinstance(texts, pa.Array) or any(isinstance(one, pa.Array) for one in constants):
        return _row_by_row(function, arguments, rows, kind)
    if not pa.types.is_dictionary(texts.type):
        if pa.types.is_string_view(texts.type):  # Arrow has no functions of it
            texts = texts.cast(pa.large_string())
        found = _OF_TEXT[function](texts, *constants)
        return found.cast(kind) if function in _KINDS else found
    values = of_text(function, [texts.dictionary, *constants])
    if function in _KINDS:
        return values.take(texts.indices)
    return pa.DictionaryArray.from_arrays(texts.indices, values)


def _row_by_row(function: str, arguments: Sequence[Texts], rows: int, kind: pa.DataType) -> pa.Array:
    """A function whose arguments differ from row to row, which Arrow has not."""
    given = [one.to_pylist() if isinstance(one, pa.Array) else [one] * rows for one in arguments]
    return pa.array([value_of(function, values) for values in zip(*given)], kind)


def _part(texts: pa.Array, start: int, length: int | None = None) -> pa.Array:
    first = max(start - 1, 0)
    end = None if length is None else max(start - 1 + length, first)
    if end == first:
        return pc.if_else(texts.is_valid(), pa.scalar("", texts.type), texts)
    return pc.utf8_slice_codeunits(texts, first, end)


def _replaced(texts: pa.Array, what: str, by: str) -> pa.Array:
    return pc.replace_substring(texts, what, by) if what else texts


def _part_between(texts: pa.Array, separator: str, number: int) -> pa.Array:
    none = pa.scalar("", texts.type)
    if not separator and number == 1:
        return texts
    found: pa.Array | pa.Scalar = none
    if separator and number >= 1:
        parts = pc.split_pattern(texts.fill_null(""), separator)
        there = pc.list_slice(parts, number - 1, number, return_fixed_size_list=True)
        found = there.flatten().fill_null(none)
    return pc.if_else(texts.is_valid(), found, texts)


_KINDS: dict[str, pa.DataType] = {"LENGTH": pa.int64(), **dict.fromkeys(PREDICATES, pa.bool_())}
"""What functions of texts give that do not give a text."""

_OF_TEXT: dict[str, Callable[..., pa.Array]] = {
    "LOWER": lambda texts: pc.utf8_lower(texts),
    "UPPER": lambda texts: pc.utf8_upper(texts),
    "LENGTH": lambda texts: pc.utf8_length(texts),
    "TRIM": lambda texts: pc.utf8_trim(texts, " "),
    "SUBSTRING": _part,
    "REPLACE": _replaced,
    "SPLIT_PART": _part_between,
    "CONTAINS": lambda texts, part: pc.match_substring(texts, part),
    "STARTS_WITH": lambda texts, part: pc.starts_with(texts, part),
    "ENDS_WITH": lambda texts, part: pc.ends_with(texts, part),
}


def places_of(texts: pa.Array, categories: Sequence[str], name: str) -> pa.Array:
    """The place of each text among categories, int64; null for a null.

    Raises
    ------
    DataError
        If a text is no category.
    """
    if pa.types.is_null(texts.type):
        return pa.nulls(len(texts), pa.int64())
    if not pa.types.is_dictionary(texts.type):
        texts = texts.dictionary_encode()
    known = pa.array(categories, pa.large_string())
    values = texts.dictionary
    if values.type != known.type:
        values = values.cast(known.type)
    place = pc.index_in(values, known)
    found = place.take(texts.indices)
    if found.null_count > texts.null_count:
        wrong = pc.and_(found.is_null(), texts.is_valid())
        text = values[texts.indices[pc.index(wrong, True).as_py()].as_py()].as_py()
        column = name.removeprefix("\0")
        raise DataError(
            f"column `{column}` has the category '{text}', and the order that was read first has only "
            f"{CategoryOrder(tuple(categories))}; give the whole column the same ordered categories"
        )
    return found.cast(pa.int64())


CHOOSE: dict[str, Callable[..., pa.Array]] = {
    "COALESCE": lambda *values: pc.coalesce(*values),
    "GREATEST": lambda *values: pc.max_element_wise(*values),
    "LEAST": lambda *values: pc.min_element_wise(*values),
}
"""Functions that give one of their arguments, which have one type."""


def chosen_text(function: str, texts: Sequence[Texts], rows: int) -> pa.Array:
    """COALESCE, GREATEST or LEAST of texts, as large_string."""
    plain = [
        pa.scalar(one, pa.large_string()) if isinstance(one, str) else decoded(_texts(one)) for one in texts
    ]
    found = CHOOSE[function](*plain)
    return pa.repeat(found, rows) if isinstance(found, pa.Scalar) else found


def _texts(column: pa.Array) -> pa.Array:
    return column.cast(pa.large_string()) if pa.types.is_null(column.type) else column


def of_numbers(function: str, arguments: Sequence[tuple[Values, str | None]], zone: str | None) -> Values:
    """The values of a function of numbers and times, in the unit of `measure_of_call`.

    Parameters
    ----------
    function : str
    arguments : sequence of (Values, str or None)
        With the unit of each; for COALESCE, GREATEST and LEAST all in one unit.
    zone : str or None
        The time zone of a time.
    """
    values, unit = arguments[0]
    if function == "COALESCE":
        return _first([one for one, _ in arguments])
    if function in OUTERMOST:
        return _outermost(function, [one for one, _ in arguments])
    if function in FLOATS:
        return _floats(function, [as_floats(one, unit) for one, unit in arguments])
    if function == "ABS":
        return _absolute(values)
    if function in TIMES:
        return _of_time(function, values, unit or "ns", zone)
    return _rounded(function, values, unit)


def _absolute(values: Values) -> Values:
    data = values.data
    if data.dtype.kind == "u":
        return values
    if data.dtype.kind == "i":
        data = data.astype(np.int64, copy=False)
        least = data == INT64.min
        with np.errstate(over="ignore"):
            found = np.abs(data)
        beyond = either_beyond(values.beyond, least) if least.any() else values.beyond
        return Values(found, values.valid, beyond)
    return Values(np.abs(data), values.valid, values.beyond)


def _rounded(function: str, values: Values, unit: str | None) -> Values:
    data = values.data
    digits = digits_of(unit)
    if digits is not None:
        if data.dtype == object or digits < 0 or digits >= 19:
            return _fitting(_rounded_wide(function, data.astype(object), digits), values)
        return Values(_rounded_decimals(function, data, digits), values.valid, values.beyond)
    if data.dtype.kind != "f":
        return values
    round_off = {"FLOOR": np.floor, "CEIL": np.ceil, "ROUND": np.rint}[function]
    whole = round_off(data.astype(np.float64, copy=False))
    fits = (whole >= -(2.0**63)) & (whole < 2.0**63)
    if fits.all():
        return Values(whole.astype(np.int64), values.valid, values.beyond)
    valid = both_valid(fits.view(np.uint8), values.valid)
    return Values(np.where(fits, whole, 0).astype(np.int64), valid, values.beyond)


def _rounded_decimals(function: str, data: np.ndarray, digits: int) -> np.ndarray:
    one = np.int64(10) ** digits
    whole, rest = np.divmod(data, one)
    if function == "CEIL":
        return whole + (rest > 0)
    if function == "ROUND":
        twice = rest.astype(np.uint64) * np.uint64(2)
        half = np.uint64(one)
        return whole + ((twice > half) | ((twice == half) & (whole & 1 == 1)))
    return whole


def _rounded_wide(function: str, data: np.ndarray, digits: int) -> np.ndarray:
    """The same of Python integers."""
    if digits <= 0:
        return data * 10**-digits
    one = 10**digits
    if function == "FLOOR":
        return data // one
    if function == "CEIL":
        return -(-data // one)
    whole = data // one
    twice = 2 * (data - whole * one)
    return whole + ((twice > one) | ((twice == one) & (whole % 2 == 1))).astype(int)


def _fitting(whole: np.ndarray, values: Values) -> Values:
    """Python integers as int64: null where they do not fit."""
    fits = ((whole >= INT64.min) & (whole <= INT64.max)).astype(np.uint8)
    whole = np.where(fits, whole, 0).astype(np.int64)
    return Values(whole, both_valid(fits, values.valid), values.beyond)


def _first(values: Sequence[Values]) -> Values:
    found = values[0]
    kinds = {one.data.dtype.kind: one.data.dtype for one in values}
    kind: np.dtype = np.dtype(np.float64) if "f" in kinds else kinds.get("O", found.data.dtype)
    for other in values[1:]:
        if not len(found.valid):
            break
        there = found.valid != 0
        data = np.where(there, found.data, other.data)
        valid = found.valid | other.valid if len(other.valid) else NONE_MISSING
        beyond = found.beyond
        if len(found.beyond) or len(other.beyond):
            own = found.beyond if len(found.beyond) else np.zeros(len(data), bool)
            its = other.beyond if len(other.beyond) else np.zeros(len(data), bool)
            beyond = np.where(there, own, its)
        found = Values(data, valid, beyond)
    return Values(found.data.astype(kind, copy=False), found.valid, found.beyond)


def _outermost(function: str, values: Sequence[Values]) -> Values:
    """GREATEST or LEAST: nulls are left out, and a NaN where there is another value."""
    choose = np.fmax if function == "GREATEST" else np.fmin
    if any(one.data.dtype.kind == "f" for one in values):
        values = [Values(one.data.astype(np.float64, copy=False), one.valid, one.beyond) for one in values]
    found = values[0]
    for other in values[1:]:
        data = choose(found.data, other.data)
        valid = NONE_MISSING
        if len(found.valid):
            data = np.where(found.valid != 0, data, other.data)
        if len(other.valid):
            data = np.where(other.valid != 0, data, found.data)
        if len(found.valid) and len(other.valid):
            valid = found.valid | other.valid
        beyond = either_beyond(found.beyond, other.beyond)
        found = Values(data, valid, beyond)
    return found


def _floats(function: str, values: Sequence[Values]) -> Values:
    """Functions that give a float64; what is not defined is null.

    Arrow computes each value as the C library does, so that Python finds the same bits; Numpy does not.
    """
    data = values[0].data.astype(np.float64, copy=False)
    valid, beyond = values[0].valid, values[0].beyond
    if function == "SIGN":
        return Values(np.sign(data), valid, beyond)
    defined = np.ones(len(data), bool)
    if function == "POWER":
        exponent = values[1].data.astype(np.float64, copy=False)
        valid, beyond = both_valid(valid, values[1].valid), either_beyond(beyond, values[1].beyond)
        found = pc.power(pa.array(data), pa.array(exponent)).to_numpy(zero_copy_only=False)
        defined = ~(np.isnan(found) & ~np.isnan(data) & ~np.isnan(exponent)) & ~((data == 0) & (exponent < 0))
    elif function == "EXP":
        found = pc.exp(pa.array(data)).to_numpy(zero_copy_only=False)
    else:
        defined = ~(data < 0) if function == "SQRT" else ~(data <= 0)
        found = (pc.sqrt if function == "SQRT" else pc.ln)(pa.array(np.where(defined, data, 1.0)))
        found = found.to_numpy(zero_copy_only=False)
    if defined.all():
        return Values(found, valid, beyond)
    return Values(np.where(defined, found, 0.0), both_valid(defined.astype(np.uint8), valid), beyond)


def in_sign(values: Values, signed: bool) -> Values:
    """Whole numbers as int64 or as uint64; `Values.beyond` tells where one does not fit."""
    if values.data.dtype.kind not in "iu" or (values.data.dtype == np.uint64) is not signed:
        return values
    far = values.data > np.uint64(INT64.max) if signed else values.data < 0
    data = values.data.astype(np.int64 if signed else np.uint64)
    beyond = either_beyond(values.beyond, far)
    return Values(data, values.valid, beyond if beyond.any() else NONE_BEYOND)


def _of_time(function: str, values: Values, unit: str, zone: str | None) -> Values:
    data = np.ascontiguousarray(values.data.astype(np.int64, copy=False))
    if unit == "d":
        data, unit = data * (NANOSECONDS["d"] // NANOSECONDS["s"]), "s"
    found = np.empty(len(data), _NARROW.get(function, np.int32))
    done, data, zone = _where_alike(function, data, unit, zone, found)
    if done < len(data):
        times = pa.Array.from_buffers(pa.timestamp(unit, zone), len(data), [None, pa.py_buffer(data)])
        whole = of_time(function, times.slice(done))
        found[done:] = (whole.cast(pa.int32()) if function == "DATE" else whole).to_numpy()
    return Values(found, values.valid, values.beyond)


def _where_alike(
    function: str, data: np.ndarray, unit: str, zone: str | None, out: np.ndarray
) -> tuple[int, np.ndarray, str | None]:
    """Write parts of times, as long as neighbours have them in common.

    Returns
    -------
    int
        How many are written.
    ndarray, shape (n,), int64
        The times, or what clocks show at them.
    str or None
        The zone in which they are still to be read.
    """
    if not len(data):
        return 0, data, zone
    part, second = PARTS.index(function), NANOSECONDS["s"] // NANOSECONDS[unit]
    ends = int(data[0]), int(data[-1])
    offsets = offsets_between(zone, min(ends), max(ends), unit)
    done = 0 if offsets is None else kernels.parts(data, part, second, offsets, out)
    if done < len(data) and zone not in (None, "UTC"):
        offsets = offsets_between(zone, int(data.min()), int(data.max()), unit)
        if offsets is not None:
            shown = np.empty_like(data)
            kernels.local_times(data, offsets, shown)
            return done, shown, None
    return done, data, zone


_NARROW = dict.fromkeys(("MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "WEEKDAY"), np.int8)
"""Parts of times that fit a byte: little memory to write and read again."""

ARROW: dict[ValueType, pa.DataType] = {
    ValueType.BOOL: pa.bool_(),
    ValueType.INT64: pa.int64(),
    ValueType.FLOAT64: pa.float64(),
    ValueType.STRING: pa.large_string(),
}
"""Arrow types of derived columns."""


def arrow_type(measure: Measure) -> pa.DataType:
    """The Arrow type of a derived column."""
    unit = measure.unit
    digits = digits_of(unit)
    if digits is not None:
        return decimal_with(digits)
    if measure.type is ValueType.TIMESTAMP:
        return pa.date32() if unit == "d" else pa.timestamp(unit, measure.zone)
    if measure.type is ValueType.DURATION:
        return pa.duration(unit)
    return ARROW[measure.type]
