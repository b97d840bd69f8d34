"""The way from `count` to the kernels and back is short: how many functions of the package lie on it."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

import cer_gpu as cer
from bench.walk import EVENTS, counted, functions_of
from cer_gpu.checked_query import opened
from cer_gpu.engine.run.options import read_options

MOST = 86
"""Functions of the walk of a trivial count. Lower it when the way becomes shorter; never raise it."""


def test_a_count_goes_through_few_functions() -> None:
    steps = counted()
    assert steps[0].name == "Query.count"
    assert any(step.file.startswith("kernels/counts") for step in steps)
    functions = functions_of(steps)
    assert len(functions) <= MOST, sorted(functions)


@pytest.mark.parametrize(
    ("query", "alone"),
    [
        ("SELECT * WHERE A ; B WITHIN 100 EVENTS", True),
        ("SELECT * WHERE A AS a : B :+ ; (C OR A AS c) ?", True),
        ("SELECT NEXT a WHERE A AS a ; B+ AS b CONSUME BY ANY LIMIT 2", True),
        ("SELECT MAX * WHERE (A ; C) UNLESS B WITHIN 7 EVENTS", True),
        ("SELECT * WHERE A AND B", True),
        ("SELECT COUNT(a) AS n WHERE A AS a ; B", False),
        ("SELECT a[x] WHERE A AS a ; B", False),
        ("SELECT a[*] WHERE A AS a ; B", False),
        ("SELECT * FROM S WHERE A ; B", False),
        ("SELECT * WHERE A ; B PARTITION BY x", False),
        ("SELECT * WHERE A AS a ; B FILTER a[x > 3]", False),
        ("SELECT * WHERE A ; [<= 3 s] B", False),
        ("SELECT * WHERE A ; B WITHIN 3 SECONDS", False),
        ("SELECT * WHERE A FOLLOWED BY [<= 3 events] B", False),
    ],
)
def test_a_query_of_types_alone_has_one_plan_for_all_data(query: str, alone: bool) -> None:
    compiled = cer.compile(query)
    assert (compiled._everywhere is not None) is alone
    if not alone:
        return
    times = pa.table({"type": ["A", "B"], "time": [1, 2], "x": ["u", "v"], "start": [1.5, None]})
    for events, given in [(EVENTS, {}), (times, {"order_by": "time", "stream_column": "x"}), (times, {})]:
        asked = read_options(**given)
        source = opened(compiled.names, events, asked)
        once, _, notes = compiled._planned_for(source, asked)
        anew = cer.compile(query)
        anew._everywhere = None
        plan, _, its_notes = anew._planned_for(source, asked)
        assert pickle.dumps(once.compiled) == pickle.dumps(plan.compiled)
        assert list(notes) == list(its_notes)
