"""MAX over runs of neighbours with conditions on all events: of each end the run that begins first."""

from __future__ import annotations

import warnings
from itertools import product
from random import Random

import generate
import pyarrow as pa
import pytest
from engine_oracle import check

import cer_gpu as cer
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.plan.outline import outline

RUNS = [
    "(A AS x) :+",
    "((A OR B) AS x) :+",
    "((A OR C) AS x) :{2,4}",
    "(A AS x FILTER x[p > 1]) :+",
    "(B AS x):+[<= 2 s]",
    "(A AS x FILTER x.p >= PRIOR(x).p) :+",
]

CONDITIONS = [
    "SUM(x.p) > 5",
    "COUNT(x) >= 2 AND AVG(x.p) < 4",
    "COUNT(DISTINCT x.id) >= 2",
    "MAX(x.v) - MIN(x.v) >= 2",
]

CLAUSES = [
    "",
    "PARTITION BY id",
    "WITHIN 3 EVENTS",
    "WITHIN 2 SECONDS CONSUME BY ANY",
    "WITHIN 3 [p]",
    "LIMIT 2",
]


@pytest.mark.parametrize("run", RUNS)
def test_runs_of_neighbours_under_max(run: str) -> None:
    answered = 0
    for number, (condition, clause) in enumerate(product(CONDITIONS, CLAUSES)):
        rng = Random(f"{run} {number}")
        query = parse(f"SELECT MAX {rng.choice('*x')} WHERE {run} FILTER {condition} {clause}")
        assert isinstance(query, t.SelectQuery)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answered += check(query, generate.stream(rng, 14), rng) > 0
    assert answered > 5


@pytest.mark.parametrize(
    ("text", "strategy"),
    [
        ("SELECT MAX * WHERE (A AS x) :+ FILTER SUM(x.p) > 5", t.Strategy.ANY),
        ("SELECT MAX A WHERE ((A AS x) :+ FILTER SUM(x.p) > 5) WITHIN [<= 2 s]", t.Strategy.ANY),
        ("SELECT MAX * WHERE (A AS x) + FILTER SUM(x.p) > 5", t.Strategy.MAX),
        ("SELECT MAX NONE, SUM(x.p) AS s WHERE (A AS x) :+ FILTER SUM(x.p) > 5", t.Strategy.ANY),
        ("SELECT MAX * WHERE ((A OR NOT (B)) AS x) :+ FILTER SUM(x.p) > 5", t.Strategy.MAX),
        ("SELECT MAX * WHERE ((A AS y OR A) AS x) :+ FILTER SUM(x.p) > 5", t.Strategy.MAX),
        ("SELECT MAX * WHERE ((A ; B) AS x) :+ FILTER SUM(x.p) > 5", t.Strategy.MAX),
        ("SELECT MAX * WHERE A : (A AS x) :+ FILTER SUM(x.p) > 5", t.Strategy.MAX),
        ("SELECT LAST * WHERE (A AS x) :+ FILTER SUM(x.p) > 5", t.Strategy.LAST),
    ],
)
def test_where_the_first_is_the_greatest(text: str, strategy: t.Strategy) -> None:
    made = outline(parse(text), text).statement
    assert isinstance(made, t.SelectQuery)
    assert made.strategy is strategy


def test_long_runs_of_a_busy_key() -> None:
    """Each partial match kept the registers of all that begin before it: 80 events took 33 s."""
    count = 3000
    table = pa.table(
        {"type": ["T"] * count, "ts": range(count), "v": [7 * at % 19 + 1 for at in range(count)]}
    )
    query = cer.compile("SELECT MAX t WHERE (T AS t) :+ FILTER SUM(t.v) > 600 WITHIN 100 [ts]")
    found = query.run(table, order_by="ts").to_arrow()
    lengths = [len(marked) for marked in found["t"].to_pylist()]
    assert max(lengths) == 101
    assert found.num_rows == query.count(table, order_by="ts") == len(query.hits(table, order_by="ts"))


@pytest.mark.parametrize("strategy", ["LAST", "NEXT", "MAX"])
def test_a_variable_that_no_chosen_match_marks_has_its_column(strategy: str) -> None:
    """`python tests/fuzz.py --seed 1124 --first 958`: within no event only one B is left."""
    pattern = "B+ AS x OR (PROJECT(A ; C AS y : B AS y | A) FILTER A[p > -1.0])"
    query = cer.compile(f"SELECT {strategy} * WHERE {pattern} WITHIN 0 EVENTS")
    events = pa.table({"type": ["B", "A", "C", "B"], "p": [1.0, 2.0, 3.0, 4.0]})
    rows = query.run(events).to_arrow().to_pylist()
    assert [(row["start"], row["A"], row["x"]) for row in rows] == [(0, [], [0]), (3, [], [3])]
