"""CAST and TRY_CAST.

Numbers are rounded, halves away from zero; times lose the units that the type lacks. A text may have spaces
around what it holds.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cer_gpu.engine.rows.calls import Compute, ScalarCall, ScalarStep
from cer_gpu.engine.rows.value_types import (
    FLOAT,
    INT,
    NUMBERS,
    Values,
    converted,
    decimal_type,
    described,
    in_zone,
    kind_of,
    normal,
)
from cer_gpu.lazy_modules import compute as pc

_TO = {
    "bool": {"bool", "int", "text"},
    "int": {"int", "float", "decimal", "text", "bool"},
    "float": {"int", "float", "decimal", "text", "bool"},
    "decimal": {"int", "float", "decimal", "text", "bool"},
    "text": {"int", "float", "decimal", "text", "bool", "date", "timestamp", "time"},
    "date": {"date", "timestamp", "text"},
    "timestamp": {"date", "timestamp", "text"},
    "time": {"time", "timestamp", "text"},
    "duration": {"duration"},
}
"""Kinds of values that can become one of a kind."""

_UNITS = {"s": "second", "ms": "millisecond", "us": "microsecond", "ns": "nanosecond"}


def cast(call: ScalarCall) -> ScalarStep:
    """`CAST` and `TRY_CAST`; the detail of the operation is the type."""
    (operand,) = call.operands
    target: pa.DataType = call.node.detail
    from_, to = kind_of(operand.type), kind_of(target)
    if from_ == "null":
        return call.null(normal(target))
    if from_ not in _TO.get(to, {to}):
        hints = []
        if {from_, to} <= NUMBERS | {"timestamp", "date", "duration"}:
            hints = ["`EXTRACT(EPOCH FROM x)` gives the seconds of a time, TIMESTAMPDIFF those between two"]
        raise call.refusal("CER029", f"{described(operand.type)} cannot become {described(target)}", *hints)
    compute = caster(operand.type, target)
    if call.node.name == "try cast":
        return call.step(normal(target), lambda values: _where_possible(compute, values, normal(target)))
    return call.step(normal(target), compute)


def caster(from_: pa.DataType, target: pa.DataType) -> Compute:
    """The function that makes values of one type those of another."""
    kinds = kind_of(from_), kind_of(target)
    own = normal(target)
    match kinds:
        case "text", "text":
            return lambda values: pc.cast(values, own)
        case "text", kind:
            return lambda values: _narrowed(_of_text(values, kind, target), target, own)
        case "float" | "decimal", "int":
            return lambda values: _narrowed(pc.cast(_rounded(values, 0), INT), target, own)
        case "float", "float":
            return lambda values: _narrowed(values, target, own)
        case "decimal" | "float" | "int", "decimal":
            return lambda values: _to_decimal(values, own)
        case "bool", "decimal":
            return lambda values: _to_decimal(pc.cast(values, INT), own)
        case "int", "float":
            return lambda values: _narrowed(converted(values, FLOAT), target, own)
        case "timestamp" | "time", "text":
            return lambda values: _shown(values, own)
        case "timestamp", "date":
            return lambda values: pc.cast(values, own)
        case "date", "timestamp":
            return lambda values: converted(values, own)
        case "timestamp", "timestamp":
            return lambda values: _between_zones(values, own)
        case "timestamp", "time":
            return lambda values: pc.cast(_local(values), own)
        case "duration", "duration":
            return lambda values: pc.cast(values, own, safe=False)
    return lambda values: _narrowed(values, target, own)


def _narrowed(values: Values, target: pa.DataType, own: pa.DataType) -> Values:
    """Values as a normal type, checked to fit a narrower one: CAST(300 AS TINYINT) is an error."""
    if target != own and pa.types.is_integer(target):
        return pc.cast(pc.cast(values, target), own)
    if target != own and pa.types.is_floating(target):
        return pc.cast(pc.cast(values, target, safe=False), own)
    return pc.cast(values, own)


def _rounded(values: Values, places: int) -> Values:
    return pc.round(_roomy(values), ndigits=places, round_mode="half_towards_infinity")


def _roomy(values: Values) -> Values:
    # What is rounded up may have one more digit.
    if not pa.types.is_decimal(values.type):
        return values
    return pc.cast(values, decimal_type(values.type.precision + 1, values.type.scale) or values.type)


def _shown(values: Values, own: pa.DataType) -> Values:
    """Times as texts, with the digits of a fraction that say something."""
    texts = pc.replace_substring_regex(
        pc.cast(values, own), pattern=r"(\.\d*[1-9])0+(\D.*)?$", replacement=r"\1\2"
    )
    return pc.replace_substring_regex(texts, pattern=r"\.0+(\D.*)?$", replacement=r"\1")


def _to_decimal(values: Values, own: pa.DataType) -> Values:
    if pa.types.is_integer(values.type):
        wide = decimal_type(19 + own.scale, own.scale)
        return (
            pc.cast(pc.cast(pc.cast(values, pa.decimal128(19, 0)), wide), own)
            if wide
            else pc.cast(values, own)
        )
    if pa.types.is_floating(values.type) or values.type.scale > own.scale:
        values = _rounded(values, own.scale)
    return pc.cast(values, own)


def _of_text(values: Values, kind: str, target: pa.DataType) -> Values:
    values = pc.utf8_trim_whitespace(values)
    match kind:
        case "int":
            return pc.cast(pc.replace_substring_regex(values, pattern=r"^\+(\d)", replacement=r"\1"), INT)
        case "decimal":
            roomy = decimal_type(min(76, target.precision + 20), min(76, target.scale + 20)) or target
            return _to_decimal(pc.cast(values, roomy), target)
        case "date":
            return pc.cast(_moments(values, pa.timestamp("us")), target)
        case "timestamp":
            return _moments(values, target)
    return pc.cast(values, normal(target))


def _moments(values: Values, target: pa.DataType) -> Values:
    """Texts as timestamps, those with an offset as moments; where the type has no zone, as those of UTC."""
    offset = pc.match_substring_regex(values, pattern=r"[Tt ].*(?:[Zz]|[+-]\d\d:?\d*)$")
    finest = pa.timestamp("ns" if target.unit == "ns" else "us")
    moments = pc.cast(pc.if_else(offset, pa.scalar(None, values.type), values), finest)
    if target.tz is not None:
        moments = in_zone(moments, target.tz)
    if pc.any(offset).as_py():
        zoned = pa.timestamp(finest.unit, target.tz or "UTC")
        given = pc.cast(pc.if_else(offset, values, pa.scalar(None, values.type)), zoned)
        moments = pc.coalesce(moments, pc.cast(given, moments.type))
    return _between_zones(moments, target)


def _local(values: Values) -> Values:
    return pc.local_timestamp(values) if values.type.tz is not None else values


def _between_zones(values: Values, target: pa.DataType) -> Values:
    """Timestamps of another unit, as clocks show them where only one side has a zone."""
    if (values.type.tz is None) != (target.tz is None):
        values = _local(values) if target.tz is None else in_zone(values, target.tz)
    units = list(_UNITS)
    if units.index(target.unit) < units.index(values.type.unit):
        values = pc.floor_temporal(values, unit=_UNITS[target.unit])
    return pc.cast(values, target)


def _where_possible(compute: Compute, values: Values, own: pa.DataType) -> Values:
    """Each value that can be cast; null for the others, which are found by halving."""
    try:
        return compute(values)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    if len(values) == 1:
        return pa.nulls(1, own)
    if len(values) > 64:
        # Values that are there more than once are tried once.
        encoded = values.dictionary_encode()
        if len(encoded.dictionary) < len(values) // 2:
            return _where_possible(compute, encoded.dictionary, own).take(encoded.indices)
    possible = np.asarray(pc.fill_null(_likely(values, own), True))
    if not possible.all():
        kept = np.flatnonzero(possible)
        back = np.full(len(values), -1)
        back[kept] = np.arange(len(kept))
        some = values.take(pa.array(kept))
        made = _where_possible(compute, some, own) if len(kept) else pa.nulls(0, own)
        return made.take(pa.array(back, mask=back < 0))
    middle = len(values) // 2
    halves = values.slice(0, middle), values.slice(middle)
    return pa.concat_arrays([_where_possible(compute, half, own) for half in halves])


def _likely(values: Values, own: pa.DataType) -> Values:
    """Which values may be cast; what is surely none is not tried alone."""
    if kind_of(values.type) == "float":
        return pc.less(pc.abs(values), 1e38) if kind_of(own) != "float" else pc.is_valid(values)
    if kind_of(values.type) != "text":
        return pc.is_valid(values)
    forms = {
        "int": r"^\s*[+-]?\d{1,20}\s*$",
        "float": r"^\s*(?:[+-]?[\d.]+(?:[eE][+-]?\d+)?|[+-]?(?i:inf|infinity|nan))\s*$",
        "decimal": r"^\s*[+-]?[\d.]+(?:[eE][+-]?\d+)?\s*$",
        "date": r"^\s*\d{4}-\d\d-\d\d",
        "timestamp": r"^\s*\d{4}-\d\d-\d\d",
    }
    form = forms.get(kind_of(own))
    return pc.is_valid(values) if form is None else pc.match_substring_regex(values, pattern=form)
