"""The case files as Arrow tables, and the answers of the engine in the form in which cases are compared."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
from case_files import Found, plain

ARROW = {
    "int64": pa.int64(),
    "float64": pa.float64(),
    "string": pa.string(),
    "timestamp[ms]": pa.timestamp("ms"),
}


def table_of(case: dict[str, Any]) -> pa.Table:
    """The stream of a case: a row for each event, null where it has no such attribute."""
    kinds = {name: kind for attributes in case["types"].values() for name, kind in attributes.items()}
    columns = {"type": pa.array([event["type"] for event in case["events"]], pa.string())}
    for name, kind in kinds.items():
        values = [
            event["ts"] if name == case["order_by"] else event["attrs"].get(name) for event in case["events"]
        ]
        columns[name] = pa.array([math.nan if value == "NaN" else value for value in values], ARROW[kind])
    return pa.table(columns)


def found_by_engine(matches: Iterable[Any]) -> list[Found]:
    """Complex events of a run; times and durations are numbers of milliseconds, the unit of their columns."""
    return [
        plain(ce.start, ce.end, ce.marks, {name: _number(value) for name, value in ce.measures.items()})
        for ce in matches
    ]


def _number(value: Any) -> Any:
    if isinstance(value, datetime):
        value -= datetime(1970, 1, 1)
    return value // timedelta(milliseconds=1) if isinstance(value, timedelta) else value
