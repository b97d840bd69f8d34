"""Which route answers which question: the cheapest of those that take the query, which plans once."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.engine.run.options import read_options
from cer_gpu.errors import LimitError
from cer_gpu.plan.cost import QUESTIONS, Cost, cheapest
from cer_gpu.plan.planning import planner

KEYED = "SELECT * WHERE A AS a ; B AS b FILTER a.v = b.v WITHIN 9 s"
ORDERED = "SELECT * WHERE A AS a ; B AS b FILTER a.v < b.v WITHIN 9 s"
SPAN = "SELECT * WHERE (A ; B) WITHIN [<= 5 s] ; C"

ANSWERED = {
    "SELECT * WHERE A ; B WITHIN 9 EVENTS": ["regular"] * 4,
    "SELECT * WHERE A ; B PARTITION BY v": ["regular"] * 4,
    KEYED: ["regular"] * 4,
    "SELECT NEXT * WHERE A AS a ; B AS b FILTER a.v = b.v": ["regular"] * 4,
    "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.v = b.v": ["chain", "apart", "chain", "chain"],
    ORDERED: ["apart", "apart", "ordered", "ordered"],
    "SELECT * WHERE A AS a ; B ; C AS c FILTER a.v < c.v": ["apart"] * 4,
    "SELECT * WHERE (A AS a)+ FILTER COUNT(DISTINCT a.v) >= 3": ["threshold"] * 4,
    "SELECT * WHERE (A AS a) :+ FILTER SUM(a.v) > 3": ["threshold"] * 4,
    "SELECT * WHERE A ;[<= 5 s] B": ["regular"] * 4,
    "SELECT * WHERE (A ; B+ ; C) WITHIN [<= 5 s]": ["regular"] * 4,
    "SELECT * WHERE LAST((A ; B) WITHIN [<= 5 s])": ["regular"] * 4,
    "SELECT * WHERE A ;[<= 5 s] B ; C": ["timed"] * 4,
    SPAN: ["clock", "general", "general", "clock"],
    f"{SPAN} WITHIN 9 s": ["clock", "general", "clock", "clock"],
    "Q(x) <- A(v = x), B(v = x)": ["rule"] * 4,
    "Q(x) <- A(v = x, id = p), B(v = x, id = q), p < q": ["join"] * 4,
}
"""For each question of `QUESTIONS` the route that answers it."""


def events(rows: int, seed: int = 1) -> pa.Table:
    rng = Random(seed)
    return pa.table(
        {
            "type": rng.choices("ABCD", k=rows),
            "v": rng.choices(range(5), k=rows),
            "id": rng.choices(range(3), k=rows),
            "ts": pa.array([400 * row for row in range(rows)], pa.timestamp("ms")),
        }
    )


@pytest.mark.parametrize("text", ANSWERED)
def test_the_cheapest_route_answers(text: str) -> None:
    query, table = cer.compile(text), events(60)
    assert [query._plan.chosen.engine_for(question) for question in QUESTIONS] == ANSWERED[text]
    asked = read_options(order_by="ts")
    for question, engine in zip(QUESTIONS, ANSWERED[text], strict=True):
        forced = read_options(order_by="ts", engine=engine)
        machine = query.bound_to(table, asked, question).compiled.machine
        assert type(machine) is type(query.bound_to(table, forced, question).compiled.machine)
        on_devices, main = query._plan.chosen.engine_for(question, cuda=True), ANSWERED[text][-1]
        assert on_devices == (engine if main == "clock" else main)


@pytest.mark.parametrize("text", [text for text, names in ANSWERED.items() if len({*names}) > 1])
@pytest.mark.parametrize("seed", range(5))
def test_routes_that_share_a_query_answer_alike(text: str, seed: int) -> None:
    query, table = cer.compile(text), events(80, seed)
    listed = query.run(table, order_by="ts").to_arrow()
    assert query.count(table, order_by="ts") == len(listed) > 0
    assert sum(query.counts(table, order_by="ts")["count"].to_pylist()) == len(listed)
    for engine in {*ANSWERED[text], "general"}:
        given: dict[str, Any] = {"order_by": "ts", "engine": engine}
        assert query.run(table, **given).to_arrow().equals(listed)
        assert query.hits(table, **given).equals(query.hits(table, order_by="ts"))
    with query.stream(order_by="ts") as stream:
        pushed = [stream.push(table.slice(low, 17)).to_arrow() for low in range(0, 80, 17)]
    assert pa.concat_tables(pushed).num_rows == len(listed)


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The routes of the plans that are made."""
    made: list[str] = []
    real = planner._plan

    def noting(*given: Any) -> Any:
        made.append(given[3].engine)
        return real(*given)

    monkeypatch.setattr(planner, "_plan", noting)
    return made


@pytest.mark.parametrize("params", [None, {"p": 9}])
def test_each_route_plans_once_for_the_types_of_the_data(plans: list[str], params: Any) -> None:
    text = SPAN if params is None else f"{SPAN} AS c FILTER c[v < $p]"
    query, table = cer.compile(text, params), events(50)
    plans.clear()
    for _ in range(2):
        query.hits(table, order_by="ts")
        query.count(table, order_by="ts")
        query.counts(table, order_by="ts")
        query.run(table, order_by="ts").to_arrow()
    assert plans == ["clock", "general"]
    query = cer.compile(text, params)
    plans.clear()
    query.count(table, order_by="ts")
    assert plans == ["general"]


def test_a_route_whose_automaton_is_too_large_leaves_the_question_to_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_large(*_: Any) -> Any:
        raise LimitError("too many states")

    table = events(60)
    wanted = cer.compile(KEYED).run(table, order_by="ts").to_arrow()
    monkeypatch.setattr("cer_gpu.plan.lower.chain.disambiguate", too_large)
    assert cer.compile(KEYED).run(table, order_by="ts").to_arrow().equals(wanted)
    with pytest.raises(LimitError, match="too many states"):
        cer.compile(KEYED).run(table, order_by="ts", engine="chain").to_arrow()
    with pytest.raises(LimitError, match="too many states"):
        cer.compile("SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.v = b.v")


def test_of_equal_costs_the_first_route_runs() -> None:
    assert cheapest({"one": Cost(5, 1), "two": Cost(4, 1), "three": Cost(5, 0)}) == "two"
    assert cheapest({"one": Cost(5), "two": Cost(4, 1)}) == "one"


def test_explain_says_what_each_route_would_cost() -> None:
    told = cer.compile(SPAN).explain(verbose=True)
    assert "\nroutes      clock: takes it, and runs hits and pushes\n" in told
    assert "\n            general: takes it, and runs counts and lists\n" in told
    costs = told.partition("\ncosts ")[2].splitlines()
    assert costs[0].strip() == "steps for a relevant event (+ for a match), of about 20 ns:"
    assert costs[1].startswith(
        "            clock: hits 12, pushes 15 (+5): nodes with resets and checks; counts"
    )
    assert costs[2].startswith("            general: hits 25, counts 25: open partial matches; lists 25 (+6)")
    forced = cer.compile(SPAN).explain(engine="general", verbose=True)
    assert "routes      general: takes it, and runs it\n            regular: no: " in forced
    assert "\n            clock: takes it\n" in forced
