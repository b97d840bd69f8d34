"""The case files on a device: what is expected, listed and counted, in one run and as a stream."""

from __future__ import annotations

from random import Random

import pytest
from case_files import assert_answers, cases
from case_tables import found_by_engine, table_of
from cuda_device import USABLE

import cer_gpu as cer

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.filterwarnings("ignore::UserWarning", "ignore:overflow encountered:RuntimeWarning"),
]

FAMILIES = ("quantifiers", "optional", "followed", "prev", "functions", "measures")


@pytest.mark.parametrize("family", FAMILIES)
def test_cases_on_a_device(family: str) -> None:
    for case in cases(family):
        query, table = cer.compile(case["query"]), table_of(case)
        there = {"order_by": case["order_by"], "device": "cuda"}
        found = query.run(table, **there)
        rows = found_by_engine(found)
        assert found.device == "cuda:0"
        assert_answers(case, rows)
        assert query.count(table, **there) == len(rows)
        assert query.hits(table, **there)["position"].to_pylist() == sorted({row[1] for row in rows})
        cut = Random(case["id"]).randrange(len(table) + 1)
        stream, pushed = query.stream(**there), []
        for part in (table.slice(0, cut), table.slice(cut)):
            pushed += found_by_engine(stream.push(part))
        last = stream.close()
        pushed += [] if last is None else found_by_engine(last)
        assert sorted(pushed, key=repr) == sorted(rows, key=repr)
