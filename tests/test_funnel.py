"""A funnel counts what ends at each step, what would without one condition, and the runs that die there."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest
from generate import ORDER, stream, stream_to_table, unary_query
from test_backtest import ticks

import cer_gpu as cer
from cer_gpu.cli import status_of
from cer_gpu.funnel import bound_stages, funnel_table, stages_of
from cer_gpu.language.printer import to_text
from cer_gpu.language.tree import Consume, Strategy

OPTIONS: dict[str, Any] = {"order_by": "ts", "device": "cpu"}

QUERY = """
SELECT a WHERE (A AS a FILTER a[x > 10 AND y < 0.5]) ; (B AS b FILTER b[y <= $q]) : C AS c ;[<= 10 min] D
FILTER b.x > a.x AND c[x > 3] PARTITION BY [k] WITHIN 1 HOUR
"""

A, B = "A AS a FILTER a[x > 10] AND a[y < 0.5]", "B AS b FILTER b[y <= 0.3]"

AFTER = "PARTITION BY [k]"


@pytest.mark.parametrize(
    ("step", "without", "pattern", "window"),
    [
        (1, None, f"({A})", True),
        (1, "a[x > 10]", "(A AS a FILTER a[y < 0.5])", True),
        (2, None, f"(({A}) ; ({B})) FILTER b.x > a.x", True),
        (2, "b[y <= $q]", f"(({A}) ; B AS b) FILTER b.x > a.x", True),
        (2, "b.x > a.x", f"({A}) ; ({B})", True),
        (2, "WITHIN 1 HOURS", f"(({A}) ; ({B})) FILTER b.x > a.x", False),
        (3, ":", f"(({A}) ; ({B}) ; C AS c) FILTER b.x > a.x AND c[x > 3]", True),
        (3, "c[x > 3]", f"(({A}) ; ({B}) : C AS c) FILTER b.x > a.x", True),
        (4, None, f"(({A}) ; ({B}) : C AS c ;[<= 10 min] D) FILTER b.x > a.x AND c[x > 3]", True),
        (4, "[<= 10 min]", f"(({A}) ; ({B}) : C AS c ; D) FILTER b.x > a.x AND c[x > 3]", True),
    ],
)
def test_each_row_is_a_query(step: int, without: str | None, pattern: str, window: bool) -> None:
    found = cer.compile(QUERY).funnel(ticks(), params={"q": 0.3}, **OPTIONS).to_pylist()
    (row,) = [row for row in found if (row["step"], row["without"]) == (step, without)]
    own = cer.compile(f"SELECT * WHERE {pattern} {AFTER} {'WITHIN 1 HOUR' if window else ''}")
    assert row["hits"] == len(own.hits(ticks(), **OPTIONS))
    assert row["matches"] == own.count(ticks(), **OPTIONS)


def test_the_steps_are_as_they_are_written() -> None:
    found = cer.compile(QUERY).funnel(ticks(), params={"q": 0.3}, **OPTIONS).to_pylist()
    steps = [row["pattern"] for row in found if row["without"] is None]
    assert [step[:4] for step in steps] == ["A AS", "; B ", ": C ", "; D"]
    assert len(found) == 14


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("seed", range(8))
def test_the_last_step_is_the_query(seed: int) -> None:
    rng = Random(f"funnel {seed}")
    events = stream_to_table(stream(rng, 30))
    options = {"order_by": ORDER, "stream_column": "stream", "device": "cpu"}
    for _ in range(4):
        text = to_text(unary_query(rng))
        try:
            query = cer.compile(text)
            rows = query.funnel(events, **options).to_pylist()
        except cer.CerError:  # over a budget: of the pattern or of a part of it
            continue
        last = [row for row in rows if row["without"] is None][-1]
        nothing: dict[str, Any] = {"consume": Consume.NONE, "limit": None, "select": None, "measures": ()}
        tree = replace(query.tree, strategy=Strategy.ALL, **nothing)
        plain = cer.compile(to_text(tree))
        assert last["hits"] == len(plain.hits(events, **options)), text
        assert int(last["matches"]) == plain.count(events, **options), text


def test_the_runs_that_die() -> None:
    events = ticks()
    found = cer.compile(QUERY).funnel(events, params={"q": 0.3}, **OPTIONS).to_pylist()
    rows = {(row["step"], row["without"]): row for row in found}
    runs = cer.compile(f"SELECT * WHERE ({A}) {AFTER}").run(events, **OPTIONS)
    kinds, x, y, k, times = (events[name].to_pylist() for name in ("type", "x", "y", "k", "ts"))

    def lost(low: float = 0.3, dearer: bool = True, within: timedelta = timedelta(hours=1)) -> int:
        """How many runs of the first step no event continues."""
        return sum(
            not any(
                kinds[at] == "B"
                and k[at] == k[run.end]
                and y[at] <= low
                and (not dearer or x[at] > x[run.end])
                and times[at] - times[run.end] <= within
                for at in range(run.end + 1, len(kinds))
            )
            for run in runs
        )

    assert rows[1, None]["died"] is None
    died = rows[2, None]["died"]
    assert died == lost() > 0
    assert rows[2, "b.x > a.x"]["died"] == died - lost(dearer=False) > 0
    assert rows[2, "WITHIN 1 HOURS"]["died"] == died - lost(within=timedelta(9)) > 0
    assert rows[3, None]["died"] == rows[2, None]["matches"] - rows[3, None]["matches"]
    assert rows[3, ":"]["died"] > 0


@pytest.mark.parametrize(
    ("pattern", "died"),
    [
        ("A ; B", [None, True, True]),
        ("A ; (B ; C)", [None, True, True, True, True]),
        ("A ; (B ; C) AS x", [None, True, True]),
        ("A ; (B : C) AS x", [None, True, True]),
        ("A ; (B ALL C) AS x", [None, True, True]),
        ("A ; B ?; C", [None, True, True, True, True]),
        ("A ? ; B", [None, True, True]),
        ("A ; B {2,}", [None, True, True]),
        ("A ; B +", [None, True, True]),
        ("A : NOT (B) ; C", [None, True, True, True, None, None]),
        ("NOT (B) ; C", [None, True, True]),
        ("A ;[>= 1 min] B", [None, True, True, True]),
    ],
)
def test_the_steps_of_which_deaths_are_known(pattern: str, died: list[bool | None]) -> None:
    found = cer.compile(f"SELECT * WHERE {pattern} WITHIN 1 HOUR").funnel(ticks(300), **OPTIONS)
    assert [None if one is None else one >= 0 for one in found["died"].to_pylist()] == died
    assert [one is not None for one in found["note"].to_pylist()] == [one is None for one in died]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("A ; NOT (B) ; C WITHIN 1 HOUR", "the step before may end with an event that is not marked"),
        ("A ; B ; (B : C) AS x WITHIN 1 HOUR", "the step has events joined by `:`"),
        ("A ; B ; B :{2,} WITHIN 1 HOUR", "the repetitions of the step are joined by `:` or by an interval"),
        ("A ; B ; B {17,} WITHIN 1 HOUR", "the step has more than 16 events"),
        ("A ; B ; (B ALL C) WITHIN 1 HOUR", "the step is not a sequence of single events"),
        ("A ; B ; (B ; C) AS x FILTER SUM(x.x) > 1 WITHIN 1 HOUR", "`SUM(x.x) > 1` aggregates events of"),
        ("A AS x ; (B AS x AS b) FILTER b.y > x.y WITHIN 1 HOUR", "reads a variable that marks events of"),
        (
            "A ; B ; (B AS b ; C AS c) AS x FILTER c.x > b.x WITHIN 1 HOUR",
            "`c.x > b.x` compares events of the step",
        ),
        ("A ; B ; (B ; C AS c ?) AS x FILTER c[x > 1] WITHIN 1 HOUR", "reads an event that may be left out"),
        ("A ; B ; B + AS b FILTER NOT b[x > 1] WITHIN 1 HOUR", "may hold for some events of the step alone"),
        ("A ; B ;[>= 1 min] C WITHIN 1 HOUR", "the first event that fits may come before the interval"),
        ("A ; B WITHIN 3 [x]", "a difference of `x` may fall again, so the first event does not decide"),
        ("A ; B ; C ? FILTER COUNT(C) > 0 WITHIN 1 HOUR", "is asked also where the step is left out"),
    ],
)
@pytest.mark.filterwarnings("error:.*has no effect")
def test_why_deaths_are_not_known(text: str, note: str) -> None:
    found = cer.compile(f"SELECT * WHERE {text}").funnel(ticks(60), **OPTIONS).to_pylist()
    (last,) = [row for row in found if row["step"] == found[-1]["step"] and row["without"] is None]
    assert last["died"] is None
    assert note in last["note"]
    assert [row["note"] for row in found if row["step"] == 1] == ["no step comes before"] * (
        sum(row["step"] == 1 for row in found)
    )


def test_runs_whose_automaton_is_too_large_are_not_counted() -> None:
    stages = stages_of(cer.compile("SELECT * WHERE A ; B ; C WITHIN 1 HOUR").tree)
    first = cer.compile("SELECT * WHERE A")

    def bind(place: int) -> Any:
        if stages[place].runs and stages[place].step == 3:
            raise cer.LimitError("too large")
        return first

    places, bound = bound_stages(stages, bind)
    assert len(bound) == len(places) < len(stages)
    kept = [stages[place] for place in places]
    table = funnel_table(kept, [7] * len(kept), [10 - stage.runs for stage in kept])
    assert table["died"].to_pylist() == [None, 1, 0, None, None]
    assert table["note"].to_pylist()[3:] == ["the automaton of the runs that go on is too large"] * 2

    def refused(place: int) -> Any:
        raise cer.LimitError("too large")

    with pytest.raises(cer.LimitError, match="too large"):
        bound_stages(stages, refused)


def test_a_rule_has_no_funnel() -> None:
    with pytest.raises(ValueError, match="a rule has no steps"):
        cer.compile("Q(x) <- A(x = x), B(x = x) WITHIN 9 EVENTS").funnel(ticks(), **OPTIONS)


def test_the_shell_prints_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "ticks.parquet"
    pq.write_table(ticks(), data)
    asked = ["explain", QUERY, str(data), "--order-by", "ts", "--param", "q=0.3", "--funnel"]
    assert status_of(asked) == 0
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    own = cer.compile(QUERY).funnel(ticks(), params={"q": 0.3}, **OPTIONS).to_pylist()
    assert [row["hits"] for row in printed] == [row["hits"] for row in own]
    assert status_of([*asked, "-o", str(tmp_path / "funnel.csv")]) == 0
    assert status_of(["explain", QUERY, "--funnel"]) != 0


def test_values_of_parameters_that_the_query_has() -> None:
    found = cer.compile(QUERY, {"q": 0.3}).funnel(ticks(), **OPTIONS)
    assert found == cer.compile(QUERY).funnel(ticks(), params={"q": 0.3}, **OPTIONS)
    with pytest.raises(cer.QueryError, match="the query has no parameter `\\$r`"):
        cer.compile(QUERY).funnel(ticks(), params={"q": 0.3, "r": 1}, **OPTIONS)


def test_events_that_can_be_read_once() -> None:
    events = ticks()
    beside = "SELECT * WHERE A AS a ; B AS b FILTER b.x > a.x WITHIN 1 HOUR"
    for text in (beside, "SELECT * WHERE A ; B ; C WITHIN 1 HOUR"):
        found = cer.compile(text).funnel(events.to_reader(), **OPTIONS)
        assert found == cer.compile(text).funnel(events, **OPTIONS)
        assert min(found["hits"].to_pylist()) > 0
