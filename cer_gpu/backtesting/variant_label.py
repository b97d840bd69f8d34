"""What the variants of a backtest are called, and the order of the values of their parameters."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cer_gpu.language.parameters import amount_of
from cer_gpu.language.units import nanoseconds

if TYPE_CHECKING:
    from cer_gpu.backtesting.provenance import BacktestResult


def labels_of(result: BacktestResult, table: pa.Table) -> list[str]:
    """What each row of a table is called: the query, and the parameters that differ.

    Parameters
    ----------
    result : BacktestResult
    table : pyarrow.Table
        Its first columns are the query and the parameters.
    """
    columns = {name: table.column(place).to_pylist() for place, name in enumerate(result.parameters, 1)}
    told = [name for name, values in columns.items() if len(set(map(str, values))) > 1]
    queries = table.column("query").to_pylist()
    alone = len({*queries}) == 1 and told
    return [
        " ".join(
            [
                *([] if alone else [query]),
                *(f"{name}={columns[name][row]}" for name in told if columns[name][row] is not None),
            ]
        )
        for row, query in enumerate(queries)
    ]


def in_order(values: Iterable[Any]) -> list[Any]:
    """The different values of a parameter in their order: numbers, spans of time such as `5 min`, texts."""
    return sorted(dict.fromkeys(values), key=order_of)


def order_of(value: Any) -> tuple[int, Any]:
    """What values of a parameter are sorted by."""
    if value is None:
        return 0, 0
    if isinstance(value, timedelta):
        return 2, int(value / timedelta(microseconds=1)) * 1000
    if isinstance(value, datetime | date):
        return 3, str(value)
    if isinstance(value, str):
        return _order_of_text(value)
    return (1, value) if value == value else (1, float("inf"))


def _order_of_text(text: str) -> tuple[int, Any]:
    try:
        return 1, float(text)
    except ValueError:
        pass
    amount = amount_of(text)
    if amount is None or amount.unit is None:
        return 4, text
    return 2, float(nanoseconds(amount.value, amount.unit))
