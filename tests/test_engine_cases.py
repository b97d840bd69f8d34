"""The case files that this version evaluates: the engine gives what they expect."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from case_files import PATTERNS, cases, expected_of, plain

import cer_gpu as cer

ARROW = {
    "int64": pa.int64(),
    "float64": pa.float64(),
    "string": pa.string(),
    "timestamp[ms]": pa.timestamp("ms"),
}


def table_of(case: dict[str, Any]) -> pa.Table:
    kinds = {name: kind for attributes in case["types"].values() for name, kind in attributes.items()}
    columns = {"type": pa.array([event["type"] for event in case["events"]], pa.string())}
    for name, kind in kinds.items():
        values = [
            event["ts"] if name == case["order_by"] else event["attrs"].get(name) for event in case["events"]
        ]
        columns[name] = pa.array([math.nan if value == "NaN" else value for value in values], ARROW[kind])
    return pa.table(columns)


def _plain(value: Any) -> Any:
    """Times and durations as numbers of milliseconds, the unit of their columns."""
    if isinstance(value, datetime):
        value -= datetime(1970, 1, 1)
    return value // timedelta(milliseconds=1) if isinstance(value, timedelta) else value


@pytest.mark.parametrize("family", PATTERNS)
def test_the_engine_gives_what_the_cases_expect(family: str) -> None:
    for case in cases(family):
        query = cer.compile(case["query"])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event ")
            table = table_of(case)
            got = [
                plain(
                    ce.start, ce.end, ce.marks, {name: _plain(value) for name, value in ce.measures.items()}
                )
                for ce in query.run(table, order_by=case["order_by"])
            ]
            count = query.count(table, order_by=case["order_by"])
        wanted = expected_of(case)
        assert count == len(got) == len(set(got)), case["id"]
        if case["check"]["kind"] == "exact":
            assert set(got) == wanted, case["id"]
        else:
            assert set(got) <= wanted, case["id"]
            ends = Counter(row[1] for row in wanted)
            limit = case["check"]["n"]
            assert Counter(row[1] for row in got) == {end: min(limit, n) for end, n in ends.items()}
