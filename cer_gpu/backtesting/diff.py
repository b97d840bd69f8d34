"""The difference between two backtests: which queries fire only now, and which do not fire any more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from cer_gpu.backtesting.listed_values import QUANTILES, STARTS
from cer_gpu.backtesting.table import FOUND
from cer_gpu.engine.answers.form import free_name

_NUMBERS = ("hits", "matches")


def difference(old: pa.Table, new: pa.Table) -> pa.Table:
    """See `Backtest.diff`."""
    keys = _keys(old)
    if keys != _keys(new):
        told, other = ", ".join(keys), ", ".join(_keys(new))
        raise ValueError(
            f"the two results have different columns to match rows by ({told}; {other}): run both with the "
            "same `by` and the same parameters"
        )
    before, after = _rows(old, keys), _rows(new, keys)
    found: dict[Any, tuple[str, tuple[Any, ...], tuple[Any, ...]]] = {}
    for key in {**before, **after}:
        was, now = (one.get(key, _NOTHING) for one in (before, after))
        if was != now:
            found[key] = _change(was, now), was, now
    taken = {*keys}
    columns = []
    for place, name in enumerate(keys):
        values = [key[place] for key in found]
        kind = old.schema.field(name).type
        columns.append(_column(values, kind if kind == new.schema.field(name).type else None))
    columns.append(pa.array([change for change, _, _ in found.values()], pa.string()))
    heads = ["change"]
    for side, prefix in enumerate(("", "new_")):
        for place, name in enumerate(_NUMBERS):
            heads.append(f"{prefix}{name}")
            kind = (old, new)[side].schema.field(name).type
            columns.append(pa.array([each[1 + side][place] for each in found.values()], kind))
    return pa.table(columns, [*keys, *(free_name(head, taken) for head in heads)])


_NOTHING: tuple[Any, ...] = (0, 0, None, None)
"""Stands for a row that one of the results lacks: no hits, no matches, no first and last one."""


def _keys(table: pa.Table) -> list[str]:
    """The columns that tell rows apart: those before what was found."""
    names = list(table.schema.names)
    for more in (list(QUANTILES), [STARTS]):
        if names[-len(more) :] == more:
            del names[-len(more) :]
    return names[: -len(FOUND)]


def _rows(table: pa.Table, keys: list[str]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """What was found, by what tells rows apart."""
    count = len(keys)
    columns = [column.to_pylist() for column in table.columns[: count + len(FOUND)]]
    rows: Iterator[tuple[Any, ...]] = zip(*columns)
    return {row[:count]: (int(row[count]), int(row[count + 1]), *row[count + 2 :]) for row in rows}


def _change(was: tuple[Any, ...], now: tuple[Any, ...]) -> str:
    if not was[0] or not now[0]:
        return "gone" if was[0] else "new"
    return "more" if now[0] > was[0] else "fewer" if now[0] < was[0] else "other"


def _column(values: list[Any], kind: pa.DataType | None) -> pa.Array:
    try:
        return pa.array(values, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # a parameter that is a number here and a text there
        return pa.array([None if value is None else str(value) for value in values], pa.string())
