"""The functions of one event over whole columns (language section 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from cer_gpu.engine.read.functions import TIMES, of_text, of_time
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
    if function in TIMES:
        return of_time(function, values)
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


_FUNCTIONS: Mapping[str, Callable[[pa.Array], pa.Array]] = {
    "ABS": _absolute,
    "FLOOR": _rounded("floor"),
    "CEIL": _rounded("ceil"),
    "ROUND": _rounded("round"),
}
