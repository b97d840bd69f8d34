"""The functions of one event over whole columns (language section 4)."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from cer_gpu.engine.read.functions import TIMES, of_numbers, of_text, of_time
from cer_gpu.engine.read.sources import columns
from cer_gpu.late import compute as pc


def called(function: str, arguments: Sequence[pa.Array]) -> pa.Array:
    """The values of a function of columns. A null gives a null, except that COALESCE gives the first value.

    Parameters
    ----------
    function : str
        Its name in capitals.
    arguments : sequence of Array
        Of types that the language allows.

    Raises
    ------
    pyarrow.ArrowInvalid
        If a number does not fit.
    """
    if function == "COALESCE":
        kinds = {one.type for one in arguments}
        if len(kinds) > 1 and any(pa.types.is_floating(kind) for kind in kinds):
            arguments = [one.cast(pa.float64()) for one in arguments]
        return pc.coalesce(*arguments)
    (values,) = arguments
    if function in ("LOWER", "UPPER", "LENGTH"):
        return of_text(function, values)
    if function in TIMES:
        return of_time(function, values)
    if pa.types.is_decimal(values.type):
        return _of_decimals(function, values)
    if pa.types.is_duration(values.type):  # ABS
        return called(function, [values.cast(pa.int64())]).cast(values.type)
    found = of_numbers(function, [(columns.numbers(values, ""), None)], None)
    if found.beyond.any():
        raise pa.ArrowInvalid(f"{function} does not fit 64 bits")
    return pa.array(found.data, mask=found.valid == 0 if len(found.valid) else None)


def _of_decimals(function: str, values: pa.Array) -> pa.Array:
    """The same of decimals with any digits, of which `of_numbers` has those that fit 64 bits."""
    if function == "ABS":
        return pc.abs_checked(values)
    if function == "ROUND":
        return pc.round(values, round_mode="half_to_even").cast(pa.int64())
    return (pc.floor if function == "FLOOR" else pc.ceil)(values).cast(pa.int64())
