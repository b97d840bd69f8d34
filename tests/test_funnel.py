"""A funnel counts what ends at each step, what would without one condition, and the runs that die there."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from generate import ORDER, stream, stream_to_table, unary_query
from test_backtest import ticks

import cer_gpu as cer
from cer_gpu.cli import status_of
from cer_gpu.funnel import bound_stages, funnel_table, stages_of
from cer_gpu.language.printer import to_text
from cer_gpu.language.tree import Consume, Strategy
from cer_gpu.listed_runs import ListedRunCounts

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


@pytest.mark.draws("seed", 8)
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
        nothing: dict[str, Any] = {"consume": Consume.NONE, "suppress": None, "limit": None}
        tree = replace(query.tree, strategy=Strategy.ALL, select=None, measures=(), **nothing)
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


Fits = Callable[[list[dict[str, Any]]], bool]


def ordered(*kinds: str, within: int | None = 60) -> Fits:
    """Whether events have these types, and are no longer than so many minutes."""

    def fits(events: list[dict[str, Any]]) -> bool:
        if any(one["type"] != kind for one, kind in zip(events, kinds)):
            return False
        return within is None or events[-1]["ts"] - events[0]["ts"] <= timedelta(minutes=within)

    return fits


def lasting(event: dict[str, Any], other: dict[str, Any]) -> float:
    """Minutes from one event to another."""
    return float((other["ts"] - event["ts"]) / timedelta(minutes=1))


@pytest.mark.parametrize(
    ("text", "first", "rows"),
    [
        (
            "A ; B ;[>= 4 min] C WITHIN 1 HOUR",
            (2, ordered("A", "B")),
            {
                None: (3, lambda e: ordered("A", "B", "C")(e) and lasting(*e[1:]) >= 4),
                "[>= 4 min]": (3, ordered("A", "B", "C")),
                "WITHIN 1 HOURS": (
                    3,
                    lambda e: (
                        ordered("A", "B", "C", within=None)(e)
                        and ordered("A", "B")(e[:2])
                        and lasting(*e[1:]) >= 4
                    ),
                ),
            },
        ),
        (
            "A ; B ; (B AS b : C) AS s WITHIN 2 HOURS",
            (2, ordered("A", "B", within=120)),
            {None: (4, lambda e: ordered(*"ABBC", within=120)(e) and e[2]["at"] + 1 == e[3]["at"])},
        ),
        (
            "A ; B ; (D AS d ; C AS c) AS s FILTER c.x > d.x WITHIN 2 HOURS",
            (2, ordered("A", "B", within=120)),
            {
                None: (4, lambda e: ordered(*"ABDC", within=120)(e) and e[3]["x"] > e[2]["x"]),
                "c.x > d.x": (4, ordered(*"ABDC", within=120)),
            },
        ),
        (
            "A ; B ; (D ; C) AS s FILTER SUM(s.x) > 20 WITHIN 2 HOURS",
            (2, ordered("A", "B", within=120)),
            {None: (4, lambda e: ordered(*"ABDC", within=120)(e) and e[2]["x"] + e[3]["x"] > 20)},
        ),
        (
            "A AS s ; (B AS s AS b) FILTER b.y > s.y OR b.x > 9 WITHIN 1 HOUR",
            (1, ordered("A")),
            {None: (2, lambda e: ordered("A", "B")(e) and e[1]["x"] > 9)},
        ),
        (
            "A ; B WITHIN 3 [x]",
            (1, ordered("A", within=None)),
            {None: (2, lambda e: ordered("A", "B", within=None)(e) and e[1]["x"] - e[0]["x"] <= 3)},
        ),
        (
            "A ; B ; C ? FILTER COUNT(C) > 0 WITHIN 1 HOUR",
            (2, ordered("A", "B")),
            {None: (3, ordered("A", "B", "C")), "COUNT(C) > 0": (2, ordered("A", "B"))},
        ),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_deaths_where_runs_are_listed(
    text: str, first: tuple[int, Fits], rows: dict[str | None, tuple[int, Fits]]
) -> None:
    """Against all events that could go on with each run."""
    frame = ticks(45, seed=5).to_pandas()
    frame["ts"] = pd.Timestamp("2024-01-01") + (frame["ts"] - frame["ts"][0]) / 20
    frame["type"] = frame["type"].replace("E", "A")
    if "[x]" in text:  # a window of an attribute needs one that does not fall
        frame["x"] = sorted(frame["x"])
    table = pa.Table.from_pandas(frame, preserve_index=False)
    events = [{**row, "at": at} for at, row in enumerate(table.to_pylist())]
    told = cer.compile(f"SELECT * WHERE {text}").funnel(table, **OPTIONS).to_pylist()
    size, fits = first
    runs = [run for run in combinations(events, size) if fits([*run])]

    def dead(length: int, goes: Fits) -> int:
        return sum(
            not any(goes([*run, *more]) for more in combinations(events[run[-1]["at"] + 1 :], length - size))
            for run in runs
        )

    last = max(row["step"] for row in told)
    found = {row["without"]: row["died"] for row in told if row["step"] == last}
    died = dead(*rows[None])
    assert 0 < died < len(runs)
    for without, (length, goes) in rows.items():
        assert found[without] == (died if without is None else died - dead(length, goes)), without


def test_names_that_a_query_has_already() -> None:
    """The variable of what is listed is none of its columns or variables."""
    table = ticks(300).rename_columns(["type", "x", "y", "name", "run", "ts"])
    for text in (
        "A ; B ;[>= 1 min] C PARTITION BY [run]",
        "A AS run ; B AS run_ ;[>= 1 min] C PARTITION BY [run]",
    ):
        found = cer.compile(f"SELECT * WHERE {text} WITHIN 2 HOURS").funnel(table, **OPTIONS)
        plain = cer.compile(f"SELECT * WHERE {text.replace('[run]', '[k]')} WITHIN 2 HOURS")
        assert found["died"].to_pylist() == plain.funnel(ticks(300), **OPTIONS)["died"].to_pylist()
        assert found["died"][3].as_py() > 0


@pytest.mark.parametrize(
    "text", ["A ; NOT (B) ; C", "A ; B ; (NOT (C)) ; D", "A ; PROJECT(B AS b ; A | b) ; (A : B) AS x"]
)
def test_why_deaths_are_not_known(text: str) -> None:
    found = cer.compile(f"SELECT * WHERE {text} WITHIN 1 HOUR").funnel(ticks(60), **OPTIONS).to_pylist()
    (last,) = [row for row in found if row["step"] == found[-1]["step"] and row["without"] is None]
    assert last["died"] is None
    assert "the step before may end with an event that is not marked" in last["note"]
    assert [row["note"] for row in found if row["step"] == 1] == ["no step comes before"]


def test_runs_that_are_too_many_to_list_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    query = cer.compile("SELECT * WHERE A ; B ;[>= 1 min] C WITHIN 1 HOUR")
    assert query.funnel(ticks(300), **OPTIONS)["died"].to_pylist()[3] == 23
    listed = query.funnel(ticks(300).to_reader(), **OPTIONS).to_pylist()[3]
    assert (listed["died"], listed["note"].endswith("; the events can be read only once")) == (None, True)
    monkeypatch.setattr("cer_gpu.listed_runs.MOST_LISTED", 5)
    many = query.funnel(ticks(300), **OPTIONS).to_pylist()[3]
    assert (many["died"], many["note"].endswith("; more than 5 matches would be listed")) == (None, True)


def test_a_backtest_lists_for_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "SELECT * WHERE (A AS a FILTER a[x > $p]) ; B ;[>= $m min] C WITHIN $w"
    sweep = cer.sweep(text.replace("$m", "1"), p=[3, 9], w=["1 h", "2 h"])
    whole = cer.backtest(sweep, ticks(300), funnel=True, **OPTIONS).funnel
    for values in sweep:
        own = sweep.query.funnel(ticks(300), params=values, **OPTIONS)
        rows = [row for row in whole.to_pylist() if (row["p"], row["w"]) == (values["p"], values["w"])]
        assert [row["died"] for row in rows] == own["died"].to_pylist()
    monkeypatch.setattr("cer_gpu.backtesting.funnels.MOST_ROWS", 3)
    few = cer.backtest(sweep, ticks(300), funnel=True, **OPTIONS).funnel.to_pylist()
    notes = {row["note"] for row in few if row["step"] == 3}
    assert any(note.endswith("matches are listed for 3 such rows at most") for note in notes)


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
    table = funnel_table(kept, [7] * len(kept), [10 - stage.runs for stage in kept], ListedRunCounts({}, {}))
    assert table["died"].to_pylist() == [None, 1, 0, None, None]
    assert (
        table["note"].to_pylist()[3:] == ["the automaton of the partial matches that go on is too large"] * 2
    )

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
