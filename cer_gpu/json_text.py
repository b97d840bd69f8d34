"""Arrow arrays as JSON text, a column at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from decimal import Decimal
from functools import cache

import numpy as np
import pyarrow as pa

from cer_gpu.lazy_modules import compute as pc


def json_text(array: pa.Array) -> pa.LargeStringArray:
    """Each value of an array as JSON.

    Times are ISO 8601 strings, with their offset where the type has a zone; durations are seconds; the
    floats that JSON lacks are the strings "NaN", "Infinity" and "-Infinity"; a null is `null`.

    Parameters
    ----------
    array : pyarrow.Array, length n

    Returns
    -------
    pyarrow.LargeStringArray, length n
        Without nulls.
    """
    kind = array.type
    if pa.types.is_dictionary(kind):
        return _filled(json_text(array.dictionary).take(array.indices))
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return _filled(array.cast(pa.large_string()))
    if pa.types.is_floating(kind):
        return _filled(_float_text(array.cast(pa.float64())))
    if pa.types.is_timestamp(kind):
        return _filled(wrapped('"', time_text(array), '"'))
    if pa.types.is_date(kind) or pa.types.is_time(kind):
        return _filled(wrapped('"', array.cast(pa.large_string()), '"'))
    if pa.types.is_duration(kind):
        seconds = in_seconds(array)
        exact = pa.types.is_decimal(seconds.type)
        return _filled(seconds.cast(pa.large_string())) if exact else json_text(seconds)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _list_text(array)
    if pa.types.is_struct(kind):
        fields = [f"{quoted(field.name)}: " for field in kind]
        texts = [wrapped(key, json_text(part), "") for key, part in zip(fields, array.flatten())]
        return _masked(wrapped("{", joined(texts, len(array)), "}"), array)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        values = array.dictionary_encode()
        spelled = [quoted(value) for value in values.dictionary.to_pylist()]
        return _filled(pa.array(spelled, pa.large_string()).take(values.indices))
    return pa.array([json.dumps(value, default=str) for value in array.to_pylist()], pa.large_string())


def quoted(text: str) -> str:
    """A text as JSON; beside what JSON escapes, the other characters that a terminal would obey."""
    spelled = json.dumps(text, ensure_ascii=False)
    return spelled if spelled.isprintable() else _beyond_ascii().sub(_escape, spelled)


@cache
def _beyond_ascii() -> re.Pattern[str]:
    return re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"


def time_text(array: pa.TimestampArray) -> pa.LargeStringArray:
    """Timestamps in ISO 8601; a type with a time zone in that zone, with its offset; nulls stay null."""
    shown, offset = _in_zone(array)
    bare = shown.cast(pa.large_string())
    text = pc.binary_join_element_wise(pc.replace_substring(bare, " ", "T"), offset, _constant(""))
    # Of a time beyond the calendar Arrow says so, with the number in its place.
    beyond = pc.starts_with(bare, "<")
    return pc.if_else(beyond, bare, text) if pc.any(beyond).as_py() else text


def in_seconds(array: pa.DurationArray) -> pa.Array:
    """Durations in seconds: int64 if that is the unit, float64 if that is exact, else decimals."""
    per_second, counts = _SECONDS[array.type.unit], array.cast(pa.int64())
    if per_second == 1:
        return counts
    most = pc.max(pc.abs(counts)).as_py() or 0
    if 0 <= most <= 1 << 53:
        return pc.divide(counts.cast(pa.float64()), float(per_second))
    digits = len(str(per_second)) - 1
    return pc.multiply(counts.cast(pa.decimal128(19)), pa.scalar(Decimal(1).scaleb(-digits)))


_AT_UTC = ("UTC", "Etc/UTC", "Z", "GMT", "+00:00")
"""Time zones whose offset is written `Z`."""

_SECONDS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def _in_zone(array: pa.TimestampArray) -> tuple[pa.TimestampArray, pa.Array | pa.Scalar]:
    """Timestamps without a zone as the clocks of their zone show them, and the offset of each as text."""
    unit, zone = array.type.unit, array.type.tz
    counts = array.cast(pa.int64())
    in_utc = counts.cast(pa.timestamp(unit))
    if zone is None or zone in _AT_UTC:
        return in_utc, _constant("Z" if zone else "")
    try:
        local = pc.local_timestamp(array)
    except pa.ArrowInvalid:  # no data of time zones on this machine
        return in_utc, _constant("Z")
    clocks = local.cast(pa.int64()).fill_null(0).to_numpy()
    moments = counts.fill_null(0).to_numpy()
    with np.errstate(over="ignore"):
        ahead = clocks - moments
    offsets, which = np.unique(ahead // _SECONDS[unit], return_inverse=True)
    texts = pa.array([_offset_text(int(offset)) for offset in offsets], pa.large_string())
    # Within hours of the last time that 64 bits hold, a clock that is ahead has no number.
    wrapped_round = (clocks < moments) != (ahead < 0)
    if wrapped_round.any():
        fits = pa.array(~wrapped_round)
        told = pc.if_else(fits, texts.take(pa.array(which)), _constant("Z"))
        return pc.if_else(fits, local, in_utc), told
    return local, texts.take(pa.array(which))


def _offset_text(seconds: int) -> str:
    minutes, rest = divmod(abs(seconds), 60)
    text = f"{'-' if seconds < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"
    return f"{text}:{rest:02}" if rest else text


def joined(texts: Sequence[pa.Array], length: int) -> pa.Array:
    """For each row those of its texts that are not null, with commas between them."""
    if not texts:
        return pa.repeat(_constant(""), length)
    # Arrow's own way to skip nulls drops the rows where all are null.
    parts = [wrapped("", text, ", ").fill_null("") for text in texts]
    return pc.ascii_rtrim(pc.binary_join_element_wise(*parts, _constant("")), ", ")


def wrapped(left: str, text: pa.Array, right: str) -> pa.Array:
    """`text` between two constants; nulls stay null."""
    return pc.binary_join_element_wise(_constant(left), text, _constant(right), _constant(""))


def _constant(text: str) -> pa.Scalar:
    # Of many texts together: those of 32 bits would end at 2 GiB.
    return pa.scalar(text, pa.large_string())


def lines(texts: pa.LargeStringArray) -> memoryview:
    """The texts as bytes, one line for each."""
    ended = wrapped("", texts, "\n")
    size = pc.sum(pc.binary_length(ended)).as_py() or 0
    return memoryview(ended.buffers()[2])[:size] if size else memoryview(b"")


def _filled(texts: pa.Array) -> pa.Array:
    return texts.fill_null("null") if texts.null_count else texts


def _masked(texts: pa.Array, array: pa.Array) -> pa.Array:
    return pc.if_else(array.is_null(), _constant("null"), texts) if array.null_count else texts


def _float_text(array: pa.DoubleArray) -> pa.LargeStringArray:
    finite = pc.is_finite(array)
    text = array.cast(pa.large_string())
    if pc.all(finite).as_py() is not False:
        return text
    endless = pc.if_else(pc.greater(array, 0.0), _constant('"Infinity"'), _constant('"-Infinity"'))
    odd = pc.if_else(pc.is_nan(array), _constant('"NaN"'), endless)
    return pc.if_else(finite, text, odd)


def _list_text(array: pa.ListArray) -> pa.LargeStringArray:
    lengths = pc.list_value_length(array).fill_null(0).to_numpy(zero_copy_only=False)
    offsets = np.zeros(len(array) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    texts = pa.ListArray.from_arrays(pa.array(offsets), json_text(array.flatten()))
    return _masked(wrapped("[", pc.binary_join(texts, _constant(", ")), "]"), array)
